"""Nothing public is undocumented: names, error codes and options, each on the page where a reader looks for it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping

import pytest

import singletable
from singletable import (
    AutoIncrement,
    Entity,
    GlobalIndex,
    Key,
    LocalIndex,
    Sequence,
    SingleTableError,
    Store,
    Table,
    errors,
)
from singletable.aio import AsyncStore
from singletable.declaration import Declaration
from tests.engines import PROJECT

DOCS = PROJECT / "docs"
OPTIONS: Mapping[str, tuple[Callable[..., object], str]] = {
    "AutoIncrement": (AutoIncrement.__init__, "numbers.md"),
    "Sequence": (Sequence.__init__, "numbers.md"),
    "Field": (vars(Declaration)["__init__"], "reference.md"),
    "Key": (Key.__init__, "reference.md"),
    "Table": (Table.__init__, "reference.md"),
    "Entity": (Entity.__init_subclass__, "reference.md"),
    "Store": (Store.__init__, "local.md"),
    "AsyncStore": (AsyncStore.__init__, "async.md"),
}
NAMELESS = {
    "AutoIncrement": {"strategy"},  # the first argument, never named
    "Sequence": {"name"},
    "Entity": {"rest"},  # goes on to other bases
    "Store": {"table"},
    "AsyncStore": {"table"},
}


def page(name: str) -> str:
    """Read a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def described(option: str, text: str) -> bool:
    """Say whether a page has an option in a row of a table, or used with its value."""
    return re.search(rf"^\| `{option}` \||\b{option}=", text, re.MULTILINE) is not None


def codes() -> dict[str, str]:
    """Give the code of every error class by its name."""
    classes = [value for value in vars(errors).values() if inspect.isclass(value)]
    return {kind.__name__: kind.code for kind in classes if issubclass(kind, SingleTableError)}


@pytest.mark.parametrize("name", singletable.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """The reference shows the docstring of every public name, exactly once."""
    shown = re.findall(rf"^\.\. auto\w+:: singletable\.{name}$", page("reference.md"), re.MULTILINE)
    assert len(shown) == 1


def test_the_reference_shows_nothing_else() -> None:
    """What the reference shows can be imported from singletable."""
    shown = re.findall(r"^\.\. auto\w+:: singletable\.(\w+)$", page("reference.md"), re.MULTILINE)
    assert set(shown) == set(singletable.__all__)


@pytest.mark.parametrize(("name", "code"), codes().items())
def test_every_error_stands_with_its_code(name: str, code: str) -> None:
    """The tree has the class with its own code; every class but the base has a row that says what to do."""
    text = page("errors.md")
    assert re.search(rf"\b{name} +{code}\b", text)
    assert name == "SingleTableError" or re.search(rf"^\| {code} \| `{name}` \| .+ \| .+ \|$", text, re.MULTILINE)


def test_every_code_is_used_once() -> None:
    """A code names one class, so that it can be looked up; the page has as many rows as there are classes."""
    every = codes()
    assert len(set(every.values())) == len(every)
    assert len(re.findall(r"^\| ST\d{4} \|", page("errors.md"), re.MULTILINE)) == len(every) - 1


@pytest.mark.parametrize("owner", OPTIONS)
def test_every_option_is_described(owner: str) -> None:
    """Each option that a class takes stands on the page that the reference names for it."""
    function, where = OPTIONS[owner]
    text = page(where)
    options = set(inspect.signature(function).parameters) - {"self", "cls"} - NAMELESS.get(owner, set())
    assert {option for option in options if not described(option, text)} == set()


def test_index_options_are_described() -> None:
    """An index takes what its docstring names, and nothing that the reader is not told of."""
    assert set(inspect.signature(GlobalIndex).parameters) == {"name", "pk", "sk", "projection"}
    assert set(inspect.signature(LocalIndex).parameters) == {"name", "sk", "projection"}
    assert "`GSI1PK`" in page("keys.md")
    assert "| `projection=` |" in page("indexes.md")


@pytest.mark.parametrize("verb", [name for name in vars(Store) if not name.startswith("_")])
def test_every_verb_has_a_docstring(verb: str) -> None:
    """Each verb of a store says what it does, in both colours; the reference shows all of them."""
    assert inspect.getdoc(getattr(Store, verb))
    assert inspect.getdoc(getattr(AsyncStore, verb))
