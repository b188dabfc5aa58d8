"""Writing many items: batches, leftovers, and what is refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import (
    FieldValueError,
    OutcomeUnknown,
    SequenceExhausted,
    Throttled,
    Unprocessed,
    Unreachable,
    UsageError,
)
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.operations.batch import PutMany
from singletable.patterns import Key
from singletable.wire import Call
from tests.unit.operations.playing import NAME, Player, condition_failed, context, lost, play, throttled, unconnected
from tests.unit.operations.shop import PLACED, Invoice, Order, Project, Region, User, shop

REGIONS = tuple(Region(country="CN", path=(f"P{number:02d}",)) for number in range(30))


def written(call: Call) -> list[Any]:
    """List the requests of a batch."""
    requests: list[Any] = call.params["RequestItems"][NAME]
    return requests


def paths(call: Call) -> list[str]:
    """List the names of the regions that a batch writes."""
    return [request["PutRequest"]["Item"]["path"]["L"][0]["S"] for request in written(call)]


def left(call_or_requests: list[Any]) -> dict[str, Any]:
    """Answer a batch with what was not taken."""
    return {"UnprocessedItems": {NAME: call_or_requests}}


def put(region: Region, create_id: str) -> dict[str, Any]:
    """Give the request that stores a region."""
    item = {
        "PK": {"S": "#COUNTRY#CN"},
        "SK": {"S": f"#REGION#{region.path[0]}"},
        "_et": {"S": "region"},
        "country": {"S": "CN"},
        "path": {"L": [{"S": region.path[0]}]},
        "_c": {"S": create_id},
    }
    return {"PutRequest": {"Item": item}}


def test_batches_of_twenty_five() -> None:
    """Thirty items go out as 25 and 5, several batches at a time, and come back in order."""
    player = Player({}, {})
    made = player.play(PutMany(REGIONS).steps(context(workers=8)))
    assert made == REGIONS
    assert [call.method for call in player.calls] == ["batch_write_item", "batch_write_item"]
    assert [len(written(call)) for call in player.calls] == [25, 5]
    assert player.at_most == [8]


def test_every_item_is_whole() -> None:
    """An item of a batch has its tag, its keys and the id of its create."""
    _, (call,) = play(PutMany(REGIONS[:1]).steps(context()), {})
    assert call.params == {"RequestItems": {NAME: [put(REGIONS[0], "id-1")]}}


def test_nothing_to_write_sends_nothing() -> None:
    """An empty list is an empty answer."""
    assert play(PutMany(()).steps(context())) == ((), [])


def test_leftovers_are_sent_again() -> None:
    """What DynamoDB did not take is sent again, and only that."""
    player = Player(left([put(REGIONS[1], "id-2")]), {"UnprocessedItems": {}})
    assert player.play(PutMany(REGIONS[:3]).steps(context())) == REGIONS[:3]
    assert [paths(call) for call in player.calls] == [["P00", "P01", "P02"], ["P01"]]
    assert player.pauses == [0.025]  # half of 50 ms: the jitter is 0


def test_what_is_never_taken_is_listed() -> None:
    """After ten attempts exactly the items that were not stored are raised."""
    rest = left([put(REGIONS[2], "id-3"), put(REGIONS[0], "id-1")])
    player = Player(*([rest] * 10))
    with pytest.raises(Unprocessed, match="2 of 3") as caught:
        player.play(PutMany(REGIONS[:3]).steps(context()))
    assert caught.value.items == (REGIONS[0], REGIONS[2])
    assert len(player.calls) == 10
    assert len(player.pauses) == 9


def test_leftovers_are_known_by_their_keys() -> None:
    """An engine that gives an item back in another form still names it."""
    changed = put(REGIONS[1], "id-2")
    changed["PutRequest"]["Item"]["more"] = {"S": "x"}
    with pytest.raises(Unprocessed) as caught:
        play(PutMany(REGIONS[:3]).steps(context()), *([left([changed])] * 10))
    assert caught.value.items == (REGIONS[1],)


def test_an_error_after_a_part_was_stored_lists_the_rest() -> None:
    """Where a batch was taken in part and then throttled for good, the items that are left are listed."""
    rest = left([put(REGIONS[1], "id-2")])
    with pytest.raises(Unprocessed) as caught:
        play(PutMany(REGIONS[:3]).steps(context(attempts=2)), rest, throttled(), throttled())
    assert caught.value.items == (REGIONS[1],)
    assert isinstance(caught.value.__cause__, Throttled)


def test_one_batch_of_two_that_fails_is_listed() -> None:
    """Where the second batch comes to nothing its items are listed; those of the first are stored."""
    with pytest.raises(Unprocessed, match="5 of 30") as caught:
        play(PutMany(REGIONS).steps(context(attempts=1)), {}, throttled())
    assert caught.value.items == REGIONS[25:]


def test_where_nothing_was_stored_the_error_is_its_cause() -> None:
    """Where no batch was taken at all, the reason itself is raised."""
    with pytest.raises(Unreachable):
        play(PutMany(REGIONS).steps(context(attempts=1)), unconnected(), unconnected())


def test_a_lost_reply_is_sent_again() -> None:
    """Putting the same items twice does no harm."""
    _, calls = play(PutMany(REGIONS[:2]).steps(context()), lost(), {})
    assert calls[0] == calls[1]


def test_duplicates_are_refused() -> None:
    """Two entities with one key are refused before anything is sent: either could win."""
    player = Player()
    with pytest.raises(UsageError, match="one primary key"):
        player.play(PutMany((*REGIONS[:2], REGIONS[0])).steps(context()))
    assert player.calls == []


def test_what_needs_a_condition_is_refused() -> None:
    """An entity whose deleted numbers stay taken cannot be written by a batch."""
    player = Player()
    with pytest.raises(UsageError, match="sort key"):
        player.play(PutMany((Order(user_id="u1", order_id=1, placed_at=PLACED),)).steps(context()))
    assert player.calls == []


@pytest.mark.parametrize("project", [Project(team="t", name="x"), Project(team="t", number=7, name="x")])
def test_numbers_that_may_come_again_need_a_condition_too(project: Project) -> None:
    """A class numbered by sort key is refused, with its number or without, even if deleted numbers may come again."""
    player = Player()
    with pytest.raises(UsageError, match="Project is numbered by its sort key"):
        player.play(PutMany((project,)).steps(context()))
    assert player.calls == []


def test_counter_numbers_are_drawn_in_one_request() -> None:
    """Three invoices without number take three numbers at once and are created; one that has its number is put."""
    invoices = (Invoice(total=1), Invoice(number=50, total=2), Invoice(total=3), Invoice(total=4))
    drawn = {"Attributes": {"last": {"N": "9"}}}
    made, (bump, batch, *puts) = play(PutMany(invoices).steps(context()), drawn, {}, {}, {}, {})
    assert [invoice.number for invoice in made] == [7, 50, 8, 9]
    assert [invoice.total for invoice in made] == [1, 2, 3, 4]
    assert bump.params["ExpressionAttributeValues"][":0"] == {"N": "3"}
    assert [request["PutRequest"]["Item"]["number"]["N"] for request in written(batch)] == ["50"]
    assert [put.params["Item"]["number"]["N"] for put in puts] == ["7", "8", "9"]
    assert {put.params["ConditionExpression"] for put in puts} == {"attribute_not_exists (#0)"}


def test_more_numbers_than_there_are() -> None:
    """A batch that wants more numbers than the sequence has at all never makes its counter, and stores nothing."""
    player = Player(condition_failed(), {})
    with pytest.raises(SequenceExhausted, match="fewer than 101"):
        player.play(PutMany(tuple(Invoice(total=total) for total in range(101))).steps(context()))
    asked, _ = player.calls
    assert asked.params["ConditionExpression"] == "#0 <= :1"
    assert asked.params["ExpressionAttributeValues"][":1"] == {"N": "-1"}  # max_value 100 less 101


def test_a_bad_value_is_found_before_a_number_is_drawn() -> None:
    """One entity that cannot be stored refuses the whole batch before anything is sent."""
    player = Player()
    with pytest.raises(FieldValueError, match=r"'Invoice\.total'"):
        player.play(PutMany((Invoice(total=1), Invoice(total=True))).steps(context()))
    assert player.calls == []


def test_several_kinds_share_a_batch() -> None:
    """Entities of one table go out together, in the order they were given."""
    mixed = (REGIONS[0], User(user_id="u1", name="Ann"), REGIONS[1])
    made, (call,) = play(PutMany(mixed).steps(context()), {})
    assert made == mixed
    assert [request["PutRequest"]["Item"]["_et"]["S"] for request in written(call)] == ["region", "user", "region"]


def test_a_foreign_error_is_not_hidden() -> None:
    """An error that is none of ours is raised as it is."""
    with pytest.raises(ZeroDivisionError):
        play(PutMany(REGIONS).steps(context()), {}, ZeroDivisionError())


def test_replies_that_are_lost_for_good() -> None:
    """Where the only batch may have been stored its items are listed: nobody knows of it but this call."""
    with pytest.raises(Unprocessed, match="2 of 2 items were not stored, or nobody can tell") as caught:
        play(PutMany(REGIONS[:2]).steps(context(attempts=2)), lost(), lost())
    assert caught.value.items == REGIONS[:2]
    assert isinstance(caught.value.__cause__, OutcomeUnknown)


def test_numbers_that_were_drawn_stand_in_what_is_left() -> None:
    """An invoice whose batch was lost is listed with its number, so that storing it again draws none."""
    with pytest.raises(Unprocessed) as caught:
        play(PutMany((Invoice(total=1),)).steps(context(attempts=1)), {"Attributes": {"last": {"N": "9"}}}, lost())
    assert caught.value.items == (Invoice(number=9, total=1),)


class Ballot(Entity, table=shop, tag="ballot"):
    voter: Field[str]
    number: Field[int] = AutoIncrement("counter")

    key = Key(pk="#VOTER#{voter}", sk="#BALLOT")


@pytest.mark.parametrize(
    "entities",
    [
        (Ballot(voter="a"), Ballot(voter="b"), Ballot(voter="a")),
        (Ballot(voter="a"), Ballot(voter="a", number=7)),
        (Ballot(voter="b"), REGIONS[0], REGIONS[0]),
        (Invoice(number=7, total=1), Invoice(total=1), Invoice(number=7, total=2)),
    ],
)
def test_duplicates_are_found_before_a_number_is_drawn(entities: tuple[Entity, ...]) -> None:
    """Where no drawn number stands in the key, two of one key are refused before anything is sent."""
    player = Player()
    with pytest.raises(UsageError, match="one primary key"):
        player.play(PutMany(entities).steps(context()))
    assert player.calls == []


def test_a_bad_value_beside_one_that_waits_for_a_number() -> None:
    """An entity that draws nothing is checked too before another's number is drawn."""
    player = Player()
    with pytest.raises(FieldValueError, match=r"'User\.visits'"):
        player.play(PutMany((Invoice(total=1), User(user_id="u", name="A", visits=True))).steps(context()))
    assert player.calls == []


def test_a_number_that_was_drawn_before() -> None:
    """A drawn number that another entity of the batch has already is found before anything is stored."""
    player = Player({"Attributes": {"last": {"N": "7"}}})
    with pytest.raises(UsageError, match="one primary key"):
        player.play(PutMany((Invoice(number=7, total=1), Invoice(total=1))).steps(context()))
    assert [call.method for call in player.calls] == ["update_item"]
