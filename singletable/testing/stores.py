"""Real stores whose requests, pauses and locks are given to whoever explores: `Turns`, or nobody at all (`Alone`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

from singletable.driver import Driver
from singletable.schema import Table
from singletable.store import Store
from singletable.testing.clients import Client
from singletable.testing.clocks import Watch, tuned
from singletable.testing.memory import Memory
from singletable.wire import Effect, Exclusive, Pause, Steps, Together

__all__ = ["Alone", "Turns", "TurnsStore"]


class Turns(Protocol):
    """Who decides when a request of a store is carried out."""

    def watch(self) -> Watch:
        """Give the watch of the strand that asks."""
        ...

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Carry a request out when its turn comes."""
        ...

    def alone(self, key: Hashable, work: Callable[[], Any], /) -> Any:
        """Do some work while no other strand of the store holds the key."""
        ...

    def together(self, works: Sequence[Callable[[], Any]], at_most: int, /) -> list[Any]:
        """Do several works at the same time."""
        ...


class Alone:
    """Lets everything happen at once, on a memory that nobody else uses meanwhile."""

    def __init__(self, memory: Memory, name: str) -> None:
        self._memory = memory
        self._watch = Watch(name)

    def watch(self) -> Watch:
        """Give the one watch there is."""
        return self._watch

    def send(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Carry a request out."""
        return self._memory.perform(method, params)

    def alone(self, _: Hashable, work: Callable[[], Any], /) -> Any:
        """Do the work."""
        return work()

    def together(self, works: Sequence[Callable[[], Any]], _: int, /) -> list[Any]:
        """Do one work after the other."""
        return [work() for work in works]


class TurnsStore(Store):
    """A store that takes turns with others."""

    def __init__(self, table: Table, turns: Turns) -> None:
        client = Client(turns.send)
        super().__init__(table, client=client)
        self._verbs.context = tuned(self._verbs.context, turns.watch)
        self._driver = _Driver(client, turns)


class _Driver(Driver):
    """Performs effects as turns allow; a pause moves the strand's watch and takes no time."""

    def __init__(self, client: Client, turns: Turns) -> None:
        super().__init__(lambda: client, workers=1)
        self._turns = turns

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Pause):
            self._turns.watch().seconds += effect.seconds
            return None
        return super()._perform(effect)

    def _alone(self, effect: Exclusive) -> Any:
        return self._turns.alone(effect.key, lambda: self.run(effect.flow))

    def _together(self, effect: Together) -> list[Any]:
        return self._turns.together([self._work(flow) for flow in effect.flows], effect.at_most)

    def _work(self, flow: Steps[Any]) -> Callable[[], Any]:
        return lambda: self._outcome(flow)
