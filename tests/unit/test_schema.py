"""Tables, indexes and keys: what they are declared with, and how a key stands in them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Self

import pytest

from singletable.entity import Entity
from singletable.errors import DeclarationError, TemplateError, UsageError
from singletable.fields import Field
from singletable.indexes import GlobalIndex
from singletable.mapping import from_item, to_item
from singletable.patterns import Key, pattern
from singletable.queries import Query
from singletable.schema import Table, model_of

gsi1 = GlobalIndex("GSI1")
table = Table("schema", indexes=[gsi1])


class Order(Entity, table=table, tag="order"):
    user_id: Field[str]
    number: Field[int]
    status: Field[str] = Field(default="")

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{number}")
    by_status = Key(on=gsi1, pk="#STATUS#{status}", sk="#{number}")

    @classmethod
    @pattern
    def open(cls, user_id: str) -> Query[Self]:
        """A user's orders."""
        return cls.key(user_id=user_id)


class Line(Entity, table=table, tag="line"):
    user_id: Field[str]
    number: Field[int]
    line: Field[int]

    key = Key(within=Order.key, sk="#LINE#{line}")


class Part(Entity, table=table, tag="part"):
    user_id: Field[str]
    number: Field[int]
    line: Field[int]
    part: Field[str]

    key = Key(within=Line.key, sk="#PART#{part}")


class TestTable:
    def test_the_usual_names(self) -> None:
        """Key attributes are PK and SK, the tag is `_et`, an index is named after itself."""
        assert [(column.name, column.attribute_type) for column in table.columns] == [
            ("PK", "S"),
            ("SK", "S"),
            ("GSI1PK", "S"),
            ("GSI1SK", "S"),
        ]
        assert (table.tag, table.untagged) == ("_et", None)

    def test_other_names_and_types(self) -> None:
        """Key attributes can have any name, and a number as their type."""
        made = Table("tab", pk="id", sk=("at", Decimal), indexes=[GlobalIndex("byAge", pk="kind", sk=("age", int))])
        assert [(column.name, column.attribute_type) for column in made.columns] == [
            ("id", "S"),
            ("at", "N"),
            ("kind", "S"),
            ("age", "N"),
        ]

    def test_an_inverted_index(self) -> None:
        """An index over the table's own key attributes adds none."""
        made = Table("tab", indexes=[GlobalIndex("inverted", pk="SK", sk="PK")])
        assert [column.name for column in made.columns] == ["PK", "SK"]

    def test_without_tag_kinds_are_told_by_key(self) -> None:
        """A table without tag reads its rows by their keys."""
        assert Table("tab", tag=None).untagged == "by_key"

    @pytest.mark.parametrize("key", ["", ("id",), 7, ("id", float)])
    def test_a_key_attribute_that_cannot_be(self, key: Any) -> None:
        """A key attribute is a name, or a name with a number type."""
        with pytest.raises(DeclarationError, match="key attribute"):
            Table("tab", pk=key)

    def test_one_name_for_both(self) -> None:
        """Partition and sort key have different names."""
        with pytest.raises(DeclarationError, match="both called 'id'"):
            Table("tab", pk="id", sk="id")

    def test_one_name_for_two_indexes(self) -> None:
        """Two indexes of one name are refused."""
        with pytest.raises(DeclarationError, match="two indexes"):
            Table("tab", indexes=[GlobalIndex("GSI1"), GlobalIndex("GSI1", pk="a", sk="b")])

    def test_one_name_for_two_types(self) -> None:
        """A key attribute has one type, in the table and in every index."""
        with pytest.raises(DeclarationError, match="'at' is a number in one key and text in another"):
            Table("tab", sk=("at", int), indexes=[GlobalIndex("byAt", pk="kind", sk="at")])

    def test_an_index_name_too_short(self) -> None:
        """DynamoDB wants three characters at least."""
        with pytest.raises(DeclarationError, match="cannot be the name of an index"):
            GlobalIndex("G1")

    def test_another_way_to_read_untagged_rows(self) -> None:
        """`untagged` is None or "by_key"."""
        with pytest.raises(DeclarationError, match="by_key"):
            Table("tab", untagged="always")  # type: ignore[arg-type]

    def test_their_texts(self) -> None:
        """A table names its entities, an index its key attributes."""
        assert repr(table) == "<Table schema: Line, Order, Part>"
        assert repr(gsi1) == "<GlobalIndex GSI1: GSI1PK, GSI1SK>"


class TestKey:
    def test_it_is_bound_to_its_class(self) -> None:
        """On the class a key makes queries and knows its layout; on an instance it is not there."""
        assert Order.key.layout.names == ("PK", "SK")
        assert Order.by_status.layout.index == "GSI1"
        assert Order.by_status(status="x").entity is Order
        assert repr(Order.by_status) == "<Order.by_status #STATUS#{status} / #{number}>"
        with pytest.raises(AttributeError, match=r"Order\.key"):
            _ = Order(user_id="u", number=1).key  # type: ignore[arg-type]

    def test_within_stands_below_its_parent(self) -> None:
        """A child's key is its parent's partition and sort key with its own label after it, any depth."""
        assert Part.at(user_id="u", number=1, line=2, part="p").key == {
            "PK": {"S": "#USER#u"},
            "SK": {"S": "#ORDER#0000000000000000001#LINE#0000000000000000002#PART#p"},
        }

    def test_a_family_shares_its_root(self) -> None:
        """Children and grandchildren belong to the family of the first ancestor."""
        families = {id(model_of(each).family) for each in (Order, Line, Part)}
        assert len(families) == 1

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"within": Order.key, "pk": "#A", "sk": "#B"}, "from the parent"),
            ({"within": Order.key, "sk": "#B", "on": gsi1}, "from the parent"),
            ({"within": Order.key}, "sk= of its own"),
            ({"within": Order.by_status, "sk": "#B"}, "primary key of an entity"),
            ({"within": Order.key, "sk": "LINE"}, "does not begin with '#'"),
            ({"sk": "#A"}, "no partition key template"),
            ({"pk": ""}, "no partition key template"),
        ],
    )
    def test_a_key_that_cannot_be(self, options: dict[str, Any], words: str) -> None:
        """A key needs a partition key template, or a parent and a sort key template of its own."""
        with pytest.raises(TemplateError, match=words):
            Key(**options)

    @pytest.mark.parametrize(
        ("shape", "key", "words"),
        [
            ({"sk": None}, {"pk": "#A#{name}", "sk": "#B"}, "has no sort key"),
            ({}, {"pk": "#A#{name}"}, "has a sort key"),
            ({}, {"pk": "#A#{nmae}", "sk": "#B"}, "did you mean 'name'"),
            ({}, {"pk": "#A#{number}", "sk": "#B#{name*}"}, "spreads a tuple"),
            ({}, {"pk": "#A#{name*}", "sk": "#B"}, "a query needs every part of a partition key"),
            ({"sk": ("sk", int)}, {"pk": "#A#{name}", "sk": "#B#{number}"}, "is a number"),
            ({"sk": ("sk", int)}, {"pk": "#A#{name}", "sk": "{name}"}, "is a number"),
            ({"sk": ("sk", int)}, {"pk": "#A#{name}", "sk": "#B"}, "is a number"),
            ({}, {"pk": "#A#{size}", "sk": "#B"}, "float"),
            ({}, {"pk": "#A#{name:03}", "sk": "#B"}, "width"),
        ],
    )
    def test_a_key_that_does_not_fit(self, shape: dict[str, Any], key: dict[str, Any], words: str) -> None:
        """A template that does not fit the table or the fields is refused in the class statement."""
        with pytest.raises(DeclarationError, match=words):

            class Made(Entity, table=Table("tab", **shape), tag="made"):  # pyright: ignore[reportUnusedClass]
                name: Field[str]
                number: Field[int]
                size: Field[float]

                key_ = Key(**key)


class TestPlaces:
    def test_a_native_number(self) -> None:
        """A numeric sort key holds the number as it is, and may be the field itself."""

        class Project(Entity, table=Table("tab", pk="pk", sk=("sk", int)), tag="project"):
            team: Field[str]
            sk: Field[int]

            key = Key(pk="#TEAM#{team}", sk="{sk}")

        item = to_item(Project(team="t", sk=-7))
        assert item == {"pk": {"S": "#TEAM#t"}, "sk": {"N": "-7"}, "_et": {"S": "project"}, "team": {"S": "t"}}
        assert from_item(Project, item) == Project(team="t", sk=-7)

    def test_a_raw_key(self) -> None:
        """A raw key holds values as they are; the field may be the key attribute itself."""

        class Row(Entity, table=Table("tab", pk="id", sk=None, tag=None)):
            id: Field[str]

            key = Key(pk="{id}", raw=True)

        assert to_item(Row(id="a b%")) == {"id": {"S": "a b%"}}
        assert from_item(Row, {"id": {"S": "a b%"}}) == Row(id="a b%")

    def test_raw_is_inherited_within(self) -> None:
        """What stands below a raw key is raw."""

        class Top(Entity, table=Table("tab"), tag="top"):
            name: Field[str]
            number: Field[int]

            key = Key(pk="T#{name}", sk="N#{number}", raw=True)

        class Below(Entity, table=Top.__table__, tag="below"):
            name: Field[str]
            number: Field[int]
            line: Field[int]

            key = Key(within=Top.key, sk="#L#{line}")

        assert Below.at(name="a b", number=7, line=3).key == {"PK": {"S": "T#a b"}, "SK": {"S": "N#7#L#3"}}

    def test_a_number_in_a_text_key_is_not_the_field_itself(self) -> None:
        """A field stored as a number cannot be the text key attribute."""
        with pytest.raises(DeclarationError, match="'id'"):

            class Row(Entity, table=Table("tab", pk="id", sk=None, tag=None)):  # pyright: ignore[reportUnusedClass]
                id: Field[int]

                key = Key(pk="{id}", raw=True)


class TestModel:
    def test_what_a_class_amounts_to(self) -> None:
        """A model has the fields in order, the layouts and the access patterns."""
        model = model_of(Order)
        assert (model.name, model.tag, model.tags) == ("Order", "order", ("order",))
        assert list(model.fields) == ["user_id", "number", "status"]
        assert str(model.primary) == "#USER#{user_id} / #ORDER#{number}"
        assert list(model.indexes) == ["by_status"]
        assert model.patterns == ("open",)

    def test_what_is_no_entity(self) -> None:
        """A class that is no entity, and an abstract one, have no model."""

        class Base(Entity):
            name: Field[str]

        with pytest.raises(UsageError, match="is abstract"):
            model_of(Base)
        with pytest.raises(UsageError, match="is no Entity"):
            model_of(str)

    def test_a_pattern_is_a_query(self) -> None:
        """A pattern is called as any class method."""
        assert Order.open("u1").values == {"user_id": "u1"}
