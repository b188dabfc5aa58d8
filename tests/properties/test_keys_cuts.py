"""Cutting a range at a key leaves what lies in it on one side of the key, as DynamoDB orders keys."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from singletable.keys import KeyRange, KeyTemplate, NativeTemplate, Template, cut, end_of, key_format, matches, side
from singletable.keys.native import comparable

TEXT = Template.parse("{a}").bind({"a": key_format(str)})
NUMBER = NativeTemplate("n", "N")
BYTES = NativeTemplate("b", "B")

texts = st.text("#$%abc", min_size=1, max_size=4)
numbers = st.integers(-30, 30).map(str)
codes = st.binary(min_size=1, max_size=2).map(bytes.hex)
OPERATORS: Any = st.sampled_from(["all", "=", "BETWEEN", "begins_with", ">=", "<=", "<", ">", "empty"])
NATIVE = ("<", ">")
"""The operators that only native keys are asked with."""


@st.composite
def cases(draw: st.DrawFn) -> tuple[KeyTemplate, KeyRange, str, str]:
    """Draw a kind of key, a range of it, and two keys."""
    kinds: list[tuple[KeyTemplate, st.SearchStrategy[str]]] = [(TEXT, texts), (NUMBER, numbers), (BYTES, codes)]
    template, used = draw(st.sampled_from(kinds))
    low, high = sorted([draw(used), draw(used)], key=lambda text: comparable(template, text))
    operator = draw(OPERATORS)
    if operator == "begins_with" and template is NUMBER:
        operator = "all"
    if operator in NATIVE and template is TEXT:
        operator += "="
    operands = {"all": (), "empty": (), "BETWEEN": (low, high)}.get(operator, (low,))
    return template, KeyRange(operator, operands), draw(used), draw(used)


@given(case=cases(), upwards=st.booleans(), past=st.booleans())
def test_a_cut_is_the_range_on_one_side(
    case: tuple[KeyTemplate, KeyRange, str, str], upwards: bool, past: bool
) -> None:
    """A key is in what is left exactly if it is in the range and not on the wrong side of the cut, nor at it."""
    template, wanted, at, key = case
    place, end = comparable(template, key), comparable(template, at)
    inside = matches(template, wanted, key) and (place >= end if upwards else place <= end)
    left = cut(template, wanted, at, upwards=upwards, past=past)
    assert matches(template, left, key) is (inside and not (past and place == end))
    if left.operator == "BETWEEN":  # which DynamoDB refuses where the lower bound is above the upper one
        assert comparable(template, left.operands[0]) <= comparable(template, left.operands[1])


@given(case=cases())
def test_a_key_has_one_side(case: tuple[KeyTemplate, KeyRange, str, str]) -> None:
    """A key is in a range exactly if its side is 0; keys before it are below all of its keys, keys after above."""
    template, wanted, at, key = case
    where = side(template, wanted, at)
    assert (where == 0) is matches(template, wanted, at)
    if where and matches(template, wanted, key):
        assert (comparable(template, at) < comparable(template, key)) is (where < 0)


@given(case=cases(), upper=st.booleans())
def test_nothing_lies_beyond_the_end(case: tuple[KeyTemplate, KeyRange, str, str], upper: bool) -> None:
    """The end of a range is no lower than any of its keys, or no higher."""
    template, wanted, _, key = case
    end = end_of(template, wanted, upper=upper)
    if end is not None and matches(template, wanted, key):
        place, last = comparable(template, key), comparable(template, end)
        assert place <= last if upper else place >= last
