"""Reading templates, writing keys, reading keys back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest

from singletable.errors import KeyPartError, KeyTooLong, MissingPart, TemplateError
from singletable.keys import BoundTemplate, NativeTemplate, Segment, Template, key_format

TYPES: Mapping[str, Any] = {"n": int, "m": int, "at": datetime}


def bound(text: str, *, raw: bool = False) -> BoundTemplate:
    """Bind a template: n and m are int, at is a datetime, all others str."""
    template = Template.parse(text)
    widths = {segment.part: segment.width for segment in template.segments}
    return template.bind(
        {name: key_format(TYPES.get(name, str), width=widths[name], raw=raw) for name in template.parts}
    )


def test_a_template_is_split_into_whole_segments() -> None:
    """A leading `#` gives an empty first segment; literals and parts follow in order."""
    template = Template.parse("#USER#{user_id}#v1.0:x/y-z_#{n:06}#{path*}")
    assert template.segments == (
        Segment(""),
        Segment("USER"),
        Segment(part="user_id"),
        Segment("v1.0:x/y-z_"),
        Segment(part="n", width=6),
        Segment(part="path", spread=True),
    )
    assert template.parts == ("user_id", "n", "path")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("#", "nothing stands"),
        ("#A##B", "nothing stands"),
        ("#A#", "nothing stands"),
        ("##A", "nothing stands"),
        ("#a{b}", "a#{b}"),
        ("#{a}{b}", r"\{a\}#\{b\}"),
        ("#{a}x", r"\{a\}#x"),
        ("#{a", "braces"),
        ("#a}", "braces"),
        ("#{{a}}", "one whole part"),
        ("#{}", "names no field"),
        ("#{a.b}", "names no field"),
        ("#{1a}", "names no field"),
        ("#{a!r}", "names no field"),
        ("#{a*}#X", "last"),
        ("#{a*}#{b*}", "last"),
        ("#{a}#{a}", "twice"),
        ("#{n:6}", "{n:06}"),
        ("#{n:00}", "width"),
        ("#{n:099}", "width"),
        ("#{n:}", "width"),
        ("#{n:x}", "width"),
        ("#{n*:06}", "width"),
        ("#{city?}", "not supported yet"),
        ("#{at:desc}", "not supported yet"),
        ("#!SEQ", "'!'"),
        ("#A B", "' '"),
        ("#A$", "'[$]'"),
        ("#A%", "'%'"),
        ("#Ä", "'Ä'"),
        ("#A\n", "literal"),
    ],
)
def test_a_bad_template_is_refused_with_the_fix(text: str, word: str) -> None:
    """The error says what is wrong and how to write it."""
    with pytest.raises(TemplateError, match=word) as caught:
        Template.parse(text)
    assert caught.value.hint


def test_a_part_without_a_format_is_no_field() -> None:
    """Binding names the part that no field stands for."""
    with pytest.raises(TemplateError, match="'user_idd' is no field"):
        Template.parse("#USER#{user_idd}").bind({"user_id": key_format(str)})


@pytest.mark.parametrize(
    ("text", "values", "key"),
    [
        ("#USER#{id}", {"id": "a#b"}, "#USER#a%23b"),
        ("USER#{id}", {"id": "é"}, "USER#é"),
        ("{id}#{n}", {"id": "x", "n": 0}, "x#0000000000000000000"),
        ("#O#{n:06}#X", {"n": 7}, "#O#000007#X"),
        ("#PROFILE", {}, "#PROFILE"),
        ("#A#{a}#{b}#C#{c}", {"a": "x", "b": "y", "c": "z"}, "#A#x#y#C#z"),
        ("{a}#{b}#{c}#{d}#E", {"a": "x", "b": "y", "c": "z", "d": "t"}, "x#y#z#t#E"),
        ("#R#{path*}", {"path": ("SI CHUAN", "CHENGDU")}, "#R#SI%20CHUAN#CHENGDU"),
        ("#R#{path*}", {"path": ()}, "#R"),
        ("{path*}", {"path": ("a", "b")}, "a#b"),
        ("#{path*}", {"path": ("a", "b")}, "#a#b"),
        ("{id}#{path*}", {"id": "i", "path": ()}, "i"),
    ],
)
def test_a_key_is_written_and_read_back(text: str, values: dict[str, Any], key: str) -> None:
    """The key is the template with its parts encoded; reading it gives the values back."""
    template = bound(text)
    assert template.render(values, limit=1023) == key
    assert template.parse(key) == values


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("#USER#{id}", ""),
        ("#USER#{id}", "#USER"),
        ("#USER#{id}", "#USER#"),
        ("#USER#{id}", "#USER#a#b"),
        ("#USER#{id}", "#USERS#a"),
        ("#USER#{id}", "USER#a"),
        ("#USER#{id}", "#USER#a b"),
        ("#USER#{id}", "#USER#a%2f"),
        ("#O#{n}", "#O#7"),
        ("#O#{n}", "#O#SUMMARY"),
        ("#R#{path*}", "#R#"),
        ("#R#{path*}", "#R#a##b"),
        ("#R#{path*}", "#"),
        ("{path*}", ""),
        ("#{path*}", ""),
        ("{id}", "!SEQ"),
        ("#PROFILE", "#PROFILE#x"),
    ],
)
def test_a_foreign_key_is_not_read(text: str, key: str) -> None:
    """Text that the template would not have written gives None."""
    assert bound(text).parse(key) is None


def test_missing_parts_are_named() -> None:
    """Absent or None is missing; 0 is a value."""
    template = bound("#O#{id}#{n}")
    with pytest.raises(MissingPart, match="'n': given nothing"):
        template.render({"id": "a"}, limit=99)
    with pytest.raises(MissingPart, match="'id': given None"):
        template.render({"id": None, "n": 0}, limit=99)


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("#O#{id}", {"id": ""}, "'id': given empty str, wanted non-empty text"),
        ("#O#{n}", {"n": "secret"}, "'n': given str, wanted int"),
        ("#R#{path*}", {"path": "secret"}, "'path': given str, wanted tuple"),
        ("#R#{path*}", {"path": ("secret", "")}, "'path': given empty str, wanted non-empty text"),
        ("{path*}", {"path": ()}, "'path': given an empty path"),
        ("#{path*}", {"path": ()}, "'path': given an empty path"),
    ],
)
def test_a_bad_value_is_named_and_not_shown(text: str, values: dict[str, Any], message: str) -> None:
    """The error names the part, what was given and what was wanted, never the value."""
    with pytest.raises(KeyPartError, match=message) as caught:
        bound(text).render(values, limit=1023)
    assert "secret" not in str(caught.value)


def test_the_longest_part_is_blamed_for_too_many_bytes() -> None:
    """Bytes of UTF-8 are counted, after escaping, and the limit itself is allowed."""
    template = bound("#A#{a}#{b}")
    assert len(template.render({"a": "x", "b": "é" * 5}, limit=15).encode()) == 15
    with pytest.raises(KeyTooLong, match="'b'") as caught:
        template.render({"a": "x", "b": "é" * 5 + "!"}, limit=15)
    assert (caught.value.part, caught.value.size, caught.value.limit) == ("b", 18, 15)


def test_a_raw_first_part_stays_above_hidden_items() -> None:
    """A raw key cannot begin with what sorts below every key of ours."""
    template = bound("{a}#{b}", raw=True)
    assert template.render({"a": "&x", "b": " y"}, limit=99) == "&x# y"
    assert template.raw
    for first in (" x", '"', "$"):
        with pytest.raises(KeyPartError, match="'a': given text, wanted a first character above"):
            template.render({"a": first, "b": "y"}, limit=99)
        assert template.parse(f"{first}#y") is None


def test_leading_literals() -> None:
    """`literals` is what stands before the first part."""
    assert bound("#ORDER#{n}#X").literals == "#ORDER"
    assert bound("{id}").literals == ""
    assert bound("#A#B").literals == "#A#B"
    assert not bound("#A#B").raw


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (-7, "-7"),
        (0, "0"),
        (Decimal("1.50"), "1.5"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0"), "0"),
        (10**125, "1" + "0" * 125),
        (Decimal("1E-3"), "0.001"),
    ],
)
def test_a_native_number_is_plain_digits(value: Any, text: str) -> None:
    """A native number is written as DynamoDB writes it, and read back exactly."""
    template = NativeTemplate("id", "N")
    assert template.render({"id": value}, limit=2048) == text
    assert template.parse(text) == {"id": value}


@pytest.mark.parametrize("value", [True, 1.0, "1", Level.LOW, Decimal("NaN"), 10**126, Decimal("1" * 39)])
def test_a_native_number_is_exact(value: Any) -> None:
    """What DynamoDB cannot hold exactly is refused."""
    with pytest.raises(KeyPartError, match="'id'"):
        NativeTemplate("id", "N").render({"id": value}, limit=2048)


def test_native_bytes_are_hex() -> None:
    """Bytes stand as lower-case hex, not empty, within the limit."""
    template = NativeTemplate("id", "B")
    assert template.render({"id": b"\x00\xff"}, limit=2) == "00ff"
    assert template.parse("00ff") == {"id": b"\x00\xff"}
    assert template.parse("00FF") is None
    assert template.parse("") is None
    with pytest.raises(KeyTooLong):
        template.render({"id": b"abc"}, limit=2)
    with pytest.raises(KeyPartError):
        template.render({"id": b""}, limit=2)
    with pytest.raises(MissingPart):
        template.render({}, limit=2)


@pytest.mark.parametrize("text", ["", "x", "1.0", "01", "+1", "-0", "NaN", "1E3"])
def test_a_native_number_is_read_canonically(text: str) -> None:
    """Other spellings are not what DynamoDB returns."""
    assert NativeTemplate("id", "N").parse(text) is None
