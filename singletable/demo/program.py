"""The order of the scenes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from singletable import Store
from singletable.demo import games, hierarchy, shop
from singletable.demo.entities import Place
from singletable.demo.scene import Progress, Scene

__all__ = ["scenes"]


def scenes(store: Store, places: Sequence[Place], progress: Progress) -> Iterator[Scene]:
    """Fill the store's empty table, scene by scene, and give what each one showed."""
    yield shop.play(store, progress)
    yield games.play(store, progress)
    yield hierarchy.play(store, places, progress)
