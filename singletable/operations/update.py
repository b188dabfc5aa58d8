"""Changing an item in place, with its index keys.

Theory of operation. An index key is text made of several fields, so a change to one of them needs the others. Those in
the reference or in the change are known, and one UpdateItem does. Others are taken from the entity that was handed in,
on condition that they still hold, or else from one strong read; where another writer was faster, the old item that the
failed condition answers with is the next attempt's knowledge, and so it is where the item was made only just now. An
addition to a number is not repeatable, so it is marked with an id (`_w`) by which a request that was sent again
recognises that it was carried out before. An update that makes what is missing (`upsert`) is one request where that
can be told beforehand; otherwise it is followed by a create where it found nothing, and that by an update where another
writer was faster.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from singletable.belonging import check_condition
from singletable.entity import Entity, values_of
from singletable.errors import ConditionFailed, NotFound, OutcomeUnknown, PlaceMissing, SingleTableError
from singletable.expressions import Change, Condition, Path, all_of
from singletable.judging import holds
from singletable.mapping import ANY_TIME, foreign_item, kind_of_item
from singletable.operations.actions import Action, Returning
from singletable.operations.carrying import carry_out
from singletable.operations.changing import changes_of, check_changes
from singletable.operations.context import Context, Stamp, backoff
from singletable.operations.create import draft_claimed
from singletable.operations.drafts import Again, Beside, Done, Draft, Verdict, changed, filled, retold
from singletable.operations.drawing import assigned
from singletable.operations.expiring import lifetime_of, seen
from singletable.operations.get import get_call
from singletable.operations.guards import Shift, guards_of
from singletable.operations.lines import forget_highest
from singletable.operations.outcome import Outcome, Plan, Standing, field_of, plan_of
from singletable.operations.sending import send
from singletable.operations.subjects import chosen, loaded_of, subject
from singletable.operations.upsert import check_known, made_at_once, made_of
from singletable.operations.writing import (
    absent,
    already_exists,
    at_version,
    carries,
    old_is_lost,
    owned,
    read_after,
    unchanged,
    unknown,
    version_conflict,
)
from singletable.queries import Ref
from singletable.schema import CREATE_ID, WRITE_ID, Model, model_of
from singletable.wire import AttributeValue, Item, Refusal, Steps, at_once

__all__ = ["Missing", "Returned", "Update"]

Missing: TypeAlias = Literal["raise", "create"]
Returned: TypeAlias = Literal["new", "old"] | None

MISSING = get_args(Missing)
RETURNED = ("new", "old", None)
RETURNING: Mapping[Returned, Returning] = {"new": "ALL_NEW", "old": "ALL_OLD", None: "NONE"}

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
    missing: Missing
    returning: Returned
    loaded: E | None
    given: E | None = field(repr=False)
    """The entity that was handed in, whole or in part: its version is checked."""
    stamp: Stamp | None = field(repr=False)

    def __init__(
        self,
        what: Ref[E] | E,
        /,
        *changes: Change | Mapping[str, object],
        when: Condition | None = None,
        missing: Missing = "raise",
        returning: Returned = "new",
    ) -> None:
        ref = subject(what)
        model = model_of(ref.entity)
        listed = changes_of(model, changes)
        making = chosen("update(missing=)", missing, MISSING) == "create"
        check_changes(model, listed, making=making)
        if when is not None:
            check_condition(when, model.fields, "update(when=)")
        given = None if isinstance(what, Ref) else what
        if making:
            check_known(model, ref, given, listed)
        chosen("update(returning=)", returning, RETURNED)
        filled(self, ref=ref, changes=listed, when=when, missing=missing, returning=returning)
        filled(self, loaded=loaded_of(what), given=given, stamp=None)

    def steps(self, context: Context) -> Steps[E | None]:
        """Send one UpdateItem; a GetItem before it where index keys or computed fields need what is not known.

        Where nothing stands and the item is to be made, a PutItem after it, or in its place.
        """
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
        if not plan.must_read:
            return tries.draft(None)
        if self.loaded is None or (plan.uniques and tries.old):
            return (yield from tries.read())
        try:
            return tries.draft(Standing(self.loaded, None))
        except PlaceMissing:  # as it was when it was loaded: what stands there now may have the place
            return (yield from tries.read())

    def _plan(self, context: Context, ref: Ref[E], now: datetime) -> Plan:
        """Plan the changes of what is there, and those that every update of the entity makes."""
        model = context.model(ref.entity)
        changes = (each for each in self.changes if not field_of(model, each).read_only)
        return plan_of(model, ref, (*changes, *model.stamps.updated(now)))

    @property
    def is_making(self) -> bool:
        """Whether it makes an item where none stands."""
        return self.missing == "create"

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
        self.old = update.returning == "old" and not stamp.shared
        self._marked = stamp.shared or self.old or any(unrepeatable)
        self._made = made_of(self._mapper, update.ref, update.given, update.changes) if update.is_making else None

    def read(self) -> Steps[Draft[E | None]]:
        """Draft the update of the item as it stands, or its making. NotFound where there is none to update."""
        answer = yield from send(self._context, get_call(self._context, self._ref, consistent=True))
        found = self._context.read(self._ref.entity, answer.get("Item"), self._stamp.now)
        if found is not None:
            return self.draft(Standing(found, answer["Item"]))
        against = self._missed(None)
        if against is not None:
            raise against
        return (yield from self._create())

    def draft(self, standing: Standing | None, left: frozenset[str] = frozenset()) -> Draft[E | None]:
        """Draft the update on condition that the item still stands so; of None, where it may be made at once."""

        def judged(refusal: Refusal) -> Verdict[E | None]:
            return self._judged(refusal, standing)

        outcome = self._plan.outcome(standing)
        beside = () if standing is None else self._beside(standing, outcome, left)
        old = standing if beside and self.old else None
        made = None if standing is not None or self._made is None else self._made
        both = None if made is None else made_at_once(self._mapper, made, self._plan, outcome, self._stamp)
        action = self._action(outcome, old, both)
        after = self._read_new if beside and self._update.returning == "new" else None
        return Draft(action, lambda item: self._answer(item, old), judged, self._update, tuple(beside), after)

    def _answer(self, item: Item | None, old: Standing | None) -> E | None:
        """Give what is to be returned, of what the request answered with; in a transaction nothing but the old."""
        if old is not None:
            return self._mapper.decode(old.item) if old.item is not None else None
        if item is None or kind_of_item(self._mapper.model, item) != "own":
            return None  # nothing stood there: dynoxide then answers with the mere key as the old item
        return read_after(self._mapper, item, "updated")

    def _create(self) -> Steps[Draft[E | None]]:
        """Draft the put of the item that is made, its counter numbers drawn once."""
        if self._made is None:
            raise _not_found(self._ref)
        self._made = made = yield from assigned(self._context, self._mapper, self._made)
        draft: Draft[Any] = yield from draft_claimed(
            self._context, self._mapper, made, self._stamp, lost=self._lost, prepared=self._update
        )

        def told(stored: E) -> E | None:
            forget_highest(self._context, self._mapper.model, made)
            return stored if self._update.returning == "new" else None

        return retold(draft, told, self._update)

    def _lost(self, refusal: Refusal) -> Verdict[Any]:
        """Say what it means that something stands where nothing did: it is updated, if it is of our own kind."""
        model, item = self._mapper.model, refusal.item
        if item is None or kind_of_item(model, item) == "gone":
            return already_exists(self._mapper, item)
        if kind_of_item(model, item) == "foreign":
            return foreign_item(model, item)
        return self._again(Standing(self._mapper.decode(item), item), None, lost=True)

    def _missed(self, item: Item | None) -> SingleTableError | None:
        """Say why nothing is made where nothing, or the tombstone `item`, stands; None where it is."""
        if self._made is None:
            return _not_found(self._ref)
        if item is not None:
            return already_exists(self._mapper, item)
        given, when = self._update.given, self._update.when
        if given is not None and self._held is not None and not holds(self._held, {}):
            return version_conflict(self._mapper, None, given)
        return None if when is None or holds(when, {}) else _refused(self._mapper.model, None)

    def _beside(self, standing: Standing, outcome: Outcome, left: frozenset[str]) -> tuple[Beside[E | None], ...]:
        """Shift the guards of unique values that change."""
        model, uniques = self._mapper.model, self._plan.uniques
        before = guards_of(model, values_of(standing.entity), self._ttl_before(standing), uniques)
        after = guards_of(model, outcome.values, self._ttl_after(outcome, before.ttl), uniques)

        def again(guard: str) -> Again[E | None]:
            return Again(0.0, lambda: at_once(self.draft(standing, left | {guard})))

        return tuple(Shift(self._ref.key, before, after, left, again).beside(model, self._stamp))

    def _ttl_before(self, standing: Standing) -> AttributeValue | None:
        name, model = self._mapper.model.table.ttl, self._mapper.model
        if name is None or standing.item is not None:
            return None if name is None or standing.item is None else standing.item.get(name)
        lifetime = lifetime_of(model)
        if lifetime is None:
            hidden: Item = getattr(standing.entity, "_hidden", {})
            return hidden.get(name)
        held = standing.entity.__dict__.get(lifetime.name)
        return None if held is None else lifetime.encoded(held)

    def _ttl_after(self, outcome: Outcome, before: AttributeValue | None) -> AttributeValue | None:
        """Give the time to live after the update: what it comes to, or what there was."""
        lifetime = lifetime_of(self._mapper.model)
        if lifetime is None or lifetime.name not in self._plan.changed:
            return before
        return lifetime.encoded(outcome.values[lifetime.name])

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
        found = self._mapper.read(answer.get("Item"))
        if found is None:
            raise NotFound(
                f"{self._mapper.model.name} was updated, and another writer has deleted it since",
                hint="nothing is to be done again; with returning=None the update reads nothing afterwards",
            )
        return found

    def _judged(self, refusal: Refusal, before: Standing | None) -> Verdict[E | None]:
        model = self._mapper.model
        if self._marked and refusal.item is not None and self._is_ours(refusal):
            return self._recognised(refusal.item)
        item = seen(model.table, refusal, self._stamp.now).item
        if item is None or kind_of_item(model, item) == "gone":
            again = refusal.sent == 1
            return (self._missed(item) or self._next(None, self._create)) if again else unknown(self._update)
        if kind_of_item(model, item) == "foreign" or refusal.sent > 1:
            return foreign_item(model, item) if kind_of_item(model, item) == "foreign" else unknown(self._update)
        if self._update.given is not None and self._held is not None and not holds(self._held, item):
            return version_conflict(self._mapper, item, self._update.given)
        return self._again(Standing(self._mapper.decode(item), item), before)

    def _is_ours(self, refusal: Refusal) -> bool:
        """Say whether what stands there tells that this very update was carried out, or made it."""
        made = self._made is not None and carries(refusal, CREATE_ID, self._stamp.id)
        return made or carries(refusal, WRITE_ID, self._stamp.id)

    def _recognised(self, item: Item) -> Verdict[E | None]:
        """Give the answer of an update that was carried out before, whose reply was lost."""
        if self.old:
            return old_is_lost(self._update)
        return Done(read_after(self._mapper, item, "updated") if self._update.returning == "new" else None)

    def _again(
        self, standing: Standing, before: Standing | None, *, lost: bool = False
    ) -> Again[E | None] | ConditionFailed:
        """Draft anew where what the draft rested on has changed; else it was the caller's condition."""
        same = before is None or self._rested(before) == self._rested(standing)
        if same and not lost and self._update.when is not None:
            return _refused(self._mapper.model, standing.entity)
        return self._next(standing.entity, lambda: at_once(self.draft(standing)))

    def _rested(self, standing: Standing) -> object:
        """Give what was stored of what a draft rests on."""
        return standing.item if self.old and self._plan.uniques else self._plan.stored(standing)

    def _next(
        self, current: Entity | None, draft: Callable[[], Steps[Draft[E | None]]]
    ) -> Again[E | None] | ConditionFailed:
        """Draft anew, if there is a try left: at once where nothing stood there at the first."""
        self._tried += 1
        pause = 0.0 if current is None and self._tried == 1 else next(self._pauses, None)
        if pause is None:
            return _contended(self._mapper.model, current, self._plan, self._tried)
        return Again(pause, draft)

    def _action(self, outcome: Outcome, old: Standing | None, both: tuple[Change, ...] | None) -> Action:
        """Write the update; `old` must still stand as it was read, and `both` also make the item."""
        changes, model = [*outcome.changes, *(both or ())], self._mapper.model
        own = owned(model, self._stamp.now)
        there = ~absent(model, self._stamp.now) if own is None else own
        there = there if both is None else absent(model) | there
        guards: list[Condition | None] = [there, self._held, *outcome.guards, self._update.when]
        if old is not None and old.item is not None:
            guards.append(unchanged(model, self._ref.key, old.item))
        if self._marked:
            mark, write_id = Path((WRITE_ID,)), {"S": self._stamp.id}
            changes.append(Change("set", mark, write_id))
            guards.append(_other_than(mark, write_id))
            guards.append(_other_than(Path((CREATE_ID,)), write_id) if self._update.is_making else None)
        returning = RETURNING[self._update.returning]
        return Action("update", self._ref.key, all_of(guards), changes=tuple(changes), returning=returning)


def _other_than(path: Path, value: AttributeValue) -> Condition:
    return Condition("attribute_not_exists", (path,)) | Condition("<>", (path, value))


def _unrepeatable(change: Change) -> bool:
    return not change.is_repeatable


def _not_found(ref: Ref[Any]) -> NotFound:
    return NotFound(
        f"no {ref.entity.__name__} stands at {ref!r}",
        hint="an update changes what is there; store.create(...) makes it",
    )


def _refused(model: Model, current: Entity | None) -> ConditionFailed:
    return ConditionFailed(
        f"{model.name}: the condition of the update did not hold"
        + ("" if current is not None else ", nothing stands at the key"),
        hint="error.current is the entity as it stands",
        current=current,
    )


def _contended(model: Model, current: Entity | None, plan: Plan, tried: int) -> ConditionFailed:
    held = () if current is None else plan.held(Standing(current, None))
    return ConditionFailed(
        f"{model.name}: {tried} attempts found {', '.join(held) or 'the item'} changed by others",
        hint="its index keys are made of these fields: run the update again, or let fewer writers change them at once",
        current=current,
    )
