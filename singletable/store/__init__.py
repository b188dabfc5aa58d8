"""`Store`: one table in one place, and the verbs on it.

Theory of operation. A store binds a `Table` to a name, a client and a clock. Each verb makes one operation and runs it;
there is no I/O anywhere else. The client is made when the first request is sent, once per store, by boto3's own rules
for sessions, regions, endpoints and credentials; it sends each request once, since the operations themselves send again
and so know of every attempt. A client that is handed in keeps its own configuration.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from singletable.handed import check_table
from singletable.local import local_client
from singletable.schema import Table
from singletable.store.pages import Paged
from singletable.store.reads import Reads
from singletable.store.tables import Tables
from singletable.store.transactions import Transactions
from singletable.store.writes import Writes
from singletable.verbs import Clock, CursorKey, utc_now

__all__ = ["Store"]


class Store(Reads, Paged, Writes, Transactions, Tables):
    """A table in one place; safe to share between threads, one for each process is enough.

    `name` is the table's name there (the declared one if left out). `client`, or `session`, `endpoint_url` and `region`
    say where; without them boto3's environment rules hold (`AWS_PROFILE`, `AWS_DEFAULT_REGION`,
    `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_MAX_ATTEMPTS` and so on). Nothing is sent, and no client made, before the first
    verb. DeclarationError where the table's entities do not fit together.

    `cursor_key` seals the cursors of `page`: a secret, or several, of which the first seals and all are taken.
    `cursor_ttl` says how long a cursor holds; without it, for ever.

    After a fork the child makes a client of its own; one that is handed in is kept, so make it after the fork.
    """

    @classmethod
    def local(
        cls,
        table: Table,
        *,
        clock: Clock = utc_now,
        cursor_key: CursorKey | None = None,
        cursor_ttl: timedelta | None = None,
    ) -> Self:
        """Make a store on an embedded engine in this process, with the table created.

        For demos, tests and learning: it needs the extra `local` (moto), keeps everything in memory, and is seen by
        this store alone. ConfigurationError where moto is not installed.
        """
        check_table(table)
        store = cls(table, client=local_client(), clock=clock, cursor_key=cursor_key, cursor_ttl=cursor_ttl)
        store.create_table()
        return store
