"""`Field(codec=...)`: a PynamoDB attribute, or a codec of one's own, in place of what the annotation would choose.

Theory. A PynamoDB attribute is used through its `attr_type`, `serialize`, `deserialize` and, where it has one,
`get_value` (by which the forms of older PynamoDB versions are read). None is absent, as it is everywhere, if the
annotation is `X | None`; `null=` and `default=` belong to PynamoDB's models and do nothing here. What an attribute
writes is checked before it is sent, as our own codecs' values are: its type, exact numbers, depth. PynamoDB itself is
never imported here, and what its errors say (they quote values) is not passed on, only their kind.

The attribute decides how the field is stored, and so how it stands in a raw or native key (`stored_keys`); in a key
that is encoded the annotation does, and a field whose annotation has no key format can stand in none. Where a
MapAttribute is annotated `dict[str, ...]`, or stands in a `list[...]`, its values read as dicts.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Protocol, cast, get_origin

from singletable.attributes import NULL, PAYLOADS, Codec, mismatch
from singletable.codecs import takes_none, unwrapped
from singletable.documents import read_any
from singletable.errors import DeclarationError, kind_of
from singletable.scalars import SCALARS, CodecError
from singletable.wire import AttributeValue

__all__ = ["Attribute", "adopted"]

_REFUSALS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""What an attribute may raise for a value it does not take; PynamoDB's own errors are among them."""


class Attribute(Protocol):
    """What is needed of a PynamoDB attribute."""

    @property
    def attr_type(self) -> str:
        """The attribute type: S, N, B, BOOL, NULL, L, M, SS, NS or BS."""
        ...

    def serialize(self, value: Any, /) -> Any:
        """Write a value as the payload of that type."""
        ...

    def deserialize(self, value: Any, /) -> Any:
        """Read a payload of that type."""
        ...


def adopted(given: Codec | Attribute, annotation: object) -> Codec:
    """Make a field's codec of what was given as `codec=`. DeclarationError for what is none."""
    if isinstance(given, Codec):
        return given
    tag = _checked(given)
    name = type(given).__name__
    wanted = f"what {name} takes"
    optional = takes_none(annotation)
    origin = get_origin(unwrapped(annotation))
    empty = origin if tag in ("SS", "NS", "BS") and origin in (set, frozenset) else None
    encode = _encoder(given, tag, wanted, optional=optional, empty=empty)
    decode = _decoder(given, tag, wanted, optional=optional, empty=empty)
    if origin in (dict, list):
        decode = _unwrapping(decode)
    return Codec(encode, decode, tag, f"{wanted}, or None" if optional else wanted, optional, empty)


def _checked(given: Attribute) -> str:
    """Give the attribute type of what was given, if it is an attribute."""
    if isinstance(given, type):
        raise DeclarationError(f"codec={given.__name__} is a class", hint=f"write codec={given.__name__}(...)")
    tag = getattr(given, "attr_type", None)
    ways = all(callable(getattr(given, way, None)) for way in ("serialize", "deserialize"))
    if not isinstance(tag, str) or tag not in PAYLOADS or not ways:
        raise DeclarationError(
            f"codec= was given {kind_of(given)}, which is no codec",
            hint="give a PynamoDB attribute such as JSONAttribute(), anything with its attr_type, serialize and "
            "deserialize, or a singletable Codec",
        )
    return tag


def _encoder(
    given: Attribute, tag: str, wanted: str, *, optional: bool, empty: type[Any] | None
) -> Callable[[Any], AttributeValue | None]:
    serialize, name = given.serialize, type(given).__name__
    if tag == "M" and hasattr(given, "attribute_values") and name != "MapAttribute":
        serialize = _mapping(type(given), serialize)

    def encode(value: Any) -> AttributeValue | None:
        if value is None and optional:
            return None
        try:
            payload = serialize(value)
        except _REFUSALS as error:
            raise CodecError(f"{kind_of(value)}, which it refuses ({type(error).__name__})", wanted) from None
        if payload is None:
            if empty is not None and not value:
                return None
            raise CodecError(f"{kind_of(value)}, which {name} does not store", wanted)
        return {tag: _sound(tag, payload, wanted)}

    return encode


def _mapping(kind: Callable[..., Any], serialize: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make a map of the class of a dict before it is written.

    PynamoDB's own way from a dict to a map with members drops what the class does not declare, without a word, and
    writes a member `attribute_values` more where the map is dynamic.
    """

    def write(value: Any) -> Any:
        return serialize(kind(**cast("dict[str, Any]", value)) if isinstance(value, dict) else value)

    return write


def _sound(tag: str, payload: Any, wanted: str) -> Any:
    """Check a payload as our own codecs would; sets are written once each and sorted."""
    if type(payload) is not PAYLOADS[tag]:
        raise CodecError(f"a value that became {kind_of(payload)}", f"{wanted}, stored as {tag}")
    if tag in _SETS:
        return sorted({_sound(tag[0], member, wanted) for member in payload})
    if tag in ("L", "M"):
        read_any({tag: payload})
    elif tag == "N":
        _NUMBER(payload)
    elif tag == "S":
        SCALARS[str].write(payload)
    return payload


def _decoder(
    given: Attribute, tag: str, wanted: str, *, optional: bool, empty: type[Any] | None
) -> Callable[[AttributeValue], Any]:
    deserialize = given.deserialize
    payload_of: Callable[[AttributeValue], Any] | None = getattr(given, "get_value", None)
    name = type(given).__name__

    def decode(stored: AttributeValue) -> Any:
        if stored == NULL and tag != "NULL" and (optional or empty is not None):
            return None if empty is None else empty()
        try:
            payload = stored[tag] if payload_of is None else payload_of(stored)
        except _REFUSALS:
            raise mismatch(stored, wanted, tag) from None
        try:
            return deserialize(payload)
        except _REFUSALS as error:
            raise CodecError(f"what {name} cannot read ({type(error).__name__})", wanted) from None

    return decode


def _unwrapping(decode: Callable[[AttributeValue], Any]) -> Callable[[AttributeValue], Any]:
    """Make a decoder that gives dicts where an attribute makes objects of its own."""

    def decode_plain(stored: AttributeValue) -> Any:
        return _plain(decode(stored))

    return decode_plain


def _plain(value: Any) -> Any:
    """Take PynamoDB's maps apart: two of them are never equal, and what is in one can be changed.

    A dynamic one that was read holds a member of the name `attribute_values`, by an oversight of PynamoDB's.
    """
    members: Any = getattr(value, "attribute_values", value)
    kind: object = members.__class__
    if kind is dict:
        return {name: _plain(each) for name, each in members.items() if members is value or name != "attribute_values"}
    return list(map(_plain, members)) if kind is list else value


_SETS = frozenset({"SS", "NS", "BS"})
_NUMBER: Callable[[Any], Any] = SCALARS[Decimal].read or SCALARS[Decimal].write
