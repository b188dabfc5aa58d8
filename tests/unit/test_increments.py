"""AutoIncrement and Sequence: their options, and what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import DeclarationError, TemplateError
from singletable.increments import AutoIncrement, Sequence

LARGEST = 9_223_372_036_854_775_807


def test_the_defaults() -> None:
    """With no options numbers begin at 1, grow by 1, reach 2**63 - 1 and are never reused."""
    options = AutoIncrement().options
    assert (options.start, options.step, options.max_value) == (1, 1, LARGEST)
    assert (options.strategy, options.sequence, options.per, options.reuse) == (None, None, None, "never")
    assert (options.attempts, options.deadline) == (16, 5.0)
    assert (options.block, options.gapless, options.on_explicit) == (1, False, "reject")


def test_a_sequence_is_a_counter() -> None:
    """A field that draws from a Sequence uses the counter strategy."""
    tickets = Sequence("tickets")
    options = AutoIncrement(tickets).options
    assert (options.strategy, options.sequence) == ("counter", tickets)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("strategy", "sortkey"),
        ("per", "table"),
        ("reuse", "always"),
        ("start", True),
        ("start", "1"),
        ("start", 1.0),
        ("start", LARGEST + 1),
        ("start", -LARGEST - 2),
        ("step", 0),
        ("step", -1),
        ("step", True),
        ("max_value", 0),
        ("max_value", LARGEST + 1),
        ("max_value", 1.5),
        ("block", 0),
        ("block", True),
        ("block", "50"),
        ("gapless", 1),
        ("on_explicit", True),
        ("on_explicit", "advance"),
        ("attempts", 0),
        ("attempts", True),
        ("deadline", 0.0),
    ],
)
def test_an_option_that_cannot_be(option: str, value: Any) -> None:
    """An option out of range, or of another type, is refused by its name."""
    with pytest.raises(DeclarationError, match=rf"AutoIncrement\({option}="):
        AutoIncrement(**{option: value})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "sort_key", "block": 2}, '"sort_key" and block=: .* until its item is stored'),
        ({"strategy": "sort_key", "gapless": True}, '"sort_key" and gapless=True: .* a counter'),
        ({"gapless": True, "block": 2}, "gapless=True and block=: .* is a gap"),
        ({"gapless": True, "on_explicit": "allow"}, "gapless=True and on_explicit=.* leave gaps"),
        ({"block": 2, "on_explicit": "allow"}, "block= and on_explicit=.* another process"),
    ],
)
def test_options_that_cannot_both_hold(options: dict[str, Any], words: str) -> None:
    """Two options of which one breaks what the other promises are refused with the reason."""
    with pytest.raises(DeclarationError, match=words):
        AutoIncrement(**options)


@pytest.mark.parametrize(("start", "largest"), [(-LARGEST - 1, LARGEST), (5, 5), (0, 10)])
def test_ends_of_the_range(start: int, largest: int) -> None:
    """Any 64-bit start will do, and a maximum that equals it."""
    options = AutoIncrement(start=start, max_value=largest).options
    assert (options.start, options.max_value) == (start, largest)


def test_a_sequence_says_itself_what_it_counts_for() -> None:
    """`per` beside a Sequence is refused."""
    with pytest.raises(DeclarationError, match="per="):
        AutoIncrement(Sequence("tickets"), per="entity")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "neither a name nor an attribute"),
        ({"name": ""}, r"Sequence\(name=...\) was given empty str"),
        ({"pk": 5}, r"Sequence\(pk=...\) was given int, wanted text"),
        ({"pk": "c", "attribute": "a[0]"}, "a name with brackets"),
        ({"attribute": "count"}, "of which item"),
        ({"name": "tickets", "sk": "#A"}, "no sort key of its own"),
    ],
)
def test_a_sequence_that_cannot_be(options: dict[str, str], words: str) -> None:
    """A Sequence needs a name or an item, and only an item has a sort key."""
    with pytest.raises(DeclarationError, match=words):
        Sequence(**options)


def test_a_sequences_templates_are_read() -> None:
    """A template that cannot be read is refused where the Sequence of an item that exists is made."""
    with pytest.raises(TemplateError):
        Sequence(pk="#REPO#{owner", attribute="count")


def test_a_sequences_parts() -> None:
    """The fields that choose a counter are the parts of both templates, each once."""
    assert Sequence("t", pk="#REPO#{owner}#{repo}").parts == ("owner", "repo")
    assert Sequence(pk="#C#{a}", sk="#{b}#{a}", attribute="n").parts == ("a", "b")
    assert Sequence("t").parts == ()
