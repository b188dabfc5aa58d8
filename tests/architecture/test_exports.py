"""What a module offers to its neighbours is what its `__all__` says."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "singletable"
NAME = SOURCE.name


def modules_of(package: Path) -> dict[str, str]:
    """Read every module of the package: its full name and its text."""
    return {_name_of(path): path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}


def _name_of(path: Path) -> str:
    parts = (NAME, *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def exported(text: str) -> frozenset[str]:
    """List the names in a module's `__all__`; none where it has none.

    >>> sorted(exported("__all__ = ['a', 'b']"))
    ['a', 'b']
    """
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def undeclared(sources: Mapping[str, str]) -> Iterator[str]:
    """Name each import of something that the module it comes from does not offer; modules themselves are offered."""
    offers = {module: exported(text) for module, text in sources.items()}
    for module, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module in offers:
                for alias in node.names:
                    if alias.name not in offers[node.module] and f"{node.module}.{alias.name}" not in offers:
                        yield f"{module}:{node.lineno} imports {alias.name}, which {node.module} does not offer"


def test_what_is_imported_is_offered() -> None:
    """Every name that one of our modules imports from another stands in the other's `__all__`."""
    assert list(undeclared(modules_of(SOURCE))) == []


def test_what_is_offered_exists() -> None:
    """Every name in an `__all__` is defined or imported in the module (`__init__` of the package loads some lazily)."""
    missing: list[str] = []
    for module, text in modules_of(SOURCE).items():
        if module != NAME:
            missing += [f"{module}.{name}" for name in sorted(exported(text) - set(_bound(ast.parse(text).body)))]
    assert missing == []


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
        elif isinstance(node, ast.If):
            yield from _bound([*node.body, *node.orelse])


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("from singletable.one import open_to_all", []),
        ("from singletable.one import hidden", ["hidden"]),
        ("def f():\n    from singletable.one import hidden", ["hidden"]),
        ("from singletable import one", []),
        ("from elsewhere import anything", []),
    ],
)
def test_an_import_of_what_is_not_offered_is_seen(text: str, seen: list[str]) -> None:
    """The test finds an import of a name outside `__all__`, and nothing else."""
    sources = {"singletable": "", "singletable.one": "__all__ = ['open_to_all']\nhidden = 1", "singletable.two": text}
    assert [found.split()[2].rstrip(",") for found in undeclared(sources)] == seen
