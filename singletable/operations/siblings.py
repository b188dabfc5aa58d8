"""Numbers that are drawn by being stored, for several entities of one transaction: consecutive ones, from one look.

Theory of operation. Each create alone takes the next number of its line; two in one transaction would take the same. So
those that draw in one line are drafted together, in their order, and together anew when another writer took one of
their numbers. The tries are those of one race: its attempts and deadline are the first field's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.entity import Entity, changed
from singletable.errors import SequenceContention, UsageError
from singletable.numbering import Numbering
from singletable.operations.context import Context, Stamp
from singletable.operations.counters import group_of
from singletable.operations.create import Claim, draft_under
from singletable.operations.drafts import Again, Draft
from singletable.operations.lines import Line, Race, claimed_by, line_of, next_number
from singletable.schema import Model
from singletable.wire import Steps

__all__ = ["Siblings"]


class Siblings:
    """The entities that draw their numbers in one line, by their places in the transaction; kinds may share it."""

    def __init__(self, context: Context, entities: Mapping[int, Entity], stamp: Stamp) -> None:
        self._context = context
        self._entities = entities
        self._stamp = stamp
        lines = [_line(context, entity) for entity in entities.values()]
        self._line = min(lines, key=lambda line: line.number.max_value)
        self._model = context.model(type(next(iter(entities.values()))))
        self._race = Race(context, self._model, lines[0])
        self.places = entities.keys()
        self._lost: Again[Any] | SequenceContention | None = None

    def draft(self) -> Steps[dict[int, Draft[Any]]]:
        """Draft all under the numbers after the last. SequenceExhausted where fewer are left."""
        self._lost = None
        first = yield from next_number(self._context, self._model, self._line, len(self._entities))
        step = self._line.number.options.step
        return {place: self._drafted(place, first + at * step) for at, place in enumerate(self._entities)}

    def _drafted(self, place: int, value: int) -> Draft[Any]:
        entity = self._entities[place]
        mapper = self._context.mapper(type(entity))
        claim: Claim[Any] = Claim(self._line, value, self._taken, lambda: self._race.won(value))
        numbered = changed(entity, {_claimed(mapper.model, entity).name: value})
        return draft_under(mapper, numbered, claim, self._stamp)

    def _taken(self, last: int | None) -> Again[Any] | SequenceContention:
        """Count a try that was lost, once for all of them."""
        if self._lost is None:
            self._lost = self._race.lost(self._first, last)
        return self._lost

    def _first(self) -> Steps[Draft[Any]]:
        drafts = yield from self.draft()
        return next(iter(drafts.values()))


def _line(context: Context, entity: Entity) -> Line:
    model = context.model(type(entity))
    number = _claimed(model, entity)
    return line_of(model, number, group_of(model, number, entity))


def _claimed(model: Model, entity: Entity) -> Numbering:
    number = claimed_by(model, entity)
    if number is None:
        raise UsageError(f"{model.name} has no number that is drawn by being stored")
    return number
