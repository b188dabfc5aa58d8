"""What an index may be declared with: projections, and DynamoDB's quotas."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import (
    AutoIncrement,
    DeclarationError,
    Entity,
    Field,
    FieldNotLoaded,
    GlobalIndex,
    IndexWarning,
    Key,
    LocalIndex,
    Store,
    Table,
    UsageError,
    evolve,
    to_dict,
)
from singletable.operations.query import Count, ReadPage, request
from singletable.schema import kinds_of, model_of
from tests.unit.operations.scripted import Script, world

INDEXES: Any = [GlobalIndex, LocalIndex]


@pytest.mark.parametrize("kind", INDEXES)
@pytest.mark.parametrize(
    ("given", "wanted"),
    [("key", "str"), ("", "empty str"), (None, "None"), ({"a"}, "set"), ([1], "int"), (["a[0]"], "brackets")],
)
def test_a_projection_is_a_word_or_names(kind: Any, given: Any, wanted: str) -> None:
    """Any other word, a single name and what names no attribute are refused, with what was given."""
    with pytest.raises(DeclarationError, match=wanted):
        kind("one", projection=given)


def test_an_index_names_twenty_attributes_and_a_table_a_hundred() -> None:
    """The tag counts; the table's and the index's own keys do not, and a name counts once an index."""
    names = [f"a{n}" for n in range(19)]
    full = [GlobalIndex(f"i{n}.", projection=[*names, "PK", f"i{n}.PK", "a0"]) for n in range(5)]
    assert sum(len(Table("tab", indexes=full).named_by(each)) for each in full) == 100
    with pytest.raises(DeclarationError, match="'one' names 21 attributes"):
        Table("tab", indexes=[GlobalIndex("one", projection=[*names, "b"])])
    with pytest.raises(DeclarationError, match="name 102 attributes"):
        Table("tab", indexes=[*full, LocalIndex("loc", projection=["a"])])
    Table("tab", tag=None, indexes=[GlobalIndex("one", projection=[*names, "b"])])


def test_no_name_at_all() -> None:
    """An empty list holds the tag; where there is none, it holds keys alone and should say so."""
    one = GlobalIndex("one", projection=[])
    assert Table("tab", indexes=[one]).named_by(one) == ("_et",)
    with pytest.raises(DeclarationError, match="names no attribute") as caught:
        Table("tab", tag=None, indexes=[one])
    assert 'projection="keys"' in caught.value.hint


def test_more_than_twenty_global_indexes_warn() -> None:
    """AWS raises that quota on request, so it is a warning; five local ones are fixed."""
    many = [GlobalIndex(f"gsi{n}") for n in range(21)]
    Table("tab", indexes=many[:20])
    with pytest.warns(IndexWarning, match="21 global indexes") as caught:
        Table("tab", indexes=many)
    assert caught[0].filename == __file__
    with pytest.raises(DeclarationError, match="more than 5 local"):
        Table("tab", indexes=[LocalIndex(f"lsi{n}") for n in range(6)])


def test_tombstones_need_a_tag_in_an_index_of_table_keys() -> None:
    """An inverted index of keys alone could not tell a deleted item from a live one."""
    cases: list[tuple[Any, str]] = [("keys", "never"), ([], "never"), ("keys", "allow")]
    for projection, reuse in cases:
        refused = projection == "keys" and reuse == "never"
        inverted = GlobalIndex("inverted", pk="SK", sk="PK", projection=projection)
        table = Table("tab", indexes=[inverted])

        def declare(table: Table, inverted: GlobalIndex, reuse: Any) -> type[Entity]:
            class Item(Entity, table=table, tag="item"):
                owner: Field[str]
                n: Field[int] = AutoIncrement(reuse=reuse)
                key = Key(pk="#O#{owner}", sk="#ITEM#{n}")
                turned = Key(on=inverted)

            return Item

        if refused:
            with pytest.raises(DeclarationError, match="tombstones") as caught:
                declare(table, inverted, reuse)
            assert "projection=[]" in caught.value.hint
        else:
            assert declare(table, inverted, reuse)


keys = GlobalIndex("keys", projection="keys")
shelf = LocalIndex("shelf", projection=["size"])
attic = Table("attic", indexes=[keys, shelf])


class Stored(Entity, table=attic):
    """What is stored; each kind has a key of its own."""

    room: Field[str]
    size: Field[int] = Field(default=0)
    note: Field[str | None] = Field(default=None)
    by_room = Key(on=keys, pk="#ROOM#{room}", sk="#{size}")


class Box(Stored, tag="box"):
    """A box."""

    box: Field[str]
    key = Key(pk="#BOX#{box}", sk="#BOX")
    by_note = Key(on=shelf, sk="#NOTE#{note}")


class Bag(Stored, tag="bag"):
    """A bag."""

    bag: Field[str]
    key = Key(pk="#BAG#{bag}", sk="#BAG")


ROW = {"PK": {"S": "#BOX#b"}, "SK": {"S": "#BOX"}, "keysPK": {"S": "#ROOM#r"}, "keysSK": {"S": f"#{7:019d}"}}
BAG = {**ROW, "PK": {"S": "#BAG#b"}, "SK": {"S": "#BAG"}}
HIDDEN = {**ROW, "PK": {"S": "#!UNIQUE#x"}, "SK": {"S": "!"}}


def test_no_tag_is_sent_where_there_is_none() -> None:
    """A filter on the tag would find nothing; the rows are looked at, also to count them."""
    query = Box.by_room(room="r")
    params = request(world(), query)
    assert params is not None
    assert not params.keys() & {"FilterExpression", "ProjectionExpression", "Select"}
    answer = {"Items": [ROW, BAG, HIDDEN]}
    (found,) = Script(answer).run(ReadPage(query).steps(world())).entities
    assert to_dict(found) == {"box": "b", "room": "r", "size": 7}
    assert Script(answer).run(Count(query).steps(world())) == 1


def test_the_kinds_of_a_base_are_told_by_their_keys() -> None:
    """A query of the base gives each row as its own class, with the fields its own key has."""
    (box, bag) = Script({"Items": [ROW, BAG]}).run(ReadPage(Stored.by_room(room="r")).steps(world())).entities
    assert (type(box), type(bag)) == (Box, Bag)
    assert [model.name for model in kinds_of(Stored)] == ["Box", "Bag"]
    assert to_dict(bag) == {"bag": "b", "room": "r", "size": 7}


def test_a_tag_that_is_there_is_believed() -> None:
    """Where the live index holds more than was declared, a row of another tag is not taken for its key's."""
    row = {**ROW, "_et": {"S": "other"}}
    assert Script({"Items": [row]}).run(ReadPage(Box.by_room(room="r")).steps(world())).entities == ()


def test_only_asks_an_index_for_what_it_holds() -> None:
    """Of a global index nothing else is named; a local one is asked for the tag too where the table is read anyway."""
    assert named(Box.by_room(room="r").only(Box.size)) == {"PK", "SK", "keysPK", "keysSK"}
    local = frozenset({"PK", "SK", "shelfSK", "_et", "size"})
    assert model_of(Box).indexes["by_note"].held == local
    assert named(Box.by_note(box="b").only(Box.size)) == local
    assert named(Box.by_note(box="b").only(Box.room)) == {*local - {"size"}, "box", "room", "keysPK", "keysSK"}


def named(query: Any) -> set[str]:
    """Name the attributes that a query fetches, but for those it only finds by."""
    params = request(world(), query)
    assert params is not None
    names = params["ExpressionAttributeNames"]
    return {names[each] for each in params["ProjectionExpression"].split(", ")}


def test_a_part_that_is_evolved_stays_a_part() -> None:
    """What the index did not hold is still not there."""
    (found,) = Script({"Items": [ROW]}).run(ReadPage(Box.by_room(room="r")).steps(world())).entities
    with pytest.raises(FieldNotLoaded, match=r"Box\.note"):
        _ = evolve(found, size=8).note


def test_only_a_declared_global_index_is_added() -> None:
    """A local index is refused with the reason, one of another table, and what is no index or no time."""
    store: Any = Store(attic)
    for given, words in (
        (shelf, "with their table alone"),
        (GlobalIndex("keys"), "does not declare"),
        ("keys", "str"),
    ):
        with pytest.raises(UsageError, match=words):
            store.add_index(given)
    for seconds in (0, -1, True, "60"):
        with pytest.raises(UsageError, match=r"timeout="):
            store.add_index(keys, timeout=seconds)
