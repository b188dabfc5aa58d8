"""The `Field` descriptor: a typed value on an entity, an expression on its class.

Theory of operation. `Order.status` is the field itself, whose operators build conditions and changes; `order.status` is
the value. Values live in the instance's `__dict__`, and Field defines no `__set__` at run time (the type checkers see
one), so that reading a value costs a plain attribute look-up; only a value that is not there reaches `__get__`.
Comparing fields gives a condition, so code compares them by `is`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Never, NoReturn, TypeVar, get_args, get_origin, overload

from singletable.codecs import CodecError, unwrapped
from singletable.declaration import Declaration
from singletable.errors import FieldNotLoaded, NoTruthValue, NumberNotAssigned, QueryError, kind_of
from singletable.expressions import IN_OPERANDS, Change, Condition, Path
from singletable.options import MISSING
from singletable.wire import AttributeValue

__all__ = ["MISSING", "Field", "computed"]

T = TypeVar("T")
V = TypeVar("V")


class Field(Declaration[T]):
    """One attribute of an entity, with a codec chosen from its annotation `Field[T]`.

    `default` or `default_factory` make it optional for the constructor; `name` is the stored attribute's name where it
    differs from the field's; `codec`, any PynamoDB attribute, says how the value is stored in place of the annotation.
    `validate` is called with every value that is to be stored. A `read_only` field keeps the value it was made with; a
    `hidden` one is shown nowhere, a `sensitive` one in no repr.
    On the class it builds conditions (`== != < <= > >= between is_in exists does_not_exist startswith contains
    is_type`) and changes (`set remove add delete`).
    """

    def _operand(self, value: object) -> AttributeValue:
        encoded = self.encoded(value)
        if encoded is None:
            raise self._refusal(
                kind_of(value),
                self.codec.wanted,
                "None and empty sets are stored as absent: use == None, exists() or does_not_exist()",
            )
        return encoded

    # Reading ---------------------------------------------------------------------------------------------------------

    @overload
    def __get__(self, instance: None, owner: Any) -> Field[T]: ...
    @overload
    def __get__(self, instance: object, owner: Any) -> T: ...
    def __get__(self, instance: object | None, owner: Any) -> T | Field[T]:
        if instance is None:
            return self
        if self.name in (getattr(instance, "_left_out", None) or ()):
            raise FieldNotLoaded(
                f"{owner.__name__}.{self.name} was not read: the query named other fields in only()",
                hint="name the field in only() too, or read the entity with store.get(...)",
                field=self.name,
            )
        raise NumberNotAssigned(
            f"{owner.__name__}.{self.name} has no value yet",
            hint="a number is drawn when the entity is stored: use what store.create(...) returns",
            field=self.name,
        )

    if TYPE_CHECKING:
        # `value` gives the constructor's argument its type, and an instance of Never is none at all: every assignment
        # is refused. A frozen dataclass_transform would refuse it too, but mypy then takes an inherited field on the
        # class for its value, and `Invoice.paid == True` for a bool.
        def __set__(self, instance: Never, value: T) -> None: ...

    # Conditions ------------------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """Where the value stands in an item."""
        return Path((self.attribute,), self)

    def _compare(self, operator: str, value: object) -> Condition:
        return Condition(operator, (self.path, self._operand(value)))

    def __eq__(self, other: T | None) -> Condition:  # type: ignore[override]  # an expression, as in PynamoDB
        if other is None:
            return Condition("OR", (self.does_not_exist(), self.is_type("NULL")))
        return self._compare("=", other)

    def __ne__(self, other: T | None) -> Condition:  # type: ignore[override]  # an expression, as in PynamoDB
        return ~(self == other) if other is None else self._compare("<>", other)

    def __lt__(self, other: T) -> Condition:
        return self._compare("<", other)

    def __le__(self, other: T) -> Condition:
        return self._compare("<=", other)

    def __gt__(self, other: T) -> Condition:
        return self._compare(">", other)

    def __ge__(self, other: T) -> Condition:
        return self._compare(">=", other)

    def between(self, low: T, high: T) -> Condition:
        """Hold where the value lies between both, ends included."""
        return Condition("BETWEEN", (self.path, self._operand(low), self._operand(high)))

    def is_in(self, *values: T) -> Condition:
        """Hold where the value is one of 1 to 100."""
        if not 1 <= len(values) <= IN_OPERANDS:
            raise QueryError(
                f"is_in of {self.name!r} was given {len(values)} values, wanted 1 to {IN_OPERANDS}",
                hint="join several conditions with |, or leave the condition out",
            )
        return Condition("IN", (self.path, *map(self._operand, values)))

    def exists(self) -> Condition:
        """Hold where the attribute is there, even as NULL."""
        return Condition("attribute_exists", (self.path,))

    def does_not_exist(self) -> Condition:
        """Hold where the attribute is absent."""
        return Condition("attribute_not_exists", (self.path,))

    def is_type(self, attribute_type: str) -> Condition:
        """Hold where the stored value has this DynamoDB type: S, N, B, BOOL, NULL, L, M, SS, NS or BS."""
        if attribute_type not in _TYPES:
            raise QueryError(f"{attribute_type!r} is no DynamoDB type", hint="one of " + ", ".join(sorted(_TYPES)))
        return Condition("attribute_type", (self.path, {"S": attribute_type}))

    def startswith(self: Field[str] | Field[str | None], prefix: str) -> Condition:
        """Hold where the stored text begins with the prefix."""
        if not isinstance(prefix, str):
            raise self._refusal(kind_of(prefix), "a text prefix")
        return Condition("begins_with", (self.path, {"S": prefix}))

    def contains(self, value: object) -> Condition:
        """Hold where the stored text contains the text, or the stored set, list or tuple the element."""
        if self.codec.element is not None:
            return Condition("contains", (self.path, self._element(self.codec.element, value)))
        if self.codec.attribute_type not in _SETS:
            return self._compare("contains", value)
        empty: frozenset[Any] | builtins.set[Any] = set() if self.codec.empty is None else self.codec.empty()
        ((kind, members),) = self._operand(empty | {value}).items()
        return Condition("contains", (self.path, {kind[0]: members[0]}))

    def _element(self, write: Callable[[Any], AttributeValue], value: object) -> AttributeValue:
        try:
            return write(value)
        except CodecError as error:
            raise self._refusal(f"{error.given} as an element", error.wanted, error.hint) from None

    # Changes ---------------------------------------------------------------------------------------------------------

    def set(self, value: T) -> Change:
        """Store the value; None (and an empty set) removes the attribute."""
        encoded = self.checked(value)
        return Change("remove" if encoded is None else "set", self.path, encoded, value)

    def remove(self) -> Change:
        """Remove the attribute. FieldValueError where the field is not optional."""
        if not self.codec.optional and self.codec.empty is None:
            raise self._refusal(
                "remove()",
                self.codec.wanted,
                f"annotate the field as `{self.name}: Field[... | None]` if it may be absent",
            )
        return Change("remove", self.path)

    @overload
    def add(self: Field[int], value: int) -> Change: ...
    @overload
    def add(self: Field[int | None], value: int) -> Change: ...
    @overload
    def add(self: Field[Decimal], value: Decimal) -> Change: ...
    @overload
    def add(self: Field[Decimal | None], value: Decimal) -> Change: ...
    @overload
    def add(self: Field[float], value: float) -> Change: ...
    @overload
    def add(self: Field[builtins.set[V]], value: builtins.set[V]) -> Change: ...
    @overload
    def add(self: Field[frozenset[V]], value: frozenset[V]) -> Change: ...
    def add(self, value: Any) -> Change:
        """Add a number to the stored one (absent counts as 0), or members to the stored set, atomically."""
        return self._accumulate("add", value, _NUMBERS_AND_SETS)

    @overload
    def delete(self: Field[builtins.set[V]], value: builtins.set[V]) -> Change: ...
    @overload
    def delete(self: Field[frozenset[V]], value: frozenset[V]) -> Change: ...
    def delete(self, value: Any) -> Change:
        """Take members out of the stored set, atomically."""
        return self._accumulate("delete", value, _SETS)

    def _accumulate(self, action: str, value: object, types: frozenset[str]) -> Change:
        kind = self.codec.attribute_type
        if kind not in types or _is_choice(self.annotation):
            raise self._refusal(
                f"{action}() on a field of {self.codec.wanted}",
                "a number or a set" if "N" in types else "a set",
                "use set()",
            )
        base = self.when_absent() if kind == "N" else None
        counted = None if base is MISSING or not base else self.encoded(base)
        return Change(action, self.path, self._operand(value), value, counted)

    # As an object ----------------------------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __iter__(self) -> NoReturn:
        raise NoTruthValue(f"field {self.name!r} cannot be iterated", hint="read it from an entity, not from its class")

    def __contains__(self, value: object) -> NoReturn:
        raise NoTruthValue(f"`in` on field {self.name!r} has no meaning", hint="use .contains(...) for a condition")

    def __bool__(self) -> NoReturn:
        raise NoTruthValue(
            f"field {self.name!r} has no truth value", hint="read it from an entity, or compare it: == True, .exists()"
        )

    def __reduce__(self) -> str | tuple[Any, ...]:
        return super().__reduce__() if self.owner is None else (getattr, (self.owner, self.name))

    def __copy__(self) -> Field[T]:
        return self

    def __deepcopy__(self, memo: object) -> Field[T]:
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name or '(not declared)'}>"


class computed(Field[T]):  # noqa: N801  # used as a decorator, like property
    """A value that is computed from the other fields, stored with them and written anew on every write.

        @computed
        def day(self) -> date:
            return self.sent_at.date()

    It can stand in key templates and conditions; it is never given to the constructor and cannot be changed.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        super().__init__()
        self.function = function
        self.__doc__ = function.__doc__

    @property
    def required(self) -> bool:
        """Whether the constructor must be given a value: it never is."""
        return False

    if not TYPE_CHECKING:

        def __get__(self, instance: object | None, owner: Any) -> Any:
            return self if instance is None else self.function(instance)


def _is_choice(annotation: object) -> bool:
    """Say whether values are members of an Enum or Literal: a member's number plus one is none."""
    plain = unwrapped(annotation)
    kinds = [unwrapped(each) for each in (get_args(plain) or (plain,))]
    enums = [each for each in kinds if isinstance(each, type) and issubclass(each, Enum)]
    return get_origin(plain) is Literal or bool(enums) or any(get_origin(each) is Literal for each in kinds)


_SETS = frozenset({"SS", "NS", "BS"})
_NUMBERS_AND_SETS = _SETS | {"N"}
_TYPES = _SETS | {"S", "N", "B", "BOOL", "NULL", "L", "M"}
