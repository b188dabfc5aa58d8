"""Numbers under sixteen threads, and under two processes: none twice, each thread's rising, and what they cost."""

from __future__ import annotations

import pytest

from singletable import AlreadyExists, AutoIncrement, Entity, Field, Key, Store, Table
from tests.contract.behind import CountingClient, client_of, in_threads, sibling
from tests.contract.conftest import MakeStore
from tests.contract.shop import Order, app, order

THREADS, EACH = 16, 10
NUMBERS = list(range(1, THREADS * EACH + 1))

press = Table("press")


class Invoice(Entity, table=press, tag="invoice"):
    number: Field[int] = AutoIncrement()
    clerk: Field[int]

    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


class Comment(Entity, table=press, tag="comment"):
    post: Field[str]
    n: Field[int] = AutoIncrement("counter")

    key = Key(pk="#POST#{post}", sk="#COMMENT#{n}")


class Account(Entity, table=press, tag="account"):
    name: Field[str]
    balance: Field[int] = Field(default=0)

    key = Key(pk="#ACCOUNT#{name}", sk="#ACCOUNT")


def check(drawn: list[list[int]], numbers: list[int] = NUMBERS) -> None:
    """Hold where each thread's numbers rise and all together are the numbers, each once."""
    assert all(each == sorted(set(each)) for each in drawn)
    assert sorted(number for each in drawn for number in each) == numbers


@pytest.mark.slow
def test_sort_key_numbers_of_sixteen_threads(backend: MakeStore) -> None:
    """160 orders of one user are 1 to 160, for at most 1.1 requests each."""
    store = backend(app)
    counting = CountingClient(client_of(store))
    counted = sibling(store, client=counting)
    check(in_threads(THREADS, lambda _: [counted.create(order()).order_id for _ in range(EACH)]))
    assert counting.calls.total() <= 1.1 * len(NUMBERS)
    assert [found.order_id for found in store.query(Order.key(user_id="u1"))] == NUMBERS


@pytest.mark.slow
def test_sort_key_numbers_of_two_processes(backend: MakeStore) -> None:
    """Two stores that know nothing of each other race for one partition: 1 to 80, none twice, none left out."""
    one = backend(app)
    stores = (one, sibling(one))
    check(in_threads(8, lambda place: [_number(stores[place % 2]) for _ in range(EACH)]), list(range(1, 81)))
    assert one.count(Order.key(user_id="u1")) == 80


def test_sort_key_numbers_of_several_partitions(backend: MakeStore) -> None:
    """Sixteen threads that write for four users number each user's orders 1 to 20."""
    store = backend(app)
    drawn = in_threads(THREADS, lambda place: [_number(store, f"u{place % 4}") for _ in range(5)])
    for user in range(4):
        check(drawn[user::4], list(range(1, 21)))


@pytest.mark.slow
def test_numbers_that_are_deleted_meanwhile_do_not_come_again(backend: MakeStore) -> None:
    """Where each order is deleted as soon as it is made, by either of two processes, no number comes twice."""
    one = backend(app)
    stores = (one, sibling(one))

    def work(place: int) -> list[int]:
        drawn: list[int] = []
        for turn in range(5):
            made = stores[place % 2].create(order())
            drawn.append(made.order_id)
            assert stores[turn % 2].delete(made) == made
        return drawn

    check(in_threads(8, work), list(range(1, 41)))
    assert one.count(Order.key(user_id="u1")) == 0


@pytest.mark.slow
def test_counter_numbers_of_sixteen_threads(backend: MakeStore) -> None:
    """160 invoices of the whole table are 1 to 160."""
    store = backend(press)
    check(in_threads(THREADS, lambda place: [store.create(Invoice(clerk=place)).number for _ in range(EACH)]))
    assert {store.one(Invoice.at(number=number)).number for number in (1, 80, 160)} == {1, 80, 160}


@pytest.mark.slow
def test_a_partitions_first_counter_is_made_once(backend: MakeStore) -> None:
    """Threads of two processes that all find no counter in a partition with data go on from its highest number."""
    one = backend(press)
    one.put(Comment(post="a", n=1000))
    stores = (one, sibling(one))
    drawn = in_threads(THREADS, lambda place: [stores[place % 2].create(Comment(post="a")).n for _ in range(5)])
    check(drawn, list(range(1001, 1081)))
    assert one.count(Comment.key(post="a")) == 81


def test_batches_of_several_threads(backend: MakeStore) -> None:
    """Eight batches of ten comments at once are numbered 1 to 80, each batch in one piece."""
    store = backend(press)
    drawn = in_threads(8, lambda _: [each.n for each in store.put_many([Comment(post="a")] * 10)])
    check(drawn, list(range(1, 81)))
    assert all(each == list(range(each[0], each[0] + 10)) for each in drawn)


def test_additions_of_sixteen_threads(backend: MakeStore) -> None:
    """Add loses nothing: 16 times 10 additions of 1 are 160."""
    store = backend(press)
    account = store.create(Account(name="a"))
    in_threads(THREADS, lambda _: [store.update(account, Account.balance.add(1)) for _ in range(EACH)])
    assert store.one(Account.at(name="a"), consistent=True).balance == 160


def test_one_of_sixteen_creates_wins(backend: MakeStore) -> None:
    """Sixteen threads that create at one key: one entity is stored, and the others are told which."""
    store = backend(press)

    def work(place: int) -> object:
        try:
            return store.create(Account(name="a", balance=place))
        except AlreadyExists as taken:
            return taken.existing

    seen = in_threads(THREADS, work)
    assert seen == [store.one(Account.at(name="a"))] * THREADS


def _number(store: Store, user_id: str = "u1") -> int:
    return store.create(order(user_id)).order_id
