"""Moving an item to another primary key: it is put there and gone here, in one transaction.

Theory of operation. DynamoDB cannot change a key, so the item is read, and put at its new key where nothing stands, on
condition that it still stands at the old one just as it was read; there it is deleted, or a tombstone is put where its
number must not come again. Numbered by sort key it takes the next number of the partition it comes to. Guards name
their new owner. The write that can be run again carries both items, so that it sends the same.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.entity import changed as with_values
from singletable.errors import NotFound, UsageError
from singletable.expressions import all_of
from singletable.fields import computed
from singletable.judging import holds
from singletable.mapping import Mapper, foreign_item, kind_of_item
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp, backoff
from singletable.operations.counters import group_of
from singletable.operations.delete import tombstone
from singletable.operations.drafts import Again, Beside, Done, Draft, Verdict, changed, filled
from singletable.operations.expiring import seen
from singletable.operations.get import get_call
from singletable.operations.guards import Shift, holding_of
from singletable.operations.lines import Race, next_number, numbers_range
from singletable.operations.sending import send
from singletable.operations.subjects import subject
from singletable.operations.writing import (
    absent,
    already_exists,
    at_version,
    carries,
    contended,
    key_of,
    owned,
    unchanged,
    unknown,
    version_conflict,
    with_create_id,
)
from singletable.queries import Ref
from singletable.schema import CREATE_ID, Model, model_of
from singletable.wire import Item, Refusal, Steps, at_once

__all__ = ["Move"]

E = TypeVar("E", bound=Entity)

ATTEMPTS = 16
"""So often, at most, is a move made anew from what stands there."""


@dataclass(init=False, frozen=True, slots=True, eq=False)
class Move(Generic[E]):
    """Put an item at another primary key, atomically, and give the entity there.

    `parts` are the parts of the key that change. NotFound where no item of this entity stands at the old key,
    AlreadyExists where one stands at the new, UnknownPart for what is no part of the key, UsageError for the same key.
    """

    ref: Ref[E]
    parts: tuple[tuple[str, Any], ...]
    given: E | None = field(repr=False)
    """The entity that was handed in: its version is checked."""
    stamp: Stamp | None = field(repr=False)
    planned: tuple[Item, E] | None = field(repr=False)
    """The item as it stood, and the entity it becomes, in a prepared one."""

    def __init__(self, what: Ref[E] | E, /, **parts: object) -> None:
        ref = subject(what)
        _check(model_of(ref.entity), ref, parts)
        given = None if isinstance(what, Ref) else what
        filled(self, ref=ref, parts=tuple(parts.items()), given=given, stamp=None, planned=None)

    def steps(self, context: Context) -> Steps[E]:
        """Read the item, then send one transaction of a put and a delete (numbered by sort key: of a tombstone)."""
        return (yield from carry_out(context, self))

    def begun(self, _: Context) -> Steps[Move[E]]:
        """Draw nothing: a number is drawn by being stored."""
        return at_once(self)

    def turn(self, context: Context) -> Hashable | None:
        """Name the partition that a number is drawn in."""
        model = context.model(self.ref.entity)
        number = model.sort_key_number
        if number is None:
            return None
        return context.table, *numbers_range(model, number, {**dict(self.ref.parts), **dict(self.parts)}).identity

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E]]:
        """Draft the move of the item as it stands."""
        moving = _Moving(context, changed(self, ref=context.bound(self.ref), stamp=stamp), stamp)
        if self.planned is None:
            return (yield from moving.read())
        return moving.draft(*self.planned, frozenset())

    def told(self, value: Any) -> E:
        """Give the entity at its new key."""
        stored: E = value
        return stored


def _check(model: Model, ref: Ref[Any], parts: dict[str, object]) -> None:
    """Raise what makes a move impossible, whatever stands there."""
    model.primary.check_names(parts)
    numbers = {each.name for each in model.numbers}
    for name in parts:
        if name in numbers:
            raise UsageError(
                f"{model.name}.{name} is drawn, it cannot be given to move()",
                hint="leave it out: by sort key the next number of the other partition is drawn, a counter's is kept",
            )
        if isinstance(model.fields[name], computed):
            raise UsageError(f"{model.name}.{name} is computed", hint="change the fields it is computed from")
    before = dict(ref.parts)
    if all(before[name] == value for name, value in parts.items()):
        raise UsageError(
            f"move() of a {model.name} to the key it stands at" if parts else "move() without a part of the key",
            hint=f"name the parts that change: it has {', '.join(model.primary.parts)}",
        )
    leading = {name: value for name, value in {**before, **parts}.items() if value is not None}
    ref.entity.at(**leading)


class _Moving(Generic[E]):
    """The drafts of one move: from the item as it was read, and anew where others changed it."""

    def __init__(self, context: Context, move: Move[E], stamp: Stamp) -> None:
        self._context = context
        self._mapper: Mapper[E] = context.mapper(move.ref.entity)
        self._move = move
        self._stamp = stamp
        self._pauses = backoff(context, ATTEMPTS, base=0.005, cap=0.1)
        self._held = at_version(self._mapper.model, move.given)
        self._race: Race | None = None

    def read(self) -> Steps[Draft[E]]:
        """Draft the move of the item as it stands. NotFound where none does, VersionConflict where it has changed."""
        mapper, ref = self._mapper, self._move.ref
        answer = yield from send(self._context, get_call(self._context, ref, consistent=True))
        item: Item = answer.get("Item", {})
        found = self._context.read(ref.entity, item or None, self._stamp.now)
        if found is None:
            raise self._not_found()
        if self._move.given is not None and self._held is not None and not holds(self._held, item):
            raise version_conflict(mapper, item, self._move.given)
        entity = with_values(
            found, {**dict(self._move.parts), **mapper.model.stamps.put(found.__dict__, self._stamp.now)}
        )
        return (yield from self._numbered(item, entity))

    def _numbered(self, item: Item, entity: E) -> Steps[Draft[E]]:
        """Draft it under the next number of the partition it comes to, where it has one."""
        model = self._mapper.model
        number = model.sort_key_number
        if number is not None:
            span = numbers_range(model, number, group_of(model, number, entity))
            self._race = self._race or Race(self._context, model, span)
            value = yield from next_number(self._context, model, span)
            entity = with_values(entity, {number.name: value})
        return self.draft(item, entity, frozenset())

    def draft(self, item: Item, entity: E, left: frozenset[str]) -> Draft[E]:
        """Draft the move of an item that stands so to where the entity will."""
        model, ref = self._mapper.model, self._move.ref
        new = with_create_id(self._mapper.encode(entity), self._stamp.id)
        place = key_of(model, new)
        prepared = changed(self._move, planned=(item, entity))

        def answer(_: Item | None) -> E:
            if self._race is not None and model.sort_key_number is not None:
                self._race.won(entity.__dict__[model.sort_key_number.name])
            return self._mapper.decode(new)

        def judged(refusal: Refusal) -> Verdict[E]:
            if carries(refusal, CREATE_ID, self._stamp.id):
                return Done(answer(None))
            if refusal.sent > 1:
                return unknown(prepared)
            if model.sort_key_number is not None and self._race is not None:
                return self._race.lost(lambda: self._numbered(item, entity))
            return already_exists(self._mapper, seen(model.table, refusal, self._stamp.now).item)

        def again(guard: str) -> Again[E]:
            return Again(0.0, lambda: at_once(self.draft(item, entity, left | {guard})))

        before = holding_of(model, self._mapper.decode(item), item)
        shift = Shift(ref.key, before, holding_of(model, entity, new), left, again, to=place)
        beside = (self._gone(item, prepared), *shift.beside(model, self._stamp))
        own = Action("put", place, absent(model, self._stamp.now), item=new)
        return Draft(own, answer, judged, prepared, beside)

    def _gone(self, item: Item, prepared: object) -> Beside[E]:
        """Delete the item where it stood, or leave a tombstone there, if it still stands as it was read."""
        model, key = self._mapper.model, self._move.ref.key
        still = all_of((owned(model, self._stamp.now), unchanged(model, key, item)))
        if model.leaves_tombstones:
            action = Action("put", key, still, item=tombstone(model, key, self._stamp))
        else:
            action = Action("delete", key, still)
        return Beside(action, lambda refusal: self._judged_gone(refusal, prepared))

    def _judged_gone(self, refusal: Refusal, prepared: object) -> Verdict[E]:
        model = self._mapper.model
        if refusal.sent > 1:
            return unknown(prepared)
        item = seen(model.table, refusal, self._stamp.now).item
        if item is None or kind_of_item(model, item) == "gone":
            return self._not_found()
        if kind_of_item(model, item) == "foreign":
            return foreign_item(model, item)
        pause = next(self._pauses, None)
        return contended(self._mapper, item, "the item", ATTEMPTS) if pause is None else Again(pause, self.read)

    def _not_found(self) -> NotFound:
        ref = self._move.ref
        return NotFound(
            f"no {ref.entity.__name__} stands at {ref!r}", hint="it may have been moved or deleted by others"
        )
