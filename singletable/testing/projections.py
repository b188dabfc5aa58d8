"""What of an item a reader is shown."""

from __future__ import annotations

from collections.abc import Sequence

from singletable.expressions import Path
from singletable.judging import at
from singletable.testing.values import stored
from singletable.wire import AttributeValue, Item

__all__ = ["projected"]


def projected(paths: Sequence[Path], item: Item) -> Item:
    """Give no more of an item than stands at some paths; elements of a list close up, in their order.

    >>> projected([Path(("a", 2)), Path(("a", 0))], {"a": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}]}, "b": {"N": "4"}})
    {'a': {'L': [{'N': '1'}, {'N': '3'}]}}
    """
    found: Item = _below({"M": item}, [path.segments for path in paths])["M"]
    return found


def _below(value: AttributeValue, paths: Sequence[tuple[str | int, ...]]) -> AttributeValue:
    if () in paths:
        return stored(value)
    steps: dict[str | int, list[tuple[str | int, ...]]] = {}
    for first, *rest in paths:
        if at((first, *rest), value) is not None:
            steps.setdefault(first, []).append(tuple(rest))
    if "M" in value:
        return {"M": {name: _below(value["M"][name], steps[name]) for name in value["M"] if name in steps}}
    return {"L": [_below(each, steps[place]) for place, each in enumerate(value["L"]) if place in steps]}
