"""Pages over every kind of key, on the embedded engine: the only one that knows keys of several attributes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from singletable import Query, Store
from tests.unit.operations.test_places import Cat, Dog, Team, zoo


def walked(store: Store, *queries: Query[Any], **options: Any) -> list[list[Any]]:
    """Take all pages."""
    pages = [store.page(*queries, **options)]
    while pages[-1].next is not None:
        pages.append(store.page(*queries, cursor=pages[-1].next, **options))
        assert len(pages) < 40
    back = [pages[-1]]
    while back[-1].previous is not None:
        back.append(store.page(*queries, cursor=back[-1].previous, **options))
        assert len(back) < 40
    assert [row for page in reversed(back) for row in page] == [row for page in pages for row in page]
    return [list(page) for page in pages]


@pytest.fixture(scope="module")
def store() -> Store:
    """Give a store with teams of two leagues, dogs and cats."""
    made = Store.local(zoo)
    for at, (league, goals) in enumerate((("L", 2), ("L", 10), ("L", 2), ("M", 2), ("M", 3), ("L", 3), ("M", 10))):
        made.put(Team(league=league, team=f"T{at}", goals=goals))
    for at, city in enumerate((None, "A", None, "B", None)):
        made.put(Dog(house="h", name=f"D{at}", city=city))
        made.put(Cat(house="h", name=f"C{at}", lives=at % 2))
    return made


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
def test_pages_of_every_kind_of_key(store: Store, size: int, down: bool) -> None:
    """Local, inverted and native keys, descending parts, ties: the pages are the query, merged and one by one."""
    asked: list[tuple[Query[Any], ...]] = [
        (Team.by_goals(league="L"), Team.by_goals(league="M")),
        (Team.by_goals(league="L", goals=2), Team.by_goals(league="M").gte(goals=2)),
        (Team.by_goals(league="L").is_in(goals=(3, 2)),),
        (Dog.by_city(house="h"),),
        (Dog.reversed(name="D1"),),
        (Cat.by_lives(house="h"), Cat.by_lives(house="nobody")),
        (Cat.key(house="h"), Dog.key(house="h")),
    ]
    for queries in asked:
        turned = tuple(query.descending() for query in queries) if down else queries
        for merged in (False, True):
            rows = store.query(*turned, merged=merged).all()
            pages = walked(store, *turned, size=size, merged=merged)
            assert [row for page in pages for row in page] == rows


@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
def test_ties_of_keys_of_several_attributes(down: bool) -> None:
    """More rows of one index key than a page asks for are passed over, though no range can be cut there."""
    store = Store.local(zoo)
    for league in "LMN":
        store.put_many([Team(league=league, team=team, goals=2, pot=Decimal(pot)) for team in "AB" for pot in range(5)])
    queries = [Team.by_goals(league=league) for league in "LMN"]
    queries = [query.descending() for query in queries] if down else queries
    wanted = [(league, team) for team in ("BA" if down else "AB") for league in "LMN" for _ in range(5)]
    for size in (1, 2, 7):
        pages = walked(store, *queries, size=size, merged=True, max_pages=1)
        rows = [row for page in pages for row in page]
        assert [(row.league, row.team) for row in rows] == wanted
        assert len({(row.league, row.team, row.pot) for row in rows}) == 30
