"""Dates and times as text of a key: ISO text of fixed length, and lengths of time as microseconds.

    datetime     2026-12-01T08:30:00.000000Z               aware only, in UTC, six digits
    date, time   2026-12-01, 08:30:00.000000               time without zone
    timedelta    its microseconds as int

Downwards every digit of ISO text becomes its nine's complement (7973-87-98), and a timedelta goes as an int does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from singletable.errors import kind_of
from singletable.keys.encoding import KeyValueError
from singletable.keys.kinds import slip
from singletable.keys.language import shape
from singletable.keys.notation import KeyFormat, complemented, shaped
from singletable.keys.numbers import INT_SHAPES, encode_int, int_down, read_int, read_int_down

__all__ = ["DESCENDING_MOMENTS", "MOMENTS"]

MICROSECOND = timedelta(microseconds=1)


def _encode_datetime(value: Any) -> str:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        given = "naive datetime" if isinstance(value, datetime) else kind_of(value)
        raise KeyValueError(given, "aware datetime", slip(value, datetime))
    try:
        moment = value.astimezone(UTC)
    except OverflowError:
        raise KeyValueError("datetime outside the years 1 to 9999 in UTC", "aware datetime") from None
    return datetime.isoformat(moment, timespec="microseconds")[:26] + "Z"


def _encode_date(value: Any) -> str:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise KeyValueError(kind_of(value), "date", slip(value, date))
    return date.isoformat(value)


def _encode_time(value: Any) -> str:
    if not isinstance(value, time) or value.tzinfo is not None:
        given = "time with a zone" if isinstance(value, time) else kind_of(value)
        raise KeyValueError(given, "time without zone", slip(value, time))
    return time.isoformat(value, timespec="microseconds")


def _microseconds(value: Any) -> int:
    if not isinstance(value, timedelta):
        raise KeyValueError(kind_of(value), "timedelta", slip(value, timedelta))
    return value // MICROSECOND


def _iso(mask: str, encode: Callable[[Any], str], read: Callable[[str], Any], *examples: Any) -> KeyFormat:
    """Make a format of ISO text, whose begins_with takes the beginning of such a text ("2026-12")."""
    chars = shape(mask)

    def prefix(value: Any) -> str:
        fits = isinstance(value, str) and 0 < len(value) <= len(chars)
        if not fits or not all(char in allowed for char, allowed in zip(value, chars, strict=False)):
            raise KeyValueError(kind_of(value), f"the beginning of text like {encode(examples[0])!r}")
        return str.__str__(value)

    made = shaped(type(examples[0]).__name__, encode, read, [chars], examples)
    return replace(made, prefix=prefix)


def _length(name: str, encode: Callable[[int], str], read: Callable[[str], int]) -> KeyFormat:
    """Make a format of timedelta out of one of int64."""

    def encode_timedelta(value: Any) -> str:
        return encode(_microseconds(value))

    def read_timedelta(text: str) -> timedelta:
        return timedelta(microseconds=read(text))

    return replace(
        shaped(name, encode_timedelta, read_timedelta, INT_SHAPES, [MICROSECOND, -MICROSECOND]), name="timedelta"
    )


MOMENTS: Mapping[object, KeyFormat] = {
    datetime: _iso(
        "dddd-dd-ddTdd:dd:dd.ddddddZ",
        _encode_datetime,
        datetime.fromisoformat,
        datetime(2026, 12, 1, 8, 30, tzinfo=UTC),
    ),
    date: _iso("dddd-dd-dd", _encode_date, date.fromisoformat, date(2026, 12, 1)),
    time: _iso("dd:dd:dd.dddddd", _encode_time, time.fromisoformat, time(8, 30)),
    timedelta: _length("timedelta", encode_int, read_int),
}
"""The formats of dates and times, upwards."""

DESCENDING_MOMENTS: Mapping[object, KeyFormat] = {
    **{kind: complemented(MOMENTS[kind], "0123456789") for kind in (datetime, date, time)},
    timedelta: replace(_length("timedelta:desc", int_down, read_int_down), descending=True),
}
"""The formats of dates and times, downwards."""
