"""The comparisons: conditions on a stored value, or on its size.

What is compared with may be a value, another field of the same item, or a size.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Generic, TypeVar

from singletable.attributes import Codec, scalar_codec
from singletable.errors import FieldValueError, QueryError
from singletable.expressions import IN_OPERANDS, Condition, Function, Path, Term, no_truth
from singletable.judging import holds
from singletable.operands import Stored
from singletable.scalars import SCALARS, CodecError
from singletable.wire import AttributeValue

__all__ = ["Comparable", "Size"]

T = TypeVar("T")

ORDERED = frozenset({"S", "N", "B", ""})
"""The types that DynamoDB orders; "" is that of a value whose type is not known."""


class Comparable(Stored[T], Generic[T]):
    """A stored value, or its size, with the comparisons of the condition language."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        """The name that errors tell."""
        raise NotImplementedError

    def _operand(self, value: object) -> AttributeValue:
        raise NotImplementedError

    def _refusal(self, given: str, wanted: str, hint: str = "", *, path: str = "") -> FieldValueError:
        return FieldValueError(self.shown + path, given=given, wanted=wanted, hint=hint)

    def _against(self, other: object) -> Term:
        """Give the other side of a comparison: a value as it is stored, or what is stored elsewhere in the item."""
        if not isinstance(other, Stored):
            return self._operand(other)
        kinds = {self.codec.attribute_type, other.codec.attribute_type} - {""}
        if len(kinds) > 1:
            raise self._refusal(other.codec.wanted, self.codec.wanted, "values of two types are never equal")
        if other.term == self.term:
            raise QueryError(f"{self.shown!r} is compared with itself", hint="DynamoDB refuses that; use exists()")
        term: Term = other.term
        return term

    def _compare(self, operator: str, other: object) -> Condition:
        return Condition(operator, (self.term, self._against(other)))

    def _order(self, operator: str, *others: object) -> Condition:
        if self.codec.attribute_type not in ORDERED:
            raise self._refusal(
                f"{operator} on {self.codec.wanted}",
                "a value with an order: text, a number, binary, a date",
                "size(...) measures a list, map or set; == and contains() compare",
            )
        return Condition(operator, (self.term, *map(self._against, others)))

    def __eq__(self, other: T | Stored[T | None] | None) -> Condition:  # type: ignore[override]  # as in PynamoDB
        if other is None:
            absent = Condition("attribute_not_exists", (self.term,))
            return absent | Condition("attribute_type", (self.term, {"S": "NULL"}))
        return self._compare("=", other)

    def __ne__(self, other: T | Stored[T | None] | None) -> Condition:  # type: ignore[override]  # as in PynamoDB
        return ~(self == other) if other is None else self._compare("<>", other)

    def __lt__(self, other: T | Stored[T | None]) -> Condition:
        return self._order("<", other)

    def __le__(self, other: T | Stored[T | None]) -> Condition:
        return self._order("<=", other)

    def __gt__(self, other: T | Stored[T | None]) -> Condition:
        return self._order(">", other)

    def __ge__(self, other: T | Stored[T | None]) -> Condition:
        return self._order(">=", other)

    def __hash__(self) -> int:
        return object.__hash__(self)

    def between(self, low: T, high: T) -> Condition:
        """Hold where the value lies between both, ends included. QueryError where the low end is above the high one."""
        condition = self._order("BETWEEN", low, high)
        if holds(Condition("<", (condition.operands[2], condition.operands[1])), {}):
            raise QueryError(
                f"between of {self.shown!r} was given a low end above the high one",
                hint="DynamoDB refuses such a range; swap the ends, or leave the condition out",
            )
        return condition

    def is_in(self, *values: T) -> Condition:
        """Hold where the value is one of these; each hundred becomes an IN of its own, joined by OR.

        QueryError for none. An expression has at most 4 KB, which some 600 values fill.
        """
        if not values:
            raise QueryError(
                f"is_in of {self.shown!r} was given no value, wanted at least one",
                hint="leave the condition out where everything will do; where nothing will, ask nothing",
            )
        terms = [self._against(each) for each in values]
        parts = [terms[start : start + IN_OPERANDS] for start in range(0, len(terms), IN_OPERANDS)]
        return reduce(Condition.__or__, (Condition("IN", (self.term, *part)) for part in parts))


class Size(Comparable[int]):
    """How large a stored value is: characters of text, bytes, or elements of a list, map or set.

    Made by `size(...)`; compare it with whole numbers, number fields, or another size. An absent value, a number or a
    bool has no size and meets no comparison but `!=`. Source: AWS, "Comparison operator and function reference".
    """

    __slots__ = ("_path", "_shown")

    def __init__(self, path: Path, shown: str) -> None:
        self._path = path
        self._shown = f"size({shown})"

    @property
    def term(self) -> Term:
        """What stands for it in an expression."""
        return Function("size", (self._path,))

    @property
    def codec(self) -> Codec:
        """How sizes are compared: as whole numbers."""
        return WHOLE

    @property
    def shown(self) -> str:
        """The name that errors tell."""
        return self._shown

    def _operand(self, value: object) -> AttributeValue:
        try:
            encoded: Any = WHOLE.encode(value)
        except CodecError as error:
            raise self._refusal(error.given, error.wanted, error.hint) from None
        made: AttributeValue = encoded
        return made

    def __bool__(self) -> bool:
        no_truth("a size", "compare it: size(Order.lines) > 3")

    def __repr__(self) -> str:
        return f"<{self._shown}>"


WHOLE = scalar_codec(SCALARS[int])
