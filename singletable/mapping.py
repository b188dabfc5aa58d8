"""Entities to items and back, compiled once per class.

Theory of operation. A `Mapper` walks the fields in declared order, each with its codec's functions at hand, straight
between values and DynamoDB JSON. Keys are always written from the values. A value whose attribute is absent is read out
of the key; where both are there they must agree. Attributes that no field knows, and the create id, ride along hidden,
so that they survive a read and a write. Whether an item is this entity's own is decided in one place, `kind_of_item`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar

from singletable.codecs import CodecError
from singletable.entity import ASSIGNED, Entity, assemble, changed, left_out, parts_of, values_of
from singletable.errors import (
    CorruptItem,
    FieldNotLoaded,
    FieldValueError,
    ForeignItem,
    ItemTooLarge,
    KeyPartError,
    NumberNotAssigned,
)
from singletable.fields import MISSING, Field, computed
from singletable.judging import holds
from singletable.layouts import Layout
from singletable.schema import CREATE_ID, HIDDEN, Model, model_of
from singletable.scopes import Scope, remember
from singletable.sizes import ITEM_BYTES, item_size
from singletable.wire import AttributeValue, Item

__all__ = [
    "ANY_TIME",
    "GONE",
    "Mapper",
    "adopted_in",
    "check_given_back",
    "foreign_item",
    "from_item",
    "index_key",
    "kind_of_item",
    "mapper_of",
    "provisional",
    "to_item",
]

E = TypeVar("E", bound=Entity)

CREATE_ID_BYTES = 18
"""A create adds so many bytes to an item: the name `_c` and an id of sixteen characters."""

ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""A time that takes the place of one which is not known yet."""

GONE = HIDDEN + "gone"
"""The tag of a tombstone: what a deleted item leaves whose number must not be given out again."""


def kind_of_item(model: Model, item: Item, *, tagless: bool = False) -> Literal["own", "gone", "foreign"]:
    """Say whose item this is: the entity's own, a tombstone, or another's.

    A row of an index that holds no tag (`tagless`) is told by its primary key, as items are where the table says so;
    what singletable keeps for itself is nobody's own.
    """
    table = model.table
    tag = item.get(table.tag) if table.tag is not None else None
    if tag is not None:
        text = tag.get("S")
        return "own" if text in model.tags else "gone" if text == GONE else "foreign"
    by_key = tagless or table.untagged == "by_key"
    fits = by_key and not _is_hidden(model, item) and model.primary.parse(item) is not None
    return "own" if fits else "foreign"


def _is_hidden(model: Model, item: Item) -> bool:
    """Say whether an item's key is that of a hidden one, whatever raw template it would fit."""
    texts = [item.get(name, {}).get("S", "") for name in model.primary.names]
    return any(segment.startswith(HIDDEN) for text in texts for segment in text.split("#"))


def tag_of_item(model: Model, item: Item) -> str | None:
    """Give the tag an item carries, if any."""
    tag = item.get(model.table.tag) if model.table.tag is not None else None
    return tag.get("S") if tag is not None else None


@dataclass(frozen=True, slots=True)
class Mapper(Generic[E]):
    """The compiled way between one entity class and its items."""

    entity: type[E]
    model: Model
    writers: tuple[tuple[str, str, Callable[[Any], AttributeValue | None]], ...]
    readers: tuple[tuple[str, str, Callable[[AttributeValue], Any]], ...]
    known: frozenset[str]
    adopted: tuple[Field[Any], ...]
    """The fields in keys that have a `codec=` of the user's."""
    missing: frozenset[str] | None = None
    """The fields that are not read; None where all are."""
    scoped: dict[Scope, Mapper[E]] = field(init=False, default_factory=dict[Scope, Any], compare=False, repr=False)
    """This mapper in the scopes it was last used in."""

    def under(self, scope: Scope | None) -> Mapper[E]:
        """Give the mapper as it stands in a store's scope. UsageError where that is none of the entity's table."""
        if self.model.primary.scope is scope:
            return self
        found = None if scope is None else self.scoped.get(scope)
        if found is not None:
            return found
        made = replace(self, model=self.model.under(scope))
        return made if scope is None else remember(self.scoped, scope, made)

    tagless: bool = False
    """Whether the items come without tag, from an index that holds none, so that their key tells whose they are."""

    def showing(self, names: Iterable[str], *, tagless: bool = False) -> Mapper[E]:
        """Give a mapper that reads these fields and those of the primary key, and no others.

        Computed ones are read too: what they are computed from may be left out.
        """
        shown = {*names, *self.model.primary.parts}
        made = ((field.attribute, field.name, field.codec.decode) for field in self.model.computed)
        readers = tuple(reader for reader in (*self.readers, *made) if reader[1] in shown)
        missing = frozenset(self.model.fields.keys() - shown)
        return replace(self, readers=readers, missing=missing, tagless=tagless)

    def kind(self, item: Item) -> Literal["own", "gone", "foreign"]:
        """Say whose an item is that this mapper is to read."""
        return kind_of_item(self.model, item, tagless=self.tagless)

    def encode(self, entity: E) -> Item:
        """Write an entity as its whole item: tag, fields, keys, and what it carries hidden.

        FieldValueError, KeyPartError, KeyTooLong, NumberNotAssigned, FieldNotLoaded or ItemTooLarge where it cannot be
        stored.
        """
        _check_whole(self.model, entity)
        values = values_of(entity)
        item: Item = dict(getattr(entity, "_hidden", {}))
        item.pop(ASSIGNED, None)
        if self.model.tag is not None and self.model.table.tag is not None:
            item[self.model.table.tag] = {"S": self.model.tag}
        for attribute, name, encode in self.writers:
            if name not in values:
                raise _unassigned(self.model, name)
            try:
                encoded = encode(values[name])
            except CodecError as error:
                raise self.model.fields[name].misfit(error) from None
            if encoded is not None:
                item[attribute] = encoded
        item |= self.keys(values, item)
        _check_size(self.model, item)
        return item

    def check(self, entity: E) -> None:
        """Raise what `encode` would, before a number is drawn for the entity: each missing one counts as its first."""
        _check_whole(self.model, entity)
        if any(number.name not in entity.__dict__ for number in self.model.numbers):
            self.encode(provisional(self.model, entity))

    def keys(self, values: Mapping[str, Any], item: Item) -> Item:
        """Write every key attribute: the primary key, and each index key the item (without its keys) has."""
        check_given_back(self.model, self.adopted, values)
        keys = self.model.primary.render(values)
        for layout in self.model.indexes.values():
            keys |= index_key(layout, values, item)
        return keys

    def decode(self, item: Item) -> E:
        """Read an item of this entity. ForeignItem for any other, CorruptItem where it contradicts itself."""
        if self.kind(item) != "own":
            raise foreign_item(self.model, item)
        values: dict[str, Any] = {}
        for attribute, name, decode in self.readers:
            stored = item.get(attribute)
            if stored is None:
                self._absent(name, item, values)
                continue
            try:
                values[name] = decode(stored)
            except CodecError as error:
                cause = None if self.model.fields[name].sensitive else error  # which may quote what it refuses
                words = f"holds {error.given}, wanted {error.wanted}"
                raise _corrupt(self.model, name + error.path, words) from cause
        made = self._made(values, {name: value for name, value in item.items() if name not in self.known})
        self._check_key(item, parts_of(made, self.model.primary.parts))
        return made

    def read(self, item: Item | None) -> E | None:
        """Read what a look-up answered: None where nothing or a tombstone stands there, ForeignItem for another's."""
        if item is None or self.kind(item) == "gone":
            return None
        return self.decode(item)

    def _absent(self, name: str, item: Item, values: dict[str, Any]) -> None:
        """Fill in a value whose attribute is not stored: from a key, then as absent, then from its default."""
        field = self.model.fields[name]
        for layout in (self.model.primary, *self.model.indexes.values()):
            parts = layout.parse(item) if name in layout.parts else None
            if parts is not None:
                values[name] = parts[name]
                return
        value = MISSING if isinstance(field, computed) else field.when_absent()
        if value is not MISSING:
            values[name] = value
        elif not (field.assigned or isinstance(field, computed)):
            raise _corrupt(self.model, name, "is absent, and the field has no default")

    def _check_key(self, item: Item, values: Mapping[str, Any]) -> None:
        try:
            written = self.model.primary.render(values)
        except KeyPartError as error:
            raise _corrupt(self.model, error.part, "holds what no key can") from error
        for attribute, value in written.items():
            if item.get(attribute) != value:
                raise _corrupt(self.model, attribute, "differs from the key that the item's own attributes give")

    def _made(self, values: dict[str, Any], extra: Item) -> E:
        return assemble(self.entity, values, extra, self.missing)


def provisional(model: Model, entity: E) -> E:
    """Give an entity everything the store will, to see whether it can be stored: its first numbers, and some time."""
    first = {number.name: min(number.options.start, number.max_value) for number in model.numbers}
    missing = {name: value for name, value in first.items() if name not in entity.__dict__}
    return changed(entity, {**missing, **model.stamps.created(entity.__dict__, ANY_TIME)})


def adopted_in(model: Model, layouts: Iterable[Layout]) -> tuple[Field[Any], ...]:
    """List the fields in these keys that have a `codec=` of the user's."""
    parts = dict.fromkeys(name for layout in layouts for name in layout.parts if name in model.fields)
    return tuple(model.fields[name] for name in parts if model.fields[name].given_codec is not None)


def check_given_back(model: Model, fields: Iterable[Field[Any]], values: Mapping[str, Any]) -> None:
    """Raise FieldValueError for a part of a key, of these, that its `codec=` does not give back as it was given.

    The key would hold another value than the entity that is read, so that a query for either would miss the item.
    """
    for each in fields:
        value = values.get(each.name)
        if each.read_back(value) != value:
            raise FieldValueError(
                each.name,
                given="a value that its codec= stores as another one",
                wanted="one that it gives back, since it stands in a key",
                hint="bring it into that form before the entity is made, as in validate= or a classmethod",
                entity=model.name,
            )


def index_key(layout: Layout, values: Mapping[str, Any], item: Item) -> Item:
    """Write an index key: every attribute, or none where a part is absent or the condition is not met (sparse)."""
    if any(values.get(part) is None for part in layout.required):
        return {}
    if layout.when is not None and not holds(layout.when, item):
        return {}
    return layout.render(values)


def mapper_of(entity: type[E]) -> Mapper[E]:
    """Give the mapper of an entity class, compiled on first use."""
    made: Mapper[E] | None = entity.__dict__.get("__mapper__")
    if made is not None:
        return made
    mapper = _compile(entity)
    type.__setattr__(entity, "__mapper__", mapper)
    return mapper


def _compile(entity: type[E]) -> Mapper[E]:
    model = model_of(entity)
    fields = model.fields.values()
    stored = [field for field in fields if not isinstance(field, computed)]
    keys = (model.primary, *model.indexes.values())
    known = {field.attribute for field in fields} | {name for layout in keys for name in layout.names}
    return Mapper(
        entity,
        model,
        tuple((field.attribute, field.name, _writer(field)) for field in fields),
        tuple((field.attribute, field.name, field.codec.decode) for field in stored),
        frozenset(known | ({model.table.tag} if model.table.tag is not None else set())),
        adopted_in(model, keys),
    )


def _writer(field: Field[Any]) -> Callable[[Any], AttributeValue | None]:
    """Give what writes a value that is to be stored, with the field's own check where it has one."""
    return field.codec.encode if field.validate is None else field.checked


def foreign_item(model: Model, item: Item) -> ForeignItem:
    """Make the error for an item that is not this entity's."""
    found = tag_of_item(model, item)
    what = "an item without tag" if found is None else f"an item tagged {found!r}"
    return ForeignItem(
        f"{what} stands where {model.name} was looked for",
        hint=f"read it as its own class; if it is an older name of {model.name}, declare aliases=[...], and for rows "
        'without tag Table(..., untagged="by_key")',
        found=found,
    )


def _unassigned(model: Model, name: str) -> NumberNotAssigned:
    return NumberNotAssigned(
        f"{model.name}.{name} has no value yet",
        hint="store.create(...) gives it one and returns the stored entity; use that one",
        field=name,
    )


def _check_whole(model: Model, entity: Entity) -> None:
    """Raise FieldNotLoaded for an entity read in part: what it does not know would be lost where it is stored."""
    missing = left_out(entity)
    if missing is None:
        return
    names = [name for name in model.fields if name in missing]
    what = ", ".join(names) or "attributes that no field knows"
    raise FieldNotLoaded(
        f"{model.name} was read in part, without {what}: it cannot be written as a whole",
        hint="store.update(entity, ...) changes single fields; store.get(...) and hydrate(...) read whole entities",
        field=next(iter(names), ""),
    )


def _corrupt(model: Model, name: str, what: str) -> CorruptItem:
    return CorruptItem(
        f"a stored item of {model.name} cannot be read: {name!r} {what}",
        hint="another program wrote it so, or the field's type was changed; mend the item or give the field a default",
        entity=model.name,
        field=name,
    )


def _check_size(model: Model, item: Item) -> None:
    size = item_size(item) + (0 if CREATE_ID in item else CREATE_ID_BYTES)
    if size > ITEM_BYTES:
        raise ItemTooLarge(
            f"{model.name}: the item has {size} bytes, DynamoDB stores at most {ITEM_BYTES}",
            hint="split it into several items, or keep large values elsewhere (S3) and store where",
            size=size,
            limit=ITEM_BYTES,
        )


def to_item(entity: Entity) -> Item:
    """Give an entity as the item that would be stored, in DynamoDB JSON with every key attribute."""
    return mapper_of(type(entity)).encode(entity)


def from_item(entity: type[E], item: Item) -> E:
    """Read an item in DynamoDB JSON as an entity. ForeignItem or CorruptItem where it is not one."""
    return mapper_of(entity).decode(item)
