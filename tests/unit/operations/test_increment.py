"""Drawing numbers: the requests of both strategies, races, contention and exhaustion."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import (
    AlreadyExists,
    ForeignItem,
    MissingPart,
    OutcomeUnknown,
    SequenceContention,
    SequenceExhausted,
    TableMissing,
)
from singletable.operations.create import Create
from singletable.operations.put import Put
from tests.unit.operations.playing import NAME, Player, condition_failed, context, lost, missing, play
from tests.unit.operations.shop import PLACED, Invoice, Order, Parcel, Project, Ticket, order_item, tombstone

NEW = Order(user_id="u1", placed_at=PLACED)


def highest(number: int | None) -> dict[str, Any]:
    """Answer the question for the highest order of user u1."""
    if number is None:
        return {"Items": []}
    return {"Items": [{"PK": {"S": "#USER#u1"}, "SK": {"S": f"#ORDER#{number:019d}"}}]}


def raised(to: int, attribute: str = "last") -> dict[str, Any]:
    """Answer a counter's update."""
    return {"Attributes": {attribute: {"N": str(to)}}}


class TestSortKey:
    def test_the_first_number_is_the_start(self) -> None:
        """In an empty partition the highest is asked for once, and 1 is put."""
        made, (asked, put) = play(Create(NEW).steps(context()), highest(None), {})
        assert made.order_id == 1
        assert asked.method == "query"
        assert asked.params == {
            "TableName": NAME,
            "KeyConditionExpression": "#0 = :2 AND #1 BETWEEN :0 AND :1",
            "ProjectionExpression": "#0, #1",
            "ScanIndexForward": False,
            "ConsistentRead": True,
            "Limit": 1,
            "ExpressionAttributeNames": {"#0": "PK", "#1": "SK"},
            "ExpressionAttributeValues": {
                ":0": {"S": "#ORDER#0000000000000000001"},
                ":1": {"S": "#ORDER#9223372036854775807$"},
                ":2": {"S": "#USER#u1"},
            },
        }
        assert put.params["Item"] == {**order_item(1), "_c": {"S": "id-1"}}
        assert put.params["ConditionExpression"] == "attribute_not_exists (#0)"

    def test_the_next_number_follows_the_highest(self) -> None:
        """What is put is one more than the highest key says."""
        made, _ = play(Create(NEW).steps(context()), highest(41), {})
        assert made.order_id == 42

    def test_what_stands_below_the_highest_counts_as_it(self) -> None:
        """A line of order 7 is found last in the range, and still the next order is 8."""
        line = {"PK": {"S": "#USER#u1"}, "SK": {"S": "#ORDER#0000000000000000007#LINE#0000000000000000003"}}
        assert play(Create(NEW).steps(context()), {"Items": [line]}, {})[0].order_id == 8

    def test_a_race_that_was_surely_lost(self) -> None:
        """Sent twice, a create finds another's order at its key: ours never stood there, or there were a tombstone."""
        other = {**order_item(1), "_c": {"S": "of-another"}}
        taken = condition_failed(other, sent=2)
        made, calls = play(Create(NEW).steps(context()), highest(None), taken, highest(1), {})
        assert made.order_id == 2
        assert [call.method for call in calls] == ["query", "put_item"] * 2

    @pytest.mark.parametrize("item", [order_item(1), tombstone(1), {**tombstone(1), "_c": {"S": "x"}}])
    def test_a_race_that_may_have_been_won(self, item: Any) -> None:
        """What no create of ours wrote, or what was deleted since, tells nothing of a create that was sent twice."""
        with pytest.raises(OutcomeUnknown):
            play(Create(NEW).steps(context()), highest(None), condition_failed(item, sent=2))

    def test_one_writer_of_a_process_at_a_time(self) -> None:
        """The race is run under a lock of the table, the partition and the range."""
        player = Player(highest(None), {})
        player.play(Create(NEW).steps(context()))
        assert player.keys == [(NAME, "#USER#u1", "#ORDER#0000000000000000001")]

    def test_the_second_number_costs_one_request(self) -> None:
        """What this process put last is remembered, so the next create asks nothing."""
        shared = context()
        play(Create(NEW).steps(shared), highest(None), {})
        made, (put,) = play(Create(NEW).steps(shared), {})
        assert (made.order_id, put.method) == (2, "put_item")

    def test_a_lost_race_reads_again(self) -> None:
        """Where another process took the number, the highest is read anew and the next is put, after a pause."""
        player = Player(highest(1), condition_failed(order_item(2)), highest(5), {})
        made = player.play(Create(NEW).steps(context()))
        assert made.order_id == 6
        assert [call.method for call in player.calls] == ["query", "put_item", "query", "put_item"]
        assert player.pauses == [0.01]  # half of 20 ms: the jitter is 0

    def test_a_stale_memory_reads_again(self) -> None:
        """A remembered number that was overtaken is dropped, not counted on from."""
        shared = context()
        play(Create(NEW).steps(shared), highest(None), {})
        player = Player(condition_failed(order_item(2)), highest(9), {})
        assert player.play(Create(NEW).steps(shared)).order_id == 10

    def test_a_tombstone_keeps_its_number(self) -> None:
        """The highest number counts where it was deleted, and its key cannot be put on."""
        player = Player(highest(3), condition_failed(tombstone(4)), highest(4), {})
        assert player.play(Create(NEW).steps(context())).order_id == 5

    def test_contention_ends(self) -> None:
        """After the field's attempts (3) the error says how many numbers were lost; nothing is written."""
        lost_race: list[dict[str, Any] | Exception] = [highest(1), condition_failed(order_item(2))]
        player = Player(*lost_race, *lost_race, *lost_race)
        with pytest.raises(SequenceContention, match="3 numbers") as caught:
            player.play(Create(NEW).steps(context()))
        assert caught.value.attempts == 3
        assert len(player.pauses) == 2

    def test_the_deadline_ends_it_too(self) -> None:
        """Where the time is used up the attempts that are left are not made."""
        times = iter([0.0, 0.0, 6.0, 6.0, 6.0])
        player = Player(highest(1), condition_failed(order_item(2)))
        with pytest.raises(SequenceContention) as caught:
            player.play(Create(NEW).steps(context(monotonic=lambda: next(times))))
        assert (caught.value.attempts, caught.value.seconds) == (1, 6.0)

    def test_its_own_write_is_a_success(self) -> None:
        """A lost reply whose item carries our id is our number: it is not drawn again."""
        written = {**order_item(2), "_c": {"S": "id-1"}}
        made, calls = play(Create(NEW).steps(context()), highest(1), lost(), condition_failed(written))
        assert made.order_id == 2
        assert len(calls) == 3

    def test_an_unknown_outcome_is_not_tried_under_another_number(self) -> None:
        """Where nobody can tell whether number 2 was written by us, no number 3 is written."""
        player = Player(highest(1), lost(), condition_failed(order_item(2)))
        with pytest.raises(OutcomeUnknown):
            player.play(Create(NEW).steps(context()))
        assert len(player.calls) == 3

    def test_the_last_number(self) -> None:
        """2**63 - 1 is the last number; beyond it the sequence is exhausted and nothing is put."""
        largest = 9_223_372_036_854_775_807
        assert play(Create(NEW).steps(context()), highest(largest - 1), {})[0].order_id == largest
        player = Player(highest(largest))
        with pytest.raises(SequenceExhausted) as caught:
            player.play(Create(NEW).steps(context()))
        assert caught.value.max_value == largest
        assert len(player.calls) == 1

    def test_no_number_among_the_numbers(self) -> None:
        """A key in the range that holds no canonical number is another program's: ForeignItem."""
        odd = {"PK": {"S": "#USER#u1"}, "SK": {"S": "#ORDER#7"}}
        with pytest.raises(ForeignItem):
            play(Create(NEW).steps(context()), {"Items": [odd]})

    def test_a_missing_table_is_no_race(self) -> None:
        """An error of the read ends the create."""
        with pytest.raises(TableMissing):
            play(Create(NEW).steps(context()), missing())

    def test_a_put_without_number_draws_one(self) -> None:
        """A put of an entity without its number is a create under the next one."""
        made, (_, put) = play(Put(NEW).steps(context()), highest(1), {})
        assert made.order_id == 2
        assert put.params["ConditionExpression"] == "attribute_not_exists (#0)"

    def test_a_native_number_is_read_as_it_is(self) -> None:
        """With a numeric sort key the highest is the number itself, and the range is one of numbers."""
        found = {"Items": [{"pk": {"S": "#TEAM#t"}, "sk": {"N": "41"}}]}
        made, (asked, put) = play(Create(Project(team="t", name="x")).steps(context()), found, {})
        assert made.number == 42
        assert asked.params["ExpressionAttributeValues"] == {
            ":0": {"N": "1"},
            ":1": {"N": "9223372036854775807"},
            ":2": {"S": "#TEAM#t"},
        }
        assert put.params["Item"]["sk"] == {"N": "42"}

    def test_a_part_before_the_number_must_be_there(self) -> None:
        """Without its partition an order has no numbers; nothing is sent."""
        player = Player()
        broken = Order(user_id=None, placed_at=PLACED)  # type: ignore[arg-type]  # what an untyped caller may do
        with pytest.raises((MissingPart, ValueError)):
            player.play(Create(broken).steps(context()))
        assert player.calls == []


class TestCounter:
    def test_an_entitys_counter_is_raised_in_one_update(self) -> None:
        """One conditional update issues a number; the put comes after it."""
        made, (bump, put) = play(Create(Invoice(total=5)).steps(context()), raised(1), {})
        assert made.number == 1
        assert bump.method == "update_item"
        assert bump.params == {
            "TableName": NAME,
            "Key": {"PK": {"S": "#!SEQ#invoice.number"}, "SK": {"S": "!"}},
            "UpdateExpression": "SET #0 = if_not_exists(#0, :1) + :0, #1 = :3",
            "ConditionExpression": "attribute_not_exists(#0) OR #0 <= :2",
            "ReturnValues": "UPDATED_NEW",
            "ExpressionAttributeNames": {"#0": "last", "#1": "_et"},
            "ExpressionAttributeValues": {
                ":0": {"N": "1"},
                ":1": {"N": "0"},
                ":2": {"N": "99"},  # max_value 100 less the step
                ":3": {"S": "!seq"},
            },
        }
        assert put.params["Item"]["PK"] == {"S": "#INVOICE#0000000000000000001"}

    def test_a_lost_reply_costs_a_number_only(self) -> None:
        """The update is sent again; what its answer says is issued, and the number in between is a gap."""
        made, calls = play(Create(Invoice(total=5)).steps(context()), lost(), raised(8), {})
        assert made.number == 8
        assert calls[0] == calls[1]

    def test_exhaustion(self) -> None:
        """A counter that cannot be raised is exhausted, and nothing is put."""
        player = Player(condition_failed(), condition_failed(), {"Item": {"last": {"N": "100"}}})
        with pytest.raises(SequenceExhausted, match="100") as caught:
            player.play(Create(Invoice(total=5)).steps(context()))
        assert caught.value.max_value == 100
        assert [call.method for call in player.calls] == ["update_item", "update_item", "get_item"]

    @pytest.mark.parametrize("held", [{"S": "7"}, {"N": "2.5"}, {"NULL": True}])
    def test_a_counter_that_holds_no_number(self, held: dict[str, Any]) -> None:
        """What is no whole number is told as such, not as a counter at its end."""
        player = Player(condition_failed(), condition_failed(), {"Item": {"last": held}})
        with pytest.raises(ForeignItem, match="'last' of a counter holds no whole number"):
            player.play(Create(Invoice(total=5)).steps(context()))

    def test_a_counter_that_held_a_fraction(self) -> None:
        """A counter that another program set to 2.5 answers 3.5: that is no number to give out."""
        with pytest.raises(ForeignItem, match="no whole number"):
            play(Create(Invoice(total=5)).steps(context()), {"Attributes": {"last": {"N": "3.5"}}})

    def test_a_taken_number_is_passed_over(self) -> None:
        """Where another item stands at the number drawn, the counter is asked again: it is never guessed on."""
        taken = condition_failed({"PK": {"S": "#INVOICE#3"}})
        made, calls = play(Create(Invoice(total=5)).steps(context()), raised(3), taken, raised(4), {})
        assert made.number == 4
        assert [call.method for call in calls] == ["update_item", "put_item"] * 2

    def test_taken_numbers_are_said_in_the_end(self) -> None:
        """After as many numbers as the field has attempts the create is refused, with what would help."""
        tries = [
            answer for n in range(1, 17) for answer in (raised(n), condition_failed({"PK": {"S": f"#INVOICE#{n}"}}))
        ]
        player = Player(*tries)
        with pytest.raises(AlreadyExists, match=r"16 numbers in a row are taken: store\.sequence\(Invoice\)\.sync"):
            player.play(Create(Invoice(total=5)).steps(context()))
        assert len(player.calls) == 32

    def test_a_put_replaces_nothing_under_a_number_it_drew(self) -> None:
        """A put whose key holds a number that was drawn just now is a create."""
        taken = condition_failed({"PK": {"S": "#INVOICE#3"}, "_et": {"S": "invoice"}})
        made, calls = play(Put(Invoice(total=5)).steps(context()), raised(3), taken, raised(4), {})
        assert made.number == 4
        assert calls[1].params["ConditionExpression"] == "attribute_not_exists (#0)"

    def test_a_partitions_counter_that_is_there(self) -> None:
        """A counter for each partition stands in it, before its items; it steps as the field says."""
        made, (bump, _) = play(Create(Ticket(repo="r")).steps(context()), raised(30), {})
        assert made.number == 30
        assert bump.params["Key"] == {"PK": {"S": "#REPO#r"}, "SK": {"S": "!SEQ#ticket.number"}}
        assert bump.params["ConditionExpression"] == "#0 <= :1"
        assert bump.params["ExpressionAttributeValues"][":0"] == {"N": "10"}

    def test_a_partitions_counter_that_is_absent(self) -> None:
        """It starts after the highest number stored there, read once, and only if nobody else made it meanwhile."""
        stored = {"Items": [{"PK": {"S": "#REPO#r"}, "SK": {"S": "#TICKET#0000000000000000040"}}]}
        made, calls = play(Create(Ticket(repo="r")).steps(context()), condition_failed(), stored, raised(50), {})
        assert made.number == 50
        assert [call.method for call in calls] == ["update_item", "query", "update_item", "put_item"]
        assert calls[1].params["ConsistentRead"] is True
        assert calls[2].params["ExpressionAttributeValues"][":1"] == {"N": "40"}
        assert calls[2].params["ConditionExpression"].startswith("attribute_not_exists(#0) OR")

    def test_an_empty_partition_starts_at_the_start(self) -> None:
        """With nothing stored the base is the start less the step: 10 - 10."""
        _, calls = play(Create(Ticket(repo="r")).steps(context()), condition_failed(), {"Items": []}, raised(10), {})
        assert calls[2].params["ExpressionAttributeValues"][":1"] == {"N": "0"}

    def test_an_adopted_counter_is_counted_where_it_stands(self) -> None:
        """An existing counter item gets nothing but its own attribute raised, no tag and no new key."""
        made, (bump, put) = play(Create(Parcel(name="box")).steps(context()), raised(8, "count"), {})
        assert made.order_id == 8
        assert bump.params == {
            "TableName": NAME,
            "Key": {"pk": {"S": "orderCounter"}},
            "UpdateExpression": "SET #0 = if_not_exists(#0, :1) + :0",
            "ConditionExpression": "attribute_not_exists(#0) OR #0 <= :2",
            "ReturnValues": "UPDATED_NEW",
            "ExpressionAttributeNames": {"#0": "count"},
            "ExpressionAttributeValues": {
                ":0": {"N": "1"},
                ":1": {"N": "0"},
                ":2": {"N": "9223372036854775806"},
            },
        }
        assert put.params["Item"] == {
            "pk": {"S": "8"},
            "order_id": {"N": "8"},
            "name": {"S": "box"},
            "_c": {"S": "id-1"},
        }
