"""Clients that a request goes through to the in-memory model, and botocore's errors for what it answers.

Theory of operation. A client is what `Store(client=...)` takes: its methods are named as boto3's. Each request is given
to one function, which answers or raises; that function is where an explorer of schedules makes a request wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from singletable.testing.answers import Refused

__all__ = ["AsyncClient", "Client", "Lost", "Send", "SendAwaited", "as_botocore"]

ENDPOINT = "memory"

Send: TypeAlias = Callable[[str, Mapping[str, Any]], dict[str, Any]]
SendAwaited: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]


class Lost(Exception):
    """No answer comes. `sent` tells whether the request can have been carried out."""

    def __init__(self, *, sent: bool) -> None:
        super().__init__(sent)
        self.sent = sent


def as_botocore(method: str, error: Exception) -> Exception:
    """Give the exception that boto3 raises for an error of the model or a lost reply; any other as it is."""
    from botocore import exceptions as theirs

    if isinstance(error, Lost):
        kind = theirs.ReadTimeoutError if error.sent else theirs.ConnectTimeoutError
        return kind(endpoint_url=ENDPOINT)
    if not isinstance(error, Refused):
        return error
    response: Any = {
        "Error": {"Code": error.code, "Message": error.message},
        "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 0},
        **error.more,
    }
    return theirs.ClientError(response, "".join(word.title() for word in method.split("_")))


@dataclass(frozen=True, slots=True)
class _Meta:
    endpoint_url: str = ENDPOINT


class Client:
    """A client whose every method gives its request to one function."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.meta = _Meta()

    def __getattr__(self, method: str) -> Callable[..., dict[str, Any]]:
        if method.startswith("_"):
            raise AttributeError(method)

        def request(**params: Any) -> dict[str, Any]:
            try:
                return self._send(method, params)
            except Exception as error:
                raise as_botocore(method, error) from None

        return request


class AsyncClient:
    """A client that is awaited and gives every request to one function."""

    def __init__(self, send: SendAwaited) -> None:
        self._send = send
        self.meta = _Meta()

    def __getattr__(self, method: str) -> Callable[..., Awaitable[dict[str, Any]]]:
        if method.startswith("_"):
            raise AttributeError(method)

        async def request(**params: Any) -> dict[str, Any]:
            try:
                return await self._send(method, params)
            except Exception as error:
                raise as_botocore(method, error) from None

        return request
