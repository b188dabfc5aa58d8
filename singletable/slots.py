"""The places of a collection's class: which kinds go where, read from its annotations, and filled from what was found.

`X` is the place of exactly one, `X | None` of one or none, `list[X]` and `tuple[X, ...]` of any number, in the order of
the sort key. X is an entity class, an abstract base for all its kinds, or a union of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin

from singletable.annotations import Annotations, is_class_variable
from singletable.entity import Entity
from singletable.errors import DeclarationError, NotFound, SeveralFound

__all__ = ["Place", "filled", "names_of", "places_of"]

Many: TypeAlias = type[list[Any]] | type[tuple[Any, ...]]

WANTED = "write `user: User`, `user: User | None`, `orders: list[Order]` or `orders: tuple[Order, ...]`"


@dataclass(frozen=True, slots=True)
class Place:
    """One attribute of a collection's class: the kinds that go there, and whether many do or one must."""

    name: str
    kinds: tuple[type[Entity], ...]
    many: Many | None = None
    required: bool = False


def names_of(cls: type, annotations: Annotations) -> tuple[str, ...]:
    """Name the places of a class; what is a class variable is none."""
    own = tuple(name for name, hint in annotations.own.items() if not _is_class_variable(hint))
    for name in own:
        if name.startswith("_") or name == "of":
            raise DeclarationError(f"{cls.__qualname__}.{name}: a place cannot have this name", hint=WANTED)
        if name in vars(cls):
            raise DeclarationError(
                f"{cls.__qualname__}.{name} is given a default; what is not found is None or empty", hint=WANTED
            )
    return own


def _is_class_variable(hint: object) -> bool:
    return is_class_variable(hint) or (isinstance(hint, str) and "ClassVar" in hint)


def places_of(owner: str, names: Iterable[str], annotations: Annotations) -> tuple[Place, ...]:
    """Read the places of a class. UnresolvedName while a name is missing, DeclarationError for any other annotation."""
    places = tuple(_place(owner, name, annotations.resolve(name)) for name in names)
    for at, place in enumerate(places):
        for other in places[:at]:
            if any(_meet(mine, theirs) for mine in place.kinds for theirs in other.kinds):
                raise DeclarationError(
                    f"{owner}.{other.name} and .{place.name} are places of the same kind",
                    hint="each kind has one place; a property can choose among what stands there",
                )
    return places


def _meet(one: type, other: type) -> bool:
    return issubclass(one, other) or issubclass(other, one)


def _place(owner: str, name: str, hint: object) -> Place:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list:
        return Place(name, _kinds(owner, name, arguments[0]), list)
    if origin is tuple:
        if arguments[1:] != (...,):
            raise _unknown(owner, name)
        return Place(name, _kinds(owner, name, arguments[0]), tuple)
    each = _alternatives(hint)
    kinds = tuple(kind for kind in each if kind is not NoneType)
    return Place(name, tuple(_kind(owner, name, kind) for kind in kinds), required=len(kinds) == len(each))


def _kinds(owner: str, name: str, hint: object) -> tuple[type[Entity], ...]:
    return tuple(_kind(owner, name, kind) for kind in _alternatives(hint))


def _alternatives(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _kind(owner: str, name: str, kind: object) -> type[Entity]:
    if isinstance(kind, type) and issubclass(kind, Entity) and kind is not Entity:
        return kind
    raise _unknown(owner, name)


def _unknown(owner: str, name: str) -> DeclarationError:
    return DeclarationError(f"{owner}.{name} is annotated with what no item of a collection is", hint=WANTED)


def filled(owner: str, places: Iterable[Place], found: Iterable[Entity]) -> dict[str, Any]:
    """Put each entity into its place. SeveralFound for a second one where one stands, NotFound where one must be."""
    given = list(found)
    return dict(_contents(owner, place, given) for place in places)


def _contents(owner: str, place: Place, found: Iterable[Entity]) -> tuple[str, Any]:
    mine = [each for each in found if isinstance(each, place.kinds)]
    if place.many is not None:
        return place.name, place.many(mine)
    if len(mine) > 1:
        raise SeveralFound(
            f"{owner}.{place.name} is the place of one item, and {len(mine)} were found",
            hint=f"narrow the collection with sk=..., or write `{place.name}: list[...]`",
            found=tuple(mine),
        )
    if place.required and not mine:
        raise NotFound(
            f"{owner}.{place.name}: no such item stands in the collection",
            hint="annotate it with `| None` where it may be missing",
        )
    return place.name, next(iter(mine), None)
