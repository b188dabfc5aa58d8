"""What a run of actors is to the explorer: requests that wait, and a way to let one of them go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from singletable.testing.answers import Refused
from singletable.testing.clients import Lost
from singletable.testing.footprints import NOTHING, Footprint
from singletable.testing.memory import Memory

__all__ = ["LOCK", "Fate", "Outcome", "Request", "Run", "carried_out"]

Fate: TypeAlias = Literal["", "lost", "unsent"]
"""What becomes of a request: it is answered; it is carried out, and its reply lost; it is lost before that."""

LOCK = "(lock)"
"""Stands for the method where no request waits, but a strand for a lock of its store."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that waits to be carried out: `key` names its strand, and which of the strand's requests it is.

    Requests of one `group` never change places: they share what their store remembers.
    """

    key: str
    actor: int
    group: int
    method: str
    params: Mapping[str, Any] = field(repr=False)
    footprint: Footprint = field(default=NOTHING, repr=False)
    fate: Fate = ""

    def meets(self, other: Request) -> bool:
        """Say whether it makes a difference which of two requests comes first."""
        return self.group == other.group or self.footprint.meets(other.footprint)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an actor ended in: its value, or what it raised."""

    value: object = None
    error: BaseException | None = None


class Run(Protocol):
    """One run of some actors, which begins with each of them waiting at its first request."""

    def pending(self) -> Sequence[Request]:
        """Give the requests that can be carried out now, in the order of the actors."""
        ...

    def perform(self, request: Request) -> None:
        """Carry one out, and let its strand go on until every strand waits again."""
        ...

    def outcomes(self) -> Sequence[Outcome | None]:
        """Give what each actor ended in; None for one that has not ended."""
        ...

    def close(self) -> None:
        """Give up what has not ended."""
        ...


def carried_out(memory: Memory, request: Request) -> dict[str, Any] | Exception:
    """Carry a request out as its fate has it, and give what its sender is to see: an answer, or what to raise."""
    if request.method == LOCK:
        return {}
    if request.fate == "unsent":
        return Lost(sent=False)
    try:
        answer: dict[str, Any] | Exception = memory.perform(request.method, request.params)
    except Refused as refused:
        answer = refused
    return Lost(sent=True) if request.fate == "lost" else answer
