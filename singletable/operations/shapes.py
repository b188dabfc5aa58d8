"""What a cursor is bound to: everything about a request that says which rows it is about, but no value of its range.

The table, the index, the partition, the direction, and of range and filter the parts, operators and fields. So a query
of the last thirty days is the same one a minute later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from singletable.expressions import Condition, Function, Path
from singletable.operations.context import Context
from singletable.operations.scan import Scan
from singletable.queries import Query
from singletable.wire import Item

__all__ = ["shape_of"]


def shape_of(context: Context, sources: Sequence[Query[Any] | Scan[Any]], *, merged: bool) -> bytes:
    """Write the shape of what is read as bytes; two requests have the same one if a cursor of one serves the other."""
    shapes = [_query(context, each) if isinstance(each, Query) else _scan(context, each) for each in sources]
    return repr((context.table, merged and len(shapes) > 1, shapes)).encode(errors="surrogatepass")


def _kinds(context: Context, entity: type) -> list[str]:
    return sorted(model.tag or model.name for model in context.kinds(entity))


def _scan(context: Context, scan: Scan[Any]) -> tuple[object, ...]:
    return "scan", _kinds(context, scan.entity), _condition(scan.where), scan.shows_expired


def _query(context: Context, query: Query[Any]) -> tuple[object, ...]:
    range_shape = sorted((step.operator, [name for name, _ in step.parts]) for step in query.narrowings)
    return (
        *("query", _kinds(context, query.entity), query.layout.index, str(query.layout), _wire(query.partition)),
        *("up" if query.ascending else "down", sorted(query.values), range_shape, query.depth is not None),
        *(None if query.choices is None else query.choices[0], _condition(query.condition), query.shows_expired),
    )


def _wire(key: Item) -> list[tuple[str, list[tuple[str, Any]]]]:
    return sorted((name, sorted(value.items())) for name, value in key.items())


def _condition(condition: Condition | None) -> object:
    """Give the operators and fields of a condition; how many values `IN` has is a value too."""
    if condition is None:
        return None
    operands = [_operand(operand) for operand in condition.operands]
    if condition.operator == "OR" and operands[0] == operands[1] and _is_choice(operands[0]):
        return operands[0]  # an `IN` that had too many values for one
    return condition.operator, operands[:2] if condition.operator == "IN" else operands


def _is_choice(shape: object) -> bool:
    return isinstance(shape, tuple) and shape[:1] == ("IN",)


def _operand(operand: object) -> object:
    if isinstance(operand, Condition):
        return _condition(operand)
    if isinstance(operand, Function):
        return operand.name, [_operand(term) for term in operand.terms]
    return operand.segments if isinstance(operand, Path) else type(operand).__name__
