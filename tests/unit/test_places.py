"""Places inside fields, sizes and operands: what they make, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypedDict

import pytest
from pynamodb.attributes import MapAttribute

from singletable.comparing import Size
from singletable.entity import Entity
from singletable.errors import FieldValueError, NoTruthValue, QueryError
from singletable.expressions import Change, Condition, Function, Path
from singletable.fields import Field
from singletable.operands import Operand
from singletable.patterns import Key
from singletable.places import size
from singletable.schema import Table

MAKE: Any = MapAttribute
ANY_MAP = MAKE()


@dataclass(frozen=True)
class Part:
    code: str
    note: str | None = None
    marks: set[str] = field(default_factory=set[str])
    inner: list[Part] = field(default_factory=list["Part"])


class Row(TypedDict):
    sku: str


class Thing(Entity, table=Table("places"), tag="thing"):
    box: Field[str]
    part: Field[Part | None] = Field(default=None, name="p")
    rows: Field[list[Row]] = Field(default_factory=list[Row])
    names: Field[list[str | None]] = Field(default_factory=list[str | None])
    prices: Field[dict[str, Decimal]] = Field(default_factory=dict[str, Decimal])
    free: Field[dict[str, Any]] = Field(default_factory=dict[str, Any])
    path: Field[tuple[str, ...]] = Field(default=("a",))
    count: Field[int] = Field(default=4)
    spare: Field[int | None] = Field(default=None)
    level: Field[Literal[1, 2]] = Field(default=1)
    price: Field[Decimal] = Field(default=Decimal(0))
    nick: Field[str | None] = Field(default=None)
    title: Field[str]
    state: Field[Literal["on", "off"]] = Field(default="on")
    done: Field[bool] = Field(default=False)
    tags: Field[set[str]] = Field(default_factory=set[str])
    old: Field[dict[str, Any]] = Field(default_factory=dict[str, Any], codec=ANY_MAP)

    key = Key(pk="#BOX#{box}", sk="#THING")


UNTYPED: Any = Thing
"""The class as a caller without type checker sees it."""


def counted(name: str, default: str) -> Function:
    """Give what stands for a number that counts as its default where it is absent."""
    return Function("if_not_exists", (Path((name,)), {"N": default}))


COUNT, SPARE = counted("count", "4"), counted("spare", "0")


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (UNTYPED.part["code"] == "x", ("=", Path(("p", "code")), {"S": "x"})),
        (
            UNTYPED.part["inner"][0]["inner"][2]["code"] == "x",
            ("=", Path(("p", "inner", 0, "inner", 2, "code")), {"S": "x"}),
        ),
        (UNTYPED.part["marks"].contains("x"), ("contains", Path(("p", "marks")), {"S": "x"})),
        (Thing.rows[1]["sku"] != "x", ("<>", Path(("rows", 1, "sku")), {"S": "x"})),
        (Thing.rows[1]["other"] == 1, ("=", Path(("rows", 1, "other")), {"N": "1"})),
        (Thing.prices["a.b ü"] < Decimal("0.50"), ("<", Path(("prices", "a.b ü")), {"N": "0.5"})),
        (Thing.free["a"]["b"][0] == [1, None], ("=", Path(("free", "a", "b", 0)), {"L": [{"N": "1"}, {"NULL": True}]})),
        (Thing.path[0].startswith("x"), ("begins_with", Path(("path", 0)), {"S": "x"})),
        (UNTYPED.old["a"] == "x", ("=", Path(("old", "a")), {"S": "x"})),
        (Thing.count == Thing.spare, ("=", Path(("count",)), Path(("spare",)))),
        (size(Thing.rows) > 3, (">", Function("size", (Path(("rows",)),)), {"N": "3"})),
        (Thing.rows.size() > 3, (">", Function("size", (Path(("rows",)),)), {"N": "3"})),
        (Thing.count > size(Thing.rows), (">", Path(("count",)), Function("size", (Path(("rows",)),)))),
    ],
)
def test_places_make_conditions(condition: Condition, wanted: tuple[object, ...]) -> None:
    """A place has its path and the codec of what stands there; below Any a value is stored by its own type."""
    assert (condition.operator, *condition.operands) == wanted


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (UNTYPED.part["code"].set("x"), ("set", Path(("p", "code")), {"S": "x"})),
        (UNTYPED.part["note"].set(None), ("remove", Path(("p", "note")), None)),
        (UNTYPED.part["marks"].set(set()), ("remove", Path(("p", "marks")), None)),
        (Thing.names[0].set(None), ("set", Path(("names", 0)), {"NULL": True})),
        (Thing.names[0].remove(), ("remove", Path(("names", 0)), None)),
        (Thing.prices["CN"].remove(), ("remove", Path(("prices", "CN")), None)),
        (Thing.prices["CN"].add(Decimal(1)), ("add", Path(("prices", "CN")), {"N": "1"})),
        (Thing.free["tags"].add({"a"}), ("add", Path(("free", "tags")), {"SS": ["a"]})),
        (Thing.count.set(Thing.count + 1), ("set", Path(("count",)), Function("+", (COUNT, {"N": "1"})))),
        (Thing.count.set(1 - Thing.spare), ("set", Path(("count",)), Function("-", ({"N": "1"}, SPARE)))),
        (Thing.count.set(1 + Thing.count), ("set", Path(("count",)), Function("+", ({"N": "1"}, COUNT)))),
        (Thing.count.set(Thing.count - Thing.spare), ("set", Path(("count",)), Function("-", (COUNT, SPARE)))),
        (Thing.spare.set(Thing.count), ("set", Path(("spare",)), COUNT)),
        (UNTYPED.price.set(Thing.count), ("set", Path(("price",)), COUNT)),
        (
            UNTYPED.title.set(Thing.state),
            ("set", Path(("title",)), Function("if_not_exists", (Path(("state",)), {"S": "on"}))),
        ),
        (
            Thing.title.set(Thing.nick | "x"),
            ("set", Path(("title",)), Function("if_not_exists", (Path(("nick",)), {"S": "x"}))),
        ),
        (
            Thing.title.set(Thing.nick | Thing.title),
            ("set", Path(("title",)), Function("if_not_exists", (Path(("nick",)), Path(("title",))))),
        ),
        (
            Thing.count.set((Thing.spare | 1) + 2),
            (
                "set",
                Path(("count",)),
                Function("+", (Function("if_not_exists", (Path(("spare",)), {"N": "1"})), {"N": "2"})),
            ),
        ),
        (
            Thing.path.append("b"),
            (
                "set",
                Path(("path",)),
                Function(
                    "list_append",
                    (Function("if_not_exists", (Path(("path",)), {"L": [{"S": "a"}]})), {"L": [{"S": "b"}]}),
                ),
            ),
        ),
        (
            Thing.free["l"].prepend(1, "b"),
            (
                "set",
                Path(("free", "l")),
                Function(
                    "list_append",
                    ({"L": [{"N": "1"}, {"S": "b"}]}, Function("if_not_exists", (Path(("free", "l")), {"L": []}))),
                ),
            ),
        ),
    ],
)
def test_places_make_changes(change: Change, wanted: tuple[object, ...]) -> None:
    """Each change names its place, and what DynamoDB works out is written in its own terms."""
    assert (change.action, change.path, change.value) == wanted


def test_a_hundred_values_are_one_in() -> None:
    """Past a hundred values, is_in becomes several INs joined by OR."""
    hundred = Thing.count.is_in(*range(100))
    assert (hundred.operator, len(hundred.operands)) == ("IN", 101)
    more = Thing.count.is_in(*range(201))
    assert more.operator == "OR"
    last = more.operands[1]
    assert isinstance(last, Condition)
    assert last.operands == (Path(("count",)), {"N": "200"})


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a step into text": (lambda: UNTYPED.title["a"], FieldValueError, "a dict, a dataclass"),
    "a member that is none": (lambda: UNTYPED.part["cod"], FieldValueError, "did you mean 'code'"),
    "a name as an index": (lambda: UNTYPED.rows["a"], FieldValueError, "counted from 0"),
    "a negative index": (lambda: Thing.rows[-1], FieldValueError, "given a negative index"),
    "a bool as an index": (lambda: Thing.rows[True], FieldValueError, "given bool"),
    "a bracket": (lambda: Thing.prices["a[0]"], FieldValueError, "has a bracket"),
    "a number as a key": (lambda: UNTYPED.prices[1], FieldValueError, "given int"),
    "a value of another type": (lambda: UNTYPED.prices["CN"] == "1", FieldValueError, r"'Thing\.prices\[\.\.\.\]'"),
    "NaN": (lambda: Thing.prices["CN"].set(Decimal("NaN")), FieldValueError, "a NaN"),
    "too many digits": (lambda: Thing.count + 10**38 + 1, QueryError, "two values"),
    "39 digits": (lambda: Thing.count + (10**38 + 1), FieldValueError, "38 significant digits"),
    "a member that must be there": (UNTYPED.part["code"].remove, FieldValueError, "remove"),
    "a sum of text": (lambda: UNTYPED.count + Thing.title, QueryError, "wanted numbers"),
    "text that is added": (lambda: UNTYPED.title + "x", QueryError, "wanted numbers"),
    "three numbers": (lambda: Thing.count + 1 + 2, QueryError, "two values"),
    "text for a number": (lambda: UNTYPED.count.set(Thing.title), FieldValueError, "comes to"),
    "a Decimal for an int": (lambda: UNTYPED.count.set(Thing.price), FieldValueError, "comes to"),
    "text for a choice": (lambda: UNTYPED.state.set(Thing.title), FieldValueError, "comes to"),
    "a choice that grows": (lambda: UNTYPED.level.set(UNTYPED.level + 1), FieldValueError, "comes to"),
    "itself": (lambda: Thing.title.set(Thing.title), QueryError, "set to itself"),
    "a field or a condition": (lambda: UNTYPED.title | (Thing.count > 1), QueryError, "binds tighter"),
    "two ors": (lambda: (Thing.nick | Thing.title) | "x", QueryError, "one attribute"),
    "or a sum": (lambda: Thing.spare | (Thing.count + 1), QueryError, "given a sum"),
    "an order of bools": (lambda: Thing.done < True, FieldValueError, "an order"),
    "an order of lists": (lambda: Thing.rows > [], FieldValueError, "an order"),
    "a range the wrong way": (lambda: Thing.count.between(3, 2), QueryError, "low end above"),
    "contains in a number": (lambda: Thing.count.contains(1), FieldValueError, "contains"),
    "contains in a dict": (lambda: Thing.prices.contains("CN"), FieldValueError, "exists"),
    "compared with itself": (lambda: Thing.count == Thing.count, QueryError, "itself"),
    "compared with another type": (lambda: UNTYPED.count == Thing.title, FieldValueError, "never equal"),
    "the size of a number": (lambda: size(Thing.count), FieldValueError, "size"),
    "the size of a value": (lambda: size(UNTYPED.__name__), QueryError, "wanted a field"),
    "a size and text": (lambda: Size.__gt__(size(Thing.rows), UNTYPED.__name__), FieldValueError, r"size\(rows\)"),
    "append to text": (lambda: UNTYPED.title.append("x"), FieldValueError, "a list or a tuple"),
    "append nothing": (Thing.path.append, QueryError, "no element"),
    "append another type": (lambda: UNTYPED.path.append(1), FieldValueError, "as an element"),
    "add text to a free place": (lambda: UNTYPED.free["a"].add("x"), FieldValueError, "a number or a set"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused(what: str) -> None:
    """Each mistake is told where it is made, with what was wanted instead."""
    make, error, says = REFUSED[what]
    with pytest.raises(error, match=says):
        make()


@pytest.mark.parametrize("value", [Thing.free["a"], Thing.count + 1, size(Thing.rows)])
def test_no_truth_value(value: object) -> None:
    """Places, operands and sizes have no truth value: `and`, `or`, `not` and chains of comparisons raise."""
    with pytest.raises(NoTruthValue):
        bool(value)
    with pytest.raises(NoTruthValue):
        _ = 1 < UNTYPED.count < 3


def test_places_are_no_containers() -> None:
    """A place can be neither iterated nor searched with `in`, which would never end."""
    with pytest.raises(NoTruthValue):
        iter(Thing.free["a"])
    with pytest.raises(NoTruthValue):
        _ = "a" in UNTYPED.free["a"]


def test_their_texts_show_no_data() -> None:
    """The text of a place tells members and indices; keys of a dict are data and are left out."""
    assert repr(Thing.rows[0]["sku"]) == "<Element rows[0].sku>"
    assert repr(Thing.prices["secret"]) == "<Element prices[...]>"
    assert repr(Thing.prices["secret"].set(Decimal(1))) == "<change set prices...>"
    assert repr(size(Thing.prices)) == "<size(prices)>"
    assert [repr(each) for each in (Thing.count + 1, Thing.title.operand())] == ["<operand +>", "<operand copy>"]
    assert isinstance(Thing.count + 1, Operand)
