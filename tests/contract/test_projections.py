"""Indexes that hold a part of their items: what their rows give, how they are told, and the whole entities behind."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from singletable import (
    AutoIncrement,
    Entity,
    Field,
    FieldNotLoaded,
    ForeignItem,
    GlobalIndex,
    Key,
    LocalIndex,
    NotFound,
    QueryError,
    Store,
    Table,
    UsageError,
    computed,
)
from tests.contract.behind import CountingClient, client_of, sibling, write
from tests.contract.conftest import MakeStore

keys = GlobalIndex("keys", projection="keys")
some = GlobalIndex("some", projection=["total", "note"])
inverted = GlobalIndex("inverted", pk="SK", sk="PK", projection=[])
recent = LocalIndex("recent", projection=["total"])
depot = Table("depot", indexes=[keys, some, inverted, recent])


class Parcel(Entity, table=depot, tag="parcel"):
    """A parcel, numbered per user, so that its delete leaves a tombstone."""

    user: Field[str]
    number: Field[int] = AutoIncrement()
    status: Field[str] = Field(default="SENT")
    total: Field[int] = Field(default=0, name="t")
    memo: Field[str | None] = Field(default=None, name="note")
    address: Field[str] = Field(default="here")

    key = Key(pk="#USER#{user}", sk="#PARCEL#{number}")
    by_status = Key(on=keys, pk="#STATUS", sk="#PARCEL#{status}#{user}")
    by_memo = Key(on=some, pk="#MEMO#{memo}", sk="#PARCEL#{number}")
    by_total = Key(on=recent, sk="#TOTAL#{total}")
    turned = Key(on=inverted)


class Scan(Entity, table=depot, tag="scan"):
    """Where a parcel was seen: it stands below its parcel, and in the same index under a day that is computed."""

    user: Field[str]
    number: Field[int]
    seen_at: Field[datetime]
    place: Field[str]

    @computed
    def day(self) -> date:
        """The day it was seen."""
        return self.seen_at.date()

    key = Key(within=Parcel.key, sk="#SCAN#{day}")
    by_place = Key(on=keys, pk="#STATUS", sk="#SCAN#{place}")


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def parcels(store: Store, *statuses: str) -> list[Parcel]:
    """Create a parcel of each status, for one user."""
    return [store.create(Parcel(user="ann", status=status, total=10, memo="m")) for status in statuses]


def test_an_index_of_keys_gives_what_its_keys_say(backend: MakeStore) -> None:
    """Fields of both keys are there, others raise and say who reads them; the part cannot be put, but updated."""
    store = backend(depot)
    parcels(store, "SENT", "BACK")
    back, sent = store.query(Parcel.by_status())
    assert (back.user, back.number, back.status, sent.status) == ("ann", 2, "BACK", "SENT")
    for name in ("total", "memo", "address"):
        with pytest.raises(FieldNotLoaded, match=name) as caught:
            getattr(back, name)
        assert "hydrate" in caught.value.hint
    with pytest.raises(FieldNotLoaded, match=r"total, memo, address.* as a whole"):
        store.put(back)
    assert store.update(back, Parcel.total.add(5)).total == 15
    assert store.delete(sent) == Parcel(user="ann", number=1, status="SENT", total=10, memo="m")


def test_an_index_that_names_attributes_gives_them_too(backend: MakeStore) -> None:
    """Attributes are named as they are stored; a renamed field that is not named so is not there."""
    store = backend(depot)
    parcels(store, "SENT")
    (found,) = store.query(Parcel.by_memo(memo="m"))
    assert (found.user, found.number, found.memo) == ("ann", 1, "m")
    assert not hasattr(found, "total")  # stored as "t", which the index does not name
    assert not hasattr(found, "status")


def test_rows_without_tag_are_told_by_their_key(backend: MakeStore) -> None:
    """D12: of two kinds in one index of keys each query gives its own, and rows of other programs to nobody."""
    store = backend(depot)
    parcels(store, "SENT")
    store.put(Scan(user="ann", number=1, seen_at=NOON, place="Rome"))
    other = {"PK": {"S": "#USER#ann"}, "keysPK": {"S": "#STATUS"}}
    write(store, {**other, "SK": {"S": "#LEGACY"}, "keysSK": {"S": "#PARCEL#SENT#ann"}})
    assert [parcel.number for parcel in store.query(Parcel.by_status(status="SENT"))] == [1]
    assert store.count(Parcel.by_status()) == 1
    assert store.first(Parcel.by_status().descending()) is not None
    (scan,) = store.query(Scan.by_place(place="Rome"))
    assert (scan.place, scan.day, scan.number) == ("Rome", date(2026, 3, 1), 1)
    assert not hasattr(scan, "seen_at")
    assert store.hydrate([scan]) == (Scan(user="ann", number=1, seen_at=NOON, place="Rome"),)
    assert len({scan, scan}) == 1  # its hash is of the key, which was read


def test_what_an_index_does_not_hold_is_neither_filtered_nor_fetched(backend: MakeStore) -> None:
    """A filter and a selection are refused when they are written; those of what is there are sent."""
    store = backend(depot)
    parcels(store, "SENT", "BACK")
    with pytest.raises(QueryError, match="'t', which index 'keys' does not hold") as caught:
        Parcel.by_status().where(Parcel.total > 3)
    assert "projection=" in caught.value.hint
    with pytest.raises(QueryError, match="'status', which index 'some' does not hold"):
        Parcel.by_memo(memo="m").where(Parcel.status == "SENT")
    with pytest.raises(QueryError, match="'t', which index 'recent'"):
        Parcel.by_total(user="ann").where(Parcel.total > 3)
    with pytest.raises(QueryError, match="'address', which index 'some'"):
        Parcel.by_memo(memo="m").only(Parcel.address)
    (one,) = store.query(Parcel.by_memo(memo="m").where(Parcel.memo.exists()).only(Parcel.memo).limit(1))
    assert one.memo == "m"
    assert [each.number for each in store.query(Parcel.by_status().only(Parcel.number))] == [2, 1]


def test_a_local_index_reads_the_rest_from_the_table(backend: MakeStore) -> None:
    """What `only` names and the index lacks is read from the table."""
    store = backend(depot)
    store.create(Parcel(user="ann", status="LOST", total=10, address="there"))
    query = Parcel.by_total(user="ann", total=10).consistent()
    (more,) = store.query(query.only(Parcel.address, Parcel.status))
    assert (more.address, more.status) == ("there", "LOST")
    assert not hasattr(more, "memo")


def test_a_local_index_gives_parts_consistently(backend: MakeStore) -> None:
    """Without `only` its rows are parts, read consistently if so wanted, and they are counted."""
    store = backend(depot)
    parcels(store, "SENT")
    query = Parcel.by_total(user="ann", total=10).consistent()
    (part,) = store.query(query)
    assert part.total == 10  # out of the index key: "total" is no attribute of the item
    assert not hasattr(part, "address")
    assert store.count(query) == 1


def test_a_tombstone_is_in_no_answer(backend: MakeStore) -> None:
    """A deleted item leaves every index; the inverted one, which holds the tombstone, tells it by its tag."""
    store = backend(depot)
    first, second = parcels(store, "SENT", "SENT")
    store.delete(first)
    assert [each.number for each in store.query(Parcel.by_status())] == [2]
    assert store.query(Parcel.turned(user="ann", number=1)).all() == []
    (found,) = store.query(Parcel.turned(user="ann", number=2))
    assert store.hydrate([found]) == (second,)
    assert store.count(Parcel.turned(user="ann", number=1)) == 0


def test_hydrate_keeps_the_order_and_tolerates_what_vanished(backend: MakeStore) -> None:
    """E9: the whole entities in the order of the rows, each key once; what is gone is left out, a hole or an error."""
    store = backend(depot)
    one, two, three = parcels(store, "C", "A", "B")
    rows = store.query(Parcel.by_status())
    assert store.hydrate(rows) == (two, three, one)
    parts = rows.all()
    changed = store.update(two, Parcel.address.set("there"))
    store.delete(three)
    assert store.hydrate(parts) == (changed, one)
    assert store.hydrate([*parts, parts[0]], missing="hole", consistent=True) == (changed, None, one, changed)
    with pytest.raises(NotFound, match="1 of 3"):
        store.hydrate(parts, missing="raise")
    mixed: Any = [one, Parcel.at(user="ann", number=2)]
    assert store.hydrate(mixed) == (one, changed)
    assert store.hydrate([]) == ()


def test_an_item_that_changed_its_kind_is_foreign(backend: MakeStore) -> None:
    """Hydrating never gives another entity's item for the one whose row was read."""
    store = backend(depot)
    parcels(store, "SENT")
    (part,) = store.query(Parcel.by_status())
    write(store, {**Parcel.at(user="ann", number=1).key, "_et": {"S": "scan"}})
    with pytest.raises(ForeignItem, match="'scan'"):
        store.hydrate([part])


def test_hydrating_a_hundred_costs_one_request(backend: MakeStore) -> None:
    """As many requests as BatchGetItem needs: one for a hundred keys, after the query itself."""
    store = backend(depot)
    store.put_many(Scan(user="ann", number=n, seen_at=NOON, place="Rome") for n in range(101))
    client = CountingClient(client_of(store))
    counted = sibling(store, client=client)
    found = counted.hydrate(counted.query(Scan.by_place(place="Rome")))
    assert sorted(scan.number for scan in found) == list(range(101))
    assert client.calls == {"query": 1, "batch_get_item": 2}


def test_hydrate_wants_many_of_the_table(backend: MakeStore) -> None:
    """One entity, a word for `missing` that is none, and a row of something else are refused before a request."""
    store: Any = backend(depot)
    for each in (Parcel(user="ann", number=1), 5, ["ann"]):
        with pytest.raises(UsageError, match="wanted"):
            store.hydrate(each)
    with pytest.raises(UsageError, match=r"hydrate\(missing=\)"):
        store.hydrate([], missing="ignore")
