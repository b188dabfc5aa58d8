"""The backfill of guards where other writers change what is unique all the time."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Entity, Field, Key, Table
from singletable.errors import ConditionFailed
from singletable.operations.guarding import ATTEMPTS, Guard
from singletable.wire import Item, Reason, Refusal
from tests.unit.operations.playing import context, play

GUARDED = Table("GuardedBase", pk="PK", sk="SK")


class Badge(Entity, table=GUARDED, tag="badge"):
    """A badge of one holder."""

    badge_id: Field[str] = Field()
    email: Field[str] = Field(unique=True)

    key = Key(pk="#BADGE#{badge_id}", sk="#BADGE")


def stored(email: str) -> Item:
    """Give the badge as it is stored with an address."""
    own: Item = {"badge_id": {"S": "b1"}, "email": {"S": email}, "_et": {"S": "badge"}}
    return {"PK": {"S": "#BADGE#b1"}, "SK": {"S": "#BADGE"}, **own}


def changed_meanwhile(email: str) -> Refusal:
    """Make the refusal of a transaction whose check found another address."""
    reasons = (Reason("ConditionalCheckFailed", "", stored(email)), Reason("None", "", None))
    return Refusal("TransactionCanceledException", "cancelled", reasons=reasons, sent=1)


def test_an_item_that_changed_is_guarded_as_it_stands() -> None:
    """It is read again, and the guard of the address that stands there now is put."""
    ref = Badge.at(badge_id="b1")
    _, calls = play(
        Guard(ref).steps(context()),
        {"Item": stored("a@b.c")},
        changed_meanwhile("z@b.c"),
        {"Item": stored("z@b.c")},
        {},
    )
    assert [call.method for call in calls] == ["get_item", "transact_write_items"] * 2
    guards = [call.params["TransactItems"][1]["Put"]["Item"]["PK"]["S"] for call in calls[1::2]]
    assert [guard.rpartition("#")[2] for guard in guards] == ["a@b.c", "z@b.c"]


def test_an_item_that_always_changes_ends_the_tries() -> None:
    """Sixteen transactions are sent, no more; the error has the badge as it stands."""
    answers: list[Any] = [{"Item": stored("a@b.c")}, changed_meanwhile("z@b.c")] * (ATTEMPTS + 4)
    with pytest.raises(ConditionFailed, match="16 attempts found its unique values changed by others") as caught:
        play(Guard(Badge.at(badge_id="b1")).steps(context()), *answers)
    assert caught.value.current == Badge(badge_id="b1", email="z@b.c")
