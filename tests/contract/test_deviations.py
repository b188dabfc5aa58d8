"""The lists of deviations name tests that exist, and are obeyed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.contract.deviations import DEVIATIONS

HERE = Path(__file__).parent


@pytest.mark.parametrize(("engine", "test"), [(engine, test) for engine in DEVIATIONS for test in DEVIATIONS[engine]])
def test_a_deviation_is_of_a_test_that_exists(engine: str, test: str) -> None:
    """Each entry names a function of a module of the contract suite that runs on `backend`, and gives a reason."""
    module, _, name = test.partition("::")
    tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert "backend" in [argument.arg for argument in functions[name].args.args]
    assert DEVIATIONS[engine][test]


def test_deviations_are_expected_strictly(request: pytest.FixtureRequest) -> None:
    """Every collected test that an engine is known to fail carries a strict expected failure, and no other does."""
    for item in request.session.items:
        if not isinstance(item, pytest.Function) or HERE not in item.path.parents:
            continue
        marks = [mark.kwargs["strict"] for mark in item.iter_markers("xfail")]
        engine = str(item.callspec.params.get("backend", "")).partition("-")[0] if hasattr(item, "callspec") else ""
        listed = f"{item.path.stem}::{item.originalname}" in DEVIATIONS.get(engine, {})
        assert marks == ([True] if listed else []), item.nodeid
