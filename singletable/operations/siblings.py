"""Numbers by sort key for several entities of one transaction: consecutive ones, from one look at the highest.

Theory of operation. Each create alone takes the number after the highest; two in one transaction would take the same.
So those that draw from one partition are drafted together, in their order, and together anew when another writer took
one of their numbers. The tries are those of one race: its attempts and deadline are the field's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.entity import Entity, changed
from singletable.errors import SequenceContention, SequenceExhausted, UsageError
from singletable.operations.context import Context, Stamp
from singletable.operations.create import draft_of_new
from singletable.operations.drafts import Again, Draft
from singletable.operations.increment import Race, next_number, numbers_range
from singletable.wire import Steps

__all__ = ["Siblings"]


class Siblings:
    """The entities of one class that draw their numbers in one partition, by their places in the transaction."""

    def __init__(self, context: Context, entities: Mapping[int, Entity], stamp: Stamp) -> None:
        first = next(iter(entities.values()))
        self._context = context
        self._mapper = context.mapper(type(first))
        number = self._mapper.model.sort_key_number
        if number is None:
            raise UsageError(f"{self._mapper.model.name} has no number by sort key")
        self._number = number
        self._entities = entities
        self._stamp = stamp
        self._span = numbers_range(self._mapper.model, number, first.__dict__)
        self._race = Race(context, self._mapper.model, self._span)
        self.places = entities.keys()
        self._lost: Again[Any] | SequenceContention | None = None

    def draft(self) -> Steps[dict[int, Draft[Any]]]:
        """Draft all under the numbers after the highest. SequenceExhausted where fewer are left."""
        self._lost = None
        options = self._number.options
        first = yield from next_number(self._context, self._mapper.model, self._span)
        last = first + options.step * (len(self._entities) - 1)
        if last > self._number.max_value:
            raise SequenceExhausted(
                f"{self._mapper.model.name}.{self._number.name}: fewer than {len(self._entities)} numbers are left in "
                f"the partition, up to {self._number.max_value}",
                hint="raise max_value=, or number in smaller partitions",
                max_value=self._number.max_value,
            )
        values = range(first, last + options.step, options.step)
        return {
            place: self._drafted(self._entities[place], value)
            for place, value in zip(self._entities, values, strict=True)
        }

    def _drafted(self, entity: Entity, value: int) -> Draft[Any]:
        numbered = changed(entity, {self._number.name: value})
        race = self._race
        return draft_of_new(
            self._mapper, numbered, self._stamp, lost=lambda _: self._taken(), kept=lambda: race.won(value)
        )

    def _taken(self) -> Again[Any] | SequenceContention:
        """Count a try that was lost, once for all of them."""
        if self._lost is None:
            self._lost = self._race.lost(self._first)
        return self._lost

    def _first(self) -> Steps[Draft[Any]]:
        drafts = yield from self.draft()
        return next(iter(drafts.values()))
