"""What an update comes to: which index keys and computed values follow from its changes, and what that rests on.

Theory of operation. A change touches every index key that is made of the changed field, or whose condition looks at
it, and every computed value. What those need beyond the reference and the changes themselves must be known: it is taken
from an item as it stood, and the update is made on condition that it still stands so: by what was stored, where that is
known, since others may have written the same value in another way. What a sum, an appended list or a change inside a
map comes to is worked out on this side then, and stored whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Inexact
from typing import Any

from singletable.applying import applied
from singletable.codecs import CodecError
from singletable.entity import Entity, changed, values_of
from singletable.errors import FieldValueError, ItemTooLarge, UnknownField, UsageError, closest
from singletable.expressions import Change, Condition, Function, Path, any_of, overlap, paths_in
from singletable.fields import Field
from singletable.layouts import Layout
from singletable.mapping import adopted_in, check_given_back, index_key
from singletable.operations.expiring import lifetime_of
from singletable.operations.writing import stands
from singletable.queries import Ref
from singletable.schema import Model
from singletable.sizes import ITEM_BYTES, item_size
from singletable.uniques import Uniqueness
from singletable.wire import Item

__all__ = ["Outcome", "Plan", "Standing", "check_places", "field_of", "plan_of", "worked_out"]


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
    changed: Mapping[str, tuple[Change, ...]]
    touched: tuple[Layout, ...]
    needed: tuple[str, ...]
    key: Item
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
        values: dict[str, Any] = {**self.known, **stood}
        before, own = self._before(values, standing), list[Change]()
        for name, changes in self.changed.items():
            made = changes
            if _is_plain(changes):
                values[name] = changes[0].given if changes[0].action == "set" else None
            elif self._is_worked_out(name):
                values[name], whole = worked_out(self.model.fields[name], changes, before)
                made = (whole,)
            own.extend(made)
        computed = {} if standing is None else self._computed(standing.entity, values)
        further = (*_written(self.model, computed), *self._index_changes({**values, **computed}))
        guards = tuple(self._guards(held, standing))
        whole_outcome = Outcome((*own, *further), guards, {**values, **computed})
        self._check_size(whole_outcome.changes, standing)
        return whole_outcome

    def _before(self, values: Mapping[str, Any], standing: Standing | None) -> Item:
        """Write what is known of the item as it stands: as it is stored, or from values where only those are known."""
        item: Item = {} if standing is None or standing.item is None else dict(standing.item)
        whole: Mapping[str, Any] = {} if standing is None or not self.model.computed else values_of(standing.entity)
        for name, value in {**whole, **values}.items():
            field = self.model.fields[name]
            readable = standing is None or standing.item is None or name in self.known or self._in_key(name, item)
            encoded = field.encoded(value) if readable and field.attribute not in item else None
            if encoded is not None:
                item[field.attribute] = encoded
        return item

    def _in_key(self, name: str, item: Item) -> bool:
        layouts = self.model.indexes.values()
        return any(name in layout.parts and layout.names[0] in item for layout in layouts)

    def _is_worked_out(self, name: str) -> bool:
        """Say whether index keys or computed values need what a change comes to; if so its sources are held."""
        if self.model.computed:
            return True
        followed = any(name in (*layout.parts, *layout.watched) for layout in self.touched)
        followed = followed or (bool(self.uniques) and name in self.needed)
        sources = set(_sources(self.model, self.changed[name]))
        return followed and sources <= {*self.needed, *self.known}

    def _check_size(self, changes: tuple[Change, ...], standing: Standing | None) -> None:
        """Raise ItemTooLarge for what is known to be beyond 400 KB.

        Where the item is known as it is stored, that is all of it; otherwise it is the key and what the changes write,
        and DynamoDB judges the rest.
        """
        written = self.key | {name: value for change in changes for name, value in _written_by(change)}
        size = item_size(written)
        if standing is not None and standing.item is not None and size + item_size(standing.item) > ITEM_BYTES:
            size = item_size(applied(changes, standing.item))
        if size > ITEM_BYTES:
            raise ItemTooLarge(
                f"{self.model.name}: the item would have at least {size} bytes, DynamoDB stores at most {ITEM_BYTES}",
                hint="split it into several items, or keep large values elsewhere (S3) and store where",
                size=size,
                limit=ITEM_BYTES,
            )

    def held(self, standing: Standing) -> tuple[str, ...]:
        """List the fields whose stored values count: those index keys need, and all that may be computed from."""
        if not self.model.computed:
            return self.needed
        plain = {name for name, changes in self.changed.items() if _is_plain(changes)}
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
        exact = {name for changes in self.changed.values() for name in _exact(self.model, changes)}
        for field in (self.model.fields[name] for name in held):
            if standing.item is None:
                value = standing.entity.__dict__.get(field.name)
                yield stands(field.path, field.encoded(value)) if field.name in exact else _still(field, value)
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
        check_given_back(self.model, adopted_in(self.model, self.touched), values)
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


def _is_plain(changes: tuple[Change, ...]) -> bool:
    return changes[0].is_plain


def worked_out(field: Field[Any], changes: tuple[Change, ...], before: Item) -> tuple[Any, Change]:
    """Give the value that changes of a field come to, and the one change that stores it.

    FieldValueError for a sum beyond DynamoDB's 38 digits, and for what the field cannot hold.
    """
    try:
        stored = applied(changes, before).get(field.attribute)
        value = field.when_absent() if stored is None else field.codec.decode(stored)
    except Inexact:
        raise FieldValueError(
            field.name,
            given="a sum of more than 38 digits",
            wanted="a number DynamoDB can hold",
            hint="round what is added",
        ) from None
    except CodecError as error:
        raise field.misfit(error) from None
    return value, Change("remove" if stored is None else "set", field.path, stored, value)


def _looked_at(change: Change) -> Iterator[Path]:
    """Give the paths a change reads: those of its operands, and its own where it builds on what is there."""
    if change.action in ("add", "delete") or change.path.is_nested:
        yield change.path
    yield from paths_in(change.value)


def _sources(model: Model, changes: tuple[Change, ...]) -> Iterator[str]:
    """Give the fields whose stored values decide what changes come to: none where they are plain."""
    for change in changes:
        for path in _looked_at(change):
            yield _field_at(model, path).name


def _exact(model: Model, changes: tuple[Change, ...]) -> Iterator[str]:
    """Give the fields of which it counts whether they are stored, or are absent and read as the default."""
    if any(change.action == "set" for change in changes):
        yield from _sources(model, changes)


def _written_by(change: Change) -> Iterator[tuple[str, Item]]:
    """Give what a change is known to store at least, each under a name as long as it has."""
    terms = change.value.terms if isinstance(change.value, Function) and change.value.name == "list_append" else ()
    for value in (change.value, *terms):
        if change.action == "set" and isinstance(value, dict) and value != {"L": []}:
            yield ".".join(map(str, change.path.segments)), value


def check_places(model: Model, changes: Iterable[Change]) -> None:
    """Raise UsageError where two changes of one update are of one place, or of a place and what stands inside it."""
    seen: list[Change] = []
    for change in changes:
        if any(overlap(change.path, other.path) for other in seen):
            raise UsageError(
                f"{model.name}.{field_of(model, change).name} is changed twice in one update",
                hint="join the two changes: DynamoDB takes one for each place, and none inside a place that is set",
            )
        seen.append(change)


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
    changed: dict[str, tuple[Change, ...]] = {}
    for change in changes:
        name = field_of(model, change).name
        changed[name] = (*changed.get(name, ()), change)
    known = dict(ref.parts)
    computed = {field.name for field in model.computed}
    touched = _touched(model, {*changed, *computed})
    needed = dict.fromkeys(name for layout in touched for name in _needs(model, layout, changed))
    uniques = _uniques(model, {*changed, *computed})
    guarded = {name for unique in uniques for name in unique.fields}
    lifetime = lifetime_of(model)
    if uniques and lifetime is not None:
        guarded.add(lifetime.name)
    followed = {*changed} if computed else guarded
    needed |= dict.fromkeys(guarded)
    needed |= dict.fromkeys(name for each in changed if each in followed for name in _sources(model, changed[each]))
    rest = tuple(name for name in needed if name not in known and name not in computed)
    return Plan(model, known, changed, touched, rest, ref.key, uniques)


def _uniques(model: Model, names: set[str]) -> tuple[Uniqueness, ...]:
    """Find what is unique among written fields; a new time to live is that of every guard."""
    lifetime = lifetime_of(model)
    if lifetime is not None and lifetime.name in names:
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


def _needs(model: Model, layout: Layout, changed: Mapping[str, tuple[Change, ...]]) -> list[str]:
    """List the fields whose stored values a touched index key needs: none where it goes away anyway."""
    names = dict.fromkeys((*layout.parts, *layout.watched))
    if any(_is_removed(changed[name]) for name in names if name in changed and name in layout.required):
        return []
    sources = [source for name in names if name in changed for source in _sources(model, changed[name])]
    return [*(name for name in names if name not in changed), *sources]


def _is_removed(changes: tuple[Change, ...]) -> bool:
    return _is_plain(changes) and changes[0].action == "remove"


def field_of(model: Model, change: Change) -> Field[Any]:
    """Give the field a change is of. UnknownField where the entity has none stored so, or takes a value from none."""
    for path in paths_in(change.value):
        _field_at(model, path)
    return _field_at(model, change.path)


def _field_at(model: Model, path: Path) -> Field[Any]:
    attribute = path.attribute
    for field in model.fields.values():
        if field.attribute == attribute and (path.source is None or path.source is field):
            return field
    raise UnknownField(
        f"{model.name} has no field stored as {attribute!r}",
        hint="was the change made with another class's field? " + closest(attribute, model.fields),
        field=attribute,
    )
