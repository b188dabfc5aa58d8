"""What is judged on our side is what DynamoDB would judge: random conditions over items of every type, on dynoxide."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.expressions import Condition, Expressions, Function, Path
from singletable.judging import holds
from singletable.wire import AttributeValue, Item

VALUES: list[AttributeValue] = [
    {"S": "a"},
    {"S": "ab"},
    {"S": "é"},
    {"N": "1"},
    {"N": "1.0"},
    {"N": "-2"},
    {"N": "10"},
    {"B": b"\x00"},
    {"B": b"\x00\xff"},
    {"BOOL": True},
    {"BOOL": False},
    {"NULL": True},
    {"SS": ["a", "b"]},
    {"NS": ["1", "10"]},
    {"L": [{"S": "a"}, {"N": "1"}]},
    {"M": {"x": {"S": "a"}}},
]
ITEMS: list[Item] = [
    {"PK": {"S": str(number)}, **({} if a is None else {"a": a}), **({} if b is None else {"b": b})}
    for number, (a, b) in enumerate((a, b) for a in [None, *VALUES] for b in [None, VALUES[0], VALUES[3], VALUES[12]])
]

PATHS = st.sampled_from([Path(("a",)), Path(("b",)), Path(("a", "x")), Path(("a", 0)), Path(("missing",))])
SIZES = PATHS.map(lambda path: Function("size", (path,)))
LENGTHS = st.sampled_from([*VALUES[3:7], {"N": "2"}])
TWO_PATHS = st.lists(PATHS, min_size=2, max_size=2, unique=True)
SCALARS = st.sampled_from(VALUES[:9])
ANY = st.sampled_from(VALUES)


def _condition(operator: str, *operands: st.SearchStrategy[Any]) -> st.SearchStrategy[Condition]:
    return st.tuples(*operands).map(lambda made: Condition(operator, made))


LEAVES = st.one_of(
    _condition("=", PATHS, ANY),
    _condition("<>", PATHS, ANY),
    *(_condition(operator, PATHS, SCALARS) for operator in ("<", "<=", ">", ">=")),
    st.sampled_from([(0, 1), (5, 6), (5, 3), (7, 8)]).flatmap(
        lambda ends: _condition("BETWEEN", PATHS, st.just(VALUES[ends[0]]), st.just(VALUES[ends[1]]))
    ),
    *(_condition(operator, SIZES, LENGTHS) for operator in ("=", "<>", "<", "<=", ">", ">=")),
    _condition("BETWEEN", SIZES, st.just({"N": "1"}), st.just({"N": "2"})),
    _condition("IN", SIZES, LENGTHS, LENGTHS),
    *(
        TWO_PATHS.map(tuple).map(partial(Condition, operator))
        for operator in ("=", "<>", "<", "<=", ">", ">=", "contains")
    ),
    _condition("IN", PATHS, ANY, ANY),
    _condition("begins_with", PATHS, st.sampled_from([VALUES[0], VALUES[7]])),
    _condition("contains", PATHS, st.sampled_from([VALUES[0], VALUES[3]])),
    _condition("attribute_exists", PATHS),
    _condition("attribute_not_exists", PATHS),
    _condition("attribute_type", PATHS, st.sampled_from([{"S": kind} for kind in ("S", "N", "NULL", "SS", "M")])),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda made: reduce(Condition.__and__, made)),
        st.lists(inner, min_size=2, max_size=3).map(lambda made: reduce(Condition.__or__, made)),
        inner.map(Condition.__invert__),
    ),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def filtering(dynoxide_url: str) -> Iterator[Any]:
    """Give a function that asks the engine which of the items meet a condition."""
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
    client = session.client("dynamodb", endpoint_url=dynoxide_url)
    key: Any = {"AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}]}
    key["KeySchema"] = [{"AttributeName": "PK", "KeyType": "HASH"}]
    client.create_table(TableName="judging", BillingMode="PAY_PER_REQUEST", **key)
    for item in ITEMS:
        client.put_item(TableName="judging", Item=item)

    def ask(condition: Condition) -> set[str]:
        expressions = Expressions()
        text = expressions.condition(condition)
        answer = client.scan(TableName="judging", FilterExpression=text, **expressions.params())
        return {item["PK"]["S"] for item in answer["Items"]}

    yield ask
    client.delete_table(TableName="judging")


@settings(max_examples=150, deadline=None)
@given(condition=CONDITIONS)
def test_our_judgement_is_the_engines(filtering: Any, condition: Condition) -> None:
    """For every condition the items that meet it here are those the engine's filter lets through."""
    assert {item["PK"]["S"] for item in ITEMS if holds(condition, item)} == filtering(condition)
