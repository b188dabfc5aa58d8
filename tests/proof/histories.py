"""What happened, as those saw it who asked: each logical operation with when it began, when it ended, and how.

Theory of operation. An operation is a logical one: a create or a delete that somebody wanted once, however often its
requests went out, and also where it was taken up again after its outcome was unknown. A recorder writes a line when it
is begun and one for each ending; the last ending counts, and an operation without any is as unknown as one that says
so. Times are those of `time.monotonic_ns`, which on Linux is one clock for all processes, so that the files of several
can be read together.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

__all__ = ["Kind", "Operation", "Outcome", "Recorder", "Row", "RowKind", "Trace", "read"]

Kind: TypeAlias = Literal["create", "delete"]
Outcome: TypeAlias = Literal["ok", "fail", "unknown"]
RowKind: TypeAlias = Literal["entity", "tombstone", "counter"]


@dataclass(frozen=True, slots=True)
class Trace:
    """What an operation sent: when the first request went out, how many did, how many were answered, the longest.

    Times are nanoseconds. An answer is one that the engine gave to be seen: no error 500, no throttling, no lost reply.
    """

    first: int | None = None
    sent: int = 0
    answered: int = 0
    longest: int = 0


@dataclass(frozen=True, slots=True)
class Operation:
    """One logical operation.

    `number` is what a create drew, as its reply says, or what a delete was to remove. `given` tells that a create
    brought its number along, `error` names what was raised at the end, `tries` and `seconds` are those of a
    SequenceContention, and `resumed` tells that an unknown outcome was run again.
    """

    id: str
    kind: Kind
    writer: str
    group: str
    invoked: int
    replied: int | None = None
    outcome: Outcome = "unknown"
    number: int | None = None
    error: str = ""
    tries: int = 0
    seconds: float = 0.0
    given: bool = False
    resumed: bool = False
    trace: Trace = Trace()


@dataclass(frozen=True, slots=True)
class Row:
    """What stands in the table afterwards: an entity, the tombstone of one, or a counter with the number it holds."""

    kind: RowKind
    group: str
    number: int
    id: str = ""


class Recorder:
    """Writes the history of one process as lines of JSON; safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def invoke(self, operation: str, kind: Kind, writer: str, group: str, **facts: Any) -> None:
        """Say that an operation begins now."""
        facts = {"kind": kind, "writer": writer, "group": group, **facts}
        self._write({"id": operation, "event": "invoke", "at": time.monotonic_ns(), **facts})

    def end(self, operation: str, outcome: Outcome, **facts: Any) -> None:
        """Say that an operation has ended just now, and how."""
        self._write({"id": operation, "event": outcome, "at": time.monotonic_ns(), **facts})

    def _write(self, event: Mapping[str, Any]) -> None:
        line = json.dumps(event) + "\n"
        with self._lock:
            self._file.write(line)


def read(paths: Iterable[Path]) -> list[Operation]:
    """Read the histories of several processes as one, in the order in which the operations were begun.

    ValueError for an operation that was begun twice, or ended without having been begun.
    """
    found: dict[str, Operation] = {}
    for event in _events(paths):
        name, kind, at = event.pop("id"), event.pop("event"), event.pop("at")
        if (kind == "invoke") is (name in found):
            raise ValueError(f"{name} was begun twice, or ended without having been begun")
        if kind == "invoke":
            found[name] = Operation(name, invoked=at, **event)
        else:
            found[name] = _ended(found[name], kind, at, event)
    return sorted(found.values(), key=lambda operation: operation.invoked)


def _events(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _ended(operation: Operation, outcome: Outcome, at: int, facts: dict[str, Any]) -> Operation:
    """Let the latest ending count: what was unknown may be known later."""
    trace = Trace(**facts.pop("trace", {}))
    resumed = operation.replied is not None
    return replace(operation, outcome=outcome, replied=at, resumed=resumed, trace=trace, **{"error": "", **facts})
