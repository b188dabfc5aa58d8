"""How a value of each type is written as one segment of a key, so that text order is value order.

Every format is strict both ways: `encode` refuses a value it cannot write exactly, `decode` refuses text that `encode`
would not have written. Values never stand in an error. The formats:

    str          escaped text                              never empty
    int          0000000000000000042, -9999999999999999958  int64; a negative is `-` and its ten's complement
    int, width   000042                                    from 0 to the width's nines
    Decimal      1501.125 (12.5), -498.874~ (-12.5), 0     38 digits; `1`, exponent + 500, `.`, digits;
                                                           a negative is its nine's complement, closed by `~`
    datetime     2026-12-01T08:30:00.000000Z               aware only, in UTC, six digits
    date, time   2026-12-01, 08:30:00.000000               time without zone
    timedelta    its microseconds as int
    UUID         lower-case, with dashes
    bool         false, true
    Enum         the format of its values, all of them str or all of them int; so is Literal

With `raw=True` text is not escaped and numbers are not padded, to reproduce keys of an existing table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from singletable.errors import TemplateError, kind_of
from singletable.keys.encoding import DELIMITER, SPECIAL, KeyValueError, escape, unescape
from singletable.keys.language import Language, Shape, shape
from singletable.keys.numbers import (
    DIGITS,
    encode_decimal,
    encode_int,
    fixed_int,
    plain_int,
    plain_number,
    read_decimal,
    read_int,
)

__all__ = ["KeyFormat", "KeyValueError", "key_format"]

MOMENT = "dddd-dd-ddTdd:dd:dd.ddddddZ"
MICROSECOND = timedelta(microseconds=1)


def _no_prefix(value: Any) -> str:
    raise KeyValueError(kind_of(value), "gt, gte, lt, lte or between: a value of this type has no text prefix")


@dataclass(frozen=True, slots=True, eq=False)
class KeyFormat:
    """How one type is written in a key; made by `key_format`.

    `prefix` encodes what a begins_with may ask for, `ordered` says whether text order is value order, `loose` that a
    value may hold characters that sort below the delimiter (raw text), which leaves order exact in a last part only.
    """

    name: str
    encode: Callable[[Any], str]
    decode: Callable[[str], Any]
    language: Language
    ordered: bool = True
    prefix: Callable[[Any], str] = _no_prefix
    raw: bool = False
    loose: bool = False


def key_format(annotation: object, *, width: int | None = None, raw: bool = False) -> KeyFormat:
    """Choose the format of a part by its field's annotation; TemplateError for a type that cannot stand in a key.

    `X | None`, `Annotated` and `NewType` count as what they hold; `width` is that of `{n:06}`.

    >>> key_format(int).encode(7), key_format(int, width=6).encode(7), key_format(str | None).encode("a b")
    ('0000000000000000007', '000007', 'a%20b')
    """
    kind = _bare(annotation)
    if width is not None and kind is not int:
        raise TemplateError(f"a width is for int parts, not for {_named(kind)}", hint="write the part without a width")
    if kind is int:
        return _integer(width, raw)
    if get_origin(kind) is Literal:
        return _choice(_named(kind), [(value, value) for value in get_args(kind)], raw)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice(kind.__name__, [(member.value, member) for member in kind], raw)
    if kind is str:
        return _text(raw)
    if kind is Decimal:
        return _decimal_format(raw)
    if isinstance(kind, type) and kind in FIXED:
        return replace(FIXED[kind], raw=raw)
    raise TemplateError(f"{_named(kind)} cannot stand in a key", hint=_way_out(kind))


def _bare(annotation: object) -> object:
    """Take away NewType, Annotated, a `type` alias and `| None`."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        rest = [each for each in get_args(annotation) if each is not type(None)]
        return _bare(rest[0]) if len(rest) == 1 else annotation
    inner = getattr(annotation, "__supertype__", getattr(annotation, "__value__", None))
    return annotation if inner is None else _bare(inner)


def _named(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def _way_out(kind: object) -> str:
    hints: dict[object, str] = {
        float: "use Decimal or int: a float has no exact text",
        bytes: "bytes can be a native key, pk=('id', bytes), but no part of a text key yet",
        tuple: "a tuple of str stands in a key as a last part {name*}",
    }
    known = "str, int, Decimal, datetime, date, time, timedelta, UUID, bool, Enum, Literal"
    return hints.get(get_origin(kind) or kind, f"key parts are {known}")


def _strict(encode: Callable[[Any], str], read: Callable[[str], Any], wanted: str) -> Callable[[str], Any]:
    """Make a decoder that takes a text only if encoding the result gives it back."""

    def decode(text: str) -> Any:
        try:
            value = read(text)
            if encode(value) == text:
                return value
        except (ValueError, LookupError, OverflowError, InvalidOperation):
            raise KeyValueError("other text", wanted) from None
        raise KeyValueError("other text", wanted)

    return decode


def _takes(decode: Callable[[str], Any]) -> Callable[[str], bool]:
    def accepts(text: str) -> bool:
        try:
            decode(text)
        except KeyValueError:
            return False
        return True

    return accepts


# Text


def _encode_text(value: Any) -> str:
    if type(value) is str and value and SPECIAL(value) is None:
        return value
    if not isinstance(value, str) or not value:
        raise KeyValueError(kind_of(value), "non-empty text")
    try:
        return escape(value if type(value) is str else str.__str__(value))
    except ValueError:
        raise KeyValueError("text with a lone surrogate", "text with a UTF-8 form") from None


def _decode_text(text: str) -> str:
    if text and SPECIAL(text) is None:
        return text
    read: str = STRICT_TEXT(text)
    return read


STRICT_TEXT = _strict(_encode_text, unescape, "text as the key encoding writes it")


def _raw_text(value: Any) -> str:
    """Take text as it is. A segment beginning with `!` belongs to hidden items, which no value may forge."""
    _encode_text(value)
    if DELIMITER in value:
        raise KeyValueError("text with a '#'", "text without '#': a raw key is not escaped")
    if value.startswith("!"):
        raise KeyValueError("text that begins with '!'", "another first character: '!' is kept for hidden items")
    return str.__str__(value)


def _text(raw: bool) -> KeyFormat:
    if not raw:
        return KeyFormat("str", _encode_text, _decode_text, Language.text(), prefix=_encode_text)
    decode = _strict(_raw_text, str, "non-empty text without '#'")
    language = Language.shaped("raw str", (), _takes(decode), ("a", "b"))
    return KeyFormat("str", _raw_text, decode, language, prefix=_raw_text, raw=True, loose=True)


# Numbers


def _integer(width: int | None, raw: bool) -> KeyFormat:
    if width is not None:
        shapes = [shape("d" * width)]
        made = _shaped(f"int:0{width}", fixed_int(width), int, shapes, [0, 1])
    elif raw:
        shapes = [shape(sign + "d" * size) for sign in ("", "-") for size in range(1, DIGITS + 1)]
        made = _shaped("raw int", plain_int, int, shapes, [1, 2, -1])
    else:
        made = _shaped("int", encode_int, read_int, INT_SHAPES, [1, 2, -1])
    return KeyFormat("int", made.encode, made.decode, made.language, ordered=not raw or width is not None, raw=raw)


def _decimal_format(raw: bool) -> KeyFormat:
    if raw:
        decode = _strict(plain_number, Decimal, "plain decimal text")
        language = Language.shaped("raw Decimal", (), _takes(decode), ("1", "2", "-1", "0.5"))
        return KeyFormat("Decimal", plain_number, decode, language, ordered=False, raw=True)
    masks = [mask for size in range(1, DIGITS + 1) for mask in (f"1ddd.{'d' * size}", f"-ddd.{'d' * size}~")]
    return _shaped("Decimal", encode_decimal, read_decimal, [shape("0"), *map(shape, masks)], [0, 1, -1])


# Time, UUID, bool


def _shaped(
    name: str, encode: Callable[[Any], str], read: Callable[[str], Any], shapes: Iterable[Shape], values: Iterable[Any]
) -> KeyFormat:
    """Make a format of texts of fixed shapes, with the encoded `values` as its examples."""
    decode = _strict(encode, read, f"{name} in key form")
    return KeyFormat(name, encode, decode, Language.shaped(name, shapes, _takes(decode), map(encode, values)))


def _encode_datetime(value: Any) -> str:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise KeyValueError("naive datetime" if isinstance(value, datetime) else kind_of(value), "aware datetime")
    try:
        moment = value.astimezone(UTC)
    except OverflowError:
        raise KeyValueError("datetime outside the years 1 to 9999 in UTC", "aware datetime") from None
    return datetime.isoformat(moment, timespec="microseconds")[:26] + "Z"


def _encode_date(value: Any) -> str:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise KeyValueError(kind_of(value), "date")
    return date.isoformat(value)


def _encode_time(value: Any) -> str:
    if not isinstance(value, time) or value.tzinfo is not None:
        raise KeyValueError("time with a zone" if isinstance(value, time) else kind_of(value), "time without zone")
    return time.isoformat(value, timespec="microseconds")


def _encode_timedelta(value: Any) -> str:
    if not isinstance(value, timedelta):
        raise KeyValueError(kind_of(value), "timedelta")
    return encode_int(value // MICROSECOND)


def _read_timedelta(text: str) -> timedelta:
    return timedelta(microseconds=read_int(text))


def _encode_uuid(value: Any) -> str:
    if not isinstance(value, UUID):
        raise KeyValueError(kind_of(value), "UUID")
    return UUID.__str__(value)


def _encode_bool(value: Any) -> str:
    if not isinstance(value, bool):
        raise KeyValueError(kind_of(value), "bool")
    return "true" if value else "false"


def _iso(mask: str, encode: Callable[[Any], str], read: Callable[[str], Any], *examples: Any) -> KeyFormat:
    """Make a format of ISO text, whose begins_with takes the beginning of such a text ("2026-12")."""
    chars = shape(mask)

    def prefix(value: Any) -> str:
        fits = isinstance(value, str) and 0 < len(value) <= len(chars)
        if not fits or not all(char in allowed for char, allowed in zip(value, chars, strict=False)):
            raise KeyValueError(kind_of(value), f"the beginning of text like {encode(examples[0])!r}")
        return str.__str__(value)

    made = _shaped(type(examples[0]).__name__, encode, read, [chars], examples)
    return replace(made, prefix=prefix)


INT_SHAPES = (shape("d" * 19), shape("-" + "d" * 19))
UUID_SHAPE = shape("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
BOOLS = {"false": False, "true": True}

FIXED: Mapping[type, KeyFormat] = {
    datetime: _iso(MOMENT, _encode_datetime, datetime.fromisoformat, datetime(2026, 12, 1, 8, 30, tzinfo=UTC)),
    date: _iso("dddd-dd-dd", _encode_date, date.fromisoformat, date(2026, 12, 1)),
    time: _iso("dd:dd:dd.dddddd", _encode_time, time.fromisoformat, time(8, 30)),
    timedelta: _shaped("timedelta", _encode_timedelta, _read_timedelta, INT_SHAPES, [MICROSECOND, -MICROSECOND]),
    UUID: _shaped("UUID", _encode_uuid, UUID, [UUID_SHAPE], [UUID(int=1)]),
    bool: KeyFormat(
        "bool",
        _encode_bool,
        _strict(_encode_bool, BOOLS.__getitem__, "'false' or 'true'"),
        Language.finite("bool", BOOLS),
    ),
}
"""The types written in one way whatever the width and whether raw or not."""


# Enum and Literal


def _choice(name: str, members: Sequence[tuple[Any, Any]], raw: bool) -> KeyFormat:
    """Make the format of one of several members, each written as its value; the values are all str or all int."""
    kinds: set[object] = {type(value) for value, _ in members}
    if kinds not in ({str}, {int}):
        raise TemplateError(f"{name} cannot stand in a key", hint="give its members values that are all str or all int")
    base = key_format(kinds.pop(), raw=raw)
    try:
        texts = {value: base.encode(value) for value, _ in members}
    except KeyValueError as error:
        raise TemplateError(
            f"{name} has a member that cannot stand in a key: {error}", hint="change its value"
        ) from None
    read = {texts[value]: member for value, member in members}
    first: object = members[0][1]
    encode = _pick(name, texts, type(first))
    decode = _strict(encode, read.__getitem__, f"a member of {name}")
    loose = base.loose and any(char <= "%" for text in read for char in text)
    language = Language.finite(name, read)
    return KeyFormat(name, encode, decode, language, base.ordered, lambda value: base.prefix(_value(value)), raw, loose)


def _value(member: Any) -> Any:
    return member.value if isinstance(member, Enum) else member


def _pick(name: str, texts: Mapping[Any, str], kind: type[object]) -> Callable[[Any], str]:
    """Make an encoder that takes members only: neither their bare values, nor True for 1, nor another Enum's."""

    def encode(value: Any) -> str:
        member = isinstance(value, kind) and isinstance(value, bool | Enum) is issubclass(kind, Enum)
        text = texts.get(_value(value)) if member else None
        if text is None:
            raise KeyValueError(kind_of(value), f"a member of {name}")
        return text

    return encode
