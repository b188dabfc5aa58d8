"""Making a table, waiting for it, comparing it with its declaration, and dropping it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from singletable.errors import OutcomeUnknown, ServiceError, SingleTableError, TableMismatch, TableMissing
from singletable.indexes import KeyColumn
from singletable.operations.context import Context
from singletable.operations.sending import NOT_THERE, send, table_missing
from singletable.schema import Table
from singletable.wire import Call, Pause, Refusal, Steps

__all__ = ["CreateTable", "DeleteTable", "differences"]

WAITS = 150
EVERY = 2.0
FIRST = 0.05


@dataclass(frozen=True, slots=True)
class CreateTable:
    """Make the table with its indexes, paid per request, and wait until it can be used.

    Does nothing where it is there already in this shape; TableMismatch, with the differences, where it has another.
    """

    table: Table

    def steps(self, context: Context) -> Steps[None]:
        """Send CreateTable, then DescribeTable until the table is active."""
        context.check_whole("create_table() makes")
        with suppress(Refusal):  # the only one that `send` lets through here: the table is there
            yield from send(context, Call("create_table", definition(self.table, context.table)), writing=self)
        described = yield from _wait_until_active(context)
        found = tuple(differences(self.table, described))
        if found:
            raise TableMismatch(
                f"table {context.table!r} exists and has another shape: {'; '.join(found)}",
                hint="declare the Table as it is, or use another name: Store(table, name=...)",
                table=context.table,
                differences=found,
            )


@dataclass(frozen=True, slots=True)
class DeleteTable:
    """Drop the table with everything in it, and wait until it is gone. TableMissing where there is none.

    A table that is being made or changed is waited for.
    """

    def steps(self, context: Context) -> Steps[None]:
        """Send DeleteTable until it is taken, then DescribeTable until the table is no longer known."""
        context.check_whole("delete_table() drops")
        yield from _drop(context, self)
        for wait in _waits():
            if not (yield from _described(context)):
                return
            yield Pause(wait)
        raise _too_slow(context, "is still being deleted")


def _drop(context: Context, operation: DeleteTable) -> Steps[None]:
    """Send DeleteTable until it is taken; a table that is gone after an earlier try was deleted by that one."""
    tried = False
    for wait in _waits():
        try:
            yield from send(context, Call("delete_table", {"TableName": context.table}), writing=operation)
            return
        except OutcomeUnknown:
            if (yield from _state(context)) not in ("gone", "DELETING"):
                raise
            return
        except Refusal as refusal:
            if refusal.error == NOT_THERE:
                if tried or refusal.sent > 1:
                    return
                raise table_missing(context) from refusal.__cause__
        tried = True
        yield Pause(wait)
    raise _too_slow(context, "is still in use")


def _waits() -> Iterator[float]:
    """Give the pauses between two looks at a table: short at first, for local engines, then every two seconds."""
    wait = FIRST
    for _ in range(WAITS):
        yield wait
        wait = min(EVERY, wait * 2)


def _wait_until_active(context: Context) -> Steps[Mapping[str, Any]]:
    """Look until the table and its indexes are active; one just made may not be known yet (AWS, "DescribeTable")."""
    for wait in _waits():
        described = yield from _described(context)
        if described and _is_active(described):
            return described
        yield Pause(wait)
    raise _too_slow(context, "did not become active")


def _described(context: Context) -> Steps[Mapping[str, Any]]:
    """Describe the table; empty where it is not known."""
    try:
        answer = yield from send(context, Call("describe_table", {"TableName": context.table}))
    except TableMissing:
        return {}
    described: Mapping[str, Any] = answer["Table"]
    return described


def _state(context: Context) -> Steps[str]:
    """Tell the state of a table: DynamoDB's word for it, "gone", or "unknown" where it cannot be read just now."""
    try:
        described = yield from _described(context)
    except SingleTableError:
        return "unknown"
    return str(described["TableStatus"]) if described else "gone"


def _is_active(described: Mapping[str, Any]) -> bool:
    indexes = described.get("GlobalSecondaryIndexes", ())
    states = [described["TableStatus"], *(index.get("IndexStatus", "ACTIVE") for index in indexes)]
    return all(state == "ACTIVE" for state in states)


def _too_slow(context: Context, what: str) -> ServiceError:
    return ServiceError(
        f"table {context.table!r} {what} after five minutes", hint="look at it in the AWS console", error=""
    )


def definition(table: Table, name: str) -> dict[str, Any]:
    """Give the parameters of CreateTable."""
    indexes: dict[str, list[dict[str, Any]]] = {}
    for index in table.indexes:
        indexes.setdefault(_KINDS[index.local], []).append(
            {
                "IndexName": index.name,
                "KeySchema": _schema(table.pks_of(index), index.sks),
                "Projection": {"ProjectionType": "ALL"},
            }
        )
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _schema(table.pks, table.sks),
        "AttributeDefinitions": [
            {"AttributeName": column.name, "AttributeType": column.attribute_type} for column in table.columns
        ],
        **indexes,
    }


_KINDS = {False: "GlobalSecondaryIndexes", True: "LocalSecondaryIndexes"}


def _schema(pks: tuple[KeyColumn, ...], sks: tuple[KeyColumn, ...]) -> list[dict[str, str]]:
    return [
        {"AttributeName": column.name, "KeyType": kind}
        for kind, columns in (("HASH", pks), ("RANGE", sks))
        for column in columns
    ]


def differences(table: Table, described: Mapping[str, Any]) -> Iterator[str]:
    """Say how a described table differs from its declaration; further indexes it has do no harm."""
    types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
    yield from _schema_differences("the table", (table.pks, table.sks), described["KeySchema"], types)
    there = {index["IndexName"]: index for kind in _KINDS.values() for index in described.get(kind, ())}
    for index in table.indexes:
        if index.name not in there:
            yield f"index {index.name!r} is missing"
            continue
        found = there[index.name]
        halves = (table.pks_of(index), index.sks)
        yield from _schema_differences(f"index {index.name!r}", halves, found["KeySchema"], types)
        projection = found["Projection"]["ProjectionType"]
        if projection != "ALL":
            yield f"index {index.name!r} projects {projection}, declared ALL"


def _schema_differences(
    what: str,
    halves: tuple[tuple[KeyColumn, ...], tuple[KeyColumn, ...]],
    schema: list[dict[str, str]],
    types: Mapping[str, str],
) -> Iterator[str]:
    for role, kind, columns in zip(("partition key", "sort key"), ("HASH", "RANGE"), halves, strict=True):
        names = [each["AttributeName"] for each in schema if each["KeyType"] == kind]
        declared = ", ".join(f"{column.name!r} ({column.attribute_type})" for column in columns) or "none"
        stored = ", ".join(f"{name!r} ({types.get(name)})" for name in names) or "none"
        if declared != stored:
            yield f"{what} has the {role} {stored}, declared {declared}"
