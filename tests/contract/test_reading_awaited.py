"""The verbs on many, awaited on an engine out of process, and that both colours take the same arguments."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest
from aiobotocore.session import AioSession, get_session

from singletable import AlreadyExists, Entity, NotFound, Ref, Store, Unprocessed
from singletable.aio import AsyncStore
from tests.contract.shop import Match, Order, User, app, order

Test: TypeAlias = Callable[[AsyncStore, Counter[str]], Awaitable[None]]
Run: TypeAlias = Callable[[Test], None]

REGION = "us-east-1"
VERBS = ("get_many", "query", "first", "count", "scan", "put_many", "create_many", "delete_many")


def session() -> AioSession:
    """Give a session with credentials that open nothing."""
    made = get_session()
    made.set_credentials("test", "test")
    return made


@pytest.fixture
def run(dynoxide_url: str, table_name: str) -> Run:
    """Run a test with a store of its own, and the requests that it sends by method."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[tuple[AsyncStore, Counter[str]]]:
        sent: Counter[str] = Counter()
        async with session().create_client("dynamodb", endpoint_url=dynoxide_url, region_name=REGION) as client:
            meta: Any = client.meta
            meta.events.register("provide-client-params.dynamodb", counting(sent))
            async with AsyncStore(app, name=table_name, client=client) as store:
                await store.create_table()
                sent.clear()
                yield store, sent
                await store.delete_table()

    async def play(test: Test) -> None:
        async with opened() as (store, sent):
            await test(store, sent)

    return lambda test: asyncio.run(play(test))


def counting(sent: Counter[str]) -> Callable[..., None]:
    """Make the hook that counts each request by its operation's name."""

    def count(model: Any, **_: Any) -> None:
        sent[model.name] += 1

    return count


def people(count: int) -> list[User]:
    """Make users."""
    return [User(user_id=f"u{number:03d}", name="x") for number in range(count)]


@pytest.mark.parametrize("verb", VERBS)
def test_both_colours_take_the_same(verb: str) -> None:
    """A verb has the same parameters and defaults in both colours."""
    plain, awaited = (inspect.signature(getattr(kind, verb)) for kind in (Store, AsyncStore))
    assert list(plain.parameters.values()) == list(awaited.parameters.values())


def test_get_many(run: Run) -> None:
    """250 keys are three requests; holes, order, and NotFound where something must be there."""

    async def test(store: AsyncStore, sent: Counter[str]) -> None:
        await store.put_many(people(249))
        sent.clear()
        found = await store.get_many(*[User.at(user_id=f"u{number:03d}") for number in range(250)])
        assert list(found) == [*people(249), None]
        assert sent == {"BatchGetItem": 3}
        with pytest.raises(NotFound, match="1 of 2"):
            await store.get_many(
                User.at(user_id="u000"), Match.at(league="l", season=1, round_no=1, home="h"), missing="raise"
            )

    run(test)


def test_queries(run: Run) -> None:
    """Several values, projections, several queries in turn and merged, the first and the count of them."""

    async def test(store: AsyncStore, sent: Counter[str]) -> None:
        orders = [order(on=on, status=status) for on, status in enumerate(("PAID", "SENT", "OPEN", "PAID"), start=1)]
        await store.create_many([*orders, User(user_id="u1", name="Ann")])
        sent.clear()
        query = Order.by_status(user_id="u1").is_in(status=("SENT", "PAID", "LOST")).only(Order.status)
        assert [(each.status, each.order_id) async for each in store.query(query)] == [
            ("PAID", 1),
            ("PAID", 4),
            ("SENT", 2),
        ]
        assert sent == {"Query": 3}
        assert await store.count(query) == 3
        assert await store.count(query, User.key(user_id="u1")) == 4
        mixed = await store.query(User.key(user_id="u1"), Order.key(user_id="u1").limit(2), merged=True).all()
        assert [type(each) for each in mixed] == [Order, Order, User]
        sent.clear()
        first = await store.first(User.key(user_id="u1"), Order.key(user_id="u1"))
        assert isinstance(first, User)
        assert sent == {"Query": 1}

    run(test)


def test_scan(run: Run) -> None:
    """All items of one kind come, in segments and with a filter."""

    async def test(store: AsyncStore, sent: Counter[str]) -> None:
        await store.create_many([order(on=1), order(on=2, status="PAID"), User(user_id="u1", name="Ann")])
        assert {each.order_id for each in await store.scan(Order, segments=3).all()} == {1, 2}
        assert [each.order_id async for each in store.scan(Order, where=Order.status == "PAID")] == [2]
        assert sent["Scan"] == 4

    run(test)


def test_create_and_delete_many(run: Run) -> None:
    """One write for each entity, numbers in order, what is taken is left over; deletes in batches, and told of."""

    async def test(store: AsyncStore, sent: Counter[str]) -> None:
        told: list[tuple[int, int]] = []
        made = await store.create_many(
            [order() for _ in range(4)], progress=lambda done, total: told.append((done, total))
        )
        assert [each.order_id for each in made] == [1, 2, 3, 4]
        assert sent == {"Query": 1, "PutItem": 4}
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
        await store.create(people(1)[0])
        with pytest.raises(Unprocessed, match="1 of 30") as caught:
            await store.create_many(people(30))
        assert caught.value.items == (people(1)[0],)
        assert [type(cause) for cause in caught.value.causes] == [AlreadyExists]
        sent.clear()
        what: list[Entity | Ref[Entity]] = [*people(30), Order.at(user_id="u1", order_id=1)]
        await store.delete_many(what)
        assert sent == {"BatchWriteItem": 2, "PutItem": 1}
        assert await store.count(Order.key(user_id="u1")) == 3
        assert await store.scan(User).all() == []

    run(test)
