"""Whether two entities can meet in one table: one primary key of both, or a query range that holds the other's items.

Theory of operation. A key is segments joined by `#`; a template says of each segment that it is a literal or the text
of a part, and a last part may spread over any number of segments, none included. Values never hold `#`, so two keys
are the same text exactly when they have the same segments, and the question becomes a unification:

- Every literal and every part is a *node*: side, name and encoding, for a spread also the place. A part that stands in
  the partition key and again in the sort key is one node, which is why both are solved together.
- Segments that must be equal make their nodes equal. Each class of equal nodes must then have a text that the languages
  of all its nodes hold (`common`); classes do not depend on each other, so those texts are a witness.
- A spread is written out to the least length that serves: more places only add demands, never take one away.

A query gives the whole partition key; its widest range, which holds all others, is the one with no part of the sort
key. With L the leading literals it is `= L` without parts, `BETWEEN L AND L$` before a spread, `begins_with(L#)` before
any other part and `>= "%"` where a part comes first: so many leading segments that must be L, and a least length.

Exact where `common` is, but for two things that can raise an alarm too many, never one too few: a part with two
encodings counts as two parts, and a part of the sort key that the partition key gives too does not narrow the range.
Raw text is outside of it: with a character below `#` in it a key such as `#REGION!` lies between `#REGION` and
`#REGION$` without being below that node, so a query that can meet raw keys filters by tag.

Optional parts make several forms of one entity, a form for each length of the key (`template.shortened`). A range of
the entity is the union of its forms': `= L` of the one without parts and `begins_with(L#)` of the others make up
`BETWEEN L AND L$`. Forms of one entity never share a key, having different lengths, and count as related.

Keys of two different delimiters cannot be laid over each other segment by segment. They are told apart by the text
before the first part, and refused where that does not do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, takewhile
from operator import eq
from typing import Literal, TypeAlias

from singletable.errors import TemplateError
from singletable.keys.encoding import DELIMITER, FLOOR
from singletable.keys.language import Language, common

__all__ = ["Clash", "Form", "Slot", "clashes", "leading", "reaches", "same_key"]

TEXT = Language.text()
OPEN = Language.shaped('from "%"', (), lambda text: text >= "%", ["a"])
"""What the first segment may be in the range of a template that begins with a part: no empty one, no hidden one."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One segment of a template: a literal, or a part with its language (None: any text), which may spread."""

    literal: str = ""
    part: str | None = None
    language: Language | None = None
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """The segments of an entity's two keys; `sk` is None where there is no sort key, one part where it is native.

    A leading `#` makes a first literal "". An optional part is written as one form for each length of the key. Only the
    last slot of a sort key may spread: TemplateError if not. `delimiter` is that of both keys.
    """

    pk: tuple[Slot, ...]
    sk: tuple[Slot, ...] | None
    delimiter: str = DELIMITER

    def __post_init__(self) -> None:
        if any(slot.spread for slot in (*self.pk, *(self.sk or ())[:-1])):
            raise TemplateError("a part that spreads stands before the end of a sort key", hint="move {part*} last")


@dataclass(frozen=True, slots=True)
class Clash:
    """The proof that two entities meet: the key text of each part on each side, and the key they meet at.

    A spread is bound to the tuple of its texts. `sk` is the sort key of both, or, for a range, that of `b`.
    """

    a: Mapping[str, str | tuple[str, ...]]
    b: Mapping[str, str | tuple[str, ...]]
    pk: str
    sk: str | None


Kind: TypeAlias = Literal["same", "reach"]


def same_key(a: Form, b: Form) -> Clash | None:
    """Find one primary key that both can have, or None.

    >>> user = Form((Slot("USER"), Slot(part="a"), Slot(part="b")), (Slot("PROFILE"),))
    >>> admin = Form((Slot("USER"), Slot("ADMIN"), Slot(part="id")), (Slot("PROFILE"),))
    >>> same_key(user, admin)
    Clash(a={'a': 'ADMIN', 'b': 'a'}, b={'id': 'a'}, pk='USER#ADMIN#a', sk='PROFILE')
    """
    if a.delimiter != b.delimiter:
        _tell_apart(a, b)
        return None
    if _differ(a.pk, b.pk) or _differ(a.sk or (), b.sk or ()):
        return None
    size = _size(b.sk or (), _size(a.sk or ()) or 0)
    if size is None or size != _size(a.sk or (), size):
        return None
    left, right = _spell("a", a, size), _spell("b", b, size)
    return _clash(left, right, zip(left.sk, right.sk, strict=True))


def reaches(a: Form, b: Form) -> Clash | None:
    """Find a partition key of `a` and a sort key of `b` in it that a query of `a` would read, or None.

    >>> number = Language.finite("digit", "0123456789")
    >>> order = Form((Slot("U"), Slot(part="id")), (Slot("ORDER"), Slot(part="n", language=number)))
    >>> summary = Form((Slot("U"), Slot(part="id")), (Slot("ORDER"), Slot("SUMMARY")))
    >>> reaches(order, summary)
    Clash(a={'id': 'a', 'n': '0'}, b={'id': 'a'}, pk='U#a', sk='ORDER#SUMMARY')
    >>> reaches(summary, order) is None
    True
    """
    if a.sk is not None and not any(slot.part for slot in a.sk):
        return same_key(a, b)
    if a.delimiter != b.delimiter:
        _tell_apart(a, b)
        return None
    asked, found = a.sk or (), b.sk or ()
    depth = len(_literals(asked))
    if _differ(a.pk, b.pk) or _differ(asked[:depth], found):
        return None
    mine, size = _size(asked), _size(found, _least(asked, depth))
    if mine is None or size is None:
        return None
    left, right = _spell("a", a, mine), _spell("b", b, size)
    first = [(Node("", "", OPEN), right.sk[0])] if asked and not depth else []
    return _clash(left, right, chain(first, zip(left.sk[:depth], right.sk[:depth], strict=True)))


def leading(form: Form) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the literals before the first part, of the partition key and of the sort key.

    Two forms can only meet where, of either key, the shorter list begins the longer one.

    >>> leading(Form((Slot(""), Slot("USER"), Slot(part="id")), (Slot(part="day"), Slot("X"))))
    (('', 'USER'), ())
    """
    return _literals(form.pk), _literals(form.sk or ())


def clashes(
    forms: Sequence[Form], related: Callable[[int, int], bool], *, unique: bool = True
) -> Iterator[tuple[Kind, int, int, Clash]]:
    """List how the forms of one table or index meet: "same" with i < j, "reach" where a query of i reaches j.

    A shared key lies in both ranges, so its pair is told once. `related` pairs may reach each other but not share a
    key. In an index keys need not be `unique`, and only "reach" is looked for.

    >>> order = Form((Slot("U"), Slot(part="id")), (Slot("ORDER"), Slot(part="n", spread=True)))
    >>> other = Form((Slot("U"), Slot(part="id")), (Slot("ORDER"), Slot("!SEQ")))
    >>> [(kind, i, j) for kind, i, j, _ in clashes([order, other], lambda i, j: False)]
    [('reach', 0, 1)]
    """
    keys = list(map(leading, forms))
    for i, j in combinations(range(len(forms)), 2):
        close = all(map(eq, keys[i][0], keys[j][0])) and all(map(eq, keys[i][1], keys[j][1]))
        if close or forms[i].delimiter != forms[j].delimiter:
            same = same_key(forms[i], forms[j]) if unique else None
            if same:
                yield "same", i, j, same
            elif not related(i, j):
                yield from _reach(forms, i, j)


def _reach(forms: Sequence[Form], i: int, j: int) -> Iterator[tuple[Kind, int, int, Clash]]:
    for one, other in ((i, j), (j, i)):
        clash = reaches(forms[one], forms[other])
        if clash:
            yield "reach", one, other, clash


def _tell_apart(a: Form, b: Form) -> None:
    """Show by their beginnings that keys of two delimiters never meet; TemplateError where that is open."""
    if _begin_apart(a, a.pk, b, b.pk) or (a.sk and b.sk and _begin_apart(a, a.sk, b, b.sk)):
        return
    raise TemplateError(
        f"keys with the delimiters {a.delimiter!r} and {b.delimiter!r} cannot be told apart",
        hint="begin the keys of one with a literal that those of the other do not begin with, or use one delimiter",
    )


def _begin_apart(a: Form, mine: Sequence[Slot], b: Form, other: Sequence[Slot]) -> bool:
    """Say whether no text begins as one key and as the other."""
    texts = [_beginning(a.delimiter, mine), _beginning(b.delimiter, other)]
    if "" in texts:
        return max(texts) != "" and max(texts) < FLOOR
    return not texts[0].startswith(texts[1]) and not texts[1].startswith(texts[0])


def _beginning(delimiter: str, slots: Sequence[Slot]) -> str:
    """Write the literals before the first part; the delimiter after them only where a part must follow."""
    literals = _literals(slots)
    text = delimiter.join(literals)
    goes_on = len(literals) < len(slots) and (literals == ("",) or not slots[len(literals)].spread)
    return text + delimiter if literals and goes_on else text


@dataclass(frozen=True, slots=True)
class Node:
    """One unknown: a part of one side in one encoding, or one place of a spread; `side` is empty for a literal."""

    side: str
    name: str
    language: Language = field(compare=False)
    encoding: str = ""
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Spelled:
    """A form with its spread written out."""

    form: Form
    pk: tuple[Node, ...]
    sk: tuple[Node, ...]


def _literals(slots: Sequence[Slot]) -> tuple[str, ...]:
    return tuple(slot.literal for slot in takewhile(lambda slot: slot.part is None, slots))


def _differ(a: Sequence[Slot], b: Sequence[Slot]) -> bool:
    """Say at once that two literals in one place differ."""
    return any(x.literal != y.literal for x, y in zip(a, b, strict=False) if x.part is None and y.part is None)


def _size(slots: Sequence[Slot], least: int = 0) -> int | None:
    """Give the least number of segments, from `least` up, that a key can have; None when it cannot. No key is empty.

    >>> _size([Slot("A")]), _size([Slot("A")], 2), _size([Slot(""), Slot(part="p", spread=True)])
    (1, None, 2)
    """
    if not slots or not slots[-1].spread:
        return len(slots) if least <= len(slots) else None
    empty = tuple(slots[:-1]) in ((), (Slot(""),))
    return max(len(slots) if empty else len(slots) - 1, least)


def _least(slots: Sequence[Slot], depth: int) -> int:
    """Give the least number of segments in the range of a template that has so many leading literals, then a part."""
    if not slots:
        return 0
    return max(depth if slots[depth].spread else depth + 1, 1)


def _spell(side: str, form: Form, size: int) -> Spelled:
    """Write a form's spread out, so that its sort key has `size` segments."""
    fixed = [_node(side, slot) for slot in form.sk or () if not slot.spread]
    spread = [slot for slot in form.sk or () if slot.spread]
    places = [_node(side, slot, place) for slot in spread for place in range(size - len(fixed))]
    return Spelled(form, tuple(_node(side, slot) for slot in form.pk), (*fixed, *places))


def _node(side: str, slot: Slot, place: int | None = None) -> Node:
    if slot.part is None:
        return Node("", slot.literal, Language.literal(slot.literal), "literal")
    language = slot.language or TEXT
    return Node(side, slot.part, language, language.name, place)


def _clash(a: Spelled, b: Spelled, pairs: Iterable[tuple[Node, Node]]) -> Clash | None:
    """Solve the partition keys together with further pairs of nodes that must be equal."""
    if len(a.pk) != len(b.pk):
        return None
    texts = _solve(chain(a.pk, a.sk, b.pk, b.sk), chain(zip(a.pk, b.pk, strict=True), pairs))
    if texts is None:
        return None
    joint = b.form.delimiter
    sk = None if b.form.sk is None else joint.join(texts[node] for node in b.sk)
    return Clash(_bound(a, texts), _bound(b, texts), joint.join(texts[node] for node in b.pk), sk)


def _solve(nodes: Iterable[Node], pairs: Iterable[tuple[Node, Node]]) -> dict[Node, str] | None:
    """Give every node a text that its language holds, the same to both of a pair; None when that cannot be."""
    classes = {node: [node] for node in nodes}
    for left, right in pairs:
        mine, other = classes.setdefault(left, [left]), classes[right]
        if mine is not other:
            mine.extend(other)
            classes.update((node, mine) for node in other)
    texts: dict[Node, str] = {}
    for node, members in classes.items():
        if node not in texts:
            text = common([member.language for member in members])
            if text is None:
                return None
            texts.update((member, text) for member in members)
    return texts


def _bound(spelled: Spelled, texts: Mapping[Node, str]) -> dict[str, str | tuple[str, ...]]:
    """Name what each part of one side is bound to."""
    nodes = (*spelled.pk, *spelled.sk)
    bound: dict[str, str | tuple[str, ...]]
    bound = {node.name: texts[node] for node in nodes if node.side and node.place is None}
    for slot in spelled.form.sk or ():
        if slot.part is not None and slot.spread:
            bound[slot.part] = tuple(texts[node] for node in nodes if node.place is not None)
    return bound
