"""Tables of the in-memory model: their keys and indexes, and the items they hold.

Theory of operation. An item is never changed where it stands: a write puts another in its place. So a copy of a table
shares its items with the original, and costs as much as copying one dict.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from singletable.testing.answers import NotModelled, Refused, invalid
from singletable.testing.values import identity
from singletable.wire import Item

__all__ = ["Held", "Shape", "check_index_keys", "create_table", "key_of", "missing_table", "shape_of"]

_PK_BYTES, _SK_BYTES = 2048, 1024
_KINDS = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
_TAKEN = frozenset({"TableName", "BillingMode", "KeySchema", "AttributeDefinitions", *_KINDS})


@dataclass(frozen=True, slots=True)
class Shape:
    """The key of a table or index: its attributes' names and types. `projected` is None where an index holds all."""

    pks: tuple[str, ...]
    sks: tuple[str, ...]
    types: Mapping[str, str]
    is_global: bool = False
    projected: frozenset[str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all key attributes."""
        return self.pks + self.sks

    def holds(self, item: Item) -> bool:
        """Say whether an index has an entry for an item: where every key attribute is there."""
        return all(name in item for name in self.names)

    def place(self, item: Mapping[str, Any]) -> tuple[Hashable, ...]:
        """Give the values of the key attributes."""
        return tuple(identity(item[name]) for name in self.names)


@dataclass(slots=True)
class Held:
    """A table with its items."""

    described: Mapping[str, Any]
    shape: Shape
    indexes: Mapping[str, Shape]
    items: dict[tuple[Hashable, ...], Item] = field(default_factory=dict[tuple[Hashable, ...], Item])
    swept_by: str | None = None

    def copy(self) -> Held:
        """Give a table of its own with the same items."""
        return Held(self.described, self.shape, self.indexes, dict(self.items), self.swept_by)

    def source(self, name: str | None) -> Shape:
        """Give the shape of the table, or of one of its indexes. ValidationException where there is no such index."""
        if name is None:
            return self.shape
        if name not in self.indexes:
            invalid(f"the table has no index {name!r}")
        return self.indexes[name]


def create_table(params: Mapping[str, Any]) -> Held:
    """Make an empty table of the parameters of CreateTable."""
    if set(params) - _TAKEN:
        raise NotModelled(f"create_table({', '.join(sorted(set(params) - _TAKEN))}=) is not modelled")
    types = {each["AttributeName"]: each["AttributeType"] for each in params["AttributeDefinitions"]}
    shape = shape_of(params["KeySchema"], types)
    indexes = {
        index["IndexName"]: _index(index, shape, types, is_global=kind == _KINDS[0])
        for kind in _KINDS
        for index in params.get(kind, ())
    }
    used = {name for each in (shape, *indexes.values()) for name in each.names}
    if used != set(types):
        invalid("the attributes that are defined are not those of the keys")
    globals_ = [{**index, "IndexStatus": "ACTIVE"} for index in params.get(_KINDS[0], ())]
    described = {**params, "TableStatus": "ACTIVE", **({_KINDS[0]: globals_} if globals_ else {})}
    return Held(described, shape, indexes)


def shape_of(schema: Sequence[Mapping[str, str]], types: Mapping[str, str]) -> Shape:
    """Make the shape of a key schema."""
    pks, sks = (
        tuple(each["AttributeName"] for each in schema if each["KeyType"] == kind) for kind in ("HASH", "RANGE")
    )
    if not pks or not set(pks + sks) <= set(types):
        invalid("a key schema has no partition key, or an attribute that is not defined")
    return Shape(pks, sks, {name: types[name] for name in pks + sks})


def _index(index: Mapping[str, Any], table: Shape, types: Mapping[str, str], *, is_global: bool) -> Shape:
    own, projection = shape_of(index["KeySchema"], types), index["Projection"]
    kept = None
    if projection["ProjectionType"] != "ALL":
        kept = frozenset((*table.names, *own.names, *projection.get("NonKeyAttributes", ())))
    return Shape(own.pks, own.sks, own.types, is_global, kept)


def key_of(held: Held, given: Mapping[str, Any], *, whole: bool = False) -> tuple[Hashable, ...]:
    """Give where an item stands by its primary key; `whole` tells that the key attributes stand in an item.

    ValidationException where one is missing, of another type, empty or too long, or where others stand beside them.
    """
    shape = held.shape
    if not whole and set(given) != set(shape.names):
        invalid("a key has other attributes than the table's key")
    for name in shape.names:
        if name not in given or shape.types[name] not in given[name]:
            invalid(f"the key attribute {name!r} is missing, or has another type")
        _check_size(shape, name, given[name])
    return shape.place(given)


def check_index_keys(held: Held, item: Item) -> None:
    """Refuse an item with an attribute that cannot stand in the key of an index: of another type, empty or too long."""
    for index in held.indexes.values():
        for name in index.names:
            if name in item:
                if index.types[name] not in item[name]:
                    invalid(f"the attribute {name!r} has another type than the key of an index")
                _check_size(index, name, item[name])


def _check_size(shape: Shape, name: str, value: Mapping[str, Any]) -> None:
    found = identity(value)
    if isinstance(found, bytes) and not 0 < len(found) <= (_PK_BYTES if name in shape.pks else _SK_BYTES):
        invalid(f"the key attribute {name!r} is empty or too long")


def missing_table(name: str) -> Refused:
    """Make the error for a table that is not there."""
    return Refused("ResourceNotFoundException", f"there is no table {name!r}")
