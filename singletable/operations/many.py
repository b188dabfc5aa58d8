"""What the verbs on many items share: writes in batches, sent again while some are left, and one account at the end.

Theory of operation. BatchWriteItem has no conditions, and it answers with the items it did not take; those are sent
again with backoff. Every batch, and every single request that stands for one item, ends in what it left undone and why,
so that an error ends nothing but its own. Together they are the account: nothing is left, or `Unprocessed` lists
exactly what is. An error that would meet every other request too (no table, nobody there) stops those not begun.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Lock
from typing import Any, TypeAlias, TypeVar

from singletable.entity import Entity, values_of
from singletable.errors import (
    ConfigurationError,
    ServiceError,
    SingleTableError,
    TableMissing,
    Throttled,
    Unprocessed,
    Unreachable,
    UsageError,
)
from singletable.layouts import Layout
from singletable.operations.context import Context, backoff
from singletable.operations.create import Create, as_drawn
from singletable.operations.drawing import assigned_all
from singletable.operations.sending import send
from singletable.schema import model_of
from singletable.wire import Call, Item, Pause, Steps

__all__ = [
    "BATCH_ITEMS",
    "Left",
    "Progress",
    "Tally",
    "WriteBatch",
    "awaits_number",
    "check_distinct",
    "creating",
    "drawn",
    "one_by_one",
    "place_of",
    "settle",
    "slices",
]

T = TypeVar("T")
E = TypeVar("E", bound=Entity)

ATTEMPTS = 10
BATCH_ITEMS = 25
"""A BatchWriteItem holds at most so many items. Source: AWS, "BatchWriteItem"."""

HOPELESS = (TableMissing, Unreachable, ConfigurationError)
"""Errors that every further request would meet too."""

IN_COMMON = (*HOPELESS, Throttled, ServiceError)
"""Errors that say nothing of a single item."""

Progress: TypeAlias = Callable[[int, int], object]
"""What is called as items are done: how many are, and of how many."""

Left: TypeAlias = dict[int, SingleTableError | None]
"""What was not done, by its position, with the error that ended it; None where DynamoDB only kept not taking it."""


@dataclass(slots=True)
class Tally:
    """Counts what is done and tells it: one call at a time, each with more, in whatever thread a batch ends."""

    total: int
    progress: Progress | None
    done: int = 0
    hopeless: SingleTableError | None = None
    """The error that stops what is not begun yet."""
    lock: Lock = field(default_factory=Lock)

    def add(self, count: int) -> None:
        """Count some more."""
        if self.progress is not None and count:
            with self.lock:
                self.done += count
                self.progress(self.done, self.total)

    def failed(self, error: SingleTableError) -> None:
        """Take note of an error."""
        if isinstance(error, HOPELESS):
            self.hopeless = error


@dataclass(frozen=True, slots=True, eq=False)
class WriteBatch:
    """Up to 25 writes, each with the position of what it is for."""

    layout: Layout
    requests: Mapping[int, Mapping[str, Any]] = field(repr=False)
    tally: Tally

    def steps(self, context: Context) -> Steps[Left]:
        """Send the writes, and again those that were left over."""
        if self.tally.hopeless is not None:
            return dict.fromkeys(self.requests, self.tally.hopeless)
        left, cause = dict(self.requests), None
        pauses = backoff(context, ATTEMPTS, base=0.05, cap=5.0)
        while True:
            params = {"RequestItems": {context.table: list(left.values())}}
            try:
                answer = yield from send(context, Call("batch_write_item", params), writing=self)
            except SingleTableError as error:
                cause = error
                self.tally.failed(error)
                break
            over = {self._place(request) for request in answer.get("UnprocessedItems", {}).get(context.table, [])}
            left = {position: request for position, request in left.items() if self._place(request) in over}
            pause = next(pauses, None) if left else None
            if pause is None:
                break
            yield Pause(pause)
        self.tally.add(len(self.requests) - len(left))
        return dict.fromkeys(left, cause)

    def _place(self, request: Mapping[str, Any]) -> Hashable:
        put = request.get("PutRequest")
        return place_of(self.layout, request["DeleteRequest"]["Key"] if put is None else put["Item"])


def one_by_one(tally: Tally, flows: Mapping[int, Callable[[], Steps[None]]]) -> Steps[Left]:
    """Run flows in turn, each for one item, up to the first that fails; it and what comes after it are left."""
    waiting = dict(flows)
    for position, flow in flows.items():
        error = tally.hopeless
        if error is None:
            try:
                yield from flow()
            except SingleTableError as raised:
                tally.failed(raised)
                error = raised
        if error is not None:
            return dict.fromkeys(waiting, error)
        del waiting[position]
        tally.add(1)
    return {}


def place_of(layout: Layout, item: Item) -> Hashable:
    """Tell where an item stands, so that places can be compared: numbers by value, however they are written."""
    return tuple(_comparable(item[name]) for name in layout.names)


def _comparable(value: Mapping[str, Any]) -> Hashable:
    ((kind, content),) = value.items()
    return kind, Decimal(content) if kind == "N" else content


def slices(things: Sequence[T], size: int) -> list[Sequence[T]]:
    """Cut a sequence into pieces of at most so many.

    >>> slices("abcde", 2)
    ['ab', 'cd', 'e']
    """
    return [things[at : at + size] for at in range(0, len(things), size)]


def creating(context: Context, asked: E, made: list[E], place: int) -> Callable[[], Steps[None]]:
    """Give the flow that creates one of many under its numbers, and puts what was stored in its place."""

    def steps() -> Steps[None]:
        made[place] = yield from as_drawn(context, Create(asked), made[place]).steps(context)

    return steps


def drawn(context: Context, entities: Sequence[E]) -> Steps[list[E]]:
    """Draw the counter numbers that are missing, one request for each counter, and keep the order."""
    places: dict[type[E], list[int]] = {}
    for place, entity in enumerate(entities):
        places.setdefault(type(entity), []).append(place)
    made = list(entities)
    for kind, where in places.items():
        numbered = yield from assigned_all(context, context.mapper(kind), [entities[place] for place in where])
        for place, entity in zip(where, numbered, strict=True):
            made[place] = entity
    return made


def awaits_number(entity: Entity) -> bool:
    """Say whether a number is still to be drawn for an entity."""
    return any(number.name not in entity.__dict__ for number in model_of(type(entity)).numbers)


def check_distinct(context: Context, entities: Sequence[Entity]) -> None:
    """Raise UsageError for two entities with one primary key; those whose key waits for a number have none yet."""
    seen: set[Hashable] = set()
    for entity in entities:
        layout = context.model(type(entity)).primary
        values = entity.__dict__ if awaits_number(entity) else values_of(entity)
        if any(part not in values for part in layout.parts):
            continue
        place = place_of(layout, layout.render(values))
        if place in seen:
            raise UsageError(
                f"two of the entities have one primary key; the second is a {type(entity).__name__}",
                hint="many are written in no certain order, so either could win: leave one out",
            )
        seen.add(place)


def settle(parts: Sequence[Left], subjects: Sequence[object], what: str, made: Sequence[object] = ()) -> None:
    """Raise Unprocessed for what is left, in the order it was given; `made` is what came of each.

    Where nothing at all was done, for a reason that is none of the items', that reason is raised instead.
    """
    left: Left = {position: cause for part in parts for position, cause in part.items()}
    if not left:
        return
    positions = sorted(left)
    causes = tuple(left[position] for position in positions)
    first = next((cause for cause in causes if cause is not None), None)
    if first is not None and len(left) == len(subjects) and all(isinstance(cause, IN_COMMON) for cause in causes):
        raise first
    raise Unprocessed(
        f"{len(left)} of {len(subjects)} items were not {what}, or nobody can tell",
        hint="error.items lists exactly those, to be tried again, and error.causes why; the others are done",
        items=tuple(subjects[position] for position in positions),
        causes=causes,
        done=tuple(each for position, each in enumerate(made) if position not in left),
    ) from first
