"""Cursors as text: one spelling each, sealed, bound to their purpose, and never read when they were changed."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import BadCursor, QueryError
from singletable.cursors import CURSOR_BYTES, Cursor, Purpose, Signing, read, write

ORDERS = Purpose(b"orders of u1")
SIGNED = Signing((b"a secret of thirty-two characters",))
OPEN = Signing()
PLACE = ("", "PAID", "2026-12-01T12:00:00.000000Z", None)

cursors = st.builds(
    Cursor,
    st.integers(0, 2**40),
    st.none() | st.lists(st.none() | st.text(max_size=20), max_size=5).map(tuple),
    st.booleans(),
)
signings = st.builds(
    Signing, st.lists(st.binary(min_size=1), min_size=1, max_size=3).map(tuple), st.none() | st.integers(1, 10**9)
)
purposes = st.builds(Purpose, st.binary(), st.none() | st.text())


def reason(text: str, purpose: Purpose = ORDERS, signing: Signing = SIGNED, now: float = 0.0) -> str:
    """Give the reason for which a cursor is refused."""
    with pytest.raises(BadCursor) as raised:
        read(text, purpose, signing, now)
    return raised.value.reason


@given(cursor=cursors, purpose=purposes, signing=signings, now=st.floats(0, 4e9))
def test_what_is_written_is_read(cursor: Cursor, purpose: Purpose, signing: Signing, now: float) -> None:
    """A cursor comes back as it was, in URL-safe characters, for its purpose and its store."""
    text = write(cursor, purpose, signing, now)
    assert read(text, purpose, signing, now) == cursor
    assert text.isascii()
    assert text.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("signing", [SIGNED, OPEN], ids=["signed", "unsigned"])
def test_every_single_bit_counts(signing: Signing) -> None:
    """Whichever bit of the bytes, or of the text, is turned: the cursor is refused."""
    text = write(Cursor(2, PLACE), ORDERS, signing, 0.0)
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    for bit in range(len(raw) * 8):
        turned = bytearray(raw)
        turned[bit // 8] ^= 1 << bit % 8
        assert reason(urlsafe_b64encode(bytes(turned)).rstrip(b"=").decode(), signing=signing)
    for at, character in enumerate(text):
        for bit in range(7):
            assert reason(text[:at] + chr(ord(character) ^ 1 << bit) + text[at + 1 :], signing=signing)


@given(junk=st.text() | st.binary().map(lambda data: urlsafe_b64encode(data).decode()))
def test_junk_is_refused(junk: str) -> None:
    """Whatever was never a cursor is BadCursor, and no other error."""
    assert reason(junk) in ("malformed", "signature")


@settings(max_examples=300)
@given(data=st.binary(max_size=80))
def test_sealed_junk_is_refused(data: bytes) -> None:
    """Content that a stranger sealed where nobody signs is read strictly: refused, or in the one spelling it has."""
    raw = b"\x01" + data
    seal = hmac.digest(b"", b"singletable cursor seal\0" + raw, "sha256")[:16]
    text = urlsafe_b64encode(raw + seal).rstrip(b"=").decode()
    assert reason(text, signing=OPEN) in ("malformed", "query")


@pytest.mark.parametrize("text", ["", "A", "====", "a b", "é", "A" * 23, "A" * (CURSOR_BYTES + 1)])
def test_malformed_text(text: str) -> None:
    """What is too short, too long, of other characters or of another version is told without a look at its seal."""
    assert reason(text) == "malformed"


def test_padding_and_spare_bits_are_no_second_spelling() -> None:
    """Padding, and bits that base64 does not use, make another text of the same bytes: refused."""
    text = write(Cursor(), ORDERS, OPEN, 0.0)
    assert len(text) % 4 == 2  # so the last character has four spare bits
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".index(text[-1])
    other = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[last | 1]
    assert reason(text + "=", signing=OPEN) == "malformed"
    assert reason(text[:-1] + other, signing=OPEN) == "malformed"


def test_keys_are_rotated() -> None:
    """The first key seals, all are taken; a cursor of a key that is gone, or of none, is refused, and the reverse."""
    old, new = b"old", b"new"
    text = write(Cursor(1), ORDERS, Signing((old,)), 0.0)
    assert read(text, ORDERS, Signing((new, old)), 0.0) == Cursor(1)
    assert reason(text, signing=Signing((new,))) == "signature"
    assert reason(write(Cursor(1), ORDERS, Signing((new, old)), 0.0), signing=Signing((old,))) == "signature"
    assert reason(write(Cursor(1), ORDERS, OPEN, 0.0), signing=Signing((new,))) == "signature"
    assert reason(text, signing=OPEN) == "signature"


def test_purposes() -> None:
    """A cursor made for one request or context is refused for another, and says which of them differs."""
    text = write(Cursor(), Purpose(b"a", "t7"), SIGNED, 0.0)
    assert reason(text, Purpose(b"b", "t7")) == "query"
    assert reason(text, Purpose(b"a", "t8")) == "context"
    assert reason(text, Purpose(b"a")) == "context"
    assert reason(write(Cursor(), Purpose(b"a"), SIGNED, 0.0), Purpose(b"a", "t7")) == "context"
    assert reason(write(Cursor(), Purpose(b"a"), SIGNED, 0.0), Purpose(b"a", "")) == "context"


def test_expiry() -> None:
    """A cursor holds so many seconds; one without a time is refused where cursors expire now."""
    hourly = Signing(SIGNED.keys, 3600)
    text = write(Cursor(), ORDERS, hourly, 1000.0)
    assert read(text, ORDERS, hourly, 4599.9) == Cursor()
    assert reason(text, signing=hourly, now=4600.0) == "expired"
    assert reason(text, signing=SIGNED, now=4600.0) == "expired"
    assert reason(write(Cursor(), ORDERS, SIGNED, 0.0), signing=hourly) == "expired"


def test_a_cursor_is_never_longer_than_four_kilobytes() -> None:
    """A place that would make it longer is refused when the cursor is made."""
    longest = write(Cursor(place=("", "x" * 3000)), ORDERS, SIGNED, 0.0)
    assert len(longest) <= CURSOR_BYTES == 4096
    with pytest.raises(QueryError, match="4096"):
        write(Cursor(place=("", "x" * 3100)), ORDERS, SIGNED, 0.0)


def test_messages_hold_nothing_of_the_cursor() -> None:
    """Neither the cursor nor its content stands in the error, nor a key in a Signing's text."""
    text = write(Cursor(place=("", "very-secret")), ORDERS, SIGNED, 0.0)
    with pytest.raises(BadCursor) as raised:
        read(text, Purpose(b"other"), SIGNED, 0.0)
    assert text not in str(raised.value)
    assert "very-secret" not in str(raised.value) + repr(raised.value.__dict__)
    assert "secret" not in repr(SIGNED)
    assert raised.value.code == "ST4003"
