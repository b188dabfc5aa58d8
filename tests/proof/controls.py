"""What must be caught: clients and engines that are wrong in one way each, for the checks to find."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from botocore.exceptions import ClientError, HTTPClientError

from singletable import local
from tests.faults.client import play
from tests.faults.lagging import Lagging
from tests.faults.steps import Flow, Params, Send

__all__ = ["Forgetful", "Stale", "unlocked_client"]

TRIES = 4


class Forgetful:
    """A client that stores no ids of creates, and sends again without a word, as simple code on an SDK does."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.meta = client.meta

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)

        def request(**params: Any) -> Any:
            if "Item" in params:
                params["Item"] = {key: value for key, value in params["Item"].items() if key != "_c"}
            return _again(lambda: found(**params))

        return request


def _again(send: Callable[[], Any]) -> Any:
    """Send until there is an answer that is no trouble."""
    for left in reversed(range(TRIES)):
        try:
            return send()
        except HTTPClientError:
            if not left:
                raise
        except ClientError as error:
            if not left or error.response.get("Error", {}).get("Code") == "ConditionalCheckFailedException":
                raise
    raise AssertionError("the last try ends in an answer or an error")


class Stale:
    """A client that reads without asking for what is newest: its queries answer as of some writes ago."""

    def __init__(self, client: Any, lagging: Lagging) -> None:
        self._client = client
        self._lagging = lagging
        self.meta = client.meta

    def __getattr__(self, name: str) -> Any:
        def request(**params: Any) -> Any:
            flow = self._queried(params) if name == "query" else self._written(name, params)
            return play(flow, lambda step: getattr(self._client, step.method)(**step.params))

        return request

    def _queried(self, params: Params) -> Flow:
        name = yield from self._lagging.table(params["TableName"])
        return (yield Send("query", {**params, "TableName": name}))

    def _written(self, method: str, params: Params) -> Flow:
        yield from self._lagging.before(method, params)
        try:
            answer = yield Send(method, params)
        except ClientError:
            yield from self._lagging.wrote(method, params)
            raise
        yield from self._lagging.wrote(method, params)
        return answer


class _NoTurn:
    """What stands where the embedded engine has its lock, and lets everybody through."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.lock = nullcontext()


@contextmanager
def unlocked_client() -> Generator[Any]:
    """Give a client of an embedded engine whose requests do not take turns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "_Turn", _NoTurn)
        yield local.local_client()
