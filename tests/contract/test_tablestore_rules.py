"""The rules of Tablestore's auto-increment primary key column, each a test named after it.

Source: Alibaba Cloud, Tablestore, "Auto-increment of primary key columns". Where singletable goes further, the test
says so; `docs/numbers-details.md` compares the two.
"""

from __future__ import annotations

from types import new_class
from typing import Any

import pytest

from singletable import (
    AutoIncrement,
    Create,
    DeclarationError,
    Entity,
    Field,
    FieldValueError,
    Key,
    MissingPart,
    NumberNotAssigned,
    SequenceExhausted,
    Table,
    UsageError,
)
from tests.contract.behind import in_threads, sibling
from tests.contract.conftest import MakeStore

notes = Table("notes")
older = Table("notes")
HIGHEST = 2**63 - 1


class Message(Entity, table=notes, tag="message"):
    room: Field[str]
    number: Field[int] = AutoIncrement()
    text: Field[str] = Field(default="")

    key = Key(pk="#ROOM#{room}", sk="#MESSAGE#{number}")


class Plain(Entity, table=older, tag="message"):
    """The same items, before they were numbered by the store."""

    room: Field[str]
    number: Field[int]
    text: Field[str] = Field(default="")

    key = Key(pk="#ROOM#{room}", sk="#MESSAGE#{number}")


class Ticket(Entity, table=notes, tag="ticket"):
    number: Field[int] = AutoIncrement()
    total: Field[int] = AutoIncrement("counter")

    key = Key(pk="#TICKET#{number}", sk="#TICKET")


def declared(annotation: Any, pk: str = "#ROOM#{room}", sk: str = "#N#{number}") -> Any:
    """Declare an entity whose number by sort key is of a type, under a key."""
    table = Table("declared")
    body = {
        "__annotations__": {"room": Field[str], "number": Field[annotation], "other": Field[int]},
        "__module__": __name__,
        "number": AutoIncrement("sort_key"),
        "other": Field(default=0),
        "key": Key(pk=pk, sk=sk),
    }
    made: Any = new_class("Declared", (Entity,), {"table": table}, lambda names: names.update(body))
    return made.describe()


def test_an_integer_column_only() -> None:
    """Any other type is refused when the class is declared."""
    assert "number is drawn by sort_key" in declared(int)
    with pytest.raises(DeclarationError, match="draws integers"):
        declared(str)


def test_64_bits_with_sign(backend: MakeStore) -> None:
    """The largest number is 2**63 - 1, after which none is drawn."""
    store = backend(notes)
    store.put(Message(room="r", number=HIGHEST - 1))
    assert store.create(Message(room="r")).number == HIGHEST
    with pytest.raises(SequenceExhausted):
        store.create(Message(room="r"))


def test_the_partition_key_cannot_be_one() -> None:
    """By sort key a number in the partition key is refused; beyond the rule, a counter can number it."""
    with pytest.raises(DeclarationError, match="it stands in the partition key"):
        declared(int, pk="#N#{number}", sk="#ROOM#{room}")
    assert "number is drawn by counter" in Ticket.describe()


def test_an_attribute_cannot_be_one(backend: MakeStore) -> None:
    """By sort key a number that stands in no key is refused; beyond the rule, a counter can number it."""
    with pytest.raises(DeclarationError, match="it stands in no primary key"):
        declared(int, sk="#OTHER#{other}")
    assert backend(notes).create(Ticket()).total == 1


def test_one_for_a_primary_key() -> None:
    """Only the last part of the sort key is numbered so, which is one for each entity; counters may be many."""
    with pytest.raises(DeclarationError, match="it is not the last part of the sort key"):
        declared(int, sk="#N#{number}#{other}")
    assert [line.split()[0] for line in Ticket.describe().splitlines() if "is drawn by" in line] == ["number", "total"]


def test_tables_with_and_without_it_stand_beside_each_other(backend: MakeStore) -> None:
    """It is a matter of the entity: beyond the rule, one table holds both, and data that is older is counted on."""
    store = backend(notes)
    sibling(store, older).put_many([Plain(room="r", number=number) for number in (1, 2, 7)])
    assert store.create(Message(room="r")).number == 8


def test_unique_and_strictly_increasing_in_a_partition(backend: MakeStore) -> None:
    """Eight threads in two partitions draw 1 to 40 in each, every thread rising numbers."""
    store = backend(notes)
    drawn = in_threads(8, lambda at: [store.create(Message(room=f"r{at % 2}")).number for _ in range(10)])
    assert all(numbers == sorted(set(numbers)) for numbers in drawn)
    for room in (0, 1):
        assert sorted(number for at, numbers in enumerate(drawn) if at % 2 == room for number in numbers) == [
            *range(1, 41)
        ]


def test_no_promise_that_none_is_missing(backend: MakeStore) -> None:
    """A deleted number leaves a hole, and is not given out again."""
    store = backend(notes)
    made = [store.create(Message(room="r")) for _ in range(3)]
    store.delete(made[2])
    assert store.create(Message(room="r")).number == 4


def test_the_writer_leaves_a_placeholder(backend: MakeStore) -> None:
    """The field is left out, by every verb that makes an item; a number of the writer's own is refused."""
    store = backend(notes)
    assert store.create(Message(room="r")).number == 1
    assert store.put(Message(room="r")).number == 2
    assert [made.number for made in store.create_many([Message(room="r"), Message(room="r")])] == [3, 4]
    with pytest.raises(UsageError, match="drawn when the entity is created"):
        store.create(Message(room="r", number=9))


def test_the_number_comes_back(backend: MakeStore) -> None:
    """It is in the entity that the verb gives, at no further request; the one handed in has none."""
    store = backend(notes)
    draft = Message(room="r", text="hello")
    assert store.create(draft) == Message(room="r", number=1, text="hello")
    with pytest.raises(NumberNotAssigned):
        _ = draft.number


def test_a_row_is_read_by_its_whole_key(backend: MakeStore) -> None:
    """One item wants the number too; without it the partition is queried."""
    store = backend(notes)
    made = store.create(Message(room="r"))
    assert store.get(Message.at(room="r", number=1)) == made
    with pytest.raises(MissingPart):
        Message.at(room="r")
    assert store.query(Message.key(room="r")).all() == [made]


def test_conditions_are_as_before(backend: MakeStore) -> None:
    """An update of a numbered item has conditions as any other; the number itself cannot be changed."""
    store = backend(notes)
    made = store.create(Message(room="r"))
    assert store.update(made, Message.text.set("b"), when=Message.text == "").text == "b"
    with pytest.raises((UsageError, FieldValueError)):
        store.update(made, Message.number.set(5))


def test_not_in_local_transactions(transacting: MakeStore) -> None:
    """Beyond the rule: several are numbered in one transaction."""
    store = transacting(notes)
    made = store.transact(Create(Message(room="r")), Create(Message(room="r")), Create(Message(room="s")))
    assert [message.number for message in made] == [1, 2, 1]
