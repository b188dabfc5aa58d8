"""How a field's value becomes one DynamoDB attribute, and how it is read back.

Theory. `codec_for` looks at an annotation once, when a class is built, and composes a `Codec` of two closures; nothing
is dispatched on a type at run time. It walks down the annotation, knowing the level on which each value will stand, and
what it finds is built in `attributes`, `documents` and `records`. A dataclass that holds itself is compiled one level
at a time, when a value goes so deep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from singletable.attributes import Codec, Inside, optional, scalar_codec, set_codec
from singletable.choices import Unsuitable, enum_scalar, literal_scalar
from singletable.documents import LEVELS, any_codec, list_codec, map_codec, too_deep
from singletable.errors import DeclarationError, UnresolvedName
from singletable.keys import unwrapped
from singletable.pydantic_records import is_model, model_codec, model_members
from singletable.records import Scope, is_record, members_of, record_codec
from singletable.scalars import SCALARS, CodecError, Scalar, number_text
from singletable.wire import AttributeValue

__all__ = ["Codec", "CodecError", "Scope", "codec_for", "number_text", "takes_none", "unwrapped"]

_SUPPORTED = (
    "supported: str, int, Decimal, float, bool, bytes, datetime, date, time, timedelta, UUID, an Enum or Literal "
    "of str or of int, set[...] and frozenset[...] of what is stored as S, N or B, list[...], tuple[X, ...], "
    "dict[str, ...], dataclasses, TypedDict, pydantic models, Any inside of these, and X | None"
)
_WAY_OUT = f"{_SUPPORTED}; anything else needs Field(codec=...)"
_EMPTY_SCOPE = Scope()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a field's value a codec will stand: the level, the records around it, and those made so far."""

    scope: Scope
    made: dict[tuple[type, int], Codec]
    level: int = 0
    around: frozenset[type] = frozenset()

    def inside(self, *kinds: type) -> _Place:
        return replace(self, level=self.level + 1, around=self.around.union(kinds))


def codec_for(annotation: object, scope: Scope = _EMPTY_SCOPE) -> Codec:
    """Compose the codec of a field from its annotation.

    NewType and Annotated stand for what they wrap; `scope` has the names that the annotations of dataclasses may use.
    Raises DeclarationError for what has no codec, and UnresolvedName for a member that names nothing (yet).

    >>> codec = codec_for(set[int])
    >>> codec.encode({10, 9}), codec.decode({"NS": ["7"]}), codec.attribute_type
    ({'NS': ['10', '9']}, {7}, 'NS')
    >>> codec_for(dict[str, list[int | None]]).encode({"a": [1, None]})
    {'M': {'a': {'L': [{'N': '1'}, {'NULL': True}]}}}
    """
    codec = _compose(annotation, _Place(scope, {}))
    if not codec.attribute_type:
        raise _unsupported(annotation, "a free document is a dict[str, Any] or a list[Any]")
    return codec


def _compose(annotation: object, place: _Place) -> Codec:
    plain = unwrapped(annotation)
    origin, arguments = get_origin(plain), get_args(plain)
    if origin is Union or origin is UnionType:
        return _optional_of(plain, _only_one(plain, arguments), place)
    if place.level >= LEVELS:
        return too_deep()
    if origin is Literal and None in arguments:
        return optional(scalar_codec(_choice(plain, [value for value in arguments if value is not None])))
    scalar = _scalar_for(plain)
    if scalar is not None:
        return scalar_codec(scalar)
    if is_record(plain) or is_model(plain):
        return _record(plain, place)
    return any_codec(place.level) if plain is Any else _container(plain, origin, arguments, place)


def _container(plain: Any, origin: object, arguments: tuple[Any, ...], place: _Place) -> Codec:
    if origin is set or origin is frozenset:
        return set_codec(set if origin is set else frozenset, _element(plain, arguments[0]))
    if origin is list:
        return list_codec(list, _compose(arguments[0], place.inside()))
    if origin is tuple and arguments[1:] == (...,):
        return list_codec(tuple, _compose(arguments[0], place.inside()))
    if origin is dict:
        return map_codec(_key(plain, arguments[0]), _compose(arguments[1], place.inside()))
    raise _unsupported(plain, _reason(plain))


# Records.


def _record(kind: type[Any], place: _Place) -> Codec:
    made = place.made.get((kind, place.level))
    if made is not None:
        return made
    if kind in place.around:
        return _later(kind, place)
    found, make = (
        (model_members(kind), model_codec) if is_model(kind) else (members_of(kind, place.scope), record_codec)
    )
    codec = make(kind, [(each, _member(kind, each.name, each.annotation, place)) for each in found], place.level)
    place.made[kind, place.level] = codec
    return codec


def _member(kind: type[Any], name: str, annotation: object, place: _Place) -> Codec:
    try:
        return _compose(annotation, place.inside(kind))
    except UnresolvedName:
        raise
    except DeclarationError as error:
        message = f"{kind.__name__}.{name}: {error.message}"
        raise DeclarationError(message, hint=error.hint, given=error.message, wanted=_SUPPORTED) from None


def _later(kind: type[Any], place: _Place) -> Codec:
    """Stand in for a record inside itself; its codec is made when a value first goes so deep."""

    def encode(value: Any) -> AttributeValue | None:
        return _record(kind, replace(place, around=frozenset())).encode(value)

    def decode(stored: AttributeValue) -> Any:
        return _record(kind, replace(place, around=frozenset())).decode(stored)

    def inside(step: object) -> Inside:
        found = _record(kind, replace(place, around=frozenset())).inside
        if found is None:
            raise CodecError("a step", wanted)
        return found(step)

    wanted = f"an instance of {kind.__name__}" if not issubclass(kind, dict) else f"a dict of {kind.__name__}"
    return Codec(encode, decode, "M", wanted, inside=inside)


# Annotations.


def takes_none(annotation: object) -> bool:
    """Say whether an annotation is `X | None` (or Any, or a Literal with None).

    >>> takes_none(int | None), takes_none(int)
    (True, False)
    """
    plain = unwrapped(annotation)
    return plain is Any or NoneType in get_args(plain) or (get_origin(plain) is Literal and None in get_args(plain))


def _only_one(union: object, arguments: tuple[Any, ...]) -> object:
    """Give the X of `X | None`."""
    others = [argument for argument in arguments if argument is not NoneType]
    if len(others) != 1:
        raise _unsupported(union, "a stored value does not tell which type of a union it was; only X | None is one")
    return others[0]


def _optional_of(union: object, inner: object, place: _Place) -> Codec:
    codec = _compose(inner, place)
    if unwrapped(inner) is Any:
        return codec  # which writes None as NULL
    if codec.empty is not None:
        hint = f"annotate `{unwrapped(inner)!r}`, which reads as an empty set where it is absent"
        raise _unsupported(union, "storage cannot tell None from an empty set", hint)
    return optional(codec)


def _scalar_for(plain: Any) -> Scalar | None:
    if get_origin(plain) is Literal or (isinstance(plain, type) and issubclass(plain, Enum)):
        return _choice(plain, get_args(plain))
    return next((scalar for kind, scalar in SCALARS.items() if kind is plain), None)


def _choice(plain: Any, values: Any) -> Scalar:
    try:
        return literal_scalar(values) if get_origin(plain) is Literal else enum_scalar(plain)
    except Unsuitable as error:
        raise _unsupported(plain, str(error)) from None


def _element(plain: object, argument: object) -> Scalar:
    scalar = _scalar_for(unwrapped(argument))
    if scalar is None or scalar.tag == "BOOL":
        raise _unsupported(plain, "DynamoDB's sets hold text, numbers or bytes")
    return scalar


def _key(plain: object, argument: object) -> Scalar:
    scalar = _scalar_for(unwrapped(argument))
    if scalar is None or scalar.tag != "S":
        raise _unsupported(plain, "the keys of DynamoDB's maps are text: dict[str, ...], or of what is stored as S")
    return scalar


def _reason(plain: Any) -> str:
    """Say why an annotation has no codec."""
    kind = get_origin(plain) or plain
    if isinstance(plain, str):
        return "a type is wanted, not its name; resolve the annotation first"
    if isinstance(plain, TypeVar):
        return "a generic base leaves it open; declare the field anew in each kind, with its type"
    example = next((example for container, example in _EXAMPLES.items() if container is kind), None)
    if example is not None:
        return f"say of what, as in {example}"
    if is_record(kind):
        return "a generic one has no codec; derive one with its types filled in"
    bases = [
        base.__name__
        for base in (*SCALARS, *_EXAMPLES)
        if isinstance(base, type) and isinstance(kind, type) and issubclass(kind, base)
    ]
    if bases:
        return f"it would be read back as {bases[0]}; use NewType for a {bases[0]} of its own"
    return "there is no codec for it"


_EXAMPLES: dict[object, str] = {
    set: "set[str]",
    frozenset: "frozenset[str]",
    tuple: "tuple[str, ...]; a dataclass holds a fixed number of values",
    list: "list[str]",
    dict: "dict[str, Any]",
}


def _unsupported(annotation: object, reason: str, hint: str = _WAY_OUT) -> DeclarationError:
    if isinstance(annotation, type):
        words = annotation.__qualname__
    elif annotation is None or get_origin(annotation) is not None or isinstance(annotation, str):
        words = repr(annotation)
    else:
        words = "Any" if annotation is Any else f"an instance of {type(annotation).__qualname__}"
    message = f"a field cannot hold {words}: {reason}"
    return DeclarationError(message, hint=hint, given=words, wanted=_SUPPORTED)
