"""What a class says of itself."""

from __future__ import annotations

from typing import Self

from singletable.entity import Entity
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.indexes import GlobalIndex
from singletable.patterns import Key, pattern
from singletable.queries import Query
from singletable.schema import Table

gsi1 = GlobalIndex("GSI1")
table = Table("described", indexes=[gsi1])


class Order(Entity, table=table, tag="order"):
    user_id: Field[str]
    number: Field[int] = AutoIncrement()
    bill: Field[int] = AutoIncrement()
    note: Field[str | None] = Field(default=None, name="n")

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{number}")
    by_note = Key(on=gsi1, pk="#NOTE#{note}", sk="#{number}")

    @classmethod
    @pattern
    def of(cls, user_id: str) -> Query[Self]:
        """A user's orders."""
        return cls.key(user_id=user_id)


def test_everything_is_said() -> None:
    """A description names table, tag, fields, stored names, keys, strategies with their reasons, and patterns."""
    lines = Order.describe().splitlines()
    assert lines[0] == "Order in table 'described', tag 'order' in '_et'"
    assert "  primary key: #USER#{user_id} / #ORDER#{number}" in lines
    assert "  by_note on index GSI1: #NOTE#{note} / #{number}" in lines
    assert any(line.startswith("  note: ") and line.endswith(", stored as 'n'") for line in lines)
    assert "  number is drawn by sort_key, counting for each partition: it is the last part of the sort key" in lines
    assert "  bill is drawn by counter, counting for the whole entity: it is not the last part of the sort key" in lines
    assert lines[-1] == "  pattern of"


def test_without_tag() -> None:
    """Where a table keeps no tag the entity is told by its key."""

    class Row(Entity, table=Table("tab", sk=None, tag=None)):
        name: Field[str]

        key = Key(pk="#ROW#{name}")

    assert Row.describe().startswith("Row in table 'tab', told by its key")
