"""What `.set()` may be given in place of a value: something that DynamoDB works out from what is stored.

Theory of operation. A field (or a place inside one) stands for what is stored there; `+` and `-` join two numbers and
`|` names another value where nothing is stored. The grammar is DynamoDB's: one sign at most, and `if_not_exists` looks
at a path. An absent attribute counts as the field's default, as it does when it is read; in a sum without one, as 0.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Generic, NoReturn, TypeGuard, TypeVar

from singletable.attributes import Codec
from singletable.errors import QueryError
from singletable.expressions import Function, Path, Term, no_truth
from singletable.scalars import SCALARS
from singletable.wire import AttributeValue

__all__ = ["ZERO", "Operable", "Operand", "Stored", "fits", "operable"]

T_co = TypeVar("T_co", covariant=True)
N = TypeVar("N", int, Decimal, float)

ZERO: AttributeValue = {"N": "0"}
SIGNS = ("+", "-")


class Stored(Generic[T_co]):
    """What a condition may compare with: a value that is stored in the item, or measured there."""

    __slots__ = ()

    @property
    def term(self) -> Term:
        """What stands for it in an expression."""
        raise NotImplementedError

    @property
    def codec(self) -> Codec:
        """How its values are stored."""
        raise NotImplementedError


class Operable(Generic[T_co]):
    """What `.set()` takes in place of a value: a field, a place inside one, or what `+`, `-` and `|` make of them."""

    __slots__ = ()

    def operand(self) -> Operand[T_co]:
        """Give what stands for it on the right of an assignment."""
        raise NotImplementedError

    def __add__(self: Operable[N | None], other: N | Operable[N | None]) -> Operand[N]:
        return _joined("+", self, self, other)

    def __radd__(self: Operable[N | None], other: N) -> Operand[N]:
        return _joined("+", self, other, self)

    def __sub__(self: Operable[N | None], other: N | Operable[N | None]) -> Operand[N]:
        return _joined("-", self, self, other)

    def __rsub__(self: Operable[N | None], other: N) -> Operand[N]:
        return _joined("-", self, other, self)


class Operand(Operable[T_co]):
    """A value that DynamoDB works out when it writes: for `.set()` alone.

    `write` is what encodes a plain value beside it, with the errors of the field it was made from.
    """

    __slots__ = ("codec", "term", "write")

    def __init__(self, term: Term, codec: Codec, write: Callable[[object], AttributeValue]) -> None:
        self.term = term
        self.codec = codec
        self.write = write

    def operand(self) -> Operand[T_co]:
        """Give itself."""
        return self

    def __or__(self, other: object) -> NoReturn:
        raise QueryError(
            "| was given a sum or another | at its left, wanted a field or a place inside one",
            hint="DynamoDB's if_not_exists looks at one attribute: Order.nick | 'unknown'",
        )

    def __bool__(self) -> bool:
        no_truth("an operand", "hand it to set(): Order.total.set(Order.total + 1)")

    def __repr__(self) -> str:
        return f"<operand {self.term.name if isinstance(self.term, Function) else 'copy'}>"


def operable(given: object) -> TypeGuard[Operable[Any]]:
    """Say whether something stands for what is stored, and is no value itself."""
    return isinstance(given, Operable)


def _joined(sign: str, by: Operable[Any], left: object, right: object) -> Operand[Any]:
    """Make a sum or difference of two numbers, one of which is `by`. QueryError for more than two, or for no number."""
    of = by.operand()
    return Operand(Function(sign, tuple(_number(of, each, sign) for each in (left, right))), of.codec, of.write)


def _number(of: Operand[Any], given: object, sign: str) -> Term:
    if not operable(given):
        return of.write(given)
    operand = given.operand()
    if isinstance(operand.term, Function) and operand.term.name in SIGNS:
        raise QueryError(
            f"{sign} was given a sum, wanted two values", hint="DynamoDB adds or subtracts two values in one change"
        )
    if operand.codec.attribute_type not in ("N", ""):
        raise QueryError(
            f"{sign} was given a field of {operand.codec.wanted}, wanted numbers",
            hint="lists grow by append(), sets by add()",
        )
    return Function("if_not_exists", (operand.term, ZERO)) if isinstance(operand.term, Path) else operand.term


NUMBERS = frozenset({SCALARS[Decimal].wanted, SCALARS[float].wanted})


def fits(given: Codec, taking: Codec) -> bool:
    """Say whether what is stored by one codec can be stored where another reads: of one kind, or wide enough."""
    kinds = {taking.attribute_type, given.attribute_type} - {""}
    wanted = _plain(taking.wanted)
    same = wanted == _plain(given.wanted) and taking.attribute_type == given.attribute_type
    any_number = kinds == {"N"} and wanted in NUMBERS
    any_text = kinds == {"S"} and wanted == SCALARS[str].wanted
    return len(kinds) < 2 and (same or any_number or any_text or not (taking.attribute_type and given.attribute_type))


def _plain(wanted: str) -> str:
    return wanted.removesuffix(", or None")
