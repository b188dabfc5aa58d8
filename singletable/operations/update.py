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

from singletable.entity import Entity
from singletable.errors import ConditionFailed, NotFound, UnknownField, UsageError, closest
from singletable.expressions import Change, Condition, Expressions, Path, all_of, any_of
from singletable.fields import Field, computed
from singletable.increments import AutoIncrement
from singletable.mapping import foreign_item, kind_of_item, mapper_of
from singletable.operations.context import Context, backoff
from singletable.operations.outcome import Outcome, field_of, plan_of
from singletable.operations.single import Get
from singletable.operations.writing import absent, conditional, guarded, owned, unknown
from singletable.queries import Ref
from singletable.schema import WRITE_ID, Model, model_of
from singletable.wire import Call, Item, Pause, Refusal, Steps

__all__ = ["Update", "changes_of"]

E = TypeVar("E", bound=Entity)


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
        _check(model_of(self.ref.entity), self.changes)

    def steps(self, context: Context) -> Steps[E]:
        """Send one UpdateItem; a GetItem before it where index keys or computed fields need what is not known."""
        mapper = mapper_of(self.ref.entity)
        plan = plan_of(mapper.model, self.ref, self.changes)
        current = self.loaded
        if plan.must_read and current is None:
            current = yield from self._read(context)
        pauses = backoff(context, 16, base=0.005, cap=0.1)
        write_id = {"S": context.fresh_id()} if any(_unrepeatable(change) for change in self.changes) else None
        while True:
            outcome = plan.outcome(current)
            call = self._call(context, mapper.model, outcome, write_id)
            answer = yield from conditional(context, mapper.model, call, self)
            if not isinstance(answer, Refusal):
                return mapper.decode(answer["Attributes"])
            current = mapper.decode(self._standing(mapper.model, answer))
            if write_id is not None and answer.item is not None and answer.item.get(WRITE_ID) == write_id:
                return current
            if answer.sent > 1:
                raise unknown(self) from answer.__cause__
            same = all(current.__dict__.get(part) == value for part, value in outcome.held.items())
            pause = None if same and self.when is not None else next(pauses, None)
            if pause is None:
                raise _refused(mapper.model, current, same) from answer.__cause__
            yield Pause(pause)

    def _read(self, context: Context) -> Steps[E]:
        found = yield from Get(self.ref, consistent=True).steps(context)
        if found is None:
            raise _not_found(self.ref)
        return found

    def _standing(self, model: Model, refusal: Refusal) -> Item:
        """Give the item that made the condition fail. NotFound or ForeignItem where it is none of this entity."""
        if refusal.item is None or kind_of_item(model, refusal.item) == "gone":
            raise unknown(self) if refusal.sent > 1 else _not_found(self.ref)
        if kind_of_item(model, refusal.item) == "foreign":
            raise foreign_item(model, refusal.item)
        return refusal.item

    def _call(self, context: Context, model: Model, outcome: Outcome, write_id: dict[str, str] | None) -> Call:
        changes = [*self.changes, *outcome.changes]
        own = owned(model)
        mine = ~absent(model) if own is None else own
        held = (_still(model, part, value) for part, value in outcome.held.items())
        guards: list[Condition | None] = [mine, *held, self.when]
        if write_id is not None:
            mark = Path((WRITE_ID,))
            changes.append(Change("set", mark, write_id))
            guards.append(Condition("attribute_not_exists", (mark,)) | Condition("<>", (mark, write_id)))
        expressions = Expressions()
        params = {
            "Key": self.ref.key,
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


def _still(model: Model, part: str, value: object) -> Condition:
    """Hold where a field is stored as it was known."""
    field = model.fields[part]
    encoded = field.encoded(value)
    unset = field.does_not_exist() if encoded is None or value == field.when_absent() else None
    null = field.is_type("NULL") if value is None else None
    same = None if encoded is None else Condition("=", (field.path, encoded))
    still = any_of((same, unset, null))
    return field.does_not_exist() if still is None else still


def _not_found(ref: Ref[Any]) -> NotFound:
    return NotFound(
        f"no {ref.entity.__name__} stands at {ref!r}",
        hint="an update changes what is there; store.create(...) makes it",
    )


def _refused(model: Model, current: Entity, same: bool) -> ConditionFailed:
    why = "its condition did not hold" if same else "other writers kept changing what its index keys are made of"
    return ConditionFailed(
        f"{model.name}: the item was not updated, {why}",
        hint="error.current is the entity as it stands",
        current=current,
    )
