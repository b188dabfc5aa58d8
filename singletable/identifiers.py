"""Ids that are drawn where an entity is made: `Ulid` and `Uuid7`, unique without asking anybody and sorted by time.

Theory of operation. An id is 48 bits of milliseconds since 1970, then chance. Within a process each is greater than the
one before, also where many are drawn in one millisecond or the clock is set back: the last one is then increased by
chance (RFC 9562, section 6.2, method 2). A forked child begins anew, since it would go on from its parent's last.

A constructor asks for the time and for chance, so these fields stand on the floor of the world; what is below sees a
field with a `default_factory`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from threading import Lock
from typing import Any
from uuid import UUID

from singletable.codecs import Scope, unwrapped
from singletable.errors import DeclarationError
from singletable.fields import MISSING, Field
from singletable.forking import forget_in_child

__all__ = ["TimeOrdered", "Ulid", "Uuid7", "ulid_text", "uuid7_of"]

ULID_CHANCE = 80
UUID7_CHANCE = 74
STEP_CHANCE = 32
"""An id drawn in the same millisecond lies above the last one by at most 2**32: it cannot be guessed from that."""

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""The 32 digits of a ULID, in the order of their characters. Source: github.com/ulid/spec."""


class TimeOrdered:
    """Draws numbers of milliseconds and then so many bits of chance, each greater than the one before."""

    def __init__(self, bits: int, *, clock: Callable[[], int], chance: Callable[[int], int]) -> None:
        self._bits = bits
        self._clock = clock
        self._chance = chance
        self.forget()

    def forget(self) -> None:
        """Begin anew, with a lock that nobody holds."""
        self._lock = Lock()
        self._last = 0

    def draw(self) -> int:
        """Give the next number; any thread may ask."""
        with self._lock:
            now = self._clock()
            if now > self._last >> self._bits:
                self._last = now << self._bits | self._chance(self._bits)
            else:
                self._last += 1 + self._chance(STEP_CHANCE)
            return self._last


def ulid_text(number: int) -> str:
    """Write 128 bits as a ULID.

    >>> ulid_text(1469918176385 << 80), ulid_text(2**128 - 1)
    ('01ARYZ6S410000000000000000', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ')
    """
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def uuid7_of(number: int) -> UUID:
    """Make a UUID of version 7 of 48 bits of milliseconds and 74 of chance. Source: RFC 9562, section 5.7.

    >>> uuid7_of(0x017F22E279B0 << 74 | 0xCC3 << 62 | 0x18C4DC0C0C07398F)
    UUID('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
    """
    milliseconds, first, second = number >> 74, number >> 62 & 0xFFF, number & 2**62 - 1
    return UUID(int=milliseconds << 80 | 7 << 76 | first << 64 | 2 << 62 | second)


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


ULIDS = TimeOrdered(ULID_CHANCE, clock=_milliseconds, chance=secrets.randbits)
UUIDS = TimeOrdered(UUID7_CHANCE, clock=_milliseconds, chance=secrets.randbits)
forget_in_child(ULIDS, TimeOrdered.forget)
forget_in_child(UUIDS, TimeOrdered.forget)


class Ulid(Field[str]):
    """Text of 26 characters that the constructor draws where no value is given: `id: Field[str] = Ulid()`.

    ULIDs sort by the time they were drawn, within a process exactly, between processes by the millisecond. An item
    without the attribute is corrupt: an id is never made up for it. Source: github.com/ulid/spec.
    """

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(default_factory=lambda: ulid_text(ULIDS.draw()), name=name)

    def settle(self, annotation: object, scope: Scope | None = None) -> None:
        """Take the annotation, which is `str`. DeclarationError for any other."""
        _check(self, annotation, str)
        super().settle(annotation, scope)

    def when_absent(self) -> Any:
        """Give MISSING: an item must have its id."""
        return MISSING


class Uuid7(Field[UUID]):
    """A UUID of version 7 that the constructor draws where no value is given: `id: Field[UUID] = Uuid7()`.

    They sort by the time they were drawn, in keys too: within a process exactly, between processes by the millisecond.
    An item without the attribute is corrupt: an id is never made up for it. Source: RFC 9562.
    """

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(default_factory=lambda: uuid7_of(UUIDS.draw()), name=name)

    def settle(self, annotation: object, scope: Scope | None = None) -> None:
        """Take the annotation, which is `UUID`. DeclarationError for any other."""
        _check(self, annotation, UUID)
        super().settle(annotation, scope)

    def when_absent(self) -> Any:
        """Give MISSING: an item must have its id."""
        return MISSING


def _check(field: Field[Any], annotation: object, kind: type) -> None:
    if unwrapped(annotation) is not kind:
        owner = "" if field.owner is None else f"{field.owner.__qualname__}."
        made = type(field).__name__
        raise DeclarationError(
            f"{owner}{field.name}: {made} draws a {kind.__name__}",
            hint=f"write `{field.name}: Field[{kind.__name__}] = {made}()`",
        )
