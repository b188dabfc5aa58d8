"""How one key of an entity stands in the table or in an index.

Theory of operation. Each half of a key is one or more *columns*, key attributes with a template. Text keys and single
native keys have one column a half; DynamoDB's multi-attribute index keys have up to four, each holding one field as it
is. A layout writes and reads whole keys; an index layout may also say which items the index holds at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from singletable.errors import UnknownPart, closest
from singletable.expressions import Condition
from singletable.keys import PK_BYTES, SK_BYTES, BoundTemplate, KeyRange, KeyTemplate, NativeTemplate
from singletable.scopes import Scope, closing, remember
from singletable.wire import AttributeValue, Item

__all__ = ["Column", "Layout", "wire_key", "words"]


@dataclass(frozen=True, slots=True)
class Column:
    """One key attribute: its name and the template of what stands in it."""

    name: str
    template: KeyTemplate

    def render(self, values: Mapping[str, Any], limit: int) -> AttributeValue:
        """Write the attribute. MissingPart, KeyPartError or KeyTooLong where a part does not fit."""
        return wire_key(self.template, self.template.render(values, limit=limit))

    def parse(self, item: Item) -> dict[str, Any] | None:
        """Read the parts; None where the attribute is absent or not of this template."""
        stored = item.get(self.name, {}).get(self.template.attribute_type)
        if stored is None:
            return None
        return self.template.parse(stored.hex() if isinstance(stored, bytes) else stored)

    @property
    def is_plain(self) -> bool:
        """Whether the attribute holds one field's value just as the field itself would be stored."""
        if isinstance(self.template, NativeTemplate):
            return True
        [segment, *others] = self.template.segments
        return self.template.raw and not others and segment.part is not None and not segment.affix

    def under(self, scope: Scope) -> Column:
        """Give the column as it stands in a scope: an attribute that does not begin with the scope stays as it is."""
        return Column(self.name, scope.before(self.template)) if self.name in scope.names else self

    def __str__(self) -> str:
        template = self.template
        return f"{{{template.part}}}" if isinstance(template, NativeTemplate) else template.template.text


def _parts(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for column in columns for part in column.template.parts if part))


def wire_key(template: KeyTemplate, text: str) -> AttributeValue:
    """Give key text in DynamoDB JSON; a binary key is written as hex until then."""
    return {template.attribute_type: bytes.fromhex(text) if template.attribute_type == "B" else text}


def words(columns: tuple[Column, ...]) -> str:
    """Give the templates of one half as they were declared."""
    return ", ".join(map(str, columns))


@dataclass(frozen=True, slots=True)
class Layout:
    """One key in the table (`index` None) or an index: the columns of both halves, `sks` empty without sort key.

    A part without a name stands for whatever follows; nobody can give it.

    `local` tells a local index, which can be read consistently. `when` is the condition an item meets to be in the
    index at all, and `watched` the fields it looks at. `origin` is the key it was declared by, which kinds of a base
    share. `held` are the attributes that the rows of the index have, and `shows` the fields that they give; None where
    they are whole. `widest` is the range of a query that names no part of the sort key, where the template does not
    tell: that of a collection. The other attributes are worked out of these once.
    """

    index: str | None
    pks: tuple[Column, ...]
    sks: tuple[Column, ...] = ()
    local: bool = False
    when: Condition | None = None
    watched: tuple[str, ...] = ()
    held: frozenset[str] | None = None
    shows: frozenset[str] | None = None
    origin: object = field(default=None, compare=False, repr=False)
    scope: Scope | None = field(default=None, compare=False, repr=False)
    """What stands before the partition key; open in the layout that a class declares, None where the table has none."""
    declared: Layout | None = field(default=None, compare=False, repr=False)
    """The layout as its class declares it, where this one stands in a scope."""
    scoped: dict[Scope, Layout] = field(init=False, compare=False, repr=False)
    """This layout in the scopes it was last seen in."""
    widest: KeyRange | None = None
    columns: tuple[Column, ...] = field(init=False, repr=False)
    parts: tuple[str, ...] = field(init=False, repr=False)
    """Every part, the partition key's first; a part in both halves once."""
    pk_parts: tuple[str, ...] = field(init=False, repr=False)
    """The parts of the partition key."""
    optional: frozenset[str] = field(init=False, repr=False)
    """The parts that may be absent, `{part?}`."""
    required: tuple[str, ...] = field(init=False, repr=False)
    """The parts without which there is no key: all but the optional ones."""
    names: tuple[str, ...] = field(init=False, repr=False)
    """The key attributes' names."""
    raw: bool = field(init=False, repr=False)
    """Whether a half of the key holds values as they are, unescaped."""
    plain: Mapping[str, str] = field(init=False, repr=False)
    """The key attributes that hold one field's value just as the field itself would be stored, with that field."""

    def __post_init__(self) -> None:
        columns = self.pks + self.sks
        texts = [column.template for column in columns if isinstance(column.template, BoundTemplate)]
        parts, optional = _parts(columns), frozenset[str]().union(*(each.optional for each in texts))
        self._derive("scoped", dict[Scope, Layout]())
        self._derive("columns", columns)
        self._derive("parts", parts)
        self._derive("pk_parts", _parts(self.pks))
        self._derive("optional", optional)
        self._derive("required", tuple(part for part in parts if part not in optional))
        self._derive("names", tuple(column.name for column in columns))
        self._derive("raw", any(each.raw for each in texts))
        self._derive("plain", {column.name: column.template.parts[0] for column in columns if column.is_plain})

    def _derive(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def pk_name(self) -> str:
        """The (first) partition key attribute's name."""
        return self.pks[0].name

    @property
    def pk(self) -> KeyTemplate:
        """The (first) partition key attribute's template."""
        return self.pks[0].template

    @property
    def sk_name(self) -> str | None:
        """The (first) sort key attribute's name; None without sort key."""
        return self.sks[0].name if self.sks else None

    @property
    def sk(self) -> KeyTemplate | None:
        """The (first) sort key attribute's template; None without sort key."""
        return self.sks[0].template if self.sks else None

    def under(self, scope: Scope | None) -> Layout:
        """Give the layout as it stands in a store's scope. UsageError where that is none of this table."""
        if self.scope is scope or self.scope == scope:
            return self
        said = closing(self.scope, scope)
        found = self.scoped.get(said)
        if found is not None:
            return found
        pks, sks = (tuple(column.under(said) for column in half) for half in (self.pks, self.sks))
        return remember(self.scoped, said, replace(self, pks=pks, sks=sks, scope=said, declared=self))

    def render(self, values: Mapping[str, Any]) -> Item:
        """Write the key attributes. MissingPart, KeyPartError or KeyTooLong where a part does not fit.

        UsageError while the scope is open: only a store that says it can write keys.
        """
        if self.scope is not None:
            self.check_said()
        return self.tried(values)

    def check_said(self) -> None:
        """Raise UsageError while the scope is open."""
        if self.scope is not None and self.scope.is_open:
            raise self.scope.refusal()

    def tried(self, values: Mapping[str, Any]) -> Item:
        """Write the key attributes as `render` does, and without an open scope: to see whether the parts fit."""
        key: Item = {column.name: column.render(values, PK_BYTES) for column in self.pks}
        for column in self.sks:
            key[column.name] = column.render(values, SK_BYTES)
        return key

    def parse(self, item: Item) -> dict[str, Any] | None:
        """Read every part out of the key attributes; None where they are not of this layout."""
        values: dict[str, Any] = {}
        for column in self.columns:
            more = column.parse(item)
            if more is None or any(values[name] != more[name] for name in values.keys() & more.keys()):
                return None
            values |= more
        return values

    def check_names(self, names: Mapping[str, object] | tuple[str, ...]) -> None:
        """Raise UnknownPart for a name that is no part of this key."""
        for name in names:
            if name not in self.parts:
                raise UnknownPart(
                    name, given="a value", wanted=f"a part of this key ({self})", hint=closest(name, self.parts)
                )

    def __str__(self) -> str:
        return " / ".join(words(half) for half in (self.pks, self.sks) if half)
