"""`interleave`: what it runs, what it tells, and that it says the same every time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from singletable import AlreadyExists, AutoIncrement, Entity, Field, Key, Store, Table, evolve
from singletable.aio import AsyncStore
from singletable.errors import OutcomeUnknown
from singletable.testing import InterleavingFailed, NotModelled, interleave

bank = Table("bank")


class Account(Entity, table=bank, tag="account"):
    id: Field[str]
    balance: Field[int] = Field(default=100)
    key = Key(pk="#ACCOUNT#{id}", sk="#ACCOUNT")


class Entry(Entity, table=bank, tag="entry"):
    id: Field[str]
    number: Field[int] = AutoIncrement()
    key = Key(pk="#ACCOUNT#{id}", sk="#ENTRY#{number}")


def open_account(store: Store) -> None:
    """Let there be an account with 100."""
    store.create(Account(id="a"))


def naive(store: Store) -> None:
    """Withdraw 10, as if nobody else were there."""
    account = store.one(Account.at(id="a"))
    store.put(evolve(account, balance=account.balance - 10))


def atomic(store: Store) -> None:
    """Withdraw 10 in one request."""
    store.update(Account.at(id="a"), Account.balance.add(-10))


def twice_withdrawn(store: Store, _: list[Any]) -> None:
    """Two withdrawals leave 80."""
    assert store.one(Account.at(id="a")).balance == 80


def create(store: Store) -> Entry:
    """Create an entry, numbered by sort key."""
    return store.create(Entry(id="a"))


def numbers(_: Store, results: list[Any]) -> bool:
    """Say whether two entries got 1 and 2."""
    return sorted(entry.number for entry in results) == [1, 2]


# What is found


def test_a_lost_update_is_found() -> None:
    """Two that read before either writes lose a withdrawal; the shortest such schedule is told, request by request."""
    with pytest.raises(InterleavingFailed, match="the check raised AssertionError") as failed:
        interleave(bank, naive, naive, setup=open_account, check=twice_withdrawn)
    assert failed.value.steps[0] == "  1  actor 0  get_item #ACCOUNT#a / #ACCOUNT"
    assert [step.split()[1:4] for step in failed.value.steps] == [
        ["actor", actor, method]
        for actor, method in (("0", "get_item"), ("1", "get_item"), ("1", "put_item"), ("0", "put_item"))
    ]
    assert failed.value.schedule == "0:1 1:1 1:2 0:2"


def test_a_schedule_is_run_again() -> None:
    """What the error tells fails again the same way by `replay`, and another schedule does not."""
    for _ in range(2):
        with pytest.raises(InterleavingFailed) as failed:
            interleave(bank, naive, naive, setup=open_account, check=twice_withdrawn, replay="0:1 1:1 1:2 0:2")
        assert failed.value.schedule == "0:1 1:1 1:2 0:2"
    report = interleave(bank, naive, naive, setup=open_account, check=twice_withdrawn, replay="0:1 0:2 1:1 1:2")
    assert (report.schedules, report.requests, report.complete) == (1, 4, False)


@pytest.mark.parametrize("schedule", ["0:1 0:1", "0", "2:1", "0:1!gone"])
def test_a_schedule_that_does_not_fit_is_refused(schedule: str) -> None:
    """A replay of what these actors cannot do is an error, and no success."""
    with pytest.raises(ValueError, match="schedule"):
        interleave(bank, naive, naive, setup=open_account, replay=schedule)


def test_an_error_of_an_actor_fails_unless_expected() -> None:
    """What an actor raises fails the run; an expected class is handed to the check as a result."""
    with pytest.raises(InterleavingFailed, match="actor 1 raised AlreadyExists") as failed:
        interleave(bank, open_account, open_account)
    assert isinstance(failed.value.__cause__, AlreadyExists)
    seen: list[list[str]] = []
    interleave(
        bank,
        open_account,
        open_account,
        expect=AlreadyExists,
        check=lambda _, results: seen.append([type(result).__name__ for result in results]),
    )
    assert sorted(seen) == [["AlreadyExists", "NoneType"], ["NoneType", "AlreadyExists"]]


def test_a_check_may_answer_false() -> None:
    """False fails, None and True do not."""
    assert interleave(bank, create, create, check=numbers).complete
    with pytest.raises(InterleavingFailed, match="the check gave False"):
        interleave(bank, create, create, check=lambda _, results: not numbers(_, results))


def test_what_the_model_cannot_do_is_told() -> None:
    """A request beyond the model ends the exploration, whatever is expected of the actors."""
    with pytest.raises(NotModelled, match="update_table"):
        interleave(bank, lambda store: store._driver._client().update_table(TableName="bank"), expect=Exception)


def test_actors_are_of_one_colour() -> None:
    """Plain and asynchronous actors do not run together, and there is at least one."""

    async def awaited(_: AsyncStore) -> None:
        await asyncio.sleep(0)

    for actors in ((), (naive, awaited)):
        with pytest.raises(TypeError, match="one actor or more"):
            interleave(bank, *actors)


def test_an_asynchronous_actor_is_declared_so() -> None:
    """A plain function that gives a coroutine would never be run: it fails."""

    async def awaited(_: AsyncStore) -> None:
        await asyncio.sleep(0)

    with pytest.raises(InterleavingFailed, match="async def"):
        interleave(bank, lambda store: awaited(store))  # noqa: PLW0108 - what a user may write


def test_an_actor_without_end_is_stopped() -> None:
    """An actor that never stops asking is an error, not a hang."""

    def endless(store: Store) -> None:
        while True:
            store.get(Account.at(id="a"))

    with pytest.raises(RuntimeError, match="have not ended"):
        interleave(bank, endless)


# How many there are, counted by hand


Actor: TypeAlias = Callable[[Store], object]


def updates(*ids: str) -> Actor:
    """Make an actor that puts some accounts, one after the other."""
    return lambda store: [store.put(Account(id=each)) for each in ids]


def read(store: Store) -> object:
    """Read an account by its key."""
    return store.get(Account.at(id="a"))


def ask(store: Store) -> object:
    """Read entries by a query."""
    return store.query(Entry.key(id="a")).all()


@pytest.mark.parametrize(
    ("actors", "schedules", "every"),
    [
        ((updates("a"), updates("b")), 1, 2),  # they never meet
        ((updates("a"), updates("a")), 2, 2),
        ((updates("a"), updates("a"), updates("a")), 6, 6),
        ((updates("a", "b"), updates("b", "a")), 3, 6),  # aB: four orders of the two meetings, one of them impossible
        ((updates("a", "a"), updates("a", "a")), 6, 6),  # 4 over 2
        ((updates("a"), updates("b"), updates("c")), 1, 6),
    ],
)
def test_orders_that_make_no_difference_are_run_once(actors: tuple[Any, ...], schedules: int, every: int) -> None:
    """As many schedules as there are different orders of requests that meet; without reduction, every order."""
    assert interleave(bank, *actors).schedules == schedules
    assert interleave(bank, *actors, reduce=False).schedules == every


def test_reads_make_no_difference() -> None:
    """Two that read may change places; one that reads and one that writes may not, by key or by query."""
    assert interleave(bank, read, read).schedules == 1
    assert interleave(bank, ask, read).schedules == 1
    assert interleave(bank, read, updates("a")).schedules == 2
    assert interleave(bank, ask, updates("a")).schedules == 2
    assert interleave(bank, ask, updates("b")).schedules == 1


def test_the_bound_is_kept() -> None:
    """No more runs than allowed, and the report says that there are more."""
    report = interleave(bank, updates("a", "a"), updates("a", "a"), most=4)
    assert (report.schedules, report.complete) == (4, False)
    assert str(report).startswith("4 schedules, and there are more; 16 requests")


def test_replies_are_lost_everywhere() -> None:
    """One put: its reply lost, then sent again; or lost before it was carried out, and sent again."""
    assert interleave(bank, updates("a"), lost_replies=1).schedules == 2  # none lost; the first
    both = interleave(bank, updates("a"), lost_replies=1, lost_requests=True)
    assert (both.schedules, both.losses, both.complete) == (3, 2, True)
    assert interleave(bank, updates("a"), lost_replies=2).schedules == 3  # none; the first; both


# What the stores are


def test_no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause before a request is sent again takes no time, and the actor's own clock moves by it."""

    def never(_: float) -> None:
        raise AssertionError("slept")

    monkeypatch.setattr(time, "sleep", never)
    assert interleave(bank, create, create, check=numbers).schedules == 4


def test_runs_repeat_to_the_letter() -> None:
    """Ids, clocks and chance are the same in every run of a schedule."""
    seen: list[object] = []
    for _ in range(2):
        interleave(
            bank, create, create, check=lambda store, _: seen.append(store._driver._client().scan(TableName="bank"))
        )
    half = len(seen) // 2
    assert half == 4
    assert seen[:half] == seen[half:]


def test_actors_remember_nothing_of_each_other() -> None:
    """Each has a store of its own, so both ask for the highest number; with one store the second one knows it."""
    apart = interleave(bank, create, create, check=numbers)
    one_store = interleave(bank, create, create, check=numbers, shared=True)
    assert (apart.schedules, apart.requests) == (4, 20)
    assert (one_store.schedules, one_store.requests) == (2, 10)  # each: a lock, query, put; a lock, put


def test_an_actor_may_do_several_things_at_once() -> None:
    """The flows of one verb take turns too, and lose no number."""
    report = interleave(
        bank,
        lambda store: store.get_many(*[Account.at(id=str(number)) for number in range(150)]),
        check=lambda _, results: len(results[0]) == 150,
    )
    assert (report.schedules, report.requests) == (2, 4)


def test_awaited_actors_are_explored_alike() -> None:
    """An asynchronous program has the same schedules as the plain one, and its lost update is found."""

    async def awaited(store: AsyncStore) -> Entry:
        return await store.create(Entry(id="a"))

    async def awaited_naive(store: AsyncStore) -> None:
        account = await store.one(Account.at(id="a"))
        await asyncio.sleep(3600)
        await store.put(evolve(account, balance=account.balance - 10))

    options: Any = {"lost_replies": 1, "expect": OutcomeUnknown}
    plain, other = interleave(bank, create, create, **options), interleave(bank, awaited, awaited, **options)
    assert (plain.schedules, plain.requests) == (other.schedules, other.requests)
    with pytest.raises(InterleavingFailed) as failed:
        interleave(bank, awaited_naive, awaited_naive, setup=open_account, check=twice_withdrawn)
    assert failed.value.schedule == "0:1 1:1 1:2 0:2"


def test_who_waits_for_ever_is_told() -> None:
    """An actor that waits for what never comes fails the run."""

    async def waits(store: AsyncStore) -> None:
        await store.get(Account.at(id="a"))
        await asyncio.Event().wait()

    async def ends(store: AsyncStore) -> None:
        await store.get(Account.at(id="a"))

    with pytest.raises(InterleavingFailed, match="actors 0 wait for ever"):
        interleave(bank, waits, ends)
