"""Changing an item in place, with its index keys.

Theory of operation. An index key is text made of several fields, so a change to one of them needs the others. Those in
the reference or in the change are known, and one UpdateItem does. Others are taken from the entity that was handed in,
on condition that they still hold, or else from one strong read; where another writer was faster, the old item that the
failed condition answers with is the next attempt's knowledge, and so it is where the item was made only just now. An
addition to a number is not repeatable, so it is marked with an id (`_w`) by which a request that was sent again
recognises that it was carried out before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from singletable.belonging import check_condition
from singletable.entity import Entity
from singletable.errors import ConditionFailed, NotFound, UnknownField, UsageError, closest
from singletable.expressions import Change, Condition, Expressions, Path, all_of
from singletable.fields import Field, computed
from singletable.increments import AutoIncrement
from singletable.mapping import foreign_item, kind_of_item
from singletable.operations.context import Context, backoff
from singletable.operations.outcome import Outcome, Plan, Standing, field_of, plan_of
from singletable.operations.sending import send
from singletable.operations.single import get_call
from singletable.operations.writing import absent, conditional, guarded, owned, read_after, unknown
from singletable.queries import Ref
from singletable.schema import WRITE_ID, Model, model_of
from singletable.wire import Call, Exclusive, Item, Pause, Refusal, Steps

__all__ = ["Update", "changes_of"]

E = TypeVar("E", bound=Entity)

ATTEMPTS = 16
"""So often, at most, is an update made anew from what stands there."""


@dataclass(frozen=True, slots=True, eq=False)
class Update(Generic[E]):
    """Change fields of one item and give the new entity; index keys follow.

    NotFound where no item of this entity stands there, ConditionFailed where `when` does not hold, ForeignItem where
    another entity's item stands there.
    """

    ref: Ref[E]
    changes: tuple[Change, ...]
    when: Condition | None = None
    loaded: E | None = None

    def __post_init__(self) -> None:
        model = model_of(self.ref.entity)
        _check(model, self.changes)
        if self.when is not None:
            check_condition(self.when, model.fields, "update(when=)")

    def steps(self, context: Context) -> Steps[E]:
        """Send one UpdateItem; a GetItem before it where index keys or computed fields need what is not known."""
        plan = plan_of(context.model(self.ref.entity), self.ref, self.changes)
        if not plan.must_read:
            return (yield from self._attempt(context, plan, None))
        turn = (context.table, "update", *(str(value) for value in context.bound(self.ref).key.values()))
        updated: E = yield Exclusive(turn, self._read_and_attempt(context, plan))
        return updated

    def _read_and_attempt(self, context: Context, plan: Plan) -> Steps[E]:
        standing = None if self.loaded is None else Standing(self.loaded, None)
        if standing is None:
            answer = yield from send(context, get_call(context, self.ref, consistent=True))
            found = context.mapper(self.ref.entity).read(answer.get("Item"))
            if found is None:
                raise _not_found(self.ref)
            standing = Standing(found, answer["Item"])
        return (yield from self._attempt(context, plan, standing))

    def _attempt(self, context: Context, plan: Plan, standing: Standing | None) -> Steps[E]:
        """Send the update, again from what stands there where another writer was faster."""
        mapper, tried = context.mapper(self.ref.entity), 0
        pauses = backoff(context, ATTEMPTS, base=0.005, cap=0.1)
        write_id = {"S": context.fresh_id()} if any(_unrepeatable(change) for change in self.changes) else None
        while True:
            call = self._call(context, mapper.model, plan.outcome(standing), write_id)
            answer = yield from conditional(context, mapper.model, call, self)
            if not isinstance(answer, Refusal):
                return read_after(mapper, answer["Attributes"], "updated")
            item = self._standing(mapper.model, answer)
            if write_id is not None and item.get(WRITE_ID) == write_id:
                return read_after(mapper, item, "updated")
            if answer.sent > 1:
                raise unknown(self) from answer.__cause__
            before, standing = standing, Standing(mapper.decode(item), item)
            tried += 1
            same = before is None or plan.stored(before) == plan.stored(standing)
            if same and self.when is not None:
                raise _refused(mapper.model, standing.entity) from answer.__cause__
            pause = next(pauses, None)
            if pause is None:
                raise _contended(mapper.model, standing.entity, plan, tried) from answer.__cause__
            yield Pause(pause)

    def _standing(self, model: Model, refusal: Refusal) -> Item:
        """Give the item that made the condition fail. NotFound or ForeignItem where it is none of this entity."""
        if refusal.item is None or kind_of_item(model, refusal.item) == "gone":
            raise unknown(self) if refusal.sent > 1 else _not_found(self.ref)
        if kind_of_item(model, refusal.item) == "foreign":
            raise foreign_item(model, refusal.item)
        return refusal.item

    def _call(self, context: Context, model: Model, outcome: Outcome, write_id: dict[str, str] | None) -> Call:
        changes = list(outcome.changes)
        own = owned(model)
        guards: list[Condition | None] = [~absent(model) if own is None else own, *outcome.guards, self.when]
        if write_id is not None:
            mark = Path((WRITE_ID,))
            changes.append(Change("set", mark, write_id))
            guards.append(Condition("attribute_not_exists", (mark,)) | Condition("<>", (mark, write_id)))
        expressions = Expressions()
        params = {
            "Key": context.bound(self.ref).key,
            "UpdateExpression": expressions.update(changes),
            "ReturnValues": "ALL_NEW",
        }
        return Call("update_item", guarded(context, params, all_of(guards), expressions))


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
    """Raise UsageError for an update that changes nothing, one field twice, or what cannot be changed."""
    if not changes:
        raise UsageError("an update without a change", hint='hand over changes, such as Order.status.set("PAID")')
    seen: set[str] = set()
    for change in changes:
        field = field_of(model, change)
        if field.name in seen:
            raise UsageError(f"{model.name}.{field.name} is changed twice in one update", hint="join the two changes")
        seen.add(field.name)
        if field.name in model.primary.parts:
            raise UsageError(
                f"{model.name}.{field.name} is part of the primary key, which an item keeps for life",
                hint="create the entity under its new key and delete the old one",
            )
        if isinstance(field, computed):
            raise UsageError(f"{model.name}.{field.name} is computed", hint="change the fields it is computed from")
        if isinstance(field, AutoIncrement):
            raise UsageError(f"{model.name}.{field.name} is drawn when the entity is created, and kept")


def _unrepeatable(change: Change) -> bool:
    return change.action == "add" and change.value is not None and "N" in change.value


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
