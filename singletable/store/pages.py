"""The verb that reads in pages."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from singletable.entity import Entity
from singletable.operations.page import Page
from singletable.operations.scan import Scan
from singletable.queries import Query
from singletable.store.running import Running

__all__ = ["Paged"]

E = TypeVar("E", bound=Entity)
A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
D = TypeVar("D", bound=Entity)
F = TypeVar("F", bound=Entity)


class Paged(Running):
    """What a store reads page by page, with cursors to hand out."""

    @overload
    def page(
        self,
        a: Query[A] | Scan[A],
        /,
        *,
        size: int,
        cursor: str | None = ...,
        merged: bool = ...,
        max_pages: int = ...,
        context: str | None = ...,
    ) -> Page[A]: ...
    @overload
    def page(
        self,
        a: Query[A],
        b: Query[B],
        /,
        *,
        size: int,
        cursor: str | None = ...,
        merged: bool = ...,
        max_pages: int = ...,
        context: str | None = ...,
    ) -> Page[A | B]: ...
    @overload
    def page(
        self,
        a: Query[A],
        b: Query[B],
        c: Query[C],
        /,
        *,
        size: int,
        cursor: str | None = ...,
        merged: bool = ...,
        max_pages: int = ...,
        context: str | None = ...,
    ) -> Page[A | B | C]: ...
    @overload
    def page(
        self,
        a: Query[A],
        b: Query[B],
        c: Query[C],
        d: Query[D],
        /,
        *,
        size: int,
        cursor: str | None = ...,
        merged: bool = ...,
        max_pages: int = ...,
        context: str | None = ...,
    ) -> Page[A | B | C | D]: ...
    @overload
    def page(
        self,
        a: Query[A],
        b: Query[B],
        c: Query[C],
        d: Query[D],
        f: Query[F],
        /,
        *,
        size: int,
        cursor: str | None = ...,
        merged: bool = ...,
        max_pages: int = ...,
        context: str | None = ...,
    ) -> Page[A | B | C | D | F]: ...
    @overload
    def page(
        self,
        *queries: Query[E],
        size: int,
        cursor: str | None = ...,
        merged: bool = ...,
        max_pages: int = ...,
        context: str | None = ...,
    ) -> Page[E]: ...
    def page(
        self,
        *queries: Query[Any] | Scan[Any],
        size: int,
        cursor: str | None = None,
        merged: bool = False,
        max_pages: int = 10,
        context: str | None = None,
    ) -> Page[Any]:
        """Read one page of `size` entities, counted after every filter, and the cursors of the pages beside it.

        `cursor` is the `next` or `previous` of another page of the same request; None begins. Several queries are read
        one after the other, or with `merged=True` in key order; a `Scan` alone, and only forwards. After `max_pages`
        requests a page ends short, with a `next`. A cursor made with `context=`, such as a tenant or a user, is refused
        with another. BadCursor where the cursor cannot be used, with nothing sent.
        """
        return self.run(
            self._verbs.page(queries, merged, size=size, cursor=cursor, max_pages=max_pages, context=context)
        )
