"""How a field's value becomes one DynamoDB attribute, and how it is read back.

Theory. `codec_for` looks at an annotation once, when a class is built, and composes a `Codec` of two closures; nothing
is dispatched on a type at run time. Underneath stands a `Scalar`, which writes and reads the payload of one attribute
type. A field of that type wraps the payload (`{"N": "7"}`), a set lists payloads (`{"NS": ["7"]}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, is_dataclass, replace
from enum import Enum, Flag
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, Union, cast, get_args, get_origin, is_typeddict

from singletable.errors import DeclarationError, kind_of
from singletable.scalars import SCALARS, CodecError, Scalar, number_text
from singletable.wire import AttributeValue

__all__ = ["Codec", "CodecError", "codec_for", "number_text"]

_SUPPORTED = (
    "supported: str, int, Decimal, float, bool, bytes, datetime, date, time, timedelta, UUID, an Enum or Literal "
    "of str or of int, set[...] and frozenset[...] of what is stored as S, N or B, tuple[str, ...], and X | None"
)
_WAY_OUT = f"{_SUPPORTED}; anything else needs Field(codec=...)"

_NULL: AttributeValue = {"NULL": True}
_PAYLOADS: dict[str, type] = {
    "S": str,
    "N": str,
    "B": bytes,
    "BOOL": bool,
    "SS": list,
    "NS": list,
    "BS": list,
    "L": list,
}


@dataclass(frozen=True, slots=True)
class Codec:
    """Two functions between a value and DynamoDB JSON.

    `encode` gives None where nothing is to be stored: for the None of an `optional` and for an empty set. `empty`
    builds what a set field reads where its attribute is absent. No codec has both, since storage could not tell its
    None from its empty set.
    """

    encode: Callable[[Any], AttributeValue | None]
    decode: Callable[[AttributeValue], Any]
    attribute_type: str
    wanted: str
    optional: bool = False
    empty: Callable[[], Any] | None = None


# Choices: Enum and Literal, through two dicts.


def _enum_scalar(kind: type[Enum]) -> Scalar:
    members = list(kind)
    if issubclass(kind, Flag) or not members:
        raise _unsupported(kind, "flags combine into values without a name" if members else "it has no member")
    base = _choice_base(kind, [member.value for member in members])
    wanted = f"a member of {kind.__qualname__}"
    payloads = {member.value: base.write(member.value) for member in members}

    def write(value: Any) -> Any:
        if type(value) is not kind:
            raise CodecError(kind_of(value), wanted)
        return payloads[value._value_]

    return Scalar(base.tag, wanted, write, _choice_reader({member.value: member for member in members}, base, wanted))


def _literal_scalar(annotation: object, values: Iterable[object]) -> Scalar:
    values = list(values)
    base = _choice_base(annotation, values)
    wanted = f"one of {', '.join(map(repr, values))}"
    kind = type(values[0])
    payloads = {value: base.write(value) for value in values}

    def write(value: Any) -> Any:
        if type(value) is not kind:
            raise CodecError(kind_of(value), wanted)
        if value not in payloads:
            raise CodecError(f"another {kind.__name__}", wanted)
        return payloads[value]

    return Scalar(base.tag, wanted, write, _choice_reader({value: value for value in values}, base, wanted))


def _choice_base(annotation: object, values: list[object]) -> Scalar:
    """Give the scalar of the one type that all values have, which is str or int."""
    kinds = {type(value) for value in values}
    if kinds not in ({str}, {int}):
        raise _unsupported(annotation, "its values must be all str or all int")
    base = SCALARS[kinds.pop()]
    try:
        for value in values:
            base.write(value)
    except CodecError as error:
        raise _unsupported(annotation, f"one of its values is {error.given}") from None
    return base


def _choice_reader(choices: dict[Any, Any], base: Scalar, wanted: str) -> Callable[[Any], Any]:
    parse = base.read

    def read(payload: Any) -> Any:
        value = payload if parse is None else parse(payload)
        if value not in choices:
            raise CodecError(f"an unknown {type(value).__name__}", wanted)
        return choices[value]

    return read


# Codecs: payloads in their attribute type.


def _mismatch(stored: object, wanted: str, tag: str) -> CodecError:
    words = kind_of(stored)
    found = list(cast("AttributeValue", stored)) if isinstance(stored, dict) else []
    if len(found) != 1:
        return CodecError(f"{words}, which is no DynamoDB JSON", f"{wanted}, stored as {tag}")
    given = "a malformed attribute" if found == [tag] else "an attribute"
    return CodecError(f"{given} of type {found[0]}", f"{wanted}, stored as {tag}")


def _opener(tag: str, wanted: str) -> Callable[[AttributeValue], Any]:
    """Make the function that takes the payload out of an attribute, refusing any other type."""
    kind = _PAYLOADS[tag]

    def open_(stored: AttributeValue) -> Any:
        try:
            payload = stored[tag]
        except (KeyError, TypeError):
            raise _mismatch(stored, wanted, tag) from None
        if type(payload) is not kind:
            raise _mismatch(stored, wanted, tag)
        return payload

    return open_


def _scalar_codec(scalar: Scalar) -> Codec:
    tag, write, read = scalar.tag, scalar.write, scalar.read
    open_ = _opener(tag, scalar.wanted)

    def encode(value: Any) -> AttributeValue:
        return {tag: write(value)}

    if read is None:
        return Codec(encode, open_, tag, scalar.wanted)

    def decode(stored: AttributeValue) -> Any:
        return read(open_(stored))

    return Codec(encode, decode, tag, scalar.wanted)


def _set_codec(container: type[Any], element: Scalar) -> Codec:
    """Store a set as SS, NS or BS: each payload once and sorted, so that equal sets are sent as equal bytes."""
    tag, wanted = f"{element.tag}S", _each(container, element.wanted)
    write_all, read = _writer_of_all(container, element), element.read
    open_ = _opener(tag, wanted)

    def encode(value: Any) -> AttributeValue | None:
        payloads = write_all(value)
        return {tag: sorted(set(payloads))} if payloads else None

    def decode(stored: AttributeValue) -> Any:
        payloads = _all_of(element.tag, open_(stored), wanted)
        try:
            return container(payloads if read is None else map(read, payloads))
        except CodecError as error:
            raise CodecError(f"{error.given} as an element", _each(container, error.wanted)) from None

    return Codec(encode, decode, tag, wanted, empty=container)


def _each(container: type[Any], wanted: str) -> str:
    return f"a {container.__name__}, each element {wanted}"


def _writer_of_all(container: type[Any], element: Scalar) -> Callable[[Any], list[Any]]:
    write, wanted = element.write, _each(container, element.wanted)

    def write_all(value: Any) -> list[Any]:
        if not isinstance(value, container):
            raise CodecError(kind_of(value), wanted)
        try:
            return list(map(write, value))
        except CodecError as error:
            raise CodecError(f"{error.given} as an element", _each(container, error.wanted)) from None

    return write_all


def _all_of(tag: str, payloads: list[Any], wanted: str) -> list[Any]:
    """Give the payloads of a set, if each is one of `tag`."""
    if not {_PAYLOADS[tag]}.issuperset(map(type, payloads)):
        raise CodecError(f"a malformed attribute of type {tag}S", f"{wanted}, stored as {tag}S")
    return payloads


def _path_codec() -> Codec:
    """Store a tuple of text as a list of S."""
    text = SCALARS[str]
    wanted = _each(tuple, text.wanted)
    write_all = _writer_of_all(tuple, text)
    open_, open_step = _opener("L", wanted), _opener("S", f"each element {text.wanted}")

    def encode(value: Any) -> AttributeValue:
        return {"L": [{"S": step} for step in write_all(value)]}

    def decode(stored: AttributeValue) -> Any:
        return tuple(map(open_step, open_(stored)))

    return Codec(encode, decode, "L", wanted)


def _optional(codec: Codec) -> Codec:
    """Let a codec write None as absent and read a stored NULL as None."""
    encode, decode = codec.encode, codec.decode

    def encode_some(value: Any) -> AttributeValue | None:
        return None if value is None else encode(value)

    def decode_some(stored: AttributeValue) -> Any:
        return None if stored == _NULL else decode(stored)

    return replace(codec, encode=encode_some, decode=decode_some, wanted=f"{codec.wanted}, or None", optional=True)


# Annotations.


def codec_for(annotation: object) -> Codec:
    """Compose the codec of a field from its annotation.

    NewType and Annotated stand for what they wrap. Raises DeclarationError for what has no codec.

    >>> codec = codec_for(set[int])
    >>> codec.encode({10, 9}), codec.decode({"NS": ["7"]}), codec.attribute_type
    ({'NS': ['10', '9']}, {7}, 'NS')
    """
    plain = _unwrapped(annotation)
    origin, arguments = get_origin(plain), get_args(plain)
    if origin is Union or origin is UnionType:
        return _optional_of(plain, _only_one(plain, arguments))
    if origin is Literal and None in arguments:
        return _optional(_scalar_codec(_literal_scalar(plain, [value for value in arguments if value is not None])))
    scalar = _scalar_for(plain)
    if scalar is not None:
        return _scalar_codec(scalar)
    if origin is set or origin is frozenset:
        return _set_codec(origin, _element(plain, arguments[0]))
    if origin is tuple and arguments[1:] == (...,) and _unwrapped(arguments[0]) is str:
        return _path_codec()
    raise _unsupported(plain, _reason(plain))


def _unwrapped(annotation: Any) -> Any:
    """Take off NewType, Annotated and, from Python 3.12 on, `type X = ...`."""
    if isinstance(annotation, NewType):
        return _unwrapped(annotation.__supertype__)
    if get_origin(annotation) is Annotated:
        return _unwrapped(get_args(annotation)[0])
    if type(annotation).__name__ == "TypeAliasType":
        return _unwrapped(annotation.__value__)
    return annotation


def _only_one(union: object, arguments: tuple[Any, ...]) -> object:
    """Give the X of `X | None`."""
    others = [argument for argument in arguments if argument is not NoneType]
    if len(others) != 1:
        raise _unsupported(union, "a stored value does not tell which type of a union it was; only X | None is one")
    return others[0]


def _optional_of(union: object, inner: object) -> Codec:
    codec = codec_for(inner)
    if codec.empty is not None:
        hint = f"annotate `{_unwrapped(inner)!r}`, which reads as an empty set where it is absent"
        raise _unsupported(union, "storage cannot tell None from an empty set", hint)
    return _optional(codec)


def _scalar_for(plain: Any) -> Scalar | None:
    if get_origin(plain) is Literal:
        return _literal_scalar(plain, get_args(plain))
    if isinstance(plain, type) and issubclass(plain, Enum):
        return _enum_scalar(plain)
    return next((scalar for kind, scalar in SCALARS.items() if kind is plain), None)


def _element(plain: object, argument: object) -> Scalar:
    scalar = _scalar_for(_unwrapped(argument))
    if scalar is None or scalar.tag == "BOOL":
        raise _unsupported(plain, "DynamoDB's sets hold text, numbers or bytes")
    return scalar


def _reason(plain: Any) -> str:
    """Say why an annotation has no codec."""
    kind = get_origin(plain) or plain
    if isinstance(plain, str):
        return "a type is wanted, not its name; resolve the annotation first"
    if kind in (list, dict) or is_typeddict(kind) or (isinstance(kind, type) and is_dataclass(kind)):
        return "list, dict, dataclasses and TypedDict are not supported yet"
    if kind in (set, frozenset, tuple):
        return f"say of what, as in {'tuple[str, ...]' if kind is tuple else f'{kind.__name__}[str]'}"
    bases = [
        base.__name__
        for base in SCALARS
        if isinstance(base, type) and isinstance(kind, type) and issubclass(kind, base)
    ]
    if bases:
        return f"it would be read back as {bases[0]}; use NewType for a {bases[0]} of its own"
    return "there is no codec for it"


def _unsupported(annotation: object, reason: str, hint: str = _WAY_OUT) -> DeclarationError:
    if isinstance(annotation, type):
        words = annotation.__qualname__
    elif annotation is None or get_origin(annotation) is not None or isinstance(annotation, str):
        words = repr(annotation)
    else:
        words = f"an instance of {type(annotation).__qualname__}"
    message = f"a field cannot hold {words}: {reason}"
    return DeclarationError(message, hint=hint, given=words, wanted=_SUPPORTED)
