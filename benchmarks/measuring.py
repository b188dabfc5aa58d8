"""Writers that draw numbers at once, and what each number took.

Theory of operation. Writers begin together and draw one number after another. What was begun while the *window* is open
is measured. After it closes all go on until every measured number is there: so the last ones have as many rivals as the
first, and a slow one is not cut off. Requests are counted for the number that they were sent for, so that a block's
request counts for the number that needed it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.distance import tally
from benchmarks.strategies import STRATEGIES, Draw, Place

__all__ = ["FORMS", "Drawn", "Form", "Sample", "Window", "measured", "process_pool"]

PATIENCE = 60.0
"""Seconds in which all processes must have come to their start."""


@dataclass(frozen=True, slots=True)
class Form:
    """How many writers there are, and what they are."""

    name: str
    writers: int
    processes: int = 1
    tasks: bool = False


FORMS = (
    Form("1 thread", 1),
    Form("4 threads", 4),
    Form("16 threads", 16),
    Form("4 processes x 4 threads", 4, processes=4),
    Form("16 tasks", 16, tasks=True),
)


@dataclass(frozen=True, slots=True)
class Window:
    """When numbers are measured: for so many seconds after a warm-up, and at least so many of each writer."""

    seconds: float = 1.5
    warm_up: float = 0.3
    least: int = 1


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one number took; times are those of the machine's monotonic clock. A failure has no number."""

    begun: float
    ended: float
    requests: int
    number: int | None
    error: str | None
    measured: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """One strategy and form, measured once."""

    per_second: float
    requests: float
    latencies: Sequence[float]
    failures: Counter[str]
    duplicates: int


class Shared(Protocol):
    """A number that threads and processes share, under a lock."""

    value: int

    def get_lock(self) -> Any:
        """Give the lock, for `with`."""
        ...


class _Writer:
    """Tells one writer how long to go on, and keeps what it drew. `left` counts the writers still to be waited for."""

    def __init__(self, window: Window, opens: float, left: Shared) -> None:
        self._window = window
        self._opens = opens
        self._left = left
        self._awaited = True
        self._measured = 0
        self.drawn: list[Drawn] = []

    def goes_on(self) -> bool:
        """Say whether another number is to be drawn."""
        closed = time.monotonic() >= self._opens + self._window.seconds
        if self._awaited and closed and self._measured >= self._window.least:
            self._awaited = False
            with self._left.get_lock():
                self._left.value -= 1
        return self._awaited or self._left.value > 0

    @contextmanager
    def drawing(self) -> Generator[Callable[[int], None]]:
        """Time the drawing of a number, which is told, and count its requests; an error is kept by its name."""
        numbers: list[int] = []
        error: str | None = None
        counting, begun = tally(), time.monotonic()
        try:
            yield numbers.append
        except Exception as raised:  # noqa: BLE001 - a failure is part of what is measured
            error = type(raised).__name__
        measured = self._awaited and begun >= self._opens
        self._measured += measured
        number = numbers[0] if numbers else None
        self.drawn.append(Drawn(begun, time.monotonic(), counting.requests, number, error, measured))


# The forms


@dataclass(frozen=True, slots=True)
class _Work:
    """The part of one process."""

    strategy: str
    place: Place
    writers: int
    window: Window


def _threaded(work: _Work, left: Shared) -> list[list[Drawn]]:
    """Do the work in threads that share a store, or a table."""
    draw = STRATEGIES[work.strategy].draw(work.place)
    opens = time.monotonic() + work.window.warm_up

    def write(_: int) -> list[Drawn]:
        return _write(draw, _Writer(work.window, opens, left))

    with ThreadPoolExecutor(work.writers) as threads:
        return list(threads.map(write, range(work.writers)))


def _write(draw: Draw, writer: _Writer) -> list[Drawn]:
    while writer.goes_on():
        with writer.drawing() as told:
            told(draw())
    return writer.drawn


async def _awaited(work: _Work, left: Shared) -> list[list[Drawn]]:
    """Do the work in tasks that share a store."""
    draw, store = STRATEGIES[work.strategy].awaited(work.place)
    opens = time.monotonic() + work.window.warm_up

    async def write() -> list[Drawn]:
        writer = _Writer(work.window, opens, left)
        while writer.goes_on():
            with writer.drawing() as told:
                told(await draw())
        return writer.drawn

    async with store:
        return list(await asyncio.gather(*(write() for _ in range(work.writers))))


_start: Any = None
_left: Any = None


@dataclass(frozen=True, slots=True)
class Pool:
    """Processes that begin their parts together; `left` is shared by all writers."""

    executor: ProcessPoolExecutor
    left: Any
    processes: int


@contextmanager
def process_pool(processes: int) -> Generator[Pool]:
    """Give processes that are started when first used, and kept."""
    spawn = multiprocessing.get_context("spawn")
    left = spawn.Value("i", 0)
    shared = (spawn.Barrier(processes), left)
    with ProcessPoolExecutor(processes, mp_context=spawn, initializer=_joined, initargs=shared) as executor:
        yield Pool(executor, left, processes)


def _joined(start: Any, left: Any) -> None:
    """Keep in a new process what it shares with the others."""
    global _start, _left
    _start, _left = start, left


def _in_process(work: _Work) -> list[list[Drawn]]:
    _start.wait(PATIENCE)
    return _threaded(work, _left)


# What came of it


def measured(strategy: str, form: Form, place: Place, window: Window, pool: Pool) -> Sample:
    """Let the writers of a form draw numbers by a strategy, in a table that is theirs alone."""
    work = _Work(strategy, place, form.writers, window)
    pool.left.value = form.writers * form.processes
    if form.tasks:
        drawn = asyncio.run(_awaited(work, pool.left))
    elif form.processes == 1:
        drawn = _threaded(work, pool.left)
    else:
        parts = list(pool.executor.map(_in_process, [work] * form.processes))
        drawn = [writer for part in parts for writer in part]
    return _sample([each for writer in drawn for each in writer], window)


def _sample(drawn: Sequence[Drawn], window: Window) -> Sample:
    """Sum up what all writers drew: the window opens a warm-up after the first number was begun."""
    opens = min(each.begun for each in drawn) + window.warm_up
    numbered = [each for each in drawn if each.number is not None]
    inside = [each for each in drawn if each.measured]
    stored = [each for each in inside if each.number is not None]
    finished = sum(opens <= each.ended < opens + window.seconds for each in numbered)
    return Sample(
        per_second=finished / window.seconds if window.seconds else 0.0,
        requests=sum(each.requests for each in inside) / len(stored) if stored else 0.0,
        latencies=[each.ended - each.begun for each in stored],
        failures=Counter(each.error for each in inside if each.error is not None),
        duplicates=len(numbered) - len({each.number for each in numbered}),
    )
