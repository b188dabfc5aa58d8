"""A copy of a table that is some writes behind, for the answers of an index that lags.

Theory of operation. A global index of DynamoDB follows its table a moment later, and no local engine imitates that. So
a second table of the same shape stands beside the first. Before a write through the transport goes out, the keys it
will touch are noted as they are stored then; the copy is brought forward, so that it lacks exactly the last writes. An
index query that shall be stale is asked of the copy. The steps yield (method, params) and are sent the answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from threading import RLock
from typing import Any, TypeAlias

__all__ = ["Lagging"]

Steps: TypeAlias = Generator[tuple[str, Mapping[str, Any]], Any, Any]

KINDS = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")


class Lagging:
    """Keeps one copy for each table, `lag` writes behind. A write of a batch counts as one for each of its items."""

    def __init__(self, lag: int) -> None:
        self._lag = lag
        self._lock = RLock()
        self._keys: dict[str, list[str]] = {}
        self._waiting: dict[str, deque[Mapping[str, Any]]] = {}

    def table(self, name: str) -> Steps:
        """Make the copy if there is none yet, bring it forward, and give its name."""
        if name not in self._keys:
            yield from self._copy(name)
        yield from self._forward(name, self._lag)
        return copy_of(name)

    def before(self, method: str, params: Mapping[str, Any]) -> Steps:
        """Make the copies that a write will need, while the table is as it was before it."""
        for name in dict.fromkeys(name for name, _ in _writes(method, params)):
            if name not in self._keys:
                yield from self._copy(name)

    def wrote(self, method: str, params: Mapping[str, Any]) -> None:
        """Note that a write went out; whether it was carried out shows when the copy follows."""
        with self._lock:
            for name, written in _writes(method, params):
                self._waiting[name].append({each: written[each] for each in self._keys[name]})

    def _copy(self, name: str) -> Steps:
        described = (yield "describe_table", {"TableName": name})["Table"]
        shape = {part: described[part] for part in ("AttributeDefinitions", "KeySchema")}
        for kind in KINDS:
            if described.get(kind):
                wanted = ("IndexName", "KeySchema", "Projection")
                shape[kind] = [{part: index[part] for part in wanted} for index in described[kind]]
        yield "create_table", {"TableName": copy_of(name), "BillingMode": "PAY_PER_REQUEST", **shape}
        start: dict[str, Any] = {}
        while True:
            page = yield "scan", {"TableName": name, "ConsistentRead": True, **start}
            for item in page["Items"]:
                yield "put_item", {"TableName": copy_of(name), "Item": item}
            if "LastEvaluatedKey" not in page:
                break
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        with self._lock:
            self._keys[name] = [each["AttributeName"] for each in described["KeySchema"]]
            self._waiting.setdefault(name, deque())

    def _forward(self, name: str, lag: int) -> Steps:
        """Bring the copy up to all but the last writes; a key that is among those too stays as it is."""
        with self._lock:
            waiting = self._waiting[name]
            due = [waiting.popleft() for _ in range(max(0, len(waiting) - lag))]
            kept = list(waiting)
        for key in due:
            if key not in kept:
                item = (yield "get_item", {"TableName": name, "Key": key, "ConsistentRead": True}).get("Item")
                if item is None:
                    yield "delete_item", {"TableName": copy_of(name), "Key": key}
                else:
                    yield "put_item", {"TableName": copy_of(name), "Item": item}


def copy_of(name: str) -> str:
    """Name the copy of a table.

    >>> copy_of("shop")
    'shop.behind'
    """
    return f"{name}.behind"


def _writes(method: str, params: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """List what a request writes: the table, and a mapping that holds the key attributes.

    >>> _writes("put_item", {"TableName": "t", "Item": {"PK": {"S": "a"}, "n": {"N": "1"}}})
    [('t', {'PK': {'S': 'a'}, 'n': {'N': '1'}})]
    >>> _writes("get_item", {"TableName": "t", "Key": {"PK": {"S": "a"}}})
    []
    """
    if method in ("put_item", "update_item", "delete_item"):
        return [(params["TableName"], params.get("Key") or params["Item"])]
    if method == "batch_write_item":
        entries = [(name, part) for name, parts in params["RequestItems"].items() for part in parts]
        return [
            (name, part["PutRequest"]["Item"] if "PutRequest" in part else part["DeleteRequest"]["Key"])
            for name, part in entries
        ]
    if method == "transact_write_items":
        actions = [(kind, action) for entry in params["TransactItems"] for kind, action in entry.items()]
        return [
            (action["TableName"], action.get("Key") or action["Item"])
            for kind, action in actions
            if kind != "ConditionCheck"
        ]
    return []
