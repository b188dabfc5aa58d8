"""Creating and deleting many: requests, order of numbers, what is left with its cause, and the progress told."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import (
    AlreadyExists,
    FieldValueError,
    ForeignItem,
    OutcomeUnknown,
    Throttled,
    Unprocessed,
    Unreachable,
    UsageError,
)
from singletable.operations.batch import DeleteMany, PutMany
from singletable.operations.create_many import CreateMany
from singletable.queries import Ref
from singletable.wire import Call, Item, NoReply, Refusal
from tests.unit.operations.scripted import PLACE, Book, Card, Loan, Row, Script, book, book_item, book_key, world

BOOKS = tuple(book(f"{number:02d}") for number in range(30))
REFS = tuple(Book.at(shelf="a", title=each.title) for each in BOOKS)


def refused(item: Item | None = None) -> Refusal:
    """Make the refusal of a failed condition."""
    return Refusal("ConditionalCheckFailedException", "The conditional request failed", item=item)


def throttled() -> Refusal:
    """Make the refusal of a request that came too fast."""
    return Refusal("ThrottlingException", "Slow down")


def nobody() -> NoReply:
    """Make a connection that was never made."""
    return NoReply("connection refused", endpoint="http://engine.test", sent=False)


def left(*requests: dict[str, Any]) -> dict[str, Any]:
    """Answer a batch with what was not taken."""
    return {"UnprocessedItems": {PLACE: list(requests)}}


def deletion(title: str) -> dict[str, Any]:
    """Write the request that deletes a book."""
    return {"DeleteRequest": {"Key": book_key(title)}}


def written(call: Call) -> list[dict[str, Any]]:
    """List the requests of a batch."""
    requests: list[dict[str, Any]] = call.params["RequestItems"][PLACE]
    return requests


class Told:
    """Keeps what a progress callback is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        """Keep it."""
        self.calls.append((done, total))


class TestCreateMany:
    def test_one_conditional_put_for_each(self) -> None:
        """Three entities are three PutItems at the same time, each on condition that its key is free."""
        script, told = Script({}, {}, {}), Told()
        made = script.run(CreateMany(BOOKS[:3], told).steps(world()))
        assert made == BOOKS[:3]
        assert script.methods == ["put_item"] * 3
        assert script.together == [3]
        assert {call.params["ConditionExpression"] for call in script.calls} == {"attribute_not_exists (#0)"}
        assert script.calls[0].params["Item"] == {**book_item("00"), "_c": {"S": "id-1"}}
        assert told.calls == [(1, 3), (2, 3), (3, 3)]

    def test_counter_numbers_are_one_request(self) -> None:
        """Three cards draw their numbers at once and keep the order."""
        script = Script({"Attributes": {"last": {"N": "9"}}}, {}, {}, {})
        made = script.run(CreateMany(tuple(Card(holder=name) for name in "abc")).steps(world()))
        assert [(card.card_no, card.holder) for card in made] == [(7, "a"), (8, "b"), (9, "c")]
        assert script.methods == ["update_item", "put_item", "put_item", "put_item"]

    def test_sort_key_numbers_rise_in_order(self) -> None:
        """The loans of a reader are written in turn after one look at the highest; another's at the same time."""
        script = Script({"Items": []}, {}, {}, {"Items": []}, {})
        loans = (Loan(reader="r"), Loan(reader="s"), Loan(reader="r"))
        made = script.run(CreateMany(loans).steps(world()))
        assert [(loan.reader, loan.loan_no) for loan in made] == [("r", 1), ("s", 1), ("r", 2)]
        assert script.methods == ["query", "put_item", "put_item", "query", "put_item"]
        assert script.together == [2]

    def test_what_is_stored_stays_stored(self) -> None:
        """One key of three is taken: the error has that entity as it was given and says why; the others are stored."""
        script, told = Script({}, refused({**book_item("01"), "_c": {"S": "other"}}), {}), Told()
        with pytest.raises(Unprocessed, match="1 of 3 items were not created") as caught:
            script.run(CreateMany(BOOKS[:3], told).steps(world()))
        assert caught.value.items == (BOOKS[1],)
        assert caught.value.done == (BOOKS[0], BOOKS[2])
        (cause,) = caught.value.causes
        assert isinstance(cause, AlreadyExists)
        assert cause.existing == BOOKS[1]
        assert caught.value.__cause__ is cause
        assert told.calls == [(1, 3), (2, 3)]

    def test_what_failed_is_listed_without_its_number(self) -> None:
        """An entity whose number was drawn in vain can be handed over again: it has none yet."""
        script = Script({"Attributes": {"last": {"N": "2"}}}, {}, throttled())
        cards = (Card(holder="a"), Card(holder="b"))
        with pytest.raises(Unprocessed) as caught:
            script.run(CreateMany(cards).steps(world()))
        assert caught.value.items == (cards[1],)
        assert caught.value.done == (Card(card_no=1, holder="a"),)
        assert "card_no" not in cards[1].__dict__

    def test_a_failure_ends_its_partition(self) -> None:
        """After a loan that failed, those after it are not tried: they would take the smaller number."""
        script = Script({"Items": []}, {}, throttled(), {"Items": []}, {})
        loans = (*[Loan(reader="r")] * 4, Loan(reader="s"))
        with pytest.raises(Unprocessed, match="3 of 5") as caught:
            script.run(CreateMany(loans).steps(world()))
        assert caught.value.items == loans[1:4]
        assert [type(cause) for cause in caught.value.causes] == [Throttled] * 3
        assert script.methods == ["query", "put_item", "put_item", "query", "put_item"]

    def test_where_nobody_is_there_the_others_are_not_tried(self) -> None:
        """An error that would meet every other entity too stops those not begun; where nothing is stored, it is it."""
        script = Script({}, nobody())
        with pytest.raises(Unprocessed, match="4 of 5") as caught:
            script.run(CreateMany(BOOKS[:5]).steps(world()))
        assert caught.value.items == BOOKS[1:5]
        assert [type(cause) for cause in caught.value.causes] == [Unreachable] * 4
        assert len(script.calls) == 2
        with pytest.raises(Unreachable):
            Script(nobody()).run(CreateMany(BOOKS[:5]).steps(world()))

    def test_a_lost_reply_is_one_of_the_causes(self) -> None:
        """A write that may have happened is listed, and its cause says so."""
        lost = NoReply("connection reset", endpoint="http://engine.test", sent=True)
        with pytest.raises(Unprocessed) as caught:
            Script(lost).run(CreateMany(BOOKS[:1]).steps(world()))
        assert [type(cause) for cause in caught.value.causes] == [OutcomeUnknown]

    def test_everything_is_checked_before_anything_is_sent(self) -> None:
        """One bad value, one number that was given, or one key twice refuses them all."""
        bad: Any = Book(shelf="a", title="x", pages=True)
        for entities, error in (
            ((BOOKS[0], bad), FieldValueError),
            ((Card(card_no=5),), UsageError),
            ((BOOKS[0], BOOKS[1], BOOKS[0]), UsageError),
        ):
            script = Script()
            with pytest.raises(error):
                script.run(create(entities).steps(world()))
            assert script.calls == []

    def test_nothing_to_create_sends_nothing(self) -> None:
        """An empty list is an empty answer, and no progress is told."""
        told = Told()
        assert Script().run(create((), told).steps(world())) == ()
        assert told.calls == []


def create(entities: tuple[Entity, ...], progress: Told | None = None) -> CreateMany[Entity]:
    """Make the operation for entities of several kinds."""
    return CreateMany(entities, progress)


class TestDeleteMany:
    def test_batches_of_twenty_five(self) -> None:
        """Thirty keys go out as 25 and 5 without condition, at the same time."""
        script, told = Script({}, {}), Told()
        assert script.run(DeleteMany(REFS, told).steps(world())) is None
        assert [len(written(call)) for call in script.calls] == [25, 5]
        assert written(script.calls[1])[4] == deletion("29")
        assert script.together == [2]
        assert told.calls == [(25, 30), (30, 30)]

    def test_a_key_twice_is_asked_once(self) -> None:
        """DynamoDB refuses a key that stands in a batch twice."""
        script = Script({})
        script.run(DeleteMany((REFS[0], REFS[1], REFS[0])).steps(world()))
        assert written(script.calls[0]) == [deletion("00"), deletion("01")]

    def test_a_sort_key_number_leaves_its_tombstone(self) -> None:
        """A numbered entity is deleted singly, by the put of a tombstone; others beside it in their batch."""
        script = Script({}, {})
        refs: tuple[Ref[Entity], ...] = (REFS[0], Loan.at(reader="r", loan_no=1))
        script.run(DeleteMany(refs).steps(world()))
        assert script.methods == ["put_item", "batch_write_item"]
        assert script.calls[0].params["Item"]["_et"] == {"S": "!gone"}

    def test_raw_and_untagged_rows_keep_their_guard(self) -> None:
        """Where another program's item may stand at the key, each delete is one of its own."""
        script = Script({}, {})
        script.run(DeleteMany((Row.at(a="1"), Row.at(a="2"))).steps(world()))
        assert script.methods == ["delete_item", "delete_item"]

    def test_leftovers_are_sent_again(self) -> None:
        """What was not taken is sent again after a pause, and only that."""
        script, told = Script(left(deletion("01")), {}), Told()
        script.run(DeleteMany(REFS[:3], told).steps(world()))
        assert [len(written(call)) for call in script.calls] == [3, 1]
        assert script.pauses == [0.025]
        assert told.calls == [(3, 3)]

    def test_what_is_never_taken_is_listed(self) -> None:
        """After ten attempts the references that are left are raised in their order."""
        rest = left(deletion("02"), deletion("00"))
        with pytest.raises(Unprocessed, match="2 of 3 items were not deleted") as caught:
            Script(*([rest] * 10)).run(DeleteMany(REFS[:3]).steps(world()))
        assert caught.value.items == (REFS[0], REFS[2])
        assert caught.value.causes == (None, None)
        assert caught.value.done == ()

    def test_a_foreign_item_is_spared_and_listed(self) -> None:
        """A single delete that is refused ends nothing but itself."""
        ref = Loan.at(reader="r", loan_no=1)
        refs: tuple[Ref[Entity], ...] = (ref, REFS[0])
        with pytest.raises(Unprocessed, match="1 of 2") as caught:
            Script(refused({**ref.key, "_et": {"S": "other"}}), {}).run(DeleteMany(refs).steps(world()))
        assert caught.value.items == (ref,)
        assert [type(cause) for cause in caught.value.causes] == [ForeignItem]

    def test_what_is_not_there_is_done(self) -> None:
        """Nothing at the key, or a tombstone, is no failure."""
        ref = Loan.at(reader="r", loan_no=1)
        gone: Any = {**ref.key, "_et": {"S": "!gone"}}
        cases: list[tuple[Any, ...]] = [(refused(None), {}), (refused(gone),)]
        for answers in cases:
            assert Script(*answers).run(DeleteMany((ref,)).steps(world())) is None

    def test_where_every_batch_fails_the_error_is_its_cause(self) -> None:
        """Where nothing was deleted at all, the reason itself is raised."""
        with pytest.raises(Throttled):
            Script(throttled(), throttled()).run(DeleteMany(REFS).steps(world()))


class TestPutMany:
    def test_progress(self) -> None:
        """Progress is told as each batch ends, of what was taken."""
        put = {"PutRequest": {"Item": book_item("26")}}
        script, told = Script({}, *([left(put)] * 10)), Told()
        with pytest.raises(Unprocessed, match="1 of 30") as caught:
            script.run(PutMany(BOOKS, told).steps(world()))
        assert caught.value.items == (BOOKS[26],)
        assert caught.value.causes == (None,)
        assert told.calls == [(25, 30), (29, 30)]

    def test_an_error_of_the_callback_comes_out(self) -> None:
        """What the callback raises is raised when all batches have ended."""

        def stop(done: int, total: int) -> None:
            raise ZeroDivisionError

        script = Script({}, {})
        with pytest.raises(ZeroDivisionError):
            script.run(PutMany(BOOKS, stop).steps(world()))
        assert len(script.calls) == 2
