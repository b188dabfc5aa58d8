"""Storing a new entity: where nothing stands, and by sort key under the next number that is free.

Theory of operation. A create is one put on condition that nothing stands at its key. An entity whose number is drawn by
being stored (by sort key, or without gaps) is drafted under the next number of its line; where another writer took it,
the last one is read again, the draft is made anew and backs off. Within a process one writer at a time tries in a line,
so that a number costs one request. Where a counter is behind what is stored, the key of the number it gives may be
taken: then the next one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, cast

from singletable.entity import Entity, changed
from singletable.errors import SequenceContention
from singletable.mapping import Mapper, kind_of_item, provisional
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp
from singletable.operations.counters import group_of
from singletable.operations.drafts import Again, Beside, Done, Draft, Verdict
from singletable.operations.drafts import changed as with_facts
from singletable.operations.drawing import assigned, awaits_key, raised_by, refuse_given
from singletable.operations.expiring import seen
from singletable.operations.guards import holding_of, taken
from singletable.operations.lines import Line, Race, claimed_by, forget_highest, line_of, next_number
from singletable.operations.writing import absent, already_exists, carries, key_of, unknown, with_create_id
from singletable.schema import CREATE_ID, Model
from singletable.wire import Item, Refusal, Steps

__all__ = ["Claim", "Create", "as_drawn", "draft_claimed", "draft_drawn", "draft_of_new", "draft_under", "turn_of"]

E = TypeVar("E", bound=Entity)
W = TypeVar("W")


@dataclass(frozen=True, slots=True, eq=False)
class Create(Generic[E]):
    """Store a new entity and give it back with its numbers. AlreadyExists where its key is taken.

    `stamp` is fixed in a prepared one, whose numbers are drawn too: running it again finishes the same write.
    """

    entity: E
    stamp: Stamp | None = field(default=None, kw_only=True, repr=False)
    drawn: bool = field(default=False, kw_only=True, repr=False)
    asked: E | None = field(default=None, kw_only=True, repr=False)
    """The entity as it was given, where its key holds a counter number that was drawn for this create."""

    def steps(self, context: Context) -> Steps[E]:
        """Draw the missing numbers, then send one conditional PutItem (by sort key: until a number is free)."""
        return (yield from carry_out(context, self))

    def begun(self, context: Context) -> Steps[Create[E]]:
        """Check the entity, and draw its counter numbers."""
        if self.drawn:
            return self
        self.check(context)
        yield from raised_by(context, [self.entity])
        entity = yield from assigned(context, context.mapper(type(self.entity)), self.entity)
        return as_drawn(context, self, entity)

    def check(self, context: Context) -> None:
        """Raise what makes it impossible, before a number is drawn."""
        mapper = context.mapper(type(self.entity))
        mapper.check(self.entity)
        if any(number.raises_counter and number.name in self.entity.__dict__ for number in mapper.model.numbers):
            mapper.encode(provisional(mapper.model, self.entity))  # before the counter is raised
        refuse_given(mapper.model, self.entity)

    def told(self, value: Any) -> E:
        """Give the stored entity."""
        stored: E = value
        return stored

    def turn(self, context: Context) -> Hashable | None:
        """Name the line that a number is drawn in by being stored."""
        return turn_of(context, self.entity)

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E]]:
        """Draft the put, reading the last number where one is needed and not known."""
        mapper = context.mapper(type(self.entity))
        if claimed_by(mapper.model, self.entity) is not None:
            return (yield from draft_claimed(context, mapper, self.entity, stamp))
        if self.asked is not None:
            return draft_drawn(context, mapper, self.entity, self.asked, stamp)
        return _draft_prepared(context, mapper, self.entity, stamp)


def as_drawn(context: Context, write: W, entity: Entity) -> W:
    """Give a create or put of an entity with its counter numbers; one whose key has one keeps what was asked for."""
    given: Entity = cast(Any, write).entity
    asked = given if awaits_key(context.model(type(given)), given) else None
    return with_facts(write, entity=entity, drawn=True, asked=asked)


def turn_of(context: Context, entity: Entity) -> Hashable | None:
    """Name the line in which an entity draws a number by being stored; None for one that does not, or has it."""
    model = context.model(type(entity))
    number = claimed_by(model, entity)
    if number is None:
        return None
    return context.table, *line_of(model, number, group_of(model, number, entity)).identity


def draft_of_new(
    mapper: Mapper[E],
    entity: E,
    stamp: Stamp,
    *,
    lost: Callable[[Refusal], Verdict[E]] | None = None,
    kept: Callable[[], None] | None = None,
    prepared: object = None,
    step: Beside[E] | None = None,
) -> Draft[E]:
    """Draft the put of an entity, numbered by now, where nothing stands.

    `lost` says what it means that something else does (AlreadyExists), `kept` is called when the put was carried out,
    `prepared` is the operation to run again, where it is not the create, and `step` moves its counter on.
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
        if refusal.sent > 1 and not _is_never_ours(mapper.model, refusal.item):
            return unknown(prepared)
        told = seen(mapper.model.table, refusal, stamp.now)
        return already_exists(mapper, told.item) if lost is None else lost(told)

    key = key_of(mapper.model, item)
    return Draft(
        Action("put", key, absent(mapper.model, stamp.now), item=item),
        answer=answer,
        refused=refused,
        prepared=prepared,
        beside=(*taken(mapper.model, key, holding_of(mapper.model, entity, item), stamp), *([step] if step else [])),
    )


def _is_never_ours(model: Model, item: Item | None) -> bool:
    """Say whether what stands at the key shows that a create was not carried out, however often it was sent.

    Where deleted numbers leave tombstones, a key that an item once had is never another create's.
    """
    return model.leaves_tombstones and item is not None and CREATE_ID in item and kind_of_item(model, item) != "gone"


def draft_drawn(context: Context, mapper: Mapper[E], entity: E, asked: E, stamp: Stamp, *, tried: int = 1) -> Draft[E]:
    """Draft the put of an entity whose key holds a counter number; where that key is taken, under the next number.

    `asked` is the entity as it was given. AlreadyExists where as many numbers as the field has attempts were taken.
    """
    attempts = min(number.options.attempts for number in mapper.model.numbers)

    def again() -> Steps[Draft[E]]:
        fresh = yield from assigned(context, mapper, asked)
        return draft_drawn(context, mapper, fresh, asked, stamp, tried=tried + 1)

    def lost(refusal: Refusal) -> Verdict[E]:
        if tried < attempts:
            return Again(0.0, again)
        raising = f"store.sequence({mapper.model.name}).sync() raises the counter"
        return already_exists(mapper, refusal.item, hint=f"{tried} numbers in a row are taken: {raising}")

    return draft_of_new(mapper, entity, stamp, lost=lost)


def draft_claimed(
    context: Context,
    mapper: Mapper[E],
    entity: E,
    stamp: Stamp,
    *,
    lost: Callable[[Refusal], Verdict[E]] | None = None,
    prepared: object = None,
) -> Steps[Draft[E]]:
    """Draft the put of an entity where nothing stands; one that lacks the number it claims takes the next free one.

    SequenceExhausted beyond `max_value`, ForeignItem where something that is no number stands among them; as the
    verdict SequenceContention where the attempts or the time were used up.
    """
    number = claimed_by(mapper.model, entity)
    if number is None:
        return draft_of_new(mapper, entity, stamp, lost=lost, prepared=prepared)
    line = line_of(mapper.model, number, group_of(mapper.model, number, entity))
    race = Race(context, mapper.model, line)
    if lost is None and number.name in mapper.model.primary.parts:
        lost = partial(_met, mapper)

    def draft() -> Steps[Draft[E]]:
        value = yield from next_number(context, mapper.model, line)
        claim: Claim[E] = Claim(line, value, lambda last: race.lost(draft, last), lambda: race.won(value))
        numbered = changed(entity, {number.name: value})
        return draft_under(mapper, numbered, claim, stamp, lost=lost, prepared=prepared)

    return (yield from draft())


def _met(mapper: Mapper[E], refusal: Refusal) -> Verdict[E]:
    """Say that a counter without gaps comes to a key that is taken, and goes no further by itself."""
    raising = f"store.sequence({mapper.model.name}, ...).sync() raises it"
    return already_exists(mapper, refusal.item, hint=f"the counter is behind what is stored: {raising}")


@dataclass(frozen=True, slots=True)
class Claim(Generic[E]):
    """A number that an entity is to take: `taken` judges that another writer has it, `won` is called when it is ours.

    `taken` is told the last number of the line where that is known.
    """

    line: Line
    value: int
    taken: Callable[[int | None], Verdict[E]]
    won: Callable[[], None]


def draft_under(
    mapper: Mapper[E],
    entity: E,
    claim: Claim[E],
    stamp: Stamp,
    *,
    lost: Callable[[Refusal], Verdict[E]] | None = None,
    prepared: object = None,
) -> Draft[E]:
    """Draft the put of an entity under the number it has by now, and the step of its counter where there is one."""
    again = prepared or Create(entity, stamp=stamp, drawn=True)
    action = claim.line.step(claim.value)
    if action is None:
        return draft_of_new(mapper, entity, stamp, lost=lambda _: claim.taken(None), kept=claim.won, prepared=again)

    def moved(refusal: Refusal) -> Verdict[E]:
        return unknown(again) if refusal.sent > 1 else claim.taken(claim.line.shown(refusal.item))

    step = Beside(action, moved, leads=True)  # where the counter has moved, the key is that of another's number
    return draft_of_new(mapper, entity, stamp, lost=lost, kept=claim.won, prepared=again, step=step)


def _draft_prepared(context: Context, mapper: Mapper[E], entity: E, stamp: Stamp) -> Draft[E]:
    """Draft the put of an entity whose number is there: the user's own, or drawn when the create was prepared."""
    model, number = mapper.model, mapper.model.claimed_number
    if number is None or not number.options.gapless:
        return draft_of_new(mapper, entity, stamp, kept=lambda: forget_highest(context, model, entity))
    line, value = line_of(model, number, group_of(model, number, entity), prepared=True), entity.__dict__[number.name]
    error = SequenceContention(
        f"{model.name}.{number.name}: the counter has passed {value}, the number of this prepared create, and its item "
        "does not stand there",
        hint="nothing is stored now; it may have been stored before, and deleted or replaced since: read before you "
        "create it anew",
        attempts=1,
        seconds=0.0,
    )
    claim: Claim[E] = Claim(line, value, lambda _: error, lambda: None)
    return draft_under(mapper, entity, claim, stamp)
