"""The command `singletable counter`, as a user runs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from singletable import Store
from singletable.cli.app import app

TABLES = """
from datetime import date
from singletable import AutoIncrement, Entity, Field, Key, Store, Table

port = Table("port")

class Ship(Entity, table=port, tag="ship"):
    number: Field[int] = AutoIncrement()
    key = Key(pk="#SHIP#{number}", sk="#SHIP")

class Trip(Entity, table=port, tag="trip"):
    day: Field[date]
    number: Field[int] = AutoIncrement("counter")
    bill: Field[int] = AutoIncrement(gapless=True)
    key = Key(pk="#TRIPS#{day}", sk="#TRIP#{number}")

store = Store.local(port)
text = "no table"
"""


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give a target in a directory that is the current one."""
    (tmp_path / "harbour.py").write_text(TABLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield "harbour:store"
    sys.modules.pop("harbour", None)


def run(*words: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["counter", *words])


def lines(*words: str) -> str:
    """Run the command, insist on success, and give what it prints."""
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refused(*words: str, code: int = 2) -> str:
    """Run a command that cannot be; give the line that says why. Nothing goes to the standard output."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (code, "")
    return result.stderr.splitlines()[-1]


def test_numbers_are_drawn_and_told(target: str) -> None:
    """peek, reserve, set, sync and reset print numbers alone, or a document."""
    assert lines("peek", target, "Ship") == "none\n"
    assert lines("reserve", target, "Ship", "3") == "1 2 3\n"
    assert json.loads(lines("reserve", target, "Ship", "2", "--json")) == {"reserved": [4, 5]}
    assert lines("set", target, "Ship", "9", "--yes") == "9\n"
    assert json.loads(lines("peek", target, "Ship", "--json")) == {"last": 9}
    store: Store = sys.modules["harbour"].store
    store.put(sys.modules["harbour"].Ship(number=20))
    assert lines("sync", target, "Ship") == "20\n"
    assert lines("reset", target, "Ship", "--yes") == "none\n"
    assert lines("peek", target, "Ship") == "none\n"


def test_a_group_and_a_field_are_named(target: str) -> None:
    """Parts are read as their fields' types say; a field is named where there are several."""
    assert lines("reserve", target, "Trip", "1", "day=2026-12-01", "--field", "number") == "1\n"
    assert lines("peek", target, "Trip", "day=2026-12-01", "--field", "number") == "1\n"
    assert lines("peek", target, "Trip", "day=2026-12-02", "--field", "number") == "none\n"
    assert refused("peek", target, "Trip", "day=tomorrow", "--field", "number") == "Error: day='tomorrow': wanted date"
    assert "draws 2 numbers" in refused("peek", target, "Trip", "day=2026-12-01", code=1)
    assert "ST2002 key part 'day'" in refused("peek", target, "Trip", "--field", "number", code=1)
    assert refused("peek", target, "Trip", "day", "--field", "number").endswith(
        "'day' is no PART=VALUE, such as user_id=u1"
    )


def test_what_is_no_target(target: str) -> None:
    """Each way to miss the table is told in a line."""
    assert "'harbour' is no target, wanted module:table" in refused("peek", "harbour", "Ship")
    assert "'.:store' is no target" in refused("peek", ".:store", "Ship")
    assert "day= is given twice" in refused("peek", target, "Trip", "day=2026-12-01", "day=2026-12-02")
    assert "no module 'harbor' can be imported" in refused("peek", "harbor:store", "Ship")
    assert "did you mean 'store'?" in refused("peek", "harbour:stor", "Ship")
    assert "is a str, wanted a Table or a Store" in refused("peek", "harbour:text", "Ship")
    assert "did you mean 'Ship'?" in refused("peek", target, "Shop")
    assert "which has its place" in refused("peek", target, "Ship", "--region", "eu-west-1")
    assert "no address of an engine" in refused("peek", "harbour:port", "Ship", "--endpoint-url", "localhost")


def test_nothing_is_changed_without_a_yes(target: str) -> None:
    """Where nobody can be asked, and away from this machine, --yes is wanted."""
    for words in (("set", target, "Ship", "9"), ("reset", target, "Ship")):
        assert "say --yes if you mean it" in refused(*words)
    local = ("--endpoint-url", "http://127.0.0.1:1", "--region", "us-east-1")
    assert "say --yes where nobody can be asked" in refused("set", "harbour:port", "Ship", "9", *local)
    assert lines("peek", target, "Ship") == "none\n"
