"""The Field descriptor: a value on an entity, an expression on its class."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import DeclarationError, FieldValueError, NoTruthValue, NumberNotAssigned, QueryError
from singletable.expressions import Change, Condition, Path
from singletable.fields import MISSING, Field
from singletable.increments import AutoIncrement
from singletable.patterns import Key
from singletable.schema import Table

table = Table("fields")


class Thing(Entity, table=table, tag="thing"):
    box: Field[str]
    number: Field[int] = AutoIncrement()
    label: Field[str] = Field(default="", name="l")
    note: Field[str | None] = Field(default=None)
    count: Field[int] = Field(default=0)
    price: Field[Decimal] = Field(default=Decimal(1))
    tags: Field[set[str]] = Field(default_factory=set)
    sizes: Field[frozenset[int]] = Field(default_factory=frozenset)

    key = Key(pk="#BOX#{box}", sk="#THING#{number}")


UNTYPED: Any = Thing
"""The class as a caller without type checker sees it."""


def parts(condition: Condition) -> tuple[object, ...]:
    """Take a condition apart: its operator and its operands."""
    return condition.operator, *condition.operands


LABEL, COUNT, NOTE, TAGS = Path(("l",)), Path(("count",)), Path(("note",)), Path(("tags",))


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (Thing.label == "a", ("=", LABEL, {"S": "a"})),
        (Thing.label != "a", ("<>", LABEL, {"S": "a"})),
        (Thing.count < 3, ("<", COUNT, {"N": "3"})),
        (Thing.count <= 3, ("<=", COUNT, {"N": "3"})),
        (Thing.count > 3, (">", COUNT, {"N": "3"})),
        (Thing.count >= 3, (">=", COUNT, {"N": "3"})),
        (Thing.count.between(1, 3), ("BETWEEN", COUNT, {"N": "1"}, {"N": "3"})),
        (Thing.count.is_in(1, 3), ("IN", COUNT, {"N": "1"}, {"N": "3"})),
        (Thing.note.exists(), ("attribute_exists", NOTE)),
        (Thing.note.does_not_exist(), ("attribute_not_exists", NOTE)),
        (Thing.note.is_type("NULL"), ("attribute_type", NOTE, {"S": "NULL"})),
        (Thing.label.startswith("a"), ("begins_with", LABEL, {"S": "a"})),
        (Thing.note.startswith("a"), ("begins_with", NOTE, {"S": "a"})),
        (Thing.label.contains("a"), ("contains", LABEL, {"S": "a"})),
        (Thing.tags.contains("a"), ("contains", TAGS, {"S": "a"})),
        (Thing.sizes.contains(3), ("contains", Path(("sizes",)), {"N": "3"})),
        (Thing.tags == {"a"}, ("=", TAGS, {"SS": ["a"]})),
    ],
)
def test_operators_build_conditions(condition: Condition, wanted: tuple[object, ...]) -> None:
    """Each operator is a condition on the stored name, with the value as it is stored."""
    assert parts(condition) == wanted


def test_none_means_absent_or_null() -> None:
    """`== None` holds where the attribute is absent or NULL, `!= None` where it is neither."""
    absent = Thing.note == None  # noqa: E711 - an expression
    assert absent.operator == "OR"
    assert [parts(each) for each in absent.operands if isinstance(each, Condition)] == [
        ("attribute_not_exists", NOTE),
        ("attribute_type", NOTE, {"S": "NULL"}),
    ]
    there = Thing.note != None  # noqa: E711 - an expression
    assert there.operator == "NOT"


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (Thing.label.set("a"), ("set", LABEL, {"S": "a"})),
        (Thing.note.set(None), ("remove", NOTE, None)),
        (Thing.note.remove(), ("remove", NOTE, None)),
        (Thing.tags.set(set()), ("remove", TAGS, None)),
        (Thing.tags.remove(), ("remove", TAGS, None)),
        (Thing.count.add(-2), ("add", COUNT, {"N": "-2"})),
        (Thing.price.add(Decimal("0.5")), ("add", Path(("price",)), {"N": "0.5"})),
        (Thing.tags.add({"a"}), ("add", TAGS, {"SS": ["a"]})),
        (Thing.tags.delete({"a"}), ("delete", TAGS, {"SS": ["a"]})),
    ],
)
def test_changes(change: Change, wanted: tuple[object, ...]) -> None:
    """Each change names the stored attribute and the value as it is stored; None and an empty set remove."""
    assert (change.action, change.path, change.value) == wanted


def test_a_change_remembers_the_value() -> None:
    """The value as it was given comes along, so that index keys can be made of it."""
    assert Thing.count.set(3).given == 3
    assert Thing.count.add(2).given == 2


class TestRefused:
    def test_a_value_that_does_not_fit(self) -> None:
        """A condition or change with a value of another type names the field."""
        with pytest.raises(FieldValueError, match=r"'Thing\.count'"):
            _ = UNTYPED.count == "3"
        with pytest.raises(FieldValueError, match=r"'Thing\.count'"):
            Thing.count.set(True)
        with pytest.raises(FieldValueError, match=r"'Thing\.label'"):
            UNTYPED.label.startswith(3)

    def test_what_is_absent_cannot_be_compared(self) -> None:
        """None and an empty set in a comparison are refused, with the way to ask for absence."""
        with pytest.raises(FieldValueError, match="does_not_exist"):
            _ = UNTYPED.note < None
        with pytest.raises(FieldValueError, match="does_not_exist"):
            _ = Thing.tags == set()
        with pytest.raises(FieldValueError):
            Thing.tags.add(set())

    def test_what_must_be_there_cannot_be_removed(self) -> None:
        """A field that is not optional cannot be removed."""
        with pytest.raises(FieldValueError, match=r"'Thing\.label'"):
            Thing.label.remove()
        with pytest.raises(FieldValueError, match=r"'Thing\.label'"):
            UNTYPED.label.set(None)

    def test_add_and_delete_want_numbers_and_sets(self) -> None:
        """Text can be neither added to nor deleted from, and a number not deleted from."""
        with pytest.raises(FieldValueError, match="a number or a set"):
            UNTYPED.label.add("a")
        with pytest.raises(FieldValueError, match="wanted a set"):
            UNTYPED.count.delete(1)

    def test_is_in_takes_at_least_one(self) -> None:
        """No value is refused: it would hold for nothing."""
        with pytest.raises(QueryError, match="given no value"):
            Thing.count.is_in()

    def test_an_unknown_type(self) -> None:
        """A type that DynamoDB does not have is refused."""
        with pytest.raises(QueryError, match="'text'"):
            Thing.note.is_type("text")

    def test_no_iteration_and_no_membership(self) -> None:
        """A field on the class cannot be iterated, nor asked with `in`, which would never end."""
        with pytest.raises(NoTruthValue):
            iter(Thing.tags)
        with pytest.raises(NoTruthValue, match="contains"):
            _ = "a" in UNTYPED.tags


class TestDeclaring:
    def test_one_kind_of_default(self) -> None:
        """A default and a factory together are refused."""
        field: Any = Field
        with pytest.raises(DeclarationError, match="both"):
            field(default=1, default_factory=int)

    @pytest.mark.parametrize("default", [list[int](), dict[str, int](), set[int]()])
    def test_no_shared_default(self, default: object) -> None:
        """A mutable default would be shared by all entities and is refused."""
        with pytest.raises(DeclarationError, match="default_factory"):
            Field(default=default)

    def test_a_field_outside_a_class(self) -> None:
        """A field that no entity declares has no codec."""
        lonely: Field[str] = Field()
        with pytest.raises(DeclarationError, match="outside"):
            lonely.set("x")

    def test_what_the_constructor_wants(self) -> None:
        """A field without default must be given; one with a default, a factory or drawn numbers need not."""
        declared = {name: field.required for name, field in Thing.__fields__.items()}
        assert declared == {
            "box": True,
            "number": False,
            "label": False,
            "note": False,
            "count": False,
            "price": False,
            "tags": False,
            "sizes": False,
        }

    def test_the_stored_name(self) -> None:
        """A field is stored under its own name, or the one given."""
        assert (Thing.label.attribute, Thing.label.name) == ("l", "label")
        assert Thing.note.attribute == "note"


def test_a_value_not_given_says_so() -> None:
    """What stands for a value that was not given has a name of its own."""
    assert repr(MISSING) == "MISSING"
    assert Thing.box.when_absent() is MISSING


class TestAsAnObject:
    def test_on_the_class_it_is_itself(self) -> None:
        """Class access gives the field, always the same one."""
        assert isinstance(Thing.label, Field)
        assert Thing.label is Thing.label
        assert {Thing.label: 1}[Thing.label] == 1

    def test_a_number_not_drawn_says_so(self) -> None:
        """Reading a number before it exists is an AttributeError with the way to it."""
        thing = Thing(box="b")
        with pytest.raises(NumberNotAssigned, match=r"Thing\.number") as caught:
            _ = thing.number
        assert caught.value.field == "number"
        assert not hasattr(thing, "number")

    def test_copies_are_itself(self) -> None:
        """A field is one declaration: copying gives itself."""
        assert copy.copy(Thing.label) is Thing.label
        assert copy.deepcopy(Thing.label) is Thing.label

    def test_its_text(self) -> None:
        """A field's text names it."""
        assert repr(Thing.label) == "<Field label>"
        assert repr(Thing.number) == "<AutoIncrement number>"
        lonely: Field[str] = Field()
        assert repr(lonely) == "<Field (not declared)>"
