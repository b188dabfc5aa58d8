"""What a scene of the demonstration gives to be shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from singletable.demo.reading import Reading

__all__ = ["Progress", "Scene"]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told what is being done, how many are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One application: what it stored and how long that took, what it asked, and what there is to see in it."""

    name: str
    title: str
    stored: int
    seconds: float
    facts: tuple[str, ...]
    readings: tuple[Reading, ...]
    lesson: str
