"""A schedule in words, and as text that says it again to `replay=`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from singletable.testing.memory import Memory
from singletable.testing.runs import LOCK, Fate, Request
from singletable.wire import AttributeValue

__all__ = ["losses_of", "switches", "told", "written"]

_FATES: Mapping[str, Fate] = {"": "", "lost": "lost", "unsent": "unsent"}
_SAID = {"": "", "lost": "  << carried out, its reply lost", "unsent": "  << lost before it was carried out"}


def written(steps: Sequence[Request]) -> str:
    """Write an order of requests as text; `losses_of` reads it."""
    return " ".join(f"{step.key}!{step.fate}" if step.fate else step.key for step in steps)


def losses_of(text: str) -> tuple[list[str], dict[str, Fate]]:
    """Read the keys of requests in their order, and what becomes of them. ValueError for what is no schedule.

    >>> losses_of("0:1 1:1!lost 0:2")
    (['0:1', '1:1', '0:2'], {'1:1': 'lost'})
    """
    keys: list[str] = []
    losses: dict[str, Fate] = {}
    for step in text.split():
        key, _, fate = step.partition("!")
        if fate not in _FATES or ":" not in key:
            raise ValueError(f"{step!r} is no step of a schedule, such as 0:1 or 0:1!lost")
        keys.append(key)
        if fate:
            losses[key] = _FATES[fate]
    return keys, losses


def switches(steps: Sequence[Request]) -> int:
    """Count how often another actor goes on than the one before."""
    return sum(one.actor != other.actor for one, other in pairwise(steps))


def told(steps: Sequence[Request], memory: Memory) -> Iterator[str]:
    """Tell each request of a schedule in a line; the memory knows which attributes are keys."""
    for number, step in enumerate(steps, 1):
        strand = step.key.partition(":")[0]
        what = "takes a lock" if step.method == LOCK else f"{step.method} {_subject(memory, step.params)}"
        yield f"{number:3}  actor {strand}  {what}{_SAID[step.fate]}"


def _subject(memory: Memory, params: Mapping[str, Any]) -> str:
    """Say what a request is about."""
    if "TransactItems" in params:
        elements = [next(iter(element.items())) for element in params["TransactItems"]]
        return "; ".join(f"{kind} {_key(memory, each)}" for kind, each in elements)
    if "RequestItems" in params:
        return ", ".join(f"of {table}: {len(batch)}" for table, batch in params["RequestItems"].items())
    if "Key" in params or "Item" in params:
        return _key(memory, params)
    values = params.get("ExpressionAttributeValues", {}).values()
    return " ".join([params.get("IndexName", params.get("TableName", "")), *map(_value, values)])


def _key(memory: Memory, params: Mapping[str, Any]) -> str:
    """Show the key of the item that a request is about."""
    key = params.get("Key") or params["Item"]
    return " / ".join(_value(key[name]) for name in memory.held(params["TableName"]).shape.names if name in key)


def _value(value: AttributeValue) -> str:
    ((_, held),) = value.items()
    return held if isinstance(held, str) else repr(held)
