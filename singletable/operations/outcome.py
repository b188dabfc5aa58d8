"""What an update comes to: which index keys and computed values follow from its changes, and what that rests on.

Theory of operation. A change touches every index key that is made of the changed field, or whose condition looks at
it, and every computed value. What those need beyond the reference and the changes themselves must be known: it is taken
from an entity as it stood, and the update is made on condition that it still stands so (`held`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from singletable.entity import Entity, evolve, values_of
from singletable.errors import UnknownField, closest
from singletable.expressions import Change, Path
from singletable.fields import Field
from singletable.layouts import Layout
from singletable.mapping import index_key
from singletable.queries import Ref
from singletable.schema import Model
from singletable.wire import Item

__all__ = ["Outcome", "Plan", "field_of", "plan_of"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The further changes an update makes, and the stored values they rest on."""

    changes: tuple[Change, ...]
    held: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes of an update by field, what is known without reading, and what is needed beyond it."""

    model: Model
    known: Mapping[str, Any]
    changed: Mapping[str, Change]
    needed: tuple[str, ...]

    @property
    def must_read(self) -> bool:
        """Whether the item must be known as it stands."""
        return bool(self.needed) or bool(self.model.computed)

    def outcome(self, current: Entity | None) -> Outcome:
        """Work out the further changes, from the entity as it stands where that is needed."""
        held = {} if current is None else {part: current.__dict__.get(part) for part in self._held(current)}
        values = {**self.known, **held}
        for name, change in self.changed.items():
            if change.action in ("set", "remove"):
                values[name] = change.given if change.action == "set" else None
            elif name in values:
                values[name] = _grown(values[name], change)
        computed = self._computed(current, values)
        changes = (*_written(self.model, computed), *self._index_changes({**values, **computed}))
        return Outcome(changes, held)

    def _held(self, current: Entity) -> tuple[str, ...]:
        """List the fields whose stored values count: those index keys need, and all that may be computed from."""
        if not self.model.computed:
            return self.needed
        plain = {name for name, change in self.changed.items() if change.action in ("set", "remove")}
        inputs = [name for name in current.__dict__ if name not in self.known and name not in plain]
        return tuple(dict.fromkeys([*self.needed, *inputs]))

    def _computed(self, current: Entity | None, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give the computed values as they are after the update."""
        if current is None or not self.model.computed:
            return {}
        after = evolve(current, **{name: values[name] for name in self.changed})
        names = [field.name for field in self.model.computed]
        return {name: value for name, value in values_of(after).items() if name in names}

    def _index_changes(self, values: Mapping[str, Any]) -> Iterator[Change]:
        """Give the changes of every touched index key: its attributes set, or removed where it has none."""
        fixed = {column.name for column in self.model.table.pks + self.model.table.sks}
        fixed |= {self.model.fields[name].attribute for name in self._touching()}
        item = self._item(values)
        made: dict[str, Change] = {}
        for layout in self.model.indexes.values():
            if self._touches(layout):
                key = index_key(layout, values, item)
                for name in layout.names:
                    if name not in fixed:
                        value = key.get(name)
                        made[name] = Change("remove" if value is None else "set", Path((name,)), value)
        yield from made.values()

    def _item(self, values: Mapping[str, Any]) -> Item:
        """Write the fields that conditions of indexes look at, as the item will have them."""
        watched = dict.fromkeys(name for layout in self.model.indexes.values() for name in layout.watched)
        item: Item = {}
        for field in (self.model.fields[name] for name in watched if name in values):
            encoded = field.encoded(values[field.name])
            if encoded is not None:
                item[field.attribute] = encoded
        return item

    def _touching(self) -> tuple[str, ...]:
        """List the fields an update writes: those changed, and all that are computed."""
        return (*self.changed, *(field.name for field in self.model.computed))

    def _touches(self, layout: Layout) -> bool:
        return not {*layout.parts, *layout.watched}.isdisjoint(self._touching())


def _written(model: Model, values: Mapping[str, Any]) -> Iterator[Change]:
    """Give the changes that store values."""
    for name, value in values.items():
        field = model.fields[name]
        encoded = field.encoded(value)
        yield Change("remove" if encoded is None else "set", field.path, encoded, value)


def _grown(value: Any, change: Change) -> Any:
    """Give a number with what is added to it."""
    return change.given if value is None else value + change.given


def plan_of(model: Model, ref: Ref[Any], changes: tuple[Change, ...]) -> Plan:
    """Sort the changes of an update by field, and find what index keys need beyond them and the reference."""
    changed = {field_of(model, change).name: change for change in changes}
    known = dict(ref.parts)
    computed = {field.name for field in model.computed}
    needed: dict[str, None] = {}
    for layout in model.indexes.values():
        for name in _needs(layout, changed, computed):
            if name not in known and name not in computed:
                needed[name] = None
    return Plan(model, known, changed, tuple(needed))


def _needs(layout: Layout, changed: Mapping[str, Change], computed: set[str]) -> list[str]:
    """List the fields whose stored values one index key needs: none where it is untouched, or goes away anyway."""
    names = dict.fromkeys((*layout.parts, *layout.watched))
    touched = [name for name in names if name in changed]
    if not touched and names.keys().isdisjoint(computed):
        return []
    if any(changed[name].action == "remove" for name in touched if name in layout.required):
        return []
    grown = [name for name in touched if changed[name].action in ("add", "delete")]
    return [*(name for name in names if name not in changed), *grown]


def field_of(model: Model, change: Change) -> Field[Any]:
    """Give the field a change is of. UnknownField where the entity has none stored so."""
    attribute = change.path.segments[0]
    for field in model.fields.values():
        if field.attribute == attribute:
            return field
    raise UnknownField(
        f"{model.name} has no field stored as {attribute!r}",
        hint="was the change made with another class's field? " + closest(attribute, model.fields),
        field=attribute,
    )
