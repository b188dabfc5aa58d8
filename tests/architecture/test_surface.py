"""What `import singletable` offers, and what it does not load."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import singletable

HEAVY = ("boto3", "botocore", "aiobotocore", "moto", "pynamodb.models")

DECLARATIONS = '''
from datetime import UTC, datetime
from typing import Self
from singletable import AutoIncrement, Entity, Field, GlobalIndex, Key, Query, Store, Table, pattern

gsi1 = GlobalIndex("GSI1")
app = Table("app", indexes=[gsi1])

class User(Entity, table=app, tag="user"):
    user_id: Field[str]
    name: Field[str]
    email: Field[str | None] = Field(default=None)

    key = Key(pk="#USER#{user_id}", sk="#PROFILE")
    by_email = Key(on=gsi1, pk="#EMAIL#{email}", sk="#USER")

class Order(Entity, table=app, tag="order"):
    user_id: Field[str]
    order_id: Field[int] = AutoIncrement()
    status: Field[str] = Field(default="PENDING")
    placed_at: Field[datetime]

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    by_status = Key(on=gsi1, pk="#ORDERS#{user_id}", sk="#{status}#{placed_at}")

    @classmethod
    @pattern
    def pending(cls, user_id: str) -> Query[Self]:
        """A user's pending orders, newest first."""
        return cls.by_status(user_id=user_id, status="PENDING").descending()

class OrderLine(Entity, table=app, tag="line"):
    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]
    sku: Field[str]
    key = Key(within=Order.key, sk="#LINE#{line_no}")

class Region(Entity, table=app, tag="region"):
    country: Field[str]
    path: Field[tuple[str, ...]]
    name: Field[str]
    key = Key(pk="#COUNTRY#{country}", sk="#REGION#{path*}")

ann = User(user_id="u1", name="Ann")
'''
"""The classes of the README's program, and one entity made of them."""


def public_names() -> set[str]:
    """List the names that stand in the package without an underscore; modules and `from __future__` are no names."""
    hidden = (ModuleType, type(annotations))
    return {name for name, value in vars(singletable).items() if name[0] != "_" and not isinstance(value, hidden)}


def loaded_after(program: str, folder: Path) -> list[str]:
    """Run a program in a fresh process and list which heavy libraries it loaded."""
    script = folder / "program.py"
    report = f"import sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])\n"
    script.write_text(f"{program}\n{report}", encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_all_names_exactly_what_is_public() -> None:
    """`__all__` can be imported name by name, and no public name is missing from it or named twice."""
    offered = {name: getattr(singletable, name) for name in singletable.__all__}
    assert len(offered) == len(singletable.__all__)
    assert public_names() | set(offered) == set(offered)


@pytest.mark.parametrize("name", sorted(singletable.__all__))
def test_every_public_name_says_what_it_is(name: str) -> None:
    """Each public class and function has a docstring of its own, neither inherited nor made by dataclass."""
    value = getattr(singletable, name)
    own = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    assert own
    assert not own.startswith(f"{name}(")


def test_the_package_has_typing() -> None:
    """The marker that tells type checkers to read the package's annotations is in it."""
    assert (Path(singletable.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("program", ["import singletable", DECLARATIONS], ids=["import", "declarations"])
def test_declaring_loads_nothing_heavy(program: str, tmp_path: Path) -> None:
    """Neither the import nor the declaration of entities loads an AWS library, moto or PynamoDB's models."""
    assert loaded_after(program, tmp_path) == []


def test_a_heavy_import_would_be_seen(tmp_path: Path) -> None:
    """The fresh process reports a heavy library once it is loaded."""
    assert loaded_after("import botocore", tmp_path) == ["botocore"]
