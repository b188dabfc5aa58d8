"""Every way to narrow a query on its sort key, on rows whose neighbours begin alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from singletable import MissingPart, PartHole, Query, QueryError, Store, UnknownPart
from tests.contract.behind import CountingClient, client_of, sibling
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, OrderLine, Region, User, app, day, order

AJAX, BAYER, BAYERN, CELTIC = (2024, 1, "ajax"), (2024, 2, "bayer"), (2024, 2, "bayern"), (2024, 10, "celtic")
LATER_AJAX, BENFICA = (2025, 1, "ajax"), (2025, 2, "benfica")
OLD, NEW = [AJAX, BAYER, BAYERN, CELTIC], [LATER_AJAX, BENFICA]
ALL = OLD + NEW

SI, SICHUAN, SICHUAN2 = ("SI",), ("SICHUAN",), ("SICHUAN2",)
CHENGDU, WUHOU, MIANYANG = ("SICHUAN", "CHENGDU"), ("SICHUAN", "CHENGDU", "WUHOU"), ("SICHUAN", "MIANYANG")
TREE = [(), SI, SICHUAN, CHENGDU, WUHOU, MIANYANG, SICHUAN2]

league = Match.key
country = Region.key


def rounds(store: Store, query: Query[Match]) -> list[tuple[int, int, str]]:
    """Give the matches a query finds, each by the parts of its sort key."""
    return [(match.season, match.round_no, match.home) for match in store.query(query)]


def with_matches(make: MakeStore) -> Store:
    """Store six matches of league L in no order, and one of each league whose name begins or ends alike."""
    store = make(app)
    rows = [("L", *row) for row in reversed(ALL)] + [(other, *AJAX) for other in ("L1", "LL", "l")]
    store.put_many(
        Match(league=name, season=season, round_no=round_no, home=home) for name, season, round_no, home in rows
    )
    return store


CASES: dict[str, tuple[Query[Match], list[tuple[int, int, str]]]] = {
    "partition": (league(league="L"), ALL),
    "one part": (league(league="L", season=2024), OLD),
    "one part, none there": (league(league="L", season=2023), []),
    "two parts": (league(league="L", season=2024, round_no=2), [BAYER, BAYERN]),
    "part of a number": (league(league="L", season=2024, round_no=1), [AJAX]),
    "all parts": (league(league="L", season=2024, round_no=2, home="bayer"), [BAYER]),
    "all parts, a mere prefix": (league(league="L", season=2024, round_no=2, home="baye"), []),
    "begins_with": (league(league="L", season=2024, round_no=2).begins_with(home="bayer"), [BAYER, BAYERN]),
    "begins_with, longer": (league(league="L", season=2024, round_no=2).begins_with(home="bayern"), [BAYERN]),
    "begins_with, whole parts": (league(league="L").begins_with(season=2025, round_no=2, home="b"), [BENFICA]),
    "between": (league(league="L").between(season=(2024, 2024)), OLD),
    "between, second part": (league(league="L", season=2024).between(round_no=(2, 10)), [BAYER, BAYERN, CELTIC]),
    "between, text": (
        league(league="L", season=2024, round_no=2).between(home=("a", "bayer")),
        [BAYER],
    ),
    "between, low above high": (league(league="L").between(season=(2025, 2024)), []),
    "gt": (league(league="L", season=2024).gt(round_no=2), [CELTIC]),
    "gt, first part": (league(league="L").gt(season=2024), NEW),
    "gte": (league(league="L", season=2024).gte(round_no=2), [BAYER, BAYERN, CELTIC]),
    "lt": (league(league="L", season=2024).lt(round_no=2), [AJAX]),
    "lt, first part": (league(league="L").lt(season=2025), OLD),
    "lt, text": (league(league="L", season=2024, round_no=2).lt(home="bayern"), [BAYER]),
    "lte": (league(league="L", season=2024).lte(round_no=2), [AJAX, BAYER, BAYERN]),
    "lte, text": (league(league="L", season=2024, round_no=2).lte(home="bayer"), [BAYER]),
    "gte lt": (league(league="L", season=2024).gte(round_no=2).lt(round_no=10), [BAYER, BAYERN]),
    "gt lte": (league(league="L", season=2024).gt(round_no=1).lte(round_no=10), [BAYER, BAYERN, CELTIC]),
    "upper first": (league(league="L", season=2024).lte(round_no=2).gt(round_no=1), [BAYER, BAYERN]),
    "gt lt, nothing between": (league(league="L").gt(season=2024).lt(season=2025), []),
    "below": (league(league="L", season=2024, round_no=2).below(), [BAYER, BAYERN]),
    "below, depth 1": (league(league="L", season=2024).below(depth=1), []),
    "below, depth 2": (league(league="L", season=2024).below(depth=2), OLD),
    "descending": (league(league="L", season=2024).descending(), [CELTIC, BAYERN, BAYER, AJAX]),
    "descending range": (league(league="L").gt(season=2024).descending(), [BENFICA, LATER_AJAX]),
    "limit": (league(league="L").limit(2), [AJAX, BAYER]),
    "limit, descending": (league(league="L").descending().limit(2), [BENFICA, LATER_AJAX]),
    "limit, more than there are": (league(league="L", season=2025).limit(9), NEW),
    "consistent": (league(league="L", season=2025).consistent(), NEW),
}


def test_every_range_of_a_key_gives_its_rows_in_order(backend: MakeStore) -> None:
    """Each helper gives exactly the rows worked out by hand, in the key's order; count and first agree with them."""
    store = with_matches(backend)
    for what, (query, expected) in CASES.items():
        assert rounds(store, query) == expected, what
        assert store.count(query) == len(expected), what
        first = store.first(query)
        found = None if first is None else (first.season, first.round_no, first.home)
        assert found == (expected[0] if expected else None), what


PATHS: dict[str, tuple[Query[Region], list[tuple[str, ...]]]] = {
    "country": (country(country="CN"), TREE),
    "node": (country(country="CN", path=SICHUAN), [SICHUAN, CHENGDU, WUHOU, MIANYANG]),
    "leaf": (country(country="CN", path=WUHOU), [WUHOU]),
    "root": (country(country="CN", path=()), TREE),
    "below node": (country(country="CN", path=SICHUAN).below(), [CHENGDU, WUHOU, MIANYANG]),
    "below node, one level": (country(country="CN", path=SICHUAN).below(depth=1), [CHENGDU, MIANYANG]),
    "below node, two levels": (country(country="CN", path=SICHUAN).below(depth=2), [CHENGDU, WUHOU, MIANYANG]),
    "below the country, one level": (country(country="CN").below(depth=1), [SI, SICHUAN, SICHUAN2]),
    "below a leaf": (country(country="CN", path=WUHOU).below(), []),
    "prefix of a name": (
        country(country="CN").begins_with(path=SICHUAN),
        [SICHUAN, CHENGDU, WUHOU, MIANYANG, SICHUAN2],
    ),
    "prefix below a node": (country(country="CN").begins_with(path=("SICHUAN", "C")), [CHENGDU, WUHOU]),
    "between nodes": (country(country="CN").between(path=(SI, SICHUAN)), [SI, SICHUAN, CHENGDU, WUHOU, MIANYANG]),
    "after a subtree": (country(country="CN").gt(path=SICHUAN), [SICHUAN2]),
    "before a node": (country(country="CN").lt(path=SICHUAN), [(), SI]),
    "limit after depth": (country(country="CN", path=SICHUAN).below(depth=1).limit(2), [CHENGDU, MIANYANG]),
    "depth from the end": (country(country="CN", path=SICHUAN).below(depth=1).descending(), [MIANYANG, CHENGDU]),
}


def test_every_range_of_a_path_gives_its_rows_in_order(backend: MakeStore) -> None:
    """Node, subtree, descendants and levels of a hierarchy are exact; a name that begins alike is no child."""
    store = backend(app)
    store.put_many(Region(country="CN", path=path, name="x") for path in TREE)
    store.put_many(Region(country="C", path=path, name="x") for path in (SICHUAN, CHENGDU))
    for what, (query, expected) in PATHS.items():
        assert [region.path for region in store.query(query)] == expected, what
        assert store.count(query) == len(expected), what


def test_a_composite_index_key_is_ranged_over(backend: MakeStore) -> None:
    """Status and date in one index key: whole status, a status that begins alike, dates from, to and by prefix."""
    store = backend(app)
    for number, status in ((1, "PENDING"), (2, "PAID"), (3, "PENDING"), (4, "PENDING2"), (9, "PENDING")):
        store.create(order(on=number, status=status))
    store.create(order("u10", on=3))
    mine = Order.by_status(user_id="u1", status="PENDING")
    days: dict[str, tuple[Query[Order], list[int]]] = {
        "pattern": (Order.pending(user_id="u1"), [9, 3, 1]),
        "all of a user": (Order.by_status(user_id="u1"), [2, 1, 3, 9, 4]),
        "status": (mine, [1, 3, 9]),
        "status prefix": (Order.by_status(user_id="u1").begins_with(status="PEN"), [1, 3, 9, 4]),
        "from": (mine.gte(placed_at=day(3)), [3, 9]),
        "after": (mine.gt(placed_at=day(3)), [9]),
        "until": (mine.lte(placed_at=day(3)), [1, 3]),
        "from to": (mine.between(placed_at=(day(1), day(3))), [1, 3]),
        "a month": (mine.begins_with(placed_at="2026-12"), [1, 3, 9]),
        "ten days": (mine.begins_with(placed_at="2026-12-0").descending().limit(2), [9, 3]),
        "another month": (mine.begins_with(placed_at="2026-11"), []),
        "one moment": (Order.by_status(user_id="u1", status="PENDING", placed_at=day(9)), [9]),
    }
    for what, (query, expected) in days.items():
        assert [found.placed_at.day for found in store.query(query)] == expected, what
        assert store.count(query) == len(expected), what


def test_lines_stand_below_their_own_order(backend: MakeStore) -> None:
    """A child's query gives its parent's children alone, and a parent's query none of them."""
    store = backend(app)
    for _ in range(11):
        store.create(order())
    for number, lines in ((1, 2), (10, 1), (11, 3)):
        for line in range(1, lines + 1):
            store.create(OrderLine(user_id="u1", order_id=number, line_no=line, sku=f"{number}-{line}"))
    assert [line.sku for line in store.query(OrderLine.key(user_id="u1", order_id=1))] == ["1-1", "1-2"]
    assert [line.sku for line in store.query(OrderLine.key(user_id="u1", order_id=11).gt(line_no=1))] == [
        "11-2",
        "11-3",
    ]
    assert store.count(OrderLine.key(user_id="u1")) == 6
    assert [found.order_id for found in store.query(Order.key(user_id="u1"))] == list(range(1, 12))
    assert store.query(Order.key(user_id="u1", order_id=1)).all() == [store.one(Order.at(user_id="u1", order_id=1))]
    assert store.count(Order.key(user_id="u1").between(order_id=(10, 11))) == 2
    assert store.query(User.key(user_id="u1")).all() == []


def test_rows_are_read_anew_each_time(backend: MakeStore) -> None:
    """Rows can be iterated over as often as one likes, and show what is stored then."""
    store = backend(app)
    rows = store.query(Order.key(user_id="u1"))
    assert rows.all() == []
    first = store.create(order())
    assert rows.all() == [first] == list(rows)


NO_CONDITION: Any = True

WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "index read consistently": (Order.pending(user_id="u1").consistent, QueryError, "GSI1"),
    "no partition part": (lambda: Order.by_status(status="PAID"), MissingPart, "user_id"),
    "None in the partition": (lambda: Order.by_status(user_id=None), MissingPart, "user_id"),
    "None in the sort key": (lambda: Order.by_status(user_id="u1", status=None), MissingPart, "status"),
    "hole": (lambda: league(league="L", round_no=2), PartHole, "season"),
    "hole before a range": (lambda: league(league="L").gte(round_no=2), PartHole, "season"),
    "hole before a prefix": (lambda: league(league="L").begins_with(home="b"), PartHole, "season"),
    "unknown part": (lambda: league(league="L", seasn=2024), UnknownPart, "did you mean 'season'"),
    "unknown part of a range": (lambda: league(league="L").gte(seasn=2024), UnknownPart, "season"),
    "two ranges": (league(league="L").gte(season=1).begins_with, QueryError, "begins_with"),
    "two lower bounds": (lambda: league(league="L").gte(season=1).gt(season=2), QueryError, "combine"),
    "two parts in one range": (lambda: league(league="L").gte(season=1, round_no=2), QueryError, "2 parts"),
    "limit 0": (lambda: league(league="L").limit(0), QueryError, "above 0"),
    "depth 0": (lambda: country(country="CN").below(depth=0), QueryError, "above 0"),
    "a filter that is no condition": (lambda: league(league="L").where(NO_CONDITION), QueryError, "condition"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_query_that_cannot_be_raises_where_it_is_written(what: str) -> None:
    """What DynamoDB could not answer, or only by a wider query, is refused with the part's name."""
    make, error, says = WRONG[what]
    with pytest.raises(error, match=says):
        make()


def test_a_range_that_holds_nothing_is_not_sent(backend: MakeStore) -> None:
    """An empty range is an empty answer without a request, for rows, first and count."""
    store = backend(app)
    counting = CountingClient(client_of(store))
    counted = sibling(store, client=counting)
    nothing = league(league="L").between(season=(2, 1))
    assert (counted.query(nothing).all(), counted.first(nothing), counted.count(nothing)) == ([], None, 0)
    assert not counting.calls
