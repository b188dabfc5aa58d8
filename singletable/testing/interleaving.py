"""`interleave`: run several actors in every order of their requests, and look at what each order comes to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from singletable.schema import Table
from singletable.store import Store
from singletable.testing.exploring import Ended, explored, followed
from singletable.testing.memory import Memory
from singletable.testing.runs import LOCK, Fate, Outcome, Request, Run
from singletable.testing.stores import Alone, TurnsStore
from singletable.testing.strands import Strands
from singletable.testing.tasks import Tasks
from singletable.testing.telling import losses_of, switches, told, written

__all__ = ["Actor", "Check", "Explored", "InterleavingFailed", "interleave"]

Actor: TypeAlias = Callable[[Any], Any]
"""A function of a `Store`, or an asynchronous one of an `AsyncStore`."""

Check: TypeAlias = Callable[[Store, list[Any]], object]
"""Looks at the table and at what the actors ended in; fails by raising, or by giving False."""

_MORE = 500
"""After a failure so many schedules are tried for a shorter one."""


@dataclass(frozen=True, slots=True)
class Explored:
    """How far an exploration went: `schedules` were run to their end and checked, with `requests` in all.

    `losses` is the number of places a reply was lost at. `cut` more were begun and left, since they came to what had
    been seen. `complete` tells that no further schedule makes a difference; otherwise `most` stopped it.
    """

    schedules: int
    requests: int
    losses: int
    cut: int
    complete: bool

    def __str__(self) -> str:
        end = "all there are" if self.complete else "and there are more"
        lost = f", a reply lost at {self.losses} places" if self.losses else ""
        return f"{self.schedules} schedules, {end}; {self.requests} requests{lost}"


class InterleavingFailed(AssertionError):
    """A schedule after which the check fails, an actor raises, or actors wait for each other for ever.

    `schedule` is the shortest that was met, as `replay=` takes it, `steps` the same in words, `why` what was wrong;
    the cause is what the check or the actor raised.
    """

    def __init__(self, why: str, schedule: str, steps: Sequence[str]) -> None:
        self.why = why
        self.schedule = schedule
        self.steps = tuple(steps)
        super().__init__("\n".join((why, *steps, f"again by replay={schedule!r}")))


@dataclass(frozen=True, slots=True)
class _Failure:
    """What was wrong after one schedule."""

    why: str
    steps: tuple[Request, ...]
    cause: BaseException | None = None

    @property
    def length(self) -> tuple[int, int]:
        """How hard it is to read."""
        return len(self.steps), switches(self.steps)

    def error(self, memory: Memory) -> InterleavingFailed:
        """Make the error that tells of it."""
        return InterleavingFailed(self.why, written(self.steps), tuple(told(self.steps, memory)))


@dataclass(frozen=True, slots=True)
class _Scene:
    """What every run begins with, and how its end is judged."""

    table: Table
    actors: tuple[Actor, ...]
    memory: Memory
    check: Check | None
    expect: tuple[type[BaseException], ...]
    shared: bool

    def begin(self, memory: Memory) -> Run:
        """Begin a run."""
        if inspect.iscoroutinefunction(self.actors[0]):
            return Tasks(memory, self.table, self.actors, shared=self.shared)
        run = Strands(memory)
        stores = [TurnsStore(self.table, run) for _ in range(1 if self.shared else len(self.actors))]
        works = [_bound(actor, stores[place % len(stores)]) for place, actor in enumerate(self.actors)]
        run.begin(works, shared=self.shared)
        return run

    def judge(self, ended: Ended, memory: Memory) -> _Failure | None:
        """Say what is wrong with the end of a run; None where nothing is."""
        outcomes = [outcome for outcome in ended.run.outcomes() if outcome is not None]
        if len(outcomes) < len(self.actors):
            stuck = [place for place, outcome in enumerate(ended.run.outcomes()) if outcome is None]
            return _Failure(f"actors {', '.join(map(str, stuck))} wait for ever", ended.steps)
        for place, outcome in enumerate(outcomes):
            error = outcome.error
            if error is not None and not isinstance(error, Exception):
                raise error
            if error is not None and not isinstance(error, self.expect):
                why = f"actor {place} raised {type(error).__name__}: {error}"
                return _Failure(why, ended.steps, error)
        return self._checked(outcomes, memory, ended.steps)

    def _checked(self, outcomes: Sequence[Outcome], memory: Memory, steps: tuple[Request, ...]) -> _Failure | None:
        if self.check is None:
            return None
        results = [outcome.value if outcome.error is None else outcome.error for outcome in outcomes]
        try:
            verdict = self.check(TurnsStore(self.table, Alone(memory, "check")), results)
        except Exception as error:
            return _Failure(f"the check raised {type(error).__name__}: {error}", steps, error)
        return _Failure("the check gave False", steps) if verdict is False else None


@dataclass(slots=True)
class _Tally:
    """What was done so far."""

    most: int
    schedules: int = 0
    requests: int = 0
    cut: int = 0
    losses: int = 0
    worst: _Failure | None = None
    seen: dict[str, Request] = field(default_factory=dict[str, Request])

    @property
    def is_over(self) -> bool:
        """Whether no further run is allowed."""
        return self.schedules + self.cut >= self.most

    def report(self, *, complete: bool) -> Explored:
        """Give what the caller is told."""
        return Explored(self.schedules, self.requests, self.losses, self.cut, complete)


def interleave(
    table: Table,
    *actors: Actor,
    setup: Callable[[Store], object] | None = None,
    check: Check | None = None,
    expect: type[Exception] | tuple[type[Exception], ...] = (),
    lost_replies: int = 0,
    lost_requests: bool = False,
    shared: bool = False,
    most: int = 10_000,
    reduce: bool = True,
    replay: str | None = None,
) -> Explored:
    """Run actors at once, in every order of their requests that makes a difference, on a table in memory.

    Each actor is a function that takes a `Store`, or all are asynchronous and take an `AsyncStore`; each has a store of
    its own, as another process would, or with `shared=True` all have one. Before every run the table stands as `setup`
    left it. After it `check(store, results)` gets a store and what each actor returned, or raised, where it is one of
    `expect`; it fails by raising, or by giving False.

    With `lost_replies=1` (or more) one request (or so many) in each place is carried out, and its sender told that no
    answer came; with `lost_requests=True` also: it is lost before. At most `most` runs are made; `reduce=False` makes
    those too that can make no difference. `replay` runs one schedule only, that an error has told.

    InterleavingFailed, an AssertionError, tells the shortest failing schedule that was met.
    """
    memory = _prepared(table, setup)
    kinds = {inspect.iscoroutinefunction(actor) for actor in actors}
    if len(kinds) != 1:
        raise TypeError("interleave() takes one actor or more: plain functions, or asynchronous ones, not both")
    scene = _Scene(table, actors, memory, check, expect if isinstance(expect, tuple) else (expect,), shared)
    if replay is not None:
        return _replayed(scene, replay)
    tally = _Tally(most)
    fates: tuple[Fate, ...] = ("lost", "unsent") if lost_requests else ("lost",)
    todo: list[dict[str, Fate]] = [{}]
    known: set[frozenset[tuple[str, Fate]]] = set()
    while todo:
        losses = todo.pop(0)
        places = _explore(scene, tally, losses, reduce=reduce)
        if tally.is_over:
            break
        if len(losses) < lost_replies:
            for further in _further(losses, places, fates):
                if frozenset(further.items()) not in known:
                    known.add(frozenset(further.items()))
                    todo.append(further)
    if tally.worst is not None:
        raise tally.worst.error(scene.memory) from tally.worst.cause
    return tally.report(complete=not tally.is_over)


def _further(losses: Mapping[str, Fate], places: Sequence[str], fates: Sequence[Fate]) -> Iterator[dict[str, Fate]]:
    """Give the same losses with one more, at each place there is."""
    for place in places:
        if place not in losses:
            for fate in fates:
                further: dict[str, Fate] = {**losses, place: fate}
                yield further


def _explore(scene: _Scene, tally: _Tally, losses: Mapping[str, Fate], *, reduce: bool) -> list[str]:
    """Explore all orders under some losses; gives the places where a further one may happen."""
    places: dict[str, None] = {}
    memories: list[Memory] = []

    def start() -> Run:
        memories[:] = [scene.memory.copy()]
        return scene.begin(memories[0])

    tally.losses += bool(losses)
    for ended in explored(start, losses, reduce=reduce):
        places.update(dict.fromkeys(step.key for step in ended.steps if step.method != LOCK))
        _count(scene, tally, ended, losses, memories[0])
        if tally.is_over:
            break
    return list(places)


def _count(scene: _Scene, tally: _Tally, ended: Ended, losses: Mapping[str, Fate], memory: Memory) -> None:
    """Count a run, and judge it where it is one that was not seen before."""
    happened = sum(bool(step.fate) for step in ended.steps)
    if ended.cut or happened < len(losses):
        tally.cut += 1
        return
    tally.schedules += 1
    tally.requests += len(ended.steps)
    failure = scene.judge(ended, memory)
    if failure is None:
        return
    if tally.worst is None:
        tally.most = min(tally.most, tally.schedules + tally.cut + _MORE)
    if tally.worst is None or failure.length < tally.worst.length:
        tally.worst = failure


def _replayed(scene: _Scene, text: str) -> Explored:
    """Run one schedule."""
    keys, losses = losses_of(text)
    memory = scene.memory.copy()
    run = scene.begin(memory)
    try:
        ended = followed(run, keys, losses)
        failure = scene.judge(ended, memory)
    finally:
        run.close()
    if failure is not None:
        raise failure.error(scene.memory) from failure.cause
    return Explored(1, len(ended.steps), bool(losses), 0, complete=False)


def _prepared(table: Table, setup: Callable[[Store], object] | None) -> Memory:
    """Make the table in memory and have it set up."""
    memory = Memory()
    store = TurnsStore(table, Alone(memory, "setup"))
    store.create_table()
    if setup is not None:
        setup(store)
    return memory


def _bound(actor: Actor, store: Store) -> Callable[[], Any]:
    def work() -> Any:
        made = actor(store)
        if inspect.iscoroutine(made):
            made.close()
            raise TypeError("an asynchronous actor is declared with `async def`, so that it gets an AsyncStore")
        return made

    return work
