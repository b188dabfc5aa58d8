"""The backends that every operation is run on, in both colours.

A test asks `backend` for a store of its own and says everything else through the store's verbs, so that it runs on each
engine, and on an `AsyncStore` whose answers are waited for. What looks behind the mapper's back goes through
`tests.contract.behind`, the only place that knows a store's client. Where an engine is known to do otherwise than
DynamoDB, `tests.contract.deviations` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeAlias, cast

import pytest

from singletable import Store, Table, TableMissing
from singletable.aio import AsyncStore
from tests.contract.awaited import Blocking, LoopThread
from tests.contract.behind import REGION, async_session, session
from tests.contract.deviations import DEVIATIONS

HERE = Path(__file__).parent

MakeStore: TypeAlias = Callable[[Table], Store]
"""Bind a table to a place of its own and create it there."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect each test to fail on the engines that are known to deviate there."""
    for item in items:
        if isinstance(item, pytest.Function) and HERE in item.path.parents and hasattr(item, "callspec"):
            engine = str(item.callspec.params.get("backend", "")).partition("-")[0]
            reason = DEVIATIONS.get(engine, {}).get(f"{item.path.stem}::{item.originalname}")
            if reason is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(scope="session")
def loop() -> Iterator[LoopThread]:
    """Give the event loop that all awaited stores run in."""
    with LoopThread() as running:
        yield running


TRANSACTING = ("moto", "dynoxide", "dynoxide-async")
"""The backends with transactions: dynalite has none."""


@pytest.fixture(params=[*TRANSACTING, "dynalite"])
def backend(request: pytest.FixtureRequest, table_name: str) -> Iterator[MakeStore]:
    """Give a maker of stores on one engine and in one colour; what is made on an engine of its own is deleted again."""
    yield from _stores(request, table_name)


@pytest.fixture(params=TRANSACTING)
def transacting(request: pytest.FixtureRequest, table_name: str) -> Iterator[MakeStore]:
    """Give a maker of stores as `backend` does, on the engines that have transactions."""
    yield from _stores(request, table_name)


def _stores(request: pytest.FixtureRequest, table_name: str) -> Iterator[MakeStore]:
    engine, _, colour = request.param.partition("-")
    if engine == "moto":
        yield Store.local
        return
    place = Place(request.getfixturevalue(f"{engine}_url"), table_name)
    yield from _made_with(_awaited(place, request.getfixturevalue("loop")) if colour else _plain(place))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tables of one test go: the engine's URL, and what their names begin with."""

    url: str
    table_name: str


Bind: TypeAlias = Callable[[Table, int], Store]
"""Bind a table to a place, under a number."""


def _plain(place: Place) -> Bind:
    def bind(table: Table, number: int) -> Store:
        name = f"{place.table_name}-{number}"
        return Store(table, name=name, endpoint_url=place.url, region=REGION, session=session())

    return bind


def _awaited(place: Place, loop: LoopThread) -> Bind:
    def bind(table: Table, number: int) -> Store:
        name = f"{place.table_name}-{number}"
        store = AsyncStore(table, name=name, endpoint_url=place.url, region=REGION, session=async_session())
        return cast(Store, Blocking(store, loop))

    return bind


def _made_with(bind: Bind) -> Iterator[MakeStore]:
    numbers = count(1)
    made: list[Store] = []

    def make(table: Table) -> Store:
        store = bind(table, next(numbers))
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
