"""The changes of an update, as its user hands them over: listed, and checked to be of what can be changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from singletable.errors import UnknownField, UsageError, closest
from singletable.expressions import Change
from singletable.fields import Field, computed
from singletable.operations.outcome import check_places, field_of
from singletable.schema import Model

__all__ = ["changes_of", "check_changes"]


def changes_of(model: Model, given: Iterable[Change | Mapping[str, object]]) -> tuple[Change, ...]:
    """List changes; a mapping sets each field it names, and None removes it. UnknownField for a name that is none."""
    changes: list[Change] = []
    for each in given:
        if isinstance(each, Change):
            changes.append(each)
        elif isinstance(each, Mapping):
            changes.extend(_named(model, name).set(value) for name, value in each.items())
        else:
            raise UsageError(
                f"update() was given {type(each).__name__}, wanted a change or a mapping",
                hint='such as Order.status.set("PAID"), or {"status": "PAID"}',
            )
    return tuple(changes)


def _named(model: Model, name: str) -> Field[Any]:
    if name not in model.fields:
        raise UnknownField(f"{model.name} has no field {name!r}", hint=closest(name, model.fields), field=name)
    return model.fields[name]


def check_changes(model: Model, changes: tuple[Change, ...], *, making: bool) -> None:
    """Raise UsageError for an update that changes nothing, one place twice, or what cannot be changed.

    Where it may make the item (`making`), read-only fields may be given.
    """
    if not changes:
        raise UsageError("an update without a change", hint='hand over changes, such as Order.status.set("PAID")')
    check_places(model, changes)
    for change in changes:
        each = field_of(model, change)
        if each.name in model.primary.parts:
            raise UsageError(
                f"{model.name}.{each.name} is part of the primary key, which an item keeps for life",
                hint="store.move(ref, ...) puts the item at another key",
            )
        if isinstance(each, computed):
            raise UsageError(f"{model.name}.{each.name} is computed", hint="change the fields it is computed from")
        if each.kept:
            raise UsageError(f"{model.name}.{each.name} {each.kept}", hint="leave it out of the update")
        if each.read_only and not (making and change.action == "set" and change.is_plain):
            raise UsageError(
                f"{model.name}.{each.name} is read-only",
                hint="its value is given when the entity is made; store.put(...) replaces a whole item",
            )
