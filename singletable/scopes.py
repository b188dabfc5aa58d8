"""What stands before every partition key of a store that is scoped, such as to one tenant.

Theory of operation. A table declares its scope as a template, `#TENANT#{tenant}`. Until a store says which tenant, the
scope is *open*, and no key can be written with it. Once it is said, the scope is rendered and encoded like any key, and
its segments stand as plain *literals* before those of each partition key's template: whatever renders, parses or ranges
over such a template has the scope in it, and nothing can leave it out. A value is encoded, so that one which holds `#`
makes no other scope, and all scopes of a table have equally many segments, so that none begins another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from singletable.errors import DeclarationError, MissingPart, TemplateError, UnknownPart, UsageError, closest, kind_of
from singletable.indexes import KeyColumn
from singletable.keys import DELIMITER, PK_BYTES, BoundTemplate, KeyTemplate, Segment, Template, key_format

__all__ = ["Scope", "closing", "read_scope", "remember"]

K = TypeVar("K")
V = TypeVar("V")

KEPT = 64
"""So many scopes, at most, is a key or a mapper kept in."""

EMPTY = Segment("")
"""The segment before a leading delimiter."""

SUCH_AS = 'such as Table(..., scope="#TENANT#{tenant}")'


@dataclass(frozen=True, slots=True)
class Scope:
    """A table's scope: its template, the key attributes that begin with it, and its text once a store says it.

    `text` is None while the scope is open.
    """

    template: BoundTemplate
    names: frozenset[str] = field(hash=False)
    text: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has said yet which one it is."""
        return self.text is None

    def of(self, parts: Mapping[str, object]) -> Scope:
        """Say which one it is. UnknownPart, MissingPart, KeyPartError or KeyTooLong for parts that do not fit."""
        names = self.template.parts
        for name in parts:
            if name not in names:
                raise UnknownPart(name, given="a value", wanted=f"a part of {self}", hint=closest(name, names))
        for name in names:
            if parts.get(name) is None:
                given = "None" if name in parts else "nothing"
                raise MissingPart(name, given=given, wanted=f"every part of {self}", hint=self._call())
        return replace(self, text=self.template.render(parts, limit=PK_BYTES))

    def before(self, template: KeyTemplate) -> BoundTemplate:
        """Put the scope, as literals, before the template of a partition key."""
        own, text, delimiter = self.fitting(template), self._said(), self.template.delimiter
        literals = tuple(map(Segment, text.split(delimiter)))
        leading = own.segments[0] == EMPTY
        made = replace(
            own.template,
            text=f"{self}{'' if leading else delimiter}{own.template.text}",
            segments=literals + (own.segments[1:] if leading else own.segments),
            scope_bytes=len(text.encode()),
        )
        return BoundTemplate(made, own.formats)

    def hidden(self, key: str) -> str:
        """Put the scope before the partition key of a hidden item, such as "#!SEQ#order"."""
        delimiter = self.template.delimiter
        return self._said() + ("" if key.startswith(delimiter) else delimiter) + key

    def fitting(self, template: KeyTemplate) -> BoundTemplate:
        """Give the template of a partition key back, or raise TemplateError where it cannot carry the scope."""
        if not isinstance(template, BoundTemplate):
            raise TemplateError(
                f"the partition key {template.part!r} is a value as it is, which cannot carry the scope {self}",
                hint='give it a template: Key(pk="#PART#{part}", ...) on a text attribute',
            )
        if template.delimiter != self.template.delimiter:
            raise TemplateError(
                f"key template {template.template.text!r} has another delimiter than the scope {self}",
                hint="use one for all keys of the table: Table(..., raw=...)",
            )
        if (template.segments[0] == EMPTY) is not (self.template.segments[0] == EMPTY):
            fix = "begin both with the delimiter, or neither: then no two keys become one"
            raise TemplateError(f"key template {template.template.text!r} does not begin as the scope {self}", hint=fix)
        return template

    def refusal(self) -> UsageError:
        """Make the error for what needs a scoped store."""
        return UsageError(
            f"every partition key of this table begins with its scope {self}, which this store does not say",
            hint=self._call(),
        )

    def _said(self) -> str:
        if self.text is None:
            raise self.refusal()
        return self.text

    def _call(self) -> str:
        return f"use a store that does: store.scoped({', '.join(f'{part}=...' for part in self.template.parts)})"

    def __str__(self) -> str:
        return self.template.template.text

    def __repr__(self) -> str:
        return f"<Scope {self}{', open' if self.is_open else ''}>"


def closing(declared: Scope | None, scope: Scope | None) -> Scope:
    """Give a store's scope, which says what a table leaves open. UsageError where it does not."""
    if scope is None and declared is not None:
        raise declared.refusal()
    if scope is None or replace(scope, text=None) != declared:
        raise UsageError(
            "this was made for another table, or in another scope than this store's",
            hint="use the store of its own table, and make keys, references and queries with the class itself",
        )
    return scope


def remember(cache: dict[K, V], key: K, value: V) -> V:
    """Keep a value, and forget all others once there are many; give it back."""
    if len(cache) >= KEPT:
        cache.clear()
    cache[key] = value
    return value


def read_scope(
    text: object, halves: Iterable[tuple[str, tuple[KeyColumn, ...]]], sks: tuple[KeyColumn, ...], raw: bool | str
) -> Scope:
    """Read what a Table is given as `scope=`, raw as its keys are; `halves` are its partition keys, `sks` its sort key.

    TemplateError for what is no scope, DeclarationError for a partition key that cannot carry one.

    >>> scope = read_scope("#TENANT#{tenant}", [("the table", (KeyColumn("PK", "S"),))], (), False)
    >>> scope.of({"tenant": "a#b"}).text
    '#TENANT#a%23b'
    """
    names = frozenset[str]().union(*(_carrying(where, half, sks) for where, half in halves))
    if not isinstance(text, str):
        raise TemplateError(f"scope= was given {kind_of(text)}, wanted a key template", hint=SUCH_AS)
    delimiter = raw if isinstance(raw, str) else DELIMITER if raw else None
    template = Template.parse(text, delimiter=delimiter)
    if not template.parts:
        raise TemplateError(f"scope {text!r} names no part, so that all would share it", hint=SUCH_AS)
    if any(segment.spread or segment.optional or segment.descending or segment.width for segment in template.segments):
        raise TemplateError(f"scope {text!r} has a part that is not whole text", hint=f"write {{name}}, {SUCH_AS}")
    return Scope(template.bind(dict.fromkeys(template.parts, key_format(str, raw=raw))), names)


def _carrying(where: str, half: tuple[KeyColumn, ...], sks: tuple[KeyColumn, ...]) -> set[str]:
    """Give the names of a partition key that can carry a scope: one text attribute, and not the table's sort key."""
    column, *more = half
    why_not = ""
    if more:
        why_not = "several attributes"
    elif column in sks:
        why_not = "the table's sort key"
    elif column.attribute_type != "S":
        why_not = "no text"
    if why_not:
        raise DeclarationError(
            f"the scope cannot stand before the partition key of {where}, which is {why_not}",
            hint='make it one text attribute of its own, such as GlobalIndex("GSI1") with Key(on=gsi1, pk="...")',
        )
    return {column.name}
