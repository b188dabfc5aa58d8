"""Scanning the table for the items of one entity.

Theory of operation. A scan reads (and bills) every item of the table and drops what is not asked for: it is only ever
sent where the caller says `scan`. The tag goes along as a filter, and each row is looked at again on this side, since
hidden items, tombstones and other programs' rows stand in the same table. With several segments each reads its own part
of the table; a step reads a page of each at the same time and gives all of it out, so there is never more in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.errors import QueryError, kind_of
from singletable.expressions import Condition, Expressions, all_of, any_of
from singletable.mapping import Mapper
from singletable.operations.context import Context, in_parallel
from singletable.operations.query import LIMIT_MOST
from singletable.operations.sending import send
from singletable.operations.writing import owned
from singletable.schema import kinds_of
from singletable.wire import Call, Item, Steps

__all__ = ["Scan"]

E = TypeVar("E", bound=Entity)

DOUBLINGS = 12
"""So often, at most, is the number of rows asked for doubled: 4 rows are more than `LIMIT_MOST` by then."""

SEGMENTS_MOST = 1_000_000
"""A parallel scan has at most so many segments. Source: AWS, "Scan", TotalSegments."""


@dataclass(frozen=True, slots=True, eq=False)
class Scan(Generic[E]):
    """A reading of the whole table for one entity's items, in no order; `where` filters, `limit` counts after it."""

    entity: type[E]
    segments: int = 1
    where: Condition | None = None
    limit: int | None = None
    consistent: bool = False

    def __post_init__(self) -> None:
        kinds_of(self.entity)
        _check_count("segments", self.segments, SEGMENTS_MOST)
        if self.limit is not None:
            _check_count("limit", self.limit, None)
        if self.where is not None and not isinstance(self.where, Condition):
            raise QueryError(
                f"scan(where=) was given {kind_of(self.where)}, wanted a condition",
                hint='such as Order.status == "PAID", joined with & and |',
            )

    def open(self) -> _ScanPages[E]:
        """Begin a reading; nothing is sent."""
        return _ScanPages(self)

    def __repr__(self) -> str:
        return f"<scan {self.entity.__name__}>"


def _check_count(name: str, given: object, most: int | None) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1 or (most is not None and given > most):
        raise QueryError(f"scan({name}=) wants a whole number above 0" + ("" if most is None else f", up to {most}"))


class _ScanPages(Generic[E]):
    """One reading of a scan: the segments that are not at their end, each with where it goes on."""

    def __init__(self, scan: Scan[E]) -> None:
        self._scan = scan
        self._starts: dict[int, Item | None] = dict.fromkeys(range(scan.segments))
        self._left = scan.limit
        self._page = 0

    @property
    def done(self) -> bool:
        return not self._starts or self._left == 0

    def steps(self, context: Context) -> Steps[tuple[E, ...]]:
        """Read a page of each segment at the same time, and give their entities."""
        context.check_whole("scan() reads")
        pages = yield from in_parallel(context, [self._read(context, segment) for segment in self._starts])
        self._starts = {
            segment: start for segment, (_, start) in zip(self._starts, pages, strict=True) if start is not None
        }
        self._page += 1
        found = [entity for entities, _ in pages for entity in entities][: self._left]
        if self._left is not None:
            self._left -= len(found)
        return tuple(found)

    def _read(self, context: Context, segment: int) -> Steps[tuple[list[E], Item | None]]:
        mappers: list[Mapper[E]] = [context.mapper(model.entity) for model in context.kinds(self._scan.entity)]
        params = _request(context, self._scan, mappers)
        start = self._starts[segment]
        if start is not None:
            params["ExclusiveStartKey"] = start
        if self._scan.segments > 1:
            params |= {"Segment": segment, "TotalSegments": self._scan.segments}
        if self._left is not None:
            params["Limit"] = min(self._left * 4 * 2 ** min(self._page, DOUBLINGS), LIMIT_MOST)
        answer = yield from send(context, Call("scan", params))
        found = [mapper.decode(item) for item in answer["Items"] for mapper in mappers if mapper.kind(item) == "own"]
        return found, answer.get("LastEvaluatedKey")


def _request(context: Context, scan: Scan[Any], mappers: Sequence[Mapper[Any]]) -> dict[str, Any]:
    """Write a scan as the parameters of a Scan request, with the tag as a filter where the table has one."""
    params: dict[str, Any] = {"TableName": context.table}
    expressions = Expressions()
    kept = all_of((any_of(owned(mapper.model) for mapper in mappers), scan.where))
    if kept is not None:
        params["FilterExpression"] = expressions.condition(kept)
    if scan.consistent:
        params["ConsistentRead"] = True
    return params | expressions.params()
