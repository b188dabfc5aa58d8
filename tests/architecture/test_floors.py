"""The floors of the package, read from its imports with the standard library alone.

Theory of operation. Every module stands in a room, every room on a floor, and the rooms of a floor stand in an order.
A module may import from its own room, from an earlier room of its floor and from the floors below. `__init__` of the
package stands outside the order: it is what users see, so only the top floor may read it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "singletable"
NAME = SOURCE.name
TOP = 6


def rooms(names: str) -> tuple[str, ...]:
    """List the names of rooms, in their order."""
    return tuple(names.split())


ERRORS = ("errors.root", "errors.declaring", "errors.values", "errors.operating", "errors.together", "errors.world")
KEYS = (
    *("language", "encoding", "kinds", "numbers", "notation", "moments", "formats", "segments", "template"),
    *("questions", "native", "bounds", "cuts", "clash"),
)
OPERATIONS = rooms(
    """
    remembered expiring context sending actions drafts writing commit carrying counters lines drawing guards get create
    subjects
    put delete move sweeping check outcome changing upsert update fetching query merge collection scan places
    shapes branches page many snapshot get_many create_many batch shape tables add_index by_value guarding abreast
    siblings receipts transact standing once sequences
    """
)
VALUES = rooms(
    """
    scalars attributes choices documents records pydantic_records codecs adopted stored_keys options
    """
)
EXPRESSIONS = ("expressions", "judging", "applying", "operands", "comparing", "places")
DECLARING = rooms(
    """
    annotations increments stamped indexes scopes layouts queries numbering checks uniques schema stamping patterns
    """
)
ENTITIES = rooms("children building describing pydantic_schema entity members slots gathering mapping dictionaries")
ROOMS = (".running", ".reads", ".pages", ".writes", ".transactions", ".tables", "")
STORES = tuple(f"{store}{room}" for store in ("store", "aio") for room in ROOMS)

FLOORS: tuple[tuple[str, ...], ...] = (
    ("wording", *ERRORS, "errors", "wire"),
    (*(f"keys.{room}" for room in KEYS), "keys", "sizes", "cursors"),
    (*VALUES, *EXPRESSIONS, "declaration", "fields", "belonging"),
    (*DECLARING, *ENTITIES),
    (*(f"operations.{room}" for room in OPERATIONS), "operations"),
    (*rooms("faults parsing forking identifiers local driver loops rows handles handed verbs"), *STORES),
    ("demo", "testing", "cli", "__main__"),
)
PLACES = {room: (floor, order) for floor, rooms in enumerate(FLOORS) for order, room in enumerate(rooms)}
PUBLIC = ("identifiers", "rows", "handles", "store.transactions", "store")
"""What of the floor of the world belongs to the public surface."""
UNPLACED = (len(FLOORS), 0)
"""A module without a floor counts as above all, so that nothing may import it before it is placed."""

OUTSIDE: Mapping[str, tuple[str, ...]] = {
    "pynamodb.expressions": FLOORS[2],
    "boto3": FLOORS[5],
    "botocore": (*FLOORS[5], "testing"),
    "types_boto3_dynamodb": FLOORS[5],
    "aiobotocore": ("aio.running",),
    "types_aiobotocore_dynamodb": ("aio.running",),
    "moto": ("local",),
    "werkzeug": ("local",),
    "pydantic_core": ("pydantic_schema",),
    "click": FLOORS[TOP],
    "rich": FLOORS[TOP],
}
"""Which rooms may import which library; what is not named here may be imported by none."""

WORLD = frozenset(
    {
        "asyncio",
        "concurrent",
        "http",
        "logging",
        "multiprocessing",
        "os",
        "random",
        "secrets",
        "select",
        "selectors",
        "signal",
        "socket",
        "socketserver",
        "ssl",
        "subprocess",
        "tempfile",
        "time",
        "urllib",
    }
)
"""Standard modules of clock, randomness, network, environment and logging: floor 5 and up."""


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: `source` is the module's name inside the package ("" is its `__init__`)."""

    source: str
    target: str
    line: int
    inside: str = ""
    """The function that imports when it runs."""
    typing_only: bool = False


def modules_of(package: Path) -> dict[str, str]:
    """Read every module of the package: its name inside the package and its text."""
    paths = sorted(package.rglob("*.py"))
    return {_module_name(path.relative_to(package)): path.read_text(encoding="utf-8") for path in paths}


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(sources: Mapping[str, str]) -> list[Import]:
    """List what every module imports, wherever in it the import stands."""
    known = {f"{NAME}.{module}" if module else NAME for module in sources}
    return [found for module, text in sources.items() for found in _walk(ast.parse(text), Import(module, "", 0), known)]


def _walk(node: ast.AST, here: Import, known: set[str]) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            for target in _targets(child, known):
                yield Import(here.source, target, child.lineno, here.inside, here.typing_only)
        else:
            yield from _walk(child, _inside(child, here), known)


def _targets(node: ast.Import | ast.ImportFrom, known: set[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level:
        return [f"{NAME}.relative"]  # in no room, so never in order; ruff forbids them too (TID252)
    base = node.module or ""
    full = [f"{base}.{alias.name}" for alias in node.names]
    return [name if name in known else base for name in full]


def _inside(node: ast.AST, here: Import) -> Import:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return Import(here.source, "", 0, getattr(node, "name", "lambda"), here.typing_only)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return Import(here.source, "", 0, here.inside, typing_only=True)
    return here


def room_of(module: str) -> str:
    """Find the room a module stands in: the longest name in the plan that it is, or lies below; "" for none."""
    parts = module.split(".")
    names = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if name in PLACES), "")


def complaint(found: Import) -> str:
    """Say what is wrong with one import; empty where it is in order.

    >>> complaint(Import("keys.template", "singletable.store", 3))
    'keys.template:3 imports store, which stands higher'
    >>> complaint(Import("store", "singletable.keys.template", 3))
    ''
    """
    target = found.target.removeprefix(NAME).removeprefix(".")
    own = found.target == NAME or found.target.startswith(f"{NAME}.")
    reason = _wrong_inside(found, target) if own else _wrong_outside(found)
    return f"{found.source or '__init__'}:{found.line} imports {target or NAME}, {reason}" if reason else ""


def _wrong_inside(found: Import, target: str) -> str:
    if found.typing_only:
        return "one of our own, under TYPE_CHECKING"
    if not found.source:
        return _wrong_in_front(found, target)
    if found.inside:
        return f"one of our own, inside {found.inside}"
    here, there = PLACES[room_of(found.source)], PLACES.get(room_of(target), UNPLACED)
    if not target:
        return "" if here[0] == TOP else "the public surface"
    return "which stands higher" if there > here else ""


def _wrong_in_front(found: Import, target: str) -> str:
    if found.inside not in {"", "__getattr__"}:
        return f"one of our own, inside {found.inside}"
    floor, _ = PLACES.get(room_of(target), UNPLACED)
    return "" if floor < PLACES["store"][0] or target in PUBLIC else "which is not for the public surface"


def _wrong_outside(found: Import) -> str:
    top = found.target.partition(".")[0]
    room = room_of(found.source)
    floor = PLACES[room][0] if room else 0
    if top in sys.stdlib_module_names:
        return "which touches the world, below floor 5" if top in WORLD and floor < PLACES["store"][0] else ""
    allowed = [rooms for library, rooms in OUTSIDE.items() if f"{found.target}.".startswith(f"{library}.")]
    return "" if any(room in rooms for rooms in allowed) else "a library that is not for this room"


def cycle_in(imports: list[Import]) -> list[str]:
    """Name the modules of one circle of imports; empty where there is none."""
    graph: dict[str, set[str]] = {}
    for found in imports:
        target = found.target.removeprefix(f"{NAME}.")
        if target != found.target:
            graph.setdefault(found.source, set()).add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


PACKAGE = modules_of(SOURCE)


def test_every_module_has_a_floor() -> None:
    """A new module is placed in the plan before it is written."""
    assert "errors" in PACKAGE
    assert [module for module in PACKAGE if module and not room_of(module)] == []


def test_imports_go_down() -> None:
    """Nothing of our own is imported upwards, lazily or for typing only; libraries stay in their rooms."""
    placed = [found for found in imports_of(PACKAGE) if not found.source or room_of(found.source)]
    complaints = [text for found in placed if (text := complaint(found))]
    assert not complaints, "\n".join(complaints)


def test_no_module_imports_itself_in_a_circle() -> None:
    """The imports of the package form no cycle, not even within one room."""
    assert cycle_in(imports_of(PACKAGE)) == []


@pytest.mark.parametrize(
    ("module", "text", "reason"),
    [
        ("keys.bounds", "from singletable.keys.template import Template", ""),
        ("keys.template", "from singletable.keys.bounds import Bounds", "stands higher"),
        ("keys.template", "from singletable.keys import bounds", "stands higher"),
        ("keys.template", "def f():\n    from singletable.keys.encoding import escape", "inside f"),
        ("keys.template", "if TYPE_CHECKING:\n    from singletable.errors import kind_of", "under TYPE_CHECKING"),
        ("keys.template", "from . import bounds", "stands higher"),
        ("entity", "import singletable", "the public surface"),
        ("entity", "from singletable.store import Store", "stands higher"),
        ("cli.main", "from singletable import Store", ""),
        ("", "from singletable.entity import Entity", ""),
        ("", "def __getattr__(name):\n    from singletable.store import Store", ""),
        ("", "from singletable.aio import AsyncStore", "not for the public surface"),
        ("", "def f():\n    from singletable.store import Store", "inside f"),
        ("store", "def f():\n    import boto3", ""),
        ("entity", "def f():\n    import boto3", "not for this room"),
        ("store", "from moto.core import mock_aws", "not for this room"),
        ("local", "from moto.core import mock_aws", ""),
        ("expressions", "from pynamodb.expressions.operand import Path", ""),
        ("expressions", "from pynamodb.models import Model", "not for this room"),
        ("mapping", "from pynamodb.expressions.operand import Path", "not for this room"),
        ("store", "import rich", "not for this room"),
        ("operations.create", "import time", "touches the world"),
        ("operations.create", "from datetime import time", ""),
        ("store", "import time", ""),
    ],
)
def test_a_wrong_import_is_seen(module: str, text: str, reason: str) -> None:
    """Each rule catches the import it forbids, and lets the one beside it pass."""
    beside = {"keys": "", "keys.bounds": "", "keys.template": "", "keys.encoding": "", "errors": "", "store": ""}
    (found,) = imports_of({**beside, module: text})
    said = complaint(found)
    assert (reason in said) if reason else (said == "")


def test_a_circle_is_seen() -> None:
    """Two modules of one room that import each other are a cycle, lazily or not."""
    one = "from singletable.codecs import two"
    other = "def f():\n    from singletable.codecs import one"
    assert set(cycle_in(imports_of({"codecs.one": one, "codecs.two": other}))) == {"codecs.one", "codecs.two"}
    assert cycle_in(imports_of({"codecs.one": one, "codecs.two": ""})) == []


def test_a_module_without_a_floor_is_seen() -> None:
    """A name that the plan does not have, and that lies below none it has, stands in no room."""
    assert room_of("utils") == ""
    assert room_of("keystone") == ""
    assert room_of("operations.create") == "operations.create"
    assert room_of("codecs.numbers") == "codecs"
