"""Tables of other shapes: a number as sort key, no sort key, other attribute names, rows that were there before."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from singletable import (
    AlreadyExists,
    ConditionFailed,
    Entity,
    Field,
    ForeignItem,
    GlobalIndex,
    Key,
    KeyPartError,
    NotFound,
    Query,
    QueryError,
    Store,
    Table,
)
from tests.contract.behind import client_of, everything, item_at, write
from tests.contract.conftest import MakeStore

measured = GlobalIndex("measured", pk="day", sk=("celsius", Decimal))
readings = Table("readings", pk="sensor", sk=("second", int), indexes=[measured])
settings = Table("settings", pk="name", sk=None)
sizes = GlobalIndex("by-size", pk="index pk", sk="index#sk")
words = Table("words", pk="partition", sk="range", tag="type", indexes=[sizes])
old = Table("old", pk="pk", sk="sk", tag="kind", untagged="by_key")
accounts = Table("accounts", pk=("number", int), sk="sk")


class Reading(Entity, table=readings, tag="reading"):
    sensor: Field[str]
    second: Field[int]
    day: Field[date | None] = Field(default=None)
    celsius: Field[Decimal | None] = Field(default=None)

    key = Key(pk="{sensor}", sk="{second}", raw=True)
    warmest = Key(on=measured, pk="{day}", sk="{celsius}", raw=True)


class Setting(Entity, table=settings, tag="setting"):
    name: Field[str] = Field(name="n")
    value: Field[int]

    key = Key(pk="#SETTING#{name}")


class Word(Entity, table=words, tag="word"):
    language: Field[str]
    text: Field[str] = Field(name="value")
    size: Field[int] = Field(name="size")
    since: Field[datetime | None] = Field(default=None, name="timestamp")

    key = Key(pk="#LANGUAGE#{language}", sk="#WORD#{text}")
    by_size = Key(on=sizes, pk="#SIZES#{language}", sk="#{size}")


class Customer(Entity, table=old, tag="customer"):
    customer_id: Field[str]
    name: Field[str]
    visits: Field[int] = Field(default=0)

    key = Key(pk="CUST#{customer_id}", sk="INFO", raw=True)


class Account(Entity, table=accounts, tag="account"):
    number: Field[int]
    owner: Field[str]

    key = Key(pk="{number}", sk="#ACCOUNT")


def seconds(store: Store, query: Query[Reading]) -> list[int]:
    """Give the seconds of the readings that a query finds."""
    return [reading.second for reading in store.query(query)]


def test_a_native_number_is_ranged_over_as_a_number(backend: MakeStore) -> None:
    """Every range of a numeric sort key is by value: -7, 2, 10, 100 and 10**18 stand in that order."""
    store = backend(readings)
    big = 10**18
    store.put_many(Reading(sensor="s", second=second) for second in (100, 2, big, -7, 10))
    store.put(Reading(sensor="s2", second=5))
    key = Reading.key
    cases: dict[str, tuple[Query[Reading], list[int]]] = {
        "all": (key(sensor="s"), [-7, 2, 10, 100, big]),
        "equal": (key(sensor="s", second=10), [10]),
        "gt": (key(sensor="s").gt(second=10), [100, big]),
        "gte": (key(sensor="s").gte(second=10), [10, 100, big]),
        "lt": (key(sensor="s").lt(second=10), [-7, 2]),
        "lte": (key(sensor="s").lte(second=10), [-7, 2, 10]),
        "between": (key(sensor="s").between(second=(2, 100)), [2, 10, 100]),
        "gt lt": (key(sensor="s").gt(second=2).lt(second=100), [10]),
        "gte lte": (key(sensor="s").gte(second=2).lte(second=100), [2, 10, 100]),
        "gt lte around zero": (key(sensor="s").gt(second=-7).lte(second=2), [2]),
        "gt lt, nothing between": (key(sensor="s").gt(second=10).lt(second=11), []),
        "between, low above high": (key(sensor="s").between(second=(3, 2)), []),
        "descending": (key(sensor="s").descending().limit(2), [big, 100]),
        "consistent": (key(sensor="s").lt(second=0).consistent(), [-7]),
    }
    for what, (query, expected) in cases.items():
        assert seconds(store, query) == expected, what
        assert store.count(query) == len(expected), what


def test_a_native_number_is_stored_once_as_a_number(backend: MakeStore) -> None:
    """The field itself is the key attribute; get, update and delete find it."""
    store = backend(readings)
    store.create(Reading(sensor="s", second=-7))
    item = item_at(store, Reading.at(sensor="s", second=-7))
    assert item is not None
    del item["_c"]
    assert item == {"sensor": {"S": "s"}, "second": {"N": "-7"}, "_et": {"S": "reading"}}
    with pytest.raises(AlreadyExists):
        store.create(Reading(sensor="s", second=-7))
    warm = store.update(Reading.at(sensor="s", second=-7), Reading.celsius.set(Decimal("21.5")))
    assert store.delete(warm) == warm
    assert store.get(Reading.at(sensor="s", second=-7)) is None


def test_an_index_on_native_fields_is_sparse_and_exact(backend: MakeStore) -> None:
    """An index of plain field attributes: an entry only where both are there, decimals compared exactly."""
    store = backend(readings)
    first = date(2026, 12, 1)
    for second, celsius in ((1, Decimal("9.5")), (2, Decimal(10)), (3, Decimal("-3.25")), (4, None)):
        store.create(Reading(sensor="s", second=second, day=first, celsius=celsius))
    warmest = Reading.warmest(day=first)
    assert seconds(store, warmest.descending()) == [2, 1, 3]
    assert seconds(store, warmest.gte(celsius=Decimal("9.5"))) == [1, 2]
    assert seconds(store, warmest.gt(celsius=Decimal("-3.25")).lt(celsius=Decimal(10))) == [1]
    store.update(Reading.at(sensor="s", second=4), Reading.celsius.set(Decimal("11.125")))
    store.update(Reading.at(sensor="s", second=2), Reading.celsius.remove())
    store.update(Reading.at(sensor="s", second=3), Reading.day.remove())
    assert seconds(store, warmest) == [1, 4]


def test_a_native_key_has_no_prefix_and_no_levels() -> None:
    """begins_with and below of a number are refused where they are written."""
    with pytest.raises(QueryError, match="begins_with"):
        Reading.key(sensor="s").begins_with(second=1)
    with pytest.raises(QueryError, match="below"):
        Reading.key(sensor="s").below()
    with pytest.raises(KeyPartError, match="second"):
        Reading.at(sensor="s", second=True)


def test_a_table_without_sort_key(backend: MakeStore) -> None:
    """Every verb works on a partition key alone; a query finds the one item."""
    store = backend(settings)
    created = store.create(Setting(name="zoom", value=1))
    store.put_many([Setting(name="zoom1", value=7), Setting(name="zoo", value=8)])
    assert item_at(store, Setting.at(name="zoom")) is not None
    with pytest.raises(AlreadyExists):
        store.create(Setting(name="zoom", value=2))
    assert store.query(Setting.key(name="zoom")).all() == [created]
    assert store.count(Setting.key(name="zoom")) == 1
    assert store.first(Setting.key(name="zo")) is None
    assert store.update(created, Setting.value.add(4)).value == 5
    assert store.put(Setting(name="zoom", value=9), when=Setting.value == 5).value == 9
    assert store.delete(Setting.at(name="zoom")) == Setting(name="zoom", value=9)
    assert store.get(Setting.at(name="zoom")) is None
    assert len(everything(store)) == 2


def test_a_key_without_sort_key_has_no_ranges() -> None:
    """A range on it is refused where it is written, an unknown part too."""
    with pytest.raises(QueryError, match="no sort key"):
        Setting.key(name="zoom").begins_with(name="z")


def test_other_names_and_reserved_words(backend: MakeStore) -> None:
    """Key attributes, tag, index and fields may have any name, DynamoDB's reserved words and odd characters too."""
    store = backend(words)
    when = datetime(2026, 12, 1, tzinfo=UTC)
    word = store.create(Word(language="en", text="table", size=5))
    item = item_at(store, Word.at(language="en", text="table"))
    assert item is not None
    del item["_c"]
    assert item == {
        "partition": {"S": "#LANGUAGE#en"},
        "range": {"S": "#WORD#table"},
        "index pk": {"S": "#SIZES#en"},
        "index#sk": {"S": "#0000000000000000005"},
        "type": {"S": "word"},
        "language": {"S": "en"},
        "value": {"S": "table"},
        "size": {"N": "5"},
    }
    store.update(word, Word.size.set(12), Word.since.set(when), when=Word.since.does_not_exist())
    assert store.query(Word.by_size(language="en").gte(size=10).where(Word.since == when)).all() == [
        Word(language="en", text="table", size=12, since=when)
    ]
    assert store.count(Word.key(language="en").begins_with(text="ta").where(Word.size > 11)) == 1


def test_rows_without_tag_are_read_by_their_key(backend: MakeStore) -> None:
    """Old rows are got, queried, counted, changed and deleted; what their attributes lack is read out of the key."""
    store = backend(old)
    for name in ("c1", "c10"):
        write(store, {"pk": {"S": f"CUST#{name}"}, "sk": {"S": "INFO"}, "name": {"S": name}, "extra": {"N": "1"}})
    first = store.one(Customer.at(customer_id="c1"))
    assert first == Customer(customer_id="c1", name="c1")
    assert store.query(Customer.key(customer_id="c1")).all() == [first]
    assert store.count(Customer.key(customer_id="c1")) == 1
    assert store.update(first, Customer.visits.add(2)).visits == 2
    with pytest.raises(AlreadyExists) as caught:
        store.create(Customer(customer_id="c10", name="x"))
    assert caught.value.existing == Customer(customer_id="c10", name="c10")
    store.put(store.one(Customer.at(customer_id="c10")))
    item = item_at(store, Customer.at(customer_id="c10"))
    assert item is not None
    assert (item["kind"], item["extra"]) == ({"S": "customer"}, {"N": "1"})
    assert store.delete(Customer.at(customer_id="c1")) == Customer(customer_id="c1", name="c1", visits=2)


def test_an_untagged_row_whose_key_does_not_fit_is_foreign(backend: MakeStore) -> None:
    """In a table that tags its rows, a row without tag is nobody's."""
    store = backend(words)
    row = write(store, {"partition": {"S": "#LANGUAGE#en"}, "range": {"S": "#WORD#x"}, "size": {"N": "1"}})
    with pytest.raises(ForeignItem) as caught:
        store.get(Word.at(language="en", text="x"))
    assert caught.value.found is None
    assert store.query(Word.key(language="en")).all() == []
    assert everything(store) == [row]


def test_a_raw_value_that_holds_the_delimiter_is_refused(backend: MakeStore) -> None:
    """A raw key is stored byte for byte, so a '#' in a value would forge another key: nothing is stored."""
    store = backend(old)
    with pytest.raises(KeyPartError, match="customer_id"):
        store.create(Customer(customer_id="c1#INFO", name="x"))
    assert everything(store) == []


def test_a_number_as_partition_key(backend: MakeStore) -> None:
    """A native number identifies the partition, however it was written."""
    store = backend(accounts)
    account = store.create(Account(number=10**20, owner="Ann"))
    assert store.one(Account.at(number=10**20)) == account
    assert store.query(Account.key(number=10**20)).all() == [account]
    with pytest.raises(ConditionFailed):
        store.delete(account, when=Account.owner == "Bob")
    with pytest.raises(NotFound):
        store.update(Account.at(number=1), Account.owner.set("x"))
    described = client_of(store).describe_table(TableName=store.name)["Table"]
    types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
    assert types == {"number": "N", "sk": "S"}
