"""Reading many on every engine: projections, several values, many keys, scans and several queries, requests counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from singletable import (
    AutoIncrement,
    Entity,
    Field,
    FieldNotLoaded,
    ForeignItem,
    Key,
    NotFound,
    Sequence,
    Store,
    Table,
    UsageError,
    evolve,
)
from tests.contract.behind import CountingClient, client_of, write
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, OrderLine, Region, User, app, day, order

racks = Table("racks", pk=("rack", int), sk=("slot", int))
plain = Table("plain", tag=None)


class Slot(Entity, table=racks, tag="slot"):
    rack: Field[int]
    slot: Field[int]
    text: Field[str] = Field(default="")

    key = Key(pk="{rack}", sk="{slot}")


class Note(Entity, table=plain):
    n: Field[int] = AutoIncrement(Sequence("notes"))
    text: Field[str] = Field(default="")

    key = Key(pk="#NOTE#{n}", sk="#NOTE")


@pytest.fixture
def store(backend: MakeStore) -> Store:
    """Give a shop with four orders of one user, paid and sent and open, and the user itself."""
    store = backend(app)
    store.put_many([User(user_id="u1", name="Ann", email="ann@example.org"), User(user_id="u2", name="Ben")])
    for on, status in enumerate(("PAID", "SENT", "OPEN", "PAID"), start=1):
        store.create(order(on=on, status=status))
    return store


@pytest.fixture
def sent(store: Store) -> Counter[str]:
    """Count the requests that the store sends from now on, by method."""
    return counted(store)


def counted(store: Store) -> Counter[str]:
    """Count the requests of a store from now on."""
    client = CountingClient(client_of(store))
    store._made = client
    return client.calls


def states(orders: Iterator[Order] | list[Order]) -> list[tuple[str, int]]:
    """Give the state and number of orders."""
    return [(each.status, each.order_id) for each in orders]


class TestOnly:
    def test_a_projection_of_an_index(self, store: Store) -> None:
        """The fields asked for and the key's come; others raise, and the entity cannot be put."""
        (first, *_) = store.query(Order.by_status(user_id="u1").only(Order.status))
        assert (first.user_id, first.order_id, first.status) == ("u1", 3, "OPEN")
        with pytest.raises(FieldNotLoaded, match="placed_at"):
            _ = first.placed_at
        with pytest.raises(FieldNotLoaded, match="placed_at"):
            store.put(first)

    def test_a_projection_of_the_table(self, store: Store) -> None:
        """On the table's key too, with the tag filter that goes along there."""
        made = store.query(Order.key(user_id="u1").only(Order.placed_at)).all()
        assert [(each.order_id, each.placed_at) for each in made] == [(on, day(on)) for on in (1, 2, 3, 4)]

    def test_a_part_can_be_updated_and_deleted(self, store: Store) -> None:
        """What needs the key alone works; index keys follow from what is stored."""
        part = store.query(Order.key(user_id="u1").only(Order.status)).all()[0]
        assert store.update(part, Order.status.set("SENT")).placed_at == day(1)
        assert store.count(Order.by_status(user_id="u1", status="SENT")) == 2
        gone = store.delete(evolve(part, status="LOST"))
        assert gone is not None
        assert gone.status == "SENT"

    def test_a_count_needs_no_fields(self, store: Store) -> None:
        """Counting a projection counts the rows."""
        assert store.count(Order.key(user_id="u1").only(Order.status)) == 4


class TestIsIn:
    def test_three_values_are_three_requests(self, store: Store, sent: Counter[str]) -> None:
        """Rows come in key order, whatever the order of the values."""
        query = Order.by_status(user_id="u1").is_in(status=("SENT", "PAID", "LOST"))
        assert states(store.query(query).all()) == [("PAID", 1), ("PAID", 4), ("SENT", 2)]
        assert sent == {"query": 3}

    def test_descending_with_a_limit(self, store: Store) -> None:
        """The last two of all, backwards."""
        query = Order.by_status(user_id="u1").is_in(status=("OPEN", "SENT", "PAID")).descending().limit(2)
        assert states(store.query(query).all()) == [("SENT", 2), ("PAID", 4)]

    def test_numbers_of_the_key(self, store: Store) -> None:
        """A part of the table's own key can be one of several values, filtered and projected too."""
        query = Order.key(user_id="u1").is_in(order_id=(4, 2, 9, 2)).where(Order.status == "PAID").only(Order.status)
        assert states(store.query(query).all()) == [("PAID", 4)]

    def test_paths(self, store: Store) -> None:
        """Nodes with all below them; a node inside another comes once."""
        paths = [("A",), ("A", "1"), ("B",), ("C",), ("C", "1", "x")]
        store.put_many([Region(country="CN", path=path, name="") for path in paths])
        query = Region.key(country="CN").is_in(path=[("C", "1"), ("A",), ("A", "1")])
        assert [region.path for region in store.query(query)] == [("A",), ("A", "1"), ("C", "1", "x")]

    def test_first_and_count(self, store: Store, sent: Counter[str]) -> None:
        """Both see all values; without values nothing is sent."""
        query = Order.by_status(user_id="u1").is_in(status=("PAID", "OPEN"))
        first = store.first(query)
        assert first is not None
        assert first.order_id == 3
        assert store.count(query) == 3
        assert sent == {"query": 4}
        none = Order.by_status(user_id="u1").is_in(status=())
        assert (store.first(none), store.count(none), store.query(none).all()) == (None, 0, [])
        assert sent == {"query": 4}

    def test_native_numbers(self, backend: MakeStore) -> None:
        """Native numbers are ordered as numbers."""
        store = backend(racks)
        store.put_many([Slot(rack=1, slot=slot) for slot in (-5, 2, 10)])
        query = Slot.key(rack=1).is_in(slot=(10, 2, -5))
        assert [each.slot for each in store.query(query)] == [-5, 2, 10]
        assert [each.slot for each in store.query(query.descending())] == [10, 2, -5]


class TestGetMany:
    def test_250_keys_are_three_requests(self, store: Store, sent: Counter[str]) -> None:
        """In their order, each as it is stored, with holes where nothing stands."""
        names = [f"m{number:03d}" for number in range(250)]
        store.put_many([User(user_id=name, name=name.upper()) for name in names if name != "m007"])
        sent.clear()
        found = store.get_many(*[User.at(user_id=name) for name in reversed(names)])
        assert [None if user is None else user.name for user in found] == [
            None if name == "m007" else name.upper() for name in reversed(names)
        ]
        assert sent == {"batch_get_item": 3}

    def test_several_classes_in_one_request(self, store: Store, sent: Counter[str]) -> None:
        """A tuple of both, a key that is asked for twice once."""
        ann, first, again = store.get_many(
            User.at(user_id="u1"), Order.at(user_id="u1", order_id=1), User.at(user_id="u1"), missing="raise"
        )
        assert (ann.name, first.placed_at, again) == ("Ann", day(1), ann)
        assert sent == {"batch_get_item": 1}

    def test_what_is_missing(self, store: Store) -> None:
        """A hole, nothing, or an error that says so; a deleted number is missing too."""
        store.delete(Order.at(user_id="u1", order_id=2))
        refs = [Order.at(user_id="u1", order_id=number) for number in (2, 3)]
        assert [each and each.order_id for each in store.get_many(*refs)] == [None, 3]
        assert [each.order_id for each in store.get_many(*refs, missing="skip", consistent=True)] == [3]
        with pytest.raises(NotFound, match="1 of 2"):
            store.get_many(*refs, missing="raise")

    def test_a_foreign_item(self, store: Store) -> None:
        """Another program's item at a key raises."""
        ref = User.at(user_id="u9")
        write(store, {**ref.key, "_et": {"S": "robot"}})
        with pytest.raises(ForeignItem):
            store.get_many(User.at(user_id="u1"), ref)

    def test_native_numbers(self, backend: MakeStore) -> None:
        """Answers are put in order by number keys too."""
        store = backend(racks)
        store.put_many([Slot(rack=1, slot=slot, text=str(slot)) for slot in (-5, 2, 1000)])
        found = store.get_many(*[Slot.at(rack=1, slot=slot) for slot in (1000, 3, -5)])
        assert [each and each.text for each in found] == ["1000", None, "-5"]

    def test_more_than_sixteen_megabytes(self, backend: MakeStore) -> None:
        """An answer that is cut is completed: 60 items of 300 KB are 18 MB."""
        store = backend(racks)
        slots = tuple(Slot(rack=1, slot=number, text="x" * 300_000) for number in range(60))
        store.put_many(slots)
        sent = counted(store)
        assert store.get_many(*[Slot.at(rack=1, slot=number) for number in range(60)]) == slots
        assert sent == {"batch_get_item": 2}


class TestScan:
    def test_one_kind_of_all(self, store: Store) -> None:
        """Only the entity's items, whatever else the table holds; with segments the same ones."""
        store.delete(Order.at(user_id="u1", order_id=2))
        write(store, {"PK": {"S": "x"}, "SK": {"S": "y"}})
        for segments in (1, 3):
            assert {each.order_id for each in store.scan(Order, segments=segments)} == {1, 3, 4}
        assert {user.user_id for user in store.scan(User, consistent=True)} == {"u1", "u2"}
        assert store.scan(Match).all() == []

    def test_filter_and_limit(self, store: Store) -> None:
        """The condition is met by all that come, and no more come than the limit says."""
        assert {each.order_id for each in store.scan(Order, where=Order.status == "PAID")} == {1, 4}
        assert len(store.scan(Order, limit=3).all()) == 3
        assert len(store.scan(Order, segments=2, limit=1).all()) == 1

    def test_hidden_items_never_appear(self, backend: MakeStore) -> None:
        """In a table without tags the counter stands beside the items, and is none of them."""
        store = backend(plain)
        store.create_many([Note(text="a"), Note(text="b")])
        assert {(note.n, note.text) for note in store.scan(Note)} == {(1, "a"), (2, "b")}

    def test_over_many_pages(self, backend: MakeStore) -> None:
        """Eight items of 300 KB are more than two pages of 1 MB; in segments each reads its own."""
        store = backend(racks)
        store.put_many([Slot(rack=rack, slot=1, text="x" * 300_000) for rack in range(8)])
        sent = counted(store)
        for segments in (1, 4):
            assert sorted(slot.rack for slot in store.scan(Slot, segments=segments)) == list(range(8))
        assert sent["scan"] > 4


class TestSeveralQueries:
    def test_one_after_the_other(self, store: Store) -> None:
        """The rows of the first, then those of the second."""
        rows = store.query(Order.key(user_id="u1").limit(2), User.key(user_id="u1"))
        assert [type(each) for each in rows] == [Order, Order, User]
        assert [type(each) for each in rows] == [Order, Order, User]

    def test_merged(self, store: Store) -> None:
        """One list in the order of the sort keys, forwards and backwards, over partitions."""
        store.create(order(user_id="u2", on=2, status="PAID"))
        one, two = Order.by_status(user_id="u1", status="PAID"), Order.by_status(user_id="u2", status="PAID")
        wanted = [day(1), day(2), day(4)]
        assert [each.placed_at for each in store.query(one, two, merged=True)] == wanted
        backwards = store.query(one.descending(), two.descending(), merged=True)
        assert [each.placed_at for each in backwards] == wanted[::-1]

    def test_relatives_in_key_order(self, store: Store) -> None:
        """An order comes before its lines, and they before the next order."""
        store.put_many([OrderLine(user_id="u1", order_id=number, line_no=1, sku="s") for number in (1, 3)])
        rows = store.query(OrderLine.key(user_id="u1"), Order.key(user_id="u1"), merged=True)
        assert [(type(each).__name__, each.order_id) for each in rows] == [
            ("Order", 1),
            ("OrderLine", 1),
            ("Order", 2),
            ("Order", 3),
            ("OrderLine", 3),
            ("Order", 4),
        ]

    def test_first_and_count(self, store: Store, sent: Counter[str]) -> None:
        """The first of the first query that has one; the sum of all counts."""
        first = store.first(Match.key(league="l"), User.key(user_id="u1"), Order.key(user_id="u1"))
        assert isinstance(first, User)
        assert sent == {"query": 2}
        assert store.count(User.key(user_id="u1"), Order.key(user_id="u1")) == 5
        least = store.first(User.key(user_id="u1"), Order.key(user_id="u1"), merged=True)
        assert isinstance(least, Order)
        assert least.order_id == 1


class TestMisuse:
    """What makes no sense is refused before anything is sent: this store has nobody to send it to."""

    def test_no_query(self) -> None:
        """Reading nothing at all is a mistake, and not an empty answer."""
        store = Store(app)
        for call in (store.query, store.first, store.count):
            with pytest.raises(UsageError, match="no query"):
                call()

    def test_another_table(self) -> None:
        """A query, reference or class of another table is refused, wherever it stands in the list."""
        store, ann = Store(app), User.at(user_id="u1")
        with pytest.raises(UsageError, match="racks"):
            store.query(User.key(user_id="u1"), Slot.key(rack=1))
        with pytest.raises(UsageError, match="racks"):
            store.get_many(ann, Slot.at(rack=1, slot=1))
        with pytest.raises(UsageError, match="racks"):
            store.delete_many([ann, Slot(rack=1, slot=1)])
        with pytest.raises(UsageError, match="racks"):
            store.scan(Slot)

    def test_other_kinds_of_things(self) -> None:
        """Each verb says what it wants instead."""
        store: Any = Store(app)
        with pytest.raises(UsageError, match="entity class"):
            store.scan(User(user_id="u1", name="Ann"))
        with pytest.raises(UsageError, match="wanted a reference"):
            store.get_many(User(user_id="u1", name="Ann"))
        with pytest.raises(UsageError, match="'hole', 'skip', 'raise'"):
            store.get_many(User.at(user_id="u1"), missing="ignore")
        with pytest.raises(UsageError, match="wanted an entity"):
            store.create_many(["u1"])
