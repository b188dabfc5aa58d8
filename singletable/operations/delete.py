"""Deleting one item.

A deleted item whose sort-key number must not come again leaves a tombstone: its key, the tag `!gone` and the time.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from singletable.belonging import check_condition
from singletable.entity import Entity
from singletable.expressions import Condition, Path, all_of
from singletable.judging import holds
from singletable.mapping import GONE, kind_of_item
from singletable.operations.actions import Action, checked
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp, backoff
from singletable.operations.drafts import Again, Beside, Done, Draft, Verdict, changed, filled
from singletable.operations.expiring import has_expired, judged_alive, seen
from singletable.operations.get import get_call
from singletable.operations.guards import NOTHING, Shift, holding_of, unique_attributes
from singletable.operations.sending import send
from singletable.operations.subjects import subject
from singletable.operations.writing import (
    absent,
    at_version,
    carries,
    contended,
    owned,
    read_after,
    refused,
    replaceable,
    stands,
    unknown,
    version_conflict,
)
from singletable.queries import Ref
from singletable.schema import GONE_AT, WRITE_ID, Model, model_of
from singletable.wire import Item, Refusal, Steps, at_once

__all__ = ["Delete", "tombstone"]

E = TypeVar("E", bound=Entity)

ATTEMPTS = 16
"""So often, at most, is a delete made anew from the unique values that stand there."""


@dataclass(init=False, frozen=True, slots=True, eq=False)
class Delete(Generic[E]):
    """Delete one item of this entity and give the old one, or None where none stands there.

    ForeignItem where another's stands, ConditionFailed where `when` does not hold. An entity numbered by sort key
    leaves a tombstone, so that its number stays taken. Where a reply was lost and the item is gone, the answer is None,
    and so it is in a transaction.
    """

    ref: Ref[E]
    when: Condition | None
    given: E | None = field(repr=False)
    """The entity that was handed in: its version is checked."""
    stamp: Stamp | None = field(repr=False)

    def __init__(self, what: Ref[E] | E, /, when: Condition | None = None) -> None:
        ref = subject(what)
        if when is not None:
            check_condition(when, model_of(ref.entity).fields, "delete(when=)")
        filled(self, ref=ref, when=when, given=None if isinstance(what, Ref) else what, stamp=None)

    def steps(self, context: Context) -> Steps[E | None]:
        """Send one DeleteItem, or one PutItem of a tombstone."""
        return (yield from carry_out(context, self))

    def begun(self, _: Context) -> Steps[Delete[E]]:
        """Draw nothing: a delete has no numbers."""
        return at_once(self)

    def turn(self, _: Context) -> Hashable | None:
        """Let many deletes go on at a time."""
        return None

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E | None]]:
        """Draft the delete, or the put of a tombstone; where values are unique, from the item as it stands."""
        deleting = _Deleting(context, changed(self, ref=context.bound(self.ref), stamp=stamp), stamp)
        if not deleting.model.uniques:
            return deleting.draft(None)
        call = get_call(context, deleting.ref, consistent=True)
        answer = yield from send(context, call)
        return deleting.draft(answer.get("Item"))

    def told(self, _: object) -> None:
        """Give nothing: a transaction does not answer with the old item."""


class _Deleting(Generic[E]):
    """The drafts of one delete: where values are unique, their guards are freed as they stood."""

    def __init__(self, context: Context, delete: Delete[E], stamp: Stamp) -> None:
        self._mapper = context.mapper(delete.ref.entity)
        self._delete = delete
        self._stamp = stamp
        self._pauses = backoff(context, ATTEMPTS, base=0.005, cap=0.1)
        self.model = self._mapper.model
        self._held = at_version(self.model, delete.given)
        self._when = judged_alive(self.model.table, delete.when, stamp.now)
        self.ref = delete.ref

    def draft(self, standing: Item | None, left: frozenset[str] = frozenset()) -> Draft[E | None]:
        """Draft the delete of an item that stands so; of None where that does not matter, or none stood there."""
        alive = None if has_expired(self.model.table, standing, self._stamp.now) else standing
        own = None if alive is None or kind_of_item(self.model, alive) != "own" else alive
        old = None if own is None else self._mapper.decode(own)

        def answer(deleted: Item | None) -> E | None:
            if deleted is None or has_expired(self.model.table, deleted, self._stamp.now):
                return old
            return read_after(self._mapper, deleted, "deleted")

        def judged(refusal: Refusal) -> Verdict[E | None]:
            return self._judged(refusal, own, old)

        action = self._burying() if self.model.leaves_tombstones else self._removing()
        if self.model.uniques and (own is None or old is None):
            nothing = all_of((absent(self.model, self._stamp.now), self._when))  # a tombstone stays
            return Draft(Action("delete", self.ref.key, nothing), answer, judged, self._delete)
        if own is None or old is None:
            return Draft(action, answer, judged, self._delete)
        held = all_of(stands(Path((name,)), own.get(name)) for name in unique_attributes(self.model))
        return Draft(checked(action, held), answer, judged, self._delete, self._beside(own, old, left))

    def _beside(self, own: Item, old: E, left: frozenset[str]) -> tuple[Beside[E | None], ...]:
        def again(guard: str) -> Again[E | None]:
            return Again(0.0, lambda: at_once(self.draft(own, left | {guard})))

        move = Shift(self.ref.key, holding_of(self.model, old, own), NOTHING, left, again)
        return tuple(move.beside(self.model, self._stamp))

    def _judged(self, refusal: Refusal, own: Item | None, old: E | None) -> Verdict[E | None]:
        if carries(refusal, WRITE_ID, self._stamp.id):
            return Done(old)
        if refusal.sent > 1:
            return unknown(self._delete)
        refusal = seen(self.model.table, refusal, self._stamp.now)
        item = refusal.item
        if item is not None and kind_of_item(self.model, item) == "own":
            changed = self._changed(own, item)
            if changed is not None:
                return changed
        if self._delete.when is None and not _is_foreign(self.model, item):
            return Done(None, instead=Action("check", self.ref.key, _nothing(self.model, self._stamp)))
        return refused(self._mapper, refusal, self._delete, taken=False)

    def _changed(self, own: Item | None, item: Item) -> Verdict[E | None] | None:
        """Say what it means that the item stands otherwise than it was taken to; None where it does not."""
        given = self._delete.given
        if given is not None and self._held is not None and not holds(self._held, item):
            return version_conflict(self._mapper, item, given)
        if not self.model.uniques or not self._differs(own, item):
            return None
        pause = next(self._pauses, None)
        if pause is None:
            return contended(self._mapper, item, "its unique values", ATTEMPTS)
        return Again(pause, lambda: at_once(self.draft(item)))

    def _differs(self, own: Item | None, item: Item) -> bool:
        return own is None or any(own.get(name) != item.get(name) for name in unique_attributes(self.model))

    def _removing(self) -> Action:
        condition = all_of((replaceable(self.model, self._stamp.now, self._held), self._when))
        return Action("delete", self.ref.key, condition, returning="ALL_OLD")

    def _burying(self) -> Action:
        stone = tombstone(self.model, self.ref.key, self._stamp)
        condition = all_of((owned(self.model, self._stamp.now), self._held, self._when))
        return Action("put", self.ref.key, condition, item=stone, returning="ALL_OLD")


def tombstone(model: Model, key: Item, stamp: Stamp) -> Item:
    """Give what a deleted item leaves, by which its key stays taken."""
    stone: Item = {**key, GONE_AT: {"N": str(int(stamp.now.timestamp()))}, WRITE_ID: {"S": stamp.id}}
    if model.table.tag is not None:
        stone[model.table.tag] = {"S": GONE}
    return stone


def _is_foreign(model: Model, item: Item | None) -> bool:
    """Say whether another's item stands there; one of our own would have been deleted, so it was made afterwards."""
    return item is not None and kind_of_item(model, item) == "foreign"


def _nothing(model: Model, stamp: Stamp) -> Condition:
    """Hold where nothing is left to delete."""
    nothing = absent(model, stamp.now)
    if model.table.tag is None:
        return nothing
    return nothing | Condition("=", (Path((model.table.tag,)), {"S": GONE}))
