"""The event loop that the awaited halves of these tests run in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.awaited import LoopThread


@pytest.fixture(scope="session")
def loop() -> Iterator[LoopThread]:
    """Give the event loop that all awaited stores run in."""
    with LoopThread() as running:
        yield running
