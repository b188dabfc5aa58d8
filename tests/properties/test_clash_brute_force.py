"""Clash detection against brute force: every key of two small random templates is written out and compared as text.

Theory. A part that is free text is given every literal and member that occurs and one text that occurs nowhere. No rule
asks two texts to differ, so a clash with other texts is one with these too, and the small domain is exact. Templates
here have at most two segments beside a leading `#` and a spread, so a spread of two places is long enough.

The ranges are the ones that queries send, all of them: without a part, whole leading parts, everything below, from a
value up and up to a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from random import Random
from typing import TypeAlias

import pytest

from singletable.keys.clash import Clash, Form, Slot, clashes, reaches, same_key
from singletable.keys.language import Language, shape

Bound: TypeAlias = Mapping[str, str | tuple[str, ...]]
Ranges: TypeAlias = set[tuple[str, str]]
"""Pairs of an inclusive lower and an inclusive upper bound of a sort key."""

TEXT = Language.text()
DOMAIN = ("A", "B", "C", "0", "z")
LITERAL, SPREAD, LED, BARE, SHARED = 0.4, 0.3, 0.6, 0.03, 0.5
"""Chances: a segment is a literal, a sort key spreads, leads with `#`, is missing; two entities share a partition."""

LITERALS = ("A", "A", "A", "B", "B", "B", "!S")
LANGUAGES = {
    "p": TEXT,
    "q": TEXT,
    "r": Language.finite("AC", ["A", "C"]),
    "s": Language.finite("B", ["B"]),
    "t": Language.shaped("digit", [shape("d")], str.isdigit, ["0"]),
}
CHOICES: Mapping[str, Sequence[str | tuple[str, ...]]] = {
    "p": DOMAIN,
    "q": DOMAIN,
    "r": ("A", "C"),
    "s": ("B",),
    "t": ("0",),
}
PATHS = tuple(path for depth in range(3) for path in product(DOMAIN, repeat=depth))
LAST = "\U0010ffff"
SEEDS = range(4)
PAIRS = 1000


def random_slots(random: Random, least: int) -> list[Slot]:
    """Draw up to two segments, literals and parts alike, the same part perhaps twice."""
    slots: list[Slot] = []
    for _ in range(random.randint(least, 2)):
        name = random.choice(list(LANGUAGES))
        literal = random.random() < LITERAL
        slots.append(Slot(random.choice(LITERALS)) if literal else Slot(part=name, language=LANGUAGES[name]))
    return slots


def random_sk(random: Random) -> tuple[Slot, ...]:
    """Draw a sort key, often with a leading `#`, sometimes with a spread last."""
    spread = random.random() < SPREAD
    slots = random_slots(random, 0 if spread else 1)
    slots += [Slot(part="path", spread=True)] if spread else []
    return (Slot(""), *slots) if random.random() < LED else tuple(slots)


def random_form(random: Random) -> Form:
    """Draw an entity's keys, once in a while without a sort key."""
    pk = tuple(random_slots(random, 1))
    return Form(pk, None if random.random() < BARE else random_sk(random))


def render(slots: Sequence[Slot], bound: Bound) -> str:
    """Write a key out."""
    segments: list[str] = []
    for slot in slots:
        value = slot.literal if slot.part is None else bound[slot.part]
        segments.extend([value] if isinstance(value, str) else value)
    return "#".join(segments)


def assignments(form: Form) -> Iterator[Bound]:
    """Give the parts of a form every combination of texts of the small domain."""
    slots = [slot for slot in (*form.pk, *(form.sk or ())) if slot.part is not None]
    names = list(dict.fromkeys(slot.part for slot in slots if slot.part is not None))
    for values in product(*(CHOICES.get(name, PATHS) for name in names)):
        yield dict(zip(names, values, strict=True))


def keys(form: Form) -> dict[str, set[str | None]]:
    """List every key of a form: sort keys by partition key. Empty text is no key."""
    found: dict[str, set[str | None]] = {}
    for bound in assignments(form):
        sk = None if form.sk is None else render(form.sk, bound)
        if sk != "":
            found.setdefault(render(form.pk, bound), set()).add(sk)
    return found


def widest(sk: tuple[Slot, ...]) -> tuple[str, str]:
    """Give the range of a query without a part of the sort key."""
    depth = next((place for place, slot in enumerate(sk) if slot.part is not None), len(sk))
    prefix = "#".join(slot.literal for slot in sk[:depth])
    if depth == 0:
        return "%", LAST
    if depth == len(sk):
        return prefix, prefix
    return (prefix or "#", prefix + "$") if sk[depth].spread else (prefix + "#", prefix + "#" + LAST)


def narrower(sk: tuple[Slot, ...], bound: Bound) -> Ranges:
    """Give the ranges of the queries that name leading parts: the node, below it, from it up, up to it."""
    ranges: Ranges = set()
    for place in (place for place, slot in enumerate(sk) if slot.part is not None):
        before, node = render(sk[:place], bound), render(sk[: place + 1], bound)
        if node:
            lower, upper = (before + "#", before + "$") if place else ("%", LAST)
            ranges |= {(node, node + "$"), (node + "#", node + "#" + LAST), (node, upper), (lower, node + "$")}
    return ranges


def asked(form: Form) -> dict[str, Ranges]:
    """List every range that queries of a form can ask for, by partition key."""
    found: dict[str, Ranges] = {}
    sk = form.sk or ()
    for bound in assignments(form):
        ranges = found.setdefault(render(form.pk, bound), {widest(sk)} if sk else set())
        ranges |= narrower(sk, bound)
    return found


def meet_by_force(a: Form, b: Form) -> bool:
    """Say whether some key of one is a key of the other."""
    ours, theirs = keys(a), keys(b)
    return any(ours[pk] & theirs[pk] for pk in ours.keys() & theirs.keys())


def reach_by_force(a: Form, b: Form) -> bool:
    """Say whether some range of `a` holds some key of `b`; without sort key on `a` the partition is the range."""
    ranges, theirs = asked(a), keys(b)
    shared = ranges.keys() & theirs.keys()
    if a.sk is None:
        return bool(shared)
    return any(sk is not None and low <= sk <= high for pk in shared for low, high in ranges[pk] for sk in theirs[pk])


def assert_bound(form: Form, bound: Bound) -> None:
    """The witness binds exactly the parts of a side, each to text that its language holds."""
    parts = {slot.part: slot for slot in (*form.pk, *(form.sk or ())) if slot.part is not None}
    assert bound.keys() == parts.keys()
    for name, value in bound.items():
        language = parts[name].language or TEXT
        assert isinstance(value, tuple) is parts[name].spread
        assert all(map(language.accepts, [value] if isinstance(value, str) else value))


def assert_witness(a: Form, b: Form, clash: Clash) -> None:
    """The witness is real: both sides render to its partition key, and `b` to its sort key."""
    assert_bound(a, clash.a)
    assert_bound(b, clash.b)
    assert render(a.pk, clash.a) == render(b.pk, clash.b) == clash.pk
    assert clash.sk == (None if b.sk is None else render(b.sk, clash.b))
    assert clash.sk != ""


def pairs(seed: int) -> Iterator[tuple[Form, Form]]:
    """Draw pairs of entities, which is four templates each."""
    random = Random(seed)
    for _ in range(PAIRS):
        a, b = random_form(random), random_form(random)
        yield a, (Form(a.pk, b.sk) if random.random() < SHARED else b)


def count_agreeing(
    seed: int, claim: Callable[[Form, Form], Clash | None], truth: Callable[[Form, Form], bool]
) -> tuple[int, int]:
    """Compare a claim with brute force on random pairs; count the pairs that meet and those that do not."""
    counts = [0, 0]
    for a, b in pairs(seed):
        clash = claim(a, b)
        assert (clash is not None) is truth(a, b), (a, b, clash)
        counts[clash is None] += 1
        if clash is not None:
            assert_witness(a, b, clash)
    return counts[0], counts[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_same_key_is_exact(seed: int) -> None:
    """Two forms are said to share a key exactly when brute force finds one, and the witness is such a key."""
    met, apart = count_agreeing(seed, same_key, meet_by_force)
    assert min(met, apart) > PAIRS // 20
    for a, b in pairs(seed):
        clash = same_key(a, b)
        if clash is not None and a.sk is not None:
            assert render(a.sk, clash.a) == clash.sk


@pytest.mark.parametrize("seed", SEEDS)
def test_reach_is_exact(seed: int) -> None:
    """A form is said to reach another exactly when brute force finds a query, and the witness lies in the widest."""
    met, apart = count_agreeing(seed, reaches, reach_by_force)
    assert min(met, apart) > PAIRS // 20
    for a, b in pairs(seed):
        clash = reaches(a, b)
        if clash is not None and clash.sk is not None and a.sk is not None:
            low, high = widest(a.sk)
            assert low <= clash.sk <= high


@pytest.mark.parametrize("seed", SEEDS)
def test_same_key_does_not_depend_on_the_order(seed: int) -> None:
    """What the first shares with the second, the second shares with the first."""
    assert all((same_key(a, b) is None) is (same_key(b, a) is None) for a, b in pairs(seed))


def test_the_prefilter_drops_no_clash() -> None:
    """All pairs of 60 forms: the driver tells what asking each pair by itself tells, kind and direction included."""
    random = Random(7)
    forms = [random_form(random) for _ in range(60)]
    same = {(i, j) for i, j in combinations(range(60), 2) if same_key(forms[i], forms[j])}
    reach = {(i, j) for i, j in permutations(range(60), 2) if (min(i, j), max(i, j)) not in same}
    expected = {("same", i, j) for i, j in same}
    expected |= {("reach", i, j) for i, j in reach if (i + j) % 3 and reaches(forms[i], forms[j])}
    told = [(kind, i, j) for kind, i, j, _ in clashes(forms, lambda i, j: (i + j) % 3 == 0)]
    assert set(told) == expected
    assert len(told) == len(expected)
    assert {kind for kind, _, _ in told} == {"same", "reach"}
