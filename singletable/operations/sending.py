"""Sending one request: again while that is safe and of use, and every answer that means trouble as one typed error.

Theory of operation. A request that was throttled, or whose server failed, is sent again with backoff. One whose answer
was lost may have been carried out all the same; it is sent again too, and from then on a failed condition is ambiguous:
it may be our own first write that made it fail. `Refusal.sent` tells the operation so (above 1). An operation that
cannot tell what happened raises OutcomeUnknown. A Refusal goes back to it only where its request is one that can be
answered so (`TRUSTED`), which is where the operation expects it; from any other request it is a ServiceError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.errors import (
    ItemTooLarge,
    OutcomeUnknown,
    PlaceMissing,
    ServiceError,
    SingleTableError,
    TableMissing,
    Throttled,
    Unreachable,
)
from singletable.operations.context import Context, backoff
from singletable.sizes import ITEM_BYTES
from singletable.wire import Call, NoReply, Pause, Refusal, Steps

__all__ = ["CONDITION_FAILED", "NOT_THERE", "send", "table_missing"]

CONDITION_FAILED = "ConditionalCheckFailedException"
IN_USE = "ResourceInUseException"
NOT_THERE = "ResourceNotFoundException"
TOO_MANY = "LimitExceededException"
"""Too many tables, or indexes of one, are being made at this time."""

THROTTLING = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "Throttling",
        TOO_MANY,
        "TransactionInProgressException",
    }
)

CONFLICTS = frozenset({"TransactionConflictException", "ReplicatedWriteConflictException"})
"""Another request was at the item in this moment. Source: AWS, "Error handling with DynamoDB"."""

MESSAGE_CHARACTERS = 500
"""So much of a foreign message is told: a server that is no DynamoDB may answer with a whole page."""

TRUSTED: Mapping[str, frozenset[str]] = {
    "put_item": frozenset({CONDITION_FAILED}),
    "update_item": frozenset({CONDITION_FAILED}),
    "delete_item": frozenset({CONDITION_FAILED}),
    "transact_write_items": frozenset({"TransactionCanceledException"}),
    "transact_get_items": frozenset({"TransactionCanceledException"}),
    "create_table": frozenset({IN_USE}),
    "delete_table": frozenset({IN_USE, NOT_THERE}),
    "update_table": frozenset({IN_USE, TOO_MANY}),
}
"""What the operation behind a request understands itself."""


def send(context: Context, call: Call, *, writing: object = None) -> Steps[dict[str, Any]]:
    """Send a request and give its answer.

    `writing` is the operation on whose behalf something is written. Throttled, Unreachable, TableMissing or
    ServiceError where it came to nothing; OutcomeUnknown where a write may have happened; Refusal for what `TRUSTED`
    leaves to the operation, such as a failed condition.
    """
    pauses = backoff(context, context.attempts)
    unsure, sent = False, 0
    while True:
        try:
            answer: dict[str, Any] = yield call
            return answer
        except Refusal as refusal:
            sent += refusal.sent
            if refusal.error in TRUSTED.get(call.method, ()):
                refusal.sent = sent if unsure else refusal.sent
                raise
            unsure = unsure or refusal.status >= 500 or refusal.sent > 1
            trouble: Refusal | NoReply = refusal
        except NoReply as lost:
            sent += 1
            unsure = unsure or lost.sent
            trouble = lost
        pause = next(pauses, None) if _transient(trouble) else None
        if pause is None:
            raise _error(context, trouble, sent, writing if unsure else None) from trouble.__cause__
        yield Pause(pause)


def _transient(trouble: Refusal | NoReply) -> bool:
    return isinstance(trouble, NoReply) or trouble.status >= 500 or trouble.error in THROTTLING | CONFLICTS


def _error(context: Context, trouble: Refusal | NoReply, sent: int, unsure_of: object) -> SingleTableError:
    if unsure_of is not None:
        return _unknown(context, trouble, sent, unsure_of)
    if isinstance(trouble, NoReply):
        return Unreachable(
            f"no answer from {trouble.endpoint} after {sent} attempts",
            hint="is the endpoint right and running? It is set by endpoint_url= or AWS_ENDPOINT_URL_DYNAMODB",
            endpoint=trouble.endpoint,
        )
    if trouble.error == NOT_THERE:
        return table_missing(context)
    if trouble.error in THROTTLING:
        return Throttled(
            f"DynamoDB throttled a request on table {context.table!r} {sent} times",
            hint="raise the table's capacity, spread the writes over partitions, or set AWS_MAX_ATTEMPTS higher",
            attempts=sent,
        )
    return _known(trouble.message) or ServiceError(
        f"DynamoDB answered {trouble.error}: {trouble.message[:MESSAGE_CHARACTERS]}",
        hint="the request was not carried out; see the message of DynamoDB above",
        error=trouble.error,
    )


def _known(message: str) -> SingleTableError | None:
    """Make the error for what only DynamoDB can know of the item that a change meets; None for any other message."""
    if "document path" in message and "invalid for update" in message:
        return PlaceMissing(
            "a change writes into a map or list that is not there, or that is of another type",
            hint='set the whole field instead: Order.address.set({"city": ...})',
        )
    if "attribute that does not exist in the item" in message:
        return PlaceMissing(
            "a change takes its value from an attribute that is not there",
            hint="say what counts then: set(Order.nick | 'unknown')",
        )
    if "exceeded the maximum allowed size" in message:
        return ItemTooLarge(
            f"the item would have more than {ITEM_BYTES} bytes, which DynamoDB does not store",
            hint="split it into several items, or keep large values elsewhere (S3) and store where",
            size=0,
            limit=ITEM_BYTES,
        )
    return None


def table_missing(context: Context) -> TableMissing:
    """Make the error for a table that is not there."""
    return TableMissing(
        f"table {context.table!r} (or an index of it) does not exist here",
        hint="store.create_table() makes it; check the name, the region and the endpoint",
        table=context.table,
    )


def _unknown(context: Context, trouble: Refusal | NoReply, sent: int, operation: object) -> OutcomeUnknown:
    """Make the error for a write that may have happened: its last try ended in `trouble`, after `sent` in all."""
    what = f"a write on table {context.table!r}"
    if isinstance(trouble, NoReply):
        said = f"the reply to {what} was lost, {sent} times; it may have been carried out"
    elif trouble.error in THROTTLING:
        said = f"{what} was throttled, {sent} times, and an earlier try may have been carried out"
    else:
        said = f"{what} ended in {trouble.error}, after {sent} tries; it, or one of them, may have been carried out"
    return OutcomeUnknown(said, hint="read the item before writing again", operation=operation)
