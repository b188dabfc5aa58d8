"""The driver of threads: performs what flows yield, with a boto3 client.

Theory of operation. `run` is a loop: it sends a flow the result of each effect, or throws into it what went wrong, and
always closes it. An `Exclusive` flow runs under a lock of its key; locks live as long as somebody holds or waits for
them. `Together` shares its flows out between the calling thread and helpers from a pool: the caller works too and takes
back what no helper has begun, so that nested or many such effects cannot wait for each other for ever.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, RLock
from typing import Any, TypeVar

from singletable.faults import reraise
from singletable.forking import abandon, forget_in_child
from singletable.wire import Call, Effect, Exclusive, Pause, Steps, Together

__all__ = ["Driver"]

T = TypeVar("T")


class _Held:
    """A lock that can be held weakly."""

    def __init__(self) -> None:
        self.lock = Lock()


class Driver:
    """Performs effects for one store; safe to share between threads and usable after a fork."""

    def __init__(self, client: Callable[[], Any], *, workers: int) -> None:
        self._client = client
        self._workers = workers
        self._pool: ThreadPoolExecutor | None = None
        self.forget()
        forget_in_child(self, Driver.forget)

    def forget(self) -> None:
        """Begin with no locks and no threads, as a forked child must: a lock held at the fork is never released."""
        self._guard = RLock()
        self._locks: weakref.WeakValueDictionary[Hashable, _Held] = weakref.WeakValueDictionary()
        if self._pool is not None:
            abandon(self._pool)
        self._pool = None

    def run(self, flow: Steps[T]) -> T:
        """Run a flow to its end and give its result, or raise what it raises."""
        result: Any = None
        error: Exception | None = None
        try:
            while True:
                effect = flow.send(result) if error is None else flow.throw(error)
                result, error = None, None
                try:
                    result = self._perform(effect)
                except Exception as raised:
                    error = raised
        except StopIteration as done:
            value: T = done.value
            return value
        finally:
            flow.close()

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Call):
            return self._call(effect)
        if isinstance(effect, Pause):
            return time.sleep(effect.seconds)
        if isinstance(effect, Exclusive):
            return self._alone(effect)
        return self._together(effect)

    def _call(self, call: Call) -> Any:
        try:
            client = self._client()
        except Exception as error:
            reraise(error, "")
        try:
            return getattr(client, call.method)(**call.params)
        except Exception as error:
            reraise(error, client.meta.endpoint_url)

    def _alone(self, effect: Exclusive) -> Any:
        with self._guard:
            held = self._locks.setdefault(effect.key, _Held())
        with held.lock:
            return self.run(effect.flow)

    def _together(self, effect: Together) -> list[Any]:
        outcomes: list[Any] = [None] * len(effect.flows)
        waiting = iter(enumerate(effect.flows))
        turn = Lock()

        def work() -> None:
            for place, flow in _taken(waiting, turn):
                outcomes[place] = self._outcome(flow)

        helpers = min(effect.at_most, len(effect.flows)) - 1
        futures = [self._helpers().submit(work) for _ in range(helpers)]
        work()
        for future in futures:
            if not future.cancel():
                future.result()
        return outcomes

    def _outcome(self, flow: Steps[Any]) -> Any:
        try:
            return self.run(flow)
        except Exception as error:
            return error

    def _helpers(self) -> ThreadPoolExecutor:
        with self._guard:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="singletable")
            return self._pool

    def close(self) -> None:
        """Let the helper threads go."""
        with self._guard:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()


def _taken(waiting: Iterator[tuple[int, Steps[Any]]], turn: Lock) -> Iterator[tuple[int, Steps[Any]]]:
    """Take one flow after another from those that wait, each for one thread only."""
    while True:
        with turn:
            following = next(waiting, None)
        if following is None:
            return
        yield following
