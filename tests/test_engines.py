"""The engines' own machinery: what is found, what is said when nothing is, and that nothing is left running."""

from __future__ import annotations

from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.engines import DYNOXIDE, HOST, Engine, EngineFailed, EngineMissing, find, running


@pytest.fixture
def absent(tmp_path: Path) -> Engine:
    """Give an engine that is installed nowhere."""
    return replace(DYNOXIDE, installed=tmp_path / "dynoxide")


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_missing_engine_says_how_to_get_it(absent: Engine, tmp_path: Path) -> None:
    """Without a program the error names the engine, the installer and the setting."""
    with pytest.raises(EngineMissing, match=r"dynoxide is not here: run \.ci/engines.*SINGLETABLE_DYNOXIDE"):
        find(absent, {"PATH": str(tmp_path)})


def test_a_setting_that_names_no_file_is_an_error(absent: Engine, tmp_path: Path) -> None:
    """A wrong setting is reported even where PATH has the program."""
    _program(tmp_path / "dynoxide", "exit 0")
    with pytest.raises(EngineMissing, match="SINGLETABLE_DYNOXIDE names no file"):
        find(absent, {"SINGLETABLE_DYNOXIDE": str(tmp_path / "none"), "PATH": str(tmp_path)})


def test_the_places_are_searched_in_order(absent: Engine, tmp_path: Path) -> None:
    """The setting comes before the installed program, and that before PATH."""
    on_path = _program(tmp_path / "bin" / "dynoxide", "exit 0")
    environ = {"PATH": str(on_path.parent)}
    assert find(absent, environ) == on_path
    installed = _program(absent.installed, "exit 0")
    assert find(absent, environ) == installed
    named = _program(tmp_path / "mine", "exit 0")
    assert find(absent, {"SINGLETABLE_DYNOXIDE": str(named), **environ}) == named


def test_an_engine_that_ends_shows_what_it_printed(absent: Engine, tmp_path: Path) -> None:
    """A program that ends at once is an error with its exit code and its words."""
    program = _program(tmp_path / "broken", "echo no such option; exit 3")
    with pytest.raises(EngineFailed, match="ended with code 3: no such option"), running(absent, program):
        pytest.fail("it cannot have answered")


@pytest.mark.parametrize("fixture", ["dynoxide_url", "dynalite_url"])
def test_an_engine_listens_on_this_machine_only(request: pytest.FixtureRequest, fixture: str) -> None:
    """The URL that is handed out is a loopback address, and a request to it is answered."""
    given: str = request.getfixturevalue(fixture)
    url = urlsplit(given)
    assert url.hostname == HOST
    connection = HTTPConnection(HOST, url.port or 0, timeout=10)
    connection.request("GET", "/")
    assert connection.getresponse().status > 0
    connection.close()


def test_an_engine_is_gone_after_its_block(dynoxide_url: str) -> None:
    """A second engine has a port of its own and answers nobody once its block has ended."""
    with running(DYNOXIDE, find(DYNOXIDE)) as url:
        assert url != dynoxide_url
    connection = HTTPConnection(HOST, urlsplit(url).port or 0, timeout=10)
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", "/")
