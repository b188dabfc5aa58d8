"""Faults around a client: what a test hands to `Store(client=...)` or `AsyncStore(client=...)`.

    script = Script(Rule(DROPPED, "put_item", nth=(1,)))
    store = Store(table, name=..., client=FaultyClient(client, script))

Errors are those that botocore raises. The faults lie above the retries of the client itself, which sees none of them;
what a client does by itself is tried through `tests.faults.proxy`.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore import exceptions as theirs

from tests.faults.rules import Flow, Lost, Refused, Script, Send, Wait

__all__ = ["FaultyAsyncClient", "FaultyClient", "JumpingClock", "play"]


class FaultyClient:
    """A boto3 client to which faults happen; what is no request goes through."""

    def __init__(self, client: Any, script: Script) -> None:
        self._client = client
        self._script = script
        self.meta = client.meta

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not inspect.ismethod(found):
            return found

        def request(**params: Any) -> Any:
            with _as_botocore(name, self.meta.endpoint_url):
                return play(self._script.play(name, params), self._send)

        return request

    def _send(self, step: Send) -> Any:
        return getattr(self._client, step.method)(**step.params)


def play(flow: Flow, send: Callable[[Send], Any]) -> Any:
    """Do what a fault says, and give the answer that the caller is shown."""
    try:
        step = next(flow)
        while True:
            answer: Any = None
            try:
                if isinstance(step, Wait):
                    time.sleep(step.seconds)
                else:
                    answer = send(step)
            except Exception as error:  # noqa: BLE001 - the fault may hide it
                step = flow.throw(error)
            else:
                step = flow.send(answer)
    except StopIteration as done:
        return done.value


class FaultyAsyncClient:
    """An aiobotocore client to which faults happen; what is no request goes through."""

    def __init__(self, client: Any, script: Script) -> None:
        self._client = client
        self._script = script
        self.meta = client.meta

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not inspect.ismethod(found):
            return found

        async def request(**params: Any) -> Any:
            with _as_botocore(name, self.meta.endpoint_url):
                return await self._play(name, params)

        return request

    async def _play(self, method: str, params: dict[str, Any]) -> Any:
        flow = self._script.play(method, params)
        try:
            step = next(flow)
            while True:
                try:
                    answer = await self._perform(step)
                except Exception as error:  # noqa: BLE001 - the fault may hide it
                    step = flow.throw(error)
                else:
                    step = flow.send(answer)
        except StopIteration as done:
            return done.value
        finally:
            flow.close()

    async def _perform(self, step: Send | Wait) -> Any:
        if isinstance(step, Wait):
            return await asyncio.sleep(step.seconds)
        return await getattr(self._client, step.method)(**step.params)


@contextmanager
def _as_botocore(method: str, endpoint: str) -> Generator[None]:
    """Raise what a fault comes to as botocore does."""
    try:
        yield
    except Refused as refused:
        operation = "".join(word.title() for word in method.split("_"))
        response: Any = {
            "Error": {"Code": refused.code, "Message": refused.message},
            "ResponseMetadata": {"HTTPStatusCode": refused.status, "RetryAttempts": 0},
            **refused.more,
        }
        raise theirs.ClientError(response, operation) from None
    except Lost as lost:
        raise _LOST[lost.how](endpoint_url=endpoint) from None


_LOST: dict[str, Callable[..., Exception]] = {
    "unsent": theirs.ConnectTimeoutError,
    "timeout": theirs.ReadTimeoutError,
    "closed": theirs.ConnectionClosedError,
}


class JumpingClock:
    """A clock for `Store(clock=...)` that stands still until it is told to jump, forwards or back.

    >>> clock = JumpingClock(datetime(2026, 12, 1, tzinfo=UTC))
    >>> clock.jump(hours=-25)
    >>> clock().isoformat()
    '2026-11-29T23:00:00+00:00'
    """

    def __init__(self, now: datetime = datetime(2026, 12, 1, 12, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def jump(self, **by: float) -> None:
        """Jump by a time, given as to `timedelta`."""
        self.now += timedelta(**by)
