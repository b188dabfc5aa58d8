"""Having DynamoDB sweep what has expired: its "time to live", switched on for one attribute of a table.

Theory of operation. DynamoDB refuses to switch on what is on, and to change it again within an hour, so it is asked
first. An engine without it (dynalite) knows no such request: nothing is swept there, which no reader sees, for what has
expired counts as absent. Source: AWS, "UpdateTimeToLive".
"""

from __future__ import annotations

from typing import Any

from singletable.errors import ServiceError, TableMismatch
from singletable.operations.context import Context
from singletable.operations.sending import send
from singletable.wire import Call, Steps

__all__ = ["sweeping"]

UNKNOWN = "UnknownOperationException"
"""What an engine answers that has no time to live (dynalite)."""

REFUSED = "ValidationException"


def sweeping(context: Context, attribute: str) -> Steps[None]:
    """Switch the time to live on, unless it is. TableMismatch where it is that of another attribute."""
    found = yield from _swept_by(context)
    if found is None:
        found = yield from _switched_on(context, attribute)
    if found != attribute:
        difference = f"items expire by {found!r}, declared {attribute!r}"
        raise TableMismatch(
            f"table {context.table!r} exists and has another shape: {difference}",
            hint=f'declare the Table as it is: Table(..., ttl="{found}")',
            table=context.table,
            differences=(difference,),
        )


def _switched_on(context: Context, attribute: str) -> Steps[str]:
    """Switch the time to live on, and give the attribute: another one where another process was faster."""
    specification = {"Enabled": True, "AttributeName": attribute}
    params = {"TableName": context.table, "TimeToLiveSpecification": specification}
    try:
        yield from send(context, Call("update_time_to_live", params))
    except ServiceError as error:
        if error.error == UNKNOWN:
            return attribute
        found = yield from _swept_by(context)
        if error.error != REFUSED or found is None:
            raise
        return found
    return attribute


def _swept_by(context: Context) -> Steps[str | None]:
    """Give the attribute that items are swept by; None where they are not."""
    answer = yield from send(context, Call("describe_time_to_live", {"TableName": context.table}))
    described: dict[str, Any] = answer.get("TimeToLiveDescription", {})
    return described.get("AttributeName") if described.get("TimeToLiveStatus") in ("ENABLED", "ENABLING") else None
