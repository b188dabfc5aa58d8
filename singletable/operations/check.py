"""Checking one item without writing it: what other writes of a transaction rest on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from singletable.belonging import check_condition
from singletable.entity import Entity
from singletable.expressions import Condition, all_of
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp
from singletable.operations.drafts import Draft, Verdict, changed, filled
from singletable.operations.expiring import seen
from singletable.operations.subjects import subject
from singletable.operations.writing import absent, owned, refused
from singletable.queries import Ref
from singletable.schema import model_of
from singletable.wire import Refusal, Steps, at_once

__all__ = ["Check"]

E = TypeVar("E")


@dataclass(init=False, frozen=True, slots=True, eq=False)
class Check:
    """See to it that an item of this entity stands at a key, and meets a condition.

    In a transaction nothing is written unless it does. ConditionFailed where it does not, ForeignItem where another
    entity's item stands there.
    """

    ref: Ref[Any]
    when: Condition | None
    stamp: Stamp | None = field(repr=False)

    def __init__(self, what: Ref[Any] | Entity, /, when: Condition | None = None) -> None:
        ref = subject(what)
        if when is not None:
            check_condition(when, model_of(ref.entity).fields, "check(when=)")
        filled(self, ref=ref, when=when, stamp=None)

    def steps(self, context: Context) -> Steps[None]:
        """Send one transaction of a ConditionCheck."""
        yield from carry_out(context, self)

    def begun(self, _: Context) -> Steps[Check]:
        """Draw nothing: a check has no numbers."""
        return at_once(self)

    def turn(self, _: Context) -> Hashable | None:
        """Let many checks go on at a time."""
        return None

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[None]]:
        """Draft the check."""
        mapper, prepared = context.mapper(self.ref.entity), changed(self, stamp=stamp)

        def judged(refusal: Refusal) -> Verdict[None]:
            return refused(mapper, seen(mapper.model.table, refusal, stamp.now), prepared, taken=False)

        own = owned(mapper.model, stamp.now)
        there = ~absent(mapper.model, stamp.now) if own is None else own
        action = Action("check", context.bound(self.ref).key, all_of((there, self.when)))
        return at_once(Draft(action, answer=lambda _: None, refused=judged, prepared=prepared))

    def told(self, _: object) -> None:
        """Give nothing."""
