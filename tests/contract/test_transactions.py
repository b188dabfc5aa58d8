"""Transactions: all of it happens or nothing does, on every engine that has them and in both colours."""

from __future__ import annotations

import inspect
import pickle
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    Check,
    ConditionFailed,
    Create,
    Delete,
    Entity,
    Field,
    ForeignItem,
    Key,
    NotFound,
    Put,
    Ref,
    Store,
    Table,
    TokenReused,
    Transact,
    Transaction,
    TransactionFailed,
    UniqueViolation,
    Update,
    UsageError,
    unique_ref,
)
from tests.contract.awaited import Blocking
from tests.contract.behind import CountingClient, client_of, everything, in_threads, sibling
from tests.contract.conftest import MakeStore
from tests.contract.shop import Order, User, app, order

bank = Table("bank")


class Account(Entity, table=bank, tag="account"):
    name: Field[str]
    balance: Field[int] = Field(default=0)
    level: Field[str] = Field(default="basic")

    key = Key(pk="#ACCOUNT#{name}", sk="#ACCOUNT")


class Entry(Entity, table=bank, tag="entry"):
    account: Field[str]
    n: Field[int] = AutoIncrement()
    memo: Field[str]

    key = Key(pk="#ACCOUNT#{account}", sk="#ENTRY#{n}")


class Invoice(Entity, table=bank, tag="invoice"):
    number: Field[int] = AutoIncrement("counter")
    customer: Field[str]

    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


class InvoiceLine(Entity, table=bank, tag="invoice-line"):
    number: Field[int]
    line: Field[int] = AutoIncrement()
    sku: Field[str]

    key = Key(within=Invoice.key, sk="#LINE#{line}")


class Player(Entity, table=bank, tag="player"):
    name: Field[str]
    nick: Field[str | None] = Field(default=None, unique=True)

    key = Key(pk="#PLAYER#{name}", sk="#PLAYER")


@pytest.fixture
def store(transacting: MakeStore) -> Store:
    """Give a store of the bank on an engine that has transactions."""
    return transacting(bank)


def counting(store: Store) -> tuple[Store, Counter[str]]:
    """Give a store in the same place, and the requests it sends."""
    client = CountingClient(client_of(store))
    return sibling(store, client=client), client.calls


def balances(store: Store, *names: str) -> list[int]:
    """Read what accounts hold."""
    found = store.get_many(*(Account.at(name=name) for name in names), missing="raise", consistent=True)
    return [account.balance for account in found]


def funded(store: Store) -> None:
    """Open two accounts with 100 and 0."""
    store.create(Account(name="ann", balance=100))
    store.create(Account(name="bob"))


TRANSFER = (
    Update(Account.at(name="ann"), Account.balance.add(-30), when=Account.balance >= 30),
    Update(Account.at(name="bob"), Account.balance.add(30)),
)


def test_results_stand_in_position(store: Store) -> None:
    """Create and Put give stored entities with their numbers, the others None; one request writes all of it."""
    funded(store)
    store.create(Account(name="old"))
    counted, calls = counting(store)
    results: tuple[Any, ...] = counted.transact(
        Create(Entry(account="ann", memo="rent")),
        Update(Account.at(name="ann"), Account.level.set("gold")),
        Put(Account(name="bob", balance=7)),
        Delete(Account.at(name="old")),
        Check(Account.at(name="ann"), Account.balance == 100),
        Delete(Entry.at(account="ann", n=9)),
    )
    entry, updated, put, deleted, checked, empty = results
    assert (entry.n, put) == (1, Account(name="bob", balance=7))
    assert (updated, deleted, checked, empty) == (None, None, None, None)
    assert calls == {"query": 1, "transact_write_items": 2}  # the second, since there was nothing to delete
    assert store.one(Account.at(name="ann")) == Account(name="ann", balance=100, level="gold")
    assert store.get(Account.at(name="old")) is None
    assert store.transact() == ()


def test_nothing_happens_unless_all_does_g6(store: Store) -> None:
    """G6: each failed operation has an error with its position, itself and what stood there; nothing is written."""
    funded(store)
    before = everything(store)
    taken = Create(Account(name="bob"))
    poor = Update(Account.at(name="ann"), Account.balance.add(-500), when=Account.balance >= 500)
    with pytest.raises(TransactionFailed) as caught:
        store.transact(Create(Entry(account="ann", memo="x")), taken, Check(Account.at(name="ann")), poor)
    exists, refused = caught.value.exceptions
    assert isinstance(exists, AlreadyExists)
    assert (exists.index, exists.op, exists.existing) == (1, taken, Account(name="bob"))
    assert isinstance(refused, ConditionFailed)
    assert (refused.index, refused.op, refused.current) == (3, poor, Account(name="ann", balance=100))
    assert everything(store) == before
    with pytest.raises(TransactionFailed) as caught:
        store.transact(taken)
    assert caught.value.only(AlreadyExists) is caught.value.exceptions[0]


def test_a_check_joins_the_write_of_its_item(store: Store) -> None:
    """A check of an item that is also written is part of that write; its failure is its own error."""
    funded(store)
    write = Update(Account.at(name="ann"), Account.balance.add(1))
    store.transact(Check(Account.at(name="ann"), Account.balance == 100), write)
    assert balances(store, "ann") == [101]
    with pytest.raises(TransactionFailed) as caught:
        store.transact(write, Check(Account.at(name="ann"), Account.balance == 100))
    assert [(error.index, type(error)) for error in caught.value.exceptions] == [(1, ConditionFailed)]
    assert balances(store, "ann") == [101]


def test_what_is_there_is_told_by_kind(store: Store) -> None:
    """Updates of nothing are NotFound, and another entity's item is ForeignItem, before and after what is sent."""
    item = {"PK": {"S": "#ACCOUNT#x"}, "SK": {"S": "#ACCOUNT"}, "_et": {"S": "other"}}
    client_of(store).put_item(TableName=store.name, Item=item)
    with pytest.raises(TransactionFailed) as caught:
        store.transact(Put(Account(name="x")), Update(Account.at(name="y"), Account.balance.add(1)))
    assert [type(error) for error in caught.value.exceptions] == [ForeignItem, NotFound]


def test_numbers_of_one_partition_follow_each_other(store: Store) -> None:
    """Sort-key numbers are consecutive in the order of the operations; the highest is read once, and known after."""
    store.create(Entry(account="a", memo="first"))
    counted, calls = counting(store)
    made = counted.transact(
        *(Create(Entry(account="a", memo=memo)) for memo in "xyz"), Put(Entry(account="b", memo="b"))
    )
    assert [entry.n for entry in made] == [2, 3, 4, 1]
    assert calls == {"query": 2, "transact_write_items": 1}
    (after,) = counted.transact(Create(Entry(account="a", memo="after")))
    assert after.n == 5
    assert calls == {"query": 2, "transact_write_items": 2}


def test_counter_numbers_are_drawn_at_once(store: Store) -> None:
    """Several creates of one class draw their counter numbers in one request."""
    counted, calls = counting(store)
    made = counted.transact(*(Create(Invoice(customer=each)) for each in "abc"))
    assert [invoice.number for invoice in made] == [1, 2, 3]
    assert calls == {"update_item": 1, "transact_write_items": 1}


def test_a_parent_with_numbered_children(store: Store) -> None:
    """A parent whose number is assigned beforehand is stored with its numbered children in one transaction."""
    invoice = store.assign(Invoice(customer="ann"))
    assert everything(store)[0]["last"] == {"N": "1"}
    lines = [InvoiceLine(number=invoice.number, sku=sku) for sku in ("tea", "cup")]
    stored, tea, cup = store.transact(Create(invoice), Create(lines[0]), Create(lines[1]))
    assert (stored, tea.line, cup.line) == (invoice, 1, 2)
    assert store.query(InvoiceLine.key(number=1)).all() == [tea, cup]
    assert store.create(Invoice(customer="bob")).number == 2
    with pytest.raises(UsageError, match="was given"):
        store.create(stored)


def test_numbers_in_threads(store: Store) -> None:
    """Eight threads with two entries a transaction: every number once, without a gap, each pair next to each other."""

    def work(place: int) -> list[int]:
        first, second = Entry(account="a", memo=f"{place}"), Entry(account="a", memo=f"{place}")
        return [entry.n for entry in store.transact(Create(first), Create(second))]

    pairs = in_threads(8, work)
    assert all(second == first + 1 for first, second in pairs)
    assert sorted(n for pair in pairs for n in pair) == list(range(1, 17))


def test_drafts_that_read_are_read_at_once(transacting: MakeStore) -> None:
    """Updates that need their items' other index parts read them all in one request."""
    store = transacting(app)
    for number in (1, 2, 3):
        store.create(order(on=number))
    counted, calls = counting(store)
    paid = Order.status.set("PAID")
    counted.transact(*(Update(Order.at(user_id="u1", order_id=number), paid) for number in (1, 2, 3)))
    assert calls == {"batch_get_item": 1, "transact_write_items": 1}
    assert [each.status for each in store.query(Order.by_status(user_id="u1", status="PAID"))] == ["PAID"] * 3
    with pytest.raises(TransactionFailed) as caught:
        counted.transact(*(Update(Order.at(user_id="u1", order_id=number), paid) for number in (3, 4)))
    assert [(type(error), error.index) for error in caught.value.exceptions] == [(NotFound, 1)]


def test_unique_values_move_in_one_transaction(store: Store) -> None:
    """Two items swap their unique values; a value that a third has is the violation of the operation that wants it."""
    store.transact(*(Create(Player(name=name, nick=nick)) for name, nick in (("a", "x"), ("b", "y"), ("c", "z"))))
    counted, calls = counting(store)
    a, b = Player.at(name="a"), Player.at(name="b")
    counted.transact(Update(a, Player.nick.set("y")), Update(b, Player.nick.set("x")))
    assert calls == {"batch_get_item": 1, "transact_write_items": 1}
    assert [store.one(ref, consistent=True).nick for ref in (a, b)] == ["y", "x"]
    with pytest.raises(TransactionFailed) as caught:
        store.transact(Create(Account(name="new")), Update(a, Player.nick.set("z")))
    violation = caught.value.only(UniqueViolation)
    assert (violation.index, violation.field, violation.owner) == (1, "nick", Player.at(name="c"))
    with pytest.raises(UsageError, match="take one unique value"):
        store.transact(Create(Player(name="d", nick="w")), Create(Player(name="e", nick="w")))
    store.transact(Delete(Player.at(name="c")), Update(a, Player.nick.set("z")))
    assert store.get(unique_ref(Player, nick="z")) == Player(name="a", nick="z")
    assert len(everything(store)) == 4  # two players and their guards


def test_what_cannot_be_a_transaction(store: Store) -> None:
    """Foreign tables, two writes to one item, and too many are refused before anything is sent."""
    counted, calls = counting(store)
    ann = Account.at(name="ann")
    with pytest.raises(UsageError, match="belongs to table 'app'"):
        counted.transact(Create(Account(name="x")), Delete(User.at(user_id="u1")))
    with pytest.raises(UsageError, match="belongs to table 'app'"):
        counted.run(Transact(Check(User.at(user_id="u1"))))
    with pytest.raises(UsageError, match=r"operations 1 \(Update\) and 2 \(Delete\)"):
        counted.transact(Update(ann, Account.balance.add(1)), Delete(ann))
    with pytest.raises(UsageError, match="101 operations"):
        counted.transact(*(Delete(Account.at(name=str(n))) for n in range(101)))
    assert calls == {}


# Once ----------------------------------------------------------------------------------------------------------------


def test_a_token_makes_it_happen_once_g8(store: Store) -> None:
    """G8: a transaction delivered twice, to two processes, is carried out once and gives what is stored."""
    funded(store)
    operations = (Create(Entry(account="ann", memo="out")), Create(Invoice(customer="bob")), *TRANSFER)
    first = store.transact(*operations, token="message-1")
    store.update(Account.at(name="bob"), Account.balance.add(5))  # what others do meanwhile does not count
    other, calls = counting(store)
    assert other.transact(*operations, token="message-1") == first
    assert calls["transact_write_items"] == 1
    assert balances(store, "ann", "bob") == [70, 35]
    assert len(store.query(Entry.key(account="ann")).all()) == 1
    with pytest.raises(TokenReused):
        other.transact(*TRANSFER, token="message-1")
    assert store.transact(*TRANSFER, token="message-2") == (None, None)
    assert balances(store, "ann", "bob") == [40, 65]


def test_a_token_in_threads(store: Store) -> None:
    """Eight deliveries at once store one entry, and all give it."""
    operation = Create(Entry(account="a", memo="once"))
    made = in_threads(8, lambda _: store.transact(operation, token="t"))
    assert {entry.n for (entry,) in made} == {entry.n for entry in store.query(Entry.key(account="a"))}
    assert len(store.query(Entry.key(account="a")).all()) == 1


def test_a_create_with_a_token(store: Store) -> None:
    """A create delivered again gives what is stored; other input, and what was deleted, is told."""
    invoice = store.create(Invoice(customer="ann"), token="order-1")
    assert sibling(store).create(Invoice(customer="ann"), token="order-1") == invoice
    with pytest.raises(TokenReused):
        store.create(Invoice(customer="bob"), token="order-1")
    store.delete(invoice)
    with pytest.raises(NotFound, match="deleted since"):
        store.create(Invoice(customer="ann"), token="order-1")


def test_a_prepared_transaction_is_run_again(store: Store) -> None:
    """What is prepared can be stored and run by others, again and again: it happens once."""
    funded(store)
    entry = Create(Entry(account="ann", memo="out"))
    prepared = store.prepare(Transact(entry, *TRANSFER))
    assert len(everything(store)) == 2
    again = pickle.loads(pickle.dumps(prepared))
    assert store.run(prepared) == sibling(store).run(again) == (Entry(account="ann", memo="out", n=1), None, None)
    assert balances(store, "ann", "bob") == [70, 30]


# Building ------------------------------------------------------------------------------------------------------------


class Awaitable:
    """A reader whose answers can be awaited, so that one build serves both colours."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    async def get(self, ref: Ref[Any]) -> Any:
        """Read one item."""
        return self._tx.get(ref)

    async def one(self, ref: Ref[Any]) -> Any:
        """Read one item that must be there."""
        return self._tx.one(ref)


def built(store: Store, build: Callable[[Any], Coroutine[Any, Any, Any]]) -> Callable[[Any], Any]:
    """Give a build for the colour of a store."""
    if isinstance(store, Blocking):
        return build

    def run(tx: Transaction) -> Any:
        steps = build(Awaitable(tx))
        try:
            steps.send(None)
        except StopIteration as done:
            return done.value
        raise AssertionError("the build waits for something")

    return run


def test_what_was_read_must_still_stand(store: Store) -> None:
    """A build is run again where an item it read was changed meanwhile, and sees what is there then."""
    funded(store)
    seen: list[int] = []
    client = client_of(store)
    change = {
        "TableName": store.name,
        "Key": Account.at(name="ann").key,
        "UpdateExpression": "SET balance = :b",
        "ExpressionAttributeValues": {":b": {"N": "50"}},
    }

    async def build(tx: Any) -> Any:
        ann = await tx.one(Account.at(name="ann"))
        assert await tx.get(Account.at(name="new")) is None
        seen.append(ann.balance)
        if len(seen) == 1:
            changed = client.update_item(**change)
            await changed if inspect.isawaitable(changed) else None
        return [Update(Account.at(name="bob"), Account.balance.set(ann.balance)), Check(Account.at(name="bob"))]

    assert store.transact(built(store, build)) == (None, None)
    assert seen == [100, 50]
    assert balances(store, "ann", "bob") == [50, 50]


def test_transfers_keep_the_sum(store: Store) -> None:
    """Sixteen threads that read, decide and write: no money is made and none is lost, and no account is overdrawn."""
    funded(store)

    async def transfer(tx: Any) -> Any:
        ann, bob = await tx.one(Account.at(name="ann")), await tx.one(Account.at(name="bob"))
        if ann.balance < 30:
            return []
        return [Update(ann, Account.balance.set(ann.balance - 30)), Update(bob, Account.balance.set(bob.balance + 30))]

    in_threads(16, lambda _: store.transact(built(store, transfer)))
    assert balances(store, "ann", "bob") == [10, 90]


# Reading -------------------------------------------------------------------------------------------------------------


def test_reads_at_one_moment(store: Store) -> None:
    """`transactional=True` reads all in one request, each key once, in the order of the references."""
    funded(store)
    counted, calls = counting(store)
    ann, nobody = Account.at(name="ann"), Account.at(name="nobody")
    found = counted.get_many(ann, nobody, ann, transactional=True)
    assert found == (Account(name="ann", balance=100), None, Account(name="ann", balance=100))
    assert calls == {"transact_get_items": 1}
    with pytest.raises(UsageError, match="101 different keys"):
        counted.get_many(*(Account.at(name=str(n)) for n in range(101)), transactional=True)


def test_get_or_create_has_one_winner(store: Store) -> None:
    """Sixteen threads create one account, each with its own balance: one is stored, and all are given that one."""
    made = in_threads(16, lambda place: store.get_or_create(Account(name="a", balance=place)))
    assert len(set(map(repr, made))) == 1
    assert made[0] == store.one(Account.at(name="a"))
