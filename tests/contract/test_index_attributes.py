"""Index attributes that are fields, or are shared, and values that others wrote: stored keys stay those recomputed."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

import pytest

from singletable import (
    ConditionFailed,
    CorruptItem,
    DeclarationError,
    Entity,
    Field,
    FieldValueError,
    GlobalIndex,
    Key,
    QueryError,
    Store,
    Table,
    UnknownField,
    UsageError,
    evolve,
    to_item,
)
from singletable.increments import AutoIncrement
from tests.contract.behind import in_threads, item_at, write
from tests.contract.conftest import MakeStore

scores = GlobalIndex("scores", pk="SPK", sk=("score", int))
one = GlobalIndex("one", pk="GPK", sk="ASK")
two = GlobalIndex("two", pk="GPK", sk="BSK")
numbers = GlobalIndex("numbers")
place = Table("place", indexes=[scores, one, two, numbers])


class Player(Entity, table=place, tag="player"):
    """A player ranked by a native number."""

    pid: Field[str]
    team: Field[str | None] = Field(default=None)
    score: Field[int | None] = Field(default=None)
    a: Field[str | None] = Field(default=None)
    b: Field[str | None] = Field(default=None)
    level: Field[int] = Field(default=100)
    money: Field[Decimal] = Field(default=Decimal(0))
    seen: Field[datetime] = Field(default_factory=lambda: datetime.now(UTC))
    grade: Field[Literal[1, 2]] = Field(default=1)

    key = Key(pk="#P#{pid}", sk="#P")
    ranking = Key(on=scores, pk="#TEAM#{team}", sk="{score}")
    by_a = Key(on=one, pk="#T#{team}", sk="#{a}")
    by_b = Key(on=two, pk="#T#{team}", sk="#{b}")
    by_level = Key(on=numbers, pk="#LEVELS", sk="#{level}#{money}#{seen}")


@pytest.fixture
def store(backend: MakeStore) -> Store:
    """Give a store of players."""
    return backend(place)


ANN = Player.at(pid="ann")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ann(**more: Any) -> Player:
    """Make Ann."""
    usual: dict[str, Any] = {"team": "red", "score": 5, "a": "x", "b": "y", "seen": NOON}
    return Player(pid="ann", **usual | more)


def assert_keys_follow(store: Store) -> None:
    """Check that the stored item is the one its entity gives, and no key attribute is left over."""
    stored, item = store.one(ANN, consistent=True), item_at(store, ANN)
    assert item is not None
    keys = {column.name for column in place.columns}
    assert {name: item[name] for name in keys & item.keys()} == {
        name: value for name, value in to_item(stored).items() if name in keys
    }


def test_a_field_that_is_an_index_attribute_keeps_its_value(store: Store) -> None:
    """Leaving an index by its other half takes no value away."""
    store.create(ann())
    changed = store.update(ANN, {"team": None})
    assert (changed.team, changed.score) == (None, 5)
    assert_keys_follow(store)


def test_a_shared_attribute_stays_while_another_key_has_it(store: Store) -> None:
    """Two indexes with one partition key attribute: leaving one, the item stays in the other."""
    store.create(ann())
    store.update(ANN, Player.b.remove())
    assert store.count(Player.by_a(team="red", a="x")) == 1
    assert store.count(Player.by_b(team="red")) == 0
    assert_keys_follow(store)
    store.update(ANN, {"a": None})
    assert_keys_follow(store)
    store.update(ANN, {"b": "z"})
    assert store.count(Player.by_b(team="red", b="z")) == 1
    assert_keys_follow(store)


def test_two_templates_for_one_attribute_are_refused() -> None:
    """An attribute is written by one template: of two indexes, and of an index and the table's own key."""

    def declare(index: GlobalIndex, other: GlobalIndex) -> type[Entity]:
        class Twice(Entity, table=Table("twice", indexes=[index, other])):
            pid: Field[str]
            key = Key(pk="#P#{pid}", sk="#P")
            first = Key(on=index, pk="#A#{pid}", sk="#A")
            second = Key(on=other, pk="#B#{pid}", sk="#B")

        return Twice

    with pytest.raises(DeclarationError, match="write 'GPK', as"):
        declare(GlobalIndex("one", pk="GPK", sk="ASK"), GlobalIndex("two", pk="GPK", sk="BSK"))
    with pytest.raises(DeclarationError, match="write 'PK', as"):
        declare(GlobalIndex("one", pk="PK", sk="ASK"), GlobalIndex("two"))


def test_an_absent_number_counts_as_it_reads(store: Store) -> None:
    """Adding to a number that is not stored starts from its default, in the attribute and in the key."""
    item = to_item(ann())
    write(store, {name: value for name, value in item.items() if name != "level"})
    assert store.update(ANN, Player.level.add(1)).level == 101
    assert_keys_follow(store)


def test_a_sum_is_exact(store: Store) -> None:
    """38 digits are added exactly in the key too; a sum of more is refused before it is sent."""
    store.create(ann(money=Decimal("12345678901234567890123456789012.5")))
    changed = store.update(ANN, Player.money.add(Decimal("0.25")))
    assert changed.money == Decimal("12345678901234567890123456789012.75")
    assert_keys_follow(store)
    with pytest.raises(FieldValueError, match="more than 38 digits"):
        store.update(ANN, Player.money.add(Decimal("1E-20")))


def test_a_value_written_in_another_way_can_be_updated(store: Store) -> None:
    """A row whose text differs from ours for the same value takes an update of its index key."""
    write(store, {**to_item(ann()), "seen": {"S": "2026-01-01T12:00:00Z"}})
    assert store.update(ANN, Player.level.set(7)).seen == NOON
    loaded = store.one(ANN)
    write(store, {**to_item(ann()), "seen": {"S": "2026-01-01T12:00:00+00:00"}})
    assert store.update(loaded, Player.level.set(8)).level == 8
    assert_keys_follow(store)


def test_a_part_that_is_stored_in_a_key_alone_can_be_updated(store: Store) -> None:
    """A row without the attribute, whose value stands in its index key, takes an update of that key."""
    item = to_item(ann())
    write(store, {name: value for name, value in item.items() if name not in ("seen", "level")})
    assert store.update(ANN, Player.money.set(Decimal(3))).level == 100
    assert_keys_follow(store)


def test_a_default_that_changes_can_be_updated(store: Store) -> None:
    """A row without the attribute and without the key, whose default is the time, takes an update."""
    gone = ("seen", "numbersPK", "numbersSK")
    write(store, {name: value for name, value in to_item(ann()).items() if name not in gone})
    assert store.update(ANN, Player.level.set(3)).level == 3


def test_many_writers_add_to_an_indexed_number(store: Store) -> None:
    """Writers of one process take turns: every addition counts, and the key follows."""
    store.create(ann(level=0))
    in_threads(8, lambda _: [store.update(ANN, Player.level.add(1)) for _ in range(5)])
    assert store.one(ANN).level == 40
    assert_keys_follow(store)


def test_a_condition_or_change_of_another_class_is_refused(store: Store) -> None:
    """What is made with another class's field says nothing about this one."""
    store.create(ann())
    with pytest.raises(UnknownField, match="another class"):
        store.update(ANN, Other.level.set("deep"))
    with pytest.raises(QueryError, match="of another class"):
        store.update(ANN, Player.level.set(1), when=Other.level.does_not_exist())
    with pytest.raises(QueryError, match="of another class"):
        Player.by_level().where(Other.level == "deep")
    for unfit in (True, "x", Player.level):
        with pytest.raises(QueryError, match="wanted a condition"):
            store.put(ann(), when=unfit)  # type: ignore[call-overload]  # the mistake this is about
    assert store.one(ANN) == ann()


def test_a_choice_is_not_added_to() -> None:
    """A member's number plus one is no member."""
    with pytest.raises(FieldValueError, match="add"):
        Player.grade.add(1)  # type: ignore[arg-type, misc, call-overload, unused-ignore]  # the mistake this is about


class Other(Entity, table=place, tag="other"):
    """Another kind with a field of the same name."""

    oid: Field[str]
    level: Field[str]

    key = Key(pk="#O#{oid}", sk="#O")


class Numbered(Entity, table=place, tag="numbered"):
    """Numbered by its sort key."""

    owner: Field[str]
    number: Field[int] = AutoIncrement()

    key = Key(pk="#N#{owner}", sk="#N#{number}")


def test_a_new_number_has_no_item_to_judge(store: Store) -> None:
    """A condition with a number still to be drawn is refused, not ignored."""
    with pytest.raises(UsageError, match="a new number has no item"):
        store.put(Numbered(owner="o"), when=Numbered.owner == "x")
    assert store.count(Numbered.key(owner="o")) == 0


def test_a_count_leaves_foreign_rows_out(store: Store) -> None:
    """A row of another program in the range is neither given nor counted."""
    store.create(ann())
    write(store, {"PK": {"S": "#P#ann"}, "SK": {"S": "#P"}, **to_item(ann())})
    write(store, {"PK": {"S": "#N#o"}, "SK": {"S": "#N#0000000000000000001"}, "_et": {"S": "strange"}})
    assert (store.query(Numbered.key(owner="o")).all(), store.count(Numbered.key(owner="o"))) == ([], 0)


def test_a_write_that_cannot_be_read_says_it_happened(store: Store) -> None:
    """Deleting or updating an item that cannot be read is told apart from one that did not happen."""
    write(store, {**to_item(ann()), "team": {"N": "5"}})
    with pytest.raises(CorruptItem, match="the item was updated, and cannot be read"):
        store.update(ANN, Player.grade.set(2))
    with pytest.raises(ConditionFailed) as failed:
        store.put(ann(), when=Player.a == "other")
    assert failed.value.current is None
    with pytest.raises(CorruptItem, match="the item was deleted, and cannot be read"):
        store.delete(ANN)
    assert item_at(store, ANN) is None


def test_keys_of_other_programs_survive(store: Store) -> None:
    """Index attributes this class does not write stay where they are on a read and a write."""
    other = Other(oid="1", level="deep")
    theirs = {"numbersPK": {"S": "theirs"}, "numbersSK": {"S": "too"}}
    write(store, {**to_item(other), **theirs})
    store.put(evolve(store.one(Other.at(oid="1")), level="deeper"))
    item = item_at(store, Other.at(oid="1"))
    assert item is not None
    assert {name: item[name] for name in theirs} == theirs
