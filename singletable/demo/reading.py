"""Running an access pattern and weighing it: what is sent, what comes back, what DynamoDB reads and bills for it.

Theory of operation. DynamoDB bills a query for the items it reads, page by page, before any filter; what a filter
drops is paid for but never seen. So the store's own requests and their answers are overheard, and a page whose filter
dropped something (`ScannedCount` above `Count`) is asked for once more without the filter: the items that come back are
the items read.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from singletable import Entity, Query, Store
from singletable.operations.context import Context
from singletable.operations.query import ReadPage, next_asked
from singletable.operations.sending import send
from singletable.sizes import item_size, read_units
from singletable.wire import Call, NoReply, Refusal, Steps

__all__ = ["Cost", "Exchange", "Overhear", "Pattern", "Reading", "Weigh", "read", "unfiltered", "words"]

T = TypeVar("T")

SHOWN = 3
"""So many rows of an answer are kept to be shown."""

PLACEHOLDER = re.compile(r"[#:]\w+")


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """An access pattern: what it is for, the query in Python and as a value, and the columns worth showing."""

    title: str
    python: str
    query: Query[Any]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """What DynamoDB reads for a query: requests, items, their bytes, and read units (eventually consistent)."""

    requests: int = 0
    items: int = 0
    bytes: int = 0
    units: float = 0.0

    def with_page(self, items: int, size: int) -> Cost:
        """Add a page. Every page is rounded up on its own.

        >>> Cost().with_page(300, 53_000).with_page(1, 100)
        Cost(requests=2, items=301, bytes=53100, units=7.0)
        """
        return Cost(self.requests + 1, self.items + items, self.bytes + size, self.units + read_units(size))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A pattern that was run: what was sent, in words, how many rows came and how fast, the first of them, the cost."""

    pattern: Pattern
    index: str | None
    key_condition: str
    filter: str | None
    count: int
    first: tuple[Entity, ...]
    seconds: float
    cost: Cost


def read(store: Store, pattern: Pattern) -> Reading:
    """Run a pattern as `store.query` does, then weigh what was sent."""
    begun = time.perf_counter()
    rows, heard = store.run(Overhear(pattern.query))
    seconds = time.perf_counter() - begun
    params: Mapping[str, Any] = heard[0].params if heard else {}
    return Reading(
        pattern=pattern,
        index=pattern.query.layout.index,
        key_condition=words(params.get("KeyConditionExpression", "nothing, since no key can be in this range"), params),
        filter=words(params["FilterExpression"], params) if "FilterExpression" in params else None,
        count=len(rows),
        first=rows[:SHOWN],
        seconds=seconds,
        cost=store.run(Weigh(heard)),
    )


def words(expression: str, params: Mapping[str, Any]) -> str:
    """Write an expression of a request with its names and values in place of their placeholders.

    >>> params = {"ExpressionAttributeNames": {"#0": "PK"}, "ExpressionAttributeValues": {":0": {"S": "#USER#ann"}}}
    >>> words("#0 = :0", params)
    'PK = "#USER#ann"'
    """
    names = params.get("ExpressionAttributeNames", {})
    values = {name: _word(value) for name, value in params.get("ExpressionAttributeValues", {}).items()}
    return PLACEHOLDER.sub(lambda found: (names | values)[found[0]], expression)


def _word(value: Mapping[str, Any]) -> str:
    ((kind, held),) = value.items()
    return str(held) if kind == "N" else json.dumps(held, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer."""

    params: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Overhear:
    """Read a query to its end, page by page as the store does, and keep every request with its answer."""

    query: Query[Any]

    def steps(self, context: Context) -> Steps[tuple[tuple[Entity, ...], tuple[Exchange, ...]]]:
        """Run the store's own flow for each page, listening."""
        rows: list[Entity] = []
        heard: list[Exchange] = []
        start, most = None, self.query.most
        while True:
            asked = None if most is None else next_asked(context, self.query, most - len(rows), len(heard))
            page = yield from _listen(ReadPage(self.query, start, asked).steps(context), heard)
            rows.extend(page.entities)
            start = page.next
            if start is None or (most is not None and len(rows) >= most):
                return tuple(rows[:most]), tuple(heard)


def _listen(flow: Steps[T], heard: list[Exchange]) -> Steps[T]:
    """Run a flow unchanged, and note its requests that were answered."""
    answer: Any = None
    error: Exception | None = None
    while True:
        try:
            effect = flow.send(answer) if error is None else flow.throw(error)
        except StopIteration as done:
            value: T = done.value
            return value
        answer, error = None, None
        try:
            answer = yield effect
        except (Refusal, NoReply) as trouble:
            error = trouble
        else:
            if isinstance(effect, Call):
                heard.append(Exchange(effect.params, answer))


@dataclass(frozen=True, slots=True, eq=False)
class Weigh:
    """Find out what DynamoDB read for requests that were answered."""

    heard: tuple[Exchange, ...]

    def steps(self, context: Context) -> Steps[Cost]:
        """Add up the pages, and ask again, without the filter, for those of which a filter dropped something."""
        cost = Cost()
        for exchange in self.heard:
            answer = exchange.answer
            if answer["ScannedCount"] > answer["Count"]:
                answer = yield from send(context, Call("query", unfiltered(exchange.params)))
            cost = cost.with_page(len(answer["Items"]), sum(map(item_size, answer["Items"])))
        return cost


def unfiltered(params: Mapping[str, Any]) -> dict[str, Any]:
    """Give a request without its filter, and without the names and values that only the filter used.

    >>> unfiltered({"KeyConditionExpression": "#0 = :0", "FilterExpression": "#1 = :1", "Limit": 9,
    ...     "ExpressionAttributeNames": {"#0": "PK", "#1": "status"}})
    {'KeyConditionExpression': '#0 = :0', 'Limit': 9, 'ExpressionAttributeNames': {'#0': 'PK'}}
    """
    used = PLACEHOLDER.findall(params["KeyConditionExpression"])
    kept = {name: value for name, value in params.items() if name != "FilterExpression"}
    for table in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        if table in kept:
            kept[table] = {placeholder: held for placeholder, held in kept[table].items() if placeholder in used}
    return kept
