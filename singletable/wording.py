"""Words for messages: which known name was meant, and what a value is without showing it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["closest", "kind_of"]


def closest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant, as a hint.

    >>> closest("statsu", ["status", "user_id"])
    "did you mean 'status'?"
    >>> closest("x", ["status", "user_id"])
    "known: 'status', 'user_id'"
    """
    names = list(known)
    near = get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "known: " + (", ".join(map(repr, names)) or "none")


def kind_of(value: object) -> str:
    """Describe a value without showing it.

    >>> kind_of("secret"), kind_of(""), kind_of(None), kind_of(True)
    ('str', 'empty str', 'None', 'bool')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    return f"empty {name}" if isinstance(value, str | bytes | tuple) and not value else name
