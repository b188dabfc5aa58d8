"""Indexes and keys of every kind, on every backend: what is declared holds after each write."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from singletable import (
    Entity,
    Field,
    GlobalIndex,
    Key,
    LocalIndex,
    QueryError,
    Store,
    Table,
    computed,
    to_item,
)
from tests.contract.behind import item_at
from tests.contract.conftest import MakeStore

gsi1 = GlobalIndex("GSI1")
gsi2 = GlobalIndex("GSI2")
lsi1 = LocalIndex("LSI1")
inverted = GlobalIndex("inverted", pk="SK", sk="PK")
work = Table("work", indexes=[gsi1, gsi2, lsi1, inverted])

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = datetime(2026, 1, 2, tzinfo=UTC)


class Owned(Entity, table=work):
    """What has an owner; abstract."""

    owner: Field[str]
    made_at: Field[datetime]

    by_owner = Key(on=gsi1, pk="#OWNER#{owner}", sk="#{made_at:desc}")


class Task(Owned, tag="task"):
    """A task, told by day too."""

    task_id: Field[str]
    status: Field[str] = Field(default="OPEN")
    prio: Field[int] = Field(default=3)

    @computed
    def day(self) -> date:
        """The day it was made."""
        return self.made_at.date()

    key = Key(pk="#TASK#{task_id}", sk="#TASK")
    by_status = Key(on=lsi1, sk="#{status}#{day}")
    open = Key(on=gsi2, pk="#OPEN", sk="#TASK#{prio}#{task_id}", when=lambda task: task.status == "OPEN")


class Memo(Owned, tag="memo"):
    """Another kind of what has an owner."""

    memo_id: Field[str]

    key = Key(pk="#MEMO#{memo_id}", sk="#MEMO")


class Member(Entity, table=work, tag="member"):
    """Who is in which group: read from both sides."""

    user: Field[str]
    group: Field[str]

    key = Key(pk="#USER#{user}", sk="#GROUP#{group}")
    of_group = Key(on=inverted)


class Shop(Entity, table=work, tag="shop"):
    """A shop of a country, of a city in it, or of a street in that."""

    country: Field[str]
    city: Field[str | None] = Field(default=None)
    street: Field[str | None] = Field(default=None)

    key = Key(pk="#SHOPS#{country}", sk="#SHOP#{city?}#STREET#{street?}")


@pytest.fixture
def store(backend: MakeStore) -> Store:
    """Give a store of these entities."""
    return backend(work)


def task(task_id: str, **more: Any) -> Task:
    """Make a task of Ann's."""
    return Task(task_id=task_id, owner="ann", made_at=more.pop("made_at", NEW_YEAR), **more)


def test_a_base_reads_its_kinds(store: Store) -> None:
    """A query by a base's key gives every kind, in one order; by a kind's, that kind alone."""
    first, second = store.create(task("1")), store.create(Memo(memo_id="2", owner="ann", made_at=SECOND))
    assert store.query(Owned.by_owner(owner="ann")).all() == [second, first]
    assert store.query(Task.by_owner(owner="ann")).all() == [first]
    assert store.count(Owned.by_owner(owner="ann")) == 2
    assert store.first(Memo.by_owner(owner="ann")) == second


def test_a_descending_part_turns_order_and_ranges(store: Store) -> None:
    """Rows come newest first, and a range speaks of values all the same."""
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    for number, day in enumerate(days):
        store.create(task(str(number), made_at=day))
    mine = Task.by_owner(owner="ann")
    assert [each.made_at for each in store.query(mine)] == days[::-1]
    assert [each.made_at for each in store.query(mine.gte(made_at=days[1]))] == [days[2], days[1]]
    assert [each.made_at for each in store.query(mine.between(made_at=(days[0], days[1])))] == [days[1], days[0]]


def test_a_local_index_is_read_consistently(store: Store) -> None:
    """A local index shares the partition key; reading it strongly is allowed, a global one refuses."""
    made = store.create(task("1"))
    assert store.query(Task.by_status(task_id="1", status="OPEN").consistent()).all() == [made]
    assert store.query(Task.by_status(task_id="1", status="OPEN", day=date(2026, 1, 2))).all() == []
    with pytest.raises(QueryError, match="cannot be read consistently"):
        Task.by_owner(owner="ann").consistent()


def test_an_inverted_index_reads_from_the_other_side(store: Store) -> None:
    """Members of a group are found by the sort key; nothing else stands in the answer."""
    for user, group in (("u1", "g1"), ("u2", "g1"), ("u1", "g2")):
        store.create(Member(user=user, group=group))
    assert [each.user for each in store.query(Member.of_group(group="g1"))] == ["u1", "u2"]
    assert store.query(Member.of_group(group="g1", user="u2")).all() == [Member(user="u2", group="g1")]
    assert store.count(Member.of_group(group="g3")) == 0


def test_a_condition_decides_who_is_in_an_index(store: Store) -> None:
    """An index with when= holds what meets it after create, update by reference, update of a loaded one, and put."""
    for task_id in "123":
        store.create(task(task_id))
    store.update(Task.at(task_id="1"), Task.status.set("DONE"))
    assert [each.task_id for each in store.query(Task.open())] == ["2", "3"]
    store.update(Task.at(task_id="3"), Task.prio.set(1))
    assert [each.task_id for each in store.query(Task.open())] == ["3", "2"]
    done = store.one(Task.at(task_id="1"))
    store.update(done, Task.prio.set(9))
    assert [each.task_id for each in store.query(Task.open())] == ["3", "2"]
    store.update(Task.at(task_id="1"), {"status": "OPEN"})
    assert [each.task_id for each in store.query(Task.open())] == ["3", "2", "1"]
    store.put(task("2", status="DONE"))
    assert [each.task_id for each in store.query(Task.open())] == ["3", "1"]


def test_a_computed_field_follows_every_write(store: Store) -> None:
    """A computed value is stored, stands in keys and conditions, and is new after an update of what it is made of."""
    made = store.create(task("1"))
    assert to_item(made)["day"] == {"S": "2026-01-01"}
    assert made.day == date(2026, 1, 1)
    changed = store.update(Task.at(task_id="1"), Task.made_at.set(SECOND))
    assert changed.day == date(2026, 1, 2)
    assert store.count(Task.by_status(task_id="1", status="OPEN", day=date(2026, 1, 1))) == 0
    assert store.query(Task.by_status(task_id="1", status="OPEN", day=date(2026, 1, 2))).all() == [changed]
    assert store.count(Task.by_owner(owner="ann").where(Task.day == date(2026, 1, 2))) == 1


def test_an_optional_part_ends_the_key(store: Store) -> None:
    """A key ends after its last present part; a node and what stands below it are one range."""
    places = [(None, None), ("C", None), ("C", "S"), ("D", None)]
    for city, street in places:
        store.create(Shop(country="CN", city=city, street=street))
    assert [(shop.city, shop.street) for shop in store.query(Shop.key(country="CN"))] == places
    assert [shop.street for shop in store.query(Shop.key(country="CN", city="C"))] == [None, "S"]
    assert store.one(Shop.at(country="CN")) == Shop(country="CN")
    assert store.one(Shop.at(country="CN", city="C", street="S")).street == "S"


def test_stored_index_keys_are_those_recomputed(store: Store) -> None:
    """After a run of updates of every kind, the stored item is the one its entity gives."""
    store.create(task("1"))
    changes: list[Any] = [
        Task.status.set("DONE"),
        Task.prio.add(4),
        {"made_at": SECOND, "owner": "bob"},
        Task.status.set("OPEN"),
        {"owner": "ann", "prio": 1},
    ]
    for change in changes:
        changed = store.update(Task.at(task_id="1"), change)
        stored = store.one(Task.at(task_id="1"), consistent=True)
        assert stored == changed
        written, item = to_item(stored), item_at(store, Task.at(task_id="1"))
        assert item is not None
        assert {name: item.get(name) for name in KEYS} == {name: written.get(name) for name in KEYS}


KEYS = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "LSI1SK", "day")
