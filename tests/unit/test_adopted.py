"""`Field(codec=...)`: PynamoDB attributes and codecs of one's own, and what each refuses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from pynamodb.attributes import (
    Attribute,
    BinaryAttribute,
    BinarySetAttribute,
    BooleanAttribute,
    DynamicMapAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NullAttribute,
    NumberAttribute,
    NumberSetAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
)

from singletable import Entity, Field, FieldValueError, Key, Table, from_item, to_item
from singletable.adopted import adopted
from singletable.codecs import CodecError, codec_for
from singletable.errors import CorruptItem, DeclarationError


class Upper(Attribute[str]):
    """A custom attribute: stored in capitals."""

    attr_type = "S"

    def serialize(self, value: str) -> str:
        return value.upper()

    def deserialize(self, value: str) -> str:
        return value.lower()


class OldFlag(BooleanAttribute):
    """An attribute whose older versions stored a number, as PynamoDB's LegacyBooleanAttribute did."""

    def get_value(self, value: dict[str, Any]) -> Any:
        return bool(int(value["N"])) if "N" in value else super().get_value(value)


@dataclass
class Plain:
    """Not PynamoDB's, but with the same three names."""

    attr_type: str = "S"

    def serialize(self, value: int, /) -> str:
        return "x" * value

    def deserialize(self, value: str, /) -> int:
        return len(value)


class Size(MapAttribute[str, Any]):
    width = NumberAttribute()
    unit = UnicodeAttribute(null=True)


def size(**members: Any) -> Any:
    """Make a Size; PynamoDB gives its constructor no types."""
    make: Any = Size
    return make(**members)


raw_map: Any = MapAttribute

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


FORMS: list[tuple[Any, Any, Any, Any]] = [
    (UnicodeAttribute(), str, "a", {"S": "a"}),
    (JSONAttribute(), Any, {"a": [1.5]}, {"S": '{"a": [1.5]}'}),
    (UTCDateTimeAttribute(), datetime, NOON, {"S": "2026-01-02T12:00:00.000000+0000"}),
    (NumberAttribute(), float, 1.5, {"N": "1.5"}),
    (BooleanAttribute(), bool, True, {"BOOL": True}),
    (BinaryAttribute(legacy_encoding=False), bytes, b"x", {"B": b"x"}),
    (BinaryAttribute(legacy_encoding=True), bytes, b"x", {"B": b"eA=="}),
    (BinarySetAttribute(legacy_encoding=False), set[bytes], {b"y", b"x"}, {"BS": [b"x", b"y"]}),
    (UnicodeSetAttribute(), set[str], {"b", "a"}, {"SS": ["a", "b"]}),
    (NumberSetAttribute(), set[float], {2}, {"NS": ["2"]}),
    (ListAttribute(), list[Any], ["a", 1], {"L": [{"S": "a"}, {"N": "1"}]}),
    (ListAttribute(of=UnicodeAttribute), list[str], ["a"], {"L": [{"S": "a"}]}),
    (raw_map(), dict[str, Any], {"a": None}, {"M": {"a": {"NULL": True}}}),
    (Upper(), str, "ann", {"S": "ANN"}),
    (OldFlag(), bool, False, {"BOOL": False}),
    (Plain(), int, 2, {"S": "xx"}),
]


@pytest.mark.parametrize(("attribute", "annotation", "value", "stored"), FORMS)
def test_value_and_attribute(attribute: Any, annotation: Any, value: object, stored: dict[str, Any]) -> None:
    """A value is stored exactly as PynamoDB stores it, under its type, and reads back equal, optional or not."""
    for kind in (annotation, annotation | None):
        codec = adopted(attribute, kind)
        assert codec.attribute_type == next(iter(stored))
        assert codec.encode(value) == stored
        assert codec.decode(stored) == value


def test_map_attribute_with_members() -> None:
    """A MapAttribute subclass reads as its own instances and writes them, or a dict."""
    codec = adopted(size(), Size)
    stored = {"M": {"width": {"N": "2"}}}
    assert codec.encode(size(width=2)) == stored
    assert codec.encode({"width": 2}) == stored
    read = codec.decode(stored)
    assert type(read) is Size
    assert read.attribute_values == {"width": 2}


class Open(DynamicMapAttribute):
    """A map of one declared member and any others."""

    width = NumberAttribute(null=True)


def test_maps_annotated_as_dicts_are_dicts() -> None:
    """At every depth a map that is annotated as a dict reads as one, and a dynamic one writes what it was given."""
    whole = {"width": 2, "note": "x"}
    opened: Any = Open
    codec = adopted(opened(), dict[str, Any])
    assert codec.encode(whole) == {"M": {"width": {"N": "2"}, "note": {"S": "x"}}}
    assert codec.decode({"M": {"width": {"N": "2"}, "note": {"S": "x"}}}) == whole
    listed = adopted(ListAttribute(of=Size), list[Any])
    assert listed.decode({"L": [{"M": {"width": {"N": "2"}}}]}) == [{"width": 2}]


def test_a_member_that_is_not_declared_is_refused() -> None:
    """PynamoDB drops it from a dict without a word; here nothing is lost."""
    with pytest.raises(CodecError, match="ValueError"):
        adopted(size(), dict[str, Any]).encode({"width": 2, "s3cret": 1})


def test_older_forms_are_read_through_get_value() -> None:
    """An attribute's own get_value decides which stored forms it reads."""
    assert adopted(OldFlag(), bool).decode({"N": "1"}) is True


def test_none_is_absent_for_an_optional_annotation() -> None:
    """None of `X | None` is not written and a stored NULL reads as None; without it None is refused."""
    codec = adopted(UnicodeAttribute(), str | None)
    assert codec.optional is True
    assert codec.encode(None) is None
    assert codec.decode({"NULL": True}) is None
    with pytest.raises(CodecError):
        adopted(UnicodeAttribute(null=True), str).encode(None)
    with pytest.raises(CodecError):
        adopted(JSONAttribute(), dict[str, Any]).encode(None)


def test_empty_set_is_absent() -> None:
    """An empty set is absent and reads back empty where the annotation is a set; an optional one is refused it."""
    codec = adopted(UnicodeSetAttribute(), set[str])
    assert codec.encode(set()) is None
    assert codec.empty is set
    assert codec.decode({"NULL": True}) == set()
    with pytest.raises(CodecError, match="does not store"):
        adopted(UnicodeSetAttribute(), set[str] | None).encode(set())


def test_null_attribute() -> None:
    """An attribute of type NULL is one like any other."""
    codec = adopted(NullAttribute(), type(None))
    assert codec.encode(None) == {"NULL": True}
    assert codec.decode({"NULL": True}) is None


REFUSED: list[tuple[Any, Any, Any]] = [
    (UnicodeAttribute(), 5, "a value that became int"),
    (UnicodeAttribute(), "s3cret\ud800", "a str with a lone surrogate"),
    (UTCDateTimeAttribute(), "s3cret", "str, which it refuses (AttributeError)"),
    (JSONAttribute(), {"s3cret"}, "set, which it refuses (TypeError)"),
    (NumberAttribute(), float("nan"), "number text that cannot be read"),
    (NumberAttribute(), True, "number text that cannot be read"),
    (NumberAttribute(), 1e200, "a number outside DynamoDB's range"),
    (NumberSetAttribute(), {float("inf")}, "number text that cannot be read"),
    (BinaryAttribute(legacy_encoding=False), "s3cret", "a value that became str"),
    (ListAttribute(), [float("nan")], "number text that cannot be read"),
    (size(), {"unit": "s3cret"}, "dict, which it refuses (AttributeNullError)"),
]


@pytest.mark.parametrize(("attribute", "value", "given"), REFUSED)
def test_refused_value_is_a_codec_error(attribute: Any, value: object, given: str) -> None:
    """What the attribute refuses, or writes in a form that DynamoDB would not take, is refused and never shown."""
    with pytest.raises(CodecError) as caught:
        adopted(attribute, object).encode(value)
    assert caught.value.given == given
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("attribute", "stored", "given"),
    [
        (UnicodeAttribute(), {"N": "1"}, "an attribute of type N"),
        (size(), {"S": "s3cret"}, "an attribute of type S"),
        (UnicodeAttribute(), {"NULL": True}, "an attribute of type NULL"),
        (UTCDateTimeAttribute(), {"S": "s3cret"}, "what UTCDateTimeAttribute cannot read (ValueError)"),
        (JSONAttribute(), {"S": "{s3cret"}, "what JSONAttribute cannot read (JSONDecodeError)"),
    ],
)
def test_refused_attribute_is_a_codec_error(attribute: Any, stored: dict[str, Any], given: str) -> None:
    """A stored value that the attribute cannot read is refused and never shown, not even by PynamoDB's own error."""
    with pytest.raises(CodecError) as caught:
        adopted(attribute, object).decode(stored)
    assert caught.value.given == given
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_codec_of_ones_own_is_taken_as_it_is() -> None:
    """A Codec is used unchanged."""
    codec = codec_for(int)
    assert adopted(codec, str) is codec


@pytest.mark.parametrize(
    ("given", "words"),
    [(UnicodeAttribute, "is a class"), ("S", "is no codec"), (object(), "is no codec"), (Plain("X"), "is no codec")],
)
def test_what_is_no_codec(given: Any, words: str) -> None:
    """A class instead of an instance, and anything without the three names, is a declaration error."""
    with pytest.raises(DeclarationError, match=words):
        adopted(given, str)


class Note(Entity, table=Table("notes"), tag="note"):
    day: Field[datetime] = Field(codec=UTCDateTimeAttribute())
    body: Field[dict[str, Any]] = Field(codec=JSONAttribute(), default_factory=dict)
    title: Field[str | None] = Field(codec=Upper(), default=None, name="t")

    key = Key(pk="#NOTES", sk="#{day}")


def test_codec_stores_and_the_annotation_keys() -> None:
    """The attribute decides how a field is stored; in a key it stands in its annotation's own format."""
    note = Note(day=NOON, body={"a": 1.5}, title="x")
    item = to_item(note)
    assert item["day"] == {"S": "2026-01-02T12:00:00.000000+0000"}
    assert item["SK"] == {"S": "#2026-01-02T12:00:00.000000Z"}
    assert item["t"] == {"S": "X"}
    assert from_item(Note, item) == note
    assert Note.title.set(None).action == "remove"
    assert (Note.title == "x").operands[1] == {"S": "X"}


def test_errors_name_the_field() -> None:
    """A refusal of the attribute is the field's error, writing and reading."""
    bad: Any = {"a": {1}}
    with pytest.raises(FieldValueError, match=r"field 'Note\.body'"):
        to_item(Note(day=NOON, body=bad))
    item = to_item(Note(day=NOON)) | {"body": {"S": "{s3cret"}}
    with pytest.raises(CorruptItem, match="'body' holds what JSONAttribute cannot read") as caught:
        from_item(Note, item)
    assert "s3cret" not in str(caught.value)


def test_an_annotation_without_a_key_format_stands_in_no_key() -> None:
    """A codec does not make a key part of what has no key format."""

    def declare() -> object:
        class Tagged(Entity, table=Table("tagged"), tag="tagged"):
            label: Field[dict[str, str]] = Field(codec=JSONAttribute())

            key = Key(pk="#TAGGED", sk="#{label}")

        return Tagged

    with pytest.raises(DeclarationError, match="cannot stand in a key"):
        declare()
