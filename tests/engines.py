"""Find, start and stop the engines that speak DynamoDB for the tests.

An engine is a program of its own, looked for in three places: the setting that names it, `.engines/` (where
`.ci/engines` puts it) and PATH. It listens on a free port of 127.0.0.1, keeps nothing on disk and is ended through its
own process handle.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

PROJECT = Path(__file__).resolve().parents[1]
MODULES = PROJECT / ".engines" / "node_modules"
HOST = "127.0.0.1"
PATIENCE = 30.0
"""Seconds an engine may take until it answers, or until it has ended."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that speaks DynamoDB: `setting` is the environment variable that names it."""

    name: str
    setting: str
    installed: Path
    advice: str
    options: tuple[str, ...] = ()


DYNOXIDE = Engine(
    name="dynoxide",
    setting="SINGLETABLE_DYNOXIDE",
    installed=MODULES / "@dynoxide" / "linux-x64" / "dynoxide",
    advice="run .ci/engines (Linux on x86-64), or npm install -g dynoxide@1.2.1",
    options=("--host", HOST),
)
DYNALITE = Engine(
    name="dynalite",
    setting="SINGLETABLE_DYNALITE",
    installed=MODULES / ".bin" / "dynalite",
    advice="run .ci/engines, or npm install -g dynalite@4.0.0",
    options=("--host", HOST, "--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0"),
)


class EngineMissing(Exception):
    """No program was found for an engine; the message says how to get one."""


class EngineFailed(Exception):
    """An engine ended or stayed silent; the message holds what it printed."""


def find(engine: Engine, environ: Mapping[str, str] = os.environ) -> Path:
    """Find an engine's program; a setting that names no file is an error, never a reason to look elsewhere."""
    named = environ.get(engine.setting)
    if named:
        return _existing(engine, Path(named))
    if engine.installed.is_file():
        return engine.installed
    found = shutil.which(engine.name, path=environ.get("PATH"))
    if found is None:
        raise EngineMissing(f"{engine.name} is not here: {engine.advice}, or name it in {engine.setting}")
    return Path(found)


def _existing(engine: Engine, program: Path) -> Path:
    if not program.is_file():
        raise EngineMissing(f"{engine.setting} names no file; {engine.advice}")
    return program


@contextmanager
def running(engine: Engine, program: Path) -> Generator[str]:
    """Run an engine for as long as the block lasts; gives its URL."""
    with TemporaryFile() as log:
        port = free_port()
        process = subprocess.Popen(
            [program, *engine.options, "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_it_answers(engine, process, port, log)
            yield f"http://{HOST}:{port}"
        finally:
            _stop(process)


def free_port() -> int:
    """Ask the system for a port that nobody listens on."""
    with socket.create_server((HOST, 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _wait_until_it_answers(engine: Engine, process: subprocess.Popen[bytes], port: int, log: IO[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while not _answers(port):
        if process.poll() is not None:
            raise EngineFailed(f"{engine.name} ended with code {process.returncode}: {_printed(log)}")
        if time.monotonic() > until:
            raise EngineFailed(f"{engine.name} did not answer within {PATIENCE:.0f} s: {_printed(log)}")
        time.sleep(0.02)


def _answers(port: int) -> bool:
    """Tell whether anything speaks HTTP there; which status it answers with does not matter."""
    connection = HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    return True


def _printed(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace").strip() or "it printed nothing"


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
