"""The places of rows, as a cursor holds them, and the keys they stand for.

Theory of operation. A place is the name of a kind and the texts of those parts of its keys that the query does not
give: of the sort key, and on an index of the table's key. A key is never taken from a cursor; it is written anew from
the parts by the kind's own templates, as they stand in the store, and must then lie in the query's partition. So
whatever a cursor says, the key is one that such an entity has there: no hidden item, no other tenant, no other shape.

DynamoDB may stop at a row that is not the query's own: one of a relative within its range, one that a filter leaves
out, and in a scan any. Such a row is named if a kind of the table has that key; a stranger's row is not a place, and
the page goes on from the last place before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from singletable.cursors import bad_cursor
from singletable.errors import KeyPartError
from singletable.keys import PK_BYTES, BoundTemplate, KeyTemplate
from singletable.keys.encoding import forges
from singletable.layouts import Layout
from singletable.operations.context import Context
from singletable.operations.scan import Scan
from singletable.queries import Query
from singletable.schema import Model
from singletable.wire import Item

__all__ = ["Frame", "Place", "frame_of", "key_at", "key_in", "place_of"]

Place: TypeAlias = tuple[str | None, ...]
"""The name of a kind ("" for the only one that is asked for), then the texts of its parts; None for an absent one."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the keys of a query or scan stand: in a partition (a scan has none) of the table or of an index.

    `kinds` are whose keys stand there, those that are asked for (`own` of them) first, each with its layouts.
    """

    partition: Item
    names: tuple[str, ...]
    own: int
    kinds: tuple[tuple[Model, tuple[Layout, ...]], ...]

    def name(self, model: Model) -> str:
        """Name a kind."""
        return "" if self.own == 1 and model is self.kinds[0][0] else model.tag or model.name

    def named(self, name: str | None) -> tuple[Model, tuple[Layout, ...]] | None:
        """Find a kind by its name, or by a tag that it had."""
        for model, layouts in self.kinds:
            if self.name(model) == name or (name in model.aliases and name):
                return model, layouts
        return None


def frame_of(context: Context, source: Query[Any] | Scan[Any]) -> Frame:
    """Find where the keys of a query or scan stand, and whose they may be."""
    own = sorted(context.kinds(source.entity), key=_name)
    others = [context.model(entity) for entity in own[0].table.entities if entity not in {each.entity for each in own}]
    index = source.layout.index if isinstance(source, Query) else None
    kinds = tuple((model, _layouts(model, index)) for model in (*own, *sorted(others, key=_name)))
    names = dict.fromkeys((*(source.layout.names if isinstance(source, Query) else ()), *own[0].primary.names))
    partition = source.partition if isinstance(source, Query) else {}
    return Frame(partition, tuple(names), len(own), tuple((model, layouts) for model, layouts in kinds if layouts))


def _name(model: Model) -> str:
    return model.tag or model.name


def _layouts(model: Model, index: str | None) -> tuple[Layout, ...]:
    """Give the keys that name a row of an index: its key there and the table's; none where it is not in the index."""
    if index is None:
        return (model.primary,)
    return next(((layout, model.primary) for layout in model.layouts_on(index)), ())


def key_in(frame: Frame, item: Item) -> Item:
    """Give the attributes of an item with which DynamoDB goes on after it: the index's key and the table's."""
    return {name: item[name] for name in frame.names}


def place_of(frame: Frame, key: Item) -> Place | None:
    """Name the place of a key; None where no kind has it."""
    for model, layouts in frame.kinds:
        given = _given(frame, layouts)
        values = None if given is None else _values(layouts, key, given)
        if given is not None and values is not None:
            return frame.name(model), *(_text(layouts, part, values) for part in _asked(layouts, given))
    return None


def key_at(frame: Frame, place: Place) -> Item:
    """Write the key of a place. BadCursor where no row of a kind can have it in this partition."""
    kind = frame.named(place[0]) if place else None
    given = None if kind is None else _given(frame, kind[1])
    if kind is None or given is None:
        raise bad_cursor("position")
    key = _written(kind[1], given, place[1:])
    held = {**key, **frame.partition} == key and not any(forges(value.get("S", "")) for value in key.values())
    found = place_of(frame, key) if held else None
    if found is None or found[1:] != place[1:] or frame.named(found[0]) != kind:
        raise bad_cursor("position")
    return key


def _written(layouts: tuple[Layout, ...], given: Mapping[str, Any], texts: Place) -> Item:
    asked, key = _asked(layouts, given), Item()
    if len(asked) != len(texts):
        raise bad_cursor("position")
    try:
        read = {part: _value(layouts, part, text) for part, text in zip(asked, texts, strict=True)}
        for layout in layouts:
            key |= layout.render({**given, **read})
    except (KeyPartError, ValueError, ArithmeticError):
        raise bad_cursor("position") from None
    return key


# Parts


def _given(frame: Frame, layouts: tuple[Layout, ...]) -> Mapping[str, Any] | None:
    """Read the parts that the query's partition gives; None where a kind has no key there."""
    values: dict[str, Any] = {}
    if frame.partition:
        for column in layouts[0].pks:
            more = column.parse(frame.partition)
            if more is None:
                return None
            values |= more
    return values


def _asked(layouts: tuple[Layout, ...], given: Mapping[str, Any]) -> list[str]:
    """List the parts of all keys that are not given, each once."""
    return [part for part in dict.fromkeys(part for layout in layouts for part in layout.parts) if part not in given]


def _values(layouts: tuple[Layout, ...], key: Item, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Read every part of the keys; None where a kind would not have written just these."""
    values = dict(given)
    for layout in layouts:
        more = layout.parse(key)
        if more is None or any(values[name] != more[name] for name in values.keys() & more.keys()):
            return None
        values |= more
    try:
        written = [layout.render(values) for layout in layouts]
    except KeyPartError:
        return None
    return values if all(each.items() <= key.items() for each in written) else None


def _template(layouts: tuple[Layout, ...], part: str) -> KeyTemplate:
    columns = (column for layout in layouts for column in layout.columns)
    return next(column.template for column in columns if part in column.template.parts)


def _text(layouts: tuple[Layout, ...], part: str, values: Mapping[str, Any]) -> str | None:
    """Write a part as it stands in the first key that has it."""
    template = _template(layouts, part)
    if values[part] is None:
        return None
    if isinstance(template, BoundTemplate):
        return template.encode(part, values)
    return template.render(values, limit=PK_BYTES)


def _value(layouts: tuple[Layout, ...], part: str, text: str | None) -> Any:
    """Read a part again; ValueError where the text is none of its type."""
    template = _template(layouts, part)
    if text is None:
        return None
    if not isinstance(template, BoundTemplate):
        parsed = template.parse(text)
        if parsed is None:
            raise ValueError("no value of a native key")
        return parsed[part]
    decode = template.formats[part].decode
    if part != template.spread:
        return decode(text)
    pieces = text.split(template.delimiter)[len(template.segments) > 1 :]
    return tuple(map(decode, pieces if text else ()))
