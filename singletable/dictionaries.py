"""Entities as dicts of plain Python values, by field name: out for whoever wants data, and in with every check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from singletable.codecs import CodecError
from singletable.entity import Entity
from singletable.errors import UnknownField, UsageError, closest, kind_of
from singletable.fields import Field, computed

__all__ = ["from_dict", "to_dict"]

E = TypeVar("E", bound=Entity)


def to_dict(entity: Entity, *, hidden: bool = False) -> dict[str, Any]:
    """Give the fields' values by field name, as they are; `hidden=True` gives those of hidden fields too.

    A number that is not drawn yet, a field that was not read and computed values are left out.
    """
    own = entity.__dict__
    return {
        name: own[name] for name, field in entity.__fields__.items() if name in own and (hidden or not field.hidden)
    }


def from_dict(entity: type[E], values: Mapping[str, Any]) -> E:
    """Make an entity of its fields' values by field name: the way back from `to_dict`. Nothing is stored.

    Every value is checked at once, hidden fields may be given, and those with a default left out. UnknownField for a
    name that is no field, UsageError for a computed one, FieldValueError for a value that does not fit or is missing.
    """
    if not isinstance(values, Mapping):
        raise UsageError(
            f"from_dict of {entity.__name__} was given {kind_of(values)}, wanted a dict of values by field name",
            hint="from_item(...) reads an item in DynamoDB JSON",
        )
    for name, value in values.items():
        _named(entity, name).checked(value)
    for name, field in entity.__fields__.items():
        if field.required and name not in values:
            raise field.misfit(CodecError("nothing", field.codec.wanted))
    return entity(**values)


def _named(entity: type[Entity], name: object) -> Field[Any]:
    field = entity.__fields__.get(name) if isinstance(name, str) else None
    if field is None:
        words = repr(name) if isinstance(name, str) else f"a name that is {kind_of(name)}"
        raise UnknownField(
            f"{entity.__name__} has no field {words}", hint=closest(str(name), entity.__fields__), field=str(name)
        )
    if isinstance(field, computed):
        raise UsageError(f"{entity.__name__}.{name} is computed", hint="leave it out: it follows from the others")
    return field
