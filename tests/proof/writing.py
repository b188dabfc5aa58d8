"""What a writer does: creates one after the other, and now and then a delete of a number of its own.

Theory of operation. A writer is a generator of steps, as an operation is: it yields what is to be run, and is sent the
result or thrown the error. Threads, processes and tasks perform the same steps. It records each logical operation. A
create whose outcome is unknown is run again half of the time, as the same logical operation, and left open otherwise.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from singletable import Create, Delete, OutcomeUnknown, SequenceContention, ServiceError, Throttled, Unreachable
from tests.proof.histories import Outcome, Recorder
from tests.proof.strategies import STRATEGIES, Strategy
from tests.proof.watching import watching

__all__ = ["Job", "Order", "Writer", "Writing", "writer"]

DELETED = 0.1
GIVEN = 0.1
PARTITIONS = ("g0", "g1")
UNSENT = (ServiceError, Throttled, Unreachable)
"""What says of a run that it wrote nothing, and nothing of the run before it."""

RUNS = 3
"""So often, at most, is one create run."""


@dataclass(frozen=True, slots=True)
class Order:
    """The source document's first program, with the id that it writes."""

    id: str


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does: so many creates by each of its writers, and where. It can be pickled.

    `chance` is that of each of the three faults, `attempts` how often a request is sent at most. With `retrying`, the
    client sends again by itself, and the faults are those of whatever it sends to.
    """

    strategy: str
    url: str
    table: str
    path: Path
    seed: int
    writers: tuple[str, ...]
    count: int
    chance: float
    attempts: int
    retrying: bool = False


Writing: TypeAlias = Generator[Any, Any, None]
"""The steps of a writer: operations of ours, and `Order`s."""


def writer(job: Job, place: int, recorder: Recorder) -> Writing:
    """Give the steps of one writer of a job; where the document's program runs beside ours, of every other one."""
    strategy = STRATEGIES[job.strategy]
    writes = Writer(strategy, job.writers[place], Random(f"{job.seed} {job.writers[place]}"), recorder)
    return writes.orders(job.count) if strategy.beside and place % 2 else writes.creates(job.count)


class Writer:
    """One writer with its chances, and the entities of its own that are alive."""

    def __init__(self, strategy: Strategy, name: str, chance: Random, recorder: Recorder) -> None:
        self._strategy = strategy
        self._name = name
        self._chance = chance
        self._recorder = recorder
        self.living: list[Any] = []

    def creates(self, count: int) -> Writing:
        """Create so many entities."""
        for turn in range(count):
            yield from self.create(f"{self._name}.{turn}")
            if self._strategy.deletes and self.living and self._chance.random() < DELETED:
                yield from self.delete(self.living.pop(self._chance.randrange(len(self.living))))

    def orders(self, count: int) -> Writing:
        """Run the document's program so many times."""
        for turn in range(count):
            name = f"{self._name}.{turn}"
            self._recorder.invoke(name, "create", self._name, self._strategy.group(""))
            try:
                number = yield Order(name)
            except Exception as error:  # noqa: BLE001 - the checks judge it
                self._recorder.end(name, "fail", error=type(error).__name__)
            else:
                self._recorder.end(name, "ok", number=number)

    def create(self, name: str) -> Writing:
        """Create one entity, and remember it if that is known to have happened."""
        entity, given = self._entity(name)
        step: Any = Create(entity)
        with watching() as watch:
            self._recorder.invoke(name, "create", self._name, self._strategy.group(entity.partition), given=given)
            for run in range(RUNS):
                try:
                    made = yield step
                except OutcomeUnknown as unknown:
                    self._recorder.end(name, "unknown", error="OutcomeUnknown", trace=asdict(watch.told()))
                    if self._chance.random() < 0.5:
                        return
                    step = unknown.operation
                except Exception as error:  # noqa: BLE001 - the checks judge it
                    outcome: Outcome = "unknown" if run and isinstance(error, UNSENT) else "fail"
                    self._recorder.end(name, outcome, trace=asdict(watch.told()), **_facts(error))
                    return
                else:
                    self._recorder.end(name, "ok", number=made.number, trace=asdict(watch.told()))
                    self.living.append(made)
                    return

    def _entity(self, name: str) -> tuple[Any, bool]:
        """Make what is to be created, and say whether it brings its number along: one a little above its own last."""
        kind, partition = self._chance.choice(self._strategy.kinds), self._chance.choice(PARTITIONS)
        if not self._strategy.given or self._chance.random() >= GIVEN or not self.living:
            return kind(id=name, partition=partition), False
        number = self.living[-1].number + self._chance.randrange(1, 20)
        return kind(id=name, partition=partition, number=number), True

    def delete(self, entity: Any) -> Writing:
        """Delete one entity."""
        name = f"delete {entity.id}"
        self._recorder.invoke(name, "delete", self._name, self._strategy.group(entity.partition), number=entity.number)
        try:
            yield Delete(entity)
        except OutcomeUnknown:
            self._recorder.end(name, "unknown", error="OutcomeUnknown")
        except Exception as error:  # noqa: BLE001 - the checks judge it
            self._recorder.end(name, "fail", **_facts(error))
        else:
            self._recorder.end(name, "ok")


def _facts(error: Exception) -> dict[str, Any]:
    facts: dict[str, Any] = {"error": type(error).__name__}
    if isinstance(error, SequenceContention):
        facts.update(tries=error.attempts, seconds=error.seconds)
    return facts
