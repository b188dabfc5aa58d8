"""Which strategy an AutoIncrement field uses: only the class itself decides, so that no other entity can change it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from singletable.errors import DeclarationError, closest
from singletable.increments import AutoIncrement, Drawing, Per, Strategy
from singletable.keys import BoundTemplate
from singletable.queries import Layout

__all__ = ["Numbering", "check_sequence", "numbering"]


@dataclass(frozen=True, slots=True)
class Numbering:
    """How one AutoIncrement field of an entity draws its numbers, up to which one, and why so."""

    name: str
    options: Drawing
    strategy: Strategy
    per: Per
    max_value: int
    why: str


def numbering(field: AutoIncrement, layout: Layout, *, tagged: bool) -> Numbering:
    """Decide how a field draws its numbers. DeclarationError, with the reason, where its options cannot work."""
    name, options = field.name, field.options
    why_not = _no_sort_key(name, layout)
    highest = _highest(name, options, layout)
    if (options.strategy or ("counter" if why_not else "sort_key")) == "sort_key":
        _check_sort_key(name, options, why_not, tagged=tagged)
        return Numbering(name, options, "sort_key", "partition", highest, "it is the last part of the sort key")
    _check_counter(name, options, layout)
    return Numbering(name, options, "counter", _per(name, options, layout), highest, _reason(options, why_not))


def check_sequence(field: AutoIncrement, names: Iterable[str]) -> None:
    """Raise DeclarationError where the field's Sequence names a part that the entity has no other field for."""
    sequence, others = field.options.sequence, [name for name in names if name != field.name]
    for part in sequence.parts if sequence else ():
        if part not in others:
            raise DeclarationError(
                f"the Sequence of {field.name!r} names {part!r}, which is no other field", hint=closest(part, others)
            )


def _no_sort_key(name: str, layout: Layout) -> str:
    """Say why the field cannot be numbered by the sort key; empty where it can."""
    if name in layout.pk.parts:
        return "it stands in the partition key"
    if layout.sk is None or not layout.sk.parts or layout.sk.parts[-1] != name:
        return "it is not the last part of the sort key"
    if isinstance(layout.sk, BoundTemplate):
        if layout.sk.segments[-1].part != name:
            return "a literal follows it in the sort key"
        if not layout.sk.formats[name].ordered:
            return "its raw text does not sort as the numbers do"
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
