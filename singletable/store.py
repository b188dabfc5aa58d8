"""`Store`: one table in one place, and the verbs on it.

Theory of operation. A store binds a `Table` to a name, a client and a clock. Each verb makes one operation and runs it;
there is no I/O anywhere else. The client is made when the first request is sent, once per store, by boto3's own rules
for sessions, regions, endpoints and credentials; it sends each request once, since the operations themselves send again
and so know of every attempt. A client that is handed in keeps its own configuration.
"""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from threading import RLock
from typing import Any, Protocol, Self, TypeVar

from singletable.driver import Driver
from singletable.entity import Entity
from singletable.errors import ConfigurationError, UsageError, kind_of
from singletable.expressions import Change, Condition
from singletable.local import local_client
from singletable.mapping import mapper_of
from singletable.operations.batch import PutMany
from singletable.operations.context import Context
from singletable.operations.query import Count
from singletable.operations.single import Create, Delete, Get, One, Put
from singletable.operations.tables import CreateTable, DeleteTable
from singletable.operations.update import Update, changes_of
from singletable.queries import Query, Ref
from singletable.rows import Rows
from singletable.schema import Table, model_of
from singletable.wire import Steps

__all__ = ["Operation", "Store"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=Entity)

ATTEMPTS = 4
WORKERS = 8
POOL = 64


class Operation(Protocol[T_co]):
    """What `run` takes: a value that knows the steps of one verb."""

    def steps(self, context: Context) -> Steps[T_co]:
        """Give the flow to run."""
        ...


class Store:
    """A table in one place; safe to share between threads, one for each process is enough.

    `name` is the table's name there (the declared one if left out). `client`, or `session`, `endpoint_url` and `region`
    say where; without them boto3's environment rules hold (`AWS_PROFILE`, `AWS_DEFAULT_REGION`,
    `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_MAX_ATTEMPTS` and so on). Nothing is sent, and no client made, before the first
    verb. DeclarationError where the table's entities do not fit together.
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
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if client is not None and (session is not None or endpoint_url is not None or region is not None):
            raise ConfigurationError(
                "Store was given a client and also a session, endpoint_url or region",
                hint="the client already has them: give one or the other",
            )
        table.check()
        self.table = table
        self.name: str = table.name if name is None else name
        self._made = client
        self._make: Callable[[], Any] = lambda: _client(session, endpoint_url, region)
        self._making = RLock()
        self._driver = Driver(self._connected, workers=POOL)
        self._context = Context(
            self.name,
            clock=clock,
            monotonic=time.monotonic,
            jitter=random.random,
            fresh_id=lambda: secrets.token_urlsafe(12),
            attempts=_attempts(),
            workers=WORKERS,
        )

    @classmethod
    def local(cls, table: Table, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Self:
        """Make a store on an embedded engine in this process, with the table created.

        For demos, tests and learning: it needs the extra `local` (moto), keeps everything in memory, and is seen by
        this store alone. ConfigurationError where moto is not installed.
        """
        store = cls(table, client=local_client(), clock=clock)
        store.create_table()
        return store

    def _connected(self) -> Any:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def run(self, operation: Operation[T]) -> T:
        """Run any operation and give its result."""
        return self._driver.run(operation.steps(self._context))

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
        return self.run(Get(self._ref(ref), consistent))

    def one(self, ref: Ref[E], *, consistent: bool = False) -> E:
        """Read one item that must be there; NotFound where it is not."""
        return self.run(One(self._ref(ref), consistent))

    def create(self, entity: E) -> E:
        """Store a new entity and give it back, its numbers drawn. AlreadyExists where its key is taken."""
        return self.run(Create(self._own(entity)))

    def put(self, entity: E, *, when: Condition | None = None) -> E:
        """Store an entity in place of what stands there of its own kind; missing numbers are drawn, others kept.

        ForeignItem where another entity's item stands there, ConditionFailed where `when` does not hold.
        """
        return self.run(Put(self._own(entity), when))

    def update(self, what: Ref[E] | E, *changes: Change | Mapping[str, object], when: Condition | None = None) -> E:
        """Change fields of a stored item, its index keys with them, and give the new entity.

        Changes are `Order.status.set("PAID")` or a mapping such as `{"status": "PAID", "note": None}`. With a loaded
        entity, what its index keys need is taken from it on condition that it still holds. NotFound where nothing
        stands there, ConditionFailed where `when` does not hold.
        """
        if isinstance(what, Ref):
            ref: Ref[E] = self._ref(what)
            return self.run(Update(ref, changes_of(model_of(ref.entity), changes), when))
        entity = self._own(what)
        made = changes_of(model_of(type(entity)), changes)
        return self.run(Update(_ref_to(entity), made, when, entity))

    def delete(self, what: Ref[E] | E, *, when: Condition | None = None) -> E | None:
        """Delete an item and give the old entity; None where nothing stood there.

        ForeignItem where another entity's item stands there, ConditionFailed where `when` does not hold.
        """
        ref = self._ref(what) if isinstance(what, Ref) else _ref_to(self._own(what))
        return self.run(Delete(ref, when))

    # Many items ------------------------------------------------------------------------------------------------------

    def query(self, query: Query[E]) -> Rows[E]:
        """Read a query lazily, a page at a time; iterate over the answer, or take `.all()`."""
        return Rows(self._query(query), self._driver, self._context)

    def first(self, query: Query[E]) -> E | None:
        """Read the first entity of a query; None where there is none."""
        return next(iter(self.query(query.limit(1))), None)

    def count(self, query: Query[E]) -> int:
        """Count what a query gives, over all its pages."""
        return self.run(Count(self._query(query)))

    def put_many(self, entities: Iterable[E]) -> tuple[E, ...]:
        """Store many entities in batches of 25 at the same time, replacing what stands at their keys.

        Gives them back with their counter numbers. Unprocessed lists what was not stored.
        """
        return self.run(PutMany(tuple(self._own(entity) for entity in entities)))

    # What is handed in -----------------------------------------------------------------------------------------------

    def _own(self, entity: E) -> E:
        if not isinstance(entity, Entity):
            raise UsageError(f"given {kind_of(entity)}, wanted an entity", hint="an instance of a subclass of Entity")
        self._check(type(entity))
        return entity

    def _ref(self, ref: Ref[E]) -> Ref[E]:
        if not isinstance(ref, Ref):
            raise UsageError(f"given {kind_of(ref)}, wanted a reference", hint="such as User.at(user_id=...)")
        self._check(ref.entity)
        return ref

    def _query(self, query: Query[E]) -> Query[E]:
        if not isinstance(query, Query):
            raise UsageError(f"given {kind_of(query)}, wanted a query", hint="such as Order.key(user_id=...)")
        self._check(query.entity)
        return query

    def _check(self, entity: type) -> None:
        table = model_of(entity).table
        if table is not self.table:
            raise UsageError(
                f"{entity.__name__} belongs to table {table.name!r}, this store holds {self.table.name!r}",
                hint="make a Store for that table",
            )
        self.table.check()


def _ref_to(entity: E) -> Ref[E]:
    model = mapper_of(type(entity)).model
    return type(entity).at(**{name: entity.__dict__.get(name) for name in model.primary.parts})


def _attempts() -> int:
    """Read how often a request is sent at most: `AWS_MAX_ATTEMPTS`, or 4 as botocore has it for DynamoDB."""
    given = os.environ.get("AWS_MAX_ATTEMPTS", "")
    return int(given) if given.isdigit() and int(given) > 0 else ATTEMPTS


def _client(session: Any, endpoint_url: str | None, region: str | None) -> Any:
    """Make a boto3 client that sends each request once."""
    import boto3
    from botocore.config import Config

    made = boto3.session.Session() if session is None else session
    config = Config(
        retries={"total_max_attempts": 1}, max_pool_connections=POOL, user_agent_extra="singletable", connect_timeout=5
    )
    return made.client("dynamodb", endpoint_url=endpoint_url, region_name=region, config=config)
