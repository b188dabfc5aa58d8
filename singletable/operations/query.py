"""Running a query page by page.

Theory of operation. A query asks DynamoDB for one partition and one range of sort keys. A filter on the type tag goes
along only where other items can stand in that range; each row's tag is looked at in any case, and a row that is not
the entity's own is left out. DynamoDB applies `Limit` before the filter, so a limited query with a filter asks for four
rows to a wanted one at first and twice as many on each further page. A page is one flow, so nothing is held between.
With every row goes the value it is ordered by, so that the pages of several queries can be merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.errors import QueryError
from singletable.expressions import Condition, Expressions, all_of, any_of
from singletable.keys import BoundTemplate, depth_below
from singletable.layouts import Layout, wire_key
from singletable.mapping import Mapper
from singletable.operations.context import Context, in_parallel
from singletable.operations.fetching import fetched, holds_tag, readers
from singletable.operations.sending import send
from singletable.operations.writing import owned
from singletable.queries import Query, Span
from singletable.schema import Model, kinds_of
from singletable.wire import Call, Item, Steps

__all__ = ["LIMIT_MOST", "Count", "Found", "Pages", "ReadPage", "next_asked", "request"]

E = TypeVar("E", bound=Entity)

LIMIT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Found(Generic[E]):
    """What one page gave: its entities, and where the next one starts (None: this was the last).

    `order` holds what each entity is ordered by: its sort key's text, number or bytes.
    """

    entities: tuple[E, ...]
    next: Item | None
    order: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage(Generic[E]):
    """Read one page of a query, from a start key on; `asked` rows at most where that is not None."""

    query: Query[E]
    start: Item | None = None
    asked: int | None = None

    def steps(self, context: Context) -> Steps[Found[E]]:
        """Send one Query, or none where the range holds nothing."""
        query = context.bound_query(self.query)
        params = request(context, query)
        if params is None:
            return Found((), None)
        if self.start is not None:
            params["ExclusiveStartKey"] = self.start
        if self.asked is not None:
            params["Limit"] = self.asked
        answer = yield from send(context, Call("query", params))
        mappers = readers(context, query)
        kept = [(mapper, item) for item in answer["Items"] for mapper in mappers if _belongs(mapper, query, item)]
        order = tuple(_place(query, item) for _, item in kept)
        return Found(tuple(mapper.decode(item) for mapper, item in kept), answer.get("LastEvaluatedKey"), order)


def _place(query: Query[Any], item: Item) -> tuple[Any, ...]:
    """Give what an item is ordered by: code points sort as the bytes of their UTF-8 do."""
    places: list[Any] = []
    for column in query.layout.sks:
        ((kind, value),) = item[column.name].items()
        places.append(Decimal(value) if kind == "N" else value)
    return tuple(places)


class Pages(Generic[E]):
    """The pages of one reading of a query, each a flow of its own; nothing but the place is kept between them."""

    def __init__(self, query: Query[E]) -> None:
        self._query = query
        self._start: Item | None = None
        self._left: int | None = query.most
        self._page: int = 0
        self.done = False

    def steps(self, context: Context) -> Steps[tuple[E, ...]]:
        """Read the next page and give its entities, no more than are still wanted."""
        rows = yield from self.rows(context)
        return tuple(entity for _, entity in rows)

    def rows(self, context: Context) -> Steps[list[tuple[Any, E]]]:
        """Read the next page and give its entities, each with what it is ordered by."""
        asked = None if self._left is None else next_asked(context, self._query, self._left, self._page)
        found = yield from ReadPage(self._query, self._start, asked).steps(context)
        wanted = list(zip(found.order, found.entities, strict=True))[: self._left]
        self._start, self._page = found.next, self._page + 1
        if self._left is not None:
            self._left -= len(wanted)
        self.done = found.next is None or self._left == 0
        return wanted


def next_asked(context: Context, query: Query[Any], left: int, page: int) -> int:
    """Say how many rows to ask for on a page when so many entities are still wanted."""
    return min(left * 4 * 2**page, LIMIT_MOST) if _is_filtered(context, query) else left


@dataclass(frozen=True, slots=True, eq=False)
class Count(Generic[E]):
    """Count what a query gives, over all its pages, without fetching the items where DynamoDB can count them."""

    query: Query[E]

    def steps(self, context: Context) -> Steps[int]:
        """Send a Query for each page; the values of `is_in` at the same time."""
        if self.query.choices is None:
            return (yield from self._counted(context))
        flows = [Count(branch).steps(context) for branch in self.query.branches]
        counts = yield from in_parallel(context, flows)
        total = sum(counts)
        return total if self.query.most is None else min(total, self.query.most)

    def _counted(self, context: Context) -> Steps[int]:
        total, start, page = 0, None, 0
        wanted = self.query.most
        while True:
            asked = None if wanted is None else next_asked(context, self.query, wanted - total, page)
            found, start = yield from self._page(context, start, asked)
            total, page = total + found, page + 1
            if wanted is not None and total >= wanted:
                return wanted
            if start is None:
                return total

    def _page(self, context: Context, start: Item | None, asked: int | None) -> Steps[tuple[int, Item | None]]:
        if _must_see(self.query):
            page = yield from ReadPage(self.query, start, asked).steps(context)
            return len(page.entities), page.next
        params = request(context, replace(self.query, shown=None), unseen=True)
        if params is None:
            return 0, None
        optional = {"ExclusiveStartKey": start, "Limit": asked}
        params |= {"Select": "COUNT", **{name: value for name, value in optional.items() if value is not None}}
        answer = yield from send(context, Call("query", params))
        return answer["Count"], answer.get("LastEvaluatedKey")


# The request ---------------------------------------------------------------------------------------------------------


def request(context: Context, query: Query[Any], *, unseen: bool = False) -> dict[str, Any] | None:
    """Write a query as the parameters of a Query request; None where its range holds nothing.

    `unseen` rows are counted and not looked at, so that the tag always goes along.
    """
    if query.choices is not None:
        raise QueryError("is_in() stands for several requests", hint="send each of query.branches")
    query = context.bound_query(query)
    if query.is_empty:
        return None
    layout, expressions = query.layout, Expressions()
    conditions = [f"{expressions.name(name)} = {expressions.value(value)}" for name, value in query.partition.items()]
    conditions.extend(filter(None, (_sort_key(expressions, span) for span in query.spans)))
    params: dict[str, Any] = {
        "TableName": context.table,
        "KeyConditionExpression": " AND ".join(conditions),
        "ScanIndexForward": query.ascending,
    }
    if layout.index is not None:
        params["IndexName"] = layout.index
    if query.strong:
        params["ConsistentRead"] = True
    kept = all_filters(context, query, unseen=unseen)
    if kept is not None:
        params["FilterExpression"] = expressions.condition(kept)
    if query.shown is not None:
        params["ProjectionExpression"] = ", ".join(map(expressions.name, fetched(context, query, query.shown)))
    return params | expressions.params()


def _sort_key(expressions: Expressions, span: Span) -> str:
    """Write the range of one sort key attribute; empty where every value will do."""
    operator, template = span.range.operator, span.column.template
    if operator == "all":
        return ""
    sk = expressions.name(span.column.name)
    values = [expressions.value(wire_key(template, operand)) for operand in span.range.operands]
    if operator == "BETWEEN":
        return f"{sk} BETWEEN {values[0]} AND {values[1]}"
    if operator == "begins_with":
        return f"begins_with({sk}, {values[0]})"
    return f"{sk} {operator} {values[0]}"


def all_filters(context: Context, query: Query[Any], *, unseen: bool = False) -> Condition | None:
    """Give the filter to send: the tag where other items can stand in the range, and the query's own condition."""
    models = context.kinds(query.entity)
    crowded = unseen or _crowded(models, query.layout)
    tagged = models[0].table.untagged is None and holds_tag(query, models[0].table)
    tag = any_of(owned(model) for model in models) if crowded and tagged else None
    return all_of((tag, query.condition))


def _crowded(models: Sequence[Model], layout: Layout) -> bool:
    """Say whether other items than those of the entities that are read can stand in the ranges of a key.

    Table.check sees to it that no stranger stands in those of one entity. Relatives of one `within=` may, and the
    members of its collections; tombstones may on the table's own key (or that key turned around); and where keys are
    raw or native or rows untagged nobody can tell. A collection may have anything in its range.
    """
    table = models[0].table
    if table.untagged is not None or layout.raw or (layout.index is not None and layout.plain):
        return True
    own_key = layout.index is None or set(layout.names) == {column.name for column in table.pks + table.sks}
    gone = own_key and any(model.leaves_tombstones for model in models)
    return gone or table.shares_ranges(models, layout)


def _is_filtered(context: Context, query: Query[Any]) -> bool:
    """Say whether some of the rows that are asked for may not be given."""
    return _crowded(context.kinds(query.entity), query.layout) or query.condition is not None or not _exact(query)


def _must_see(query: Query[Any]) -> bool:
    """Say whether rows must be looked at to be counted."""
    table = kinds_of(query.entity)[0].table
    return not _exact(query) or table.untagged is not None or not holds_tag(query, table)


def _exact(query: Query[Any]) -> bool:
    return query.depth is None and all(span.range.exact for span in query.spans)


def _belongs(mapper: Mapper[Any], query: Query[Any], item: Item) -> bool:
    if mapper.kind(item) != "own":
        return False
    template, name = query.layout.sk, query.layout.sk_name
    if _exact(query) or name is None or not isinstance(template, BoundTemplate):
        return True
    values = {part: query.values[part] for part in template.parts if part in query.values}
    depth = depth_below(template, values, item[name]["S"])
    return depth >= 0 and (query.depth is None or depth <= query.depth)
