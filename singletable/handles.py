"""What `store.sequence(...)` gives, in both colours: a handle on the numbers of one field in one group."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from singletable.operations.sequences import (
    NumbersOf,
    PeekSequence,
    ReserveNumbers,
    ResetSequence,
    SetSequence,
    SyncSequence,
)

__all__ = ["AsyncSequenceHandle", "SequenceHandle"]


class SequenceHandle:
    """The numbers of one AutoIncrement field in one group, such as the orders of one user.

    A counter never goes back, but for `reset()`. By sort key there is no counter: `peek()` and `sync()` give the
    highest number stored, and the others are UsageErrors.
    """

    def __init__(self, numbers: NumbersOf, run: Callable[[Any], Any]) -> None:
        self._numbers = numbers
        self._run = run

    def peek(self) -> int | None:
        """Give the last number issued, read strongly; None where none was. Of a block the end, given out or not."""
        last: int | None = self._run(PeekSequence(self._numbers))
        return last

    def reserve(self, count: int) -> range:
        """Draw so many consecutive numbers for your own use: no entity is given one. SequenceExhausted beyond the end.

        UsageError where numbers have no gaps.
        """
        numbers: range = self._run(ReserveNumbers(self._numbers, count))
        return numbers

    def set(self, last: int) -> None:
        """Say which number was issued last, so that the next one is above it. UsageError where it is beyond already."""
        self._run(SetSequence(self._numbers, last))

    def sync(self) -> int | None:
        """Raise the counter to the highest number stored, and give the last number issued then.

        A partition whose numbers end its keys is asked by one query, any other is read; the counter of a whole entity,
        and a Sequence, scans the table. Safe beside writers.
        """
        last: int | None = self._run(SyncSequence(self._numbers))
        return last

    def reset(self) -> None:
        """Forget the counter, so that numbers begin at `start` again: only where no item is left that has them.

        Other processes may still give out what is left of their blocks.
        """
        self._run(ResetSequence(self._numbers))

    def __repr__(self) -> str:
        return _described(self._numbers)


class AsyncSequenceHandle:
    """The numbers of one AutoIncrement field in one group, such as the orders of one user; every verb is awaited.

    A counter never goes back, but for `reset()`. By sort key there is no counter: `peek()` and `sync()` give the
    highest number stored, and the others are UsageErrors.
    """

    def __init__(self, numbers: NumbersOf, run: Callable[[Any], Awaitable[Any]]) -> None:
        self._numbers = numbers
        self._run = run

    async def peek(self) -> int | None:
        """Give the last number issued, read strongly; None where none was. Of a block the end, given out or not."""
        last: int | None = await self._run(PeekSequence(self._numbers))
        return last

    async def reserve(self, count: int) -> range:
        """Draw so many consecutive numbers for your own use: no entity is given one. SequenceExhausted beyond the end.

        UsageError where numbers have no gaps.
        """
        numbers: range = await self._run(ReserveNumbers(self._numbers, count))
        return numbers

    async def set(self, last: int) -> None:
        """Say which number was issued last, so that the next one is above it. UsageError where it is beyond already."""
        await self._run(SetSequence(self._numbers, last))

    async def sync(self) -> int | None:
        """Raise the counter to the highest number stored, and give the last number issued then.

        A partition whose numbers end its keys is asked by one query, any other is read; the counter of a whole entity,
        and a Sequence, scans the table. Safe beside writers.
        """
        last: int | None = await self._run(SyncSequence(self._numbers))
        return last

    async def reset(self) -> None:
        """Forget the counter, so that numbers begin at `start` again: only where no item is left that has them.

        Other processes may still give out what is left of their blocks.
        """
        await self._run(ResetSequence(self._numbers))

    def __repr__(self) -> str:
        return _described(self._numbers)


def _described(numbers: NumbersOf) -> str:
    group = ", ".join(f"{name}={value!r}" for name, value in numbers.values.items())
    return f"<numbers of {numbers.entity.__name__}.{numbers.name}{f' for {group}' if group else ''}>"
