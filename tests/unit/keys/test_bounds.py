"""The range of sort keys that answers each question, one row of the table at a time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from singletable.errors import KeyPartError, KeyTooLong, MissingPart, PartHole, QueryError, UnknownPart
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
    matches,
)

TYPES: Mapping[str, Any] = {"n": int, "w": int, "day": date, "at": datetime}
N5, N9 = "0000000000000000005", "0000000000000000009"
NUMBER = NativeTemplate("score", "N")
BINARY = NativeTemplate("blob", "B")
TEXT = NativeTemplate("name", "S")
D5, D9 = "-9999999999999999994", "-9999999999999999990"
"""5 and 9 downwards: 10**19 less 6 and 10."""


def bound(text: str, *, raw: bool | str = False) -> BoundTemplate:
    """Bind a template: n and w are int, day a date, at a datetime, all others str."""
    template = Template.parse(text, delimiter=raw if isinstance(raw, str) else None)
    return template.bind(
        {
            each.part: key_format(TYPES.get(each.part, str), width=each.width, raw=raw, descending=each.descending)
            for each in template.segments
            if each.part is not None
        }
    )


def asked(template: str, values: Mapping[str, Any], raw: bool | str = False, **narrowings: Any) -> KeyRange:
    """Ask for a range: gte={"n": 5} is a Narrowing."""
    operators: list[Any] = list(narrowings)
    made = tuple(Narrowing(operator, tuple(narrowings[operator].items())) for operator in operators)
    return key_range(bound(template, raw=raw), values, made)


def between(low: str, high: str) -> KeyRange:
    """Shorten what most rows expect."""
    return KeyRange("BETWEEN", (low, high))


ROWS: list[tuple[str, dict[str, Any], dict[str, Any], KeyRange]] = [
    ("#O#{a}#{n}", {"a": "x", "n": 5}, {}, KeyRange("=", (f"#O#x#{N5}",))),
    ("#O#{n}#X", {"n": 5}, {}, KeyRange("=", (f"#O#{N5}#X",))),
    ("#PROFILE", {}, {}, KeyRange("=", ("#PROFILE",))),
    ("#O#{a}#{n}", {"a": "x"}, {}, between("#O#x", "#O#x$")),
    ("#O#{a}#L#{n}", {"a": "x"}, {}, KeyRange("begins_with", ("#O#x#L#",))),
    ("#O#{a}#L#{p*}", {"a": "x"}, {}, between("#O#x#L", "#O#x#L$")),
    ("#O#{n}", {}, {}, KeyRange("begins_with", ("#O#",))),
    ("#R#{p*}", {}, {}, between("#R", "#R$")),
    ("#R#{p*}", {"p": ()}, {}, between("#R", "#R$")),
    ("#R#{p*}", {"p": ("x", "y z")}, {}, between("#R#x#y%20z", "#R#x#y%20z$")),
    ("{a}#{n}", {}, {}, KeyRange(">=", ("%",))),
    ("{a}#{n}", {"a": "x"}, {}, between("x", "x$")),
    ("{p*}", {}, {}, KeyRange(">=", ("%",))),
    ("#{a}", {}, {}, KeyRange("begins_with", ("#",))),
    ("#{p*}", {}, {}, KeyRange("begins_with", ("#",))),
    ("#O#{a}#{n}", {}, {"begins_with": {"a": "x "}}, KeyRange("begins_with", ("#O#x%20",))),
    ("#O#{a}#{at}", {}, {"begins_with": {"a": "x", "at": "2026-1"}}, KeyRange("begins_with", ("#O#x#2026-1",))),
    ("{a}#{n}", {}, {"begins_with": {"a": "x"}}, KeyRange("begins_with", ("x",))),
    ("#R#{p*}", {}, {"begins_with": {"p": ("x", "y")}}, KeyRange("begins_with", ("#R#x#y",))),
    ("#R#{p*}", {}, {"begins_with": {"p": ("x",)}}, KeyRange("begins_with", ("#R#x",))),
    ("#{p*}", {}, {"begins_with": {"p": ("x",)}}, KeyRange("begins_with", ("#x",))),
    ("{p*}", {}, {"begins_with": {"p": ("x", "y")}}, KeyRange("begins_with", ("x#y",))),
    ("#O#{n}", {}, {"between": {"n": (5, 9)}}, between(f"#O#{N5}", f"#O#{N9}$")),
    ("{n}", {}, {"between": {"n": (5, 9)}}, between(N5, f"{N9}$")),
    ("#O#{n}", {}, {"between": {"n": (9, 5)}}, KeyRange("empty")),
    ("#O#{n}", {}, {"gte": {"n": 5}}, between(f"#O#{N5}", "#O$")),
    ("#O#{n}", {}, {"gt": {"n": 5}}, between(f"#O#{N5}$", "#O$")),
    ("#O#{n}", {}, {"lte": {"n": 5}}, between("#O#", f"#O#{N5}$")),
    ("#O#{n}", {}, {"lt": {"n": 5}}, between("#O#", below(f"#O#{N5}"))),
    ("{n}", {}, {"gte": {"n": 5}}, KeyRange(">=", (N5,))),
    ("{n}", {}, {"gt": {"n": 5}}, KeyRange(">=", (f"{N5}$",))),
    ("{n}", {}, {"lte": {"n": 5}}, between("%", f"{N5}$")),
    ("{n}", {}, {"lt": {"n": 5}}, between("%", below(N5))),
    ("#O#{a}#L#{n}", {"a": "x"}, {"gte": {"n": 5}}, between(f"#O#x#L#{N5}", "#O#x#L$")),
    ("#O#{n}", {}, {"gte": {"n": 5}, "lte": {"n": 9}}, between(f"#O#{N5}", f"#O#{N9}$")),
    ("#O#{n}", {}, {"lt": {"n": 9}, "gt": {"n": 5}}, between(f"#O#{N5}$", below(f"#O#{N9}"))),
    ("#O#{n}", {}, {"gt": {"n": 5}, "lte": {"n": 5}}, KeyRange("empty")),
    ("#O#{n}", {}, {"gte": {"n": 5}, "lt": {"n": 5}}, KeyRange("empty")),
    ("#R#{p*}", {}, {"gte": {"p": ("x",)}}, between("#R#x", "#R$")),
    ("#R#{p*}", {}, {"lte": {"p": ("x",)}}, between("#R", "#R#x$")),
    ("#R#{p*}", {"p": ("x",)}, {"below": {}}, KeyRange("begins_with", ("#R#x#",))),
    ("#R#{p*}", {}, {"below": {}}, KeyRange("begins_with", ("#R#",))),
    ("#O#{a}#{n}", {"a": "x"}, {"below": {}}, KeyRange("begins_with", ("#O#x#",))),
    ("#O#{a}#L#{n}", {"a": "x"}, {"below": {}}, KeyRange("begins_with", ("#O#x#L#",))),
    ("#O#{a}#L#{p*}", {"a": "x"}, {"below": {}}, between("#O#x#L", "#O#x#L$")),
    ("#O#{n}", {"n": 5}, {"below": {}}, KeyRange("begins_with", (f"#O#{N5}#",))),
    ("#O#{x?}", {}, {}, between("#O", "#O$")),
    ("#O#{x?}", {"x": "j"}, {}, between("#O#j", "#O#j$")),
    ("#O#{x?}#{y?}", {"x": "j"}, {}, between("#O#j", "#O#j$")),
    ("#O#{a}#L#{x?}", {"a": "i"}, {}, between("#O#i", "#O#i$")),
    ("#O#{a}#L#{x?}", {}, {}, KeyRange("begins_with", ("#O#",))),
    ("#O#{a}#L#{x?}", {"a": "i", "x": "j"}, {}, between("#O#i#L#j", "#O#i#L#j$")),
    ("#{x?}", {}, {}, KeyRange("begins_with", ("#",))),
    ("{x?}#{y?}", {}, {}, KeyRange(">=", ("%",))),
    ("#O#{x?}", {}, {"below": {}}, KeyRange("begins_with", ("#O#",))),
    ("#O#{a}#L#{x?}", {"a": "i"}, {"below": {}}, KeyRange("begins_with", ("#O#i#L#",))),
    ("#O#{x?}", {"x": "j"}, {"below": {}}, KeyRange("begins_with", ("#O#j#",))),
    ("#O#{a}#L#{x?}", {"a": "i"}, {"begins_with": {"x": "j"}}, KeyRange("begins_with", ("#O#i#L#j",))),
    ("#O#{a}#L#{x?}", {"a": "i"}, {"gte": {"x": "j"}}, between("#O#i#L#j", "#O#i#L$")),
    ("#O#{a}#L#{x?}", {"a": "i"}, {"lte": {"x": "j"}}, between("#O#i#L#", "#O#i#L#j$")),
    ("#O#{n:desc}", {"n": 5}, {}, KeyRange("=", (f"#O#{D5}",))),
    ("#O#{n:desc}", {}, {}, KeyRange("begins_with", ("#O#",))),
    ("#O#{n:desc}", {}, {"gte": {"n": 5}}, between("#O#", f"#O#{D5}$")),
    ("#O#{n:desc}", {}, {"gt": {"n": 5}}, between("#O#", below(f"#O#{D5}"))),
    ("#O#{n:desc}", {}, {"lte": {"n": 5}}, between(f"#O#{D5}", "#O$")),
    ("#O#{n:desc}", {}, {"lt": {"n": 5}}, between(f"#O#{D5}$", "#O$")),
    ("#O#{n:desc}", {}, {"between": {"n": (5, 9)}}, between(f"#O#{D9}", f"#O#{D5}$")),
    ("#O#{n:desc}", {}, {"gt": {"n": 5}, "lte": {"n": 9}}, between(f"#O#{D9}", below(f"#O#{D5}"))),
    ("{n:desc}", {}, {"lte": {"n": 5}}, KeyRange(">=", (D5,))),
    ("{n:desc}", {}, {"gte": {"n": 5}}, between("%", f"{D5}$")),
    ("#O#{w:02:desc}#{a}", {}, {"gte": {"w": 5}}, between("#O#", "#O#94$")),
]
"""The rows of the table, then those of parts that may be absent, then those of parts that sort downwards."""

RAW_ROWS: list[tuple[str, dict[str, Any], dict[str, Any], KeyRange]] = [
    ("O|{a}|{b}", {"a": "x", "b": "y"}, {}, KeyRange("=", ("O|x|y",))),
    ("O|{a}|{b}", {"a": "x"}, {}, KeyRange("begins_with", ("O|x|",))),
    ("O|{w:02}|{b}", {"w": 7}, {}, KeyRange("begins_with", ("O|07|",))),
    ("O|{a}", {}, {}, KeyRange("begins_with", ("O|",))),
    ("O|L", {}, {}, KeyRange("=", ("O|L",))),
    ("{a}|{b}", {}, {}, KeyRange(">=", ("%",))),
    ("O|{a}|{b}", {"a": "x"}, {"begins_with": {"b": "y"}}, KeyRange("begins_with", ("O|x|y",))),
    ("O|{a}|{b}", {"a": "x"}, {"below": {}}, KeyRange("begins_with", ("O|x|",))),
    ("O|{a}|{b}", {"a": "x"}, {"gte": {"b": "y"}}, between("O|x|y", "O|x}")),
    ("O|{a}|{b}", {"a": "x"}, {"lte": {"b": "y"}}, between("O|x|", "O|x|y")),
    ("O|{w:02}|{b}", {}, {"lte": {"w": 7}}, between("O|", "O|07}")),
    ("O|{w:02}|{b}", {}, {"gt": {"w": 7}}, between("O|07}", "O}")),
    ("O|{p*}", {"p": ("x",)}, {}, KeyRange("BETWEEN", ("O|x", "O|x}"), exact=False)),
    ("O|{p*}", {}, {}, KeyRange("BETWEEN", ("O", "O}"), exact=False)),
    ("O|{p*}", {"p": ("x",)}, {"below": {}}, KeyRange("begins_with", ("O|x|",))),
    ("O|{a}|{x?}", {"a": "i"}, {}, KeyRange("BETWEEN", ("O|i", "O|i}"), exact=False)),
    ("O|{a}|{x?}", {"a": "i"}, {"gte": {"x": "j"}}, KeyRange("BETWEEN", ("O|i|j", "O|i}"), exact=False)),
]
"""Among raw keys with `|`, which sorts above letters and digits: `}` is the character after it."""


@pytest.mark.parametrize(("template", "values", "narrowings", "expected"), RAW_ROWS)
def test_each_question_has_its_range_of_raw_keys(
    template: str, values: dict[str, Any], narrowings: dict[str, Any], expected: KeyRange
) -> None:
    """A raw key's range is a prefix where that is exact, else a wider one that says so."""
    assert asked(template, values, "|", **narrowings) == expected


def test_rows_beside_a_raw_node_are_told_by_their_depth() -> None:
    """`USERS|x` and `O|xy` lie in the ranges of `USER` and `O|x`, but are not below them."""
    template = bound("O|{p*}", raw="|")
    assert matches(template, key_range(template, {"p": ("x",)}), "O|xy")
    assert [depth_below(template, {"p": ("x",)}, key) for key in ("O|xy", "O|x", "O|x|y|z")] == [-1, 0, 2]
    assert [depth_below(template, {}, key) for key in ("OS|x", "O", "O|x")] == [-1, 0, 1]


def test_a_raw_range_that_cannot_be_exact_is_refused_with_the_way_out() -> None:
    """Text that another part follows sorts otherwise than the values do; so do unpadded numbers."""
    for template, part, value in (("O|{a}|{b}", "a", "x"), ("O|{p*}", "p", ("x",)), ("O|{x?}|{y?}", "x", "j")):
        with pytest.raises(QueryError, match="without raw="):
            asked(template, {}, "|", gte={part: value})
    with pytest.raises(QueryError, match="without raw="):
        asked("O|{n}", {}, "|", gte={"n": 5})


def test_a_descending_part_has_no_prefix() -> None:
    """Its text is turned round, so a prefix of the value's text means nothing."""
    with pytest.raises(QueryError, match=r"sorts downwards(.|\n)*between"):
        asked("#O#{day:desc}", {}, begins_with={"day": "2026"})
    wanted = asked("#O#{day:desc}#{a}", {}, begins_with={"day": date(2026, 12, 1), "a": "x"})
    assert wanted == KeyRange("begins_with", ("#O#7973-87-98#x",))


def test_an_optional_part_is_given_or_left_out() -> None:
    """A query never widens by None, and a part needs the optional ones before it."""
    with pytest.raises(MissingPart, match="'x'"):
        asked("#O#{x?}", {"x": None})
    with pytest.raises(PartHole, match="'x'"):
        asked("#O#{x?}#{y?}", {"y": "j"})
    with pytest.raises(KeyTooLong, match="'x'"):
        asked("#O#{a}#LABEL#{x?}", {"a": "i" * 1019}, below={})
    assert asked("#O#{a}#LABEL#{x?}", {"a": "i" * 1019}).operator == "BETWEEN"


@pytest.mark.parametrize(("template", "values", "narrowings", "expected"), ROWS)
def test_each_question_has_its_range(
    template: str, values: dict[str, Any], narrowings: dict[str, Any], expected: KeyRange
) -> None:
    """The range is the one of the table, to the character."""
    assert asked(template, values, **narrowings) == expected


def test_a_tail_is_what_stands_below_the_node() -> None:
    """Literals that every key asked for has below the node make the range narrower."""
    assert key_range(bound("#O#{n}"), {"n": 5}, tail="#LINE") == KeyRange("begins_with", (f"#O#{N5}#LINE#",))


@pytest.mark.parametrize(
    ("values", "narrowings", "error", "word"),
    [
        ({"aa": "x"}, {}, UnknownPart, "did you mean 'a'"),
        ({}, {"gte": {"m": 1}}, UnknownPart, "'m'"),
        ({"n": 1}, {}, PartHole, "'a'.*'n' after it"),
        ({}, {"gte": {"n": 1}}, PartHole, "'a'"),
        ({"a": "x"}, {"begins_with": {"at": "2026"}}, PartHole, "'n'"),
        ({"a": None}, {}, MissingPart, "'a'"),
        ({}, {"gte": {"a": None}}, MissingPart, "'a'"),
        ({}, {"begins_with": {"a": None}}, MissingPart, "'a'"),
        ({}, {"between": {"a": (None, "x")}}, MissingPart, "'a'"),
        ({}, {"between": {"a": "xy"}}, KeyPartError, "a pair"),
        ({}, {"between": {"a": ("x",)}}, KeyPartError, "a pair"),
        ({"a": ""}, {}, KeyPartError, "non-empty"),
        ({}, {"begins_with": {"a": ""}}, KeyPartError, "non-empty"),
        ({"a": "x"}, {"begins_with": {"n": 1}}, KeyPartError, "no text prefix"),
        ({"a": "x"}, {"gte": {"n": "y"}}, KeyPartError, "wanted int"),
        ({"a": "x"}, {"gte": {"a": "y"}}, QueryError, "'a' is given twice"),
        ({}, {"gte": {"a": "x", "n": 1}}, QueryError, "one part"),
        ({}, {"gte": {}}, QueryError, "one part"),
        ({}, {"gte": {"a": "x"}, "gt": {"a": "x"}}, QueryError, "do not combine"),
        ({}, {"gte": {"a": "x"}, "begins_with": {"a": "x"}}, QueryError, "do not combine"),
        ({}, {"below": {}, "gte": {"a": "x"}}, QueryError, "do not combine"),
        ({"a": "x"}, {"gte": {"n": 1}, "lte": {"at": 1}}, QueryError, "do not combine"),
        ({}, {"between": {"a": ("x", "y")}, "lte": {"a": "x"}}, QueryError, "do not combine"),
        ({}, {"gte": {"a": "x"}, "lt": {"a": "y"}, "lte": {"a": "z"}}, QueryError, "do not combine"),
    ],
)
def test_a_question_that_cannot_be_asked_is_an_error(
    values: dict[str, Any], narrowings: dict[str, Any], error: type[Exception], word: str
) -> None:
    """A hole, an unknown name, None or a bad combination raises and names the part; the query never widens."""
    with pytest.raises(error, match=word) as caught:
        asked("#O#{a}#{n}#{at}", values, **narrowings)
    assert type(caught.value) is error


def test_too_long_values_are_refused_before_sending() -> None:
    """A value of 1023 bytes with its literals cannot be in any sort key; a prefix may have 1024."""
    assert asked("{a}", {"a": "x" * 1023}).operands == ("x" * 1023,)
    for operator, size in (("gte", 1024), ("begins_with", 1025)):
        with pytest.raises(KeyTooLong, match="'a'"):
            asked("{a}", {}, False, **{operator: {"a": "x" * size}})
    with pytest.raises(KeyTooLong, match="'a'"):
        asked("{a}", {"a": "x" * 1024})
    assert asked("{a}", {}, begins_with={"a": "x" * 1024}).operands == ("x" * 1024,)


@pytest.mark.parametrize(
    ("text", "start", "size"),
    [
        ("b", "a\U0010ffff", 1024),
        ("\ue000", "\ud7ff\U0010ffff", 1024),
        ("\U00010000", "\uffff\U0010ffff", 1024),
        ("é", "è\U0010ffff", 1024),
        ("ab\0", "ab", 2),
    ],
)
def test_the_text_just_below(text: str, start: str, size: int) -> None:
    """One code point less, then as high as 1024 bytes go; a final U+0000 just falls away."""
    found = below(text)
    assert found.startswith(start)
    assert len(found.encode()) == size
    assert found < text


def test_the_rest_of_the_room_is_filled_with_the_highest_of_its_size() -> None:
    """Three, two or one byte left over take U+FFFF, U+07FF, U+007F."""
    assert [below("b" * size)[-1] for size in (1, 2, 3, 4)] == ["\uffff", "\u07ff", "\x7f", "\U0010ffff"]


@pytest.mark.parametrize(
    ("key", "depth"),
    [
        ("#R#x", 0),
        ("#R#x#y", 1),
        ("#R#x#y#z", 2),
        ("#R#xy", -1),
        ("#R#x%20", -1),
        ("#R", -1),
        ("#R#y#x", -1),
    ],
)
def test_depth_counts_segments_below_the_node(key: str, depth: int) -> None:
    """The node is 0, its child 1; a neighbour is not under it."""
    assert depth_below(bound("#R#{p*}"), {"p": ("x",)}, key) == depth


def test_depth_without_values_is_counted_from_the_literals() -> None:
    """The root is the label, or the partition where there is none."""
    assert depth_below(bound("#R#{p*}"), {}, "#R") == 0
    assert depth_below(bound("#R#{p*}"), {}, "#R#x#y") == 2
    assert depth_below(bound("{p*}"), {}, "x#y") == 2
    assert depth_below(NUMBER, {}, "7") == 0
    assert depth_below(NUMBER, {"score": 7}, "7") == 0
    assert depth_below(NUMBER, {"score": 7}, "8") == -1


@pytest.mark.parametrize(
    ("values", "narrowings", "expected"),
    [
        ({}, (), KeyRange("all")),
        ({"score": 7}, (), KeyRange("=", ("7",))),
        ({}, (("gt", 7),), KeyRange(">", ("7",))),
        ({}, (("gte", Decimal("7.0")),), KeyRange(">=", ("7",))),
        ({}, (("lt", -7),), KeyRange("<", ("-7",))),
        ({}, (("lte", 7),), KeyRange("<=", ("7",))),
        ({}, (("between", (9, 10)),), KeyRange("BETWEEN", ("9", "10"))),
        ({}, (("between", (10, 9)),), KeyRange("empty")),
        ({}, (("gte", 9), ("lte", 10)), KeyRange("BETWEEN", ("9", "10"))),
        ({}, (("gt", 1), ("lte", 2)), KeyRange("BETWEEN", ("1." + "0" * 36 + "1", "2"))),
        ({}, (("lt", 1), ("gte", 0)), KeyRange("BETWEEN", ("0", "0." + "9" * 38))),
        ({}, (("gt", 0), ("lt", 0)), KeyRange("empty")),
        ({}, (("gt", 7), ("lt", 7)), KeyRange("empty")),
        ({}, (("gt", Decimal("9." + "9" * 37 + "E+125")), ("lte", 1)), KeyRange("empty")),
    ],
)
def test_a_native_number_is_compared_as_a_number(
    values: dict[str, Any], narrowings: tuple[tuple[Any, Any], ...], expected: KeyRange
) -> None:
    """The operator itself goes to DynamoDB; two bounds become one BETWEEN with both ends inside."""
    made = tuple(Narrowing(operator, (("score", value),)) for operator, value in narrowings)
    assert key_range(NUMBER, values, made) == expected


def test_zero_has_nearest_neighbours() -> None:
    """DynamoDB's smallest number stands next to zero on either side."""
    assert (NUMBER.after("0"), NUMBER.before("0", 1024)) == ("0." + "0" * 129 + "1", "-0." + "0" * 129 + "1")
    assert (NUMBER.after(NUMBER.before("0", 1024)), NUMBER.before(NUMBER.after("0"), 1024)) == ("0", "0")


@pytest.mark.parametrize("operator", ["begins_with", "below"])
def test_a_native_number_has_no_prefix(operator: Any) -> None:
    """A number is no text, and nothing stands below it."""
    parts = (("score", 7),) if operator == "begins_with" else ()
    with pytest.raises(QueryError, match="native key 'score'"):
        key_range(NUMBER, {}, (Narrowing(operator, parts),))


def test_native_bytes_have_prefixes_and_bounds() -> None:
    """Bytes are compared as bytes: begins_with holds, and open bounds close on their neighbours."""
    assert key_range(BINARY, {}, (Narrowing("begins_with", (("blob", b"\x01"),)),)) == KeyRange("begins_with", ("01",))
    open_ended = (Narrowing("gt", (("blob", b"\x01"),)), Narrowing("lt", (("blob", b"\x02\x00"),)))
    assert key_range(BINARY, {}, open_ended) == KeyRange("BETWEEN", ("0100", "02"))
    nothing = (Narrowing("gte", (("blob", b"\x00"),)), Narrowing("lt", (("blob", b"\x00"),)))
    assert key_range(BINARY, {}, nothing) == KeyRange("empty")


@pytest.mark.parametrize(
    ("narrowings", "expected"),
    [
        ((), KeyRange("all", exact=False)),
        ((("begins_with", "a"),), KeyRange("begins_with", ("a",))),
        ((("gte", "a"),), KeyRange(">=", ("a",))),
        ((("gt", " "),), KeyRange(">", (" ",), exact=False)),
        ((("lt", "a"),), KeyRange("<", ("a",), exact=False)),
        ((("lte", " "),), KeyRange("<=", (" ",))),
        ((("between", ("a", "b")),), KeyRange("BETWEEN", ("a", "b"))),
        ((("between", (" ", "b")),), KeyRange("BETWEEN", (" ", "b"), exact=False)),
        ((("gt", "a"), ("lt", "b")), KeyRange("BETWEEN", ("a\0", below("b")))),
        ((("gt", "a"), ("lt", "a")), KeyRange("empty")),
    ],
)
def test_native_text_is_compared_as_text(narrowings: tuple[tuple[Any, Any], ...], expected: KeyRange) -> None:
    """The operator itself goes to DynamoDB; a range over the place of hidden items, `!...`, says so."""
    made = tuple(Narrowing(operator, (("name", value),)) for operator, value in narrowings)
    assert key_range(TEXT, {}, made) == expected
    for hidden in ("!", "!SEQ#order.n"):
        assert matches(TEXT, expected, hidden) is not expected.exact or expected.operator == "empty"
        assert depth_below(TEXT, {}, hidden) == -1
    assert key_range(TEXT, {"name": "a#b"}) == KeyRange("=", ("a#b",))
    assert (depth_below(TEXT, {"name": "a"}, "a"), depth_below(TEXT, {"name": "a"}, "a#b")) == (0, -1)


def test_a_raw_number_has_no_ranges_and_says_the_way_out() -> None:
    """Unpadded numbers sort as text, so a range would be wrong; whole values and prefixes of text still work."""
    template = bound("#O#{a}#{n}", raw=True)
    with pytest.raises(QueryError, match=r"\{n:06\}"):
        key_range(template, {"a": "x"}, (Narrowing("gte", (("n", 5),)),))
    assert key_range(template, {"a": "x", "n": 5}) == KeyRange("=", ("#O#x#5",))
    assert key_range(template, {"a": "x"}) == KeyRange("begins_with", ("#O#x#",))


def test_raw_text_has_ranges_in_a_last_part_only() -> None:
    """After raw text that another part follows, text below '#' would come first: refused there, exact at the end."""
    template = bound("#O#{a}#{b}", raw=True)
    with pytest.raises(QueryError, match="raw part 'a'"):
        key_range(template, {}, (Narrowing("lt", (("a", "x"),)),))
    last = (Narrowing("gt", (("b", "x"),)), Narrowing("lte", (("b", "y"),)))
    assert key_range(template, {"a": "p"}, last) == between("#O#p#x\0", "#O#p#y")


def test_a_raw_path_says_that_its_range_is_wider() -> None:
    """Beside a raw node stands a neighbour such as 'x!'; the range says so and `depth_below` tells them apart."""
    template = bound("#R#{p*}", raw=True)
    node = key_range(template, {"p": ("x",)})
    assert node == KeyRange("BETWEEN", ("#R#x", "#R#x$"), exact=False)
    assert matches(template, node, "#R#x!")
    assert depth_below(template, {"p": ("x",)}, "#R#x!") == -1


def test_dates_are_prefixed_by_iso_text() -> None:
    """A month is the beginning of its days."""
    day = key_range(bound("#D#{day}"), {}, (Narrowing("begins_with", (("day", "2026-12"),)),))
    assert matches(bound("#D#{day}"), day, "#D#2026-12-31")
    assert not matches(bound("#D#{day}"), day, "#D#2027-01-01")
    moment = datetime(2026, 12, 1, tzinfo=UTC)
    assert asked("{at}", {}, gte={"at": moment}) == KeyRange(">=", ("2026-12-01T00:00:00.000000Z",))


def test_numbers_match_as_numbers() -> None:
    """A native key is judged as DynamoDB judges it: 9 is less than 10."""
    assert matches(NUMBER, KeyRange("BETWEEN", ("9", "10")), "9.5")
    assert not matches(NUMBER, KeyRange("<", ("9",)), "10")
    assert matches(NUMBER, KeyRange("all"), "1")
    assert not matches(NUMBER, KeyRange("empty"), "1")
