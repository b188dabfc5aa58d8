"""Making, comparing and dropping a table."""

from __future__ import annotations

import pytest

from singletable import GlobalIndex, Store, Table, TableMismatch, TableMissing
from tests.contract.behind import client_of, sibling, write
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, User, app, order


def test_a_table_is_made_with_its_indexes_and_can_be_used_at_once(backend: MakeStore) -> None:
    """create_table waits until the table and its index are active."""
    store = backend(app)
    described = client_of(store).describe_table(TableName=store.name)["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    (index,) = described["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "GSI1"
    assert index["Projection"] == {"ProjectionType": "ALL"}
    assert store.create(User(user_id="u1", name="Ann")).name == "Ann"


def test_making_a_table_twice_changes_nothing(backend: MakeStore) -> None:
    """create_table on a table of this shape keeps what is stored."""
    store = backend(app)
    store.create(User(user_id="u1", name="Ann"))
    store.create_table()
    store.create_table()
    assert store.one(User.at(user_id="u1")).name == "Ann"


def test_more_indexes_than_declared_do_no_harm(backend: MakeStore) -> None:
    """A table with a further index is no mismatch."""
    store = backend(app)
    sibling(store, Table("app")).create_table()
    described = client_of(store).describe_table(TableName=store.name)["Table"]
    assert [index["IndexName"] for index in described["GlobalSecondaryIndexes"]] == ["GSI1"]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (
            Table("app", pk="id", indexes=[GlobalIndex("GSI1")]),
            ("the table has the partition key 'PK' (S), declared 'id' (S)",),
        ),
        (
            Table("app", sk=("SK", int), indexes=[GlobalIndex("GSI1")]),
            ("the table has the sort key 'SK' (S), declared 'SK' (N)",),
        ),
        (
            Table("app", sk=None, indexes=[GlobalIndex("GSI1")]),
            ("the table has the sort key 'SK' (S), declared none",),
        ),
        (
            Table("app", indexes=[GlobalIndex("GSI1"), GlobalIndex("GSI2")]),
            ("index 'GSI2' is missing",),
        ),
        (
            Table("app", indexes=[GlobalIndex("GSI1", pk="other")]),
            ("index 'GSI1' has the partition key 'GSI1PK' (S), declared 'other' (S)",),
        ),
        (
            Table("app", pk="a", sk="b", indexes=[GlobalIndex("GSI3")]),
            (
                "the table has the partition key 'PK' (S), declared 'a' (S)",
                "the table has the sort key 'SK' (S), declared 'b' (S)",
                "index 'GSI3' is missing",
            ),
        ),
    ],
    ids=["key name", "key type", "no sort key", "index missing", "index key", "all at once"],
)
def test_a_table_of_another_shape_says_every_difference(
    backend: MakeStore, other: Table, expected: tuple[str, ...]
) -> None:
    """TableMismatch names each difference, and the table stays as it is."""
    store = backend(app)
    with pytest.raises(TableMismatch) as caught:
        sibling(store, other).create_table()
    assert caught.value.differences == expected
    assert caught.value.table == store.name
    assert all(difference in str(caught.value) for difference in expected)
    store.create_table()


def test_a_deleted_table_is_gone_with_everything_in_it(backend: MakeStore) -> None:
    """delete_table waits until the table is unknown; made again it is empty."""
    store = backend(app)
    store.create(User(user_id="u1", name="Ann"))
    store.delete_table()
    with pytest.raises(TableMissing):
        store.get(User.at(user_id="u1"))
    store.create_table()
    assert store.get(User.at(user_id="u1")) is None


def test_every_verb_says_that_the_table_is_missing(backend: MakeStore) -> None:
    """TableMissing, with the table's name, from each verb on a table that does not exist."""
    store = backend(app)
    store.delete_table()
    ann, at = User(user_id="u1", name="Ann"), User.at(user_id="u1")
    verbs = {
        "get": lambda: store.get(at),
        "one": lambda: store.one(at),
        "create": lambda: store.create(ann),
        "create by sort key": lambda: store.create(order()),
        "put": lambda: store.put(ann),
        "update": lambda: store.update(at, User.name.set("B")),
        "delete": lambda: store.delete(at),
        "query": lambda: store.query(User.key(user_id="u1")).all(),
        "first": lambda: store.first(User.key(user_id="u1")),
        "count": lambda: store.count(Match.key(league="L")),
        "put_many": lambda: store.put_many([ann]),
        "delete_table": store.delete_table,
    }
    for verb, run in verbs.items():
        with pytest.raises(TableMissing) as caught:
            run()
        assert caught.value.table == store.name, verb
        assert "create_table" in caught.value.hint


def test_a_store_sends_nothing_before_its_first_verb() -> None:
    """A store can be made where no region, no credentials and no table are."""
    store = Store(app, region="us-east-1")
    assert "app" in repr(store)
    assert store._made is None


def test_two_stores_in_one_place_see_the_same_items(backend: MakeStore) -> None:
    """What one store writes another store of the same table reads, an item of other programs too."""
    store = backend(app)
    other = sibling(store)
    written = store.create(order())
    assert other.get(Order.at(user_id="u1", order_id=1)) == written
    write(
        store,
        {"PK": {"S": "#USER#x"}, "SK": {"S": "#PROFILE"}, "_et": {"S": "user"}, "name": {"S": "Xi"}},
    )
    assert other.one(User.at(user_id="x")) == User(user_id="x", name="Xi")


def test_embedded_stores_do_not_see_each_other() -> None:
    """Two local stores of one table are two places."""
    one, two = Store.local(app), Store.local(app)
    one.create(User(user_id="u1", name="Ann"))
    assert two.get(User.at(user_id="u1")) is None
