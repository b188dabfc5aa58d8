"""`Store`: one table in one place, and the verbs on it.

Theory of operation. A store binds a `Table` to a name, a client and a clock. Each verb makes one operation and runs it;
there is no I/O anywhere else. The client is made when the first request is sent, once per store, by boto3's own rules
for sessions, regions, endpoints and credentials; it sends each request once, since the operations themselves send again
and so know of every attempt. A client that is handed in keeps its own configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Self, TypeVar, overload

from singletable.driver import Driver
from singletable.entity import Entity
from singletable.expressions import Change, Condition
from singletable.forking import MAKING, abandon, forget_in_child
from singletable.local import local_client
from singletable.operations.get_many import Missing
from singletable.operations.many import Progress
from singletable.operations.tables import CreateTable, DeleteTable
from singletable.queries import Query, Ref
from singletable.rows import Rows
from singletable.schema import Table
from singletable.verbs import CONNECT_SECONDS, POOL, Clock, Operation, Verbs, check_place, check_table, utc_now

__all__ = ["Store"]

T = TypeVar("T")
E = TypeVar("E", bound=Entity)
A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
D = TypeVar("D", bound=Entity)
F = TypeVar("F", bound=Entity)


class Store:
    """A table in one place; safe to share between threads, one for each process is enough.

    `name` is the table's name there (the declared one if left out). `client`, or `session`, `endpoint_url` and `region`
    say where; without them boto3's environment rules hold (`AWS_PROFILE`, `AWS_DEFAULT_REGION`,
    `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_MAX_ATTEMPTS` and so on). Nothing is sent, and no client made, before the first
    verb. DeclarationError where the table's entities do not fit together.

    After a fork the child makes a client of its own; one that is handed in is kept, so make it after the fork.
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
        self._given = self._made = client
        self._make: Callable[[], Any] = lambda: _client(session, endpoint_url, region)
        self._driver = Driver(self._connected, workers=POOL)
        forget_in_child(self, Store._forget)

    def _forget(self) -> None:
        """Drop a client that was made here, as a forked child must."""
        if self._made is not self._given:
            abandon(self._made)
            self._made = self._given

    @classmethod
    def local(cls, table: Table, *, clock: Clock = utc_now) -> Self:
        """Make a store on an embedded engine in this process, with the table created.

        For demos, tests and learning: it needs the extra `local` (moto), keeps everything in memory, and is seen by
        this store alone. ConfigurationError where moto is not installed.
        """
        check_table(table)
        store = cls(table, client=local_client(), clock=clock)
        store.create_table()
        return store

    def _connected(self) -> Any:
        made = self._made
        if made is None:
            with MAKING:
                made = self._made = self._make() if self._made is None else self._made
        return made

    @property
    def table(self) -> Table:
        """The table's declaration."""
        return self._verbs.table

    @property
    def name(self) -> str:
        """The table's name in this place."""
        return self._verbs.context.table

    def run(self, operation: Operation[T]) -> T:
        """Run any operation and give its result."""
        return self._driver.run(operation.steps(self._verbs.context))

    def close(self) -> None:
        """Let helper threads go; the store can still be used."""
        self._driver.close()

    def __repr__(self) -> str:
        return f"<Store of {self.table!r} as {self.name!r}>"

    # The table -------------------------------------------------------------------------------------------------------

    def create_table(self) -> None:
        """Make the table with its indexes, paid per request, and wait until it can be used.

        Does nothing where it exists in this shape; TableMismatch where it has another.
        """
        self.run(CreateTable(self.table))

    def delete_table(self) -> None:
        """Drop the table with everything in it and wait until it is gone. TableMissing where there is none."""
        self.run(DeleteTable())

    # One item --------------------------------------------------------------------------------------------------------

    def get(self, ref: Ref[E], *, consistent: bool = False) -> E | None:
        """Read one item; None where nothing stands there. ForeignItem where another entity's item does."""
        return self.run(self._verbs.get(ref, consistent))

    def one(self, ref: Ref[E], *, consistent: bool = False) -> E:
        """Read one item that must be there; NotFound where it is not."""
        return self.run(self._verbs.one(ref, consistent))

    def create(self, entity: E) -> E:
        """Store a new entity and give it back, its numbers drawn. AlreadyExists where its key is taken."""
        return self.run(self._verbs.create(entity))

    def put(self, entity: E, *, when: Condition | None = None) -> E:
        """Store an entity in place of what stands there of its own kind; missing numbers are drawn, others kept.

        ForeignItem where another entity's item stands there, ConditionFailed where `when` does not hold.
        """
        return self.run(self._verbs.put(entity, when))

    def update(self, what: Ref[E] | E, *changes: Change | Mapping[str, object], when: Condition | None = None) -> E:
        """Change fields of a stored item, its index keys with them, and give the new entity.

        Changes are `Order.status.set("PAID")` or a mapping such as `{"status": "PAID", "note": None}`. With a loaded
        entity, what its index keys need is taken from it on condition that it still holds. NotFound where nothing
        stands there, ConditionFailed where `when` does not hold.
        """
        return self.run(self._verbs.update(what, changes, when))

    def delete(self, what: Ref[E] | E, *, when: Condition | None = None) -> E | None:
        """Delete an item and give the old entity; None where nothing stood there.

        ForeignItem where another entity's item stands there, ConditionFailed where `when` does not hold.
        """
        return self.run(self._verbs.delete(what, when))

    # Many items ------------------------------------------------------------------------------------------------------

    @overload
    def get_many(
        self, a: Ref[A], b: Ref[B], /, *, missing: Literal["hole"] = ..., consistent: bool = ...
    ) -> tuple[A | None, B | None]: ...
    @overload
    def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], /, *, missing: Literal["hole"] = ..., consistent: bool = ...
    ) -> tuple[A | None, B | None, C | None]: ...
    @overload
    def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], d: Ref[D], /, *, missing: Literal["hole"] = ..., consistent: bool = ...
    ) -> tuple[A | None, B | None, C | None, D | None]: ...
    @overload
    def get_many(
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
    def get_many(
        self, a: Ref[A], b: Ref[B], /, *, missing: Literal["raise"], consistent: bool = ...
    ) -> tuple[A, B]: ...
    @overload
    def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], /, *, missing: Literal["raise"], consistent: bool = ...
    ) -> tuple[A, B, C]: ...
    @overload
    def get_many(
        self, a: Ref[A], b: Ref[B], c: Ref[C], d: Ref[D], /, *, missing: Literal["raise"], consistent: bool = ...
    ) -> tuple[A, B, C, D]: ...
    @overload
    def get_many(
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
    def get_many(
        self, *refs: Ref[E], missing: Literal["hole"] = ..., consistent: bool = ...
    ) -> tuple[E | None, ...]: ...
    @overload
    def get_many(self, *refs: Ref[E], missing: Literal["skip", "raise"], consistent: bool = ...) -> tuple[E, ...]: ...
    def get_many(self, *refs: Ref[Any], missing: Missing = "hole", consistent: bool = False) -> tuple[Any, ...]:
        """Read many items, a hundred a request, in the order of their references; each key is asked for once.

        An item that is not there is None (`missing="hole"`), left out ("skip"), or NotFound ("raise"). ForeignItem
        where another entity's item stands; Unprocessed lists the references that DynamoDB kept not answering.
        """
        return self.run(self._verbs.get_many(refs, missing, consistent))

    @overload
    def query(self, a: Query[A], /, *, merged: bool = ...) -> Rows[A]: ...
    @overload
    def query(self, a: Query[A], b: Query[B], /, *, merged: bool = ...) -> Rows[A | B]: ...
    @overload
    def query(self, a: Query[A], b: Query[B], c: Query[C], /, *, merged: bool = ...) -> Rows[A | B | C]: ...
    @overload
    def query(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], /, *, merged: bool = ...
    ) -> Rows[A | B | C | D]: ...
    @overload
    def query(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], f: Query[F], /, *, merged: bool = ...
    ) -> Rows[A | B | C | D | F]: ...
    @overload
    def query(self, *queries: Query[E], merged: bool = ...) -> Rows[E]: ...
    def query(self, *queries: Query[Any], merged: bool = False) -> Rows[Any]:
        """Read queries lazily, a page at a time; iterate over the answer, or take `.all()`.

        Several are read one after the other, or with `merged=True` as one in key order; QueryError where they have no
        order in common, being of different indexes or directions.
        """
        return Rows(self._verbs.query(queries, merged), self.run)

    @overload
    def first(self, a: Query[A], /, *, merged: bool = ...) -> A | None: ...
    @overload
    def first(self, a: Query[A], b: Query[B], /, *, merged: bool = ...) -> A | B | None: ...
    @overload
    def first(self, a: Query[A], b: Query[B], c: Query[C], /, *, merged: bool = ...) -> A | B | C | None: ...
    @overload
    def first(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], /, *, merged: bool = ...
    ) -> A | B | C | D | None: ...
    @overload
    def first(
        self, a: Query[A], b: Query[B], c: Query[C], d: Query[D], f: Query[F], /, *, merged: bool = ...
    ) -> A | B | C | D | F | None: ...
    @overload
    def first(self, *queries: Query[E], merged: bool = ...) -> E | None: ...
    def first(self, *queries: Query[Any], merged: bool = False) -> Any:
        """Read the first entity that `query` would give; None where there is none."""
        return self.run(self._verbs.first(queries, merged))

    def count(self, *queries: Query[Entity]) -> int:
        """Count what queries give, over all their pages."""
        return self.run(self._verbs.count(queries))

    def scan(
        self,
        entity: type[E],
        *,
        segments: int = 1,
        where: Condition | None = None,
        limit: int | None = None,
        consistent: bool = False,
    ) -> Rows[E]:
        """Read every item of an entity by going through the whole table, in no order.

        DynamoDB reads and bills all items of the table, whoever's they are; `where` filters after that, and `limit`
        counts after the filter. With `segments` so many parts of the table are read at the same time.
        """
        return Rows(self._verbs.scan(entity, segments, where, limit, consistent), self.run)

    def put_many(self, entities: Iterable[E], *, progress: Progress | None = None) -> tuple[E, ...]:
        """Store many entities in batches of 25 at the same time, replacing what stands at their keys.

        Gives them back with their counter numbers. Unprocessed lists what was not stored. `progress(done, total)` is
        called as batches end, in the thread where they do.
        """
        return self.run(self._verbs.put_many(entities, progress))

    def create_many(self, entities: Iterable[E], *, progress: Progress | None = None) -> tuple[E, ...]:
        """Store many new entities, several at the same time, each on condition that its key is free.

        Gives them back in order with their numbers; by sort key these rise in the order of the list. What is stored
        stays, and is `done` of the Unprocessed that lists the others in `items` and says why in `causes`.
        `progress(done, total)` is called after each.
        """
        return self.run(self._verbs.create_many(entities, progress))

    def delete_many(self, what: Iterable[Ref[Entity] | Entity], *, progress: Progress | None = None) -> None:
        """Delete many items in batches of 25 at the same time; where nothing stands there is nothing to do.

        Entities whose numbers stay taken, and those of tables with raw keys or rows without tag, are deleted singly
        under a condition. Unprocessed lists the references of what was not deleted. `progress(done, total)` is called
        as batches end.
        """
        self.run(self._verbs.delete_many(what, progress))


def _client(session: Any, endpoint_url: str | None, region: str | None) -> Any:
    """Make a boto3 client that sends each request once."""
    import boto3
    from botocore.config import Config

    made = boto3.session.Session() if session is None else session
    config = Config(
        retries={"total_max_attempts": 1},
        max_pool_connections=POOL,
        user_agent_extra="singletable",
        connect_timeout=CONNECT_SECONDS,
    )
    return made.client("dynamodb", endpoint_url=endpoint_url, region_name=region, config=config)
