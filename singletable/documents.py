"""Lists, maps and free documents: values that hold values.

Theory. A container's codec is made of its elements' codecs, so a closure calls the next one and no type is asked for at
run time; only `Any` looks at each value. A place that must be filled (a list's element) holds NULL where there is
nothing to store; a map's entry is left out. DynamoDB nests values 32 deep, the attribute's own value counted as the
first (AWS, "Constraints in Amazon DynamoDB"; 31 containers around a text were accepted, 32 refused), so every codec is
made for the level it stands on, and what would stand deeper is refused before anything is sent.

`Any` stands for text, bool, int, Decimal, bytes, None and lists, dicts and sets of them, one to one. A float is
refused, since numbers are exact. A number reads back as an int where it is whole, else as a Decimal: equal to what was
written, though Decimal("2.00") comes back as 2; `dict[str, Decimal]` keeps the type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from types import NoneType
from typing import Any

from singletable.attributes import NULL, PAYLOADS, Codec, Inside, each, mismatch, opener
from singletable.errors import kind_of
from singletable.scalars import SCALARS, CodecError, Scalar
from singletable.wire import AttributeValue

__all__ = ["LEVELS", "any_codec", "filled", "list_codec", "map_codec", "read_any", "reading", "too_deep", "write_any"]

LEVELS = 32
"""A value may stand on so many levels: 31 lists and maps may be around it."""

KEY_BYTES = 65_535
"""A map's key has from one byte to so many. Source: AWS, "Naming rules": at least one character, less than 64 KB."""

_DEEPER = "a value nested deeper than 32 levels"
_AT_MOST = "at most 31 lists and maps around a value"
_ANYTHING = "text, a bool, int, Decimal, bytes, None, or a list, dict or set of them"
_EXACT = "a Decimal, such as Decimal(str(value)): numbers are exact"
_HIDDEN_KEY = "[...]"
_KEY = f"a key of 1 to {KEY_BYTES} bytes"


# Containers with typed elements.


def filled(codec: Codec) -> Callable[[Any], Any]:
    """Make the writer for a place that must be filled: NULL stands where nothing is to be stored."""
    encode = codec.encode
    if not codec.optional and codec.empty is None:
        return encode  # which then always gives an attribute

    def encode_filled(value: Any) -> AttributeValue:
        encoded = encode(value)
        return NULL if encoded is None else encoded

    return encode_filled


def reading(codec: Codec) -> Callable[[AttributeValue], Any]:
    """Make the reader for a value inside another, where NULL may stand for an empty set."""
    decode, empty = codec.decode, codec.empty
    if empty is None:
        return decode

    def decode_filled(stored: AttributeValue) -> Any:
        return empty() if stored == NULL else decode(stored)

    return decode_filled


def list_codec(container: type[Any], element: Codec) -> Codec:
    """Store a list or tuple as L; None and empty sets among its elements as NULL."""
    wanted = each(container, element.wanted)
    write, read = filled(element), reading(element)
    open_ = opener("L", wanted)

    def encode(value: Any) -> AttributeValue:
        if not isinstance(value, container):
            raise CodecError(kind_of(value), wanted)
        return {"L": _all(write, iter(value))}

    def decode(stored: AttributeValue) -> Any:
        return container(_all(read, iter(open_(stored))))

    def inside(step: object) -> Inside:
        return Inside(_index(step), standing, f"[{step}]")

    standing = replace(element, encode=write, decode=read)
    return Codec(encode, decode, "L", wanted, element=write, inside=inside)


def _index(step: object) -> int:
    if not isinstance(step, int) or isinstance(step, bool) or step < 0:
        given = "a negative index" if isinstance(step, int) and step < 0 else kind_of(step)
        raise CodecError(given, "a place in a list, counted from 0")
    return step


def _all(convert: Callable[[Any], Any], values: Iterator[Any]) -> list[Any]:
    """Convert every element; an error says at which one it happened."""
    done: list[Any] = []
    add = done.append
    try:
        for value in values:
            add(convert(value))
    except CodecError as error:
        error.within(f"[{len(done)}]")
        raise
    return done


def map_codec(key: Scalar, entry: Codec) -> Codec:
    """Store a dict as M, with keys of what is stored as S. An entry whose value is None is left out."""
    wanted = f"a dict, each key {key.wanted} and each value {entry.wanted}"
    write = entry.encode if entry.empty is None else filled(entry)
    write_key, read_key, read = _key_writer(key), key.read or _same, reading(entry)
    open_, mapping, optional = opener("M", wanted), PAYLOADS["M"], entry.optional

    def encode(value: Any) -> AttributeValue:
        if not isinstance(value, mapping):
            raise CodecError(kind_of(value), wanted)
        entries = _entries(value, write_key, write)
        if optional:
            entries = {name: held for name, held in entries.items() if held is not None}
        return {"M": entries}

    def decode(stored: AttributeValue) -> Any:
        return _entries(open_(stored), read_key, read)

    def inside(step: object) -> Inside:
        return Inside(write_key(step), standing, _HIDDEN_KEY)

    standing = replace(entry, encode=write, decode=read)
    return Codec(encode, decode, "M", wanted, inside=inside)


def _same(value: Any) -> Any:
    return value


def _key_writer(key: Scalar) -> Callable[[Any], str]:
    write = key.write

    def write_key(name: Any) -> str:
        text: str = write(name)
        if not text or (len(text) > KEY_BYTES // 4 and len(text.encode()) > KEY_BYTES):
            raise CodecError("a longer key" if text else "an empty key", _KEY)
        return text

    return write_key


def _entries(values: dict[Any, Any], key: Callable[[Any], Any], convert: Callable[[Any], Any]) -> dict[Any, Any]:
    """Convert every entry; an error says at which one, since the keys are data."""
    done: dict[Any, Any] = {}
    try:
        for name, value in values.items():
            converted = key(name)
            if converted in done:
                raise CodecError("a key that is stored like another one", "keys that differ")
            done[converted] = convert(value)
    except CodecError as error:
        error.within(f"[entry {len(done)}]")
        raise
    return done


# Any: the one codec that looks at each value.


def any_codec(level: int) -> Codec:
    """Store whatever DynamoDB has a form for; None is NULL."""

    def encode(value: Any) -> AttributeValue:
        return write_any(value, level)

    def decode(stored: AttributeValue) -> Any:
        return read_any(stored, level)

    def inside(step: object) -> Inside:
        below = any_codec(level + 1)
        return _any_entry(step, below) if isinstance(step, str) else Inside(_index(step), below, f"[{step}]")

    return Codec(encode, decode, "", _ANYTHING, inside=inside)


def _any_entry(step: str, below: Codec) -> Inside:
    return Inside(_write_text_key(step), below, _HIDDEN_KEY)


def too_deep() -> Codec:
    """Refuse every value: it would stand below the last level."""

    def refuse(_value: Any) -> Any:
        raise CodecError(_DEEPER, _AT_MOST)

    return Codec(refuse, refuse, "", _AT_MOST)


def write_any(value: object, level: int = 0) -> AttributeValue:
    """Write a value by its own type, as it stands on this level.

    >>> write_any({"a": [1, Decimal("0.50"), None]})
    {'M': {'a': {'L': [{'N': '1'}, {'N': '0.5'}, {'NULL': True}]}}}
    """
    if level >= LEVELS:
        raise CodecError(_DEEPER, _AT_MOST)
    kind = type(value)
    write = _WRITERS.get(kind) or _writer_of_base(kind)
    if write is None:
        raise CodecError(kind_of(value), _EXACT if isinstance(value, float) else _ANYTHING)
    return write(value, level)


def _writer_of_base(kind: type[Any]) -> Callable[[Any, int], AttributeValue] | None:
    return next((_WRITERS[base] for base in kind.__mro__ if base in _WRITERS), None)


def read_any(stored: AttributeValue, level: int = 0) -> Any:
    """Read an attribute by its own type, as it stands on this level.

    >>> read_any({"L": [{"N": "1.0"}, {"N": "0.5"}, {"SS": ["a"]}, {"NULL": True}]})
    [1, Decimal('0.5'), {'a'}, None]
    """
    if level >= LEVELS:
        raise CodecError(_DEEPER, _AT_MOST)
    tag = next(iter(stored), None) if type(stored) is dict and len(stored) == 1 else None
    if tag is None or tag not in PAYLOADS or type(stored[tag]) is not PAYLOADS[tag]:
        raise mismatch(stored, _ANYTHING, tag or "any type")
    return _READERS[tag](stored[tag], level)


def _scalar_writer(kind: type) -> Callable[[Any, int], AttributeValue]:
    scalar = SCALARS[kind]

    def write(value: Any, _level: int) -> AttributeValue:
        return {scalar.tag: scalar.write(value)}

    return write


def _write_null(_value: Any, _level: int) -> AttributeValue:
    return NULL


def _write_list(value: Any, level: int) -> AttributeValue:
    return {"L": _all(lambda element: write_any(element, level + 1), iter(value))}


def _write_map(value: Any, level: int) -> AttributeValue:
    return {"M": _entries(value, _write_text_key, lambda entry: write_any(entry, level + 1))}


def _write_set(value: Any, _level: int) -> AttributeValue:
    stored = [write_any(element) for element in value]
    tags = {tag for attribute in stored for tag in attribute}
    if len(tags) != 1 or not tags <= _MEMBERS:
        raise CodecError("an empty set" if not tags else "a set of something else", _SETS)
    (tag,) = tags
    return {f"{tag}S": sorted({attribute[tag] for attribute in stored})}


def _read_number(text: str, _level: int) -> int | Decimal:
    value: Decimal = _read_decimal(text)
    whole = int(value)
    return whole if whole == value else value


def _read_set(tag: str) -> Callable[[list[Any], int], set[Any]]:
    def read(payloads: list[Any], _level: int) -> set[Any]:
        return {read_any({tag: payload}) for payload in payloads}

    return read


def _read_null(_payload: bool, _level: int) -> None:
    return None


def _read_payload(payload: Any, _level: int) -> Any:
    return payload


def _read_list(payload: list[Any], level: int) -> list[Any]:
    return _all(lambda element: read_any(element, level + 1), iter(payload))


def _read_map(payload: dict[str, Any], level: int) -> dict[str, Any]:
    return _entries(payload, _same, lambda entry: read_any(entry, level + 1))


_SETS = "a set of text, of numbers or of bytes, with at least one element"
_MEMBERS = frozenset({"S", "N", "B"})
_read_decimal = SCALARS[Decimal].read or _same
_write_text_key = _key_writer(SCALARS[str])
_WRITERS: dict[type, Callable[[Any, int], AttributeValue]] = {
    **{kind: _scalar_writer(kind) for kind in (str, bool, int, Decimal, bytes)},
    NoneType: _write_null,
    list: _write_list,
    dict: _write_map,
    set: _write_set,
    frozenset: _write_set,
}
_READERS: dict[str, Callable[[Any, int], Any]] = {
    "S": _read_payload,
    "N": _read_number,
    "B": _read_payload,
    "BOOL": _read_payload,
    "NULL": _read_null,
    "SS": _read_set("S"),
    "NS": _read_set("N"),
    "BS": _read_set("B"),
    "L": _read_list,
    "M": _read_map,
}
