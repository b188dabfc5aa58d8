"""The checks of a whole table: no tag twice, no key for two entities, no query that reaches another's items.

Every error prints a witness, two concrete items that would meet, and the way out. The decision itself is
`singletable.keys.clash`; here layouts become the forms it works on, and its answers become errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from singletable.errors import KeyClash, RangeClash, TagClash
from singletable.keys import KeyFormat, KeyTemplate, NativeTemplate, Segment
from singletable.keys.clash import Clash, Form, Slot, clashes
from singletable.keys.language import Language
from singletable.layouts import Layout

__all__ = ["Claim", "check_claims", "check_tags"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one entity claims of the table or of one index: its layout there, and the tree of `within=` it belongs to.

    Relatives of one tree may stand in each other's ranges.
    """

    entity: str
    layout: Layout
    family: object


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


def check_claims(claims: Sequence[Claim]) -> None:
    """Raise KeyClash or RangeClash for the first two claims on one index (or the table) that meet."""
    forms = [_form(claim.layout) for claim in claims]

    def related(a: int, b: int) -> bool:
        return claims[a].family is claims[b].family

    primary = bool(claims) and claims[0].layout.index is None
    for kind, a, b, clash in clashes(forms, related, unique=primary):
        raise (_key_clash if kind == "same" else _range_clash)(claims[a], claims[b], clash)


def _form(layout: Layout) -> Form:
    return Form(_slots(layout.pk), None if layout.sk is None else _slots(layout.sk))


def _slots(template: KeyTemplate) -> tuple[Slot, ...]:
    if isinstance(template, NativeTemplate):
        return (Slot(part=template.part, language=Language.text()),)
    return tuple(_slot(segment, template.formats) for segment in template.segments)


def _slot(segment: Segment, formats: Mapping[str, KeyFormat]) -> Slot:
    if segment.part is None:
        return Slot(segment.literal)
    return Slot(part=segment.part, language=formats[segment.part].language, spread=segment.spread)


def _words(entity: str, bindings: Mapping[str, object]) -> str:
    parts = ", ".join(f"{name}={value!r}" for name, value in bindings.items())
    return f"{entity}({parts})"


def _where(clash: Clash) -> str:
    return repr(clash.pk) if clash.sk is None else f"{clash.pk!r} / {clash.sk!r}"


def _key_clash(a: Claim, b: Claim, clash: Clash) -> KeyClash:
    witness = (_words(a.entity, clash.a), _words(b.entity, clash.b))
    return KeyClash(
        f"{a.entity} and {b.entity} can have the same primary key: {witness[0]} and {witness[1]} both stand at "
        f"{_where(clash)}",
        hint=f"give one template a literal of its own, such as #{b.entity.upper()} in the sort key",
        witness=witness,
    )


def _range_clash(a: Claim, b: Claim, clash: Clash) -> RangeClash:
    witness = (_words(a.entity, clash.a), _words(b.entity, clash.b))
    where = "" if a.layout.index is None else f" on index {a.layout.index!r}"
    return RangeClash(
        f"a query of {a.entity}{where} would reach items of {b.entity}: {witness[1]} stands at {_where(clash)}, inside "
        f"the range of {a.layout}",
        hint=f"begin the sort key of each with a literal of its own (#{a.entity.upper()}#...), or declare {b.entity} "
        f"below {a.entity} with Key(within={a.entity}.key, ...)",
        witness=witness,
    )
