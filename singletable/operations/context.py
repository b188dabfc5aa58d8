"""What a store lends to every operation it runs: the table's name, clocks, chance, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Any, TypeVar

from singletable.cursors import Signing
from singletable.entity import Entity
from singletable.errors import UsageError
from singletable.mapping import Mapper, kind_of_item, mapper_of
from singletable.operations.expiring import has_expired
from singletable.operations.remembered import Blocks, Hints
from singletable.queries import Query, Ref
from singletable.schema import Model, kinds_of, model_of
from singletable.scopes import Scope
from singletable.wire import Item, Steps, Together

__all__ = ["Context", "Stamp", "backoff", "in_parallel"]

T = TypeVar("T")
E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What one write is known by: an id that no other write has, and the time of day it was begun.

    `shared` tells that several writes of a transaction have it: any of them then recognises all.
    """

    id: str
    now: datetime
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What an operation is run with: `clock` tells the time of day, `monotonic` seconds, `jitter` a chance below 1."""

    table: str
    clock: Callable[[], datetime]
    monotonic: Callable[[], float]
    jitter: Callable[[], float]
    fresh_id: Callable[[], str]
    attempts: int = 4
    workers: int = 8
    hints: Hints = field(default_factory=Hints)
    blocks: Blocks = field(default_factory=Blocks)
    scope: Scope | None = None
    """What begins every partition key, in a store that is scoped."""
    cursors: Signing = field(default_factory=Signing)
    knows_old: Event = field(default_factory=Event)
    """Set once the engine has answered a failed condition with the old item, as DynamoDB does."""

    def stamp(self) -> Stamp:
        """Take a fresh id and the time."""
        return Stamp(self.fresh_id(), self.clock())

    def mapper(self, entity: type[E]) -> Mapper[E]:
        """Give the mapper of an entity class as it stands in this store."""
        return mapper_of(entity).under(self.scope)

    def model(self, entity: type) -> Model:
        """Give the model of a concrete entity class as it stands in this store."""
        return self._own(model_of(entity))

    def kinds(self, entity: type) -> Sequence[Model]:
        """Give the models of what an entity class reads, as they stand in this store."""
        return [self._own(model) for model in kinds_of(entity)]

    def _own(self, model: Model) -> Model:
        return model if model.primary.scope is self.scope else mapper_of(model.entity).under(self.scope).model

    def check_whole(self, what: str) -> None:
        """Raise UsageError for what concerns the whole table, where this store is scoped."""
        if self.scope is not None:
            raise UsageError(
                f"{what} the whole table, and this store sees only what stands in its scope {self.scope}",
                hint="use the store that it was made of",
            )

    def bound(self, ref: Ref[E]) -> Ref[E]:
        """Give a reference as it stands in this store: only of this may `key` and `layout` be read."""
        return ref if ref.layout.scope is self.scope else ref.under(self.scope)

    def bound_query(self, query: Query[E]) -> Query[E]:
        """Give a query as it stands in this store: only of this may `layout`, `partition` and `spans` be read."""
        return query if query.layout.scope is self.scope else query.under(self.scope)

    def read(self, entity: type[E], item: Item | None, now: datetime | None = None) -> E | None:
        """Read what a look-up answered at some time (else now), of an abstract class as the kind that it is.

        None where nothing, a tombstone or what has expired stands there, ForeignItem where another entity's item does.
        """
        kinds = self.kinds(entity)
        if kinds[0].table.ttl is not None and has_expired(kinds[0].table, item, now or self.clock()):
            return None
        own = next((each for each in kinds if item is not None and kind_of_item(each, item) == "own"), kinds[0])
        mapper: Mapper[E] = self.mapper(own.entity)
        return mapper.read(item)


def backoff(context: Context, attempts: int, *, base: float = 0.025, cap: float = 2.0) -> Iterator[float]:
    """Give the pauses between so many attempts: equal jitter, doubling up to a cap.

    Half of each pause is fixed and half is chance, so that writers neither march in step nor starve. Source: Brooker,
    "Exponential Backoff And Jitter", AWS Architecture Blog.
    """
    for attempt in range(attempts - 1):
        ceiling = min(cap, base * 2**attempt)
        yield ceiling / 2 + context.jitter() * ceiling / 2


def in_parallel(context: Context, flows: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Run flows at the same time and give their results in order; when all have ended, the first error is raised."""
    if not flows:
        return []
    if len(flows) == 1:
        return [(yield from flows[0])]
    outcomes: list[Any] = yield Together(flows, context.workers)
    error = next((outcome for outcome in outcomes if isinstance(outcome, BaseException)), None)
    if error is not None:
        raise error
    return outcomes
