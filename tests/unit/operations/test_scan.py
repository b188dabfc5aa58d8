"""Scanning: the request, segments, the limit, and what never appears."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import QueryError, UsageError
from singletable.operations.merge import First
from singletable.operations.scan import Scan
from singletable.wire import Item
from tests.unit.operations.scripted import PLACE, Book, Row, Script, book, book_item, world

START: Item = {"PK": {"S": "k"}, "SK": {"S": "k"}}


def read(script: Script, scan: Scan[Any]) -> list[list[Any]]:
    """Read all, step by step."""
    reading = scan.open()
    steps: list[list[Any]] = []
    while not reading.done:
        steps.append(list(script.run(reading.steps(world()))))
    return steps


def page(*items: Item, more: bool = False) -> dict[str, Any]:
    """Answer a Scan."""
    return {"Items": list(items), **({"LastEvaluatedKey": START} if more else {})}


def test_the_request() -> None:
    """The tags of the entity go along as a filter, with the condition, under placeholders."""
    script = Script(page())
    read(script, Scan(Book, where=Book.pages > 3, consistent=True))
    (call,) = script.calls
    assert call.method == "scan"
    assert call.params["TableName"] == PLACE
    assert call.params["ConsistentRead"] is True
    assert set(call.params["ExpressionAttributeNames"].values()) == {"_et", "p"}
    values = list(call.params["ExpressionAttributeValues"].values())
    assert [value for value in ({"S": "book"}, {"S": "tome"}, {"N": "3"}) if value not in values] == []
    assert not call.params.keys() & {"Segment", "TotalSegments", "Limit", "ExclusiveStartKey"}


def test_page_by_page() -> None:
    """The next page begins where the last one ended."""
    script = Script(page(book_item("x"), more=True), page(book_item("y")))
    assert read(script, Scan(Book)) == [[book("x")], [book("y")]]
    assert script.calls[1].params["ExclusiveStartKey"] == START


def test_segments_are_read_at_the_same_time() -> None:
    """Each step reads a page of every segment that is not at its end, and gives all of it out."""
    script = Script(page(book_item("a"), more=True), page(), page(book_item("c")), page(book_item("b")))
    assert read(script, Scan(Book, segments=3)) == [[book("a"), book("c")], [book("b")]]
    assert [call.params["Segment"] for call in script.calls] == [0, 1, 2, 0]
    assert {call.params["TotalSegments"] for call in script.calls} == {3}
    assert script.together == [3]


def test_the_limit_counts_entities() -> None:
    """The rows asked for grow, since others stand between; no more entities come than were asked for."""
    script = Script(page(more=True), page(book_item("a"), more=True), page(book_item("b"), book_item("c"), more=True))
    assert read(script, Scan(Book, limit=2)) == [[], [book("a")], [book("b")]]
    assert [call.params["Limit"] for call in script.calls] == [8, 16, 16]


def test_the_first_of_a_scan() -> None:
    """Reading ends with the first entity that comes."""
    script = Script(page(more=True), page(book_item("a"), more=True))
    assert script.run(First(Scan(Book)).steps(world())) == book("a")


def test_strangers_are_dropped() -> None:
    """Other entities, tombstones and hidden items never appear, even where an engine does not filter."""
    others = [{**START, "_et": {"S": tag}} for tag in ("branch", "!gone", "!seq", "!unique")]
    script = Script(page(*others, START, book_item("x"), {**book_item("y"), "_et": {"S": "tome"}}))
    assert read(script, Scan(Book)) == [[book("x"), book("y")]]


def test_without_tags_the_key_decides() -> None:
    """In a table without tags no filter is sent; what fits the key is the entity's, hidden items never are."""
    row = {"PK": {"S": "#R#1"}, "SK": {"S": "#ROW"}, "a": {"S": "1"}}
    other = {"PK": {"S": "#S#1"}, "SK": {"S": "#ROW"}}
    hidden = {"PK": {"S": "#R#!SEQ"}, "SK": {"S": "#ROW"}}
    script = Script(page(row, other, hidden))
    assert read(script, Scan(Row)) == [[Row(a="1")]]
    assert "FilterExpression" not in script.calls[0].params


@pytest.mark.parametrize(
    "options", [{"segments": 0}, {"segments": True}, {"segments": 1_000_001}, {"limit": 0}, {"where": 5}]
)
def test_nonsense_is_refused(options: dict[str, Any]) -> None:
    """Segments, limit and condition are checked before anything is sent."""
    with pytest.raises(QueryError, match="scan"):
        Scan(Book, **options)


def test_an_abstract_class_cannot_be_scanned() -> None:
    """A class without a key has no items."""
    with pytest.raises(UsageError, match="no primary key"):
        Scan(Entity)
