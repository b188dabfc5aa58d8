"""`Rows` and `AsyncRows`: the lazy answer to queries and scans, in both colours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.expressions import no_truth
from singletable.operations.merge import Source

__all__ = ["AsyncRows", "Rows"]

E_co = TypeVar("E_co", bound=Entity, covariant=True)


class Rows(Generic[E_co]):
    """What a query or a scan gives: iterate over it, as often as you like; each time it is read anew, a page at a time.

    Nothing is sent before the first row is asked for. `all()` reads everything into a list.
    """

    def __init__(self, source: Source[E_co], run: Callable[[Any], Any]) -> None:
        self._source = source
        self._run = run

    def __iter__(self) -> Iterator[E_co]:
        reading = self._source.open()
        while not reading.done:
            yield from self._run(reading)

    def all(self) -> list[E_co]:
        """Read every row, over all pages."""
        return list(self)

    def __bool__(self) -> bool:
        no_truth("an answer that is not read yet", "store.first(query) is None where nothing is found")

    def __repr__(self) -> str:
        return f"<rows of {self._source!r}>"


class AsyncRows(Generic[E_co]):
    """What a query or a scan gives: `async for` over it, as often as you like; each time it is read anew.

    A page is read at a time, and nothing is sent before the first row is asked for. `await rows.all()` reads everything
    into a list.
    """

    def __init__(self, source: Source[E_co], run: Callable[[Any], Awaitable[Any]]) -> None:
        self._source = source
        self._run = run

    async def __aiter__(self) -> AsyncIterator[E_co]:
        reading = self._source.open()
        while not reading.done:
            for entity in await self._run(reading):
                yield entity

    async def all(self) -> list[E_co]:
        """Read every row, over all pages."""
        return [entity async for entity in self]

    def __bool__(self) -> bool:
        no_truth("an answer that is not read yet", "await store.first(query) is None where nothing is found")

    def __repr__(self) -> str:
        return f"<rows of {self._source!r}>"
