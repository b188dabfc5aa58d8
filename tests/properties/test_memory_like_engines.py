"""The in-memory model answers as an engine does: random requests, one after the other, on both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.expressions import Change, Condition, Expressions, Function, Path
from singletable.local import local_client
from singletable.testing.clients import Client
from singletable.testing.memory import Memory

Strategy: TypeAlias = st.SearchStrategy[Any]


def two(make: Callable[[Any, Any], Any], a: Strategy, b: Strategy) -> Strategy:
    """Make something of two parts."""
    return st.tuples(a, b).map(lambda made: make(*made))


def three(make: Callable[[Any, Any, Any], Any], a: Strategy, b: Strategy, c: Strategy) -> Strategy:
    """Make something of three parts."""
    return st.tuples(a, b, c).map(lambda made: make(*made))


NAME = "memory-model"
SHAPE: dict[str, Any] = {
    "TableName": NAME,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": kind}
        for name, kind in (("p", "S"), ("s", "N"), ("g", "S"), ("n", "N"))
    ],
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["t"]},
        }
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by_n",
            "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}

KEYS: Strategy = two(
    lambda p, s: {"p": {"S": p}, "s": {"N": s}}, st.sampled_from(["a", "b"]), st.sampled_from(["1", "2.0", "-3", "1E1"])
)
NUMBERS: Strategy = st.sampled_from([{"N": "1"}, {"N": "2.50"}, {"N": "-7"}, {"N": "10"}])
TEXTS: Strategy = st.sampled_from([{"S": "x"}, {"S": "xy"}, {"S": "é"}])
SETS: Strategy = st.sampled_from([{"SS": ["x", "y"]}, {"SS": ["y"]}])
LISTS: Strategy = st.sampled_from([{"L": [{"N": "1"}, {"S": "x"}]}, {"L": []}])
MAPS: Strategy = st.sampled_from([{"M": {"u": {"N": "1"}}}, {"M": {}}])
VALUES: Strategy = st.one_of(NUMBERS, TEXTS, SETS, LISTS, MAPS, st.just({"BOOL": True}), st.just({"B": b"\x01"}))
ITEMS: Strategy = two(
    lambda key, rest: {**key, **rest},
    KEYS,
    st.fixed_dictionaries({}, optional={"g": TEXTS, "n": NUMBERS, "t": VALUES, "c": SETS, "l": LISTS, "m": MAPS}),
)

T, N, C, L, M = (Path((name,)) for name in "tnclm")
PATHS: Strategy = st.sampled_from([T, N, C, L, M, Path(("l", 0)), Path(("m", "u")), Path(("p",))])
TESTS: Strategy = st.one_of(
    two(lambda path, value: Condition("=", (path, value)), PATHS, VALUES),
    two(lambda path, value: Condition("<>", (path, value)), PATHS, VALUES),
    two(lambda sign, value: Condition(sign, (N, value)), st.sampled_from(["<", "<=", ">", ">="]), NUMBERS),
    st.just(Condition("BETWEEN", (N, {"N": "-7"}, {"N": "2.5"}))),
    two(lambda low, high: Condition("IN", (N, low, high)), NUMBERS, NUMBERS),
    st.just(Condition("begins_with", (T, {"S": "x"}))),
    st.just(Condition("contains", (C, {"S": "x"}))),
    st.just(Condition(">", (Function("size", (L,)), {"N": "1"}))),
    st.just(Condition("attribute_type", (T, {"S": "S"}))),
    PATHS.map(lambda path: Condition("attribute_exists", (path,))),
    PATHS.map(lambda path: Condition("attribute_not_exists", (path,))),
)
CONDITIONS: Strategy = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        st.builds(Condition.__and__, inner, inner),
        st.builds(Condition.__or__, inner, inner),
        inner.map(Condition.__invert__),
    ),
    max_leaves=3,
)
SOME_CONDITION: Strategy = st.one_of(st.none(), CONDITIONS)

CHANGES: Strategy = st.one_of(
    VALUES.map(lambda value: Change("set", T, value)),
    NUMBERS.map(lambda value: Change("set", N, Function("+", (N, value)))),
    NUMBERS.map(lambda value: Change("set", N, Function("-", (Function("if_not_exists", (N, {"N": "3"})), value)))),
    NUMBERS.map(lambda value: Change("add", N, value)),
    SETS.map(lambda value: Change("add", C, value)),
    SETS.map(lambda value: Change("delete", C, value)),
    st.just(Change("set", L, Function("list_append", (L, {"L": [{"N": "9"}]})))),
    st.just(
        Change("set", L, Function("list_append", ({"L": [{"N": "8"}]}, Function("if_not_exists", (L, {"L": []})))))
    ),
    st.just(Change("set", Path(("l", 1)), {"S": "new"})),
    st.just(Change("remove", Path(("l", 0)))),
    st.just(Change("set", Path(("m", "v")), {"N": "5"})),
    st.just(Change("remove", Path(("m", "u")))),
    st.just(Change("set", Path(("g",)), {"S": "x"})),
    st.sampled_from([Change("remove", path) for path in (T, N, C, M, Path(("g",)))]),
    st.just(Change("set", T, N)),
)
SEVERAL: Strategy = st.lists(CHANGES, min_size=1, max_size=3, unique_by=lambda change: change.path.attribute)


def _write(
    key: Mapping[str, Any], condition: Condition | None, changes: list[Change] | None, **more: Any
) -> dict[str, Any]:
    """Write the parameters of a conditional write."""
    expressions, params = Expressions(), {**key, **more}
    if changes is not None:
        params["UpdateExpression"] = expressions.update(changes)
    if condition is not None:
        params["ConditionExpression"] = expressions.condition(condition)
        params["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return params | expressions.params()


OLD: Strategy = st.sampled_from(["NONE", "ALL_OLD"])
ANY: Strategy = st.sampled_from(["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
PUTS: Strategy = two(lambda item, condition: _write({"Item": item}, condition, None), ITEMS, SOME_CONDITION)
UPDATES: Strategy = three(
    lambda key, condition, all_: _write({"Key": key}, condition, all_), KEYS, SOME_CONDITION, SEVERAL
)
DELETES: Strategy = two(lambda key, condition: _write({"Key": key}, condition, None), KEYS, SOME_CONDITION)
CHECKS: Strategy = two(lambda key, condition: _write({"Key": key}, condition, None), KEYS, CONDITIONS)


def _elements(kind: str, params: Strategy) -> Strategy:
    return params.map(lambda each: {kind: {"TableName": NAME, **each}})


TRANSACTIONS: Strategy = st.lists(
    st.one_of(
        _elements("Put", PUTS),
        _elements("Update", UPDATES),
        _elements("Delete", DELETES),
        _elements("ConditionCheck", CHECKS),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda element: repr(_key(next(iter(element.values())))),
)


def _key(params: Mapping[str, Any]) -> tuple[str, float]:
    key = params.get("Key") or params["Item"]
    return key["p"]["S"], float(key["s"]["N"])


def _asked(partition: Condition, sort: Condition | None, kept: Condition | None, **more: Any) -> dict[str, Any]:
    expressions = Expressions()
    whole = partition if sort is None else partition & sort
    params: dict[str, Any] = {"KeyConditionExpression": expressions.condition(whole), **more}
    if kept is not None:
        params["FilterExpression"] = expressions.condition(kept)
    return params | expressions.params()


def _ranges(name: str) -> Strategy:
    path = Path((name,))
    return st.one_of(
        st.none(),
        two(lambda sign, value: Condition(sign, (path, value)), st.sampled_from(["=", "<", "<=", ">", ">="]), NUMBERS),
        st.just(Condition("BETWEEN", (path, {"N": "-3"}, {"N": "2"}))),
    )


KEPT: Strategy = st.one_of(st.none(), st.just(Condition("attribute_exists", (C,))))
FORWARD: Strategy = st.booleans()
QUERIES: Strategy = st.one_of(
    three(
        lambda p, sort, kept: _asked(Condition("=", (Path(("p",)), {"S": p})), sort, kept),
        st.sampled_from(["a", "b"]),
        _ranges("s"),
        KEPT,
    ),
    three(
        lambda p, sort, forward: _asked(
            Condition("=", (Path(("p",)), {"S": p})), sort, None, ScanIndexForward=forward, IndexName="by_n"
        ),
        st.sampled_from(["a", "b"]),
        _ranges("n"),
        FORWARD,
    ),
    three(
        lambda g, sort, forward: _asked(
            Condition("=", (Path(("g",)), g)), sort, None, ScanIndexForward=forward, IndexName="by_g"
        ),
        TEXTS,
        _ranges("n"),
        FORWARD,
    ),
)

REQUESTS: Strategy = st.one_of(
    two(lambda params, wanted: ("put_item", {**params, "ReturnValues": wanted}), PUTS, OLD),
    two(lambda params, wanted: ("update_item", _agreed(params, wanted)), UPDATES, ANY),
    two(lambda params, wanted: ("delete_item", {**params, "ReturnValues": wanted}), DELETES, OLD),
    TRANSACTIONS.map(lambda elements: ("transact_write_items", {"TransactItems": elements})),
    KEYS.map(lambda key: ("get_item", {"Key": key, "ConsistentRead": True})),
    KEYS.map(
        lambda key: (
            "get_item",
            {
                "Key": key,
                "ProjectionExpression": "#l[1], #m.#u",
                "ExpressionAttributeNames": {"#l": "l", "#m": "m", "#u": "u"},
            },
        )
    ),
    st.lists(KEYS, min_size=1, max_size=4, unique_by=lambda key: repr(_key({"Key": key}))).map(
        lambda keys: ("batch_get_item", {"RequestItems": {NAME: {"Keys": keys}}})
    ),
    st.lists(
        st.one_of(
            ITEMS.map(lambda item: {"PutRequest": {"Item": item}}),
            KEYS.map(lambda key: {"DeleteRequest": {"Key": key}}),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda each: repr(_key(next(iter(each.values())))),
    ).map(lambda elements: ("batch_write_item", {"RequestItems": {NAME: elements}})),
    st.lists(KEYS, min_size=1, max_size=3, unique_by=lambda key: repr(_key({"Key": key}))).map(
        lambda keys: (
            "transact_get_items",
            {"TransactItems": [{"Get": {"TableName": NAME, "Key": key}} for key in keys]},
        )
    ),
    QUERIES.map(lambda params: ("query", params)),
    st.just(("scan", {})),
    st.just(("scan", {"IndexName": "by_g"})),
)


def _plain(given: Any) -> Any:
    """Give an answer without what engines may differ in: order of sets and of attributes, metadata."""
    value: Any = given
    if value.__class__ is dict and len(value) == 1 and next(iter(value)) in ("SS", "NS", "BS"):
        return {kind: sorted(value[kind]) for kind in value}
    if value.__class__ is dict:
        return {key: _plain(value[key]) for key in sorted(value)}
    return [_plain(each) for each in value] if value.__class__ is list else value


def _agreed(params: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    """Ask an update for what is modelled: no parts of lists and maps, nothing where it only removes."""
    text: str = params["UpdateExpression"]
    partial = wanted.startswith("UPDATED") and ("[" in text or "." in text)
    return {**params, "ReturnValues": "NONE" if partial or not ("SET" in text or "ADD" in text) else wanted}


COMPARED = ("Item", "Attributes", "Count", "Items", "Responses")


def answered(client: Any, method: str, params: Mapping[str, Any]) -> Any:
    """Give what an engine answers, as far as engines must agree."""
    single = method not in ("batch_get_item", "batch_write_item", "transact_write_items", "transact_get_items")
    named = {"TableName": NAME} if single else {}
    try:
        answer = getattr(client, method)(**params, **named)
    except ClientError as error:
        response: Any = error.response
        reasons = [
            {"Code": reason["Code"], "Item": reason.get("Item")} for reason in response.get("CancellationReasons", ())
        ]
        return _plain({"Code": response["Error"]["Code"], "Item": response.get("Item"), "Reasons": reasons})
    found = {part: answer[part] for part in COMPARED if part in answer}
    if found.get("Attributes", {}).keys() == {"p", "s"}:
        del found["Attributes"]  # dynoxide tells the key of an item that was not there
    if method == "scan":
        found["Items"] = sorted(found["Items"], key=lambda item: repr(_plain(item)))
    if method == "batch_get_item":
        found["Responses"] = sorted(map(repr, map(_plain, found["Responses"].get(NAME, []))))
    return _plain(found)


def _made(client: Any) -> Any:
    """Give a client with an empty table."""
    with suppress(client.exceptions.ResourceNotFoundException):
        client.delete_table(TableName=NAME)
    client.create_table(**SHAPE)
    return client


def _creates_nothing(client: Any, method: str, params: Mapping[str, Any]) -> bool:
    """Say whether an update only removes from an item that is not there, which engines then make, and DynamoDB not."""
    updates = [params] if method == "update_item" else [each.get("Update") for each in params.get("TransactItems", ())]
    return any(
        update is not None
        and not ("SET" in update["UpdateExpression"] or "ADD" in update["UpdateExpression"])
        and "Item" not in client.get_item(TableName=NAME, Key=update["Key"])
        for update in updates
    )


@pytest.fixture(scope="module")
def engines(dynoxide_url: str) -> tuple[Any, Any]:
    """Give clients of two engines."""
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
    return session.client("dynamodb", endpoint_url=dynoxide_url), local_client()


@settings(max_examples=40)
@given(requests=st.lists(REQUESTS, min_size=4, max_size=15))
def test_the_model_answers_as_the_engines_do(
    engines: tuple[Any, Any], requests: list[tuple[str, dict[str, Any]]]
) -> None:
    """Every request is answered alike, errors, reasons and old items too, as long as two engines agree."""
    memory = Client(Memory().perform)
    memory.create_table(**SHAPE)
    one, other = map(_made, engines)
    for method, params in requests:
        if _creates_nothing(memory, method, params):
            return
        wanted, agreed = answered(one, method, params), False
        with suppress(ArithmeticError, LookupError, TypeError, ValueError):  # moto fails on some conditions
            agreed = wanted == answered(other, method, params)
        if not agreed:
            return
        assert answered(memory, method, params) == wanted


def test_pages_come_to_the_whole(engines: tuple[Any, Any]) -> None:
    """Queries and scans page by page give every row once, in one order; what is given is the engine's."""
    memory = Client(Memory().perform)
    memory.create_table(**SHAPE)
    one = _made(engines[0])
    for number in range(7):
        item = {"p": {"S": "a"}, "s": {"N": str(number)}, "g": {"S": "x"}, "n": {"N": str(-number % 3)}}
        for client in (memory, one):
            client.put_item(TableName=NAME, Item=item)
    query = _asked(Condition("=", (Path(("g",)), {"S": "x"})), None, None, IndexName="by_g", ScanIndexForward=False)
    for method, params in (("query", query), ("scan", {}), ("scan", {"IndexName": "by_n"})):
        found = list(_pages(memory, method, {**params, "Limit": 2}))
        assert found == memory_items(memory, method, params)
        assert sorted(map(repr, map(_plain, found))) == sorted(map(repr, map(_plain, _pages(one, method, params))))


def memory_items(client: Any, method: str, params: Mapping[str, Any]) -> list[Any]:
    """Give all rows of one large page."""
    found: list[Any] = getattr(client, method)(TableName=NAME, **params)["Items"]
    return found


def _pages(client: Any, method: str, params: Mapping[str, Any]) -> Iterator[Any]:
    start: dict[str, Any] = {}
    while True:
        page = getattr(client, method)(TableName=NAME, **params, **start)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
