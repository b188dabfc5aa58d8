"""Code that is wrong in one way is caught by the checks; the same run without that is not.

Each of these is a way in which numbers have gone wrong: without the id of the create, without a strong read, counting
blindly on after a lost race, with deletes that leave nothing, on an engine without atomic updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from singletable import OutcomeUnknown, SequenceContention, Store, Throttled
from singletable.local import local_client
from tests.contract.behind import everything, in_threads, session
from tests.contract.programs import Document
from tests.contract.test_source_programs import projects
from tests.faults.lagging import Lagging
from tests.faults.proxy import proxied
from tests.faults.rules import CLOSED
from tests.proof.checks import Violation, stored_once
from tests.proof.controls import Forgetful, Stale, unlocked_client
from tests.proof.histories import Recorder, Row, read
from tests.proof.proving import judge
from tests.proof.strategies import STRATEGIES, Strategy
from tests.proof.writers import RETRYING, Around, faults, performed, plain_client, threaded
from tests.proof.writing import Job, Writer

SIXTEEN = tuple(f"w{place}" for place in range(16))


@pytest.fixture
def clean(dynoxide_url: str) -> Iterator[Any]:
    """Give a client without faults."""
    client = plain_client(dynoxide_url)
    yield client
    client.close()


@pytest.fixture
def job(dynoxide_url: str, table_name: str, tmp_path: Path) -> Job:
    """Give a job of sixteen writers, to be changed."""
    return Job("sort_key", dynoxide_url, table_name, tmp_path / "history", 1, SIXTEEN, 15, 0.05, 2)


def made(job: Job, client: Any) -> Store:
    """Make the table of a job."""
    store = Store(STRATEGIES[job.strategy].table, name=job.table, client=client)
    store.create_table()
    return store


def names(violations: Sequence[Violation]) -> set[str]:
    """Say which checks found something."""
    return {each.check for each in violations}


def judged(store: Store, strategy: Strategy, paths: Sequence[Path]) -> set[str]:
    """Read the table, delete it, and say which checks found something."""
    rows = [strategy.row(item) for item in everything(store)]
    store.delete_table()
    return names(judge(strategy, read(paths), rows))


@pytest.mark.parametrize("strategy", ["sort_key", "counter per entity"])
def test_without_the_id_of_the_create(clean: Any, job: Job, strategy: str) -> None:
    """A put whose reply was lost finds itself in its way, and is stored again under the next number."""
    job = replace(job, strategy=strategy)
    store = made(job, clean)
    assert "stored twice" in judged(store, STRATEGIES[strategy], threaded(job, around=Forgetful))


def in_two_processes(job: Job, between: Callable[[], object], around: Around) -> Sequence[Path]:
    """Let one writer write, and then another one that knows nothing of it."""
    jobs = [replace(job, path=job.path.with_name(each), writers=(each,), count=30, chance=0.0) for each in ("a", "b")]
    first = threaded(jobs[0], around=around)
    between()
    return [*first, *threaded(jobs[1], around=around)]


@pytest.mark.parametrize("stale", [True, False])
def test_without_a_strong_read(clean: Any, job: Job, stale: bool) -> None:
    """Where the highest number is read as it was, each try is lost to a number long there: one gives up to nobody."""
    lagging = Lagging(40)
    store = made(job, clean)
    paths = in_two_processes(
        job, lambda: None, (lambda client: Stale(client, lagging)) if stale else lambda client: client
    )
    assert judged(store, STRATEGIES["sort_key"], paths) == ({"contention"} if stale else set())


@pytest.mark.parametrize("stale", [True, False])
def test_a_new_counter_without_a_strong_read(clean: Any, job: Job, stale: bool) -> None:
    """A counter that is made on data begins too low then: creates draw on past the keys that are taken, and say so."""
    job = replace(job, strategy="counter per partition")
    strategy, lagging = STRATEGIES[job.strategy], Lagging(1000)
    store = made(job, clean)

    def without_counters() -> None:
        for item in everything(store):
            if strategy.row(item).kind == "counter":
                clean.delete_item(TableName=store.name, Key={"PK": item["PK"], "SK": item["SK"]})

    around: Around = (lambda client: Stale(client, lagging)) if stale else lambda client: client
    found = judged(store, strategy, in_two_processes(job, without_counters, around))
    assert found >= {"order"} if stale else found == set()


def test_counting_blindly_on(clean: Any, dynoxide_url: str, table_name: str, tmp_path: Path) -> None:
    """The source document's program as printed stores an issue again whose reply was lost, under the next number."""
    store = Store(projects, name=table_name, client=clean)
    store.create_table()
    with proxied(dynoxide_url, faults(0.05, 1, CLOSED)) as proxy, Recorder(tmp_path / "history") as recorder:
        resource: Any = session().resource("dynamodb", endpoint_url=proxy.url, config=Config(**RETRYING))
        document = Document(store, resource)

        def work(place: int) -> None:
            for turn in range(50):
                name, project = f"w{place}.{turn}", f"g{place}"
                recorder.invoke(name, "create", f"w{place}", project)
                try:
                    number = document.issue(project, name)
                except (BotoCoreError, ClientError):
                    recorder.end(name, "unknown")
                else:
                    recorder.end(name, "ok", number=number)

        in_threads(4, work)
    rows = [Row("entity", item["pk"]["S"], int(item["sk"]["N"]), item["priority"]["S"]) for item in everything(store)]
    store.delete_table()
    assert "stored twice" in names(stored_once(read([tmp_path / "history"]), rows, tombstones=False))


@pytest.mark.parametrize(("strategy", "found"), [('sort_key reuse="allow"', {"duplicate"}), ("sort_key", set[str]())])
def test_deletes_that_leave_nothing(clean: Any, job: Job, strategy: str, found: set[str]) -> None:
    """Where two processes by turns create and delete, a number comes again, unless its delete left a tombstone."""
    store = made(replace(job, strategy=strategy), clean)
    stores = (store, Store(store.table, name=store.name, client=clean))
    with Recorder(job.path) as recorder:
        writer = Writer(STRATEGIES[strategy], "w", Random(1), recorder)
        for turn in range(8):
            performed(writer.create(f"w.{turn}"), stores[turn % 2].run)
            performed(writer.delete(writer.living.pop()), stores[turn % 2].run)
    assert judged(store, STRATEGIES[strategy], [job.path]) - {"order"} == found


def test_an_engine_without_atomic_updates(job: Job) -> None:
    """Moto without the lock that `Store.local` puts around it gives one number of a counter to several threads."""
    job = replace(job, strategy="counter per entity", chance=0.0, count=8)

    def run(client: Any, seed: int) -> set[str]:
        each = replace(job, seed=seed, table=f"t{seed}")
        store = made(each, client)
        return judged(store, STRATEGIES[job.strategy], threaded(each, client))

    with unlocked_client() as client:
        assert any("duplicate" in run(client, seed) for seed in range(5))
    assert run(local_client(), 1) == set()


def test_a_writer_that_crashes_is_seen(clean: Any, job: Job) -> None:
    """An error that is none of ours is a false failure, and does not end the run."""
    store = made(job, clean)

    def broken(_: Any) -> Any:
        raise ZeroDivisionError

    with Recorder(job.path) as recorder:
        writer = Writer(STRATEGIES["adopted Sequence"], "w", Random(1), recorder)
        performed(writer.creates(2), broken)
        performed(Writer(STRATEGIES["adopted Sequence"], "v", Random(1), recorder).orders(2), broken)
    history = read([job.path])
    assert [(each.id, each.error) for each in history] == [
        *(("w.0", "ZeroDivisionError"), ("w.1", "ZeroDivisionError")),
        *(("v.0", "ZeroDivisionError"), ("v.1", "ZeroDivisionError")),
    ]
    assert judged(store, STRATEGIES["sort_key"], [job.path]) == {"false failure"}


def test_what_a_second_run_did_not_do_the_first_may_have(job: Job) -> None:
    """An unknown create stays so where running it again comes to nothing, and not where it is refused."""
    unknown = OutcomeUnknown("lost", hint="", operation=None)
    throttled = Throttled("again", hint="", attempts=2)
    taken = SequenceContention("taken", hint="", attempts=1, seconds=0.0)
    with Recorder(job.path) as recorder:
        for name, second in (("a", throttled), ("b", taken)):
            steps = Writer(STRATEGIES["sort_key"], "w", Certain(), recorder).create(name)
            next(steps)
            steps.throw(unknown)
            with pytest.raises(StopIteration):
                steps.throw(second)
        steps = Writer(STRATEGIES["sort_key"], "w", Certain(), recorder).create("c")
        next(steps)
        with pytest.raises(StopIteration):
            steps.throw(throttled)
    assert [(each.outcome, each.error, each.resumed) for each in read([job.path])] == [
        ("unknown", "Throttled", True),
        ("fail", "SequenceContention", True),
        ("fail", "Throttled", False),
    ]


class Certain(Random):
    """Chance that always runs an unknown create again."""

    def random(self) -> float:
        """Give the highest there is."""
        return 0.99
