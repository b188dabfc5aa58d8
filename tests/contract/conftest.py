"""The backends that every operation is run on.

A test asks `backend` for a store of its own and says everything else through the store's verbs, so that another colour
is one parameter more: a maker whose store has the same verbs and waits for the answers of an asynchronous one. What
looks behind the mapper's back goes through `tests.contract.behind`, the only place that knows a store's client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import TypeAlias

import pytest

from singletable import Store, Table, TableMissing
from tests.contract.behind import REGION, session

MakeStore: TypeAlias = Callable[[Table], Store]
"""Bind a table to a place of its own and create it there."""


@pytest.fixture(params=["moto", "dynoxide"])
def backend(request: pytest.FixtureRequest, table_name: str) -> Iterator[MakeStore]:
    """Give a maker of stores, on moto in process and on dynoxide; what is made on dynoxide is deleted again."""
    if request.param == "moto":
        yield Store.local
    else:
        yield from _on_server(request.getfixturevalue("dynoxide_url"), table_name)


def _on_server(url: str, table_name: str) -> Iterator[MakeStore]:
    numbers = count(1)
    made: list[Store] = []

    def make(table: Table) -> Store:
        name = f"{table_name}-{next(numbers)}"
        store = Store(table, name=name, endpoint_url=url, region=REGION, session=session())
        store.create_table()
        made.append(store)
        return store

    yield make
    for store in made:
        _drop(store)


def _drop(store: Store) -> None:
    """Delete a table, unless the test did so itself."""
    with suppress(TableMissing):
        store.delete_table()
    store.close()
