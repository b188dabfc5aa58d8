"""Creating many entities: single conditional writes, several at a time.

Theory of operation. A batch cannot refuse to overwrite, so each entity is a PutItem of its own on condition that
nothing stands at its key. Counter numbers are drawn beforehand, one request for each counter. Numbers that are drawn by
being stored rise in the order of the list: the entities of one line are written in turn, and the first that fails ends
its line, since what comes after it is not to have the smaller number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from singletable.entity import Entity
from singletable.mapping import provisional
from singletable.operations.context import Context, in_parallel
from singletable.operations.create import turn_of
from singletable.operations.drawing import raised_by, refuse_given
from singletable.operations.many import Progress, Tally, check_distinct, creating, drawn, one_by_one, settle
from singletable.wire import Steps

__all__ = ["CreateMany"]

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True, eq=False)
class CreateMany(Generic[E]):
    """Store many new entities and give them back in order, with their numbers.

    What is stored stays stored: Unprocessed lists the others as they were given, each with its cause (AlreadyExists
    where its key is taken). `progress` is called after each. UsageError before anything is sent for two entities with
    one key.
    """

    entities: tuple[E, ...]
    progress: Progress | None = None

    def steps(self, context: Context) -> Steps[tuple[E, ...]]:
        """Draw the counter numbers, then send conditional PutItems, several at a time."""
        for entity in self.entities:
            _check(context, entity)
        check_distinct(context, self.entities)
        yield from raised_by(context, self.entities)
        made = yield from drawn(context, self.entities)
        tally = Tally(len(made), self.progress)
        writes = {place: creating(context, entity, made, place) for place, entity in enumerate(self.entities)}
        left = yield from in_parallel(context, [one_by_one(tally, part) for part in _parts(context, made, writes)])
        settle(left, self.entities, "created", made)
        return tuple(made)


def _check(context: Context, entity: Entity) -> None:
    """Raise what its write would, so that one bad entity is found before any other is stored."""
    mapper = context.mapper(type(entity))
    mapper.check(entity)
    refuse_given(mapper.model, entity)
    if all(number.name in entity.__dict__ for number in mapper.model.numbers):
        mapper.encode(provisional(mapper.model, entity))


def _parts(
    context: Context, entities: Sequence[E], writes: Mapping[int, Callable[[], Steps[None]]]
) -> list[dict[int, Callable[[], Steps[None]]]]:
    """Put the writes together that are to be sent in turn: those that draw in one line."""
    parts: dict[Hashable, dict[int, Callable[[], Steps[None]]]] = {}
    for place, entity in enumerate(entities):
        turn = turn_of(context, entity)
        parts.setdefault(place if turn is None else turn, {})[place] = writes[place]
    return list(parts.values())
