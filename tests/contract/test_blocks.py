"""Numbers drawn in blocks, and numbers that the user brings along."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    Create,
    Entity,
    Field,
    FieldValueError,
    Key,
    KeyPartError,
    Put,
    Sequence,
    SequenceExhausted,
    Store,
    Table,
    UsageError,
)
from tests.contract.behind import CountingClient, client_of, item_under, sibling
from tests.contract.conftest import MakeStore

yard = Table("yard")


class Parcel(Entity, table=yard, tag="parcel"):
    number: Field[int] = AutoIncrement(block=10)
    note: Field[str] = Field(default="")

    key = Key(pk="#PARCEL#{number}", sk="#PARCEL")


class Slot(Entity, table=yard, tag="slot"):
    hall: Field[str]
    number: Field[int] = AutoIncrement("counter", block=4, max_value=6)

    key = Key(pk="#HALL#{hall}", sk="#SLOT#{number}")


class Bay(Entity, table=yard, tag="bay"):
    hall: Field[str]
    number: Field[int] = AutoIncrement(on_explicit="allow", max_value=100)

    key = Key(pk="#HALL#{hall}", sk="#BAY#{number}")


class Gate(Entity, table=yard, tag="gate"):
    hall: Field[str]
    number: Field[int] = AutoIncrement("counter", on_explicit="allow")

    key = Key(pk="#HALL#{hall}", sk="#GATE#{number}")


class Crane(Entity, table=yard, tag="crane"):
    name: Field[str]
    number: Field[int] = AutoIncrement(Sequence("machines"), on_explicit="allow")

    key = Key(pk="#CRANE#{name}", sk="#CRANE")


class Pier(Entity, table=yard, tag="pier"):
    name: Field[str]
    number: Field[int] = AutoIncrement("counter", start=1000, on_explicit="allow")

    key = Key(pk="#PIER#{name}", sk="#PIER")


PARCELS = {"PK": {"S": "#!SEQ#parcel.number"}, "SK": {"S": "!"}}


def counter(store: Store) -> str:
    """Read where the counter of parcels stands."""
    item = item_under(store, PARCELS)
    return "" if item is None else item["last"]["N"]


# Blocks


def test_a_block_is_drawn_at_once(backend: MakeStore) -> None:
    """Twelve numbers are two requests to the counter, which then stands at the end of the second block."""
    store = backend(yard)
    client = CountingClient(client_of(store))
    counting = sibling(store, client=client)
    assert [counting.create(Parcel()).number for _ in range(12)] == list(range(1, 13))
    assert client.calls == {"update_item": 2, "put_item": 12}
    assert counter(store) == "20"


def test_each_store_has_its_own(backend: MakeStore) -> None:
    """Two stores, as two processes, draw a block each: no number twice, but not in the order of time."""
    store = backend(yard)
    here, there = sibling(store), sibling(store)
    assert [each.create(Parcel()).number for each in (here, there, here, there)] == [1, 11, 2, 12]


def test_threads_share_a_block(backend: MakeStore) -> None:
    """Forty numbers by sixteen threads are four blocks, none drawn twice at the same time."""
    store = backend(yard)
    client = CountingClient(client_of(store))
    counting = sibling(store, client=client)

    def created(_: int) -> int:
        return counting.create(Parcel()).number

    with ThreadPoolExecutor(16) as threads:
        assert sorted(threads.map(created, range(40))) == list(range(1, 41))
    assert client.calls["update_item"] == 4


def test_many_at_once_use_up_the_block_first(backend: MakeStore) -> None:
    """What is left of a block is given out before a new one, and more than a block is drawn where it is wanted."""
    store = backend(yard)
    assert store.create(Parcel()).number == 1
    assert [parcel.number for parcel in store.put_many([Parcel() for _ in range(25)])] == list(range(2, 27))
    assert counter(store) == "26"
    assert [parcel.number for parcel in store.create_many([Parcel() for _ in range(3)])] == [27, 28, 29]
    assert counter(store) == "36"


def test_the_end_is_given_out_to_the_last(backend: MakeStore) -> None:
    """Where no whole block is left, what is wanted is drawn: 1 to 6 of blocks of four, and nothing beyond."""
    store = backend(yard)
    assert [store.create(Slot(hall="h")).number for _ in range(5)] == [1, 2, 3, 4, 5]
    with pytest.raises(SequenceExhausted):
        store.put_many([Slot(hall="h"), Slot(hall="h")])
    assert store.create(Slot(hall="h")).number == 6
    with pytest.raises(SequenceExhausted):
        store.create(Slot(hall="h"))


def test_a_refused_draw_gives_the_rest_of_the_block_back(backend: MakeStore) -> None:
    """Numbers that were taken from a block for more than there is are given out to the next."""
    store = backend(yard)
    assert store.create(Slot(hall="h")).number == 1
    with pytest.raises(SequenceExhausted):
        store.put_many([Slot(hall="h") for _ in range(6)])
    assert [store.create(Slot(hall="h")).number for _ in range(5)] == [2, 3, 4, 5, 6]


# Numbers of your own


def test_by_sort_key_a_number_of_your_own_counts(backend: MakeStore) -> None:
    """It is stored where nothing stands, and the next one is above it."""
    store = backend(yard)
    assert store.create(Bay(hall="h")).number == 1
    assert store.create(Bay(hall="h", number=40)).number == 40
    assert [store.create(Bay(hall="h")).number for _ in range(2)] == [41, 42]
    with pytest.raises(AlreadyExists):
        store.create(Bay(hall="h", number=41))
    with pytest.raises(UsageError, match="wanted at most 100"):
        store.create(Bay(hall="h", number=101))
    assert store.create(Bay(hall="h")).number == 43


def test_a_counter_is_raised_to_it(backend: MakeStore) -> None:
    """One above the counter moves it, one below leaves it; both before the item is put."""
    store = backend(yard)
    assert [store.create(Crane(name=name)).number for name in "ab"] == [1, 2]
    assert store.create(Crane(name="c", number=10)).number == 10
    assert store.create(Crane(name="d")).number == 11
    assert store.create(Crane(name="e", number=5)).number == 5
    assert store.create(Crane(name="f")).number == 12
    store.create_many([Crane(name="g", number=20), Crane(name="h", number=17)])
    assert store.create(Crane(name="i")).number == 21


@pytest.mark.parametrize("wrong", [2.5, True, "7", -(2**63) - 1, 2**63])
def test_what_is_refused_moves_no_counter(backend: MakeStore, wrong: Any) -> None:
    """A number that cannot be, and an entity that cannot be stored, leave the counter where it is."""
    store = backend(yard)
    store.create(Crane(name="a"))
    for name, number in (("b", wrong), ("", 50)):
        with pytest.raises((FieldValueError, KeyPartError, UsageError)):
            store.create(Crane(name=name, number=number))
        with pytest.raises((FieldValueError, KeyPartError, UsageError)):
            store.create_many([Crane(name=name, number=number)])
    assert store.create(Crane(name="c")).number == 2


def test_a_number_below_the_start(backend: MakeStore) -> None:
    """A counter whose first number is one of yours, below the start, still begins there."""
    store = backend(yard)
    assert store.create(Pier(name="a", number=5)).number == 5
    assert store.create(Pier(name="b")).number == 1000


def test_in_a_transaction(transacting: MakeStore) -> None:
    """A create raises the counter; a put of an item that was read does not."""
    store = transacting(yard)
    store.transact(Create(Crane(name="a", number=7)), Put(Crane(name="b", number=70)))
    assert store.create(Crane(name="c")).number == 8


def test_a_partition_with_data(backend: MakeStore) -> None:
    """A counter that begins with a number of yours begins above what is stored in its partition, too."""
    store = backend(yard)
    store.put(Gate(hall="h", number=30))
    store.create(Gate(hall="h", number=3))
    assert store.create(Gate(hall="h")).number == 31
