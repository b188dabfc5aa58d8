"""Codecs: one value to one attribute and back, and what each refuses. Expected wire values are worked out by hand."""

import pickle
import sys
from collections import OrderedDict
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NewType, Optional, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from singletable.codecs import CodecError, codec_for, number_text
from singletable.errors import DeclarationError


class Colour(Enum):
    RED = "red"
    GREEN = "green"
    CRIMSON = RED


class Level(IntEnum):
    LOW = 1
    HIGH = 20


class Size(StrEnum):
    SMALL = "s"


class Mixed(Enum):
    ONE = 1
    TWO = "two"


class Truth(Enum):
    YES = True


class Rights(Flag):
    READ = 1
    WRITE = 2


class NoMember(Enum):
    """An Enum without members."""


class BadText(Enum):
    LONE = "\ud800"


class Email(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "hidden"


class Count(int):
    def __repr__(self) -> str:
        return "hidden"


class Ratio(float):
    def __repr__(self) -> str:
        return "hidden"


class Blob(bytes):
    pass


class NoOffset(tzinfo):
    """A time zone that does not know its offset, so that its datetimes are naive."""

    def utcoffset(self, _moment: datetime | None) -> timedelta | None:
        return None

    def dst(self, _moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, _moment: datetime | None) -> str | None:
        return None


UserId = NewType("UserId", str)
VipId = NewType("VipId", UserId)
Tags = NewType("Tags", set[str])
T = TypeVar("T")

ID = UUID("0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9")
ID_TEXT = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
PLUS_TWO = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("annotation", "value", "stored"),
    [
        (str, "é#", {"S": "é#"}),
        (str, "", {"S": ""}),
        (str, Email("a@b"), {"S": "a@b"}),
        (str, Size.SMALL, {"S": "s"}),
        (int, 0, {"N": "0"}),
        (int, -7, {"N": "-7"}),
        (int, Count(5), {"N": "5"}),
        (int, Level.HIGH, {"N": "20"}),
        (int, 10**38, {"N": "1" + 38 * "0"}),
        (int, -(10**125), {"N": "-1" + 125 * "0"}),
        (Decimal, Decimal("1.50"), {"N": "1.5"}),
        (Decimal, Decimal("1E+2"), {"N": "100"}),
        (Decimal, Decimal("-0.0"), {"N": "0"}),
        (Decimal, Decimal("0E+900"), {"N": "0"}),
        (Decimal, Decimal("1E-130"), {"N": "0." + 129 * "0" + "1"}),
        (float, 0.1, {"N": "0.1"}),
        (float, 1.0, {"N": "1"}),
        (float, -0.0, {"N": "0"}),
        (float, 1e22, {"N": "1" + 22 * "0"}),
        (float, 2.5e-7, {"N": "0.00000025"}),
        (float, 3, {"N": "3"}),
        (float, Ratio(0.5), {"N": "0.5"}),
        (bool, True, {"BOOL": True}),
        (bool, False, {"BOOL": False}),
        (bytes, b"\x00\xff", {"B": b"\x00\xff"}),
        (bytes, b"", {"B": b""}),
        (bytes, Blob(b"x"), {"B": b"x"}),
        (datetime, datetime(5, 1, 2, 3, 4, 5, tzinfo=UTC), {"S": "0005-01-02T03:04:05.000000Z"}),
        (datetime, datetime(2026, 1, 1, 1, tzinfo=PLUS_TWO), {"S": "2025-12-31T23:00:00.000000Z"}),
        (date, date(5, 1, 2), {"S": "0005-01-02"}),
        (time, time(3, 4), {"S": "03:04:00.000000"}),
        (timedelta, timedelta(days=-1, microseconds=1), {"N": "-86399999999"}),
        (UUID, ID, {"S": ID_TEXT}),
        (Colour, Colour.CRIMSON, {"S": "red"}),
        (Level, Level.HIGH, {"N": "20"}),
        (Literal["a", "b"], "b", {"S": "b"}),
        (Literal[1, 2], 2, {"N": "2"}),
        (set[str], {"b", "a"}, {"SS": ["a", "b"]}),
        (set[int], {3}, {"NS": ["3"]}),
        (set[float], {0.5}, {"NS": ["0.5"]}),
        (set[Decimal], {Decimal("1.0")}, {"NS": ["1"]}),
        (frozenset[bytes], frozenset({b"y", b"x"}), {"BS": [b"x", b"y"]}),
        (set[Colour], {Colour.RED}, {"SS": ["red"]}),
        (set[Level], {Level.LOW}, {"NS": ["1"]}),
        (set[UUID], {ID}, {"SS": [ID_TEXT]}),
        (set[date], {date(2026, 1, 2)}, {"SS": ["2026-01-02"]}),
        (set[Literal["a", "b"]], {"a"}, {"SS": ["a"]}),
        (tuple[str, ...], ("a", ""), {"L": [{"S": "a"}, {"S": ""}]}),
        (tuple[str, ...], (), {"L": []}),
        (UserId, "u1", {"S": "u1"}),
        (set[VipId], {"u1"}, {"SS": ["u1"]}),
        (tuple[UserId, ...], ("u1",), {"L": [{"S": "u1"}]}),
        (Annotated[int, "a note"], 1, {"N": "1"}),
        (int | None, 1, {"N": "1"}),
        (Optional[VipId], "u1", {"S": "u1"}),  # noqa: UP045 - the older spelling is what is tested
        (Literal["a", None], "a", {"S": "a"}),
    ],
)
def test_value_and_attribute(annotation: object, value: object, stored: dict[str, Any]) -> None:
    """A value is stored in its one form, under the announced type, and that form reads back as an equal value."""
    codec = codec_for(annotation)
    assert codec.encode(value) == stored
    assert list(stored) == [codec.attribute_type]
    assert codec.decode(stored) == value


@pytest.mark.parametrize(
    ("annotation", "stored", "kind"),
    [
        (str, {"S": "a"}, str),
        (int, {"N": "1E+2"}, int),
        (Decimal, {"N": "1"}, Decimal),
        (float, {"N": "1"}, float),
        (bool, {"BOOL": True}, bool),
        (Colour, {"S": "red"}, Colour),
        (Level, {"N": "1"}, Level),
        (Literal[1], {"N": "1"}, int),
        (set[str], {"SS": ["a"]}, set),
        (frozenset[int], {"NS": ["1"]}, frozenset),
        (tuple[str, ...], {"L": []}, tuple),
    ],
)
def test_type_read(annotation: object, stored: dict[str, Any], kind: type) -> None:
    """What is read has exactly the declared type."""
    assert type(codec_for(annotation).decode(stored)) is kind


@pytest.mark.parametrize("value", [Email("a@b"), Count(5), Ratio(0.5), Blob(b"x")])
def test_subclass_is_stored_as_the_plain_type(value: object) -> None:
    """A subclass of a supported type never reaches the wire itself, nor does its own idea of its text."""
    base = type(value).__mro__[1]
    encoded = codec_for(base).encode(value)
    assert encoded is not None
    assert {type(payload) for payload in encoded.values()} <= {str, bytes}
    assert "hidden" not in encoded.values()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1E+2", 100),
        ("1e2", 100),
        ("+3", 3),
        ("0001.0", 1),
        ("-0", 0),
        ("0e1000", 0),
        ("-17.4E1", -174),
        ("1" + 125 * "0", 10**125),
        ("9" * 38 + "E+88", (10**38 - 1) * 10**88),
    ],
)
def test_any_number_text_reads(text: str, number: int) -> None:
    """Every spelling that DynamoDB takes for a number is read exactly, by int and Decimal alike."""
    assert codec_for(int).decode({"N": text}) == number
    assert codec_for(Decimal).decode({"N": text}) == Decimal(number)
    assert codec_for(set[int]).decode({"NS": [text]}) == {number}


@pytest.mark.parametrize(
    "text", ["", "-", ".", "1_0", " 1", "1 ", "NaN", "-Infinity", "0x1", "٣", "1E", "1e999999999999"]
)
@pytest.mark.parametrize("annotation", [int, Decimal, float, timedelta, Level])
def test_no_number_text_is_refused(annotation: object, text: str) -> None:
    """Text that DynamoDB would not call a number is refused, although Python's own parsers take some of it."""
    with pytest.raises(CodecError, match="number text that cannot be read"):
        codec_for(annotation).decode({"N": text})


@pytest.mark.parametrize("text", ["1E+126", "-1E+126", "9E-131", "1" * 39, "1." + "1" * 38])
@pytest.mark.parametrize("annotation", [Decimal, float])
def test_number_text_beyond_dynamodb_is_refused(annotation: object, text: str) -> None:
    """Number text beyond 38 digits or the range of magnitudes is refused."""
    with pytest.raises(CodecError):
        codec_for(annotation).decode({"N": text})


def test_int_refuses_a_fraction() -> None:
    """An int field never rounds a stored fraction."""
    with pytest.raises(CodecError, match="a number with a fraction"):
        codec_for(int).decode({"N": "1.5"})


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05.000006Z", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05+00:00", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02 03:04:05.5+00:00", datetime(2026, 1, 2, 3, 4, 5, 500_000, tzinfo=UTC)),
        ("2026-01-02T00:04:05.123-03:30", datetime(2026, 1, 2, 3, 34, 5, 123_000, tzinfo=UTC)),
        ("20260102T030405Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04Z", datetime(2026, 1, 2, 3, 4, tzinfo=UTC)),
        ("2026-01-02T03:04:05.000006000Z", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("0005-01-02T03:04:05.000000Z", datetime(5, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ],
)
def test_datetime_text_of_others_reads(text: str, moment: datetime) -> None:
    """ISO 8601 with an offset is read, whoever wrote it, as the same moment in UTC."""
    read = codec_for(datetime).decode({"S": text})
    assert read == moment
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02T03:04:05.000006",
        "2026-01-02T03:04:05.000000001Z",
        "2026-01-02x03:04:05.000006Z",
        "2026-13-02T03:04:05.000006Z",
        "2026-01-02T25:04:05Z",
        "2026-01-02T03:04:05+01:99",
        "0001-01-01T00:00:00+01:00",
        "1767323045",
        "2026-01-02T03:04:05.00000٣Z",
    ],
)
def test_datetime_text_is_refused(text: str) -> None:
    """Text without an offset, finer than microseconds or naming no moment is refused, not guessed at."""
    with pytest.raises(CodecError):
        codec_for(datetime).decode({"S": text})


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (date, "20260102"),
        (date, "2026-W01-1"),
        (date, "2026-02-30"),
        (date, "2026-01-02T00:00:00Z"),
        (time, "03:04:05Z"),
        (time, "24:30"),
        (time, "03:04:05.0000001"),
        (UUID, ID_TEXT.replace("-", "")),
        (UUID, "{" + ID_TEXT + "}"),
        (UUID, ID_TEXT[:-1] + "g"),
    ],
)
def test_other_text_is_refused(annotation: object, text: str) -> None:
    """Text in another form than the type's own is refused."""
    with pytest.raises(CodecError):
        codec_for(annotation).decode({"S": text})


def test_lenient_reading_of_time_and_uuid() -> None:
    """A time without seconds and a UUID in capitals, as others write them, are read."""
    assert codec_for(time).decode({"S": "03:04"}) == time(3, 4)
    assert codec_for(UUID).decode({"S": ID_TEXT.upper()}) == ID


REFUSED: list[tuple[object, object, str]] = [
    (str, None, "None"),
    (str, 5, "int"),
    (str, b"x", "bytes"),
    (str, "\ud800", "a str with a lone surrogate"),
    (int, True, "bool"),
    (int, 1.0, "float"),
    (int, "1", "str"),
    (int, Decimal(1), "Decimal"),
    (int, 10**38 + 1, "an int of more than 38 significant digits"),
    (int, -(10**126), "an int outside DynamoDB's range"),
    (Decimal, 1, "int"),
    (Decimal, 1.5, "float"),
    (Decimal, True, "bool"),
    (Decimal, Decimal("NaN"), "a NaN or an infinity"),
    (Decimal, Decimal("sNaN"), "a NaN or an infinity"),
    (Decimal, Decimal("-Infinity"), "a NaN or an infinity"),
    (Decimal, Decimal("1E+126"), "a number outside DynamoDB's range"),
    (Decimal, Decimal("9.9E-131"), "a number outside DynamoDB's range"),
    (Decimal, Decimal("1E+999999"), "a number outside DynamoDB's range"),
    (Decimal, Decimal(10**38 + 1), "a number of more than 38 significant digits"),
    (float, True, "bool"),
    (float, "1", "str"),
    (float, Decimal(1), "Decimal"),
    (float, float("nan"), "a NaN or an infinity"),
    (float, float("-inf"), "a NaN or an infinity"),
    (float, 1e126, "a float outside DynamoDB's range"),
    (float, 5e-324, "a float outside DynamoDB's range"),
    (float, 2**53 + 1, "an int that no float holds exactly"),
    (float, 10**400, "an int that no float holds exactly"),
    (bool, 1, "int"),
    (bool, None, "None"),
    (bytes, "x", "str"),
    (bytes, bytearray(b"x"), "bytearray"),
    (datetime, date(2026, 1, 2), "date"),
    (datetime, datetime(2026, 1, 2), "a naive datetime"),
    (datetime, datetime(2026, 1, 2, tzinfo=NoOffset()), "a naive datetime"),
    (datetime, datetime(1, 1, 1, tzinfo=PLUS_TWO), "a datetime outside the years 1 to 9999 in UTC"),
    (date, datetime(2026, 1, 2, tzinfo=UTC), "datetime"),
    (time, time(3, tzinfo=UTC), "a time with a time zone"),
    (time, "03:00", "str"),
    (timedelta, 5, "int"),
    (UUID, ID_TEXT, "str"),
    (Colour, "red", "str"),
    (Level, 1, "int"),
    (Size, "s", "str"),
    (Literal["a"], "b", "another str"),
    (Literal["a"], 1, "int"),
    (Literal[1], True, "bool"),
    (Literal[1], 1.0, "float"),
    (set[str], ["a"], "list"),
    (set[str], "a", "str"),
    (set[str], frozenset({"a"}), "frozenset"),
    (frozenset[str], {"a"}, "set"),
    (set[str], {1}, "int as an element"),
    (set[int], {True}, "bool as an element"),
    (set[float], {float("inf")}, "a NaN or an infinity as an element"),
    (tuple[str, ...], ["a"], "list"),
    (tuple[str, ...], "a", "str"),
    (tuple[str, ...], ("a", None), "None"),
    (str | None, 5, "int"),
]


@pytest.mark.parametrize(("annotation", "value", "given"), REFUSED)
def test_wrong_value_is_refused(annotation: object, value: object, given: str) -> None:
    """A value of another type, or one that DynamoDB cannot hold exactly, is refused and described, never shown."""
    codec = codec_for(annotation)
    with pytest.raises(CodecError) as caught:
        codec.encode(value)
    assert caught.value.given == given
    assert caught.value.wanted


@pytest.mark.parametrize(
    ("annotation", "wanted"),
    [
        (str, "text"),
        (int, "an int (at most 38 digits)"),
        (Decimal, "a Decimal (at most 38 digits)"),
        (float, "a finite float"),
        (bool, "a bool"),
        (bytes, "bytes"),
        (datetime, "an aware datetime"),
        (date, "a date"),
        (time, "a naive time"),
        (timedelta, "a timedelta"),
        (UUID, "a UUID"),
        (Colour, "a member of Colour"),
        (Literal["a", "b"], "one of 'a', 'b'"),
        (set[str], "a set, each element text"),
        (tuple[str, ...], "a tuple, each element text"),
        (str | None, "text, or None"),
    ],
)
def test_wanted_is_said_in_few_words(annotation: object, wanted: str) -> None:
    """A codec says what it takes in the words that describe() prints and that an error about a wrong type repeats."""
    codec = codec_for(annotation)
    assert codec.wanted == wanted
    with pytest.raises(CodecError) as caught:
        codec.encode(object())
    assert caught.value.wanted == wanted.removesuffix(", or None")


@pytest.mark.parametrize(
    ("annotation", "value", "wanted"),
    [
        (str, "\ud800", "text without lone surrogates"),
        (set[str], {"\ud800"}, "a set, each element text without lone surrogates"),
        (tuple[str, ...], ("\ud800",), "text without lone surrogates"),
        (int, 10**126, "an int below 1E+126 in size"),
        (int, 10**38 + 1, "an int (at most 38 digits)"),
        (Decimal, Decimal("NaN"), "a finite Decimal"),
        (Decimal, Decimal("1E-131"), "a Decimal (at most 38 digits), 0 or from 1E-130 to below 1E+126 in size"),
        (float, float("inf"), "a finite float"),
        (float, 1e126, "a finite float, 0 or from 1E-130 to below 1E+126 in size"),
    ],
)
def test_limit_is_named_where_it_is_broken(annotation: object, value: object, wanted: str) -> None:
    """A value of the right type beyond a limit is told the limit, at the top and as an element alike."""
    with pytest.raises(CodecError) as caught:
        codec_for(annotation).encode(value)
    assert caught.value.wanted == wanted


def test_limit_is_named_when_an_element_is_read() -> None:
    """A stored element beyond a limit is told the limit of the element, within the words for the set."""
    with pytest.raises(CodecError) as caught:
        codec_for(set[Decimal]).decode({"NS": ["1", "1E+126"]})
    assert caught.value.given == "a number outside DynamoDB's range as an element"
    limit = "a Decimal (at most 38 digits), 0 or from 1E-130 to below 1E+126 in size"
    assert caught.value.wanted == f"a set, each element {limit}"


def test_huge_int_is_refused() -> None:
    """An int too long for Python to write at all (over 4300 digits) is refused like any other out of range."""
    with pytest.raises(CodecError, match="outside DynamoDB's range"):
        codec_for(int).encode(10**5000)


@pytest.mark.parametrize(
    ("annotation", "stored", "given", "wanted"),
    [
        (str, {"N": "1"}, "an attribute of type N", "stored as S"),
        (int, {"S": "1"}, "an attribute of type S", "stored as N"),
        (bool, {"N": "1"}, "an attribute of type N", "stored as BOOL"),
        (str, {"NULL": True}, "an attribute of type NULL", "stored as S"),
        (str | None, {"N": "1"}, "an attribute of type N", "stored as S"),
        (set[str], {"L": []}, "an attribute of type L", "stored as SS"),
        (set[str], {"NS": ["1"]}, "an attribute of type NS", "stored as SS"),
        (tuple[str, ...], {"SS": ["a"]}, "an attribute of type SS", "stored as L"),
        (tuple[str, ...], {"L": [{"N": "1"}]}, "an attribute of type N", "stored as S"),
        (str, {"S": 5}, "a malformed attribute of type S", "stored as S"),
        (bool, {"BOOL": "true"}, "a malformed attribute of type BOOL", "stored as BOOL"),
        (set[str], {"SS": ["a", 5]}, "a malformed attribute of type SS", "stored as SS"),
        (str, "S", "str, which is no DynamoDB JSON", "stored as S"),
        (str | None, "NULL", "str, which is no DynamoDB JSON", "stored as S"),
        (str, None, "None, which is no DynamoDB JSON", "stored as S"),
        (str, {}, "dict, which is no DynamoDB JSON", "stored as S"),
    ],
)
def test_wrong_attribute_is_refused(annotation: object, stored: Any, given: str, wanted: str) -> None:
    """An attribute of another type, or what is none at all, is refused by naming both types."""
    with pytest.raises(CodecError) as caught:
        codec_for(annotation).decode(stored)
    assert caught.value.given == given
    assert caught.value.wanted.endswith(wanted)


@pytest.mark.parametrize(
    ("annotation", "stored", "given"),
    [
        (Colour, {"S": "blue"}, "an unknown str"),
        (Level, {"N": "2"}, "an unknown int"),
        (Literal["a"], {"S": "z"}, "an unknown str"),
        (set[Colour], {"SS": ["blue"]}, "an unknown str as an element"),
    ],
)
def test_unknown_member_is_an_error(annotation: object, stored: dict[str, Any], given: str) -> None:
    """A stored value outside an Enum or Literal is an error of its own, never a missing attribute."""
    with pytest.raises(CodecError) as caught:
        codec_for(annotation).decode(stored)
    assert caught.value.given == given
    assert not isinstance(caught.value, LookupError)


def test_number_of_an_enum_in_any_spelling() -> None:
    """An Enum of numbers is found by the number, not by its text."""
    assert codec_for(Level).decode({"N": "2E+1"}) is Level.HIGH


@pytest.mark.parametrize("annotation", [str | None, int | None, Colour | None, tuple[str, ...] | None])
def test_none_of_an_optional_is_absent(annotation: object) -> None:
    """None of an optional field is not stored, and a stored NULL reads as None."""
    codec = codec_for(annotation)
    assert codec.optional is True
    assert codec.encode(None) is None
    assert codec.decode({"NULL": True}) is None
    assert codec.wanted.endswith(", or None")


@pytest.mark.parametrize(("annotation", "value"), [(set[str], set[str]()), (frozenset[int], frozenset[int]())])
def test_empty_set_is_absent(annotation: object, value: object) -> None:
    """An empty set is not stored, and `empty` makes a fresh one of the same type for the absent attribute."""
    codec = codec_for(annotation)
    assert codec.optional is False
    assert codec.encode(value) is None
    assert codec.empty is not None
    assert codec.empty() == value
    assert type(codec.empty()) is type(value)


@pytest.mark.parametrize(
    ("annotation", "wanted"),
    [
        (set[str] | None, "set[str]"),
        (None | frozenset[int], "frozenset[int]"),
        (Optional[Tags], "set[str]"),  # noqa: UP045 - the older spelling is what is tested
        (Annotated[set[int] | None, "a note"], "set[int]"),
    ],
)
def test_optional_set_is_refused(annotation: object, wanted: str) -> None:
    """A set that may be None is a declaration error: absent would mean both, and the plain set is the way out."""
    with pytest.raises(DeclarationError, match="storage cannot tell None from an empty set") as caught:
        codec_for(annotation)
    assert caught.value.hint == f"annotate `{wanted}`, which reads as an empty set where it is absent"


def test_only_sets_have_an_empty_value() -> None:
    """Empty text, bytes and tuples are values: their codecs have nothing to read for an absent attribute."""
    assert [codec_for(kind).empty for kind in (str, bytes, tuple[str, ...], int | None)] == [None, None, None, None]


def test_equal_moments_are_one_element() -> None:
    """Two datetimes that name one moment, yet differ in Python (PEP 495), are stored once: DynamoDB refuses doubles."""
    fold = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)
    same = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert len({fold, same}) == 2
    assert codec_for(set[datetime]).encode({fold, same}) == {"SS": ["2026-10-25T01:30:00.000000Z"]}


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (list, r"list\[str\]"),
        (dict, r"dict\[str, Any\]"),
        (dict[int, str], "keys of DynamoDB's maps are text"),
        (list[complex], "complex: there is no codec"),
        (set, r"set\[str\]"),
        (frozenset, r"frozenset\[str\]"),
        (tuple, r"tuple\[str, \.\.\.\]"),
        (tuple[str, str], r"tuple\[str, \.\.\.\]; a dataclass"),
        (set[bool], "sets hold text, numbers or bytes"),
        (set[str | None], "sets hold text, numbers or bytes"),
        (set[tuple[str, ...]], "sets hold text, numbers or bytes"),
        (int | str, "only X | None"),
        (int | str | None, "only X | None"),
        (Email, "NewType"),
        (Mixed, "all str or all int"),
        (Truth, "all str or all int"),
        (Rights, "flags"),
        (NoMember, "no member"),
        (BadText, "lone surrogate"),
        (Literal["a", 1], "all str or all int"),
        (Literal[True], "all str or all int"),
        (Literal[Colour.RED], "all str or all int"),
        (Literal[None], "all str or all int"),
        ("str", "resolve the annotation"),
        (None, "no codec"),
        (object, "no codec"),
        (Any, r"a dict\[str, Any\] or a list\[Any\]"),
        (Any | None, r"a dict\[str, Any\] or a list\[Any\]"),
        (T, "an instance of TypeVar: a generic base leaves it open"),
        (OrderedDict, "read back as dict"),
        (complex, "no codec"),
        ([], "an instance of list: there is no codec"),
    ],
)
def test_annotation_without_a_codec(annotation: object, words: str) -> None:
    """An annotation without a codec is a declaration error that says why, what is supported and the way out."""
    with pytest.raises(DeclarationError, match=words) as caught:
        codec_for(annotation)
    assert "supported: str, int" in caught.value.hint
    assert "Field(codec=...)" in caught.value.hint


@pytest.mark.skipif(sys.version_info < (3, 12), reason="`type X = ...` came with Python 3.12")
def test_type_statement_is_unwrapped() -> None:
    """`type Name = str` stands for str."""
    names: dict[str, Any] = {}
    exec("type Name = str", names)
    assert codec_for(names["Name"] | None).encode("x") == {"S": "x"}


def test_codec_error_says_both_and_survives_pickling() -> None:
    """A CodecError is a ValueError with its two descriptions, in its text and after pickling."""
    error: object = pickle.loads(pickle.dumps(CodecError("int", "a str")))
    assert issubclass(CodecError, ValueError)
    assert isinstance(error, CodecError)
    assert (error.given, error.wanted, str(error)) == ("int", "a str", "given int, wanted a str")


def test_secret_is_never_shown() -> None:
    """Neither the value nor the stored text stands in an error, at any depth."""
    values: list[tuple[object, object]] = [
        (int, "s3cret"),
        (set[int], {"s3cret"}),
        (Literal["a"], "s3cret"),
        (str, "s3cret\ud800"),
    ]
    for annotation, value in values:
        with pytest.raises(CodecError) as caught:
            codec_for(annotation).encode(value)
        assert "s3cret" not in str(caught.value)
    kinds: list[object] = [int, datetime, date, time, UUID, Colour]
    for kind in kinds:
        codec = codec_for(kind)
        with pytest.raises(CodecError) as caught:
            codec.decode({codec.attribute_type: "s3cret"})
        assert "s3cret" not in str(caught.value)


def test_number_text() -> None:
    """Number text is plain notation; a bool is no number."""
    assert number_text(10**40) == "1" + 40 * "0"
    assert number_text(Decimal("12.3400E-2")) == "0.1234"
    with pytest.raises(CodecError):
        number_text(True)
