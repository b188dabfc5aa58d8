"""Storing a new entity: where nothing stands, and by sort key under the next number that is free.

Theory of operation. A create is one put on condition that nothing stands at its key. An entity numbered by sort key is
drafted under the number after the highest of its partition, the last one this process has seen or else the last one
stored; where another writer took it, the highest is read again, the draft is made anew and backs off. Within a process
one writer at a time tries for a partition, so that a number costs one request.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from singletable.entity import Entity, changed, evolve
from singletable.mapping import Mapper
from singletable.numbering import Numbering
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp
from singletable.operations.drafts import Done, Draft, Verdict
from singletable.operations.expiring import seen
from singletable.operations.guards import holding_of, taken
from singletable.operations.increment import Race, assigned, next_number, numbers_range, refuse_given
from singletable.operations.writing import absent, already_exists, carries, key_of, unknown, with_create_id
from singletable.schema import CREATE_ID
from singletable.wire import Item, Refusal, Steps

__all__ = ["Create", "draft_numbered", "draft_of_new", "turn_of"]

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True, eq=False)
class Create(Generic[E]):
    """Store a new entity and give it back with its numbers. AlreadyExists where its key is taken.

    `stamp` is fixed in a prepared one, whose numbers are drawn too: running it again finishes the same write.
    """

    entity: E
    stamp: Stamp | None = field(default=None, kw_only=True, repr=False)
    drawn: bool = field(default=False, kw_only=True, repr=False)

    def steps(self, context: Context) -> Steps[E]:
        """Draw the missing numbers, then send one conditional PutItem (by sort key: until a number is free)."""
        return (yield from carry_out(context, self))

    def begun(self, context: Context) -> Steps[Create[E]]:
        """Check the entity, and draw its counter numbers."""
        if self.drawn:
            return self
        self.check(context)
        entity = yield from assigned(context, context.mapper(type(self.entity)), self.entity)
        return replace(self, entity=entity, drawn=True)

    def check(self, context: Context) -> None:
        """Raise what makes it impossible, before a number is drawn."""
        mapper = context.mapper(type(self.entity))
        mapper.check(self.entity)
        refuse_given(mapper.model, self.entity)

    def told(self, value: Any) -> E:
        """Give the stored entity."""
        stored: E = value
        return stored

    def turn(self, context: Context) -> Hashable | None:
        """Name the partition a sort-key number is drawn in."""
        return turn_of(context, self.entity)

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E]]:
        """Draft the put, reading the highest number where one is needed and not known."""
        mapper = context.mapper(type(self.entity))
        number = mapper.model.sort_key_number
        if number is not None and number.name not in self.entity.__dict__:
            return (yield from draft_numbered(context, mapper, self.entity, number, stamp))
        return draft_of_new(mapper, self.entity, stamp)


def turn_of(context: Context, entity: Entity) -> Hashable | None:
    """Name the partition that an entity without its sort-key number draws it in; None for any other."""
    model = context.model(type(entity))
    number = model.sort_key_number
    if number is None or number.name in entity.__dict__:
        return None
    return context.table, *numbers_range(model, number, entity.__dict__).identity


def draft_of_new(
    mapper: Mapper[E],
    entity: E,
    stamp: Stamp,
    *,
    lost: Callable[[Refusal], Verdict[E]] | None = None,
    kept: Callable[[], None] | None = None,
    prepared: object = None,
) -> Draft[E]:
    """Draft the put of an entity, numbered by now, where nothing stands.

    `lost` says what it means that something else does (AlreadyExists), `kept` is called when the put was carried out,
    and `prepared` is the operation to run again, where it is not the create.
    """
    prepared = prepared or Create(entity, stamp=stamp, drawn=True)
    entity = changed(entity, mapper.model.stamps.created(entity.__dict__, stamp.now))
    item = with_create_id(mapper.encode(entity), stamp.id)

    def answer(_: Item | None) -> E:
        if kept is not None:
            kept()
        return mapper.decode(item)

    def refused(refusal: Refusal) -> Verdict[E]:
        if carries(refusal, CREATE_ID, stamp.id):
            return Done(answer(None))
        if refusal.sent > 1:
            return unknown(prepared)
        told = seen(mapper.model.table, refusal, stamp.now)
        return already_exists(mapper, told.item) if lost is None else lost(told)

    key = key_of(mapper.model, item)
    return Draft(
        Action("put", key, absent(mapper.model, stamp.now), item=item),
        answer=answer,
        refused=refused,
        prepared=prepared,
        beside=taken(mapper.model, key, holding_of(mapper.model, entity, item), stamp),
    )


def draft_numbered(context: Context, mapper: Mapper[E], entity: E, number: Numbering, stamp: Stamp) -> Steps[Draft[E]]:
    """Draft the put of an entity under the next free number of its partition.

    SequenceExhausted beyond `max_value`, ForeignItem where something that is no number stands among them; as the
    verdict SequenceContention where the attempts or the time were used up.
    """
    span = numbers_range(mapper.model, number, entity.__dict__)
    race = Race(context, mapper.model, span)

    def draft() -> Steps[Draft[E]]:
        value = yield from next_number(context, mapper.model, span)
        numbered = evolve(entity, **{number.name: value})
        return draft_of_new(mapper, numbered, stamp, lost=lambda _: race.lost(draft), kept=lambda: race.won(value))

    return (yield from draft())
