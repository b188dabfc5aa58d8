"""From a class body to a `Model`: its keys are found, bound and checked.

Theory of operation. A class that declares a primary key in its own body is concrete and gets a model; any other is
abstract, a base or a mixin, whose fields and index keys its subclasses inherit. A class that says `abstract=True` may
have a primary key too: its subclasses then all stand at that key, and the tag alone tells one kind from another. The
model is made at once where every annotation is understood, and when it is first needed otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NoReturn, TypeAlias

from singletable.children import check_child
from singletable.codecs import Codec
from singletable.errors import DeclarationError, UnresolvedName, kind_of
from singletable.expressions import Condition, paths_of
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.keys import plain_type
from singletable.layouts import Layout
from singletable.numbering import Numbering, in_order, numbering
from singletable.patterns import Binding, Key
from singletable.schema import CREATE_ID, HIDDEN, WRITE_ID, Declared, Model, Table
from singletable.uniques import Unique, Uniqueness, uniqueness

__all__ = ["check_options", "declare"]

Fields: TypeAlias = Mapping[str, Field[Any]]
Names: TypeAlias = tuple[str | None, tuple[str, ...]]
"""The tag and the aliases of an entity."""


def declare(cls: type, fields: Fields, table: Table | None, names: Names, *, abstract: bool = False) -> Declared | None:
    """Make the model of a class that has a primary key, and enter it in its table; None for an abstract one."""
    _check_places(cls)
    own = _primary_keys(cls) or ([] if abstract else _shared_keys(cls))
    if abstract or not own:
        _check_abstract(cls, names[0])
    if len(own) > 1:
        raise DeclarationError(
            f"{cls.__qualname__} has {len(own)} primary keys", hint="an index key says so: Key(on=gsi1, ...)"
        )
    if abstract or not own:
        return None
    if table is None:
        raise DeclarationError(
            f"{cls.__qualname__} has a key but no table", hint=f"class {cls.__name__}(Entity, table=...)"
        )
    _check_tags(cls, table, names)
    plan = _Plan(cls, fields, table, own[0])
    declared = Declared(lambda: plan.model(names))
    with suppress(UnresolvedName):
        _ = declared.model
    table.register(cls)
    return declared


def _primary_keys(cls: type) -> list[Key]:
    """Give the primary keys that stand in the body of a class."""
    return [value for value in vars(cls).values() if isinstance(value, Key) and value.on is None]


def _shared_keys(cls: type) -> list[Key]:
    """Give the primary key of the nearest abstract base that has one; none where a concrete base comes before it."""
    for base in cls.__mro__[1:]:
        if isinstance(vars(base).get("__singletable__"), Declared):
            break
        if found := _primary_keys(base):
            return found
    return []


def check_options(cls: type, table: object, names: tuple[object, object]) -> None:
    """Refuse what a class statement gives as table=, tag= or aliases= and is none."""
    tag, aliases = names
    where = f"class {cls.__name__}(Entity, ...)"
    if table is not None and not isinstance(table, Table):
        raise DeclarationError(f"{where}: table= is {kind_of(table)}", hint='wanted a Table: app = Table("app")')
    if tag is not None and not isinstance(tag, str):
        raise DeclarationError(f"{where}: tag= is {kind_of(tag)}", hint='wanted text: tag="user"')
    if isinstance(aliases, str) or not isinstance(aliases, Iterable):
        raise DeclarationError(
            f"{where}: aliases= is {kind_of(aliases)}", hint='wanted a list of tags: aliases=["old"]'
        )


def _check_places(cls: type) -> None:
    """Refuse a Key object that is a key already: it can have one name, in one class and what inherits from it."""
    for key in vars(cls).values():
        if isinstance(key, Key) and len(key.places) > 1:
            raise DeclarationError(
                f"{key.places[-1]} is the Key object of {key.places[0]}",
                hint="make one for each: Key(...); an index key that is declared in a base class is inherited",
            )


def _check_abstract(cls: type, tag: str | None) -> None:
    concrete = next((base for base in cls.__mro__[1:] if isinstance(vars(base).get("__singletable__"), Declared)), None)
    if concrete is not None:
        raise DeclarationError(
            f"{cls.__qualname__} would have the key of {concrete.__name__}, and stand where its items stand",
            hint='declare `key = Key(pk="...", sk="...")` in the subclass, or move what is shared to an abstract base; '
            "with abstract=True that base may have the key of all its kinds",
        )
    if tag is not None:
        raise DeclarationError(
            f"{cls.__qualname__} has a tag but no item of its own: it has no primary key, or is abstract",
            hint='declare `key = Key(pk="...", sk="...")`; of an abstract class leave tag= out',
        )


def _check_tags(cls: type, table: Table, names: Names) -> None:
    tag, aliases = names
    for name in (*(() if tag is None else (tag,)), *aliases):
        if not isinstance(name, str):
            raise DeclarationError(f"{cls.__qualname__}: an alias is {kind_of(name)}", hint='wanted text: ["old"]')
        if not name or name.startswith(HIDDEN):
            raise DeclarationError(
                f"{cls.__qualname__}: {name!r} cannot be a tag", hint="wanted text without leading '!'"
            )
    if table.tag is None and (tag is not None or aliases):
        raise DeclarationError(
            f"{cls.__qualname__} has a tag, but its table keeps none", hint="leave tag= out, or give the Table a tag"
        )


class _Plan:
    """A concrete class before its annotations are understood."""

    def __init__(self, cls: type, fields: Fields, table: Table, primary: Key) -> None:
        self.cls = cls
        self.fields = fields
        self.table = table
        self.primary = primary

    def model(self, names: Names) -> Model:
        """Make the model. UnresolvedName while an annotation names nothing."""
        tag, aliases = names
        binding = Binding(
            self.table, self.primary.halves, self._types(), _attributes(self.fields), _codecs(self.fields)
        )
        layout = binding.layout(self.primary)
        if self.primary.within is not None:
            check_child(self.cls.__qualname__, self.fields, self.table, layout, self.primary.within)
        indexes = self._indexes(binding, layout)
        numbers = tuple(in_order(self._numbers(layout, binding.types, aliases)))
        self._check_scope((layout, *indexes.values()), numbers)
        self._check_attributes((layout, *indexes.values()))
        model = Model(
            entity=self.cls,
            name=self.cls.__name__,
            table=self.table,
            tag=None if self.table.tag is None else tag or self.cls.__name__,
            aliases=aliases,
            fields=self.fields,
            primary=layout,
            indexes=indexes,
            numbers=numbers,
            family=self.primary.root,
            patterns=_patterns(self.cls),
            uniques=tuple(self._uniques(names, binding)),
        )
        _check_told(model)
        return model

    def _types(self) -> dict[str, object]:
        types: dict[str, object] = {}
        for name, field in self.fields.items():
            _ = field.codec
            types[name] = plain_type(field.annotation)
        return types

    def _numbers(self, layout: Layout, types: Mapping[str, object], aliases: Sequence[str]) -> Iterable[Numbering]:
        for field in self.fields.values():
            if isinstance(field, AutoIncrement):
                number = numbering(field, layout, types, tagged=self.table.tag is not None)
                if aliases and number.is_own_counter:
                    _refuse_new_counter(self.cls, number, f"{aliases[0]}.{number.attribute}", layout)
                self._check_adopted(field)
                self._check_alone(number, layout)
                yield number

    def _uniques(self, names: Names, binding: Binding) -> Iterable[Uniqueness]:
        for unique in (*_unique_fields(self.fields), *_uniques(self.cls)):
            self._check_unique(unique, names)
            tag = unique.tag or names[0] or self.cls.__name__
            yield uniqueness(unique, tag, binding.attributes, binding.types)

    def _check_unique(self, unique: Unique, names: Names) -> None:
        """Refuse what is unique where its guards could not stand, or would not be found."""
        if self.table.pk.attribute_type != "S":
            raise DeclarationError(
                f"{self.cls.__qualname__}: {unique!r} needs guards, which cannot stand under a partition key that is "
                "no text",
                hint='declare Table(..., pk="PK") with text keys, or make the field the primary key',
            )
        if names[1] and unique.tag is None:
            raise DeclarationError(
                f"{self.cls.__qualname__}: the guards of {unique!r} were named by the tag of then",
                hint=f'say so: Unique({", ".join(map(repr, unique.fields))}, tag="{names[1][0]}")',
            )

    def _check_alone(self, number: Numbering, layout: Layout) -> None:
        """Refuse a counter for each kind where all kinds stand at one key: two would be given the same."""
        if number.is_own_counter and number.name in layout.parts and self.primary not in _primary_keys(self.cls):
            raise DeclarationError(
                f"{self.cls.__qualname__}.{number.name} stands in a key that all kinds of a base have, and would "
                "count for one kind alone",
                hint='let them draw from one counter: AutoIncrement(Sequence("..."))',
            )

    def _check_adopted(self, field: AutoIncrement) -> None:
        """Refuse to count in an attribute that is something else already."""
        adopted = field.options.sequence.attribute if field.options.sequence is not None else None
        if adopted is not None and adopted in (*(column.name for column in self.table.columns), self.table.tag):
            raise DeclarationError(
                f"{self.cls.__qualname__}.{field.name}: the Sequence counts in {adopted!r}, a key attribute or the tag",
                hint='name the attribute with the last number: Sequence(pk="...", attribute="count")',
            )

    def _indexes(self, binding: Binding, primary: Layout) -> dict[str, Layout]:
        layouts: dict[str, Layout] = {}
        owners: dict[str, str] = {}
        for name, key in _keys(self.cls).items():
            if key.on is None:
                continue
            self._check_index(name, key)
            other = owners.setdefault(key.on.name, name)
            if other != name:
                raise DeclarationError(
                    f"{self.cls.__qualname__}.{other} and .{name} are keys of one index {key.on.name!r}",
                    hint="an item has one place in an index: add a second GlobalIndex",
                )
            layouts[name] = self._projecting(key.on, self._conditional(key, binding.layout(key)), primary)
        self._check_shared({self.primary.name: primary, **layouts})
        return layouts

    def _projecting(self, on: GlobalIndex | LocalIndex, layout: Layout, primary: Layout) -> Layout:
        """Learn what the rows of an index give: the fields it holds, and those that stand in a key."""
        held = self.table.held_by(on)
        if held is None:
            return layout
        stored = {name for name, field in self.fields.items() if field.attribute in held}
        return replace(layout, held=held, shows=frozenset({*stored, *layout.parts, *primary.parts}))

    def _check_index(self, name: str, key: Key) -> None:
        if not any(index is key.on for index in self.table.indexes):
            raise DeclarationError(
                f"{self.cls.__qualname__}.{name} is a key of {key.on!r}, which table {self.table.name!r} does not have",
                hint="list it: Table(..., indexes=[...])",
            )

    def _check_shared(self, layouts: Mapping[str, Layout]) -> None:
        """Raise where two keys write different text to one attribute."""
        written: dict[str, tuple[str, str]] = {}
        for name, layout in layouts.items():
            for column in layout.columns:
                other, text = written.setdefault(column.name, (name, str(column)))
                if text != str(column):
                    raise DeclarationError(
                        f"{self.cls.__qualname__}.{other} and .{name} write {column.name!r}, as {text} and {column}",
                        hint="give the indexes key attributes of their own, or both keys the same template there",
                    )

    def _conditional(self, key: Key, layout: Layout) -> Layout:
        """Learn the condition of `when=` by calling it on the class."""
        if key.when is None:
            return layout
        condition = key.when(self.cls)
        if not isinstance(condition, Condition):
            raise DeclarationError(
                f"{self.cls.__qualname__}.{key.name}: when= gave {type(condition).__name__}, wanted a condition",
                hint='such as when=lambda o: o.status == "OPEN", joined with & and |',
            )
        names = {field.attribute: name for name, field in self.fields.items()}
        watched = tuple(dict.fromkeys(names[path.attribute] for path in paths_of(condition)))
        own = {column.name for column in self.table.pks + self.table.sks}
        if layout.plain or own.issuperset(layout.names):
            raise DeclarationError(
                f"{self.cls.__qualname__}.{key.name}: when= cannot leave out a key that is a field or the table's own",
                hint="give the index key attributes of its own, with text templates",
            )
        return replace(layout, when=condition, watched=watched)

    def _check_scope(self, layouts: Iterable[Layout], numbers: Iterable[Numbering]) -> None:
        """Raise TemplateError where a partition key, or that of a Sequence, cannot carry the table's scope."""
        scope = self.table.scope
        if scope is None:
            return
        for column in (column for layout in layouts for column in layout.columns if column.name in scope.names):
            scope.fitting(column.template)
        for template in (template for number in numbers for template in number.templates[:1]):
            scope.fitting(template)

    def _check_attributes(self, layouts: Iterable[Layout]) -> None:
        """Raise where two fields, or a field and a key attribute, the tag or an id, are stored under one name."""
        taken = {column.name: "a key attribute" for column in self.table.columns}
        taken |= {CREATE_ID: "the create id", WRITE_ID: "the write id"}
        if self.table.tag is not None:
            taken[self.table.tag] = "the type tag"
        scoped = frozenset[str]() if self.table.scope is None else self.table.scope.names
        plain = {name: part for layout in layouts for name, part in layout.plain.items() if name not in scoped}
        types = {column.name: column.attribute_type for column in self.table.columns}
        for name, field in self.fields.items():
            if plain.get(field.attribute) == name and types[field.attribute] == field.codec.attribute_type:
                continue
            other = taken.setdefault(field.attribute, f"field {name!r}")
            if other != f"field {name!r}":
                raise DeclarationError(
                    f"{self.cls.__qualname__}.{name} would be stored as {field.attribute!r}, which is {other}",
                    hint='store it under another name: Field(name="..."); a field may only be a key attribute itself '
                    "where the template is exactly {field}, raw or native, and stored as the key is",
                )


def _check_told(model: Model) -> None:
    """Refuse an index of bare table keys that would show the tombstones of deleted items as items."""
    own = {column.name for column in model.table.pks + model.table.sks}
    for name, layout in model.indexes.items():
        bare = layout.held is not None and model.table.tag not in layout.held and own.issuperset(layout.names)
        if bare and model.leaves_tombstones:
            raise DeclarationError(
                f"{model.name}.{name}: index {layout.index!r} holds keys alone, so that the tombstones of deleted "
                "items would look like items there",
                hint='projection=[] holds the tag beside the keys; or AutoIncrement(reuse="allow") leaves no tombstone',
            )


def _refuse_new_counter(cls: type, number: Numbering, old: str, layout: Layout) -> NoReturn:
    """Refuse a counter of its own for a kind that had another tag: it would give out numbers again."""
    where = f', pk="{layout.pks[0]}"' if number.per == "partition" else ""
    raise DeclarationError(
        f"{cls.__qualname__}.{number.name} would count anew: its counter was named by the tag of then",
        hint=f'go on with the old one: AutoIncrement(Sequence("{old}"{where})), or name a new Sequence',
    )


def _unique_fields(fields: Fields) -> list[Unique]:
    return [Unique(name) for name, field in fields.items() if field.unique]


def _uniques(cls: type) -> list[Unique]:
    found: dict[str, Unique] = {}
    for base in reversed(cls.__mro__):
        found |= {name: value for name, value in vars(base).items() if isinstance(value, Unique)}
    return list(found.values())


def _attributes(fields: Fields) -> dict[str, str]:
    return {name: field.attribute for name, field in fields.items()}


def _codecs(fields: Fields) -> dict[str, Codec]:
    """Give the codecs that were given for fields, as `codec=`."""
    return {name: field.codec for name, field in fields.items() if field.given_codec is not None}


def _keys(cls: type) -> dict[str, Key]:
    found: dict[str, Key] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Key):
                found[name] = value
            else:
                found.pop(name, None)  # `by = None` in a subclass takes an inherited key away
    return found


def _patterns(cls: type) -> tuple[str, ...]:
    names: list[str] = []
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if hasattr(getattr(value, "__func__", None), "__singletable_pattern__"):
                names.append(name)
    return tuple(dict.fromkeys(names))
