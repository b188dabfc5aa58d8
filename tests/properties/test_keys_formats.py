"""Laws of the formats: text order is value order over the whole range of each type, and decoding is canonical."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from random import Random
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from singletable.keys import KeyFormat, KeyValueError, NativeTemplate, key_format

INT64 = st.integers(-(2**63), 2**63 - 1)
COMMON = settings(max_examples=50, deadline=None)
ZONES = st.builds(timezone, st.builds(timedelta, minutes=st.integers(-1439, 1439)))


class Word(Enum):
    SPACED = "a b"
    BANG = "a!"
    PLAIN = "a"
    HASH = "a#b"
    WIDE = "\U0001f600"


class Size(IntEnum):
    SMALL = -5
    NONE = 0
    BIG = 10


def decimals() -> st.SearchStrategy[Decimal]:
    """Every Decimal DynamoDB can hold: up to 38 digits, the first of them at 10**-130 to 10**125."""
    digits = st.integers(1, 10**38 - 1) | st.integers(1, 30)
    first = st.integers(-130, 125) | st.integers(-3, 3)
    return st.just(Decimal(0)) | st.builds(number, st.booleans(), digits, first)


def number(negative: bool, digits: int, first: int) -> Decimal:
    """Put a Decimal together whose first digit stands at 10**first."""
    spelled = tuple(map(int, str(digits)))
    return Decimal((int(negative), spelled, first - len(spelled) + 1))


VALUES: dict[str, tuple[KeyFormat, st.SearchStrategy[Any]]] = {
    "str": (key_format(str), st.text(min_size=1, max_size=5) | st.text(st.sampled_from(" #$%&a"), min_size=1)),
    "int": (key_format(int), INT64 | st.integers(-12, 12) | st.sampled_from([-(2**63), 2**63 - 1])),
    "width": (key_format(int, width=3), st.integers(0, 999)),
    "Decimal": (key_format(Decimal), decimals()),
    "datetime": (
        key_format(datetime),
        st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)
        | st.sampled_from([datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]),
    ),
    "date": (key_format(date), st.dates() | st.sampled_from([date.min, date.max])),
    "time": (key_format(time), st.times() | st.sampled_from([time.min, time.max])),
    "timedelta": (key_format(timedelta), st.builds(timedelta, microseconds=INT64)),
    "UUID": (key_format(UUID), st.uuids()),
    "bool": (key_format(bool), st.booleans()),
    "bytes": (key_format(bytes), st.binary(min_size=1, max_size=3)),
    "Size": (key_format(Size), st.sampled_from(Size)),
    "Literal": (key_format(Literal["a b", "a", "b", "a#"]), st.sampled_from(["a b", "a", "b", "a#"])),
    "raw str": (key_format(str, raw=True), st.text(st.sampled_from(" $%&a\0é"), min_size=1)),
    "raw width": (key_format(int, width=3, raw=True), st.integers(0, 999)),
    "raw str |": (key_format(str, raw="|"), st.text(st.sampled_from(" $%#&a\0é}~"), min_size=1)),
    "raw bytes |": (key_format(bytes, raw="|"), st.binary(min_size=1, max_size=3)),
    "raw time -": (key_format(time, raw="-"), st.times()),
}
DOWN: dict[str, tuple[KeyFormat, st.SearchStrategy[Any]]] = {
    f"{kind} down": (key_format(annotation, width=width, descending=True), VALUES[kind][1])
    for kind, annotation, width in (
        ("int", int, None),
        ("width", int, 3),
        ("Decimal", Decimal, None),
        ("datetime", datetime, None),
        ("date", date, None),
        ("time", time, None),
        ("timedelta", timedelta, None),
        ("UUID", UUID, None),
    )
}
UNORDERED: dict[str, tuple[KeyFormat, st.SearchStrategy[Any]]] = {
    "Word": (key_format(Word), st.sampled_from(Word)),
    "raw int": (key_format(int, raw=True), st.integers(1 - 10**38, 10**38 - 1)),
    "raw Decimal": (key_format(Decimal, raw=True), decimals()),
}
EVERY = VALUES | UNORDERED | DOWN


@pytest.mark.parametrize("kind", VALUES)
@COMMON
@given(data=st.data())
def test_text_sorts_as_the_values_do(kind: str, data: st.DataObject) -> None:
    """Of two values the lesser has the lesser text, and equal values have one text."""
    used, values = VALUES[kind]
    a, b = data.draw(values), data.draw(values)
    assert (used.encode(a) < used.encode(b)) is (a < b)
    assert (used.encode(a) == used.encode(b)) is (a == b)


@pytest.mark.parametrize("kind", DOWN)
@COMMON
@given(data=st.data())
def test_text_of_a_descending_part_sorts_the_other_way(kind: str, data: st.DataObject) -> None:
    """Of two values the lesser has the greater text, also where more segments follow, and equal values have one."""
    used, values = DOWN[kind]
    a, b = data.draw(values), data.draw(values)
    assert used.descending
    assert (used.encode(a) > used.encode(b)) is (a < b)
    assert (used.encode(a) + "#x" > used.encode(b) + "#") is (a <= b)
    assert (used.encode(a) == used.encode(b)) is (a == b)


@pytest.mark.parametrize("kind", EVERY)
@COMMON
@given(data=st.data())
def test_a_value_comes_back_and_its_language_knows_it(kind: str, data: st.DataObject) -> None:
    """Decoding gives an equal value; the text is of the declared language."""
    used, values = EVERY[kind]
    value = data.draw(values)
    text = used.encode(value)
    assert used.decode(text) == value
    assert used.language.accepts(text)
    assert used.delimiter not in text


@pytest.mark.parametrize("kind", EVERY)
@COMMON
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_the_decoder_refuses_what_the_encoder_would_not_write(kind: str, data: st.DataObject, seed: int) -> None:
    """Changed text is refused, or is itself the one text of the value it gives."""
    used, values = EVERY[kind]
    changed = mutated(used.encode(data.draw(values)), Random(seed))
    try:
        value = used.decode(changed)
    except KeyValueError:
        assert not used.language.accepts(changed)
    else:
        assert used.encode(value) == changed
        assert used.language.accepts(changed)


def mutated(text: str, random: Random) -> str:
    """Change a text in one place: a character replaced, put in or taken out."""
    at = random.randrange(len(text) + 1)
    new: str = random.choice(["", *"0159 -+_.~Ee#$%aAzZT:!\n٣"])
    return f"{text[:at]}{new}{text[at + random.randrange(2) :]}"


@COMMON
@given(decimals())
@example(Decimal("-9." + "9" * 37 + "E+125"))
@example(Decimal("1E-130"))
def test_native_neighbours_leave_no_number_between(value: Decimal) -> None:
    """Going up one number and down again ends where it began, in 38 digits."""
    template = NativeTemplate("n", "N")
    text = template.render({"n": value}, limit=2048)
    above, under = template.after(text), template.before(text, 1024)
    assert not above or (Decimal(above) > value and template.before(above, 1024) == text)
    assert not under or (Decimal(under) < value and template.after(under) == text)
