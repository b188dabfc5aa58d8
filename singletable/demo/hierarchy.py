"""China's places: four levels in one hierarchical key, and a search by the beginning of a name."""

from __future__ import annotations

import time
from collections.abc import Sequence

from singletable import Store
from singletable.demo.entities import Place
from singletable.demo.reading import Pattern, read
from singletable.demo.scene import Progress, Scene

__all__ = ["PATTERNS", "play"]

CHUNK = 1000
"""So many places are handed over at once, so that progress can be told."""

PATTERNS = (
    Pattern(
        "All of Sichuan: the province and everything below it",
        'Place.key(country="CN", path=("四川省",))',
        Place.key(country="CN", path=("四川省",)),
        ("code", "path"),
    ),
    Pattern(
        "What stands right below Chengdu (deeper places are read and dropped)",
        'Place.key(country="CN", path=("四川省", "成都市")).below(depth=1)',
        Place.key(country="CN", path=("四川省", "成都市")).below(depth=1),
        ("code", "path"),
    ),
    Pattern(
        "Every place whose name begins with 东 (east), on whatever level",
        'Place.by_name(country="CN").begins_with(name="东")',
        Place.by_name(country="CN").begins_with(name="东"),
        ("code", "path"),
    ),
)


def play(store: Store, places: Sequence[Place], progress: Progress) -> Scene:
    """Load the places and ask for parts of the tree."""
    begun = time.perf_counter()
    for start in range(0, len(places), CHUNK):
        progress("places", start, len(places))
        store.put_many(places[start : start + CHUNK])
    progress("places", len(places), len(places))
    seconds = time.perf_counter() - begun
    return Scene(
        name="places",
        title="China: provinces, cities, areas and streets in one hierarchical key",
        stored=len(places),
        seconds=seconds,
        facts=(f"{_levels(places)}.",),
        readings=tuple(read(store, pattern) for pattern in PATTERNS),
        lesson="In a key no name holds '#' or '$', so BETWEEN a node AND the node with '$' is exactly its tree.",
    )


def _levels(places: Sequence[Place]) -> str:
    counts = [sum(len(place.path) == depth for place in places) for depth in (1, 2, 3, 4)]
    names = ("provinces", "cities", "areas", "streets")
    return ", ".join(f"{count:,} {name}" for count, name in zip(counts, names, strict=True))
