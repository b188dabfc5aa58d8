"""The escape that makes text fit between two `#`."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from singletable.keys import escape, unescape

LOW = "".join(map(chr, range(0x26)))


def test_every_low_character_is_written_as_its_code() -> None:
    """U+0000 to U+0025 become %XX, upper-case, and nothing else does."""
    assert escape(LOW) == "".join(f"%{code:02X}" for code in range(38))
    assert escape("\x0a #$%") == "%0A%20%23%24%25"
    assert escape("&'()*+,-./09:;<=>?@AZ[]^_`az{|}~\x7f") == "&'()*+,-./09:;<=>?@AZ[]^_`az{|}~\x7f"


@pytest.mark.parametrize("text", ["", "abc", "四川", "\U0001f600", "aB1", LOW + "x", "%23"])
def test_decoding_gives_the_text_back(text: str) -> None:
    """Decoding is the inverse of encoding, and any URL decoder agrees."""
    assert unescape(escape(text)) == text
    assert unquote(escape(text)) == text


@pytest.mark.parametrize(
    "text", ["a#b", "a b", "$", "%", "%2", "%zz", "%2f", "%26", "%41", "%2G", "a%", "%0a", "\n", "a%23\n", "\ud800"]
)
def test_other_text_is_refused(text: str) -> None:
    """Text that encoding would not have written is not decoded."""
    with pytest.raises(ValueError, match="not in the form"):
        unescape(text)


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "# \udc00"])
def test_a_lone_surrogate_is_refused_without_showing_the_text(text: str) -> None:
    """Half a character has no UTF-8 form."""
    with pytest.raises(ValueError, match=r"^text holds a lone surrogate, which has no UTF-8 form$"):
        escape(text)
