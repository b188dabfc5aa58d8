"""Laws of the codecs over the whole range of every type: what is written reads back equal, the rest is refused."""

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from singletable.codecs import CodecError, codec_for, number_text


class Suit(Enum):
    HEARTS = "hearts"
    SPADES = "spades"


class Step(Enum):
    FIRST = 1
    LAST = -(10**37)


LARGEST = 10**38 - 1
TAGS = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]
PLAIN = re.compile(r"0|-?(?:[1-9][0-9]*|0)(?:\.[0-9]*[1-9])?")
ZONES = st.timezones() | st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))

texts = st.text(st.characters(exclude_categories=["Cs"]))


def whole(digits: int, zeros: int) -> int:
    """Put zeros behind up to 38 digits: the largest int has 126 places."""
    return digits * int(10**zeros)


def decimal(sign: int, first: int, rest: list[int], lowest: int) -> Decimal:
    """Make a Decimal of these digits whose first one stands at 1E-130 or above."""
    return Decimal((sign, (first, *rest), max(lowest, -130 - len(rest))))


ints = st.integers(-LARGEST, LARGEST) | st.builds(whole, st.integers(-LARGEST, LARGEST), st.integers(0, 88))
rest = st.lists(st.integers(0, 9), max_size=37)
decimals = st.builds(decimal, st.integers(0, 1), st.integers(1, 9), rest, st.integers(-167, 88))
BELOW = math.nextafter(1e126, 0)
floats = st.floats(1e-130, BELOW) | st.floats(-BELOW, -1e-130) | st.just(0.0)
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)

VALUES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, texts),
    (int, ints),
    (Decimal, decimals),
    (float, floats),
    (bool, st.booleans()),
    (bytes, st.binary()),
    (date, st.dates()),
    (time, st.times()),
    (timedelta, st.timedeltas()),
    (UUID, st.uuids()),
    (Suit, st.sampled_from(Suit)),
    (Step, st.sampled_from(Step)),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (Literal[1, 2], st.sampled_from([1, 2])),
    (tuple[str, ...], st.lists(texts).map(tuple)),
]
FEW = settings(max_examples=20)
"""For a law that is checked for every type (hundreds of examples in all) or in several zones for each example."""

SET_ELEMENTS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    pair for pair in VALUES if pair[0] not in (bool, tuple[str, ...])
]
EVERYTHING = st.one_of(st.none(), st.complex_numbers(), moments, *(strategy for _, strategy in VALUES))


def names(pairs: list[tuple[Any, st.SearchStrategy[Any]]]) -> list[str]:
    """Name the cases by their annotations."""
    return [getattr(annotation, "__name__", str(annotation)) for annotation, _ in pairs]


@pytest.mark.parametrize(("annotation", "strategy"), VALUES, ids=names(VALUES))
@given(data=st.data())
@FEW
def test_round_trip(annotation: Any, strategy: st.SearchStrategy[Any], data: st.DataObject) -> None:
    """What is written reads back as an equal value of the same type, optional or not."""
    value = data.draw(strategy)
    for codec in (codec_for(annotation), codec_for(annotation | None)):
        stored = codec.encode(value)
        assert stored is not None
        read = codec.decode(stored)
        assert read == value
        assert type(read) is type(value)
        assert codec.encode(read) == stored


@pytest.mark.parametrize(("element", "strategy"), SET_ELEMENTS, ids=names(SET_ELEMENTS))
@given(data=st.data())
@FEW
def test_sets_round_trip(element: Any, strategy: st.SearchStrategy[Any], data: st.DataObject) -> None:
    """A set that is not empty reads back equal; its payloads are distinct and in order."""
    value = data.draw(st.sets(strategy, min_size=1, max_size=8))
    codec = codec_for(set[element])
    stored = codec.encode(value)
    assert stored is not None
    payloads = stored[codec.attribute_type]
    assert payloads == sorted(set(payloads))
    assert len(payloads) == len(value)
    assert codec.decode(stored) == value
    assert codec_for(frozenset[element]).decode(stored) == frozenset(value)


@given(moment=moments)
@example(moment=datetime(1, 1, 1, tzinfo=UTC))
@example(moment=datetime.max.replace(tzinfo=UTC))
def test_datetimes_round_trip(moment: datetime) -> None:
    """A datetime of any zone reads back as the same moment in UTC, from 27 characters that end in Z."""
    codec = codec_for(datetime)
    stored = codec.encode(moment)
    assert stored is not None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", stored["S"])
    read = codec.decode(stored)
    assert read == moment.astimezone(UTC)
    assert read.tzinfo is UTC


@given(moment=moments)
@FEW
def test_foreign_datetimes_read(moment: datetime) -> None:
    """ISO text with the offset it was written in is the same moment, whatever the offset."""
    utc = moment.astimezone(UTC)
    for zone in (UTC, timezone(timedelta(hours=-3, minutes=-30)), timezone(timedelta(hours=14))):
        try:
            text = utc.astimezone(zone).isoformat()
        except OverflowError:
            continue
        assert codec_for(datetime).decode({"S": text}) == utc


@given(first=moments, second=moments)
def test_datetime_text_sorts_as_the_moments(first: datetime, second: datetime) -> None:
    """Stored datetimes compare as text as their moments do (in UTC), so that filters on them work."""
    encode = codec_for(datetime).encode
    one, other = encode(first), encode(second)
    assert one is not None
    assert other is not None
    assert (one["S"] < other["S"]) is (first.astimezone(UTC) < second.astimezone(UTC))


@given(number=ints | decimals)
def test_number_text_is_plain_and_exact(number: int | Decimal) -> None:
    """Number text has no exponent, no needless zero, no NaN, and names exactly the number."""
    text = number_text(number)
    assert PLAIN.fullmatch(text)
    assert Decimal(text) == Decimal(number)
    assert len(text.replace(".", "").strip("-0")) <= 38


@given(number=floats)
def test_float_text_is_plain_and_the_same_float(number: float) -> None:
    """A float's text is plain, and is the shortest decimal that gives the same float."""
    stored = codec_for(float).encode(number)
    assert stored is not None
    assert PLAIN.fullmatch(stored["N"])
    assert float(stored["N"]) == number
    assert Decimal(stored["N"]) == Decimal(repr(number))


@given(number=decimals, shift=st.integers(-40, 40))
def test_any_spelling_of_a_number_reads_the_same(number: Decimal, shift: int) -> None:
    """A number is read alike from plain and from scientific notation."""
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    spelt = f"{'-' if sign else '+'}{''.join(map(str, digits))}E{exponent:+d}"
    assert codec_for(Decimal).decode({"N": spelt}) == number
    padded = f"{'-' if sign else ''}{''.join(map(str, digits))}{'0' * abs(shift)}e{exponent - abs(shift)}"
    assert codec_for(Decimal).decode({"N": padded}) == number


@given(number=decimals)
def test_int_reads_exactly_the_whole_numbers(number: Decimal) -> None:
    """An int field reads a number if and only if it is whole."""
    codec, stored = codec_for(int), codec_for(Decimal).encode(number)
    assert stored is not None
    if number == number.to_integral_value():
        assert codec.decode(stored) == number
    else:
        with pytest.raises(CodecError):
            codec.decode(stored)


@given(number=st.decimals() | st.integers().map(lambda n: Decimal(n) ** 9) | st.floats().map(Decimal))
@settings(max_examples=200)
def test_a_decimal_is_exact_or_refused(number: Decimal) -> None:
    """Any Decimal at all is either written exactly, in plain text within DynamoDB's limits, or refused."""
    try:
        stored = codec_for(Decimal).encode(number)
    except CodecError:
        digits = "".join(map(str, number.as_tuple().digits)).strip("0")
        assert not number.is_finite() or len(digits) > 38 or not -130 <= number.adjusted() <= 125
    else:
        assert stored is not None
        assert PLAIN.fullmatch(stored["N"])
        assert Decimal(stored["N"]) == number


@given(number=st.floats())
@settings(max_examples=200)
@example(number=1e126)
@example(number=5e-324)
def test_a_float_is_exact_or_refused(number: float) -> None:
    """Any float at all reads back equal or is refused."""
    codec = codec_for(float)
    try:
        stored = codec.encode(number)
    except CodecError:
        assert number != 0
        assert not 1e-130 <= abs(number) < 1e126
    else:
        assert stored is not None
        assert codec.decode(stored) == number


@given(text=st.text())
@FEW
@pytest.mark.parametrize("annotation", [int, Decimal, float, timedelta, datetime, date, time, UUID, Suit, Step])
def test_any_text_reads_or_is_a_codec_error(annotation: Any, text: str) -> None:
    """Whatever text is stored, reading ends in a value that can be written again or in CodecError, nothing else."""
    codec = codec_for(annotation)
    try:
        value = codec.decode({codec.attribute_type: text})
    except CodecError:
        value = None
    assert value is None or codec.decode(codec.encode(value) or {}) == value


def allows(annotation: Any) -> Callable[[Any], bool]:
    """Tell which values of EVERYTHING belong to an annotation, by the exact type."""
    if annotation is float:
        return lambda value: type(value) in (float, int)
    if annotation in (Literal["a", "b"], Literal[1, 2]):
        kind = str if annotation == Literal["a", "b"] else int
        return lambda value: type(value) is kind
    if annotation == tuple[str, ...]:
        return lambda value: type(value) is tuple
    return lambda value: type(value) is annotation


@pytest.mark.parametrize("annotation", [annotation for annotation, _ in VALUES] + [datetime], ids=str)
@given(data=st.data())
@FEW
def test_every_wrong_type_is_refused(annotation: Any, data: st.DataObject) -> None:
    """A value of another type is refused by the codec and, None aside, by its optional form."""
    allowed = allows(annotation)
    value = data.draw(EVERYTHING.filter(lambda value: not allowed(value)))
    with pytest.raises(CodecError):
        codec_for(annotation).encode(value)
    if value is not None:
        with pytest.raises(CodecError):
            codec_for(annotation | None).encode(value)


@pytest.mark.parametrize(
    "annotation", [annotation for annotation, _ in VALUES] + [datetime, set[str], set[int]], ids=str
)
@given(data=st.data(), payload=EVERYTHING)
@FEW
def test_every_wrong_attribute_is_a_codec_error(annotation: Any, data: st.DataObject, payload: Any) -> None:
    """An attribute of another type is refused, naming both types, whatever it holds."""
    codec = codec_for(annotation)
    tag = data.draw(st.sampled_from([tag for tag in TAGS if tag != codec.attribute_type]))
    with pytest.raises(CodecError) as caught:
        codec.decode({tag: payload})
    assert caught.value.given.endswith(f"of type {tag}")
    assert caught.value.wanted.endswith(f"stored as {codec.attribute_type}")
