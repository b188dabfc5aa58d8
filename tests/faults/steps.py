"""What the flows of the fault transport ask for: requests that really go to the engine, and waiting."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Flow", "Params", "Send", "Wait"]

Params: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request to the engine; the answer, or what went wrong, comes back."""

    method: str
    params: Params


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


Flow: TypeAlias = Generator[Send | Wait, Any, Any]
"""The steps of one request; its result is the answer, as a dict."""
