"""What an operation is about: the reference that was handed in, or that to the item of an entity that was.

Operations can be pickled, and their references with them: by class and parts, since the class knows the rest.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from singletable.entity import Entity, left_out, parts_of
from singletable.errors import UsageError, kind_of
from singletable.queries import Ref
from singletable.schema import model_of

__all__ = ["chosen", "loaded_of", "subject"]

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


def subject(what: Ref[E] | E) -> Ref[E]:
    """Give a reference, or refer to the item of an entity. UsageError for what is neither."""
    if isinstance(what, Ref):
        ref: Ref[E] = what
        return ref
    if not isinstance(what, Entity):
        raise UsageError(f"given {kind_of(what)}, wanted a reference or an entity", hint="such as User.at(user_id=...)")
    parts = model_of(type(what)).primary.parts
    return type(what).at(**parts_of(what, parts))


def loaded_of(what: Ref[E] | E) -> E | None:
    """Give an entity that was handed in and read as a whole, so that an update may rest on it."""
    return None if isinstance(what, Ref) or left_out(what) is not None else what


def chosen(what: str, given: T, choices: Sequence[object]) -> T:
    """Take one of a few words. UsageError for anything else."""
    if not any(type(given) is type(each) and given == each for each in choices):
        wanted = ", ".join(map(repr, choices))
        raise UsageError(f"{what} was given {kind_of(given)}, wanted one of {wanted}")
    return given


def _reduced(ref: Ref[Any]) -> tuple[Callable[..., Ref[Any]], tuple[Any, ...]]:
    return _again, (ref.entity, ref.parts)


def _again(entity: Any, parts: tuple[tuple[str, Any], ...]) -> Ref[Any]:
    ref: Ref[Any] = entity.at(**{name: value for name, value in parts if value is not None})
    return ref


copyreg.pickle(Ref, _reduced)
