"""The demonstration on the screen, and as a JSON document.

rich measures text (a Chinese character is two columns wide), styles it on a terminal that allows it, and draws the
progress bar; it is loaded when the first of these is done.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO, cast

from singletable import Entity, to_dict
from singletable.demo import Cost, Progress, Reading, Scene

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Page", "document", "progress_bar"]

PLAIN_WIDTH = 100
"""Columns of the text where it does not go to a terminal."""

INDENT = 3
LABEL = 11
LABELLED = 13
"""Columns before the text of a scene, up to the end of a label, and before the text beside it."""


class Page:
    """Prints scenes as they are shown: aligned, at most as wide as the terminal, plain where there is none."""

    def __init__(self, out: TextIO) -> None:
        if isinstance(out, TextIOWrapper):
            out.reconfigure(errors="replace")  # a terminal that has no Chinese shows question marks
        self._console = _console()

    def open(self, table: str, endpoint_url: str | None) -> None:
        """Print what follows and where it runs."""
        where = "moto, in this process" if endpoint_url is None else endpoint_url
        self._line("singletable demo: three applications on one table", style="bold")
        self._line(f"Table {table} on {where}")

    def show(self, number: int, scene: Scene) -> None:
        """Print one scene."""
        self._line()
        self._line(f"{number}. {scene.title}", style="bold")
        self._line(f"{scene.stored:,} items stored in {scene.seconds:.2f} s.", indent=INDENT)
        for fact in scene.facts:
            self._line(fact, indent=INDENT)
        for reading in scene.readings:
            self._reading(reading)
        self._line()
        self._line(scene.lesson, indent=INDENT, style="italic")

    def close(self, seconds: float) -> None:
        """Print how long it took."""
        self._line()
        self._line(f"Done in {seconds:.1f} s.")

    def _reading(self, reading: Reading) -> None:
        python, sent = reading.pattern.python, reading.key_condition
        index = "" if reading.index is None else f"{reading.index}: "
        self._line()
        self._line(reading.pattern.title, indent=INDENT, style="underline")
        self._labelled("query", python, style="cyan", broken=python.replace(").", ")\n  ."))
        self._labelled("sent", index + sent, broken=index + sent.replace(" AND ", "\nAND ", 1))
        if reading.filter is not None:
            self._labelled("filter", reading.filter)
        self._labelled("rows", f"{_counted(reading.count, 'row')} in {reading.seconds * 1000:,.0f} ms")
        for line in _columns(reading):
            self._line(line, indent=LABELLED, style="dim", cut=True)
        self._labelled("read", _cost(reading.cost))

    def _labelled(self, label: str, text: str, *, style: str = "", broken: str | None = None) -> None:
        """Print a label and a text beside it; `broken` is the text in lines, where one would be too long."""
        from rich.cells import cell_len
        from rich.text import Text

        fits = broken is None or cell_len(text) <= self._console.width - LABELLED
        lines = self._wrapped(Text(text if fits or broken is None else broken, style=style), LABELLED)
        for number, line in enumerate(lines):
            head = (label if number == 0 else "").rjust(LABEL).ljust(LABELLED)
            self._console.print(Text.assemble((head, "dim"), line), soft_wrap=True)

    def _line(self, text: str = "", *, indent: int = 0, style: str = "", cut: bool = False) -> None:
        """Print a text, indented and wrapped, or cut where it is too long for one line."""
        from rich.text import Text

        styled = Text(text, style=style)
        if cut:
            styled.truncate(max(20, self._console.width - indent), overflow="ellipsis")
        lines = [styled] if cut else self._wrapped(styled, indent)
        for line in lines or [styled]:
            self._console.print(Text.assemble(" " * indent if line else "", line), soft_wrap=True)

    def _wrapped(self, text: Any, indent: int) -> list[Any]:
        lines = list(text.wrap(self._console, max(20, self._console.width - indent), overflow="fold"))
        for line in lines:
            line.rstrip()
        return lines


def _columns(reading: Reading) -> list[str]:
    """Write the first rows with their columns aligned, and a last line where there are more."""
    from rich.cells import cell_len

    rows = [[_shown(to_dict(row)[column]) for column in reading.pattern.columns] for row in reading.first]
    widths = [max((cell_len(row[at]) for row in rows), default=0) for at in range(len(reading.pattern.columns))]
    lines = [
        "  ".join(text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    more = reading.count - len(rows)
    return [*lines, f"and {more:,} more"] if more else lines


def _shown(value: object) -> str:
    """Write one value of a row; a character that would move the cursor is replaced."""
    if isinstance(value, tuple):
        return " / ".join(map(_shown, cast("tuple[object, ...]", value)))
    text = f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _cost(cost: Cost) -> str:
    pages = f", {cost.requests} pages" if cost.requests > 1 else ""
    return f"{_counted(cost.items, 'item')}, {_counted(cost.bytes, 'byte')}, {_counted(cost.units, 'read unit')}{pages}"


def _counted(number: float, noun: str) -> str:
    """Write a number with its noun.

    >>> _counted(1, "row"), _counted(0.5, "read unit"), _counted(62_026, "byte"), _counted(1234.5, "read unit")
    ('1 row', '0.5 read units', '62,026 bytes', '1,234.5 read units')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}".replace(".0 ", " ")


@contextmanager
def progress_bar() -> Generator[Progress]:
    """Draw a bar on stderr while something is stored; draw nothing where that is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = _console(stderr=True)
    drawn: list[Bar] = []

    def progress(what: str, done: int, total: int) -> None:
        if not drawn:
            drawn.append(Bar(*columns, console=console, transient=True, disable=not console.is_terminal))
            drawn[0].add_task(what, total=total)
            drawn[0].start()
        drawn[0].update(drawn[0].task_ids[0], completed=done)
        if done >= total:
            drawn.pop().stop()

    try:
        yield progress
    finally:
        for bar in drawn:
            bar.stop()


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


# As a document -------------------------------------------------------------------------------------------------------


def document(table: str, endpoint_url: str | None, shown: Sequence[Scene], seconds: float) -> str:
    """Write everything that was shown as one JSON document."""
    whole = {
        "table": table,
        "engine": "moto" if endpoint_url is None else endpoint_url,
        "seconds": round(seconds, 3),
        "scenes": [_scene(scene) for scene in shown],
    }
    return json.dumps(whole, ensure_ascii=False, indent=2, default=_plain)


def _scene(scene: Scene) -> dict[str, object]:
    return {
        "name": scene.name,
        "title": scene.title,
        "items_stored": scene.stored,
        "seconds": round(scene.seconds, 3),
        "facts": scene.facts,
        "patterns": [_pattern(reading) for reading in scene.readings],
        "lesson": scene.lesson,
    }


def _pattern(reading: Reading) -> dict[str, object]:
    return {
        "title": reading.pattern.title,
        "query": reading.pattern.python,
        "index": reading.index,
        "key_condition": reading.key_condition,
        "filter": reading.filter,
        "rows": reading.count,
        "first_rows": [_row(row) for row in reading.first],
        "seconds": round(reading.seconds, 4),
        "read": {
            "requests": reading.cost.requests,
            "items": reading.cost.items,
            "bytes": reading.cost.bytes,
            "units": reading.cost.units,
        },
    }


def _row(row: Entity) -> dict[str, object]:
    return {"entity": type(row).__name__, **to_dict(row)}


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
