"""Whatever the rows, the query, the size and the patience: pages are the query, cut up, there and back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from singletable import BadCursor, Entity, Field, GlobalIndex, Key, Page, Query, Scan, Store, Table
from singletable.cursors import Cursor, Purpose, Signing, write
from singletable.operations.shapes import shape_of

gsi = GlobalIndex("GSI1")
desk = Table("desk", indexes=[gsi])
users = count(1)


class Task(Entity, table=desk, tag="task"):
    user: Field[str]
    number: Field[int]
    state: Field[str]
    weight: Field[int] = Field(default=0)

    key = Key(pk="#USER#{user}", sk="#TASK#{number}")
    by_state = Key(on=gsi, pk="#TASKS#{user}", sk="#{state}#{weight}")


class Step(Entity, table=desk, tag="step"):
    user: Field[str]
    number: Field[int]
    text: Field[str]

    key = Key(within=Task.key, sk="#STEP#{text}")


class Secret(Entity, table=desk, tag="secret"):
    user: Field[str]
    name: Field[str]

    key = Key(pk="#USER#{user}", sk="#SECRET#{name}")
    by_name = Key(on=gsi, pk="#SECRETS#{user}", sk="#{name}")


@pytest.fixture(scope="module")
def store() -> Store:
    """Give one store for all examples, each of which has users of its own."""
    return Store.local(desk)


tasks = st.lists(
    st.tuples(st.sampled_from("ABC"), st.integers(0, 1), st.integers(0, 2)), max_size=9
)  # state, weight, and how many steps stand below
MAKERS: dict[str, Callable[[str, str], tuple[Query[Task], ...]]] = {
    "all": lambda u, v: (Task.key(user=u),),
    "range": lambda u, v: (Task.key(user=u).between(number=(2, 6)),),
    "filter": lambda u, v: (Task.key(user=u).where(Task.weight == 1),),
    "index": lambda u, v: (Task.by_state(user=u),),
    "node": lambda u, v: (Task.by_state(user=u, state="B").where(Task.number > 2),),
    "several": lambda u, v: (Task.by_state(user=u).is_in(state=("C", "A")),),
    "numbers": lambda u, v: (Task.key(user=u).is_in(number=(7, 2, 3)),),
    "two": lambda u, v: (Task.by_state(user=u), Task.by_state(user=v, state="A")),
    "twice": lambda u, v: (Task.by_state(user=u), Task.by_state(user=u).gte(state="B")),
    "lists": lambda u, v: (Task.key(user=u).is_in(number=(1, 5)), Task.key(user=v), Task.key(user="nobody")),
}


def filled(store: Store, rows: list[tuple[str, int, int]]) -> tuple[str, str]:
    """Store tasks of two new users, with steps below some, and a secret beside them."""
    pair = f"u{next(users)}", f"u{next(users)}"
    for number, (state, weight, steps) in enumerate(rows):
        user = pair[number % 3 == 2]
        store.put(Task(user=user, number=number, state=state, weight=weight))
        for step in range(steps):
            store.put(Step(user=user, number=number, text=str(step)))
    store.put_many([Secret(user=user, name="S") for user in pair])
    return pair


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    rows=tasks,
    name=st.sampled_from(sorted(MAKERS)),
    down=st.booleans(),
    size=st.integers(1, 5),
    most=st.sampled_from((1, 2, 10)),
    merged=st.booleans(),
)
def test_pages_are_the_query(
    store: Store, *, rows: list[tuple[str, int, int]], name: str, down: bool, size: int, most: int, merged: bool
) -> None:
    """All pages after another are what `query` gives, forwards and backwards; only a filter makes one short."""
    queries = MAKERS[name](*filled(store, rows))
    queries = tuple(query.descending() for query in queries) if down else queries
    options: dict[str, Any] = {"size": size, "max_pages": most, "merged": merged}
    whole: list[Task] = store.query(*queries, merged=merged).all()
    pages: list[Page[Task]] = [store.page(*queries, **options)]
    while pages[-1].next is not None:
        pages.append(store.page(*queries, cursor=pages[-1].next, **options))
        assert len(pages) < 80
    assert [task for page in pages for task in page] == whole
    assert all(len(page) <= size for page in pages)
    assert pages[0].previous is None
    if most == 10:
        assert all(len(page) == size for page in pages[:-1])
    back = [pages[-1]]
    while back[-1].previous is not None:
        back.append(store.page(*queries, cursor=back[-1].previous, **options))
        assert len(back) < 80
    assert [task for page in reversed(back) for task in page] == whole


TEXTS = ("", "0", "3", "0000000000000000003", "A", "#", "A#1", "!SEQ", "task", "step", "secret", "S", "$", "%23", "u1")
pieces = st.sampled_from(TEXTS) | st.text(max_size=3)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(MAKERS)),
    query=st.integers(0, 3),
    place=st.none() | st.lists(st.none() | pieces, max_size=4).map(tuple),
    backward=st.booleans(),
    merged=st.booleans(),
)
def test_a_forged_place_reads_nothing_else(
    store: Store, *, name: str, query: int, place: tuple[str | None, ...] | None, backward: bool, merged: bool
) -> None:
    """An unsigned cursor that a stranger wrote is refused, or gives rows that the query itself gives."""
    rows = [("A", 0, 1), ("B", 1, 0), ("C", 1, 2), ("A", 1, 0), ("B", 0, 0)]
    queries = MAKERS[name](*filled(store, rows))
    merged = merged and len(queries) > 1
    forged = _forged(store, queries, Cursor(query, place, backward), merged=merged)
    with suppress(BadCursor):
        page = store.page(*queries, size=3, cursor=forged, merged=merged)
        whole = store.query(*queries, merged=merged).all()
        assert all(task in whole for task in page)


def _forged(store: Store, queries: tuple[Any, ...], cursor: Cursor, *, merged: bool) -> str:
    shape = shape_of(store._verbs.context, queries, merged=merged)
    return write(cursor, Purpose(shape), Signing(), 0.0)


@pytest.mark.parametrize(
    "place",
    [
        ("secret", "S"),  # another entity, beside the range: no key of it lies in it
        ("", "!SEQ#task.number"),
        ("", "3"),  # a number in another spelling
        ("", "0000000000000000003", "0"),
        ("task", "0000000000000000003"),  # the only kind has no name
        ("step", "0000000000000000003"),
        ("step", "0000000000000000003", ""),
        (),
        (None,),
        (None, "0000000000000000003"),
        ("", None),
    ],
    ids=repr,
)
def test_places_that_no_row_has(store: Store, place: tuple[str | None, ...]) -> None:
    """What no template of the table writes in the query's range is refused, or is the end of the range."""
    user, _ = filled(store, [("A", 0, 0), ("A", 0, 1)])
    query = Task.key(user=user)
    forged = _forged(store, (query,), Cursor(0, place), merged=False)
    if place[:1] == ("secret",):
        assert store.page(query, size=1, cursor=forged).previous is None  # before the range: its beginning
        return
    with pytest.raises(BadCursor, match="position"):
        store.page(query, size=1, cursor=forged)


def test_a_scan_goes_forwards_only(store: Store) -> None:
    """A cursor that turns a scan round was never given out."""
    forged = _forged(store, (Scan(Task),), Cursor(0, None, backward=True), merged=False)
    with pytest.raises(BadCursor, match="position"):
        store.page(Scan(Task), size=1, cursor=forged)
