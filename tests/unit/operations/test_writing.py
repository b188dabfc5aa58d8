"""A failed condition that comes without an item: one strong read tells what stands there."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import evolve
from singletable.errors import AlreadyExists, ConditionFailed, ForeignItem, NotFound, OutcomeUnknown
from singletable.mapping import from_item
from singletable.operations.create import Create
from singletable.operations.delete import Delete
from singletable.operations.put import Put
from singletable.operations.update import Update
from singletable.wire import Call
from tests.unit.operations.playing import NAME, Player, condition_failed, context, failed, lost, play, throttled
from tests.unit.operations.shop import Order, User, order_item, tombstone, user_item

ANN = User(user_id="u1", name="Ann")
AT = User.at(user_id="u1")
ORDER = Order.at(user_id="u1", order_id=7)
RENAMED = (User.name.set("Bob"),)
READ = Call(
    "get_item", {"TableName": NAME, "Key": {"PK": {"S": "#USER#u1"}, "SK": {"S": "#PROFILE"}}, "ConsistentRead": True}
)


def found(item: dict[str, Any]) -> dict[str, Any]:
    """Answer a read with an item."""
    return {"Item": item}


@pytest.mark.parametrize(
    "operation",
    [Create(ANN), Put(ANN, User.name == "Zoe"), Update(AT, *RENAMED), Delete(AT)],
    ids=repr,
)
def test_the_read_is_strong_and_of_the_whole_key(operation: Any) -> None:
    """Each write looks for the item at its own key, once and strongly; another entity's is said to be there."""
    player = Player(condition_failed(), found(user_item(_et="admin")))
    steps: Any = operation.steps(context())
    with pytest.raises(AlreadyExists if isinstance(operation, Create) else ForeignItem):
        player.play(steps)
    assert player.calls[1:] == [READ]


def test_an_item_that_came_along_is_not_read() -> None:
    """Where the refusal holds the item, as DynamoDB's does, nothing more is sent."""
    player = Player(condition_failed(user_item()))
    with pytest.raises(AlreadyExists) as caught:
        player.play(Create(ANN).steps(context()))
    assert caught.value.existing == ANN
    assert len(player.calls) == 1


def test_the_entity_there_comes_along() -> None:
    """What was read is the `existing` and `current` of the errors."""
    with pytest.raises(AlreadyExists) as taken:
        play(Create(ANN).steps(context()), condition_failed(), found(user_item(name="Bob")))
    assert taken.value.existing == User(user_id="u1", name="Bob")
    with pytest.raises(ConditionFailed) as refused:
        play(Update(AT, *RENAMED, when=User.visits > 3).steps(context()), condition_failed(), found(user_item()))
    assert refused.value.current == ANN


def test_our_own_create_is_recognised() -> None:
    """After a lost reply the item that is read carries our own id: the create was carried out."""
    stored = {**user_item(), "_c": {"S": "id-1"}}
    made, calls = play(Create(ANN).steps(context()), lost(), condition_failed(), found(stored))
    assert made == ANN
    assert [call.method for call in calls] == ["put_item", "put_item", "get_item"]


def test_our_own_addition_is_recognised() -> None:
    """After a lost reply the item that is read carries our mark: the addition is not made twice."""
    stored = {**user_item(), "visits": {"N": "2"}, "_w": {"S": "id-1"}}
    made, _ = play(Update(AT, User.visits.add(2)).steps(context()), lost(), condition_failed(), found(stored))
    assert made == evolve(ANN, visits=2)


def test_a_stale_entity_is_refreshed() -> None:
    """The item that is read is what the next attempt at the index keys knows."""
    later = "2026-02-01T00:00:00.000000Z"
    changed = order_item(7, placed_at=later, GSI1SK=f"#PENDING#{later}")
    loaded = from_item(Order, order_item(7))
    player = Player(condition_failed(), found(changed), {"Attributes": {**changed, "status": {"S": "PAID"}}})
    made = player.play(Update(loaded, Order.status.set("PAID")).steps(context()))
    assert made is not None
    assert made.status == "PAID"
    assert {"S": f"#PAID#{later}"} in player.calls[2].params["ExpressionAttributeValues"].values()


def test_an_item_made_meanwhile_is_updated() -> None:
    """Nothing was there and by now something is: the update is tried again, since nothing forbids it."""
    changed = {"Attributes": user_item(name="Bob")}
    made, calls = play(Update(AT, *RENAMED).steps(context()), condition_failed(), found(user_item()), changed)
    assert made is not None
    assert made.name == "Bob"
    assert [call.method for call in calls] == ["update_item", "get_item", "update_item"]


def test_a_number_made_meanwhile_was_not_deleted() -> None:
    """Nothing was there to be buried and by now something is: the delete found nothing, and says so."""
    assert play(Delete(ORDER).steps(context()), condition_failed(), found(order_item(7)))[0] is None
    assert play(Delete(ORDER).steps(context()), condition_failed(), found(tombstone(7)))[0] is None


@pytest.mark.parametrize("trouble", [throttled, failed, lost])
def test_a_read_that_fails_leaves_it_at_what_was_said(trouble: Any) -> None:
    """The write was refused, whatever becomes of the read: without an item nothing stands there, as DynamoDB says."""
    with pytest.raises(NotFound):
        play(Update(AT, *RENAMED).steps(context(attempts=1)), condition_failed(), trouble())


def test_a_read_that_fails_after_a_lost_reply() -> None:
    """With a lost reply before it and no item to be read, nobody can tell."""
    with pytest.raises(OutcomeUnknown):
        play(Create(ANN).steps(context(attempts=2)), lost(), condition_failed(), throttled(), throttled())
