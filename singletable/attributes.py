"""What a codec is: two functions between a value and one DynamoDB attribute.

Theory. A `Scalar` writes and reads the payload of one attribute type; here the payloads get their wrapping. A field of
that type wraps one payload (`{"N": "7"}`), a set lists many (`{"NS": ["7"]}`). Lists, maps and what stands in them are
`documents`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from singletable.errors import kind_of
from singletable.scalars import CodecError, Scalar
from singletable.wire import AttributeValue

__all__ = ["NULL", "PAYLOADS", "Codec", "Inside", "each", "mismatch", "opener", "optional", "scalar_codec", "set_codec"]

NULL: AttributeValue = {"NULL": True}

PAYLOADS: dict[str, type[Any]] = {
    "S": str,
    "N": str,
    "B": bytes,
    "BOOL": bool,
    "NULL": bool,
    "SS": list,
    "NS": list,
    "BS": list,
    "L": list,
    "M": dict,
}
"""The attribute types, and the Python type of each one's payload. Binary payloads are bytes, at every depth."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Two functions between a value and DynamoDB JSON.

    `encode` gives None where nothing is to be stored: for the None of an `optional` and for an empty set. `empty`
    builds what a set field reads where its attribute is absent. No codec has both, since storage could not tell its
    None from its empty set. `element` writes one element of a list or tuple. `inside` finds what stands at a step into
    a list or map, where the codec knows of any; CodecError for a step that leads nowhere.
    """

    encode: Callable[[Any], AttributeValue | None]
    decode: Callable[[AttributeValue], Any]
    attribute_type: str
    wanted: str
    optional: bool = False
    empty: Callable[[], Any] | None = None
    element: Callable[[Any], AttributeValue] | None = None
    inside: Callable[[object], Inside] | None = None


@dataclass(frozen=True, slots=True)
class Inside:
    """What stands at a step into a value: the stored name or index, its codec, and whether it may be absent.

    `shown` is the step as an error may tell it; the keys of a dict are data, and are not told.
    """

    step: str | int
    codec: Codec
    shown: str
    removable: bool = True


def mismatch(stored: object, wanted: str, tag: str) -> CodecError:
    """Make the error for an attribute that is not of the type `tag`, or is none at all."""
    words = kind_of(stored)
    found = list(cast("AttributeValue", stored)) if isinstance(stored, dict) else []
    if len(found) != 1:
        return CodecError(f"{words}, which is no DynamoDB JSON", f"{wanted}, stored as {tag}")
    if found[0] not in PAYLOADS:
        return CodecError("an attribute of no known type", f"{wanted}, stored as {tag}")
    given = "a malformed attribute" if found == [tag] else "an attribute"
    return CodecError(f"{given} of type {found[0]}", f"{wanted}, stored as {tag}")


def opener(tag: str, wanted: str) -> Callable[[AttributeValue], Any]:
    """Make the function that takes the payload out of an attribute, refusing any other type."""
    kind = PAYLOADS[tag]

    def open_(stored: AttributeValue) -> Any:
        try:
            payload = stored[tag]
        except (KeyError, TypeError):
            raise mismatch(stored, wanted, tag) from None
        if type(payload) is not kind:
            raise mismatch(stored, wanted, tag)
        return payload

    return open_


def scalar_codec(scalar: Scalar) -> Codec:
    """Wrap one payload."""
    tag, write, read = scalar.tag, scalar.write, scalar.read
    open_ = opener(tag, scalar.wanted)

    def encode(value: Any) -> AttributeValue:
        return {tag: write(value)}

    if read is None:
        return Codec(encode, open_, tag, scalar.wanted)

    def decode(stored: AttributeValue) -> Any:
        return read(open_(stored))

    return Codec(encode, decode, tag, scalar.wanted)


def set_codec(container: type[Any], element: Scalar) -> Codec:
    """Store a set as SS, NS or BS: each payload once and sorted, so that equal sets are sent as equal bytes."""
    tag, wanted = f"{element.tag}S", each(container, element.wanted)
    write_all, read = _writer_of_all(container, element), element.read
    open_ = opener(tag, wanted)

    def encode(value: Any) -> AttributeValue | None:
        payloads = write_all(value)
        return {tag: sorted(set(payloads))} if payloads else None

    def decode(stored: AttributeValue) -> Any:
        payloads = _all_of(element.tag, open_(stored), wanted)
        try:
            return container(payloads if read is None else map(read, payloads))
        except CodecError as error:
            raise CodecError(f"{error.given} as an element", each(container, error.wanted), hint=error.hint) from None

    return Codec(encode, decode, tag, wanted, empty=container)


def each(container: type[Any], wanted: str) -> str:
    """Say what a container of such elements is.

    >>> each(list, "text")
    'a list, each element text'
    """
    return f"a {container.__name__}, each element {wanted}"


def _writer_of_all(container: type[Any], element: Scalar) -> Callable[[Any], list[Any]]:
    write, wanted = element.write, each(container, element.wanted)

    def write_all(value: Any) -> list[Any]:
        if not isinstance(value, container):
            raise CodecError(kind_of(value), wanted)
        try:
            return list(map(write, value))
        except CodecError as error:
            raise CodecError(f"{error.given} as an element", each(container, error.wanted), hint=error.hint) from None

    return write_all


def _all_of(tag: str, payloads: list[Any], wanted: str) -> list[Any]:
    """Give the payloads of a set, if each is one of `tag`."""
    if not {PAYLOADS[tag]}.issuperset(map(type, payloads)):
        raise CodecError(f"a malformed attribute of type {tag}S", f"{wanted}, stored as {tag}S")
    return payloads


def optional(codec: Codec) -> Codec:
    """Let a codec write None as absent and read a stored NULL as None."""
    encode, decode = codec.encode, codec.decode

    def encode_some(value: Any) -> AttributeValue | None:
        return None if value is None else encode(value)

    def decode_some(stored: AttributeValue) -> Any:
        return None if stored == NULL else decode(stored)

    return replace(codec, encode=encode_some, decode=decode_some, wanted=f"{codec.wanted}, or None", optional=True)
