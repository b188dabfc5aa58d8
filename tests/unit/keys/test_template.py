"""Reading templates, writing keys, reading keys back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest

from singletable.errors import KeyPartError, KeyTooLong, MissingPart, PartHole, TemplateError
from singletable.keys import BoundTemplate, NativeTemplate, Segment, Template, key_format, shortened

TYPES: Mapping[str, Any] = {"n": int, "m": int, "at": datetime}


def bound(text: str, *, raw: bool | str = False) -> BoundTemplate:
    """Bind a template: n and m are int, at is a datetime, all others str."""
    template = Template.parse(text, delimiter=raw if isinstance(raw, str) else None)
    segments = {segment.part: segment for segment in template.segments}
    return template.bind(
        {
            name: key_format(
                TYPES.get(name, str), width=segments[name].width, raw=raw, descending=segments[name].descending
            )
            for name in template.parts
        }
    )


def test_a_template_is_split_into_whole_segments() -> None:
    """A leading `#` gives an empty first segment; literals and parts follow in order."""
    template = Template.parse("#USER#{user_id}#v1.0:x/y-z_#{n:06}#{at:desc}#{m:04:desc}#{path*}")
    assert template.segments == (
        Segment(""),
        Segment("USER"),
        Segment(part="user_id"),
        Segment("v1.0:x/y-z_"),
        Segment(part="n", width=6),
        Segment(part="at", descending=True),
        Segment(part="m", width=4, descending=True),
        Segment(part="path", spread=True),
    )
    assert template.parts == ("user_id", "n", "at", "m", "path")
    assert Template.parse("#{a}#L#{x?}#{n?:06:desc}").segments[3:] == (
        Segment(part="x", optional=True),
        Segment(part="n", width=6, optional=True, descending=True),
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("#A", False), ("#A#{n}", False), ("#A#{n:desc}", False), ("#{p*}", True), ("#A#{x?}", True)]
)
def test_a_template_says_whether_its_length_is_open(text: str, expected: bool) -> None:
    """Keys that may end earlier, or go on, cannot be partition keys."""
    assert Template.parse(text).open is expected
    assert bound(text).open is expected
    assert not NativeTemplate("id", "S").open


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
        ("#{n:06:asc}", "width"),
        ("#{n:desc:06}", "width"),
        ("#{n:desc:desc}", "width"),
        ("#{p*:desc}", "order"),
        ("#{?}", "names no field"),
        ("#{x?*}", "names no field"),
        ("#{x??}", "names no field"),
        ("#{x?}#{a}", "'a' stands after an optional part"),
        ("#{x?}#L#{a}", "make 'a' optional too"),
        ("#{x?}#{p*}", "'p' stands after an optional part"),
        ("#A#{x?}#L", "label"),
        ("#{x?}#{x?}", "twice"),
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


RAW_WRONG = [
    ("USER|{id}", "letter", "one punctuation character"),
    ("USER|{id}", "!", "one punctuation character"),
    ("USER|{id}", "", "one punctuation character"),
    ("USER|{id}", "||", "one punctuation character"),
    ("a||{id}", "|", "nothing stands"),
    ("USER|{id}|", "|", "nothing stands"),
    ("{id}_v0", "|", "{id}[|]_v0"),
    ("v_{id*}", "#", "own"),
    ("v_{id?}", "#", "own"),
    ("!v_{id}", "#", "printable"),
    ("v{a}{id}", "#", "v#{a}#{id}"),
    ("A|Ä", "|", "printable ASCII"),
    ("A|a\tb", "|", "printable ASCII"),
    ("!SEQ|{id}", "|", "hidden"),
    ("A|x#!y", "|", "hidden"),
    (" A|{id}", "|", "begins with ' '"),
    ('"A|{id}', "|", "begins with"),
]


@pytest.mark.parametrize(("text", "delimiter", "word"), RAW_WRONG)
def test_a_bad_raw_template_is_refused_with_the_fix(text: str, delimiter: str, word: str) -> None:
    """Raw literals are free but for the delimiter, braces, and what hidden items are called."""
    with pytest.raises(TemplateError, match=word) as caught:
        Template.parse(text, delimiter=delimiter)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "delimiter", "values", "key"),
    [
        ("USER|{id}", "|", {"id": "a#b c"}, "USER|a#b c"),
        ("ORG:{org}:USER:{id}", ":", {"org": "x|y", "id": "7"}, "ORG:x|y:USER:7"),
        ("ord-{n:06}-{m}", "-", {"n": 7, "m": 12}, "ord-000007-12"),
        ("|A b%s|{id}|$!", "|", {"id": "%"}, "|A b%s|%|$!"),
        ("100%|{a}|{b}|{c}|{d}", "|", {"a": "1", "b": "2", "c": "3", "d": "%s"}, "100%|1|2|3|%s"),
        ("R/{path*}", "/", {"path": ("x", "y z")}, "R/x/y z"),
        ("{path*}", "/", {"path": ("x", "y")}, "x/y"),
        ("A?{id}?{x?}", "?", {"id": "i", "x": "j"}, "A?i?j"),
        ("A?{id}?{x?}", "?", {"id": "i", "x": None}, "A?i"),
        ("A*{n:06}*{p*}", "*", {"n": 1, "p": ("q",)}, "A*000001*q"),
        ("A $#{id}", "#", {"id": "x|y"}, "A $#x|y"),
    ],
)
def test_a_raw_key_is_reproduced_byte_for_byte(text: str, delimiter: str, values: dict[str, Any], key: str) -> None:
    """Parts stand between the delimiters as they are, without escape and padding, and read back."""
    template = bound(text, raw=delimiter)
    assert template.render(values, limit=1023) == key
    assert template.parse(key) == values
    assert (template.raw, template.delimiter) == (True, delimiter)


@pytest.mark.parametrize(("text", "delimiter"), [("U|{a}", "|"), ("U:{a}:{n}", ":"), ("U-{n}", "-")])
def test_a_raw_value_never_holds_the_delimiter(text: str, delimiter: str) -> None:
    """Text with the delimiter, or a number whose sign is the delimiter, would move a segment: refused."""
    values = {"a": f"x{delimiter}y", "n": -1}
    with pytest.raises(KeyPartError, match="without '"):
        bound(text, raw=delimiter).render(values, limit=1023)


def test_template_and_formats_fit_together() -> None:
    """A template binds formats of its own delimiter and direction only; one with raw literals binds raw ones only."""
    encoded, piped, raw = key_format(str), key_format(str, raw="|"), key_format(str, raw=True)
    for template, used in (
        (Template.parse("A|{a}", delimiter="|"), encoded),
        (Template.parse("A|{a}", delimiter="|"), raw),
        (Template.parse("A#{a}"), piped),
        (Template.parse("A#{a}", delimiter="#"), encoded),
    ):
        with pytest.raises(TemplateError, match="part 'a'"):
            template.bind({"a": used})
    for text, down in (("A#{n}", True), ("A#{n:desc}", False)):
        with pytest.raises(TemplateError, match="sorts the other way"):
            Template.parse(text).bind({"n": key_format(int, descending=down)})
    assert Template.parse("A#{a}").bind({"a": raw}).raw
    assert bound("A $#B", raw="#").raw


OPTIONAL: list[tuple[str, dict[str, Any], str]] = [
    ("#O#{a}#{x?}", {"a": "i", "x": None}, "#O#i"),
    ("#O#{a}#{x?}", {"a": "i", "x": "j"}, "#O#i#j"),
    ("#O#{a}#L#{x?}#M#{n?}", {"a": "i", "x": None, "n": None}, "#O#i"),
    ("#O#{a}#L#{x?}#M#{n?}", {"a": "i", "x": "j", "n": None}, "#O#i#L#j"),
    ("#O#{a}#L#{x?}#M#{n?}", {"a": "i", "x": "j", "n": 0}, "#O#i#L#j#M#0000000000000000000"),
    ("#SHOP#CITY#{x?}", {"x": None}, "#SHOP#CITY"),
    ("#SHOP#CITY#{x?}", {"x": "j"}, "#SHOP#CITY#j"),
    ("{x?}#{y?}", {"x": "j", "y": None}, "j"),
    ("{a}#{b}#{c}#{x?}", {"a": "i", "b": "j", "c": "k", "x": None}, "i#j#k"),
    ("{a}#{b}#{c}#{x?}", {"a": "i", "b": "j", "c": "k", "x": "l"}, "i#j#k#l"),
]


@pytest.mark.parametrize(("text", "values", "key"), OPTIONAL)
def test_a_key_ends_after_its_last_value(text: str, values: dict[str, Any], key: str) -> None:
    """An absent part takes its label along; the literals before the first part stay; parse gives None."""
    template = bound(text)
    given = {name: value for name, value in values.items() if value is not None}
    assert template.render(values, limit=1023) == template.render(given, limit=1023) == key
    assert template.parse(key) == values


@pytest.mark.parametrize("key", ["#O", "#O#i#L", "#O#i#j", "#O#i#L#j#M", "#O#i#M#j", "#O#i#L#j#M#1", "#O#i#L#j#M#x#y"])
def test_a_key_that_ends_elsewhere_is_not_read(key: str) -> None:
    """A label without its value, a value without its label, a missing required part are of no form."""
    assert bound("#O#{a}#L#{x?}#M#{n?}").parse(key) is None


def test_a_hole_and_nothing_at_all_are_refused() -> None:
    """A later part needs the one before it, a required part needs its value, and a key is never empty."""
    template = bound("#O#{a}#{x?}#{y?}#{n?}")
    with pytest.raises(PartHole, match="'x': given None, wanted a value, since 'n' after it is given"):
        template.render({"a": "i", "x": None, "n": 0}, limit=99)
    with pytest.raises(PartHole, match="'y': given nothing"):
        template.render({"a": "i", "x": "j", "n": 0}, limit=99)
    with pytest.raises(MissingPart, match="'a'"):
        template.render({"x": "j"}, limit=99)
    with pytest.raises(KeyPartError, match="'y': given empty str"):
        template.render({"a": "i", "x": "j", "y": ""}, limit=99)
    for text in ("{x?}", "#{x?}#{y?}"):
        with pytest.raises(KeyPartError, match="'x': given nothing, wanted a value, since no other part"):
            bound(text).render({"x": None}, limit=99)
        assert bound(text).parse("") is None
    with pytest.raises(KeyTooLong, match="'a'"):
        template.render({"a": "i" * 9, "x": None}, limit=9)


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("#A#{a}", ["#A#{a}"]),
        ("#A#{p*}", ["#A#{p*}"]),
        ("#A#{x?}", ["#A", "#A#{x?}"]),
        ("#{x?}", ["#{x?}"]),
        ("{x?}#L#{y?}", ["{x?}", "{x?}#L#{y?}"]),
        ("#A#{a}#L#{x?}#{y?}", ["#A#{a}", "#A#{a}#L#{x?}", "#A#{a}#L#{x?}#{y?}"]),
    ],
)
def test_a_template_has_a_form_for_each_length(text: str, forms: list[str]) -> None:
    """The shortened forms are the beginnings that a key can have, without the one that leaves nothing."""
    segments = Template.parse(text).segments
    assert shortened(Template.parse(text)) == tuple(segments[: each.count("#") + 1] for each in forms)


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


def test_native_text_is_itself() -> None:
    """Native text is neither escaped nor padded; its bytes of UTF-8 count."""
    template = NativeTemplate("id", "S")
    for text in ("a#b", " x", "%", "é", "a!#b"):
        assert template.render({"id": text}, limit=2048) == text
        assert template.parse(text) == {"id": text}
    with pytest.raises(KeyTooLong):
        template.render({"id": "éé"}, limit=3)


@pytest.mark.parametrize("value", ["", "!", "!SEQ#order.n", "a#!x", "\ud800", b"a", 7, None])
def test_native_text_never_forges_a_hidden_item(value: Any) -> None:
    """A segment that begins with '!' is kept for hidden items; anything but text with a UTF-8 form is refused."""
    template = NativeTemplate("id", "S")
    with pytest.raises(KeyPartError, match="'id'"):
        template.render({"id": value}, limit=2048)
    assert not isinstance(value, str) or template.parse(value) is None


@pytest.mark.parametrize("text", ["", "x", "1.0", "01", "+1", "-0", "NaN", "1E3"])
def test_a_native_number_is_read_canonically(text: str) -> None:
    """Other spellings are not what DynamoDB returns."""
    assert NativeTemplate("id", "N").parse(text) is None
