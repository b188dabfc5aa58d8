"""Every range against brute force: the keys that lie in it are those whose values answer the question.

Theory. Random values are drawn from a few characters on either side of `#` and `$`, so that neighbours are frequent.
The question is answered twice: by the range over the keys' text, and by comparing the values themselves as Python
does. Foreign keys of the same partition are thrown in: other labels, hidden items, shorter and longer templates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from itertools import product
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from singletable.errors import QueryError
from singletable.keys import (
    BoundTemplate,
    KeyRange,
    Narrowing,
    NativeTemplate,
    Template,
    below,
    depth_below,
    key_format,
    key_range,
)
from singletable.keys import matches as lies_in

Values: TypeAlias = Mapping[str, Any]

TEMPLATES = (
    "#O#{a}#{n}",
    "#O#{a}#L#{b}",
    "#O#{n}#X",
    "#O#{n}#X#{a}#{b}",
    "{a}#{n}",
    "{n}",
    "#{a}#{b}",
    "O#{a}",
    "#R#{p*}",
    "#R#{a}#{p*}",
    "#R#{a}#L#{p*}",
    "{p*}",
    "#{p*}",
    "{a}#{p*}",
    "#O#{a}#{q*}",
    "#O#{x?}",
    "#O#{a}#{x?}",
    "#O#{a}#L#{x?}#M#{y?}",
    "#O#L#{x?}#{y?}",
    "#O#{n}#{z?}",
    "#{x?}#{y?}",
    "{x?}#{y?}",
    "{a}#L#{z?:02}",
    "#O#{n:desc}",
    "#O#{n:desc}#{a}",
    "{n:desc}#L#{x?}",
    "#O#{a}#{z?:02:desc}#{x?}",
)
RAW_TEMPLATES = (*(text for text in TEMPLATES if "desc" not in text), "#O#{w:02}", "#O#{w:02}#X#{a}", "{w:02}#{x?}")
DELIMITERS = "#|:-_.$~"
WORDS = st.text(st.sampled_from("\0 !#$%&ab\uffff\U00010000"), min_size=1, max_size=3)
NUMBERS = st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1])
COUNTS = st.integers(0, 12)
DAYS = st.sampled_from([date(2026, 1, 1), date(2026, 1, 2), date(2026, 12, 31)])
TYPES: Mapping[str, Any] = {"n": int, "w": int, "z": int, "q": date}
ENDS = {"gt": "lower", "gte": "lower", "lt": "upper", "lte": "upper"}
FOREIGN = ("!SEQ#o.n", "#!GONE", "#OO#a", "#O%21", "#RR", "#R%21#a", '"', " ", "#P#a#b", "%", "\U0010ffff")
COMMON = settings(max_examples=25, deadline=None)


def bound(text: str, *, raw: bool | str = False) -> BoundTemplate:
    """Bind a template: n, w and z are int, q dates, all others str."""
    template = Template.parse(text, delimiter=raw if isinstance(raw, str) else None)
    formats = {
        segment.part: key_format(
            TYPES.get(segment.part, str), width=segment.width, raw=raw, descending=segment.descending
        )
        for segment in template.segments
        if segment.part is not None
    }
    return template.bind(formats)


def delimited(text: str, delimiter: str) -> BoundTemplate:
    """Bind a raw template of another delimiter, which is written here with `#`."""
    return bound(text.replace("#", delimiter), raw=delimiter)


def drawn(template: BoundTemplate, words: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw values for every part, of optional ones the first few; what is the whole key is not empty."""
    alone = template.literals == "" and template.position(0) + 1 == len(template.segments)
    least = 1 if alone or template.parts[0] in template.optional else 0
    path = st.lists(words, min_size=min(least, 1), max_size=3).map(tuple)
    days = st.lists(DAYS, max_size=3).map(tuple)
    numbers = COUNTS if template.raw else NUMBERS
    kinds = {"n": numbers, "z": COUNTS, "w": COUNTS, "p": path, "q": days}
    every = st.fixed_dictionaries({name: kinds.get(name, words) for name in template.parts})
    first = least if template.optional and not template.literals else 0
    return st.builds(absent, every, st.just(template.optional), st.integers(first, len(template.optional)))


def absent(values: dict[str, Any], optional: tuple[str, ...], count: int) -> dict[str, Any]:
    """Leave out the optional parts after the first few."""
    return values | dict.fromkeys(optional[count:])


def raw_words(delimiter: str) -> st.SearchStrategy[str]:
    """Draw raw text of characters on either side of the delimiter, which no key of a hidden item begins with."""
    near = {chr(ord(delimiter) - 1), chr(ord(delimiter) + 1), *"%\0 !#$&ab\U00010000"} - {delimiter}
    words = st.text(st.sampled_from(sorted(near)), min_size=1, max_size=3)
    return words.filter(lambda word: word[0] >= "%" and "#!" not in word)


def begins(value: Any, with_: Any) -> bool:
    """Say whether text begins with text, or a path with names of which the last is cut off."""
    if isinstance(value, str):
        return value.startswith(with_)
    last = len(with_) - 1
    return len(value) > last and value[:last] == with_[:last] and value[last].startswith(with_[last])


def is_under(value: Any, node: Any) -> bool:
    """Say whether a value is the node or, being a path, stands below it."""
    return bool(value == node or (isinstance(value, tuple) and value[: len(node)] == node))


HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "begins_with": begins,
    "gte": lambda value, bound: value >= bound,
    "gt": lambda value, bound: value > bound and not is_under(value, bound),
    "lte": lambda value, bound: value <= bound or is_under(value, bound),
    "lt": lambda value, bound: value < bound,
    "between": lambda value, pair: value >= pair[0] and (value <= pair[1] or is_under(value, pair[1])),
}


def answers(template: BoundTemplate, values: Values, whole: Values, asked: tuple[Narrowing, ...]) -> bool:
    """Say whether a tuple of values answers the question, without looking at keys."""
    leading = all(is_under(values[name], value) for name, value in whole.items())
    if any(values[name] is None for each in asked for name, _ in each.parts):
        return False
    if any(each.operator == "below" for each in asked):
        leading = leading and not is_node(template, values, whole)
    return leading and all(HOLDS[each.operator](values[name], value) for each in asked for name, value in each.parts)


def is_node(template: BoundTemplate, values: Values, whole: Values) -> bool:
    """Say whether a key under the node is the node itself: it has no value more, and no label after the last one."""
    rest = {name: value for name, value in values.items() if name not in whole and value is not None}
    label = len(whole) > 0 and template.position(len(whole)) > template.position(len(whole) - 1) + 1
    same = all(values[name] == value for name, value in whole.items())
    return same and (not rest or (rest == {template.spread: ()} and not label))


def question(
    data: st.DataObject, template: BoundTemplate, pool: list[dict[str, Any]]
) -> tuple[dict[str, Any], tuple[Narrowing, ...]]:
    """Draw whole leading values and at most one range of the next part, near the values there are."""
    near = st.sampled_from(pool)
    base = data.draw(near)
    count = data.draw(st.integers(0, sum(value is not None for value in base.values())))
    whole = {name: base[name] for name in template.parts[:count]}
    if count == len(template.parts):
        return whole, data.draw(st.sampled_from([(), (Narrowing("below"),)]))
    part = template.parts[count]
    known = [values[part] for values in pool if values[part] is not None]
    one = st.sampled_from(known or [KNOWN.get(part, "a")])
    operator = data.draw(st.sampled_from(["none", "below", "begins_with", "between", "chain", *ENDS]))
    if operator == "chain":
        lower, upper = data.draw(st.sampled_from(list(product(("gt", "gte"), ("lt", "lte")))))
        return whole, (narrow(lower, part, data.draw(one)), narrow(upper, part, data.draw(one)))
    if operator in ("none", "below"):
        return whole, () if operator == "none" else (Narrowing("below"),)
    value = (data.draw(one), data.draw(one)) if operator == "between" else data.draw(one)
    if operator == "begins_with":
        assume(part not in ("n", "w", "z", "q") and value)
        cut = data.draw(st.integers(1, 3))
        value = value[:cut] if isinstance(value, str) else (*value[:-1], value[-1][:cut])
    return whole, (narrow(operator, part, value),)


KNOWN: Mapping[str, Any] = {"n": 1, "w": 1, "z": 1}
"""What is asked about a part that no values have."""


def narrow(operator: Any, part: str, value: Any) -> Narrowing:
    """Make the narrowing of one part."""
    return Narrowing(operator, ((part, value),))


@pytest.mark.parametrize("text", TEMPLATES)
@COMMON
@given(data=st.data())
def test_a_range_holds_the_keys_whose_values_answer(text: str, data: st.DataObject) -> None:
    """Of random keys of the template exactly those lie in the range that the question asks for."""
    template = bound(text)
    pool = data.draw(st.lists(drawn(template, WORDS), min_size=1, max_size=12))
    whole, asked = question(data, template, pool)
    wanted = key_range(template, whole, asked)
    assert wanted.exact
    for values in pool:
        key = template.render(values, limit=1023)
        assert lies_in(template, wanted, key) is answers(template, values, whole, asked), (key, wanted)


@pytest.mark.parametrize("text", RAW_TEMPLATES)
@COMMON
@given(delimiter=st.sampled_from(DELIMITERS), data=st.data())
def test_a_range_of_raw_keys_is_exact_or_refused_or_says_so(text: str, delimiter: str, data: st.DataObject) -> None:
    """Among raw keys of any delimiter a range is refused, or exact, or exact after `depth_below`, as it says."""
    assume(not ("q*" in text and delimiter == "-"))
    template = delimited(text, delimiter)
    pool = data.draw(st.lists(drawn(template, raw_words(delimiter)), min_size=1, max_size=12))
    whole, asked = question(data, template, pool)
    try:
        wanted = key_range(template, whole, asked)
    except QueryError:
        assert any(each.operator not in ("begins_with", "below") for each in asked)
        return
    for values in pool:
        key = template.render(values, limit=1023)
        found = lies_in(template, wanted, key)
        if not wanted.exact:
            found = found and depth_below(template, whole, key) >= 0
        assert found is answers(template, values, whole, asked), (key, wanted)
        assert template.parse(key) == values


@pytest.mark.parametrize("text", TEMPLATES)
@COMMON
@given(data=st.data())
def test_no_range_reaches_a_hidden_item_or_another_label(text: str, data: st.DataObject) -> None:
    """What lies in a range goes on from its node with `#`, or is the node; an open range holds nothing below `%`."""
    template = bound(text)
    pool = data.draw(st.lists(drawn(template, WORDS), min_size=1, max_size=3))
    whole, asked = question(data, template, pool)
    wanted = key_range(template, whole, asked)
    for key in FOREIGN:
        if lies_in(template, wanted, key):
            assert depth_below(template, whole, key) >= 0
            assert not key.startswith(("!", '"', " "))


@COMMON
@given(st.text(min_size=1, max_size=4), st.text(max_size=4))
def test_below_is_the_greatest_text_below(text: str, other: str) -> None:
    """No short text lies between a text and the one just below it."""
    found = below(text)
    assert found < text
    assert len(found.encode()) <= 1024
    assert (other <= found) is (other < text)


@COMMON
@given(st.lists(WORDS, max_size=3).map(tuple), st.lists(WORDS, max_size=4).map(tuple))
def test_depth_is_the_difference_of_path_lengths(node: tuple[str, ...], path: tuple[str, ...]) -> None:
    """A path below a node is as deep as it is longer; any other is not under it."""
    template = bound("#R#{p*}")
    depth = len(path) - len(node) if path[: len(node)] == node else -1
    assert depth_below(template, {"p": node}, template.render({"p": path}, limit=1023)) == depth


NATIVE_BOUNDS = st.sampled_from([("gt",), ("gte",), ("lt",), ("lte",), *product(("gt", "gte"), ("lt", "lte"))])
NATIVE_TEXT = st.text(st.sampled_from(' "!#$a\U0010ffff'), min_size=1, max_size=3)


@pytest.mark.parametrize("kind", ["S", "B"])
@COMMON
@given(operators=NATIVE_BOUNDS, words=st.lists(NATIVE_TEXT, min_size=3, max_size=12))
def test_a_native_range_holds_the_values_between_its_bounds(kind: Any, operators: Any, words: list[str]) -> None:
    """Text and bytes lie in the range as they compare; a range says where a hidden item may lie in it too."""
    template = NativeTemplate("v", kind)
    values = [word if kind == "S" else word.encode() for word in words if not word.startswith("!") and "#!" not in word]
    assume(len(values) > 2)
    bounds = values[: len(operators)]
    asked = tuple(narrow(operator, "v", value) for operator, value in zip(operators, bounds, strict=True))
    wanted = key_range(template, {}, asked)
    for value in values:
        answer = all(HOLDS[operator](value, bound) for operator, bound in zip(operators, bounds, strict=True))
        assert lies_in(template, wanted, template.render({"v": value}, limit=1024)) is answer
    if kind == "S" and wanted.operator != "empty":
        assert any(lies_in(template, wanted, hidden) for hidden in ("!", "!SEQ#o.n")) is not wanted.exact


def test_a_question_without_answer_is_no_request() -> None:
    """Low above high is an empty answer, since engines differ on it."""
    asked = (narrow("gt", "n", 3), narrow("lt", "n", 3))
    assert key_range(bound("#O#{n}#X"), {}, asked) == KeyRange("empty")
