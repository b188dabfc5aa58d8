"""What was recorded is read again, of several files as one history."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from tests.proof.histories import Recorder, Trace, read


def test_two_files_are_one_history(tmp_path: Path) -> None:
    """Operations stand in the order they were begun in, whoever wrote them, with how they ended."""
    one, two = tmp_path / "one", tmp_path / "two"
    with Recorder(one) as first, Recorder(two) as second:
        first.invoke("a", "create", "w1", "g")
        second.invoke("b", "delete", "w2", "g", number=7)
        second.end("b", "ok")
        first.end("a", "ok", number=8, trace=asdict(Trace(5, 2, 1, 9)))
        second.invoke("c", "create", "w2", "h")
        second.end("c", "fail", error="SequenceContention", tries=16, seconds=0.5)
    a, b, c = read([two, one])
    assert (a.id, a.kind, a.writer, a.group, a.outcome, a.number) == ("a", "create", "w1", "g", "ok", 8)
    assert a.trace == Trace(first=5, sent=2, answered=1, longest=9)
    assert (b.id, b.kind, b.outcome, b.number) == ("b", "delete", "ok", 7)
    assert (c.outcome, c.error, c.tries, c.seconds) == ("fail", "SequenceContention", 16, 0.5)
    assert a.replied is not None
    assert b.replied is not None
    assert a.invoked < b.invoked < b.replied < a.replied < c.invoked


def test_the_last_ending_counts(tmp_path: Path) -> None:
    """An unknown outcome that was run again is the same operation, and ends when the second run does."""
    path = tmp_path / "h"
    with Recorder(path) as recorder:
        recorder.invoke("a", "create", "w", "g")
        recorder.end("a", "unknown", error="OutcomeUnknown")
        recorder.end("a", "ok", number=3)
    (operation,) = read([path])
    assert (operation.outcome, operation.number, operation.error, operation.resumed) == ("ok", 3, "", True)


def test_what_never_ended_is_unknown(tmp_path: Path) -> None:
    """A process that died leaves operations of which nobody knows the outcome."""
    path = tmp_path / "h"
    with Recorder(path) as recorder:
        recorder.invoke("a", "create", "w", "g")
    (operation,) = read([path])
    assert (operation.outcome, operation.replied, operation.resumed) == ("unknown", None, False)


@pytest.mark.parametrize("events", ["ii", "e"])
def test_a_broken_history_is_refused(tmp_path: Path, events: str) -> None:
    """What was begun twice, or ended without a beginning, proves nothing."""
    path = tmp_path / "h"
    with Recorder(path) as recorder:
        for event in events:
            if event == "i":
                recorder.invoke("a", "create", "w", "g")
            else:
                recorder.end("a", "ok")
    with pytest.raises(ValueError, match="a was begun twice, or ended"):
        read([path])
