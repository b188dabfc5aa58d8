"""Changing an item in place, with its index keys.

Theory of operation. An index key is text made of several fields, so a change to one of them needs the others. Those in
the reference or in the change are known, and one UpdateItem does. Others are taken from the entity that was handed in,
on condition that they still hold, or else from one strong read; where another writer was faster, the old item that the
failed condition answers with is the next attempt's knowledge, and so it is where the item was made only just now. An
addition to a number is not repeatable, so it is marked with an id (`_w`) by which a request that was sent again
recognises that it was carried out before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from singletable.belonging import check_condition
from singletable.entity import Entity, values_of
from singletable.errors import (
    ConditionFailed,
    NotFound,
    OutcomeUnknown,
    PlaceMissing,
    SingleTableError,
    UnknownField,
    UsageError,
    closest,
)
from singletable.expressions import Change, Condition, Path, all_of
from singletable.fields import Field, computed
from singletable.judging import holds
from singletable.mapping import ANY_TIME, foreign_item, kind_of_item
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp, backoff
from singletable.operations.drafts import Again, Beside, Done, Draft, Verdict, changed
from singletable.operations.expiring import seen
from singletable.operations.get import get_call
from singletable.operations.guards import Move, guards_of
from singletable.operations.outcome import Outcome, Plan, Standing, check_places, field_of, plan_of
from singletable.operations.sending import send
from singletable.operations.subjects import loaded_of, subject
from singletable.operations.writing import absent, at_version, carries, owned, read_after, unknown, version_conflict
from singletable.queries import Ref
from singletable.schema import WRITE_ID, Model, model_of
from singletable.wire import AttributeValue, Item, Refusal, Steps, at_once

__all__ = ["Update", "changes_of"]

E = TypeVar("E", bound=Entity)

ATTEMPTS = 16
"""So often, at most, is an update made anew from what stands there."""


@dataclass(init=False, frozen=True, slots=True, eq=False)
class Update(Generic[E]):
    """Change fields of one item and give the new entity; index keys follow.

    NotFound where no item of this entity stands there, ConditionFailed where `when` does not hold, ForeignItem where
    another entity's item stands there. Changes are `Order.status.set("PAID")` or a mapping of fields to values. In a
    transaction it gives None.
    """

    ref: Ref[E]
    changes: tuple[Change, ...]
    when: Condition | None
    loaded: E | None
    given: E | None = field(repr=False)
    """The entity that was handed in, whole or in part: its version is checked."""
    stamp: Stamp | None = field(repr=False)

    def __init__(
        self, what: Ref[E] | E, /, *changes: Change | Mapping[str, object], when: Condition | None = None
    ) -> None:
        ref = subject(what)
        model = model_of(ref.entity)
        listed = changes_of(model, changes)
        _check(model, listed)
        if when is not None:
            check_condition(when, model.fields, "update(when=)")
        given = None if isinstance(what, Ref) else what
        facts = {"ref": ref, "changes": listed, "when": when, "loaded": loaded_of(what), "given": given, "stamp": None}
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def steps(self, context: Context) -> Steps[E | None]:
        """Send one UpdateItem; a GetItem before it where index keys or computed fields need what is not known."""
        return (yield from carry_out(context, self))

    def begun(self, _: Context) -> Steps[Update[E]]:
        """Draw nothing: an update has no numbers."""
        return at_once(self)

    def turn(self, context: Context) -> Hashable | None:
        """Name the item, where it must be known as it stands."""
        ref = context.bound(self.ref)
        if not self._plan(context, ref, ANY_TIME).must_read:
            return None
        return context.table, "update", *(str(value) for value in ref.key.values())

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E | None]]:
        """Draft the update, from the item as it stands where that is needed."""
        ref = context.bound(self.ref)
        plan = self._plan(context, ref, stamp.now)
        tries = _Tries(context, changed(self, ref=ref, stamp=stamp), plan, stamp)
        standing = None
        if plan.must_read and self.loaded is not None:
            try:
                return tries.draft(Standing(self.loaded, None))
            except PlaceMissing:  # as it was when it was loaded: what stands there now may have the place
                standing = yield from tries.read()
        elif plan.must_read:
            standing = yield from tries.read()
        return tries.draft(standing)

    def _plan(self, context: Context, ref: Ref[E], now: datetime) -> Plan:
        """Plan the changes, and those that every update of the entity makes."""
        model = context.model(ref.entity)
        return plan_of(model, ref, (*self.changes, *model.stamps.updated(now)))

    def told(self, _: object) -> None:
        """Give nothing: a transaction does not answer with the new item."""


class _Tries(Generic[E]):
    """The drafts of one update: the first, and further ones from what stands there where others were faster."""

    def __init__(self, context: Context, update: Update[E], plan: Plan, stamp: Stamp) -> None:
        self._context = context
        self._mapper = context.mapper(update.ref.entity)
        self._ref = update.ref
        self._plan = plan
        self._update = update
        self._stamp = stamp
        self._tried = 0
        self._pauses = backoff(context, ATTEMPTS, base=0.005, cap=0.1)
        self._held = at_version(self._mapper.model, update.given)
        unrepeatable = (_unrepeatable(change) for changes in plan.changed.values() for change in changes)
        self._marked = stamp.shared or any(unrepeatable)

    def read(self) -> Steps[Standing]:
        """Read the item as it stands. NotFound where there is none."""
        answer = yield from send(self._context, get_call(self._context, self._ref, consistent=True))
        found = self._context.read(self._ref.entity, answer.get("Item"), self._stamp.now)
        if found is None:
            raise _not_found(self._ref)
        return Standing(found, answer["Item"])

    def draft(self, standing: Standing | None, left: frozenset[str] = frozenset()) -> Draft[E | None]:
        """Draft the update on condition that the item still stands so."""

        def answer(new: Item | None) -> E | None:
            return None if new is None else read_after(self._mapper, new, "updated")

        def judged(refusal: Refusal) -> Verdict[E | None]:
            return self._judged(refusal, standing)

        outcome = self._plan.outcome(standing)
        beside = () if standing is None else self._beside(standing, outcome, left)
        action = self._action(outcome)
        return Draft(action, answer, judged, self._update, tuple(beside), self._read_new if beside else None)

    def _beside(self, standing: Standing, outcome: Outcome, left: frozenset[str]) -> tuple[Beside[E | None], ...]:
        """Move the guards of unique values that change."""
        model, uniques = self._mapper.model, self._plan.uniques
        before = guards_of(model, values_of(standing.entity), self._ttl_before(standing), uniques)
        after = guards_of(model, outcome.values, self._ttl_after(outcome, before.ttl), uniques)

        def again(guard: str) -> Again[E | None]:
            return Again(0.0, lambda: at_once(self.draft(standing, left | {guard})))

        return tuple(Move(self._ref.key, before, after, left, again).beside(model, self._stamp))

    def _ttl_before(self, standing: Standing) -> AttributeValue | None:
        name, model = self._mapper.model.table.ttl, self._mapper.model
        if name is None or standing.item is not None:
            return None if name is None or standing.item is None else standing.item.get(name)
        fields = [field for field in model.fields.values() if field.attribute == name]
        held = standing.entity.__dict__.get(fields[0].name) if fields else None
        return None if held is None else fields[0].encoded(held)

    def _ttl_after(self, outcome: Outcome, before: AttributeValue | None) -> AttributeValue | None:
        """Give the time to live after the update: what it comes to, or what there was."""
        fields, ttl = self._mapper.model.fields, self._mapper.model.table.ttl
        changed = [fields[name] for name in self._plan.changed if fields[name].attribute == ttl]
        return changed[0].encoded(outcome.values[changed[0].name]) if changed else before

    def _read_new(self) -> Steps[E | None]:
        """Read what a transaction made of the item, as it does not answer with it."""
        try:
            answer = yield from send(self._context, get_call(self._context, self._ref, consistent=True))
        except SingleTableError as error:
            raise OutcomeUnknown(
                f"{self._mapper.model.name} was updated, and the new item could not be read",
                hint="store.get(...) reads it; running error.operation again does not do it twice",
                operation=self._update,
            ) from error
        return self._mapper.read(answer.get("Item"))

    def _judged(self, refusal: Refusal, before: Standing | None) -> Verdict[E | None]:
        model = self._mapper.model
        if self._marked and refusal.item is not None and carries(refusal, WRITE_ID, self._stamp.id):
            return Done(read_after(self._mapper, refusal.item, "updated"))
        item = seen(model.table, refusal, self._stamp.now).item
        if item is None or kind_of_item(model, item) == "gone":
            return unknown(self._update) if refusal.sent > 1 else _not_found(self._ref)
        if kind_of_item(model, item) == "foreign":
            return foreign_item(model, item)
        if refusal.sent > 1:
            return unknown(self._update)
        if self._update.given is not None and self._held is not None and not holds(self._held, item):
            return version_conflict(self._mapper, item, self._update.given)
        return self._again(Standing(self._mapper.decode(item), item), before)

    def _again(self, standing: Standing, before: Standing | None) -> Again[E | None] | ConditionFailed:
        """Draft anew where what the draft rested on has changed; else it was the caller's condition."""
        self._tried += 1
        same = before is None or self._plan.stored(before) == self._plan.stored(standing)
        if same and self._update.when is not None:
            return _refused(self._mapper.model, standing.entity)
        pause = next(self._pauses, None)
        if pause is None:
            return _contended(self._mapper.model, standing.entity, self._plan, self._tried)
        return Again(pause, lambda: at_once(self.draft(standing)))

    def _action(self, outcome: Outcome) -> Action:
        changes, model = list(outcome.changes), self._mapper.model
        own = owned(model, self._stamp.now)
        there = ~absent(model, self._stamp.now) if own is None else own
        guards: list[Condition | None] = [there, self._held, *outcome.guards, self._update.when]
        if self._marked:
            mark, write_id = Path((WRITE_ID,)), {"S": self._stamp.id}
            changes.append(Change("set", mark, write_id))
            guards.append(Condition("attribute_not_exists", (mark,)) | Condition("<>", (mark, write_id)))
        return Action("update", self._ref.key, all_of(guards), changes=tuple(changes), returning="ALL_NEW")


def changes_of(model: Model, given: Iterable[Change | Mapping[str, object]]) -> tuple[Change, ...]:
    """List changes; a mapping sets each field it names, and None removes it. UnknownField for a name that is none."""
    changes: list[Change] = []
    for each in given:
        if isinstance(each, Change):
            changes.append(each)
        elif isinstance(each, Mapping):
            changes.extend(_named(model, name).set(value) for name, value in each.items())
        else:
            raise UsageError(
                f"update() was given {type(each).__name__}, wanted a change or a mapping",
                hint='such as Order.status.set("PAID"), or {"status": "PAID"}',
            )
    return tuple(changes)


def _named(model: Model, name: str) -> Field[Any]:
    if name not in model.fields:
        raise UnknownField(f"{model.name} has no field {name!r}", hint=closest(name, model.fields), field=name)
    return model.fields[name]


def _check(model: Model, changes: tuple[Change, ...]) -> None:
    """Raise UsageError for an update that changes nothing, one place twice, or what cannot be changed."""
    if not changes:
        raise UsageError("an update without a change", hint='hand over changes, such as Order.status.set("PAID")')
    check_places(model, changes)
    for change in changes:
        each = field_of(model, change)
        if each.name in model.primary.parts:
            raise UsageError(
                f"{model.name}.{each.name} is part of the primary key, which an item keeps for life",
                hint="create the entity under its new key and delete the old one",
            )
        if isinstance(each, computed):
            raise UsageError(f"{model.name}.{each.name} is computed", hint="change the fields it is computed from")
        if each.kept:
            raise UsageError(f"{model.name}.{each.name} {each.kept}", hint="leave it out of the update")
        if each.read_only:
            raise UsageError(
                f"{model.name}.{each.name} is read-only",
                hint="its value is given when the entity is made; store.put(...) replaces a whole item",
            )


def _unrepeatable(change: Change) -> bool:
    return not change.is_repeatable


def _not_found(ref: Ref[Any]) -> NotFound:
    return NotFound(
        f"no {ref.entity.__name__} stands at {ref!r}",
        hint="an update changes what is there; store.create(...) makes it",
    )


def _refused(model: Model, current: Entity) -> ConditionFailed:
    return ConditionFailed(
        f"{model.name}: the condition of the update did not hold",
        hint="error.current is the entity as it stands",
        current=current,
    )


def _contended(model: Model, current: Entity, plan: Plan, tried: int) -> ConditionFailed:
    return ConditionFailed(
        f"{model.name}: {tried} attempts found {', '.join(plan.held(Standing(current, None)))} changed by others",
        hint="its index keys are made of these fields: run the update again, or let fewer writers change them at once",
        current=current,
    )
