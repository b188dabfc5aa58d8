"""Keys, the access patterns of an entity: what they look like, and the queries they make.

Theory of operation. A `Key` on an entity class is a descriptor: `Order.key` and `Order.by_status` are bound to the
class and are called with parts to make a query. Its templates are bound to the table's or index's attributes, and to
the fields' types, when the class is understood.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, TypeAlias, TypeVar, get_args, get_origin

from singletable.codecs import Codec
from singletable.errors import DeclarationError, TemplateError, UsageError, closest, kind_of
from singletable.expressions import Condition
from singletable.indexes import GlobalIndex, KeyColumn, LocalIndex
from singletable.keys import DELIMITER, KeyFormat, KeyTemplate, NativeTemplate, Segment, Template, key_format, unwrapped
from singletable.layouts import Column, Layout
from singletable.queries import Query
from singletable.schema import Table, kinds_of
from singletable.stored_keys import native_form, stored_format

__all__ = ["Binding", "BoundKey", "Half", "Key", "pattern"]

E = TypeVar("E")
P = ParamSpec("P")

Half: TypeAlias = str | tuple[str, ...]
"""Half a key: a template, or the names of fields that are native key attributes themselves."""


class Key:
    """A key of an entity: its primary key, or with `on=` a key of an index.

    `pk` and `sk` are templates such as `"#USER#{user_id}"`. `within=Order.key` places the entity below another: its
    partition key is the parent's, and its sort key the parent's followed by `sk`. On a local index only `sk` is given,
    on an inverted index nothing. Tuples of field names, `pk=("tenant", "day")`, stand for native key attributes: the
    fields themselves, as they are. With `when=lambda o: o.status == "OPEN"` the index holds only items that meet the
    condition; the function is called on the class, once.

    With `raw=True` values stand in the key as they are, for tables that exist: no escaping, no padding, and a value
    that holds `#` is refused; `raw="|"` says another delimiter.
    """

    def __init__(
        self,
        *,
        pk: Half | None = None,
        sk: Half | None = None,
        on: GlobalIndex | LocalIndex | None = None,
        within: BoundKey[Any] | None = None,
        when: Callable[[Any], Condition] | None = None,
        raw: bool | str = False,
    ) -> None:
        _check_options({"pk": pk, "sk": sk, "on": on, "within": within, "when": when, "raw": raw})
        self.within = within
        self.parent: Key | None = None if within is None else within.key
        if self.parent is not None:
            raw = raw or self.parent.raw
        self.raw: bool | str = raw
        self.on = on
        self.when = when
        self.pk = pk
        self.sk = sk
        self.root: Key = self if self.parent is None else self.parent.root
        self.name: str = ""
        self.places: list[str] = []
        self._check()

    def _check(self) -> None:
        if self.when is not None and self.on is None:
            raise TemplateError("when= belongs to an index key", hint="every entity stands in its table")
        if self.parent is not None:
            _check_child(self, self.parent)
        elif isinstance(self.on, LocalIndex):
            if self.pk is not None or self.sk is None:
                raise TemplateError("a key on a LocalIndex has the table's partition key", hint="give only sk=")
        elif not self.pk and (self.on is None or self.pk is not None or self.sk is not None):
            raise TemplateError(
                "a Key has no partition key template", hint='such as Key(pk="#USER#{user_id}", sk="#A")'
            )

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name
        self.places.append(f"{owner.__qualname__}.{name}")

    def __get__(self, instance: None, owner: type[E]) -> BoundKey[E]:
        if instance is not None:
            raise AttributeError(
                f"{self.name!r} is a key of the class {owner.__name__}: write {owner.__name__}.{self.name}"
            )
        return BoundKey(owner, self)

    @property
    def halves(self) -> tuple[Half | None, Half | None]:
        """Both halves as they stand in the table: those of a child begin with its parent's."""
        if self.parent is None:
            return self.pk, self.sk
        pk, sk = self.parent.halves
        return pk, f"{sk}{self.sk}"

    def __repr__(self) -> str:
        return f"<Key {self.name} {self}>"

    def __str__(self) -> str:
        return " / ".join(half if isinstance(half, str) else ", ".join(half) for half in self.halves if half)


def _check_options(options: Mapping[str, object]) -> None:
    """Refuse what is given as an option of a Key and is none."""
    for option, given in options.items():
        if given is not None and not _OPTIONS[option][0](given):
            what = f"the class {given.__name__}" if isinstance(given, type) else kind_of(given)
            hint = _OPTIONS[option][1]
            if option == "within" and hasattr(given, "__singletable__"):
                hint = f"write within={getattr(given, '__name__', '')}.key: the key of the entity above"
            raise DeclarationError(f"Key({option}=...) was given {what}", hint=hint)


def _is_half(given: Any) -> bool:
    texts: tuple[object, ...] = given if given.__class__ is tuple else (given,)
    return all(isinstance(text, str) for text in texts)


def _delimiter(raw: bool | str) -> str | None:
    """Give the delimiter of raw keys; None for encoded ones."""
    return raw if isinstance(raw, str) else DELIMITER if raw else None


def _check_child(key: Key, parent: Key) -> None:
    if key.pk is not None or key.on is not None:
        raise TemplateError("Key(within=...) takes its partition key and index from the parent", hint="give only sk=")
    if not isinstance(parent.halves[1], str) or parent.on is not None or not isinstance(key.sk, str):
        raise TemplateError(
            "Key(within=...) wants the primary key of an entity with a text sort key, and sk= of its own",
            hint='such as Key(within=Order.key, sk="#LINE#{line_no}")',
        )
    delimiter = _delimiter(key.raw) or DELIMITER
    if not key.sk.startswith(delimiter):
        raise TemplateError(
            f"the sort key {key.sk!r} does not begin with {delimiter!r}", hint=f'write sk="{delimiter}{key.sk}"'
        )


@dataclass(frozen=True, slots=True)
class Binding:
    """What templates are bound to: the table, the primary key, and the types and stored names of an entity's fields.

    `codecs` are those that were given for fields, by which they stand in raw and native keys.
    """

    table: Table
    primary: tuple[Half | None, Half | None]
    types: Mapping[str, object]
    attributes: Mapping[str, str]
    codecs: Mapping[str, Codec]

    def layout(self, key: Key) -> Layout:
        """Bind a key to the table's or its index's attributes. DeclarationError where they do not fit."""
        pks, sks = self._columns(key)
        pk, sk = self._halves(key)
        if bool(sks) is not (sk is not None):
            raise TemplateError(
                f"{key}: the {'index' if key.on else 'table'} has {'a' if sks else 'no'} sort key",
                hint='add sk="..." (a constant such as "#PROFILE" will do)' if sks else "leave sk= out",
            )
        raw = key.raw or self.table.raw
        return Layout(
            None if key.on is None else key.on.name,
            self._bound(pk or (), pks, raw, in_partition=True),
            () if sk is None else self._bound(sk, sks, raw, in_partition=False),
            local=isinstance(key.on, LocalIndex),
            origin=key,
            scope=self.table.scope,
        )

    def _columns(self, key: Key) -> tuple[tuple[KeyColumn, ...], tuple[KeyColumn, ...]]:
        if key.on is None:
            return self.table.pks, self.table.sks
        return self.table.pks_of(key.on), key.on.sks

    def _halves(self, key: Key) -> tuple[Half | None, Half | None]:
        """Give the halves of a key; those that are left out on an index are the primary key's."""
        if key.on is None or key.pk is not None:
            return key.halves
        pk, sk = self.primary
        if isinstance(key.on, LocalIndex):
            return pk, key.sk
        if key.on.pks != self.table.sks or key.on.sks != self.table.pks:
            raise TemplateError(
                f"{key.on!r} is not the table's key turned around", hint='give the key\'s templates: pk="...", sk="..."'
            )
        return sk, pk

    def _bound(
        self, half: Half, columns: tuple[KeyColumn, ...], raw: bool | str, *, in_partition: bool
    ) -> tuple[Column, ...]:
        if isinstance(half, tuple):
            return self._native_half(half, columns)
        if len(columns) != 1:
            raise TemplateError(
                f"{half!r} stands for {len(columns)} key attributes",
                hint="name the fields: (" + ", ".join(repr(column.name) for column in columns) + ")",
            )
        template = Template.parse(half, delimiter=_delimiter(raw))
        if in_partition and template.open:
            raise TemplateError(
                f"key template {half!r}: a query needs every part of a partition key",
                hint='move {part*} or {part?} to the sort key, as in sk="#REGION#{path*}"',
            )
        return (Column(columns[0].name, self._text(template, columns[0], raw)),)

    def _text(self, template: Template, column: KeyColumn, raw: bool | str) -> KeyTemplate:
        for part in template.parts:
            self._check_field(part, template.text)
        if column.attribute_type != "S":
            return self._single(template, column)
        formats: dict[str, KeyFormat] = {}
        for segment in template.segments:
            if segment.part is not None:
                formats[segment.part] = self._format(segment, segment.part, raw)
        return template.bind(formats)

    def _format(self, segment: Segment, part: str, raw: bool | str) -> KeyFormat:
        """Choose how a part is written: by its annotation, or in a raw key by the codec that was given for it."""
        kind = self.types[part]
        if raw is not False and part in self.codecs and not (segment.spread or segment.width or segment.descending):
            return stored_format(self.codecs[part], kind, raw=raw)
        return key_format(
            _element(part, kind) if segment.spread else kind,
            width=segment.width,
            raw=raw,
            descending=segment.descending,
        )

    def _single(self, template: Template, column: KeyColumn) -> NativeTemplate:
        """Bind a template that stands for a number or binary attribute: exactly one part."""
        part = template.segments[0].part
        if template.segments != (Segment(part=part),) or part is None or not self._fits(part, column):
            raise TemplateError(
                f"{template.text!r}: the key attribute {column.name!r} is {_KINDS[column.attribute_type]}",
                hint="its template is exactly one {field} of that type",
            )
        return self._value(part, column)

    def _native_half(self, names: tuple[str, ...], columns: tuple[KeyColumn, ...]) -> tuple[Column, ...]:
        if len(names) != len(columns):
            raise TemplateError(
                f"{', '.join(names)}: {len(names)} fields for {len(columns)} key attributes",
                hint="name one for each: (" + ", ".join(repr(column.name) for column in columns) + ")",
            )
        return tuple(self._native(name, column) for name, column in zip(names, columns, strict=True))

    def _native(self, name: str, column: KeyColumn) -> Column:
        """Bind one native key attribute to the field that it is."""
        self._check_field(name, name)
        if self.attributes[name] != column.name:
            raise TemplateError(
                f"field {name!r} is stored as {self.attributes[name]!r}, the key attribute is {column.name!r}",
                hint=f'call the attribute so in the index, or store the field under it: Field(name="{column.name}")',
            )
        if self._fits(name, column):
            return Column(column.name, self._value(name, column))
        if column.attribute_type == "S":
            return Column(
                column.name,
                Template.parse(f"{{{name}}}", delimiter=DELIMITER).bind({name: key_format(self.types[name], raw=True)}),
            )
        raise TemplateError(
            f"field {name!r} does not fit the key attribute, which is {_KINDS[column.attribute_type]}",
            hint="say the attribute's type where it is declared: (name, int), (name, bytes) or (name, str)",
        )

    def _fits(self, part: str, column: KeyColumn) -> bool:
        if part in self.codecs:
            return self.codecs[part].attribute_type == column.attribute_type
        return self.types[part] in _NATIVE[column.attribute_type]

    def _value(self, part: str, column: KeyColumn) -> NativeTemplate:
        """Make the template of a key that is one field's value."""
        form = native_form(self.codecs[part], self.types[part]) if part in self.codecs else None
        return NativeTemplate(part, column.attribute_type, form)

    def _check_field(self, part: str, text: str) -> None:
        if part not in self.types:
            raise TemplateError(f"{text!r}: {part!r} is no field of the entity", hint=closest(part, self.types))


_NATIVE: Mapping[str, tuple[object, ...]] = {"S": (str,), "N": (int, Decimal), "B": (bytes,)}
_KINDS = {"S": "text", "N": "a number", "B": "binary"}


def _element(part: str, annotation: object) -> object:
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and arguments[1:] == (...,) and unwrapped(arguments[0]) is str:
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
        model = kinds_of(self.owner)[0]
        return model.primary if self.key.on is None else model.indexes[self.key.name]

    def __call__(self, /, **parts: object) -> Query[E]:
        """Query by every partition key part and any number of leading sort key parts.

        With all parts given the sort key is equal, otherwise it is the node they name and all below it.
        """
        return Query(self.owner, self.layout, parts)

    def __iter__(self) -> NoReturn:
        raise UsageError(
            f"{self.owner.__name__}.{self.key.name} is a key",
            hint=f"call it with parts and run the query: store.query({self.owner.__name__}.{self.key.name}(...))",
        )

    def __repr__(self) -> str:
        return f"<{self.owner.__name__}.{self.key.name} {self.key}>"


_OPTIONS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "pk": (_is_half, 'wanted a template, such as pk="#USER#{user_id}", or a tuple of field names'),
    "sk": (_is_half, 'wanted a template, such as sk="#ORDER#{order_id}", or a tuple of field names'),
    "on": (lambda given: isinstance(given, GlobalIndex | LocalIndex), "wanted the GlobalIndex or LocalIndex itself"),
    "within": (lambda given: isinstance(given, BoundKey), "wanted the key of the entity above: within=Order.key"),
    "when": (callable, 'wanted a function of the class: when=lambda o: o.status == "OPEN"'),
    "raw": (lambda given: isinstance(given, bool | str), 'wanted True or a delimiter, such as raw="|"'),
}


def pattern(function: Callable[Concatenate[type[E], P], Query[E]]) -> Callable[Concatenate[type[E], P], Query[E]]:
    """Mark a classmethod as a named access pattern of its entity, so that `describe()` lists it.

    Written below `@classmethod`; its arguments and its result are checked as those of any function.
    """
    given: object = function
    if not inspect.isfunction(given):
        raise DeclarationError(
            f"@pattern was given a {type(given).__name__}, wanted a function",
            hint="write @classmethod above @pattern",
        )
    function.__dict__["__singletable_pattern__"] = True
    return function
