"""Queries and scans of the in-memory model, and what of an item a reader is shown."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from singletable.expressions import Condition, Path, paths_of
from singletable.judging import holds
from singletable.sizes import item_size
from singletable.testing.answers import NotModelled, invalid
from singletable.testing.grammar import Placeholders, read_condition, read_paths
from singletable.testing.projections import projected
from singletable.testing.tables import Held, Shape, key_of
from singletable.testing.values import stored, stored_item
from singletable.wire import Item

__all__ = ["get", "query", "scan"]

PAGE_BYTES = 1_048_576
"""A page holds at most so much, before any filter. Source: AWS, "Query", Paginating the results."""

_OF_SORT_KEYS = frozenset({"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"})


def get(held: Held, params: Mapping[str, Any]) -> dict[str, Any]:
    """Answer GetItem, or one element of a batch or transaction of reads."""
    place = key_of(held, params["Key"])
    placeholders = Placeholders(params)
    paths = _projection(params, placeholders)
    placeholders.check_used()
    item = held.items.get(place)
    return {} if item is None else {"Item": _shown(paths, item)}


def query(held: Held, params: Mapping[str, Any]) -> dict[str, Any]:
    """Answer Query."""
    reading = _reading(held, params)
    condition = read_condition(params["KeyConditionExpression"], reading.placeholders)
    _check_key_condition(condition, reading.shape)
    rows = [item for item in held.items.values() if reading.shape.holds(item) and holds(condition, item)]
    forward = params.get("ScanIndexForward", True)
    rows.sort(key=lambda item: _order(held, reading.shape, item), reverse=not forward)
    return _page(reading, params, rows, forward=forward)


def scan(held: Held, params: Mapping[str, Any]) -> dict[str, Any]:
    """Answer Scan: partitions in the order of a hash, items of one in that of their sort keys."""
    reading = _reading(held, params)
    segment, total = params.get("Segment"), params.get("TotalSegments")
    if (segment is None) is not (total is None) or not 0 <= (segment or 0) < (total or 1):
        invalid("a segment is one of TotalSegments")
    rows = [item for item in held.items.values() if reading.shape.holds(item)]
    if segment is not None and total is not None:
        rows = [item for item in rows if _hashed(reading.shape, item) % total == segment]
    rows.sort(
        key=lambda item: (
            _hashed(reading.shape, item),
            repr(_partition(reading.shape, item)),
            *_order(held, reading.shape, item),
        )
    )
    return _page(reading, params, rows, forward=True)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What Query and Scan have in common."""

    held: Held
    shape: Shape
    placeholders: Placeholders
    kept: Condition | None
    paths: list[Path] | None


def _reading(held: Held, params: Mapping[str, Any]) -> _Reading:
    shape = held.source(params.get("IndexName"))
    if shape.is_global and params.get("ConsistentRead"):
        invalid("a global index has no consistent reads")
    if params.get("Limit", 1) < 1:
        invalid("a limit is at least 1")
    placeholders = Placeholders(params)
    kept = None
    if "FilterExpression" in params:
        kept = read_condition(params["FilterExpression"], placeholders)
        if {path.attribute for path in paths_of(kept)} & set(shape.names) and "KeyConditionExpression" in params:
            invalid("a filter looks at an attribute of the key")
    paths = _projection(params, placeholders)
    select = params.get("Select", "SPECIFIC_ATTRIBUTES" if paths else None)
    if select not in (None, "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES"):
        invalid(f"Select={select} is unknown")
    if (paths is not None) is not (select == "SPECIFIC_ATTRIBUTES"):
        invalid("a projection goes with Select=SPECIFIC_ATTRIBUTES")
    _check_projected(shape, select, paths)
    return _Reading(held, shape, placeholders, kept, paths)


def _check_projected(shape: Shape, select: str | None, paths: list[Path] | None) -> None:
    if shape.projected is None or (paths is None and select != "ALL_ATTRIBUTES"):
        return
    if paths is not None and {path.attribute for path in paths} <= shape.projected:
        return
    if not shape.is_global:
        raise NotModelled("a local index that fetches from its table what it does not hold is not modelled")
    invalid("the global index does not hold what is asked for")


def _check_key_condition(condition: Condition, shape: Shape) -> None:
    """Refuse a key condition that is not `=` on each partition key attribute, then at most a range on the sort keys."""
    tests = {name: operator for operator, name in _key_tests(condition)}
    if len(tests) != len(list(_key_tests(condition))) or not set(shape.pks) <= set(tests) <= set(shape.names):
        invalid("a key condition does not name the key as it is")
    if any(tests[name] != "=" for name in shape.pks):
        invalid("a key condition does not give the partition key")
    asked = [name for name in shape.sks if name in tests]
    if asked != list(shape.sks[: len(asked)]) or any(tests[name] != "=" for name in asked[:-1]):
        invalid("a key condition leaves out a sort key before another, or has a range before the last")
    if any(tests[name] not in _OF_SORT_KEYS for name in asked):
        invalid("a key condition takes one comparison, BETWEEN or begins_with on a sort key")


def _key_tests(condition: Condition) -> Iterator[tuple[str, str]]:
    """Give the operator and the attribute of each test that a key condition joins by AND."""
    if condition.operator == "AND":
        for each in condition.operands:
            if isinstance(each, Condition):
                yield from _key_tests(each)
        return
    path, *values = condition.operands
    if not isinstance(path, Path) or path.is_nested or not all(isinstance(value, dict) for value in values):
        invalid("a key condition compares a key attribute with values")
    yield condition.operator, path.attribute


# Rows in their order, page by page


def _partition(shape: Shape, item: Item) -> tuple[Any, ...]:
    return shape.place(item)[: len(shape.pks)]


def _hashed(shape: Shape, item: Item) -> int:
    return zlib.crc32(repr(_partition(shape, item)).encode())


def _order(held: Held, shape: Shape, item: Item) -> tuple[Any, ...]:
    """Sort by the sort keys; in an index, where rows may have the same, then by the table's key."""
    own = shape.place(item)[len(shape.pks) :]
    return own if shape is held.shape else (*own, *held.shape.place(item))


def _page(reading: _Reading, params: Mapping[str, Any], rows: Sequence[Item], *, forward: bool) -> dict[str, Any]:
    placeholders, kept = reading.placeholders, reading.kept
    placeholders.check_used()
    rows = _after(reading, params, rows, forward=forward)
    page = list(_first(rows, params.get("Limit"), reading.shape))
    found = [item for item in page if kept is None or holds(kept, _entry(reading.shape, item))]
    answer: dict[str, Any] = {"Count": len(found), "ScannedCount": len(page)}
    if params.get("Select") != "COUNT":
        answer["Items"] = [_shown(reading.paths, _entry(reading.shape, item)) for item in found]
    if page and (len(page) < len(rows) or len(page) == params.get("Limit")):
        names = dict.fromkeys((*reading.held.shape.names, *reading.shape.names))
        answer["LastEvaluatedKey"] = {name: stored(page[-1][name]) for name in names}
    return answer


def _entry(shape: Shape, item: Item) -> Item:
    """Give what an index holds of an item."""
    return item if shape.projected is None else {name: item[name] for name in item if name in shape.projected}


def _first(rows: Sequence[Item], limit: int | None, shape: Shape) -> Iterator[Item]:
    size = 0
    for item in rows[:limit]:
        yield item
        size += item_size(_entry(shape, item))
        if size >= PAGE_BYTES:
            return


def _after(reading: _Reading, params: Mapping[str, Any], rows: Sequence[Item], *, forward: bool) -> Sequence[Item]:
    """Leave out what stands before a start key and at it, be it there or not."""
    start = params.get("ExclusiveStartKey")
    if start is None:
        return rows
    held, shape = reading.held, reading.shape
    if set(start) != {*held.shape.names, *shape.names}:
        invalid("a start key has other attributes than the keys of the table and the index")
    key_of(held, {name: start[name] for name in held.shape.names})
    if "KeyConditionExpression" in params:
        edge = _order(held, shape, start)
        return [
            item for item in rows if (_order(held, shape, item) > edge if forward else _order(held, shape, item) < edge)
        ]
    where = (_hashed(shape, start), repr(_partition(shape, start)), *_order(held, shape, start))
    return [
        item
        for item in rows
        if (_hashed(shape, item), repr(_partition(shape, item)), *_order(held, shape, item)) > where
    ]


# What is shown of an item


def _projection(params: Mapping[str, Any], placeholders: Placeholders) -> list[Path] | None:
    text = params.get("ProjectionExpression")
    return None if text is None else read_paths(text, placeholders)


def _shown(paths: list[Path] | None, item: Item) -> Item:
    return stored_item(item) if paths is None else projected(paths, item)
