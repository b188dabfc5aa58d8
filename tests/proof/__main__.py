"""The long run: each strategy under faults, many numbers, and a table of what came of it.

    python -m tests.proof --strategy all --writers threads --count 20000 --seed 1 --engine dynoxide

Each of three faults (a reply dropped after the engine did the work, an error 500, a throttling) has the chance that
`--faults` gives. What is wrong is printed below the table, and the exit code is 1 then.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from tests.engines import DYNALITE, DYNOXIDE, find, running
from tests.proof.proving import Report, Run, prove
from tests.proof.strategies import STRATEGIES
from tests.proof.writers import FORMS

ENGINES = {engine.name: engine for engine in (DYNOXIDE, DYNALITE)}
HEADS = (
    *("strategy", "numbers", "requests per number", "attempts", "duplicates", "out of order"),
    *("false failures", "otherwise wrong", "unknown", "run again", "holes", "failed", "seconds"),
)
SHOWN = 20
"""So many violations of one run are printed at most."""


def row(report: Report) -> tuple[object, ...]:
    """Give the cells of a report."""
    named = (report.count("duplicate"), report.count("order"), report.count("false failure", "failed, stored"))
    return (
        report.run.strategy,
        report.numbers,
        f"{report.requests:.2f}",
        report.sent,
        *named,
        len(report.violations) - sum(named),
        report.unknown,
        report.resumed,
        report.holes,
        ", ".join(f"{count} {error}" for error, count in sorted(report.errors.items())) or 0,
        f"{report.seconds:.1f}",
    )


def table(reports: Iterator[Report]) -> Iterator[str]:
    """Give the table line by line, in Markdown, and what is wrong after it."""
    wrong: list[str] = []
    found = 0
    yield "| " + " | ".join(HEADS) + " |"
    yield "|---" * len(HEADS) + "|"
    for report in reports:
        yield "| " + " | ".join(map(str, row(report))) + " |"
        found += len(report.violations)
        wrong += [f"{report.run.strategy}: {each}" for each in report.violations[:SHOWN]]
    yield ""
    yield f"{found} violations" + (f", the first {len(wrong)} of them:" if wrong else "")
    yield from wrong


def arguments(given: Sequence[str]) -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(prog="python -m tests.proof", description="Prove the promises of AutoIncrement.")
    parser.add_argument("--strategy", choices=["all", *STRATEGIES], default="all")
    parser.add_argument("--writers", choices=list(FORMS), default="threads")
    parser.add_argument("--count", type=int, default=20_000, help="creates for each strategy, by 16 writers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=list(ENGINES), default="dynoxide")
    parser.add_argument("--faults", type=float, default=0.05, help="the chance of each of the three faults")
    parser.add_argument("--attempts", type=int, default=4, help="how often a request is sent at most")
    parser.add_argument("--proxy", action="store_true", help="faults at the wire, behind clients with own retries")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Run what is asked for; 1 where something is wrong."""
    options, engine = arguments(given), ENGINES[arguments(given).engine]
    names = list(STRATEGIES) if options.strategy == "all" else [options.strategy]
    runs = [
        Run(
            name,
            options.writers,
            options.count,
            options.seed,
            options.faults,
            options.attempts,
            at_the_wire=options.proxy,
        )
        for name in names
    ]
    reports: list[Report] = []
    with running(engine, find(engine)) as url:
        for line in table(_kept(reports, (prove(run, url) for run in runs))):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return 1 if any(report.violations for report in reports) else 0


def _kept(into: list[Report], reports: Iterator[Report]) -> Iterator[Report]:
    for report in reports:
        into.append(report)
        yield report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
