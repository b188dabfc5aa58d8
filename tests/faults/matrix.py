"""Every verb under every fault: what it ends in, and whether what is stored is what may be.

    python -m tests.faults.matrix

prints the table. Each cell is a verb and a fault. The fault happens to the first request of the verb, to its second
and so on: to that one alone ("once"), and to that one and all after it ("from then on"). After each run the ending is
told, and what is stored is looked at, behind the mapper's back and without faults. A cell lists its different endings;
one that gave or left what its ending does not allow has a complaint, and an exclamation mark.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from singletable import SingleTableError, Store
from singletable.driver import Driver
from singletable.errors import OutcomeUnknown, ServiceError, Throttled, Unprocessed, Unreachable
from singletable.local import local_client
from singletable.loops import AsyncDriver
from singletable.wire import Effect, Pause
from tests.contract.behind import client_of, everything
from tests.faults.client import FaultyClient
from tests.faults.lagging import copy_of
from tests.faults.rules import (
    CLOSED,
    CONFLICT,
    DROPPED,
    FAILED_AFTER,
    LEFTOVERS,
    LOST,
    SERVER_ERROR,
    STALE,
    THROTTLE,
    UNSENT,
    Fault,
    Rule,
    Script,
    delayed,
)
from tests.faults.scenes import SCENES, Scene, bank

__all__ = ["FAULTS", "Cell", "Ground", "Hurried", "HurriedAsync", "Place", "embedded", "run_cell"]

FAULTS: tuple[Fault, ...] = (
    *(THROTTLE, SERVER_ERROR, FAILED_AFTER, UNSENT, LOST, DROPPED, CLOSED),
    *(CONFLICT, LEFTOVERS, STALE, delayed(0.001)),
)

AFTER = (FAILED_AFTER, LOST, DROPPED, CLOSED)
"""The faults after which nobody can tell whether a request was carried out."""

MOST = 200
"""More requests than any verb here sends."""

ENDINGS: dict[type[SingleTableError], str] = {
    Throttled: "throttled",
    Unreachable: "unreachable",
    OutcomeUnknown: "unknown",
    ServiceError: "service",
    Unprocessed: "unprocessed",
}
"""The errors that a fault may end in, as the table names them."""


class Hurried(Driver):
    """A driver that does not wait."""

    def _perform(self, effect: Effect) -> Any:
        return None if isinstance(effect, Pause) else super()._perform(effect)


class HurriedAsync(AsyncDriver):
    """A driver of event loops that does not wait."""

    async def _perform(self, effect: Effect) -> Any:
        return None if isinstance(effect, Pause) else await super()._perform(effect)


@dataclass(frozen=True, slots=True)
class Ground:
    """A table of its own for one run: a store without faults, and a maker of stores with them."""

    clean: Store
    faulty: Callable[[Script], Store]


Place: TypeAlias = Callable[[], Ground]
"""Gives new ground."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of a verb under a fault: an ending for each request it happened to, alone or with all after it."""

    once: tuple[str, ...]
    lasting: tuple[str, ...]
    complaints: tuple[str, ...]

    def __str__(self) -> str:
        if not self.once:
            return "·"
        once, lasting = ("/".join(dict.fromkeys(endings)) for endings in (self.once, self.lasting))
        return f"{once}; {lasting}" + (" !" if self.complaints else "")


def run_cell(place: Place, scene: Scene, fault: Fault) -> Cell:
    """Run a verb with a fault on each of its requests in turn, and with the fault from each of them on."""
    once: list[str] = []
    lasting: list[str] = []
    complaints: list[str] = []
    for nth in count(1):
        for endings, places in ((once, (nth,)), (lasting, tuple(range(nth, nth + MOST)))):
            script = Script(Rule(fault, nth=places))
            ending, wrong = _run(place(), scene, script)
            if not script.done:
                return Cell(tuple(once), tuple(lasting), tuple(complaints))
            endings.append(ending)
            words = "alone" if endings is once else "and all after it"
            complaints.extend(f"{scene.name}, {fault} on request {nth} {words}: {each}" for each in wrong)
    raise AssertionError("a verb never sends without end")


def _run(ground: Ground, scene: Scene, script: Script) -> tuple[str, list[str]]:
    """Play a scene; give how it ended and what is wrong with that."""
    if scene.made:
        ground.clean.create_table()
    scene.seed(ground.clean)
    store = ground.faulty(script)
    error, result = _ended(scene, store)
    store.close()
    wrong = [] if error is None or type(error) in ENDINGS else [f"ended in {error!r}"]
    if error is None and not (scene.result(result) or (_unsure(script) and scene.repeated(result))):
        wrong.append(f"gave {result!r}")
    state = scene.look(_items(ground.clean))
    if not scene.allows(state, error):
        wrong.append(f"left {state!r} with {error!r}")
    _drop(ground.clean)
    return "ok" if error is None else ENDINGS.get(type(error), type(error).__name__), wrong


def _ended(scene: Scene, store: Store) -> tuple[SingleTableError | None, Any]:
    try:
        return None, scene.act(store)
    except SingleTableError as error:
        return error, None


def _unsure(script: Script) -> bool:
    names = {fault.name for fault in AFTER}
    return any(name in names for _, name in script.done)


def _items(store: Store) -> Any:
    """Read all that is stored, or None where there is no table."""
    try:
        return everything(store)
    except client_of(store).exceptions.ResourceNotFoundException:
        return None


def _drop(store: Store) -> None:
    client = client_of(store)
    for name in (store.name, copy_of(store.name)):
        with suppress(client.exceptions.ResourceNotFoundException):
            client.delete_table(TableName=name)
    store.close()


# Printing ------------------------------------------------------------------------------------------------------------


def embedded() -> Place:
    """Give ground on an embedded engine, with the faults around its client."""
    client = local_client()

    def faulty(script: Script) -> Store:
        store = Store(bank, client=FaultyClient(client, script))
        store._driver = Hurried(store._connected, workers=8)
        return store

    return lambda: Ground(Store(bank, client=client), faulty)


def table(place: Place) -> Iterator[str]:
    """Give the matrix line by line, as a table of Markdown, and the complaints after it."""
    complaints: list[str] = []
    yield "| verb | " + " | ".join(map(repr, FAULTS)) + " |"
    yield "|---" * (len(FAULTS) + 1) + "|"
    for scene in SCENES:
        cells = [run_cell(place, scene, fault) for fault in FAULTS]
        yield f"| {scene.name} | " + " | ".join(map(str, cells)) + " |"
        complaints.extend(each for cell in cells for each in cell.complaints)
    yield ""
    yield f"endings with the fault once; from then on. {len(complaints)} complaints"
    yield from complaints


if __name__ == "__main__":
    for line in table(embedded()):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
