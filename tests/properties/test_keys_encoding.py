"""Laws of the key encoding: one key per tuple, in the tuples' order, and exact subtrees."""

from __future__ import annotations

from urllib.parse import unquote

from hypothesis import example, given, settings
from hypothesis import strategies as st

from singletable.keys import AFTER, DELIMITER, escape, unescape

NASTY = "\0\x01\n !\"#$%&'/09Aa~\x7f\xa0é\ud7ff\ue000\uffee\uffff\U00010000\U0001f600\U0010ffff"
TEXT = st.text(st.sampled_from(NASTY), min_size=1, max_size=4) | st.text(min_size=1, max_size=6)
TUPLES = st.lists(TEXT, min_size=1, max_size=4).map(tuple)
COMMON = settings(max_examples=400, deadline=None)


def key(values: tuple[str, ...]) -> str:
    """Write a key as templates do."""
    return DELIMITER.join(map(escape, values))


@COMMON
@given(TUPLES, TUPLES)
@example(("a#b", "c"), ("a", "b#c"))
@example(("a", "b"), ("a!", "b"))
@example(("a",), ("a$",))
def test_keys_are_injective_and_keep_the_order(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    """Two tuples have one key only if they are one, and keys sort as the tuples do, in UTF-8 bytes too."""
    assert (key(a) == key(b)) is (a == b)
    assert (key(a) < key(b)) is (a < b)
    assert (key(a).encode() < key(b).encode()) is (a < b)


@COMMON
@given(TUPLES)
def test_the_round_trip_is_exact(values: tuple[str, ...]) -> None:
    """Splitting and decoding gives the tuple back; a URL decoder agrees."""
    pieces = key(values).split(DELIMITER)
    assert tuple(map(unescape, pieces)) == values
    assert tuple(map(unquote, pieces)) == values


@COMMON
@given(TUPLES, TUPLES, st.booleans())
def test_subtrees_are_exact(node: tuple[str, ...], other: tuple[str, ...], beneath: bool) -> None:
    """BETWEEN key AND key$ is the node and its subtree, begins_with(key#) its strict descendants, and nothing else."""
    other = node + other if beneath else other
    top = key(node)
    within = other[: len(node)] == node
    assert (top <= key(other) <= top + AFTER) is within
    assert key(other).startswith(top + DELIMITER) is (within and len(other) > len(node))


@COMMON
@given(TEXT, TEXT)
def test_text_prefixes_are_kept(prefix: str, text: str) -> None:
    """Encoded text begins with an encoded prefix exactly where the text begins with the prefix."""
    assert escape(text).startswith(escape(prefix)) is text.startswith(prefix)
    assert escape(prefix + text).startswith(escape(prefix))


@COMMON
@given(st.text(st.sampled_from("%#$ 0123456789ABCDEFabcdefxyé\n\0"), max_size=8))
@example("%25")
@example("%26")
@example("%2a")
def test_decoding_is_canonical(text: str) -> None:
    """Text is decoded only if encoding would have written it."""
    try:
        value = unescape(text)
    except ValueError:
        value = None
    assert value is None or escape(value) == text
    assert value is not None or escape(unquote(text)) != text
