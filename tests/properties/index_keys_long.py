"""The long run: random operations in episodes, each on a new table, until the count is reached or something is found.

    python -m tests.properties.index_keys_long --engine dynoxide --operations 100000 --seed 1

A finding is printed with its seed, and made as small as it gets with `--shrink`.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import count

from singletable import Store
from tests.contract.behind import REGION, session
from tests.engines import DYNOXIDE, find, running
from tests.properties.index_keys_driver import Report, perform, smallest
from tests.properties.index_keys_entities import table

EPISODE = 200
"""Steps on one table: tombstones and tickets add up, and each check reads all of it."""


@contextmanager
def stores(engine: str) -> Generator[Callable[[], Store]]:
    """Give a maker of stores on new tables of an engine."""
    if engine == "moto":
        yield lambda: Store.local(table)
        return
    with running(DYNOXIDE, find(DYNOXIDE)) as url:
        yield maker_at(url)


def maker_at(url: str, name: str = "follow") -> Callable[[], Store]:
    """Make a maker of stores on new tables of the engine that listens there."""
    numbers, made = count(), list[Store]()

    def make() -> Store:
        while made:
            made.pop().delete_table()
        store = Store(table, name=f"{name}-{next(numbers)}", endpoint_url=url, region=REGION, session=session())
        store.create_table()
        made.append(store)
        return store

    return make


def episodes(make: Callable[[], Store], seed: int, operations: int, every: int) -> Iterator[tuple[str, Report]]:
    """Run episode after episode until the writes are so many or something is found."""
    done = 0
    for number in count():
        name = f"{seed}.{number}"
        report = perform(make(), name, range(EPISODE), every)
        done += report.writes
        yield name, report
        if done >= operations or report.finding is not None:
            return


def main() -> int:
    """Run as the command line says; 1 where anything was found."""
    parser = ArgumentParser(description="Random operations against a pure model: index keys follow every write.")
    parser.add_argument("--engine", choices=("moto", "dynoxide"), default="dynoxide")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=5, help="check all items after so many steps")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop then")
    parser.add_argument("--shrink", action="store_true", help="make a finding small")
    options = parser.parse_args()
    begun, writes, steps, shown, found = time.monotonic(), 0, 0, 0, False
    with stores(options.engine) as make:
        for name, report in episodes(make, options.seed, options.operations, options.every):
            writes, steps, spent = writes + report.writes, steps + report.steps, time.monotonic() - begun
            found = report.finding is not None
            if found:
                print(f"seed {name}, step {report.steps}: {report.finding}")
                if options.shrink:
                    left = smallest(make, name, report.steps + 1)
                    print(f"steps {left}: {perform(make(), name, left).finding}")
            if spent > options.seconds or found:
                break
            if writes // 5000 > shown:
                shown = writes // 5000
                print(f"{writes} writes, {steps} steps, {spent:.0f} s", flush=True)
    print(f"{options.engine}, seed {options.seed}: {writes} writes in {steps} steps, {time.monotonic() - begun:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
