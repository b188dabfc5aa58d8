"""Storing an entity in place of what stands there of its own kind.

Theory of operation. A put is one PutItem on condition that nothing or an item of the same entity stands at the key. One
whose key holds a number that is only now drawn is a create: what a fresh number names is not replaced. A put can be
repeated, so it needs no mark, except where a condition of the caller's is judged: then the item carries the id of the
write (`_w`), by which a put that was sent again recognises its own first try.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from singletable.belonging import check_condition
from singletable.entity import Entity, changed
from singletable.errors import UsageError
from singletable.expressions import Condition, all_of
from singletable.judging import holds
from singletable.mapping import Mapper, kind_of_item
from singletable.operations.actions import Action, Returning
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp, backoff
from singletable.operations.create import as_drawn, draft_claimed, draft_drawn, turn_of
from singletable.operations.drafts import Again, Beside, Done, Draft, Verdict
from singletable.operations.drawing import assigned, awaits_key
from singletable.operations.expiring import has_expired, judged_alive, seen
from singletable.operations.guards import Shift, as_held, holding_of, taken
from singletable.operations.lines import claimed_by, forget_highest
from singletable.operations.subjects import chosen
from singletable.operations.writing import (
    absent,
    at_version,
    carries,
    contended,
    key_of,
    old_is_lost,
    owned,
    read_after,
    refused,
    replaceable,
    unchanged,
    version_conflict,
    with_create_id,
)
from singletable.schema import CREATE_ID, WRITE_ID
from singletable.wire import Item, Refusal, Steps, at_once

__all__ = ["Kept", "Put"]

E = TypeVar("E", bound=Entity)

Kept: TypeAlias = Literal["new", "old"]
KEPT = get_args(Kept)

ATTEMPTS = 16
"""So often, at most, is a put made anew from the unique values that stand there."""


@dataclass(frozen=True, slots=True, eq=False)
class Put(Generic[E]):
    """Store an entity, replacing what is there of its own kind. ForeignItem where another's item stands.

    A number that is missing is drawn, one that is there is kept; a key whose number was deleted is AlreadyExists. Run
    alone with `returning="old"` it gives what was replaced, or None where nothing was.
    """

    entity: E
    when: Condition | None = None
    returning: Kept = "new"
    stamp: Stamp | None = field(default=None, kw_only=True, repr=False)
    drawn: bool = field(default=False, kw_only=True, repr=False)
    asked: E | None = field(default=None, kw_only=True, repr=False)
    """The entity as it was given, where its key holds a counter number that was drawn for this put."""

    def __post_init__(self) -> None:
        chosen("put(returning=)", self.returning, KEPT)
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
        return as_drawn(context, self, entity)

    def check(self, context: Context) -> None:
        """Raise what makes it impossible, before a number is drawn."""
        mapper = context.mapper(type(self.entity))
        mapper.check(self.entity)
        if self.when is None:
            return
        if awaits_key(mapper.model, self.entity) or claimed_by(mapper.model, self.entity) is not None:
            missing = next(number.name for number in mapper.model.numbers if number.name not in self.entity.__dict__)
            raise UsageError(
                f"put(when=) of a {mapper.model.name} without {missing!r}: a new number has no item to judge",
                hint="leave when= out, or put an entity that has its number",
            )

    def told(self, value: Any) -> E:
        """Give the stored entity."""
        stored: E = value
        return stored

    def turn(self, context: Context) -> Hashable | None:
        """Name the line that a number is drawn in by being stored."""
        return turn_of(context, self.entity)

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E]]:
        """Draft the put; of an entity without the number it claims, as a create."""
        mapper = context.mapper(type(self.entity))
        if claimed_by(mapper.model, self.entity) is not None:
            draft = yield from draft_claimed(context, mapper, self.entity, stamp)
        elif self.asked is not None:
            draft = draft_drawn(context, mapper, self.entity, self.asked, stamp)
        else:
            return _Replacing(context, mapper, replace(self, stamp=stamp, drawn=True), stamp).first()
        return _in_place_of_nothing(draft) if self.returning == "old" and not stamp.shared else draft


class _Replacing(Generic[E]):
    """The drafts of one put in place of what stands there.

    Where values are unique, the guards of the old ones are to be freed: the first draft rests on their being the new
    ones, and the item that a failed condition answers with is what the next one knows.
    """

    def __init__(self, context: Context, mapper: Mapper[E], put: Put[E], stamp: Stamp) -> None:
        self._context = context
        self._mapper = mapper
        self._put = put
        self._stamp = stamp
        self._pauses = backoff(context, ATTEMPTS, base=0.005, cap=0.1)
        model = mapper.model
        entity = changed(put.entity, model.stamps.put(put.entity.__dict__, stamp.now))
        item = mapper.encode(entity)
        if CREATE_ID not in item:
            item = with_create_id(item, stamp.id)
        self._held = at_version(model, put.entity)
        self._when = judged_alive(model.table, put.when, stamp.now)
        self._old = put.returning == "old" and not stamp.shared
        self._marked = put.when is not None or self._held is not None or self._old
        if self._marked:
            item[WRITE_ID] = {"S": stamp.id}
        self._item = item
        self._key = key_of(model, item)
        self._holding = holding_of(model, entity, item)

    def first(self) -> Draft[E]:
        """Draft the put on what is not known yet: that it changes no unique value."""
        model = self._mapper.model
        if not model.uniques:
            return self._draft(self._free(), (), None)
        still = self._as_stored(self._item)
        return self._draft(all_of((owned(model, self._stamp.now), still, self._held)), (), still)

    def _free(self) -> Condition | None:
        """Hold where the entity may stand: in place of nothing only if it was never stored."""
        model, now = self._mapper.model, self._stamp.now
        return replaceable(model, now, self._held) if self._is_new else all_of((owned(model, now), self._held))

    @property
    def _is_new(self) -> bool:
        """Whether the entity was never stored, as far as its version tells."""
        version = self._mapper.model.stamps.counter()
        return version is None or self._put.entity.__dict__.get(version.name) is None

    def _draft(
        self,
        condition: Condition | None,
        beside: tuple[Beside[E], ...],
        still: Condition | None,
        *,
        known: Item | None = None,
    ) -> Draft[E]:
        """Draft the put on a condition; `still` holds while what it takes to stand there does, the item `known`."""
        returning: Returning = "ALL_OLD" if self._old else "NONE"
        own = Action("put", self._key, all_of((condition, self._when)), item=self._item, returning=returning)

        def judged(refusal: Refusal) -> Verdict[E]:
            return self._judged(refusal, still)

        def answer(old: Item | None) -> Any:
            return self._answer(old or known)

        return Draft(own, answer=answer, refused=judged, prepared=self._put, beside=beside)

    def _answer(self, old: Item | None) -> Any:
        """Give what is stored, or else what was replaced, where that had not expired."""
        forget_highest(self._context, self._mapper.model, self._put.entity)
        if not self._old:
            return self._mapper.decode(self._item)
        if not old or has_expired(self._mapper.model.table, old, self._stamp.now):
            return None
        return read_after(self._mapper, old, "replaced")

    def _judged(self, refusal: Refusal, still: Condition | None) -> Verdict[E]:
        model = self._mapper.model
        if self._marked and carries(refusal, WRITE_ID, self._stamp.id):
            return old_is_lost(self._put) if self._old else Done(self._answer(None))
        refusal = seen(model.table, refusal, self._stamp.now)
        item = refusal.item
        if refusal.sent == 1 and self._is_outdated(item):
            return version_conflict(self._mapper, item, self._put.entity)
        if not model.uniques or (item is not None and kind_of_item(model, item) != "own"):
            return refused(self._mapper, refusal, self._put, taken=True)
        if still is not None and item is not None and holds(still, item):
            return refused(self._mapper, refusal, self._put, taken=True)
        pause = next(self._pauses, None)
        if pause is None:
            return contended(self._mapper, item, "its unique values", ATTEMPTS)
        return Again(pause, lambda: at_once(self._after(item, frozenset())))

    def _is_outdated(self, item: Item | None) -> bool:
        """Say whether what stands there is of another version than the entity."""
        if self._held is None or item is None:
            return self._held is not None and not self._is_new
        return kind_of_item(self._mapper.model, item) == "own" and not holds(self._held, item)

    def _after(self, standing: Item | None, left: frozenset[str]) -> Draft[E]:
        """Draft the put in place of an item that stands so, or of none."""
        model = self._mapper.model
        if standing is None:
            fresh = taken(model, self._key, self._holding, self._stamp)
            return self._draft(absent(model, self._stamp.now), fresh, None)
        before = holding_of(model, self._mapper.decode(standing), standing)
        still = unchanged(model, self._key, standing) if self._old else self._as_stored(standing)
        condition = all_of((owned(model, self._stamp.now), still, self._held))

        def again(guard: str) -> Again[E]:
            return Again(0.0, lambda: at_once(self._after(standing, left | {guard})))

        move = Shift(self._key, before, self._holding, left, again)
        return self._draft(condition, tuple(move.beside(model, self._stamp)), still, known=standing)

    def _as_stored(self, item: Item) -> Condition | None:
        """Hold where the unique values (and the time to live of their guards) are stored as in an item."""
        model = self._mapper.model
        return all_of((~absent(model), as_held(model, item)))


def _in_place_of_nothing(draft: Draft[Any]) -> Draft[Any]:
    """Let a put under a number of its own give what it replaces: nothing."""

    def answer(item: Item | None) -> None:
        draft.answer(item)

    def judged(refusal: Refusal) -> Verdict[Any]:
        verdict = draft.refused(refusal)
        if isinstance(verdict, Again):
            return replace(verdict, draft=lambda: _later(verdict))
        return Done(None) if isinstance(verdict, Done) else verdict

    return replace(draft, answer=answer, refused=judged)


def _later(again: Again[Any]) -> Steps[Draft[Any]]:
    return _in_place_of_nothing((yield from again.draft()))
