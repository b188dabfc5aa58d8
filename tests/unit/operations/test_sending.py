"""Sending one request: what is tried again, and what every bad ending is called."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from singletable.errors import OutcomeUnknown, ServiceError, SingleTableError, TableMissing, Throttled, Unreachable
from singletable.operations.context import backoff
from singletable.operations.remembered import Hints
from singletable.operations.sending import send
from singletable.wire import Call, NoReply, Refusal
from tests.unit.operations.playing import (
    NAME,
    Player,
    condition_failed,
    context,
    failed,
    lost,
    missing,
    play,
    throttled,
    unconnected,
)

CALL = Call("get_item", {"TableName": NAME})
PUT = Call("put_item", {"TableName": NAME})
WRITE = "the operation"


def test_the_answer_comes_back() -> None:
    """A request that is answered is sent once, and its answer is the result."""
    answer, calls = play(send(context(), CALL), {"Item": {}})
    assert answer == {"Item": {}}
    assert calls == [CALL]


@pytest.mark.parametrize("trouble", [throttled, failed, lost, unconnected])
@pytest.mark.parametrize("writing", [None, WRITE])
def test_passing_trouble_is_tried_again(trouble: Callable[[], Exception], writing: str | None) -> None:
    """A throttle, a server's failure, a lost reply and a refused connection are tried again, reading and writing."""
    player = Player(trouble(), trouble(), {"ok": True})
    assert player.play(send(context(), CALL, writing=writing)) == {"ok": True}
    assert player.calls == [CALL, CALL, CALL]
    assert player.pauses == [0.0125, 0.025]  # half of 25 ms, half of 50 ms: the jitter is 0


@pytest.mark.parametrize("error", ["TransactionConflictException", "ReplicatedWriteConflictException"])
def test_a_conflict_with_another_request_passes(error: str) -> None:
    """A write that met a transaction at its item is sent again; where it always does, DynamoDB's word is told."""
    _, calls = play(send(context(), CALL, writing=WRITE), Refusal(error, ""), {})
    assert len(calls) == 2
    with pytest.raises(ServiceError) as caught:
        play(send(context(attempts=2), CALL, writing=WRITE), Refusal(error, ""), Refusal(error, ""))
    assert caught.value.error == error


@pytest.mark.parametrize(
    "error",
    [
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "LimitExceededException",
        "TransactionInProgressException",
    ],
)
def test_throttles_go_by_many_names(error: str) -> None:
    """Every name that DynamoDB has for "too fast" is tried again."""
    _, calls = play(send(context(), CALL), Refusal(error, ""), {})
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("trouble", "writing", "error"),
    [
        (throttled, None, Throttled),
        (throttled, WRITE, Throttled),
        (unconnected, None, Unreachable),
        (unconnected, WRITE, Unreachable),
        (lost, None, Unreachable),
        (lost, WRITE, OutcomeUnknown),
        (failed, None, ServiceError),
        (failed, WRITE, OutcomeUnknown),
    ],
)
def test_attempts_are_used_up(
    trouble: Callable[[], Exception], writing: str | None, error: type[SingleTableError]
) -> None:
    """After the last attempt the error says what happened, and for a write whether it can have happened."""
    player = Player(*(trouble() for _ in range(4)))
    with pytest.raises(error) as caught:
        player.play(send(context(attempts=4), CALL, writing=writing))
    assert type(caught.value) is error
    assert len(player.calls) == 4
    assert player.pauses == [0.0125, 0.025, 0.05]


def test_one_attempt_means_one() -> None:
    """A context that allows one attempt never sends twice."""
    player = Player(throttled())
    with pytest.raises(Throttled) as caught:
        player.play(send(context(attempts=1), CALL))
    assert caught.value.attempts == 1
    assert player.pauses == []


def test_throttled_counts_what_the_client_sent() -> None:
    """`Throttled.attempts` counts the client's own attempts too."""
    twice = Refusal("ThrottlingException", "", sent=2)
    with pytest.raises(Throttled) as caught:
        play(send(context(attempts=2), CALL), twice, twice)
    assert caught.value.attempts == 4


def test_unreachable_names_the_endpoint() -> None:
    """Where nobody answers, the error names the endpoint."""
    with pytest.raises(Unreachable, match=r"http://engine\.test") as caught:
        play(send(context(attempts=1), CALL), unconnected())
    assert caught.value.endpoint == "http://engine.test"


def test_a_missing_table_is_named_at_once() -> None:
    """A table that is not there is not asked for again."""
    player = Player(missing())
    with pytest.raises(TableMissing, match=NAME) as caught:
        player.play(send(context(), CALL))
    assert caught.value.table == NAME
    assert len(player.calls) == 1


@pytest.mark.parametrize("writing", [None, WRITE])
def test_what_cannot_get_better_is_not_tried_again(writing: str | None) -> None:
    """A refusal for good is raised at once under DynamoDB's own name."""
    player = Player(Refusal("ValidationException", "bad"))
    with pytest.raises(ServiceError, match="ValidationException: bad") as caught:
        player.play(send(context(), CALL, writing=writing))
    assert caught.value.error == "ValidationException"
    assert len(player.calls) == 1


def test_a_write_that_may_have_happened_stays_unknown() -> None:
    """Once a reply to a write was lost, any later refusal leaves its outcome unknown, with the operation attached."""
    with pytest.raises(OutcomeUnknown, match="ended in ValidationException, after 2 tries") as caught:
        play(send(context(), CALL, writing=WRITE), lost(), Refusal("ValidationException", "bad"))
    assert caught.value.operation == WRITE


def test_a_client_that_sent_again_itself_makes_a_write_unknown() -> None:
    """A refusal of a request that the client had sent more than once may follow a write that happened."""
    words = "was throttled, 2 times, and an earlier try may have been carried out"
    with pytest.raises(OutcomeUnknown, match=words) as caught:
        play(send(context(attempts=1), CALL, writing=WRITE), Refusal("ThrottlingException", "", sent=2))
    assert caught.value.hint == "read the item before writing again"


@pytest.mark.parametrize(
    ("before", "own", "sent"),
    [
        ([], 1, 1),
        ([], 3, 3),
        ([throttled()], 1, 1),
        ([unconnected()], 1, 1),
        ([lost()], 1, 2),
        ([failed()], 1, 2),
        ([throttled(), lost()], 1, 3),
    ],
)
def test_a_failed_condition_says_whether_it_is_ambiguous(before: list[Refusal | NoReply], own: int, sent: int) -> None:
    """A failed condition counts earlier requests only if one of them can have been carried out."""
    with pytest.raises(Refusal) as caught:
        play(send(context(), PUT, writing=WRITE), *before, condition_failed(sent=own))
    assert caught.value.error == "ConditionalCheckFailedException"
    assert caught.value.sent == sent


def test_the_error_keeps_the_cause() -> None:
    """The client's own error is the cause of ours."""
    theirs = RuntimeError("the client's")
    refusal = throttled()
    refusal.__cause__ = theirs
    with pytest.raises(Throttled) as caught:
        play(send(context(attempts=1), CALL), refusal)
    assert caught.value.__cause__ is theirs


def test_pauses_double_up_to_the_cap() -> None:
    """Half of each pause is fixed and half is chance; the whole doubles until it meets the cap."""
    still = list(backoff(context(), 5, base=1.0, cap=4.0))
    most = list(backoff(context(jitter=lambda: 1.0), 5, base=1.0, cap=4.0))
    assert still == [0.5, 1.0, 2.0, 2.0]
    assert most == [1.0, 2.0, 4.0, 4.0]


def test_no_pause_leaves_its_bounds() -> None:
    """Whatever chance says, a pause lies between half its ceiling and all of it."""
    chance = random.Random(7)
    pauses = list(backoff(context(jitter=chance.random), 200, base=1.0, cap=1.0))
    assert len(pauses) == 199
    assert all(0.5 <= pause < 1.0 for pause in pauses)
    assert len(set(pauses)) > 190


class TestHints:
    def test_a_number_is_kept_for_a_while(self) -> None:
        """A hint is given until its time is over, and then no more."""
        hints = Hints(seconds=60.0)
        hints.keep("p", 7, now=100.0)
        assert hints.get("p", 159.0) == 7
        assert hints.get("p", 160.0) is None
        assert hints.get("q", 100.0) is None

    def test_a_dropped_number_is_forgotten(self) -> None:
        """A hint that proved wrong is gone; dropping what is not there does nothing."""
        hints = Hints()
        hints.keep("p", 7, now=0.0)
        hints.drop("p")
        hints.drop("q")
        assert hints.get("p", 1.0) is None

    def test_there_are_never_too_many(self) -> None:
        """The partition that was used longest ago makes room for a new one."""
        hints = Hints(size=2)
        hints.keep("a", 1, now=0.0)
        hints.keep("b", 2, now=0.0)
        hints.keep("a", 3, now=0.0)
        hints.keep("c", 4, now=0.0)
        assert [hints.get(key, 1.0) for key in "abc"] == [3, None, 4]
