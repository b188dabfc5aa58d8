"""Sizes by DynamoDB's published rules, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.sizes import item_size, read_units, value_size


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "abc"}, 3),
        ({"S": "é😀"}, 6),
        ({"B": b"\x00\x01"}, 2),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"N": "0"}, 1),
        ({"N": "7"}, 2),
        ({"N": "12345"}, 4),  # three bytes of digits and one
        ({"N": "-12345"}, 5),
        ({"N": "1200"}, 2),  # two significant digits
        ({"N": "0.0012"}, 2),
        ({"N": "1.5E+10"}, 2),
        ({"SS": ["a", "bc"]}, 3),
        ({"NS": ["1", "22"]}, 4),
        ({"BS": [b"a", b"bc"]}, 3),
        ({"L": []}, 3),
        ({"L": [{"S": "a"}, {"N": "1"}]}, 3 + 2 + 3),
        ({"M": {}}, 3),
        ({"M": {"ab": {"S": "c"}}}, 3 + 1 + 2 + 1),
    ],
)
def test_a_value_has_its_size(value: dict[str, Any], size: int) -> None:
    """Text counts its UTF-8 bytes, a number half its significant digits and one, a list or map three and one each."""
    assert value_size(value) == size


def test_an_item_counts_its_names() -> None:
    """Names count as they are stored: 2 + 3 and 4 + 2."""
    assert item_size({"PK": {"S": "abc"}, "näm": {"N": "42"}}) == 5 + 6


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [(0, True, 1.0), (1, False, 0.5), (4096, True, 1.0), (4097, True, 2.0), (8193, False, 1.5)],
)
def test_reading_costs_units_of_4_kb(size: int, consistent: bool, units: float) -> None:
    """Each 4 KB begun costs a unit, half of it where the read may be stale."""
    assert read_units(size, consistent=consistent) == units
