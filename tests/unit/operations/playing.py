"""Plays canned answers into the flows of operations, and keeps what they asked for: no client, no clock, no chance."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, TypeVar

from singletable.errors import OutcomeUnknown
from singletable.operations.context import Context
from singletable.wire import Call, Effect, Exclusive, NoReply, Pause, Refusal, Steps

T = TypeVar("T")

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NAME = "shop-test"
MOST_CALLS = 500


def context(**changes: Any) -> Context:
    """Give a context whose clock stands still, whose pauses have no chance in them and whose ids are id-1, id-2, ..."""
    numbers = count(1)
    made = Context(
        NAME,
        clock=lambda: NOW,
        monotonic=lambda: 1000.0,
        jitter=lambda: 0.0,
        fresh_id=lambda: f"id-{next(numbers)}",
    )
    return replace(made, **changes)


class Player:
    """Answers each call with the next canned answer; an answer that is an exception is thrown into the flow."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.calls: list[Call] = []
        self.pauses: list[float] = []
        self.keys: list[Hashable] = []
        self.at_most: list[int] = []

    def play(self, flow: Steps[T]) -> T:
        """Run a flow to its end; every answer must be used by then, unless it raises."""
        result = self._run(flow)
        assert not self.answers, f"{len(self.answers)} answers were not asked for"
        return result

    def _run(self, flow: Steps[T]) -> T:
        result: Any = None
        error: Exception | None = None
        try:
            while True:
                effect = flow.send(result) if error is None else flow.throw(error)
                result, error = None, None
                try:
                    result = self._perform(effect)
                except Exception as raised:  # noqa: BLE001 - whatever goes wrong is thrown into the flow
                    error = raised
        except StopIteration as done:
            value: T = done.value
            return value
        finally:
            flow.close()

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Call):
            return self._answer(effect)
        if isinstance(effect, Pause):
            return self.pauses.append(effect.seconds)
        if isinstance(effect, Exclusive):
            self.keys.append(effect.key)
            return self._run(effect.flow)
        self.at_most.append(effect.at_most)
        return [self._outcome(flow) for flow in effect.flows]

    def _outcome(self, flow: Steps[Any]) -> Any:
        try:
            return self._run(flow)
        except Exception as error:  # noqa: BLE001 - an outcome that is an exception stands in its place
            return error

    def _answer(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        if not self.answers or len(self.calls) > MOST_CALLS:
            raise AssertionError(f"no answer is left for call {len(self.calls)}, {call.method}")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def play(flow: Steps[T], *answers: dict[str, Any] | Exception) -> tuple[T, list[Call]]:
    """Run a flow with canned answers; give its result and the calls it made."""
    player = Player(*answers)
    return player.play(flow), player.calls


# Answers that are errors ---------------------------------------------------------------------------------------------


def condition_failed(item: dict[str, Any] | None = None, *, sent: int = 1) -> Refusal:
    """Make the refusal of a failed condition, with the item that made it fail."""
    return Refusal("ConditionalCheckFailedException", "The conditional request failed", item=item, sent=sent)


def throttled() -> Refusal:
    """Make the refusal of a request that came too fast."""
    return Refusal("ProvisionedThroughputExceededException", "Slow down")


def failed() -> Refusal:
    """Make the refusal of a server that failed."""
    return Refusal("InternalServerError", "Oops", status=500)


def missing() -> Refusal:
    """Make the refusal for a table that is not there."""
    return Refusal("ResourceNotFoundException", "Requested resource not found")


def lost() -> NoReply:
    """Make a reply that was lost on its way."""
    return NoReply("connection reset", endpoint="http://engine.test", sent=True)


def unconnected() -> NoReply:
    """Make a connection that was never made."""
    return NoReply("connection refused", endpoint="http://engine.test", sent=False)


def to_run_again(error: OutcomeUnknown) -> Any:
    """Give the operation that would finish what nobody can tell the end of."""
    return error.operation
