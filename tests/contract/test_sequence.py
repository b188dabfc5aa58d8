"""Looking after numbers: peek, reserve, set, sync and reset, of every kind of number."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import (
    AutoIncrement,
    Entity,
    Field,
    Key,
    KeyPartError,
    MissingPart,
    Sequence,
    SequenceExhausted,
    Store,
    Table,
    UnknownPart,
    UsageError,
)
from tests.contract.behind import CountingClient, client_of, item_under, sibling, write
from tests.contract.conftest import MakeStore

port = Table("port")
berths = Sequence("berths", pk="#QUAY#{quay}")
old = Sequence(pk="COUNTERS", sk="cargo", attribute="n")


class Ship(Entity, table=port, tag="ship"):
    number: Field[int] = AutoIncrement(max_value=50)

    key = Key(pk="#SHIP#{number}", sk="#SHIP")


class Trip(Entity, table=port, tag="trip"):
    ship: Field[str]
    number: Field[int] = AutoIncrement()

    key = Key(pk="#TRIPS#{ship}", sk="#TRIP#{number}")


class Crate(Entity, table=port, tag="crate"):
    ship: Field[str]
    number: Field[int] = AutoIncrement("counter")

    key = Key(pk="#CRATES#{ship}", sk="#CRATE#{number}")


class Log(Entity, table=port, tag="log"):
    ship: Field[str]
    day: Field[str]
    number: Field[int] = AutoIncrement("counter", per="partition")

    key = Key(pk="#LOGS#{ship}", sk="#{day}#{number}")


class Yacht(Entity, table=port, tag="yacht"):
    quay: Field[str]
    name: Field[str]
    berth: Field[int] = AutoIncrement(berths)

    key = Key(pk="#YACHT#{name}", sk="#YACHT#{quay}")


class Barge(Entity, table=port, tag="barge"):
    quay: Field[str]
    berth: Field[int] = AutoIncrement(berths, block=10)

    key = Key(pk="#QUAY#{quay}", sk="#BARGE#{berth}")


class Cargo(Entity, table=port, tag="cargo"):
    name: Field[str]
    number: Field[int] = AutoIncrement(old)

    key = Key(pk="#CARGO#{name}", sk="#CARGO")


class Bill(Entity, table=port, tag="bill"):
    number: Field[int] = AutoIncrement(gapless=True)
    trace: Field[int] = AutoIncrement("counter")

    key = Key(pk="#BILL#{number}", sk="#BILL")


def test_peek(backend: MakeStore) -> None:
    """The last number issued is told for one read and none is drawn; before the first there is none."""
    store = backend(port)
    client = CountingClient(client_of(store))
    counting = sibling(store, client=client)
    for numbers, make in (
        (counting.sequence(Ship), Ship),
        (counting.sequence(Trip, ship="s"), lambda: Trip(ship="s")),
        (counting.sequence(Crate, ship="s"), lambda: Crate(ship="s")),
        (counting.sequence(Yacht, quay="q"), lambda: Yacht(quay="q", name="y")),
        (counting.sequence(Cargo), lambda: Cargo(name="c")),
    ):
        assert numbers.peek() is None
        made: Any = make()
        store.create(made)
        assert numbers.peek() == 1
    assert client.calls == {"get_item": 8, "query": 2}
    assert counting.sequence(Trip, ship="other").peek() is None


def test_peek_sees_tombstones_and_blocks(backend: MakeStore) -> None:
    """What was deleted was issued, and so is a block that is not given out yet."""
    store = backend(port)
    trip = store.create(Trip(ship="s"))
    store.delete(trip)
    assert store.sequence(Trip, ship="s").peek() == 1
    store.create(Barge(quay="q"))
    assert store.sequence(Barge, quay="q").peek() == 10


def test_reserve(backend: MakeStore) -> None:
    """Reserved numbers follow each other, and no entity is given one."""
    store = backend(port)
    ships = store.sequence(Ship)
    assert ships.reserve(3) == range(1, 4)
    assert store.create(Ship()).number == 4
    assert list(ships.reserve(1)) == [5]
    with pytest.raises(SequenceExhausted):
        ships.reserve(46)
    assert ships.peek() == 5
    with pytest.raises(UsageError, match="no counter"):
        store.sequence(Trip, ship="s").reserve(1)
    with pytest.raises(UsageError, match="would be one"):
        store.sequence(Bill, "number").reserve(1)
    for wrong in (0, -1, True, "3"):
        with pytest.raises(UsageError, match="reserve"):
            ships.reserve(wrong)  # type: ignore[arg-type]


def test_set(backend: MakeStore) -> None:
    """The next number comes after the one that is set; a counter is not set back, nor beyond its end."""
    store = backend(port)
    ships = store.sequence(Ship)
    ships.set(10)
    ships.set(10)
    assert store.create(Ship()).number == 11
    with pytest.raises(UsageError, match="given 10, and 11 is issued already"):
        ships.set(10)
    for wrong in (51, -(2**63) - 1, True, 1.5):
        with pytest.raises(UsageError, match=r"set\(\) was given"):
            ships.set(wrong)  # type: ignore[arg-type]
    assert ships.peek() == 11
    with pytest.raises(UsageError, match="no counter"):
        store.sequence(Trip, ship="s").set(5)


def test_set_ends_a_block(backend: MakeStore) -> None:
    """What this store has left of a block is not given out after its counter was set."""
    store = backend(port)
    assert store.create(Barge(quay="q")).berth == 1
    store.sequence(Barge, quay="q").set(100)
    assert store.create(Barge(quay="q")).berth == 101


def test_sync(backend: MakeStore) -> None:
    """Counters are raised to what stands in the table: of an entity, a partition, a Sequence of two kinds."""
    store = backend(port)
    assert store.sequence(Ship).sync() is None
    store.put_many([Ship(number=7), Ship(number=3)])
    assert store.sequence(Ship).sync() == 7
    assert store.create(Ship()).number == 8
    store.create(Log(ship="s", day="d1"))
    store.put_many([Log(ship="s", day="d0", number=30), Log(ship="t", day="d0", number=70)])
    assert store.sequence(Log, ship="s").sync() == 30
    assert store.create(Log(ship="s", day="d2")).number == 31
    store.put(Yacht(quay="q", name="y", berth=12))
    store.put(Barge(quay="q", berth=20))
    store.put(Yacht(quay="p", name="z", berth=90))
    assert store.sequence(Yacht, quay="q").sync() == 20
    assert store.create(Yacht(quay="q", name="x")).berth == 21
    store.create(Crate(ship="s"))
    store.put(Crate(ship="s", number=40))
    assert store.sequence(Crate, ship="s").sync() == 40
    assert store.create(Crate(ship="s")).number == 41


def test_sync_never_lowers(backend: MakeStore) -> None:
    """A counter beyond what is stored stays; by sort key there is nothing to raise."""
    store = backend(port)
    store.sequence(Ship).set(20)
    store.put(Ship(number=7))
    assert store.sequence(Ship).sync() == 20
    store.put(Trip(ship="s", number=6))
    assert store.sequence(Trip, ship="s").sync() == 6


def test_a_gapless_counter_is_mended_by_sync(transacting: MakeStore) -> None:
    """Where another program put a number above the counter, sync lets creates go on."""
    store = transacting(port)
    store.put(Bill(number=1, trace=1))
    store.sequence(Bill, "number").sync()
    assert store.create(Bill()).number == 2
    assert store.sequence(Bill, "trace").peek() == 1


def test_reset(backend: MakeStore) -> None:
    """A counter that is forgotten begins at its start; of an adopted item only the attribute goes."""
    store = backend(port)
    store.create(Ship())
    store.delete(Ship.at(number=1))
    store.sequence(Ship).reset()
    store.sequence(Ship).reset()
    assert store.create(Ship()).number == 1
    key = {"PK": {"S": "COUNTERS"}, "SK": {"S": "cargo"}}
    store.sequence(Cargo).reset()
    assert item_under(store, key) is None
    write(store, {**key, "n": {"N": "5"}, "kept": {"S": "x"}})
    store.sequence(Cargo).reset()
    assert item_under(store, key) == {**key, "kept": {"S": "x"}}
    with pytest.raises(UsageError, match="no counter"):
        store.sequence(Trip, ship="s").reset()


def refused(store: Store, *what: Any, **parts: Any) -> Any:
    """Give the error of a handle that cannot be."""
    with pytest.raises((UsageError, KeyPartError)) as error:
        store.sequence(*what, **parts)
    return error.value


def test_what_names_no_numbers() -> None:
    """A handle names one field and one group, or is refused before anything is sent."""
    store = Store.local(port)
    assert isinstance(refused(store, Trip), MissingPart)
    assert isinstance(refused(store, Trip, ship="s", number=1), UnknownPart)
    assert isinstance(refused(store, Ship, ship="s"), UnknownPart)
    assert "counts for all" in str(refused(store, Ship, ship="s"))
    assert isinstance(refused(store, Crate, ship=None), MissingPart)
    assert isinstance(refused(store, Crate, ship=5), KeyPartError)
    assert "draws 2 numbers: trace, number" in str(refused(store, Bill))
    assert "no AutoIncrement field 'nunber'" in str(refused(store, Bill, "nunber"))
    assert "did you mean 'number'" in str(refused(store, Bill, "nunber"))
    assert "wanted an entity class" in str(refused(store, Ship()))
    assert "wanted its name" in str(refused(store, Ship, Ship.number))


def test_a_handle_tells_what_it_is_of() -> None:
    """Its repr names the entity, the field and the group."""
    store = Store.local(port)
    assert repr(store.sequence(Trip, ship="s")) == "<numbers of Trip.number for ship='s'>"
    assert repr(store.sequence(Ship)) == "<numbers of Ship.number>"
