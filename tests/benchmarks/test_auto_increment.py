"""The benchmark of auto-increment, with few numbers and no delay: what is counted is right; no time is asserted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from xml.etree import ElementTree as ET

import pytest

from benchmarks.auto_increment import CELLS, compared
from benchmarks.chart import chart
from benchmarks.measuring import Sample, Window
from benchmarks.report import Cell, Row, as_json, as_markdown, as_text, row

ALONE_FEW, TOGETHER_FEW = (Window(seconds=0.0, warm_up=0.0, least=least) for least in (20, 5))
BY_NAME: Mapping[tuple[str, str], Cell] = {cell.name: cell for cell in CELLS}

ALONE = {
    "hand-written counter": 2.0,  # the update and the put
    "counter": 2.0,
    "counter, block=10": 1.1,  # 20 puts and 2 updates
    "counter, block=50": 1.05,  # 20 puts and 1 update
    "hand-written sort key": 2.0,  # the query and the put
    "sort_key": 1.1,  # 20 puts and 2 queries, for the first number and after twelve
    "gapless": 1.1,  # 20 transactions and 2 reads of the counter
}


def found(url: str, window: Window, *names: tuple[str, str]) -> dict[tuple[str, str], Row]:
    """Measure some cells once and give their rows by name."""
    rows = compared(url, [BY_NAME[name] for name in names], window=window, round_trip=0.0, rounds=1)
    return {(each.strategy, each.form): each for each in rows}


def sample(per_second: float, requests: float, *latencies: float, failed: int = 0) -> Sample:
    """Give what one round may have come to."""
    return Sample(per_second, requests, latencies, Counter({"SequenceContention": failed} if failed else {}), 0)


def test_a_lone_writer_sends_what_is_worked_out_by_hand(dynoxide_url: str) -> None:
    """Twenty numbers of one writer cost exactly the requests that each strategy says."""
    rows = found(dynoxide_url, ALONE_FEW, *((strategy, "1 thread") for strategy in ALONE))
    assert {strategy: round(each.requests, 9) for (strategy, _), each in rows.items()} == ALONE
    assert {each.numbers for each in rows.values()} == {20}
    assert [each for each in rows.values() if each.failures or each.duplicates or each.missed] == []


@pytest.mark.parametrize("form", ["16 threads", "16 tasks"])
def test_writers_of_one_process_do_not_race(form: str, dynoxide_url: str) -> None:
    """Sixteen threads, and sixteen tasks, stay within the targets and draw nothing twice."""
    strategies = ("counter", "counter, block=50", "sort_key", "gapless")
    rows = found(dynoxide_url, TOGETHER_FEW, *((strategy, form) for strategy in strategies))
    assert [each for each in rows.values() if each.failures or each.duplicates] == []
    assert rows["counter", form].requests == 2.0
    assert rows["counter, block=50", form].requests <= 1.05
    assert rows["sort_key", form].requests <= 1.1
    assert rows["gapless", form].requests <= 1.2  # no target; the counter is read again after twelve numbers


@pytest.mark.slow
def test_writers_of_several_processes_are_counted_together(dynoxide_url: str) -> None:
    """Four processes of four threads count every number of all, and a counter costs two requests there too."""
    name = ("counter", "4 processes x 4 threads")
    each = found(dynoxide_url, TOGETHER_FEW, name)[name]
    assert each.numbers >= 80
    assert (each.requests, each.duplicates, dict(each.failures)) == (2.0, 0, {})


def test_rounds_are_summed_up() -> None:
    """The rate and the ratio are medians of the rounds, the requests and latencies those of all numbers."""
    cell = BY_NAME["sort_key", "16 threads"]
    own = [sample(30.0, 1.0, 0.1, 0.2, 0.3), sample(10.0, 2.0, 0.4, failed=2), sample(20.0, 1.0)]
    each = row(cell, own, [sample(10.0, 15.0), sample(20.0, 15.0), sample(10.0, 15.0)])
    assert (each.per_second, each.ratio, each.requests, each.numbers) == (20.0, 2.0, 1.25, 4)
    assert (each.p50, each.p99, dict(each.failures)) == (200.0, 400.0, {"SequenceContention": 2})


def test_a_missed_target_is_said() -> None:
    """More requests than the target are called missed, in the text and in JSON; just as many are not."""
    cell = BY_NAME["sort_key", "16 threads"]
    over, just = (row(cell, [sample(1.0, requests, 0.1)], []) for requests in (1.11, 1.1))
    assert [line.endswith("at most 1.1: target missed") for line in as_text([over, just])] == [False, True, False]
    assert [each["missed"] for each in as_json([over, just], {})["rows"]] == [True, False]
    assert list(as_markdown([just]))[2] == "| 16 threads | sort_key | 1.0 |  | 1.10 | 100 | 100 | 0 | at most 1.1 |"


def test_the_chart_has_a_bar_for_each_figure() -> None:
    """The chart is XML, and its bars are as long as the figures are large."""
    cells = [BY_NAME["hand-written sort key", "16 threads"], BY_NAME["sort_key", "16 threads"]]
    rows = [row(cells[0], [sample(20.0, 16.0, 0.1)], []), row(cells[1], [sample(40.0, 1.0, 0.1)], [])]
    bars = [
        (shape.get("class"), shape.get("width"))
        for shape in ET.fromstring(chart(rows, 20.0)).iter("{http://www.w3.org/2000/svg}rect")
        if shape.get("height") == "16"
    ]
    assert bars == [("theirs", "230.0"), ("ours", "460.0"), ("theirs", "460.0"), ("ours", "28.8")]
