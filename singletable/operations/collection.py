"""Reading a collection into the places of its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from singletable.entity import Entity
from singletable.gathering import Collection, Gathering
from singletable.operations.context import Context
from singletable.operations.query import Pages
from singletable.wire import Steps

__all__ = ["Gather"]

H = TypeVar("H", bound=Collection)


@dataclass(frozen=True, slots=True, eq=False)
class Gather(Generic[H]):
    """Read everything a collection's class asks for, and put it into its places."""

    what: Gathering[H]

    def steps(self, context: Context) -> Steps[H]:
        """Send a Query for each page."""
        reading, found = Pages(self.what.query), list[Entity]()
        while not reading.done:
            found += yield from reading.steps(context)
        return self.what.fill(found)
