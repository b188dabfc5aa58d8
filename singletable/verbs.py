"""The operation behind each verb, for both colours: what is handed in is checked here, and nothing is sent."""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias, TypeVar, get_args

from singletable.entity import Entity, left_out
from singletable.errors import ConfigurationError, UsageError, kind_of
from singletable.expressions import Change, Condition
from singletable.forking import forget_in_child
from singletable.operations.batch import DeleteMany, PutMany
from singletable.operations.context import Context, Hints
from singletable.operations.create_many import CreateMany
from singletable.operations.get_many import GetMany, Missing
from singletable.operations.many import Progress
from singletable.operations.merge import CountAll, First, Queries
from singletable.operations.scan import Scan
from singletable.operations.single import Create, Delete, Get, One, Put
from singletable.operations.update import Update, changes_of
from singletable.queries import Query, Ref
from singletable.schema import Table, kinds_of, model_of
from singletable.wire import Steps

__all__ = ["CONNECT_SECONDS", "POOL", "Clock", "Operation", "Verbs", "check_place", "check_table", "utc_now"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
E = TypeVar("E", bound=Entity)

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


def check_table(table: object) -> None:
    """Raise UsageError where a store is made of anything but a Table, such as an entity class or a name."""
    if isinstance(table, Table):
        return
    kind = _class_of(table)
    hint = f"hand over the Table that {kind.__name__} is declared with: table=..."
    if not issubclass(kind, Entity):
        hint = 'such as app = Table("app"), and class User(Entity, table=app, ...)'
    raise UsageError(f"a store was given {_given(table)}, wanted a Table", hint=hint)


class Verbs:
    """A table under a name, and for each verb the operation that does it."""

    def __init__(self, table: Table, name: str | None, clock: Clock) -> None:
        check_table(table)
        _check_name(name)
        table.check()
        self.table = table
        self.context = Context(
            table.name if name is None else name,
            clock=clock,
            monotonic=time.monotonic,
            jitter=random.random,
            fresh_id=lambda: secrets.token_urlsafe(12),
            attempts=_attempts(),
            workers=WORKERS,
        )
        forget_in_child(self.context.hints, Hints.forget)

    def get(self, ref: Ref[E], consistent: bool) -> Get[E]:
        """Make the operation of `get`."""
        return Get(self._ref(ref), _flag(consistent))

    def one(self, ref: Ref[E], consistent: bool) -> One[E]:
        """Make the operation of `one`."""
        return One(self._ref(ref), _flag(consistent))

    def create(self, entity: E) -> Create[E]:
        """Make the operation of `create`."""
        return Create(self._own(entity))

    def put(self, entity: E, when: Condition | None) -> Put[E]:
        """Make the operation of `put`."""
        return Put(self._own(entity), when)

    def update(
        self, what: Ref[E] | E, changes: Iterable[Change | Mapping[str, object]], when: Condition | None
    ) -> Update[E]:
        """Make the operation of `update`."""
        ref = self._referred(what)
        loaded = None if isinstance(what, Ref) or left_out(what) is not None else what
        return Update(ref, changes_of(model_of(ref.entity), changes), when, loaded)

    def delete(self, what: Ref[E] | E, when: Condition | None) -> Delete[E]:
        """Make the operation of `delete`."""
        return Delete(self._referred(what), when)

    def get_many(self, refs: Iterable[Ref[E]], missing: Missing, consistent: bool) -> GetMany[E]:
        """Make the operation of `get_many`."""
        if missing not in MISSING:
            raise UsageError(
                f"get_many(missing=) was given {kind_of(missing)}, wanted one of {', '.join(map(repr, MISSING))}"
            )
        return GetMany(tuple(map(self._ref, refs)), missing, _flag(consistent))

    def query(self, queries: Iterable[Query[E]], merged: bool) -> Queries[E]:
        """Make what `query` reads."""
        return Queries(self._queries(queries), merged)

    def first(self, queries: Iterable[Query[E]], merged: bool) -> First[E]:
        """Make the operation of `first`."""
        return First(Queries(tuple(query.limit(1) for query in self._queries(queries)), merged))

    def count(self, queries: Iterable[Query[Entity]]) -> CountAll:
        """Make the operation of `count`."""
        return CountAll(self._queries(queries))

    def scan(
        self, entity: type[E], segments: int, where: Condition | None, limit: int | None, consistent: bool
    ) -> Scan[E]:
        """Make what `scan` reads."""
        if not isinstance(entity, type):
            kind = self._kind(entity)
            hint = f"such as store.scan({'MyEntity' if kind is None else kind.__name__})"
            raise UsageError(f"given {_given(entity)}, wanted an entity class", hint=hint)
        self._check(entity)
        return Scan(entity, segments, where, limit, _flag(consistent))

    def put_many(self, entities: Iterable[E], progress: Progress | None) -> PutMany[E]:
        """Make the operation of `put_many`."""
        return PutMany(self._all_own(entities), progress)

    def create_many(self, entities: Iterable[E], progress: Progress | None) -> CreateMany[E]:
        """Make the operation of `create_many`."""
        return CreateMany(self._all_own(entities), progress)

    def delete_many(self, what: Iterable[Ref[Entity] | Entity], progress: Progress | None) -> DeleteMany:
        """Make the operation of `delete_many`."""
        return DeleteMany(tuple(map(self._referred, _listed(what))), progress)

    def _queries(self, queries: Iterable[Query[E]]) -> tuple[Query[E], ...]:
        made = tuple(map(self._query, queries))
        if not made:
            raise UsageError("no query was given", hint=f"such as {self._example(None, 'key')}")
        return made

    def _query(self, query: Query[E]) -> Query[E]:
        if not isinstance(query, Query):
            raise UsageError(f"given {_given(query)}, wanted a query", hint=f"such as {self._example(query, 'key')}")
        self._check(query.entity)
        return query

    def _all_own(self, entities: Iterable[E]) -> tuple[E, ...]:
        given = tuple(_listed(entities))
        for one in {type(each): each for each in given}.values():
            self._own(one)
        return given

    def _own(self, entity: E) -> E:
        if not isinstance(entity, Entity):
            raise self._no_entity(entity)
        self._check(type(entity))
        return entity

    def _ref(self, ref: Ref[E]) -> Ref[E]:
        if not isinstance(ref, Ref):
            raise UsageError(f"given {_given(ref)}, wanted a reference", hint=f"such as {self._example(ref, 'at')}")
        self._check(ref.entity)
        return ref

    def _referred(self, what: Ref[E] | E) -> Ref[E]:
        if isinstance(what, Ref):
            ref: Ref[E] = self._ref(what)
            return ref
        if not isinstance(what, Entity):
            hint = f"such as {self._example(what, 'at')}"
            raise UsageError(f"given {_given(what)}, wanted a reference or an entity", hint=hint)
        entity = self._own(what)
        parts = model_of(type(entity)).primary.parts
        return type(entity).at(**{name: entity.__dict__.get(name) for name in parts})

    def _no_entity(self, given: object) -> UsageError:
        kind = self._kind(given)
        hint = "an instance of a subclass of Entity" if kind is None else f"an instance, such as {kind.__name__}(...)"
        return UsageError(f"given {_given(given)}, wanted an entity", hint=hint)

    def _example(self, given: object, call: str) -> str:
        """Write the call that makes a query ("key") or reference ("at") of the class in hand."""
        kind = self._kind(given)
        if kind is None:
            return f"MyEntity.{call}(...)"
        model = kinds_of(kind)[0]
        parts = model.primary.pk_parts if call == "key" else model.primary.parts
        return f"{model.name}.{call}({', '.join(f'{part}=...' for part in parts)})"

    def _kind(self, given: object) -> type[Entity] | None:
        """Find the entity class that something stands for, or else one of the table."""
        kind = _class_of(given)
        if issubclass(kind, Entity) and kind.__table__ is not None:
            return kind
        return next(iter(self.table.entities), None)

    def _check(self, entity: type) -> None:
        table = kinds_of(entity)[0].table
        if table is not self.table:
            raise UsageError(
                f"{entity.__name__} belongs to table {table.name!r}, this store holds {self.table.name!r}",
                hint="make a Store for that table",
            )
        self.table.check()


def _listed(given: Iterable[T]) -> Iterable[T]:
    if isinstance(given, Entity | Ref) or not isinstance(given, Iterable):
        hint = "a list or another iterable of them; store.put(...), .create(...) and .delete(...) take one"
        raise UsageError(f"given {_given(given)}, wanted many at once", hint=hint)
    return given


def _check_name(name: object) -> None:
    if name is not None and (not isinstance(name, str) or not name):
        raise UsageError(f"name= was given {_given(name)}, wanted text", hint="leave it out for the Table's own name")


def _flag(consistent: object) -> bool:
    if not isinstance(consistent, bool):
        raise UsageError(f"consistent= was given {_given(consistent)}, wanted True or False", hint="False costs half")
    return consistent


def _class_of(given: object) -> type:
    """Give the class that something is, is of, or refers to."""
    kind: object = getattr(given, "entity", None) if issubclass(type(given), Ref | Query) else given
    return kind if isinstance(kind, type) else type(given)


def _given(value: object) -> str:
    """Describe what was given: a class by its name, anything else by its kind."""
    return f"the class {value.__name__}" if isinstance(value, type) else kind_of(value)


def _attempts() -> int:
    """Read how often a request is sent at most: `AWS_MAX_ATTEMPTS`, or 4 as botocore has it for DynamoDB."""
    given = os.environ.get("AWS_MAX_ATTEMPTS", "")
    return int(given) if given.isdigit() and int(given) > 0 else ATTEMPTS
