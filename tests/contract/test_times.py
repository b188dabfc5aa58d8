"""Versions, times, and what expires: which verb sets what, and that what has expired is absent wherever one looks."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from singletable import (
    AlreadyExists,
    ConditionFailed,
    CreatedAt,
    Entity,
    ExpiresAt,
    Field,
    GlobalIndex,
    Key,
    NotFound,
    Store,
    Table,
    Unprocessed,
    UpdatedAt,
    UsageError,
    Version,
    VersionConflict,
    evolve,
    unique_ref,
)
from tests.contract.behind import CountingClient, client_of, everything, item_at, sibling
from tests.contract.conftest import MakeStore

NOON = datetime(2026, 1, 2, 12, 0, 0, 250_000, tzinfo=UTC)
HOUR = timedelta(hours=1)

gsi1 = GlobalIndex("GSI1")
desk = Table("desk", indexes=[gsi1])


class Doc(Entity, table=desk, tag="doc"):
    owner: Field[str]
    doc_id: Field[str]
    text: Field[str] = Field(default="")
    version: Field[int] = Version()
    created_at: Field[datetime] = CreatedAt()
    updated_at: Field[datetime] = UpdatedAt()

    key = Key(pk="#OWNER#{owner}", sk="#DOC#{doc_id}")
    by_time = Key(on=gsi1, pk="#OWNER#{owner}", sk="#{updated_at}")


class Session(Entity, table=desk, tag="session"):
    owner: Field[str]
    session_id: Field[str]
    seen: Field[int] = Field(default=0)
    expires_at: Field[datetime] = ExpiresAt(after=HOUR)

    key = Key(pk="#SESSIONS#{owner}", sk="#SESSION#{session_id}")
    by_owner = Key(on=gsi1, pk="#SESSIONS#{owner}", sk="#{session_id}")


class Visit(Entity, table=desk, tag="visit"):
    owner: Field[str]
    n: Field[str]

    key = Key(pk="#SESSIONS#{owner}", sk="#VISIT#{n}")


hall = Table("hall", ttl="ttl")


class Seat(Entity, table=hall, tag="seat"):
    guest: Field[str]
    number: Field[int | None] = Field(default=None, unique=True)
    until: Field[datetime | None] = ExpiresAt()

    key = Key(pk="#GUEST#{guest}", sk="#SEAT")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands at noon."""
    return Clock()


@pytest.fixture
def store(backend: MakeStore, clock: Clock) -> Store:
    """Give a store of the desk that goes by the clock."""
    return sibling(backend(desk), clock=clock)


def counting(store: Store, clock: Clock) -> tuple[Store, Counter[str]]:
    """Give a store in the same place, with what it sends."""
    client = CountingClient(client_of(store))
    return sibling(store, client=client, clock=clock), client.calls


def test_a_version_counts_the_writes(store: Store, clock: Clock) -> None:
    """1 on create, one more with every update and put; each is one request, and by reference nothing is checked."""
    counted, calls = counting(store, clock)
    first = counted.create(Doc(owner="ann", doc_id="1"))
    second = counted.update(Doc.at(owner="ann", doc_id="1"), Doc.text.set("b"))
    third = counted.update(second, Doc.text.set("c"))
    fourth = counted.put(evolve(third, text="d"))
    assert [each.version for each in (first, second, third, fourth)] == [1, 2, 3, 4]
    assert store.get(Doc.at(owner="ann", doc_id="1")) == fourth
    assert calls == {"put_item": 2, "update_item": 2}


def test_an_outdated_entity_is_a_conflict(store: Store) -> None:
    """An entity that others wrote since is not written: VersionConflict has both, and nothing is changed."""
    old = store.create(Doc(owner="ann", doc_id="1"))
    new = store.update(old, Doc.text.set("b"))
    before = everything(store)
    with pytest.raises(VersionConflict) as updated:
        store.update(old, Doc.text.set("c"))
    with pytest.raises(VersionConflict) as put:
        store.put(evolve(old, text="c"))
    with pytest.raises(VersionConflict) as deleted:
        store.delete(old)
    with pytest.raises(VersionConflict) as unknown:
        store.put(Doc(owner="ann", doc_id="1"))
    for caught in (updated, put, deleted, unknown):
        assert caught.value.current == new
    assert (updated.value.given, put.value.given) == (old, evolve(old, text="c"))
    assert everything(store) == before
    with pytest.raises(ConditionFailed) as refused:
        store.update(new, Doc.text.set("c"), when=Doc.text == "x")
    assert type(refused.value) is ConditionFailed


def test_an_entity_that_is_gone_is_not_put_back(store: Store) -> None:
    """A put of a loaded entity does not bring a deleted item back; a fresh one may stand there, as number 1."""
    old = store.create(Doc(owner="ann", doc_id="1"))
    assert store.delete(Doc.at(owner="ann", doc_id="1")) == old
    with pytest.raises(VersionConflict) as caught:
        store.put(old)
    assert (caught.value.current, caught.value.given) == (None, old)
    with pytest.raises(NotFound):
        store.update(old, Doc.text.set("b"))
    assert store.delete(old) is None
    assert store.put(Doc(owner="ann", doc_id="1")).version == 1


def test_many_keep_to_versions(store: Store) -> None:
    """create_many starts them, delete_many checks those of entities, and put_many, which cannot, is refused."""
    made = store.create_many(Doc(owner="ann", doc_id=str(number)) for number in range(3))
    assert {each.version for each in made} == {1}
    store.update(Doc.at(owner="ann", doc_id="0"), Doc.text.set("b"))
    with pytest.raises(Unprocessed) as caught:
        store.delete_many(made)
    assert [type(cause) for cause in caught.value.causes] == [VersionConflict]
    assert store.count(Doc.key(owner="ann")) == 1
    store.delete_many([Doc.at(owner="ann", doc_id="0")])
    with pytest.raises(UsageError, match="has a version"):
        store.put_many(made)


def test_times_are_set_by_the_store(store: Store, clock: Clock) -> None:
    """created_at is the time of the create and stays; updated_at is that of the last write, and index keys follow."""
    first = store.create(Doc(owner="ann", doc_id="1"))
    store.create(Doc(owner="ann", doc_id="2"))
    assert (first.created_at, first.updated_at) == (NOON, NOON)
    counted, calls = counting(store, clock)
    clock.now = NOON + HOUR
    second = counted.update(Doc.at(owner="ann", doc_id="1"), Doc.text.set("b"))
    assert calls == {"update_item": 1}
    assert (second.created_at, second.updated_at) == (NOON, NOON + HOUR)
    assert [each.doc_id for each in store.query(Doc.by_time(owner="ann"))] == ["2", "1"]
    clock.now = NOON + 2 * HOUR
    third = store.put(second)
    assert (third.created_at, third.updated_at) == (NOON, NOON + 2 * HOUR)
    item = item_at(store, Doc.at(owner="ann", doc_id="1"))
    assert item is not None
    assert item["created_at"] == {"S": "2026-01-02T12:00:00.250000Z"}
    assert item["GSI1SK"] == {"S": "#2026-01-02T14:00:00.250000Z"}


def test_what_expires_is_stored_in_whole_seconds(store: Store, clock: Clock) -> None:
    """`after` counts from the first write, rounded up; a time that is given, or updated, is taken."""
    made = store.create(Session(owner="ann", session_id="a"))
    until = datetime(2026, 1, 2, 13, 0, 1, tzinfo=UTC)
    assert made.expires_at == until
    item = item_at(store, Session.at(owner="ann", session_id="a"))
    assert item is not None
    assert item["expires_at"] == {"N": "1767358801"}
    clock.now = NOON + HOUR
    assert store.update(made, Session.seen.add(1)).expires_at == until
    longer = store.update(made, Session.expires_at.set(NOON + 3 * HOUR))
    assert longer.expires_at == datetime(2026, 1, 2, 15, 0, 1, tzinfo=UTC)
    assert store.put(longer) == longer
    (many,) = store.put_many([Session(owner="ann", session_id="b")])
    assert store.get(Session.at(owner="ann", session_id="b")) == many
    assert many.expires_at == datetime(2026, 1, 2, 14, 0, 1, tzinfo=UTC)


def test_the_expired_are_absent_to_every_read(store: Store, clock: Clock) -> None:
    """I10: no read gives what has expired, and each counts without it; `include_expired` shows it."""
    for name in "abcdef":
        store.create(Session(owner="ann", session_id=name, expires_at=NOON + (HOUR if name < "e" else 3 * HOUR)))
    refs = [Session.at(owner="ann", session_id=name) for name in "ae"]
    key, index = Session.key(owner="ann"), Session.by_owner(owner="ann")
    assert (store.count(key), store.count(index)) == (6, 6)
    clock.now = datetime(2026, 1, 2, 13, 0, 0, 999_999, tzinfo=UTC)
    assert store.count(key) == 6, "never early"
    clock.now = datetime(2026, 1, 2, 13, 0, 1, tzinfo=UTC)
    assert store.get(refs[0]) is None
    with pytest.raises(NotFound):
        store.one(refs[0])
    alive = ["e", "f"]
    assert [each is None for each in store.get_many(*refs)] == [True, False]
    assert [each.session_id for each in store.hydrate(refs, missing="skip")] == ["e"]
    for query in (key, index, key.only(Session.seen), index.is_in(session_id=list("abef"))):
        assert [each.session_id for each in store.query(query)] == alive
        assert store.count(query) == 2
        assert store.count(query.include_expired()) > 2
    assert [each.session_id for each in store.query(key, index, merged=False)] == alive * 2
    assert [each.session_id for each in store.query(key.limit(1))] == ["e"]
    first = store.first(key)
    assert first is not None
    assert first.session_id == "e"
    assert sorted(each.session_id for each in store.scan(Session)) == alive
    assert len(store.scan(Session, include_expired=True).all()) == 6


def test_the_expired_stand_in_nobodys_way(store: Store, clock: Clock) -> None:
    """C14: create and put replace what has expired, update does not find it, delete gives None and sweeps it."""
    at = Session.at(owner="ann", session_id="a")
    store.create(Session(owner="ann", session_id="a", seen=1))
    clock.now = NOON + 2 * HOUR
    for change in (Session.seen.add(1), Session.expires_at.set(NOON + 9 * HOUR)):
        with pytest.raises(NotFound):
            store.update(at, change)
    with pytest.raises(ConditionFailed) as caught:
        store.put(Session(owner="ann", session_id="a"), when=Session.seen == 1)
    assert caught.value.current is None
    with pytest.raises(ConditionFailed):
        store.delete(at, when=Session.seen == 1)
    assert store.put(Session(owner="ann", session_id="a"), when=Session.seen.does_not_exist()).seen == 0
    with pytest.raises(AlreadyExists):
        store.create(Session(owner="ann", session_id="a"))
    clock.now = NOON + 4 * HOUR
    assert store.create(Session(owner="ann", session_id="a", seen=2)).seen == 2
    clock.now = NOON + 6 * HOUR
    assert store.delete(at) is None
    assert item_at(store, at) is None


@pytest.fixture
def seats(transacting: MakeStore, clock: Clock) -> Store:
    """Give a store of the hall, on an engine with transactions, that goes by the clock."""
    return sibling(transacting(hall), clock=clock)


def test_a_guard_expires_with_its_item(seats: Store, clock: Clock) -> None:
    """F6: the guard has the item's time to live, moves with it, and frees the value when both have expired."""
    ann = seats.create(Seat(guest="ann", number=7, until=NOON + HOUR))
    assert guards(seats) == {"#!UNIQUE#seat#number#0000000000000000007": {"N": "1767358801"}}
    with pytest.raises(Exception, match="another item has this value"):
        seats.create(Seat(guest="bob", number=7))
    seats.update(ann, Seat.until.set(NOON + 2 * HOUR))
    assert guards(seats) == {"#!UNIQUE#seat#number#0000000000000000007": {"N": "1767362401"}}
    clock.now = NOON + 3 * HOUR
    assert seats.get(unique_ref(Seat, number=7)) is None
    assert seats.delete(Seat.at(guest="ann")) is None
    seats.create(Seat(guest="bob", number=7))
    found = seats.get(unique_ref(Seat, number=7))
    assert found == Seat(guest="bob", number=7, until=None)
    assert guards(seats) == {"#!UNIQUE#seat#number#0000000000000000007": None}
    seats.put(Seat(guest="ann", number=8, until=clock.now + HOUR))
    seats.update(Seat.at(guest="ann"), Seat.until.remove())
    assert set(map(str, guards(seats).values())) == {"None"}


def guards(store: Store) -> dict[str, dict[str, str] | None]:
    """Give every guard with its time to live."""
    return {item["PK"]["S"]: item.get("ttl") for item in everything(store) if item["_et"]["S"] == "!unique"}


def test_a_table_is_swept_by_its_time_to_live(seats: Store) -> None:
    """create_table switches it on, for the attribute that the items have; a second one finds it on."""
    seats.create_table()
    described = client_of(seats).describe_time_to_live(TableName=seats.name)["TimeToLiveDescription"]
    assert (described["TimeToLiveStatus"], described["AttributeName"]) == ("ENABLED", "ttl")
