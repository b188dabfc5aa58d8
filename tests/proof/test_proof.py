"""Numbers are drawn as each strategy promises, by many writers and under faults: the short version.

`python -m tests.proof` is the long run, and prints what came of it.
"""

from __future__ import annotations

import pytest

from tests.proof.__main__ import main, table
from tests.proof.checks import Violation
from tests.proof.proving import Report, Run, prove
from tests.proof.strategies import FEW, STRATEGIES

CREATES = 160


def hold(report: Report) -> None:
    """Hold where nothing is wrong, and the run was one: numbers were drawn, and faults happened."""
    assert list(report.violations) == []
    assert len([each for each in report.operations if each.kind == "create"]) == CREATES
    traced = [each for each in report.operations if each.trace.sent]
    assert sum(each.trace.sent - each.trace.answered for each in traced) > 0


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if "used up" not in name])
def test_sixteen_threads(dynoxide_url: str, strategy: str) -> None:
    """Sixteen threads draw what is promised, under lost replies, errors and throttling; most of them get a number."""
    report = prove(Run(strategy, creates=CREATES, attempts=2), dynoxide_url)
    hold(report)
    assert report.numbers > CREATES * 0.8


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if "used up" in name])
def test_sixteen_threads_use_a_sequence_up(dynoxide_url: str, strategy: str) -> None:
    """Where a sequence ends, so many numbers are drawn and no more, and what is wanted then is told so."""
    report = prove(Run(strategy, creates=CREATES, attempts=2), dynoxide_url)
    hold(report)
    assert report.errors["SequenceExhausted"] > 0
    assert max(row.number for row in report.rows) == FEW


def test_four_processes(dynoxide_url: str) -> None:
    """Four processes of four threads, which know nothing of each other and race, draw what is promised."""
    hold(prove(Run("sort_key", "processes", CREATES, attempts=2), dynoxide_url))


def test_sixteen_tasks(dynoxide_url: str) -> None:
    """Sixteen tasks of one event loop draw what is promised."""
    hold(prove(Run("sort_key", "tasks", CREATES, attempts=2), dynoxide_url))


@pytest.mark.parametrize("strategy", ["counter per partition", "sort_key"])
def test_clients_that_send_again(dynoxide_url: str, strategy: str) -> None:
    """Behind clients with retries of their own, and with connections that break, it is no other."""
    hold(prove(Run(strategy, creates=CREATES, attempts=2, at_the_wire=True), dynoxide_url))


def test_a_sort_key_number_takes_one_request(dynoxide_url: str) -> None:
    """Without faults, sixteen threads of a process take at most 1.1 requests for a number, and two by counter."""
    one = prove(Run("sort_key", creates=CREATES, chance=0.0), dynoxide_url)
    two = prove(Run("counter per entity", creates=CREATES, chance=0.0), dynoxide_url)
    assert (one.violations, two.violations) == ([], [])
    assert (one.numbers, two.numbers) == (CREATES, CREATES)
    assert one.requests <= 1.1
    assert two.requests == 2.0


def test_the_long_run_prints_a_table(dynoxide_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command has a line for each strategy, which ends well where nothing is wrong."""
    assert main(["--strategy", "sort_key", "--count", "32", "--faults", "0"]) == 0
    _, _, line, _, last = capsys.readouterr().out.splitlines()
    assert line.startswith("| sort_key | 32 | ")
    assert " | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | " in line
    assert last == "0 violations"


def test_what_is_wrong_is_told_below_the_table() -> None:
    """A violation stands in its column, and below by name."""
    found = [Violation("duplicate", "g0:7", "w1.0 w2.0"), Violation("hole", "g0")]
    *_, line, _, count, first, second = table(iter([Report(Run("sort_key"), [], [], found, 1.5)]))
    assert line == "| sort_key | 0 | 0.00 | 0 | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 1.5 |"
    assert count == "2 violations, the first 2 of them:"
    assert (first, second) == (
        "sort_key: Violation(check='duplicate', subject='g0:7', detail='w1.0 w2.0')",
        "sort_key: Violation(check='hole', subject='g0', detail='')",
    )
