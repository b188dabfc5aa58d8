"""Keys that are one number or one binary value, as DynamoDB stores and orders it, without a template around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from enum import Enum
from typing import Any, ClassVar, Literal, TypeAlias

from singletable.errors import KeyPartError, MissingPart, kind_of
from singletable.keys.encoding import KeyValueError
from singletable.keys.numbers import DIGITS, plain_number
from singletable.keys.template import BoundTemplate, Segment, too_long

__all__ = ["KeyTemplate", "NativeTemplate"]

DECIMALS = Context(prec=DIGITS, Emin=-130, Emax=125)
SMALLEST = Decimal("1E-130")


@dataclass(frozen=True, slots=True)
class NativeTemplate:
    """A key that is one number or one binary value as it is, without text around it.

    Its text form, in `render`, `parse` and ranges, is the number in plain digits, or the bytes in lower-case hex (which
    sorts as the bytes do).
    """

    part: str
    attribute_type: Literal["N", "B"]
    raw: ClassVar[bool] = False
    literals: ClassVar[str] = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The name of the only part."""
        return (self.part,)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The only part as a segment."""
        return (Segment(part=self.part),)

    def render(self, values: Mapping[str, Any], *, limit: int) -> str:
        """Write the value's text; MissingPart, KeyPartError and KeyTooLong as in a text key.

        >>> NativeTemplate("id", "N").render({"id": Decimal("42.50")}, limit=2048)
        '42.5'
        """
        value = values.get(self.part)
        if value is None:
            raise MissingPart(self.part, given="None" if self.part in values else "nothing", wanted="a value")
        if self.attribute_type == "N":
            return self._number(value)
        if not isinstance(value, bytes) or not value:
            raise KeyPartError(self.part, given=kind_of(value), wanted="non-empty bytes")
        if len(value) > limit:
            raise too_long(self.part, "-" * len(value), limit)
        return value.hex()

    def parse(self, text: str) -> dict[str, Any] | None:
        """Read the value back: int where the number is whole, else Decimal, or bytes; None for any other text.

        >>> NativeTemplate("id", "N").parse("42"), NativeTemplate("id", "N").parse("4.20")
        ({'id': 42}, None)
        """
        try:
            value = self._value(text)
            return {self.part: value} if self.render({self.part: value}, limit=len(text)) == text else None
        except (ValueError, InvalidOperation):
            return None

    def after(self, text: str) -> str:
        """Give the least value above one: the next number of 38 digits (empty text: none), or the bytes and a zero.

        >>> NativeTemplate("id", "B").after("ff"), NativeTemplate("id", "N").after("-1")
        ('ff00', '-0.99999999999999999999999999999999999999')
        """
        if self.attribute_type == "B":
            return f"{text}00"
        number = DECIMALS.next_plus(Decimal(text))
        if number.copy_abs() < SMALLEST:
            number = SMALLEST if number > 0 else Decimal(0)
        return plain_number(number) if number.is_finite() else ""

    def before(self, text: str, limit: int) -> str:
        """Give the greatest value below one, of at most `limit` bytes; empty text where there is none.

        >>> NativeTemplate("id", "B").before("0100", 3), NativeTemplate("id", "B").before("01", 3)
        ('01', '00ffff')
        """
        if self.attribute_type == "N":
            mirrored = self.after(plain_number(Decimal(text).copy_negate()))
            return plain_number(Decimal(mirrored).copy_negate()) if mirrored else ""
        last = int(text[-2:], 16)
        return f"{text[:-2]}{last - 1:02x}".ljust(limit * 2, "f") if last else text[:-2]

    def _number(self, value: Any) -> str:
        if isinstance(value, bool | Enum) or not isinstance(value, int | Decimal):
            raise KeyPartError(self.part, given=kind_of(value), wanted="int or Decimal")
        try:
            return plain_number(value)
        except KeyValueError as error:
            raise KeyPartError(self.part, given=error.given, wanted=error.wanted) from None

    def _value(self, text: str) -> int | Decimal | bytes:
        if self.attribute_type == "B":
            return bytes.fromhex(text)
        number = Decimal(text)
        return int(number) if number == number.to_integral_value() else number


KeyTemplate: TypeAlias = BoundTemplate | NativeTemplate
"""What a key attribute holds: text by a template, or a native value."""
