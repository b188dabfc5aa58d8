"""After any sequence of writes stored index keys are those recomputed, guards those of what lives, numbers never again.

`python -m tests.properties.index_keys_long` is the long run, and makes a finding small.
"""

from __future__ import annotations

from singletable import Store
from tests.properties.index_keys_driver import perform
from tests.properties.index_keys_entities import table
from tests.properties.index_keys_long import maker_at

SEED = "1"


def test_index_keys_follow_on_moto() -> None:
    """Whatever is written in whatever order, what is stored and answered is what a pure model says."""
    report = perform(Store.local(table), SEED, range(100), every=10)
    assert report.finding is None, f"seed {SEED}, step {report.steps}: {report.finding}"


def test_index_keys_follow_on_dynoxide(dynoxide_url: str, table_name: str) -> None:
    """The same on another engine, and for longer."""
    report = perform(maker_at(dynoxide_url, table_name)(), SEED, range(250), every=5)
    assert report.finding is None, f"seed {SEED}, step {report.steps}: {report.finding}"
