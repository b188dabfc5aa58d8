"""Making an index on a live table, and comparing one with its declaration."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import OutcomeUnknown, ServiceError, TableMismatch, TableMissing, Throttled
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.operations.add_index import AddIndex
from singletable.operations.shape import compare, definition
from singletable.operations.tables import DiffTable
from singletable.schema import Table
from singletable.wire import Refusal
from tests.unit.operations.playing import NAME, Player, context, failed, lost, missing, throttled

by_day = GlobalIndex("by_day", pk=("tenant", ("day", int)), sk=None, projection=["note", "PK"])
bare = GlobalIndex("bare", projection="keys")
near = LocalIndex("near", projection=["note"])
depot = Table("depot", indexes=[by_day, bare, near])
OTHER_TYPES = [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "nearSK")]
NEAR = {
    "IndexName": "near",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "nearSK", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["_et", "note"]},
}
BY_DAY = {
    "IndexName": "by_day",
    "KeySchema": [{"AttributeName": "tenant", "KeyType": "HASH"}, {"AttributeName": "day", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note", "_et"]},
}
DAY_TYPES = [{"AttributeName": "tenant", "AttributeType": "S"}, {"AttributeName": "day", "AttributeType": "N"}]
IN_USE = Refusal("ResourceInUseException", "busy")
TOO_MANY = Refusal("LimitExceededException", "Only 1 online index can be created")


def described(*indexes: dict[str, Any], status: str = "ACTIVE", **more: Any) -> dict[str, Any]:
    """Answer DescribeTable for a table with the local index and these global ones."""
    return {
        "Table": {
            "TableStatus": status,
            "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            "AttributeDefinitions": OTHER_TYPES + (DAY_TYPES if indexes else []),
            "LocalSecondaryIndexes": [NEAR],
            "GlobalSecondaryIndexes": list(indexes),
            **more,
        }
    }


def index(status: str = "ACTIVE", **more: Any) -> dict[str, Any]:
    """Describe the index that is added."""
    return {**BY_DAY, "IndexStatus": status, **more}


def add(*answers: Any, **options: Any) -> Player:
    """Add the index, playing answers."""
    player = Player(*answers)
    player.play(AddIndex(depot, by_day, **options).steps(context()))
    return player


def methods(player: Player) -> list[str]:
    """Name the calls: d for DescribeTable, u for UpdateTable."""
    return [call.method[0] for call in player.calls]


def test_it_is_made_and_waited_for() -> None:
    """One UpdateTable with every key attribute that is there or new, then looks until it is active and filled."""
    creating, filling = index("CREATING"), index("ACTIVE", Backfilling=True)
    player = add(described(), {}, described(creating, status="UPDATING"), described(filling), described(index()))
    assert methods(player) == ["d", "u", "d", "d", "d"]
    assert player.pauses == [0.05, 0.1, 0.2]
    assert player.calls[1].params == {
        "TableName": NAME,
        "AttributeDefinitions": OTHER_TYPES + DAY_TYPES,
        "GlobalSecondaryIndexUpdates": [{"Create": BY_DAY}],
    }


def test_a_provisioned_table_gives_its_index_as_much() -> None:
    """DynamoDB wants throughput for an index of a provisioned table; it gets the table's own."""
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    player = add(described(ProvisionedThroughput={**units, "NumberOfDecreasesToday": 0}), {}, described(index()))
    (create,) = player.calls[1].params["GlobalSecondaryIndexUpdates"]
    assert create["Create"]["ProvisionedThroughput"] == units
    on_demand = dict.fromkeys(units, 0)
    player = add(described(ProvisionedThroughput=on_demand), {}, described(index()))
    assert player.calls[1].params["GlobalSecondaryIndexUpdates"] == [{"Create": BY_DAY}]


def test_one_that_is_there_is_left_alone() -> None:
    """One look says that nothing is to be done."""
    assert methods(add(described(index()))) == ["d"]


def test_one_of_another_shape_is_a_mismatch() -> None:
    """The error names the difference, and nothing is changed."""
    other = {**index(), "Projection": {"ProjectionType": "ALL"}}
    with pytest.raises(TableMismatch) as caught:
        add(described(other))
    assert caught.value.differences == ("index 'by_day' projects ALL, declared INCLUDE '_et', 'note'",)


def test_a_busy_table_is_waited_for() -> None:
    """While another index is made, or an old one of the name is deleted, nothing is sent."""
    other = {**index("CREATING"), "IndexName": "other"}
    deleting = {**index("DELETING"), "Projection": {"ProjectionType": "ALL"}}
    player = add(
        described(other, status="UPDATING"), described(deleting), described(), IN_USE, described(), TOO_MANY,
        *(described(), {}, described(index())),
    )  # fmt: skip
    assert methods(player) == ["d", "d", "d", "u", "d", "u", "d", "u", "d"]


@pytest.mark.parametrize("trouble", [lost, failed, throttled])
def test_a_request_is_sent_again_only_after_a_look(trouble: Any) -> None:
    """A lost request that was carried out is not sent again; one that was not is, four times at most."""
    assert methods(add(described(), trouble(), described(index()))) == ["d", "u", "d"]
    assert methods(add(described(), trouble(), described(), {}, described(index()))) == ["d", "u", "d", "u", "d"]
    with pytest.raises(Throttled if trouble is throttled else OutcomeUnknown):
        add(*[described(), trouble()] * 4, described())


def test_a_refusal_is_raised_after_a_look() -> None:
    """What DynamoDB refuses for good ends it, unless another writer made the index meanwhile."""
    refused = Refusal("ValidationException", "Attempting to create an index which already exists")
    assert methods(add(described(), refused, described(index()))) == ["d", "u", "d"]
    with pytest.raises(ServiceError, match="ValidationException"):
        add(described(), refused, described())


def test_it_ends_in_time() -> None:
    """An index that is never filled is an error after the time given; a table that is not there at once."""
    filling = described(index("CREATING"), status="UPDATING")
    with pytest.raises(ServiceError, match="'by_day' that is active after 1 seconds"):
        add(*[filling] * 5, patience=1.0)
    with pytest.raises(TableMissing):
        add(missing())


def test_the_difference_is_told_part_by_part() -> None:
    """Missing and further indexes by name, the global ones to be added as they are; order in a projection is none."""
    extra = {**index(), "IndexName": "extra"}
    player = Player(described(extra))
    diff = player.play(DiffTable(depot).steps(context()))
    assert methods(player) == ["d"]
    assert diff
    assert diff.differences == ("index 'by_day' is missing", "index 'bare' is missing")
    assert (diff.table, diff.missing_indexes, diff.extra_indexes) == (NAME, ("by_day", "bare"), ("extra",))
    assert diff.addable == (by_day, bare)
    with pytest.raises(TableMissing):
        Player(missing()).play(DiffTable(depot).steps(context()))


def test_a_local_index_in_the_place_of_a_global_one() -> None:
    """The kind of an index is part of its shape."""
    table = Table("depot", indexes=[GlobalIndex("near", pk="PK", sk="nearSK", projection=["note"])])
    diff = compare(table, described()["Table"], NAME)
    assert diff.differences == ("index 'near' is local, declared global",)
    assert (diff.missing_indexes, diff.addable) == ((), ())


def test_a_table_is_defined_with_its_projections() -> None:
    """Keys are named in no projection, the tag in each that names attributes; a table without tag names no tag."""
    made = definition(depot, "d")
    projections = [each["Projection"] for each in made["GlobalSecondaryIndexes"] + made["LocalSecondaryIndexes"]]
    include = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note", "_et"]}
    assert projections == [include, {"ProjectionType": "KEYS_ONLY"}, include]
    old = Table("old", tag=None, indexes=[GlobalIndex("one", projection=["a", "a"])])
    (one,) = definition(old, "o")["GlobalSecondaryIndexes"]
    assert one["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]}
