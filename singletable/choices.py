"""Enum and Literal: the values of one type that a field may hold, through two dicts.

`Unsuitable` is raised for one that cannot be stored; `codecs` says in which annotation it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, Flag
from typing import Any

from singletable.errors import kind_of
from singletable.keys import slip
from singletable.scalars import SCALARS, CodecError, Scalar

__all__ = ["Unsuitable", "enum_scalar", "literal_scalar"]


class Unsuitable(Exception):
    """An Enum or Literal that cannot be stored; the text says why."""


def enum_scalar(kind: type[Enum]) -> Scalar:
    """Store the members of an Enum by their values."""
    members = list(kind)
    if issubclass(kind, Flag) or not members:
        raise Unsuitable("flags combine into values without a name" if members else "it has no member")
    base = _choice_base([member.value for member in members])
    wanted = f"a member of {kind.__qualname__}"
    payloads = {member.value: base.write(member.value) for member in members}

    def write(value: Any) -> Any:
        if type(value) is not kind:
            raise CodecError(kind_of(value), wanted, hint=slip(value, kind))
        return payloads[value._value_]

    return Scalar(base.tag, wanted, write, _choice_reader({member.value: member for member in members}, base, wanted))


def literal_scalar(values: Iterable[object]) -> Scalar:
    """Store the values of a Literal as they are."""
    values = list(values)
    base = _choice_base(values)
    wanted = f"one of {', '.join(map(repr, values))}"
    kind = type(values[0])
    payloads = {value: base.write(value) for value in values}

    def write(value: Any) -> Any:
        if type(value) is not kind:
            raise CodecError(kind_of(value), wanted)
        if value not in payloads:
            raise CodecError(f"another {kind.__name__}", wanted)
        return payloads[value]

    return Scalar(base.tag, wanted, write, _choice_reader({value: value for value in values}, base, wanted))


def _choice_base(values: list[object]) -> Scalar:
    """Give the scalar of the one type that all values have, which is str or int."""
    kinds = {type(value) for value in values}
    if kinds not in ({str}, {int}):
        raise Unsuitable("its values must be all str or all int")
    base = SCALARS[kinds.pop()]
    try:
        for value in values:
            base.write(value)
    except CodecError as error:
        raise Unsuitable(f"one of its values is {error.given}") from None
    return base


def _choice_reader(choices: dict[Any, Any], base: Scalar, wanted: str) -> Callable[[Any], Any]:
    parse = base.read

    def read(payload: Any) -> Any:
        value = payload if parse is None else parse(payload)
        if value not in choices:
            raise CodecError(f"an unknown {type(value).__name__}", wanted)
        return choices[value]

    return read
