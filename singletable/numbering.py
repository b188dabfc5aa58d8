"""Which strategy an AutoIncrement field uses: only the class itself decides, so that no other entity can change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from singletable.errors import DeclarationError, TemplateError, closest
from singletable.increments import AutoIncrement, Drawing, Per, Strategy
from singletable.indexes import KeyColumn
from singletable.keys import BoundTemplate, KeyTemplate, Template, key_format
from singletable.layouts import Column, Layout
from singletable.scopes import Scope

__all__ = ["Numbering", "adopted_keys", "in_order", "numbering"]


@dataclass(frozen=True, slots=True)
class Numbering:
    """How one AutoIncrement field of an entity draws its numbers, up to which one, and why so.

    `attribute` is the field's stored name, which names its counter, and `needs` are the fields that choose the counter.
    `templates` are those of a Sequence: its partition key, where it has one, and that of an adopted item's sort key.
    """

    name: str
    attribute: str
    options: Drawing
    strategy: Strategy
    per: Per
    max_value: int
    why: str
    needs: tuple[str, ...] = ()
    templates: tuple[KeyTemplate, ...] = ()

    @property
    def claims(self) -> bool:
        """Whether a number is drawn by being stored, and is nobody's before."""
        return self.strategy == "sort_key" or self.options.gapless

    @property
    def in_partition(self) -> bool:
        """Whether it is a counter of its own for each partition, which begins after what is stored there."""
        return self.is_own_counter and self.per == "partition"

    @property
    def adopts(self) -> bool:
        """Whether its counter is an item that other programs count with."""
        return self.options.sequence is not None and self.options.sequence.attribute is not None

    @property
    def raises_counter(self) -> bool:
        """Whether a number that a new entity brings along moves the counter."""
        return self.strategy == "counter" and self.options.on_explicit == "allow"

    def under(self, scope: Scope) -> Numbering:
        """Give the numbering as it stands in a scope: the partition key of a Sequence begins with it."""
        pk, *rest = self.templates or (None,)
        return self if pk is None else replace(self, templates=(scope.before(pk), *rest))

    @property
    def how(self) -> str:
        """Say in words how numbers are drawn."""
        options = self.options
        blocks = f" in blocks of {options.block}" if options.block > 1 else ""
        return self.strategy + (" without gaps" if options.gapless else blocks)

    @property
    def is_own_counter(self) -> bool:
        """Whether the numbers come from a counter that only this field has."""
        return self.strategy == "counter" and self.options.sequence is None


def numbering(
    field: AutoIncrement, layout: Layout, types: Mapping[str, object], *, tagged: bool, expires: bool = False
) -> Numbering:
    """Decide how a field draws its numbers; `types` are those of all fields, `expires` says that items may.

    DeclarationError, with the reason, where its options cannot work.
    """
    name, options = field.name, field.options
    why_not = _no_sort_key(name, layout) or _only_a_counter(options, expires=expires)
    highest = _highest(name, options, layout)
    if options.start > highest or (options.start < 0 and highest < options.max_value):
        raise DeclarationError(
            f"AutoIncrement {name!r} begins at {options.start}, and its width in the key holds 0 to {highest}",
            hint="widen it, such as {" + name + ":06}, or give another start=",
        )
    if (options.strategy or ("counter" if why_not else "sort_key")) == "sort_key":
        _check_sort_key(name, options, why_not, tagged=tagged)
        why = "it is the last part of the sort key"
        return Numbering(name, field.attribute, options, "sort_key", "partition", highest, why)
    _check_counter(name, options, layout)
    per, why = _per(name, options, layout), _reason(options, why_not)
    if options.sequence is None:
        needs = layout.pk_parts if per == "partition" else ()
        return Numbering(name, field.attribute, options, "counter", per, highest, why, needs)
    templates = _templates(field, layout, types)
    needs = tuple(dict.fromkeys(part for template in templates for part in template.parts))
    return Numbering(name, field.attribute, options, "counter", per, highest, why, needs, templates)


def in_order(numbers: Iterable[Numbering]) -> Sequence[Numbering]:
    """Put the numbers in the order they are drawn in: none before those that choose its counter.

    One that is drawn by being stored is the last of all. DeclarationError where there is no such order.
    """
    waiting = sorted(numbers, key=lambda number: number.claims)
    claiming = [number.name for number in waiting if number.claims]
    if len(claiming) > 1:
        raise DeclarationError(
            f"{' and '.join(map(repr, claiming))} are both drawn by being stored, by sort key or gapless",
            hint="let one of them be a counter without gapless=True",
        )
    ordered: list[Numbering] = []
    while waiting:
        missing = {number.name for number in waiting}
        ready = next((number for number in waiting if missing.isdisjoint(number.needs)), None)
        if ready is None or (ready.claims and len(waiting) > 1):
            needed = sorted(missing.intersection(waiting[0].needs))
            raise DeclarationError(
                f"AutoIncrement {waiting[0].name!r}: its counter is chosen by {', '.join(map(repr, needed))}, which "
                "cannot be drawn before it",
                hint='count for the whole entity, per="entity", or by a Sequence without that part',
            )
        ordered.append(ready)
        waiting.remove(ready)
    return ordered


def _templates(field: AutoIncrement, layout: Layout, types: Mapping[str, object]) -> tuple[KeyTemplate, ...]:
    """Bind the templates of the field's Sequence. DeclarationError for a part that is no other field, or cannot be."""
    sequence, others = field.options.sequence, {name: kind for name, kind in types.items() if name != field.name}
    if sequence is None:
        return ()
    if sequence.attribute is None and sequence.pk == str(layout.pks[0]):
        return (layout.pk,)
    delimiter = layout.pk.delimiter if isinstance(layout.pk, BoundTemplate) and layout.pk.template.raw else None
    raw: bool | str = delimiter or False
    if sequence.attribute is not None:
        delimiter, raw = None, True
    templates = [Template.parse(text, delimiter=delimiter) for text in (sequence.pk, sequence.sk) if text is not None]
    return tuple(_bound(template, field.name, others, raw) for template in templates)


def _bound(template: Template, name: str, types: Mapping[str, object], raw: bool | str) -> BoundTemplate:
    if template.open:
        raise TemplateError(
            f"the Sequence of {name!r}: {template.text!r} has a part that may be absent or spread",
            hint="one counter has one key: name whole parts, {part}",
        )
    for part in template.parts:
        if part not in types:
            raise DeclarationError(
                f"the Sequence of {name!r} names {part!r}, which is no other field", hint=closest(part, types)
            )
    parts = {segment.part: segment for segment in template.segments if segment.part is not None}
    return template.bind(
        {
            part: key_format(types[part], width=segment.width, raw=raw, descending=segment.descending)
            for part, segment in parts.items()
        }
    )


def _only_a_counter(options: Drawing, *, expires: bool) -> str:
    """Say why a counter is needed, wherever the field stands; empty where it is not."""
    if options.gapless or options.block > 1:
        return "it is gapless" if options.gapless else "it is drawn in blocks"
    return "what expires would free its number" if expires else ""


def _no_sort_key(name: str, layout: Layout) -> str:
    """Say why the field cannot be numbered by the sort key; empty where it can."""
    if name in layout.pk.parts:
        return "it stands in the partition key"
    if layout.sk is None or name not in layout.sk.parts:
        return "it stands in no primary key"
    if layout.sk.parts[-1] != name:
        return "it is not the last part of the sort key"
    return _no_order(name, layout.sk) if isinstance(layout.sk, BoundTemplate) else ""


def _no_order(name: str, template: BoundTemplate) -> str:
    """Say why the highest number is not the last of its partition; empty where it is."""
    if template.segments[-1].part != name:
        return "a literal follows it in the sort key"
    if not template.formats[name].ordered:
        return "its raw text does not sort as the numbers do"
    if template.formats[name].descending or name in template.optional:
        return "it sorts downwards there, or may be absent"
    return ""


def _check_sort_key(name: str, options: Drawing, why_not: str, *, tagged: bool) -> None:
    if why_not:
        raise DeclarationError(
            f'AutoIncrement {name!r} cannot use "sort_key": {why_not}',
            hint='leave the strategy out, use "counter", or make it the last part of the primary sort key',
        )
    if options.per is not None:
        raise DeclarationError(
            f"AutoIncrement {name!r}: per= belongs to a counter", hint="a sort key counts in its own partition"
        )
    if options.reuse == "never" and not tagged:
        raise DeclarationError(
            f'AutoIncrement {name!r}: a table without tag cannot keep deleted numbers (reuse="never")',
            hint='say reuse="allow", or give the Table a tag',
        )


def _check_counter(name: str, options: Drawing, layout: Layout) -> None:
    adopted = options.sequence is not None and options.sequence.attribute is not None
    if layout.pk.attribute_type != "S" and not adopted:
        raise DeclarationError(
            f"AutoIncrement {name!r}: no counter of ours can stand under a partition key that is a number",
            hint='adopt an item as its counter: AutoIncrement(Sequence(pk="...", attribute="..."))',
        )
    if adopted and options.sequence is not None and (options.sequence.sk is None) is not (layout.sk is None):
        raise DeclarationError(
            f"AutoIncrement {name!r}: its Sequence adopts an item of a table with{'' if layout.sk else 'out'} sort key",
            hint='give the item\'s whole key: Sequence(pk="...", sk="...", attribute="..."), sk= if the table has one',
        )
    if options.reuse == "allow":
        raise DeclarationError(
            f'AutoIncrement {name!r}: reuse="allow" belongs to "sort_key"', hint="a counter never reuses a number"
        )


def _per(name: str, options: Drawing, layout: Layout) -> Per:
    if options.per is not None:
        return options.per
    in_sort_key = layout.sk is not None and name in layout.sk.parts
    return "partition" if in_sort_key and name not in layout.pk.parts else "entity"


def _highest(name: str, options: Drawing, layout: Layout) -> int:
    """Give the largest number that may be drawn: a width in a template bounds it too."""
    widths = [
        segment.width
        for template in (layout.pk, layout.sk)
        if isinstance(template, BoundTemplate)
        for segment in template.segments
        if segment.part == name and segment.width is not None
    ]
    highest: int = min([options.max_value, *(10**width - 1 for width in widths)])
    return highest


def _reason(options: Drawing, why_not: str) -> str:
    if options.sequence is not None:
        return "it draws from a Sequence"
    return "it was asked for" if options.strategy else why_not


def adopted_keys(numbers: Iterable[Numbering], columns: Sequence[KeyColumn]) -> Iterator[tuple[str, Layout]]:
    """Give each field whose counter is adopted, with where it stands; keys of number or bytes are beyond that."""
    if any(column.attribute_type != "S" for column in columns):
        return
    for number in numbers:
        if number.adopts:
            pk, *sk = [Column(column.name, each) for column, each in zip(columns, number.templates, strict=True)]
            yield number.name, Layout(None, (pk,), tuple(sk))
