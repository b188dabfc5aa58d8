"""Parts that may be absent against brute force: every key of a small random template is written out.

Theory. The forms of a template are the lengths its keys can have. Each is handed to the clash detection as an entity of
its own, so together they must make exactly the template's keys, share what it shares, and reach what its widest range
holds. As in the brute force of clashes, a few texts stand for all: the literals that occur and one that does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import pytest

from singletable.errors import KeyPartError
from singletable.keys import BoundTemplate, Segment, Template, key_format, key_range, matches, shortened
from singletable.keys.clash import Form, Slot, reaches, same_key

DOMAIN = ("A", "B", "z")
PAIRS = 400
PK = (Slot("P"),)
HALF = 0.5


def random_template(random: Random) -> BoundTemplate:
    """Draw a template: literals and parts, then optional parts with or without a label."""
    segments = [random.choice(["A", "B", "{a}", "{b}"]) for _ in range(random.randint(0, 2))]
    segments = list(dict.fromkeys(segments))
    for name in "xy"[: random.randint(0 if segments else 1, 2)]:
        segments += [*([random.choice("AB")] if random.random() < HALF else []), "{" + name + "?}"]
    template = Template.parse(("#" if random.random() < HALF else "") + "#".join(segments))
    return template.bind({name: key_format(str) for name in template.parts})


def bindings(template: BoundTemplate) -> Iterator[dict[str, str | None]]:
    """Give the parts every combination of texts, the optional ones also None."""
    for values in product(*((*DOMAIN, None) if name in template.optional else DOMAIN for name in template.parts)):
        yield dict(zip(template.parts, values, strict=True))


def keys(template: BoundTemplate) -> dict[str, dict[str, str | None]]:
    """Write every key of a template, with the values it was written from; what is refused makes none."""
    found: dict[str, dict[str, str | None]] = {}
    for values in bindings(template):
        try:
            key = template.render(values, limit=1023)
        except KeyPartError:
            continue
        assert key not in found, "two tuples of values share a key"
        found[key] = values
    return found


def spelled(form: Sequence[Segment]) -> set[str]:
    """Write every key of one form."""
    choices = [DOMAIN if segment.part else (segment.literal,) for segment in form]
    return {"#".join(texts) for texts in product(*choices)}


def forms(template: BoundTemplate) -> list[Form]:
    """Give the forms of a template to the clash detection."""
    return [
        Form(PK, tuple(Slot(segment.literal, segment.part) for segment in form))
        for form in shortened(template.template)
    ]


@pytest.mark.parametrize("seed", range(2))
def test_the_forms_are_the_keys_of_the_template(seed: int) -> None:
    """Together the forms make each key of the template once, and no other; each reads back as what was written."""
    random = Random(seed)
    for _ in range(PAIRS):
        template = random_template(random)
        written, every = keys(template), [spelled(form) for form in shortened(template.template)]
        assert set(written) == set().union(*every)
        assert len(written) == sum(map(len, every))
        assert all(template.parse(key) == values for key, values in written.items())


def test_a_hole_and_an_empty_key_are_all_that_is_refused() -> None:
    """Values are refused exactly where a part is given after one that is not, or where nothing would be left."""
    random = Random(3)
    for _ in range(PAIRS):
        template = random_template(random)
        written = list(keys(template).values())
        for values in bindings(template):
            given = [values[name] is not None for name in template.optional]
            hole = given != sorted(given, reverse=True)
            empty = not any(values.values()) and template.literals == ""
            assert (values in written) is not (hole or empty)


@pytest.mark.parametrize("seed", range(2))
def test_forms_share_and_reach_what_their_template_does(seed: int) -> None:
    """Some forms of two templates meet exactly when some keys do, or when the widest range holds one of the other."""
    random = Random(seed)
    counts = [0, 0, 0, 0]
    for _ in range(PAIRS):
        one, other = random_template(random), random_template(random)
        pairs = list(product(forms(one), forms(other)))
        shared = bool(keys(one).keys() & keys(other).keys())
        wanted = key_range(one, {})
        reached = any(matches(one, wanted, key) for key in keys(other))
        assert any(same_key(a, b) for a, b in pairs) is shared, (one.template.text, other.template.text)
        assert any(reaches(a, b) for a, b in pairs) is reached, (one.template.text, other.template.text)
        counts[shared] += 1
        counts[2 + reached] += 1
    assert min(counts) > PAIRS // 20
