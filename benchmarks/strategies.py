"""What is measured: singletable's ways to draw a number, and the two programs of the source document by hand.

The document is "Two ways to make auto-increment ids in DynamoDB", after the AWS Database Blog's "Implement
auto-increment with Amazon DynamoDB". Its programs are written out here as functions of a table that is made once, as a
server would have them; the requests are those of the printed ones.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias

from boto3.dynamodb.conditions import Key as KeyCondition
from botocore.config import Config

from benchmarks.distance import REGION, distant, distant_awaited
from singletable import AutoIncrement, Entity, Field, Key, Store, Table
from singletable.aio import AsyncStore

__all__ = ["BY_COUNTER", "BY_SORT_KEY", "STRATEGIES", "AwaitedDraw", "Draw", "Place", "Strategy", "create_table"]

BY_COUNTER, BY_SORT_KEY = "hand-written counter", "hand-written sort key"
POOL = 32
"""As many connections as a store's own client keeps."""

Draw: TypeAlias = Callable[[], int]
"""Draws a number, stores its item and gives the number."""

AwaitedDraw: TypeAlias = Callable[[], Awaitable[int]]

bench = Table("bench")


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is run: the engine's URL, the table's name, and the seconds of a round trip."""

    url: str
    table: str
    round_trip: float


# By hand


def order_by_counter(table: Any) -> int:
    """Draw and store as the document's first program does."""
    response = table.update_item(
        Key={"pk": "orderCounter"},
        UpdateExpression="ADD #cnt :val",
        ExpressionAttributeNames={"#cnt": "count"},
        ExpressionAttributeValues={":val": 1},
        ReturnValues="UPDATED_NEW",
    )
    order = int(response["Attributes"]["count"])
    table.put_item(Item={"pk": str(order), "deliveryMethod": "expedited"})
    return order


def issue_by_sort_key(table: Any) -> int:
    """Draw and store as the document's second program does: read the highest once, then count on until one is free."""
    highest = 0
    response = table.query(KeyConditionExpression=KeyCondition("pk").eq("projectA"), ScanIndexForward=False, Limit=1)
    if response["Count"] > 0:
        highest = int(response["Items"][0]["sk"])
    while True:
        highest += 1
        try:
            table.put_item(
                Item={"pk": "projectA", "sk": highest, "priority": "low"},
                ConditionExpression="attribute_not_exists(pk)",
            )
        except table.meta.client.exceptions.ConditionalCheckFailedException:
            continue
        return highest


# By singletable


class Invoice(Entity, table=bench, tag="invoice"):
    """Numbered by counter, for the whole entity."""

    number: Field[int] = AutoIncrement("counter")
    text: Field[str] = Field(default="expedited")
    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


class Ticket(Entity, table=bench, tag="ticket"):
    """Numbered by counter in blocks of ten."""

    number: Field[int] = AutoIncrement("counter", block=10)
    text: Field[str] = Field(default="expedited")
    key = Key(pk="#TICKET#{number}", sk="#TICKET")


class Parcel(Entity, table=bench, tag="parcel"):
    """Numbered by counter in blocks of fifty."""

    number: Field[int] = AutoIncrement("counter", block=50)
    text: Field[str] = Field(default="expedited")
    key = Key(pk="#PARCEL#{number}", sk="#PARCEL")


class Receipt(Entity, table=bench, tag="receipt"):
    """Numbered without gaps."""

    number: Field[int] = AutoIncrement("counter", gapless=True)
    text: Field[str] = Field(default="expedited")
    key = Key(pk="#RECEIPT#{number}", sk="#RECEIPT")


class Issue(Entity, table=bench, tag="issue"):
    """Numbered by sort key; all writers are in one partition."""

    project: Field[str] = Field(default="projectA")
    number: Field[int] = AutoIncrement()
    text: Field[str] = Field(default="low")
    key = Key(pk="#PROJECT#{project}", sk="#ISSUE#{number}")


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """One way to draw numbers: an entity class of ours or a program by hand, and the program it is compared with."""

    name: str
    peer: str
    kind: type[Any] | None = None
    program: Callable[[Any], int] | None = None

    def draw(self, place: Place) -> Draw:
        """Make what the threads of one process share."""
        session, config = distant(place.round_trip), Config(max_pool_connections=POOL)
        kind, program = self.kind, self.program
        if program is not None:
            resource: Any = session.resource("dynamodb", endpoint_url=place.url, config=config)
            table = resource.Table(place.table)
            return lambda: program(table)
        assert kind is not None
        store = Store(bench, name=place.table, session=session, endpoint_url=place.url)
        return lambda: int(store.create(kind()).number)

    def awaited(self, place: Place) -> tuple[AwaitedDraw, AsyncStore]:
        """Make what the tasks of one loop share, and the store to close."""
        kind = self.kind
        assert kind is not None, f"{self.name} is not awaited"
        store = AsyncStore(
            bench, name=place.table, session=distant_awaited(place.round_trip), endpoint_url=place.url, region=REGION
        )

        async def draw() -> int:
            return int((await store.create(kind())).number)

        return draw, store


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(BY_COUNTER, BY_COUNTER, program=order_by_counter),
        Strategy("counter", BY_COUNTER, kind=Invoice),
        Strategy("counter, block=10", BY_COUNTER, kind=Ticket),
        Strategy("counter, block=50", BY_COUNTER, kind=Parcel),
        Strategy(BY_SORT_KEY, BY_SORT_KEY, program=issue_by_sort_key),
        Strategy("sort_key", BY_SORT_KEY, kind=Issue),
        Strategy("gapless", BY_SORT_KEY, kind=Receipt),
    )
}


def create_table(strategy: Strategy, place: Place) -> None:
    """Create the table that a strategy needs, without a delay."""
    if strategy.kind is not None:
        Store(bench, name=place.table, session=distant(0.0), endpoint_url=place.url).create_table()
        return
    keys = [("pk", "S", "HASH")] + ([("sk", "N", "RANGE")] if strategy.name == BY_SORT_KEY else [])
    making: Any = distant(0.0).client("dynamodb", endpoint_url=place.url)
    with closing(making) as client:
        client.create_table(
            TableName=place.table,
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind, _ in keys],
            KeySchema=[{"AttributeName": name, "KeyType": role} for name, _, role in keys],
            BillingMode="PAY_PER_REQUEST",
        )
