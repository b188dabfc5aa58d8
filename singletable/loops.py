"""The driver of event loops: performs what flows yield, with an aiobotocore client.

Theory of operation. The loop is that of `singletable.driver`, awaited. An aiobotocore client belongs to the event loop
it was made in, and loops come and go (Lambda, tests, `asyncio.run` called twice), so there is one client for each
running loop. It is held by an asynchronous generator: a loop that ends closes its generators (PEP 525), and with it the
client, in its own loop and without being told. A task that is cancelled leaves its flow closed where it stands; a flow
is never sent a cancellation, so none can swallow it.
"""

from __future__ import annotations

import asyncio
import weakref
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias, TypeVar

from singletable.faults import reraise
from singletable.forking import abandon, forget_in_child
from singletable.wire import Call, Effect, Exclusive, Pause, Steps, Together

__all__ = ["AsyncDriver", "Connect"]

T = TypeVar("T")

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
"""Makes a client that is entered and left in the loop it is used in."""


class _Loop:
    """What a driver keeps for one event loop: its client, and the locks of `Exclusive` keys."""

    def __init__(self) -> None:
        self.holder: AsyncGenerator[Any, None] | None = None
        self.client: Any = None
        self.making = asyncio.Lock()
        self.locks: weakref.WeakValueDictionary[Hashable, asyncio.Lock] = weakref.WeakValueDictionary()


class AsyncDriver:
    """Performs effects for one store, in any number of event loops, one after the other or in several threads."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._loops: weakref.WeakKeyDictionary[AbstractEventLoop, _Loop] = weakref.WeakKeyDictionary()
        forget_in_child(self, AsyncDriver.forget)

    def forget(self) -> None:
        """Begin with no clients and no locks, as a forked child must, even in a loop that it took over."""
        abandon(list(self._loops.items()))
        self._loops = weakref.WeakKeyDictionary()

    async def run(self, flow: Steps[T]) -> T:
        """Run a flow to its end and give its result, or raise what it raises."""
        result: Any = None
        error: Exception | None = None
        try:
            while True:
                effect = flow.send(result) if error is None else flow.throw(error)
                result, error = None, None
                try:
                    result = await self._perform(effect)
                except Exception as raised:
                    error = raised
        except StopIteration as done:
            value: T = done.value
            return value
        finally:
            flow.close()

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Call):
            return await self._call(effect)
        if isinstance(effect, Pause):
            return await asyncio.sleep(effect.seconds)
        if isinstance(effect, Exclusive):
            return await self._alone(effect)
        return await self._together(effect)

    async def _call(self, call: Call) -> Any:
        try:
            client = await self._client()
        except Exception as error:
            reraise(error, "")
        try:
            return await getattr(client, call.method)(**call.params)
        except Exception as error:
            reraise(error, client.meta.endpoint_url)

    async def _client(self) -> Any:
        here = self._here()
        if here.client is None:
            async with here.making:
                if here.client is None:
                    here.holder = self._held(here)
                    here.client = await anext(here.holder)
        return here.client

    def _here(self) -> _Loop:
        loop = asyncio.get_running_loop()
        found = self._loops.get(loop)
        if found is None:
            found = self._loops[loop] = _Loop()
        return found

    async def _alone(self, effect: Exclusive) -> Any:
        lock = self._here().locks.setdefault(effect.key, asyncio.Lock())
        async with lock:
            return await self.run(effect.flow)

    async def _together(self, effect: Together) -> list[Any]:
        turn = asyncio.Semaphore(effect.at_most)

        async def one(flow: Steps[Any]) -> Any:
            async with turn:
                return await self.run(flow)

        return await asyncio.gather(*map(one, effect.flows), return_exceptions=True)

    async def close(self) -> None:
        """Close the client of the running loop; the next request makes another."""
        here = self._loops.pop(asyncio.get_running_loop(), None)
        if here is not None and here.holder is not None:
            await here.holder.aclose()

    async def _held(self, here: _Loop) -> AsyncGenerator[Any, None]:
        """Enter a client and hold it until this generator is closed, at the latest by its loop; then forget the loop.

        A client knows its loop, so that an entry which outlives them would keep both for ever.
        """
        loop = asyncio.get_running_loop()
        async with self._connect() as client:
            try:
                yield client
            finally:
                if self._loops.get(loop) is here:
                    del self._loops[loop]
