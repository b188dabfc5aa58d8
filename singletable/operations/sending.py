"""Sending one request: again while that is safe and of use, and every answer that means trouble as one typed error.

Theory of operation. A request that was throttled, or whose server failed, is sent again with backoff. One whose answer
was lost may have been carried out all the same; it is sent again too, and from then on a failed condition is ambiguous:
it may be our own first write that made it fail. `Refusal.sent` tells the operation so (above 1). An operation that
cannot tell what happened raises OutcomeUnknown; a failed condition itself always goes back to it as the Refusal.
"""

from __future__ import annotations

from typing import Any

from singletable.errors import OutcomeUnknown, ServiceError, SingleTableError, TableMissing, Throttled, Unreachable
from singletable.operations.context import Context, backoff
from singletable.wire import Call, NoReply, Pause, Refusal, Steps

__all__ = ["CONDITION_FAILED", "send"]

CONDITION_FAILED = "ConditionalCheckFailedException"

THROTTLING = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "Throttling",
        "LimitExceededException",
        "TransactionInProgressException",
    }
)

CONFLICTS = frozenset({"TransactionConflictException", "ReplicatedWriteConflictException"})
"""Another request was at the item in this moment. Source: AWS, "Error handling with DynamoDB"."""

MESSAGE_CHARACTERS = 500
"""So much of a foreign message is told: a server that is no DynamoDB may answer with a whole page."""

TRUSTED = frozenset({CONDITION_FAILED, "TransactionCanceledException", "ResourceInUseException"})
"""What an operation understands itself."""


def send(context: Context, call: Call, *, writing: object = None) -> Steps[dict[str, Any]]:
    """Send a request and give its answer.

    `writing` is the operation on whose behalf something is written. Throttled, Unreachable, TableMissing or
    ServiceError where it came to nothing; OutcomeUnknown where a write may have happened; Refusal for a failed
    condition.
    """
    pauses = backoff(context, context.attempts)
    unsure, sent = False, 0
    while True:
        try:
            answer: dict[str, Any] = yield call
            return answer
        except Refusal as refusal:
            sent += refusal.sent
            if refusal.error in TRUSTED:
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
        return OutcomeUnknown(
            f"the reply to a write on table {context.table!r} was lost, {sent} times; it may have been carried out",
            hint="read the item, or run error.operation again",
            operation=unsure_of,
        )
    if isinstance(trouble, NoReply):
        return Unreachable(
            f"no answer from {trouble.endpoint} after {sent} attempts",
            hint="is the endpoint right and running? It is set by endpoint_url= or AWS_ENDPOINT_URL_DYNAMODB",
            endpoint=trouble.endpoint,
        )
    if trouble.error == "ResourceNotFoundException":
        return TableMissing(
            f"table {context.table!r} (or an index of it) does not exist here",
            hint="store.create_table() makes it; check the name, the region and the endpoint",
            table=context.table,
        )
    if trouble.error in THROTTLING:
        return Throttled(
            f"DynamoDB throttled a request on table {context.table!r} {sent} times",
            hint="raise the table's capacity, spread the writes over partitions, or set AWS_MAX_ATTEMPTS higher",
            attempts=sent,
        )
    return ServiceError(
        f"DynamoDB answered {trouble.error}: {trouble.message[:MESSAGE_CHARACTERS]}",
        hint="the request was not carried out; see the message of DynamoDB above",
        error=trouble.error,
    )
