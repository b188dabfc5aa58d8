"""Unique values: one item has each, whatever is written, and the guards follow every write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from singletable import (
    ConditionFailed,
    Create,
    Entity,
    ExpiresAt,
    Field,
    Key,
    KeyTooLong,
    Store,
    Table,
    TransactionFailed,
    Unique,
    UniqueViolation,
    Update,
    UsageError,
    evolve,
    unique_ref,
)
from singletable.wire import Item
from tests.contract.behind import CountingClient, client_of, everything, in_threads, item_at, sibling, write
from tests.contract.conftest import MakeStore

club = Table("club")


class Member(Entity, table=club, tag="member"):
    member_id: Field[str]
    email: Field[str | None] = Field(default=None, unique=True)
    team: Field[str] = Field(default="red")
    shirt: Field[int | None] = Field(default=None)
    visits: Field[int] = Field(default=0)

    key = Key(pk="#MEMBER#{member_id}", sk="#PROFILE")
    one_shirt = Unique("team", "shirt")


plain = Table("plain")


class Person(Entity, table=plain, tag="member"):
    """A member before anything was unique."""

    member_id: Field[str]
    email: Field[str | None] = Field(default=None)

    key = Key(pk="#MEMBER#{member_id}", sk="#PROFILE")


hotel = Table("hotel")


class Guest(Entity, table=hotel, tag="guest"):
    """A guest, who may leave some day."""

    name: Field[str]
    seat: Field[int] = Field(unique=True)
    room: Field[str]
    until: Field[datetime | None] = ExpiresAt()

    key = Key(pk="#GUEST#{name}", sk="#GUEST")


GUEST_SEAT = "#!UNIQUE#guest#seat#" + "0" * 18


ANN = Member(member_id="ann", email="a@b.c", shirt=7)
BOB = Member(member_id="bob", email="b@b.c", shirt=8)
EMAIL = "#!UNIQUE#member#email#"
SHIRT = "#!UNIQUE#member#team!shirt#"
SEVEN = SHIRT + "red#0000000000000000007"


@pytest.fixture
def store(transacting: MakeStore) -> Store:
    """Give a store of the club."""
    return transacting(club)


def guards(store: Store) -> dict[str, str]:
    """Give every guard with the partition key of the item it says has the value."""
    found = [item for item in everything(store) if item["_et"]["S"] == "!unique"]
    return {item["PK"]["S"]: item["of"]["M"]["PK"]["S"] for item in found}


def counting(store: Store) -> tuple[Store, Counter[str]]:
    """Give a store in the same place, with what it sends."""
    client = CountingClient(client_of(store))
    return sibling(store, client=client), client.calls


def test_a_guard_is_a_hidden_item_that_names_the_owner(store: Store) -> None:
    """The guard of a value: its key of tag, stored name and value, and the key of the item that has it."""
    store.create(evolve(ANN, shirt=None))
    (guard,) = [item for item in everything(store) if item["_et"]["S"] == "!unique"]
    assert guard == {
        "PK": {"S": EMAIL + "a@b.c"},
        "SK": {"S": "!"},
        "_et": {"S": "!unique"},
        "of": {"M": {"PK": {"S": "#MEMBER#ann"}, "SK": {"S": "#PROFILE"}}},
    }


def test_a_value_that_is_taken_is_refused(store: Store) -> None:
    """F8: create, put and update with another's value raise UniqueViolation, and nothing is written."""
    store.create(ANN)
    store.create(BOB)
    before = everything(store)
    taken = evolve(BOB, email="a@b.c")
    with pytest.raises(UniqueViolation) as created:
        store.create(evolve(taken, member_id="eve", shirt=None))
    with pytest.raises(UniqueViolation) as put:
        store.put(taken)
    with pytest.raises(UniqueViolation) as updated:
        store.update(BOB, Member.email.set("a@b.c"))
    for caught in (created, put, updated):
        assert caught.value.field == "email"
        assert caught.value.owner == Member.at(member_id="ann")
        assert "a@b.c" not in str(caught.value)
    assert everything(store) == before


def test_a_combination_is_unique_as_a_whole(store: Store) -> None:
    """Two teams may have a number seven, one team may not."""
    store.create(ANN)
    store.create(Member(member_id="bob", team="blue", shirt=7))
    with pytest.raises(UniqueViolation) as caught:
        store.create(Member(member_id="eve", team="red", shirt=7))
    assert caught.value.field == "one_shirt"


def test_values_that_look_alike_stay_apart(store: Store) -> None:
    """A7: a value that holds the delimiter forges no other guard."""
    store.create(Member(member_id="ann", team="a#0000000000000000001", shirt=1))
    store.create(Member(member_id="bob", team="a", shirt=1))
    assert len(guards(store)) == 2


def test_an_absent_value_has_no_guard(store: Store) -> None:
    """F2: items without the value are not unique, and can be deleted."""
    for name in ("ann", "bob"):
        store.create(Member(member_id=name))
    assert guards(store) == {}
    assert store.delete(Member.at(member_id="ann")) == Member(member_id="ann")


def test_an_update_moves_the_guard(store: Store) -> None:
    """The old value is free and the new one taken, in the same transaction; by reference and by entity."""
    store.create(ANN)
    after = store.update(Member.at(member_id="ann"), Member.email.set("n@b.c"))
    assert after == evolve(ANN, email="n@b.c")
    assert guards(store) == {EMAIL + "n@b.c": "#MEMBER#ann", SEVEN: "#MEMBER#ann"}
    again = store.update(after, Member.shirt.add(1))
    assert again == evolve(after, shirt=8)
    assert guards(store) == {EMAIL + "n@b.c": "#MEMBER#ann", SHIRT + "red#0000000000000000008": "#MEMBER#ann"}
    store.update(again, {"email": None, "team": "blue"})
    assert guards(store) == {SHIRT + "blue#0000000000000000008": "#MEMBER#ann"}


def test_a_put_moves_the_guards(store: Store) -> None:
    """A put in place of an item frees what it had and takes what it has; a put where nothing stands takes."""
    store.put(ANN)
    assert guards(store) == {EMAIL + "a@b.c": "#MEMBER#ann", SEVEN: "#MEMBER#ann"}
    store.put(evolve(ANN, email="n@b.c", shirt=None))
    assert guards(store) == {EMAIL + "n@b.c": "#MEMBER#ann"}
    store.create(evolve(ANN, member_id="bob"))


def test_a_delete_frees(store: Store) -> None:
    """F1: the guards go with the item, and another may have the values."""
    store.create(ANN)
    assert store.delete(Member.at(member_id="ann")) == ANN
    assert guards(store) == {}
    assert store.delete(Member.at(member_id="ann")) is None
    store.create(evolve(ANN, member_id="bob"))


def test_conditions_hold_for_the_whole(store: Store) -> None:
    """A condition that fails keeps item and guards as they are."""
    store.create(ANN)
    before = everything(store)
    writes: list[Callable[[], object]] = [
        lambda: store.put(evolve(ANN, email="n@b.c"), when=Member.visits > 3),
        lambda: store.update(ANN, Member.email.set("n@b.c"), when=Member.visits > 3),
        lambda: store.delete(ANN, when=Member.visits > 3),
    ]
    for failing in writes:
        with pytest.raises(ConditionFailed) as caught:
            failing()
        assert caught.value.current == ANN
    assert everything(store) == before


def test_what_is_not_touched_costs_nothing(store: Store) -> None:
    """F4: an update, or a put, that changes no unique value is one plain request."""
    ann = store.create(ANN)
    watched, calls = counting(store)
    watched.update(Member.at(member_id="ann"), Member.visits.add(1))
    watched.put(evolve(ann, visits=5))
    assert calls == {"update_item": 1, "put_item": 1}


def test_what_each_write_costs(store: Store) -> None:
    """A create is one transaction, a delete a read more; an update one more to answer with the new item."""
    watched, calls = counting(store)
    ann = watched.create(ANN)
    assert calls == {"transact_write_items": 1}
    calls.clear()
    watched.update(ann, Member.email.set("n@b.c"))
    assert calls == {"transact_write_items": 1, "get_item": 1}
    calls.clear()
    watched.delete(ann)
    assert calls == {"get_item": 1, "transact_write_items": 1}


def test_an_item_is_found_by_its_value(store: Store) -> None:
    """`unique_ref` reads the guard and the item, both strongly; None for a value nobody has."""
    store.create(ANN)
    watched, calls = counting(store)
    assert watched.get(unique_ref(Member, email="a@b.c")) == ANN
    assert calls == {"get_item": 2}
    assert watched.one(unique_ref(Member, shirt=7, team="red")) == ANN
    assert watched.get(unique_ref(Member, email="x@b.c")) is None


VALUES = {"moto": 5, "dynoxide": 100, "dynoxide-async": 5}
"""So many values are fought for; the embedded engine copies its table for each transaction."""


def test_sixteen_writers_for_each_value(request: pytest.FixtureRequest, transacting: MakeStore) -> None:
    """Of sixteen who want each of so many values one wins, and no guard is left without its item."""
    store, values = transacting(club), VALUES[request.node.callspec.params["transacting"]]

    def claim(place: int) -> int:
        won = 0
        for value in range(values):
            try:
                store.create(Member(member_id=f"{place}-{value}", email=f"{value}@b.c"))
                won += 1
            except UniqueViolation:
                continue
        return won

    assert sum(in_threads(16, claim)) == values
    held = guards(store)
    assert len(held) == values
    assert {f"#MEMBER#{row.member_id}" for row in store.scan(Member)} == set(held.values())


def test_older_items_are_guarded_by_a_backfill(store: Store) -> None:
    """What was stored before it was unique gets its guards; values of several items are told, and kept."""
    for name, email in (("ann", "a@b.c"), ("bob", "a@b.c"), ("eve", "e@b.c")):
        item: Item = {
            "PK": {"S": f"#MEMBER#{name}"},
            "SK": {"S": "#PROFILE"},
            "_et": {"S": "member"},
            "member_id": {"S": name},
            "email": {"S": email},
        }
        write(store, item)
    report = store.backfill_unique(Member)
    assert (report.items, report.guarded, len(report.violations)) == (3, 2, 1)
    assert set(guards(store)) == {EMAIL + "a@b.c", EMAIL + "e@b.c"}
    again = store.backfill_unique(Member)
    assert (again.guarded, len(again.violations)) == (0, 1)
    loser = next(name for name in ("ann", "bob") if guards(store)[EMAIL + "a@b.c"] != f"#MEMBER#{name}")
    store.update(Member.at(member_id=loser), Member.email.set("z@b.c"))
    assert guards(store)[EMAIL + "z@b.c"] == f"#MEMBER#{loser}"
    assert store.backfill_unique(Member).violations == ()


def test_many_at_once(store: Store) -> None:
    """create_many and delete_many write singly, put_many is refused with the way out."""
    store.create_many([ANN, BOB])
    assert len(guards(store)) == 4
    store.delete_many([ANN, BOB])
    assert everything(store) == []
    with pytest.raises(UsageError, match="create_many"):
        store.put_many([ANN])


def test_a_value_too_long_for_a_key_is_refused(store: Store) -> None:
    """A guard's key holds at most 2048 bytes; the error says that it is the guard's, before anything is sent."""
    with pytest.raises(KeyTooLong) as caught:
        store.create(Member(member_id="ann", email="x" * 3000))
    assert "unique" in caught.value.hint
    assert item_at(store, Member.at(member_id="ann")) is None


def test_an_outdated_entity_takes_no_value_it_had(transacting: MakeStore) -> None:
    """An update by an entity that lost a value since rests on what stands: the value's new owner is not in the way."""
    store = transacting(hotel)
    old = store.create(Guest(name="ann", seat=1, room="a"))
    store.update(Guest.at(name="ann"), Guest.seat.set(2))
    store.create(Guest(name="bob", seat=1, room="a"))
    moved = store.update(old, Guest.until.set(datetime(2999, 1, 1, tzinfo=UTC)))
    assert (moved.seat, guards(store)[GUEST_SEAT + "2"]) == (2, "#GUEST#ann")
    with pytest.raises(UniqueViolation):
        store.update(old, Guest.seat.set(1))


def test_two_items_swap_their_values(store: Store) -> None:
    """In one transaction each may take what the other frees; the guards change hands, and nothing else does."""
    ann, bob = store.create(ANN), store.create(BOB)
    store.transact(Update(ann, Member.email.set("b@b.c")), Update(bob, Member.email.set("a@b.c")))
    held = guards(store)
    assert (held[EMAIL + "a@b.c"], held[EMAIL + "b@b.c"]) == ("#MEMBER#bob", "#MEMBER#ann")
    assert store.one(unique_ref(Member, email="a@b.c")) == evolve(BOB, email="a@b.c")
    assert len(held) == 4


def test_a_transaction_that_meets_a_taken_value_says_whose(store: Store) -> None:
    """The operation that wanted the value is told, and nothing of the transaction is written."""
    store.create(ANN)
    before = everything(store)
    with pytest.raises(TransactionFailed) as caught:
        store.transact(Create(BOB), Create(Member(member_id="eve", email="a@b.c")))
    violation = caught.value.only(UniqueViolation)
    assert (violation.index, violation.field) == (1, "email")
    assert everything(store) == before
