"""Making a table, waiting for it, comparing it, and dropping it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from singletable.errors import OutcomeUnknown, ServiceError, TableMismatch, TableMissing
from singletable.operations.shape import compare, definition
from singletable.operations.tables import CreateTable, DeleteTable
from singletable.wire import Refusal
from tests.unit.operations.playing import NAME, Player, context, failed, lost, missing, play, throttled
from tests.unit.operations.shop import orders, projects, shop

SHAPE: dict[str, Any] = {
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "S"},
        {"AttributeName": "GSI1PK", "AttributeType": "S"},
        {"AttributeName": "GSI1SK", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "GSI1",
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
IN_USE = Refusal("ResourceInUseException", "Table already exists")


def described(status: str = "ACTIVE", *, index: str = "ACTIVE", **more: Any) -> dict[str, Any]:
    """Answer DescribeTable."""
    (gsi1,) = SHAPE["GlobalSecondaryIndexes"]
    return {
        "Table": {**SHAPE, "TableStatus": status, "GlobalSecondaryIndexes": [{**gsi1, "IndexStatus": index}], **more}
    }


def test_it_is_made_and_waited_for() -> None:
    """CreateTable is followed by looks at the table until it and its index are active."""
    player = Player({}, described("CREATING"), described(index="CREATING"), described())
    player.play(CreateTable(shop).steps(context()))
    assert [call.method for call in player.calls] == ["create_table", *["describe_table"] * 3]
    assert player.calls[0].params == {"TableName": NAME, "BillingMode": "PAY_PER_REQUEST", **SHAPE}
    assert player.calls[1].params == {"TableName": NAME}
    assert player.pauses == [0.05, 0.1]


def test_a_table_not_yet_known_is_waited_for() -> None:
    """Just after CreateTable a look may find nothing yet."""
    player = Player({}, missing(), described())
    player.play(CreateTable(shop).steps(context()))
    assert player.pauses == [0.05]


def test_an_existing_table_is_taken_as_it_is() -> None:
    """Making a table that is there in this shape does nothing."""
    player = Player(IN_USE, described())
    player.play(CreateTable(shop).steps(context()))
    assert len(player.calls) == 2


def test_another_refusal_is_raised() -> None:
    """Any other refusal of CreateTable ends it."""
    with pytest.raises(ServiceError, match="AccessDenied"):
        Player(Refusal("AccessDeniedException", "no")).play(CreateTable(shop).steps(context()))


def test_a_refusal_of_another_kind() -> None:
    """Only a table that exists already is taken as it is."""
    with pytest.raises(ServiceError, match="TransactionCanceled"):
        Player(Refusal("TransactionCanceledException", "")).play(CreateTable(shop).steps(context()))


def test_another_shape_is_listed() -> None:
    """Each difference of an existing table is said, all of them at once."""
    odd = described(
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[],
    )
    with pytest.raises(TableMismatch, match=NAME) as caught:
        Player(IN_USE, odd).play(CreateTable(shop).steps(context()))
    assert caught.value.differences == (
        "the table has the sort key none, declared 'SK' (S)",
        "index 'GSI1' is missing",
    )


def test_types_and_projections_are_compared() -> None:
    """A number where text was declared, and an index without all attributes, are differences."""
    (gsi1,) = SHAPE["GlobalSecondaryIndexes"]
    numbers = [
        {**each, "AttributeType": "N"} for each in SHAPE["AttributeDefinitions"] if each["AttributeName"] == "SK"
    ]
    types = [each for each in SHAPE["AttributeDefinitions"] if each["AttributeName"] != "SK"]
    odd = {
        **SHAPE,
        "AttributeDefinitions": [*types, *numbers],
        "GlobalSecondaryIndexes": [{**gsi1, "Projection": {"ProjectionType": "KEYS_ONLY"}}],
    }
    assert compare(shop, odd, NAME).differences == (
        "the table has the sort key 'SK' (N), declared 'SK' (S)",
        "index 'GSI1' projects KEYS_ONLY, declared ALL",
    )


def test_further_indexes_do_no_harm() -> None:
    """An index that is not declared is no difference."""
    (gsi1,) = SHAPE["GlobalSecondaryIndexes"]
    more = {**SHAPE, "GlobalSecondaryIndexes": [gsi1, {**gsi1, "IndexName": "GSI2"}]}
    diff = compare(shop, more, NAME)
    assert not diff
    assert diff.extra_indexes == ("GSI2",)


def test_other_keys_are_defined_as_declared() -> None:
    """A table without sort key has one key attribute, a numeric sort key is a number, and no index is no parameter."""
    assert definition(orders, "o") == {
        "TableName": "o",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    }
    assert definition(projects, "p")["AttributeDefinitions"] == [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ]


def test_a_table_that_never_becomes_active() -> None:
    """Waiting ends after five minutes of looks, two seconds apart at most."""
    player = Player({}, *([described("CREATING")] * 154))
    with pytest.raises(ServiceError, match="did not become active"):
        player.play(CreateTable(shop).steps(context()))
    assert max(player.pauses) == 2.0
    assert 280 < sum(player.pauses) < 300


def test_it_is_dropped_and_waited_for() -> None:
    """DeleteTable is followed by looks until nobody knows the table."""
    player = Player({}, described("DELETING"), missing())
    player.play(DeleteTable().steps(context()))
    assert [call.method for call in player.calls] == ["delete_table", "describe_table", "describe_table"]
    assert player.pauses == [0.05]


def test_dropping_what_is_not_there() -> None:
    """Dropping a table that does not exist is TableMissing."""
    with pytest.raises(TableMissing):
        Player(missing()).play(DeleteTable().steps(context()))


@pytest.mark.parametrize("busy", [1, 3])
def test_a_table_in_use_is_waited_for(busy: int) -> None:
    """A table that is just being made cannot be dropped yet: DeleteTable is sent until it is taken."""
    player = Player(*([IN_USE] * busy), {}, missing())
    player.play(DeleteTable().steps(context()))
    assert [call.method for call in player.calls] == [*["delete_table"] * (busy + 1), "describe_table"]
    assert player.pauses == [0.05, 0.1, 0.2][:busy]


@pytest.mark.parametrize("before", [[lost()], [failed()], [IN_USE], [lost(), IN_USE]])
def test_a_table_that_our_own_earlier_try_dropped(before: list[Exception]) -> None:
    """A table that is missing only after an earlier try is gone, as was wanted."""
    player = Player(*before, missing(), missing())
    player.play(DeleteTable().steps(context()))
    assert [call.method for call in player.calls] == [*["delete_table"] * (len(before) + 1), "describe_table"]


def test_a_client_that_sent_again_itself_may_have_dropped_the_table() -> None:
    """A table that is missing for a request that the client sent twice is gone too."""
    twice = Refusal("ResourceNotFoundException", "no", sent=2)
    Player(twice, missing()).play(DeleteTable().steps(context()))


def test_a_throttled_drop_is_no_earlier_try() -> None:
    """A request that was throttled did nothing, so a table that is missing then never was there."""
    with pytest.raises(TableMissing) as caught:
        Player(throttled(), missing()).play(DeleteTable().steps(context()))
    assert caught.value.table == NAME


def test_a_table_that_stays_in_use() -> None:
    """Waiting until a table can be dropped is bounded."""
    player = Player(*([IN_USE] * 154))
    with pytest.raises(ServiceError, match="still in use"):
        player.play(DeleteTable().steps(context()))


def test_a_table_that_never_goes() -> None:
    """Waiting for the end of a table is bounded too."""
    player = Player({}, *([described("DELETING")] * 154))
    with pytest.raises(ServiceError, match="still being deleted"):
        player.play(DeleteTable().steps(context()))


@pytest.mark.parametrize("trouble", [lost, failed])
def test_a_table_whose_deletion_was_not_answered(trouble: Callable[[], Exception]) -> None:
    """After a lost reply a table that is not there, at once or after a while, was deleted by us: that is no error."""
    player = Player(trouble(), missing(), missing())
    player.play(DeleteTable().steps(context()))
    assert [call.method for call in player.calls] == ["delete_table", "delete_table", "describe_table"]
    in_use = Refusal("ResourceInUseException", "Table is being deleted")
    play(DeleteTable().steps(context()), trouble(), in_use, missing(), missing())


def test_a_deletion_of_which_nobody_can_tell() -> None:
    """Where no reply comes and the table stands as it stood, or cannot be looked at, the outcome is unknown."""
    for answers in ([described()], [lost(), lost()]):
        with pytest.raises(OutcomeUnknown) as caught:
            play(DeleteTable().steps(context(attempts=2)), lost(), lost(), *answers)
        assert isinstance(caught.value.operation, DeleteTable)


def test_a_making_of_which_nobody_can_tell() -> None:
    """Where no reply to CreateTable comes, the table may have been made: making it again finishes it."""
    with pytest.raises(OutcomeUnknown) as caught:
        play(CreateTable(shop).steps(context(attempts=2)), lost(), lost())
    assert caught.value.operation == CreateTable(shop)
