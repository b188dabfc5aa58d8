"""Where a store's requests go, and how its operations are run."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from datetime import timedelta
from typing import Any, Self, TypeVar

from singletable.driver import Driver
from singletable.forking import MAKING, abandon, forget_in_child
from singletable.schema import Table
from singletable.verbs import CONNECT_SECONDS, POOL, Clock, CursorKey, Operation, Verbs, check_place, utc_now

__all__ = ["Running"]

T = TypeVar("T")


class Running:
    """A table in one place, and a driver that runs operations there."""

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
        self._given = self._made = client
        self._make: Callable[[], Any] = lambda: _client(session, endpoint_url, region)
        self._driver = Driver(self._connected, workers=POOL)
        forget_in_child(self, Running._forget)

    def _forget(self) -> None:
        """Drop a client that was made here, as a forked child must."""
        if self._made is not self._given:
            abandon(self._made)
            self._made = self._given

    def _connected(self) -> Any:
        made = self._made
        if made is None:
            with MAKING:
                made = self._made = self._make() if self._made is None else self._made
        return made

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

    def run(self, operation: Operation[T]) -> T:
        """Run any operation and give its result."""
        return self._driver.run(self._verbs.checked(operation).steps(self._verbs.context))

    def close(self) -> None:
        """Let helper threads go; the store can still be used."""
        self._driver.close()

    def __repr__(self) -> str:
        return self._verbs.described(type(self).__name__)


def _client(session: Any, endpoint_url: str | None, region: str | None) -> Any:
    """Make a boto3 client that sends each request once."""
    import boto3
    from botocore.config import Config

    made = boto3.session.Session() if session is None else session
    config = Config(
        retries={"total_max_attempts": 1},
        max_pool_connections=POOL,
        user_agent_extra="singletable",
        connect_timeout=CONNECT_SECONDS,
    )
    return made.client("dynamodb", endpoint_url=endpoint_url, region_name=region, config=config)
