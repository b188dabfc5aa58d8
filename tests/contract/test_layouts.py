"""Key layouts of other programs, byte for byte: what they wrote is read, and what is written is what they would write.

The literals are written by hand after each source: AWS's guides, Alex DeBrie's book, the manuals of ElectroDB, OneTable
and PynamoDB.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pynamodb.attributes import TTLAttribute, UTCDateTimeAttribute

from singletable import (
    AlreadyExists,
    Entity,
    Field,
    ForeignItem,
    GlobalIndex,
    Key,
    Query,
    QueryError,
    Ref,
    Table,
    evolve,
    to_item,
)
from singletable.wire import Item
from tests.contract.behind import everything, item_at, write
from tests.contract.conftest import MakeStore

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)

shop = Table("shop", tag="EntityType", raw=True)
debrie = Table("debrie", tag="Type", indexes=[GlobalIndex("GSI1")], raw=True)
electro = Table("electro", pk="pk", sk="sk", tag="__edb_e__", raw=True)
onetable = Table("onetable", pk="pk", sk="sk", tag="_type", raw=":")
threads = Table("threads", pk="forum_name", sk="subject", tag=None)
sensors = Table("sensors", pk="sensor", sk=("at", int), tag=None)
orders = Table("orders", pk="customer_key", sk="placed", tag=None)


class Invoice(Entity, table=shop, tag="invoice"):
    """AWS, "Using DynamoDB as a data store for an online shop": a letter and `#`."""

    order_id: Field[str]
    invoice_id: Field[str]
    amount: Field[Decimal]

    key = Key(pk="o#{order_id}", sk="i#{invoice_id}")


class Order(Entity, table=debrie, tag="Order"):
    """DeBrie, "The DynamoDB Book": capitals, `#`, and an index of an item collection."""

    username: Field[str] = Field(name="Username")
    order_id: Field[str] = Field(name="OrderId")

    key = Key(pk="USER#{username}", sk="ORDER#{order_id}")
    by_order = Key(on=debrie.indexes[0], pk="ORDER#{order_id}", sk="ORDER#{order_id}")


class Task(Entity, table=electro, tag="tasks"):
    """ElectroDB: `$service#label_value`, and a version beside the entity's name."""

    team: Field[str]
    project: Field[str]
    number: Field[int]
    version: Field[str] = Field(default="1", name="__edb_v__")

    key = Key(pk="$taskapp#team_{team}", sk="$tasks_1#project_{project}#number_{number:04}")


class Person(Entity, table=onetable, tag="User"):
    """OneTable, and dynamodb-toolbox's examples: `:` between the parts."""

    account: Field[str]
    email: Field[str]

    key = Key(pk="Account:{account}", sk="User:{email}")


class Thread(Entity, table=threads):
    """PynamoDB's tutorial: the key attributes are the fields."""

    forum: Field[str] = Field(name="forum_name")
    subject: Field[str]
    views: Field[int] = Field(default=0)

    key = Key(pk=("forum",), sk=("subject",))


class Reading(Entity, table=sensors):
    """Epoch seconds as a number."""

    sensor: Field[str]
    moment: Field[datetime] = Field(codec=TTLAttribute(), name="at")

    key = Key(pk=("sensor",), sk=("moment",))


class Sale(Entity, table=orders):
    """An ISO date, a moment as PynamoDB writes it and a number without padding in one text."""

    customer: Field[str]
    day: Field[date]
    moment: Field[datetime] = Field(codec=UTCDateTimeAttribute())
    number: Field[int]

    key = Key(pk="CUSTOMER#{customer}", sk="{day}#{moment}#{number}", raw=True)


@dataclass(frozen=True)
class Case:
    """An entity, how to refer to it, its key (and index key) by hand, and what else the other program stored."""

    entity: Entity
    ref: Ref[Any]
    key: Item
    rest: Item
    found_by: Query[Any]
    not_found_by: Query[Any]


CASES = {
    "aws": Case(
        Invoice(order_id="12345", invoice_id="55443", amount=Decimal("9.5")),
        Invoice.at(order_id="12345", invoice_id="55443"),
        {"PK": {"S": "o#12345"}, "SK": {"S": "i#55443"}},
        {"EntityType": {"S": "invoice"}, "amount": {"N": "9.5"}},
        Invoice.key(order_id="12345").begins_with(invoice_id="55"),
        Invoice.key(order_id="12345").gt(invoice_id="55443"),
    ),
    "debrie": Case(
        Order(username="alexdebrie", order_id="5e7272b7"),
        Order.at(username="alexdebrie", order_id="5e7272b7"),
        {
            "PK": {"S": "USER#alexdebrie"},
            "SK": {"S": "ORDER#5e7272b7"},
            "GSI1PK": {"S": "ORDER#5e7272b7"},
            "GSI1SK": {"S": "ORDER#5e7272b7"},
        },
        {"Type": {"S": "Order"}, "Username": {"S": "alexdebrie"}, "OrderId": {"S": "5e7272b7"}},
        Order.by_order(order_id="5e7272b7"),
        Order.key(username="alexdebrie").lt(order_id="5e7272b7"),
    ),
    "electrodb": Case(
        Task(team="green", project="core", number=7),
        Task.at(team="green", project="core", number=7),
        {"pk": {"S": "$taskapp#team_green"}, "sk": {"S": "$tasks_1#project_core#number_0007"}},
        {"__edb_e__": {"S": "tasks"}, "__edb_v__": {"S": "1"}},
        Task.key(team="green", project="core").between(number=(7, 9)),
        Task.key(team="green", project="cor"),
    ),
    "onetable": Case(
        Person(account="acme", email="a@b.c"),
        Person.at(account="acme", email="a@b.c"),
        {"pk": {"S": "Account:acme"}, "sk": {"S": "User:a@b.c"}},
        {"_type": {"S": "User"}},
        Person.key(account="acme"),
        Person.key(account="acme").begins_with(email="b"),
    ),
    "pynamodb": Case(
        Thread(forum="general", subject="Hello #1", views=0),
        Thread.at(forum="general", subject="Hello #1"),
        {"forum_name": {"S": "general"}, "subject": {"S": "Hello #1"}},
        {"views": {"N": "0"}},
        Thread.key(forum="general").begins_with(subject="Hello"),
        Thread.key(forum="general").gt(subject="Hello #1"),
    ),
    "epoch": Case(
        Reading(sensor="s", moment=NOON),
        Reading.at(sensor="s", moment=NOON),
        {"sensor": {"S": "s"}, "at": {"N": "1767355200"}},
        {},
        Reading.key(sensor="s").between(moment=(NOON, NOON)),
        Reading.key(sensor="s").gt(moment=NOON),
    ),
    "dates": Case(
        Sale(customer="c", day=date(2026, 1, 2), moment=NOON, number=10),
        Sale.at(customer="c", day=date(2026, 1, 2), moment=NOON, number=10),
        {
            "customer_key": {"S": "CUSTOMER#c"},
            "placed": {"S": "2026-01-02#2026-01-02T12:00:00.000000+0000#10"},
        },
        {},
        Sale.key(customer="c", day=date(2026, 1, 2)).gte(moment=NOON),
        Sale.key(customer="c").lt(day=date(2026, 1, 2)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_keys_byte_for_byte(backend: MakeStore, name: str) -> None:
    """A row that another program wrote under the literal key is read, and ours has the same bytes."""
    case = CASES[name]
    store = backend(type(case.entity).__table__ or shop)
    write(store, {**case.key, **case.rest})
    theirs = store.get(case.ref)
    assert theirs == case.entity
    assert store.query(case.found_by).all() == [case.entity]
    assert store.query(case.not_found_by).all() == []
    assert case.key.items() <= to_item(case.entity).items()
    store.put(case.entity)
    [item] = everything(store)
    assert {**case.key, **case.rest}.items() <= item.items()
    assert store.delete(case.ref) == case.entity
    assert everything(store) == []


def test_ranges_over_numbers_without_padding_are_refused() -> None:
    """10 sorts before 9 in text: a range says so and names the ways out; whole values and native numbers work."""
    day = Sale.key(customer="c", day=date(2026, 1, 2), moment=NOON)
    with pytest.raises(QueryError, match="width") as caught:
        day.gte(number=9)
    assert "whole values" in str(caught.value)


# Rows without tag -----------------------------------------------------------------------------------------------------

old = Table("old", tag="kind", untagged="by_key", raw=True)


class Customer(Entity, table=old, tag="customer", aliases=["client"]):
    """Rows of three ages: without tag, under an older tag, and tagged."""

    customer_id: Field[str]
    name: Field[str]

    key = Key(pk="CUST#{customer_id}", sk="INFO")


class Address(Entity, table=old, tag="address"):
    """Stands in the same partition."""

    customer_id: Field[str]
    number: Field[int]

    key = Key(pk="CUST#{customer_id}", sk="ADDRESS#{number:03}")


def row(customer: str, sk: str, **attributes: str) -> Item:
    """Write a row as the older program did."""
    return {"PK": {"S": f"CUST#{customer}"}, "SK": {"S": sk}, **{key: {"S": text} for key, text in attributes.items()}}


def test_rows_of_three_ages(backend: MakeStore) -> None:
    """A row without tag and one under an alias are read, changed and deleted like one with the tag."""
    store = backend(old)
    write(store, row("c1", "INFO", name="bare"))
    write(store, row("c2", "INFO", name="older", kind="client"))
    write(store, row("c1", "ADDRESS#001"))
    write(store, row("c1", "NOTE", name="of nobody"))
    write(store, row("c3", "INFO", name="other", kind="ghost"))
    store.create(Customer(customer_id="c4", name="new"))
    assert sorted(each.name for each in store.scan(Customer)) == ["bare", "new", "older"]
    assert store.query(Customer.key(customer_id="c1")).all() == [Customer(customer_id="c1", name="bare")]
    assert store.count(Address.key(customer_id="c1")) == 1
    with pytest.raises(ForeignItem) as foreign:
        store.get(Customer.at(customer_id="c3"))
    assert foreign.value.found == "ghost"
    for name in ("c1", "c2"):
        with pytest.raises(AlreadyExists) as taken:
            store.create(Customer(customer_id=name, name="x"))
        assert taken.value.existing is not None
        at = Customer.at(customer_id=name)
        before = item_at(store, at) or {}
        assert store.update(at, Customer.name.set("changed")).name == "changed"
        assert item_at(store, at) == {**before, "name": {"S": "changed"}}  # an update leaves the tag as it is
        store.put(evolve(store.one(at), name="put"))
        after = item_at(store, at) or {}
        assert after["kind"] == {"S": "customer"}  # a put writes the tag of now
        assert store.delete(at) == Customer(customer_id=name, name="put")
    with pytest.raises(ForeignItem):
        store.put(Customer(customer_id="c3", name="x"))
    with pytest.raises(ForeignItem):
        store.delete(Customer.at(customer_id="c3"))
    assert len(everything(store)) == 4


def test_a_filter_never_drops_rows_without_tag(backend: MakeStore) -> None:
    """Numeric keys and plain attributes have no prefix to go by: every row of the table is the entity's."""
    store = backend(sensors)
    moments = [NOON.replace(second=second) for second in (0, 9, 10)]
    for moment in moments:
        write(store, {"sensor": {"S": "s"}, "at": {"N": str(int(moment.timestamp()))}})
    assert [each.moment for each in store.query(Reading.key(sensor="s"))] == moments
    assert store.count(Reading.key(sensor="s").gt(moment=moments[0])) == 2
    assert len(store.scan(Reading).all()) == 3
