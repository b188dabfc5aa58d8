"""`Entity`: frozen data with declared keys.

Theory of operation. A subclass statement collects the fields of its own body, writes an `__init__` for all it has, and,
where it declares a primary key, makes its model. Whatever can be wrong is raised from `__init_subclass__`, in the class
statement itself. Instances keep their values in `__dict__`, so equality is a dict compare; what was stored beside the
fields (attributes we do not know, the create id) hides in a slot and goes along when an entity is evolved; so do the
names of the fields that were not read.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, NoReturn, Self, TypeVar, dataclass_transform

from singletable.annotations import (
    Annotations,
    field_type,
    is_class_variable,
    is_field,
    read_annotations,
)
from singletable.building import check_options, declare
from singletable.describing import describe
from singletable.errors import DeclarationError, UnknownField, UsageError, closest
from singletable.fields import MISSING, Field, computed
from singletable.patterns import Key
from singletable.pydantic_schema import core_schema_of, json_schema_of
from singletable.queries import Ref, refer
from singletable.schema import Declared, Table, model_of, primary_of
from singletable.wire import AttributeValue, Item

__all__ = [
    "ASSIGNED",
    "Entity",
    "assemble",
    "changed",
    "evolve",
    "fields",
    "given_out",
    "left_out",
    "parts_of",
    "values_of",
    "with_numbers",
]

E = TypeVar("E", bound="Entity")

FIELD_TEXT = re.compile(r"\s*(\w+\s*\.\s*)*Field\s*\[")
CLASS_TEXT = re.compile(r"\s*(\w+\s*\.\s*)*ClassVar\b")
OURS = ("at", "describe")

ASSIGNED = "!assigned"
"""What an entity carries hidden, and never stores: the numbers that were drawn for it before it is created."""


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(Field,))
class Entity:
    """The base of what is stored: subclass it with `table=` and `tag=`, annotate fields, declare keys.

        class User(Entity, table=app, tag="user"):
            user_id: Field[str]
            key = Key(pk="#USER#{user_id}", sk="#PROFILE")

    An instance is frozen data (`evolve` makes another); equality compares fields, the hash is of the class and the
    primary key's fields. `tag` names the kind in storage (the class name where it is left out: renaming the class then
    orphans rows); items under `aliases` are read too. A subclass without a primary `Key` is abstract.
    One with `abstract=True` may have the key of all its kinds, which their tags tell apart: it is read, not written.
    """

    __slots__ = ("__dict__", "__weakref__", "_hidden", "_left_out")

    _hidden: dict[str, AttributeValue]
    _left_out: frozenset[str]

    def __init_subclass__(
        cls,
        *,
        table: Table | None = None,
        tag: str | None = None,
        aliases: Iterable[str] = (),
        abstract: bool = False,
    ) -> None:
        super().__init_subclass__()
        check_options(cls, table, (tag, aliases))
        _check_mixins(cls)
        annotations = read_annotations(cls)
        own = _own_fields(cls, annotations)
        for name, field in own.items():
            field.declare(name, partial(_settle, cls, own, annotations, name), cls)
            setattr(cls, name, field)
        cls.__fields__ = {**_inherited(cls), **own}
        if table is not None:
            cls.__table__ = table
        _write_init(cls)
        declared = declare(cls, cls.__fields__, cls.__table__, (tag, tuple(aliases)), abstract=abstract)
        if declared is not None:
            cls.__singletable__ = declared

    @classmethod
    def at(cls, /, **parts: object) -> Ref[Self]:
        """Refer to the item at a primary key. MissingPart, UnknownPart or KeyPartError where a part does not fit.

        Of an abstract class with a primary key: to the item of any of its kinds, for reading.
        """
        return refer(cls, primary_of(cls), parts)

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
        return hash((type(self), *parts_of(self, model_of(type(self)).primary.parts).values()))

    def __repr__(self) -> str:
        shown = [field for name, field in self.__fields__.items() if name in self.__dict__ and not field.hidden]
        values = [f"{each.name}={'***' if each.sensitive else repr(self.__dict__[each.name])}" for each in shown]
        return f"{type(self).__name__}({', '.join(values)}{'' if left_out(self) is None else ', ...'})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, handler: Any) -> Any:
        return core_schema_of(cls, cls.__fields__, handler)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        return json_schema_of(cls, schema, handler)

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


def values_of(entity: Entity) -> Mapping[str, Any]:
    """Give the values of every field that has one, computed ones among them."""
    made = {name: field.function(entity) for name, field in entity.__fields__.items() if isinstance(field, computed)}
    return {**entity.__dict__, **made} if made else entity.__dict__


def parts_of(entity: Entity, names: Iterable[str]) -> Mapping[str, Any]:
    """Give the values of some fields, such as those of a key; None for a number that is not drawn yet.

    A computed one that was read is taken as it was: of an entity read in part it may not be computed again.
    """
    return {name: entity.__dict__[name] if name in entity.__dict__ else _made(entity, name) for name in names}


def _made(entity: Entity, name: str) -> Any:
    field = entity.__fields__[name]
    return field.function(entity) if isinstance(field, computed) else None


def evolve(entity: E, /, **changes: object) -> E:
    """Make another entity with some fields changed; nothing is stored.

    UnknownField for a name that is none, UsageError for a computed field and for another value of a read-only one,
    FieldValueError where a field's `validate` refuses its new value.
    """
    for name, value in changes.items():
        if name not in entity.__fields__:
            raise UnknownField(
                f"{type(entity).__name__} has no field {name!r}", hint=closest(name, entity.__fields__), field=name
            )
        _check_change(entity, entity.__fields__[name], value)
    return changed(entity, changes)


def _check_change(entity: Entity, field: Field[Any], value: object) -> None:
    where = f"{type(entity).__name__}.{field.name}"
    if isinstance(field, computed):
        raise UsageError(f"{where} is computed", hint="change the fields it is computed from")
    if field.read_only and (field.name not in entity.__dict__ or entity.__dict__[field.name] != value):
        raise UsageError(f"{where} is read-only", hint="its value is given when the entity is made, and kept")
    if field.validate is not None:
        field.checked(value)


def changed(entity: E, changes: Mapping[str, object]) -> E:
    """Make another entity with some values changed, whatever its fields say of it."""
    kept, missing = entity.__dict__, left_out(entity)
    if missing is not None:
        kept = {name: value for name, value in kept.items() if not isinstance(entity.__fields__[name], computed)}
    return assemble(type(entity), {**kept, **changes}, getattr(entity, "_hidden", {}), missing)


def with_numbers(entity: E, numbers: Mapping[str, int], key: Item) -> E:
    """Give an entity, which has its numbers, the knowledge that they were drawn for it under this key."""
    made = changed(entity, numbers)
    drawn = {name: {"N": str(number)} for name, number in numbers.items()}
    marks = {ASSIGNED: {"L": [{"M": drawn}, {"M": key}]}}
    object.__setattr__(made, "_hidden", {**getattr(entity, "_hidden", {}), **marks})
    return made


def given_out(entity: Entity) -> tuple[Mapping[str, int], Item]:
    """Give the numbers that were drawn for an entity before it is created, and the key they were drawn under."""
    hidden: Item = getattr(entity, "_hidden", {})
    drawn, key = hidden.get(ASSIGNED, {}).get("L", ({"M": {}}, {"M": {}}))
    return {name: int(number["N"]) for name, number in drawn["M"].items()}, key["M"]


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


def _check_mixins(cls: type[Entity]) -> None:
    """Refuse Fields and Keys of a base that is no Entity: nothing would read them."""
    outside: list[type] = [base for base in cls.__mro__ if base is not object and Entity not in base.__mro__]
    for base in outside:
        annotated = [name for name, hint in inspect.get_annotations(base).items() if _says_field(hint)]
        found = [*annotated, *(name for name, value in vars(base).items() if isinstance(value, Field | Key))]
        if found:
            raise DeclarationError(
                f"{cls.__qualname__} cannot inherit {base.__qualname__}.{found[0]}: {base.__name__} is no Entity",
                hint=f"write `class {base.__name__}(Entity)`: without a primary key it is an abstract base",
            )


def _says_field(annotation: object) -> bool:
    return is_field(annotation) or (isinstance(annotation, str) and FIELD_TEXT.match(annotation) is not None)


def _own_fields(cls: type[Entity], annotations: Annotations) -> dict[str, Field[Any]]:
    own: dict[str, Field[Any]] = {}
    for name, annotation in annotations.own.items():
        if isinstance(vars(cls).get(name), computed) or _declares_field(cls, name, annotation, annotations):
            own[name] = _field(cls, name)
    for name, value in vars(cls).items():
        if isinstance(value, Field) and name not in own:
            raise DeclarationError(
                f"{cls.__qualname__}.{name} is a Field without annotation", hint=f"write `{name}: Field[str] = ...`"
            )
    return own


def _declares_field(cls: type[Entity], name: str, annotation: object, annotations: Annotations) -> bool:
    if _says_field(annotation):
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
    if isinstance(value, type) and issubclass(value, Field):
        raise DeclarationError(
            f"{cls.__qualname__}.{name} is given the class {value.__name__}",
            hint=f"write `{name}: ... = {value.__name__}()`, with brackets",
        )
    raise DeclarationError(
        f"{cls.__qualname__}.{name} is given a plain default", hint=f"write `{name}: ... = Field(default=...)`"
    )


def _settle(cls: type[Entity], own: Mapping[str, Field[Any]], annotations: Annotations, asked: str) -> None:
    """Give each field of one class body its type. UnresolvedName while a name is missing.

    A type that a generic base leaves open is an error only where that very field is asked for.
    """
    for name, field in own.items():
        if field.annotation is MISSING:
            hint = annotations.resolve(name)
            annotation = hint if isinstance(field, computed) else field_type(hint)
            if name != asked and _is_open(annotation):
                continue
            _check_annotation(cls, field, annotation)
            field.settle(annotation, annotations.scope)


def _is_open(annotation: Any) -> bool:
    """Say whether a type variable of a generic base stands in an annotation."""
    return isinstance(annotation, TypeVar) or bool(getattr(annotation, "__parameters__", None))


def _check_annotation(cls: type[Entity], field: Field[Any], annotation: object) -> None:
    if isinstance(annotation, Field):
        raise DeclarationError(
            f"{cls.__qualname__}.{field.name} hides the type it is annotated with: both are called {field.name!r}",
            hint="add `from __future__ import annotations`, or import the type under another name",
        )


def _inherited(cls: type[Entity]) -> dict[str, Field[Any]]:
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        own = vars(base)
        found |= {name: field for name, field in own.get("__fields__", {}).items() if own.get(name) is field}
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
        if isinstance(field, computed):
            continue
        value = name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        names[f"_default_{name}"] = field.default
        (required if field.required else optional).append(name if field.required else f"{name}=_default_{name}")
        if field.validate is not None:
            names[f"_given_{name}"] = field.given
            value = f"_given_{name}({value})"
        guard = f"if {name} is not _MISSING: " if field.assigned else ""
        body.append(f"    {guard}_values[{name!r}] = {value}")
    head = ", ".join(["_self", "/", *(["*"] if required or optional else []), *required, *optional])
    exec(f"def __init__({head}):\n    _values = _self.__dict__\n" + "\n".join(body), names)
    made = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__doc__ = f"Make a {cls.__name__}; nothing is stored."
    type.__setattr__(cls, "__init__", made)
