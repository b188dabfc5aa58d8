"""What an operation may ask of the world, and what the world may answer.

Theory of operation. An operation never does I/O. Its `steps` are a generator (`Steps[T]`) that yields *effects* and is
sent their results; a driver (`singletable.driver`, `singletable.loops`) performs them. The same steps therefore run
under threads, under asyncio and in a test that plays canned answers.

- `Call(method, params)`: one request by its boto3 client method name; the result is the answer as a dict.
- `Pause(seconds)`: wait; the result is None.
- `Exclusive(key, flow)`: run the flow while no other flow of this process holds the key; the result is the flow's.
- `Together(flows, at_most)`: run the flows at once; the result lists their values or exceptions, in order.

A driver throws two exceptions into a flow, and only those are part of the protocol: `Refusal`, an error that DynamoDB
answered, and `NoReply`, where no answer came and the request may or may not have been carried out. Nesting is
`yield from`; a flow never yields in a `finally`.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

__all__ = [
    "AttributeValue",
    "Call",
    "Effect",
    "Exclusive",
    "Item",
    "NoReply",
    "Pause",
    "Reason",
    "Refusal",
    "Steps",
    "Together",
    "at_once",
]

T = TypeVar("T")

AttributeValue: TypeAlias = dict[str, Any]
"""One value in DynamoDB JSON, such as `{"S": "text"}` or `{"N": "12"}`; binary values are `bytes`."""

Item: TypeAlias = dict[str, AttributeValue]
"""A stored item: attribute names to values in DynamoDB JSON."""


@dataclass(frozen=True, slots=True)
class Call:
    """Send one request: `method` as the boto3 client spells it, `params` in DynamoDB JSON."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Exclusive:
    """Run a flow alone among those of this process with the same key. Not re-entrant."""

    key: Hashable
    flow: Steps[Any]


@dataclass(frozen=True, slots=True)
class Together:
    """Run flows at the same time, at most so many at once; every one runs to its end."""

    flows: Sequence[Steps[Any]]
    at_most: int


Effect: TypeAlias = Call | Pause | Exclusive | Together
Steps: TypeAlias = Generator[Effect, Any, T]


def at_once(value: T) -> Steps[T]:
    """Give a value without asking for anything."""
    yield from ()
    return value


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one element of a transaction stood in its way: `code` is "None" where it did not."""

    code: str
    message: str = ""
    item: Item | None = None


class Refusal(Exception):
    """DynamoDB answered with an error.

    `error` is its name (such as "ConditionalCheckFailedException"), `item` the old item where one was asked for, `sent`
    how often the client sent the request before it gave up (1: once), `reasons` those of a cancelled transaction, one
    for each element in its order.
    """

    def __init__(
        self,
        error: str,
        message: str,
        *,
        status: int = 400,
        item: Item | None = None,
        sent: int = 1,
        reasons: Sequence[Reason] = (),
    ) -> None:
        super().__init__(f"{error}: {message}")
        self.error = error
        self.message = message
        self.status = status
        self.item = item
        self.sent = sent
        self.reasons = tuple(reasons)


class NoReply(Exception):
    """No answer came. `sent` tells whether the request can have reached DynamoDB (False: no connection was made)."""

    def __init__(self, message: str, *, endpoint: str, sent: bool) -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.sent = sent
