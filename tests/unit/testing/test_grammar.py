"""Expressions are read as DynamoDB reads them, and what it refuses is refused."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.expressions import Condition, Function, Path
from singletable.judging import holds
from singletable.testing import NotModelled, Refused
from singletable.testing.grammar import Placeholders, read_changes, read_condition, read_paths
from singletable.wire import Item

NAMES = {"#a": "a", "#b": "b", "#c": "c.d"}
VALUES: dict[str, Any] = {
    ":1": {"N": "1"},
    ":2": {"N": "2.0"},
    ":x": {"S": "x"},
    ":s": {"SS": ["x"]},
    ":l": {"L": []},
    ":t": {"S": "SS"},
}
A, B = Path(("a",)), Path(("b",))


def tables() -> Placeholders:
    """Give the tables of one request."""
    return Placeholders({"ExpressionAttributeNames": NAMES, "ExpressionAttributeValues": VALUES})


def shown(condition: Any) -> Any:
    """Write a condition as nested tuples, so that two can be compared."""
    if isinstance(condition, Condition):
        return (condition.operator, *map(shown, condition.operands))
    return condition


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("#a = :1", ("=", A, {"N": "1"})),
        (
            "#a = :1 OR #b = :1 AND NOT #a = :x",
            ("OR", ("=", A, {"N": "1"}), ("AND", ("=", B, {"N": "1"}), ("NOT", ("=", A, {"S": "x"})))),
        ),
        (
            "(#a = :1 or #b = :1) and #a <> :2",
            ("AND", ("OR", ("=", A, {"N": "1"}), ("=", B, {"N": "1"})), ("<>", A, {"N": "2"})),
        ),
        ("NOT NOT attribute_exists(#a)", ("NOT", ("NOT", ("attribute_exists", A)))),
        ("#a BETWEEN :1 AND :2 AND #b IN (:1, :x)", None),
        ("size(#a) >= :1", (">=", Function("size", (A,)), {"N": "1"})),
        ("#a.#b[3].#c = :1", ("=", Path(("a", "b", 3, "c.d")), {"N": "1"})),
        ("begins_with ( #a, :x )", ("begins_with", A, {"S": "x"})),
        ("attribute_type(#a, :t)", ("attribute_type", A, {"S": "SS"})),
        ("contains(#a, #b)", ("contains", A, B)),
    ],
)
def test_a_condition_is_read(text: str, wanted: Any) -> None:
    """NOT binds tighter than AND, AND tighter than OR; brackets go first; the AND of BETWEEN is its own."""
    if wanted is None:
        wanted = ("AND", ("BETWEEN", A, {"N": "1"}, {"N": "2"}), ("IN", B, {"N": "1"}, {"S": "x"}))
    assert shown(read_condition(text, tables())) == wanted


def test_a_condition_is_judged() -> None:
    """What is read can be judged."""
    item: Item = {"a": {"N": "1.5"}}
    assert holds(read_condition("#a BETWEEN :1 AND :2 AND attribute_not_exists(#b)", tables()), item)
    assert not holds(read_condition("#a = :1 OR #b = :1", tables()), item)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#a =",
        "#a = :1 AND",
        "#a = :1 #b = :1",
        "(#a = :1",
        "#a == :1",
        "#a ! :1",
        "#z = :1",
        "#a = :z",
        "#a = #a",
        "#a < :s",
        "#a BETWEEN :2 AND :1",
        "#a BETWEEN :1 AND :x",
        "begins_with(#a, :1)",
        "attribute_type(#a, :x)",
        "attribute_exists(#a, #b)",
        "#a[x] = :1",
        "#a IN :1",
    ],
)
def test_a_wrong_condition_is_refused(text: str) -> None:
    """What is not in the language, or compares what cannot be compared, is a ValidationException."""
    with pytest.raises(Refused) as refused:
        read_condition(text, tables())
    assert refused.value.code == "ValidationException"


def test_a_plain_name_is_not_modelled() -> None:
    """A name without placeholder might be a reserved word."""
    with pytest.raises(NotModelled, match="'status'"):
        read_condition("status = :x", tables())


def test_changes_are_read() -> None:
    """Every clause comes to its changes, in their order."""
    text = "SET #a = if_not_exists(#a, :1) + :2, #b[0] = :x REMOVE #c ADD #b.#a :s"
    assert [(change.action, change.path.segments, change.value) for change in read_changes(text, tables())] == [
        ("set", ("a",), Function("+", (Function("if_not_exists", (A, {"N": "1"})), {"N": "2"}))),
        ("set", ("b", 0), {"S": "x"}),
        ("remove", ("c.d",), None),
        ("add", ("b", "a"), {"SS": ["x"]}),
    ]
    (joined,) = read_changes("set #a = list_append(:l, #b)", tables())
    assert joined.value == Function("list_append", ({"L": []}, B))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#a = :1",
        "SET #a = :1 SET #b = :1",
        "SET #a = :1, #a.#b = :1",
        "SET #a = :1 REMOVE #a",
        "SET #a",
        "ADD #a :x",
        "ADD #a #b",
        "DELETE #a :1",
        "SET #a = if_not_exists(:1, #a)",
        "SET #a = :1 + :1 + :1",
        "REMOVE",
    ],
)
def test_wrong_changes_are_refused(text: str) -> None:
    """A clause twice, one place twice, or a value of the wrong kind is a ValidationException."""
    with pytest.raises(Refused, match="ValidationException"):
        read_changes(text, tables())


def test_a_projection_is_read() -> None:
    """Paths with commas between; one place twice is refused."""
    assert read_paths("#a, #b[1]", tables()) == [A, Path(("b", 1))]
    with pytest.raises(Refused, match="overlap"):
        read_paths("#a, #a.#b", tables())


def test_what_is_not_used_is_refused() -> None:
    """A placeholder that no expression of the request uses is a ValidationException."""
    placeholders = Placeholders({"ExpressionAttributeNames": {"#a": "a", "#b": "b"}})
    read_condition("attribute_exists(#a)", placeholders)
    with pytest.raises(Refused, match="#b"):
        placeholders.check_used()
    read_condition("attribute_exists(#b)", placeholders)
    placeholders.check_used()
