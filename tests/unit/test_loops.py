"""The driver of event loops: one client for each loop, one at a time, all together, and cancellation."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from botocore import exceptions as theirs

from singletable.errors import ConfigurationError
from singletable.loops import AsyncDriver
from singletable.wire import Call, Exclusive, NoReply, Pause, Refusal, Steps, Together

T = TypeVar("T")

WAIT = 10.0

KEY = ConnectionKey("engine.test", 80, False, True, None, None, None)

Answer = Callable[..., Coroutine[Any, Any, Any]]


class Client:
    """A client with one method, `ask`, that awaits a function."""

    def __init__(self, answer: Answer) -> None:
        self.ask = answer
        self.meta = self
        self.endpoint_url = "http://engine.test"
        self.loop = asyncio.get_running_loop()
        self.is_open = True


class Making:
    """Makes clients, each open until it is left, in the loop it was entered in; a class, as aiobotocore's maker is."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.made: list[Client] = []

    def __call__(self) -> AbstractAsyncContextManager[Client]:
        return Held(self)


class Held(AbstractAsyncContextManager[Client]):
    """One client that is being made, or is open."""

    def __init__(self, making: Making) -> None:
        self.making = making
        self.client: Client | None = None

    async def __aenter__(self) -> Client:
        await asyncio.sleep(0)
        self.client = Client(self.making.answer)
        self.making.made.append(self.client)
        return self.client

    async def __aexit__(self, *_: object) -> None:
        assert self.client is not None
        assert asyncio.get_running_loop() is self.client.loop
        self.client.is_open = False


def no_client() -> AbstractAsyncContextManager[Any]:
    """Be the client of flows that call nothing."""
    raise AssertionError("nothing may be sent")


def run(*flows: Steps[Any], driver: AsyncDriver | None = None) -> list[Any]:
    """Run flows at the same time in a loop of their own; give their results, or raise the first error."""
    running = AsyncDriver(no_client) if driver is None else driver

    async def main() -> list[Any]:
        return await asyncio.wait_for(asyncio.gather(*map(running.run, flows)), WAIT)

    return asyncio.run(main())


async def echo(**params: Any) -> Any:
    """Answer a request with its parameters."""
    await asyncio.sleep(0)
    return {"got": params}


def asking(**params: Any) -> Steps[Any]:
    """Make a flow of one request."""
    answer = yield Call("ask", params)
    return answer


def giving(value: Any) -> Steps[Any]:
    """Make a flow that ends at once with a value."""
    yield Pause(0)
    return value


def failing(error: Exception) -> Steps[Any]:
    """Make a flow that raises."""
    yield Pause(0)
    raise error


def together(flows: list[Steps[Any]], at_most: int = 8) -> Steps[list[Any]]:
    """Make a flow that runs others at once."""
    outcomes: list[Any] = yield Together(flows, at_most)
    return outcomes


def alone(key: str, inner: Steps[Any]) -> Steps[Any]:
    """Make a flow that runs another under a key."""
    result = yield Exclusive(key, inner)
    return result


class Inside:
    """Counts how many flows are inside at once."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0

    def steps(self, seconds: float = 0.002) -> Steps[None]:
        """Be inside for a while."""
        self.now += 1
        self.most = max(self.most, self.now)
        yield Pause(seconds)
        self.now -= 1


class TestRun:
    def test_a_call_is_sent_by_its_name(self) -> None:
        """A call is the client's method of that name with those parameters, and its answer is sent back."""
        assert run(asking(Key=1), driver=AsyncDriver(Making(echo))) == [{"got": {"Key": 1}}]

    def test_what_a_flow_raises_comes_out(self) -> None:
        """An error of the flow is raised by `run`, as it is."""
        error = LookupError("x")
        with pytest.raises(LookupError) as caught:
            run(failing(error))
        assert caught.value is error

    def test_an_effects_error_can_be_handled(self) -> None:
        """What goes wrong in an effect is thrown into the flow at the effect, which may go on."""
        answers: list[Any] = [RuntimeError("once"), "second"]

        async def answer(**_: Any) -> Any:
            found = answers.pop(0)
            if isinstance(found, Exception):
                raise found
            return found

        def flow() -> Steps[Any]:
            try:
                yield Call("ask", {})
            except RuntimeError:
                return (yield Call("ask", {}))
            return None

        assert run(flow(), driver=AsyncDriver(Making(answer))) == ["second"]

    def test_a_pause_lets_others_run(self) -> None:
        """Fifty flows that pause for 20 ms each do so at the same time."""
        inside = Inside()
        run(*(inside.steps(0.02) for _ in range(50)))
        assert inside.most == 50


class TestFaults:
    def test_a_clients_errors_are_told_apart(self) -> None:
        """A refusal, a lost reply and any other error come into the flow as in the other colour."""
        refused = theirs.ClientError({"Error": {"Code": "X"}}, "PutItem")
        for error, kind in (
            (refused, Refusal),
            (theirs.ReadTimeoutError(endpoint_url="u"), NoReply),
            (ZeroDivisionError(), ZeroDivisionError),
        ):

            async def answer(error: Exception = error, **_: Any) -> Any:
                raise error

            with pytest.raises(kind):
                run(asking(), driver=AsyncDriver(Making(answer)))

    @pytest.mark.parametrize(
        ("under", "sent"),
        [
            (aiohttp.ClientOSError(104, "reset"), True),
            (aiohttp.ServerDisconnectedError(), True),
            (aiohttp.ClientConnectorError(KEY, OSError(111, "refused")), False),
            (OSError("no such host"), False),
        ],
        ids=lambda each: type(each).__name__,
    )
    def test_a_connection_that_broke_may_have_sent(self, under: Exception, sent: bool) -> None:
        """Aiobotocore has one error for a connection that broke and for one that was not made: they are told apart."""

        async def answer(**_: Any) -> Any:
            raise theirs.EndpointConnectionError(endpoint_url="u", error=under)

        with pytest.raises(NoReply) as caught:
            run(asking(), driver=AsyncDriver(Making(answer)))
        assert caught.value.sent is sent

    def test_a_client_that_cannot_be_made(self) -> None:
        """Settings of which no client can be made are a ConfigurationError; the next request tries again."""
        tries: list[bool] = [True]
        making = Making(echo)

        def connect() -> AbstractAsyncContextManager[Any]:
            if tries.pop():
                tries.append(False)
                raise theirs.NoRegionError
            return making()

        driver = AsyncDriver(connect)
        with pytest.raises(ConfigurationError, match="region"):
            run(asking(), driver=driver)
        assert run(asking(), driver=driver) == [{"got": {}}]


class TestClients:
    def test_one_for_all_requests_of_a_loop(self) -> None:
        """Twenty requests that begin at once share one client, which is closed with its loop."""
        making = Making(echo)
        run(*(asking(n=n) for n in range(20)), driver=AsyncDriver(making))
        assert [client.is_open for client in making.made] == [False]

    def test_a_loop_that_follows_has_its_own(self) -> None:
        """A driver that is used in one loop after another makes a client in each, and closes it there."""
        making = Making(echo)
        driver = AsyncDriver(making)
        for _ in range(3):
            assert run(asking(), driver=driver) == [{"got": {}}]
        assert [client.is_open for client in making.made] == [False, False, False]
        assert len({id(client.loop) for client in making.made}) == 3

    def test_loops_at_the_same_time_have_their_own(self) -> None:
        """Four threads with a loop each use one driver at the same time, each with a client of its own."""
        making = Making(echo)
        driver, both = AsyncDriver(making), threading.Barrier(4, timeout=WAIT)
        answers: dict[int, Any] = {}

        def work(number: int) -> None:
            both.wait()
            answers[number] = run(*(asking(n=number) for _ in range(5)), driver=driver)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        assert answers == {number: [{"got": {"n": number}}] * 5 for number in range(4)}
        assert [client.is_open for client in making.made] == [False] * 4

    def test_a_loop_that_ended_is_forgotten(self) -> None:
        """Nothing of an ended loop is kept, though its client knows the loop: a store may see thousands of them."""
        making = Making(echo)
        driver = AsyncDriver(making)
        run(asking(), asking(), driver=driver)
        loop = weakref.ref(making.made[0].loop)
        making.made.clear()
        gc.collect()
        assert loop() is None
        assert len(driver._loops) == 0

    def test_closing_and_going_on(self) -> None:
        """Close ends the client of the running loop, twice does no harm, and the next request makes another."""
        making = Making(echo)
        driver = AsyncDriver(making)

        async def main() -> list[bool]:
            await driver.close()
            await driver.run(asking())
            await driver.close()
            await driver.close()
            await driver.run(asking())
            return [client.is_open for client in making.made]

        assert asyncio.run(main()) == [False, True]


class TestExclusive:
    def test_one_at_a_time(self) -> None:
        """Of flows with one key never two are inside."""
        inside = Inside()
        run(*(alone("key", inside.steps()) for _ in range(8)))
        assert (inside.most, inside.now) == (1, 0)

    def test_other_keys_do_not_wait(self) -> None:
        """Flows with different keys are inside at the same time."""
        inside = Inside()
        run(*(alone(f"key {n}", inside.steps(0.02)) for n in range(8)))
        assert inside.most == 8

    def test_the_result_is_the_flows(self) -> None:
        """What the inner flow gives, or raises, is what the effect gives or raises; the lock is free again."""
        driver = AsyncDriver(no_client)

        async def main() -> Any:
            assert await driver.run(alone("key", giving(7))) == 7
            with pytest.raises(LookupError):
                await driver.run(alone("key", failing(LookupError())))
            return await asyncio.wait_for(driver.run(alone("key", giving(8))), WAIT)

        assert asyncio.run(main()) == 8

    def test_locks_are_forgotten(self) -> None:
        """A lock that nobody holds takes no memory."""
        driver = AsyncDriver(no_client)

        async def main() -> int:
            for key in range(100):
                await driver.run(alone(f"key {key}", giving(key)))
            return len(driver._here().locks)

        assert asyncio.run(main()) == 0


class TestTogether:
    def test_results_keep_the_order(self) -> None:
        """Results stand where their flows stood, however long each took."""
        delays = [0.02, 0.0, 0.01, 0.0, 0.005]

        def flow(place: int) -> Steps[int]:
            yield Pause(delays[place])
            return place

        assert run(together([flow(place) for place in range(5)])) == [[0, 1, 2, 3, 4]]

    def test_never_more_than_allowed(self) -> None:
        """With `at_most=2` never three run at once, and two do."""
        inside = Inside()
        run(together([inside.steps() for _ in range(8)], at_most=2))
        assert (inside.most, inside.now) == (2, 0)

    def test_exceptions_stand_in_place(self) -> None:
        """A flow that raises gives its exception in its place, and every other runs to its end."""
        error = LookupError("second")
        assert run(together([giving(1), failing(error), giving(3)])) == [[1, error, 3]]

    def test_nested_ones_do_not_wait_for_each_other(self) -> None:
        """Flows that run flows that run flows come through where each level may run one at a time."""

        def nest(depth: int) -> Steps[int]:
            if depth == 0:
                yield Pause(0.001)
                return 1
            outcomes = yield Together([nest(depth - 1) for _ in range(3)], 1)
            return sum(outcomes)

        assert run(nest(3)) == [27]


class TestCancellation:
    def test_a_flow_is_closed_and_told_nothing(self) -> None:
        """A cancelled flow is closed where it stands: it sees no cancellation that it could swallow."""
        seen: list[BaseException | str] = []

        def flow() -> Steps[None]:
            try:
                yield Pause(WAIT)
            except Exception as error:  # noqa: BLE001 - none may come
                seen.append(error)
            finally:
                seen.append("closed")

        assert cancelled_in(flow(), after=0.01)
        assert seen == ["closed"]

    def test_a_lock_is_free_again(self) -> None:
        """A flow that is cancelled while it holds a key, or waits for it, leaves the key to others."""
        driver = AsyncDriver(no_client)

        async def main() -> Any:
            holding = asyncio.create_task(driver.run(alone("key", pausing())))
            waiting = asyncio.create_task(driver.run(alone("key", pausing())))
            await asyncio.sleep(0.01)
            for task in (waiting, holding):
                assert task.cancel()
            await asyncio.gather(holding, waiting, return_exceptions=True)
            return await asyncio.wait_for(driver.run(alone("key", giving(1))), WAIT)

        assert asyncio.run(main()) == 1

    def test_all_of_together_are_cancelled(self) -> None:
        """Where the whole is cancelled, so are its parts: those that run and those that wait for their turn."""
        begun: list[int] = []
        closed: list[int] = []

        def flow(place: int) -> Steps[None]:
            begun.append(place)
            try:
                yield Pause(WAIT)
            finally:
                closed.append(place)

        assert cancelled_in(together([flow(place) for place in range(4)], at_most=2), after=0.01)
        assert begun == closed == [0, 1]

    def test_a_client_half_made_is_made_again(self) -> None:
        """A request that is cancelled while the client is made leaves the next one to make it."""
        making = Making(echo)
        driver = AsyncDriver(making)

        async def main() -> Any:
            first = asyncio.create_task(driver.run(asking()))
            await asyncio.sleep(0)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert first.cancelled()
            return await asyncio.wait_for(driver.run(asking(n=1)), WAIT)

        assert asyncio.run(main()) == {"got": {"n": 1}}
        assert len(making.made) == 1


def pausing() -> Steps[None]:
    """Make a flow that takes longer than any test."""
    yield Pause(WAIT)


def cancelled_in(flow: Steps[Any], *, after: float) -> bool:
    """Run a flow in a task that is cancelled after a while; tell whether the task ended so."""
    driver = AsyncDriver(no_client)

    async def main() -> bool:
        task = asyncio.create_task(driver.run(flow))
        await asyncio.sleep(after)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    return asyncio.run(main())
