"""How several entities stand in one collection: their keys are laid beside its templates, segment by segment.

Theory of operation. A collection is a range of one partition of the table or of an index: its partition key template,
and the beginning of the sort key. What it names is written as its members write it there, so each part of its templates
takes the format of the members' parts in that place, and these must agree. A sort key template of a collection is the
node above its members: a last part without a name spreads over whatever they have below it. Without one the range is
the least that holds every member's keys. A member none of whose keys could stand in that range is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from singletable.checks import example_of, stands_in
from singletable.errors import DeclarationError, TemplateError
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.keys import (
    DELIMITER,
    BoundTemplate,
    KeyFormat,
    KeyTemplate,
    NativeTemplate,
    Segment,
    Template,
    enclosing,
    key_format,
    key_range,
)
from singletable.layouts import Column, Layout
from singletable.patterns import Half
from singletable.schema import Model

__all__ = ["Range", "gathered"]

BELOW = ""
"""The name of the part that stands for what members have below the collection's own sort key."""

Owned: TypeAlias = tuple[str, KeyTemplate]
"""A member's name, with its template of a key attribute."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a collection is declared with: the templates of its range, and the index it is read from."""

    pk: Half
    sk: Half | None = None
    on: GlobalIndex | LocalIndex | None = None

    def __str__(self) -> str:
        halves = (half if isinstance(half, str) else ", ".join(half) for half in (self.pk, self.sk) if half)
        return " / ".join(halves) + ("" if self.on is None else f" on index {self.on.name!r}")


def gathered(declared: Range, models: Sequence[Model]) -> Layout:
    """Bind a collection's templates to the keys of its members. DeclarationError where one cannot stand in it."""
    keys = [(model.name, _key_of(model, declared)) for model in models]
    _, first = keys[0]
    pks = _half(declared, declared.pk, [(name, layout.pks) for name, layout in keys], in_partition=True)
    sks = _half(declared, declared.sk, [(name, layout.sks) for name, layout in keys], in_partition=False)
    widest = None
    if declared.sk is None and len(sks) == 1:
        widest = enclosing(key_range(layout.sks[0].template, {}) for _, layout in keys)
    made = Layout(first.index, pks, sks, local=first.local, widest=widest, scope=first.scope, held=first.held)
    for name, layout in keys:
        if not stands_in(made, layout):
            raise _outside(declared, name, layout)
    return made


def _key_of(model: Model, declared: Range) -> Layout:
    """Find the key by which an entity stands on the collection's index, or in the table."""
    index = None if declared.on is None else declared.on.name
    found = model.layouts_on(index)
    if not found:
        raise DeclarationError(
            f"{model.name} has no key on index {index!r}, so it cannot stand in the collection {declared}",
            hint="give it one: Key(on=..., pk=..., sk=...), or leave it out of the collection",
        )
    return found[0]


def _outside(declared: Range, name: str, layout: Layout) -> DeclarationError:
    witness = example_of(layout)
    return DeclarationError(
        f"{name} cannot stand in the collection {declared}: its key is {layout}, such as {witness}",
        hint="the collection's templates are the members' own, or the beginning of their sort keys; leave sk= out for "
        "the whole partition",
        witness=witness,
    )


def _half(
    declared: Range, half: Half | None, owners: Sequence[tuple[str, tuple[Column, ...]]], *, in_partition: bool
) -> tuple[Column, ...]:
    """Bind one half of the collection's key to the columns of the members, which all have the same ones."""
    _, columns = owners[0]
    owned = [[(name, mine[at].template) for name, mine in owners] for at in range(len(columns))]
    if half is None:
        return tuple(Column(column.name, _whatever(each)) for column, each in zip(columns, owned, strict=True))
    texts = (half,) if isinstance(half, str) else tuple(f"{{{name}}}" for name in half)
    if len(texts) != len(columns):
        raise TemplateError(
            f"the collection {declared}: {half!r} stands for {len(texts)} key attributes, there are {len(columns)}",
            hint="name the part of each in a tuple: (" + ", ".join(repr(column.name) for column in columns) + ")",
        )
    bound = (_bound(declared, text, each, in_partition) for text, each in zip(texts, owned, strict=True))
    return tuple(Column(column.name, each) for column, each in zip(columns, bound, strict=True))


def _whatever(owners: Sequence[Owned]) -> KeyTemplate:
    """Give the template of a sort key that may be anything."""
    _, template = owners[0]
    if isinstance(template, NativeTemplate):
        return NativeTemplate(BELOW, template.attribute_type)
    return _below(Template("*", (), template.delimiter, template.template.raw), {})


def _bound(declared: Range, text: str, owners: Sequence[Owned], in_partition: bool) -> KeyTemplate:
    """Bind one template of the collection as its members have it there."""
    natives = [template for _, template in owners if isinstance(template, NativeTemplate)]
    texts = [(name, template) for name, template in owners if isinstance(template, BoundTemplate)]
    ways = {(template.template.raw, template.delimiter) for _, template in texts}
    if len(ways) + bool(natives) > 1:
        raise DeclarationError(
            f"the members of the collection {declared} write that key in several ways: raw, with another delimiter or "
            "natively",
            hint="gather what is written in one way",
        )
    if natives:
        return _native(text, natives[0])
    ((raw, delimiter),) = ways
    template = Template.parse(text, delimiter=delimiter if raw else None)
    if in_partition and template.open:
        raise TemplateError(
            f"the collection {declared}: a query needs every part of a partition key",
            hint="move {part*} or {part?} to the sort key",
        )
    formats = {name: _format(declared, at, segment, texts) for at, name, segment in _parts(template)}
    return template.bind(formats) if in_partition or template.open else _below(template, formats)


def _parts(template: Template) -> Iterator[tuple[int, str, Segment]]:
    for at, segment in enumerate(template.segments):
        if segment.part is not None:
            yield at, segment.part, segment


def _native(text: str, native: NativeTemplate) -> NativeTemplate:
    segments = Template.parse(text).segments
    if len(segments) != 1 or segments[0].part is None:
        raise TemplateError(f"{text!r}: the key attribute is one value as it is", hint="its template is one {part}")
    return NativeTemplate(segments[0].part, native.attribute_type)


def _below(template: Template, formats: Mapping[str, KeyFormat]) -> BoundTemplate:
    """Let a template go on with whatever its members have there."""
    raw = template.delimiter if template.raw and template.delimiter != DELIMITER else template.raw
    rest = Segment(part=BELOW, spread=True)
    longer = Template(template.text, (*template.segments, rest), template.delimiter, template.raw)
    return longer.bind({**formats, BELOW: key_format(str, raw=raw)})


def _format(declared: Range, at: int, segment: Segment, owners: Sequence[tuple[str, BoundTemplate]]) -> KeyFormat:
    """Choose how a part of the collection is written: as the members write theirs in that place."""
    found: list[tuple[str, KeyFormat]] = []
    for name, template in owners:
        theirs = template.segments[at] if at < len(template.segments) else Segment()
        if theirs.part is not None:
            _check_marks(declared, segment, name, theirs)
            found.append((name, template.formats[theirs.part]))
    if not found:
        raise DeclarationError(
            f"the collection {declared}: no member has a part in the place of {segment.part!r}",
            hint="begin as the members' own keys do: with their literals, and their parts where they have some",
        )
    (first, chosen), *others = found
    for name, other in others:
        if (chosen.name, chosen.raw, chosen.language) != (other.name, other.raw, other.language):
            raise DeclarationError(
                f"the collection {declared}: {segment.part!r} is {chosen.name} in {first} and {other.name} in {name}",
                hint="annotate both fields alike, so that one value is written in one way",
            )
    return chosen


def _check_marks(declared: Range, mine: Segment, name: str, theirs: Segment) -> None:
    """Refuse a part that a member spreads, leaves out, pads or turns round, and the collection does not."""
    marks = [(each.spread, each.optional, each.width, each.descending) for each in (mine, theirs)]
    if marks[0] != marks[1]:
        raise DeclarationError(
            f"the collection {declared}: {mine.part!r} stands in the place of {name}'s {theirs.part!r}, which is "
            "spread, optional, padded or descending in another way",
            hint="write the part with the marks it has there: {path*}, {city?}, {n:06}, {day:desc}",
        )
