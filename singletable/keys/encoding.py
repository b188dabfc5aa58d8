"""Text that can stand between two `#` of a key, without forging one and without losing its order.

Theory of operation. In a value every character U+0000..U+0025 (the controls, the space and `! " # $ %`) is written as
`%XX`, upper-case hex; every other character stands for itself. Each character thus has a code of its own, no code
begins another, and codes sort as the characters do (`%` and hex for the low ones, all others above `%`). So:

- `#` (U+0023) sorts below every character of a value, so whole keys sort as the tuples of their values do, and two
  different tuples never share a key;
- `$` (U+0024) occurs nowhere, and sorts between `#` and every value character, so `BETWEEN key AND key + "$"` is
  exactly the key and all that stands below it;
- `begins_with(key + "#")` is exactly what stands below it.

DynamoDB compares strings by their UTF-8 bytes, which is the order of code points and of Python's `str`.
"""

from __future__ import annotations

import re

__all__ = [
    "AFTER",
    "DELIMITER",
    "DELIMITERS",
    "FLOOR",
    "PK_BYTES",
    "SENT_BYTES",
    "SK_BYTES",
    "SPECIAL",
    "KeyValueError",
    "after",
    "below",
    "escape",
    "filled",
    "forges",
    "unescape",
]

DELIMITER = "#"
"""Stands between the segments of a key; sorts below every character of an encoded value."""

DELIMITERS = frozenset("#$%&'()*+,-./:;<=>?@[\\]^_`|~")
"""What may stand between the segments of a raw key: ASCII punctuation but braces, and no `!` or `"`, which sort below
`#` as hidden items do."""

AFTER = "$"
"""Closes the range of a subtree: sorts above `DELIMITER` and below every character of an encoded value."""

FLOOR = "%"
"""The least text with which a key can begin where its template begins with a part."""

PK_BYTES = 2048
"""UTF-8 bytes of a partition key at most (DynamoDB's limit)."""

SK_BYTES = 1023
"""UTF-8 bytes of a sort key at most: DynamoDB's 1024 less one, so that `key + AFTER` can still be sent."""

SENT_BYTES = 1024
"""UTF-8 bytes of a sort-key bound at most (DynamoDB's limit)."""

FILLERS = ("\U0010ffff", "\uffff", "\u07ff", "\x7f")
ESCAPED = {code: f"%{code:02X}" for code in range(0x26)}
SPECIAL = re.compile("[\\x00-%\\ud800-\\udfff]").search
"""Finds what cannot stand in a key as it is; None for most text, and so the fast path of `escape`."""

SURROGATE = re.compile("[\\ud800-\\udfff]").search
ENCODED = re.compile("(?:[^\\x00-%\\ud800-\\udfff]|%[01][0-9A-F]|%2[0-5])*").fullmatch
CODE = re.compile("%(..)")


class KeyValueError(ValueError):
    """A value, or stored text, that a key part cannot hold: `given` describes it, `wanted` says what would do.

    `hint` says how what was probably meant is written.
    """

    def __init__(self, given: str, wanted: str, hint: str = "") -> None:
        super().__init__(f"given {given}, wanted {wanted}")
        self.given = given
        self.wanted = wanted
        self.hint = hint


def escape(text: str) -> str:
    """Encode text so that it can be one segment of a key.

    ValueError for a lone surrogate: it has no UTF-8 form, so no key can hold it.

    >>> escape("a#b"), escape("50 %"), escape("四川")
    ('a%23b', '50%20%25', '四川')
    """
    if SPECIAL(text) is None:
        return text
    if SURROGATE(text) is not None:
        raise ValueError("text holds a lone surrogate, which has no UTF-8 form")
    return text.translate(ESCAPED)


def unescape(text: str) -> str:
    """Decode what `escape` wrote, and nothing else.

    ValueError for any other text: a raw low character, a stray `%`, lower-case hex, the code of a character that stands
    for itself. So a text is decoded only if encoding the result gives it back.

    >>> unescape("a%23b")
    'a#b'
    >>> unescape("a%2f")
    Traceback (most recent call last):
    ValueError: text is not in the form the key encoding writes
    """
    if ENCODED(text) is None:
        raise ValueError("text is not in the form the key encoding writes")
    return CODE.sub(_decoded, text) if "%" in text else text


def after(delimiter: str) -> str:
    """Give the character that closes the range of a subtree: the one next to the delimiter.

    Among encoded keys `$` does so exactly. Below another delimiter, and in raw text, it also takes in keys whose value
    goes on with a character below the delimiter.

    >>> after("#"), after("|")
    ('$', '}')
    """
    return chr(ord(delimiter) + 1)


def forges(text: str) -> bool:
    """Say whether unescaped text would make, or stand in, a key of a hidden item: a segment that begins with `!`.

    >>> forges("!SEQ#a"), forges("a#!SEQ"), forges("a!#b")
    (True, True, False)
    """
    return text.startswith("!") or "#!" in text


def below(text: str) -> str:
    """Give the greatest text of at most 1024 UTF-8 bytes that sorts below one.

    >>> below("b")[:2] == "a" + chr(0x10FFFF), len(below("b").encode()), below("ab" + chr(0))
    (True, 1024, 'ab')
    """
    head, last = text[:-1], ord(text[-1])
    if last == 0:
        return head
    return filled(head + chr(0xD7FF if last == 0xE000 else last - 1))


def filled(text: str) -> str:
    """Give the greatest text of at most 1024 UTF-8 bytes that begins with one.

    >>> filled("b")[:2] == "b" + chr(0x10FFFF), len(filled("b").encode())
    (True, 1024)
    """
    room = SENT_BYTES - len(text.encode())
    rest = room % 4
    return text + FILLERS[0] * (room // 4) + (FILLERS[4 - rest] if rest else "")


def _decoded(code: re.Match[str]) -> str:
    return chr(int(code[1], 16))
