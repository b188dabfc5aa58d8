"""The guards of unique values: taken, freed and moved in the same transaction as the item itself.

Theory of operation. A guard is a hidden item with the key of the item that has the value (`of`), and that item's time
to live. It is put on condition that it is free: absent, expired, or the item's own already. One that is freed is
deleted on condition that it is the item's own; where it is another's or none, as on a table whose items are older than
their guards, there is nothing to free. When one item of a transaction frees what another takes, `commit` makes one put
of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from singletable.entity import Entity, values_of
from singletable.errors import UniqueViolation
from singletable.expressions import Condition, Path, all_of, any_of
from singletable.operations.actions import Action
from singletable.operations.context import Stamp
from singletable.operations.drafts import Again, Beside
from singletable.operations.writing import absent, stands
from singletable.queries import Ref, refer
from singletable.schema import Model
from singletable.uniques import UNIQUE_TAG, Uniqueness
from singletable.wire import AttributeValue, Item

__all__ = [
    "NOTHING",
    "Holding",
    "Shift",
    "as_held",
    "guard_key",
    "guard_of",
    "guards_of",
    "holder_of",
    "holding_of",
    "is_guard_of",
    "taken",
    "unique_attributes",
    "violation",
]

T = TypeVar("T")

OF = "of"
"""The attribute of a guard with the key of the item that has the value."""

ALONE: Mapping[str, AttributeValue] = {"S": {"S": "!"}, "N": {"N": "0"}, "B": {"B": b"\0"}}
"""The sort key of hidden items that have a partition key of their own, by its type."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What an item holds: the guards of its values, by what is unique, and the time to live it has, if any."""

    guards: Mapping[Uniqueness, str]
    ttl: AttributeValue | None = None


NOTHING = Holding({})
"""What an item holds that is not there."""


def guards_of(
    model: Model, values: Mapping[str, Any], ttl: AttributeValue | None, uniques: Iterable[Uniqueness] | None = None
) -> Holding:
    """Give the guards of an item with these values, all of them or some. KeyPartError for a value no key can hold."""
    found = {unique: guard_of(model, unique, values) for unique in (model.uniques if uniques is None else uniques)}
    return Holding({unique: model.hidden(text) for unique, text in found.items() if text is not None}, ttl)


def guard_of(model: Model, unique: Uniqueness, values: Mapping[str, Any]) -> str | None:
    """Give the guard of these values as they are read again; None where they have none."""
    fields = [model.fields[name] for name in unique.fields if name in values]
    return unique.guard({field.name: field.read_back(values[field.name]) for field in fields})


def holding_of(model: Model, entity: Entity, item: Item) -> Holding:
    """Give what an entity holds that is stored as this item."""
    ttl = None if model.table.ttl is None else item.get(model.table.ttl)
    return guards_of(model, values_of(entity), ttl) if model.uniques else NOTHING


def unique_attributes(model: Model) -> tuple[str, ...]:
    """Name the attributes that the guards of an entity's items are made of."""
    names = [model.fields[name].attribute for unique in model.uniques for name in unique.fields]
    return tuple(dict.fromkeys(names))


def as_held(model: Model, item: Item) -> Condition | None:
    """Hold where the unique values, and the time to live their guards have, are stored as in an item."""
    ttl = () if model.table.ttl is None else (model.table.ttl,)
    return all_of(stands(Path((name,)), item.get(name)) for name in (*unique_attributes(model), *ttl))


def guard_key(model: Model, guard: str) -> Item:
    """Give the whole key of a guard."""
    sk = model.table.sk
    return {model.table.pk.name: {"S": guard}, **({} if sk is None else {sk.name: ALONE[sk.attribute_type]})}


def is_guard_of(guard: Item | None, key: Item) -> bool:
    """Say whether a guard is there, and of the item at a key."""
    return guard is not None and guard.get(OF) == {"M": key}


def holder_of(model: Model, guard: Item | None) -> Ref[Any] | None:
    """Refer to the item a guard says has the value; None where it does not tell."""
    key: Item = {} if guard is None else guard.get(OF, {}).get("M", {})
    entity: type[Any] = model.entity
    parts = model.primary.parse(key)
    return None if parts is None else refer(entity, model.primary, parts)


@dataclass(frozen=True, slots=True)
class Shift(Generic[T]):
    """What the item at `key` held and will hold; guards `left` are not freed, being another's.

    `again` drafts the write anew, leaving one more guard alone. An item that goes `to` another key takes its guards
    along.
    """

    key: Item
    before: Holding
    after: Holding
    left: frozenset[str]
    again: Callable[[str], Again[T]]
    to: Item | None = None

    def beside(self, model: Model, stamp: Stamp) -> Iterator[Beside[T]]:
        """Give the actions that free what the item no longer holds, and take what it holds from now on."""
        for unique in model.uniques:
            old, new = self.before.guards.get(unique), self.after.guards.get(unique)
            if old is not None and old != new and old not in self.left:
                yield self._freed(model, old)
            stays = old == new and self.before.ttl == self.after.ttl and self.to is None
            if new is not None and not stays:
                yield _taken(model, self.to or self.key, unique, self.after, stamp, mine=self.key)

    def _freed(self, model: Model, guard: str) -> Beside[T]:
        """Delete the item's own guard."""
        condition = any_of((absent(model), _mine(self.key)))
        return Beside(Action("delete", guard_key(model, guard), condition), lambda _: self.again(guard))


def taken(model: Model, key: Item, holding: Holding, stamp: Stamp) -> tuple[Beside[Any], ...]:
    """Give the actions by which a new item at a key takes what it holds."""
    return tuple(_taken(model, key, unique, holding, stamp) for unique in holding.guards)


def _taken(
    model: Model, key: Item, unique: Uniqueness, holding: Holding, stamp: Stamp, *, mine: Item | None = None
) -> Beside[Any]:
    """Put a guard where none stands that is another item's; that of the item at `mine` is its own."""
    place = guard_key(model, holding.guards[unique])
    item: Item = {**place, OF: {"M": key}}
    if model.table.tag is not None:
        item[model.table.tag] = {"S": UNIQUE_TAG}
    if holding.ttl is not None and model.table.ttl is not None:
        item[model.table.ttl] = holding.ttl
    own = [key] if mine is None or mine == key else [key, mine]
    free = any_of((absent(model, stamp.now), *map(_mine, own)))
    action = Action("put", place, free, item=item)
    return Beside(action, lambda refusal: violation(model, unique, refusal.item))


def _mine(key: Item) -> Condition:
    """Hold for a guard of the item at a key."""
    return Condition("=", (Path((OF,)), {"M": key}))


def violation(model: Model, unique: Uniqueness, guard: Item | None) -> UniqueViolation:
    """Make the error for a value that another item has."""
    one = len(unique.fields) == 1
    return UniqueViolation(
        f"{model.name}: another item has this {'value' if one else 'combination'} of {unique}",
        hint="error.owner refers to it",
        field=unique.fields[0] if one else unique.name,
        owner=holder_of(model, guard),
    )
