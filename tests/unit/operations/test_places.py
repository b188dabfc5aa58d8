"""Places: every key of an entity has one, which gives the key back, and nothing that the query gives stands in it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from singletable import BadCursor, Entity, Field, GlobalIndex, Key, LocalIndex, Scan, Table, to_item
from singletable.operations.places import frame_of, key_at, key_in, place_of
from tests.unit.operations.scripted import Book, Branch, Numbered, Row, world

gsi = GlobalIndex("GSI1")
lsi = LocalIndex("LSI1")
ranks = GlobalIndex("ranks", pk="league", sk=(("goals", int), "team"))
inverted = GlobalIndex("inverted", pk="SK", sk="PK")
zoo = Table("zoo", indexes=[gsi, lsi, ranks, inverted])
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Animal(Entity, table=zoo):
    house: Field[str]
    name: Field[str]


class Cat(Animal, tag="cat", aliases=["feline"]):
    lives: Field[int] = Field(default=9)

    key = Key(pk="#HOUSE#{house}", sk="#CAT#{name}")
    by_lives = Key(on=gsi, pk="#CATS#{house}", sk="#{lives:desc}#{name}")


class Dog(Animal, tag="dog"):
    seen: Field[datetime] = Field(default=NOON)
    city: Field[str | None] = Field(default=None)

    key = Key(pk="#HOUSE#{house}", sk="#DOG#{name}")
    by_city = Key(on=lsi, sk="#SEEN#{seen}#CITY#{city?}")
    reversed = Key(on=inverted)


class Team(Entity, table=zoo, tag="team"):
    league: Field[str]
    team: Field[str]
    goals: Field[int]
    pot: Field[Decimal] = Field(default=Decimal("1.5"))

    key = Key(pk="#TEAM#{league}#{team}", sk="#POT#{pot}")
    by_goals = Key(on=ranks, pk=("league",), sk=("goals", "team"))


PLACES: list[tuple[Any, Entity, tuple[str | None, ...]]] = [
    (Book.key(shelf="a"), Book(shelf="a", title="b c"), ("", "b%20c")),
    (Book.by_state(shelf="a"), Book(shelf="a", title="x", state="IN"), ("", "IN", "x")),
    (Scan(Book), Book(shelf="a", title="x"), ("", "a", "x")),
    (Branch.key(country="CN"), Branch(country="CN", path=("A", "B")), ("", "#A#B")),
    (Branch.key(country="CN"), Branch(country="CN", path=()), ("", "")),
    (Row.key(a="x"), Row(a="x"), ("",)),
    (Scan(Row), Row(a="x y"), ("", "x y")),
    (Scan(Numbered), Numbered(id=-42), ("", "-42")),
    (Dog.by_city(house="h"), Dog(house="h", name="Rex"), ("", "2026-12-01T12:00:00.000000Z", None, "Rex")),
    (Dog.by_city(house="h"), Dog(house="h", name="Rex", city="B"), ("", "2026-12-01T12:00:00.000000Z", "B", "Rex")),
    (Dog.reversed(name="Rex"), Dog(house="h", name="Rex"), ("", "h")),
    (Team.by_goals(league="L"), Team(league="L", team="T", goals=12), ("", "12", "T", "80000000000000000001%5")),
    (Scan(Animal), Cat(house="h", name="Tom"), ("cat", "h", "Tom")),
]


@pytest.mark.parametrize(("source", "entity", "place"), PLACES[:11] + PLACES[12:], ids=lambda each: repr(each)[:30])
def test_a_place_holds_what_the_query_does_not_give(source: Any, entity: Entity, place: tuple[str | None, ...]) -> None:
    """The texts of the parts as they stand in the keys; the key comes back from them."""
    frame = frame_of(world(), source)
    key = key_in(frame, to_item(entity))
    assert place_of(frame, key) == place
    assert key_at(frame, place) == key


def test_native_attributes_of_an_index() -> None:
    """Fields that are key attributes themselves are parts like others."""
    source, entity, place = PLACES[11]
    frame = frame_of(world(), source)
    made = place_of(frame, key_in(frame, to_item(entity)))
    assert made is not None
    assert made[:3] == place[:3]
    assert key_at(frame, made) == key_in(frame, to_item(entity))


def test_kinds_are_named_where_there_are_several() -> None:
    """A place of one of several kinds says which, by its tag or by one that it had."""
    frame = frame_of(world(), Scan(Animal))
    assert key_at(frame, ("cat", "h", "Tom")) == key_at(frame, ("feline", "h", "Tom"))
    for place in (("", "h", "Tom"), ("lion", "h", "Tom"), ("dog", "h"), ("dog", "h", "")):
        with pytest.raises(BadCursor, match="position"):
            key_at(frame, place)


def test_a_strangers_key_has_no_place() -> None:
    """Other templates, hidden keys and index keys that contradict the table's are nobody's."""
    frame = frame_of(world(), Cat.by_lives(house="h"))
    item = to_item(Cat(house="h", name="Tom"))
    assert place_of(frame, key_in(frame, item)) is not None
    for other in ({"SK": {"S": "!SEQ#cat.n"}}, {"SK": {"S": "#CAT#Tim"}}, {"GSI1SK": {"S": "#9#Tom"}}):
        assert place_of(frame, key_in(frame, item | other)) is None
