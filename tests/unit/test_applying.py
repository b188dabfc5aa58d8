"""What changes make of an item, worked out on this side: the rules that ScyllaDB's tests found on DynamoDB itself."""

from __future__ import annotations

from decimal import Inexact
from typing import Any

import pytest

from singletable.applying import applied
from singletable.errors import PlaceMissing
from singletable.expressions import Change, Function, Path
from singletable.scalars import CodecError


def numbers(*values: int) -> dict[str, Any]:
    """Give a list of numbers as it is stored."""
    return {"L": [{"N": str(value)} for value in values]}


def at(*segments: str | int) -> Path:
    """Give a path."""
    return Path(segments)


def put(value: int, *segments: str | int) -> Change:
    """Set a number at a place."""
    return Change("set", at(*segments), {"N": str(value)})


ONE, TWO = {"N": "1"}, {"N": "2"}

CASES: list[tuple[list[Change], dict[str, Any], dict[str, Any]]] = [
    ([Change("remove", at("a", 1)), put(17, "a", 3)], {"a": numbers(2, 3, 4, 5, 6, 7)}, {"a": numbers(2, 4, 17, 6, 7)}),
    ([put(1, "a", 84), put(2, "a", 37), put(3, "a", 17)], {"a": numbers(0)}, {"a": numbers(0, 3, 2, 1)}),
    ([Change("remove", at("a", 9)), Change("remove", at("b"))], {"a": numbers(0)}, {"a": numbers(0)}),
    ([Change("remove", at("a", 0)), Change("remove", at("a", 1))], {"a": numbers(1, 2, 3)}, {"a": numbers(3)}),
    ([Change("set", at("b"), at("a")), Change("remove", at("a"))], {"a": {"S": "x"}}, {"b": {"S": "x"}}),
    (
        [Change("set", at("a"), at("b")), Change("set", at("b"), at("a"))],
        {"a": ONE, "b": TWO},
        {"a": TWO, "b": ONE},
    ),
    ([Change("remove", at("a", "b"))], {"a": {"M": {"b": {"N": "1"}}}}, {"a": {"M": {}}}),
    ([Change("add", at("n"), {"N": "2"})], {}, {"n": {"N": "2"}}),
    ([Change("add", at("n"), {"N": "2"}, base={"N": "5"})], {}, {"n": {"N": "7"}}),
    ([Change("add", at("s"), {"NS": ["1.0", "2"]})], {"s": {"NS": ["1"]}}, {"s": {"NS": ["1", "2"]}}),
    ([Change("delete", at("s"), {"SS": ["a", "b"]})], {"s": {"SS": ["a", "b"]}}, {}),
    ([Change("set", at("n"), Function("-", (at("n"), {"N": "0.1"})))], {"n": {"N": "0.3"}}, {"n": {"N": "0.2"}}),
    (
        [Change("set", at("n"), Function("if_not_exists", (at("x", "y"), at("n"))))],
        {"n": ONE},
        {"n": ONE},
    ),
    ([Change("set", at("a"), Function("list_append", (numbers(0), at("a"))))], {"a": numbers(1)}, {"a": numbers(0, 1)}),
]


@pytest.mark.parametrize(("changes", "before", "after"), CASES)
def test_changes_are_carried_out(changes: list[Change], before: dict[str, Any], after: dict[str, Any]) -> None:
    """Right sides see the item as it was; places in a list count as they were, and beyond its end is its end."""
    kept = repr(before)
    assert applied(changes, before) == after
    assert repr(before) == kept


REFUSED: list[tuple[Change, type[Exception]]] = [
    (put(1, "x", "y"), PlaceMissing),
    (put(1, "t", "y"), PlaceMissing),
    (put(1, "t", 0), PlaceMissing),
    (Change("remove", at("x", "y")), PlaceMissing),
    (Change("remove", at("t", "y")), PlaceMissing),
    (Change("set", at("n"), at("x")), PlaceMissing),
    (Change("set", at("n"), Function("+", (at("t"), {"N": "1"}))), PlaceMissing),
    (Change("set", at("n"), Function("list_append", (at("t"), numbers(1)))), PlaceMissing),
    (Change("add", at("n"), {"N": "0." + "1" * 38}), Inexact),
    (Change("add", at("big"), {"N": "9" + "0" * 125}), CodecError),
]


@pytest.mark.parametrize(("change", "error"), REFUSED)
def test_what_dynamodb_refuses_is_refused(change: Change, error: type[Exception]) -> None:
    """A place that is not there, a value of another type and a number DynamoDB cannot hold are errors."""
    item = {"t": {"S": "x"}, "n": {"N": "5"}, "big": {"N": "9" + "0" * 125}}
    with pytest.raises(error):
        applied([change], item)
