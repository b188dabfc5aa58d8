"""A run of asynchronous functions: tasks of an event loop of its own, which stands still while all of them wait.

Theory of operation. The loop asks its selector for news with a time to wait whenever none of its tasks can go on. This
selector has no news, ever: where a timer is set, the loop's time leaps there; where none is, the loop stops, and the
explorer chooses among the requests that wait. So a sleep takes no time and ends before any further request is carried
out, and a run depends on nothing but the order of requests. Which actor a request is of is told by a context variable
that the tasks an actor makes inherit.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

from singletable.aio import AsyncStore
from singletable.loops import AsyncDriver
from singletable.schema import Table
from singletable.testing.clients import AsyncClient
from singletable.testing.clocks import Watch, tuned
from singletable.testing.footprints import footprint_of
from singletable.testing.memory import Memory
from singletable.testing.runs import Outcome, Request, carried_out
from singletable.wire import Effect, Pause

__all__ = ["Tasks"]

_ACTOR: ContextVar[int] = ContextVar("_ACTOR")


class _Still(selectors.SelectSelector):
    """A selector that never has news; `idle` is called with the seconds until the next timer, or None."""

    def __init__(self) -> None:
        super().__init__()
        self.loop: _Loop | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Give nothing; a loop that would wait leaps to its next timer, or stops."""
        if self.loop is not None and timeout is None:
            self.loop.stop()
        elif self.loop is not None and timeout is not None and timeout > 0:
            self.loop.leap(timeout)
        return []


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when nothing else can happen."""

    def __init__(self, selector: _Still) -> None:
        self._seconds = 0.0
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        """Tell the loop's own time."""
        return self._seconds

    def leap(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds


class Tasks:
    """A run of asynchronous actors; it is the `Run` of its explorer."""

    def __init__(self, memory: Memory, table: Table, actors: Sequence[Any], *, shared: bool) -> None:
        self._memory = memory
        self._shared = shared
        self._watches = [Watch(str(place)) for place in range(len(actors))]
        self._requests = [0] * len(actors)
        self._waiting: dict[str, tuple[Request, asyncio.Future[dict[str, Any]]]] = {}
        self._loop = _Loop(_Still())
        stores = [_TasksStore(table, self) for _ in range(1 if shared else len(actors))]
        self._tasks = [
            self._loop.create_task(self._body(place, actor, stores[place % len(stores)]))
            for place, actor in enumerate(actors)
        ]
        self._loop.run_forever()

    def pending(self) -> list[Request]:
        """Give the requests that wait, in the order of the actors."""
        return sorted((request for request, _ in self._waiting.values()), key=lambda request: request.actor)

    def perform(self, request: Request) -> None:
        """Carry a request out, and let the loop run until it stands still."""
        _, future = self._waiting.pop(request.key)
        answer = carried_out(self._memory, request)
        if future.cancelled():
            return
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        self._loop.run_forever()

    def outcomes(self) -> list[Outcome | None]:
        """Give what each actor ended in."""
        return [_outcome(task) for task in self._tasks]

    def close(self) -> None:
        """Cancel what has not ended, and close the loop."""
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_forever()
        self._loop.close()

    def watch(self) -> Watch:
        """Give the watch of the actor that runs."""
        return self._watches[_ACTOR.get()]

    async def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Wait until a request is carried out."""
        actor = _ACTOR.get()
        self._requests[actor] += 1
        key = f"{actor}:{self._requests[actor]}"
        footprint = footprint_of(self._memory, method, params)
        request = Request(key, actor, 0 if self._shared else actor, method, params, footprint)
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._waiting[key] = request, future
        return await future

    async def _body(self, place: int, actor: Any, store: AsyncStore) -> Any:
        _ACTOR.set(place)
        return await actor(store)


def _outcome(task: asyncio.Task[Any]) -> Outcome | None:
    if not task.done():
        return None
    if task.cancelled():
        return Outcome(error=asyncio.CancelledError())
    error = task.exception()
    return Outcome(error=error) if error is not None else Outcome(task.result())


class _TasksStore(AsyncStore):
    """An awaited store whose requests wait for their turn."""

    def __init__(self, table: Table, tasks: Tasks) -> None:
        client = AsyncClient(tasks.send)
        super().__init__(table, client=client)
        self._verbs.context = tuned(self._verbs.context, tasks.watch)
        self._driver = _Driver(client, tasks)


class _Driver(AsyncDriver):
    """Performs effects; a pause moves the actor's watch and takes no time."""

    def __init__(self, client: AsyncClient, tasks: Tasks) -> None:
        super().__init__(lambda: nullcontext(client))
        self._tasks = tasks

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Pause):
            self._tasks.watch().seconds += effect.seconds
            return None
        return await super()._perform(effect)
