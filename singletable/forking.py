"""What a process must not share with the one it was made of: connections, locks, numbers that are nobody else's.

Theory of operation. Two processes that use one socket read each other's replies, so a child drops every client that was
made before the fork and makes its own. What is dropped is kept alive, unused: to close it would take locks that another
thread held at the fork, or tell the parent's event loop. A client is made under one lock, which a fork waits for: a
child that began in the middle of it would wait for the import locks of a thread that it does not have. It waits for so
long only, lest a lock that the maker wants and the forking thread holds should stop both for ever.

A Lambda function with SnapStart is restored from a snapshot many times over; its runtime tells those who ask for it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from importlib import import_module
from threading import RLock
from typing import Any, TypeVar

__all__ = ["MAKING", "abandon", "forget_in_child", "forget_when_restored"]

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds that a fork waits at most for a client that another thread makes."""


SNAPSHOT = ("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")
"""Tells that a process may be restored many times over. Source: AWS Lambda, "Defined runtime environment variables"."""

_OWNERS: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()
_ABANDONED: list[object] = []


def forget_in_child(owner: T, forget: Callable[[T], None]) -> None:
    """Have `forget(owner)` called in every forked child, where no other thread runs, for as long as the owner lives."""
    _OWNERS[owner] = forget


def forget_when_restored(
    forget: Callable[[], None],
    environment: Mapping[str, str] = os.environ,
    find: Callable[[str], Any] = import_module,
) -> bool:
    """Have `forget` called in every process that is restored from a snapshot; False where nobody would call it.

    The hook is that of AWS Lambda's Python runtime ("Lambda SnapStart runtime hooks for Python").
    """
    name, value = SNAPSHOT
    if environment.get(name) != value:
        return True
    try:
        hooks = find("snapshot_restore_py")
    except ImportError:
        return False
    hooks.register_after_restore(forget)
    return True


def abandon(dropped: object) -> None:
    """Keep what belongs to the parent alive, so that nothing of it is closed from here."""
    _ABANDONED.append(dropped)


class _Making:
    """The lock that is held while a client is made; `with` takes it, as often as a thread likes."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._waited_for = False

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def before_fork(self) -> None:
        """Wait until no client is being made."""
        self._waited_for = self._lock.acquire(timeout=PATIENCE)

    def in_parent(self) -> None:
        """Let others make clients again."""
        if self._waited_for:
            self._lock.release()

    def in_child(self) -> None:
        """Let this process make clients, whoever held the lock in the parent."""
        if self._waited_for:
            self._lock.release()
        else:
            self._lock = RLock()
        for owner, forget in list(_OWNERS.items()):
            forget(owner)


MAKING = _Making()
"""Held while a client is made, and by whoever forks."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=MAKING.before_fork, after_in_parent=MAKING.in_parent, after_in_child=MAKING.in_child)
