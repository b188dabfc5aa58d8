"""`Entity`: frozen data with declared keys.

Theory of operation. A subclass statement collects the fields of its own body, writes an `__init__` for all it has, and,
where it declares a primary key, makes its model. Whatever can be wrong is raised from `__init_subclass__`, in the class
statement itself. Instances keep their values in `__dict__`, so equality is a dict compare; what was stored beside the
fields (attributes we do not know, the create id) hides in a slot and goes along when an entity is evolved; so do the
names of the fields that were not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, NoReturn, Self, TypeVar, dataclass_transform

from singletable.annotations import (
    Annotations,
    field_type,
    is_class_variable,
    is_field,
    plain_type,
    read_annotations,
)
from singletable.describing import describe
from singletable.errors import DeclarationError, UnknownField, UnresolvedName, UsageError, closest
from singletable.fields import MISSING, Field
from singletable.increments import AutoIncrement
from singletable.numbering import Numbering, check_sequence, numbering
from singletable.queries import Layout, Ref, refer
from singletable.schema import CREATE_ID, HIDDEN, WRITE_ID, Declared, Key, Model, Table, model_of
from singletable.wire import AttributeValue

__all__ = ["Entity", "assemble", "evolve", "fields", "left_out"]

E = TypeVar("E", bound="Entity")

FIELD_TEXT = re.compile(r"\s*(\w+\s*\.\s*)*Field\s*\[")
CLASS_TEXT = re.compile(r"\s*(\w+\s*\.\s*)*ClassVar\b")
OURS = ("at", "describe")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(Field,))
class Entity:
    """The base of what is stored: subclass it with `table=` and `tag=`, annotate fields, declare keys.

        class User(Entity, table=app, tag="user"):
            user_id: Field[str]
            key = Key(pk="#USER#{user_id}", sk="#PROFILE")

    An instance is frozen data (`evolve` makes another); equality compares fields, the hash is of the class and the
    primary key's fields. `tag` names the kind in storage (the class name where it is left out: renaming the class then
    orphans rows); items under `aliases` are read too. A subclass without a primary `Key` is abstract.
    """

    __slots__ = ("__dict__", "__weakref__", "_hidden", "_left_out")

    _hidden: dict[str, AttributeValue]
    _left_out: frozenset[str]

    def __init_subclass__(
        cls, *, table: Table | None = None, tag: str | None = None, aliases: Iterable[str] = ()
    ) -> None:
        super().__init_subclass__()
        annotations = read_annotations(cls)
        own = _own_fields(cls, annotations)
        for name, field in own.items():
            field.declare(name, lambda: _settle(cls, own, annotations))
            setattr(cls, name, field)
        cls.__fields__ = {**_inherited(cls), **own}
        if table is not None:
            cls.__table__ = table
        _write_init(cls)
        _declare(cls, tag, tuple(aliases))

    @classmethod
    def at(cls, **parts: object) -> Ref[Self]:
        """Refer to the item at a primary key. MissingPart, UnknownPart or KeyPartError where a part does not fit."""
        return refer(cls, model_of(cls).primary, parts)

    @classmethod
    def describe(cls) -> str:
        """Say in words how the class is stored: tag, fields, keys, how its numbers are drawn and why."""
        return describe(model_of(cls))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise UsageError(
            f"{type(self).__name__} is frozen: {name!r} cannot be assigned",
            hint=f"evolve(entity, {name}=...) makes another; store.update(entity, ...) changes the stored item",
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise UsageError(f"{type(self).__name__} is frozen: {name!r} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        parts = model_of(type(self)).primary.parts
        return hash((type(self), *(self.__dict__.get(name) for name in parts)))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__fields__ if name in self.__dict__)
        return f"{type(self).__name__}({values}{'' if left_out(self) is None else ', ...'})"

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, AttributeValue], frozenset[str] | None]:
        return self.__dict__, getattr(self, "_hidden", {}), left_out(self)

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, AttributeValue], frozenset[str] | None]) -> None:
        self.__dict__.update(state[0])
        object.__setattr__(self, "_hidden", state[1])
        if state[2] is not None:
            object.__setattr__(self, "_left_out", state[2])

    __fields__: ClassVar[Mapping[str, Field[Any]]] = {}
    __table__: ClassVar[Table | None] = None
    __singletable__: ClassVar[Declared | None] = None


def fields(entity: type[Entity] | Entity) -> Mapping[str, Field[Any]]:
    """Give the fields of an entity or its class by name, in the order they were declared."""
    return dict(entity.__fields__)


def evolve(entity: E, **changes: object) -> E:
    """Make another entity with some fields changed; nothing is stored. UnknownField for a name that is none."""
    for name in changes:
        if name not in entity.__fields__:
            raise UnknownField(
                f"{type(entity).__name__} has no field {name!r}", hint=closest(name, entity.__fields__), field=name
            )
    hidden, missing = getattr(entity, "_hidden", {}), left_out(entity)
    if missing is not None:
        return assemble(type(entity), {**entity.__dict__, **changes}, hidden, missing)
    made = type(entity)(**{**entity.__dict__, **changes})
    object.__setattr__(made, "_hidden", hidden)
    return made


def left_out(entity: Entity) -> frozenset[str] | None:
    """Name the fields that were not read; None for an entity that was made or read as a whole."""
    return getattr(entity, "_left_out", None)


def assemble(
    entity: type[E], values: dict[str, Any], hidden: dict[str, AttributeValue], missing: frozenset[str] | None
) -> E:
    """Make an entity from what was read, past its constructor; `missing` are the fields that were left out."""
    made = entity.__new__(entity)
    made.__setstate__((values, hidden, missing))
    return made


# Fields --------------------------------------------------------------------------------------------------------------


def _own_fields(cls: type[Entity], annotations: Annotations) -> dict[str, Field[Any]]:
    own: dict[str, Field[Any]] = {}
    for name, annotation in annotations.own.items():
        if _declares_field(cls, name, annotation, annotations):
            own[name] = _field(cls, name)
    for name, value in vars(cls).items():
        if isinstance(value, Field) and name not in own:
            raise DeclarationError(
                f"{cls.__qualname__}.{name} is a Field without annotation", hint=f"write `{name}: Field[str] = ...`"
            )
    return own


def _declares_field(cls: type[Entity], name: str, annotation: object, annotations: Annotations) -> bool:
    if is_field(annotation) or (isinstance(annotation, str) and FIELD_TEXT.match(annotation)):
        return True
    if is_class_variable(annotation) or (isinstance(annotation, str) and CLASS_TEXT.match(annotation)):
        return False
    hint = annotations.resolve(name)
    if is_field(hint):
        return True
    if is_class_variable(hint) or (name.startswith("__") and name.endswith("__")):
        return False
    raise DeclarationError(
        f"{cls.__qualname__}.{name} is annotated with {annotation!r}",
        hint=f"write `{name}: Field[...]` to store it, or `{name}: ClassVar[...]` to keep it on the class",
    )


def _field(cls: type[Entity], name: str) -> Field[Any]:
    value: Field[Any] = vars(cls).get(name, MISSING)  # or what else was written there
    if name in OURS or name.startswith("_"):
        raise DeclarationError(
            f"{cls.__qualname__}.{name}: a field cannot have this name",
            hint="`at` and `describe` are methods of every entity; names with a leading '_' are ours. Store it under "
            f'that name with another one here: other: Field[...] = Field(name="{name}")',
        )
    if value is MISSING:
        return Field()
    if isinstance(value, Field):
        return value
    raise DeclarationError(
        f"{cls.__qualname__}.{name} is given a plain default", hint=f"write `{name}: ... = Field(default=...)`"
    )


def _settle(cls: type[Entity], own: Mapping[str, Field[Any]], annotations: Annotations) -> None:
    """Give each field of one class body its type. UnresolvedName while a name is missing."""
    for name, field in own.items():
        if field.annotation is MISSING:
            annotation = field_type(annotations.resolve(name))
            _check_annotation(cls, field, annotation)
            field.settle(annotation)


def _check_annotation(cls: type[Entity], field: Field[Any], annotation: object) -> None:
    if isinstance(annotation, Field):
        raise DeclarationError(
            f"{cls.__qualname__}.{field.name} hides the type it is annotated with: both are called {field.name!r}",
            hint="add `from __future__ import annotations`, or import the type under another name",
        )
    if isinstance(field, AutoIncrement) and plain_type(annotation) is not int:
        raise DeclarationError(
            f"{cls.__qualname__}.{field.name}: AutoIncrement draws integers", hint=f"write `{field.name}: Field[int]`"
        )


def _inherited(cls: type[Entity]) -> dict[str, Field[Any]]:
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= base.__dict__.get("__fields__", {})
    return found


def _write_init(cls: type[Entity]) -> None:
    """Write `__init__` as code: native TypeErrors, a real signature, and twice the speed of a loop.

    Its own names begin with `_`, as no field's does.
    """
    if "__init__" in vars(cls):
        raise DeclarationError(
            f"{cls.__qualname__} has an __init__ of its own, which would never be called",
            hint="use Field(default_factory=...), or a classmethod that makes the entity",
        )
    names: dict[str, Any] = {"_MISSING": MISSING}
    required: list[str] = []
    optional: list[str] = []
    body: list[str] = []
    for name, field in cls.__fields__.items():
        value = name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        names[f"_default_{name}"] = field.default
        (required if field.required else optional).append(name if field.required else f"{name}=_default_{name}")
        guard = f"if {name} is not _MISSING: " if isinstance(field, AutoIncrement) else ""
        body.append(f"    {guard}_values[{name!r}] = {value}")
    head = ", ".join(["_self", "/", *(["*"] if required or optional else []), *required, *optional])
    exec(f"def __init__({head}):\n    _values = _self.__dict__\n" + "\n".join(body), names)
    made = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__doc__ = f"Make a {cls.__name__}; nothing is stored."
    type.__setattr__(cls, "__init__", made)


# Keys and the model --------------------------------------------------------------------------------------------------


def _declare(cls: type[Entity], tag: str | None, aliases: tuple[str, ...]) -> None:
    own = [value for value in vars(cls).values() if isinstance(value, Key) and value.on is None]
    if not own:
        _check_abstract(cls, tag)
        return
    if len(own) > 1:
        raise DeclarationError(
            f"{cls.__qualname__} has {len(own)} primary keys", hint="an index key says so: Key(on=gsi1, ...)"
        )
    if cls.__table__ is None:
        raise DeclarationError(
            f"{cls.__qualname__} has a key but no table", hint=f"class {cls.__name__}(Entity, table=...)"
        )
    _check_tags(cls, tag, aliases)
    cls.__singletable__ = Declared(lambda: _model(cls, own[0], tag, aliases))
    with suppress(UnresolvedName):
        _ = cls.__singletable__.model
    cls.__table__.register(cls)


def _check_abstract(cls: type[Entity], tag: str | None) -> None:
    concrete = next((base for base in cls.__mro__[1:] if base.__dict__.get("__singletable__") is not None), None)
    if concrete is not None:
        raise DeclarationError(
            f"{cls.__qualname__} would have the key of {concrete.__name__}, and stand where its items stand",
            hint='declare `key = Key(pk="...", sk="...")` in the subclass, or move what is shared to an abstract base',
        )
    if tag is not None:
        raise DeclarationError(
            f"{cls.__qualname__} has a tag but no primary key", hint='declare `key = Key(pk="...", sk="...")`'
        )


def _check_tags(cls: type[Entity], tag: str | None, aliases: tuple[str, ...]) -> None:
    for name in (*(() if tag is None else (tag,)), *aliases):
        if not name or name.startswith(HIDDEN):
            raise DeclarationError(
                f"{cls.__qualname__}: {name!r} cannot be a tag", hint="wanted text without leading '!'"
            )
    if cls.__table__ is not None and cls.__table__.tag is None and (tag is not None or aliases):
        raise DeclarationError(
            f"{cls.__qualname__} has a tag, but its table keeps none", hint="leave tag= out, or give the Table a tag"
        )


def _model(cls: type[Entity], primary: Key, tag: str | None, aliases: tuple[str, ...]) -> Model:
    table = cls.__table__
    if table is None:
        raise DeclarationError(f"{cls.__qualname__} has no table")
    types = {name: plain_type(_annotation(field)) for name, field in cls.__fields__.items()}
    layout = primary.layout(table, types)
    indexes = _index_layouts(cls, table, types)
    _check_attributes(cls, table, (layout, *indexes.values()))
    numbers: list[Numbering] = []
    for field in cls.__fields__.values():
        if isinstance(field, AutoIncrement):
            check_sequence(field, cls.__fields__)
            numbers.append(numbering(field, layout, tagged=table.tag is not None))
    return Model(
        entity=cls,
        name=cls.__name__,
        table=table,
        tag=None if table.tag is None else tag or cls.__name__,
        aliases=aliases,
        fields=cls.__fields__,
        primary=layout,
        indexes=indexes,
        numbers=tuple(numbers),
        family=primary.root,
        patterns=_patterns(cls),
    )


def _annotation(field: Field[Any]) -> object:
    _ = field.codec
    return field.annotation


def _index_layouts(cls: type[Entity], table: Table, types: Mapping[str, object]) -> dict[str, Layout]:
    layouts: dict[str, Layout] = {}
    owners: dict[str, str] = {}
    for name, key in _keys(cls).items():
        if key.on is None:
            continue
        if not any(index is key.on for index in table.indexes):
            raise DeclarationError(
                f"{cls.__qualname__}.{name} is a key of {key.on!r}, which table {table.name!r} does not have",
                hint="list it: Table(..., indexes=[...])",
            )
        other = owners.setdefault(key.on.name, name)
        if other != name:
            raise DeclarationError(
                f"{cls.__qualname__}.{other} and .{name} are keys of one index {key.on.name!r}",
                hint="an item has one place in an index: add a second GlobalIndex",
            )
        layouts[name] = key.layout(table, types)
    return layouts


def _keys(cls: type[Entity]) -> dict[str, Key]:
    found: dict[str, Key] = {}
    for base in reversed(cls.__mro__):
        found |= {name: value for name, value in vars(base).items() if isinstance(value, Key)}
    return found


def _check_attributes(cls: type[Entity], table: Table, layouts: Iterable[Layout]) -> None:
    """Raise where two fields, or a field and a key attribute, the tag or the create id, are stored under one name."""
    taken = {column.name: "a key attribute" for column in table.columns} | {
        CREATE_ID: "the create id",
        WRITE_ID: "the write id",
    }
    if table.tag is not None:
        taken[table.tag] = "the type tag"
    plain = {name: part for layout in layouts for name, part in layout.plain.items()}
    types = {column.name: column.attribute_type for column in table.columns}
    for name, field in cls.__fields__.items():
        if plain.get(field.attribute) == name and types[field.attribute] == field.codec.attribute_type:
            continue
        other = taken.setdefault(field.attribute, f"field {name!r}")
        if other != f"field {name!r}":
            raise DeclarationError(
                f"{cls.__qualname__}.{name} would be stored as {field.attribute!r}, which is {other}",
                hint='store it under another name: Field(name="..."); a field may only be a key attribute itself where '
                "the template is exactly {field}, raw or a number, and stored as the key is",
            )


def _patterns(cls: type[Entity]) -> tuple[str, ...]:
    names: list[str] = []
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if hasattr(getattr(value, "__func__", None), "__singletable_pattern__"):
                names.append(name)
    return tuple(dict.fromkeys(names))
