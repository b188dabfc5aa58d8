"""How large items are and what reading them costs, by DynamoDB's published rules.

Sources: AWS, "DynamoDB item sizes and formats" and "DynamoDB read and write operations". A number's size is documented
as approximate; it is rounded up here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ITEM_BYTES", "item_size", "read_units", "value_size"]

ITEM_BYTES = 409_600
"""An item may have so many bytes, names included: 400 KB."""

READ_UNIT_BYTES = 4096


def item_size(item: Mapping[str, Mapping[str, Any]]) -> int:
    """Count the bytes of an item in DynamoDB JSON: every name and every value.

    >>> item_size({"PK": {"S": "#USER#é"}, "n": {"N": "12345"}, "ok": {"BOOL": True}})
    18
    """
    return sum(len(name.encode()) + value_size(value) for name, value in item.items())


def value_size(value: Mapping[str, Any]) -> int:
    """Count the bytes of one value: UTF-8 text, raw binary, a byte per two digits, three bytes around a list or map."""
    ((kind, held),) = value.items()
    if kind == "S":
        return len(held.encode())
    if kind == "N":
        return _number_size(held)
    if kind == "B":
        return len(held)
    if kind in ("SS", "NS", "BS"):
        return sum(value_size({kind[0]: member}) for member in held)
    if kind == "L":
        return 3 + sum(1 + value_size(member) for member in held)
    return 3 + sum(1 + len(name.encode()) + value_size(member) for name, member in held.items()) if kind == "M" else 1


def _number_size(text: str) -> int:
    """Count a byte per two significant digits, one for the exponent and one for a minus sign.

    >>> _number_size("0"), _number_size("12345"), _number_size("-1200")
    (1, 4, 3)
    """
    digits = text.partition("e")[0].partition("E")[0].lstrip("+-").replace(".", "").strip("0")
    return (len(digits) + 1) // 2 + 1 + (text.startswith("-"))


def read_units(size: int, *, consistent: bool = False) -> float:
    """Give the read request units of one Query, Scan page or Get over so many bytes; at least one unit of 4 KB.

    >>> read_units(0), read_units(4096, consistent=True), read_units(4097)
    (0.5, 1.0, 1.0)
    """
    units = max(1, -(-size // READ_UNIT_BYTES))
    return float(units) if consistent else units / 2
