"""Reading many items: batches, order, holes, keys that were left over, and whose item stands where."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from singletable.entity import Entity
from singletable.errors import ForeignItem, NotFound, Throttled, Unprocessed
from singletable.operations.get_many import GetMany
from singletable.queries import Ref
from singletable.wire import Call, Item, Refusal
from tests.unit.operations.scripted import (
    PLACE,
    Book,
    Loan,
    Numbered,
    Script,
    Seat,
    book,
    book_item,
    book_key,
    world,
)

REFS = tuple(Book.at(shelf="a", title=title) for title in ("x", "y", "z"))


def found(*items: Item, left: tuple[Item, ...] = ()) -> dict[str, Any]:
    """Answer a BatchGetItem."""
    keys = {"UnprocessedKeys": {PLACE: {"Keys": list(left)}}} if left else {}
    return {"Responses": {PLACE: list(items)}, **keys}


def asked(call: Call) -> list[Item]:
    """List the keys of a request."""
    keys: list[Item] = call.params["RequestItems"][PLACE]["Keys"]
    return keys


def stored(call: Call) -> dict[str, Any]:
    """Answer with a book at each key, the last first."""
    return found(*[book_item(key["SK"]["S"].removeprefix("#BOOK#")) for key in reversed(asked(call))])


def test_a_hundred_keys_to_a_request() -> None:
    """250 keys are three requests at the same time, and the answer has the order of the references."""
    script = Script(by=stored)
    names = [f"{number:03d}" for number in range(250)]
    made = script.run(GetMany(tuple(Book.at(shelf="a", title=name) for name in names)).steps(world()))
    assert made == tuple(map(book, names))
    assert [len(asked(call)) for call in script.calls] == [100, 100, 50]
    assert script.together == [3]


def test_the_whole_request() -> None:
    """A request has each key as it is stored, and says how it is to be read."""
    script = Script(found())
    script.run(GetMany(REFS[:1], consistent=True).steps(world()))
    (call,) = script.calls
    assert call.method == "batch_get_item"
    assert call.params == {"RequestItems": {PLACE: {"Keys": [book_key("x")], "ConsistentRead": True}}}


def test_nothing_to_read_sends_nothing() -> None:
    """No reference is an empty answer."""
    refs: tuple[Ref[Book], ...] = ()
    assert Script().run(GetMany(refs).steps(world())) == ()


def test_a_key_twice_is_asked_once() -> None:
    """DynamoDB refuses a key that stands in a request twice; the answer has the entity at both places."""
    script = Script(by=stored)
    made = script.run(GetMany((REFS[0], REFS[1], REFS[0])).steps(world()))
    assert made == (book("x"), book("y"), book("x"))
    assert asked(script.calls[0]) == [book_key("x"), book_key("y")]


@pytest.mark.parametrize(
    ("missing", "wanted"), [("hole", (book("x"), None, book("z"))), ("skip", (book("x"), book("z")))]
)
def test_what_is_not_there(missing: Literal["hole", "skip"], wanted: tuple[Book | None, ...]) -> None:
    """An item that is missing is a hole, or is left out, as asked for."""
    script = Script(found(book_item("z"), book_item("x")))
    assert script.run(GetMany(REFS, missing).steps(world())) == wanted


def test_what_must_be_there() -> None:
    """With "raise" the error says how many are missing, and which is the first."""
    with pytest.raises(NotFound, match="2 of 3"):
        Script(found(book_item("y"))).run(GetMany(REFS, "raise").steps(world()))
    every = found(*map(book_item, "xyz"))
    assert Script(every).run(GetMany(REFS, "raise").steps(world())) == (book("x"), book("y"), book("z"))


def test_a_tombstone_is_not_there() -> None:
    """What a deleted item leaves is a hole."""
    ref = Loan.at(reader="r", loan_no=1)
    assert Script(found({**ref.key, "_et": {"S": "!gone"}})).run(GetMany((ref,)).steps(world())) == (None,)


def test_a_foreign_item_raises() -> None:
    """Another entity's item at a key is no hole."""
    with pytest.raises(ForeignItem) as caught:
        Script(found({**book_item("x"), "_et": {"S": "seat"}})).run(GetMany(REFS).steps(world()))
    assert caught.value.found == "seat"


def test_every_reference_is_read_as_its_own_class() -> None:
    """References of several classes share a request."""
    seat: Item = {**Seat.at(name="s").key, "_et": {"S": "seat"}, "name": {"S": "s"}, "ticket": {"N": "4"}}
    refs: tuple[Ref[Entity], ...] = (Seat.at(name="s"), REFS[0])
    script = Script(found(book_item("x"), seat))
    assert script.run(GetMany(refs).steps(world())) == (Seat(name="s", ticket=4), book("x"))
    assert len(script.calls) == 1


def test_what_is_left_over_is_asked_again_at_once() -> None:
    """An answer that was cut at 16 MB is continued without a pause."""
    script = Script(found(book_item("x"), left=(book_key("z"), book_key("y"))), found(book_item("z"), book_item("y")))
    assert script.run(GetMany(REFS).steps(world())) == (book("x"), book("y"), book("z"))
    assert [len(asked(call)) for call in script.calls] == [3, 2]
    assert script.pauses == []


def test_without_any_progress_it_backs_off() -> None:
    """Where nothing came, half of 50 ms, then of 100 ms are waited; progress needs no pause."""
    none = found(left=(book_key("x"),))
    script = Script(none, none, found(book_item("x")))
    assert script.run(GetMany(REFS[:1]).steps(world())) == (book("x"),)
    assert script.pauses == [0.025, 0.05]


def test_what_is_never_answered_is_listed() -> None:
    """After ten attempts without progress the references that are left are raised, each once."""
    none = found(left=(book_key("y"),))
    script = Script(found(book_item("x"), left=(book_key("y"),)), *([none] * 10))
    with pytest.raises(Unprocessed, match="1 of 2") as caught:
        script.run(GetMany((REFS[0], REFS[1], REFS[1])).steps(world()))
    assert caught.value.items == (REFS[1],)
    assert caught.value.causes == (None,)
    assert len(script.calls) == 11


def test_an_error_is_raised_as_it_is() -> None:
    """Where a request came to nothing there is no partial answer."""
    with pytest.raises(Throttled):
        Script(Refusal("ThrottlingException", "Slow down")).run(GetMany(REFS).steps(world()))


def test_number_keys_are_matched_by_value() -> None:
    """However the engine writes a number that is left over, it is known again."""
    left: tuple[Item, ...] = ({"id": {"N": "1E+1"}},)
    item: Item = {"id": {"N": "10"}, "_et": {"S": "numbered"}}
    script = Script(found(left=left), found(item))
    assert script.run(GetMany((Numbered.at(id=10),)).steps(world())) == (Numbered(id=10),)
    assert asked(script.calls[1]) == [{"id": {"N": "10"}}]
