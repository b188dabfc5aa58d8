"""Making a global index on a table that lives.

Theory of operation. Each round looks at the table first and acts on what is there: the index in the declared shape is
waited for, in another shape it is an error, and where it is missing UpdateTable is sent as soon as nothing else is
being done to the table, for DynamoDB changes one index at a time. A request that was throttled or whose reply was lost
is therefore never sent again before a look, and adding an index twice does nothing. Source: AWS, "Managing Global
Secondary Indexes in DynamoDB" and "UpdateTable".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from singletable.errors import OutcomeUnknown, ServiceError, SingleTableError, Throttled, Unreachable
from singletable.indexes import GlobalIndex
from singletable.operations.context import Context
from singletable.operations.sending import send, table_missing
from singletable.operations.shape import TableDiff, index_definition, index_differences, indexes_of
from singletable.operations.tables import described_table, is_active, mismatch, too_slow, waits
from singletable.schema import Table
from singletable.wire import Call, Pause, Refusal, Steps

__all__ = ["AddIndex"]


@dataclass(frozen=True, slots=True)
class AddIndex:
    """Make a global index that the table lacks, and wait until it is filled.

    Does nothing where it is there in this shape; TableMismatch where it has another, TableMissing where there is no
    table, ServiceError where it is not there after `patience` seconds.
    """

    table: Table
    index: GlobalIndex
    patience: float = 3600.0

    def steps(self, context: Context) -> Steps[None]:
        """Send DescribeTable, UpdateTable where that is called for, and DescribeTable until the index is active."""
        context.check_whole("add_index() changes")
        troubles: list[SingleTableError] = []
        for wait in waits(self.patience):
            described = yield from described_table(context)
            if not described:
                raise table_missing(context)
            status = self._status(context, described)
            if status == "ACTIVE":
                return
            if status == "" and is_active(described):
                _give_up(troubles, context.attempts)
                troubles += yield from self._begin(context, described)
            yield Pause(wait)
        raise too_slow(context, f"has no index {self.index.name!r} that is active", self.patience)

    def _status(self, context: Context, described: Mapping[str, Any]) -> str:
        """Tell the state of the index, empty where it is not there. TableMismatch where it has another shape."""
        found = indexes_of(described).get(self.index.name)
        if found is None:
            return ""
        status = str(found.get("IndexStatus", "ACTIVE"))
        if status == "DELETING":
            return status
        differences = tuple(index_differences(self.table, self.index, described))
        if differences:
            raise mismatch(TableDiff(context.table, differences))
        return "BACKFILLING" if found.get("Backfilling") else status

    def _begin(self, context: Context, described: Mapping[str, Any]) -> Steps[list[SingleTableError]]:
        """Send UpdateTable once, and give the trouble it met: the next look tells what came of it."""
        try:
            call = Call("update_table", self._params(context.table, described))
            yield from send(replace(context, attempts=1), call, writing=self)
        except Refusal:
            return []  # the table is being changed by someone else, or too many tables are
        except (OutcomeUnknown, ServiceError, Throttled, Unreachable) as trouble:
            return [trouble]
        return []

    def _params(self, name: str, described: Mapping[str, Any]) -> dict[str, Any]:
        types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
        types |= {column.name: column.attribute_type for column in self.index.pks + self.index.sks}
        return {
            "TableName": name,
            "AttributeDefinitions": [
                {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
            ],
            "GlobalSecondaryIndexUpdates": [
                {"Create": index_definition(self.table, self.index) | _throughput(described)}
            ],
        }


def _give_up(troubles: list[SingleTableError], attempts: int) -> None:
    """Raise the last trouble where UpdateTable came to nothing often enough, or was refused for good."""
    if troubles and (len(troubles) >= attempts or isinstance(troubles[-1], ServiceError)):
        raise troubles[-1]


def _throughput(described: Mapping[str, Any]) -> dict[str, Any]:
    """Give an index of a table with provisioned capacity as much as the table has; one paid per request wants none."""
    units = described.get("ProvisionedThroughput", {})
    wanted = {name: units.get(name, 0) for name in ("ReadCapacityUnits", "WriteCapacityUnits")}
    return {"ProvisionedThroughput": wanted} if all(wanted.values()) else {}
