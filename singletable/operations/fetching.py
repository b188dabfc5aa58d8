"""What of its items a query fetches: the fields it names, as far as its index holds them.

Theory of operation. The rows of an index have what it projects and no more, so that an entity read from it is a part,
as `only` makes one: a field is there where its attribute is, or where it stands in one of the keys. A row without tag
is told by its primary key. DynamoDB refuses to fetch, or filter by, what a global index does not hold; for a local one
it fetches the rest from the table, an item at a time, which is done only where `only` names such a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from singletable.entity import Entity
from singletable.layouts import Layout
from singletable.mapping import Mapper
from singletable.operations.context import Context
from singletable.queries import Query
from singletable.schema import Model, Table

__all__ = ["fetched", "holds_tag", "readers"]

E = TypeVar("E", bound=Entity)


def readers(context: Context, query: Query[E]) -> list[Mapper[E]]:
    """Give the mappers of what is read: of an entity, or of each kind of an abstract one, and of what is fetched."""
    return [_reader(context.mapper(model.entity), query) for model in context.kinds(query.entity)]


def _reader(mapper: Mapper[E], query: Query[E]) -> Mapper[E]:
    layout = _own(mapper.model, query.layout)
    if layout.shows is None:
        return mapper if query.shown is None else mapper.showing(query.shown)
    names = frozenset(layout.shows if query.shown is None else query.shown)
    if not layout.local:
        names &= layout.shows
    tagless = not holds_tag(query, mapper.model.table) and not _reaches_table(mapper.model, query)
    return mapper.showing(names, tagless=tagless)


def holds_tag(query: Query[Any], table: Table) -> bool:
    """Say whether the rows of the query's index have the tag, and can be filtered by it."""
    return query.layout.held is None or table.tag in query.layout.held


def fetched(context: Context, query: Query[Any], shown: Iterable[str]) -> list[str]:
    """List the attributes to fetch: both keys and the tag always, and the fields asked for.

    A field may stand in an index key alone, where another program wrote the item so: that key goes along. Of an index
    nothing is asked for that it does not hold, unless the table is looked into anyway.
    """
    names: dict[str, None] = {}
    models = context.kinds(query.entity)
    for model in models:
        names |= dict.fromkeys((*model.primary.names, *query.layout.names))
        if model.table.tag is not None:
            names[model.table.tag] = None
        wanted = dict.fromkeys((*model.primary.parts, *shown))
        names |= dict.fromkeys(model.fields[name].attribute for name in wanted if name in model.fields)
        for layout in model.indexes.values():
            if not wanted.keys().isdisjoint(layout.parts):
                names |= dict.fromkeys(layout.names)
    held = query.layout.held
    if held is None or any(_reaches_table(model, query) for model in models):
        return list(names)
    return [name for name in names if name in held]


def _reaches_table(model: Model, query: Query[Any]) -> bool:
    """Say whether DynamoDB looks into the table for what a local index does not hold."""
    layout = _own(model, query.layout)
    return layout.local and layout.shows is not None and not layout.shows.issuperset(query.shown or ())


def _own(model: Model, layout: Layout) -> Layout:
    """Give a model's own key on the index of a query: the kinds of a base show fields of their own."""
    return next(iter(model.layouts_on(layout.index)), layout)
