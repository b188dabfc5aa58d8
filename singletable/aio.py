"""`AsyncStore`: the verbs of `Store`, awaited; needs the extra `aio` (aiobotocore)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import Any, Literal, Never, Self, TypeVar, overload

from singletable.entity import Entity
from singletable.errors import ConfigurationError
from singletable.expressions import Change, Condition
from singletable.loops import AsyncDriver
from singletable.operations.get_many import Missing
from singletable.operations.many import Progress
from singletable.operations.tables import CreateTable, DeleteTable
from singletable.queries import Query, Ref
from singletable.rows import AsyncRows
from singletable.schema import Table
from singletable.verbs import CONNECT_SECONDS, POOL, Clock, Operation, Verbs, check_place, check_table, utc_now

__all__ = ["AsyncRows", "AsyncStore"]

T = TypeVar("T")
E = TypeVar("E", bound=Entity)
A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
D = TypeVar("D", bound=Entity)
F = TypeVar("F", bound=Entity)


class AsyncStore:
    """A table in one place, for asyncio: `async with AsyncStore(app) as store`, or make one and use it.

    `session` is an aiobotocore session and `client` an aiobotocore client that is open; everything else is as for
    `Store`. There is one client for each event loop, closed by `await store.close()`, by leaving `async with`, or with
    its loop; a forked child makes its own. A write whose task is cancelled may or may not have happened.
    ConfigurationError where aiobotocore is not installed.
    """

    def __init__(
        self,
        table: Table,
        name: str | None = None,
        *,
        session: Any = None,
        client: Any = None,
        endpoint_url: str | None = None,
        region: str | None = None,
        clock: Clock = utc_now,
    ) -> None:
        check_place(client, session, endpoint_url, region)
        self._verbs = Verbs(table, name, clock)

        def connect() -> AbstractAsyncContextManager[Any]:
            return nullcontext(client) if client is not None else _client(session, endpoint_url, region)

        self._driver = AsyncDriver(connect)

    @classmethod
    def local(cls, table: Table, *, clock: Clock = utc_now) -> Never:
        """Refuse: the embedded engine (moto) answers no aiobotocore client. ConfigurationError says what to use."""
        check_table(table)
        raise ConfigurationError(
            f"AsyncStore.local({table.name!r}): the embedded engine works with Store only",
            hint="start an engine, such as `npx dynoxide --port 8000`, and pass endpoint_url='http://127.0.0.1:8000'",
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def table(self) -> Table:
        """The table's declaration."""
        return self._verbs.table

    @property
    def name(self) -> str:
        """The table's name in this place."""
        return self._verbs.context.table

    async def run(self, operation: Operation[T]) -> T:
        """Run any operation and give its result."""
        return await self._driver.run(operation.steps(self._verbs.context))

    async def close(self) -> None:
        """Close the client of the running loop; the store can still be used."""
        await self._driver.close()

    def __repr__(self) -> str:
        return f"<AsyncStore of {self.table!r} as {self.name!r}>"

    # The table -------------------------------------------------------------------------------------------------------

    async def create_table(self) -> None:
        """Make the table with its indexes, paid per request, and wait until it can be used.

        Does nothing where it exists in this shape; TableMismatch where it has another.
        """
        await self.run(CreateTable(self.table))

    async def delete_table(self) -> None:
        """Drop the table with everything in it and wait until it is gone. TableMissing where there is none."""
        await self.run(DeleteTable())

    # One item --------------------------------------------------------------------------------------------------------

    async def get(self, ref: Ref[E], *, consistent: bool = False) -> E | None:
        """Read one item; None where nothing stands there. ForeignItem where another entity's item does."""
        return await self.run(self._verbs.get(ref, consistent))

    async def one(self, ref: Ref[E], *, consistent: bool = False) -> E:
        """Read one item that must be there; NotFound where it is not."""
        return await self.run(self._verbs.one(ref, consistent))

    async def create(self, entity: E) -> E:
        """Store a new entity and give it back, its numbers drawn. AlreadyExists where its key is taken."""
        return await self.run(self._verbs.create(entity))

    async def put(self, entity: E, *, when: Condition | None = None) -> E:
        """Store an entity in place of what stands there of its own kind; missing numbers are drawn, others kept.

        ForeignItem where another entity's item stands there, ConditionFailed where `when` does not hold.
        """
        return await self.run(self._verbs.put(entity, when))

    async def update(
        self, what: Ref[E] | E, *changes: Change | Mapping[str, object], when: Condition | None = None
    ) -> E:
        """Change fields of a stored item, its index keys with them, and give the new entity.

        As `Store.update`: NotFound where nothing stands there, ConditionFailed where `when` does not hold.
        """
        return await self.run(self._verbs.update(what, changes, when))

    async def delete(self, what: Ref[E] | E, *, when: Condition | None = None) -> E | None:
        """Delete an item and give the old entity; None where nothing stood there.

        ForeignItem where another entity's item stands there, ConditionFailed where `when` does not hold.
        """
        return await self.run(self._verbs.delete(what, when))

    # Many items ------------------------------------------------------------------------------------------------------

    @overload
    async def get_many(
        self, a: Ref[A], b: Ref[B], /, *, missing: Literal["hole"] = ..., consistent: bool = ...
    ) -> tuple[A | None, B | None]: ...
    @overload
    async def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], /, *, missing: Literal["hole"] = ..., consistent: bool = ...
    ) -> tuple[A | None, B | None, C | None]: ...
    @overload
    async def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], d: Ref[D], /, *, missing: Literal["hole"] = ..., consistent: bool = ...
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
    ) -> tuple[A | None, B | None, C | None, D | None, F | None]: ...
    @overload
    async def get_many(
        self, a: Ref[A], b: Ref[B], /, *, missing: Literal["raise"], consistent: bool = ...
    ) -> tuple[A, B]: ...
    @overload
    async def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], /, *, missing: Literal["raise"], consistent: bool = ...
    ) -> tuple[A, B, C]: ...
    @overload
    async def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], d: Ref[D], /, *, missing: Literal["raise"], consistent: bool = ...
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
    ) -> tuple[A, B, C, D, F]: ...
    @overload
    async def get_many(
        self, *refs: Ref[E], missing: Literal["hole"] = ..., consistent: bool = ...
    ) -> tuple[E | None, ...]: ...
    @overload
    async def get_many(
        self, *refs: Ref[E], missing: Literal["skip", "raise"], consistent: bool = ...
    ) -> tuple[E, ...]: ...
    async def get_many(self, *refs: Ref[Any], missing: Missing = "hole", consistent: bool = False) -> tuple[Any, ...]:
        """Read many items, a hundred a request, in the order of their references; each key is asked for once.

        An item that is not there is None (`missing="hole"`), left out ("skip"), or NotFound ("raise"). ForeignItem
        where another entity's item stands; Unprocessed lists the references that DynamoDB kept not answering.
        """
        return await self.run(self._verbs.get_many(refs, missing, consistent))

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

    def scan(
        self,
        entity: type[E],
        *,
        segments: int = 1,
        where: Condition | None = None,
        limit: int | None = None,
        consistent: bool = False,
    ) -> AsyncRows[E]:
        """Read every item of an entity by going through the whole table, in no order.

        DynamoDB reads and bills all items of the table, whoever's they are; `where` filters after that, and `limit`
        counts after the filter. With `segments` so many parts of the table are read at the same time.
        """
        return AsyncRows(self._verbs.scan(entity, segments, where, limit, consistent), self.run)

    async def put_many(self, entities: Iterable[E], *, progress: Progress | None = None) -> tuple[E, ...]:
        """Store many entities in batches of 25 at the same time, replacing what stands at their keys.

        Gives them back with their counter numbers. Unprocessed lists what was not stored. `progress(done, total)` is
        called as batches end, in the thread where they do.
        """
        return await self.run(self._verbs.put_many(entities, progress))

    async def create_many(self, entities: Iterable[E], *, progress: Progress | None = None) -> tuple[E, ...]:
        """Store many new entities, several at the same time, each on condition that its key is free.

        Gives them back in order with their numbers; by sort key these rise in the order of the list. What is stored
        stays, and is `done` of the Unprocessed that lists the others in `items` and says why in `causes`.
        `progress(done, total)` is called after each.
        """
        return await self.run(self._verbs.create_many(entities, progress))

    async def delete_many(self, what: Iterable[Ref[Entity] | Entity], *, progress: Progress | None = None) -> None:
        """Delete many items in batches of 25 at the same time; where nothing stands there is nothing to do.

        Entities whose numbers stay taken, and those of tables with raw keys or rows without tag, are deleted singly
        under a condition. Unprocessed lists the references of what was not deleted. `progress(done, total)` is called
        as batches end.
        """
        await self.run(self._verbs.delete_many(what, progress))


def _client(session: Any, endpoint_url: str | None, region: str | None) -> AbstractAsyncContextManager[Any]:
    """Make an aiobotocore client that sends each request once."""
    try:
        from aiobotocore.config import AioConfig
        from aiobotocore.session import get_session
    except ImportError as error:
        raise ConfigurationError(
            "AsyncStore needs aiobotocore, which is not installed", hint='install it: pip install "singletable[aio]"'
        ) from error
    made = get_session() if session is None else session
    config = AioConfig(
        retries={"total_max_attempts": 1},
        max_pool_connections=POOL,
        user_agent_extra="singletable",
        connect_timeout=CONNECT_SECONDS,
    )
    client: AbstractAsyncContextManager[Any] = made.create_client(
        "dynamodb", endpoint_url=endpoint_url, region_name=region, config=config
    )
    return client
