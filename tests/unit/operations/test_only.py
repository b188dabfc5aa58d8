"""Reading a part of the fields: what is fetched, what raises, and that a part is never written as a whole."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from singletable.dictionaries import to_dict
from singletable.entity import evolve
from singletable.errors import FieldNotLoaded, NumberNotAssigned, QueryError, SingleTableError
from singletable.mapping import mapper_of, to_item
from singletable.operations.batch import PutMany
from singletable.operations.create import Create
from singletable.operations.create_many import CreateMany
from singletable.operations.put import Put
from singletable.operations.query import Count, ReadPage, request
from singletable.queries import Query
from singletable.wire import Item, Steps
from tests.unit.operations.scripted import Book, Loan, Script, Seat, book, book_item, world

PART: Item = {name: value for name, value in book_item("x").items() if name in {"PK", "SK", "_et", "state"}}


def partial(query: Query[Book] | None = None, item: Item = PART) -> Book:
    """Read a book with its state alone."""
    query = Book.key(shelf="a").only(Book.state) if query is None else query
    return Script({"Items": [item]}).run(ReadPage(query).steps(world())).entities[0]


def fetched(query: Query[Any]) -> set[str]:
    """Name the attributes that a query fetches."""
    params = request(world(), query)
    assert params is not None
    names = params["ExpressionAttributeNames"]
    return {names[placeholder] for placeholder in params["ProjectionExpression"].split(", ")}


def test_keys_and_tag_are_always_fetched() -> None:
    """Both keys, the tag and the key's own fields go along; a renamed field by its stored name."""
    keys = {"PK", "SK", "_et", "shelf", "title"}
    assert fetched(Book.key(shelf="a").only(Book.note)) == keys | {"note", "GSI1PK", "GSI1SK"}
    assert fetched(Book.by_state(shelf="a").only(Book.pages)) == keys | {"p", "GSI1PK", "GSI1SK"}


def test_an_index_key_that_may_hold_a_field_goes_along() -> None:
    """A field that stands in an index key is read from there where its attribute is absent."""
    key = {"GSI1PK": {"S": "#STATE-OF#a"}, "GSI1SK": {"S": "#OUT#x"}}
    item = {**{name: value for name, value in PART.items() if name != "state"}, **key}
    assert partial(item=item).state == "OUT"


def test_without_only_everything_is_fetched() -> None:
    """A query that names no fields has no projection."""
    params = request(world(), Book.key(shelf="a"))
    assert params is not None
    assert "ProjectionExpression" not in params


def test_a_second_only_replaces_the_first() -> None:
    """The last one says what is fetched."""
    query = Book.key(shelf="a").only(Book.pages).only(Book.note)
    assert query.shown == ("note",)


@pytest.mark.parametrize("field", [Loan.reader, "state", None])
def test_only_takes_fields_of_the_entity(field: Any) -> None:
    """Another entity's field, a name or nothing at all is refused when the query is written."""
    with pytest.raises(QueryError, match="only"):
        Book.key(shelf="a").only(field)


def test_only_wants_a_field() -> None:
    """Without a field it cannot mean anything."""
    with pytest.raises(QueryError, match="no field"):
        Book.key(shelf="a").only()


def test_what_was_fetched_is_there() -> None:
    """The fields asked for and those of the key have their values."""
    made = partial()
    assert (made.shelf, made.title, made.state) == ("a", "x", "IN")
    assert to_dict(made) == {"shelf": "a", "title": "x", "state": "IN"}


def test_what_was_not_fetched_raises() -> None:
    """Reading a field that was left out is an AttributeError that names it; a default never stands in for it."""
    made = partial()
    with pytest.raises(FieldNotLoaded, match=r"Book\.pages") as caught:
        _ = made.pages
    assert caught.value.field == "pages"
    assert caught.value.code == "ST3006"
    assert isinstance(caught.value, SingleTableError)
    assert not hasattr(made, "note")


def test_a_number_that_was_left_out_is_not_loaded() -> None:
    """A drawn number that was not fetched is not mistaken for one that was never drawn."""
    item: Item = {"PK": {"S": "#SEAT#s"}, "SK": {"S": "#SEAT"}, "_et": {"S": "seat"}}
    with pytest.raises(FieldNotLoaded):
        _ = mapper_of(Seat).showing(()).decode(item).ticket
    with pytest.raises(NumberNotAssigned):
        _ = mapper_of(Seat).decode(item).ticket


def test_parts_compare_by_what_they_hold() -> None:
    """Two parts with the same values are equal and of one hash; a part is not its whole."""
    assert partial() == partial()
    assert hash(partial()) == hash(book("x"))
    assert partial() != book("x")


def test_a_part_shows_that_it_is_one() -> None:
    """The representation has what was read, and three dots for the rest."""
    assert repr(partial()) == "Book(shelf='a', title='x', state='IN', ...)"


def test_a_copy_is_a_part_too() -> None:
    """Copies and pickles keep the mark."""
    for made in (copy.copy(partial()), copy.deepcopy(partial()), pickle.loads(pickle.dumps(partial()))):
        assert made == partial()
        with pytest.raises(FieldNotLoaded):
            to_item(made)


def test_a_part_is_never_stored() -> None:
    """Each verb that writes a whole entity refuses a part before anything is sent, and names what is missing."""
    part, script = partial(), Script()
    for operation in (Put(part), Create(part), PutMany((part,)), CreateMany((part,))):
        flow: Steps[Any] = operation.steps(world())
        with pytest.raises(FieldNotLoaded, match="pages, note") as caught:
            script.run(flow)
        assert caught.value.field == "pages"
    assert script.calls == []


def test_evolve_keeps_it_a_part() -> None:
    """A changed part has the new value and is still a part, even with every field given: unknown attributes are not."""
    made = evolve(partial(), state="OUT")
    assert made.state == "OUT"
    with pytest.raises(FieldNotLoaded, match=r"Book\.note"):
        _ = made.note
    full = evolve(made, pages=3, note="n")
    assert full.pages == 3
    with pytest.raises(FieldNotLoaded, match="pages, note"):
        to_item(full)


def test_every_field_named_is_still_a_part() -> None:
    """Attributes that no field knows were not read either, and would be lost in a put."""
    every = partial(Book.key(shelf="a").only(Book.state, Book.pages, Book.note), book_item("x"))
    assert every == book("x")
    with pytest.raises(FieldNotLoaded, match="no field knows"):
        to_item(every)


def test_a_count_fetches_nothing() -> None:
    """DynamoDB refuses a projection where it only counts; rows that are not looked at are counted by their tag."""
    script = Script({"Count": 2})
    assert script.run(Count(Book.key(shelf="a").only(Book.pages)).steps(world())) == 2
    (call,) = script.calls
    assert call.params["Select"] == "COUNT"
    assert "ProjectionExpression" not in call.params
    assert set(call.params["ExpressionAttributeNames"].values()) == {"PK", "SK", "_et"}
