"""Clients that note, for the operation that is going on, when its requests went out and how they were answered.

Theory of operation. The operation is found by a context variable, which is a thread's own and a task's own. A client's
own retries are counted by what it says of them.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from botocore.exceptions import ClientError

from tests.proof.histories import Trace

__all__ = ["WatchedAsyncClient", "WatchedClient", "watching"]

THROTTLED = "ProvisionedThroughputExceededException"


class _Watch:
    """The trace of an operation, as far as it is known."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.sent = self.answered = self.longest = 0

    def told(self) -> Trace:
        """Give the trace so far."""
        return Trace(self.first, self.sent, self.answered, self.longest)

    def note(self, begun: int, *, sent: int, answered: bool) -> None:
        """Note one request of a client, which may have sent it several times."""
        self.first = begun if self.first is None else self.first
        self.sent += sent
        self.answered += answered
        self.longest = max(self.longest, time.monotonic_ns() - begun)


_CURRENT: ContextVar[_Watch | None] = ContextVar("current", default=None)


@contextmanager
def watching() -> Generator[_Watch]:
    """Watch the requests that this thread or task sends in the block."""
    watch = _Watch()
    token = _CURRENT.set(watch)
    try:
        yield watch
    finally:
        _CURRENT.reset(token)


@contextmanager
def _noted() -> Generator[dict[str, Any]]:
    """Note one request, whose answer is put into what this gives."""
    watch, begun, answer = _CURRENT.get(), time.monotonic_ns(), dict[str, Any]()
    answered = True
    try:
        yield answer
    except ClientError as error:
        answer.update(error.response)
        answered = _status(answer) < 500 and answer["Error"]["Code"] != THROTTLED
        raise
    except Exception:
        answered = False
        raise
    finally:
        if watch is not None:
            sent = 1 + answer.get("ResponseMetadata", {}).get("RetryAttempts", 0)
            watch.note(begun, sent=sent, answered=answered)


def _status(answer: Mapping[str, Any]) -> int:
    status: int = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    return status


class WatchedClient:
    """A client of threads that is watched."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.meta = client.meta

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)

        def request(**params: Any) -> Any:
            with _noted() as noted:
                answer = found(**params)
                noted.update(answer)
            return answer

        return request if inspect.isroutine(found) else found


class WatchedAsyncClient:
    """A client of event loops that is watched."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.meta = client.meta

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)

        async def request(**params: Any) -> Any:
            with _noted() as noted:
                answer = await found(**params)
                noted.update(answer)
            return answer

        return request if inspect.isroutine(found) else found
