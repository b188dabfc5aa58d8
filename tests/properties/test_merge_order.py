"""Merging: whatever the pages, the rows come in order, all of them, and no more than are wanted."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from singletable.operations.context import Context
from singletable.operations.merge import _Merged
from singletable.wire import Steps, Together
from tests.unit.operations.scripted import world

PAGES = st.lists(st.lists(st.integers(0, 20), max_size=4), max_size=5)
"""One source: its rows page by page, some of them empty."""


class Paged:
    """A source of rows that are numbers, in order, in pages of the given lengths."""

    def __init__(self, source: int, lengths: list[int], places: list[int]) -> None:
        self.pages: list[list[tuple[int, Any]]] = []
        for length in lengths:
            self.pages.append([(place, (place, source)) for place in places[:length]])
            places = places[length:]
        self.held = 0

    @property
    def done(self) -> bool:
        """Whether every page was given; one without pages says so only after it was asked, as a query does."""
        return not self.pages and self.held > 0

    def rows(self, context: Context) -> Steps[list[tuple[int, Any]]]:
        """Give the next page."""
        yield Together((), context.workers)
        self.held += 1
        return self.pages.pop(0) if self.pages else []

    def steps(self, context: Context) -> Steps[Any]:
        """Give the next page's rows alone."""
        return [row for _, row in (yield from self.rows(context))]


def finished(flow: Steps[Any]) -> Any:
    """Run a flow that asks for nothing but other flows."""
    result: Any = None
    try:
        while True:
            effect = flow.send(result)
            assert isinstance(effect, Together)
            result = [finished(each) for each in effect.flows]
    except StopIteration as done:
        return done.value


@given(sources=st.lists(PAGES, max_size=4), ascending=st.booleans(), most=st.none() | st.integers(1, 12))
def test_merged_is_sorted(sources: list[list[list[int]]], ascending: bool, most: int | None) -> None:
    """Merging gives what sorting all rows at once would, ties in the order of the sources."""
    readings: list[Any] = []
    everything: list[tuple[int, int]] = []
    for number, pages in enumerate(sources):
        places = sorted((place for page in pages for place in page), reverse=not ascending)
        everything += [(place, number) for place in places]
        readings.append(Paged(number, [len(page) for page in pages], places))
    merged: _Merged[Any] = _Merged(readings, ascending, most)
    found: list[tuple[int, int]] = []
    while not merged.done:
        found += finished(merged.steps(world()))
    assert found == sorted(everything, key=lambda row: row[0], reverse=not ascending)[:most]
