"""Store and AsyncStore are one interface in two colours: the same names, the same parameters, the same answers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from singletable import SequenceHandle, Store
from singletable.aio import AsyncRows, AsyncSequenceHandle, AsyncStore
from singletable.rows import Rows

OWN_NEVER = {"local"}
"""What only one colour can do: the other has it too, and refuses."""

SENDS_NEVER = {"scoped", "sequence"}
"""What only makes another store, or a handle, so that there is nothing to wait for."""


def public(kind: type) -> dict[str, Any]:
    """List what a class offers, by name."""
    members = {name: found for base in reversed(kind.__mro__[:-1]) for name, found in vars(base).items()}
    return {name: found for name, found in members.items() if not name.startswith("_")}


def plain(found: Any) -> Callable[..., Any]:
    """Give the function behind a method, a class method or a property."""
    if isinstance(found, property):
        assert found.fget is not None
        return found.fget
    function: Callable[..., Any] = getattr(found, "__func__", found)
    return function


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any, Any]]:
    """List the parameters of a function: name, kind, default and annotation; rows of either colour are rows."""
    given = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default, re.sub("AsyncRows", "Rows", str(each.annotation))) for each in given]


@pytest.mark.parametrize(
    ("sync", "awaited"), [(Store, AsyncStore), (Rows, AsyncRows), (SequenceHandle, AsyncSequenceHandle)]
)
def test_the_names_are_the_same(sync: type, awaited: type) -> None:
    """Each colour offers every name of the other, and no more."""
    assert public(sync).keys() == public(awaited).keys()


@pytest.mark.parametrize("name", ["__init__", *public(Store)])
def test_the_parameters_are_the_same(name: str) -> None:
    """Every verb takes the same parameters: names, kinds, defaults and types."""
    assert parameters(plain(inspect.getattr_static(Store, name))) == parameters(
        plain(inspect.getattr_static(AsyncStore, name))
    )


@pytest.mark.parametrize("name", sorted(public(Store).keys() - OWN_NEVER))
def test_the_answers_are_the_same(name: str) -> None:
    """Every verb gives the same type, but for waiting: rows are asynchronous rows."""
    sync, awaited = plain(inspect.getattr_static(Store, name)), plain(inspect.getattr_static(AsyncStore, name))
    assert re.sub(r"\b(Rows|SequenceHandle)\b", r"Async\1", str(inspect.signature(sync).return_annotation)) == str(
        inspect.signature(awaited).return_annotation
    )


@pytest.mark.parametrize("name", public(Store))
def test_what_sends_is_awaited(name: str) -> None:
    """Every verb is a coroutine function in the one colour, unless it gives rows to walk, and in the other never."""
    found = inspect.getattr_static(AsyncStore, name)
    rows = str(inspect.signature(plain(found)).return_annotation).startswith("AsyncRows")
    sends = inspect.isfunction(found) and not rows and name not in SENDS_NEVER
    assert inspect.iscoroutinefunction(plain(found)) is sends
    assert not inspect.iscoroutinefunction(plain(inspect.getattr_static(Store, name)))


@pytest.mark.parametrize("name", public(SequenceHandle))
def test_the_verbs_of_a_handle(name: str) -> None:
    """A handle's verbs take and give the same, awaited in the one colour."""
    sync, awaited = getattr(SequenceHandle, name), getattr(AsyncSequenceHandle, name)
    assert inspect.signature(sync) == inspect.signature(awaited)
    assert inspect.iscoroutinefunction(awaited)


def test_stores_are_entered_and_rows_are_walked_in_their_colour() -> None:
    """The asynchronous colour has `async with` and `async for` where the other has `for`, and neither has both."""
    assert hasattr(AsyncStore, "__aenter__")
    assert hasattr(AsyncStore, "__aexit__")
    assert hasattr(Rows, "__iter__")
    assert not hasattr(Rows, "__aiter__")
    assert hasattr(AsyncRows, "__aiter__")
    assert not hasattr(AsyncRows, "__iter__")
