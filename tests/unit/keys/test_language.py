"""The texts a key segment can hold, and where two such sets meet."""

from __future__ import annotations

from itertools import permutations

import pytest

from singletable.errors import DeclarationError
from singletable.keys.language import Language, common, shape

TEXT = Language.text()
NUMBER = Language.shaped("number", [shape("ddd")], str.isdigit, ["000", "999"])
DAY = Language.shaped("date", [shape("dddd-dd-dd")], lambda text: "01" <= text[5:7] <= "12", ["2026-01-31"])
HEX = Language.shaped("hex", [shape("xxx")], lambda text: True, ["a0f"])
BYTES = Language.shaped("bytes", (), lambda text: set(text) <= set("0123456789abcdef"), ["00", "ff"])
STATUS = Language.finite("Status", ["PAID", "OPEN", "007"])


def test_a_mask_says_which_characters_stand_where() -> None:
    """`d` is ten digits, `x` sixteen lower hex digits, any other character itself alone."""
    assert shape("d-x") == (frozenset("0123456789"), frozenset("-"), frozenset("0123456789abcdef"))


@pytest.mark.parametrize("text", ["a", "Ann", "%20", "%00", "%25", "a%23b", "-7", "蓉", "%1F~", "&"])
def test_text_holds_what_the_encoding_writes(text: str) -> None:
    """Any character above U+0025, and `%XX` for those up to it, is text."""
    assert TEXT.accepts(text)


@pytest.mark.parametrize(
    "text", ["", "a b", "a#b", "!SEQ", "$", "%", "%2", "%26", "%1f", "%41", "a%", "\x00", "\ud800"]
)
def test_text_holds_nothing_else(text: str) -> None:
    """Empty text, a raw low character, a lone surrogate and an escape the encoding would not write are not text."""
    assert not TEXT.accepts(text)


def test_a_finite_language_holds_its_members_only() -> None:
    """An Enum's language is exactly its values."""
    assert STATUS.accepts("PAID")
    assert not STATUS.accepts("paid")


def test_a_literal_is_one_text_even_an_empty_or_hidden_one() -> None:
    """The empty segment before a leading `#` and a hidden `!SEQ` are literals that no value can be."""
    for text in ("", "!SEQ"):
        assert Language.literal(text).accepts(text)
        assert common([Language.literal(text), TEXT]) is None


def test_a_rule_is_asked_only_about_text_of_its_shape() -> None:
    """A rule may index into the text: it never sees one that is too short or has another character there."""
    strict = Language.shaped("strict", [shape("d-d")], lambda text: int(text[0]) < int(text[2]), ["1-2"])
    assert [strict.accepts(text) for text in ("1-3", "3-1", "", "x-y", "1-33")] == [True, False, False, False, False]


@pytest.mark.parametrize("examples", [[], ["1234"], ["12a"]])
def test_examples_must_be_real(examples: list[str]) -> None:
    """A shaped language without examples, or with one it does not hold, is refused: a witness is made of them."""
    with pytest.raises(DeclarationError, match="number"):
        Language.shaped("number", [shape("ddd")], str.isdigit, examples)


def test_the_name_stands_for_the_rule() -> None:
    """Two languages made alike are equal though their rules are different functions."""
    assert Language.finite("Status", ["PAID", "OPEN", "007"]) == STATUS
    assert Language.text() == TEXT
    assert Language.shaped("other", [shape("ddd")], str.isdigit, ["000", "999"]) != NUMBER


@pytest.mark.parametrize(
    ("languages", "text"),
    [
        ([STATUS, NUMBER], "007"),
        ([STATUS, TEXT], "PAID"),
        ([STATUS, Language.literal("OPEN"), TEXT], "OPEN"),
        ([TEXT, DAY], "2026-01-31"),
        ([NUMBER, NUMBER], "000"),
        ([TEXT, TEXT], "a"),
        ([NUMBER, HEX], "000"),
        ([NUMBER, BYTES], "000"),
    ],
)
def test_languages_that_meet_give_a_text_of_all(languages: list[Language], text: str) -> None:
    """Where sets meet, in whatever order they are given, the answer lies in each; here is the one for this order."""
    assert common(languages) == text
    for order in permutations(languages):
        found = common(order)
        assert found is not None
        assert all(each.accepts(found) for each in languages)


@pytest.mark.parametrize(
    "languages",
    [
        [STATUS, DAY],
        [Language.literal("A"), Language.literal("B"), TEXT],
        [NUMBER, DAY],
        [NUMBER, Language.shaped("letters", [shape("ABC")], lambda text: True, ["ABC"])],
        [BYTES, DAY],
        [Language.finite("never", []), TEXT],
    ],
)
def test_languages_that_do_not_meet_give_none(languages: list[Language]) -> None:
    """Disjoint sets have no common text, in whatever order they are given."""
    assert all(common(order) is None for order in permutations(languages))


def test_shapes_meet_although_no_example_is_shared() -> None:
    """Two rules on one shape are searched at its edges: here 90 is in both, and an example of neither."""
    falling = Language.shaped("falling", [shape("dd")], lambda text: text[0] > text[1], ["31"])
    edge = Language.shaped("edge", [shape("dx")], lambda text: text not in ("31", "00"), ["0f"])
    assert common([falling, edge]) == "90"


def test_an_example_is_bent_into_the_shape_of_another() -> None:
    """A date in month 07 is found through its example, which neither edge of the shape would give."""
    july = Language.shaped("july", [shape("dddd-dd")], lambda text: text[5:] == "07", ["2026-07"])
    old = Language.shaped("old", [shape("1ddd-dd")], lambda text: text[5:] != "00", ["1999-12"])
    assert common([july, old]) == "1026-07"


def test_what_was_not_found_is_no_claim() -> None:
    """Shapes that meet only where nothing is tried pass for disjoint: an answer is always a real text, or None."""
    middle = Language.shaped("middle", [shape("dd")], lambda text: text in ("44", "55"), ["44"])
    other = Language.shaped("other", [shape("dx")], lambda text: text in ("55", "6a"), ["6a"])
    assert common([middle, other]) is None


def test_the_search_is_bounded() -> None:
    """Long shapes without a common text end after a fixed number of tries."""
    asked: list[str] = []

    def never(text: str) -> bool:
        asked.append(text)
        return text == "f" * 40

    hexes = Language.shaped("hexes", [shape("x" * 40)], never, ["f" * 40])
    digits = Language.shaped("digits", [shape("d" * 40)], lambda text: True, ["1" * 40])
    assert common([hexes, digits]) is None
    assert 0 < len(asked) < 1000
