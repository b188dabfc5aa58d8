"""Numbers drawn by sort key, and the tombstones that keep deleted ones from coming again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    ConditionFailed,
    Entity,
    Field,
    ForeignItem,
    Key,
    KeyPartError,
    NotFound,
    SequenceContention,
    SequenceExhausted,
    Table,
    UsageError,
    evolve,
)
from singletable.wire import Item
from tests.contract.behind import CountingClient, client_of, everything, item_at, sibling, write
from tests.contract.conftest import MakeStore
from tests.contract.shop import Order, OrderLine, User, app, order

school = Table("school")
diary = Table("diary", pk="day", sk=("n", int))


class Pupil(Entity, table=school, tag="pupil"):
    year: Field[str]
    form: Field[str]
    number: Field[int] = AutoIncrement("sort_key", start=10, step=10)

    key = Key(pk="#YEAR#{year}", sk="#FORM#{form}#PUPIL#{number}")


class Locker(Entity, table=school, tag="locker"):
    floor: Field[str]
    number: Field[int] = AutoIncrement(reuse="allow", max_value=3)

    key = Key(pk="#FLOOR#{floor}", sk="#LOCKER#{number}")


class Desk(Entity, table=school, tag="desk"):
    room: Field[str]
    number: Field[int] = AutoIncrement(start=8)

    key = Key(pk="#ROOM#{room}", sk="#DESK#{number:01}")


class Chair(Entity, table=school, tag="chair"):
    room: Field[str]
    number: Field[int] = AutoIncrement(attempts=1)

    key = Key(pk="#ROOM#{room}", sk="#CHAIR#{number}")


class Entry(Entity, table=diary, tag="entry"):
    day: Field[str]
    n: Field[int] = AutoIncrement()
    text: Field[str] = Field(default="")

    key = Key(pk="{day}", sk="{n}", raw=True)


def test_each_partition_counts_from_one(backend: MakeStore) -> None:
    """Orders are numbered 1, 2, 3 for each user, whatever else stands in the partition."""
    store = backend(app)
    store.create(User(user_id="u1", name="Ann"))
    drawn = [store.create(order(user_id)).order_id for user_id in ("u1", "u2", "u1", "u10", "u1")]
    assert drawn == [1, 1, 2, 1, 3]
    assert [found.order_id for found in store.query(Order.key(user_id="u1"))] == [1, 2, 3]


def test_a_number_costs_one_request_in_a_row(backend: MakeStore) -> None:
    """The first number needs a query and a put, each further one a put alone; another process reads again."""
    store = backend(app)
    counting = CountingClient(client_of(store))
    counted = sibling(store, client=counting)
    assert [counted.create(order()).order_id for _ in range(3)] == [1, 2, 3]
    assert counting.calls == {"query": 1, "put_item": 3}
    assert sibling(store).create(order()).order_id == 4
    assert counted.create(order()).order_id == 5
    assert counting.calls == {"query": 2, "put_item": 5}


def test_start_and_step_within_a_prefix(backend: MakeStore) -> None:
    """Each form of a year counts 10, 20, 30; a number put by hand is counted on from."""
    store = backend(school)
    drawn = [store.create(Pupil(year="1", form=form)).number for form in ("a", "b", "a", "a1", "a")]
    assert drawn == [10, 10, 20, 10, 30]
    store.put(Pupil(year="1", form="a", number=35))
    assert sibling(store).create(Pupil(year="1", form="a")).number == 45
    store.put(Pupil(year="1", form="z", number=3))
    assert store.create(Pupil(year="1", form="z")).number == 10


def test_gaps_are_not_filled(backend: MakeStore) -> None:
    """The next number is after the highest, not the lowest that is free."""
    store = backend(app)
    store.put(evolve(order(), order_id=41))
    store.put(evolve(order(), order_id=7))
    assert [store.create(order()).order_id for _ in range(2)] == [42, 43]


def test_put_draws_a_missing_number(backend: MakeStore) -> None:
    """Put of an entity without number draws one; with one it replaces."""
    store = backend(app)
    first = store.put(order())
    assert first.order_id == 1
    store.put(evolve(first, status="PAID"))
    assert store.put(order()).order_id == 2
    assert [found.status for found in store.query(Order.key(user_id="u1"))] == ["PAID", "PENDING"]


def test_children_and_neighbours_do_no_harm(backend: MakeStore) -> None:
    """Lines below an order count as its number; an item beside the numbers counts as none."""
    store = backend(app)
    store.create(OrderLine(user_id="u1", order_id=9, line_no=500, sku="s"))
    for sk in ("#ORDER#SUMMARY", "#ORDER", "#ORDER#", "#ORDERS#0000000000000000099", "#ORDER#-0000000000000000001"):
        write(store, {"PK": {"S": "#USER#u1"}, "SK": {"S": sk}, "_et": {"S": "other"}})
    assert store.create(order()).order_id == 10


@pytest.mark.parametrize("sk", ["#ORDER#5x", "#ORDER#12", "#ORDER#0000000000000000007x"])
def test_what_is_no_number_among_the_numbers_is_named(backend: MakeStore, sk: str) -> None:
    """Text of another program among the numbers raises ForeignItem, and nothing is written."""
    store = backend(app)
    stranger = write(store, {"PK": {"S": "#USER#u1"}, "SK": {"S": sk}, "_et": {"S": "other"}})
    with pytest.raises(ForeignItem, match="order_id"):
        store.create(order())
    assert everything(store) == [stranger]


def test_the_end_of_a_sequence(backend: MakeStore) -> None:
    """After max_value, or what a width holds, SequenceExhausted; nothing is written."""
    store = backend(school)
    assert [store.create(Locker(floor="1")).number for _ in range(3)] == [1, 2, 3]
    for each in (store, sibling(store)):
        with pytest.raises(SequenceExhausted) as caught:
            each.create(Locker(floor="1"))
        assert caught.value.max_value == 3
    assert [store.create(Desk(room="r")).number for _ in range(2)] == [8, 9]
    with pytest.raises(SequenceExhausted):
        store.create(Desk(room="r"))
    assert (store.count(Locker.key(floor="1")), store.count(Desk.key(room="r"))) == (3, 2)


def test_a_race_that_is_lost_too_often_says_so(backend: MakeStore) -> None:
    """With one attempt a taken number is SequenceContention, with nothing written; the next create reads again."""
    store = backend(school)
    assert [store.create(Chair(room="r")).number, sibling(store).create(Chair(room="r")).number] == [1, 2]
    with pytest.raises(SequenceContention) as caught:
        store.create(Chair(room="r"))
    assert caught.value.attempts == 1
    assert store.count(Chair.key(room="r")) == 2
    assert store.create(Chair(room="r")).number == 3


def test_create_refuses_a_number_that_is_given(backend: MakeStore) -> None:
    """A number is drawn by create, not chosen; an empty partition part is named."""
    store = backend(app)
    with pytest.raises(UsageError, match="order_id"):
        store.create(evolve(order(), order_id=3))
    with pytest.raises(KeyPartError, match="user_id"):
        store.create(order(""))
    assert everything(store) == []


def test_a_native_sort_key_is_numbered(backend: MakeStore) -> None:
    """A numeric sort key is the number itself: drawn, kept after a delete, counted on from what is there."""
    store = backend(diary)
    drawn = [store.create(Entry(day="mon")).n for _ in range(11)]
    assert drawn == list(range(1, 12))
    store.delete(Entry.at(day="mon", n=11))
    assert sibling(store).create(Entry(day="mon")).n == 12
    write(store, {"day": {"S": "tue"}, "n": {"N": "-5"}, "_et": {"S": "entry"}})
    assert store.create(Entry(day="tue")).n == 1
    assert [entry.n for entry in store.query(Entry.key(day="tue"))] == [-5, 1]


def test_a_fraction_among_native_numbers_is_named(backend: MakeStore) -> None:
    """A fraction of another program at the end of the numbers raises ForeignItem, and nothing is written."""
    store = backend(diary)
    stranger = write(store, {"day": {"S": "mon"}, "n": {"N": "3.5"}, "_et": {"S": "other"}})
    with pytest.raises(ForeignItem, match="'n'"):
        store.create(Entry(day="mon"))
    assert everything(store) == [stranger]


# Tombstones


def test_a_deleted_order_leaves_a_tombstone(backend: MakeStore) -> None:
    """What stays is the key, the tag !gone, the time and the id of the delete; nothing of the order or its index."""
    store = backend(app)
    first = store.create(order())
    at = datetime(2026, 12, 1, tzinfo=UTC)
    assert sibling(store, clock=lambda: at).delete(first) == first
    stone: Item = {
        "PK": {"S": "#USER#u1"},
        "SK": {"S": "#ORDER#0000000000000000001"},
        "_et": {"S": "!gone"},
        "gone_at": {"N": "1796083200"},
    }
    (found,) = everything(store)
    write_id = found.pop("_w")
    assert found == stone
    assert len(write_id["S"]) == 16


def test_nobody_sees_a_tombstone(backend: MakeStore) -> None:
    """get, one, query, first, count, delete and update find nothing at a deleted number."""
    store = backend(app)
    store.create(order())
    second = store.create(order(on=2))
    at = Order.at(user_id="u1", order_id=1)
    store.delete(at)
    assert store.get(at) is None
    assert store.get(at, consistent=True) is None
    with pytest.raises(NotFound):
        store.one(at)
    assert store.query(Order.key(user_id="u1")).all() == [second]
    assert store.query(Order.key(user_id="u1", order_id=1)).all() == []
    assert store.first(Order.key(user_id="u1")) == second
    assert store.count(Order.key(user_id="u1")) == 1
    assert store.query(Order.pending(user_id="u1")).all() == [second]
    assert store.delete(at) is None
    with pytest.raises(NotFound):
        store.update(at, Order.status.set("PAID"))
    with pytest.raises(ConditionFailed) as caught:
        store.delete(at, when=Order.status == "PENDING")
    assert caught.value.current is None
    item = item_at(store, at)
    assert item is not None
    assert item["_et"] == {"S": "!gone"}


def test_a_deleted_number_stays_taken(backend: MakeStore) -> None:
    """Put and create at a deleted number are AlreadyExists without existing entity; the next number is a new one."""
    store = backend(app)
    first = store.create(order())
    store.delete(first)
    with pytest.raises(AlreadyExists) as caught:
        store.put(first)
    assert caught.value.existing is None
    for each in (store, sibling(store)):
        assert each.create(order()).order_id > 1
    assert [found.order_id for found in store.query(Order.key(user_id="u1"))] == [2, 3]


def test_numbers_never_come_again_however_they_are_deleted(backend: MakeStore) -> None:
    """Created and deleted by turns, by two processes, every number is new."""
    one = backend(app)
    two = sibling(one)
    drawn: list[int] = []
    for store in (one, two, two, one, one, two):
        made = store.create(order())
        drawn.append(made.order_id)
        assert two.delete(made) == made
    assert drawn == [1, 2, 3, 4, 5, 6]
    assert one.count(Order.key(user_id="u1")) == 0


def test_deleting_what_never_was_leaves_nothing(backend: MakeStore) -> None:
    """A delete of a number that nobody drew writes no tombstone, so it cannot use up the sequence."""
    store = backend(app)
    assert store.delete(Order.at(user_id="u1", order_id=2**63 - 1)) is None
    assert everything(store) == []
    assert store.create(order()).order_id == 1


def test_a_conditional_delete_buries_only_where_it_holds(backend: MakeStore) -> None:
    """delete(when=) that fails leaves the order as it is; one that holds leaves a tombstone."""
    store = backend(app)
    first = store.create(order())
    with pytest.raises(ConditionFailed) as caught:
        store.delete(first, when=Order.status == "PAID")
    assert caught.value.current == first
    assert store.delete(first, when=Order.status == "PENDING") == first
    assert store.create(order()).order_id == 2


def test_reuse_can_be_allowed(backend: MakeStore) -> None:
    """With reuse="allow" a delete is a delete, and a process that reads anew may give the number again."""
    store = backend(school)
    for _ in range(2):
        store.create(Locker(floor="1"))
    store.delete(Locker.at(floor="1", number=2))
    assert len(everything(store)) == 1
    assert sibling(store).create(Locker(floor="1")).number == 2
