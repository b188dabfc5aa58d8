"""Taking a page, with canned answers: what is sent, where it goes on, and what is refused before anything is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from singletable import BadCursor, CorruptItem, Page, QueryError, Scan, Store, UsageError
from singletable.cursors import Signing
from singletable.operations.merge import Queries
from singletable.operations.page import TakePage
from tests.unit.operations.playing import Player
from tests.unit.operations.scripted import Book, book, book_item, book_key, library, world

BOOKS = Book.key(shelf="a")
INDEX = Book.by_state(shelf="a")
FILTERED = BOOKS.where(Book.state == "IN")
STRANGE = {"PK": {"S": "#SHELF#a"}, "SK": {"S": "#BOOK#c#d"}}


def played(
    *answers: dict[str, Any], query: Any = BOOKS, size: int = 2, merged: bool = False, **more: Any
) -> tuple[Page[Any], list[Any]]:
    """Take a page and give it with the parameters of the requests."""
    player = Player(*answers)
    queries: Any = query if query.__class__ is tuple else (query,)
    source: Any = query if query.__class__ is Scan else Queries(queries, merged)
    page = player.play(TakePage(source, size, **more).steps(world()))
    return page, [call.params for call in player.calls]


def rows(*titles: str, stopped: Any = None) -> dict[str, Any]:
    """Make an answer of books, and where DynamoDB stopped."""
    end = {} if stopped is None else {"LastEvaluatedKey": book_key(stopped) if isinstance(stopped, str) else stopped}
    return {"Items": [book_item(title) for title in titles], **end}


def test_one_row_more_is_asked_for() -> None:
    """A page of two asks for three rows; the third tells that there are more, and the second is where to go on."""
    page, sent = played(rows("a", "b", "c", stopped="c"))
    assert ([each.title for each in page], page.previous) == (["a", "b"], None)
    assert [each["Limit"] for each in sent] == [3]
    following, sent = played(rows("c"), cursor=page.next)
    assert sent[0]["ExclusiveStartKey"] == book_key("b")
    assert (following.items, following.next) == ((book("c"),), None)
    _, sent = played(rows("b", "a"), cursor=following.previous)
    assert (sent[0]["ExclusiveStartKey"], sent[0]["ScanIndexForward"]) == (book_key("c"), False)


def test_an_index_goes_on_with_both_keys() -> None:
    """The start key of an index is its own key and the table's, and nothing else."""
    page, _ = played(rows("a", "b", "c"), query=INDEX)
    _, sent = played(rows(), query=INDEX, cursor=page.next)
    wanted = {name: book_item("b")[name] for name in ("PK", "SK", "GSI1PK", "GSI1SK")}
    assert sent[0]["ExclusiveStartKey"] == wanted


def test_a_full_page_sends_nothing_only_to_look_further() -> None:
    """Two rows that pass the filter are enough, although DynamoDB stopped before the end."""
    page, sent = played(rows("a", "b", stopped="k"), query=FILTERED)
    assert [each["Limit"] for each in sent] == [12]
    _, sent = played(rows(), query=FILTERED, cursor=page.next)
    assert sent[0]["ExclusiveStartKey"] == book_key("b")


def test_a_page_without_patience_goes_on_where_dynamodb_stopped() -> None:
    """After `max_pages` requests the page ends short; its cursors lead on from the row that DynamoDB looked at last."""
    page, sent = played(rows(stopped="k"), rows("m", stopped="p"), query=FILTERED, max_pages=2)
    assert ([each.title for each in page], len(sent)) == (["m"], 2)
    empty, sent = played(rows(stopped="x"), query=FILTERED, cursor=page.next, max_pages=1)
    assert (sent[0]["ExclusiveStartKey"], empty.items) == (book_key("p"), ())
    for cursor, forward in ((empty.next, True), (empty.previous, False)):
        _, sent = played(rows(), query=FILTERED, cursor=cursor)
        assert (sent[0]["ExclusiveStartKey"], sent[0]["ScanIndexForward"]) == (book_key("x"), forward)


def test_a_strangers_row_is_no_place() -> None:
    """Where DynamoDB stops at a row of no known kind, the page goes on from the last place before it."""
    page, _ = played(rows(stopped="k"), rows(stopped=STRANGE), query=FILTERED, max_pages=2)
    _, sent = played(rows(), query=FILTERED, cursor=page.next)
    assert sent[0]["ExclusiveStartKey"] == book_key("k")


def test_nothing_but_strangers_ends() -> None:
    """Without any place to go on the page reads further, and ends in an error in the end."""
    page, sent = played(rows(stopped=STRANGE), rows("z"), query=FILTERED, max_pages=1)
    assert (page.items, page.next, len(sent)) == ((book("z"),), None, 2)
    with pytest.raises(QueryError, match="could have written"):
        played(*[rows(stopped=STRANGE)] * 3, query=FILTERED, max_pages=1)


def test_a_row_that_no_cursor_can_name() -> None:
    """A page cannot end at a row whose index key is in a form that its entity does not write."""
    odd = book_item("b") | {"GSI1SK": {"S": "#IN#b#c"}}
    with pytest.raises(CorruptItem, match="no cursor"):
        played({"Items": [book_item("a"), odd, book_item("c")]}, query=INDEX)


def test_empty_ranges_send_nothing() -> None:
    """A range that holds nothing, no values, and what lies behind the end are answered without a request."""
    nothing = BOOKS.gt(title="b").lt(title="a")
    for query in (nothing, BOOKS.is_in(title=()), (nothing, nothing)):
        page, sent = played(query=query)
        assert (page, sent) == (Page(()), [])


def test_a_cursor_is_looked_at_before_anything_is_sent() -> None:
    """Another shape, table, order, number of queries or merging is another request; other values are not."""
    page, _ = played(rows("a", "b", "c"), query=BOOKS.gte(title="a").where(Book.pages > 1))
    same = BOOKS.gte(title="A").where(Book.pages > 7)
    assert played(rows(), query=same, cursor=page.next)[0].items == ()
    shaped = BOOKS.gte(title="a")
    others = [
        shaped,
        BOOKS.gt(title="a").where(Book.pages > 1),
        shaped.where(Book.pages >= 1),
        shaped.where(Book.note > "1"),
        same.descending(),
        (same, same),
        Book.key(shelf="b").gte(title="a").where(Book.pages > 1),
        INDEX.where(Book.pages > 1),
        Scan(Book, where=Book.pages > 1),
    ]
    for other in others:
        with pytest.raises(BadCursor, match="query"):
            played(query=other, cursor=page.next)
    with pytest.raises(BadCursor, match="query"):
        Player().play(TakePage(Queries((same,)), 2, page.next).steps(replace(world(), table="other")))


def test_how_many_values_in_has_is_no_shape() -> None:
    """A filter by one of two states and one of three is the same filter."""
    page, _ = played(rows("a", "b", "c"), query=BOOKS.where(Book.state.is_in("IN", "OUT")))
    played(rows(), query=BOOKS.where(Book.state.is_in("IN", "OUT", "LOST")), cursor=page.next)


@pytest.mark.parametrize("given", [0, -1, True, 1.5, "2", None])
@pytest.mark.parametrize("name", ["size", "max_pages"])
def test_numbers_are_whole_and_above_zero(name: str, given: Any) -> None:
    """Neither a page nor its patience can be empty."""
    options: dict[str, Any] = {"size": 2, name: given}
    with pytest.raises(QueryError, match=name):
        TakePage(Queries((BOOKS,)), **options)


def test_limits_and_segments_are_no_pages() -> None:
    """A limit would have to be counted over pages, and segments have no common place."""
    for source in (Queries((BOOKS.limit(3),)), Scan(Book, limit=3), Scan(Book, segments=2)):
        with pytest.raises(QueryError, match="page"):
            TakePage(source, 2)


class TestStore:
    def test_what_is_handed_over(self) -> None:
        """Queries or one scan of the store's own table; a cursor and a context are text."""
        page: Any = Store.local(library).page
        for given in ((), (Book,), (Scan(Book), BOOKS), (BOOKS, Scan(Book))):
            with pytest.raises(UsageError):
                page(*given, size=2)
        for name in ("cursor", "context"):
            with pytest.raises(UsageError, match=name):
                page(BOOKS, size=2, **{name: 7})

    @pytest.mark.parametrize("key", ["", b"", [], [""], ["a", b""], 7, [7], {"a"}])
    def test_keys_are_secrets(self, key: Any) -> None:
        """A key is text or bytes that is not empty, or a list of such; the message does not show it."""
        with pytest.raises(UsageError, match="cursor_key"):
            Store(library, cursor_key=key)

    @pytest.mark.parametrize("ttl", [0, 60, timedelta(0), timedelta(seconds=-5)])
    def test_a_cursor_holds_for_a_while(self, ttl: Any) -> None:
        """The time is a timedelta of a second or more."""
        with pytest.raises(UsageError, match="cursor_ttl"):
            Store(library, cursor_ttl=ttl)

    def test_keys_reach_the_cursors(self) -> None:
        """Text and bytes of one secret are the same key; times are seconds."""
        store = Store(library, cursor_key=("käse", b"bread"), cursor_ttl=timedelta(hours=1))
        assert store._verbs.context.cursors == Signing(("käse".encode(), b"bread"), 3600)
        assert "bread" not in repr(store._verbs.context)
