"""Numbers without gaps: the counter moves in the transaction that stores the item, or not at all."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    Check,
    Create,
    Entity,
    Field,
    Key,
    Put,
    Sequence,
    SequenceContention,
    SequenceExhausted,
    Store,
    Table,
    Transact,
    TransactionFailed,
    UniqueViolation,
    UsageError,
)
from tests.contract.behind import CountingClient, client_of, item_under, sibling, write
from tests.contract.conftest import MakeStore
from tests.faults.client import FaultyClient
from tests.faults.rules import DROPPED, Rule, Script

books = Table("books")
pages = Sequence("pages", pk="#SHOP#{shop}")
counted = Sequence(pk="COUNTERS", sk="of#{shop}", attribute="n")


class Invoice(Entity, table=books, tag="invoice"):
    number: Field[int] = AutoIncrement(gapless=True)
    order: Field[str] = Field(unique=True)

    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


class Receipt(Entity, table=books, tag="receipt"):
    shop: Field[str]
    number: Field[int] = AutoIncrement(gapless=True, start=100, step=10, max_value=130)

    key = Key(pk="#SHOP#{shop}", sk="#RECEIPT#{number}")


class Sheet(Entity, table=books, tag="sheet"):
    shop: Field[str]
    name: Field[str]
    page: Field[int] = AutoIncrement(pages, gapless=True)
    note: Field[str] = Field(default="")

    key = Key(pk="#SHEET#{shop}#{name}", sk="#SHEET")


class Cover(Entity, table=books, tag="cover"):
    shop: Field[str]
    page: Field[int] = AutoIncrement(pages, gapless=True)

    key = Key(pk="#SHOP#{shop}", sk="#COVER#{page}")


class Old(Entity, table=books, tag="old"):
    shop: Field[str]
    n: Field[int] = AutoIncrement(counted, gapless=True)

    key = Key(pk="#OLD#{shop}", sk="#OLD#{n}")


INVOICES = {"PK": {"S": "#!SEQ#invoice.number"}, "SK": {"S": "!"}}


def last(store: Store, key: Any, attribute: str = "last") -> str | None:
    """Read where a counter stands."""
    item = item_under(store, key)
    return None if item is None else item[attribute]["N"]


def invoices(store: Store, *orders: str) -> list[int]:
    """Create an invoice for each order, and give the numbers."""
    return [store.create(Invoice(order=order)).number for order in orders]


def test_what_fails_takes_no_number(transacting: MakeStore) -> None:
    """A create that is refused leaves the counter where it was; a counter of the usual kind would be one further."""
    store = transacting(books)
    assert invoices(store, "a", "b") == [1, 2]
    with pytest.raises(UniqueViolation):
        store.create(Invoice(order="a"))
    assert last(store, INVOICES) == "2"
    assert invoices(store, "c") == [3]
    with pytest.raises(TransactionFailed):
        store.transact(Create(Invoice(order="d")), Check(Invoice.at(number=3), Invoice.order == "z"))
    assert invoices(store, "d") == [4]


def test_a_number_costs_one_request(transacting: MakeStore) -> None:
    """The first number reads the counter; the next ones are known from the last, and are one transaction each."""
    store = transacting(books)
    client = CountingClient(client_of(store))
    counting = sibling(store, client=client)
    assert [counting.create(Sheet(shop="x", name=name)).page for name in "abc"] == [1, 2, 3]
    assert client.calls == {"get_item": 1, "transact_write_items": 3}


def test_another_process_in_between(transacting: MakeStore) -> None:
    """A number that another store took shows in the refusal: the next one is tried without a further read."""
    store = transacting(books)
    client = CountingClient(client_of(store))
    here, there = sibling(store, client=client), sibling(store, client=client_of(store))
    made = [each.create(Sheet(shop="x", name=str(n))).page for n, each in enumerate((here, there, there, here))]
    assert made == [1, 2, 3, 4]
    assert client.calls == {"get_item": 1, "transact_write_items": 3}


def test_another_process_took_the_key_too(transacting: MakeStore) -> None:
    """Where the number is in the key, an item stands there too: it is the counter that tells, and the next is tried.

    An item that stands beyond the counter, which no create has put there, is in the way all the same.
    """
    store = transacting(books)
    here, there = sibling(store, client=client_of(store)), sibling(store, client=client_of(store))
    assert [each.create(Cover(shop="x")).page for each in (here, there, there, here)] == [1, 2, 3, 4]
    assert here.transact(Create(Cover(shop="x")), Create(Cover(shop="x"))) == (
        Cover(shop="x", page=5),
        Cover(shop="x", page=6),
    )
    assert there.transact(Create(Cover(shop="x")), Create(Cover(shop="x")))[1].page == 8
    prepared = there.prepare(Create(Cover(shop="x")))
    assert here.create(Cover(shop="x")).page == 9
    with pytest.raises(SequenceContention, match="the counter has passed 9, the number of this prepared create"):
        there.run(prepared)
    store.put(Cover(shop="x", page=10))
    with pytest.raises(AlreadyExists):
        there.create(Cover(shop="x"))


def test_threads_and_two_stores(transacting: MakeStore) -> None:
    """Forty numbers by eight threads over two stores are 1 to 40."""
    store = transacting(books)
    stores = [store, sibling(store, client=client_of(store))]

    def created(n: int) -> int:
        return stores[n % 2].create(Sheet(shop="x", name=str(n))).page

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(created, range(40))) == list(range(1, 41))


def test_start_step_and_end(transacting: MakeStore) -> None:
    """100, 110, 120, 130, and then nothing: neither a number nor an item."""
    store = transacting(books)
    assert [store.create(Receipt(shop="s")).number for _ in range(3)] == [100, 110, 120]
    with pytest.raises(TransactionFailed) as failed:
        store.transact(Create(Receipt(shop="s")), Create(Receipt(shop="s")))
    assert "fewer than 2 numbers are left in the partition, up to 130" in str(failed.value.exceptions[0])
    assert store.create(Receipt(shop="s")).number == 130
    with pytest.raises(SequenceExhausted, match="used up to 130"):
        store.create(Receipt(shop="s"))
    assert [row.number for row in store.query(Receipt.key(shop="s"))] == [100, 110, 120, 130]
    assert store.create(Receipt(shop="t")).number == 100


def test_a_partition_with_data(transacting: MakeStore) -> None:
    """A partition's counter that does not exist yet goes on from the highest number stored there."""
    store = transacting(books)
    store.put(Receipt(shop="s", number=110))
    assert store.create(Receipt(shop="s")).number == 120


def test_deleted_numbers_do_not_come_again(transacting: MakeStore) -> None:
    """A delete makes a hole and nothing else: the counter goes on."""
    store = transacting(books)
    invoices(store, "a", "b")
    store.delete(Invoice.at(number=2))
    assert invoices(store, "c") == [3]


def test_several_in_one_transaction(transacting: MakeStore) -> None:
    """Their steps are one step of the counter, also of two kinds that share it."""
    store = transacting(books)
    made = store.transact(*[Create(Invoice(order=order)) for order in "abc"])
    assert [invoice.number for invoice in made] == [1, 2, 3]
    sheet, cover, other = store.transact(
        Create(Sheet(shop="x", name="s")), Put(Cover(shop="x")), Create(Cover(shop="y"))
    )
    assert (sheet.page, cover.page, other.page) == (1, 2, 1)
    assert last(store, INVOICES) == "3"


def test_a_plain_add_beside(transacting: MakeStore) -> None:
    """Another program that counts with ADD in an adopted counter takes its numbers, and we go on after it."""
    store = transacting(books)
    key = {"PK": {"S": "COUNTERS"}, "SK": {"S": "of#x"}}
    write(store, {**key, "n": {"N": "7"}})
    made = [store.create(Old(shop="x")).n]
    client_of(store).update_item(
        TableName=store.name,
        Key=key,
        UpdateExpression="ADD n :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    made += [store.create(Old(shop="x")).n for _ in range(2)]
    assert made == [8, 10, 11]


def test_every_verb_that_makes_an_item(transacting: MakeStore) -> None:
    """put, create_many, get_or_create, create(token=) and update(missing=) draw in turn; a batch cannot."""
    store = transacting(books)
    assert store.put(Sheet(shop="x", name="a")).page == 1
    assert [sheet.page for sheet in store.create_many([Sheet(shop="x", name=name) for name in "bc"])] == [2, 3]
    assert store.get_or_create(Sheet(shop="x", name="c")).page == 3
    assert store.get_or_create(Sheet(shop="x", name="d")).page == 4
    assert [store.create(Sheet(shop="x", name="e"), token="once").page for _ in range(2)] == [5, 5]
    assert [store.create(Cover(shop="x"), token="cover").page for _ in range(2)] == [6, 6]
    made = store.update(Sheet.at(shop="x", name="u"), Sheet.note.set("n"), missing="create", returning="new")
    assert (made.page, made.note) == (7, "n")
    store.create(Sheet(shop="x", name="v"))
    here = sibling(store, client=client_of(store))
    assert here.create(Sheet(shop="x", name="w")).page == 9
    store.update(Sheet.at(shop="x", name="y"), Sheet.note.set("n"), missing="create", returning=None)
    loaded = store.put(Sheet(shop="x", name="a", page=1))
    assert loaded.page == 1
    with pytest.raises(UsageError, match="without gaps"):
        store.put_many([Sheet(shop="x", name="f")])
    with pytest.raises(UsageError, match="without gaps"):
        store.assign(Sheet(shop="x", name="f"))
    with pytest.raises(AlreadyExists):
        store.create(Sheet(shop="x", name="a"))
    assert store.create(Sheet(shop="x", name="f")).page == 11


def test_prepared(transacting: MakeStore) -> None:
    """A prepared create keeps its number, is stored once, and gives way to whoever took the number before."""
    store = transacting(books)
    prepared = store.prepare(Create(Sheet(shop="x", name="a")))
    assert [store.run(prepared).page for _ in range(3)] == [1, 1, 1]
    late = store.prepare(Create(Sheet(shop="x", name="b")))
    assert store.create(Sheet(shop="x", name="c")).page == 2
    with pytest.raises(SequenceContention, match="prepared"):
        store.run(late)
    assert store.get(Sheet.at(shop="x", name="b")) is None
    both = store.prepare(Transact(Create(Sheet(shop="x", name="d")), Create(Sheet(shop="x", name="e"))))
    for _ in range(2):
        first, second = store.run(both)
        assert (first.page, second.page) == (3, 4)
    assert store.create(Sheet(shop="x", name="f")).page == 5


def test_a_counter_that_another_process_forgot(transacting: MakeStore) -> None:
    """A store that remembers a number does not make the counter anew from it: numbers begin at 1 again."""
    store = transacting(books)
    other = sibling(store, client=client_of(store))
    for name in "abc":
        other.delete(store.create(Sheet(shop="x", name=name)))
    other.sequence(Sheet, shop="x").reset()
    assert [store.create(Sheet(shop="x", name=name)).page for name in "de"] == [1, 2]


def test_a_key_in_the_way_is_told(transacting: MakeStore) -> None:
    """A counter that comes to a taken key says how it is raised."""
    store = transacting(books)
    store.put(Invoice(number=1, order="z"))
    with pytest.raises(AlreadyExists, match=r"store\.sequence\(Invoice, \.\.\.\)\.sync\(\) raises it"):
        store.create(Invoice(order="a"))
    store.sequence(Invoice).sync()
    assert store.create(Invoice(order="a")).number == 2


@pytest.mark.parametrize("lost", [1, 2])
def test_a_lost_reply(transacting: MakeStore, lost: int) -> None:
    """Whichever reply is lost, the item is stored once, and no number is missing."""
    store = transacting(books)
    script = Script(Rule(DROPPED, "transact_write_items", nth=(lost,)))
    faulty = sibling(store, client=FaultyClient(client_of(store), script))
    assert [faulty.create(Sheet(shop="x", name=name)).page for name in "abc"] == [1, 2, 3]
    assert Counter(sheet.page for sheet in store.scan(Sheet)) == {1: 1, 2: 1, 3: 1}
