"""The shape of a table as DynamoDB words it: what makes one, and how one that is there differs from its declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from singletable.indexes import GlobalIndex, KeyColumn, LocalIndex
from singletable.schema import Table

__all__ = ["TableDiff", "compare", "definition", "index_definition", "index_differences", "indexes_of"]

_KINDS = {False: "GlobalSecondaryIndexes", True: "LocalSecondaryIndexes"}


@dataclass(frozen=True, slots=True)
class TableDiff:
    """How a table that is there differs from its declaration; true where it does.

    `differences` says each in words. `missing_indexes` and `extra_indexes` are names; an index that is not declared is
    no difference. `addable` are the missing ones that `add_index` can make: the global ones.
    """

    table: str
    differences: tuple[str, ...] = ()
    missing_indexes: tuple[str, ...] = ()
    extra_indexes: tuple[str, ...] = ()
    addable: tuple[GlobalIndex, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return bool(self.differences)


def definition(table: Table, name: str) -> dict[str, Any]:
    """Give the parameters of CreateTable."""
    indexes: dict[str, list[dict[str, Any]]] = {}
    for index in table.indexes:
        indexes.setdefault(_KINDS[index.local], []).append(index_definition(table, index))
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _schema(table.pks, table.sks),
        "AttributeDefinitions": [
            {"AttributeName": column.name, "AttributeType": column.attribute_type} for column in table.columns
        ],
        **indexes,
    }


def index_definition(table: Table, index: GlobalIndex | LocalIndex) -> dict[str, Any]:
    """Give the parameters of one index."""
    return {
        "IndexName": index.name,
        "KeySchema": _schema(table.pks_of(index), index.sks),
        "Projection": _projection(table, index),
    }


def _projection(table: Table, index: GlobalIndex | LocalIndex) -> dict[str, Any]:
    if isinstance(index.projection, str):
        return {"ProjectionType": "ALL" if index.projection == "all" else "KEYS_ONLY"}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(table.named_by(index))}


def _schema(pks: tuple[KeyColumn, ...], sks: tuple[KeyColumn, ...]) -> list[dict[str, str]]:
    return [
        {"AttributeName": column.name, "KeyType": kind}
        for kind, columns in (("HASH", pks), ("RANGE", sks))
        for column in columns
    ]


# What is there ------------------------------------------------------------------------------------------------------


def compare(table: Table, described: Mapping[str, Any], name: str) -> TableDiff:
    """Compare a described table with its declaration: keys, their types, and each index with what it projects.

    How it is paid for, its streams, tags and settings are not compared.
    """
    there = indexes_of(described)
    missing = [index for index in table.indexes if index.name not in there]
    declared = {index.name for index in table.indexes}
    return TableDiff(
        name,
        tuple(_differences(table, described, there)),
        tuple(index.name for index in missing),
        tuple(name for name in there if name not in declared),
        tuple(index for index in missing if isinstance(index, GlobalIndex)),
    )


def indexes_of(described: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Give the indexes of a described table by name."""
    return {index["IndexName"]: index for kind in _KINDS.values() for index in described.get(kind) or ()}


def _differences(table: Table, described: Mapping[str, Any], there: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from _schema_differences("the table", (table.pks, table.sks), described["KeySchema"], described)
    for index in table.indexes:
        if index.name not in there:
            yield f"index {index.name!r} is missing"
        else:
            yield from index_differences(table, index, described)


def index_differences(table: Table, index: GlobalIndex | LocalIndex, described: Mapping[str, Any]) -> Iterator[str]:
    """Say how an index that is there differs from its declaration."""
    what, found = f"index {index.name!r}", indexes_of(described)[index.name]
    if found["IndexName"] not in {each["IndexName"] for each in described.get(_KINDS[index.local]) or ()}:
        yield f"{what} is {'global' if index.local else 'local'}, declared {'local' if index.local else 'global'}"
    yield from _schema_differences(what, (table.pks_of(index), index.sks), found["KeySchema"], described)
    keys = {each["AttributeName"] for each in (*described["KeySchema"], *found["KeySchema"])}
    stored, declared = _words(found["Projection"], keys), _words(_projection(table, index), keys)
    if stored != declared:
        yield f"{what} projects {stored}, declared {declared}"


def _words(projection: Mapping[str, Any], keys: set[str]) -> str:
    """Say what an index projects; the order does not matter, and keys are projected in any case."""
    names = sorted(set(projection.get("NonKeyAttributes") or ()) - keys)
    return " ".join(filter(None, (projection["ProjectionType"], ", ".join(map(repr, names)))))


def _schema_differences(
    what: str,
    halves: tuple[tuple[KeyColumn, ...], tuple[KeyColumn, ...]],
    schema: list[dict[str, str]],
    described: Mapping[str, Any],
) -> Iterator[str]:
    types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
    for role, kind, columns in zip(("partition key", "sort key"), ("HASH", "RANGE"), halves, strict=True):
        names = [each["AttributeName"] for each in schema if each["KeyType"] == kind]
        declared = ", ".join(f"{column.name!r} ({column.attribute_type})" for column in columns) or "none"
        stored = ", ".join(f"{name!r} ({types.get(name)})" for name in names) or "none"
        if declared != stored:
            yield f"{what} has the {role} {stored}, declared {declared}"
