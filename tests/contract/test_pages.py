"""Pages on every engine: what they hold, where they go on in both directions, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from singletable import BadCursor, Entity, Field, Key, Page, Query, Scan, Store, Table
from tests.contract.behind import CountingClient, client_of, sibling, write
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, OrderLine, User, app, day, order

racks = Table("racks", pk=("rack", int), sk=("slot", int))
BY_STATUS = Order.by_status(user_id="u1")


class Slot(Entity, table=racks, tag="slot"):
    rack: Field[int]
    slot: Field[int]

    key = Key(pk="{rack}", sk="{slot}")


@pytest.fixture
def counting(backend: MakeStore) -> tuple[Store, Counter[str]]:
    """Give a shop with six orders of one user, each with a line below it, on three days; count from then on."""
    store = backend(app)
    store.put_many([User(user_id="u1", name="Ann"), User(user_id="u2", name="Ben")])
    for number, status in enumerate(("PAID", "SENT", "PAID", "OPEN", "PAID", "SENT")):
        store.create(order(on=1 + number // 2, status=status))
        store.put(OrderLine(user_id="u1", order_id=number + 1, line_no=1, sku="x"))
    client = CountingClient(client_of(store))
    return sibling(store, client=client), client.calls


def numbers(page: Iterable[Any]) -> list[int]:
    """Give the numbers of orders."""
    return [each.order_id for each in page]


def forwards(store: Store, *queries: Any, **options: Any) -> list[Page[Any]]:
    """Take every page, each by the cursor of the one before."""
    pages = [store.page(*queries, **options)]
    while pages[-1].next is not None:
        pages.append(store.page(*queries, cursor=pages[-1].next, **options))
        assert len(pages) < 60
    return pages


def backwards(store: Store, last: Page[Any], *queries: Any, **options: Any) -> list[Page[Any]]:
    """Take the pages before one, given in the order of the rows."""
    pages = [last]
    while pages[0].previous is not None:
        pages.insert(0, store.page(*queries, cursor=pages[0].previous, **options))
        assert len(pages) < 60
    return pages


def both_ways(store: Store, *queries: Any, **options: Any) -> list[list[int]]:
    """Take all pages there and back, see that they are the same, and give their numbers."""
    pages = forwards(store, *queries, **options)
    assert pages[0].previous is None
    there = [row for page in pages for row in page]
    assert [row for page in backwards(store, pages[-1], *queries, **options) for row in page] == there
    return [numbers(page) for page in pages]


def test_e1_e3_e5_pages_of_an_index(counting: tuple[Store, Counter[str]]) -> None:
    """`size` is what a page holds, and each goes on at the right row: by exactly the index's keys and the table's."""
    store, sent = counting
    first = store.page(BY_STATUS, size=4)
    assert (numbers(first), len(first), first.previous) == ([4, 1, 3, 5], 4, None)
    second = store.page(BY_STATUS, size=4, cursor=first.next)
    assert (numbers(second), second.next) == ([2, 6], None)
    assert sent == {"query": 2}
    before = store.page(BY_STATUS, size=4, cursor=second.previous)
    assert (before.items, before.previous) == (first.items, None)
    assert store.page(BY_STATUS, size=4, cursor=before.next) == second
    assert store.page(BY_STATUS, size=6).next is None
    assert sent == {"query": 5}
    assert both_ways(store, BY_STATUS.descending(), size=1) == [[6], [2], [5], [3], [1], [4]]


def test_e6_an_empty_page_can_have_a_next(counting: tuple[Store, Counter[str]]) -> None:
    """Filters count for nothing: pages are filled within `max_pages`, or end short with a `next` that makes headway."""
    store, sent = counting
    last = Order.key(user_id="u1").where(Order.status == "SENT").where(Order.order_id > 2)
    assert numbers(store.page(last, size=2)) == [6]
    sent.clear()
    pages = forwards(store, last, size=1, max_pages=1)
    assert [numbers(page) for page in pages if page.items] == [[6]]
    assert numbers(pages[0]) == []
    assert sent == {"query": len(pages)}
    paid = Order.key(user_id="u1").where(Order.status == "PAID")
    assert both_ways(store, paid, size=2) == [[1, 3], [5]]
    assert [number for page in both_ways(store, paid, size=2, max_pages=1) for number in page] == [1, 3, 5]


def test_e7_a_count_goes_over_all_pages(counting: tuple[Store, Counter[str]]) -> None:
    """How many there are is asked by `count`, not by pages."""
    store, sent = counting
    assert store.count(Order.key(user_id="u1").where(Order.status == "PAID")) == 3
    assert sent == {"query": 1}


def test_the_range_may_move_on(counting: tuple[Store, Counter[str]]) -> None:
    """A place before the present range is its beginning, one after it the end, and neither is ever sent."""
    store, sent = counting
    paid = Order.by_status(user_id="u1", status="PAID")
    first = store.page(paid.gte(placed_at=day(1)), size=1)
    assert numbers(store.page(paid.gte(placed_at=day(1) + timedelta(hours=1)), size=1, cursor=first.next)) == [3]
    moved = store.page(paid.gte(placed_at=day(3)), size=1, cursor=first.next)
    assert (numbers(moved), moved.previous, moved.next) == ([5], None, None)
    later = store.page(paid.lte(placed_at=day(3)), size=2).next
    sent.clear()
    ended = store.page(paid.lte(placed_at=day(1)), size=2, cursor=later)
    assert (ended.items, ended.next, sent) == ((), None, {})
    assert numbers(store.page(paid.lte(placed_at=day(1)), size=2, cursor=ended.previous)) == [1]
    other = store.page(Order.by_status(user_id="u1", status="SENT"), size=1)
    with pytest.raises(BadCursor):
        store.page(Order.by_status(user_id="u1", status="SENT").descending(), size=1, cursor=other.next)
    with pytest.raises(BadCursor):
        store.page(Order.by_status(user_id="u2", status="SENT"), size=1, cursor=other.next)


def test_rows_may_come_and_go(counting: tuple[Store, Counter[str]]) -> None:
    """A page goes on although its last row was deleted, and shows what was put behind it meanwhile."""
    store, _ = counting
    orders = Order.key(user_id="u1")
    first = store.page(orders, size=2)
    index = store.page(BY_STATUS, size=2)
    store.delete_many([Order.at(user_id="u1", order_id=number) for number in (1, 2)])
    assert numbers(store.page(orders, size=2, cursor=first.next)) == [3, 4]
    assert numbers(store.page(BY_STATUS, size=2, cursor=index.next)) == [3, 5]
    assert store.page(orders, size=2, cursor=first.next).previous is not None


def test_several_queries_behind_one_cursor(counting: tuple[Store, Counter[str]]) -> None:
    """One after the other, merged, and several values: no request more than is needed, there and back."""
    store, sent = counting
    for on in (1, 2):
        store.create(order("u2", on=on, status="PAID"))
    paid: list[Query[Order]] = [Order.by_status(user_id=user, status="PAID") for user in ("u1", "u2")]
    sent.clear()
    assert [numbers(page) for page in forwards(store, *paid, size=2)] == [[1, 3], [5, 1], [2]]
    assert sent == {"query": 4}
    assert both_ways(store, *paid, size=3) == [[1, 3, 5], [1, 2]]
    sent.clear()
    merged = forwards(store, *paid, size=3, merged=True)
    assert [[(row.user_id, row.order_id) for row in page] for page in merged] == [
        [("u1", 1), ("u2", 1), ("u1", 3)],
        [("u2", 2), ("u1", 5)],
    ]
    assert sent == {"query": 4}
    assert both_ways(store, *[each.descending() for each in paid], size=1, merged=True) == [[5], [3], [2], [1], [1]]
    several = BY_STATUS.is_in(status=("SENT", "OPEN", "LOST", "PAID"))
    sent.clear()
    assert numbers(store.page(several, size=2)) == [4, 1]
    assert sent == {"query": 3}  # LOST, OPEN and PAID: SENT comes after them
    assert both_ways(store, several, size=4) == [[4, 1, 3, 5], [2, 6]]
    assert both_ways(store, several.descending(), size=5) == [[6, 2, 5, 3, 1], [4]]


def test_ties_of_merged_queries(backend: MakeStore) -> None:
    """More rows of one index key than a page asks for: none is given twice, and each request makes headway."""
    store = backend(app)
    for user in "abc":
        store.create_many([order(user) for _ in range(5)])
    for down in (False, True):
        queries = [Order.by_status(user_id=user, status="PENDING") for user in "aabc"]
        queries = [query.descending() for query in queries] if down else queries
        pages = forwards(store, *queries, size=1, max_pages=1, merged=True)
        rows = [(row.user_id, row.order_id) for page in pages for row in page]
        assert [user for user, _ in rows] == list("aaaaaaaaaabbbbbccccc")
        assert len(set(rows)) == 15
        back = backwards(store, pages[-1], *queries, size=1, max_pages=1, merged=True)
        assert [(row.user_id, row.order_id) for page in back for row in page] == rows


def test_pages_of_a_scan(counting: tuple[Store, Counter[str]]) -> None:
    """A scan is read in pages too, over everybody's items and hidden ones, forwards only."""
    store, _ = counting
    for max_pages in (1, 10):
        pages = forwards(store, Scan(Order), size=4, max_pages=max_pages)
        assert sorted(number for page in pages for number in numbers(page)) == [1, 2, 3, 4, 5, 6]
        assert {page.previous for page in pages} == {None}
    paid = forwards(store, Scan(Order, where=Order.status == "PAID"), size=2)
    assert sorted(number for page in paid for number in numbers(page)) == [1, 3, 5]


def test_strangers_in_the_range(backend: MakeStore) -> None:
    """Rows of no known kind are never a place: a page that ends among them goes on from the row before."""
    store = backend(app)
    store.put_many([Match(league="x", season=1, round_no=n, home="h") for n in range(1, 7)])
    for n in range(1, 6):
        write(store, {"PK": {"S": "#LEAGUE#x"}, "SK": {"S": f"#MATCH#000000000000000000{n}#?"}, "_et": {"S": "other"}})
    query = Match.key(league="x").where(Match.goals == 0)
    for size, most in ((1, 1), (2, 3), (6, 10)):
        pages = forwards(store, query, size=size, max_pages=most)
        assert [match.round_no for page in pages for match in page] == [1, 2, 3, 4, 5, 6]


def test_native_keys(backend: MakeStore) -> None:
    """Numbers as keys are places too, in the order of numbers."""
    store = backend(racks)
    store.put_many([Slot(rack=1, slot=slot) for slot in (-10, -9, 0, 9, 10, 100)])
    pages = forwards(store, Slot.key(rack=1).gte(slot=-9), size=2)
    assert [[each.slot for each in page] for page in pages] == [[-9, 0], [9, 10], [100]]
    assert [each.slot for page in backwards(store, pages[-1], Slot.key(rack=1).gte(slot=-9), size=2) for each in page]
    merged = forwards(store, Slot.key(rack=1), Slot.key(rack=1).gt(slot=5), size=4, merged=True)
    assert [each.slot for page in merged for each in page] == [-10, -9, 0, 9, 9, 10, 10, 100, 100]
