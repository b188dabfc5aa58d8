"""Every order of requests that can make a difference, each once.

Theory of operation. Two orders that differ only in requests which do not meet end in the same state, so one of them is
enough. The search goes depth first and begins every run anew. It is dynamic partial-order reduction with source sets
and sleep sets (Abdulla, Aronsson, Jonsson, Sagonas, "Optimal dynamic partial order reduction", POPL 2014, algorithm 1):
before a request is carried out, every earlier one that it races with tells of another order to try, and one request
that begins it is noted where the earlier one was chosen. A request in a node's sleep set was tried there before, and
nothing that meets it has happened since: to choose it would repeat what was seen. A run in which all that waits is
asleep is cut short.

A lost reply is no choice of the search: it is given beforehand, for the n-th request of a strand (`losses`). It meets
what the request meets; one that is lost before it was carried out meets nothing of other actors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from singletable.testing.footprints import NOTHING
from singletable.testing.runs import LOCK, Fate, Request, Run

__all__ = ["STEPS_MOST", "Ended", "explored", "followed"]

STEPS_MOST = 2_000
"""A run has fewer requests, unless an actor goes on for ever."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that came to where nothing waits any more, or was cut short; `steps` is the order that led there."""

    run: Run
    steps: tuple[Request, ...]
    cut: bool = False


@dataclass(slots=True)
class _Node:
    """A point where one of several requests was chosen."""

    waiting: Mapping[str, Request]
    asleep: dict[str, Request]
    wanted: list[str]
    chosen: Request
    before: int = 0
    """The steps that must come before the chosen one, as a set of bits."""


def explored(start: Callable[[], Run], losses: Mapping[str, Fate], *, reduce: bool = True) -> Iterator[Ended]:
    """Give every run that makes a difference, one after the other; whoever takes them may stop at any time.

    `start` begins a run. Without `reduce` every order is tried, be it of any difference or not.
    """
    path: list[_Node] = []
    while True:
        run = start()
        try:
            yield _run(run, path, losses, reduce=reduce)
        finally:
            run.close()
        if not _turned_back(path, reduce=reduce):
            return


def _run(run: Run, path: list[_Node], losses: Mapping[str, Fate], *, reduce: bool) -> Ended:
    """Repeat the choices of the path, then go on to the end."""
    for node in path:
        run.perform(node.chosen)
    asleep = _still_asleep(path[-1]) if path and reduce else dict[str, Request]()
    while waiting := {each.key: _fated(each, losses) for each in run.pending()}:
        awake = [key for key in waiting if key not in asleep]
        if not awake:
            return Ended(run, _steps(path), cut=True)
        node = _Node(waiting, asleep, awake[:1] if reduce else awake, waiting[awake[0]])
        path.append(node)
        _settle(path, reduce=reduce)
        if len(path) > STEPS_MOST:
            raise RuntimeError(f"the actors sent {STEPS_MOST} requests and have not ended: one of them may never end")
        run.perform(node.chosen)
        asleep = _still_asleep(node) if reduce else {}
    return Ended(run, _steps(path))


def followed(run: Run, keys: Sequence[str], losses: Mapping[str, Fate]) -> Ended:
    """Run one order of requests by their keys, then on in the order of the actors. ValueError where it does not fit."""
    steps: list[Request] = []
    while waiting := {each.key: _fated(each, losses) for each in run.pending()}:
        key = keys[len(steps)] if len(steps) < len(keys) else next(iter(waiting))
        if key not in waiting:
            raise ValueError(f"step {len(steps) + 1} of the schedule, {key}, does not wait there: {', '.join(waiting)}")
        steps.append(waiting[key])
        run.perform(waiting[key])
    return Ended(run, tuple(steps))


def _fated(request: Request, losses: Mapping[str, Fate]) -> Request:
    fate = losses.get(request.key, "")
    if not fate or request.method == LOCK:
        return request
    return replace(request, fate=fate, footprint=NOTHING if fate == "unsent" else request.footprint)


def _steps(path: Sequence[_Node]) -> tuple[Request, ...]:
    return tuple(node.chosen for node in path)


def _still_asleep(node: _Node) -> dict[str, Request]:
    """Give what is asleep after a node's choice: what does not meet it."""
    return {key: each for key, each in node.asleep.items() if not each.meets(node.chosen)}


def _turned_back(path: list[_Node], *, reduce: bool) -> bool:
    """Choose another request at the last node where one is wanted; False where all is done."""
    while path:
        node = path[-1]
        node.asleep[node.chosen.key] = node.chosen
        following = next((key for key in node.wanted if key not in node.asleep), None)
        if following is not None:
            node.chosen = node.waiting[following]
            _settle(path, reduce=reduce)
            return True
        path.pop()
    return False


def _settle(path: list[_Node], *, reduce: bool) -> None:
    """Work out what must come before the last step, and note the other orders of the steps it races with."""
    *earlier, last = path
    if not reduce:
        return
    met = [place for place, node in enumerate(earlier) if node.chosen.meets(last.chosen)]
    last.before = 0
    for place in met:
        last.before |= earlier[place].before | 1 << place
    through = 0
    for place in _bits(last.before):
        through |= earlier[place].before
    for place in met:
        if not through >> place & 1:
            _want_other(path, place)
    if last.chosen.method == LOCK:
        _want_lock_first(path, met)


def _want_other(path: Sequence[_Node], place: int) -> None:
    """Note at one step that the last one is to come before it, with what must come before that.

    What is left of the path without that step, and without what must come after it, is another order. Any of the
    requests that can begin it will do.
    """
    node, gone, last = path[place], 0, len(path) - 1
    if path[last].chosen.group == node.chosen.group and path[last].chosen.key not in node.waiting:
        return  # it came of that step
    left = [later for later in range(place + 1, last) if not path[later].before >> place & 1]
    first: list[str] = []
    for later in (*left, last):
        if not path[later].before & gone:
            first.append(path[later].chosen.key)
        gone |= 1 << later
    able = [key for key in first if key in node.waiting]
    if able and not set(able) & set(node.wanted):
        node.wanted.append(able[0])


def _want_lock_first(path: Sequence[_Node], met: Sequence[int]) -> None:
    """Note that the last step, which takes a lock, may come before the step that took it, and all the holder did."""
    last = path[-1].chosen
    free = (
        place for place in reversed(met) if path[place].chosen.group == last.group and last.key in path[place].waiting
    )
    place = next(free, None)
    if place is not None:
        _want_other(path, place)


def _bits(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
