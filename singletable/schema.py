"""Tables, and what an entity class of one amounts to.

Theory of operation. A `Table` is a shape, not a place; a store binds it to a name. It knows its entities weakly, by
module and qualified name, so that a class that is defined again (a notebook cell, a test) replaces its older self.
What a class amounts to, once its annotations are understood, is its `Model`.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from singletable.checks import (
    Claim,
    check_adopted,
    check_claims,
    check_counter_names,
    check_gapless,
    check_tags,
    check_told_apart,
    reaches_any,
)
from singletable.errors import DeclarationError, UsageError
from singletable.fields import Field, computed
from singletable.indexes import (
    GlobalIndex,
    KeyAttribute,
    KeyColumn,
    LocalIndex,
    check_name,
    check_projected,
    check_quotas,
    read_indexes,
)
from singletable.layouts import Layout
from singletable.numbering import Numbering, adopted_keys
from singletable.options import check_attribute
from singletable.scopes import Scope, read_scope
from singletable.stamped import UNSTAMPED, Stamps, TimeToLive
from singletable.uniques import Uniqueness

__all__ = [
    "CREATE_ID",
    "GONE_AT",
    "HIDDEN",
    "WRITE_ID",
    "Declared",
    "Model",
    "Table",
    "kinds_of",
    "model_of",
    "primary_of",
]

HIDDEN = "!"
"""What no tag, literal or value begins with; the items singletable keeps for itself do."""

WRITE_ID = "_w"
"""The attribute with the id of the last update that could not be repeated, by which such an update does the same."""

CREATE_ID = "_c"
"""The attribute with the id of the create that made an item, by which a create recognises its own write."""

GONE_AT = "gone_at"
"""The attribute that says when a tombstone was left."""

TAKEN = (CREATE_ID, WRITE_ID, GONE_AT)
"""What no key attribute and no tag can be called."""


class Table:
    """The shape of one DynamoDB table: its key attributes, its indexes and how kinds of items are told apart.

    `tag` names the attribute that holds each item's kind; with None kinds are told apart by their key templates alone.
    `untagged="by_key"` also reads items without tag whose key fits the template. `sk=None` makes a table without sort
    key; `sk=("sk", int)` one with a number. `scope="#TENANT#{tenant}"` stands before every partition key: see
    `Store.scoped`. `raw=True` (or a delimiter such as `raw="|"`) makes every key of its
    entities a raw one: see `Key`.
    """

    def __init__(
        self,
        name: str,
        *,
        pk: KeyAttribute = "PK",
        sk: KeyAttribute | None = "SK",
        indexes: Iterable[GlobalIndex | LocalIndex] = (),
        tag: str | None = "_et",
        untagged: Literal["by_key"] | None = None,
        ttl: str | None = None,
        scope: str | None = None,
        raw: bool | str = False,
    ) -> None:
        _check_names(name, tag)
        self.lasting: TimeToLive = TimeToLive(ttl)
        self.name = name
        self.pk: KeyColumn = KeyColumn.of(pk)
        self.sk: KeyColumn | None = None if sk is None else KeyColumn.of(sk)
        self.indexes: tuple[GlobalIndex | LocalIndex, ...] = read_indexes(indexes)
        self.raw, self.tag = raw, tag
        self.untagged = "by_key" if tag is None else untagged
        self._entities: weakref.WeakValueDictionary[tuple[str, str], type] = weakref.WeakValueDictionary()
        self._reached: dict[tuple[object, ...], bool] = {}
        self._gathered: set[tuple[str | None, frozenset[tuple[str, str]]]] = set()
        self._checked: weakref.WeakSet[type] = weakref.WeakSet()
        self._check_names()
        check_quotas(self.name, self.indexes, sum(len(self.named_by(index)) for index in self.indexes))
        self.scope: Scope | None = None if scope is None else self._scope(scope)

    def _scope(self, text: str) -> Scope:
        halves = [(repr(index), self.pks_of(index)) for index in self.indexes]
        return read_scope(text, [("the table", self.pks), *halves], self.sks, self.raw)

    def _check_names(self) -> None:
        if self.untagged not in (None, "by_key"):
            raise DeclarationError("Table(untagged=...) is None or 'by_key'")
        names = [index.name for index in self.indexes]
        if len(set(names)) != len(names):
            raise DeclarationError(f"table {self.name!r} has two indexes of one name: {', '.join(names)}")
        if self.sk is not None and self.pk.name == self.sk.name:
            raise DeclarationError(f"table {self.name!r}: partition and sort key are both called {self.pk.name!r}")
        self.lasting.check((*TAKEN, self.tag, *(column.name for column in self.columns)))
        for column in self.columns:
            if column.name in TAKEN or column.name == self.tag:
                what = "singletable's own" if column.name in TAKEN else "the type tag"
                raise DeclarationError(
                    f"table {self.name!r}: the key attribute {column.name!r} is {what}",
                    hint="call one of them otherwise",
                )
        types: dict[str, str] = {}
        for column in self.columns:
            if types.setdefault(column.name, column.attribute_type) != column.attribute_type:
                raise DeclarationError(
                    f"table {self.name!r}: {column.name!r} is a number in one key and text in another"
                )

    @property
    def ttl(self) -> str | None:
        """The attribute with the second at which an item expires: the one declared, or that of an ExpiresAt field."""
        return self.lasting.attribute

    @property
    def columns(self) -> tuple[KeyColumn, ...]:
        """Every key attribute of the table and its indexes, each once."""
        halves = [self.pks, self.sks, *(half for index in self.indexes for half in (self.pks_of(index), index.sks))]
        return tuple(dict.fromkeys(column for half in halves for column in half))

    @property
    def pks(self) -> tuple[KeyColumn, ...]:
        """The partition key attribute, as half a key."""
        return (self.pk,)

    @property
    def sks(self) -> tuple[KeyColumn, ...]:
        """The sort key attribute, as half a key; empty where there is none."""
        return () if self.sk is None else (self.sk,)

    def pks_of(self, index: GlobalIndex | LocalIndex) -> tuple[KeyColumn, ...]:
        """Give the partition key of an index: its own, or the table's for a local one."""
        return self.pks if isinstance(index, LocalIndex) else index.pks

    @property
    def carried(self) -> tuple[str, ...]:
        """The attributes that an index which names some holds in any case: without them its rows cannot be told."""
        return tuple(name for name in (self.tag, self.ttl) if name is not None)

    def named_by(self, index: GlobalIndex | LocalIndex) -> tuple[str, ...]:
        """Give the attributes that an index projects by name: none where it projects all or keys alone.

        Keys are projected in any case and are not named. DeclarationError for more than 20, DynamoDB's limit.
        """
        if isinstance(index.projection, str):
            return ()
        keys = {column.name for column in (*self.pks, *self.sks, *self.pks_of(index), *index.sks)}
        names = tuple(name for name in dict.fromkeys((*index.projection, *self.carried)) if name not in keys)
        check_projected(index, names)
        return names

    def held_by(self, index: GlobalIndex | LocalIndex) -> frozenset[str] | None:
        """Give the attributes that the rows of an index have: its keys, the table's, what it names; None for all."""
        if index.projection == "all":
            return None
        keys = (*self.pks, *self.sks, *self.pks_of(index), *index.sks)
        return frozenset((*(column.name for column in keys), *self.named_by(index)))

    @property
    def entities(self) -> tuple[type, ...]:
        """The entity classes of this table, as far as they are alive."""
        return tuple(self._entities.values())

    def register(self, entity: type) -> None:
        """Take an entity class in, in place of an older one of the same module and qualified name."""
        self._entities[_named(entity)] = entity
        self._reached.clear()

    def gather(self, index: str | None, models: Iterable[Model]) -> None:
        """Let the entities of a collection stand in each other's ranges on an index, or on the table itself.

        It holds for good, so that what is allowed does not depend on whether somebody still keeps the collection.
        """
        self._gathered.add((index, frozenset(_named(model.entity) for model in models)))

    def check(self) -> None:
        """Check all entities together; a store does it when it is made.

        UnresolvedName, TagClash, KeyClash or RangeClash, with a witness. Garbage is never blamed.
        """
        if self._checked.issuperset(self.entities):
            return
        if not self._fits_together():
            gc.collect()
            self._check_together()
        self._checked = weakref.WeakSet(self.entities)

    def shares_ranges(self, models: Sequence[Model], layout: Layout) -> bool:
        """Say whether a query by one key can reach other entities than those it reads, or raw keys.

        Of one entity those are its relatives, and what is gathered with it: `check` allows no others.
        """
        layout = layout.declared or layout
        key = (*(_named(model.entity) for model in models), layout.index, str(layout))
        if key not in self._reached:
            read = {model.entity for model in models}
            beside = [model_of(each) for each in self.entities if each not in read]
            others = [other for each in beside for other in each.layouts_on(layout.index)]
            self._reached[key] = any(other.raw for other in others) or reaches_any(layout, others)
        return self._reached[key]

    def _claim(self, model: Model, layout: Layout) -> Claim:
        """Give what an entity claims, with the collections it is a member of there."""
        name, index = _named(model.entity), layout.index
        gathered = frozenset[object](group for group in self._gathered if group[0] == index and name in group[1])
        return Claim(model.name, layout, model.family, gathered)

    def _fits_together(self) -> bool:
        """Say whether all is well; an error caught where garbage is collected would keep alive what it speaks of."""
        try:
            self._check_together()
        except DeclarationError:
            return False
        return True

    def _check_together(self) -> None:
        models = [model_of(entity) for entity in self.entities]
        check_tags([(model.name, tag) for model in models for tag in model.tags])
        primary = [self._claim(model, model.primary) for model in models]
        check_claims(primary, told_apart=self.tag is not None and self.untagged is None)
        check_counter_names(_counter_names(models))
        check_gapless((f"{model.name}.{number.name}", number) for model in models for number in model.numbers)
        if self.tag is not None:
            own = self.pks + self.sks
            counters = [(model.name, key) for model in models for key in adopted_keys(model.numbers, own)]
            check_adopted(primary, [Claim(f"{name}.{field}", layout, None) for name, (field, layout) in counters])
        for index in self.indexes:
            found = [(model, layout) for model in models for layout in model.layouts_on(index.name)]
            check_told_apart(self.tag, [(model.name, model.primary, layout) for model, layout in found])
            check_claims([self._claim(model, layout) for model, layout in found if not layout.plain])

    def __repr__(self) -> str:
        return f"<Table {self.name}: {', '.join(sorted(entity.__name__ for entity in self.entities))}>"


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What an entity class amounts to: its fields, keys, tags and numbers."""

    entity: type
    name: str
    table: Table
    tag: str | None
    aliases: tuple[str, ...]
    fields: Mapping[str, Field[Any]]
    primary: Layout
    indexes: Mapping[str, Layout]
    numbers: Sequence[Numbering]
    family: object
    patterns: tuple[str, ...]
    uniques: tuple[Uniqueness, ...] = ()
    stamps: Stamps = UNSTAMPED

    def under(self, scope: Scope | None) -> Model:
        """Give the model as it stands in a store's scope: every key and every counter begins with it."""
        primary = self.primary.under(scope)
        if primary is self.primary or scope is None:
            return self
        indexes = {name: layout.under(scope) for name, layout in self.indexes.items()}
        return replace(self, primary=primary, indexes=indexes, numbers=[number.under(scope) for number in self.numbers])

    def hidden(self, key: str) -> str:
        """Give the partition key of a hidden item, "#!SEQ#order": after the scope, where there is one."""
        return key if self.primary.scope is None else self.primary.scope.hidden(key)

    @property
    def computed(self) -> tuple[computed[Any], ...]:
        """The fields whose values are computed on every write."""
        return tuple(field for field in self.fields.values() if isinstance(field, computed))

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag this entity is read under, its own first."""
        return () if self.tag is None else (self.tag, *self.aliases)

    def counter_name(self, number: Numbering) -> str:
        """Name the counter of a field without Sequence, by what is stored: renaming the field does not change it."""
        return f"{self.tag or self.name}.{number.attribute}"

    @property
    def sort_key_number(self) -> Numbering | None:
        """The numbering that stands in the sort key by reading the highest, if there is one."""
        return next((number for number in self.numbers if number.strategy == "sort_key"), None)

    @property
    def claimed_number(self) -> Numbering | None:
        """The numbering whose numbers are drawn by being stored, if there is one: by sort key, or without gaps."""
        return next((number for number in self.numbers if number.claims), None)

    @property
    def leaves_tombstones(self) -> bool:
        """Whether a delete keeps the key taken."""
        number = self.sort_key_number
        return number is not None and number.options.reuse == "never"

    def layouts_on(self, index: str | None) -> Sequence[Layout]:
        """Give the keys of this entity on one index, or on the table itself."""
        return [layout for layout in (self.primary, *self.indexes.values()) if layout.index == index]


class Declared:
    """The model of a class, made when first needed, since annotations may name what is defined later."""

    def __init__(self, build: Callable[[], Model]) -> None:
        self._build = build
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        """The model; UnresolvedName while an annotation still names nothing."""
        if self._model is None:
            self._model = self._build()
        return self._model


def _check_names(name: object, tag: object) -> None:
    """Refuse what is given to a Table as its name or tag and is none."""
    check_name("a table", name)
    if tag is not None:
        check_attribute("Table(tag=...)", tag)
        if tag in TAKEN:
            raise DeclarationError(f"Table(tag={tag!r}): the attribute is singletable's own", hint='such as tag="_et"')


def _counter_names(models: Iterable[Model]) -> Iterator[tuple[str, str]]:
    """Give the name of every counter of ours with whose it is: a field's, or the Sequence of that name."""
    for model in models:
        for number in model.numbers:
            sequence = number.options.sequence
            if number.is_own_counter:
                yield model.counter_name(number), f"{model.name}.{number.name}"
            elif sequence is not None and sequence.name is not None and sequence.attribute is None:
                yield sequence.name, f"Sequence({sequence.name!r})"


def _named(entity: type) -> tuple[str, str]:
    return entity.__module__, entity.__qualname__


def kinds_of(entity: type) -> Sequence[Model]:
    """Give the models of what an entity class reads: its own, or for an abstract one those of its subclasses.

    Of a collection's class they are those of its members, `__gathered__`. UsageError where there is no kind at all.
    """
    gathered: tuple[type, ...] | None = entity.__dict__.get("__gathered__")
    if gathered is not None:
        models = [model for member in gathered for model in kinds_of(member)]
        return list({model.entity: model for model in models}.values())
    table: Table | None = getattr(entity, "__table__", None)
    if table is None or isinstance(entity.__dict__.get("__singletable__"), Declared):
        return [model_of(entity)]
    return [model_of(each) for each in table.entities if issubclass(each, entity)] or [model_of(entity)]


def primary_of(entity: type) -> Layout:
    """Give the primary key of an entity class, or that which an abstract class shares with all its kinds."""
    layouts = [model.primary for model in kinds_of(entity)]
    return layouts[0] if all(each.origin is layouts[0].origin for each in layouts) else model_of(entity).primary


def model_of(entity: type) -> Model:
    """Give the model of a concrete entity class. UsageError for an abstract one and for any other class."""
    declared = entity.__dict__.get("__singletable__")
    if isinstance(declared, Declared):
        return declared.model
    what = "is abstract: it has no primary key of its own" if hasattr(entity, "__singletable__") else "is no Entity"
    raise UsageError(
        f"{entity.__name__} {what}",
        hint='declare `key = Key(pk="...", sk="...")` in a subclass of Entity with table=; write by the kind itself',
    )
