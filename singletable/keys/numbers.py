"""Exact numbers as text of a key whose order is the numbers' order, and as plain digits.

int64 is nineteen digits; a negative is `-` and its ten's complement, so that `-1` is their last. A Decimal is `1`,
the exponent of its first digit plus 500, a point and its digits; a negative is the nine's complement of that, closed by
`~` (above every digit), so that the longer of two that begin alike is the lesser. What DynamoDB cannot hold is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any

from singletable.errors import kind_of
from singletable.keys.encoding import KeyValueError
from singletable.keys.kinds import slip
from singletable.keys.language import shape

__all__ = [
    "DIGITS",
    "INT_SHAPES",
    "decimal_down",
    "encode_decimal",
    "encode_int",
    "fixed_int",
    "int_down",
    "plain_int",
    "plain_number",
    "read_decimal",
    "read_decimal_down",
    "read_int",
    "read_int_down",
]

DIGITS = 38
"""Significant digits of a DynamoDB number."""

INT_SHAPES = (shape("d" * 19), shape("-" + "d" * 19))
"""The shapes of an int64 as `encode_int` writes it."""

INT64 = 2**63
TENS = 10**19
EXPONENTS = range(-130, 126)
DECIMAL_TEXT = re.compile("(-?)1?([0-9]{3})\\.([0-9]{1,38})~?")


def _whole(value: Any, wanted: str) -> int:
    """Refuse what is no int of its own: a bool, a member of an Enum."""
    if not isinstance(value, int) or isinstance(value, bool | Enum):
        raise KeyValueError(kind_of(value), wanted, slip(value, Decimal if wanted == "Decimal" else int))
    return int(value)


def encode_int(value: Any) -> str:
    """Write an int64.

    >>> encode_int(42), encode_int(-1)
    ('0000000000000000042', '-9999999999999999999')
    """
    if type(value) is int and 0 <= value < INT64:
        return str(value).zfill(19)
    number = _whole(value, "int")
    if not -INT64 <= number < INT64:
        raise KeyValueError("int outside 64 bits", "int from -2**63 to 2**63 - 1")
    return f"{number:019d}" if number >= 0 else f"-{TENS + number:019d}"


def read_int(text: str) -> int:
    """Read what `encode_int` wrote; the caller checks that it did.

    >>> read_int("-9999999999999999999")
    -1
    """
    return int(text[1:]) - TENS if text.startswith("-") else int(text)


def int_down(value: Any) -> str:
    """Write an int64 so that the greater one sorts first: as the number `-1 - n`, which is an int64 too.

    >>> int_down(0), int_down(2**63 - 1)
    ('-9999999999999999999', '-0776627963145224192')
    """
    return encode_int(-1 - read_int(encode_int(value)))


def read_int_down(text: str) -> int:
    """Read what `int_down` wrote; the caller checks that it did.

    >>> read_int_down("0000000000000000041")
    -42
    """
    return -1 - read_int(text)


def plain_int(value: Any) -> str:
    """Write an int of at most 38 digits without padding.

    >>> plain_int(-42)
    '-42'
    """
    number = _whole(value, "int")
    if abs(number) >= 10**DIGITS:
        raise KeyValueError("int of more than 38 digits", "int of at most 38 digits")
    return str(number)


def fixed_int(width: int) -> Callable[[Any], str]:
    """Make the encoder of ints that are padded to a width, and refused above it.

    >>> fixed_int(6)(42)
    '000042'
    """

    def encode(value: Any) -> str:
        wanted = f"int from 0 to {'9' * width}"
        number = _whole(value, wanted)
        if not 0 <= number < 10**width:
            raise KeyValueError("int outside the declared width", wanted)
        return f"{number:0{width}d}"

    return encode


def _digits_of(value: Any) -> tuple[bool, str, int]:
    """Take a Decimal apart: sign, digits without zeros at the ends, exponent of the first digit; zero has no digits."""
    if not isinstance(value, Decimal):
        value = Decimal(_whole(value, "Decimal"))
    if not value.is_finite():
        raise KeyValueError("Decimal that is no number", "finite Decimal")
    digits = "".join(map(str, value.as_tuple().digits)).lstrip("0").rstrip("0")
    if digits and (len(digits) > DIGITS or value.adjusted() not in EXPONENTS):
        raise KeyValueError("Decimal that DynamoDB cannot hold", "at most 38 digits, from 1E-130 to 9.9E+125")
    return value.is_signed(), digits, value.adjusted()


def encode_decimal(value: Any) -> str:
    """Write a Decimal, or an int, exactly.

    >>> encode_decimal(Decimal("12.5")), encode_decimal(Decimal("-12.5")), encode_decimal(0)
    ('1501.125', '-498.874~', '0')
    """
    negative, digits, exponent = _digits_of(value)
    if not digits:
        return "0"
    if not negative:
        return f"1{exponent + 500:03d}.{digits}"
    return f"-{499 - exponent:03d}.{_nines(digits)}~"


def _nines(digits: str) -> str:
    return digits.translate(str.maketrans("0123456789", "9876543210"))


def read_decimal(text: str) -> Decimal:
    """Read what `encode_decimal` wrote; the caller checks that it did.

    >>> read_decimal("-498.874~")
    Decimal('-12.5')
    """
    if text == "0":
        return Decimal(0)
    found = DECIMAL_TEXT.fullmatch(text)
    if found is None:
        raise ValueError("no Decimal in key form")
    negative, biased, digits = found.groups()
    exponent = 499 - int(biased) if negative else int(biased) - 500
    return _decimal(bool(negative), _nines(digits) if negative else digits, exponent)


def decimal_down(value: Any) -> str:
    """Write a Decimal so that the greater one sorts first: as its negative.

    >>> decimal_down(Decimal("12.5")), decimal_down(0)
    ('-498.874~', '0')
    """
    return encode_decimal(_opposite(read_decimal(encode_decimal(value))))


def read_decimal_down(text: str) -> Decimal:
    """Read what `decimal_down` wrote; the caller checks that it did.

    >>> read_decimal_down("1501.125")
    Decimal('-12.5')
    """
    return _opposite(read_decimal(text))


def _opposite(number: Decimal) -> Decimal:
    """Negate exactly, whatever the context; there is one zero."""
    return number.copy_negate() if number else number


def _decimal(negative: bool, digits: str, exponent: int) -> Decimal:
    """Put a Decimal together exactly, whatever the context; whole numbers are spelled out as far as 38 digits go."""
    filled = digits.ljust(exponent + 1, "0") if exponent < DIGITS else digits
    return Decimal((int(negative), tuple(map(int, filled)), exponent - len(filled) + 1))


def plain_number(value: Any) -> str:
    """Write an int or Decimal that DynamoDB can hold in plain digits, without zeros at the end; KeyValueError else.

    >>> plain_number(42), plain_number(Decimal("-1.50")), plain_number(Decimal("1E+3"))
    ('42', '-1.5', '1000')
    """
    negative, digits, exponent = _digits_of(value)
    return format(_decimal(negative, digits, exponent), "f") if digits else "0"
