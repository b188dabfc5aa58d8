"""The writers in their three forms: threads of one process, threads of several processes, tasks of an event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from aiobotocore.config import AioConfig
from botocore.config import Config

from singletable import Store
from singletable.aio import AsyncStore
from tests.contract.behind import REGION, async_session, in_threads, session
from tests.contract.programs import Document
from tests.faults.client import FaultyAsyncClient, FaultyClient
from tests.faults.rules import DROPPED, SERVER_ERROR, THROTTLE, Rule, Script
from tests.proof.histories import Recorder
from tests.proof.strategies import STRATEGIES
from tests.proof.watching import WatchedAsyncClient, WatchedClient
from tests.proof.writing import Job, Order, Writing, writer

__all__ = [
    "FORMS",
    "RETRYING",
    "Around",
    "Form",
    "faults",
    "in_tasks",
    "in_the_threads_of_processes",
    "performed",
    "plain_client",
    "threaded",
]

ONCE: Any = {"retries": {"total_max_attempts": 1}, "max_pool_connections": 32}
RETRYING: Any = {"retries": {"total_max_attempts": 4, "mode": "legacy"}, "max_pool_connections": 32}
PATIENCE = 60.0
"""Seconds in which all processes must have come to their start."""

Form: TypeAlias = Callable[[Job], Sequence[Path]]
"""Does a job and gives where the histories of its processes stand."""


Around: TypeAlias = Callable[[Any], Any]
"""Puts something around a client."""


def _as_it_is(client: Any) -> Any:
    return client


def faults(chance: float, seed: int, dropped: Any = DROPPED) -> Script:
    """Make the script of a run: a reply lost after the engine did the work, an error 500, a throttling."""
    # A rule is asked only where those before it did nothing: its chance is that of what they leave.
    return Script(
        Rule(dropped, chance=chance),
        Rule(SERVER_ERROR, chance=min(1.0, chance / (1 - chance))),
        Rule(THROTTLE, chance=min(1.0, chance / (1 - 2 * chance))),
        seed=seed,
    )


def plain_client(url: str, *, retrying: bool = False) -> Any:
    """Make a client without faults that sends once, or several times by itself."""
    config = Config(**(RETRYING if retrying else ONCE))
    return session().client("dynamodb", endpoint_url=url, region_name=REGION, config=config)


def threaded(job: Job, client: Any = None, around: Around = _as_it_is) -> Sequence[Path]:
    """Do a job in a thread for each writer, with one store for all.

    `client` is the engine's, where it is embedded, and `around` wraps what the store is given, faults and all.
    """
    clean = plain_client(job.url, retrying=job.retrying) if client is None else client
    faulty = clean if job.retrying else FaultyClient(clean, faults(job.chance, job.seed))
    table = STRATEGIES[job.strategy].table
    store = _patient(Store(table, name=job.table, client=WatchedClient(around(faulty))), job)
    document = Document(Store(table, name=job.table, client=clean))

    def perform(step: Any) -> Any:
        return document.order(step.id) if isinstance(step, Order) else store.run(step)

    with Recorder(job.path) as recorder:
        in_threads(len(job.writers), lambda place: performed(writer(job, place, recorder), perform))
    store.close()
    if client is None:
        clean.close()
    return [job.path]


def performed(steps: Writing, perform: Callable[[Any], Any]) -> None:
    """Perform the steps of a writer."""
    try:
        step = next(steps)
        while True:
            try:
                result = perform(step)
            except Exception as error:  # noqa: BLE001 - the writer is told
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration:
        return


def in_the_threads_of_processes(job: Job, processes: int = 4) -> Sequence[Path]:
    """Do a job in so many processes at once, the writers shared out between them as threads."""
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(processes)
    jobs = [
        replace(
            job,
            path=job.path.with_name(f"{job.path.name}-{place}"),
            seed=job.seed * processes + place,
            writers=job.writers[place::processes],
        )
        for place in range(processes)
    ]
    running = [spawn.Process(target=_process, args=(each, start)) for each in jobs]
    for process in running:
        process.start()
    for process in running:
        process.join()
    if any(process.exitcode for process in running):
        raise RuntimeError(f"a process of the writers ended with {[process.exitcode for process in running]}")
    return [each.path for each in jobs]


def _process(job: Job, start: Any) -> None:
    """Do the part of one process, once all are here."""
    start.wait(PATIENCE)
    threaded(job)


def in_tasks(job: Job) -> Sequence[Path]:
    """Do a job in a task for each writer, with one awaited store for all."""
    asyncio.run(_tasks(job))
    return [job.path]


async def _tasks(job: Job) -> None:
    config = AioConfig(**(RETRYING if job.retrying else ONCE))
    making: Any = async_session().create_client("dynamodb", endpoint_url=job.url, region_name=REGION, config=config)
    table = STRATEGIES[job.strategy].table
    clean = plain_client(job.url)
    document = Document(Store(table, name=job.table, client=clean))
    async with making as client:
        faulty = client if job.retrying else FaultyAsyncClient(client, faults(job.chance, job.seed))
        store = _patient(AsyncStore(table, name=job.table, client=WatchedAsyncClient(faulty)), job)

        async def perform(step: Any) -> Any:
            if isinstance(step, Order):
                return await asyncio.to_thread(document.order, step.id)
            return await store.run(step)

        with Recorder(job.path) as recorder:
            writers = [writer(job, place, recorder) for place in range(len(job.writers))]
            await asyncio.gather(*(_awaited(steps, perform) for steps in writers))
    clean.close()


async def _awaited(steps: Writing, perform: Callable[[Any], Awaitable[Any]]) -> None:
    """Perform the steps of a writer, each awaited."""
    try:
        step = next(steps)
        while True:
            try:
                result = await perform(step)
            except Exception as error:  # noqa: BLE001 - the writer is told
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration:
        return


def _patient(store: Any, job: Job) -> Any:
    """Let a store send each request as often as the job says."""
    store._verbs.context = replace(store._verbs.context, attempts=job.attempts)
    return store


FORMS: Mapping[str, Form] = {"threads": threaded, "processes": in_the_threads_of_processes, "tasks": in_tasks}
