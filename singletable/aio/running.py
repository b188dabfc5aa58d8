"""Where an awaited store's requests go, and how its operations are run."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from copy import copy
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from singletable.errors import ConfigurationError
from singletable.loops import AsyncDriver
from singletable.schema import Table
from singletable.verbs import CONNECT_SECONDS, POOL, Clock, CursorKey, Operation, Verbs, check_place, utc_now

__all__ = ["Running"]

T = TypeVar("T")


class Running:
    """A table in one place, and a driver that runs operations there, awaited."""

    def __init__(
        self,
        table: Table,
        name: str | None = None,
        *,
        session: Any = None,
        client: Any = None,
        endpoint_url: str | None = None,
        region: str | None = None,
        clock: Clock = utc_now,
        cursor_key: CursorKey | None = None,
        cursor_ttl: timedelta | None = None,
    ) -> None:
        check_place(client, session, endpoint_url, region)
        self._verbs = Verbs(table, name, clock, cursor_key, cursor_ttl=cursor_ttl)

        def connect() -> AbstractAsyncContextManager[Any]:
            return nullcontext(client) if client is not None else _client(session, endpoint_url, region)

        self._driver = AsyncDriver(connect)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def table(self) -> Table:
        """The table's declaration."""
        return self._verbs.table

    @property
    def name(self) -> str:
        """The table's name in this place."""
        return self._verbs.context.table

    def scoped(self, **scope: str) -> Self:
        """Give a store on what stands in one scope alone, `store.scoped(tenant="t7")`, for a table that declares one.

        It shares everything else with this store, and nothing is sent. MissingPart, UnknownPart or KeyPartError where
        the names and values are not those of the scope's template, UsageError where this store is scoped already.
        """
        made = copy(self)
        made._verbs = self._verbs.scoped(scope)
        return made

    async def run(self, operation: Operation[T]) -> T:
        """Run any operation and give its result."""
        return await self._driver.run(self._verbs.checked(operation).steps(self._verbs.context))

    async def close(self) -> None:
        """Close the client of the running loop; the store can still be used."""
        await self._driver.close()

    def __repr__(self) -> str:
        return self._verbs.described(type(self).__name__)


def _client(session: Any, endpoint_url: str | None, region: str | None) -> AbstractAsyncContextManager[Any]:
    """Make an aiobotocore client that sends each request once."""
    try:
        from aiobotocore.config import AioConfig
        from aiobotocore.session import get_session
    except ImportError as error:
        raise ConfigurationError(
            "AsyncStore needs aiobotocore, which is not installed", hint='install it: pip install "singletable[aio]"'
        ) from error
    made = get_session() if session is None else session
    config = AioConfig(
        retries={"total_max_attempts": 1},
        max_pool_connections=POOL,
        user_agent_extra="singletable",
        connect_timeout=CONNECT_SECONDS,
    )
    client: AbstractAsyncContextManager[Any] = made.create_client(
        "dynamodb", endpoint_url=endpoint_url, region_name=region, config=config
    )
    return client
