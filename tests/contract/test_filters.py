"""What is kept of the rows a range holds: conditions, limits after conditions, counts, and pages of 1 MB."""

from __future__ import annotations

import pytest

from singletable import Query, Store
from tests.contract.behind import CountingClient, client_of, sibling
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, app, order

league = Match.key(league="L")


def with_goals(make: MakeStore, count: int = 20) -> Store:
    """Store matches of rounds 1, 2, ...; a round's goals are its number modulo 5, every fourth has a note."""
    store = make(app)
    store.put_many(
        Match(
            league="L",
            season=2026,
            round_no=number,
            home="ajax",
            goals=number % 5,
            note=f"n{number}" if number % 4 == 0 else None,
            labels={"even"} if number % 2 == 0 else set(),
        )
        for number in range(1, count + 1)
    )
    return store


def found(store: Store, query: Query[Match]) -> list[int]:
    """Give the rounds of the matches that a query finds."""
    return [match.round_no for match in store.query(query)]


CASES: dict[str, tuple[Query[Match], list[int]]] = {
    "equal": (league.where(Match.goals == 4), [4, 9, 14, 19]),
    "unequal": (league.where(Match.goals != 0).limit(5), [1, 2, 3, 4, 6]),
    "above": (league.where(Match.goals > 3), [4, 9, 14, 19]),
    "at least": (league.where(Match.goals >= 4), [4, 9, 14, 19]),
    "less": (league.where(Match.goals < 1), [5, 10, 15, 20]),
    "at most": (league.where(Match.goals <= 0), [5, 10, 15, 20]),
    "between": (league.where(Match.goals.between(1, 2)).limit(3), [1, 2, 6]),
    "is_in": (league.where(Match.goals.is_in(0, 4)), [4, 5, 9, 10, 14, 15, 19, 20]),
    "exists": (league.where(Match.note.exists()), [4, 8, 12, 16, 20]),
    "does_not_exist": (league.where(Match.note.does_not_exist()).limit(4), [1, 2, 3, 5]),
    "None": (league.where(Match.note == None).descending().limit(2), [19, 18]),  # noqa: E711  # a condition
    "not None": (league.where(Match.note != None), [4, 8, 12, 16, 20]),  # noqa: E711  # a condition
    "startswith": (league.where(Match.note.startswith("n1")), [12, 16]),
    "contains text": (league.where(Match.note.contains("2")), [12, 20]),
    "contains member": (league.where(Match.labels.contains("even")).limit(3), [2, 4, 6]),
    "is_type": (league.where(Match.note.is_type("S")), [4, 8, 12, 16, 20]),
    "and": (league.where((Match.goals == 4) & Match.note.exists()), [4]),
    "or": (league.where((Match.goals == 4) | (Match.note == "n8")), [4, 8, 9, 14, 19]),
    "not": (league.where(~(Match.goals < 4)), [4, 9, 14, 19]),
    "two wheres": (league.where(Match.goals == 0).where(Match.note.exists()), [20]),
    "range and filter": (
        Match.key(league="L", season=2026).between(round_no=(5, 14)).where(Match.goals == 4),
        [9, 14],
    ),
    "limit and filter": (league.where(Match.goals == 4).limit(3), [4, 9, 14]),
    "limit and filter, backwards": (league.where(Match.goals == 4).descending().limit(3), [19, 14, 9]),
    "limit, filter, nothing": (league.where(Match.goals == 99).limit(1), []),
    "limit, filter, not enough": (league.where(Match.goals == 4).limit(9), [4, 9, 14, 19]),
    "limit without filter": (league.limit(7), [1, 2, 3, 4, 5, 6, 7]),
}


def test_every_condition_keeps_its_rows(backend: MakeStore) -> None:
    """A filter keeps exactly the rows worked out by hand; limit counts what is kept; count and first agree."""
    store = with_goals(backend)
    for what, (query, expected) in CASES.items():
        assert found(store, query) == expected, what
        assert store.count(query) == len(expected), what
        first = store.first(query)
        assert (None if first is None else first.round_no) == (expected[0] if expected else None), what


def test_a_limited_query_without_filter_reads_no_more_rows(backend: MakeStore) -> None:
    """first() of rows nobody shares is one request for one row, not for a page."""
    store = with_goals(backend, 5)
    counting = CountingClient(client_of(store))
    counted = sibling(store, client=counting)
    first = counted.first(league)
    assert first is not None
    assert first.round_no == 1
    assert counting.calls == {"query": 1}


@pytest.mark.slow
def test_a_query_goes_on_over_pages_of_a_megabyte(backend: MakeStore) -> None:
    """Seven rows of 300 KB are more than two pages; all, count, limit, filter and backwards see each row once."""
    store = backend(app)
    for number in range(1, 8):
        store.put(Match(league="L", season=1, round_no=number, home="x", goals=number % 2, note="n" * 300_000))
    counting = CountingClient(client_of(store))
    counted = sibling(store, client=counting)
    assert found(counted, league) == [1, 2, 3, 4, 5, 6, 7]
    assert counting.calls["query"] >= 3
    assert counted.count(league) == 7
    assert found(counted, league.descending()) == [7, 6, 5, 4, 3, 2, 1]
    assert found(counted, league.limit(5)) == [1, 2, 3, 4, 5]
    assert counted.count(league.limit(5)) == 5
    assert found(counted, league.where(Match.goals == 1)) == [1, 3, 5, 7]
    assert found(counted, league.where(Match.goals == 1).limit(3)) == [1, 3, 5]
    assert counted.count(league.where(Match.goals == 0)) == 3


def test_a_page_can_be_left_early(backend: MakeStore) -> None:
    """Breaking out of rows sends nothing more, and the store goes on working."""
    store = with_goals(backend, 5)
    for match in store.query(league):
        assert match.round_no == 1
        break
    assert store.count(league) == 5


def test_numbered_rows_are_limited_without_tombstones(backend: MakeStore) -> None:
    """Limit counts living orders although deleted ones stand among them."""
    store = backend(app)
    orders = [store.create(order(on=number)) for number in range(1, 9)]
    for gone in orders[:6]:
        store.delete(gone)
    assert store.query(Order.key(user_id="u1").limit(1)).all() == [orders[6]]
    assert store.query(Order.key(user_id="u1").descending().limit(5)).all() == [orders[7], orders[6]]
    assert store.count(Order.key(user_id="u1").limit(2)) == 2
    counting = CountingClient(client_of(store))
    assert sibling(store, client=counting).first(Order.key(user_id="u1")) == orders[6]
    assert counting.calls == {"query": 2}  # four rows are asked for, then eight
