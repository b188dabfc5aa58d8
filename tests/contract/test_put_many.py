"""Storing many entities in batches."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import AutoIncrement, Entity, Field, Key, Sequence, Table, UsageError
from tests.contract.behind import CountingClient, client_of, everything, item_at, sibling
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, OrderLine, Region, User, app, order

cellar = Table("cellar")
bottles = Sequence("bottles", pk="#SHELF#{shelf}")


class Wine(Entity, table=cellar, tag="wine"):
    shelf: Field[str]
    number: Field[int] = AutoIncrement(bottles)
    name: Field[str]

    key = Key(pk="#SHELF#{shelf}", sk="#WINE#{number}")


class Beer(Entity, table=cellar, tag="beer"):
    shelf: Field[str]
    number: Field[int] = AutoIncrement(bottles)

    key = Key(pk="#SHELF#{shelf}", sk="#BEER#{number}")


NO_ENTITY: Any = None


def match(number: int) -> Match:
    """Make the match of a round."""
    return Match(league="L", season=1, round_no=number, home="ajax")


@pytest.mark.parametrize("count", [0, 1, 25, 26, 101])
def test_any_number_is_stored_in_order(backend: MakeStore, count: int) -> None:
    """All are stored and given back in the order they came, in batches of 25."""
    store = backend(app)
    counting = CountingClient(client_of(store))
    stored = sibling(store, client=counting).put_many(match(number) for number in range(count, 0, -1))
    assert [each.round_no for each in stored] == list(range(count, 0, -1))
    assert [each.round_no for each in store.query(Match.key(league="L"))] == list(range(1, count + 1))
    assert counting.calls["batch_write_item"] == -(-count // 25)


def test_kinds_may_be_mixed_and_old_ones_are_replaced(backend: MakeStore) -> None:
    """One call stores several kinds; what stands at their keys is replaced as a whole, index keys with it."""
    store = backend(app)
    store.create(User(user_id="u1", name="Ann", email="a@x.org"))
    line = OrderLine(user_id="u1", order_id=1, line_no=1, sku="s")
    region = Region(country="CN", path=("A",), name="a")
    stored = store.put_many([User(user_id="u1", name="Bob"), line, region])
    assert stored == (User(user_id="u1", name="Bob"), line, region)
    assert store.one(User.at(user_id="u1")) == User(user_id="u1", name="Bob")
    assert store.query(User.by_email(email="a@x.org")).all() == []
    assert store.query(OrderLine.key(user_id="u1", order_id=1)).all() == [line]


def test_every_item_is_made_as_by_create(backend: MakeStore) -> None:
    """A batch writes tag, keys and a create id of its own for each item."""
    store = backend(app)
    store.put_many([match(1), match(2)])
    items = [item_at(store, Match.at(league="L", season=1, round_no=number, home="ajax")) for number in (1, 2)]
    ids = {item["_c"]["S"] for item in items if item is not None}
    assert len(ids) == 2
    assert all(item is not None and item["_et"] == {"S": "match"} for item in items)


def test_counter_numbers_are_drawn_once_for_each_counter(backend: MakeStore) -> None:
    """Numbers are given in order, one request for a counter however many entities draw from it; given ones stay.

    What has a fresh number in its key is created, since the counter may be behind what is stored.
    """
    store = backend(cellar)
    counting = CountingClient(client_of(store))
    wines = [Wine(shelf="a", name="x"), Wine(shelf="b", name="y"), Wine(shelf="a", name="z")]
    stored = sibling(store, client=counting).put_many([*wines, Wine(shelf="a", number=70, name="old")])
    assert [(wine.shelf, wine.number) for wine in stored] == [("a", 1), ("b", 1), ("a", 2), ("a", 70)]
    assert counting.calls == {"update_item": 2, "put_item": 3, "batch_write_item": 1}
    mixed = store.put_many([Beer(shelf="a"), Wine(shelf="a", name="n")])
    assert mixed == (Beer(shelf="a", number=3), Wine(shelf="a", number=4, name="n"))
    assert [wine.number for wine in store.query(Wine.key(shelf="a"))] == [1, 2, 4, 70]


def test_two_of_one_key_are_refused(backend: MakeStore) -> None:
    """A batch keeps no order, so two entities of one key are refused before anything is sent."""
    store = backend(app)
    with pytest.raises(UsageError, match="one primary key"):
        store.put_many([match(1), match(2), match(1)])
    assert everything(store) == []


def test_a_sort_key_number_is_refused(backend: MakeStore) -> None:
    """A batch has no condition, so an entity numbered by sort key is refused before anything is sent."""
    store = backend(app)
    with pytest.raises(UsageError, match="numbered by its sort key"):
        store.put_many([match(1), order()])
    assert everything(store) == []


def test_what_is_no_entity_is_refused_before_anything_is_sent(backend: MakeStore) -> None:
    """One stranger among the entities, and none is stored."""
    store = backend(app)
    with pytest.raises(UsageError, match="given None"):
        store.put_many([match(1), NO_ENTITY])
    with pytest.raises(UsageError, match="belongs to table 'cellar'"):
        store.put_many([match(1), Beer(shelf="a")])
    assert everything(store) == []
