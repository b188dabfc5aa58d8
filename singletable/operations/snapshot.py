"""Reading several items as they stand at one moment: TransactGetItems.

Theory of operation. The items are read as a serial order of all transactions has them; where a writer is at one of them
in this moment the whole is refused, and asked for again within bounds. DynamoDB takes a hundred keys, so more cannot be
read at one moment.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from singletable.errors import ServiceError, UsageError
from singletable.operations.commit import ATTEMPTS, exhausted, is_transient
from singletable.operations.context import Context, backoff
from singletable.operations.sending import send
from singletable.wire import Call, Item, Pause, Refusal, Steps

__all__ = ["read_at_one_moment"]

KEYS_MOST = 100
"""TransactGetItems asks for at most so many keys. Source: AWS, "TransactGetItems"."""


def read_at_one_moment(context: Context, keys: Mapping[Hashable, Item]) -> Steps[dict[Hashable, Item]]:
    """Read items by their keys, all at one moment. UsageError for more than a hundred."""
    if len(keys) > KEYS_MOST:
        raise UsageError(
            f"get_many(transactional=True) was given {len(keys)} different keys, DynamoDB takes at most {KEYS_MOST}",
            hint="leave transactional= out: then they are read a hundred at a time",
        )
    if not keys:
        return {}
    items = [{"Get": {"TableName": context.table, "Key": key}} for key in keys.values()]
    pauses, tried = backoff(context, ATTEMPTS, base=0.01, cap=0.5), 0
    while True:
        try:
            answer = yield from send(context, Call("transact_get_items", {"TransactItems": items}))
            found = zip(keys, answer["Responses"], strict=True)
            return {place: response["Item"] for place, response in found if response.get("Item")}
        except Refusal as refusal:
            tried += 1
            pause = next(pauses, None) if is_transient(refusal) else None
            if pause is None:
                raise _error(context, refusal, tried) from refusal.__cause__
        yield Pause(pause)


def _error(context: Context, refusal: Refusal, tried: int) -> Exception:
    if is_transient(refusal):
        return exhausted(context, refusal, tried)
    reasons = [f"{reason.code}: {reason.message}" for reason in refusal.reasons if reason.code != "None"]
    return ServiceError(
        f"DynamoDB refused to read the items at one moment: {'; '.join(reasons) or refusal.message}",
        hint="see the message of DynamoDB above",
        error=refusal.error,
    )
