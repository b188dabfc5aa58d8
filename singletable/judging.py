"""Whether an item meets a condition, judged on this side as DynamoDB would.

A sparse index with `when=` needs the answer before anything is sent. Rules from AWS, "Comparison operator and function
reference": values of different types are unequal and not ordered; a missing attribute meets no comparison but `<>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from singletable.expressions import Condition, Function, Path
from singletable.wire import AttributeValue, Item

__all__ = ["at", "holds", "inside"]


def holds(condition: Condition, item: Item) -> bool:
    """Say whether an item in DynamoDB JSON meets a condition.

    >>> open_ = Condition("=", (Path(("status",)), {"S": "OPEN"}))
    >>> holds(open_, {"status": {"S": "OPEN"}}), holds(~open_, {"status": {"S": "OPEN"}}), holds(open_, {})
    (True, False, False)
    """
    if condition.operator in _LOGIC:
        return _LOGIC[condition.operator](
            [holds(each, item) for each in condition.operands if isinstance(each, Condition)]
        )
    values = [_value(operand, item) for operand in condition.operands]
    return _TESTS[condition.operator](values)


_LOGIC: Mapping[str, Callable[[list[bool]], bool]] = {"AND": all, "OR": any, "NOT": lambda each: not each[0]}


def _value(operand: Any, item: Item) -> AttributeValue | None:
    """Give the value of an operand; None for a path that leads nowhere, and for the size of what has none."""
    if isinstance(operand, Function):
        return _size(_value(operand.terms[0], item))
    if not isinstance(operand, Path):
        value: AttributeValue = operand
        return value
    found = at(operand.segments, {"M": item})
    return found if found is None else dict(found)


def at(steps: Sequence[str | int], value: AttributeValue) -> AttributeValue | None:
    """Give what stands some steps inside a value; None where they lead nowhere."""
    found: AttributeValue | None = value
    for step in steps:
        found = None if found is None else inside(found, step)
    return found


def inside(value: AttributeValue, step: str | int) -> AttributeValue | None:
    """Give what stands at one step into a map or list; None where nothing does."""
    if isinstance(step, str):
        member: AttributeValue | None = value.get("M", {}).get(step)
        return member
    listed: list[AttributeValue] = value.get("L", [])
    return listed[step] if step < len(listed) else None


def _size(value: AttributeValue | None) -> AttributeValue | None:
    """Measure text in characters, binary in bytes, and what holds others in its members."""
    ((kind, held),) = (value or {"NULL": True}).items()
    return None if kind in ("N", "BOOL", "NULL") else {"N": str(len(held))}


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[list[Any]], bool]:
    def judge(values: list[Any]) -> bool:
        """Compare two values of one ordered type."""
        low, high = map(_comparable, values)
        return low is not None and high is not None and low[0] == high[0] and test(low[1], high[1])

    return judge


def _comparable(value: AttributeValue | None) -> tuple[str, Any] | None:
    """Give the type and a Python value that sorts as DynamoDB does: numbers by size, text by UTF-8, binary by bytes."""
    if value is None:
        return None
    ((kind, held),) = value.items()
    if kind == "N":
        return kind, Decimal(held)
    if kind == "S":
        return kind, held.encode()
    return (kind, held) if kind == "B" else None


def _canonical(value: AttributeValue | None) -> object:
    """Give a value as something that is equal where DynamoDB says equal: 1.0 is 1, a set has no order."""
    if value is None:
        return None
    ((kind, held),) = value.items()
    return kind, _CANONICAL[kind](held) if kind in _CANONICAL else held


_CANONICAL: Mapping[str, Callable[[Any], object]] = {
    "N": Decimal,
    "NS": lambda held: frozenset(map(Decimal, held)),
    "SS": frozenset,
    "BS": frozenset,
    "L": lambda held: tuple(map(_canonical, held)),
    "M": lambda held: frozenset((name, _canonical(each)) for name, each in held.items()),
}


def _equal(values: list[Any]) -> bool:
    return values[0] is not None and _canonical(values[0]) == _canonical(values[1])


def _between(values: list[Any]) -> bool:
    return _AT_LEAST([values[0], values[1]]) and _AT_MOST([values[0], values[2]])


def _begins(values: list[Any]) -> bool:
    whole, prefix = map(_comparable, values)
    return whole is not None and prefix is not None and whole[0] == prefix[0] and bool(whole[1].startswith(prefix[1]))


def _contains(values: list[Any]) -> bool:
    whole, part = values
    if whole is None or part is None:
        return False
    ((kind, held),) = whole.items()
    if kind in ("S", "B"):
        return part.get(kind) is not None and part[kind] in held
    members = held if kind == "L" else [{kind[0]: each} for each in held] if kind in ("SS", "NS", "BS") else []
    return any(_canonical(each) == _canonical(part) for each in members)


_AT_LEAST = _ordered(lambda low, high: low >= high)
_AT_MOST = _ordered(lambda low, high: low <= high)

_TESTS: Mapping[str, Callable[[list[Any]], bool]] = {
    "=": _equal,
    "<>": lambda values: not _equal(values),
    "<": _ordered(lambda low, high: low < high),
    "<=": _AT_MOST,
    ">": _ordered(lambda low, high: low > high),
    ">=": _AT_LEAST,
    "BETWEEN": _between,
    "IN": lambda values: any(_equal([values[0], each]) for each in values[1:]),
    "begins_with": _begins,
    "contains": _contains,
    "attribute_exists": lambda values: values[0] is not None,
    "attribute_not_exists": lambda values: values[0] is None,
    "attribute_type": lambda values: values[0] is not None and values[1]["S"] in values[0],
}
