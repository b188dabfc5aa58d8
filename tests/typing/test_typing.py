"""The typing contract, as users meet it: mypy and pyright judge the programs in `judged/`, without any plugin.

Theory of operation. The programs are copied to a directory of their own, so that nothing of this repository's
configuration is seen, and each checker runs once over all of them. In `accepted.py` every promise is an `assert_type`,
which a checker reports if it sees another type; in `refused.py` each mistake's line names the rules by which either
checker must report it. The findings must be those, and no others.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytestmark = pytest.mark.slow

JUDGED = Path(__file__).parent / "judged"
CORRECT = ("shop.py", "accepted.py")
MISTAKEN = "refused.py"
MARK = re.compile(r"  # error: mypy\[([\w, -]+)\] pyright\[([\w, -]+)\]$")

Finding: TypeAlias = tuple[str, int, str]
"""The file's name, the line and the rule."""


def run(checker: str, *arguments: str, at: Path) -> str:
    """Run a checker as a user does, from the program's directory; anything but a verdict is an error."""
    made = subprocess.run(
        [sys.executable, "-m", checker, *arguments], cwd=at, capture_output=True, text=True, timeout=300, check=False
    )
    assert made.returncode in (0, 1), made.stdout + made.stderr
    return made.stdout


def mypy(project: Path) -> set[Finding]:
    """Judge by `mypy --strict`, with no configuration file."""
    options = ("--strict", "--config-file=", "--python-version=3.11", "--no-incremental", "--output=json")
    reports = map(json.loads, run("mypy", *options, *CORRECT, MISTAKEN, at=project).splitlines())
    return {(report["file"], report["line"], report["code"]) for report in reports if report["severity"] == "error"}


def pyright(project: Path) -> set[Finding]:
    """Judge correct programs by pyright's strictest rules; its usual ones must be enough to find the mistakes."""
    options: Mapping[str, Any] = {"include": ["."], "strict": list(CORRECT), "pythonVersion": "3.11"}
    (project / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
    report = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, "-p", ".", at=project))
    assert report["summary"]["filesAnalyzed"] == len(CORRECT) + 1
    return {
        (Path(found["file"]).name, found["range"]["start"]["line"] + 1, found["rule"])
        for found in report["generalDiagnostics"]
    }


CHECKERS: Mapping[str, Callable[[Path], set[Finding]]] = {"mypy": mypy, "pyright": pyright}


@pytest.fixture(scope="module", params=list(CHECKERS))
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, set[Finding]]:
    """Give a checker's name and all that it finds."""
    project = tmp_path_factory.mktemp("project")
    for name in (*CORRECT, MISTAKEN):
        shutil.copy(JUDGED / name, project)
    return request.param, CHECKERS[request.param](project)


def marks() -> dict[int, dict[str, set[str]]]:
    """Read the marks of the mistakes: by line, the rules each checker must name."""
    lines = (JUDGED / MISTAKEN).read_text(encoding="utf-8").splitlines()
    found = {number: mark for number, line in enumerate(lines, start=1) if (mark := MARK.search(line))}
    return {
        number: {"mypy": set(mark[1].split(", ")), "pyright": set(mark[2].split(", "))}
        for number, mark in found.items()
    }


def test_correct_use_is_accepted(judged: tuple[str, set[Finding]]) -> None:
    """Neither checker finds anything in correct programs, so each promised type is what it sees."""
    _, findings = judged
    assert {finding for finding in findings if finding[0] in CORRECT} == set()


def test_every_mistake_is_reported_and_nothing_else(judged: tuple[str, set[Finding]]) -> None:
    """Each checker reports each mistake at its line, by its rules, and no line without one."""
    checker, findings = judged
    expected = {(MISTAKEN, line, rule) for line, rules in marks().items() for rule in rules[checker]}
    assert {finding for finding in findings if finding[0] == MISTAKEN} == expected


def test_every_statement_among_the_mistakes_is_one() -> None:
    """Each simple statement of the program of mistakes is marked, so that none goes unnoticed unjudged."""
    program = ast.parse((JUDGED / MISTAKEN).read_text(encoding="utf-8"))
    docstring = program.body[0]
    statements = {
        node.lineno
        for node in ast.walk(program)
        if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) and node is not docstring
    }
    assert len(statements) > 100
    assert statements - marks().keys() == {line_of("    late: Field[int]")}


def line_of(text: str) -> int:
    """Find the one line with this text: the declaration whose field is left out later."""
    lines = (JUDGED / MISTAKEN).read_text(encoding="utf-8").splitlines()
    assert lines.count(text) == 1
    return lines.index(text) + 1
