"""Fixtures for all tests: the engines out of process, unique table names, and no way out to a real AWS account."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.engines import DYNALITE, DYNOXIDE, Engine, EngineMissing, find, running

collect_ignore = ["typing/judged"]  # read by the type checkers, never run

settings.register_profile("singletable", deadline=None)  # a busy machine is no failure
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "singletable")


@pytest.fixture(scope="session", autouse=True)
def no_real_aws() -> Iterator[None]:
    """Take the developer's AWS settings away, so that a test that forgets its endpoint cannot reach an account."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


@pytest.fixture(scope="session")
def dynoxide_url() -> Iterator[str]:
    """Give the URL of a dynoxide that runs for the session and keeps everything in memory."""
    yield from _url_of(DYNOXIDE)


@pytest.fixture(scope="session")
def dynalite_url() -> Iterator[str]:
    """Give the URL of a dynalite that runs for the session and keeps everything in memory."""
    yield from _url_of(DYNALITE)


def _url_of(engine: Engine) -> Iterator[str]:
    try:
        program = find(engine)
    except EngineMissing as missing:
        if os.environ.get("SINGLETABLE_REQUIRE_ENGINES") == "1":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
    with running(engine, program) as url:
        yield url


@pytest.fixture
def table_name(request: pytest.FixtureRequest) -> str:
    """Give a table name that no other test has; the engines are shared and tell nobody apart."""
    test = re.sub("[^a-zA-Z0-9_.-]", "-", request.node.name)[:200]
    return f"{test}-{uuid.uuid4().hex}"
