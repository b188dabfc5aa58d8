"""What a store remembers of numbers between its operations: the highest ones it has seen, and blocks it has drawn.

Theory of operation. Both are lost with the process, and neither is shared with another: a forked child begins with
nothing. A hint may be wrong, since it is tried on condition; a block may not, since its numbers are given out with no
further question. So a block must not live on in two processes. A Lambda function with SnapStart starts many from one
snapshot: there a restored process is told to forget, and where nobody can tell it so, no block is kept at all.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable
from threading import Lock

__all__ = ["Blocks", "Hints"]


class Hints:
    """The highest number this process has seen in a partition, kept for a minute at most, for so many partitions.

    A number that was just stored is known for certain, so that whoever stored it needs one request for the next, and
    others, who must read first, two: they would never win. So after some `turns` in a row it is read again.
    """

    def __init__(self, *, size: int = 10_000, seconds: float = 60.0, turns: int = 12) -> None:
        self._size = size
        self._seconds = seconds
        self._turns = turns
        self.forget()

    def forget(self) -> None:
        """Begin anew, with a lock that nobody holds: for a forked child, where no other thread runs."""
        self._lock = Lock()
        self._seen: OrderedDict[Hashable, tuple[int, float, int]] = OrderedDict()

    def get(self, key: Hashable, now: float) -> int | None:
        """Give the highest number seen, or None where it is unknown or too old."""
        with self._lock:
            number, until, turn = self._seen.get(key, (None, 0.0, 0))
            if number is None or now >= until or turn >= self._turns:
                self._seen.pop(key, None)
                return None
            return number

    def keep(self, key: Hashable, number: int, now: float) -> None:
        """Remember a number; the partition used longest ago is forgotten when there are too many."""
        with self._lock:
            _, _, turn = self._seen.get(key, (None, 0.0, 0))
            self._seen[key] = (number, now + self._seconds, turn + 1)
            self._seen.move_to_end(key)
            if len(self._seen) > self._size:
                self._seen.popitem(last=False)

    def drop(self, key: Hashable) -> None:
        """Forget a number that proved wrong."""
        with self._lock:
            self._seen.pop(key, None)


class Blocks:
    """Numbers that were drawn from a counter and not given out yet; `keeps` is False where none may be kept."""

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps = keeps
        self.forget()

    def forget(self) -> None:
        """Begin anew, with a lock that nobody holds: for a process that did not draw them."""
        self._lock = Lock()
        self._left: dict[tuple[Hashable, ...], deque[int]] = {}

    def take(self, key: tuple[Hashable, ...], count: int, *, whole: bool = False) -> list[int]:
        """Give out so many numbers, or what there is; with `whole` none where there are fewer."""
        with self._lock:
            left = self._left.get(key)
            if left is None or (whole and len(left) < count):
                return []
            taken = [left.popleft() for _ in range(min(count, len(left)))]
            if not left:
                del self._left[key]
            return taken

    def keep(self, key: tuple[Hashable, ...], numbers: Iterable[int]) -> None:
        """Keep numbers that were drawn, after those that are left."""
        with self._lock:
            left = [*self._left.get(key, ()), *numbers]
            if left:
                self._left[key] = deque(sorted(left))

    def drop(self, counter: Hashable) -> None:
        """Forget the numbers of a counter, whoever drew them: its key stands first in theirs."""
        with self._lock:
            for key in [each for each in self._left if each[0] == counter]:
                del self._left[key]
