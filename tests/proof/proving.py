"""One run of a strategy: the writers write, the table is read at rest, and what must hold is checked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from singletable import Store
from tests.contract.behind import everything
from tests.faults.proxy import proxied
from tests.faults.rules import CLOSED
from tests.proof.checks import (
    Violation,
    deadlines,
    duplicates,
    exhausted,
    false_failures,
    hole_count,
    holes,
    order,
    out_of_bounds,
    stored_once,
    unjust_contention,
)
from tests.proof.histories import Operation, Row, read
from tests.proof.strategies import DEADLINE, HIGHEST, STRATEGIES, TRIES, Strategy
from tests.proof.writers import FORMS, faults, plain_client
from tests.proof.writing import Job

__all__ = ["Report", "Run", "judge", "prove"]

DUE = frozenset({"ServiceError", "Throttled", "Unreachable"})
"""What a create may end in where a request of its own went wrong each time, with nothing written."""

RACES = frozenset({"SequenceContention"})

LONGEST_PAUSE = 2.0
_TABLES = count(1)


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be run: the strategy and the form of the writers by name, how many creates, and the faults.

    `chance` is that of each fault. With `at_the_wire` they happen behind clients that send again by themselves.
    """

    strategy: str
    form: str = "threads"
    creates: int = 400
    seed: int = 1
    chance: float = 0.05
    attempts: int = 4
    writers: int = 16
    at_the_wire: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a run, and what is wrong with it."""

    run: Run
    operations: Sequence[Operation]
    rows: Sequence[Row]
    violations: Sequence[Violation]
    seconds: float

    @property
    def numbers(self) -> int:
        """How many creates were told their number."""
        return len(self._drawn)

    @property
    def sent(self) -> int:
        """How often the requests of creates went out."""
        return sum(each.trace.sent for each in self._creates)

    @property
    def requests(self) -> float:
        """How many answered requests a number took, of those that were told."""
        traced = [each for each in self._drawn if each.trace.sent]
        return sum(each.trace.answered for each in traced) / max(1, len(traced))

    @property
    def unknown(self) -> int:
        """How many operations ended unknown."""
        return sum(each.outcome == "unknown" for each in self.operations)

    @property
    def resumed(self) -> int:
        """How many unknown creates were run again."""
        return sum(each.resumed for each in self._creates)

    @property
    def errors(self) -> Counter[str]:
        """How many operations failed, by their error."""
        return Counter(each.error for each in self.operations if each.outcome == "fail")

    @property
    def holes(self) -> int:
        """How many numbers nobody has."""
        return hole_count(self.operations, self.rows)

    def count(self, *checks: str) -> int:
        """Count what these checks found."""
        return sum(each.check in checks for each in self.violations)

    @property
    def _creates(self) -> list[Operation]:
        return [each for each in self.operations if each.kind == "create"]

    @property
    def _drawn(self) -> list[Operation]:
        return [each for each in self._creates if each.outcome == "ok"]


def prove(run: Run, url: str) -> Report:
    """Run a strategy on an engine, on a table of its own, and judge what came of it."""
    strategy = STRATEGIES[run.strategy]
    client = plain_client(url)
    store = Store(strategy.table, name=f"proof-{run.seed}-{next(_TABLES)}-{time.monotonic_ns()}", client=client)
    store.create_table()
    with TemporaryDirectory() as folder, _faults_of(run, url) as reached:
        job = Job(
            run.strategy,
            reached,
            store.name,
            Path(folder) / "history",
            run.seed,
            writers=tuple(f"w{place}" for place in range(run.writers)),
            count=run.creates // run.writers,
            chance=run.chance,
            attempts=run.attempts,
            retrying=run.at_the_wire,
        )
        begun = time.monotonic()
        histories = FORMS[run.form](job)
        seconds = time.monotonic() - begun
        operations = read(histories)
    rows = [strategy.row(item) for item in everything(store)]
    store.delete_table()
    client.close()
    return Report(run, operations, rows, judge(strategy, operations, rows, run.attempts), seconds)


@contextmanager
def _faults_of(run: Run, url: str) -> Generator[str]:
    """Give the URL to write to: the engine's own, or that of a proxy which plays the faults."""
    if not run.at_the_wire:
        yield url
        return
    with proxied(url, faults(run.chance, run.seed, CLOSED)) as proxy:
        yield proxy.url


def judge(
    strategy: Strategy, operations: Sequence[Operation], rows: Sequence[Row], attempts: int = 4
) -> list[Violation]:
    """Check all that a strategy promises of a history and the rows that are left."""
    due = {*DUE, *RACES} if strategy.races else {*DUE}
    if strategy.max_value < HIGHEST:
        due.add("SequenceExhausted")
    found = duplicates(operations, rows)
    found += stored_once(operations, rows, tombstones=strategy.tombstones)
    found += false_failures(operations, due=due, retaken=strategy.races)
    found += out_of_bounds(operations, rows, strategy.max_value)
    found += unjust_contention(operations)
    if strategy.ordered:
        found += order(operations, rows)
        found += exhausted(operations, rows, strategy.max_value)
    if strategy.contiguous:
        found += holes(operations, rows)
    if strategy.races:
        grace = _one_try(operations, attempts)
        found += deadlines(operations, deadline=DEADLINE, tries=TRIES, grace=grace)
    return sorted(found)


def _one_try(operations: Sequence[Operation], attempts: int) -> float:
    """Bound the seconds of one try: a read and a put, each sent so often, with the pauses between."""
    longest = max((each.trace.longest for each in operations), default=0) / 1e9
    pauses = sum(min(LONGEST_PAUSE, 0.025 * 2.0**attempt) for attempt in range(attempts - 1))
    return 2 * (attempts * longest + pauses)
