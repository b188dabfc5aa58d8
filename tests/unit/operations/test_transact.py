"""Transactions with canned answers: what is sent, and what each reason of a cancellation comes to."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    ConditionFailed,
    Entity,
    Field,
    Key,
    NotFound,
    OutcomeUnknown,
    SequenceContention,
    SequenceExhausted,
    ServiceError,
    SingleTableError,
    Table,
    Throttled,
    TokenReused,
    TransactionFailed,
    Unreachable,
    UsageError,
    to_item,
)
from singletable.entity import evolve
from singletable.operations.check import Check
from singletable.operations.create import Create
from singletable.operations.delete import Delete
from singletable.operations.get_many import GetMany
from singletable.operations.once import Assign, CreateOnce, GetOrCreate, Prepare
from singletable.operations.put import Put
from singletable.operations.standing import Attempt, Committing, Reading, operations_of
from singletable.operations.transact import Transact
from singletable.operations.update import Update
from singletable.verbs import Verbs
from singletable.wire import Reason, Refusal
from tests.unit.operations.playing import NOW, Player, condition_failed, context, lost, play, to_run_again, unconnected
from tests.unit.operations.shop import PLACED, Invoice, Order, User, order_item, shop, user_item

ANN = User(user_id="u1", name="Ann")
AT = User.at(user_id="u1")
BOB = User.at(user_id="u2")
RENAMED = User.name.set("Bob")
ORDER = Order(user_id="u1", placed_at=PLACED)
TWO = (Create(ANN), Update(BOB, RENAMED))


def cancelled(*reasons: str | tuple[str, Any]) -> Refusal:
    """Make the refusal of a transaction: a code for each element, with the item that stood there."""
    given = [(reason, None) if isinstance(reason, str) else reason for reason in reasons]
    made = [Reason(code, "because", item) for code, item in given]
    return Refusal("TransactionCanceledException", "Transaction cancelled", reasons=made)


def failed(item: Any = None) -> tuple[str, Any]:
    """Make the reason of a condition that failed."""
    return ("ConditionalCheckFailed", item)


def kinds(call: Any) -> list[str]:
    """List the kinds of the elements of a transaction."""
    return [kind for element in call.params["TransactItems"] for kind in element]


def values(call: Any, place: int = 0) -> list[Any]:
    """List the values in the expressions of one element."""
    (element,) = call.params["TransactItems"][place].values()
    return list(element.get("ExpressionAttributeValues", {}).values())


class TestSending:
    def test_one_stamp_marks_everything(self) -> None:
        """Create id and update mark are one id, from one reading of the clock."""
        ticks = iter(NOW + timedelta(seconds=n) for n in range(9))
        moments: list[datetime] = []

        def clock() -> datetime:
            moments.append(next(ticks))
            return moments[-1]

        result, (call,) = play(Transact(*TWO).steps(context(clock=clock)), {})
        assert result == (ANN, None)
        assert kinds(call) == ["Put", "Update"]
        assert call.params["TransactItems"][0]["Put"]["Item"]["_c"] == {"S": "id-1"}
        assert {"S": "id-1"} in values(call, 1)
        assert moments == [NOW]

    def test_the_token_is_of_what_is_sent(self) -> None:
        """The same write under the same id has the same token, of 32 characters; other content another."""
        _, (first,) = play(Transact(*TWO).steps(context()), {})
        _, (again,) = play(Transact(*TWO).steps(context()), {})
        _, (other,) = play(Transact(TWO[0]).steps(context()), {})
        tokens = [call.params["ClientRequestToken"] for call in (first, again, other)]
        assert tokens[0] == tokens[1] != tokens[2]
        assert {len(token) for token in tokens} == {32}

    def test_turns_are_taken_in_one_order(self) -> None:
        """Who needs several turns takes them in the same order, whatever the order of the operations."""
        update = Update(Order.at(user_id="u1", order_id=7), Order.status.set("PAID"))
        orders: list[Any] = []
        for operations in ((Create(ORDER), update), (update, Create(ORDER))):
            read: dict[str, Any] = {"Item": order_item(7)}
            highest: dict[str, Any] = {"Items": []}
            player = Player(*((read, highest) if operations[0] is update else (highest, read)), {})
            player.play(Transact(*operations).steps(context()))
            orders.append(player.keys)
        assert orders[0] == orders[1]
        assert len(set(orders[0])) == 2

    def test_a_hundred_items_after_expansion(self) -> None:
        """A receipt counts too: a hundred operations with a token are refused, and nothing is sent."""
        deletes = [Delete(User.at(user_id=f"u{n}")) for n in range(100)]
        assert len(play(Transact(*deletes).steps(context()), {})[1]) == 1
        with pytest.raises(UsageError, match="101 items"):
            play(Transact(*deletes, token="t").steps(context()))

    def test_four_megabytes(self) -> None:
        """Items of more than 4 MB together are refused before they are sent."""
        big = [Put(User(user_id=f"u{n}", name="x" * 390_000)) for n in range(11)]
        with pytest.raises(UsageError, match="4194304"):
            play(Transact(*big).steps(context()))

    @pytest.mark.parametrize("other", [User(user_id="u1", name="x"), AT, RENAMED, None, (Create(ANN),)], ids=repr)
    def test_what_is_no_write(self, other: Any) -> None:
        """Anything but a write is refused where the transaction is made, by its position."""
        with pytest.raises(UsageError, match="operation 2 of the transaction"):
            Transact(Create(ANN), other)

    def test_a_lost_draw_is_a_gap_h6(self) -> None:
        """H6: a counter's update whose reply was lost is sent again: numbers are skipped, and none is given twice."""
        drawn = {"Attributes": {"last": {"N": "6"}}}
        creates = (Create(Invoice(total=1)), Create(Invoice(total=2)))
        result, calls = play(Transact(*creates).steps(context()), lost(), drawn, {})
        assert [invoice.number for invoice in result] == [5, 6]
        assert [call.method for call in calls] == ["update_item", "update_item", "transact_write_items"]

    def test_an_unfit_operation_says_which(self) -> None:
        """A number that was given is refused before any is drawn, and tells its operation."""
        given = Create(Invoice(number=7, total=1))
        with pytest.raises(UsageError, match="was given") as caught:
            play(Transact(Create(Invoice(total=1)), given).steps(context()))
        assert (caught.value.index, caught.value.op) == (1, given)
        assert caught.value.__notes__ == ["operation 2 of the transaction, Create"]


class TestCancelled:
    def test_every_failure_has_its_place(self) -> None:
        """Reasons are told by the operation they are of; "None" is none; the old item is read."""
        operations = (
            Check(BOB),
            Create(ANN),
            Delete(User.at(user_id="u3"), when=User.visits > 3),
            Update(AT_3, RENAMED),
        )
        refusal = cancelled("None", failed(user_item()), failed(), failed())
        with pytest.raises(TransactionFailed) as caught:
            play(Transact(*operations).steps(context()), refusal)
        errors = caught.value.exceptions
        assert [(type(error), error.index) for error in errors] == [
            (AlreadyExists, 1),
            (ConditionFailed, 2),
            (NotFound, 3),
        ]
        assert [error.op for error in errors] == list(operations[1:])
        assert isinstance(errors[0], AlreadyExists)
        assert errors[0].existing == ANN
        with pytest.raises(TransactionFailed):
            caught.value.only(NotFound)

    @pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
    def test_what_passes_is_sent_again_h1(self, code: str) -> None:
        """H1: conflicts and throttling are sent again, the same bytes, with backoff, and in the end given up."""
        player = Player(cancelled("None", code), cancelled(code, code), {})
        assert player.play(Transact(*TWO).steps(context())) == (ANN, None)
        assert len({str(call.params) for call in player.calls}) == 1
        assert player.pauses == sorted(player.pauses)
        assert player.pauses[0] > 0
        player = Player(*[cancelled("None", code)] * 16)
        with pytest.raises((ServiceError, Throttled), match="16 times"):
            player.play(Transact(*TWO).steps(context()))

    @pytest.mark.parametrize("code", ["ItemCollectionSizeLimitExceeded", "ValidationError", "AccessDenied"])
    def test_what_does_not_pass_is_told_at_once(self, code: str) -> None:
        """Any other reason is a ServiceError with DynamoDB's own word for it, and nothing is sent again."""
        with pytest.raises(ServiceError, match=f"{code}: because"):
            play(Transact(*TWO).steps(context()), cancelled("None", code))

    def test_a_conflict_beside_a_failed_condition_is_judged(self) -> None:
        """Where a condition failed, that is the answer, whatever else met a conflict."""
        with pytest.raises(TransactionFailed) as caught:
            play(Transact(*TWO).steps(context()), cancelled(failed(user_item()), "TransactionConflict"))
        assert isinstance(caught.value.only(AlreadyExists), AlreadyExists)

    def test_a_lost_reply_is_recognised(self) -> None:
        """A transaction that was sent again finds its own id: it was carried out, and its results are given."""
        own = {**user_item(), "_c": {"S": "id-1"}}
        result, calls = play(Transact(*TWO).steps(context()), lost(), cancelled(failed(own), failed(user_item())))
        assert (result, len(calls)) == ((ANN, None), 2)

    def test_what_nobody_can_tell_is_prepared(self) -> None:
        """A foreign item after a lost reply is OutcomeUnknown; its operation sends the same bytes, pickled or not."""
        with pytest.raises(OutcomeUnknown) as caught:
            play(Transact(Create(ORDER), Create(ANN)).steps(context()), {"Items": []}, *[lost()] * 4)
        operation = pickle.loads(pickle.dumps(caught.value.operation))
        assert isinstance(operation, Transact)
        sent = [play(each.steps(context()), {})[1] for each in (to_run_again(caught.value), operation)]
        assert [len(calls) for calls in sent] == [1, 1]
        assert sent[0][0].params == sent[1][0].params
        with pytest.raises(OutcomeUnknown) as judged:
            play(Transact(*TWO).steps(context()), lost(), cancelled(failed(user_item()), "None"))
        assert isinstance(judged.value.operation, Transact)

    def test_nothing_is_written_where_nobody_is(self) -> None:
        """A connection that was never made is no unknown outcome."""
        with pytest.raises(Unreachable):
            play(Transact(*TWO).steps(context(attempts=1)), unconnected())

    def test_an_error_of_the_whole_is_not_grouped(self) -> None:
        """A read that is throttled to the end is raised as it is."""
        update = Update(Order.at(user_id="u1", order_id=7), Order.status.set("PAID"))
        throttled = Refusal("ThrottlingException", "slow down")
        with pytest.raises(Throttled):
            play(Transact(update).steps(context()), *[throttled] * 4)

    def test_nothing_to_delete_becomes_a_check(self) -> None:
        """A delete that finds nothing is sent again as the check of that; nothing alone is not sent again."""
        first, second = play(Transact(Create(ANN), Delete(BOB)).steps(context()), cancelled("None", failed(GONE)), {})[
            1
        ]
        assert kinds(first) == ["Put", "Delete"]
        assert kinds(second) == ["Put", "ConditionCheck"]
        assert first.params["ClientRequestToken"] != second.params["ClientRequestToken"]
        delete = Delete(Order.at(user_id="u1", order_id=9))
        assert play(Transact(delete).steps(context()), cancelled(failed()))[0] == (None,)

    def test_what_was_made_meanwhile_is_deleted_after_all(self) -> None:
        """Where the check of nothing fails, the delete is drafted again."""
        delete = Delete(Order.at(user_id="u1", order_id=9))
        answers: list[Any] = [cancelled("None", failed()), cancelled("None", failed(order_item(9))), {}]
        result, calls = play(Transact(Create(ANN), delete).steps(context()), *answers)
        assert result == (ANN, None)
        assert [kinds(call)[1] for call in calls] == ["Put", "ConditionCheck", "Put"]

    def test_rounds_are_bounded(self) -> None:
        """A transaction that never comes to an end is given up with figures."""
        delete = Delete(Order.at(user_id="u1", order_id=9))
        answers = [cancelled("None", failed()), cancelled("None", failed(order_item(9)))] * 32
        with pytest.raises(ServiceError, match="64 times"):
            play(Transact(Create(ANN), delete).steps(context()), *answers)


class TestNumbers:
    def test_a_lost_race_draws_all_anew(self) -> None:
        """Where another took one number, all of the partition are drawn again after a pause; the rest stays."""
        highest = {"Items": [{"SK": order_item(3)["SK"]}]}
        answers: list[Any] = [{"Items": []}, cancelled("None", failed(order_item(2)), "None"), highest, {}]
        player = Player(*answers)
        made = player.play(Transact(Create(ORDER), Create(ORDER), Create(ANN)).steps(context()))
        assert [each.order_id for each in made[:2]] == [4, 5]
        assert len(player.pauses) == 1
        assert player.pauses[0] > 0

    def test_races_are_bounded(self) -> None:
        """The attempts are those of the field, three here, and the error is of the first that lost."""
        taken: Any = cancelled(failed(order_item(1)), failed(order_item(2)))
        answers: list[Any] = [{"Items": []}, taken] * 3
        with pytest.raises(TransactionFailed) as caught:
            play(Transact(Create(ORDER), Create(ORDER)).steps(context()), *answers)
        assert {type(error) for error in caught.value.exceptions} == {SequenceContention}

    def test_numbers_that_run_out(self) -> None:
        """Two numbers are wanted and one is left: nothing is sent, and the error says how many were wanted."""
        last = {"Items": [{"SK": {"S": "#ITEM#2"}}]}
        with pytest.raises(TransactionFailed) as caught:
            play(Transact(Create(Item(box="b")), Create(Item(box="b"))).steps(context()), last)
        assert isinstance(caught.value.exceptions[0], SequenceExhausted)
        assert "fewer than 2 numbers" in caught.value.exceptions[0].message

    def test_a_put_without_number_draws_one_too(self) -> None:
        """Puts and creates of one partition share the row of numbers."""
        result, _ = play(Transact(Put(ORDER), Create(ORDER)).steps(context()), {"Items": []}, {})
        assert [each.order_id for each in result] == [1, 2]


class TestOnce:
    def test_prepared_writes_are_the_same_bytes(self) -> None:
        """Each write that is prepared sends the same whenever and wherever it is run."""
        writes: list[tuple[Any, list[Any]]] = [
            (Create(ANN), []),
            (Create(Invoice(total=1)), [{"Attributes": {"last": {"N": "4"}}}]),
            (Create(ORDER), [{"Items": []}]),
            (Put(ANN, User.visits > 3), []),
            (Update(AT, User.visits.add(1)), []),
            (Delete(Order.at(user_id="u1", order_id=7)), []),
            (Check(AT, User.visits > 3), []),
            (Transact(*TWO), []),
            (Transact(Create(ORDER), Create(ORDER), token="t"), [{"Items": []}]),
        ]
        for write, answers in writes:
            prepared, _ = play(Prepare(write).steps(context()), *answers)
            again = pickle.loads(pickle.dumps(prepared))
            later = context(clock=lambda: datetime(2027, 1, 1, tzinfo=UTC), fresh_id=lambda: "other")
            answer = {"Attributes": user_item()} if isinstance(write, Update) else {}
            sent = [play(each.steps(where), answer)[1] for each, where in ((prepared, context()), (again, later))]
            assert sent[0] == sent[1], write
            assert play(Prepare(prepared).steps(context()))[0] is prepared

    def test_a_prepared_number_may_be_taken(self) -> None:
        """A number by sort key that another took before the prepared write was run is AlreadyExists."""
        prepared, _ = play(Prepare(Create(ORDER)).steps(context()), {"Items": []})
        with pytest.raises(AlreadyExists):
            play(prepared.steps(context()), condition_failed(order_item(1)))
        assert play(prepared.steps(context()), condition_failed(order_item(1, _c="id-1")))[0].order_id == 1

    @pytest.mark.parametrize("other", [ANN, AT, None, "x"], ids=repr)
    def test_what_cannot_be_prepared(self, other: Any) -> None:
        """Only writes are prepared."""
        with pytest.raises(UsageError, match="wanted a write"):
            Prepare(other)

    def test_a_token_in_the_create_id(self) -> None:
        """Where the key is what was given, the token is the id: the second gets what is stored, as it stands now."""
        once = CreateOnce(ANN, "t")
        made, (call,) = play(once.steps(context()), {})
        assert (made, call.method) == (ANN, "put_item")
        stored = {**call.params["Item"], "name": {"S": "Anne"}}
        assert play(once.steps(context()), condition_failed(stored))[0] == User(user_id="u1", name="Anne")
        other = CreateOnce(User(user_id="u1", name="Zoe"), "t")
        with pytest.raises(TokenReused):
            play(other.steps(context()), condition_failed(stored))
        with pytest.raises(AlreadyExists):
            play(CreateOnce(ANN, "u").steps(context()), condition_failed(stored))

    def test_a_token_with_a_receipt(self) -> None:
        """Where the key is drawn, the receipt tells: own id, other input, or what an earlier delivery stored."""
        once = CreateOnce(Invoice(total=1), "t")
        drawn = {"Attributes": {"last": {"N": "4"}}}
        made, (_, call) = play(once.steps(context()), drawn, {})
        receipt = call.params["TransactItems"][1]["Put"]["Item"]
        assert made == Invoice(number=4, total=1)
        assert receipt["PK"]["S"].startswith("#!TOKEN#")
        assert receipt["of"] == {"L": [{"M": {"PK": to_item(made)["PK"], "SK": to_item(made)["SK"]}}]}
        batch = {"Responses": {"shop-test": [{**to_item(made), "total": {"N": "9"}}]}}
        earlier = {**receipt, "_c": {"S": "other"}}
        found, _ = play(once.steps(context()), drawn, cancelled("None", failed(earlier)), batch)
        assert found == Invoice(number=4, total=9)
        with pytest.raises(TokenReused):
            play(CreateOnce(Invoice(total=2), "t").steps(context()), drawn, cancelled("None", failed(earlier)))
        with pytest.raises(NotFound, match="deleted since"):
            play(once.steps(context()), drawn, cancelled("None", failed(earlier)), {"Responses": {}})

    def test_an_unknown_create_can_be_run_again(self) -> None:
        """The operation of an unknown outcome gives the entity, as the first run would have."""
        drawn = {"Attributes": {"last": {"N": "4"}}}
        with pytest.raises(OutcomeUnknown) as caught:
            play(CreateOnce(Invoice(total=1), "t").steps(context()), drawn, *[lost()] * 4)
        again = pickle.loads(pickle.dumps(caught.value.operation))
        assert play(again.steps(context()), {})[0] == Invoice(number=4, total=1)

    def test_an_error_of_the_create_itself(self) -> None:
        """With a receipt the error is the create's own, not a group."""
        drawn = {"Attributes": {"last": {"N": "4"}}}
        stands = to_item(Invoice(number=4, total=1))
        tries: list[Any] = [drawn, cancelled(failed(stands), "None")] * 16
        with pytest.raises(AlreadyExists):
            play(CreateOnce(Invoice(total=1), "t").steps(context()), *tries)

    @pytest.mark.parametrize("token", ["", "x" * 1025, 7, b"t"], ids=["empty", "long", "int", "bytes"])
    def test_what_is_no_token(self, token: Any) -> None:
        """A token is text of 1 to 1024 characters; its content is never shown."""
        for make in (lambda: CreateOnce(ANN, token), lambda: Transact(Create(ANN), token=token)):
            with pytest.raises(UsageError, match="1 to 1024 characters"):
                make()

    def test_the_default_factory_is_no_input(self) -> None:
        """What a factory makes anew does not make it another request; what was given does."""
        first, second = Note(text="a"), Note(text="a")
        assert first.note_id != second.note_id
        digests = [Transact(Create(note), token="t").receipt for note in (first, second, Note(text="b"))]
        inputs = [receipt.input for receipt in digests if receipt is not None]
        assert inputs[0] == inputs[1] != inputs[2]

    def test_a_receipt_expires_where_items_do(self) -> None:
        """On a table with a time to live a receipt stays a day."""
        _, (call,) = play(Transact(Create(Note(text="a")), token="t").steps(context()), {})
        receipt = call.params["TransactItems"][1]["Put"]["Item"]
        assert receipt["ttl"] == {"N": str(int(NOW.timestamp()) + 86400)}

    def test_a_number_is_no_place_for_a_receipt(self) -> None:
        """A table whose partition key is no text cannot hold a receipt, and says what to do instead."""
        with pytest.raises(UsageError, match="no receipt can stand in it"):
            play(Transact(Create(Native(id=1)), token="t").steps(context()))

    def test_get_or_create(self) -> None:
        """One request where nothing stands there; what stands there else; a tombstone is AlreadyExists."""
        assert play(GetOrCreate(ANN).steps(context()), {})[0] == ANN
        other = user_item(name="Zoe")
        assert play(GetOrCreate(ANN).steps(context()), condition_failed(other))[0].name == "Zoe"
        with pytest.raises(AlreadyExists):
            play(GetOrCreate(ANN).steps(context()), condition_failed(user_item(_et="admin")))
        with pytest.raises(UsageError, match=r"Order\.order_id"):
            play(GetOrCreate(ORDER).steps(context()))

    def test_get_or_create_draws_no_number_in_vain(self) -> None:
        """An entity whose counter number is not in its key is looked for first."""
        stored = {**to_item(Member(name="a", number=3))}
        assert play(GetOrCreate(Member(name="a")).steps(context()), {"Item": stored})[0].number == 3
        drawn = {"Attributes": {"last": {"N": "4"}}}
        assert play(GetOrCreate(Member(name="a")).steps(context()), {}, drawn, {})[0].number == 4

    def test_an_assigned_number_is_taken_as_it_is(self) -> None:
        """An assigned entity can be evolved and pickled, and is created under its number; another is refused."""
        drawn = {"Attributes": {"last": {"N": "4"}}}
        invoice, (call,) = play(Assign(Invoice(total=1)).steps(context()), drawn)
        assert (invoice.number, call.method) == (4, "update_item")
        kept = pickle.loads(pickle.dumps(invoice))
        created, (put,) = play(Create(kept).steps(context()), {})
        assert created == invoice
        assert not [name for name in put.params["Item"] if name.startswith("!")]
        with pytest.raises(UsageError, match="was given"):
            play(Create(Invoice(number=4, total=1)).steps(context()))
        with pytest.raises(UsageError, match="was given"):
            play(Assign(kept.__class__(number=4, total=1)).steps(context()))

    def test_an_assigned_number_is_of_one_key(self) -> None:
        """A copy under another key cannot be created with the number that was drawn for the first."""
        drawn = {"Attributes": {"last": {"N": "4"}}}
        member = play(Assign(Member(name="a")).steps(context()), drawn)[0]
        assert play(Create(member).steps(context()), {})[0].number == 4
        with pytest.raises(UsageError, match="was given"):
            play(Create(evolve(member, name="b")).steps(context()))

    def test_what_cannot_be_assigned(self) -> None:
        """A number by sort key is nobody's until it is stored; an entity without numbers needs none."""
        with pytest.raises(UsageError, match="by sort key"):
            play(Assign(ORDER).steps(context()))
        with pytest.raises(UsageError, match="no AutoIncrement field"):
            play(Assign(ANN).steps(context()))


class TestBuilding:
    def test_a_read_is_checked_in_the_write_of_its_item(self) -> None:
        """What was read stands in the condition of the write, with what was absent; other items are checked beside."""
        attempt, committing = Attempt(), Committing(None)
        for ref, answer in ((AT, {"Item": user_item()}), (BOB, {})):
            found, _ = play(Reading(ref).steps(context()), answer)
            assert attempt.keep(ref, found) == found[0]
            assert attempt.known(ref) == found
        commit = committing.commit([Update(AT, RENAMED)], attempt)
        result, (call,) = play(commit.steps(context()), {})
        assert result == (None,)
        assert kinds(call) == ["Update", "ConditionCheck"]
        condition = call.params["TransactItems"][0]["Update"]["ConditionExpression"]
        assert {"S": "Ann"} in values(call)
        assert "attribute_not_exists" in condition

    def test_tries_are_bounded(self) -> None:
        """What changes each time is given up in the end, with the number of tries; each waits longer, up to a cap."""
        committing, changed = Committing(None), cancelled(failed(user_item(name="Zoe")))
        pauses: list[float] = []

        def once() -> object:
            attempt, player = Attempt(), Player(changed)
            attempt.keep(AT, play(Reading(AT).steps(context()), {"Item": user_item()})[0])
            result = player.play(committing.commit([Update(AT, RENAMED)], attempt).steps(context()))
            pauses.extend(player.pauses)
            return result

        assert [once() for _ in range(23)] == [None] * 23
        with pytest.raises(TransactionFailed, match="each of 24 times"):
            once()
        assert len(pauses) == 23
        assert pauses == sorted(pauses)
        assert pauses[0] > 0

    def test_another_failure_is_told_at_once(self) -> None:
        """Where what was read still stands, the failed operation is the answer."""
        attempt = Attempt()
        attempt.keep(BOB, play(Reading(BOB).steps(context()), {"Item": user_item(user_id="u2", PK="#USER#u2")})[0])
        commit = Committing(None).commit([Create(ANN)], attempt)
        with pytest.raises(TransactionFailed) as caught:
            play(commit.steps(context()), cancelled(failed(user_item()), "None"))
        assert isinstance(caught.value.only(AlreadyExists), AlreadyExists)

    def test_nothing_to_write_sends_nothing(self) -> None:
        """A build that gives no operations has nothing to commit."""
        assert play(Committing(None).commit([], Attempt()).steps(context()))[0] == ()

    @pytest.mark.parametrize("built", [None, Create(ANN), {Create(ANN)}, "x"], ids=["None", "one", "set", "text"])
    def test_what_a_build_gives(self, built: Any) -> None:
        """A build gives a list or tuple."""
        assert operations_of([TWO[0]]) == (TWO[0],)
        with pytest.raises(UsageError, match="wanted a list or tuple"):
            operations_of(built)


class TestReading:
    def test_conflicts_pass_or_are_given_up(self) -> None:
        """Reading at one moment is tried again where a writer is there, and given up in the end."""
        found = {"Responses": [{"Item": user_item()}, {}]}
        many = GetMany((AT, BOB, AT), transactional=True)
        player = Player(cancelled("TransactionConflict", "None"), found)
        assert player.play(many.steps(context())) == (ANN, None, ANN)
        assert len(player.pauses) == 1
        with pytest.raises(ServiceError, match="16 times"):
            play(many.steps(context()), *[cancelled("TransactionConflict", "None")] * 16)
        with pytest.raises(ServiceError, match="AccessDenied: because"):
            play(many.steps(context()), cancelled("AccessDenied", "None"))
        assert play(GetMany((), transactional=True).steps(context()))[0] == ()

    def test_keys_that_are_never_answered(self) -> None:
        """Where what a write depends on is not answered, the transaction is Throttled, and nothing is written."""
        paid = Order.status.set("PAID")
        updates = [Update(Order.at(user_id="u1", order_id=number), paid) for number in (1, 2)]
        keys = [update.ref.key for update in updates]
        left = {"Responses": {}, "UnprocessedKeys": {"shop-test": {"Keys": keys}}}
        with pytest.raises(Throttled, match="2 of the 2 keys"):
            play(Transact(*updates).steps(context()), *[left] * 10)

    def test_reads_of_other_kinds_are_made_together(self) -> None:
        """A read of an item and a look for the highest number go at the same time; an error of one is its own."""
        update = Update(Order.at(user_id="u2", order_id=1), Order.status.set("PAID"))
        player = Player({"Item": order_item(1, user="u2", GSI1PK="#ORDERS#u2")}, {"Items": []}, {})
        assert player.play(Transact(update, Create(ORDER)).steps(context()))[1].order_id == 1
        assert player.at_most == [8]
        with pytest.raises(TransactionFailed) as caught:
            play(Transact(update, Create(ORDER)).steps(context()), {}, {"Items": []})
        assert [(type(error), error.index) for error in caught.value.exceptions] == [(NotFound, 0)]

    @pytest.mark.parametrize("given", ["x", None, ANN, AT], ids=repr)
    def test_what_is_no_operation(self, given: Any) -> None:
        """`run` takes operations alone, and says so."""
        verbs = Verbs(shop, None, lambda: NOW)
        with pytest.raises(UsageError, match="wanted an operation"):
            verbs.checked(given)
        with pytest.raises(UsageError, match="wanted an entity"):
            verbs.checked(Create(given) if given is not ANN else Create(AT))
        with pytest.raises(UsageError, match="transactional="):
            verbs.get_many([AT], "hole", False, given)

    def test_what_an_operation_is_about(self) -> None:
        """Operations are made of references or entities, whatever else is told where they are made."""
        makes: list[Any] = [Delete, Check, Update]
        for make in makes:
            with pytest.raises(UsageError, match="wanted a reference or an entity"):
                make("x")
        assert Delete(ANN).ref == Check(ANN).ref == Update(ANN, RENAMED).ref == AT
        assert (Update(ANN, RENAMED).loaded, Update(AT, {"name": "Bob"}).loaded) == (ANN, None)


class TestFailed:
    def test_it_is_an_exception_group(self) -> None:
        """`except*` takes what it names and leaves the rest; copies keep positions and hints."""
        errors = [made(AlreadyExists, 0), made(NotFound, 2)]
        failure = TransactionFailed("nothing was done", errors, hint="look")
        copy = pickle.loads(pickle.dumps(failure))
        assert [(type(error), error.index) for error in copy.exceptions] == [(AlreadyExists, 0), (NotFound, 2)]
        assert (copy.message, copy.hint) == ("nothing was done", "look")
        assert str(failure).splitlines()[:3] == ["ST5011 nothing was done", "  look", "  [0] ST5003 m"]
        caught: list[SingleTableError] = []

        def take() -> None:
            try:
                raise failure
            except* NotFound as group:
                caught.extend(each for each in group.exceptions if isinstance(each, SingleTableError))

        with pytest.raises(TransactionFailed) as left:
            take()
        assert caught == [errors[1]]
        assert left.value.exceptions == (errors[0],)
        assert left.value.only(AlreadyExists) is errors[0]


def made(kind: type[SingleTableError], index: int) -> SingleTableError:
    """Make an error of an operation."""
    return kind("m", index=index)


AT_3 = User.at(user_id="u4")
GONE = {"PK": {"S": "#USER#u2"}, "SK": {"S": "#PROFILE"}, "_et": {"S": "!gone"}}

boxes = Table("boxes", ttl="ttl")


class Item(Entity, table=boxes, tag="item"):
    box: Field[str]
    n: Field[int] = AutoIncrement(max_value=3)

    key = Key(pk="#BOX#{box}", sk="#ITEM#{n:01}")


class Note(Entity, table=boxes, tag="note"):
    note_id: Field[int] = Field(default_factory=iter(range(1000)).__next__)
    text: Field[str]

    key = Key(pk="#NOTE#{note_id}", sk="#NOTE")


class Member(Entity, table=boxes, tag="member"):
    name: Field[str]
    number: Field[int] = AutoIncrement("counter")

    key = Key(pk="#MEMBER#{name}", sk="#MEMBER")


natives = Table("natives", pk=("id", int), sk=None)


class Native(Entity, table=natives, tag="native"):
    id: Field[int]

    key = Key(pk="{id}")
