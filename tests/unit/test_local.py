"""The embedded engine: whatever the AWS configuration of its user is, it works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
sys.path[:] = {paths!r}
from singletable import Entity, Field, Key, Store, Table

box = Table("box")

class Thing(Entity, table=box, tag="thing"):
    number: Field[int]
    key = Key(pk="#THING#{{number}}", sk="#THING")

store = Store.local(box)
store.create(Thing(number=7))
print(store.one(Thing.at(number=7)).number)
"""

NOPE = {"AWS_PROFILE": "nope", "AWS_DEFAULT_PROFILE": "nope"}
ODD = {
    "AWS_MAX_ATTEMPTS": "many",
    "AWS_RETRY_MODE": "wild",
    "AWS_DEFAULTS_MODE": "odd",
    "AWS_ENDPOINT_URL": "nowhere",
    "AWS_CA_BUNDLE": "/nowhere/ca.pem",
    "AWS_USE_FIPS_ENDPOINT": "true",
    "AWS_USE_DUALSTACK_ENDPOINT": "true",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "odd",
    "AWS_REQUEST_CHECKSUM_CALCULATION": "odd",
    "AWS_DEFAULT_REGION": "!",
    "HTTPS_PROXY": "http://127.0.0.1:1",
}


@pytest.mark.parametrize(
    ("text", "settings"),
    [("[default\nregion", NOPE), ("[default]\nregion = !\nretry_mode = wild\n", ODD)],
    ids=["broken", "odd"],
)
def test_no_configuration_of_the_user_is_read(text: str, settings: dict[str, str], tmp_path: Path) -> None:
    """A store on the embedded engine works with broken and odd files, a profile that is missing and odd settings."""
    files = [tmp_path / "config", tmp_path / "credentials"]
    for file in files:
        file.write_text(text, encoding="utf-8")
    names = {"AWS_CONFIG_FILE": str(files[0]), "AWS_SHARED_CREDENTIALS_FILE": str(files[1])}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(paths=sys.path)],
        env={**os.environ, **names, **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("7\n", 0), ran.stderr
