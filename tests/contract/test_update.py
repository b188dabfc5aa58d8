"""Changing an item in place: its index keys follow, whatever the update knows beforehand."""

from __future__ import annotations

import pytest

from singletable import (
    AutoIncrement,
    Change,
    ConditionFailed,
    Entity,
    Field,
    GlobalIndex,
    Key,
    NotFound,
    Store,
    Table,
    UnknownField,
    UsageError,
)
from tests.contract.behind import CountingClient, client_of, item_at, sibling
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, User, app, day, order

by_points = GlobalIndex("points")
players = Table("players", indexes=[by_points])
MATCH = {"league": "L", "season": 2026, "round_no": 1, "home": "ajax"}


class Player(Entity, table=players, tag="player"):
    name: Field[str]
    team: Field[str | None] = Field(default=None)
    points: Field[int] = Field(default=0)

    key = Key(pk="#PLAYER#{name}", sk="#PLAYER")
    ranking = Key(on=by_points, pk="#TEAM#{team}", sk="#{points}")


def index_of(store: Store, name: str = "p") -> tuple[str, str] | None:
    """Give a player's stored index key, or None where it has none; half a key is an error."""
    item = item_at(store, Player.at(name=name)) or {}
    pk, sk = item.get("pointsPK"), item.get("pointsSK")
    assert (pk is None) is (sk is None)
    return None if pk is None or sk is None else (pk["S"], sk["S"])


def in_team(store: Store, team: str) -> list[str]:
    """List the names that stand in a team's index entries, weakest first."""
    return [player.name for player in store.query(Player.ranking(team=team))]


def test_set_remove_add_and_delete_change_what_is_stored(backend: MakeStore) -> None:
    """Each change is stored, the new entity is given back, other fields stay."""
    store = backend(app)
    store.create(Match(**MATCH, goals=2, note="wet", labels={"a"}))  # type: ignore[arg-type]
    at = Match.at(**MATCH)
    assert store.update(at, Match.note.set("dry")).note == "dry"
    assert store.update(at, Match.goals.add(3)).goals == 5
    assert store.update(at, Match.goals.add(-6)).goals == -1
    assert store.update(at, Match.labels.add({"b", "c"})).labels == {"a", "b", "c"}
    assert store.update(at, Match.labels.delete({"a", "b", "c"})).labels == set()
    assert store.update(at, Match.note.remove()).note is None
    last = store.update(at, Match.note.set(""), Match.goals.set(9), Match.labels.set({"z"}))
    assert (last.note, last.goals, last.labels) == ("", 9, {"z"})
    assert store.one(at) == last


def test_a_mapping_sets_and_removes(backend: MakeStore) -> None:
    """A mapping sets each field it names; None removes it."""
    store = backend(app)
    store.create(User(user_id="u1", name="Ann", email="a@example.org"))
    changed = store.update(User.at(user_id="u1"), {"name": "Anna", "email": None})
    assert changed == User(user_id="u1", name="Anna") == store.one(User.at(user_id="u1"))


def test_an_update_needs_something_there(backend: MakeStore) -> None:
    """NotFound where nothing stands; nothing is made."""
    store = backend(app)
    with pytest.raises(NotFound):
        store.update(User.at(user_id="u1"), User.name.set("Ann"))
    with pytest.raises(NotFound):
        store.update(User.at(user_id="u1"), User.name.set("Ann"), when=User.name == "x")
    assert store.get(User.at(user_id="u1")) is None


def test_an_update_with_a_condition(backend: MakeStore) -> None:
    """update(when=) changes where it holds; else ConditionFailed carries the entity, unchanged."""
    store = backend(app)
    ann = store.create(User(user_id="u1", name="Ann"))
    with pytest.raises(ConditionFailed) as caught:
        store.update(User.at(user_id="u1"), User.name.set("Bob"), when=User.name == "Zoe")
    assert caught.value.current == ann
    assert store.update(ann, User.name.set("Bob"), when=(User.name == "Ann") & ~User.email.exists()).name == "Bob"
    with pytest.raises(ConditionFailed) as caught:
        store.update(ann, User.name.set("Cy"), when=User.name == "Ann")
    assert caught.value.current == User(user_id="u1", name="Bob")


MEANINGLESS: dict[str, tuple[tuple[Change | dict[str, object], ...], type[Exception], str]] = {
    "none": ((), UsageError, "without a change"),
    "empty mapping": (({},), UsageError, "without a change"),
    "twice": ((User.name.set("a"), {"name": "b"}), UsageError, "changed twice"),
    "primary key": ((User.user_id.set("u2"),), UsageError, "primary key"),
    "unknown name": (({"nmae": "x"},), UnknownField, "did you mean 'name'"),
    "another entity's field": ((Order.status.set("x"),), UnknownField, "no field stored as 'status'"),
}


@pytest.mark.parametrize("what", MEANINGLESS)
def test_an_update_that_cannot_mean_anything_is_not_sent(backend: MakeStore, what: str) -> None:
    """The mistake is named, and nothing is stored."""
    changes, error, says = MEANINGLESS[what]
    store = backend(app)
    ann = store.create(User(user_id="u1", name="Ann"))
    counting = CountingClient(client_of(store))
    with pytest.raises(error, match=says):
        sibling(store, client=counting).update(ann, *changes)
    assert not counting.calls
    assert store.one(User.at(user_id="u1")) == ann


def test_a_drawn_number_is_kept(backend: MakeStore) -> None:
    """A counter's number that stands in no key cannot be updated either."""
    table = Table("numbered")

    class Note(Entity, table=table, tag="note"):
        text: Field[str]
        number: Field[int] = AutoIncrement("counter")
        key = Key(pk="#NOTE#{text}", sk="#NOTE")

    store = backend(table)
    note = store.create(Note(text="a"))
    with pytest.raises(UsageError, match="drawn"):
        store.update(note, Note.number.set(5))
    assert store.one(Note.at(text="a")).number == 1


def test_the_sparse_index_holds_who_has_a_value(backend: MakeStore) -> None:
    """No e-mail, no entry; set, it is there; changed, it moves; removed, it is gone."""
    store = backend(app)
    store.create(User(user_id="u1", name="Ann"))
    at = User.at(user_id="u1")
    item = item_at(store, at)
    assert item is not None
    assert {"GSI1PK", "GSI1SK", "email"}.isdisjoint(item)
    ann = store.update(at, User.email.set("a@x.org"))
    assert store.query(User.by_email(email="a@x.org")).all() == [ann]
    ann = store.update(at, User.email.set("b@x.org"))
    assert store.query(User.by_email(email="a@x.org")).all() == []
    assert store.query(User.by_email(email="b@x.org")).all() == [ann]
    store.update(ann, User.email.remove())
    assert store.query(User.by_email(email="b@x.org")).all() == []
    item = item_at(store, at)
    assert item is not None
    assert {"GSI1PK", "GSI1SK", "email"}.isdisjoint(item)


def test_a_composite_key_follows_with_a_reference(backend: MakeStore) -> None:
    """With a reference, the key's other parts are read first; the order moves to its new status."""
    store = backend(app)
    store.create(order(on=3))
    paid = store.update(Order.at(user_id="u1", order_id=1), Order.status.set("PAID"))
    assert store.query(Order.pending(user_id="u1")).all() == []
    assert store.query(Order.by_status(user_id="u1", status="PAID", placed_at=day(3))).all() == [paid]
    item = item_at(store, Order.at(user_id="u1", order_id=1))
    assert item is not None
    assert item["GSI1SK"] == {"S": "#PAID#2026-12-03T12:00:00.000000Z"}


def test_a_loaded_entity_needs_no_read(backend: MakeStore) -> None:
    """With a loaded entity one request does; with a reference, one read before it; with all parts given, one again."""
    store = backend(app)
    loaded = store.create(order(on=3))
    counting = CountingClient(client_of(store))
    counted = sibling(store, client=counting)
    counted.update(loaded, Order.status.set("PAID"))
    assert counting.calls == {"update_item": 1}
    counted.update(Order.at(user_id="u1", order_id=1), Order.status.set("SENT"))
    assert counting.calls == {"update_item": 2, "get_item": 1}
    counted.update(Order.at(user_id="u1", order_id=1), Order.status.set("DONE"), Order.placed_at.set(day(9)))
    assert counting.calls == {"update_item": 3, "get_item": 1}
    (done,) = store.query(Order.by_status(user_id="u1", status="DONE", placed_at=day(9)))
    assert done == Order(user_id="u1", order_id=1, status="DONE", placed_at=day(9))


def test_a_stale_entity_does_not_write_a_stale_index_key(backend: MakeStore) -> None:
    """Where the loaded entity is out of date, the key is made of what is stored."""
    store = backend(app)
    stale = store.create(order(on=3))
    store.update(Order.at(user_id="u1", order_id=1), Order.placed_at.set(day(20)))
    fresh = store.update(stale, Order.status.set("PAID"))
    assert fresh.placed_at == day(20)
    item = item_at(store, Order.at(user_id="u1", order_id=1))
    assert item is not None
    assert item["GSI1SK"] == {"S": "#PAID#2026-12-20T12:00:00.000000Z"}


def test_a_stale_entity_still_keeps_the_condition(backend: MakeStore) -> None:
    """when= is judged on what is stored, also after a stale entity made the update read again."""
    store = backend(app)
    stale = store.create(order(on=3))
    store.update(Order.at(user_id="u1", order_id=1), Order.placed_at.set(day(20)))
    with pytest.raises(ConditionFailed) as caught:
        store.update(stale, Order.status.set("PAID"), when=Order.status == "SENT")
    assert caught.value.current == Order(user_id="u1", order_id=1, placed_at=day(20))
    assert store.count(Order.pending(user_id="u1")) == 1


def test_a_deleted_entity_is_not_brought_back(backend: MakeStore) -> None:
    """An update with a loaded entity whose item is gone raises NotFound, tombstone or not."""
    store = backend(app)
    ann, first = store.create(User(user_id="u1", name="Ann")), store.create(order())
    store.delete(ann)
    store.delete(first)
    with pytest.raises(NotFound):
        store.update(ann, User.name.set("x"))
    with pytest.raises(NotFound):
        store.update(first, Order.status.set("PAID"))
    with pytest.raises(NotFound):
        store.update(Order.at(user_id="u1", order_id=1), Order.status.set("PAID"))
    assert store.count(Order.pending(user_id="u1")) == 0


@pytest.mark.parametrize("loaded", [False, True], ids=["reference", "entity"])
def test_an_addition_to_a_key_part_moves_the_item(backend: MakeStore, *, loaded: bool) -> None:
    """Add on a part of an index key writes the sum into the key."""
    store = backend(players)
    player = store.create(Player(name="p", team="t", points=7))
    assert index_of(store) == ("#TEAM#t", "#0000000000000000007")
    changed = store.update(player if loaded else Player.at(name="p"), Player.points.add(5))
    assert changed == Player(name="p", team="t", points=12)
    assert index_of(store) == ("#TEAM#t", "#0000000000000000012")


def test_a_stale_addition_adds_to_what_is_stored(backend: MakeStore) -> None:
    """An addition with an entity that is out of date loses no other addition, in field and key."""
    store = backend(players)
    stale = store.create(Player(name="p", team="t", points=7))
    store.update(Player.at(name="p"), Player.points.add(10))
    changed = store.update(stale, Player.points.add(1))
    assert changed.points == 18
    assert index_of(store) == ("#TEAM#t", "#0000000000000000018")


def test_an_item_enters_and_leaves_the_index_as_a_pair(backend: MakeStore) -> None:
    """Both index attributes come and go together, whichever part is set or removed."""
    store = backend(players)
    store.create(Player(name="p", points=3))
    at = Player.at(name="p")
    assert index_of(store) is None
    store.update(at, Player.points.add(1))
    assert index_of(store) is None
    store.update(at, Player.team.set("red"))
    assert index_of(store) == ("#TEAM#red", "#0000000000000000004")
    assert in_team(store, "red") == ["p"]
    store.update(at, {"team": "blue", "points": -1})
    assert index_of(store) == ("#TEAM#blue", "#-9999999999999999999")
    assert (in_team(store, "red"), in_team(store, "blue")) == ([], ["p"])
    store.update(at, {"team": None, "points": 8})
    assert index_of(store) is None
    assert in_team(store, "blue") == []
    assert store.one(at) == Player(name="p", points=8)


def test_the_index_sorts_by_the_number_after_updates(backend: MakeStore) -> None:
    """Players stand in order of points, however the points came about."""
    store = backend(players)
    for name, points in (("a", 9), ("b", 10), ("c", -5)):
        store.create(Player(name=name, team="t", points=points))
    assert in_team(store, "t") == ["c", "a", "b"]
    store.update(Player.at(name="c"), Player.points.add(1000))
    store.update(Player.at(name="b"), Player.points.set(0))
    assert in_team(store, "t") == ["b", "a", "c"]
