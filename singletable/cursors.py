"""Cursors as text: what stands in them, how they are sealed, and how they are read back.

Theory of operation. A cursor is one version byte, its content and a seal, written in URL-safe base64 without padding.
The content says in which direction to go on, in which of several queries and at which place there, until when it holds,
and two digests: of what it was made for (`bound`) and of the caller's `context`. Seal and digests are HMAC-SHA256 under
the key that signs. Without a key they are the same function under an empty one, which anyone can compute: damage is
found then, forgery is not, so whoever reads a place checks it as if a stranger had written it.

Everything is strict both ways: a text is read only if writing what was read gives it back, so that each cursor has one
spelling. Source: RFC 2104 (HMAC; §5 allows a seal of half the hash), RFC 4648 §5 (base64url).
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from re import compile as pattern

from singletable.errors import BadCursor, QueryError

__all__ = ["CURSOR_BYTES", "Cursor", "Purpose", "Signing", "bad_cursor", "read", "write"]

CURSOR_BYTES = 4096
"""A cursor has at most so many characters, all of them ASCII."""

VERSION = b"\x01"
SEAL_BYTES = 16
DIGEST_BYTES = 12
BACKWARD, EXPIRES, WITH_CONTEXT, WITH_PLACE = 1, 2, 4, 8
"""Flags, in the byte after the version."""

TEXT = pattern(r"[A-Za-z0-9_-]+").fullmatch


REASONS = {
    "malformed": ("is no text that a store gave out", "hand it back unchanged, as one URL parameter"),
    "signature": ("is not sealed with a key of this store", "it was changed, or its key is no longer in cursor_key="),
    "query": ("was made for another request", "a cursor goes with the table, index, partition and kind of query"),
    "context": ("was made for another context=", "it belongs to someone else, such as another tenant or user"),
    "expired": ("has expired", "begin again at the first page"),
    "position": ("holds a place that no row of the query can have", "begin again at the first page"),
}


def bad_cursor(reason: str) -> BadCursor:
    """Make the error for a cursor that cannot be used."""
    what, hint = REASONS[reason]
    return BadCursor(f"the cursor {what} ({reason})", hint=hint, reason=reason)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where to go on: in which query, at which place of it (None: at its beginning), and in which direction."""

    query: int = 0
    place: tuple[str | None, ...] | None = None
    backward: bool = False


@dataclass(frozen=True, slots=True)
class Signing:
    """How cursors are sealed: the first key signs, all are tried to verify; without one anyone could seal.

    `seconds` is how long a cursor holds, None for ever.
    """

    keys: tuple[bytes, ...] = field(default=(b"",), repr=False)
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a cursor is bound to: the request it goes on with, in bytes, and who may use it."""

    bound: bytes
    context: str | None = None


def write(cursor: Cursor, purpose: Purpose, signing: Signing, now: float) -> str:
    """Write a cursor as text. QueryError where its place makes it longer than 4 KB.

    >>> write(Cursor(), Purpose(b"orders"), Signing(), 0.0)[:4]
    'AQAA'
    """
    expires = None if signing.seconds is None else int(now) + signing.seconds
    text = _text(_Content(cursor, expires), purpose, signing.keys[0])
    if len(text) > CURSOR_BYTES:
        raise QueryError(
            f"the keys of a row make a cursor of {len(text)} bytes, at most {CURSOR_BYTES} are allowed",
            hint="query a key that is shorter, or read on with store.query(...)",
        )
    return text


def read(text: str, purpose: Purpose, signing: Signing, now: float) -> Cursor:
    """Read a cursor that was written for the same purpose. BadCursor with the reason where it was not.

    >>> read(write(Cursor(3), Purpose(b"a"), Signing(), 0.0), Purpose(b"a"), Signing(), 0.0)
    Cursor(query=3, place=None, backward=False)
    """
    if len(text) > CURSOR_BYTES or TEXT(text) is None:
        raise bad_cursor("malformed")
    raw = _bytes(text)
    key = _key_of(raw, signing.keys)
    try:
        content, bound, context = _parsed(raw[1:-SEAL_BYTES])
    except (IndexError, ValueError):
        raise bad_cursor("malformed") from None
    if _text(content, None, key, digests=bound + context) != text:
        raise bad_cursor("malformed")
    if not hmac.compare_digest(bound, _digest(key, b"bound", purpose.bound)):
        raise bad_cursor("query")
    if not hmac.compare_digest(context, _context(key, purpose)):
        raise bad_cursor("context")
    if signing.seconds is not None and content.expires is None:
        raise bad_cursor("expired")  # given out before cursors expired
    if content.expires is not None and now >= content.expires:
        raise bad_cursor("expired")
    return content.cursor


# Seals


def _digest(key: bytes, what: bytes, data: bytes) -> bytes:
    return hmac.digest(key, b"singletable cursor " + what + b"\0" + data, "sha256")[:DIGEST_BYTES]


def _context(key: bytes, purpose: Purpose) -> bytes:
    return b"" if purpose.context is None else _digest(key, b"context", purpose.context.encode(errors="surrogatepass"))


def _seal(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, b"singletable cursor seal\0" + data, "sha256")[:SEAL_BYTES]


def _key_of(raw: bytes, keys: tuple[bytes, ...]) -> bytes:
    """Find the key that sealed a cursor."""
    if raw[:1] != VERSION or len(raw) < 1 + SEAL_BYTES:
        raise bad_cursor("malformed")
    for key in keys:
        if hmac.compare_digest(_seal(key, raw[:-SEAL_BYTES]), raw[-SEAL_BYTES:]):
            return key
    raise bad_cursor("signature")


# Bytes


@dataclass(frozen=True, slots=True)
class _Content:
    cursor: Cursor
    expires: int | None


def _text(content: _Content, purpose: Purpose | None, key: bytes, *, digests: bytes = b"") -> str:
    """Write content with its digests, made for a purpose or as they were read, and seal it."""
    cursor = content.cursor
    if purpose is not None:
        digests = _digest(key, b"bound", purpose.bound) + _context(key, purpose)
    flags = BACKWARD * cursor.backward + EXPIRES * (content.expires is not None)
    flags += WITH_CONTEXT * (len(digests) > DIGEST_BYTES) + WITH_PLACE * (cursor.place is not None)
    data = VERSION + bytes((flags,)) + _number(cursor.query)
    data += b"" if content.expires is None else _number(content.expires)
    data += digests + b"".join(map(_piece, cursor.place or ()))
    return urlsafe_b64encode(data + _seal(key, data)).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise bad_cursor("malformed") from None


def _parsed(data: bytes) -> tuple[_Content, bytes, bytes]:
    """Read content and both digests; IndexError or ValueError where they are none."""
    flags, at = data[0], 1
    query, at = _read_number(data, at)
    expires: int | None = None
    if flags & EXPIRES:
        expires, at = _read_number(data, at)
    bound, at = data[at : at + DIGEST_BYTES], at + DIGEST_BYTES
    context = data[at : at + DIGEST_BYTES] if flags & WITH_CONTEXT else b""
    pieces = tuple(_pieces(data, at + len(context)))
    place = pieces if flags & WITH_PLACE else None
    return _Content(Cursor(query, place, bool(flags & BACKWARD)), expires), bound, context


def _pieces(data: bytes, at: int) -> Iterator[str | None]:
    while at < len(data):
        size, at = _read_number(data, at)
        end = at + max(size - 1, 0)
        if end > len(data):
            raise ValueError("a piece ends after the cursor")
        yield data[at:end].decode() if size else None
        at = end


def _piece(piece: str | None) -> bytes:
    if piece is None:
        return b"\0"
    data = piece.encode()
    return _number(len(data) + 1) + data


def _number(number: int) -> bytes:
    """Write a number, seven bits a byte, the least first; all bytes but the last have their high bit set."""
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
