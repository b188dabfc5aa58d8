"""Which fields of an entity the store stamps, and that its table keeps one time to live for all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from singletable.errors import DeclarationError
from singletable.fields import Field
from singletable.schema import Model, Table
from singletable.stamped import UNSTAMPED, ExpiresAt, Stamped, Stamps, Version

__all__ = ["check_stamped_keys", "settle_ttl", "stamps_of"]

ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""What a field changes with an update does not depend on when it is asked."""


def stamps_of(cls: type, fields: Mapping[str, Field[Any]]) -> Stamps:
    """Give the stamped fields of a class. DeclarationError for two versions, or two times to expire."""
    stamped = tuple(field for field in fields.values() if isinstance(field, Stamped))
    versions = [field for field in stamped if isinstance(field, Version)]
    for several in (versions, [field for field in stamped if isinstance(field, ExpiresAt)]):
        if len(several) > 1:
            names = " and ".join(f".{field.name}" for field in several)
            raise DeclarationError(
                f"{cls.__qualname__} has {names} as {type(several[0]).__name__}, an item has one",
                hint="leave the others out",
            )
    return Stamps(stamped, tuple(versions)) if stamped else UNSTAMPED


def settle_ttl(cls: type, fields: Mapping[str, Field[Any]], table: Table) -> None:
    """Store an ExpiresAt field in the table's attribute, or make its own that of the table.

    DeclarationError where the table has another one, or the field was stored under another name already.
    """
    for field in fields.values():
        if not isinstance(field, ExpiresAt):
            continue
        if field.stored_name is None and table.ttl is not None:
            field.stored_name = table.ttl
        other = table.lasting.take(cls, field.attribute)
        if other is not None:
            raise DeclarationError(
                f"{cls.__qualname__}.{field.name} would be stored as {field.attribute!r}, and table {table.name!r} "
                f"keeps the time to live in {other!r}",
                hint=f'DynamoDB knows one such attribute a table: ExpiresAt(name="{other}")',
            )


def check_stamped_keys(model: Model) -> None:
    """Refuse keys and counters that are made of what no key can hold, or what is known too late."""
    for field in model.stamps.fields:
        where = f"{model.entity.__qualname__}.{field.name}"
        keys = [name for name, layout in model.indexes.items() if field.name in layout.parts]
        keys += ["the primary key"] if field.name in model.primary.parts else []
        if keys and field.in_keys:
            raise DeclarationError(
                f"{where} ({type(field).__name__}) stands in {keys[-1]}: {field.in_keys}",
                hint="take another field, or a @computed one",
            )
        if field.name in model.primary.parts and field.when_updated(ANY_TIME) is not None:
            raise DeclarationError(
                f"{where} changes with every write, and stands in the primary key, which an item keeps for life",
                hint="index keys may be made of it: Key(on=...)",
            )
        for number in model.numbers:
            before = number.needs if number.strategy == "counter" else model.primary.parts
            if field.name in before:
                raise DeclarationError(
                    f"{where} is not known yet when {number.name!r} is drawn, which counts by it",
                    hint='count for the whole entity: AutoIncrement("counter", per="entity")',
                )
