"""What an annotation stands for, and what was probably meant by a value of another type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import EnumType
from types import NoneType, UnionType
from typing import Annotated, Any, NewType, Union, get_args, get_origin
from uuid import UUID

__all__ = ["plain_type", "slip", "unwrapped"]


def unwrapped(annotation: Any) -> Any:
    """Take off NewType, Annotated and, from Python 3.12 on, `type X = ...`.

    >>> unwrapped(NewType("UserId", str))
    <class 'str'>
    """
    if isinstance(annotation, NewType):
        return unwrapped(annotation.__supertype__)
    if get_origin(annotation) is Annotated:
        return unwrapped(get_args(annotation)[0])
    if type(annotation).__name__ == "TypeAliasType":
        return unwrapped(annotation.__value__)
    return annotation


def plain_type(annotation: Any) -> Any:
    """Take off `| None` too, and give everything else as it is.

    >>> plain_type(NewType("UserId", str) | None), plain_type(int | str)
    (<class 'str'>, int | str)
    """
    plain = unwrapped(annotation)
    if get_origin(plain) in (Union, UnionType):
        rest = [each for each in get_args(plain) if each is not NoneType]
        return plain_type(rest[0]) if len(rest) == 1 else plain
    return plain


def slip(value: object, kind: Any) -> str:
    """Say how the value that was probably meant is written, without showing the one that was given.

    >>> slip(9.95, Decimal), slip("7", int)
    ("Decimal('9.95'): a float is not exact", 'int(...) makes one')
    """
    if value is None:
        return "None can only stand in a field of `... | None`"
    maker = f"{kind.__name__}(...) makes a member of its value" if isinstance(kind, EnumType) else MAKERS.get(kind, "")
    return next((hint for is_slip, hint in SLIPS if is_slip(value, kind)), maker)


def _is_naive(value: Any, kind: Any) -> bool:
    return kind is datetime and isinstance(value, datetime) and value.utcoffset() is None


SLIPS: tuple[tuple[Callable[[Any, Any], bool], str], ...] = (
    (lambda value, kind: isinstance(value, bool) and kind in (int, float, Decimal), "a bool is no number: int(...)"),
    (lambda value, kind: isinstance(value, float) and kind is Decimal, "Decimal('9.95'): a float is not exact"),
    (_is_naive, "datetime.now(UTC), or value.replace(tzinfo=UTC)"),
    (lambda value, kind: isinstance(value, datetime) and kind is date, "a datetime has a time too: value.date()"),
    (lambda value, kind: isinstance(value, time) and kind is time, "value.replace(tzinfo=None)"),
)
"""What is often given in the place of another type, and what to write."""

MAKERS: dict[type, str] = {
    str: "str(...) makes text",
    int: "int(...) makes one",
    float: "float(...) makes one",
    Decimal: "Decimal('9.95') makes one",
    bool: "True or False",
    bytes: "b'...', or text.encode()",
    datetime: "datetime.fromisoformat('2026-03-01T12:00:00+00:00') makes one",
    date: "date(2026, 3, 1), or date.fromisoformat('2026-03-01')",
    time: "time(12, 30), or time.fromisoformat('12:30')",
    timedelta: "timedelta(minutes=5)",
    UUID: "UUID('...') makes one of its text",
}
"""How a value of each type is made."""
