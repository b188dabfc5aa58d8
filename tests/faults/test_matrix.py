"""Every verb under every fault ends in success or in one typed error, and leaves what that ending allows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any, cast

import pytest

from singletable import OutcomeUnknown, SingleTableError, Store, Throttled
from singletable.aio import AsyncStore
from singletable.local import local_client
from tests.contract.awaited import Blocking, LoopThread
from tests.contract.behind import REGION, async_session, client_of, everything, in_threads, session
from tests.faults.client import FaultyClient
from tests.faults.lagging import copy_of
from tests.faults.matrix import FAULTS, Ground, Hurried, HurriedAsync, Place, embedded, run_cell
from tests.faults.proxy import proxied
from tests.faults.rules import (
    CLOSED,
    DROPPED,
    FAILED_AFTER,
    LEFTOVERS,
    STALE,
    THROTTLE,
    UNSENT,
    Fault,
    Rule,
    Script,
)
from tests.faults.scenes import SCENES, Account, Entry, Scene, bank

APPLIED = (FAILED_AFTER, DROPPED, CLOSED)


@pytest.fixture(params=["threads", "loops"])
def proxy(request: pytest.FixtureRequest, dynoxide_url: str, table_name: str, loop: LoopThread) -> Iterator[Place]:
    """Give ground on dynoxide in either colour, with the faults at the wire."""
    numbers = count(1)
    with ExitStack() as stack:

        def place() -> Ground:
            name = f"{table_name}-{next(numbers)}"

            def faulty(script: Script) -> Store:
                url = stack.enter_context(proxied(dynoxide_url, script)).url
                if request.param == "threads":
                    store = Store(bank, name=name, endpoint_url=url, region=REGION, session=session())
                    store._driver = Hurried(store._connected, workers=8)
                    return store
                awaited = AsyncStore(bank, name=name, endpoint_url=url, region=REGION, session=async_session())
                awaited._driver = HurriedAsync(awaited._driver._connect)
                return cast(Store, Blocking(awaited, loop))

            return Ground(Store(bank, name=name, endpoint_url=dynoxide_url, region=REGION, session=session()), faulty)

        yield place


@pytest.fixture(scope="module")
def here() -> Place:
    """Give ground on an embedded engine, with the faults around its client."""
    return embedded()


@pytest.mark.parametrize("fault", FAULTS, ids=repr)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_every_verb_under_every_fault(here: Place, scene: Scene, fault: Fault) -> None:
    """Success, or one of five errors; nothing done twice, nothing by half, nothing in silence.

    A fault on one request alone is not seen at all: every verb recognises what it did before.
    """
    cell = run_cell(here, scene, fault)
    assert cell.complaints == ()
    assert set(cell.once) <= {"ok"}


@pytest.mark.parametrize("fault", [CLOSED, UNSENT], ids=repr)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_every_verb_at_the_wire(proxy: Place, scene: Scene, fault: Fault) -> None:
    """The same holds in both colours where the connection really breaks, after the request or before it."""
    cell = run_cell(proxy, scene, fault)
    assert cell.once
    assert cell.complaints == ()


def test_leftovers_at_the_wire(proxy: Place) -> None:
    """The same holds for a batch of which the engine takes a half each time."""
    (scene,) = (scene for scene in SCENES if scene.name == "put_many")
    cell = run_cell(proxy, scene, LEFTOVERS)
    assert (set(cell.once), set(cell.lasting)) == ({"ok"}, {"unprocessed"})
    assert cell.complaints == ()


class Storm:
    """A store to which many faults happen, and the table behind it."""

    def __init__(self, *rules: Rule, seed: int) -> None:
        client = local_client()
        self.script = Script(*rules, seed=seed)
        self.clean = Store(bank, client=client)
        self.clean.create_table()
        self.store = Store(bank, client=FaultyClient(client, self.script))
        self.store._driver = Hurried(self.store._connected, workers=8)

    def entries(self) -> list[Entry]:
        """Read every entry that is stored."""
        return self.clean.query(Entry.key(account="a")).all()


LOSSES = (Rule(CLOSED, "put_item", chance=0.2), Rule(THROTTLE, chance=0.05), Rule(UNSENT, chance=0.05))


@pytest.mark.parametrize("seed", range(3))
def test_creates_in_a_storm(seed: int) -> None:
    """Of 160 creates in eight threads each is stored once, whose replies were lost too; the numbers have no gap."""
    storm = Storm(*LOSSES, seed=seed)
    endings: dict[str, int | type[SingleTableError]] = {}

    def work(place: int) -> None:
        for turn in range(20):
            memo = f"{place}-{turn}"
            try:
                endings[memo] = storm.store.create(Entry(account="a", memo=memo)).n
            except SingleTableError as error:
                endings[memo] = type(error)

    in_threads(8, work)
    found = storm.entries()
    numbers = {each.memo: each.n for each in found}
    assert len(numbers) == len(found)  # no entry twice
    assert sorted(numbers.values()) == list(range(1, len(found) + 1))
    assert len([fault for fault in storm.script.done if fault == ("put_item", CLOSED.name)]) > 10
    for memo, ending in endings.items():
        if isinstance(ending, int):
            assert numbers[memo] == ending
        elif ending is not OutcomeUnknown:
            assert memo not in numbers
    storm.store.close()


@pytest.mark.parametrize("seed", range(3))
def test_additions_in_a_storm(seed: int) -> None:
    """A hundred additions of 1, a third of their replies lost: the balance is what succeeded, or more where unknown."""
    storm = Storm(Rule(CLOSED, "update_item", chance=0.3), Rule(THROTTLE, chance=0.05), seed=seed)
    account = storm.clean.create(Account(name="a"))
    done, unknown = 0, 0
    for _ in range(100):
        try:
            storm.store.update(account, Account.balance.add(1))
            done += 1
        except OutcomeUnknown:
            unknown += 1
    balance = storm.clean.one(Account.at(name="a"), consistent=True).balance
    assert done <= balance <= done + unknown
    assert done > 90
    assert len([fault for fault in storm.script.done if fault[1] == CLOSED.name]) > 20


def test_a_stale_index_is_told_as_it_is() -> None:
    """An index that lags gives what it holds; the table itself and a later look at the index give what was written."""
    storm = Storm(Rule(STALE, nth=(1, 2)), seed=0)
    account = storm.store.create(Account(name="a"))
    by_owner = Account.by_owner(owner="ann")
    assert storm.store.query(by_owner).all() == []
    assert storm.store.count(by_owner) == 0
    assert storm.store.get(Account.at(name="a")) == account
    assert storm.store.query(by_owner).all() == [account]


def test_an_update_that_meets_a_lagging_index(dynoxide_url: str, table_name: str) -> None:
    """An update of an entity out of a stale index answer keeps what was written since: it is made on condition."""
    script = Script(Rule(STALE), lag=1)
    with proxied(dynoxide_url, script) as proxy:
        store = Store(bank, name=table_name, endpoint_url=proxy.url, region=REGION, session=session())
        store.create_table()
        store.create(Account(name="a"))
        store.update(Account.at(name="a"), Account.level.set("gold"), Account.owner.set("ann"))
        (stale,) = store.query(Account.by_owner(owner="ann"))
        assert stale.level == "basic"
        changed = store.update(stale, Account.owner.set("bob"))
        assert (changed.level, changed.owner) == ("gold", "bob")
        (item,) = everything(store)
        assert (item["GSI1PK"], item["GSI1SK"]) == ({"S": "#OWNER#bob"}, {"S": "#gold#a"})
        client: Any = client_of(store)
        for name in (table_name, copy_of(table_name)):
            client.delete_table(TableName=name)
        store.close()


def test_a_throttled_store_says_how_often_it_tried(here: Place) -> None:
    """Throttling that does not end is one error with the number of attempts, and nothing is stored."""
    ground = here()
    ground.clean.create_table()
    script = Script(Rule(THROTTLE))
    with pytest.raises(Throttled) as caught:
        ground.faulty(script).create(Account(name="a"))
    assert caught.value.attempts == script.calls["put_item"] == 4
    assert everything(ground.clean) == []
    ground.clean.delete_table()
