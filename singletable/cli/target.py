"""What a command works on: a table or a store in the user's code, and where the table lies.

A target is `module:name` as uvicorn writes it: the name of a module that can be imported from here, and of a `Table` or
`Store` in it. Region, credentials and endpoint come from where boto3 takes them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import click

from singletable import Entity, SingleTableError, Store, Table
from singletable.keys import plain_type
from singletable.wording import closest

__all__ = ["Place", "address", "confirmed", "entity_of", "opened", "parts_of", "placed", "told"]

F = TypeVar("F", bound=Callable[..., Any])

LOCAL = ("localhost", "127.0.0.1", "::1")
READERS: Mapping[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    Decimal: Decimal,
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    UUID: UUID,
    bool: lambda text: {"true": True, "false": False}[text.lower()],
}
"""How a part of a key is read from the command line, by the type of its field."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table lies, as the options of `placed` say it."""

    name: str | None
    endpoint_url: str | None
    region: str | None
    scope: tuple[str, ...]


@contextmanager
def told() -> Generator[None]:
    """End with one line for an error that singletable raises."""
    try:
        yield
    except SingleTableError as error:
        said = f"{error.message} ({error.hint})" if error.hint else error.message
        raise click.ClickException(f"{error.code} {' '.join(said.split())}") from error


def address(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    """Refuse what is no address, before anything is made of it."""
    if given is not None:
        try:
            parts = urlsplit(given)
            fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            fine = False
        if not fine:
            raise click.BadParameter("no address of an engine, such as http://127.0.0.1:8000")
    return given


def placed(command: F) -> F:
    """Give a command the options that say where its table lies."""
    options = (
        click.option("--name", metavar="TABLE", help="The table's name there, if it is not that of the declaration."),
        click.option("--endpoint-url", metavar="URL", callback=address, help="Ask this engine instead of AWS."),
        click.option("--region", metavar="REGION", help="The AWS region, if it is not that of the environment."),
        click.option("--scope", metavar="PART=VALUE", multiple=True, help="The tenant, for a table with a scope."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def opened(target: str, place: Place) -> Store:
    """Give the store that a target is, or one on the table that it is."""
    found = _found(target)
    if isinstance(found, Store):
        if place.name or place.endpoint_url or place.region:
            raise click.UsageError(f"{target} is a Store, which has its place: no --name, --endpoint-url or --region")
        store = found
    elif isinstance(found, Table):
        store = Store(found, place.name, endpoint_url=place.endpoint_url, region=place.region)
    else:
        raise click.UsageError(f"{target} is a {type(found).__name__}, wanted a Table or a Store")
    return store.scoped(**dict(map(_pair, place.scope))) if place.scope else store


def _found(target: str) -> object:
    module, colon, name = target.partition(":")
    if not colon or not module or not name or module.startswith("."):
        raise click.UsageError(f"{target!r} is no target, wanted module:table, such as shop.tables:app")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise click.UsageError(f"no module {error.name!r} can be imported from {os.getcwd()}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            known: list[str] = [each for each in dir(found) if not each.startswith("_")]
            raise click.UsageError(f"{module} has no {part!r}; {closest(part, known)}")
        found = getattr(found, part)
    return found


def entity_of(store: Store, name: str) -> type[Entity]:
    """Find an entity of the store's table by the name of its class."""
    entities = {entity.__name__: entity for entity in store.table.entities}
    if name not in entities:
        raise click.UsageError(f"table {store.table.name!r} has no entity {name!r}; {closest(name, entities)}")
    return entities[name]


def parts_of(entity: type[Entity], given: Iterable[str]) -> dict[str, Any]:
    """Read parts of a key, PART=VALUE, as their fields' types say."""
    read: dict[str, Any] = {}
    for name, text in map(_pair, given):
        if name in read:
            raise click.UsageError(f"{name}= is given twice")
        field = entity.__fields__.get(name)
        read[name] = text if field is None else _value(name, plain_type(field.annotation), text)
    return read


def _pair(given: str) -> tuple[str, str]:
    name, equals, text = given.partition("=")
    if not equals or not name:
        raise click.UsageError(f"{given!r} is no PART=VALUE, such as user_id=u1")
    return name, text


def _value(name: str, kind: Any, text: str) -> Any:
    read = kind if isinstance(kind, type) and issubclass(kind, Enum) else READERS.get(kind, str)
    try:
        return read(text)
    except (ValueError, ArithmeticError, KeyError) as error:
        raise click.UsageError(f"{name}={text!r}: wanted {kind.__name__}") from error


def confirmed(store: Store, what: str, yes: bool) -> None:
    """Ask before something that cannot be undone; without a terminal, or away from this machine, --yes must say so."""
    if yes:
        return
    endpoint = str(store._connected().meta.endpoint_url)  # pyright: ignore[reportPrivateUsage]  # where a store sends is its own affair but here
    if urlsplit(endpoint).hostname not in LOCAL:
        raise click.UsageError(f"{what} at {endpoint}, which is not this machine: say --yes if you mean it")
    if not sys.stdin.isatty():
        raise click.UsageError(f"{what}: say --yes where nobody can be asked")
    click.confirm(f"{what}. Go on?", abort=True, err=True)
