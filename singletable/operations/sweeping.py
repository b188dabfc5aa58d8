"""Having DynamoDB sweep what has expired: its "time to live", switched on for one attribute of a table.

Theory of operation. DynamoDB refuses to switch on what is on, and to change it again within an hour, so it is asked
first. An engine without it knows neither request: nothing is swept there, which no reader sees, for what has expired
counts as absent. Source: AWS, "UpdateTimeToLive".
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
    state, found = yield from _described(context)
    if state == "off":
        specification = {"Enabled": True, "AttributeName": attribute}
        params = {"TableName": context.table, "TimeToLiveSpecification": specification}
        try:
            yield from send(context, Call("update_time_to_live", params))
        except ServiceError as error:
            state, found = yield from _described(context)
            if error.error != REFUSED or state != "on":  # another process may have switched it on meanwhile
                raise
    if state == "on" and found != attribute:
        difference = f"items expire by {found!r}, declared {attribute!r}"
        raise TableMismatch(
            f"table {context.table!r} exists and has another shape: {difference}",
            hint=f'declare the Table as it is: Table(..., ttl="{found}")',
            table=context.table,
            differences=(difference,),
        )


def _described(context: Context) -> Steps[tuple[str, str | None]]:
    """Tell whether the time to live is "on" or "off", or "unknown" to the engine, and for which attribute."""
    try:
        answer = yield from send(context, Call("describe_time_to_live", {"TableName": context.table}))
    except ServiceError as error:
        if error.error != UNKNOWN:
            raise
        return "unknown", None
    described: dict[str, Any] = answer.get("TimeToLiveDescription", {})
    on = described.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return ("on" if on else "off"), described.get("AttributeName")
