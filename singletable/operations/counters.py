"""Where a counter item stands.

Theory of operation. Our counters are hidden items: a segment of their key begins with `!`, which no value and no
literal can produce, so no query of an entity reaches them. A field's own counter is called by its entity's tag and the
name it is stored under, as a named Sequence is by its name: `Sequence("order.number")` goes on where the field `number`
of what was tagged "order" stopped. A counter of one partition stands in that partition, before
its items (`!` sorts before `#`), so that whoever reads or moves the partition has it too; where the sort key is not
text, or there is none, it stands under a partition key of its own that names the owner's. An adopted counter stands
where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from singletable.entity import Entity, parts_of
from singletable.errors import KeyPartError
from singletable.indexes import KeyColumn
from singletable.keys import PK_BYTES, SK_BYTES, escape
from singletable.numbering import Numbering
from singletable.schema import HIDDEN, Model
from singletable.wire import Item

__all__ = ["LAST", "Counter", "counter_of", "group_of"]

LAST = "last"
"""The attribute of our own counters: the last number issued."""

SEQUENCE = HIDDEN + "SEQ"
SEQUENCE_TAG = HIDDEN + "seq"


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter item: its key attributes as (name, type, text), its attribute, and the tag it is written with."""

    key: tuple[tuple[str, str, str], ...]
    attribute: str
    tag_name: str | None = None
    tag: str = SEQUENCE_TAG

    @property
    def item_key(self) -> Item:
        """The key in DynamoDB JSON."""
        return {name: {kind: text} for name, kind, text in self.key}


def group_of(model: Model, number: Numbering, entity: Entity) -> Mapping[str, Any]:
    """Give the values of an entity that its number is counted by; a computed one is computed, one it lacks is None."""
    parts = model.primary.parts
    return parts_of(entity, parts[: parts.index(number.name)] if number.strategy == "sort_key" else number.needs)


def counter_of(model: Model, number: Numbering, values: Mapping[str, Any]) -> Counter:
    """Find the counter that an entity with these values draws from. KeyPartError where a part of its key is missing."""
    sequence = number.options.sequence
    if sequence is not None and sequence.attribute is not None:
        return Counter(_adopted(model, number, values), sequence.attribute)
    name = escape(model.counter_name(number) if sequence is None else str(sequence.name))
    owner = _owner(model, number, values)
    return Counter(_hidden_key(model, name, owner), LAST, model.table.tag)


def _owner(model: Model, number: Numbering, values: Mapping[str, Any]) -> str | None:
    """Give the partition key a counter belongs to, or None for one of the whole entity or table."""
    if number.options.sequence is not None:
        return number.templates[0].render(values, limit=PK_BYTES) if number.templates else None
    return model.primary.pk.render(values, limit=PK_BYTES) if number.per == "partition" else None


def _hidden_key(model: Model, name: str, owner: str | None) -> tuple[tuple[str, str, str], ...]:
    table = model.table
    if owner is not None and table.sk is not None and table.sk.attribute_type == "S":
        return _pair(table.pk, owner, table.sk, f"{SEQUENCE}#{name}")
    pk = model.hidden(f"#{SEQUENCE}#{name}" + ("" if owner is None else f"#{escape(owner)}"))
    if len(pk.encode()) > PK_BYTES:
        raise KeyPartError(name, given="a partition key too long to name its counter after", wanted="a shorter one")
    return _pair(table.pk, pk, table.sk, None)


def _pair(pk: KeyColumn, text: str, sk: KeyColumn | None, sk_text: str | None) -> tuple[tuple[str, str, str], ...]:
    half = (pk.name, pk.attribute_type, text)
    if sk is None:
        return (half,)
    alone = HIDDEN if sk.attribute_type == "S" else "0"
    return (half, (sk.name, sk.attribute_type, alone if sk_text is None else sk_text))


def _adopted(model: Model, number: Numbering, values: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    columns = zip(model.table.pks + model.table.sks, number.templates, (PK_BYTES, SK_BYTES), strict=False)
    return tuple(
        (column.name, column.attribute_type, template.render(values, limit=limit))
        for column, template, limit in columns
    )
