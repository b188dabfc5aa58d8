"""Time, chance and ids of the stores that are explored: the same in every run, and a pause takes no time.

Theory of operation. Each actor has a clock of its own, which only its own pauses move: what it does then depends on
nothing but the answers it got, so that two requests which do not touch can change places without anybody noticing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from singletable.operations.context import Context

__all__ = ["NOON", "Watch", "tuned"]

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When every run begins."""

ATTEMPTS = 4
"""How often a request is sent at most, whatever the environment says."""


class Watch:
    """The clock and the ids of one strand of an actor."""

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.name = name
        self.seconds = seconds
        self._ids = 0

    def now(self) -> datetime:
        """Tell the time of day."""
        return NOON + timedelta(seconds=self.seconds)

    def fresh_id(self) -> str:
        """Give an id that no other strand gives."""
        self._ids += 1
        return f"id-{self.name}-{self._ids}"


def tuned(context: Context, watch: Callable[[], Watch]) -> Context:
    """Give a context whose time, chance and ids are those of the watch of whoever asks."""
    return replace(
        context,
        clock=lambda: watch().now(),
        monotonic=lambda: watch().seconds,
        jitter=lambda: 0.5,
        fresh_id=lambda: watch().fresh_id(),
        attempts=ATTEMPTS,
    )
