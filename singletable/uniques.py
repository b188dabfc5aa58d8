"""Values that one item of an entity alone may have.

Theory of operation. DynamoDB keeps nothing unique but the primary key. So each unique value has an item of its own, its
*guard*, whose key is made of the entity's tag, the stored names of the fields and their values, encoded as in any key:
whoever puts the guard has the value. Guards are hidden items: the segment `!UNIQUE` is one that no value and no literal
can produce. An item without one of the values has no guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from singletable.errors import DeclarationError, KeyPartError, closest, kind_of
from singletable.keys import PK_BYTES, BoundTemplate, Segment, Template, escape, key_format

__all__ = ["UNIQUE_TAG", "Unique", "Uniqueness", "uniqueness"]

UNIQUE_TAG = "!unique"
"""The tag of a guard."""


class Unique:
    """Fields whose values together only one item of the entity may have: `one_email = Unique("tenant", "email")`.

    For one field alone `Field(unique=True)` says the same. `tag` names the guards, where the entity's own tag is not
    the one they were first written under: guards are found by it.
    """

    def __init__(self, *fields: str, tag: str | None = None) -> None:
        if not fields or not all(isinstance(name, str) for name in fields):
            given = ", ".join(map(kind_of, fields)) or "nothing"
            raise DeclarationError(
                f"Unique() was given {given}, wanted names of fields", hint='such as Unique("tenant", "email")'
            )
        if len(set(fields)) != len(fields):
            raise DeclarationError("Unique() was given one field twice", hint="name each once")
        self.fields = fields
        self.tag = tag
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __repr__(self) -> str:
        return f"<Unique {self.name}: {', '.join(self.fields)}>"


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """What is unique about an entity: the fields, and the template of their guards' partition key."""

    name: str
    fields: tuple[str, ...]
    template: BoundTemplate

    def guard(self, values: Mapping[str, Any]) -> str | None:
        """Give the partition key of the guard of these values; None where one of them is absent.

        KeyPartError or KeyTooLong, naming the field, for a value that no key can hold.
        """
        if any(values.get(name) is None for name in self.fields):
            return None
        try:
            return self.template.render(values, limit=PK_BYTES)
        except KeyPartError as error:
            error.hint = error.hint or f"{error.part!r} is unique, so that its value is the key of a guard"
            raise

    def __str__(self) -> str:
        return ", ".join(self.fields)


def uniqueness(unique: Unique, tag: str, attributes: Mapping[str, str], types: Mapping[str, object]) -> Uniqueness:
    """Bind what is unique to the fields' types and stored names. DeclarationError where a field does not fit."""
    for name in unique.fields:
        if name not in types:
            raise DeclarationError(f"{unique!r}: {name!r} is no field of the entity", hint=closest(name, types))
    names = "!".join(escape(attributes[name]) for name in unique.fields)
    literals = ("", "!UNIQUE", escape(unique.tag or tag), names)
    parts = tuple(Segment(part=name) for name in unique.fields)
    template = Template("#".join((*literals, *_shown(unique.fields))), tuple(map(Segment, literals)) + parts)
    formats = {name: key_format(types[name]) for name in unique.fields}
    return Uniqueness(unique.name or unique.fields[0], unique.fields, template.bind(formats))


def _shown(names: Iterable[str]) -> list[str]:
    return [f"{{{name}}}" for name in names]
