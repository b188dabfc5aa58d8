"""Reading an item by a unique value, through its guard.

Theory of operation. The guard of a value says whose it is, and both it and the item are read strongly, so that the
answer is never older than the last write. Between the two reads the value may have been given away: an item that does
not have it any more is not the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from singletable.entity import Entity, values_of
from singletable.errors import MissingPart, UnknownPart, UsageError, closest
from singletable.expressions import no_truth
from singletable.operations.context import Context
from singletable.operations.expiring import has_expired
from singletable.operations.get import Get
from singletable.operations.guards import guard_key, guard_of, holder_of
from singletable.operations.sending import send
from singletable.schema import Model, model_of
from singletable.uniques import Uniqueness
from singletable.wire import Call, Item, Steps

__all__ = ["GetByValue", "UniqueRef", "unique_ref"]

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True)
class UniqueRef(Generic[E]):
    """A reference to the one item of an entity with a unique value, or combination of values."""

    entity: type[E]
    parts: tuple[tuple[str, Any], ...]

    def __bool__(self) -> bool:
        no_truth("a reference", "store.get(ref) answers None where nothing stands there")

    def __repr__(self) -> str:
        return f"<unique_ref({self.entity.__name__}, {', '.join(name for name, _ in self.parts)})>"


def unique_ref(entity: type[E], /, **values: object) -> UniqueRef[E]:
    """Refer to the item that has a unique value: `store.get(unique_ref(User, email="ann@example.org"))`.

    Every field of one `Field(unique=True)` or `Unique(...)` is given. UsageError where no such combination is unique,
    MissingPart for None, KeyPartError for a value that does not fit.
    """
    made = UniqueRef(entity, tuple(values.items()))
    model = model_of(entity)
    guard_of(model, _unique_of(model, values), values)
    return made


def _unique_of(model: Model, values: Mapping[str, object]) -> Uniqueness:
    for name, value in values.items():
        if name not in model.fields:
            hint = closest(name, model.fields)
            raise UnknownPart(name, given="a value", wanted=f"a unique field of {model.name}", hint=hint)
        if value is None:
            raise MissingPart(name, given="None", wanted="a value: what is absent is not unique")
    for unique in model.uniques:
        if set(unique.fields) == set(values):
            return unique
    known = ["(" + ", ".join(f"{name}=" for name in unique.fields) + ")" for unique in model.uniques]
    raise UsageError(
        f"unique_ref({model.name}) was given {', '.join(values) or 'nothing'}, which is not unique",
        hint=f"unique of it: {' or '.join(known) or 'nothing; declare Field(unique=True)'}",
    )


@dataclass(frozen=True, slots=True, eq=False)
class GetByValue(Generic[E]):
    """Read the item with a unique value: None where no item has it."""

    ref: UniqueRef[E]

    def steps(self, context: Context) -> Steps[E | None]:
        """Send one strong GetItem for the guard, and one for the item it names."""
        model, values = context.model(self.ref.entity), dict(self.ref.parts)
        unique = _unique_of(model, values)
        guard = guard_of(model, unique, values)
        if guard is None:
            return None
        params = {"TableName": context.table, "Key": guard_key(model, model.hidden(guard)), "ConsistentRead": True}
        answer = yield from send(context, Call("get_item", params))
        found_guard: Item | None = answer.get("Item")
        if has_expired(model.table, found_guard, context.clock()):
            return None
        ref = holder_of(model, found_guard)
        found: E | None = None if ref is None else (yield from Get(ref, consistent=True).steps(context))
        return found if found is not None and guard_of(model, unique, values_of(found)) == guard else None
