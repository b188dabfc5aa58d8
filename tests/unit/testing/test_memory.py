"""The DynamoDB in memory, where no engine shows what DynamoDB does, and what it refuses to guess."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.testing import Memory, NotModelled, Refused

TABLE: dict[str, Any] = {
    "TableName": "tab",
    "AttributeDefinitions": [
        {"AttributeName": "p", "AttributeType": "S"},
        {"AttributeName": "s", "AttributeType": "N"},
        {"AttributeName": "g", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}


def key(s: int, p: str = "a") -> dict[str, Any]:
    """Give a key."""
    return {"p": {"S": p}, "s": {"N": str(s)}}


@pytest.fixture
def memory() -> Memory:
    """Give a memory with an empty table."""
    made = Memory()
    made.perform("create_table", TABLE)
    return made


def put(memory: Memory, item: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Put an item."""
    return memory.perform("put_item", {"TableName": "tab", "Item": item, **more})


def code(memory: Memory, method: str, **params: Any) -> str:
    """Give the error that a request is refused with."""
    with pytest.raises(Refused) as refused:
        memory.perform(method, params)
    return refused.value.code


def test_a_copy_goes_its_own_way(memory: Memory) -> None:
    """What is written to a copy is not seen in the original, nor the other way round."""
    put(memory, key(1))
    copy = memory.copy()
    put(copy, key(2))
    put(memory, key(3))
    assert memory.items("tab") == [key(1), key(3)]
    assert copy.items("tab") == [key(1), key(2)]


def test_what_is_given_is_not_shared(memory: Memory) -> None:
    """Neither who puts an item nor who reads it can change what is stored."""
    item = {**key(1), "l": {"L": [{"N": "1"}]}}
    put(memory, item)
    item["l"]["L"].append({"N": "2"})
    memory.perform("get_item", {"TableName": "tab", "Key": key(1)})["Item"]["l"]["L"].clear()
    assert memory.items("tab") == [{**key(1), "l": {"L": [{"N": "1"}]}}]


def test_one_number_is_one_key(memory: Memory) -> None:
    """A number has one text, whatever it was written as, in keys too."""
    put(memory, {"p": {"S": "a"}, "s": {"N": "1.0"}, "n": {"N": "12E1"}})
    assert memory.perform("get_item", {"TableName": "tab", "Key": key(1)})["Item"]["n"] == {"N": "120"}


def test_a_token_holds_for_one_transaction(memory: Memory) -> None:
    """The same transaction under its token does nothing again; another one is refused; a cancelled one leaves none."""
    grow = {
        "TableName": "tab",
        "Key": key(1),
        "UpdateExpression": "ADD #n :1",
        "ExpressionAttributeNames": {"#n": "n"},
        "ExpressionAttributeValues": {":1": {"N": "1"}},
    }
    once: dict[str, Any] = {"TransactItems": [{"Update": grow}], "ClientRequestToken": "t"}
    memory.perform("transact_write_items", once)
    memory.perform("transact_write_items", once)
    assert memory.items("tab") == [{**key(1), "n": {"N": "1"}}]
    other = [{"Delete": {"TableName": "tab", "Key": key(1)}}]
    assert code(memory, "transact_write_items", TransactItems=other, ClientRequestToken="t") == (
        "IdempotentParameterMismatchException"
    )
    failing = {"TransactItems": [{"Put": {"TableName": "tab", "Item": key(1), **ABSENT}}], "ClientRequestToken": "u"}
    assert code(memory, "transact_write_items", **failing) == "TransactionCanceledException"
    memory.perform("delete_item", {"TableName": "tab", "Key": key(1)})
    memory.perform("transact_write_items", failing)
    assert memory.items("tab") == [key(1)]


ABSENT = {"ConditionExpression": "attribute_not_exists(#p)", "ExpressionAttributeNames": {"#p": "p"}}


def test_a_cancelled_transaction_writes_nothing(memory: Memory) -> None:
    """One failed condition keeps every element back, and the reasons stand at their places."""
    put(memory, {**key(2), "n": {"N": "7"}})
    elements = [
        {"Put": {"TableName": "tab", "Item": key(1)}},
        {"Put": {"TableName": "tab", "Item": key(2), **ABSENT, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
    ]
    with pytest.raises(Refused) as refused:
        memory.perform("transact_write_items", {"TransactItems": elements})
    first, second = refused.value.more["CancellationReasons"]
    assert first == {"Code": "None"}
    assert (second["Code"], second["Item"]) == ("ConditionalCheckFailed", {**key(2), "n": {"N": "7"}})
    assert memory.items("tab") == [{**key(2), "n": {"N": "7"}}]


def test_removing_from_nothing_makes_nothing(memory: Memory) -> None:
    """An update that only removes makes no item. Source: ScyllaDB, issue 5862, on DynamoDB itself."""
    update = {"TableName": "tab", "Key": key(1), "ExpressionAttributeNames": {"#n": "n"}}
    memory.perform("update_item", {**update, "UpdateExpression": "REMOVE #n"})
    assert memory.items("tab") == []
    with pytest.raises(NotModelled, match="is not there"):
        memory.perform("update_item", {**update, "UpdateExpression": "REMOVE #n", "ReturnValues": "ALL_NEW"})


def test_a_page_that_is_full_has_a_next_one(memory: Memory) -> None:
    """A page that ends with the last row has a key to go on from all the same, as DynamoDB's have."""
    for number in (1, 2):
        put(memory, key(number))
    ask = {
        "TableName": "tab",
        "KeyConditionExpression": "#p = :a",
        "ExpressionAttributeNames": {"#p": "p"},
        "ExpressionAttributeValues": {":a": {"S": "a"}},
    }
    page = memory.perform("query", {**ask, "Limit": 2})
    assert (page["Items"], page["LastEvaluatedKey"]) == ([key(1), key(2)], key(2))
    rest = memory.perform("query", {**ask, "Limit": 2, "ExclusiveStartKey": page["LastEvaluatedKey"]})
    assert rest == {"Count": 0, "ScannedCount": 0, "Items": []}


def test_a_page_ends_at_a_megabyte(memory: Memory) -> None:
    """Three items of 400,000 bytes are more than one page takes; with the third one it is full."""
    for number in range(4):
        put(memory, {**key(number), "t": {"S": "x" * 400_000}})
    first = memory.perform("scan", {"TableName": "tab"})
    assert (first["Count"], first["LastEvaluatedKey"]) == (3, key(2))


def test_segments_of_a_scan_come_to_the_whole(memory: Memory) -> None:
    """Every item is in exactly one segment."""
    for name in "abcdefgh":
        put(memory, key(1, name))
    found = [
        item["p"]["S"]
        for segment in range(3)
        for item in memory.perform("scan", {"TableName": "tab", "Segment": segment, "TotalSegments": 3})["Items"]
    ]
    assert sorted(found) == list("abcdefgh")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("put_item", {"Item": {"p": {"S": "a"}}}),
        ("put_item", {"Item": {**key(1), "p": {"S": ""}}}),
        ("put_item", {"Item": {**key(1), "s": {"S": "1"}}}),
        ("put_item", {"Item": {**key(1), "g": {"N": "1"}}}),
        ("put_item", {"Item": {**key(1), "g": {"S": ""}}}),
        ("put_item", {"Item": {**key(1), "c": {"SS": []}}}),
        ("put_item", {"Item": {**key(1), "c": {"NS": ["1", "1.0"]}}}),
        ("put_item", {"Item": {**key(1), "n": {"N": "1" * 39}}}),
        ("put_item", {"Item": {**key(1), "n": {"N": "one"}}}),
        ("put_item", {"Item": {**key(1), "t": {"S": "x" * 409_600}}}),
        ("put_item", {"Item": key(1), "ReturnValues": "ALL_NEW"}),
        ("get_item", {"Key": {"p": {"S": "a"}}}),
        ("get_item", {"Key": {**key(1), "g": {"S": "x"}}}),
        ("scan", {"IndexName": "by_x"}),
        ("scan", {"IndexName": "by_g", "ConsistentRead": True}),
        ("scan", {"IndexName": "by_g", "Select": "ALL_ATTRIBUTES"}),
        ("scan", {"Segment": 1}),
        ("scan", {"Limit": 0}),
    ],
)
def test_what_dynamodb_refuses_is_refused(memory: Memory, method: str, params: dict[str, Any]) -> None:
    """A request that does not fit the table is a ValidationException, and changes nothing."""
    assert code(memory, method, TableName="tab", **params) == "ValidationException"
    assert memory.items("tab") == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("execute_statement", {"Statement": "SELECT * FROM tab"}),
        ("update_table", {"TableName": "tab"}),
        ("put_item", {"TableName": "tab", "Item": key(1), "ReturnConsumedCapacity": "TOTAL"}),
        ("put_item", {"TableName": "tab", "Item": key(1), "Expected": {}}),
        ("create_table", {**TABLE, "TableName": "new", "StreamSpecification": {"StreamEnabled": True}}),
        ("query", {"TableName": "tab", "KeyConditions": {}}),
    ],
)
def test_what_is_beyond_the_model_is_told(memory: Memory, method: str, params: dict[str, Any]) -> None:
    """An unknown method or parameter raises, and is never left out of account."""
    with pytest.raises(NotModelled):
        memory.perform(method, params)
    assert memory.items("tab") == []


def test_tables_come_and_go(memory: Memory) -> None:
    """A table is made once, described, and gone when it is deleted."""
    assert code(memory, "create_table", **TABLE) == "ResourceInUseException"
    assert memory.perform("describe_table", {"TableName": "tab"})["Table"]["TableStatus"] == "ACTIVE"
    memory.perform("delete_table", {"TableName": "tab"})
    assert code(memory, "describe_table", TableName="tab") == "ResourceNotFoundException"
    assert code(memory, "get_item", TableName="tab", Key=key(1)) == "ResourceNotFoundException"
