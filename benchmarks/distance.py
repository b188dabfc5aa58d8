"""A simulated round trip for boto3 and aiobotocore, and a count of what is sent.

Theory of operation. A session's events tell when a request is about to leave and when its answer is here. Both are held
back for half of the round trip, by a sleep that takes no CPU; the engine is in between, so writers race as they would
far away. Every client and resource of such a session is held back alike, whoever sends with it, and every attempt that
leaves counts for the number that its thread or task is drawing.
"""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
from aiobotocore.session import AioSession, get_session

__all__ = ["REGION", "Tally", "distant", "distant_awaited", "tally"]

REGION = "us-east-1"
LEAVES, ARRIVES = "before-send.dynamodb", "response-received.dynamodb"


@dataclass(slots=True)
class Tally:
    """How many requests one number has taken so far."""

    requests: int = 0


_TALLY: ContextVar[Tally | None] = ContextVar("tally", default=None)


def tally() -> Tally:
    """Begin to count what this thread or task sends, from zero."""
    begun = Tally()
    _TALLY.set(begun)
    return begun


def _sent() -> None:
    counting = _TALLY.get()
    if counting is not None:
        counting.requests += 1


@cache
def distant(seconds: float) -> boto3.Session:
    """Give a session whose requests take so many seconds longer."""
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)

    def leaves(**_: Any) -> None:
        _sent()
        time.sleep(seconds / 2)

    def arrives(**_: Any) -> None:
        time.sleep(seconds / 2)

    session.events.register(LEAVES, leaves)
    session.events.register(ARRIVES, arrives)
    return session


@cache
def distant_awaited(seconds: float) -> AioSession:
    """Give the same for clients that are awaited."""
    session = get_session()
    session.set_credentials("test", "test")
    session.set_config_variable("region", REGION)

    async def leaves(**_: Any) -> None:
        _sent()
        await asyncio.sleep(seconds / 2)

    async def arrives(**_: Any) -> None:
        await asyncio.sleep(seconds / 2)

    session.register(LEAVES, leaves)
    session.register(ARRIVES, arrives)
    return session
