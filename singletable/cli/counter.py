"""`singletable counter`: the numbers of an entity, looked at and looked after."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from singletable import SequenceHandle, Store
from singletable.cli.target import Place, confirmed, entity_of, opened, parts_of, placed, told

__all__ = ["counter"]

GROUP = click.argument("group", metavar="[PART=VALUE]...", nargs=-1)
WHAT = (click.argument("target", metavar="MODULE:TABLE"), click.argument("entity", metavar="ENTITY"))
FIELD = click.option("--field", metavar="FIELD", help="The AutoIncrement field, where the entity has several.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON document instead.")


@click.group()
def counter() -> None:
    """Look at the numbers of an AutoIncrement field, draw some, or set them.

    MODULE:TABLE names a Table or Store in your code, ENTITY a class of it, and PART=VALUE the group that is counted:

        singletable counter peek shop.tables:app Order user_id=u1
    """


def _verb(name: str, *more: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Any]:
    """Make a command of a function that is given the store, the handle and its own arguments; what it gives is told."""

    def command(work: Callable[..., dict[str, Any]]) -> Any:
        def run(target: str, entity: str, group: tuple[str, ...], **options: Any) -> None:
            field, as_json = options.pop("field"), options.pop("as_json")
            place = Place(*(options.pop(key) for key in ("name", "endpoint_url", "region", "scope")))
            with told():
                store = opened(target, place)
                kind = entity_of(store, entity)
                handle = store.sequence(kind, field, **parts_of(kind, group))
                said = work(store, handle, **options)
            click.echo(json.dumps(said) if as_json else _line(said))

        run.__doc__ = work.__doc__
        for decorate in reversed([*WHAT, *more, GROUP, FIELD, placed, JSON]):
            run = decorate(run)
        return counter.command(name)(run)

    return command


def _line(said: dict[str, Any]) -> str:
    """Give the numbers alone: what a script wants."""
    (value,) = said.values()
    return "none" if value is None else str(value).strip("[]").replace(",", "")


YES = click.option("--yes", is_flag=True, help="Do not ask.")


@_verb("peek")
def peek(_: Store, handle: SequenceHandle) -> dict[str, Any]:
    """Print the last number issued; "none" before the first."""
    return {"last": handle.peek()}


@_verb("reserve", click.argument("count", type=int))
def reserve(_: Store, handle: SequenceHandle, count: int) -> dict[str, Any]:
    """Draw COUNT numbers for your own use, and print them: no entity is given one."""
    return {"reserved": list(handle.reserve(count))}


@_verb("set", click.argument("last", type=int), YES)
def set_last(store: Store, handle: SequenceHandle, last: int, yes: bool) -> dict[str, Any]:
    """Set the last number issued to LAST: the next one is above it. A counter is never set back."""
    confirmed(store, f"the {str(handle)[1:-1]} go on after {last}", yes)
    handle.set(last)
    return {"last": last}


@_verb("sync")
def sync(_: Store, handle: SequenceHandle) -> dict[str, Any]:
    """Raise the counter to the highest number stored, and print the last number issued then.

    Reads the partition, or the whole table where the numbers count for all of it.
    """
    return {"last": handle.sync()}


@_verb("reset", YES)
def reset(store: Store, handle: SequenceHandle, yes: bool) -> dict[str, Any]:
    """Forget the counter, so that numbers begin at the start again: where no item is left that has them."""
    confirmed(store, f"the {str(handle)[1:-1]} begin anew, and those that items still have are issued again", yes)
    handle.reset()
    return {"last": None}
