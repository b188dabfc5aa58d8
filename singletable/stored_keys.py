"""How a field with `codec=` stands in a raw or native key: as it is stored.

Theory of operation. A key of a table that exists holds what the other program wrote there, and `codec=` is how a field
says what that is: PynamoDB's `UTCDateTimeAttribute` ends its text with `+0000`, a TTL is a number of seconds. So in a
raw or native key the codec decides, and the key attribute and the field's own attribute are one text. (An encoded key
is ours, and the annotation decides there.)

A key finds a value again only if the codec gives back what it was given: a value that it stores in part, such as a
moment's fraction beside whole seconds, is refused in a key. Whether the stored form sorts as the values do cannot be
read off a codec. It is tried, on values of the annotated type that ordinary mistakes put out of order: whole against
fractions, negative numbers, numbers and years of unequal length, noon and midnight. Text of values other than str must
also be of one length. Where any of it fails, ranges are refused and whole values are what a query can ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from singletable.attributes import Codec
from singletable.codecs import CodecError
from singletable.errors import TemplateError, kind_of
from singletable.keys import KeyFormat, KeyValueError, plain_type
from singletable.keys.encoding import DELIMITER, forges
from singletable.keys.language import Language
from singletable.keys.notation import delimiter_of, strict, takes
from singletable.keys.numbers import plain_number

__all__ = ["native_form", "stored_format"]

MOMENTS: tuple[datetime, ...] = tuple(
    datetime.fromisoformat(text).replace(tzinfo=UTC)
    for text in (
        "0001-01-01T00:00:00",
        "0987-12-31T23:59:59.999999",
        "1969-12-31T23:59:59",
        "1970-01-01T00:00:00",
        "2001-09-09T01:46:39",
        "2001-09-09T01:46:40",
        "2026-01-02T00:00:00",
        "2026-01-02T00:00:00.000001",
        "2026-01-02T00:00:00.000020",
        "2026-01-02T00:00:00.100000",
        "2026-01-02T00:00:01",
        "2026-01-02T09:59:59",
        "2026-01-02T12:00:00",
        "2026-01-02T13:00:00",
        "2026-01-10T00:00:00",
        "2026-02-01T00:00:00",
        "2026-10-01T00:00:00",
        "9999-12-31T23:59:59",
    )
)
NUMBERS = (-1000, -100, -10, -9, -1, 0, 1, 2, 9, 10, 99, 100, 1000)

SAMPLES: Mapping[object, Sequence[Any]] = {
    str: ("0", "A", "B", "Z", "_", "a", "a b", "aa", "b", "é", "\uffff", "\U0001f600"),
    int: NUMBERS,
    float: tuple(number / 4 for number in NUMBERS),
    Decimal: tuple(Decimal(number) / 4 for number in NUMBERS),
    bytes: (b"\x00", b"\x01", b"\x01\x00", b"\x7f", b"\x80", b"\xff"),
    bool: (False, True),
    datetime: MOMENTS,
    date: tuple(dict.fromkeys(moment.date() for moment in MOMENTS)),
    time: tuple(sorted({moment.time() for moment in MOMENTS})),
    timedelta: tuple(timedelta(seconds=number / 4) for number in NUMBERS),
    UUID: (UUID(int=1), UUID(int=2**64), UUID(int=2**127)),
}
"""Values of each type in their order, by which a codec is tried."""


def stored_format(codec: Codec, annotation: object, *, raw: bool | str) -> KeyFormat:
    """Make the format of a part of a raw key that stands as its codec stores it, as S or N.

    TemplateError where the annotated type is no key part, or what is stored is no text or number.
    """
    delimiter = delimiter_of(raw)
    if codec.attribute_type not in ("S", "N"):
        raise TemplateError(
            f"a codec that stores {codec.attribute_type} cannot stand in a text key",
            hint="a raw key holds what is stored as S or N",
        )

    def encode(value: Any) -> str:
        text = _text(codec, value)
        if delimiter in text:
            raise KeyValueError(f"a value stored as text with a {delimiter!r}", f"one without: {_NOT_ESCAPED}")
        if forges(text):
            raise KeyValueError("a value stored as text with a hidden segment", "no '!' at the beginning or after '#'")
        return text

    return _format(codec, annotation, encode, delimiter=delimiter)


def native_form(codec: Codec, annotation: object) -> KeyFormat:
    """Make the form of a native key that holds what its codec stores, as text, plain digits or hex."""

    def encode(value: Any) -> str:
        return _text(codec, value)

    return _format(codec, annotation, encode, numeric=codec.attribute_type == "N")


REFUSALS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""What a codec of one's own may raise for a value it does not take."""

_NOT_ESCAPED = "a raw key is not escaped"


def _text(codec: Codec, value: Any) -> str:
    """Write a value as it is stored. KeyValueError for what is refused, absent, or read back as something else."""
    try:
        stored = codec.encode(value)
        same = stored is not None and codec.decode(stored) == value
    except CodecError as error:
        raise KeyValueError(error.given, error.wanted, error.hint) from None
    except REFUSALS as error:
        refused = f"{kind_of(value)}, which its codec refuses ({type(error).__name__})"
        raise KeyValueError(refused, codec.wanted) from None
    if stored is None or not same:
        what = "is stored as absent" if stored is None else "its codec reads back as another"
        raise KeyValueError(f"{kind_of(value)} that {what}", "a value that a key can give back")
    payload = stored[codec.attribute_type]
    if isinstance(payload, bytes):
        return payload.hex()
    text = plain_number(Decimal(payload)) if codec.attribute_type == "N" else str(payload)
    if not text:
        raise KeyValueError("a value stored as empty text", "non-empty text")
    return text


def _format(
    codec: Codec, annotation: object, encode: Callable[[Any], str], *, delimiter: str = DELIMITER, numeric: bool = False
) -> KeyFormat:
    tag, kind = codec.attribute_type, plain_type(annotation)
    values, texts = _tried(encode, _samples(kind))
    name = getattr(kind, "__name__", str(kind))
    if not texts:
        raise TemplateError(
            f"{name} cannot stand in a key as {codec.wanted} is stored",
            hint="a key part is of a type that keys know, and its codec takes it; else annotate the field as it is "
            "stored: str, int or bytes",
        )

    def read(text: str) -> Any:
        return codec.decode({tag: bytes.fromhex(text) if tag == "B" else text})

    decode = strict(encode, read, f"{codec.wanted}, in a key")
    language = Language.shaped(f"{codec.wanted} {delimiter}", (), takes(decode), texts)
    unchanged, fixed = kind is str and values == texts, len(set(map(len, texts))) == 1
    made = KeyFormat(name, encode, decode, language, raw=True, loose=kind is str or not fixed, delimiter=delimiter)
    places: list[Any] = [Decimal(text) for text in texts] if numeric else texts
    ordered = unchanged or (kind is not str and (numeric or tag == "B" or fixed) and _rising(kind, places))
    return replace(made, ordered=ordered, prefix=encode if unchanged else made.prefix)


def _samples(kind: Any) -> Iterable[Any]:
    """Give values of a type in their order; of an Enum or Literal its members; none of a type that keys do not know."""
    if get_origin(kind) is Literal:
        return [value for value in get_args(kind) if value is not None]
    members: Iterable[Any] = getattr(kind, "__members__", {}).values()  # an Enum's, aliases too
    return list(dict.fromkeys(members)) or SAMPLES.get(kind, ())


def _tried(encode: Callable[[Any], str], samples: Iterable[Any]) -> tuple[list[Any], list[str]]:
    """Write the samples that the codec takes."""
    values, texts = list[Any](), list[str]()
    for value in samples:
        try:
            text = encode(value)
        except KeyValueError:
            continue
        values.append(value)
        texts.append(text)
    return values, texts


def _rising(kind: object, places: Sequence[Any]) -> bool:
    """Say whether samples that are listed in their order sort so as they are stored; those of an Enum have none."""
    return kind in SAMPLES and len(places) > 2 and all(low < high for low, high in pairwise(places))
