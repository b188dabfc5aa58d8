"""No value of any type changes which template, or which segment, a key parses to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.errors import KeyPartError
from singletable.keys import BoundTemplate, Template, key_format

TEXTS = ("#USER#{a}", "#USER#{a}#O#{b}", "#USER#{a}#{b}", "#USERS#{a}", "USER#{a}", "#T#{a}#R#{p*}", "#U#{a}#USER")
LURES = st.sampled_from(
    ["a|b", "|", "a#!b", "a#O#b", "#", "##", "a#", "#USER", "USER", "%23", "a%23b", "$", "!SEQ", "!", "a\0", "O", "R"]
)
VALUES = LURES | st.text(min_size=1, max_size=8)
ANYTHING = (
    VALUES | st.none() | st.booleans() | st.integers() | st.floats() | st.binary() | st.just("") | st.just("\ud800")
)
COMMON = settings(max_examples=40, deadline=None)


def bound(text: str, *, raw: bool | str = False) -> BoundTemplate:
    """Bind a template whose parts are all str; one of another delimiter is written with `#` here too."""
    delimiter = raw if isinstance(raw, str) else None
    template = Template.parse(text.replace("#", delimiter or "#"), delimiter=delimiter)
    return template.bind({name: key_format(str, raw=raw) for name in template.parts})


ENCODED = [bound(text) for text in TEXTS]
RAW = [bound(text, raw=True) for text in TEXTS]
PIPED = [bound(text, raw="|") for text in TEXTS]


def written(template: BoundTemplate, values: dict[str, Any]) -> str | None:
    """Write a key, or None where a value is refused."""
    try:
        return template.render(values, limit=1023)
    except KeyPartError:
        return None


@pytest.mark.parametrize("template", [*ENCODED, *RAW, *PIPED], ids=lambda each: f"{each.template.text} {each.raw}")
@COMMON
@given(a=ANYTHING, b=ANYTHING, path=st.lists(ANYTHING, max_size=3).map(tuple))
def test_a_key_reads_back_as_what_was_written(template: BoundTemplate, a: Any, b: Any, path: tuple[Any, ...]) -> None:
    """A value is refused, or the key has the template's segments, no hidden one, and gives the values back."""
    values = {name: {"a": a, "b": b, "p": path}[name] for name in template.parts}
    key = written(template, values)
    if key is not None:
        assert template.parse(key) == values
        delimiter = template.delimiter
        more = len(path) - 1 if template.spread else 0
        assert key.count(delimiter) == template.template.text.count(delimiter) + more
        assert not any(piece.startswith("!") for piece in key.split("#"))


@pytest.mark.parametrize("templates", [ENCODED, RAW, PIPED], ids=["encoded", "raw", "piped"])
@COMMON
@given(a=VALUES, b=VALUES)
def test_only_templates_of_one_form_share_a_key(templates: list[BoundTemplate], a: str, b: str) -> None:
    """A key is read by another template only where that writes the same text from what it read."""
    for template in templates:
        key = written(template, {"a": a, "b": b, "p": (b,)})
        readers = [(other, other.parse(key)) for other in templates] if key is not None else []
        for other, values in readers:
            assert values is None or other.render(values, limit=1023) == key
            assert values is None or len(other.segments) == len(template.segments)


@COMMON
@given(st.text(st.sampled_from("#|USERO%23 ab$!"), max_size=14))
def test_any_text_is_read_canonically(text: str) -> None:
    """Whatever the text, a template that reads it would have written it."""
    for template in (*ENCODED, *RAW, *PIPED):
        values = template.parse(text)
        assert values is None or template.render(values, limit=1023) == text
