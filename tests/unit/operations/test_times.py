"""Writes of what the store stamps, played: what is sent, what a lost reply means, and how sweeping is switched on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from singletable import (
    ConditionFailed,
    CreatedAt,
    Entity,
    ExpiresAt,
    Field,
    FieldNotLoaded,
    Key,
    OutcomeUnknown,
    ServiceError,
    Table,
    TableMismatch,
    UpdatedAt,
    Version,
    VersionConflict,
    computed,
    evolve,
    from_item,
)
from singletable.operations.check import Check
from singletable.operations.delete import Delete
from singletable.operations.put import Put
from singletable.operations.query import Pages
from singletable.operations.sweeping import sweeping
from singletable.operations.update import Update
from singletable.wire import Item, Reason, Refusal
from tests.unit.operations.playing import NOW, condition_failed, context, lost, play

lab = Table("lab", ttl="ttl")


class Trial(Entity, table=lab, tag="trial"):
    name: Field[str]
    result: Field[str] = Field(default="")
    version: Field[int] = Version()
    made: Field[datetime] = CreatedAt()
    changed: Field[datetime] = UpdatedAt()
    until: Field[datetime | None] = ExpiresAt()

    key = Key(pk="#TRIAL", sk="#{name}")


AT = Trial.at(name="a")
STAMP = "2026-01-02T03:04:05.000000Z"


def item(version: int = 3, **attributes: dict[str, Any]) -> Item:
    """Write the stored item of trial a."""
    own: Item = {"PK": {"S": "#TRIAL"}, "SK": {"S": "#a"}, "_et": {"S": "trial"}, "name": {"S": "a"}}
    times: Item = {"made": {"S": STAMP}, "changed": {"S": STAMP}, "result": {"S": ""}}
    return {**own, **times, "version": {"N": str(version)}, **attributes}


OLD = from_item(Trial, item())
PAST: Item = {"ttl": {"N": str(int(NOW.timestamp()))}}


def test_an_update_counts_without_reading() -> None:
    """By reference: one UpdateItem that adds one to the version, sets the time, and carries an id of its own."""
    answer = {"Attributes": item(4, result={"S": "b"})}
    made, (call,) = play(Update(AT, Trial.result.set("b")).steps(context()), answer)
    assert made is not None
    assert made.version == 4
    params = call.params
    assert params["UpdateExpression"] == "SET #0 = :0, #1 = :1, #2 = :2 ADD #3 :3"
    names, values = params["ExpressionAttributeNames"], params["ExpressionAttributeValues"]
    assert [names[f"#{at}"] for at in range(4)] == ["result", "changed", "_w", "version"]
    assert (values[":1"], values[":3"]) == ({"S": STAMP}, {"N": "1"})


class Stated(Entity, table=lab, tag="stated"):
    """An entity with a computed value, whose updates know the whole item."""

    name: Field[str]
    version: Field[int] = Version()
    ends: Field[datetime] = ExpiresAt(after=timedelta(days=1))

    key = Key(pk="#STATED", sk="#{name}")

    @computed
    def size(self) -> int:
        return len(self.name)

    note: Field[str] = Field(default="")


def test_an_item_older_than_its_stamps_is_updated() -> None:
    """An entity without version and time to expire is changed if neither is stored, and counts from 1."""
    own: Item = {"PK": {"S": "#STATED"}, "SK": {"S": "#a"}, "_et": {"S": "stated"}, "name": {"S": "a"}}
    old = from_item(Stated, own)
    update = Update(old, Stated.note.set("b"))
    made, (call,) = play(update.steps(context()), {"Attributes": {**own, "version": {"N": "1"}}})
    assert made is not None
    assert made.version == 1
    assert "attribute_not_exists" in call.params["ConditionExpression"]


def test_a_lost_reply_is_recognised() -> None:
    """An update or put that was sent again knows its own first try by `_w`, though the version has moved on."""
    mine = item(4, result={"S": "b"}, _w={"S": "id-1"})
    update = Update(OLD, Trial.result.set("b"))
    made, calls = play(update.steps(context()), lost(), condition_failed(mine))
    assert (made, calls[0]) == (from_item(Trial, mine), calls[1])
    put, _ = play(Put(evolve(OLD, result="b")).steps(context()), lost(), condition_failed(mine))
    assert put.version == 4
    for operation in (update, Put(OLD), Delete(OLD)):
        with pytest.raises(OutcomeUnknown):
            play(operation.steps(context()), lost(), condition_failed(item(9)))


def test_an_own_write_is_known_after_it_expired() -> None:
    """An update that lets the item expire at once, sent again, finds what has expired and is its own."""
    mine = item(4, **PAST, _w={"S": "id-1"})
    update = Update(AT, Trial.until.set(NOW))
    made, _ = play(update.steps(context()), lost(), condition_failed(mine))
    assert made == from_item(Trial, mine)


def test_a_conflict_has_both() -> None:
    """What stands there and what was handed in; an item that expired stands there no more."""
    for operation in (Update(OLD, Trial.result.set("b")), Put(OLD), Delete(OLD)):
        with pytest.raises(VersionConflict) as caught:
            play(operation.steps(context()), condition_failed(item(4)))
        assert (caught.value.current, caught.value.given) == (from_item(Trial, item(4)), OLD)
    with pytest.raises(VersionConflict, match="nothing stands there any more") as gone:
        play(Put(OLD).steps(context()), condition_failed(item(4, **PAST)))
    assert gone.value.current is None


def test_a_version_that_was_not_read_is_missed() -> None:
    """An entity read in part cannot be checked without its version; with it, it can."""
    for fields, raises in (((Trial.result,), True), ((Trial.version,), False)):
        (part,), _ = play(Pages(Trial.key().only(*fields)).steps(context()), {"Items": [item()]})
        update = Update(part, Trial.result.set("b"))
        if raises:
            with pytest.raises(FieldNotLoaded, match=r"Trial\.version was not read"):
                play(update.steps(context()))
        else:
            _, (call,) = play(update.steps(context()), {"Attributes": item(4)})
            assert {"N": "3"} in call.params["ExpressionAttributeValues"].values()


def test_what_expired_is_no_current() -> None:
    """A check that fails on what has expired shows nothing, as if it were swept."""
    cancelled = Refusal("TransactionCanceledException", "no")
    cancelled.reasons = (Reason("ConditionalCheckFailed", "no", item(3, **PAST)),)
    with pytest.raises(ConditionFailed, match="nothing stands at the key") as caught:
        play(Check(AT).steps(context()), cancelled)
    assert caught.value.current is None


def test_a_query_asks_for_what_lives() -> None:
    """The filter leaves out what has expired by the time the page is asked for; `include_expired` sends none."""
    _, (call,) = play(Pages(Trial.key()).steps(context()), {"Items": []})
    assert call.params["FilterExpression"] == "(NOT #2 <= :2)"
    assert call.params["ExpressionAttributeNames"]["#2"] == "ttl"
    assert call.params["ExpressionAttributeValues"][":2"] == {"N": str(int(NOW.timestamp()))}
    _, (every,) = play(Pages(Trial.key().include_expired()).steps(context()), {"Items": []})
    assert "FilterExpression" not in every.params
    assert ".include_expired()" in repr(Trial.key().include_expired())
    _, (limited,) = play(Pages(Trial.key().limit(2)).steps(context()), {"Items": []})
    assert limited.params["Limit"] == 8


def described(status: str, attribute: str = "ttl") -> dict[str, Any]:
    """Answer DescribeTimeToLive."""
    return {"TimeToLiveDescription": {"TimeToLiveStatus": status, "AttributeName": attribute}}


def refusal(error: str) -> Refusal:
    """Refuse a request so."""
    return Refusal(error, "no")


def test_sweeping_is_switched_on_once() -> None:
    """It is asked for first; where another was faster, or the engine knows nothing of it, that will do."""
    _, calls = play(sweeping(context(), "ttl"), described("DISABLED"), {})
    assert [call.method for call in calls] == ["describe_time_to_live", "update_time_to_live"]
    assert calls[1].params["TimeToLiveSpecification"] == {"Enabled": True, "AttributeName": "ttl"}
    for status in ("ENABLED", "ENABLING"):
        _, calls = play(sweeping(context(), "ttl"), described(status))
        assert len(calls) == 1
    _, calls = play(sweeping(context(), "ttl"), {}, refusal("ValidationException"), described("ENABLING"))
    assert len(calls) == 3
    _, calls = play(sweeping(context(), "ttl"), {}, refusal("UnknownOperationException"))
    assert len(calls) == 2


def test_sweeping_that_cannot_be_is_told() -> None:
    """By another attribute it is a mismatch; a refusal for another reason is raised."""
    with pytest.raises(TableMismatch, match="items expire by 'other', declared 'ttl'"):
        play(sweeping(context(), "ttl"), described("ENABLED", "other"))
    with pytest.raises(ServiceError):
        play(sweeping(context(), "ttl"), {}, refusal("ValidationException"), described("DISABLED"))
    with pytest.raises(ServiceError):
        play(sweeping(context(), "ttl"), {}, refusal("AccessDeniedException"), described("ENABLED"))
