"""How each type is written in a key, by hand-made examples."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NewType, Optional
from uuid import UUID

import pytest

from singletable.errors import TemplateError
from singletable.keys import KeyValueError, key_format

UserId = NewType("UserId", str)


class Status(StrEnum):
    OPEN = "OPEN"
    IN_WORK = "IN WORK"


class Level(IntEnum):
    LOW = 1
    HIGH = 20


class Mixed(Enum):
    A = "a"
    B = 1


class Blank(Enum):
    NONE = ""


class Rights(Flag):
    READ = 1
    WRITE = 2


class Named(str):
    """A `str` that prints as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "printed"

    def __format__(self, spec: str) -> str:
        return "printed"


PLUS8 = timezone(timedelta(hours=8))
WRITTEN: list[tuple[Any, Any, str]] = [
    (str, "a#b c", "a%23b%20c"),
    (str, Named("real"), "real"),
    (int, 0, "0000000000000000000"),
    (int, 42, "0000000000000000042"),
    (int, 2**63 - 1, "9223372036854775807"),
    (int, -1, "-9999999999999999999"),
    (int, -(2**63), "-0776627963145224192"),
    (Decimal, Decimal("12.5"), "1501.125"),
    (Decimal, Decimal("-12.5"), "-498.874~"),
    (Decimal, Decimal("-0.00"), "0"),
    (Decimal, Decimal(100), "1502.1"),
    (Decimal, Decimal("1E-130"), "1370.1"),
    (Decimal, Decimal("9E+125"), "1625.9"),
    (Decimal, 7, "1500.7"),
    (datetime, datetime(2026, 12, 1, 16, 30, tzinfo=PLUS8), "2026-12-01T08:30:00.000000Z"),
    (datetime, datetime(5, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "0005-01-02T03:04:05.000006Z"),
    (date, date(5, 1, 2), "0005-01-02"),
    (time, time(8, 30), "08:30:00.000000"),
    (timedelta, timedelta(seconds=1), "0000000000001000000"),
    (timedelta, timedelta(microseconds=-1), "-9999999999999999999"),
    (UUID, UUID("ABCDEF00-0000-4000-8000-00000000000F"), "abcdef00-0000-4000-8000-00000000000f"),
    (bytes, b"\x00\xff", "00ff"),
    (bool, False, "false"),
    (bool, True, "true"),
    (Status, Status.IN_WORK, "IN%20WORK"),
    (Level, Level.HIGH, "0000000000000000020"),
    (Literal["a b", "c"], "a b", "a%20b"),
    (Literal[1, 2], 2, "0000000000000000002"),
]


@pytest.mark.parametrize(("kind", "value", "text"), WRITTEN)
def test_a_value_is_written_so_and_read_back(kind: Any, value: Any, text: str) -> None:
    """Each type has the documented text, which reads back as an equal value."""
    made = key_format(kind)
    assert made.encode(value) == text
    assert made.decode(text) == value
    assert made.language.accepts(text)
    assert made.ordered


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (str, ""),
        (str, None),
        (str, 1),
        (str, b"a"),
        (str, "\ud800"),
        (int, True),
        (int, Level.LOW),
        (int, 1.0),
        (int, "1"),
        (int, 2**63),
        (int, -(2**63) - 1),
        (Decimal, 1.5),
        (Decimal, True),
        (Decimal, Decimal("NaN")),
        (Decimal, Decimal("-Infinity")),
        (Decimal, Decimal("1" * 39)),
        (Decimal, Decimal("1E+126")),
        (Decimal, Decimal("9E-131")),
        (datetime, datetime(2026, 1, 1)),
        (datetime, date(2026, 1, 1)),
        (datetime, datetime(1, 1, 1, tzinfo=PLUS8)),
        (date, datetime(2026, 1, 1, tzinfo=UTC)),
        (date, "2026-01-01"),
        (time, time(1, tzinfo=UTC)),
        (timedelta, timedelta.max),
        (timedelta, 5),
        (UUID, "abcdef00-0000-4000-8000-00000000000f"),
        (bool, 1),
        (bool, "true"),
        (bytes, b""),
        (bytes, "00"),
        (bytes, bytearray(b"a")),
        (Status, "OPEN"),
        (Level, 1),
        (Level, True),
        (Rights, Rights.READ | Rights.WRITE),
        (Literal["a"], "b"),
        (Literal[1], True),
        (Literal[1], Level.LOW),
    ],
)
def test_a_value_that_does_not_fit_is_refused(kind: Any, value: Any) -> None:
    """What cannot be written exactly is refused, with what was given and what was wanted."""
    with pytest.raises(KeyValueError) as caught:
        key_format(kind).encode(value)
    assert caught.value.given
    assert caught.value.wanted


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (str, ""),
        (str, "a b"),
        (int, "42"),
        (int, "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٤٢"),
        (int, "000000000000000004_2"),
        (int, "9223372036854775808"),
        (int, "-0000000000000000000"),
        (int, "-0776627963145224191"),
        (Decimal, "1501.1250"),
        (Decimal, "1501.025"),
        (Decimal, "0501.125"),
        (Decimal, "-498.874"),
        (Decimal, "1626.1"),
        (Decimal, "00"),
        (datetime, "2026-12-01T08:30:00Z"),
        (datetime, "2026-12-01T08:30:00.000000+00:00"),
        (datetime, "2026-12-01 08:30:00.000000Z"),
        (datetime, "2026-13-01T08:30:00.000000Z"),
        (date, "20261201"),
        (date, "0000-01-01"),
        (time, "08:30"),
        (timedelta, "1000000"),
        (UUID, "ABCDEF00-0000-4000-8000-00000000000F"),
        (UUID, "abcdef00000040008000000000000000"),
        (bool, "True"),
        (bytes, ""),
        (bytes, "0"),
        (bytes, "0F"),
        (bytes, "0 1"),
        (Status, "IN WORK"),
        (Status, "GONE"),
        (Literal[1, 2], "0000000000000000003"),
    ],
)
def test_text_that_encoding_would_not_write_is_refused(kind: Any, text: str) -> None:
    """Decoding is canonical: one value, one text."""
    made = key_format(kind)
    with pytest.raises(KeyValueError):
        made.decode(text)
    assert not made.language.accepts(text)


def test_a_width_pads_and_never_overflows() -> None:
    """`{n:06}` holds 0 to 999999; above it is an error, not a wider key that sorts wrongly."""
    made = key_format(int, width=6)
    assert (made.encode(0), made.encode(42), made.encode(999999)) == ("000000", "000042", "999999")
    for value in (-1, 1000000, True):
        with pytest.raises(KeyValueError, match="int from 0 to 999999"):
            made.encode(value)
    for text in ("42", "0000042", "-00042"):
        with pytest.raises(KeyValueError):
            made.decode(text)


@pytest.mark.parametrize(
    "kind",
    [UserId, str | None, Optional[str], Annotated[str, "note"], Annotated[UserId | None, 1]],  # noqa: UP045
)
def test_wrappers_count_as_what_they_hold(kind: Any) -> None:
    """NewType, Annotated and None beside a type change nothing."""
    assert key_format(kind).encode("a b") == "a%20b"


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (float, "Decimal"),
        (bytearray, "key parts are"),
        (list[str], "key parts are"),
        (tuple[str, ...], r"\{name\*\}"),
        (str | int, "key parts are"),
        (Mixed, "all str or all int"),
        (Blank, "change its value"),
        (Literal["a", 1], "all str or all int"),
        (Literal[1, True], "all str or all int"),
        (None, "key parts are"),
        ("str", "key parts are"),
    ],
)
def test_a_type_that_cannot_stand_in_a_key_is_refused_with_the_way_out(kind: Any, word: str) -> None:
    """The error of the declaration names what would do instead."""
    with pytest.raises(TemplateError, match=word):
        key_format(kind)


DOWN: list[tuple[Any, Any, str]] = [
    (int, 0, "-9999999999999999999"),
    (int, -1, "0000000000000000000"),
    (int, 41, "-9999999999999999958"),
    (int, 2**63 - 1, "-0776627963145224192"),
    (int, -(2**63), "9223372036854775807"),
    (Decimal, Decimal("12.5"), "-498.874~"),
    (Decimal, Decimal("-12.5"), "1501.125"),
    (Decimal, Decimal(0), "0"),
    (Decimal, 7, "-499.2~"),
    (datetime, datetime(2026, 12, 1, 16, 30, tzinfo=PLUS8), "7973-87-98T91:69:99.999999Z"),
    (date, date(5, 1, 2), "9994-98-97"),
    (time, time(8, 30), "91:69:99.999999"),
    (timedelta, timedelta(microseconds=-1), "0000000000000000000"),
    (timedelta, timedelta(microseconds=41), "-9999999999999999958"),
    (UUID, UUID("ABCDEF00-0000-4000-8000-00000000000F"), "543210ff-ffff-bfff-7fff-fffffffffff0"),
]


@pytest.mark.parametrize(("kind", "value", "text"), DOWN)
def test_a_descending_part_is_written_turned_round(kind: Any, value: Any, text: str) -> None:
    """Each type that sorts downwards has the documented text, which reads back as an equal value."""
    made = key_format(kind, descending=True)
    assert made.encode(value) == text
    assert made.decode(text) == value
    assert made.language.accepts(text)
    assert made.language.name != key_format(kind).language.name
    assert (made.descending, made.ordered, made.name) == (True, True, kind.__name__)
    with pytest.raises(KeyValueError, match="no text prefix"):
        made.prefix("2026")


def test_a_descending_width_is_the_nines_complement() -> None:
    """`{n:06:desc}` holds 0 to 999999 as what each digit lacks to nine."""
    made = key_format(int, width=6, descending=True)
    assert (made.encode(0), made.encode(42), made.encode(999999)) == ("999999", "999957", "000000")
    assert made.decode("999957") == 42
    for value in (-1, 1000000, True):
        with pytest.raises(KeyValueError):
            made.encode(value)


@pytest.mark.parametrize(
    ("kind", "value"), [(int, True), (int, Level.LOW), (int, 2**63), (Decimal, 1.5), (date, "x"), (UUID, 1)]
)
def test_a_descending_part_refuses_what_the_type_does(kind: Any, value: Any) -> None:
    """Turning a value round loses no strictness."""
    with pytest.raises(KeyValueError):
        key_format(kind, descending=True).encode(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [(int, "42"), (int, "-0000000000000000000"), (date, "7973-86-98"), (date, "2026-12-01"), (Decimal, "00")],
)
def test_descending_text_is_read_canonically(kind: Any, text: str) -> None:
    """Text that no value is written as is refused: 7973-86-98 would be the thirteenth month."""
    made = key_format(kind, descending=True)
    with pytest.raises(KeyValueError):
        made.decode(text)
    assert not made.language.accepts(text)


@pytest.mark.parametrize("kind", [str, bool, bytes, Status, Literal["a"], float])
def test_other_types_do_not_sort_downwards(kind: Any) -> None:
    """Text has no greatest value to count from: the error says what to do instead."""
    with pytest.raises(TemplateError, match=r"downwards(.|\n)*\.descending\(\)"):
        key_format(kind, descending=True)


@pytest.mark.parametrize("raw", [True, "|"])
def test_a_raw_part_does_not_sort_downwards(raw: Any) -> None:
    """A raw key is what is stored, so no part of it is turned round."""
    with pytest.raises(TemplateError, match="without raw="):
        key_format(int, raw=raw, descending=True)


def test_a_width_is_for_int_only() -> None:
    """A padded text makes no sense."""
    with pytest.raises(TemplateError, match="width"):
        key_format(str, width=6)


@pytest.mark.parametrize(
    ("kind", "value", "text", "ordered"),
    [
        (str, "a b%23$", "a b%23$", True),
        (int, -42, "-42", False),
        (int, 10**37, "1" + "0" * 37, False),
        (Decimal, Decimal("1E+3"), "1000", False),
        (Decimal, Decimal("-0.50"), "-0.5", False),
        (datetime, datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000000Z", True),
        (Status, Status.IN_WORK, "IN WORK", True),
        (Level, Level.HIGH, "20", False),
        (bool, True, "true", True),
    ],
)
def test_raw_reproduces_plain_text(kind: Any, value: Any, text: str, ordered: bool) -> None:
    """Raw keys have no escape and no padding, and say where their order is not the values'."""
    made = key_format(kind, raw=True)
    assert made.encode(value) == text
    assert made.decode(text) == value
    assert made.language.accepts(text)
    assert (made.ordered, made.raw) == (ordered, True)


@pytest.mark.parametrize("value", ["a#b", "#", "!x", "", "\udfff"])
def test_raw_text_cannot_forge_a_segment_or_a_hidden_item(value: str) -> None:
    """A raw value holding the delimiter, or beginning as hidden items do, is refused both ways."""
    made = key_format(str, raw=True)
    with pytest.raises(KeyValueError):
        made.encode(value)
    with pytest.raises(KeyValueError):
        made.decode(value)


@pytest.mark.parametrize(
    ("kind", "delimiter"),
    [(datetime, ":"), (time, ":"), (date, "-"), (UUID, "-"), (datetime, "."), (Literal["a|b"], "|")],
)
def test_a_type_whose_text_always_holds_the_delimiter_is_refused(kind: Any, delimiter: str) -> None:
    """The declaration fails, not the first write."""
    with pytest.raises(TemplateError, match="cannot stand in a key"):
        key_format(kind, raw=delimiter)


@pytest.mark.parametrize(
    ("kind", "value", "delimiter"),
    [(str, "a:b", ":"), (int, -7, "-"), (Decimal, Decimal("1.5"), "."), (str, "a#!b", "|"), (str, "!a", "|")],
)
def test_a_raw_value_with_the_delimiter_is_refused(kind: Any, value: Any, delimiter: str) -> None:
    """What would move a segment, or begin one as hidden items do, is refused; other values of the type are written."""
    made = key_format(kind, raw=delimiter)
    with pytest.raises(KeyValueError):
        made.encode(value)
    assert not made.language.accepts(str(value))
    assert made.decode(made.encode(kind(7))) == kind(7)


@pytest.mark.parametrize(
    ("kind", "delimiter", "loose"),
    [
        (str, "#", True),
        (str, "|", True),
        (int, "#", False),
        (int, "|", True),
        (int, "/", True),
        (int, ".", False),
        (Decimal, "-", True),
        (Decimal, "+", False),
        (bytes, "#", False),
        (bytes, ":", True),
        (bool, "|", False),
        (datetime, "|", False),
        (UUID, "~", False),
        (Literal["a", "b"], "|", False),
        (Literal["a", "ab"], "|", True),
        (Literal["a", "a~"], "|", False),
        (Literal["a", "a}"], "|", True),
        (Literal["a", "ab"], "#", False),
        (Literal["a", "a b"], "#", True),
    ],
)
def test_raw_text_is_loose_where_it_can_go_on_below_the_delimiter(kind: Any, delimiter: str, loose: bool) -> None:
    """One text that another continues with a character up to the one after the delimiter blurs a subtree's end."""
    assert key_format(kind, raw=delimiter).loose is loose


@pytest.mark.parametrize("text", ["042", "+42", "4_2", " 42", "-0", "1e3"])
def test_raw_numbers_are_read_canonically(text: str) -> None:
    """Other spellings of a number are not ours."""
    for kind in (int, Decimal):
        with pytest.raises(KeyValueError):
            key_format(kind, raw=True).decode(text)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (str, "a ", "a%20"),
        (Status, "IN ", "IN%20"),
        (Status, Status.OPEN, "OPEN"),
        (Literal["abc"], "ab", "ab"),
        (datetime, "2026-12", "2026-12"),
        (datetime, "2026-12-01T08:30:00.000000Z", "2026-12-01T08:30:00.000000Z"),
        (date, "2026-", "2026-"),
        (bytes, b"\x0a", "0a"),
        (time, "08:3", "08:3"),
    ],
)
def test_a_prefix_is_encoded_as_the_text_it_begins(kind: Any, value: Any, text: str) -> None:
    """begins_with takes text of a text type, and the beginning of ISO text."""
    assert key_format(kind).prefix(value) == text


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (str, ""),
        (str, 1),
        (int, 1),
        (int, "1"),
        (Level, Level.LOW),
        (UUID, "abc"),
        (bool, "t"),
        (Decimal, "1"),
        (datetime, "2026/12"),
        (datetime, ""),
        (datetime, datetime(2026, 1, 1, tzinfo=UTC)),
        (date, "2026-12-01T08"),
    ],
)
def test_a_prefix_that_cannot_be_asked_for_is_refused(kind: Any, value: Any) -> None:
    """No text prefix of a number, no empty prefix, no text that no value begins with."""
    with pytest.raises(KeyValueError):
        key_format(kind).prefix(value)


def test_errors_never_hold_the_value() -> None:
    """Neither the message nor what it was raised from shows a value or stored text."""
    for attempt in (lambda: key_format(int).decode("secret"), lambda: key_format(Status).encode("secret")):
        with pytest.raises(KeyValueError) as caught:
            attempt()
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
