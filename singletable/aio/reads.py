"""The verbs that read, awaited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeVar, overload

from singletable.aio.running import Running
from singletable.entity import Entity
from singletable.expressions import Condition
from singletable.gathering import Collection, Gathering
from singletable.operations.by_value import UniqueRef
from singletable.operations.get_many import Missing
from singletable.queries import Query, Ref
from singletable.rows import AsyncRows

__all__ = ["Reads"]

E = TypeVar("E", bound=Entity)
A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
D = TypeVar("D", bound=Entity)
F = TypeVar("F", bound=Entity)
H = TypeVar("H", bound=Collection)


class Reads(Running):
    """What a store can read."""

    async def get(self, ref: Ref[E] | UniqueRef[E], *, consistent: bool = False) -> E | None:
        """Read one item; None where nothing stands there. ForeignItem where another entity's item does.

        By a unique value, `get(unique_ref(User, email=...))`, it is always read strongly.
        """
        return await self.run(self._verbs.get(ref, consistent))

    async def one(self, ref: Ref[E] | UniqueRef[E], *, consistent: bool = False) -> E:
        """Read one item that must be there; NotFound where it is not."""
        return await self.run(self._verbs.one(ref, consistent))

    @overload
    async def get_many(
        self,
        a: Ref[A],
        b: Ref[B],
        /,
        *,
        missing: Literal["hole"] = ...,
        consistent: bool = ...,
        transactional: bool = ...,
    ) -> tuple[A | None, B | None]: ...
    @overload
    async def get_many(
        self,
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        /,
        *,
        missing: Literal["hole"] = ...,
        consistent: bool = ...,
        transactional: bool = ...,
    ) -> tuple[A | None, B | None, C | None]: ...
    @overload
    async def get_many(
        self,
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        /,
        *,
        missing: Literal["hole"] = ...,
        consistent: bool = ...,
        transactional: bool = ...,
    ) -> tuple[A | None, B | None, C | None, D | None]: ...
    @overload
    async def get_many(
        self,
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        f: Ref[F],
        /,
        *,
        missing: Literal["hole"] = ...,
        consistent: bool = ...,
        transactional: bool = ...,
    ) -> tuple[A | None, B | None, C | None, D | None, F | None]: ...
    @overload
    async def get_many(
        self, a: Ref[A], b: Ref[B], /, *, missing: Literal["raise"], consistent: bool = ..., transactional: bool = ...
    ) -> tuple[A, B]: ...
    @overload
    async def get_many(
        self,
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        /,
        *,
        missing: Literal["raise"],
        consistent: bool = ...,
        transactional: bool = ...,
    ) -> tuple[A, B, C]: ...
    @overload
    async def get_many(
        self,
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        /,
        *,
        missing: Literal["raise"],
        consistent: bool = ...,
        transactional: bool = ...,
    ) -> tuple[A, B, C, D]: ...
    @overload
    async def get_many(
        self,
        a: Ref[A],
        b: Ref[B],
        c: Ref[C],
        d: Ref[D],
        f: Ref[F],
        /,
        *,
        missing: Literal["raise"],
        consistent: bool = ...,
        transactional: bool = ...,
    ) -> tuple[A, B, C, D, F]: ...
    @overload
    async def get_many(
        self, *refs: Ref[E], missing: Literal["hole"] = ..., consistent: bool = ..., transactional: bool = ...
    ) -> tuple[E | None, ...]: ...
    @overload
    async def get_many(
        self, *refs: Ref[E], missing: Literal["skip", "raise"], consistent: bool = ..., transactional: bool = ...
    ) -> tuple[E, ...]: ...
    async def get_many(
        self, *refs: Ref[Any], missing: Missing = "hole", consistent: bool = False, transactional: bool = False
    ) -> tuple[Any, ...]:
        """Read many items, a hundred a request, in the order of their references; each key is asked for once.

        An item that is not there is None (`missing="hole"`), left out ("skip"), or NotFound ("raise"). ForeignItem
        where another entity's item stands; Unprocessed lists the references that DynamoDB kept not answering. With
        `transactional` all are read as they stand at one moment, a hundred at most, for twice the price.
        """
        return await self.run(self._verbs.get_many(refs, missing, consistent, transactional))

    @overload
    async def hydrate(
        self, what: AsyncRows[E] | Iterable[E], *, missing: Literal["skip", "raise"] = ..., consistent: bool = ...
    ) -> tuple[E, ...]: ...
    @overload
    async def hydrate(
        self, what: AsyncRows[E] | Iterable[E], *, missing: Literal["hole"], consistent: bool = ...
    ) -> tuple[E | None, ...]: ...
    @overload
    async def hydrate(
        self, what: Iterable[Ref[E]], *, missing: Literal["skip", "raise"] = ..., consistent: bool = ...
    ) -> tuple[E, ...]: ...
    @overload
    async def hydrate(
        self, what: Iterable[Ref[E]], *, missing: Literal["hole"], consistent: bool = ...
    ) -> tuple[E | None, ...]: ...
    async def hydrate(
        self, what: AsyncRows[Any] | Iterable[Any], *, missing: Missing = "skip", consistent: bool = False
    ) -> tuple[Any, ...]:
        """Read the whole entities behind what an index or `only` gave, in the same order, a hundred a request.

        Each is read from the table by its primary key, as it is now; each key is asked for once. One that is gone
        meanwhile is left out (`missing="skip"`), None ("hole") or NotFound ("raise"); ForeignItem where another
        entity's item stands now.
        """
        given = await what.all() if isinstance(what, AsyncRows) else what
        return await self.run(self._verbs.hydrate(given, missing, consistent))

    @overload
    def query(self, a: Query[A], /, *, merged: bool = ...) -> AsyncRows[A]: ...
    @overload
    def query(self, a: Query[A], b: Query[B], /, *, merged: bool = ...) -> AsyncRows[A | B]: ...
    @overload
    def query(self, a: Query[A], b: Query[B], c: Query[C], /, *, merged: bool = ...) -> AsyncRows[A | B | C]: ...
    @overload
    def query(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], /, *, merged: bool = ...
    ) -> AsyncRows[A | B | C | D]: ...
    @overload
    def query(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], f: Query[F], /, *, merged: bool = ...
    ) -> AsyncRows[A | B | C | D | F]: ...
    @overload
    def query(self, *queries: Query[E], merged: bool = ...) -> AsyncRows[E]: ...
    def query(self, *queries: Query[Any], merged: bool = False) -> AsyncRows[Any]:
        """Read queries lazily, a page at a time; `async for` over the answer, or `await` its `.all()`.

        Several are read one after the other, or with `merged=True` as one in key order; QueryError where they have no
        order in common, being of different indexes or directions.
        """
        return AsyncRows(self._verbs.query(queries, merged), self.run)

    @overload
    async def first(self, a: Query[A], /, *, merged: bool = ...) -> A | None: ...
    @overload
    async def first(self, a: Query[A], b: Query[B], /, *, merged: bool = ...) -> A | B | None: ...
    @overload
    async def first(self, a: Query[A], b: Query[B], c: Query[C], /, *, merged: bool = ...) -> A | B | C | None: ...
    @overload
    async def first(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], /, *, merged: bool = ...
    ) -> A | B | C | D | None: ...
    @overload
    async def first(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], f: Query[F], /, *, merged: bool = ...
    ) -> A | B | C | D | F | None: ...
    @overload
    async def first(self, *queries: Query[E], merged: bool = ...) -> E | None: ...
    async def first(self, *queries: Query[Any], merged: bool = False) -> Any:
        """Read the first entity that `query` would give; None where there is none."""
        return await self.run(self._verbs.first(queries, merged))

    async def count(self, *queries: Query[Entity]) -> int:
        """Count what queries give, over all their pages."""
        return await self.run(self._verbs.count(queries))

    async def gather(self, what: Gathering[H]) -> H:
        """Read a collection into the places of its class, over all its pages.

        SeveralFound where two items are found for a place of one, NotFound where a place that must be filled stays
        empty.
        """
        return await self.run(self._verbs.gather(what))

    def scan(
        self,
        entity: type[E],
        *,
        segments: int = 1,
        where: Condition | None = None,
        limit: int | None = None,
        consistent: bool = False,
        include_expired: bool = False,
    ) -> AsyncRows[E]:
        """Read every item of an entity by going through the whole table, in no order.

        DynamoDB reads and bills all items of the table, whoever's they are; `where` filters after that, and `limit`
        counts after the filter. With `segments` so many parts of the table are read at the same time. What has expired
        is left out, unless `include_expired`.
        """
        scan = self._verbs.scan(entity, consistent, include_expired, segments=segments, where=where, limit=limit)
        return AsyncRows(scan, self.run)
