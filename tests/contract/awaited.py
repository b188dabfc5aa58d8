"""An `AsyncStore` that looks like a `Store`, so that every contract test runs on it unchanged.

One event loop runs in a thread of its own. A verb is handed to that loop and waited for, from as many threads as the
test has; the verbs, the flows, the driver and the client under test are those of asyncio.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, Self, TypeVar

from singletable.aio import AsyncRows, AsyncSequenceHandle, AsyncStore

T = TypeVar("T")

END = object()
"""What follows the last row."""

PATIENCE = 60.0
"""Seconds an awaited verb may take before a test fails instead of hanging."""


class LoopThread:
    """An event loop in a thread of its own; `with` ends it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="loop of the tests", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.wait(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    @property
    def is_here(self) -> bool:
        """Whether the caller runs in this loop."""
        return threading.current_thread() is self._thread

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)


class Blocking:
    """The verbs of an `AsyncStore`, each waited for."""

    def __init__(self, store: AsyncStore, loop: LoopThread) -> None:
        self.awaited = store
        self.loop = loop

    @property
    def client(self) -> BothWays:
        """The client that the store sends with."""
        return BothWays(self.loop.wait(self.awaited._driver._client()), self.loop)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.awaited, name)
        if not inspect.ismethod(found):
            return found

        def verb(*args: Any, **options: Any) -> Any:
            given = [each._rows if isinstance(each, BlockingRows) else each for each in args]
            answer: Any = found(*given, **options)
            if isinstance(answer, AsyncStore):
                return Blocking(answer, self.loop)
            if isinstance(answer, AsyncRows):
                return BlockingRows(answer, self.loop)
            if isinstance(answer, AsyncSequenceHandle):
                return BothWays(answer, self.loop)
            return self.loop.wait(answer) if inspect.iscoroutine(answer) else answer

        return verb

    def __repr__(self) -> str:
        return repr(self.awaited)


class BlockingRows:
    """The answer to a query, row by row, each waited for."""

    def __init__(self, rows: Any, loop: LoopThread) -> None:
        self._rows = rows
        self._loop = loop

    def __iter__(self) -> Iterator[Any]:
        rows: Any = aiter(self._rows)

        async def following() -> Any:
            return await anext(rows, END)

        async def close() -> None:
            await rows.aclose()

        try:
            while (row := self._loop.wait(following())) is not END:
                yield row
        finally:
            self._loop.wait(close())

    def all(self) -> list[Any]:
        """Read every row."""
        found: list[Any] = self._loop.wait(self._rows.all())
        return found

    def __bool__(self) -> bool:
        return bool(self._rows)

    def __repr__(self) -> str:
        return repr(self._rows)


class BothWays:
    """A client, or a handle, that is awaited within its loop and waited for outside of it."""

    def __init__(self, client: Any, loop: LoopThread) -> None:
        self._client = client
        self._loop = loop

    def __repr__(self) -> str:
        return repr(self._client)

    def __getattr__(self, name: str) -> Any:
        found: Any = getattr(self._client, name)
        if not inspect.isroutine(found):
            return found

        def request(*args: Any, **params: Any) -> Any:
            answer = found(*args, **params)
            return self._loop.wait(answer) if inspect.iscoroutine(answer) and not self._loop.is_here else answer

        return request
