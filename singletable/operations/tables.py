"""Making a table, waiting for it, comparing it with its declaration, and dropping it.

Theory of operation. What DynamoDB does to a table it does later: each operation sends its request and then looks, until
the table is as wanted or too many looks were in vain. Nothing else ever describes a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from singletable.errors import OutcomeUnknown, ServiceError, SingleTableError, TableMismatch, TableMissing
from singletable.operations.context import Context
from singletable.operations.sending import NOT_THERE, send, table_missing
from singletable.operations.shape import TableDiff, compare, definition
from singletable.schema import Table
from singletable.wire import Call, Pause, Refusal, Steps

__all__ = ["CreateTable", "DeleteTable", "DiffTable", "described_table", "is_active", "mismatch", "too_slow", "waits"]

PATIENCE = 300.0
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
        diff = compare(self.table, described, context.table)
        if diff:
            raise mismatch(diff)


@dataclass(frozen=True, slots=True)
class DiffTable:
    """Compare the table that is there with its declaration; nothing is changed. TableMissing where there is none."""

    table: Table

    def steps(self, context: Context) -> Steps[TableDiff]:
        """Send one DescribeTable."""
        context.check_whole("diff_table() compares")
        described = yield from described_table(context)
        if not described:
            raise table_missing(context)
        return compare(self.table, described, context.table)


@dataclass(frozen=True, slots=True)
class DeleteTable:
    """Drop the table with everything in it, and wait until it is gone. TableMissing where there is none.

    A table that is being made or changed is waited for.
    """

    def steps(self, context: Context) -> Steps[None]:
        """Send DeleteTable until it is taken, then DescribeTable until the table is no longer known."""
        context.check_whole("delete_table() drops")
        yield from _drop(context, self)
        for wait in waits(PATIENCE):
            if not (yield from described_table(context)):
                return
            yield Pause(wait)
        raise too_slow(context, "is still being deleted")


def _drop(context: Context, operation: DeleteTable) -> Steps[None]:
    """Send DeleteTable until it is taken; a table that is gone after an earlier try was deleted by that one."""
    tried = False
    for wait in waits(PATIENCE):
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
    raise too_slow(context, "is still in use")


def waits(patience: float) -> Iterator[float]:
    """Give the pauses between two looks: short at first, for local engines, then every two seconds until it is over."""
    wait, spent = FIRST, 0.0
    while spent == 0 or spent + wait <= patience:
        yield wait
        spent += wait
        wait = min(EVERY, wait * 2)


def _wait_until_active(context: Context) -> Steps[Mapping[str, Any]]:
    """Look until the table and its indexes are active; one just made may not be known yet (AWS, "DescribeTable")."""
    for wait in waits(PATIENCE):
        described = yield from described_table(context)
        if described and is_active(described):
            return described
        yield Pause(wait)
    raise too_slow(context, "did not become active")


def described_table(context: Context) -> Steps[Mapping[str, Any]]:
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
        described = yield from described_table(context)
    except SingleTableError:
        return "unknown"
    return str(described["TableStatus"]) if described else "gone"


def is_active(described: Mapping[str, Any]) -> bool:
    """Say whether a described table and all its indexes can be used, and nothing is being done to them."""
    indexes = described.get("GlobalSecondaryIndexes", ())
    states = [described["TableStatus"], *(index.get("IndexStatus", "ACTIVE") for index in indexes)]
    return all(state == "ACTIVE" for state in states)


def too_slow(context: Context, what: str, patience: float = PATIENCE) -> ServiceError:
    """Make the error for what did not come about in time."""
    return ServiceError(
        f"table {context.table!r} {what} after {patience:g} seconds", hint="look at it in the AWS console", error=""
    )


def mismatch(diff: TableDiff) -> TableMismatch:
    """Make the error for a table of another shape."""
    return TableMismatch(
        f"table {diff.table!r} exists and has another shape: {'; '.join(diff.differences)}",
        hint="declare the Table as it is, or use another name: Store(table, name=...); store.add_index(...) makes a "
        "global index that is missing",
        table=diff.table,
        differences=diff.differences,
    )
