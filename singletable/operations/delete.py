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
from singletable.mapping import GONE, kind_of_item
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp
from singletable.operations.drafts import Done, Draft, Verdict, changed
from singletable.operations.subjects import subject
from singletable.operations.writing import absent, carries, free_or_own, owned, read_after, refused, unknown
from singletable.queries import Ref
from singletable.schema import GONE_AT, WRITE_ID, Model, model_of
from singletable.wire import Item, Refusal, Steps, at_once

__all__ = ["Delete"]

E = TypeVar("E", bound=Entity)


@dataclass(init=False, frozen=True, slots=True, eq=False)
class Delete(Generic[E]):
    """Delete one item of this entity and give the old one, or None where none stands there.

    ForeignItem where another's stands, ConditionFailed where `when` does not hold. An entity numbered by sort key
    leaves a tombstone, so that its number stays taken. Where a reply was lost and the item is gone, the answer is None,
    and so it is in a transaction.
    """

    ref: Ref[E]
    when: Condition | None
    stamp: Stamp | None = field(repr=False)

    def __init__(self, what: Ref[E] | E, /, when: Condition | None = None) -> None:
        ref = subject(what)
        if when is not None:
            check_condition(when, model_of(ref.entity).fields, "delete(when=)")
        for name, value in (("ref", ref), ("when", when), ("stamp", None)):
            object.__setattr__(self, name, value)

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
        """Draft the delete, or the put of a tombstone."""
        mapper, ref = context.mapper(self.ref.entity), context.bound(self.ref)
        prepared = changed(self, stamp=stamp)

        def answer(old: Item | None) -> E | None:
            return None if old is None else read_after(mapper, old, "deleted")

        def judged(refusal: Refusal) -> Verdict[E | None]:
            if carries(refusal, WRITE_ID, stamp.id):
                return Done(None)
            if refusal.sent > 1:
                return unknown(prepared)
            if self.when is None and not _is_foreign(mapper.model, refusal.item):
                return Done(None, instead=Action("check", ref.key, _nothing(mapper.model, stamp)))
            return refused(mapper, refusal, prepared, taken=False)

        own = self._burying if mapper.model.leaves_tombstones else self._removing
        return at_once(Draft(own(mapper.model, ref.key, stamp), answer=answer, refused=judged, prepared=prepared))

    def told(self, _: object) -> None:
        """Give nothing: a transaction does not answer with the old item."""

    def _removing(self, model: Model, key: Item, stamp: Stamp) -> Action:
        condition = all_of((free_or_own(model, stamp.now), self.when))
        return Action("delete", key, condition, returning="ALL_OLD")

    def _burying(self, model: Model, key: Item, stamp: Stamp) -> Action:
        seconds = {"N": str(int(stamp.now.timestamp()))}
        stone: Item = {**key, GONE_AT: seconds, WRITE_ID: {"S": stamp.id}}
        if model.table.tag is not None:
            stone[model.table.tag] = {"S": GONE}
        return Action("put", key, all_of((owned(model, stamp.now), self.when)), item=stone, returning="ALL_OLD")


def _is_foreign(model: Model, item: Item | None) -> bool:
    """Say whether another's item stands there; one of our own would have been deleted, so it was made afterwards."""
    return item is not None and kind_of_item(model, item) == "foreign"


def _nothing(model: Model, stamp: Stamp) -> Condition:
    """Hold where nothing is left to delete."""
    nothing = absent(model, stamp.now)
    if model.table.tag is None:
        return nothing
    return nothing | Condition("=", (Path((model.table.tag,)), {"S": GONE}))
