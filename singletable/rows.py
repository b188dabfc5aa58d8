"""`Rows` and `AsyncRows`: the lazy answer to a query, in both colours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.expressions import no_truth
from singletable.operations.query import Pages
from singletable.queries import Query

__all__ = ["AsyncRows", "Rows"]

E_co = TypeVar("E_co", bound=Entity, covariant=True)


class Rows(Generic[E_co]):
    """What a query gives: iterate over it, as often as you like; each time it is read anew, a page at a time.

    Nothing is sent before the first row is asked for. `all()` reads everything into a list.
    """

    def __init__(self, query: Query[E_co], run: Callable[[Any], Any]) -> None:
        self._query = query
        self._run = run

    def __iter__(self) -> Iterator[E_co]:
        pages = Pages(self._query)
        while not pages.done:
            yield from self._run(pages)

    def all(self) -> list[E_co]:
        """Read every row, over all pages."""
        return list(self)

    def __bool__(self) -> bool:
        no_truth("an answer that is not read yet", "store.first(query) is None where nothing is found")

    def __repr__(self) -> str:
        return f"<rows of {self._query!r}>"


class AsyncRows(Generic[E_co]):
    """What a query gives: `async for` over it, as often as you like; each time it is read anew, a page at a time.

    Nothing is sent before the first row is asked for. `await rows.all()` reads everything into a list.
    """

    def __init__(self, query: Query[E_co], run: Callable[[Any], Awaitable[Any]]) -> None:
        self._query = query
        self._run = run

    async def __aiter__(self) -> AsyncIterator[E_co]:
        pages = Pages(self._query)
        while not pages.done:
            for entity in await self._run(pages):
                yield entity

    async def all(self) -> list[E_co]:
        """Read every row, over all pages."""
        return [entity async for entity in self]

    def __bool__(self) -> bool:
        no_truth("an answer that is not read yet", "await store.first(query) is None where nothing is found")

    def __repr__(self) -> str:
        return f"<rows of {self._query!r}>"
