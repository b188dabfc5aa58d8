"""`Rows`: the lazy answer to a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from singletable.driver import Driver
from singletable.entity import Entity
from singletable.expressions import no_truth
from singletable.operations.context import Context
from singletable.operations.query import ReadPage, next_asked
from singletable.queries import Query
from singletable.wire import Item

__all__ = ["Rows"]

E_co = TypeVar("E_co", bound=Entity, covariant=True)


class Rows(Generic[E_co]):
    """What a query gives: iterate over it, as often as you like; each time it is read anew, a page at a time.

    Nothing is sent before the first row is asked for. `all()` reads everything into a list.
    """

    def __init__(self, query: Query[E_co], driver: Driver, context: Context) -> None:
        self._query = query
        self._driver = driver
        self._context = context

    def __iter__(self) -> Iterator[E_co]:
        left, start, page = self._query.most, None, 0
        while True:
            found, start = self._page(start, left, page)
            wanted = found if left is None else found[:left]
            yield from wanted
            page += 1
            if left is not None:
                left -= len(wanted)
            if start is None or left == 0:
                return

    def _page(self, start: Item | None, left: int | None, page: int) -> tuple[tuple[E_co, ...], Item | None]:
        asked = None if left is None else next_asked(self._query, left, page)
        found = self._driver.run(ReadPage(self._query, start, asked).steps(self._context))
        return found.entities, found.next

    def all(self) -> list[E_co]:
        """Read every row, over all pages."""
        return list(self)

    def __bool__(self) -> bool:
        no_truth("an answer that is not read yet", "store.first(query) is None where nothing is found")

    def __repr__(self) -> str:
        return f"<rows of {self._query!r}>"
