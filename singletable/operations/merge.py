"""Reading several queries: one after the other, or merged in key order.

Theory of operation. A *reading* is what the pages of a query, of several or of a scan have in common: `steps` gives the
next entities, `done` says that there are none left. To merge, every source that has nothing in hand reads a page, all
of them at the same time; then everything up to the least last row of those that are not at their end is given out, for
nothing before it can still come. So there is never more than a page of each source in memory. The values of `is_in` are
merged, since raw keys of one value can stand among those of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import gt, lt
from typing import Any, Generic, Protocol, TypeVar

from singletable.entity import Entity
from singletable.errors import QueryError
from singletable.operations.context import Context, in_parallel
from singletable.operations.query import Count, Pages
from singletable.queries import Query
from singletable.wire import Steps

__all__ = ["CountAll", "First", "Queries", "Reading", "Source"]

E = TypeVar("E", bound=Entity)
E_co = TypeVar("E_co", bound=Entity, covariant=True)


class Reading(Protocol[E_co]):
    """One reading: a page after the other, until it is done."""

    @property
    def done(self) -> bool:
        """Whether everything was given."""
        ...

    def steps(self, context: Context) -> Steps[tuple[E_co, ...]]:
        """Give the next entities, possibly none."""
        ...


class Source(Protocol[E_co]):
    """What can be read, as often as one likes."""

    def open(self) -> Reading[E_co]:
        """Begin a reading; nothing is sent."""
        ...


class Ordered(Reading[E_co], Protocol[E_co]):
    """A reading that also gives what each entity is ordered by."""

    def rows(self, context: Context) -> Steps[Sequence[tuple[Any, E_co]]]:
        """Give the next entities, each with what it is ordered by."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Queries(Generic[E]):
    """Several queries to read: one after the other, or merged in key order.

    QueryError where queries are to be merged that are not in one order: of different indexes or directions.
    """

    queries: tuple[Query[E], ...]
    merged: bool = False

    def __post_init__(self) -> None:
        if self.merged and len({(query.layout.index, query.ascending) for query in self.queries}) > 1:
            raise QueryError(
                "merged=True was given queries of different indexes or directions, which have no order in common",
                hint="query one index, all ascending or all .descending(), or leave merged=True out",
            )

    def open(self) -> Reading[E]:
        """Begin a reading; nothing is sent."""
        readings = [_opened(query) for query in self.queries]
        if len(readings) == 1:
            return readings[0]
        ascending = all(query.ascending for query in self.queries)
        return _Merged(readings, ascending, None) if self.merged else _InTurn(readings)

    def __repr__(self) -> str:
        return ", ".join(map(repr, self.queries))


def _opened(query: Query[E]) -> Ordered[E]:
    branches = query.branches
    if query.choices is None:
        return Pages(query)
    return _Merged([Pages(branch) for branch in branches], query.ascending, query.most)


class _InTurn(Generic[E]):
    """Readings one after the other."""

    def __init__(self, readings: Iterable[Reading[E]]) -> None:
        self._waiting = list(readings)

    @property
    def done(self) -> bool:
        return all(reading.done for reading in self._waiting)

    def steps(self, context: Context) -> Steps[tuple[E, ...]]:
        reading = next(reading for reading in self._waiting if not reading.done)
        return (yield from reading.steps(context))


class _Held(Generic[E]):
    """A source with the rows it has in hand."""

    def __init__(self, reading: Ordered[E]) -> None:
        self.reading = reading
        self.rows: Sequence[tuple[Any, E]] = ()

    @property
    def hungry(self) -> bool:
        """Whether it has nothing in hand, and is not at its end."""
        return not self.rows and not self.reading.done

    def fill(self, context: Context) -> Steps[None]:
        """Read a page."""
        self.rows = yield from self.reading.rows(context)

    def take(self, belongs: Callable[[Any], bool]) -> Sequence[tuple[Any, E]]:
        """Give out the leading rows that belong to what is given out now, and keep the others."""
        count = next((at for at, (place, _) in enumerate(self.rows) if not belongs(place)), len(self.rows))
        taken, self.rows = self.rows[:count], self.rows[count:]
        return taken


class _Merged(Generic[E]):
    """Readings that are each in key order, merged; `most` rows of them all."""

    def __init__(self, readings: Sequence[Ordered[E]], ascending: bool, most: int | None) -> None:
        self._sources = [_Held(reading) for reading in readings]
        self._ascending = ascending
        self._left = most

    @property
    def done(self) -> bool:
        return self._left == 0 or not any(source.rows or source.hungry for source in self._sources)

    def steps(self, context: Context) -> Steps[tuple[E, ...]]:
        rows = yield from self.rows(context)
        return tuple(entity for _, entity in rows)

    def rows(self, context: Context) -> Steps[list[tuple[Any, E]]]:
        """Let every source that has nothing read a page, and give out what is certain to come next."""
        yield from in_parallel(context, [source.fill(context) for source in self._sources if source.hungry])
        if any(source.hungry for source in self._sources):
            return []
        certain = self._certain()
        rows = [row for number, source in enumerate(self._sources) for row in source.take(partial(certain, number))]
        rows.sort(key=lambda row: row[0], reverse=not self._ascending)
        rows = rows[: self._left]
        if self._left is not None:
            self._left -= len(rows)
        return rows

    def _certain(self) -> Callable[[int, Any], bool]:
        """Say of a source's number and a place whether nothing before it can still come; equals go by the number."""
        ends = {number: source.rows[-1][0] for number, source in enumerate(self._sources) if not source.reading.done}
        first, before = (min, lt) if self._ascending else (max, gt)
        end: Any = first(ends.values(), default=None)
        least = next((number for number, place in ends.items() if place == end), 0)
        return lambda number, place: not ends or bool(before(place, end) or (place == end and number <= least))


@dataclass(frozen=True, slots=True, eq=False)
class First(Generic[E]):
    """Read until there is an entity, and give it; None where there is none."""

    source: Source[E]

    def steps(self, context: Context) -> Steps[E | None]:
        """Read page by page."""
        reading = self.source.open()
        while not reading.done:
            found = yield from reading.steps(context)
            if found:
                return found[0]
        return None


@dataclass(frozen=True, slots=True, eq=False)
class CountAll:
    """Count what several queries give, each for itself."""

    queries: tuple[Query[Entity], ...]

    def steps(self, context: Context) -> Steps[int]:
        """Count the queries at the same time."""
        counts = yield from in_parallel(context, [Count(query).steps(context) for query in self.queries])
        return sum(counts)
