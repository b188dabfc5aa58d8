"""What several rounds came to: one row for each strategy and form, as text, Markdown or JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.measuring import Form, Sample
from benchmarks.strategies import Strategy

__all__ = ["TARGETS", "Cell", "Row", "as_json", "as_markdown", "as_text", "percentile", "row"]

IN_ONE_PROCESS = ("1 thread", "4 threads", "16 threads", "16 tasks")
IN_FOUR = "4 processes x 4 threads"

TARGETS: Mapping[tuple[str, str], float] = {
    **{("counter", form): 2.0 for form in (*IN_ONE_PROCESS, IN_FOUR)},
    **{("counter, block=50", form): 1.05 for form in IN_ONE_PROCESS},
    ("sort_key", "16 threads"): 1.1,
    ("sort_key", IN_FOUR): 2.5,
}
"""As many requests may a number take at most, the put of its item counted."""

HEADS = (
    *("writers", "strategy", "numbers/s", "to hand-written", "requests per number"),
    *("p50 ms", "p99 ms", "failures", "target"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One strategy in one form, which is measured once a round; `peer` is what its rounds are compared with."""

    strategy: Strategy
    form: Form
    peer: tuple[str, str]

    @property
    def name(self) -> tuple[str, str]:
        """What tells it from the others."""
        return self.strategy.name, self.form.name


@dataclass(frozen=True, slots=True)
class Row:
    """What the rounds of one cell came to: medians of the rounds, and percentiles of all their numbers."""

    strategy: str
    form: str
    per_second: float
    ratio: float | None
    requests: float
    p50: float
    p99: float
    numbers: int
    failures: Counter[str]
    duplicates: int

    @property
    def target(self) -> float | None:
        """How many requests a number may take, where that is said."""
        return TARGETS.get((self.strategy, self.form))

    @property
    def missed(self) -> bool:
        """Whether a number took more than that."""
        return self.target is not None and self.requests > self.target


def percentile(values: Sequence[float], share: float) -> float:
    """Give the smallest value that so large a share of all does not exceed (nearest rank).

    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.5), percentile([4.0, 1.0, 3.0, 2.0], 0.99)
    (2.0, 4.0)
    """
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0


def row(cell: Cell, samples: Sequence[Sample], peers: Sequence[Sample]) -> Row:
    """Sum up the rounds of a cell, beside those of its peer. Every number counts alike for the requests."""
    latencies = [each for sample in samples for each in sample.latencies]
    numbers = sum(len(sample.latencies) for sample in samples)
    pairs = [(own.per_second, peer.per_second) for own, peer in zip(samples, peers, strict=False)]
    ratios = [own / peer for own, peer in pairs if peer]
    failures: Counter[str] = Counter()
    for sample in samples:
        failures += sample.failures
    return Row(
        *cell.name,
        per_second=median(sample.per_second for sample in samples),
        ratio=median(ratios) if ratios else None,
        requests=sum(sample.requests * len(sample.latencies) for sample in samples) / max(numbers, 1),
        p50=1000 * percentile(latencies, 0.5),
        p99=1000 * percentile(latencies, 0.99),
        numbers=numbers,
        failures=failures,
        duplicates=sum(sample.duplicates for sample in samples),
    )


def _cells(found: Row) -> tuple[str, ...]:
    ratio = "" if found.ratio is None else f"{found.ratio:.2f} x"
    target = "" if found.target is None else f"at most {found.target:g}" + (": target missed" if found.missed else "")
    failed = ", ".join(f"{count} {error}" for error, count in sorted(found.failures.items()))
    if found.duplicates:
        failed = ", ".join(filter(None, [failed, f"{found.duplicates} duplicates"]))
    figures = (f"{found.requests:.2f}", f"{found.p50:.0f}", f"{found.p99:.0f}")
    return (found.form, found.strategy, f"{found.per_second:.1f}", ratio, *figures, failed or "0", target)


def as_text(rows: Sequence[Row]) -> Iterator[str]:
    """Give the table line by line, in columns."""
    lines = [HEADS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def as_markdown(rows: Sequence[Row]) -> Iterator[str]:
    """Give the table line by line, in Markdown."""
    yield "| " + " | ".join(HEADS) + " |"
    yield "|---|---|" + "---:|" * 6 + "---|"
    for found in rows:
        yield "| " + " | ".join(_cells(found)) + " |"


def as_json(rows: Sequence[Row], options: Mapping[str, Any]) -> dict[str, Any]:
    """Give what was measured, and how, as JSON has it."""
    told = [
        {
            **{name: getattr(found, name) for name in ("strategy", "form", "per_second", "ratio", "requests")},
            **{name: getattr(found, name) for name in ("p50", "p99", "numbers", "duplicates", "target", "missed")},
            "failures": dict(found.failures),
        }
        for found in rows
    ]
    return {"options": dict(options), "rows": told}
