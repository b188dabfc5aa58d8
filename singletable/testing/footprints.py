"""What a request looks at and what it writes, known beforehand: two that do not touch may change places.

Theory of operation. A footprint holds places: an item, a partition of a table, an index, a table, a token. A write of
an item writes its place, and touches the partition, the indexes and the table it stands in, where only queries and
scans look: two writes that touch one partition may change places. A failed condition is counted as the write it might
have been, so that a footprint does not depend on what stands there, and whether two requests may change places is the
same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from singletable.expressions import Condition, Path
from singletable.testing.grammar import Placeholders, read_condition
from singletable.testing.memory import Memory
from singletable.testing.tables import Held
from singletable.testing.values import identity

__all__ = ["EVERYTHING", "NOTHING", "Footprint", "footprint_of"]


@dataclass(frozen=True, slots=True)
class Footprint:
    """The places that a request reads, writes and touches. `whole` stands for all places there are."""

    reads: frozenset[Hashable] = frozenset()
    writes: frozenset[Hashable] = frozenset()
    touches: frozenset[Hashable] = frozenset()
    whole: bool = False

    def meets(self, other: Footprint) -> bool:
        """Say whether one of two requests writes where the other reads or writes."""
        if self.whole or other.whole:
            return True
        if not self.writes.isdisjoint(other.writes):
            return True
        return self._disturbs(other) or other._disturbs(self)

    def _disturbs(self, other: Footprint) -> bool:
        return not (self.writes.isdisjoint(other.reads) and self.touches.isdisjoint(other.reads))


NOTHING = Footprint()
EVERYTHING = Footprint(whole=True)


def footprint_of(memory: Memory, method: str, params: Mapping[str, Any]) -> Footprint:
    """Give the footprint of a request. Whatever is about tables as such, or no request of the model, meets all."""
    if method not in _READERS:
        return EVERYTHING
    reads: set[Hashable] = set()
    writes: set[Hashable] = set()
    touches: set[Hashable] = set()
    for table, part, key in _READERS[method](params):
        held = memory.held(table)
        place = held.shape.place(key) if key is not None else None
        if part == "read":
            reads.add(("item", table, place))
        elif part == "write":
            writes.add(("item", table, place))
            touches.update(_touched(held, table, place))
        else:
            reads.add(_asked(held, table, params))
    if "ClientRequestToken" in params:
        writes.add(("token", params["ClientRequestToken"]))
    return Footprint(frozenset(reads), frozenset(writes), frozenset(touches))


def _touched(held: Held, table: str, place: tuple[Hashable, ...] | None) -> Iterator[Hashable]:
    """Give what a write touches that queries and scans look at. An index is touched as a whole."""
    yield "partition", table, (place or ())[: len(held.shape.pks)]
    yield "table", table
    for index in held.indexes:
        yield "index", table, index


def _asked(held: Held, table: str, params: Mapping[str, Any]) -> Hashable:
    """Give what a query or scan looks at."""
    if "IndexName" in params:
        return "index", table, params["IndexName"]
    if "KeyConditionExpression" not in params:
        return "table", table
    given: dict[str, Hashable] = {}
    _gather(read_condition(params["KeyConditionExpression"], Placeholders(params)), given)
    if not set(held.shape.pks) <= set(given):
        return "table", table
    return "partition", table, tuple(given[name] for name in held.shape.pks)


def _gather(condition: Condition, given: dict[str, Hashable]) -> None:
    """Collect what a key condition says its attributes are equal to."""
    if condition.operator == "AND":
        for each in condition.operands:
            if isinstance(each, Condition):
                _gather(each, given)
    elif condition.operator == "=":
        path, value = condition.operands
        if isinstance(path, Path) and isinstance(value, dict):
            given[path.attribute] = identity(value)


# The items of a request: table, "read", "write" or "ask", and key


def _one(part: str, params: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    yield params["TableName"], part, None if part == "ask" else params.get("Key") or params["Item"]


def _batch_get(params: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for table, batch in params["RequestItems"].items():
        yield from ((table, "read", key) for key in batch["Keys"])


def _batch_write(params: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for table, elements in params["RequestItems"].items():
        for element in elements:
            (each,) = element.values()
            yield table, "write", each.get("Key") or each["Item"]


def _transaction(params: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for element in params["TransactItems"]:
        ((kind, each),) = element.items()
        part = "read" if kind in ("Get", "ConditionCheck") else "write"
        yield each["TableName"], part, each.get("Key") or each["Item"]


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[tuple[str, str, Any]]]] = {
    "get_item": partial(_one, "read"),
    **dict.fromkeys(("put_item", "update_item", "delete_item"), partial(_one, "write")),
    **dict.fromkeys(("query", "scan"), partial(_one, "ask")),
    "batch_get_item": _batch_get,
    "batch_write_item": _batch_write,
    "transact_get_items": _transaction,
    "transact_write_items": _transaction,
}
