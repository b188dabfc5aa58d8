"""Pages with cursors: so many entities of queries or a scan, and where to go on in both directions.

Theory of operation. Requests follow one another until there are `size` entities after every filter, or `max_pages` were
sent. One row more than `size` is asked for, never by a request of its own: it tells whether anything is left. A cursor
is made from the last row that is given, not from where DynamoDB stopped; only a page that ends for want of requests
goes on where DynamoDB stopped, so that each makes headway. The page before is the same reading against its order, from
the first row.

Queries one after the other are *groups*, each read to its end; merged ones, and the values of `is_in`, are branches of
one group. A cursor names a row in one query, or the end of a group at which the next reading begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from singletable.cursors import Cursor, Purpose, bad_cursor, read, write
from singletable.entity import Entity
from singletable.errors import CorruptItem, QueryError
from singletable.operations.branches import Merge, Row, Start, open_queries, open_scan
from singletable.operations.context import Context
from singletable.operations.merge import Queries
from singletable.operations.places import Frame, frame_of, key_at, key_in, place_of
from singletable.operations.scan import Scan
from singletable.operations.shapes import shape_of
from singletable.queries import Query
from singletable.wire import Item, Steps

__all__ = ["Page", "TakePage"]

E = TypeVar("E", bound=Entity)
E_co = TypeVar("E_co", bound=Entity, covariant=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[E_co]):
    """One page of a query or a scan: its entities, and the cursors of the pages after and before it.

    Iterate over it, take its `len()`, or its `items`. `next` is None where nothing is left, `previous` on the first
    page. A page can be short, or even empty, and still have a `next`: the filter left out what was read so far.
    """

    items: tuple[E_co, ...]
    next: str | None = None
    previous: str | None = None

    def __iter__(self) -> Iterator[E_co]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True, eq=False)
class TakePage(Generic[E]):
    """Take one page of queries or of a scan, at the beginning or where a cursor says."""

    source: Queries[E] | Scan[E]
    size: int
    cursor: str | None = field(default=None, repr=False)
    max_pages: int = 10
    context: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        numbers: dict[str, object] = {"size": self.size, "max_pages": self.max_pages}
        for name, given in numbers.items():
            if not isinstance(given, int) or isinstance(given, bool) or given < 1:
                raise QueryError(f"page({name}=) wants a whole number above 0")
        limits = [each.limit if isinstance(each, Scan) else each.most for each in self._sources]
        if any(limits):
            raise QueryError("page() was given a query with a limit", hint="leave the limit out: size= says how many")
        if isinstance(self.source, Scan) and self.source.segments > 1:
            raise QueryError("page() was given a scan of several segments", hint="leave segments= out")

    @property
    def _sources(self) -> Sequence[Query[E] | Scan[E]]:
        return (self.source,) if isinstance(self.source, Scan) else self.source.queries

    def steps(self, context: Context) -> Steps[Page[E]]:
        """Send requests until the page is full. BadCursor, before any, where the cursor is not of this request."""
        return (yield from replace(self, source=_bound(context, self.source))._taken(context))

    def _taken(self, context: Context) -> Steps[Page[E]]:
        merged = isinstance(self.source, Queries) and self.source.merged
        purpose = Purpose(shape_of(context, self._sources, merged=merged), self.context)
        cursor, now = Cursor(), context.clock().timestamp()
        if self.cursor is not None:
            cursor = read(self.cursor, purpose, context.cursors, now)
        frames = [frame_of(context, each) for each in self._sources]
        reading = _Reading(self, frames, cursor)
        yield from reading.fill(context)
        onward, back = (None if each is None else self._placed(frames, each) for each in reading.ends())
        following, before = (back, onward) if cursor.backward else (onward, back)
        texts = [None if each is None else write(each, purpose, context.cursors, now) for each in (following, before)]
        items = [row.entity for row in reading.given]
        return Page(tuple(reversed(items) if cursor.backward else items), *texts)

    def _placed(self, frames: Sequence[Frame], end: _End) -> Cursor:
        """Make the cursor of an end. CorruptItem for a row whose keys are not those that its kind writes."""
        if end.key is None:
            return Cursor(end.query, None, end.backward)
        place = place_of(frames[end.query], key_in(frames[end.query], end.key))
        if place is None:
            raise CorruptItem(
                "a page ends at a row whose index key is not one that its entity writes, so no cursor can name it",
                hint="another program wrote it so; put the entity again to mend its keys",
                entity="",
                field="",
            )
        return Cursor(end.query, place, end.backward)

    def groups(self, *, backward: bool) -> list[tuple[int, ...]]:
        """Give the numbers of the queries that are read as one, group after group in the order of reading."""
        if isinstance(self.source, Scan):
            return [(0,)]
        numbers = range(len(self.source.queries))
        groups: list[tuple[int, ...]] = [tuple(numbers)] if self.source.merged else [(number,) for number in numbers]
        return groups[::-1] if backward else groups

    def open(self, group: tuple[int, ...], *, backward: bool) -> Merge[E]:
        """Begin to read a group."""
        if isinstance(self.source, Scan):
            return open_scan(self.source)
        return open_queries([(number, self.source.queries[number]) for number in group], backward=backward)


def _bound(context: Context, source: Queries[E] | Scan[E]) -> Queries[E] | Scan[E]:
    """Give what is read as it stands in this store."""
    if isinstance(source, Scan):
        return source
    return replace(source, queries=tuple(map(context.bound_query, source.queries)))


@dataclass(frozen=True, slots=True)
class _End:
    """Where to go on: after a row of a query, or (`key` None) where the query's group begins as it is read."""

    query: int
    key: Item | None
    backward: bool


class _Reading(Generic[E]):
    """One page as it is filled."""

    def __init__(self, page: TakePage[E], frames: Sequence[Frame], cursor: Cursor) -> None:
        self._page = page
        self._frames = frames
        self._backward = cursor.backward
        self._groups = page.groups(backward=cursor.backward)
        self._at = self._begin(cursor)
        self._merge = page.open(self._groups[self._at], backward=self._backward)
        self._rows: list[Row[E]] = []
        self._whole: set[int] = set()
        """The groups that were begun at their beginning."""
        self._stop: _End | None = None
        """The last place where a page can end."""
        self._sent = 0
        self._resume(cursor)
        self._origin = self._at == 0 and self._merge.fresh
        if self._merge.fresh:
            self._whole.add(self._at)

    def _begin(self, cursor: Cursor) -> int:
        """Find the group where a reading begins."""
        if cursor.backward and isinstance(self._page.source, Scan):
            raise bad_cursor("position")
        found = next((at for at, group in enumerate(self._groups) if cursor.query in group), None)
        if found is None:
            raise bad_cursor("position")
        return found

    def _resume(self, cursor: Cursor) -> None:
        if cursor.place is not None:
            self._merge.go_on(Start(cursor.query, key_at(self._frames[cursor.query], cursor.place)))

    @property
    def given(self) -> list[Row[E]]:
        """The rows of the page, in the order of reading."""
        return self._rows[: self._page.size]

    def fill(self, context: Context) -> Steps[None]:
        """Read until there is a row more than the page holds, or nothing is left, or no request may be sent."""
        size = self._page.size
        while len(self._rows) <= size:
            row = self._merge.take()
            if row is not None:
                self._rows.append(row)
                if len(self._rows) <= size:
                    self._stop = _End(row.query, row.item, self._backward)
            elif self._merge.done:
                if self._at + 1 == len(self._groups):
                    self._stop = None
                    return
                self._turn()
            elif len(self._rows) == size or self._is_spent():
                return
            else:
                self._sent += yield from self._merge.read(context, size + 1 - len(self._rows))

    def _turn(self) -> None:
        """Go on to the next group."""
        self._at += 1
        group = self._groups[self._at]
        self._merge = self._page.open(group, backward=self._backward)
        self._whole.add(self._at)
        if len(self._rows) <= self._page.size:
            self._stop = _End(group[0], None, self._backward)

    def _is_spent(self) -> bool:
        """Say whether the page ends here, for want of requests and at a place that a cursor can name."""
        frontier = self._merge.frontier
        if frontier is not None:
            frame = self._frames[frontier.query]
            if place_of(frame, key_in(frame, frontier.key)) is not None:
                self._stop = _End(frontier.query, frontier.key, self._backward)
        if self._sent < self._page.max_pages or (self._stop is None and self._merge.dropping):
            return False
        if self._stop is None and self._sent >= 2 * self._page.max_pages + len(self._merge.branches):
            raise QueryError(
                f"{self._sent} requests found nothing but rows that no entity of the table could have written",
                hint="raise max_pages, or keep such rows out of the partition",
            )
        return self._stop is not None

    def ends(self) -> tuple[_End | None, _End | None]:
        """Say where to go on in the order of reading, and where against it; None where there is nothing."""
        return self._stop, None if isinstance(self._page.source, Scan) else self._back()

    def _back(self) -> _End | None:
        if self._origin:
            return None
        if not self._rows:
            return self._turned(self._at, self._stop)
        first = self._rows[0]
        group = next(at for at, numbers in enumerate(self._groups) if first.query in numbers)
        return self._turned(group, _End(first.query, None if group in self._whole else first.item, self._backward))

    def _turned(self, group: int, end: _End | None) -> _End:
        """Turn an end round: the same place, or the end of the group before; of no end the end of all."""
        if end is not None and end.key is not None:
            return replace(end, backward=not self._backward)
        before = self._groups[-1] if end is None else self._groups[group - 1]
        return _End(before[0], None, not self._backward)
