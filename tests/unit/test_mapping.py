"""Entities to items and back: what is absent, what is kept, and whose item it is."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import CorruptItem, FieldValueError, ForeignItem, ItemTooLarge, KeyPartError, NumberNotAssigned
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.indexes import GlobalIndex
from singletable.mapping import from_item, kind_of_item, mapper_of, to_item
from singletable.patterns import Key
from singletable.schema import Table, model_of

gsi1 = GlobalIndex("GSI1")
table = Table("mapping", indexes=[gsi1])


class Thing(Entity, table=table, tag="thing", aliases=["object"]):
    box: Field[str]
    number: Field[int]
    note: Field[str | None] = Field(default="dear")
    label: Field[str] = Field(default="none", name="l")
    tags: Field[set[str]] = Field(default_factory=lambda: {"new"})
    price: Field[Decimal] = Field(default_factory=lambda: Decimal(5))
    city: Field[str | None] = Field(default=None)
    seen: Field[datetime | None] = Field(default=None)

    key = Key(pk="#BOX#{box}", sk="#THING#{number}")
    by_city = Key(on=gsi1, pk="#CITY#{city}", sk="#{seen}")


class Numbered(Entity, table=table, tag="numbered"):
    box: Field[str]
    number: Field[int] = AutoIncrement()

    key = Key(pk="#BOX#{box}", sk="#NUMBERED#{number}")


KEY: dict[str, Any] = {"PK": {"S": "#BOX#b"}, "SK": {"S": "#THING#0000000000000000007"}}
BARE: dict[str, Any] = {**KEY, "_et": {"S": "thing"}}
SEEN = datetime(2026, 1, 2, tzinfo=UTC)


class TestEncode:
    def test_a_whole_item(self) -> None:
        """An item has the tag, every value under its stored name, and the keys of both table and index."""
        made = Thing(
            box="b",
            number=7,
            note="n",
            label="l",
            tags={"t"},
            price=Decimal("1.50"),
            city="x y",
            seen=SEEN,
        )
        assert to_item(made) == {
            **BARE,
            "box": {"S": "b"},
            "number": {"N": "7"},
            "note": {"S": "n"},
            "l": {"S": "l"},
            "tags": {"SS": ["t"]},
            "price": {"N": "1.5"},
            "city": {"S": "x y"},
            "seen": {"S": "2026-01-02T00:00:00.000000Z"},
            "GSI1PK": {"S": "#CITY#x%20y"},
            "GSI1SK": {"S": "#2026-01-02T00:00:00.000000Z"},
        }

    def test_absent_is_absent(self) -> None:
        """None and empty sets are no attributes; empty text and zero are values."""
        item = to_item(Thing(box="b", number=0, note=None, label="", tags=set(), price=Decimal(0)))
        assert item.keys() == {"PK", "SK", "_et", "box", "number", "l", "price"}
        assert (item["number"], item["l"], item["price"]) == ({"N": "0"}, {"S": ""}, {"N": "0"})

    @pytest.mark.parametrize("parts", [{"city": "x"}, {"seen": SEEN}])
    def test_a_sparse_index_is_all_or_nothing(self, parts: dict[str, Any]) -> None:
        """With one part of an index key absent neither of its attributes is written."""
        item = to_item(Thing(box="b", number=7, **parts))
        assert "GSI1PK" not in item
        assert "GSI1SK" not in item

    def test_what_does_not_fit(self) -> None:
        """A field's value, a key part and a number that is missing are each refused by name."""
        with pytest.raises(FieldValueError, match=r"'Thing\.number'"):
            to_item(Thing(box="b", number=True))
        with pytest.raises(KeyPartError, match="'box'"):
            to_item(Thing(box="", number=7))
        with pytest.raises(NumberNotAssigned, match=r"Numbered\.number"):
            to_item(Numbered(box="b"))

    def test_too_large(self) -> None:
        """An item over 400 KB is refused with both sizes."""
        with pytest.raises(ItemTooLarge) as caught:
            to_item(Thing(box="b", number=7, note="x" * 409_600))
        assert caught.value.size > caught.value.limit == 409_600


class TestAbsent:
    def test_what_an_absent_attribute_means(self) -> None:
        """Key parts come from the key, None and the empty set from absence, all others from their defaults."""
        found = from_item(Thing, BARE)
        assert (found.box, found.number) == ("b", 7)
        assert (found.note, found.tags) == (None, set())
        assert (found.label, found.price) == ("none", Decimal(5))

    def test_what_is_written_comes_back(self) -> None:
        """None and an empty set survive a round trip, though the fields have other defaults."""
        made = Thing(box="b", number=7, note=None, tags=set())
        assert from_item(Thing, to_item(made)) == made

    def test_null_is_none(self) -> None:
        """A stored NULL reads as None where None can be, and is corrupt where it cannot."""
        assert from_item(Thing, {**BARE, "note": {"NULL": True}}).note is None
        with pytest.raises(CorruptItem, match="'label'"):
            from_item(Thing, {**BARE, "l": {"NULL": True}})

    def test_a_value_is_read_out_of_an_index_key(self) -> None:
        """A value whose attribute is absent is read out of any key that holds it."""
        item = {**BARE, "GSI1PK": {"S": "#CITY#x%20y"}, "GSI1SK": {"S": "#2026-01-02T00:00:00.000000Z"}}
        found = from_item(Thing, item)
        assert (found.city, found.seen) == ("x y", SEEN)

    def test_without_default_it_is_corrupt(self) -> None:
        """A value that must be there and is nowhere is named."""

        class Strict(Entity, table=Table("tab"), tag="strict"):
            name: Field[str]
            size: Field[int]

            key = Key(pk="#S#{name}", sk="#A")

        with pytest.raises(CorruptItem, match="'size'") as caught:
            from_item(Strict, {"PK": {"S": "#S#x"}, "SK": {"S": "#A"}, "_et": {"S": "strict"}})
        assert (caught.value.entity, caught.value.field) == ("Strict", "size")


class TestKept:
    def test_unknown_attributes_survive(self) -> None:
        """Attributes that no field knows, and the create id, ride along through a read and a write."""
        more: dict[str, Any] = {
            "colour": {"S": "red"},
            "_c": {"S": "id"},
            "deep": {"M": {"a": {"L": [{"NULL": True}]}}},
        }
        item = {**to_item(Thing(box="b", number=7)), **more}
        assert to_item(from_item(Thing, item)) == item

    def test_an_old_index_key_does_not(self) -> None:
        """Key attributes are always written from the values: a stale one goes."""
        stale = {**BARE, "GSI1PK": {"S": "#OTHER"}, "GSI1SK": {"S": "#KEY"}}
        assert "GSI1PK" not in to_item(from_item(Thing, stale))

    def test_an_alias_becomes_the_tag(self) -> None:
        """An item under an older tag is written under the present one."""
        assert to_item(from_item(Thing, {**BARE, "_et": {"S": "object"}}))["_et"] == {"S": "thing"}


class TestCorrupt:
    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"number": {"N": "8"}}, "SK"),
            ({"box": {"S": "c"}}, "PK"),
            ({"box": {"S": ""}}, "box"),
            ({"number": {"S": "7"}}, "number"),
            ({"number": {"N": "7.5"}}, "number"),
            ({"price": {"S": "5"}}, "price"),
            ({"tags": {"L": []}}, "tags"),
            ({"seen": {"S": "yesterday"}}, "seen"),
            ({"SK": {"S": "#THING#7"}, "box": {"S": "b"}}, "number"),
            ({"SK": {"S": "#THING#7"}, "box": {"S": "b"}, "number": {"N": "7"}}, "SK"),
            ({"PK": {"S": "#BOX#b%2f"}}, "box"),
            ({"SK": {"N": "7"}, "box": {"S": "b"}}, "number"),
        ],
    )
    def test_an_item_that_contradicts_itself(self, change: dict[str, Any], field: str) -> None:
        """What cannot be read, and what differs from its key, is named."""
        with pytest.raises(CorruptItem) as caught:
            from_item(Thing, {**BARE, **change})
        assert caught.value.field == field
        assert caught.value.hint

    def test_no_value_is_shown(self) -> None:
        """The message of a corrupt item holds nothing of its values."""
        with pytest.raises(CorruptItem) as caught:
            from_item(Thing, {**BARE, "seen": {"S": "secret"}})
        assert "secret" not in str(caught.value)


class TestWhose:
    @pytest.mark.parametrize(
        ("tag", "kind"),
        [
            ({"S": "thing"}, "own"),
            ({"S": "object"}, "own"),
            ({"S": "!gone"}, "gone"),
            ({"S": "Thing"}, "foreign"),
            ({"S": "!seq"}, "foreign"),
            ({"N": "1"}, "foreign"),
            (None, "foreign"),
        ],
    )
    def test_the_tag_tells(self, tag: dict[str, str] | None, kind: str) -> None:
        """Own tags are own, `!gone` is a tombstone, and any other, or none, is another's."""
        item = KEY if tag is None else {**KEY, "_et": tag}
        assert kind_of_item(model_of(Thing), item) == kind

    def test_another_entitys_item(self) -> None:
        """Reading another's item is an error that names its tag; one without tag says so."""
        with pytest.raises(ForeignItem, match="'other'") as caught:
            from_item(Thing, {**KEY, "_et": {"S": "other"}})
        assert caught.value.found == "other"
        with pytest.raises(ForeignItem, match="without tag") as caught:
            from_item(Thing, KEY)
        assert caught.value.found is None

    def test_looking_up(self) -> None:
        """A look-up gives None for nothing and for a tombstone, the entity for its own, an error for another's."""
        mapper = mapper_of(Thing)
        assert mapper.read(None) is None
        assert mapper.read({**KEY, "_et": {"S": "!gone"}}) is None
        assert mapper.read(BARE) == from_item(Thing, BARE)
        with pytest.raises(ForeignItem):
            mapper.read(KEY)

    def test_untagged_rows_are_read_by_their_key(self) -> None:
        """With `untagged="by_key"` a row without tag is the entity's where its key is; a tag still decides."""

        class Row(Entity, table=Table("tab", untagged="by_key"), tag="row"):
            name: Field[str]

            key = Key(pk="#ROW#{name}", sk="#A")

        key: dict[str, Any] = {"PK": {"S": "#ROW#x"}, "SK": {"S": "#A"}}
        assert from_item(Row, key) == Row(name="x")
        for other in ({**key, "SK": {"S": "#B"}}, {**key, "_et": {"S": "other"}}):
            with pytest.raises(ForeignItem):
                from_item(Row, other)

    def test_without_tag_the_key_tells(self) -> None:
        """In a table without tag an item has none, and is the entity's where its key fits."""

        class Row(Entity, table=Table("tab", tag=None)):
            name: Field[str]

            key = Key(pk="#ROW#{name}", sk="#A")

        assert to_item(Row(name="x")) == {"PK": {"S": "#ROW#x"}, "SK": {"S": "#A"}, "name": {"S": "x"}}
        with pytest.raises(ForeignItem):
            from_item(Row, {"PK": {"S": "#COLUMN#x"}, "SK": {"S": "#A"}})


class TestPlainKeys:
    def test_a_field_that_is_the_sort_key(self) -> None:
        """A field called as the numeric key attribute is stored once, there."""

        class Reading(Entity, table=Table("tab", pk="sensor", sk=("at", Decimal), tag=None)):
            sensor: Field[str]
            at_: Field[Decimal] = Field(name="at")
            value: Field[int]

            key = Key(pk="{sensor}", sk="{at_}", raw=True)

        made = Reading(sensor="s 1", at_=Decimal("1.50"), value=3)
        item = {"sensor": {"S": "s 1"}, "at": {"N": "1.5"}, "value": {"N": "3"}}
        assert to_item(made) == item
        assert from_item(Reading, item) == made

    def test_a_key_that_is_nothing_but_a_part(self) -> None:
        """Beside a raw text key a number is stored as a number, and both must agree."""

        class Parcel(Entity, table=Table("tab", pk="pk", sk=None, tag=None)):
            order_id: Field[int]

            key = Key(pk="{order_id}", raw=True)

        assert to_item(Parcel(order_id=7)) == {"pk": {"S": "7"}, "order_id": {"N": "7"}}
        assert from_item(Parcel, {"pk": {"S": "7"}}) == Parcel(order_id=7)
        with pytest.raises(CorruptItem):
            from_item(Parcel, {"pk": {"S": "7"}, "order_id": {"N": "8"}})


class TestBeforeNumbers:
    def test_a_good_entity_passes(self) -> None:
        """What could be stored once its number is drawn passes."""
        mapper_of(Numbered).check(Numbered(box="b"))
        mapper_of(Numbered).check(Numbered(box="b", number=7))

    def test_a_bad_one_does_not(self) -> None:
        """What could not be stored under any number is refused as it would be then."""
        with pytest.raises(KeyPartError, match="'box'"):
            mapper_of(Numbered).check(Numbered(box=""))


def test_a_mapper_is_compiled_once() -> None:
    """The mapper of a class is one object, and a subclass has its own."""

    class Base(Entity):
        name: Field[str]

    class One(Base, table=Table("tab"), tag="one"):
        key = Key(pk="#ONE#{name}", sk="#A")

    class Two(Base, table=Table("tab"), tag="two"):
        key = Key(pk="#TWO#{name}", sk="#A")

    assert mapper_of(One) is mapper_of(One)
    assert to_item(One(name="x"))["PK"] == {"S": "#ONE#x"}
    assert to_item(Two(name="x"))["PK"] == {"S": "#TWO#x"}
