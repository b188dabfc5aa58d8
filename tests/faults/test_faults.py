"""The fault transport does what it says: around a client and at the wire, in both colours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pytest
from botocore import exceptions as theirs
from botocore.config import Config

from singletable import Store
from tests.contract.awaited import BothWays, LoopThread
from tests.contract.behind import REGION, async_session, in_threads, session
from tests.faults.client import FaultyAsyncClient, FaultyClient, JumpingClock, play
from tests.faults.proxy import proxied
from tests.faults.rules import (
    CLOSED,
    CONFLICT,
    DROPPED,
    FAILED_AFTER,
    LEFTOVERS,
    LOST,
    SERVER_ERROR,
    STALE,
    THROTTLE,
    UNSENT,
    Fault,
    Refused,
    Rule,
    Script,
    delayed,
)

Faulty: TypeAlias = Callable[[Script], Any]
"""Makes a client to which a script's faults happen; its methods give answers to whoever calls them."""

ONCE: Any = {"retries": {"total_max_attempts": 1}, "read_timeout": 5}


@pytest.fixture
def clean(dynoxide_url: str) -> Iterator[Any]:
    """Give a client without faults."""
    client = session().client("dynamodb", endpoint_url=dynoxide_url, region_name=REGION, config=Config(**ONCE))
    yield client
    client.close()


@pytest.fixture
def table(clean: Any, table_name: str) -> Iterator[str]:
    """Give the name of a table with a number for a key, and an index on another number."""
    clean.create_table(
        TableName=table_name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "N"} for name in ("id", "group")],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-group",
                "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    yield table_name
    for name in clean.list_tables()["TableNames"]:
        if name.startswith(table_name):
            clean.delete_table(TableName=name)


@pytest.fixture(params=["client", "async client", "proxy", "async proxy"])
def faulty(request: pytest.FixtureRequest, clean: Any, dynoxide_url: str, loop: LoopThread) -> Iterator[Faulty]:
    """Give a maker of clients with faults: around the client or at the wire, in either colour."""
    with ExitStack() as stack:

        def at(url: str) -> Any:
            client = session().client("dynamodb", endpoint_url=url, region_name=REGION, config=Config(**ONCE))
            stack.callback(client.close)
            return client

        def awaited_at(url: str) -> Any:
            from aiobotocore.config import AioConfig

            config = AioConfig(**ONCE)
            making: Any = async_session().create_client("dynamodb", endpoint_url=url, region_name=REGION, config=config)
            stack.callback(lambda: loop.wait(making.__aexit__(None, None, None)))
            return loop.wait(making.__aenter__())

        def make(script: Script) -> Any:
            if request.param == "client":
                return FaultyClient(clean, script)
            if request.param == "async client":
                return BothWays(FaultyAsyncClient(awaited_at(dynoxide_url), script), loop)
            url = stack.enter_context(proxied(dynoxide_url, script)).url
            return at(url) if request.param == "proxy" else BothWays(awaited_at(url), loop)

        yield make


def row(number: int, group: int = 1, **more: Any) -> dict[str, Any]:
    """Make an item."""
    return {"id": {"N": str(number)}, "group": {"N": str(group)}, **more}


def stored(clean: Any, table: str) -> list[int]:
    """List the numbers of the rows that are stored, in order."""
    return sorted(int(item["id"]["N"]) for item in clean.scan(TableName=table, ConsistentRead=True)["Items"])


def code_of(error: Exception) -> str:
    """Name what botocore raised: DynamoDB's own name for it, or that of the class."""
    return str(error.response["Error"]["Code"]) if isinstance(error, theirs.ClientError) else type(error).__name__


APPLIED = (FAILED_AFTER, DROPPED, CLOSED)
CODES = {
    THROTTLE.name: {"ProvisionedThroughputExceededException"},
    SERVER_ERROR.name: {"InternalServerError"},
    FAILED_AFTER.name: {"InternalServerError"},
    CONFLICT.name: {"TransactionConflictException"},
    UNSENT.name: {"ConnectTimeoutError", "ConnectionClosedError", "EndpointConnectionError"},  # a reset, at the wire
    LOST.name: {"ConnectionClosedError"},
    DROPPED.name: {"ReadTimeoutError", "ConnectionClosedError"},
    CLOSED.name: {"ConnectionClosedError"},
}


@pytest.mark.parametrize(
    "fault", [THROTTLE, SERVER_ERROR, FAILED_AFTER, CONFLICT, UNSENT, LOST, DROPPED, CLOSED], ids=repr
)
def test_what_a_write_comes_to(faulty: Faulty, clean: Any, table: str, fault: Fault) -> None:
    """The second put goes wrong as the fault says and is stored or not; the first and the third go through."""
    script = Script(Rule(fault, "put_item", nth=(2,)))
    client = faulty(script)
    client.put_item(TableName=table, Item=row(1))
    with pytest.raises((theirs.ClientError, theirs.BotoCoreError)) as caught:
        client.put_item(TableName=table, Item=row(2))
    client.put_item(TableName=table, Item=row(3))
    assert code_of(caught.value) in CODES[fault.name]
    assert stored(clean, table) == ([1, 2, 3] if fault in APPLIED else [1, 3])
    assert script.done == [("put_item", fault.name)]
    assert script.calls == {"put_item": 3}


def test_half_a_batch_is_left_over(faulty: Faulty, clean: Any, table: str) -> None:
    """Of five rows two are stored, three are left over, and no row is both or neither."""
    client = faulty(Script(Rule(LEFTOVERS, nth=(1,))))
    requests = [{"PutRequest": {"Item": row(number)}} for number in range(1, 6)]
    left = client.batch_write_item(RequestItems={table: requests})["UnprocessedItems"]
    assert stored(clean, table) == [1, 2]
    assert left == {table: requests[2:]}
    assert client.batch_write_item(RequestItems=left)["UnprocessedItems"] == {}
    assert stored(clean, table) == [1, 2, 3, 4, 5]


def test_half_a_reading_is_left_over(faulty: Faulty, clean: Any, table: str) -> None:
    """Of three keys one is answered and two are left over, with how they are to be read; of one key none is."""
    clean.put_item(TableName=table, Item=row(1))
    keys = [{"id": {"N": str(number)}} for number in (1, 2, 3)]
    client = faulty(Script(Rule(LEFTOVERS)))
    answer = client.batch_get_item(RequestItems={table: {"Keys": keys, "ConsistentRead": True}})
    assert answer["Responses"][table] == [row(1)]
    assert answer["UnprocessedKeys"] == {table: {"Keys": keys[1:], "ConsistentRead": True}}
    none = client.batch_get_item(RequestItems={table: {"Keys": keys[:1]}})
    assert none["UnprocessedKeys"] == {table: {"Keys": keys[:1]}}
    assert none["Responses"] == {}


def test_a_transaction_conflicts(faulty: Faulty, clean: Any, table: str) -> None:
    """A conflict cancels a transaction with its reasons, and nothing of it is stored."""
    client = faulty(Script(Rule(CONFLICT)))
    actions = [{"Put": {"TableName": table, "Item": row(number)}} for number in (1, 2)]
    with pytest.raises(theirs.ClientError) as caught:
        client.transact_write_items(TransactItems=actions)
    response: Any = caught.value.response
    assert code_of(caught.value) == "TransactionCanceledException"
    assert [reason["Code"] for reason in response["CancellationReasons"]] == ["TransactionConflict", "None"]
    assert stored(clean, table) == []


def groups(client: Any, table: str, group: int) -> list[int]:
    """Ask the index for the rows of a group."""
    answer = client.query(
        TableName=table,
        IndexName="by-group",
        KeyConditionExpression="#g = :g",
        ExpressionAttributeNames={"#g": "group"},
        ExpressionAttributeValues={":g": {"N": str(group)}},
    )
    return sorted(int(item["id"]["N"]) for item in answer["Items"])


def test_an_index_lags_behind(faulty: Faulty, clean: Any, table: str) -> None:
    """An index query answers as of before the last two writes, whether they put, changed or deleted a row."""
    clean.put_item(TableName=table, Item=row(1, group=1))
    client = faulty(Script(Rule(STALE), lag=2))
    client.put_item(TableName=table, Item=row(2, group=1))
    client.put_item(TableName=table, Item=row(3, group=1))
    assert groups(client, table, 1) == [1]  # both writes are too new
    moved = {"#g": "group"}, {":g": {"N": "2"}}
    client.update_item(
        TableName=table,
        Key={"id": {"N": "1"}},
        UpdateExpression="SET #g = :g",
        ExpressionAttributeNames=moved[0],
        ExpressionAttributeValues=moved[1],
    )
    assert groups(client, table, 1) == [1, 2]  # 3 was put and 1 was moved too lately
    client.delete_item(TableName=table, Key={"id": {"N": "2"}})
    client.delete_item(TableName=table, Key={"id": {"N": "3"}})
    assert groups(client, table, 2) == [1]
    assert groups(client, table, 1) == [2]  # 3 is known to be gone only when its deletion is old enough
    assert groups(clean, table, 1) == []
    assert client.get_item(TableName=table, Key={"id": {"N": "2"}}).get("Item") is None  # no index, no lag


def test_an_answer_is_delayed(faulty: Faulty, clean: Any, table: str) -> None:
    """A delayed request takes at least that long, and is carried out."""
    client = faulty(Script(Rule(delayed(0.1), "put_item")))
    begun = time.monotonic()
    client.put_item(TableName=table, Item=row(1))
    assert time.monotonic() - begun >= 0.1
    assert stored(clean, table) == [1]


def test_an_engines_own_error_comes_through(faulty: Faulty, clean: Any, table: str) -> None:
    """A condition that fails is told as the engine tells it, with the item that made it fail."""
    clean.put_item(TableName=table, Item=row(1, blob={"B": b"\x00\xff"}))
    client = faulty(Script())
    with pytest.raises(theirs.ClientError) as caught:
        client.put_item(
            TableName=table,
            Item=row(1),
            ConditionExpression="attribute_not_exists(id)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    response: Any = caught.value.response
    assert code_of(caught.value) == "ConditionalCheckFailedException"
    assert response["Item"]["id"] == {"N": "1"}
    assert client.get_item(TableName=table, Key={"id": {"N": "1"}})["Item"] == row(1, blob={"B": b"\x00\xff"})


def test_many_threads_at_once(faulty: Faulty, clean: Any, table: str) -> None:
    """Sixteen threads that put four rows each: the eight requests of the script go wrong, all others are stored."""
    nth = (1, 5, 9, 13, 20, 30, 40, 64)
    script = Script(Rule(THROTTLE, "put_item", nth=nth))
    client = faulty(script)

    def work(place: int) -> list[int]:
        refused: list[int] = []
        for number in range(4 * place, 4 * place + 4):
            try:
                client.put_item(TableName=table, Item=row(number))
            except theirs.ClientError:
                refused.append(number)
        return refused

    refused = {number for each in in_threads(16, work) for number in each}
    assert len(refused) == len(nth)
    assert stored(clean, table) == sorted(set(range(64)) - refused)


class TestScript:
    def picks(self, script: Script, *methods: str) -> list[str | None]:
        """Give the names of the faults that happen to calls of methods, in order."""
        names: list[str | None] = []
        for method in methods:
            before = len(script.done)
            with suppress(Refused):
                play(script.play(method, {"TableName": "t"}), lambda _: {})
            names.append(script.done[-1][1] if len(script.done) > before else None)
        return names

    def test_rules_count_the_calls_of_their_method(self) -> None:
        """`nth` counts the calls that a rule can happen to; others pass."""
        script = Script(Rule(THROTTLE, "get_item", nth=(2, 3)))
        methods = ("get_item", "query", "get_item", "get_item", "get_item")
        assert self.picks(script, *methods) == [None, None, "throttled", "throttled", None]

    def test_the_first_rule_that_applies_wins(self) -> None:
        """A later rule gets what an earlier one lets pass."""
        script = Script(Rule(SERVER_ERROR, nth=(1,)), Rule(THROTTLE, "get_item"))
        assert self.picks(script, "get_item", "get_item", "query") == ["error 500", "throttled", None]

    def test_a_fault_happens_to_what_it_can_happen_to(self) -> None:
        """There are no leftovers of a single item, no conflict of a reading and no lag of the table itself."""
        for fault in (LEFTOVERS, CONFLICT, STALE):
            assert self.picks(Script(Rule(fault)), "get_item", "query") == [None, None]

    def test_chance_is_repeatable(self) -> None:
        """The same seed lets the same calls go wrong, about as many as the chance says; another seed lets others."""

        def wrong(seed: int) -> list[bool]:
            script = Script(Rule(THROTTLE, chance=0.25), seed=seed)
            return [name is not None for name in self.picks(script, *["get_item"] * 400)]

        assert wrong(1) == wrong(1) != wrong(2)
        assert 60 < sum(wrong(1)) < 140


def test_the_proxy_sees_a_clients_own_retries(dynoxide_url: str, table: str) -> None:
    """A client that sends three times is refused three times; the faults around a client lie above its retries."""
    script = Script(Rule(SERVER_ERROR, "put_item"))
    with proxied(dynoxide_url, script) as proxy:
        config = Config(retries={"total_max_attempts": 3, "mode": "standard"})
        client = session().client("dynamodb", endpoint_url=proxy.url, region_name=REGION, config=config)
        with pytest.raises(theirs.ClientError) as caught:
            client.put_item(TableName=table, Item=row(1))
        client.close()
    assert script.calls == {"put_item": 3}
    assert caught.value.response["ResponseMetadata"]["RetryAttempts"] == 2


def test_a_proxy_is_gone_after_its_block(dynoxide_url: str) -> None:
    """Nobody answers at a proxy's port when its block has ended."""
    with proxied(dynoxide_url, Script()) as proxy:
        client = session().client("dynamodb", endpoint_url=proxy.url, region_name=REGION, config=Config(**ONCE))
        assert "TableNames" in client.list_tables()
        client.close()
    client = session().client("dynamodb", endpoint_url=proxy.url, region_name=REGION, config=Config(**ONCE))
    with pytest.raises(theirs.EndpointConnectionError):
        client.list_tables()
    client.close()


def test_a_clock_jumps() -> None:
    """A clock stands still, jumps forwards and back, and is what a store's tombstones are dated by."""
    from tests.contract.behind import item_at
    from tests.contract.shop import Order, app, order

    clock = JumpingClock(datetime(2026, 12, 1, tzinfo=UTC))
    store = Store.local(app, clock=clock)
    stones: list[int] = []
    for hours in (1, -2):
        clock.jump(hours=hours)
        made = store.create(order())
        store.delete(made)
        stone = item_at(store, Order.at(user_id="u1", order_id=made.order_id))
        assert stone is not None
        stones.append(int(stone["gone_at"]["N"]))
    assert stones == [1796086800, 1796079600]  # 01:00 of that day and 23:00 of the day before
