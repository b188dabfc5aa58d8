"""How large a module and a function may be, and how often a checker may be told to look away."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "singletable"
MODULE_LINES = 400
BODY_LINES = 50
COMMON_LINES = 25
IGNORES = 5

TEXTS = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}

IGNORE = re.compile(r"#\s*(?:type:\s*ignore|pyright:|mypy:|ruff:|flake8:|noqa)", re.IGNORECASE)
EXPLAINED = re.compile(
    r"#\s*(?:(?:type|pyright): ignore\[[\w-]+(?:, ?[\w-]+)*\]|noqa: [A-Z]+\d+(?:, ?[A-Z]+\d+)*)\s*(?:#|-|—|:)\s*\w.{9,}"
)


def bodies_of(text: str) -> Iterator[tuple[str, int]]:
    r"""List the functions of a module with the lines of their bodies, docstrings not counted.

    >>> list(bodies_of('def f():\n    "Say."\n    a = 1\n    return a\n'))
    [('f', 2)]
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, ((body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0)


def ignores_of(text: str) -> list[str]:
    r"""List the comments that tell a checker to look away.

    >>> ignores_of("a = 1  # noqa: E501 - a long address\nb = '# noqa'\n")
    ['# noqa: E501 - a long address']
    """
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT and IGNORE.search(token.string)]


def test_modules_hold_one_idea() -> None:
    """No module has more than 400 lines."""
    assert TEXTS
    assert {name: lines for name, text in TEXTS.items() if (lines := len(text.splitlines())) > MODULE_LINES} == {}


def test_functions_are_short() -> None:
    """No function body has more than 50 lines, and nine in ten have at most 25."""
    sizes = {f"{name}: {function}": lines for name, text in TEXTS.items() for function, lines in bodies_of(text)}
    assert {function: lines for function, lines in sizes.items() if lines > BODY_LINES} == {}
    assert sum(lines > COMMON_LINES for lines in sizes.values()) <= len(sizes) / 10


def test_ignores_are_few_and_explained() -> None:
    """The whole package looks away at most five times, each time with a code and a reason."""
    found = [f"{name}: {comment}" for name, text in TEXTS.items() for comment in ignores_of(text)]
    unexplained = [comment for comment in found if not EXPLAINED.search(comment)]
    assert not unexplained, "\n".join(unexplained)
    assert len(found) <= IGNORES, found


@pytest.mark.parametrize(
    ("comment", "explained"),
    [
        ("# type: ignore[misc]  # a class that mypy cannot follow", True),
        ("# pyright: ignore[reportPrivateUsage] - the format has no public name", True),
        ("# noqa: BLE001 - every error ends in a message", True),
        ("# type: ignore[misc]", False),
        ("# type: ignore  # because", False),
        ("# noqa", False),
        ("# noqa: E501", False),
        ("# pyright: basic", False),
        ("# ruff: noqa: E501 - the whole file", False),
    ],
)
def test_an_ignore_needs_code_and_reason(comment: str, explained: bool) -> None:
    """A comment that names no code, gives no reason or speaks for a whole file is not explained."""
    assert ignores_of(f"a = 1  {comment}\n") == [comment]
    assert bool(EXPLAINED.search(comment)) is explained


def test_lines_are_counted_without_the_docstring() -> None:
    """A body counts from its first statement after the docstring to its last line, nested functions included."""
    text = 'def f(a):\n    """Say.\n\n    More.\n    """\n    def g():\n        return a\n\n    return g\n'
    assert dict(bodies_of(text)) == {"f": 4, "g": 1}
