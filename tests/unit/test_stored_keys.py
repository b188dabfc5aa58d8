"""Fields with `codec=` in raw and native keys: they stand there as they are stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pynamodb.attributes import (
    BinaryAttribute,
    JSONAttribute,
    NumberAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
)

from singletable import Entity, Field, Key, KeyPartError, QueryError, Table, TemplateError, from_item, to_item
from singletable.adopted import adopted
from singletable.codecs import Codec
from singletable.keys import KeyFormat, KeyValueError
from singletable.stored_keys import native_form, stored_format

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
MOMENTS = st.datetimes(timezones=st.just(UTC))


class Level(Enum):
    LOW = "low"
    HIGH = "high"


def text_codec(write: Callable[[Any], str], read: Callable[[str], Any], tag: str = "S") -> Codec:
    """Make a codec of one's own of two functions."""
    return Codec(lambda value: {tag: write(value)}, lambda stored: read(stored[tag]), tag, "a value")


AMERICAN = text_codec(lambda day: day.strftime("%m/%d/%Y"), lambda text: datetime.strptime(text, "%m/%d/%Y").date())
TWELVE_HOURS = text_codec(
    lambda moment: moment.strftime("%Y-%m-%d %I:%M:%S.%f %p"),
    lambda text: datetime.strptime(text, "%Y-%m-%d %I:%M:%S.%f %p").replace(tzinfo=UTC),
)
UPPER = text_codec(str.upper, str.lower)
SECONDS = text_codec(
    lambda moment: str(int(moment.timestamp())), lambda text: datetime.fromtimestamp(int(text), tz=UTC), "N"
)

ORDERED = [
    (adopted(UTCDateTimeAttribute(), datetime), datetime, True),
    (adopted(UnicodeAttribute(), str), str, True),
    (adopted(JSONAttribute(), str), str, False),
    (adopted(NumberAttribute(), int), int, False),
    (adopted(TTLAttribute(), datetime), datetime, False),
    (AMERICAN, date, False),
    (TWELVE_HOURS, datetime, False),
    (UPPER, str, False),
    (adopted(UnicodeAttribute(), Literal["a", "b"]), Literal["a", "b"], False),
]


@pytest.mark.parametrize(("codec", "kind", "ordered"), ORDERED)
def test_order_of_text_is_tried(codec: Codec, kind: object, ordered: bool) -> None:
    """Text of one length in the order of its values can be ranged over; other text cannot."""
    assert stored_format(codec, kind, raw=True).ordered is ordered


@pytest.mark.parametrize(
    ("codec", "kind"),
    [
        (adopted(TTLAttribute(), datetime), datetime),
        (adopted(NumberAttribute(), float), float),
        (adopted(BinaryAttribute(legacy_encoding=False), bytes), bytes),
        (SECONDS, datetime),
    ],
)
def test_native_numbers_and_bytes_are_ordered(codec: Codec, kind: object) -> None:
    """As a native key what rises with the value can be ranged over."""
    assert native_form(codec, kind).ordered


@given(a=MOMENTS, b=MOMENTS)
def test_stored_moments_keep_their_order(a: datetime, b: datetime) -> None:
    """What is called ordered is: PynamoDB's text of two moments sorts as they do, and is read back."""
    form: KeyFormat = stored_format(adopted(UTCDateTimeAttribute(), datetime), datetime, raw=True)
    assert (form.encode(a) < form.encode(b)) is (a < b)
    assert form.decode(form.encode(a)) == a


def test_a_value_that_is_stored_in_part_stands_in_no_key() -> None:
    """A key must give back what it was given, and hold no delimiter, hidden segment or nothing."""
    seconds = native_form(SECONDS, datetime)
    assert seconds.decode(seconds.encode(NOON)) == NOON
    with pytest.raises(KeyValueError, match="reads back as another"):
        seconds.encode(NOON + timedelta(microseconds=1))
    plain = adopted(UnicodeAttribute(), str | None)
    for value, word in (("a#b", "'#'"), ("!a", "hidden"), ("", "empty"), (None, "absent"), (7, "int")):
        with pytest.raises(KeyValueError, match=word):
            stored_format(plain, str, raw=True).encode(value)
    assert native_form(plain, str).encode("a#b") == "a#b"


def test_what_can_stand_in_no_key_is_refused() -> None:
    """A codec of sets, a type that keys do not know, and text that always holds the delimiter are refused."""
    with pytest.raises(TemplateError, match="stores SS"):
        stored_format(adopted(UnicodeSetAttribute(), set[str]), set[str], raw=True)
    with pytest.raises(TemplateError, match="cannot stand in a key"):
        stored_format(adopted(JSONAttribute(), dict[str, str]), dict[str, str], raw=True)
    with pytest.raises(TemplateError, match="cannot stand in a key"):
        stored_format(adopted(UTCDateTimeAttribute(), datetime), datetime, raw="-")


def test_members_of_an_enum_are_written_by_their_codec() -> None:
    """An Enum stands in a key as its codec writes it, whole values only."""
    codec = text_codec(lambda level: level.name, Level.__getitem__)
    form = stored_format(codec, Level, raw=True)
    assert (form.encode(Level.LOW), form.decode("HIGH"), form.ordered) == ("LOW", Level.HIGH, False)


log = Table("logs", pk="device", sk=("second", int), tag=None)


class Line(Entity, table=log):
    """A line of a log, keyed by the second."""

    device: Field[str]
    moment: Field[datetime] = Field(codec=TTLAttribute(), name="second")

    key = Key(pk=("device",), sk=("moment",))


class TestEpochSeconds:
    """A datetime that is a native number."""

    def test_it_is_stored_once(self) -> None:
        """The field is the key attribute, as its codec writes it."""
        line = Line(device="d", moment=NOON)
        assert to_item(line) == {"device": {"S": "d"}, "second": {"N": "1767355200"}}
        assert from_item(Line, to_item(line)) == line

    def test_its_ranges_are_those_of_numbers(self) -> None:
        """The operator is DynamoDB's own on the stored number."""
        query = Line.key(device="d").gt(moment=NOON)
        assert [(span.range.operator, span.range.operands) for span in query.spans] == [(">", ("1767355200",))]

    def test_a_fraction_is_refused(self) -> None:
        """A moment between two seconds would be stored as another: it is refused by name."""
        with pytest.raises(KeyPartError, match="'moment'"):
            Line.at(device="d", moment=NOON + timedelta(milliseconds=1))
        with pytest.raises(QueryError, match="begins_with"):
            Line.key(device="d").begins_with(moment=NOON)


class Sale(Entity, table=Table("sales", pk="shop", sk="day", tag=None)):
    """A sale of a day in a text that does not sort."""

    shop: Field[str]
    day: Field[date] = Field(codec=AMERICAN)

    key = Key(pk=("shop",), sk=("day",))


def test_text_that_does_not_sort_has_no_ranges() -> None:
    """Whole values can be asked for; a range and a prefix are refused with the way out."""
    assert Sale.key(shop="s", day=date(2026, 1, 2)).spans[0].range.operands == ("01/02/2026",)
    with pytest.raises(QueryError, match="does not sort"):
        Sale.key(shop="s").gte(day=date(2026, 1, 2))
    with pytest.raises(KeyPartError, match="'day'"):
        Sale.key(shop="s").begins_with(day=date(2026, 1, 2))


def test_text_as_it_is_has_prefixes() -> None:
    """UnicodeAttribute changes nothing, so its native key has ranges and prefixes like any text."""

    class Page(Entity, table=Table("pages", pk="book", sk="title", tag=None)):
        book: Field[str]
        title: Field[str] = Field(codec=UnicodeAttribute())

        key = Key(pk=("book",), sk=("title",))

    query = Page.key(book="b").begins_with(title="A#")
    assert (query.spans[0].range.operator, query.spans[0].range.operands) == ("begins_with", ("A#",))


def test_an_encoded_key_is_the_annotations() -> None:
    """In a key of ours the annotation decides, whatever the codec: both texts stand in the item."""

    class Note(Entity, table=Table("notes"), tag="note"):
        day: Field[datetime] = Field(codec=UTCDateTimeAttribute())

        key = Key(pk="#NOTES", sk="#{day}")

    item = to_item(Note(day=NOON))
    assert (item["SK"]["S"], item["day"]["S"]) == ("#2026-01-02T12:00:00.000000Z", "2026-01-02T12:00:00.000000+0000")
