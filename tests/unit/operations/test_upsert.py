"""An update that makes what is missing, and a move, when a reply is lost or another writer is faster."""

from __future__ import annotations

import re
from typing import Any

import pytest

from singletable.errors import AlreadyExists, ConditionFailed, NotFound, OutcomeUnknown
from singletable.operations.move import Move
from singletable.operations.put import Put
from singletable.operations.update import Update
from singletable.wire import Reason, Refusal
from tests.unit.operations.playing import condition_failed, context, lost, play, to_run_again
from tests.unit.operations.shop import PLACED, Invoice, Order, User, order_item, tombstone, user_item

AT = User.at(user_id="u1")
ORDER = Order.at(user_id="u1", order_id=7)
ANN = User(user_id="u1", name="Ann")
VISIT = Update(AT, {"name": "Ann"}, User.visits.add(1), missing="create")


def cancelled(*items: dict[str, Any] | None, sent: int = 1) -> Refusal:
    """Make the refusal of a transaction: an item for each condition that failed, None for one that did not."""
    reasons = tuple(
        Reason("None", "", None) if item is None else Reason("ConditionalCheckFailed", "", item) for item in items
    )
    return Refusal("TransactionCanceledException", "cancelled", reasons=reasons, sent=sent)


def test_the_one_request() -> None:
    """Case C10: each attribute once, no key of the table, tag and id only where there are none."""
    made, (call,) = play(VISIT.steps(context()), {"Attributes": user_item()})
    assert made == ANN
    names = call.params["ExpressionAttributeNames"]
    written = re.findall(r"(?:SET|ADD|,) (#\d+) ", call.params["UpdateExpression"])
    assert sorted(names[each] for each in written) == ["_c", "_et", "_w", "name", "user_id", "visits"]
    assert "attribute_not_exists" in call.params["ConditionExpression"]


@pytest.mark.parametrize("mark", ["_c", "_w"])
def test_a_lost_reply_is_recognised(mark: str) -> None:
    """The item carries our id as the create or the last write: what was done before is the answer, or was lost."""
    there = {**user_item(), mark: {"S": "id-1"}}
    made, calls = play(VISIT.steps(context()), lost(), condition_failed(there))
    assert (made, len(calls)) == (ANN, 2)
    nothing = Update(AT, {"name": "Ann"}, User.visits.add(1), missing="create", returning=None)
    assert play(nothing.steps(context()), lost(), condition_failed(there))[0] is None
    old = Update(AT, {"name": "Ann"}, missing="create", returning="old")
    with pytest.raises(OutcomeUnknown, match="was carried out") as caught:
        play(old.steps(context()), lost(), condition_failed(there))
    assert to_run_again(caught.value).stamp.id == "id-1"


def test_a_lost_reply_of_a_put_that_gives_the_old() -> None:
    """The put is not mistaken for what it replaced."""
    with pytest.raises(OutcomeUnknown, match="was carried out"):
        play(Put(ANN, returning="old").steps(context()), lost(), condition_failed({**user_item(), "_w": {"S": "id-1"}}))


def test_an_update_follows_a_create_that_came_late() -> None:
    """Read, create, and where another made it meanwhile an update of what stands there."""
    update = Update(ORDER, {"status": "PAID", "placed_at": PLACED}, missing="create", returning="old")
    old, calls = play(
        update.steps(context()),
        condition_failed(),
        {},
        condition_failed(order_item(7)),
        {"Attributes": order_item(7)},
    )
    assert [call.method for call in calls] == ["update_item", "get_item", "put_item", "update_item"]
    assert old == Order(user_id="u1", order_id=7, placed_at=PLACED)


def test_a_number_that_was_deleted_is_not_made_again() -> None:
    """A tombstone is AlreadyExists, whether the update or the create meets it."""
    update = Update(ORDER, {"status": "PAID", "placed_at": PLACED}, missing="create")
    with pytest.raises(AlreadyExists):
        play(update.steps(context()), condition_failed(tombstone(7)))


def test_writers_that_take_turns_end() -> None:
    """An item that is deleted before each update and made before each create ends the tries."""
    update = Update(ORDER, {"status": "PAID"}, Order.placed_at.set(PLACED), missing="create")
    answers: list[Any] = [condition_failed(), {}, condition_failed(order_item(7))]
    answers += [condition_failed(), condition_failed(order_item(7))] * 20
    with pytest.raises(ConditionFailed, match="attempts found"):
        play(update.steps(context()), *answers)


def test_a_move_is_recognised_and_made_anew() -> None:
    """An item that changed is read again; one that carries our id at the new key was moved before."""
    read, other = {"Item": user_item()}, {"Item": user_item(name="Bob")}
    new = {**user_item(PK="#USER#u2", user_id="u2"), "_c": {"S": "id-1"}}
    moved, calls = play(
        Move(AT, user_id="u2").steps(context()), read, cancelled(None, user_item(name="Bob")), other, {}
    )
    assert (moved.name, len(calls)) == ("Bob", 4)
    moved, _ = play(Move(AT, user_id="u2").steps(context()), read, lost(), cancelled(new, user_item(), sent=2))
    assert moved == User(user_id="u2", name="Ann")
    with pytest.raises(OutcomeUnknown) as caught:
        play(Move(AT, user_id="u2").steps(context()), read, lost(), cancelled(None, {"PK": {"S": "x"}}, sent=2))
    again, (call,) = play(to_run_again(caught.value).steps(context()), {})
    assert (again, call.method) == (User(user_id="u2", name="Ann"), "transact_write_items")


def test_a_move_is_bounded() -> None:
    """An item that others change all the time ends the tries; one that is gone is NotFound; a taken key is told."""
    read = {"Item": user_item()}
    busy: list[Any] = [read, cancelled(None, user_item(name="Bob"))] * 20
    with pytest.raises(ConditionFailed, match="attempts"):
        play(Move(AT, user_id="u2").steps(context()), *busy)
    with pytest.raises(NotFound):
        play(Move(AT, user_id="u2").steps(context()), read, cancelled(None, tombstone(1)))
    with pytest.raises(AlreadyExists):
        play(Move(AT, user_id="u2").steps(context()), read, cancelled(user_item(user_id="u2"), None))


def test_a_counter_draws_only_for_what_is_made() -> None:
    """A number that stands in the key is kept, and nothing is drawn."""
    made, calls = play(
        Update(Invoice.at(number=5), {"total": 1}, missing="create").steps(context()),
        {
            "Attributes": {
                "PK": {"S": "#INVOICE#0000000000000000005"},
                "SK": {"S": "#INVOICE"},
                "_et": {"S": "invoice"},
                "number": {"N": "5"},
                "total": {"N": "1"},
            }
        },
    )
    assert (made, len(calls)) == (Invoice(number=5, total=1), 1)
