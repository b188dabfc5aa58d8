"""Collections on the engines: one request a page, in key order, the members and nothing else."""

from __future__ import annotations

import pytest

from singletable import (
    AutoIncrement,
    Collection,
    Entity,
    Field,
    GlobalIndex,
    Key,
    NotFound,
    SeveralFound,
    Store,
    Table,
)
from tests.contract.behind import CountingClient, client_of, sibling, write
from tests.contract.conftest import MakeStore

gsi1 = GlobalIndex("GSI1")
inverted = GlobalIndex("inverted", pk="SK", sk="PK")
life = Table("life", indexes=[gsi1, inverted])


class User(Entity, table=life, tag="user"):
    user_id: Field[str]
    name: Field[str]
    key = Key(pk="#USER#{user_id}", sk="#PROFILE")


class Order(Entity, table=life, tag="order"):
    user_id: Field[str]
    order_id: Field[int] = AutoIncrement()
    status: Field[str] = Field(default="PENDING")
    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    by_status = Key(on=gsi1, pk="#STATUS#{status}", sk="#{user_id}")


class OrderLine(Entity, table=life, tag="line"):
    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]
    key = Key(within=Order.key, sk="#LINE#{line_no}")


class Parcel(Entity, table=life, tag="parcel"):
    user_id: Field[str]
    parcel_id: Field[int] = AutoIncrement("counter", per="partition")
    status: Field[str] = Field(default="PENDING")
    key = Key(pk="#USER#{user_id}", sk="#PARCEL#{parcel_id}")
    by_status = Key(on=gsi1, pk="#STATUS#{status}", sk="#{user_id}")


class Event(Entity, table=life, tag="event"):
    user_id: Field[str]
    day: Field[str]
    key = Key(pk="#USER#{user_id}", sk="#PAST#{day}")


class Group(Entity, table=life, tag="group"):
    group_id: Field[str]
    key = Key(pk="#GROUP#{group_id}", sk="#GROUP#{group_id}")
    turned = Key(on=inverted)


class Membership(Entity, table=life, tag="membership"):
    user_id: Field[str]
    group_id: Field[str]
    key = Key(pk="#USER#{user_id}", sk="#GROUP#{group_id}")
    turned = Key(on=inverted)


home = Collection(User, Order, pk="#USER#{user_id}")
bill = Collection(Order, OrderLine, pk="#USER#{user_id}", sk="#ORDER#{order_id}")
waiting = Collection(Order, Parcel, on=gsi1, pk="#STATUS#{status}")
party = Collection(Group, Membership, on=inverted, pk="#GROUP#{group_id}")


class Home(Collection, pk="#USER#{user_id}"):
    user: User | None
    orders: list[Order]
    parcels: tuple[Parcel, ...]


class Profile(Collection, pk="#USER#{user_id}"):
    user: User
    order: Order | None


def filled(make: MakeStore) -> Store:
    """Store a user with two orders, lines, a parcel, an event, a tombstone, a foreign item, and a neighbour."""
    store = make(life)
    store.put_many([User(user_id=each, name=each.upper()) for each in ("u1", "u10")])
    store.create_many([Order(user_id="u1") for _ in range(3)])
    store.delete(Order.at(user_id="u1", order_id=2))
    store.put_many([OrderLine(user_id="u1", order_id=3, line_no=number) for number in (1, 2)])
    store.put_many([OrderLine(user_id="u1", order_id=1, line_no=7), Event(user_id="u1", day="monday")])
    store.create(Parcel(user_id="u1"))
    store.create(Order(user_id="u10"))
    write(store, {"PK": {"S": "#USER#u1"}, "SK": {"S": "#OTHER"}, "_et": {"S": "other"}})
    write(store, {"PK": {"S": "#USER#u1"}, "SK": {"S": "#ORDER#x"}})
    return store


def words(entity: Entity) -> str:
    """Write an entity in short, such as `order 1`."""
    match entity:
        case Order():
            return f"order {entity.order_id}"
        case Parcel():
            return f"parcel {entity.parcel_id}"
        case OrderLine():
            return f"line {entity.order_id}.{entity.line_no}"
        case _:
            return type(entity).__name__.lower()


def test_a_collection_gives_its_members_in_key_order_and_nothing_else(backend: MakeStore) -> None:
    """Lines, events, parcels, counters, tombstones, foreign items and neighbours are left out of the range."""
    store = filled(backend)
    mine = home(user_id="u1")
    assert [words(each) for each in store.query(mine)] == ["order 1", "order 3", "user"]
    assert [words(each) for each in store.query(mine.descending().limit(2))] == ["user", "order 3"]
    assert [words(each) for each in store.query(mine.where(Order.status == "PENDING").consistent())] == [
        "order 1",
        "order 3",
    ]
    assert store.count(mine) == 3
    first = store.first(mine.only(User.name, Order.status))
    assert isinstance(first, Order)
    assert first.status == "PENDING"
    assert [words(each) for each in store.query(mine, home(user_id="u10"), merged=True)] == [
        *("order 1", "order 1", "order 3", "user", "user"),
    ]


def test_a_parent_comes_with_its_children(backend: MakeStore) -> None:
    """A node gives the order and its lines in key order, a range of the part the orders in it with theirs."""
    store = filled(backend)
    assert [words(each) for each in store.query(bill(user_id="u1", order_id=3))] == ["order 3", "line 3.1", "line 3.2"]
    assert [words(each) for each in store.query(bill(user_id="u1"))] == [
        *("order 1", "line 1.7", "order 3", "line 3.1", "line 3.2"),
    ]
    assert [words(each) for each in store.query(bill(user_id="u1").lt(order_id=3))] == ["order 1", "line 1.7"]
    assert [words(each) for each in store.query(bill(user_id="u1").is_in(order_id=(3, 2)).limit(2))] == [
        *("order 3", "line 3.1"),
    ]
    assert [words(each) for each in store.query(bill(user_id="u1", order_id=3).below())] == ["line 3.1", "line 3.2"]


def test_a_class_is_filled_from_one_request(backend: MakeStore) -> None:
    """Each kind goes to its place; what has none is left out; too many or too few for a place is an error."""
    store = filled(backend)
    counted = CountingClient(client_of(store))
    found = sibling(store, client=counted).gather(Home.of(user_id="u1"))
    assert counted.calls == {"query": 1}
    assert found == Home(
        user=User(user_id="u1", name="U1"),
        orders=[Order(user_id="u1", order_id=1), Order(user_id="u1", order_id=3)],
        parcels=(Parcel(user_id="u1", parcel_id=1),),
    )
    assert store.gather(Home.of(user_id="nobody").consistent()) == Home(user=None, orders=[], parcels=())
    assert store.gather(Profile.of(user_id="u10")).order == Order(user_id="u10", order_id=1)
    with pytest.raises(SeveralFound, match=r"Profile.order is the place of one item, and 2 were found"):
        store.gather(Profile.of(user_id="u1"))
    with pytest.raises(NotFound, match=r"Profile.user: no such item"):
        store.gather(Profile.of(user_id="nobody"))


def test_one_request_a_query(backend: MakeStore) -> None:
    """A collection costs one Query, however many kinds it has, and so does counting it."""
    store = filled(backend)
    counted = CountingClient(client_of(store))
    behind = sibling(store, client=counted)
    assert len(behind.query(home(user_id="u1")).all()) == 3
    assert behind.count(bill(user_id="u1", order_id=3)) == 3
    assert len(behind.query(party(group_id="g1")).all()) == 0
    assert counted.calls == {"query": 3}


def test_members_that_share_a_range_are_told_apart(backend: MakeStore) -> None:
    """On an index whose ranges two kinds share, each kind's own query gives and counts its own, the collection both."""
    store = filled(backend)
    pending = waiting(status="PENDING")
    assert sorted(words(each) for each in store.query(pending)) == ["order 1", "order 1", "order 3", "parcel 1"]
    assert [words(each) for each in store.query(Parcel.by_status(status="PENDING"))] == ["parcel 1"]
    assert store.count(Parcel.by_status(status="PENDING")) == 1
    assert store.count(Order.by_status(status="PENDING")) == 3
    assert store.first(Parcel.by_status(status="PENDING").limit(1)) == Parcel(user_id="u1", parcel_id=1)


def test_a_group_with_its_members_by_the_inverted_index(backend: MakeStore) -> None:
    """The index turned around gives a group and who is in it; the table gives a user's groups."""
    store = backend(life)
    store.put_many([Group(group_id="g1"), Group(group_id="g2")])
    store.put_many(
        [Membership(user_id=user, group_id=group) for user, group in [("u1", "g1"), ("u2", "g1"), ("u1", "g2")]]
    )
    assert store.query(party(group_id="g1")).all() == [
        Group(group_id="g1"),
        Membership(user_id="u1", group_id="g1"),
        Membership(user_id="u2", group_id="g1"),
    ]
    assert [each.group_id for each in store.query(Membership.key(user_id="u1"))] == ["g1", "g2"]
