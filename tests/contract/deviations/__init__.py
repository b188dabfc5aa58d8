"""What each engine does otherwise than DynamoDB, as far as the contract suite asks: strict expected failures.

One module for each engine lists `"module::test"` and the reason. An expected failure that passes one day fails the
suite: the engine was mended, and may be asked for more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.contract.deviations import dynalite, dynoxide, moto

__all__ = ["DEVIATIONS"]

DEVIATIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "dynalite": dynalite.DEVIATIONS,
    "dynoxide": dynoxide.DEVIATIONS,
    "moto": moto.DEVIATIONS,
}
"""For each engine, the tests that fail on it and why, whatever the colour."""
