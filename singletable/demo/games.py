"""The question of the games: which of those against Bob are pending, newest first.

It is the usual example for a composite key: with a key of opponent and date, a filter on the status reads every game
against Bob to find two; with status and date in one key, the two are all that is read.
"""

from __future__ import annotations

import time
from datetime import date, timedelta

from singletable import Store
from singletable.demo.entities import Game
from singletable.demo.reading import Pattern, Reading, read
from singletable.demo.scene import Progress, Scene

__all__ = ["GAMES", "PATTERNS", "play"]

PLAYED = 400
FIRST = date(2025, 1, 1)
PENDING = (150, 320)
IN_PROGRESS = 399

GAMES = tuple(
    Game(
        opponent="Bob",
        played_on=FIRST + timedelta(days=number),
        game_id=f"g{number:03}",
        status="PENDING" if number in PENDING else "IN_PROGRESS" if number == IN_PROGRESS else "DONE",
    )
    for number in range(PLAYED)
)

PATTERNS = (
    Pattern(
        "By date, with a filter on the status",
        'Game.key(opponent="Bob").where(Game.status == "PENDING").descending()',
        Game.key(opponent="Bob").where(Game.status == "PENDING").descending(),
        ("played_on", "game_id", "status"),
    ),
    Pattern(
        "By status and date, a composite key",
        'Game.by_status(opponent="Bob", status="PENDING").descending()',
        Game.by_status(opponent="Bob", status="PENDING").descending(),
        ("played_on", "game_id", "status"),
    ),
)


def play(store: Store, progress: Progress) -> Scene:
    """Store the games and ask for the pending ones both ways."""
    progress("games", 0, PLAYED)
    begun = time.perf_counter()
    store.put_many(GAMES)
    seconds = time.perf_counter() - begun
    progress("games", PLAYED, PLAYED)
    filtered, composite = (read(store, pattern) for pattern in PATTERNS)
    return Scene(
        name="games",
        title="Games: opponent Bob, newest first, only PENDING",
        stored=PLAYED,
        seconds=seconds,
        facts=(f"Of {PLAYED} games against Bob {len(PENDING)} are pending.",),
        readings=(filtered, composite),
        lesson=_lesson(filtered, composite),
    )


def _lesson(filtered: Reading, composite: Reading) -> str:
    dear, cheap = filtered.cost, composite.cost
    return (
        f"The filter reads {dear.items} items to give {filtered.count} and costs {dear.units:g} read units; the "
        f"composite key reads {cheap.items} to give {composite.count} and costs {cheap.units:g}."
    )
