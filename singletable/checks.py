"""The checks of a whole table: no tag twice, no key for two entities, no query that reaches another's items.

Every error prints a witness, two concrete items that would meet, and the way out. The decision itself is
`singletable.keys.clash`; here layouts become the forms it works on, and its answers become errors.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

from singletable.errors import DeclarationError, KeyClash, RangeClash, TagClash
from singletable.keys import (
    DELIMITER,
    BoundTemplate,
    KeyFormat,
    NativeTemplate,
    Segment,
    key_range,
    overlap,
    shortened,
)
from singletable.keys.clash import Clash, Form, Slot, clashes, reaches, same_key
from singletable.keys.language import Language
from singletable.layouts import Layout
from singletable.numbering import Numbering

__all__ = [
    "Claim",
    "check_adopted",
    "check_claims",
    "check_counter_names",
    "check_gapless",
    "check_tags",
    "check_told_apart",
    "example_of",
    "reaches_any",
    "stands_in",
]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one entity claims of the table or of one index: its layout there, and the tree of `within=` it belongs to.

    Relatives of one tree may stand in each other's ranges, and so may the kinds of a base in an index key of the base,
    and the members of a collection; `gathered` names the collections it is a member of.
    """

    entity: str
    layout: Layout
    family: object
    gathered: frozenset[object] = frozenset()

    def is_related(self, other: Claim) -> bool:
        """Say whether the other may stand in this one's ranges."""
        kin = self.family is other.family or self.layout.origin is other.layout.origin
        return kin or not self.gathered.isdisjoint(other.gathered)


def check_tags(tags: Sequence[tuple[str, str]]) -> None:
    """Raise TagClash where two entities are read under one tag; `tags` pairs an entity's name with a tag."""
    owners: dict[str, str] = {}
    for entity, tag in tags:
        owner = owners.setdefault(tag, entity)
        if owner != entity:
            raise TagClash(
                f"{owner} and {entity} are both stored under the tag {tag!r}",
                hint=f'give one of them a tag of its own: class {entity}(Entity, table=..., tag="...")',
            )


def check_claims(claims: Sequence[Claim], *, told_apart: bool = False) -> None:
    """Raise KeyClash or RangeClash for the first two claims on one index (or the table) that meet.

    Kinds that share the primary key of an abstract base may meet at it where they are `told_apart` by a tag.
    """
    owned = [(claim, form) for claim in claims for form in _forms(claim.layout)]

    def related(a: int, b: int) -> bool:
        return owned[a][0].is_related(owned[b][0])

    primary = bool(claims) and claims[0].layout.index is None
    for kind, a, b, clash in clashes([form for _, form in owned], related, unique=primary):
        if kind == "same" and told_apart and owned[a][0].layout.origin is owned[b][0].layout.origin is not None:
            continue
        raise (_key_clash if kind == "same" else _range_clash)(owned[a][0], owned[b][0], clash)


def check_told_apart(tag: str | None, found: Sequence[tuple[str, Layout, Layout]]) -> None:
    """Raise RangeClash where an index holds no tag, and kinds that share their primary key meet in it.

    Nothing would tell whose a row is. `found` has the name, the primary key and the index key of each kind.
    """
    for (name, primary, layout), (other, others, theirs) in permutations(found, 2):
        shared = primary.origin is others.origin is not None
        if shared and layout.held is not None and tag not in layout.held and reaches_any(layout, [theirs]):
            raise RangeClash(
                f"{name} and {other} share their primary key and meet on index {layout.index!r}, which holds no tag: "
                "nothing tells whose a row is",
                hint="projection=[] holds the tag too; or give each kind an index key with a literal of its own",
                witness=(name, other),
            )


def check_counter_names(names: Iterable[tuple[str, str]]) -> None:
    """Raise KeyClash where two counters of ours have one name; each name comes with whose counter it is."""
    owners: dict[str, str] = {}
    for name, owner in names:
        other = owners.setdefault(name, owner)
        if other != owner:
            raise KeyClash(
                f"{other} and {owner} would count with one counter, {name!r}",
                hint="give the Sequence another name; to share the counter, let the field draw from that Sequence too",
                witness=(other, owner),
            )


def check_gapless(fields: Iterable[tuple[str, Numbering]]) -> None:
    """Raise DeclarationError where fields share a Sequence and only some are gapless: the others would make gaps."""
    groups: dict[Hashable, list[tuple[str, Numbering]]] = {}
    for name, number in fields:
        if number.options.sequence is not None:
            groups.setdefault(number.options.sequence, []).append((name, number))
    for group in groups.values():
        steps = {number.options.step: name for name, number in group if number.options.gapless}
        if len(steps) > 1:
            raise DeclarationError(
                f"{' and '.join(steps.values())} draw from one Sequence without gaps, and count in steps of "
                f"{' and '.join(map(str, steps))}",
                hint="give both the same step=",
            )
        gaps = next((name for name, number in group if not number.options.gapless), None)
        whole = next((name for name, number in group if number.options.gapless), None)
        if gaps is not None and whole is not None:
            raise DeclarationError(
                f"{whole} and {gaps} draw from one Sequence, and only {whole} is gapless",
                hint=f"say gapless=True for both, or let {whole} draw from a Sequence of its own",
            )


def check_adopted(claims: Sequence[Claim], counters: Iterable[Claim]) -> None:
    """Raise KeyClash where an adopted counter can stand at the primary key of an entity.

    Keys of two delimiters are not compared: an adopted key is written with `#`. Beside keys that are nothing but
    values, as those of many existing tables, a counter with a key of literals is let be: only the one id is taken.
    """
    for counter in counters:
        for claim in claims:
            if not counter.layout.parts and _is_bare(claim.layout):
                continue
            for mine, theirs in product(_forms(claim.layout), _forms(counter.layout)):
                clash = same_key(mine, theirs) if mine.delimiter == theirs.delimiter else None
                if clash is not None:
                    raise _counter_clash(claim, counter, clash)


def reaches_any(layout: Layout, others: Iterable[Layout]) -> bool:
    """Say whether a query by one key can reach items that stand by another of the same index."""
    widest = layout.widest
    if widest is not None:
        others = [each for each in others if each.sk is None or overlap(widest, key_range(each.sk, {}))]
    mine = [form if widest is None else replace(form, sk=None) for form in _forms(layout)]
    return any(reaches(form, other) is not None for each in others for other in _forms(each) for form in mine)


def stands_in(collection: Layout, member: Layout) -> bool:
    """Say whether a key of an entity can be one of a collection's: at its templates, or below its sort key."""
    if collection.widest is not None:
        return reaches_any(collection, [member])
    pairs = product(_forms(collection), _forms(member))
    return any(same_key(mine, theirs) is not None for mine, theirs in pairs)


def example_of(layout: Layout) -> str:
    """Write a key as it may stand in the table, for an error; its templates where no example is found."""
    made = (same_key(form, form) for form in _forms(layout))
    return next((_where(clash) for clash in made if clash is not None), str(layout))


def _forms(layout: Layout) -> list[Form]:
    """Give the forms of a key, several where parts of its sort key may be absent."""
    pk, sk = layout.pk, layout.sk
    delimiter = next((each.delimiter for each in (pk, sk) if isinstance(each, BoundTemplate)), DELIMITER)
    lengths: list[tuple[Slot, ...] | None] = [None]
    if isinstance(sk, BoundTemplate):
        lengths = [_slots(segments, sk.formats) for segments in shortened(sk.template)]
    elif sk is not None:
        lengths = [_native_slots(sk)]
    first = _slots(pk.segments, pk.formats) if isinstance(pk, BoundTemplate) else _native_slots(pk)
    return [Form(first, slots, delimiter) for slots in lengths]


def _native_slots(template: NativeTemplate) -> tuple[Slot, ...]:
    return (Slot(part=template.part, language=Language.text()),)


def _slots(segments: Iterable[Segment], formats: Mapping[str, KeyFormat]) -> tuple[Slot, ...]:
    return tuple(_slot(segment, formats) for segment in segments)


def _slot(segment: Segment, formats: Mapping[str, KeyFormat]) -> Slot:
    if segment.part is None:
        return Slot(segment.literal)
    return Slot(part=segment.part, language=formats[segment.part].language, spread=segment.spread)


def _words(entity: str, layout: Layout, bindings: Mapping[str, str | tuple[str, ...]]) -> str:
    """Write an entity with the values of its key, read from their key text."""
    values = {name: _read(layout, name, text) for name, text in bindings.items()}
    return f"{entity}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def _read(layout: Layout, name: str, text: str | tuple[str, ...]) -> object:
    for column in layout.columns:
        if isinstance(column.template, BoundTemplate) and name in column.template.formats:
            decode = column.template.formats[name].decode
            return decode(text) if isinstance(text, str) else tuple(map(decode, text))
    return text


def _where(clash: Clash) -> str:
    return repr(clash.pk) if clash.sk is None else f"{clash.pk!r} / {clash.sk!r}"


def _key_clash(a: Claim, b: Claim, clash: Clash) -> KeyClash:
    witness = (_words(a.entity, a.layout, clash.a), _words(b.entity, b.layout, clash.b))
    return KeyClash(
        f"{a.entity} and {b.entity} can have the same primary key: {witness[0]} and {witness[1]} both stand at "
        f"{_where(clash)}",
        hint=f"give one template a literal of its own, such as #{b.entity.upper()} in the sort key",
        witness=witness,
    )


def _is_bare(layout: Layout) -> bool:
    return not any(slot.literal for form in _forms(layout) for slot in (*form.pk, *(form.sk or ())))


def _counter_clash(a: Claim, counter: Claim, clash: Clash) -> KeyClash:
    witness = (_words(a.entity, a.layout, clash.a), _words(f"the counter of {counter.entity}", counter.layout, clash.b))
    return KeyClash(
        f"the counter that {counter.entity} adopts can stand at the key of {witness[0]}: {_where(clash)}",
        hint=f"an item cannot be both: give {a.entity} a literal of its own in its key, or adopt another item",
        witness=witness,
    )


def _range_clash(a: Claim, b: Claim, clash: Clash) -> RangeClash:
    witness = (_words(a.entity, a.layout, clash.a), _words(b.entity, b.layout, clash.b))
    where = "" if a.layout.index is None else f" on index {a.layout.index!r}"
    return RangeClash(
        f"a query of {a.entity}{where} would reach items of {b.entity}: {witness[1]} stands at {_where(clash)}, inside "
        f"the range of {a.layout}",
        hint=f"begin the sort key of each with a literal of its own (#{a.entity.upper()}#...), or declare {b.entity} "
        f"below {a.entity} with Key(within={a.entity}.key, ...); if they are read together, gather them: "
        f"Collection({a.entity}, {b.entity}, ...)",
        witness=witness,
    )
