"""What only the asynchronous colour has: loops that come and go, cancellation, and how much is under way at once."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import threading
import weakref
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from singletable import AlreadyExists, ConfigurationError, Create, Ref, Store, Transact, Update
from singletable.aio import AsyncStore
from tests.contract.behind import REGION, async_session, everything, session
from tests.contract.shop import Match, Order, OrderLine, User, app, order

T = TypeVar("T")

WAIT = 30.0


@pytest.fixture
def place(dynoxide_url: str, table_name: str) -> Iterator[Store]:
    """Give a plain store on dynoxide, through which the table is made, looked at and dropped."""
    store = Store(app, name=table_name, endpoint_url=dynoxide_url, region=REGION, session=session())
    store.create_table()
    yield store
    store.delete_table()
    store.close()


def awaited(place: Store) -> AsyncStore:
    """Make an asynchronous store in the same place."""
    url = place._connected().meta.endpoint_url
    return AsyncStore(app, name=place.name, endpoint_url=url, region=REGION, session=async_session())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own, within the time that a test may take."""
    return asyncio.run(asyncio.wait_for(work, WAIT))


def a_user(name: str = "Ann") -> User:
    """Make the user of the tests."""
    return User(user_id="u1", name=name, email="ann@example.com")


class Watching:
    """An aiobotocore client that counts what is under way, and tells before and after each request."""

    def __init__(self, client: Any, *, before: Callable[[str], None], after: Callable[[str], None]) -> None:
        self._client = client
        self._before = before
        self._after = after
        self.meta = client.meta

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)

        async def request(**params: Any) -> Any:
            self._before(name)
            answer = await found(**params)
            self._after(name)
            return answer

        return request


@asynccontextmanager
async def client_at(place: Store) -> AsyncGenerator[Any]:
    """Give an open aiobotocore client at a store's engine."""
    url = place._connected().meta.endpoint_url
    making: Any = async_session().create_client("dynamodb", endpoint_url=url, region_name=REGION)
    async with making as client:
        yield client


class TestColour:
    def test_rows_are_walked_with_async_for(self, place: Store) -> None:
        """`async for` gives every row in order, twice if asked twice; breaking off early does no harm."""

        async def main() -> tuple[list[int], list[int], list[int]]:
            async with awaited(place) as store:
                for _ in range(3):
                    await store.create(order())
                rows = store.query(Order.key(user_id="u1"))
                first, early = [found.order_id async for found in rows], list[int]()
                async for found in rows:
                    early.append(found.order_id)
                    break
                return first, early, [each.order_id for each in await rows.all()]

        assert run(main()) == ([1, 2, 3], [1], [1, 2, 3])

    def test_a_store_is_closed_by_its_block(self, place: Store) -> None:
        """`async with` closes the client, also where the block raises, and the store can be used again."""

        async def leave(store: AsyncStore) -> None:
            async with store as same:
                assert same is store
                await store.create(a_user())
                raise LookupError

        async def main() -> list[User | None]:
            store = awaited(place)
            with pytest.raises(LookupError):
                await leave(store)
            assert len(store._driver._loops) == 0
            async with store:
                return [await store.get(User.at(user_id="u1")), await store.get(User.at(user_id="u2"))]

        assert run(main()) == [a_user(), None]

    def test_errors_come_as_in_the_other_colour(self, place: Store) -> None:
        """A create at a taken key raises AlreadyExists with the entity that stands there."""

        async def main() -> object:
            async with awaited(place) as store:
                await store.create(a_user())
                with pytest.raises(AlreadyExists) as caught:
                    await store.create(a_user("Bob"))
                return caught.value.existing

        assert run(main()) == a_user()


class TestLoops:
    def test_one_loop_after_another(self, place: Store) -> None:
        """One store in two `asyncio.run`, never closed: both work, nothing warns, and neither loop is kept."""
        store = awaited(place)
        loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

        async def main(user: User) -> User:
            loops.append(weakref.ref(asyncio.get_running_loop()))
            return await store.put(user)

        assert [run(main(a_user())), run(main(a_user("Bob")))] == [a_user(), a_user("Bob")]
        gc.collect()
        assert [loop() for loop in loops] == [None, None]

    def test_loops_in_several_threads(self, place: Store) -> None:
        """Four threads with a loop each create through one store at once: the numbers are 1 to 20, none twice."""
        store = awaited(place)
        drawn: dict[int, list[int]] = {}

        async def main() -> list[int]:
            return [(await store.create(order())).order_id for _ in range(5)]

        def work(number: int) -> None:
            drawn[number] = run(main())

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        assert sorted(number for each in drawn.values() for number in each) == list(range(1, 21))


class TestAtOnce:
    def test_put_many_is_bounded(self, place: Store) -> None:
        """500 entities are 20 batches, of which 8 are under way at once at most, and more than one is."""
        under_way, most, lines = Counter[str](), Counter[str](), 500

        def begin(name: str) -> None:
            under_way[name] += 1
            most[name] = max(most[name], under_way[name])

        async def main() -> int:
            async with client_at(place) as client:
                watching = Watching(client, before=begin, after=lambda name: under_way.subtract([name]))
                store = AsyncStore(app, name=place.name, client=watching)
                await store.put_many(OrderLine(user_id="u1", order_id=1, line_no=n, sku="a") for n in range(lines))
                return await store.count(OrderLine.key(user_id="u1", order_id=1))

        assert run(main()) == lines
        assert 1 < most["batch_write_item"] <= 8
        assert under_way["batch_write_item"] == 0

    def test_sort_key_numbers_cost_one_request_each(self, place: Store) -> None:
        """Forty creates at once in one partition take turns: 1 to 40, for a put each and a query after every twelve."""
        sent = Counter[str]()

        async def main() -> list[int]:
            async with client_at(place) as client:
                watching = Watching(client, before=lambda name: sent.update([name]), after=lambda _: None)
                store = AsyncStore(app, name=place.name, client=watching)
                made = await asyncio.gather(*(store.create(order()) for _ in range(40)))
                return [each.order_id for each in made]

        assert sorted(run(main())) == list(range(1, 41))
        assert sent == {"query": 4, "put_item": 40}


class TestGiven:
    def test_a_client_that_is_given_is_used_and_left_open(self, place: Store) -> None:
        """A store that is closed leaves the client it was given to its owner."""

        async def main() -> list[User | None]:
            async with client_at(place) as client:
                async with AsyncStore(app, name=place.name, client=client) as store:
                    await store.put(a_user())
                return [await AsyncStore(app, name=place.name, client=client).get(User.at(user_id="u1"))]

        assert run(main()) == [a_user()]

    def test_a_client_and_what_would_make_one_is_refused(self) -> None:
        """A client beside a session, an endpoint or a region is a ConfigurationError, and nothing is made."""
        for other in ({"session": object()}, {"endpoint_url": "http://engine.test"}, {"region": "eu-west-1"}):
            options: dict[str, Any] = {"client": object(), **other}
            with pytest.raises(ConfigurationError, match="a client and also a session"):
                AsyncStore(app, **options)

    def test_an_embedded_engine_is_refused(self) -> None:
        """The moto of this process answers no aiobotocore client: the error says so and names an engine that does."""
        with pytest.raises(ConfigurationError, match="works with Store only") as caught:
            AsyncStore.local(app)
        assert "dynoxide" in caught.value.hint

    def test_without_aiobotocore(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where aiobotocore is not installed, a store can be made; the first verb says how to install it."""
        for name in [name for name in sys.modules if name.partition(".")[0] == "aiobotocore"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "aiobotocore", None)
        store = AsyncStore(app, endpoint_url="http://127.0.0.1:1", region=REGION)
        with pytest.raises(ConfigurationError, match="needs aiobotocore") as caught:
            run(store.get(User.at(user_id="u1")))
        assert "singletable[aio]" in caught.value.hint


async def cancel_after(task: asyncio.Task[Any], seconds: float) -> None:
    """Cancel a task after a while and wait until it has ended; it may have ended well before."""
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def match_ref(match: Match) -> Ref[Match]:
    """Refer to a match."""
    return Match.at(league=match.league, season=match.season, round_no=match.round_no, home=match.home)


class TestCancellation:
    @pytest.mark.parametrize("seed", range(20))
    def test_at_any_moment(self, place: Store, seed: int) -> None:
        """Creates, a put, a batch and a query cancelled at some moment leave whole items or none, and a free lock."""
        chance = random.Random(seed)

        async def main() -> int:
            async with awaited(place) as store:
                await store.create(order())
                rows = store.query(Order.key(user_id="u1"))
                lines = [OrderLine(user_id="u2", order_id=1, line_no=n, sku="a") for n in range(60)]
                work: list[Coroutine[Any, Any, Any]] = [
                    store.create(order()),
                    store.create(order()),
                    store.put(a_user()),
                    store.put_many(lines),
                    rows.all(),
                ]
                tasks = [asyncio.create_task(each) for each in work]
                await asyncio.gather(*(cancel_after(task, chance.uniform(0, 0.03)) for task in tasks))
                return (await asyncio.wait_for(store.create(order()), WAIT)).order_id

        last = run(main())
        numbers = [found.order_id for found in place.query(Order.key(user_id="u1"))]
        assert numbers == list(range(1, last + 1))
        assert 2 <= last <= 4
        assert place.get(User.at(user_id="u1")) in (None, a_user())
        lines = place.count(OrderLine.key(user_id="u2", order_id=1))
        assert lines <= 60
        assert len(everything(place)) == last + lines + (place.get(User.at(user_id="u1")) is not None)

    @pytest.mark.parametrize("applied", [False, True], ids=["before it is sent", "after it is carried out"])
    def test_at_the_worst_moments(self, place: Store, applied: bool) -> None:
        """A create cancelled before its put leaves nothing, one cancelled after it leaves the order: numbers go on."""
        cancelled: list[str] = []

        def cancel(name: str) -> None:
            if name == "put_item" and not cancelled:
                cancelled.append(name)
                raise asyncio.CancelledError

        async def main() -> int:
            async with client_at(place) as client:
                moments: dict[str, Callable[[str], None]] = {"before": lambda _: None, "after": lambda _: None}
                moments["after" if applied else "before"] = cancel
                store = AsyncStore(app, name=place.name, client=Watching(client, **moments))
                with pytest.raises(asyncio.CancelledError):
                    await store.create(order())
                return (await asyncio.wait_for(store.create(order()), WAIT)).order_id

        assert run(main()) == (2 if applied else 1)
        assert len(everything(place)) == (2 if applied else 1)

    @pytest.mark.parametrize("applied", [False, True], ids=["before it is sent", "after it is carried out"])
    @pytest.mark.parametrize("kind", ["create", "update", "transact"])
    def test_a_cancelled_write_that_was_prepared(self, place: Store, kind: str, applied: bool) -> None:
        """A cancelled write is an unknown outcome: run again, what was prepared has happened once."""
        goals = Match.goals.add(2)
        match = place.create(Match(league="l", season=1, round_no=1, home="h"))
        writes: dict[str, Any] = {
            "create": Create(order()),
            "update": Update(match, goals),
            "transact": Transact(Create(order()), Create(order()), Update(match, goals)),
        }
        cancelled: list[str] = []

        def cancel(name: str) -> None:
            if name in ("put_item", "update_item", "transact_write_items") and not cancelled:
                cancelled.append(name)
                raise asyncio.CancelledError

        async def main() -> None:
            async with client_at(place) as client:
                moments: dict[str, Callable[[str], None]] = {"before": lambda _: None, "after": lambda _: None}
                moments["after" if applied else "before"] = cancel
                store = AsyncStore(app, name=place.name, client=Watching(client, **moments))
                prepared = await store.prepare(writes[kind])
                with pytest.raises(asyncio.CancelledError):
                    await store.run(prepared)
                assert await store.run(prepared) == await store.run(prepared)

        run(main())
        orders = {"create": 1, "update": 0, "transact": 2}[kind]
        assert [found.order_id for found in place.query(Order.key(user_id="u1"))] == list(range(1, orders + 1))
        assert place.one(match_ref(match), consistent=True).goals == (0 if kind == "create" else 2)

    def test_a_reading_that_is_cancelled(self, place: Store) -> None:
        """A query cancelled between two pages leaves nothing open; another reading begins anew."""

        async def main() -> list[int]:
            async with awaited(place) as store:
                await store.put_many(Match(league="L", season=1, round_no=n, home="A") for n in range(5))
                rows = store.query(Match.key(league="L"))
                walked: list[int] = []

                async def walk() -> None:
                    async for found in rows:
                        walked.append(found.round_no)
                        await asyncio.sleep(WAIT)

                task = asyncio.create_task(walk())
                while not walked:
                    await asyncio.sleep(0.001)
                await cancel_after(task, 0)
                assert task.cancelled()
                return walked + [found.round_no for found in await rows.all()]

        assert run(main()) == [0, 0, 1, 2, 3, 4]
