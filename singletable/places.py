"""A place in an item, whole fields and what stands inside them: the conditions on it, and the changes of it.

Theory of operation. `Order.address` is a place, and so is `Order.address["city"]`: each knows its path and the codec of
what stands there, which a dataclass, TypedDict, dict or list tells; a step into anything else is refused, and below
`Any` a value is stored by its own type. A place reads nothing: it makes conditions and changes.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, Literal, NoReturn, TypeVar, get_args, get_origin, overload

from singletable.attributes import Codec, Inside
from singletable.codecs import CodecError, unwrapped
from singletable.comparing import Comparable, Size
from singletable.documents import any_codec
from singletable.errors import FieldValueError, NoTruthValue, QueryError, kind_of
from singletable.expressions import Change, Condition, Function, Path, Term
from singletable.operands import ZERO, Operable, Operand, fits, operable
from singletable.wire import AttributeValue

__all__ = ["Element", "Place", "size"]

T = TypeVar("T")
V = TypeVar("V")
K = TypeVar("K")


class Place(Comparable[T], Operable[T], Generic[T]):
    """A place in an item; see `Field`, which is one, and `Element`, which is one inside of one."""

    __slots__ = ()

    annotation: object

    @property
    def path(self) -> Path:
        """Where the value stands in an item."""
        raise NotImplementedError

    @property
    def term(self) -> Term:
        """What stands for it in an expression."""
        return self.path

    @property
    def removable(self) -> bool:
        """Whether it may be absent."""
        raise NotImplementedError

    def _counted(self) -> AttributeValue | None:
        """Give what an absent value counts as; None where it counts as absent."""
        return None

    def encoded(self, value: object) -> AttributeValue | None:
        """Write a value as it is stored; None where it is to be absent. FieldValueError where it does not fit."""
        try:
            return self.codec.encode(value)
        except CodecError as error:
            raise self.misfit(error) from None

    def checked(self, value: object) -> AttributeValue | None:
        """Write a value that is to be stored."""
        return self.encoded(value)

    def misfit(self, error: CodecError) -> FieldValueError:
        """Say which field of which entity a value did not fit, and how it is mended."""
        return self._refusal(error.given, error.wanted, error.hint, path=error.path)

    def _operand(self, value: object) -> AttributeValue:
        encoded = self.encoded(value)
        if encoded is None:
            raise self._refusal(
                kind_of(value),
                self.codec.wanted,
                "None and empty sets are stored as absent: use == None, exists() or does_not_exist()",
            )
        return encoded

    # Inside ----------------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self: Place[dict[K, V]], step: K) -> Element[V]: ...
    @overload
    def __getitem__(self: Place[dict[K, V] | None], step: K) -> Element[V]: ...
    @overload
    def __getitem__(self: Place[list[V]], step: int) -> Element[V]: ...
    @overload
    def __getitem__(self: Place[list[V] | None], step: int) -> Element[V]: ...
    @overload
    def __getitem__(self: Place[tuple[V, ...]], step: int) -> Element[V]: ...
    @overload
    def __getitem__(self, step: Any) -> Element[Any]: ...
    def __getitem__(self, step: Any) -> Element[Any]:
        return Element(self, self._inside(step))

    def _inside(self, step: object) -> Inside:
        codec = self.codec
        if codec.inside is None and codec.attribute_type not in ("L", "M", ""):
            raise self._refusal(
                "[...] on a field of " + codec.wanted, "a dict, a dataclass or TypedDict, a list or tuple"
            )
        try:
            found = (codec.inside or ANYTHING)(step)
        except CodecError as error:
            raise self.misfit(error) from None
        if isinstance(found.step, str) and ("[" in found.step or "]" in found.step):
            raise self._refusal(
                "a step whose name has a bracket",
                "a name without '[' and ']'",
                "DynamoDB's expressions are written by PynamoDB, which reads brackets as the place in a list; read the "
                "entity, and set the whole field",
            )
        return found

    # Conditions ------------------------------------------------------------------------------------------------------

    def exists(self) -> Condition:
        """Hold where the attribute is there, even as NULL."""
        return Condition("attribute_exists", (self.path,))

    def does_not_exist(self) -> Condition:
        """Hold where the attribute is absent."""
        return Condition("attribute_not_exists", (self.path,))

    def is_type(self, attribute_type: str) -> Condition:
        """Hold where the stored value has this DynamoDB type: S, N, B, BOOL, NULL, L, M, SS, NS or BS."""
        if attribute_type not in TYPES:
            raise QueryError(f"{attribute_type!r} is no DynamoDB type", hint="one of " + ", ".join(sorted(TYPES)))
        return Condition("attribute_type", (self.path, {"S": attribute_type}))

    def startswith(self: Place[str] | Place[str | None], prefix: str) -> Condition:
        """Hold where the stored text begins with the prefix."""
        if not isinstance(prefix, str):
            raise self._refusal(kind_of(prefix), "a text prefix")
        return Condition("begins_with", (self.path, {"S": prefix}))

    def contains(self, value: object) -> Condition:
        """Hold where the stored text contains the text, or the stored set, list or tuple the element."""
        codec, kind = self.codec, self.codec.attribute_type
        if kind in ("N", "BOOL", "NULL", "M"):
            raise self._refusal(
                f"contains() on a field of {codec.wanted}",
                "text, binary, a set, a list or a tuple",
                "a key of a dict is asked for by a path: Order.prices['CN'].exists()" if kind == "M" else "",
            )
        if codec.element is not None:
            return Condition("contains", (self.path, self._element(codec.element, value)))
        if kind not in SETS:
            return self._compare("contains", value)
        empty: frozenset[Any] | builtins.set[Any] = set() if codec.empty is None else codec.empty()
        ((kind, members),) = self._operand(empty | {value}).items()
        return Condition("contains", (self.path, {kind[0]: members[0]}))

    def size(self) -> Size:
        """Give the size of the stored value, to be compared; the same as `size(...)`."""
        kind = self.codec.attribute_type
        if kind in ("N", "BOOL", "NULL"):
            raise self._refusal(
                f"size() of a field of {self.codec.wanted}", "text, binary, or a list, map or set", "compare the value"
            )
        return Size(self.path, self.shown)

    def _element(self, write: Callable[[Any], AttributeValue], value: object) -> AttributeValue:
        try:
            return write(value)
        except CodecError as error:
            raise self._refusal(f"{error.given} as an element", error.wanted, error.hint) from None

    # Changes ---------------------------------------------------------------------------------------------------------

    def operand(self) -> Operand[T]:
        """Give what is stored here as the operand of a change; absent counts as the default, if there is one."""
        counted = self._counted()
        term: Term = self.path if counted is None else Function("if_not_exists", (self.path, counted))
        return Operand(term, self.codec, self._operand)

    def set(self, value: T | Operable[T]) -> Change:
        """Store the value; None (and an empty set) removes the attribute.

        Another field, `Order.total + 1`, `Order.total - Order.discount` or `Order.nick | "unknown"` is worked out by
        DynamoDB from what is stored.
        """
        if operable(value):
            return Change("set", self.path, self._taken(value))
        encoded = self.checked(value)
        return Change("remove" if encoded is None else "set", self.path, encoded, value)

    def _taken(self, given: Operable[Any]) -> Term:
        """Check that what an operand comes to can be stored here."""
        operand = given.operand()
        mine, theirs = self.codec, operand.codec
        storable = fits(theirs, mine)
        is_sum = isinstance(operand.term, Function) and operand.term.name in ("+", "-")
        if not storable or (is_sum and is_choice(self.annotation)):
            raise self._refusal(f"what a field of {theirs.wanted} comes to", mine.wanted, "read it and set the value")
        if operand.term == self.path:
            raise QueryError(f"{self.shown!r} is set to itself", hint="leave the change out")
        return operand.term

    @overload
    def __or__(self: Place[V | None], other: V | Operable[V]) -> Operand[V]: ...
    @overload
    def __or__(self, other: T | Operable[T]) -> Operand[T]: ...
    def __or__(self, other: Any) -> Operand[Any]:
        if isinstance(other, Condition):
            raise QueryError(
                f"{self.shown!r} | a condition: the field alone is no condition",
                hint="| binds tighter than == and >: write (Order.status == 'x') | (Order.total > 1)",
            )
        if operable(other):
            term: Term = self._taken(other)
            if isinstance(term, Function) and term.name != "if_not_exists":
                raise QueryError(
                    "| was given a sum, wanted a value or a field", hint="set the sum in a change of its own"
                )
            return Operand(Function("if_not_exists", (self.path, term)), self.codec, self._operand)
        return Operand(Function("if_not_exists", (self.path, self._operand(other))), self.codec, self._operand)

    def remove(self) -> Change:
        """Remove the attribute, or the element. FieldValueError where it must be there."""
        if not self.removable:
            raise self._refusal(
                "remove()",
                self.codec.wanted,
                f"annotate the field as `{self.shown}: Field[... | None]` if it may be absent",
            )
        return Change("remove", self.path)

    @overload
    def add(self: Place[int], value: int) -> Change: ...
    @overload
    def add(self: Place[int | None], value: int) -> Change: ...
    @overload
    def add(self: Place[Decimal], value: Decimal) -> Change: ...
    @overload
    def add(self: Place[Decimal | None], value: Decimal) -> Change: ...
    @overload
    def add(self: Place[float], value: float) -> Change: ...
    @overload
    def add(self: Place[builtins.set[V]], value: builtins.set[V]) -> Change: ...
    @overload
    def add(self: Place[frozenset[V]], value: frozenset[V]) -> Change: ...
    def add(self, value: Any) -> Change:
        """Add a number to the stored one (absent counts as 0), or members to the stored set, atomically."""
        return self._accumulate("add", value, NUMBERS_AND_SETS)

    @overload
    def delete(self: Place[builtins.set[V]], value: builtins.set[V]) -> Change: ...
    @overload
    def delete(self: Place[frozenset[V]], value: frozenset[V]) -> Change: ...
    def delete(self, value: Any) -> Change:
        """Take members out of the stored set, atomically."""
        return self._accumulate("delete", value, SETS)

    def _accumulate(self, action: str, value: object, types: frozenset[str]) -> Change:
        operand = None if self.codec.attribute_type else self._operand(value)
        kind = self.codec.attribute_type or next(iter(operand or {}), "")
        if kind not in types or is_choice(self.annotation):
            raise self._refusal(
                f"{action}() on a field of {self.codec.wanted}",
                "a number or a set" if "N" in types else "a set",
                "use set()",
            )
        counted = self._counted() if kind == "N" else None
        if kind == "N" and self.path.is_nested:
            counted = counted or ZERO  # ADD is documented for whole attributes alone
        elif counted == ZERO:
            counted = None
        return Change(action, self.path, operand or self._operand(value), value, counted)

    @overload
    def append(self: Place[list[V]], *values: V) -> Change: ...
    @overload
    def append(self: Place[list[V] | None], *values: V) -> Change: ...
    @overload
    def append(self: Place[tuple[V, ...]], *values: V) -> Change: ...
    def append(self: Place[Any], *values: Any) -> Change:
        """Put elements at the end of the stored list, atomically; absent counts as the default, else as empty."""
        return self._extended("append", values)

    @overload
    def prepend(self: Place[list[V]], *values: V) -> Change: ...
    @overload
    def prepend(self: Place[list[V] | None], *values: V) -> Change: ...
    @overload
    def prepend(self: Place[tuple[V, ...]], *values: V) -> Change: ...
    def prepend(self: Place[Any], *values: Any) -> Change:
        """Put elements before those of the stored list, in the order given, atomically."""
        return self._extended("prepend", values)

    def _extended(self, verb: str, values: tuple[Any, ...]) -> Change:
        codec = self.codec
        if codec.attribute_type not in ("L", ""):
            raise self._refusal(f"{verb}() on a field of {codec.wanted}", "a list or a tuple", "sets grow by add()")
        if not values:
            raise QueryError(f"{verb} of {self.shown!r} was given no element", hint="leave the change out")
        write = codec.element
        more = self._operand(list(values)) if write is None else {"L": [self._element(write, each) for each in values]}
        there = Function("if_not_exists", (self.path, self._counted() or {"L": []}))
        terms: tuple[Term, ...] = (there, more) if verb == "append" else (more, there)
        return Change("set", self.path, Function("list_append", terms), values)

    # As an object ----------------------------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __iter__(self) -> NoReturn:
        raise NoTruthValue(
            f"field {self.shown!r} cannot be iterated", hint="read it from an entity, not from its class"
        )

    def __contains__(self, value: object) -> NoReturn:
        raise NoTruthValue(f"`in` on field {self.shown!r} has no meaning", hint="use .contains(...) for a condition")

    def __bool__(self) -> NoReturn:
        raise NoTruthValue(
            f"field {self.shown!r} has no truth value", hint="read it from an entity, or compare it: == True, .exists()"
        )


class Element(Place[T]):
    """A place inside a field: `Order.address["city"]`, `Order.lines[0]["sku"]`, `Order.prices["CN"]`.

    It has every condition and every change of a field. A change inside a map or list that is not there is
    `PlaceMissing`: set the whole field then.
    """

    __slots__ = ("_codec", "_outer", "_removable", "_trail", "annotation")

    def __init__(self, outer: Place[Any], inside: Inside) -> None:
        self.annotation: object = None
        self._outer = outer
        self._codec = inside.codec
        self._removable = inside.removable
        self._trail = (*outer.path.segments, inside.step), inside.shown

    @property
    def path(self) -> Path:
        """Where the value stands in an item."""
        return Path(self._trail[0], self._outer.path.source)

    @property
    def codec(self) -> Codec:
        """How its values are stored; by their own types where the annotation does not say."""
        return self._codec

    @property
    def removable(self) -> bool:
        """Whether it may be absent."""
        return self._removable

    @property
    def shown(self) -> str:
        """The name that errors tell; the keys of a dict are data, and are not told."""
        return self._outer.shown + self._trail[1]

    def _refusal(self, given: str, wanted: str, hint: str = "", *, path: str = "") -> FieldValueError:
        return self._outer._refusal(given, wanted, hint, path=self._trail[1] + path)

    def __repr__(self) -> str:
        return f"<Element {self.shown}>"


def size(place: Place[Any]) -> Size:
    """Give the size of a stored value, to be compared in a condition: `size(Order.lines) > 3`.

    Characters of text, bytes of binary, elements of a list, map or set. FieldValueError for a field of numbers or
    bools, which have none.
    """
    if not isinstance(place, Place):
        raise QueryError(
            f"size() was given {kind_of(place)}, wanted a field", hint="a field of the class: size(Order.lines) > 3"
        )
    return place.size()


def is_choice(annotation: object) -> bool:
    """Say whether values are members of an Enum or Literal: a member's number plus one is none."""
    plain = unwrapped(annotation)
    kinds: Iterable[Any] = [unwrapped(each) for each in (get_args(plain) or (plain,))]
    enums = [each for each in kinds if isinstance(each, type) and issubclass(each, Enum)]
    return get_origin(plain) is Literal or bool(enums) or any(get_origin(each) is Literal for each in kinds)


ANYTHING: Any = any_codec(1).inside
SETS = frozenset({"SS", "NS", "BS"})
NUMBERS_AND_SETS = SETS | {"N"}
TYPES = SETS | {"S", "N", "B", "BOOL", "NULL", "L", "M"}
