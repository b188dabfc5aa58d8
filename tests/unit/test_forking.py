"""What a process that was restored from a snapshot must forget."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from singletable.forking import forget_when_restored
from singletable.operations.remembered import Blocks

SNAP_START = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"}


def missing(name: str) -> Any:
    """Find no module."""
    raise ImportError(name)


def test_where_there_is_no_snapshot() -> None:
    """Elsewhere nothing is looked for, and blocks may be kept."""
    assert forget_when_restored(Blocks().forget, {}, missing)
    assert forget_when_restored(Blocks().forget, {"AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand"}, missing)


def test_the_runtime_tells() -> None:
    """Lambda's hook is given what forgets; called, the block is gone."""
    told = list[Callable[[], None]]()
    asked = list[str]()

    def find(name: str) -> Any:
        asked.append(name)
        return SimpleNamespace(register_after_restore=told.append)

    blocks = Blocks()
    blocks.keep(("c",), [1, 2])
    assert forget_when_restored(blocks.forget, SNAP_START, find)
    assert asked == ["snapshot_restore_py"]
    told[0]()
    assert blocks.take(("c",), 1) == []


def test_a_runtime_without_the_hook() -> None:
    """Where nobody would tell, that is said: then no block is kept."""
    assert not forget_when_restored(Blocks().forget, SNAP_START, missing)
