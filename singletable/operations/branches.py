"""Reading queries from a place on, as one and with as few requests as can be.

Theory of operation. A *branch* is one request's worth of a query: the query itself, or one value of its `is_in`. Rows
of several branches come in key order; equal keys come by the number of their query. Each branch that is not at its end
has a *frontier*, before which nothing of it can still come: the end of its range before it is read, then the row where
DynamoDB stopped. So only the branches with the least frontier are read, and only when the next row may be theirs: the
values of `is_in` one after the other, queries of several partitions at the same time.

The branch that holds the place where a reading begins goes on there by a start key. In the others that is no start key;
their range is cut at it. What stands at just that key is theirs to give if their query comes later, else it was given:
the cut leaves it out, or where a key of several attributes has no such cut, it is read once more and dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from singletable.entity import Entity
from singletable.keys import BoundTemplate, KeyRange, cut, depth_below, end_of, side
from singletable.layouts import Column, wire_key
from singletable.operations.context import Context, in_parallel
from singletable.operations.query import LIMIT_MOST, Found, ReadPage, next_asked, place_in
from singletable.operations.scan import Scan, ScanPage, scan_asked
from singletable.queries import Query, Span, with_spans
from singletable.wire import Item, Steps

__all__ = ["Branch", "Merge", "Row", "Start", "open_queries", "open_scan"]

E = TypeVar("E", bound=Entity)

Point: TypeAlias = tuple[tuple[Any, ...], int]
"""Where a row stands in the order of several branches: what its key is ordered by, and the rank of its query."""


@dataclass(frozen=True, slots=True)
class Row(Generic[E]):
    """An entity with the number of its query, the item it was read from, and its point."""

    query: int
    entity: E
    item: Item
    point: Point


@dataclass(frozen=True, slots=True)
class Start:
    """Where a reading begins: after the row of a query with this key."""

    query: int
    key: Item


class Branch(Generic[E]):
    """One query or scan that is read page by page; `hand` holds what was read and not given out yet."""

    def __init__(self, source: Query[E] | Scan[E], number: int, *, rank: int = 0) -> None:
        self.source = source
        self.number = number
        self.rank = rank
        self.hand: list[Row[E]] = []
        self.start: Item | None = None
        self.stopped: Item | None = None
        """Where DynamoDB stopped in this reading."""
        self.done = isinstance(source, Query) and source.is_empty
        self.frontier: Point | None = self._first()
        self.passed: Point | None = None
        """The point up to which rows are dropped, where its range could not be cut there."""
        self.dropping = False
        """Whether what it reads next may be dropped."""
        self._page = 0

    @property
    def up(self) -> bool:
        """Whether keys ascend as it is read."""
        return not isinstance(self.source, Query) or self.source.ascending

    @property
    def hungry(self) -> bool:
        """Whether it has nothing in hand and is not at its end."""
        return not self.hand and not self.done

    def _first(self) -> Point | None:
        """Give a point before which nothing of it comes; None where that is unknown."""
        if not isinstance(self.source, Query) or len(self.source.spans) != 1 or len(self.source.layout.sks) != 1:
            return None
        (span,) = self.source.spans
        text = end_of(span.column.template, span.range, upper=not self.up)
        return None if text is None else (place_in(self.source, _wire(span.column, text)), self.rank)

    def go_on(self, key: Item) -> None:
        """Begin after a key of its own; where the range has moved on, at its beginning, or at its end."""
        where = _side(self.source, key)
        if where == 0:
            self.start = key
        elif (where > 0) is self.up:
            self.done = True

    def go_past(self, point: Point) -> None:
        """Begin after a point that is another branch's."""
        if not isinstance(self.source, Query):
            return
        places, rank = point
        given = self.rank <= rank if self.up else self.rank >= rank
        if len(places) > 1:
            self.passed, self.dropping = point, True
        self.source = with_spans(self.source, _cut(self.source, places, past=given))
        self.done = self.source.is_empty
        self.frontier = self._first()

    def fill(self, context: Context, left: int) -> Steps[None]:
        """Read a page, in the hope for so many rows."""
        found: Found[E]
        if isinstance(self.source, Query):
            wanted = LIMIT_MOST if self.dropping and self._page else left
            asked = min(next_asked(context, self.source, wanted, self._page), LIMIT_MOST)
            found = yield from ReadPage(self.source, self.start, asked).steps(context)
        else:
            found = yield from ScanPage(self.source, self.start, scan_asked(left, self._page)).steps(context)
        self._page += 1
        self.start, self.stopped, self.done = found.next, found.next, found.next is None
        if found.next is not None and isinstance(self.source, Query):
            self._move((place_in(self.source, found.next), self.rank))
        rows = zip(found.entities, found.items, found.order, strict=True)
        made = [Row(self.number, entity, item, (order, self.rank)) for entity, item, order in rows]
        self.hand = [row for row in made if self.passed is None or _before(self.passed, row.point, up=self.up)]

    def _move(self, point: Point) -> None:
        """Move the frontier to where DynamoDB stopped; among rows that are dropped is no place to stop at."""
        self.dropping = self.passed is not None and not _before(self.passed, point, up=self.up)
        if self.dropping:
            self.frontier, self.stopped = self.passed, None
        else:
            self.frontier = point


def _before(one: Point, other: Point, *, up: bool) -> bool:
    return one < other if up else one > other


def _wire(column: Column, text: str) -> Item:
    return {column.name: wire_key(column.template, text)}


def _text(place: Any) -> str:
    """Give the key text of what a key is ordered by."""
    return place.hex() if isinstance(place, bytes) else f"{place:f}" if not isinstance(place, str) else place


def _cut(query: Query[Any], places: tuple[Any, ...], *, past: bool) -> tuple[Span, ...]:
    """Cut the ranges of a query at a place; of a key of several attributes the first that can differ."""
    spans: list[Span] = []
    for at, column in enumerate(query.layout.sks):
        wanted = query.spans[at].range if at < len(query.spans) else KeyRange("all")
        text = _text(places[at])
        only = past and at + 1 == len(places)
        spans.append(Span(column, cut(column.template, wanted, text, upwards=query.ascending, past=only)))
        if wanted.operator != "=" or side(column.template, wanted, text):
            break
    return (*spans, *query.spans[len(spans) :])


def _side(source: Query[Any] | Scan[Any], key: Item) -> int:
    """Say where a key stands with regard to the range of a query: before it, in it or after it."""
    if not isinstance(source, Query):
        return 0
    if source.is_empty:
        return 1
    sides = (side(span.column.template, span.range, _text(_stored(span, key))) for span in source.spans)
    return next((where for where in sides if where), 0)


def _stored(span: Span, key: Item) -> Any:
    (value,) = key[span.column.name].values()
    return value


def _holds(query: Query[Any] | Scan[Any], key: Item) -> bool:
    """Say whether a key is one of a branch: in its range, and below its node where raw keys can lie beside that."""
    if not isinstance(query, Query) or _side(query, key):
        return not isinstance(query, Query)
    template, name = query.layout.sk, query.layout.sk_name
    if name is None or not isinstance(template, BoundTemplate):
        return True
    values = {part: query.values[part] for part in template.parts if part in query.values}
    return depth_below(template, values, key[name]["S"]) >= 0


# Several branches


class Merge(Generic[E]):
    """Branches that are read as one, in key order."""

    def __init__(self, branches: Sequence[Branch[E]]) -> None:
        self.branches = branches
        self.fresh = True
        """Whether the reading begins at the beginning."""
        self._up = all(branch.up for branch in branches)

    @property
    def done(self) -> bool:
        """Whether everything was given out."""
        return all(branch.done and not branch.hand for branch in self.branches)

    def take(self) -> Row[E] | None:
        """Give out the next row if it is certain that nothing comes before it."""
        holder = self._holder()
        if holder is None or any(self._may_precede(branch, holder.hand[0].point) for branch in self.branches):
            return None
        return holder.hand.pop(0)

    def _holder(self) -> Branch[E] | None:
        holders = [branch for branch in self.branches if branch.hand]
        choose = min if self._up else max
        return choose(holders, key=lambda branch: branch.hand[0].point, default=None)

    def _may_precede(self, branch: Branch[E], point: Point) -> bool:
        return branch.hungry and (branch.frontier is None or not _before(point, branch.frontier, up=self._up))

    @property
    def dropping(self) -> bool:
        """Whether a branch still reads what was given before."""
        return any(branch.dropping for branch in self.branches if branch.hungry)

    @property
    def blocking(self) -> list[Branch[E]]:
        """The branches to read before another row can be given out: those of the least frontier."""
        hungry = [branch for branch in self.branches if branch.hungry]
        unknown = [branch for branch in hungry if branch.frontier is None]
        if unknown or not hungry:
            return unknown
        choose = min if self._up else max
        least = choose(branch.frontier for branch in hungry if branch.frontier is not None)
        return [branch for branch in hungry if branch.frontier is not None and branch.frontier[0] == least[0]]

    def read(self, context: Context, left: int) -> Steps[int]:
        """Read a page of each branch that must be read, and say how many requests that were."""
        reading = self.blocking
        yield from in_parallel(context, [branch.fill(context, left) for branch in reading])
        return len(reading)

    @property
    def frontier(self) -> Start | None:
        """Where DynamoDB stopped, if everything before was given out and nothing that is in hand comes before it."""
        hungry = [branch for branch in self.branches if branch.hungry]
        if not hungry or (len(hungry) > 1 and any(branch.frontier is None for branch in hungry)):
            return None
        choose = min if self._up else max
        least = choose(hungry, key=lambda branch: branch.frontier or ()) if len(hungry) > 1 else hungry[0]
        return None if least.stopped is None else Start(least.number, least.stopped)

    def go_on(self, start: Start) -> None:
        """Begin after a row."""
        self.fresh = all(self._is_ahead(branch, start.key) for branch in self.branches)
        mine = [branch for branch in self.branches if branch.number == start.query]
        holder = next((branch for branch in mine if len(mine) == 1 or _holds(branch.source, start.key)), None)
        for branch in self.branches:
            if branch is holder:
                branch.go_on(start.key)
            elif isinstance(branch.source, Query) and mine:
                branch.go_past((place_in(branch.source, start.key), mine[0].rank))

    def _is_ahead(self, branch: Branch[E], key: Item) -> bool:
        """Say whether a key stands before everything that a branch can give."""
        where = _side(branch.source, key)
        return where != 0 and (where < 0) is self._up


def open_queries(queries: Sequence[tuple[int, Query[E]]], *, backward: bool) -> Merge[E]:
    """Begin to read numbered queries as one, in their order or against it."""
    branches: list[Branch[E]] = []
    for number, query in queries:
        rank = number if query.ascending else -number
        turned = [replace(branch, ascending=query.ascending is not backward) for branch in query.branches]
        branches += [Branch(branch, number, rank=rank) for branch in turned]
    return Merge(branches)


def open_scan(scan: Scan[E]) -> Merge[E]:
    """Begin to read a scan."""
    return Merge([Branch(scan, 0)])
