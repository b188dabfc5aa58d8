"""Tables, indexes and keys: what an entity class is declared with.

Theory of operation. A `Table` is a shape, not a place; a store binds it to a name. It knows its entities weakly, by
module and qualified name, so that a class that is defined again (a notebook cell, a test) replaces its older self.
A `Key` on an entity class is a descriptor: `Order.key` and `Order.by_status` are bound to the class and are called with
parts to make a query. What a class amounts to, once its annotations are understood, is its `Model`.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeAlias, TypeVar

from singletable.checks import Claim, check_claims, check_tags
from singletable.errors import DeclarationError, TemplateError, UsageError, closest
from singletable.fields import Field
from singletable.keys import KeyFormat, KeyTemplate, NativeTemplate, Template, key_format
from singletable.numbering import Numbering
from singletable.queries import Layout, Query

__all__ = ["BoundKey", "Declared", "GlobalIndex", "Key", "Model", "Table", "model_of", "pattern"]

E = TypeVar("E")
P = ParamSpec("P")

KeyAttribute: TypeAlias = str | tuple[str, type]
"""A key attribute: its name (text), or its name with `int` or `Decimal` for a native number."""

NATIVE_NUMBERS: tuple[object, ...] = (int, Decimal)
"""What a field that stands in a native number attribute is annotated with."""

HIDDEN = "!"
"""What no tag, literal or value begins with; the items singletable keeps for itself do."""

WRITE_ID = "_w"
"""The attribute with the id of the last update that could not be repeated, by which such an update does the same."""

CREATE_ID = "_c"
"""The attribute with the id of the create that made an item, by which a create recognises its own write."""


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A key attribute of a table or index: its name and DynamoDB type."""

    name: str
    attribute_type: Literal["S", "N"]

    @classmethod
    def of(cls, given: KeyAttribute) -> KeyColumn:
        """Read `"PK"` or `("id", int)`."""
        match given:
            case str() if given:
                return cls(given, "S")
            case (str() as name, kind) if kind in NATIVE_NUMBERS:
                return cls(name, "N")
            case _:
                raise DeclarationError(
                    "a key attribute is a name, or a name with a type",
                    hint='pk="PK" for text, sk=("sk", int) for a number',
                )


class GlobalIndex:
    """A global secondary index; its key attributes are `<name>PK` and `<name>SK` unless named otherwise.

    `sk=None` makes one without sort key; a native number is `("score", int)`, as for a Table.
    """

    def __init__(self, name: str, *, pk: KeyAttribute = "{name}PK", sk: KeyAttribute | None = "{name}SK") -> None:
        if len(name) < 3:
            raise DeclarationError(f"index name {name!r} is too short", hint="DynamoDB wants 3 to 255 characters")
        self.name = name
        self.pk: KeyColumn = KeyColumn.of(pk.replace("{name}", name) if isinstance(pk, str) else pk)
        self.sk: KeyColumn | None = None
        if sk is not None:
            self.sk = KeyColumn.of(sk.replace("{name}", name) if isinstance(sk, str) else sk)

    def __repr__(self) -> str:
        return f"<GlobalIndex {self.name}: {', '.join(column.name for column in (self.pk, self.sk) if column)}>"


class Table:
    """The shape of one DynamoDB table: its key attributes, its indexes and how kinds of items are told apart.

    `tag` names the attribute that holds each item's kind; with None kinds are told apart by their key templates alone.
    `untagged="by_key"` also reads items without tag whose key fits the template. `sk=None` makes a table without sort
    key; `sk=("sk", int)` one with a number.
    """

    def __init__(
        self,
        name: str,
        *,
        pk: KeyAttribute = "PK",
        sk: KeyAttribute | None = "SK",
        indexes: Iterable[GlobalIndex] = (),
        tag: str | None = "_et",
        untagged: Literal["by_key"] | None = None,
    ) -> None:
        self.name = name
        self.pk: KeyColumn = KeyColumn.of(pk)
        self.sk: KeyColumn | None = None if sk is None else KeyColumn.of(sk)
        self.indexes: tuple[GlobalIndex, ...] = tuple(indexes)
        self.tag = tag
        self.untagged = "by_key" if tag is None else untagged
        self._entities: weakref.WeakValueDictionary[tuple[str, str], type] = weakref.WeakValueDictionary()
        self._checked: weakref.WeakSet[type] = weakref.WeakSet()
        self._check_names()

    def _check_names(self) -> None:
        if self.untagged not in (None, "by_key"):
            raise DeclarationError("Table(untagged=...) is None or 'by_key'")
        names = [index.name for index in self.indexes]
        if len(set(names)) != len(names):
            raise DeclarationError(f"table {self.name!r} has two indexes of one name: {', '.join(names)}")
        if self.sk is not None and self.pk.name == self.sk.name:
            raise DeclarationError(f"table {self.name!r}: partition and sort key are both called {self.pk.name!r}")
        types: dict[str, str] = {}
        for column in self.columns:
            if types.setdefault(column.name, column.attribute_type) != column.attribute_type:
                raise DeclarationError(
                    f"table {self.name!r}: {column.name!r} is a number in one key and text in another"
                )

    @property
    def columns(self) -> tuple[KeyColumn, ...]:
        """Every key attribute of the table and its indexes, each once."""
        places = [(self.pk, self.sk), *((index.pk, index.sk) for index in self.indexes)]
        return tuple(dict.fromkeys(column for place in places for column in place if column is not None))

    @property
    def entities(self) -> tuple[type, ...]:
        """The entity classes of this table, as far as they are alive."""
        return tuple(self._entities.values())

    def register(self, entity: type) -> None:
        """Take an entity class in, in place of an older one of the same module and qualified name."""
        self._entities[entity.__module__, entity.__qualname__] = entity

    def check(self) -> None:
        """Check all entities together; a store does it when it is made.

        UnresolvedName, TagClash, KeyClash or RangeClash, with a witness. An entity that is only waiting to be collected
        as garbage is never blamed.
        """
        if self._checked.issuperset(self.entities):
            return
        if not self._fits_together():
            gc.collect()
            self._check_together()
        self._checked = weakref.WeakSet(self.entities)

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
        check_claims([Claim(model.name, model.primary, model.family) for model in models])
        for index in self.indexes:
            layouts = [(model, layout) for model in models for layout in model.indexes.values()]
            check_claims([Claim(m.name, layout, m.family) for m, layout in layouts if layout.index == index.name])

    def __repr__(self) -> str:
        return f"<Table {self.name}: {', '.join(sorted(entity.__name__ for entity in self.entities))}>"


class Key:
    """A key of an entity: its primary key, or with `on=` a key of an index.

    `pk` and `sk` are templates such as `"#USER#{user_id}"`. `within=Order.key` places the entity below another: its
    partition key is the parent's, and its sort key the parent's followed by `sk`. With `raw=True` values stand in the
    key as they are, for tables that exist: no escaping, no padding, and a value that holds `#` is refused.
    """

    def __init__(
        self,
        *,
        pk: str | None = None,
        sk: str | None = None,
        on: GlobalIndex | None = None,
        within: BoundKey[Any] | None = None,
        raw: bool = False,
    ) -> None:
        if within is not None:
            pk, sk = _below(within, pk, sk, on)
            raw = raw or within.key.raw
        if not pk:
            raise TemplateError(
                "a Key has no partition key template", hint='such as Key(pk="#USER#{user_id}", sk="#A")'
            )
        self.pk: Template = Template.parse(pk)
        if self.pk.segments[-1].spread:
            raise TemplateError(
                f"key template {pk!r}: a path cannot stand in a partition key, of which a query needs every part",
                hint='spread it in the sort key, such as Key(pk="#COUNTRY#{country}", sk="#REGION#{path*}")',
            )
        self.sk: Template | None = None if sk is None else Template.parse(sk)
        self.on = on
        self.raw: bool = raw
        self.root: Key = self if within is None else within.key.root
        self.name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __get__(self, instance: None, owner: type[E]) -> BoundKey[E]:
        if instance is not None:
            raise AttributeError(
                f"{self.name!r} is a key of the class {owner.__name__}: write {owner.__name__}.{self.name}"
            )
        return BoundKey(owner, self)

    def layout(self, table: Table, types: Mapping[str, object]) -> Layout:
        """Bind both templates to the key attributes and the fields' types. DeclarationError where they do not fit."""
        pk = table.pk if self.on is None else self.on.pk
        sk = table.sk if self.on is None else self.on.sk
        if (sk is None) is not (self.sk is None):
            raise TemplateError(
                f"{self}: the table has {'no' if sk is None else 'a'} sort key",
                hint="leave sk= out" if sk is None else 'add sk="..." (a constant such as "#PROFILE" will do)',
            )
        bound = None if sk is None or self.sk is None else _bind(self.sk, sk, types, raw=self.raw)
        index = None if self.on is None else self.on.name
        return Layout(index, pk.name, _bind(self.pk, pk, types, raw=self.raw), None if sk is None else sk.name, bound)

    def __repr__(self) -> str:
        return f"<Key {self.name} {self}>"

    def __str__(self) -> str:
        return self.pk.text if self.sk is None else f"{self.pk.text} / {self.sk.text}"


def _below(within: BoundKey[Any], pk: str | None, sk: str | None, on: GlobalIndex | None) -> tuple[str, str]:
    parent = within.key
    if pk is not None or on is not None:
        raise TemplateError("Key(within=...) takes its partition key and index from the parent", hint="give only sk=")
    if parent.sk is None or parent.on is not None or not sk:
        raise TemplateError(
            "Key(within=...) wants the primary key of an entity with a sort key, and sk= of its own",
            hint='such as Key(within=Order.key, sk="#LINE#{line_no}")',
        )
    if not sk.startswith("#"):
        raise TemplateError(f"the sort key {sk!r} does not begin with '#'", hint=f'write sk="#{sk}"')
    return parent.pk.text, parent.sk.text + sk


def _bind(template: Template, column: KeyColumn, types: Mapping[str, object], *, raw: bool) -> KeyTemplate:
    for part in template.parts:
        if part not in types:
            raise TemplateError(f"{template.text!r}: {part!r} is no field of the entity", hint=closest(part, types))
    if column.attribute_type != "S":
        return _native(template, column, types)
    formats: dict[str, KeyFormat] = {}
    for segment in template.segments:
        if segment.part is not None:
            kind = _element(segment.part, types[segment.part]) if segment.spread else types[segment.part]
            formats[segment.part] = key_format(kind, width=segment.width, raw=raw)
    return template.bind(formats)


def _native(template: Template, column: KeyColumn, types: Mapping[str, object]) -> NativeTemplate:
    segments = template.segments
    if len(segments) != 1 or segments[0].part is None or types[segments[0].part] not in NATIVE_NUMBERS:
        raise TemplateError(
            f"{template.text!r}: the key attribute {column.name!r} is a number",
            hint="its template is exactly one {field}, and the field is an int or a Decimal",
        )
    return NativeTemplate(segments[0].part, "N")


def _element(part: str, annotation: object) -> object:
    if annotation == tuple[str, ...]:
        return str
    raise TemplateError(f"{{{part}*}} spreads a tuple", hint=f"annotate it as `{part}: Field[tuple[str, ...]]`")


class BoundKey(Generic[E]):
    """A key of a class, as `Order.by_status`: called with parts it makes a query."""

    def __init__(self, owner: type[E], key: Key) -> None:
        self.owner = owner
        self.key = key

    @property
    def layout(self) -> Layout:
        """How the key stands in the table or its index."""
        model = model_of(self.owner)
        return model.primary if self.key.on is None else model.indexes[self.key.name]

    def __call__(self, **parts: object) -> Query[E]:
        """Query by every partition key part and any number of leading sort key parts.

        With all parts given the sort key is equal, otherwise it is the node they name and all below it.
        """
        return Query(self.owner, self.layout, parts)

    def __repr__(self) -> str:
        return f"<{self.owner.__name__}.{self.key.name} {self.key}>"


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

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag this entity is read under, its own first."""
        return () if self.tag is None else (self.tag, *self.aliases)

    @property
    def sort_key_number(self) -> Numbering | None:
        """The numbering that stands in the sort key by reading the highest, if there is one."""
        return next((number for number in self.numbers if number.strategy == "sort_key"), None)

    @property
    def leaves_tombstones(self) -> bool:
        """Whether a delete keeps the key taken."""
        number = self.sort_key_number
        return number is not None and number.options.reuse == "never"

    @property
    def relatives(self) -> Sequence[Model]:
        """The models of one tree of `within=`, this one among them."""
        models = (model_of(entity) for entity in self.table.entities)
        return [model for model in models if model.family is self.family]


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


def model_of(entity: type) -> Model:
    """Give the model of a concrete entity class. UsageError for an abstract one and for any other class."""
    declared = entity.__dict__.get("__singletable__")
    if isinstance(declared, Declared):
        return declared.model
    what = "is abstract: it has no primary key" if hasattr(entity, "__singletable__") else "is no Entity"
    raise UsageError(
        f"{entity.__name__} {what}", hint='declare `key = Key(pk="...", sk="...")` in a subclass of Entity with table='
    )


def pattern(function: Callable[Concatenate[type[E], P], Query[E]]) -> Callable[Concatenate[type[E], P], Query[E]]:
    """Mark a classmethod as a named access pattern of its entity, so that `describe()` lists it.

    Written below `@classmethod`; its arguments and its result are checked as those of any function.
    """
    function.__dict__["__singletable_pattern__"] = True
    return function
