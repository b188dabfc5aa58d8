"""What a query asks of a sort key, put in order before it becomes a range, and the range it becomes.

Names are checked, the whole parts that a narrowing names are moved over to the values, and bounds are listed one by
one. A query has one condition on its sort key, so at most a lower and an upper bound of one part combine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from singletable.errors import KeyPartError, PartHole, QueryError, UnknownPart, closest, kind_of

__all__ = ["LOWER", "Asked", "KeyRange", "Narrowing", "bounds_of", "items_of", "sorted_out"]

LOWER = ("gt", "gte")
UPPER = ("lt", "lte")

Asked: TypeAlias = Literal["begins_with", "between", "gt", "gte", "lt", "lte", "below"]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a query asks of the parts after the whole ones; of `begins_with` only the last named part is a prefix."""

    operator: Asked
    parts: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A condition on the sort key. "all" needs none, "empty" no request.

    `operands` are the key text; of a native number its plain digits, of native bytes their lower-case hex. `exact` is
    False where keys beside the node may lie in the range, raw ones or hidden ones: drop those where `depth_below` is
    negative.
    """

    operator: Literal["all", "=", "BETWEEN", "begins_with", ">=", "<=", "<", ">", "empty"]
    operands: tuple[str, ...] = ()
    exact: bool = True


def sorted_out(
    parts: tuple[str, ...], values: Mapping[str, Any], narrowings: tuple[Narrowing, ...]
) -> tuple[dict[str, Any], tuple[Narrowing, ...]]:
    """Check every name, and move the whole parts that a narrowing names over to the values."""
    whole = dict(values)
    asked: list[Narrowing] = []
    for narrowing in narrowings:
        last = 0 if narrowing.operator == "below" else 1
        cut = len(narrowing.parts) - last
        if cut < 0 or (cut and narrowing.operator not in ("begins_with", "below")):
            raise QueryError(f"{narrowing.operator} needs one part", hint="give the whole leading parts to the key")
        for name, value in narrowing.parts[:cut]:
            _claim(name, whole)
            whole[name] = value
        asked.append(Narrowing(narrowing.operator, narrowing.parts[cut:]))
    _check_combination(asked)
    targets = [name for narrowing in asked for name, _ in narrowing.parts]
    for name in targets:
        _claim(name, whole)
    _check_names(parts, [*whole, *targets])
    return whole, tuple(asked)


def _claim(name: str, whole: Mapping[str, Any]) -> None:
    if name in whole:
        raise QueryError(f"key part {name!r} is given twice", hint="give its whole value, or a range of it")


def _check_combination(asked: list[Narrowing]) -> None:
    """Allow one narrowing, or a lower with an upper bound of the same part."""
    operators = [each.operator for each in asked]
    if len(asked) < 2:
        return
    bounds = len(asked) == 2 and any(each in LOWER for each in operators) and any(each in UPPER for each in operators)
    if not bounds or asked[0].parts[0][0] != asked[1].parts[0][0]:
        raise QueryError(
            f"{' and '.join(operators)} do not combine: a query has one range of its sort key",
            hint="chain a lower with an upper bound of one part, or use between",
        )


def _check_names(parts: tuple[str, ...], names: list[str]) -> None:
    for name in names:
        if name not in parts:
            raise UnknownPart(name, given="a name", wanted="a part of the key", hint=closest(name, parts))
    leading = len(list(takewhile(names.__contains__, parts)))
    later = next((name for name in parts[leading:] if name in names), None)
    if later is not None:
        raise PartHole(parts[leading], given="nothing", wanted=f"a value, since {later!r} after it is given")


def items_of(value: Any) -> tuple[Any, ...]:
    """Give a tuple's items, and none of anything else."""
    items: tuple[Any, ...] = value
    return items if isinstance(value, tuple) else ()


def bounds_of(asked: tuple[Narrowing, ...]) -> list[tuple[str, Any]]:
    """List the bounds one by one: between is a gte and an lte."""
    bounds: list[tuple[str, Any]] = []
    for narrowing in asked:
        part, value = narrowing.parts[0]
        pair = items_of(value)
        if narrowing.operator != "between":
            bounds.append((narrowing.operator, value))
        elif len(pair) == 2:
            bounds += [("gte", pair[0]), ("lte", pair[1])]
        else:
            raise KeyPartError(part, given=kind_of(value), wanted="a pair (low, high)")
    return bounds
