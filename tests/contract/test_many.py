"""Creating, putting and deleting many on every engine: what is stored, what is left and why, requests counted."""

from __future__ import annotations

from collections import Counter

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    Entity,
    Field,
    ForeignItem,
    Key,
    Ref,
    Store,
    Table,
    Unprocessed,
)
from tests.contract.behind import CountingClient, client_of, everything, item_at, write
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, OrderLine, User, app, order

bills = Table("bills")
legacy = Table("legacy", untagged="by_key")


class Bill(Entity, table=bills, tag="bill"):
    bill_no: Field[int] = AutoIncrement()
    total: Field[int]

    key = Key(pk="#BILL#{bill_no}", sk="#BILL")


class Part(Entity, table=legacy, tag="part"):
    name: Field[str]

    key = Key(pk="#PART#{name}", sk="#PART")


def counted(store: Store) -> Counter[str]:
    """Count the requests of a store from now on, by method."""
    client = CountingClient(client_of(store))
    store._made = client
    return client.calls


def people(count: int) -> list[User]:
    """Make users."""
    return [User(user_id=f"u{number:03d}", name="x") for number in range(count)]


class TestCreateMany:
    def test_n_entities_are_n_requests(self, backend: MakeStore) -> None:
        """Thirty users are thirty conditional writes, and come back in order."""
        store = backend(app)
        sent = counted(store)
        told: list[tuple[int, int]] = []
        made = store.create_many(people(30), progress=lambda done, total: told.append((done, total)))
        assert made == tuple(people(30))
        assert sent == {"put_item": 30}
        assert told == [(done, 30) for done in range(1, 31)]
        assert {user.user_id for user in store.scan(User)} == {user.user_id for user in people(30)}

    def test_a_counter_is_one_request_more(self, backend: MakeStore) -> None:
        """Twelve bills draw 1 to 12 at once, in order."""
        store = backend(bills)
        sent = counted(store)
        made = store.create_many(Bill(total=number * 10) for number in range(12))
        assert [(bill.bill_no, bill.total) for bill in made] == [(number + 1, number * 10) for number in range(12)]
        assert sent == {"update_item": 1, "put_item": 12}

    def test_sort_key_numbers_follow_the_list(self, backend: MakeStore) -> None:
        """Orders of two users are numbered from 1 for each, in order, after one look at each partition."""
        store = backend(app)
        sent = counted(store)
        made = store.create_many([order(user_id=f"u{place % 2}", on=place + 1) for place in range(12)])
        assert [each.order_id for each in made] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
        assert sent == {"query": 2, "put_item": 12}
        assert [each.placed_at for each in store.query(Order.key(user_id="u1"))] == [
            each.placed_at for each in made if each.user_id == "u1"
        ]

    def test_a_key_that_is_taken(self, backend: MakeStore) -> None:
        """What is there is not replaced and is named with its cause; the others are stored."""
        store = backend(app)
        ann = store.create(User(user_id="u001", name="Ann"))
        with pytest.raises(Unprocessed, match="1 of 3") as caught:
            store.create_many(people(3))
        assert caught.value.items == (people(3)[1],)
        (cause,) = caught.value.causes
        assert isinstance(cause, AlreadyExists)
        assert cause.existing == ann
        assert store.one(User.at(user_id="u001")) == ann
        assert len(store.scan(User).all()) == 3


class TestDeleteMany:
    def test_batches_by_reference_or_entity(self, backend: MakeStore) -> None:
        """Sixty keys are three batches, a key that comes twice is asked once, one that is not there is fine."""
        store = backend(app)
        users = store.put_many(people(60))
        sent = counted(store)
        told: list[int] = []
        refs = [User.at(user_id=user.user_id) for user in users[29:]]
        what: list[Entity | Ref[Entity]] = [*users[:30], *refs, User.at(user_id="nobody")]
        store.delete_many(what, progress=lambda done, total: told.append(done))
        assert sent == {"batch_write_item": 3}
        assert max(told) == 61
        assert store.scan(User).all() == []

    def test_deleted_numbers_stay_taken(self, backend: MakeStore) -> None:
        """Numbered orders leave tombstones, so the next number is a new one; other entities go in a batch."""
        store = backend(app)
        made = store.create_many([order(), order(), order()])
        line = store.put(OrderLine(user_id="u1", order_id=1, line_no=1, sku="s"))
        sent = counted(store)
        store.delete_many([*made, line])
        assert sent == {"put_item": 3, "batch_write_item": 1}
        assert store.query(Order.key(user_id="u1")).all() == []
        assert store.create(order()).order_id == 4
        store.delete_many(made)
        assert store.count(Order.key(user_id="u1")) == 1

    def test_a_foreign_item_is_spared(self, backend: MakeStore) -> None:
        """Where rows without tag are read, a delete looks whose item it is; the others are deleted."""
        store = backend(legacy)
        parts = store.create_many([Part(name="a"), Part(name="b")])
        theirs = write(store, {**Part.at(name="c").key, "_et": {"S": "robot"}})
        with pytest.raises(Unprocessed, match="1 of 3") as caught:
            store.delete_many([*parts, Part.at(name="c")])
        assert caught.value.items == (Part.at(name="c"),)
        assert [type(cause) for cause in caught.value.causes] == [ForeignItem]
        assert everything(store) == [theirs]


class TestPutMany:
    def test_progress_of_batches(self, backend: MakeStore) -> None:
        """Sixty items are told of in three steps that add up."""
        store = backend(app)
        told: list[tuple[int, int]] = []
        store.put_many(people(60), progress=lambda done, total: told.append((done, total)))
        assert len(told) == 3
        assert told[-1] == (60, 60)
        assert sorted(told) == told

    def test_several_kinds(self, backend: MakeStore) -> None:
        """Entities of several classes go out together."""
        store = backend(app)
        match = Match(league="l", season=1, round_no=1, home="h")
        made = store.put_many([people(1)[0], match])
        assert made == (people(1)[0], match)
        assert item_at(store, Match.at(league="l", season=1, round_no=1, home="h")) is not None
