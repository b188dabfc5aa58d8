"""The range that holds several templates, and whether two templates' ranges may meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.keys import (
    SK_BYTES,
    BoundTemplate,
    KeyRange,
    NativeTemplate,
    Template,
    enclosing,
    key_format,
    key_range,
    matches,
    overlap,
)

TYPES: Mapping[str, Any] = {"n": int}
TEXTS = ("#PROFILE", "#ORDER#{n}", "#ORDER#{n}#LINE#{a}", "#SHOP#{c?}", "#REGION#{p*}", "{a}", "{a}#X", "#{a}", "A#{a}")


def bound(text: str) -> BoundTemplate:
    """Bind a template: n is an int, all others are text."""
    template = Template.parse(text)
    return template.bind({name: key_format(TYPES.get(name, str)) for name in template.parts})


TEMPLATES = {text: bound(text) for text in TEXTS}
WORDS = st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable() and text.isascii())
VALUES = st.fixed_dictionaries(
    {"n": st.integers(-(10**9), 10**9), "a": WORDS, "c": st.none() | WORDS, "p": st.lists(WORDS, max_size=3).map(tuple)}
)
MEMBERS = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4)


@given(members=MEMBERS, values=VALUES)
def test_every_key_of_every_template_lies_in_the_range_that_holds_them(
    members: list[str], values: Mapping[str, Any]
) -> None:
    """Whatever the values, no member's key falls outside of the range of the collection."""
    held = enclosing(key_range(TEMPLATES[text], {}) for text in members)
    for text in members:
        key = TEMPLATES[text].render(values, limit=SK_BYTES)
        assert matches(TEMPLATES[text], held, key)


@given(one=st.sampled_from(TEXTS), other=st.sampled_from(TEXTS), values=VALUES)
def test_ranges_that_do_not_meet_share_no_key(one: str, other: str, values: Mapping[str, Any]) -> None:
    """A key that lies in both ranges is never denied."""
    mine, theirs = key_range(TEMPLATES[one], {}), key_range(TEMPLATES[other], {})
    key = TEMPLATES[other].render(values, limit=SK_BYTES)
    assert overlap(mine, theirs) or not matches(TEMPLATES[one], mine, key)
    assert overlap(mine, theirs) is overlap(theirs, mine)


ORDER, PROFILE = KeyRange("begins_with", ("#ORDER#",)), KeyRange("=", ("#PROFILE",))


@pytest.mark.parametrize(
    ("several", "held"),
    [
        ((PROFILE,), PROFILE),
        ((ORDER, ORDER), ORDER),
        ((PROFILE, ORDER), KeyRange("BETWEEN", ("#ORDER#", "#PROFILE"))),
        ((ORDER, KeyRange("BETWEEN", ("#REGION", "#REGION$"))), KeyRange("BETWEEN", ("#ORDER#", "#REGION$"))),
        ((KeyRange("begins_with", ("A|",)), KeyRange("=", ("A",))), KeyRange("BETWEEN", ("A", "A}"))),
        ((ORDER, KeyRange(">=", ("%",))), KeyRange(">=", ("#ORDER#",))),
        ((key_range(NativeTemplate("n", "N"), {}), KeyRange("all", exact=False)), KeyRange("all", exact=False)),
        ((key_range(NativeTemplate("n", "N"), {}), ORDER), KeyRange("all")),
    ],
)
def test_the_range_is_the_least(several: tuple[KeyRange, ...], held: KeyRange) -> None:
    """One range stays itself; several become one from the least to the greatest, open where one of them is."""
    assert enclosing(several) == held


def test_which_ranges_meet() -> None:
    """Ranges beside each other do not meet, ranges within each other do, and a native one may meet any."""
    assert not overlap(ORDER, PROFILE)
    assert overlap(ORDER, KeyRange("BETWEEN", ("#A", "#Z")))
    assert not overlap(PROFILE, KeyRange(">=", ("%",)))
    assert overlap(PROFILE, KeyRange("all"))
