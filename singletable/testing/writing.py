"""Writes of the in-memory model: planned against what stands there, then carried out, one or all together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Inexact
from typing import Any

from singletable.applying import applied
from singletable.errors import PlaceMissing
from singletable.expressions import Change, Function, Path, Term, paths_in
from singletable.judging import at, holds
from singletable.scalars import CodecError
from singletable.sizes import ITEM_BYTES, item_size
from singletable.testing.answers import NotModelled, Refused, invalid
from singletable.testing.grammar import Placeholders, read_changes, read_condition
from singletable.testing.tables import Held, check_index_keys, key_of
from singletable.testing.values import stored_item
from singletable.wire import AttributeValue, Item

__all__ = ["Planned", "plan", "returned"]

_EMPTY: Item = {}
_RETURNS = {
    "put": ("NONE", "ALL_OLD"),
    "delete": ("NONE", "ALL_OLD"),
    "update": ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"),
    "check": ("NONE",),
}


@dataclass(frozen=True, slots=True)
class Planned:
    """A write that may be carried out: what stood at its key, and what will (None: nothing)."""

    held: Held
    place: tuple[Hashable, ...]
    old: Item | None
    new: Item | None
    changes: tuple[Change, ...] = ()

    def carry_out(self) -> None:
        """Put the new item in the old one's place."""
        if self.new is None:
            self.held.items.pop(self.place, None)
        elif self.new is not self.old:
            self.held.items[self.place] = self.new


def plan(held: Held, kind: str, params: Mapping[str, Any]) -> Planned:
    """Work out what a write of a kind (put, update, delete, check) would do; nothing is changed.

    Refused with ConditionalCheckFailedException, and the old item where it is asked for, where its condition fails.
    """
    if params.get("ReturnValues", "NONE") not in _RETURNS[kind]:
        invalid(f"ReturnValues={params['ReturnValues']} is not for {kind}")
    place = key_of(held, params["Item"] if kind == "put" else params["Key"], whole=kind == "put")
    placeholders = Placeholders(params)
    condition = None
    if "ConditionExpression" in params:
        condition = read_condition(params["ConditionExpression"], placeholders)
    changes = read_changes(params["UpdateExpression"], placeholders) if "UpdateExpression" in params else []
    placeholders.check_used()
    old = held.items.get(place)
    if condition is not None and not holds(condition, old or _EMPTY):
        shown = params.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and old is not None
        more = {"Item": stored_item(old)} if old is not None and shown else {}
        raise Refused("ConditionalCheckFailedException", "The conditional request failed", **more)
    return Planned(held, place, old, _MAKES[kind](held, params, old, changes), tuple(changes))


def returned(planned: Planned, wanted: str) -> dict[str, Any]:
    """Give the attributes that a write answers with."""
    shown = planned.old if wanted.endswith("OLD") else planned.new
    if wanted == "NONE" or shown is None:
        return {}
    if wanted.startswith("UPDATED"):
        names = {change.path.attribute for change in planned.changes}
        shown = {name: shown[name] for name in shown if name in names}
    return {"Attributes": stored_item(shown)} if shown else {}


# What stands there afterwards


def _put(held: Held, params: Mapping[str, Any], _: Item | None, __: list[Change]) -> Item:
    return _fits(held, stored_item(params["Item"]))


def _delete(_: Held, __: Mapping[str, Any], ___: Item | None, ____: list[Change]) -> None:
    return None


def _keep(_: Held, params: Mapping[str, Any], old: Item | None, __: list[Change]) -> Item | None:
    if "ConditionExpression" not in params:
        invalid("a condition check has no condition")
    return old


def _update(held: Held, params: Mapping[str, Any], old: Item | None, changes: list[Change]) -> Item | None:
    wanted = params.get("ReturnValues", "NONE")
    if wanted.startswith("UPDATED") and any(change.path.is_nested for change in changes):
        raise NotModelled(f"ReturnValues={wanted} of what stands inside a list or map is not modelled")
    if old is None and changes and all(change.action in ("remove", "delete") for change in changes):
        if wanted != "NONE" or any(change.path.is_nested for change in changes):
            raise NotModelled("to remove from an item that is not there, and ask what stood there, is not modelled")
        return None  # ScyllaDB, issue 5862, on DynamoDB itself
    before = stored_item(params["Key"]) if old is None else old
    for change in changes:
        if change.path.attribute in held.shape.names:
            invalid("an update changes an attribute of the key")
        _check_types(change, before)
    try:
        return _fits(held, applied(changes, before))
    except PlaceMissing:
        invalid("The document path provided in the update expression is invalid for update")
    except (CodecError, Inexact):
        invalid("a number has more than 38 digits, or is too large or too small")


_MAKES: Mapping[str, Callable[[Held, Mapping[str, Any], Item | None, list[Change]], Item | None]] = {
    "put": _put,
    "update": _update,
    "delete": _delete,
    "check": _keep,
}


def _fits(held: Held, item: Item) -> Item:
    check_index_keys(held, item)
    if item_size(item) > ITEM_BYTES:
        invalid("Item size has exceeded the maximum allowed size")
    return item


def _check_types(change: Change, item: Item) -> None:
    """Refuse a change of what is stored with another type than it works on, or that reads what is not there."""
    for path in _read_by(change.value):
        if at(path.segments, {"M": item}) is None:
            invalid("The provided expression refers to an attribute that does not exist in the item")
    value, there = change.value, at(change.path.segments, {"M": item})
    if (
        change.action in ("add", "delete")
        and isinstance(value, dict)
        and there is not None
        and not value.keys() & there
    ):
        invalid("An operand in the update expression has an incorrect data type")
    for function in _functions(value):
        wanted = "L" if function.name == "list_append" else "N"
        if any(wanted not in operand for operand in _operands(function, item)):
            invalid("An operand in the update expression has an incorrect data type")


def _functions(term: Term | None) -> Iterator[Function]:
    """Give the sums and joined lists in the right side of a change."""
    if isinstance(term, Function):
        if term.name != "if_not_exists":
            yield term
        for each in term.terms:
            yield from _functions(each)


def _operands(function: Function, item: Item) -> Iterator[AttributeValue]:
    """Give the values that a sum or joined list is made of; what is itself worked out is judged where it stands."""
    for term in function.terms:
        chosen: Term = term
        while isinstance(chosen, Function) and chosen.name == "if_not_exists":
            first, second = chosen.terms
            chosen = first if isinstance(first, Path) and at(first.segments, {"M": item}) is not None else second
        if isinstance(chosen, Path):
            yield at(chosen.segments, {"M": item}) or {"NULL": True}
        elif isinstance(chosen, dict):
            yield chosen


def _read_by(term: Term | None) -> Iterator[Path]:
    """Give the places that must be there for a change to be worked out."""
    if isinstance(term, Function) and term.name == "if_not_exists":
        return
    if isinstance(term, Function):
        for each in term.terms:
            yield from _read_by(each)
    else:
        yield from paths_in(term)
