"""How a value of each type is written as one segment of a key, so that text order is value order.

    str          escaped text                              never empty
    int          0000000000000000042, -9999999999999999958  int64; a negative is `-` and its ten's complement
    int, width   000042                                    from 0 to the width's nines
    Decimal      1501.125 (12.5), -498.874~ (-12.5), 0     38 digits; `1`, exponent + 500, `.`, digits;
                                                           a negative is its nine's complement, closed by `~`
    datetime, date, time, timedelta                        see `moments`
    UUID         lower-case, with dashes
    bool         false, true
    bytes        lower-case hex                            never empty
    Enum         the format of its values, all of them str or all of them int; so is Literal

A part that sorts downwards is written as the value with the opposite place: -1 - n for an int, -d for a Decimal, the
complement of each digit for a width, a date, a time and a UUID. With `raw=` text is not escaped and numbers are not
padded, to reproduce keys of an existing table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from singletable.errors import TemplateError, kind_of
from singletable.keys.encoding import SPECIAL, KeyValueError, escape, forges, unescape
from singletable.keys.kinds import plain_type, slip
from singletable.keys.language import Language, shape
from singletable.keys.moments import DESCENDING_MOMENTS, MOMENTS
from singletable.keys.notation import KeyFormat, complemented, continues, delimiter_of, fenced, shaped, strict, takes
from singletable.keys.numbers import (
    DIGITS,
    INT_SHAPES,
    decimal_down,
    encode_decimal,
    encode_int,
    fixed_int,
    int_down,
    plain_int,
    plain_number,
    read_decimal,
    read_decimal_down,
    read_int,
    read_int_down,
)

__all__ = ["KeyFormat", "KeyValueError", "key_format"]

DECIMAL_DIGITS = "0123456789"
HEX_DIGITS = "0123456789abcdef"


def key_format(
    annotation: object, *, width: int | None = None, raw: bool | str = False, descending: bool = False
) -> KeyFormat:
    """Choose the format of a part by its field's annotation; TemplateError for a type that cannot stand in a key.

    `X | None`, `Annotated` and `NewType` count as what they hold; `width` is that of `{n:06}`, `descending` that of
    `{n:desc}`; `raw` is True or the delimiter of the raw key.

    >>> key_format(int).encode(7), key_format(int, width=6).encode(7), key_format(str | None).encode("a b")
    ('0000000000000000007', '000007', 'a%20b')
    >>> key_format(int, width=6, descending=True).encode(7), key_format(str, raw="|").encode("a#b c")
    ('999992', 'a#b c')
    """
    kind = plain_type(annotation)
    if width is not None and kind is not int:
        raise TemplateError(f"a width is for int parts, not for {_named(kind)}", hint="write the part without a width")
    if descending:
        return _descending(kind, width, raw)
    return _plain(kind, width) if raw is False else _raw(kind, width, raw)


def _plain(kind: object, width: int | None) -> KeyFormat:
    """Choose among the formats of encoded keys."""
    if width is not None:
        return _fixed(width)
    return PLAIN[kind] if isinstance(kind, type) and kind in PLAIN else _choice(kind, raw=False)


def _raw(kind: object, width: int | None, raw: bool | str) -> KeyFormat:
    """Choose among the formats that reproduce stored keys; times, UUID, bool and bytes are written as always."""
    delimiter = delimiter_of(raw)
    made = _fixed(width) if width is not None else _raw_text(delimiter) if kind is str else None
    if made is None and isinstance(kind, type) and kind in RAW_NUMBERS:
        made, chars = RAW_NUMBERS[kind]
        made = replace(made, loose=continues(chars, delimiter))
    if made is None:
        made = _plain(kind, None) if isinstance(kind, type) and kind in PLAIN else _choice(kind, raw=raw)
    loose = made.loose or (kind is bytes and continues(HEX_DIGITS, delimiter))
    return fenced(replace(made, raw=True, loose=loose, delimiter=delimiter), delimiter)


def _descending(kind: object, width: int | None, raw: bool | str) -> KeyFormat:
    """Choose among the formats that sort downwards."""
    if raw is not False:
        raise TemplateError(
            "a raw part cannot sort downwards: its text is the value's own",
            hint="leave :desc out and ask the query for .descending(), or declare the key without raw=",
        )
    if width is not None:
        return complemented(_fixed(width), DECIMAL_DIGITS)
    if isinstance(kind, type) and kind in DESCENDING:
        return DESCENDING[kind]
    raise TemplateError(
        f"a part of {_named(kind)} cannot sort downwards",
        hint="leave :desc out and ask the query for .descending(); int, Decimal, datetime, date, time, timedelta and "
        "UUID can",
    )


def _named(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def _way_out(kind: object) -> str:
    hints: dict[object, str] = {
        float: "use Decimal or int: a float has no exact text",
        tuple: "a tuple of str stands in a key as a last part {name*}",
    }
    known = "str, int, Decimal, datetime, date, time, timedelta, UUID, bool, bytes, Enum, Literal"
    return hints.get(get_origin(kind) or kind, f"key parts are {known}")


# Text


def _encode_text(value: Any) -> str:
    if type(value) is str and value and SPECIAL(value) is None:
        return value
    if not isinstance(value, str) or not value:
        raise KeyValueError(kind_of(value), "non-empty text", "" if value == "" else slip(value, str))
    try:
        return escape(value if type(value) is str else str.__str__(value))
    except ValueError:
        raise KeyValueError("text with a lone surrogate", "text with a UTF-8 form") from None


def _decode_text(text: str) -> str:
    if text and SPECIAL(text) is None:
        return text
    read: str = STRICT_TEXT(text)
    return read


STRICT_TEXT = strict(_encode_text, unescape, "text as the key encoding writes it")


def _raw_text(delimiter: str) -> KeyFormat:
    """Take text as it is. A segment beginning with `!` belongs to hidden items, which no value may forge."""

    def encode(value: Any) -> str:
        _encode_text(value)
        if delimiter in value:
            raise KeyValueError(f"text with a {delimiter!r}", f"text without {delimiter!r}: a raw key is not escaped")
        if forges(value):
            wanted = "no '!' at the beginning or after a '#': it is kept for hidden items"
            raise KeyValueError("text with a hidden segment, which begins with '!'", wanted)
        return str.__str__(value)

    decode = strict(encode, str, f"non-empty text without {delimiter!r}")
    language = Language.shaped(f"raw str {delimiter}", (), takes(decode), ("a", "b"))
    return KeyFormat("str", encode, decode, language, prefix=encode, raw=True, loose=True, delimiter=delimiter)


# Numbers, bytes, UUID, bool


def _fixed(width: int) -> KeyFormat:
    return replace(shaped(f"int:0{width}", fixed_int(width), int, [shape("d" * width)], [0, 1]), name="int")


def _decimal(name: str, encode: Callable[[Any], str], read: Callable[[str], Any]) -> KeyFormat:
    masks = [mask for size in range(1, DIGITS + 1) for mask in (f"1ddd.{'d' * size}", f"-ddd.{'d' * size}~")]
    return replace(shaped(name, encode, read, [shape("0"), *map(shape, masks)], [0, 1, -1]), name="Decimal")


def _raw_int() -> KeyFormat:
    shapes = [shape(sign + "d" * size) for sign in ("", "-") for size in range(1, DIGITS + 1)]
    return replace(shaped("raw int", plain_int, int, shapes, [1, 2, -1]), name="int", ordered=False)


def _raw_decimal() -> KeyFormat:
    decode = strict(plain_number, Decimal, "plain decimal text")
    language = Language.shaped("raw Decimal", (), takes(decode), ("1", "2", "-1", "0.5"))
    return KeyFormat("Decimal", plain_number, decode, language, ordered=False)


def _encode_bytes(value: Any) -> str:
    if not isinstance(value, bytes) or not value:
        raise KeyValueError(kind_of(value), "non-empty bytes", "" if value == b"" else slip(value, bytes))
    return value.hex()


def _bytes() -> KeyFormat:
    made = shaped("bytes", _encode_bytes, bytes.fromhex, (), [b"\x00", b"\xff"])
    return replace(made, prefix=_encode_bytes)


def _encode_uuid(value: Any) -> str:
    if not isinstance(value, UUID):
        raise KeyValueError(kind_of(value), "UUID", slip(value, UUID))
    return UUID.__str__(value)


def _encode_bool(value: Any) -> str:
    if not isinstance(value, bool):
        raise KeyValueError(kind_of(value), "bool", slip(value, bool))
    return "true" if value else "false"


def _bool() -> KeyFormat:
    texts = {"false": False, "true": True}
    decode = strict(_encode_bool, texts.__getitem__, "'false' or 'true'")
    return KeyFormat("bool", _encode_bool, decode, Language.finite("bool", texts))


PLAIN: Mapping[object, KeyFormat] = {
    **MOMENTS,
    str: KeyFormat("str", _encode_text, _decode_text, Language.text(), prefix=_encode_text),
    int: shaped("int", encode_int, read_int, INT_SHAPES, [1, 2, -1]),
    Decimal: _decimal("Decimal", encode_decimal, read_decimal),
    bytes: _bytes(),
    UUID: shaped("UUID", _encode_uuid, UUID, [shape("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")], [UUID(int=1)]),
    bool: _bool(),
}
"""The formats that hang on the type alone."""

DESCENDING: Mapping[object, KeyFormat] = {
    **DESCENDING_MOMENTS,
    int: replace(shaped("int:desc", int_down, read_int_down, INT_SHAPES, [1, 2, -1]), name="int", descending=True),
    Decimal: replace(_decimal("Decimal:desc", decimal_down, read_decimal_down), descending=True),
    UUID: complemented(PLAIN[UUID], HEX_DIGITS),
}
"""The formats of what can sort downwards."""

RAW_NUMBERS: Mapping[object, tuple[KeyFormat, str]] = {
    int: (_raw_int(), DECIMAL_DIGITS),
    Decimal: (_raw_decimal(), "." + DECIMAL_DIGITS),
}
"""Numbers in plain digits, with the characters by which one goes on to another."""


# Enum and Literal


def _choice(kind: object, *, raw: bool | str) -> KeyFormat:
    """Make the format of one of several members, each written as its value; the values are all str or all int."""
    members = _members(kind)
    kinds: set[object] = {type(value) for value, _ in members}
    name = _named(kind)
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
    made = KeyFormat(name, encode, strict(encode, read.__getitem__, f"a member of {name}"), Language.finite(name, read))
    return replace(
        made,
        ordered=base.ordered,
        prefix=_prefixing(base),
        raw=base.raw,
        loose=base.raw and _goes_on(list(read), base.delimiter),
        delimiter=base.delimiter,
    )


def _prefixing(base: KeyFormat) -> Callable[[Any], str]:
    def prefix(value: Any) -> str:
        return base.prefix(_value(value))

    return prefix


def _members(kind: object) -> Sequence[tuple[Any, Any]]:
    """List the values with their members; TemplateError for a type that cannot stand in a key at all."""
    name, hint = _named(kind), _way_out(kind)
    if get_origin(kind) is Literal:
        return [(value, value) for value in get_args(kind) if value is not None]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [(member.value, member) for member in kind]
    raise TemplateError(f"{name} cannot stand in a key", hint=hint)


def _goes_on(texts: Sequence[str], delimiter: str) -> bool:
    """Say whether one text goes on to another in the range of its subtree."""
    pairs = ((a, b) for a in texts for b in texts if b != a and b.startswith(a))
    return any(continues(b[len(a)], delimiter) for a, b in pairs)


def _value(member: Any) -> Any:
    return member.value if isinstance(member, Enum) else member


def _pick(name: str, texts: Mapping[Any, str], kind: type[object]) -> Callable[[Any], str]:
    """Make an encoder that takes members only: neither their bare values, nor True for 1, nor another Enum's."""

    def encode(value: Any) -> str:
        member = isinstance(value, kind) and isinstance(value, bool | Enum) is issubclass(kind, Enum)
        text = texts.get(_value(value)) if member else None
        if text is None:
            raise KeyValueError(
                kind_of(value), f"a member of {name}", slip(value, kind) if issubclass(kind, Enum) else ""
            )
        return text

    return encode
