"""The operation behind each verb, for both colours: what is handed in is checked here, and nothing is sent."""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeAlias, TypeVar, get_args

from singletable.entity import Entity
from singletable.errors import ConfigurationError, UsageError, kind_of
from singletable.expressions import Change, Condition
from singletable.forking import forget_in_child, forget_when_restored
from singletable.gathering import Collection, Gathering
from singletable.handed import CursorKey, Handed, check_name, check_table, flag, seconds, signing_of
from singletable.indexes import GlobalIndex
from singletable.operations.add_index import AddIndex
from singletable.operations.batch import DeleteMany, PutMany
from singletable.operations.by_value import GetByValue, UniqueRef
from singletable.operations.collection import Gather
from singletable.operations.context import Context
from singletable.operations.create import Create
from singletable.operations.create_many import CreateMany
from singletable.operations.delete import Delete
from singletable.operations.get import Get, One
from singletable.operations.get_many import GetMany, Missing
from singletable.operations.guarding import BackfillUnique
from singletable.operations.many import Progress
from singletable.operations.merge import CountAll, First, Queries
from singletable.operations.move import Move
from singletable.operations.once import Assign, CreateOnce, GetOrCreate, Prepare
from singletable.operations.page import TakePage
from singletable.operations.put import Kept, Put
from singletable.operations.remembered import Blocks, Hints
from singletable.operations.scan import Scan
from singletable.operations.sequences import NumbersOf, numbers_of
from singletable.operations.transact import Transact
from singletable.operations.update import Update
from singletable.queries import Query, Ref
from singletable.schema import Table
from singletable.wire import Steps

__all__ = [
    "CONNECT_SECONDS",
    "POOL",
    "Clock",
    "CursorKey",
    "Operation",
    "Verbs",
    "check_place",
    "check_table",
    "utc_now",
]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
E = TypeVar("E", bound=Entity)
H = TypeVar("H", bound=Collection)

Clock: TypeAlias = Callable[[], datetime]

ATTEMPTS = 4
MISSING = get_args(Missing)
WORKERS = 8
POOL = 64
"""Connections of a client, and threads of a store, at most."""

CONNECT_SECONDS = 5


class Operation(Protocol[T_co]):
    """What `run` takes: a value that knows the steps of one verb."""

    def steps(self, context: Context) -> Steps[T_co]:
        """Give the flow to run."""
        ...


def utc_now() -> datetime:
    """Tell the time of day."""
    return datetime.now(UTC)


def check_place(client: Any, *others: Any) -> None:
    """Raise ConfigurationError where a client is given beside what would make one."""
    if client is not None and any(other is not None for other in others):
        raise ConfigurationError(
            "a store was given a client and also a session, endpoint_url or region",
            hint="the client already has them: give one or the other",
        )


class Verbs:
    """A table under a name, and for each verb the operation that does it."""

    def __init__(
        self,
        table: Table,
        name: str | None,
        clock: Clock,
        cursor_key: CursorKey | None = None,
        *,
        cursor_ttl: timedelta | None = None,
    ) -> None:
        check_table(table)
        check_name(name)
        table.check()
        self.table = table
        self.handed = Handed(table, table.scope)
        self.context = Context(
            table.name if name is None else name,
            clock=clock,
            monotonic=time.monotonic,
            jitter=random.random,
            fresh_id=lambda: secrets.token_urlsafe(12),
            attempts=_attempts(),
            workers=WORKERS,
            cursors=signing_of(cursor_key, cursor_ttl),
        )
        forget_in_child(self.context.hints, Hints.forget)
        forget_in_child(self.context.blocks, Blocks.forget)
        self.context.blocks.keeps = forget_when_restored(self.context.blocks.forget)

    def scoped(self, parts: Mapping[str, object]) -> Verbs:
        """Give the same verbs on what stands in one scope; what is remembered is shared."""
        scope = self.table.scope
        if scope is None:
            raise UsageError(
                f"table {self.table.name!r} has no scope, so that no store of it can be scoped",
                hint='declare it, for a new table: Table(..., scope="#TENANT#{tenant}")',
            )
        self.context.check_whole("scoped() divides")
        made = copy(self)
        made.context = replace(self.context, scope=scope.of(parts))
        made.handed = Handed(self.table, made.context.scope)
        return made

    def described(self, store: str) -> str:
        """Describe a store of these verbs."""
        scope = self.context.scope
        within = "" if scope is None else f", scoped by {', '.join(scope.template.parts)}"
        return f"<{store} of {self.table!r} as {self.context.table!r}{within}>"

    def get(self, ref: Ref[E] | UniqueRef[E], consistent: bool) -> Operation[E | None]:
        """Make the operation of `get`."""
        if isinstance(ref, UniqueRef):
            return GetByValue(self.handed.unique_ref(ref))
        return Get(self.handed.ref(ref), flag(consistent))

    def one(self, ref: Ref[E] | UniqueRef[E], consistent: bool) -> One[E]:
        """Make the operation of `one`."""
        return One(self.get(ref, consistent), ref)

    def checked(self, operation: Operation[T]) -> Operation[T]:
        """Take an operation to run: what it is about must be of this store's table."""
        self.handed.operation(operation)
        return operation

    def create(self, entity: E, token: str | None) -> Operation[E]:
        """Make the operation of `create`."""
        own = self.handed.own(entity)
        return Create(own) if token is None else CreateOnce(own, token)

    def get_or_create(self, entity: E) -> GetOrCreate[E]:
        """Make the operation of `get_or_create`."""
        return GetOrCreate(self.handed.own(entity))

    def transact(self, operations: Iterable[Any], token: str | None) -> Transact:
        """Make the operation of `transact`."""
        made = Transact(*operations, token=token)
        self.handed.operation(made)
        return made

    def prepare(self, operation: T) -> Prepare[T]:
        """Make the operation of `prepare`."""
        self.handed.operation(operation)
        return Prepare(operation)

    def assign(self, entity: E) -> Assign[E]:
        """Make the operation of `assign`."""
        return Assign(self.handed.own(entity))

    def put(self, entity: Entity, when: Condition | None, returning: Kept) -> Operation[Any]:
        """Make the operation of `put`, which gives what `returning` names."""
        return Put(self.handed.own(entity), when, returning)

    def update(self, what: Ref[E] | E, *changes: Change | Mapping[str, object], **options: Any) -> Operation[Any]:
        """Make the operation of `update`, which gives what `returning` names when it is run alone."""
        self.handed.referred(what)
        return Update(what, *changes, **options)

    def move(self, what: Ref[E] | E, parts: Mapping[str, object]) -> Move[E]:
        """Make the operation of `move`."""
        self.handed.referred(what)
        return Move(what, **parts)

    def delete(self, what: Ref[E] | E, when: Condition | None) -> Delete[E]:
        """Make the operation of `delete`."""
        self.handed.referred(what)
        return Delete(what, when)

    def get_many(self, refs: Iterable[Ref[E]], missing: Missing, consistent: bool, transactional: bool) -> GetMany[E]:
        """Make the operation of `get_many`."""
        if not isinstance(transactional, bool):
            raise UsageError(f"get_many(transactional=) was given {kind_of(transactional)}, wanted True or False")
        missing = _missing("get_many", missing)
        return GetMany(tuple(map(self.handed.ref, refs)), missing, flag(consistent), transactional)

    def hydrate(self, what: Iterable[Ref[E] | E], missing: Missing, consistent: bool) -> GetMany[E]:
        """Make the operation of `hydrate`."""
        return GetMany(self.handed.all_referred(what), _missing("hydrate", missing), flag(consistent))

    def query(self, queries: Iterable[Query[E]], merged: bool) -> Queries[E]:
        """Make what `query` reads."""
        return Queries(self.handed.queries(queries), merged)

    def first(self, queries: Iterable[Query[E]], merged: bool) -> First[E]:
        """Make the operation of `first`."""
        return First(Queries(tuple(query.limit(1) for query in self.handed.queries(queries)), merged))

    def count(self, queries: Iterable[Query[Entity]]) -> CountAll:
        """Make the operation of `count`."""
        return CountAll(self.handed.queries(queries))

    def gather(self, what: Gathering[H]) -> Gather[H]:
        """Make the operation of `gather`."""
        return Gather(self.handed.gathering(what))

    def add_index(self, index: GlobalIndex, timeout: float) -> AddIndex:
        """Make the operation of `add_index`."""
        return AddIndex(self.table, self.handed.index(index), seconds("add_index(timeout=)", timeout))

    def scan(self, entity: type[E], consistent: bool, include_expired: bool, **reading: Any) -> Scan[E]:
        """Make what `scan` reads."""
        if self.table.scope is not None:
            raise UsageError(
                f"scan() reads the whole table, and table {self.table.name!r} is divided by its scope",
                hint="query instead; to list all of a kind give it an index key: "
                'Key(on=gsi1, pk="#ORDERS", sk="#{order_id}")',
            )
        expired = flag(include_expired, "include_expired")
        return Scan(self.handed.kind(entity), consistent=flag(consistent), shows_expired=expired, **reading)

    def page(self, sources: Sequence[Any], merged: bool, **options: Any) -> TakePage[Any]:
        """Make the operation of `page`."""
        for name in ("cursor", "context"):
            if not isinstance(options[name], str | None):
                raise UsageError(f"page({name}=) was given {kind_of(options[name])}, wanted text or None")
        if len(sources) == 1 and sources[0].__class__ is Scan:
            self.handed.kind(sources[0].entity)
            return TakePage(sources[0], **options)
        return TakePage(Queries(self.handed.queries(sources), merged), **options)

    def put_many(self, entities: Iterable[E], progress: Progress | None) -> PutMany[E]:
        """Make the operation of `put_many`."""
        return PutMany(self.handed.all_own(entities), progress)

    def create_many(self, entities: Iterable[E], progress: Progress | None) -> CreateMany[E]:
        """Make the operation of `create_many`."""
        return CreateMany(self.handed.all_own(entities), progress)

    def sequence(self, entity: type[Entity], field: str | None, parts: Mapping[str, object]) -> NumbersOf:
        """Name the numbers that `sequence` handles."""
        return numbers_of(self.context, self.handed.kind(entity), field, parts)

    def backfill_unique(self, entity: type[E], segments: int) -> BackfillUnique[E]:
        """Make the operation of `backfill_unique`."""
        return BackfillUnique(self.handed.kind(entity), segments)

    def delete_many(self, what: Iterable[Ref[Entity] | Entity], progress: Progress | None) -> DeleteMany:
        """Make the operation of `delete_many`."""
        refs, given = self.handed.all_given(what)
        return DeleteMany(refs, progress, given)


def _missing(verb: str, given: Missing) -> Missing:
    if given not in MISSING:
        wanted = ", ".join(map(repr, MISSING))
        raise UsageError(f"{verb}(missing=) was given {kind_of(given)}, wanted one of {wanted}")
    return given


def _attempts() -> int:
    """Read how often a request is sent at most: `AWS_MAX_ATTEMPTS`, or 4 as botocore has it for DynamoDB."""
    given = os.environ.get("AWS_MAX_ATTEMPTS", "")
    return int(given) if given.isdigit() and int(given) > 0 else ATTEMPTS
