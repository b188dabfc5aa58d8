"""Storing an entity in place of what stands there of its own kind.

Theory of operation. A put is one PutItem on condition that nothing or an item of the same entity stands at the key. It
can be repeated, so it needs no mark, except where a condition of the caller's is judged: then the item carries the id
of the write (`_w`), by which a put that was sent again recognises its own first try.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from singletable.belonging import check_condition
from singletable.entity import Entity
from singletable.errors import UsageError
from singletable.expressions import Condition, all_of
from singletable.mapping import Mapper
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp
from singletable.operations.create import draft_numbered, turn_of
from singletable.operations.drafts import Done, Draft, Verdict
from singletable.operations.increment import assigned, forget_highest
from singletable.operations.writing import carries, free_or_own, key_of, refused, with_create_id
from singletable.schema import CREATE_ID, WRITE_ID
from singletable.wire import Item, Refusal, Steps

__all__ = ["Put"]

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True, eq=False)
class Put(Generic[E]):
    """Store an entity, replacing what is there of its own kind. ForeignItem where another's item stands.

    A number that is missing is drawn, one that is there is kept; a key whose number was deleted is AlreadyExists.
    """

    entity: E
    when: Condition | None = None
    stamp: Stamp | None = field(default=None, kw_only=True, repr=False)
    drawn: bool = field(default=False, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.when is not None:
            check_condition(self.when, self.entity.__fields__, "put(when=)")

    def steps(self, context: Context) -> Steps[E]:
        """Send one PutItem, after drawing the numbers that are missing."""
        return (yield from carry_out(context, self))

    def begun(self, context: Context) -> Steps[Put[E]]:
        """Check the entity, and draw the counter numbers it lacks."""
        if self.drawn:
            return self
        self.check(context)
        entity = yield from assigned(context, context.mapper(type(self.entity)), self.entity)
        return replace(self, entity=entity, drawn=True)

    def check(self, context: Context) -> None:
        """Raise what makes it impossible, before a number is drawn."""
        mapper = context.mapper(type(self.entity))
        mapper.check(self.entity)
        number = mapper.model.sort_key_number
        if self.when is not None and number is not None and number.name not in self.entity.__dict__:
            raise UsageError(
                f"put(when=) of a {mapper.model.name} without {number.name!r}: a new number has no item to judge",
                hint="leave when= out, or put an entity that has its number",
            )

    def told(self, value: E) -> E:
        """Give the stored entity."""
        return value

    def turn(self, context: Context) -> Hashable | None:
        """Name the partition a sort-key number is drawn in."""
        return turn_of(context, self.entity)

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E]]:
        """Draft the put; of an entity without its sort-key number, as a create."""
        mapper = context.mapper(type(self.entity))
        number = mapper.model.sort_key_number
        if number is not None and number.name not in self.entity.__dict__:
            return (yield from draft_numbered(context, mapper, self.entity, number, stamp))
        return self._replacing(context, mapper, stamp)

    def _replacing(self, context: Context, mapper: Mapper[E], stamp: Stamp) -> Draft[E]:
        prepared, item = replace(self, stamp=stamp, drawn=True), mapper.encode(self.entity)
        if CREATE_ID not in item:
            item = with_create_id(item, stamp.id)
        if self.when is not None:
            item[WRITE_ID] = {"S": stamp.id}

        def answer(_: Item | None) -> E:
            forget_highest(context, mapper.model, self.entity)
            return mapper.decode(item)

        def judged(refusal: Refusal) -> Verdict[E]:
            if self.when is not None and carries(refusal, WRITE_ID, stamp.id):
                return Done(answer(None))
            return refused(mapper, refusal, prepared, taken=True)

        condition = all_of((free_or_own(mapper.model, stamp.now), self.when))
        own = Action("put", key_of(mapper.model, item), condition, item=item)
        return Draft(own, answer=answer, refused=judged, prepared=prepared)
