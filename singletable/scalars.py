"""How a single value is written as the payload of one attribute type, and how it is read back.

Theory. A `Scalar` is a pair of functions between a value and a payload: the text of S and N, the bytes of B, the bool
of BOOL. `SCALARS` has one for each type; `codecs` wraps their payloads into attributes, sets and lists. A writer first
asks for the exact type (the usual case), then for a subclass, and refuses the rest with `CodecError`.

Numbers are exact. DynamoDB keeps 38 significant digits and magnitudes from 1E-130 to
9.9999999999999999999999999999999999999E+125 (AWS, "Constraints in Amazon DynamoDB"); what does not fit is refused,
never rounded. The text is plain notation without needless zeros, so that one number has one text. Only a `float` field
goes through float: it writes the shortest text that reads back the same, and reads the float nearest to what is stored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from singletable.errors import kind_of
from singletable.keys import slip

__all__ = ["SCALARS", "CodecError", "Scalar", "number_text"]

_STR = "text"
_INT = "an int (at most 38 digits)"
_DECIMAL = "a Decimal (at most 38 digits)"
_FLOAT = "a finite float"
_BOOL = "a bool"
_BYTES = "bytes"
_DATETIME = "an aware datetime"
_DATE = "a date"
_TIME = "a naive time"
_TIMEDELTA = "a timedelta"
_UUID = "a UUID"
_IN_RANGE = "0 or from 1E-130 to below 1E+126 in size"

_DIGITS = 38
_PLAIN = 10**_DIGITS
_TOO_LARGE = 10**126
_SMALLEST, _LARGEST = -130, 125  # decimal exponents of the first digit
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_CLOCK = r"[0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]{1,6}0*)?)?)?"
_INSTANT = re.compile(rf"[0-9W-]{{7,10}}[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}(?::?[0-5][0-9]){{0,2}})")
_TIME_OF_DAY = re.compile(_CLOCK)
_UUID_TEXT = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class CodecError(ValueError):
    """A value that its codec cannot write or read; the mapping adds the name of the field.

    `given` describes the value without showing it, `wanted` says what would do. `path` leads to it inside the field's
    value: `.city` is a member by its declared name, `[2]` a list's element and `[entry 2]` a dict's entry, both counted
    from 0; a dict's keys are data, so they are not shown. `hint` says how what was probably meant is written.
    """

    given: str
    wanted: str
    path: str
    hint: str

    def __init__(self, given: str, wanted: str, path: str = "", hint: str = "") -> None:
        super().__init__(given, wanted, path, hint)
        self.given = given
        self.wanted = wanted
        self.path = path
        self.hint = hint

    def within(self, step: str) -> None:
        """Put the step that led to the value before its path; whoever catches it on its way up does so."""
        self.path = step + self.path
        self.args = (self.given, self.wanted, self.path, self.hint)

    def __str__(self) -> str:
        where = f"at {self.path.removeprefix('.')}: " if self.path else ""
        return f"{where}given {self.given}, wanted {self.wanted}"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as the payload of one attribute type; without `read` the payload is the value."""

    tag: str
    wanted: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any] | None = None


# Writers and readers: a value <-> the payload of its attribute type.


def _write_str(value: Any) -> str:
    if type(value) is not str:
        if not isinstance(value, str):
            raise CodecError(kind_of(value), _STR, hint=slip(value, str))
        return _write_str(str.__str__(value))
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise CodecError("a str with a lone surrogate", "text without lone surrogates") from None
    return value


def _write_int(value: Any) -> str:
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, int)):
        raise CodecError(kind_of(value), _INT, hint=slip(value, int))
    if -_PLAIN < value < _PLAIN:
        return int.__repr__(value)
    if not -_TOO_LARGE < value < _TOO_LARGE:
        raise CodecError("an int outside DynamoDB's range", "an int below 1E+126 in size")
    text = int.__repr__(value)
    if len(text.strip("-0")) > _DIGITS:
        raise CodecError("an int of more than 38 significant digits", _INT)
    return text


def _decimal(text: str, wanted: str) -> Decimal:
    """Read number text in any of the forms that DynamoDB takes, within its range and precision."""
    if len(text) <= _DIGITS and text.isascii() and text.removeprefix("-").replace(".", "", 1).isdigit():
        return Decimal(text)  # the usual form: so short, it is within the limits
    if not _NUMBER.fullmatch(text):
        raise CodecError("number text that cannot be read", wanted)
    value = Decimal(text)
    _plain(value, wanted)
    return value


def _plain(value: Decimal, wanted: str) -> str:
    """Write a finite Decimal in plain notation, or refuse what DynamoDB cannot hold exactly."""
    if not value:
        return "0"
    if not _SMALLEST <= value.adjusted() <= _LARGEST:
        raise CodecError("a number outside DynamoDB's range", f"{wanted}, {_IN_RANGE}")
    text = Decimal.__format__(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if len(text) > _DIGITS and len(text.replace(".", "").strip("-0")) > _DIGITS:
        raise CodecError("a number of more than 38 significant digits", wanted)
    return text


def _read_int(text: str) -> int:
    if len(text) <= _DIGITS and text.isascii() and text.removeprefix("-").isdigit():
        return int(text)
    value = _decimal(text, _INT)
    whole = int(value)
    if whole != value:
        raise CodecError("a number with a fraction", _INT)
    return whole


def _write_decimal(value: Any) -> str:
    if not isinstance(value, Decimal):
        raise CodecError(kind_of(value), _DECIMAL, hint=slip(value, Decimal))
    if not value.is_finite():
        raise CodecError("a NaN or an infinity", "a finite Decimal")
    return _plain(value, _DECIMAL)


def _read_decimal(text: str) -> Decimal:
    return _decimal(text, _DECIMAL)


def _write_float(value: Any) -> str:
    if type(value) is not float:
        value = _as_float(value)
    if not value:
        return "0"
    if not 1e-130 <= abs(value) < 1e126:
        if not math.isfinite(value):
            raise CodecError("a NaN or an infinity", _FLOAT)
        raise CodecError("a float outside DynamoDB's range", f"{_FLOAT}, {_IN_RANGE}")
    text = float.__repr__(value)
    return _plain(Decimal(text), _FLOAT) if "e" in text else text.removesuffix(".0")


def _as_float(value: Any) -> float:
    """Take a float's subclass, and an int that a float holds exactly: to the type checkers an int is a float."""
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise CodecError(kind_of(value), _FLOAT, hint=slip(value, float))
    if isinstance(value, float):
        return float.__float__(value)
    if not -_TOO_LARGE < value < _TOO_LARGE or int(float(value)) != value:
        raise CodecError("an int that no float holds exactly", _FLOAT)
    return float(value)


def _read_float(text: str) -> float:
    _decimal(text, _FLOAT)
    return float(text)


def _write_bool(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise CodecError(kind_of(value), _BOOL, hint=slip(value, bool))


def _write_bytes(value: Any) -> bytes:
    if type(value) is bytes:
        return value
    if isinstance(value, bytes):
        return bytes(memoryview(value))
    raise CodecError(kind_of(value), _BYTES, hint=slip(value, bytes))


def _write_datetime(value: Any) -> str:
    if not isinstance(value, datetime):
        raise CodecError(kind_of(value), _DATETIME, hint=slip(value, datetime))
    if value.tzinfo is not UTC:
        value = _in_utc(value)
    return datetime.isoformat(value, "T", "microseconds")[:26] + "Z"


def _in_utc(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise CodecError("a naive datetime", _DATETIME, hint=slip(value, datetime))
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise CodecError("a datetime outside the years 1 to 9999 in UTC", _DATETIME) from None


def _read_datetime(text: str) -> datetime:
    if not (len(text) == 27 and text[10] == "T" and text[26] == "Z") and not _INSTANT.fullmatch(text):
        raise CodecError("text that is no ISO 8601 datetime with an offset, or one finer than microseconds", _DATETIME)
    try:
        value = datetime.fromisoformat(text)
        return value if value.tzinfo is UTC else value.astimezone(UTC)
    except (ValueError, OverflowError):
        raise CodecError("text that names no datetime", _DATETIME) from None


def _write_date(value: Any) -> str:
    if type(value) is date or (isinstance(value, date) and not isinstance(value, datetime)):
        return date.isoformat(value)
    raise CodecError(kind_of(value), _DATE, hint=slip(value, date))


def _read_date(text: str) -> date:
    if len(text) == 10 and text[4] == text[7] == "-":
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise CodecError("text that names no date", _DATE) from None
    raise CodecError("text that is no ISO 8601 date", _DATE)


def _write_time(value: Any) -> str:
    if not isinstance(value, time):
        raise CodecError(kind_of(value), _TIME, hint=slip(value, time))
    if value.tzinfo is not None:
        raise CodecError("a time with a time zone", _TIME, hint=slip(value, time))
    return time.isoformat(value, "microseconds")


def _read_time(text: str) -> time:
    if not _TIME_OF_DAY.fullmatch(text):
        raise CodecError("text that is no ISO 8601 time without an offset, or one finer than microseconds", _TIME)
    try:
        return time.fromisoformat(text)
    except ValueError:
        raise CodecError("text that names no time", _TIME) from None


def _write_timedelta(value: Any) -> str:
    if not isinstance(value, timedelta):
        raise CodecError(kind_of(value), _TIMEDELTA, hint=slip(value, timedelta))
    return str((value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds)


def _read_timedelta(text: str) -> timedelta:
    try:
        return timedelta(microseconds=_read_int(text))
    except OverflowError:
        raise CodecError("more microseconds than a timedelta holds", _TIMEDELTA) from None


def _write_uuid(value: Any) -> str:
    if not isinstance(value, UUID):
        raise CodecError(kind_of(value), _UUID, hint=slip(value, UUID))
    return UUID.__str__(value)


def _read_uuid(text: str) -> UUID:
    if not _UUID_TEXT.fullmatch(text):
        raise CodecError("text that is no UUID", _UUID)
    return UUID(text)


def number_text(value: int | Decimal) -> str:
    """Write a number as DynamoDB writes it: plain notation, no needless zeros.

    Raises CodecError for what DynamoDB cannot store exactly.

    >>> number_text(7), number_text(Decimal("1.50")), number_text(Decimal("-1E+3")), number_text(Decimal("0E-9"))
    ('7', '1.5', '-1000', '0')
    """
    return _write_int(value) if isinstance(value, int) else _write_decimal(value)


SCALARS: dict[object, Scalar] = {
    str: Scalar("S", _STR, _write_str),
    int: Scalar("N", _INT, _write_int, _read_int),
    Decimal: Scalar("N", _DECIMAL, _write_decimal, _read_decimal),
    float: Scalar("N", _FLOAT, _write_float, _read_float),
    bool: Scalar("BOOL", _BOOL, _write_bool),
    bytes: Scalar("B", _BYTES, _write_bytes),
    datetime: Scalar("S", _DATETIME, _write_datetime, _read_datetime),
    date: Scalar("S", _DATE, _write_date, _read_date),
    time: Scalar("S", _TIME, _write_time, _read_time),
    timedelta: Scalar("N", _TIMEDELTA, _write_timedelta, _read_timedelta),
    UUID: Scalar("S", _UUID, _write_uuid, _read_uuid),
}
