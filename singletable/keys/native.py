"""Keys that are one value as DynamoDB stores and orders it, without a template around it, and their ranges.

Theory of operation. A number is ordered as a number, bytes as bytes, text by its UTF-8 bytes, and each operator of a
query is DynamoDB's own on the typed value. Native text is not escaped, so a value that would be the key of a hidden
item (`!...`) is refused; hidden items may stand between values in its order, and a range that goes over their place
says that it is not exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from enum import Enum
from typing import Any, ClassVar, Literal, TypeAlias

from singletable.errors import KeyPartError, MissingPart, QueryError, kind_of
from singletable.keys.encoding import SENT_BYTES, KeyValueError, below, forges
from singletable.keys.kinds import slip
from singletable.keys.notation import KeyFormat
from singletable.keys.numbers import DIGITS, plain_number
from singletable.keys.questions import KeyRange, Narrowing, bounds_of
from singletable.keys.segments import Segment
from singletable.keys.template import BoundTemplate, too_long

__all__ = ["KeyTemplate", "NativeTemplate", "comparable", "native_range"]

DECIMALS = Context(prec=DIGITS, Emin=-130, Emax=125)
SMALLEST = Decimal("1E-130")


@dataclass(frozen=True, slots=True)
class NativeTemplate:
    """A key that is one number, one text or one binary value as it is, without text around it.

    Its text form, in `render`, `parse` and ranges, is the number in plain digits, the text itself, or the bytes in
    lower-case hex (which sorts as the bytes do; the wire wants the bytes back). `form` writes and reads that text where
    the field has a codec of its own.
    """

    part: str
    attribute_type: Literal["N", "B", "S"]
    form: KeyFormat | None = None
    raw: ClassVar[bool] = False
    open: ClassVar[bool] = False
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
        return self._stored(value if self.form is None else self._formed(self.form.encode, value), limit)

    def prefix(self, value: Any) -> str:
        """Write the text that a begins_with asks for."""
        if value is None or self.form is None:
            return self.render({self.part: value}, limit=SENT_BYTES)
        return self._stored(self._formed(self.form.prefix, value), SENT_BYTES)

    def _formed(self, write: Callable[[Any], str], value: Any) -> Any:
        """Write a value as its codec does: give the number, the text or the bytes that are stored."""
        try:
            return self._value(write(value))
        except KeyValueError as error:
            raise KeyPartError(self.part, given=error.given, wanted=error.wanted, hint=error.hint) from None

    def _stored(self, value: Any, limit: int) -> str:
        if self.attribute_type == "N":
            return self._number(value)
        return self._text(value, limit) if self.attribute_type == "S" else self._bytes(value, limit)

    def parse(self, text: str) -> dict[str, Any] | None:
        """Read the value back: int where the number is whole, else Decimal, or text, or bytes; None for other text.

        >>> NativeTemplate("id", "N").parse("42"), NativeTemplate("id", "N").parse("4.20")
        ({'id': 42}, None)
        """
        try:
            value = self._value(text) if self.form is None else self.form.decode(text)
            return {self.part: value} if self.render({self.part: value}, limit=len(text) * 4) == text else None
        except (ValueError, InvalidOperation):
            return None

    def after(self, text: str) -> str:
        """Give the least value above one: the next number of 38 digits (empty text: none); bytes or text and a zero.

        >>> NativeTemplate("id", "B").after("ff"), NativeTemplate("id", "N").after("-1")
        ('ff00', '-0.99999999999999999999999999999999999999')
        """
        if self.attribute_type != "N":
            return text + ("00" if self.attribute_type == "B" else "\0")
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
        if self.attribute_type == "S":
            return below(text)
        last = int(text[-2:], 16)
        return f"{text[:-2]}{last - 1:02x}".ljust(limit * 2, "f") if last else text[:-2]

    def _number(self, value: Any) -> str:
        if isinstance(value, bool | Enum) or not isinstance(value, int | Decimal):
            raise KeyPartError(self.part, given=kind_of(value), wanted="int or Decimal", hint=slip(value, Decimal))
        try:
            return plain_number(value)
        except KeyValueError as error:
            raise KeyPartError(self.part, given=error.given, wanted=error.wanted, hint=error.hint) from None

    def _text(self, value: Any, limit: int) -> str:
        if not isinstance(value, str) or not value or isinstance(value, Enum):
            raise KeyPartError(self.part, given=kind_of(value), wanted="non-empty text")
        text = str.__str__(value)
        if forges(text):
            wanted = "no '!' at the beginning or after a '#': it is kept for hidden items"
            raise KeyPartError(self.part, given="text with a hidden segment, which begins with '!'", wanted=wanted)
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise KeyPartError(self.part, given="text with a lone surrogate", wanted="text with a UTF-8 form") from None
        if size > limit:
            raise too_long(self.part, text, limit)
        return text

    def _bytes(self, value: Any, limit: int) -> str:
        if not isinstance(value, bytes) or not value:
            raise KeyPartError(self.part, given=kind_of(value), wanted="non-empty bytes")
        if len(value) > limit:
            raise too_long(self.part, "-" * len(value), limit)
        return value.hex()

    def _value(self, text: str) -> int | Decimal | bytes | str:
        if self.attribute_type == "S":
            return text
        if self.attribute_type == "B":
            return bytes.fromhex(text)
        number = Decimal(text)
        return int(number) if number == number.to_integral_value() else number


KeyTemplate: TypeAlias = BoundTemplate | NativeTemplate
"""What a key attribute holds: text by a template, or a native value."""

# Ranges

OPERATORS: Mapping[str, Literal[">", ">=", "<", "<="]] = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


HIDDEN = "!"
"""The least text of a hidden item; every one begins so."""


def comparable(template: KeyTemplate, text: str) -> Any:
    """Give what DynamoDB orders a key by: a number's value, else the text (as which the hex of bytes sorts too)."""
    return Decimal(text) if template.attribute_type == "N" else text


def native_range(template: NativeTemplate, whole: Mapping[str, Any], asked: tuple[Narrowing, ...]) -> KeyRange:
    """Find the condition on a native sort key: the operator itself on the typed value.

    >>> native_range(NativeTemplate("score", "N"), {}, (Narrowing("gte", (("score", 7),)),)).operands
    ('7',)
    """
    if not asked:
        text = template.attribute_type == "S"
        return KeyRange("=", (template.render(whole, limit=SENT_BYTES),)) if whole else KeyRange("all", exact=not text)
    operator = asked[0].operator
    _check_order(template, operator)
    if operator == "below" or (operator == "begins_with" and template.attribute_type == "N"):
        hint = "a native key is one value: use gt, gte, lt, lte or between"
        raise QueryError(f"no {operator} on the native key {template.part!r}", hint=hint)
    if operator == "begins_with":
        return KeyRange("begins_with", (template.prefix(asked[0].parts[0][1]),))
    bounds = [(each, template.render({template.part: value}, limit=SENT_BYTES)) for each, value in bounds_of(asked)]
    if len(bounds) == 1:
        return _open_ended(template, *bounds[0])
    return _between(template, dict(bounds))


def _check_order(template: NativeTemplate, operator: str) -> None:
    """Refuse to order by what a codec of its own writes, unless that is known to sort as the values do."""
    form = template.form
    if form is not None and not form.ordered and operator != "begins_with":
        hint = "ask for whole values, or declare the field as it is stored, without codec="
        raise QueryError(f"no {operator} on {template.part!r}: what its codec writes does not sort so", hint=hint)


def _open_ended(template: NativeTemplate, operator: str, text: str) -> KeyRange:
    exact = template.attribute_type != "S" or (text > HIDDEN) is (operator in ("gt", "gte"))
    return KeyRange(OPERATORS[operator], (text,), exact)


def _between(template: NativeTemplate, bounds: Mapping[str, str]) -> KeyRange:
    """Close both ends, since a query has one condition on its sort key: `> a` is `>=` the least value above a."""
    low = bounds["gte"] if "gte" in bounds else template.after(bounds["gt"])
    high = bounds["lte"] if "lte" in bounds else template.before(bounds["lt"], SENT_BYTES)
    if not low or not high or comparable(template, low) > comparable(template, high):
        return KeyRange("empty")
    return KeyRange("BETWEEN", (low, high), template.attribute_type != "S" or low > HIDDEN or high < HIDDEN)
