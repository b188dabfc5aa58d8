"""Conditions and changes as values, and the text that is sent for them."""

from __future__ import annotations

import pytest

from singletable.errors import DeclarationError, NoTruthValue, QueryError
from singletable.expressions import Change, Condition, Expressions, Function, Path, all_of, any_of, paths_of

STATUS, TOTAL = Path(("status",)), Path(("total",))
PAID = Condition("=", (STATUS, {"S": "PAID"}))
LARGE = Condition(">", (TOTAL, {"N": "100"}))
THERE = Condition("attribute_exists", (TOTAL,))


def written(condition: Condition) -> tuple[str, Expressions]:
    """Write a condition as text."""
    expressions = Expressions()
    return expressions.condition(condition), expressions


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (PAID, "#0 = :0"),
        (~PAID, "(NOT #0 = :0)"),
        (PAID & LARGE, "(#0 = :0 AND #1 > :1)"),
        (PAID | LARGE, "(#0 = :0 OR #1 > :1)"),
        ((PAID | LARGE) & ~THERE, "((#0 = :0 OR #1 > :1) AND (NOT attribute_exists (#1)))"),
        (Condition("<>", (STATUS, {"S": "x"})), "#0 <> :0"),
        (Condition("BETWEEN", (TOTAL, {"N": "1"}, {"N": "2"})), "#0 BETWEEN :0 AND :1"),
        (Condition("IN", (TOTAL, {"N": "1"}, {"N": "2"}, {"N": "3"})), "#0 IN (:0, :1, :2)"),
        (Condition("begins_with", (STATUS, {"S": "P"})), "begins_with (#0, :0)"),
        (Condition("contains", (STATUS, {"S": "P"})), "contains (#0, :0)"),
        (Condition("attribute_not_exists", (STATUS,)), "attribute_not_exists (#0)"),
        (Condition("attribute_type", (STATUS, {"S": "NULL"})), "attribute_type (#0, :0)"),
        (Condition("=", (Path(("address", "city")), {"S": "x"})), "#0.#1 = :0"),
    ],
)
def test_conditions_are_written(condition: Condition, text: str) -> None:
    """Every condition is written with a placeholder for each name and value, grouped as it was built."""
    assert written(condition)[0] == text


def test_names_and_values_stand_in_tables() -> None:
    """Reserved words and hostile names are harmless: no name or value stands in the text."""
    condition = Condition("=", (Path(("size = :0 OR #x",)), {"S": "'; drop"}))
    text, expressions = written(condition)
    assert text == "#0 = :0"
    assert expressions.params() == {
        "ExpressionAttributeNames": {"#0": "size = :0 OR #x"},
        "ExpressionAttributeValues": {":0": {"S": "'; drop"}},
    }


def test_a_dot_in_a_name_is_part_of_it() -> None:
    """A stored name with a dot is one attribute, not a path."""
    text, expressions = written(Condition("attribute_exists", (Path(("a.b",)),)))
    assert text == "attribute_exists (#0)"
    assert expressions.params() == {"ExpressionAttributeNames": {"#0": "a.b"}}


def test_empty_tables_are_left_out() -> None:
    """DynamoDB refuses empty tables of names and values, so they are not sent."""
    assert Expressions().params() == {}


def test_a_name_has_one_placeholder() -> None:
    """The same attribute has one placeholder in all expressions of a request, every value its own."""
    expressions = Expressions()
    assert expressions.name("status") == "#0"
    assert expressions.name("total") == "#1"
    assert expressions.name("status") == "#0"
    assert [expressions.value({"N": "1"}), expressions.value({"N": "1"})] == [":0", ":1"]


def test_changes_are_grouped() -> None:
    """Changes of all kinds become one update expression: SET, REMOVE, ADD, DELETE."""
    changes = [
        Change("add", Path(("visits",)), {"N": "1"}),
        Change("set", Path(("name",)), {"S": "Ann"}),
        Change("delete", Path(("tags",)), {"SS": ["a"]}),
        Change("remove", Path(("note",))),
        Change("set", Path(("email",)), {"S": "e"}),
    ]
    expressions = Expressions()
    text = expressions.update(changes)
    names = expressions.params()["ExpressionAttributeNames"]
    for placeholder, name in names.items():
        text = text.replace(placeholder, name)
    assert text == "SET name = :0, email = :1 REMOVE note ADD visits :2 DELETE tags :3"
    assert expressions.values == {":0": {"S": "Ann"}, ":1": {"S": "e"}, ":2": {"N": "1"}, ":3": {"SS": ["a"]}}


def test_an_expression_too_long_is_refused() -> None:
    """More than 4,096 bytes of expression are refused before they are sent."""
    parts = [Condition("IN", (STATUS, *({"N": "1"} for _ in range(100)))) for _ in range(8)]
    whole = any_of(parts)
    assert whole is not None
    with pytest.raises(QueryError, match="4096"):
        written(whole)


def test_too_many_operators_are_refused() -> None:
    """300 operators and functions are written, a condition with 301 is refused, and one with thousands too."""
    paid = [PAID] * 150
    whole = all_of(paid)
    assert whole is not None
    assert written(~whole)[0].count("#0 = ") == 150
    for more in (~~whole, all_of(paid * 20)):
        assert more is not None
        with pytest.raises(QueryError, match="operators and functions, at most 300"):
            written(more)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("set", TOTAL, Path(("other",))), "SET #0 = #1"),
        (Change("set", TOTAL, Function("+", (TOTAL, {"N": "1"}))), "SET #0 = #0 + :0"),
        (Change("set", TOTAL, Function("-", ({"N": "1"}, TOTAL))), "SET #0 = :0 - #0"),
        (
            Change("set", TOTAL, Function("+", (Function("if_not_exists", (TOTAL, {"N": "0"})), {"N": "1"}))),
            "SET #0 = if_not_exists (#0, :0) + :1",
        ),
        (
            Change("set", STATUS, Function("list_append", (Function("if_not_exists", (STATUS, {"L": []})), {"L": []}))),
            "SET #0 = list_append (if_not_exists (#0, :0), :1)",
        ),
        (Change("remove", Path(("a.b", 0, "c", 1, 2))), "REMOVE #0[0].#1[1][2]"),
        (Change("add", Path(("m", "n")), {"N": "1"}, base={"N": "0"}), "SET #0.#1 = if_not_exists (#0.#1, :0) + :1"),
        (Change("delete", Path(("m", "s")), {"SS": ["a"]}), "DELETE #0.#1 :0"),
    ],
)
def test_changes_are_written(change: Change, text: str) -> None:
    """Sums, lists and places inside fields are written with a placeholder for each name and value."""
    assert Expressions().update([change]) == text


def test_sizes_are_written() -> None:
    """A size stands where a value may, in any comparison."""
    condition = Condition("<", (Function("size", (Path(("l", 0)),)), Function("size", (TOTAL,))))
    assert written(condition)[0] == "size (#0[0]) < size (#1)"
    assert paths_of(condition) == (Path(("l", 0)), TOTAL)


REPEATABLE: list[tuple[Change, bool]] = [
    (Change("set", TOTAL, {"N": "1"}), True),
    (Change("remove", TOTAL), True),
    (Change("add", TOTAL, {"SS": ["a"]}), True),
    (Change("delete", TOTAL, {"SS": ["a"]}), True),
    (Change("set", Path(("m", "a")), {"N": "1"}), True),
    (Change("set", TOTAL, Function("if_not_exists", (TOTAL, {"N": "1"}))), True),
    (Change("add", TOTAL, {"N": "1"}), False),
    (Change("set", TOTAL, Function("if_not_exists", (STATUS, {"N": "1"}))), False),
    (Change("set", TOTAL, Function("if_not_exists", (TOTAL, STATUS))), False),
    (Change("set", TOTAL, STATUS), False),
    (Change("set", TOTAL, Function("+", (TOTAL, {"N": "1"}))), False),
    (Change("set", TOTAL, Function("list_append", (TOTAL, {"L": []}))), False),
    (Change("set", Path(("l", 1)), {"N": "1"}), False),
    (Change("remove", Path(("l", 1))), False),
]


@pytest.mark.parametrize(("change", "repeatable"), REPEATABLE)
def test_what_may_be_carried_out_twice(change: Change, repeatable: bool) -> None:
    """A change is repeatable where twice is once; a place in a list moves, and a sum grows."""
    assert change.is_repeatable is repeatable


@pytest.mark.parametrize("value", [PAID, Change("remove", STATUS)])
def test_no_truth_value(value: Condition | Change) -> None:
    """A condition or change in `if`, `and`, `or`, `not` is an error, not silently true."""
    with pytest.raises(NoTruthValue):
        bool(value)


def test_only_conditions_combine() -> None:
    """`&` and `|` with anything else are refused, with the usual slip as the hint."""
    with pytest.raises(QueryError, match="bind tighter"):
        PAID & "x"  # type: ignore[operator]
    with pytest.raises(QueryError):
        PAID | True  # type: ignore[operator]


def test_joining_what_is_there() -> None:
    """Absent conditions fall away; one alone stands for itself; none at all is None."""
    assert all_of([None, None]) is None
    assert any_of([]) is None
    assert all_of([None, PAID]) is PAID
    joined = any_of([PAID, None, LARGE, THERE])
    assert joined is not None
    assert written(joined)[0] == "((#0 = :0 OR #1 > :1) OR attribute_exists (#1))"


def test_every_path_is_found() -> None:
    """The paths of a condition are all it looks at, nested ones too."""
    assert paths_of((PAID & ~LARGE) | THERE) == (STATUS, TOTAL, TOTAL)


def test_values_are_not_printed() -> None:
    """The text of a condition or change names attributes and no value."""
    assert repr(PAID & LARGE) == "<condition AND on status, total>"
    assert repr(Change("set", STATUS, {"S": "secret"}, "secret")) == "<change set status>"


@pytest.mark.parametrize("name", ["", "a[0]", "a]"])
def test_names_that_would_be_syntax(name: str) -> None:
    """A name that PynamoDB would read as an index, and an empty one, are refused."""
    with pytest.raises(DeclarationError):
        Path((name,))
