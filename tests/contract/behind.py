"""A store's table as it is, behind the mapper's back: the items in DynamoDB JSON, and boto3 on the same engine.

All of it works on stores of both colours; of an awaited one (`tests.contract.awaited`) the client is waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from threading import Barrier, Lock, Thread
from typing import Any, TypeVar, cast

import boto3
from aiobotocore.session import AioSession, get_session

from singletable import Entity, Ref, Store, Table
from singletable.aio import AsyncStore
from singletable.wire import Item
from tests.contract.awaited import Blocking

T = TypeVar("T")

REGION = "us-east-1"


@cache
def session() -> boto3.Session:
    """Give one session for all: a client takes 4 ms then, instead of 100."""
    return boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)


@cache
def async_session() -> AioSession:
    """Give the same for clients that are awaited."""
    made = get_session()
    made.set_credentials("test", "test")
    return made


def client_of(store: Store) -> Any:
    """Give the client that a store sends with; its methods give answers to whoever calls them."""
    return store.client if isinstance(store, Blocking) else store._connected()


def item_at(store: Store, ref: Ref[Entity]) -> Item | None:
    """Read the stored item at a reference as it is."""
    return item_under(store, ref.key)


def item_under(store: Store, key: Item) -> Item | None:
    """Read the stored item under a key as it is."""
    answer = client_of(store).get_item(TableName=store.name, Key=key, ConsistentRead=True)
    item: Item | None = answer.get("Item")
    return item


def write(store: Store, item: Item) -> Item:
    """Store an item as another program would, and give it back."""
    client_of(store).put_item(TableName=store.name, Item=item)
    return item


def everything(store: Store) -> list[Item]:
    """Read every item of the table, hidden ones too, over all pages."""
    client, found = client_of(store), list[Item]()
    params: dict[str, Any] = {"TableName": store.name, "ConsistentRead": True}
    while True:
        page = client.scan(**params)
        found.extend(page["Items"])
        if "LastEvaluatedKey" not in page:
            return found
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def sibling(
    store: Store,
    table: Table | None = None,
    *,
    client: Any = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Store:
    """Make another store in the same place, as another process would: nothing is remembered in common."""
    client = client_of(store) if client is None else client
    table = store.table if table is None else table
    if isinstance(store, Blocking):
        awaited = AsyncStore(table, name=store.name, client=client, clock=clock)
        return cast(Store, Blocking(awaited, store.loop))
    return Store(table, name=store.name, client=client, clock=clock)


def resource_of(store: Store) -> Any:
    """Make a boto3 resource that talks to the engine of a store, embedded or not, through a client of its own."""
    client = client_of(store)
    resource: Any = session().resource("dynamodb", endpoint_url=client.meta.endpoint_url)

    def forward(request: Any, event_name: str, **_: Any) -> Any:
        """Let the embedded engine answer, if the store has one."""
        return client.meta.events.emit_until_response(event_name, request=request)[1]

    if not isinstance(store, Blocking):  # an awaited store has no embedded engine
        resource.meta.client.meta.events.register("before-send.dynamodb", forward)
    return resource


class CountingClient:
    """A client that counts the requests by method before it passes them on."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = Lock()
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name == "meta":
            return found

        def counted(**params: Any) -> Any:
            with self._lock:
                self.calls[name] += 1
            return found(**params)

        return counted


def in_threads(count: int, work: Callable[[int], T]) -> list[T]:
    """Run the work in so many threads at once and give the results in order; the first error of any is raised."""
    results: dict[int, T] = {}
    errors: list[BaseException] = []
    start = Barrier(count)

    def run(place: int) -> None:
        start.wait()
        try:
            results[place] = work(place)
        except BaseException as error:  # noqa: BLE001  # handed on to the thread that waits
            errors.append(error)

    threads = [Thread(target=run, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[place] for place in range(count)]
