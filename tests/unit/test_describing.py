"""What a class says of itself."""

from __future__ import annotations

from typing import Self

from singletable.entity import Entity
from singletable.fields import Field
from singletable.increments import AutoIncrement, Sequence
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
    assert "  number: a 64-bit int" in lines
    assert "  by_note on index GSI1: #NOTE#{note} / #{number} (not in it without note)" in lines
    assert any(line.startswith("  note: ") and line.endswith(", stored as 'n'") for line in lines)
    drawn = "  number is drawn by sort_key, counting for each #USER#{user_id}: it is the last part of the sort key"
    assert drawn in lines
    assert "  bill is drawn by counter, counting for the whole entity: it stands in no primary key" in lines
    assert lines[-1] == "  pattern of"


def test_without_tag() -> None:
    """Where a table keeps no tag the entity is told by its key."""

    class Row(Entity, table=Table("tab", sk=None, tag=None)):
        name: Field[str]

        key = Key(pk="#ROW#{name}")

    assert Row.describe().startswith("Row in table 'tab', told by its key")


def test_what_numbers_count_for() -> None:
    """A number says what it counts for: the parts before it, the partition, or what its Sequence names."""

    class Task(Entity, table=Table("tasks")):
        project: Field[str]
        sprint: Field[int]
        n: Field[int] = AutoIncrement()
        card: Field[int] = AutoIncrement(per="partition")
        ticket: Field[int] = AutoIncrement(Sequence("tickets", pk="#REPO#{project}"))
        shared: Field[int] = AutoIncrement(Sequence("shared"))
        counted: Field[int] = AutoIncrement(Sequence(pk="C#{project}", sk="N", attribute="n"))
        key = Key(pk="#PROJECT#{project}", sk="#SPRINT#{sprint}#TASK#{n}")

    text = Task.describe()
    assert "n is drawn by sort_key, counting for each #PROJECT#{project} / #SPRINT#{sprint}#TASK: " in text
    assert "card is drawn by counter, counting for each #PROJECT#{project}: " in text
    assert "ticket is drawn by counter, counting for each #REPO#{project}: " in text
    assert "shared is drawn by counter, counting for the whole table: " in text
    assert "counted is drawn by counter, counting for each C#{project} / N: " in text


def test_what_stands_in_one_partition() -> None:
    """Where no part stands before a number, all items count together."""

    class Ticket(Entity, table=Table("board")):
        n: Field[int] = AutoIncrement()
        key = Key(pk="#BOARD", sk="#T#{n}")

    assert "n is drawn by sort_key, counting for the whole partition #BOARD: " in Ticket.describe()


def test_a_condition_of_an_index() -> None:
    """An index key with a condition says on what."""

    class Job(Entity, table=table):
        job: Field[str]
        status: Field[str]
        key = Key(pk="#JOB#{job}", sk="#JOB")
        open = Key(on=gsi1, pk="#OPEN", sk="#{job}", when=lambda job: job.status == "OPEN")

    assert "open on index GSI1: #OPEN / #{job} (only items that meet its condition on status)" in Job.describe()
