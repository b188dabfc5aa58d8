"""A run of plain functions: each strand in a thread of its own, of which only one runs at any time.

Theory of operation. A strand is an actor, or one of the flows that an actor runs together. Its thread runs until it
needs a request carried out, a lock, or the end of flows it began; then it hands the turn back and waits at its gate.
The explorer looks at what waits, and opens one gate. So a run depends on nothing but the order in which gates are
opened. Between two requests a strand runs undisturbed, which loses nothing: what strands of different stores have in
common is the table alone. Strands of one store are never thought to change places.

A lock of a store is a step of its own where another strand may want it: who gets it is up to the explorer too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock, Thread, local
from typing import Any

from singletable.testing.clocks import Watch
from singletable.testing.footprints import NOTHING, footprint_of
from singletable.testing.memory import Memory
from singletable.testing.runs import LOCK, Outcome, Request, carried_out

__all__ = ["Strands"]


class _GivenUp(BaseException):
    """Ends a strand whose run is over."""


class _Strand:
    """One thread, and what it waits for."""

    def __init__(self, name: str, group: int, parent: _Strand | None, work: Callable[[], Any]) -> None:
        self.name = name
        self.group = group
        self.parent = parent
        self.work = work
        self.watch: Watch = Watch(name, 0.0 if parent is None else parent.watch.seconds)
        self.gate = Lock()
        self.gate.acquire()
        self.requests = 0
        self.waiting: Request | None = None
        self.wanted: Hashable = None
        self.answer: dict[str, Any] | Exception = {}
        self.children: list[_Strand] = []
        self.outcome: Outcome | None = None

    @property
    def actor(self) -> int:
        """The number of the actor it belongs to."""
        return int(self.name.partition(".")[0])

    def above(self) -> Iterator[_Strand]:
        """Give the strand itself, and those that wait for it to end."""
        strand: _Strand | None = self
        while strand is not None:
            yield strand
            strand = strand.parent


class Strands:
    """A run of actors; it is the `Turns` of their stores, and the `Run` of its explorer."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._strands: list[_Strand] = []
        self._held: set[tuple[int, Hashable]] = set()
        self._here = local()
        self._back = Lock()
        self._back.acquire()
        self._over = False
        self._threads: list[Thread] = []

    def begin(self, works: Sequence[Callable[[], Any]], *, shared: bool) -> None:
        """Start the actors, one after the other; `shared` tells that they have one store."""
        begun = [self._strand(str(place), 0 if shared else place, None, work) for place, work in enumerate(works)]
        for strand in begun:
            self._go_on(strand)

    # What the explorer sees

    def pending(self) -> list[Request]:
        """Give the requests that can be carried out now; a lock that is held is waited for."""
        return [
            strand.waiting
            for strand in self._strands
            if strand.waiting is not None and (strand.wanted is None or (strand.group, strand.wanted) not in self._held)
        ]

    def perform(self, request: Request) -> None:
        """Carry a request out, and let its strand go on."""
        name = request.key.partition(":")[0]
        strand = next(each for each in self._strands if each.name == name)
        strand.answer = carried_out(self._memory, request)
        strand.waiting = strand.wanted = None
        self._go_on(strand)

    def outcomes(self) -> list[Outcome | None]:
        """Give what each actor ended in."""
        return [strand.outcome for strand in self._strands if strand.parent is None]

    def close(self) -> None:
        """End every strand that has not ended, and its thread."""
        self._over = True
        for strand in reversed(self._strands):
            if strand.outcome is None:
                strand.gate.release()
                self._back.acquire()
        for thread in self._threads:
            thread.join()

    def _go_on(self, strand: _Strand) -> None:
        """Open the gate of a strand, of the strands it begins, and of those that waited for one to end."""
        ready = [strand]
        while ready:
            one = ready.pop()
            one.gate.release()
            self._back.acquire()
            if one.outcome is None:
                ready.extend(child for child in reversed(one.children) if child.outcome is None)
            elif one.parent is not None and all(child.outcome is not None for child in one.parent.children):
                ready.append(one.parent)

    def _strand(self, name: str, group: int, parent: _Strand | None, work: Callable[[], Any]) -> _Strand:
        strand = _Strand(name, group, parent, work)
        thread = Thread(target=self._body, args=(strand,), name=f"actor {name}", daemon=True)
        self._strands.append(strand)
        self._threads.append(thread)
        thread.start()
        return strand

    # What the strands see; each runs in its own thread

    def _body(self, strand: _Strand) -> None:
        strand.gate.acquire()
        self._here.strand = strand
        outcome = Outcome()
        try:
            with suppress(_GivenUp):
                outcome = Outcome() if self._over else Outcome(strand.work())
        except BaseException as error:
            outcome = Outcome(error=error)
        strand.outcome = outcome
        self._back.release()

    def _wait(self, strand: _Strand) -> None:
        """Hand the turn back, and wait at the gate."""
        if not self._over:
            self._back.release()
            strand.gate.acquire()
        if self._over:
            raise _GivenUp

    def _mine(self) -> _Strand:
        strand: _Strand = self._here.strand
        return strand

    def watch(self) -> Watch:
        """Give the watch of the strand that runs."""
        return self._mine().watch

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Wait until the request is carried out."""
        strand = self._mine()
        footprint = NOTHING if method == LOCK else footprint_of(self._memory, method, params)
        strand.requests += 1
        key = f"{strand.name}:{strand.requests}"
        strand.waiting = Request(key, strand.actor, strand.group, method, params, footprint)
        self._wait(strand)
        if isinstance(strand.answer, Exception):
            raise strand.answer
        return strand.answer

    def alone(self, key: Hashable, work: Callable[[], Any]) -> Any:
        """Wait for a lock, do the work, and leave the lock."""
        strand = self._mine()
        lock = strand.group, key
        if lock in self._held or self._has_rivals(strand):
            strand.wanted = key
            self.send(LOCK, {"key": key})
        self._held.add(lock)
        try:
            return work()
        finally:
            self._held.discard(lock)

    def _has_rivals(self, strand: _Strand) -> bool:
        """Say whether another strand of the store may want what this one locks."""
        above = list(strand.above())
        return any(each.group == strand.group and each.outcome is None and each not in above for each in self._strands)

    def together(self, works: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        """Begin strands that share out the works, and wait for all of them to end."""
        strand = self._mine()
        results: list[Any] = [None] * len(works)
        left = iter(enumerate(works))

        def share() -> None:
            for place, work in left:
                results[place] = work()

        count = min(at_most, len(works))
        begun = sum(each.parent is strand for each in self._strands)
        names = [f"{strand.name}.{begun + number}" for number in range(1, count + 1)]
        strand.children = [self._strand(name, strand.group, strand, share) for name in names]
        self._wait(strand)
        errors = [child.outcome.error for child in strand.children if child.outcome and child.outcome.error]
        strand.watch.seconds = max(child.watch.seconds for child in strand.children)
        strand.children = []
        if errors:
            raise errors[0]
        return results
