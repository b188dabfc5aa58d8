"""What an update comes to: which index keys and computed values follow from its changes, and what that rests on.

Theory of operation. A change touches every index key that is made of the changed field, or whose condition looks at
it, and every computed value. What those need beyond the reference and the changes themselves must be known: it is taken
from an item as it stood, and the update is made on condition that it still stands so: by what was stored, where that is
known, since others may have written the same value in another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from typing import Any

from singletable.entity import Entity, changed, values_of
from singletable.errors import FieldValueError, UnknownField, closest
from singletable.expressions import Change, Condition, Path, any_of
from singletable.fields import Field
from singletable.layouts import Layout
from singletable.mapping import index_key
from singletable.operations.writing import stands
from singletable.queries import Ref
from singletable.schema import Model
from singletable.uniques import Uniqueness
from singletable.wire import Item

__all__ = ["Outcome", "Plan", "Standing", "field_of", "plan_of"]


@dataclass(frozen=True, slots=True)
class Standing:
    """An item as it stood: the entity, and what was stored; None where the entity was handed in."""

    entity: Entity
    item: Item | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """All the changes an update makes, and the conditions they rest on."""

    changes: tuple[Change, ...]
    guards: tuple[Condition, ...]
    values: Mapping[str, Any]
    """The values of the fields that are known, as they are after the update."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes of an update by field, what is known without reading, and what is needed beyond it."""

    model: Model
    known: Mapping[str, Any]
    changed: Mapping[str, Change]
    touched: tuple[Layout, ...]
    needed: tuple[str, ...]
    uniques: tuple[Uniqueness, ...] = ()
    """What is unique and may change."""

    @property
    def must_read(self) -> bool:
        """Whether the item must be known as it stands."""
        return bool(self.needed) or bool(self.model.computed) or bool(self.uniques)

    def outcome(self, standing: Standing | None) -> Outcome:
        """Work out the further changes, from the item as it stood where that is needed."""
        held = () if standing is None else self.held(standing)
        stood = {} if standing is None else {name: standing.entity.__dict__.get(name) for name in held}
        values, own = {**self.known, **stood}, dict(self.changed)
        for name, change in self.changed.items():
            if change.action in ("set", "remove"):
                values[name] = change.given if change.action == "set" else None
            elif name in values:
                values[name] = _grown(name, values[name], change)
                own[name] = self.model.fields[name].set(values[name])
        computed = {} if standing is None else self._computed(standing.entity, values)
        further = (*_written(self.model, computed), *self._index_changes({**values, **computed}))
        return Outcome((*own.values(), *further), tuple(self._guards(held, standing)), {**values, **computed})

    def held(self, standing: Standing) -> tuple[str, ...]:
        """List the fields whose stored values count: those index keys need, and all that may be computed from."""
        if not self.model.computed:
            return self.needed
        plain = {name for name, change in self.changed.items() if change.action in ("set", "remove")}
        inputs = [name for name in standing.entity.__dict__ if name not in self.known and name not in plain]
        return tuple(dict.fromkeys([*self.needed, *inputs]))

    def stored(self, standing: Standing) -> dict[str, Any] | None:
        """Give what was stored of the fields that are held; None where only the entity is known."""
        if standing.item is None:
            return None
        return {name: standing.item.get(name) for name in self._held_attributes(self.held(standing))}

    def _held_attributes(self, held: tuple[str, ...]) -> list[str]:
        """List the attributes whose text the values came from: the fields' own, and keys that hold them as well."""
        names = dict.fromkeys(self.model.fields[name].attribute for name in held)
        for layout in self.model.indexes.values():
            if not set(held).isdisjoint(layout.parts):
                names |= dict.fromkeys(layout.names)
        return list(names)

    def _guards(self, held: tuple[str, ...], standing: Standing | None) -> Iterator[Condition]:
        """Give the conditions that what is held still stands so: as it was stored, where that is known."""
        if standing is None:
            return
        for field in (self.model.fields[name] for name in held):
            if standing.item is None:
                yield _still(field, standing.entity.__dict__.get(field.name))
                continue
            yield stands(field.path, standing.item.get(field.attribute))
            if field.attribute not in standing.item:
                yield from self._key_guards(field.name, standing.item)

    def _key_guards(self, name: str, item: Item) -> Iterator[Condition]:
        """Give the conditions that the index keys a value was read out of still stand so."""
        for layout in self.model.indexes.values():
            if name in layout.parts and layout.names[0] in item:
                for attribute in layout.names:
                    yield stands(Path((attribute,)), item.get(attribute))

    def _computed(self, current: Entity, values: Mapping[str, Any]) -> dict[str, Any]:
        """Give the computed values as they are after the update."""
        if not self.model.computed:
            return {}
        after = changed(current, {name: values[name] for name in self.changed})
        names = [field.name for field in self.model.computed]
        return {name: value for name, value in values_of(after).items() if name in names}

    def _index_changes(self, values: Mapping[str, Any]) -> list[Change]:
        """Give the changes of every touched index key: its attributes set, or removed where no key has them.

        An attribute that is a field itself changes with the field alone; the table's own key never does.
        """
        fixed = {column.name for column in self.model.table.pks + self.model.table.sks}
        fixed |= {field.attribute for field in self.model.fields.values()}
        item, keys = self._item(values), Item()
        for layout in self.touched:
            keys |= index_key(layout, values, item)
        names = dict.fromkeys(name for layout in self.touched for name in layout.names if name not in fixed)
        return [Change("set" if name in keys else "remove", Path((name,)), keys.get(name)) for name in names]

    def _item(self, values: Mapping[str, Any]) -> Item:
        """Write the fields that conditions of indexes look at, as the item will have them."""
        watched = dict.fromkeys(name for layout in self.model.indexes.values() for name in layout.watched)
        item: Item = {}
        for field in (self.model.fields[name] for name in watched if name in values):
            encoded = field.encoded(values[field.name])
            if encoded is not None:
                item[field.attribute] = encoded
        return item


def _written(model: Model, values: Mapping[str, Any]) -> Iterator[Change]:
    """Give the changes that store values."""
    for name, value in values.items():
        yield model.fields[name].set(value)


def _grown(name: str, value: Any, change: Change) -> Any:
    """Give a number with what is added to it, exactly. FieldValueError beyond DynamoDB's 38 digits."""
    if value is None:
        return change.given
    given: Any = change.given
    if not isinstance(value, Decimal):
        return value + given
    try:
        return EXACT.add(value, given)
    except Inexact:
        raise FieldValueError(
            name, given="a sum of more than 38 digits", wanted="a number DynamoDB can hold", hint="round what is added"
        ) from None


EXACT = Context(prec=38, traps=[Inexact])


def _still(field: Field[Any], value: object) -> Condition:
    """Hold where a field is stored so that it reads as this value."""
    encoded = field.encoded(value)
    unset = field.does_not_exist() if encoded is None or value == field.when_absent() else None
    null = field.is_type("NULL") if value is None else None
    same = None if encoded is None else Condition("=", (field.path, encoded))
    still = any_of((same, unset, null))
    return field.does_not_exist() if still is None else still


def plan_of(model: Model, ref: Ref[Any], changes: tuple[Change, ...]) -> Plan:
    """Sort the changes of an update by field, and find what index keys need beyond them and the reference."""
    changed = {field_of(model, change).name: change for change in changes}
    known = dict(ref.parts)
    computed = {field.name for field in model.computed}
    touched = _touched(model, {*changed, *computed})
    needed = dict.fromkeys(name for layout in touched for name in _needs(layout, changed))
    uniques = _uniques(model, {*changed, *computed})
    needed |= dict.fromkeys(name for unique in uniques for name in unique.fields)
    rest = tuple(name for name in needed if name not in known and name not in computed)
    return Plan(model, known, changed, touched, rest, uniques)


def _uniques(model: Model, names: set[str]) -> tuple[Uniqueness, ...]:
    """Find what is unique among written fields; a new time to live is that of every guard."""
    if any(model.fields[name].attribute == model.table.ttl for name in names):
        return model.uniques
    return tuple(unique for unique in model.uniques if not names.isdisjoint(unique.fields))


def _touched(model: Model, names: set[str]) -> tuple[Layout, ...]:
    """Find the index keys that written fields touch, and those that share an attribute with such a key."""
    layouts = list(model.indexes.values())
    touched = [each for each in layouts if not names.isdisjoint((*each.parts, *each.watched))]
    grows = True
    while grows:
        attributes = {name for layout in touched for name in layout.names}
        more = [each for each in layouts if each not in touched and not attributes.isdisjoint(each.names)]
        touched, grows = [*touched, *more], bool(more)
    return tuple(touched)


def _needs(layout: Layout, changed: Mapping[str, Change]) -> list[str]:
    """List the fields whose stored values a touched index key needs: none where it goes away anyway."""
    names = dict.fromkeys((*layout.parts, *layout.watched))
    if any(changed[name].action == "remove" for name in names if name in changed and name in layout.required):
        return []
    grown = [name for name in names if name in changed and changed[name].action in ("add", "delete")]
    return [*(name for name in names if name not in changed), *grown]


def field_of(model: Model, change: Change) -> Field[Any]:
    """Give the field a change is of. UnknownField where the entity has none stored so."""
    attribute = change.path.segments[0]
    for field in model.fields.values():
        if field.attribute == attribute and (change.path.source is None or change.path.source is field):
            return field
    raise UnknownField(
        f"{model.name} has no field stored as {attribute!r}",
        hint="was the change made with another class's field? " + closest(attribute, model.fields),
        field=attribute,
    )
