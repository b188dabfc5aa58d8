"""Compare singletable's ways to draw numbers with the source document's programs, far from the engine.

    python -m benchmarks.auto_increment --json FILE --chart FILE.svg --markdown

Each strategy and form is measured once a round, in an order that is turned round every time, and compared with the
hand-written program of the same round. Exit code 1: a target was missed, a number was drawn twice, or a draw failed.
"""

from __future__ import annotations

import json
import sys
import uuid
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.chart import chart
from benchmarks.measuring import FORMS, Sample, Window, measured, process_pool
from benchmarks.report import Cell, Row, as_json, as_markdown, as_text, row
from benchmarks.strategies import BY_COUNTER, BY_SORT_KEY, STRATEGIES, Place, create_table
from tests.engines import DYNOXIDE, find, running

__all__ = ["CELLS", "compared", "main"]

IN_PROCESSES = (BY_COUNTER, "counter", BY_SORT_KEY, "sort_key")


def _cells() -> tuple[Cell, ...]:
    """List what is measured: everything in threads, what many processes share, and what can be awaited."""
    found: list[Cell] = []
    for form in FORMS:
        for strategy in STRATEGIES.values():
            if form.processes > 1 and strategy.name not in IN_PROCESSES:
                continue
            if form.tasks and strategy.kind is None:
                continue
            found.append(Cell(strategy, form, (strategy.peer, "16 threads" if form.tasks else form.name)))
    return tuple(found)


CELLS = _cells()


def compared(
    url: str,
    cells: Sequence[Cell],
    *,
    window: Window,
    round_trip: float,
    rounds: int,
    told: Callable[[str], object] = lambda _: None,
) -> list[Row]:
    """Measure cells in several rounds and give a row for each, in their order."""
    samples: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    with process_pool(max(form.processes for form in FORMS)) as pool:
        for turn in range(rounds):
            for cell in cells if turn % 2 == 0 else reversed(cells):
                place = Place(url, f"bench-{uuid.uuid4().hex}", round_trip)
                create_table(cell.strategy, place)
                sample = measured(cell.strategy.name, cell.form, place, window, pool)
                samples[cell.name].append(sample)
                told(f"round {turn + 1}, {cell.form.name}, {cell.strategy.name}: {sample.per_second:.1f} numbers/s")
    return [row(cell, samples[cell.name], samples.get(cell.peer, [])) for cell in cells]


def arguments(given: Sequence[str]) -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(prog="python -m benchmarks.auto_increment", description="Measure ways to draw numbers.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5, help="how long each is measured in a round")
    parser.add_argument("--round-trip", type=float, default=20.0, help="milliseconds added to each request")
    parser.add_argument("--only", choices=[form.name for form in FORMS], help="one form of writers")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    parser.add_argument("--chart", type=Path, metavar="FILE.svg", help="draw what was measured")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Measure, print the table, and write what is asked for; 1 where something is not as it should be."""
    options = arguments(given)
    cells = [cell for cell in CELLS if options.only in (None, cell.form.name)]
    with running(DYNOXIDE, find(DYNOXIDE)) as url:
        rows = compared(
            url,
            cells,
            window=Window(options.seconds),
            round_trip=options.round_trip / 1000,
            rounds=options.rounds,
            told=lambda line: print(line, file=sys.stderr, flush=True),
        )
    print("\n".join(as_markdown(rows) if options.markdown else as_text(rows)))
    if options.json is not None:
        how = {"rounds": options.rounds, "seconds": options.seconds, "round_trip_ms": options.round_trip}
        options.json.write_text(json.dumps(as_json(rows, how), indent=2) + "\n", encoding="utf-8")
    if options.chart is not None:
        options.chart.write_text(chart(rows, options.round_trip), encoding="utf-8")
    return 1 if any(found.missed or found.duplicates or found.failures for found in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
