"""`AsyncStore`: the verbs of `Store`, awaited; needs the extra `aio` (aiobotocore)."""

from __future__ import annotations

from datetime import timedelta
from typing import Never

from singletable.aio.pages import Paged
from singletable.aio.reads import Reads
from singletable.aio.tables import Tables
from singletable.aio.transactions import AsyncTransaction, Transactions
from singletable.aio.writes import Writes
from singletable.errors import ConfigurationError
from singletable.handed import check_table
from singletable.handles import AsyncSequenceHandle
from singletable.rows import AsyncRows
from singletable.schema import Table
from singletable.verbs import Clock, CursorKey, utc_now

__all__ = ["AsyncRows", "AsyncSequenceHandle", "AsyncStore", "AsyncTransaction"]


class AsyncStore(Reads, Paged, Writes, Transactions, Tables):
    """A table in one place, for asyncio: `async with AsyncStore(app) as store`, or make one and use it.

    `session` is an aiobotocore session and `client` an aiobotocore client that is open; everything else is as for
    `Store`. There is one client for each event loop, closed by `await store.close()`, by leaving `async with`, or with
    its loop; a forked child makes its own. A write whose task is cancelled may or may not have happened.
    ConfigurationError where aiobotocore is not installed.
    """

    @classmethod
    def local(
        cls,
        table: Table,
        *,
        clock: Clock = utc_now,
        cursor_key: CursorKey | None = None,
        cursor_ttl: timedelta | None = None,
    ) -> Never:
        """Refuse: the embedded engine (moto) answers no aiobotocore client. ConfigurationError says what to use."""
        check_table(table)
        raise ConfigurationError(
            f"AsyncStore.local({table.name!r}): the embedded engine works with Store only",
            hint="start an engine, such as `npx dynoxide --port 8000`, and pass endpoint_url='http://127.0.0.1:8000'",
        )
