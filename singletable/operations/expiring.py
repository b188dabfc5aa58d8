"""What has expired counts as absent, though DynamoDB has not swept it yet: the condition, and the same on this side.

DynamoDB sweeps an item some time after the second that its time to live names, often within minutes, at the latest in a
few days; until then it is read, counted and stands in the way. Source: AWS, "Using time to live (TTL) in DynamoDB".
A table without time to live has nothing that expires, and pays for none of this.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from singletable.expressions import Condition, Path
from singletable.fields import Field
from singletable.judging import holds
from singletable.schema import Model, Table
from singletable.wire import Item, Refusal

__all__ = ["expired", "has_expired", "judged_alive", "lifetime_of", "seen"]


def lifetime_of(model: Model) -> Field[Any] | None:
    """Give the field that is stored as the table's time to live; None where the entity has none."""
    return next((field for field in model.fields.values() if field.attribute == model.table.ttl), None)


def expired(table: Table, now: datetime | None) -> Condition | None:
    """Hold for an item that has expired by then; None where items of the table never do, or nobody asks."""
    if table.ttl is None or now is None:
        return None
    return Condition("<=", (Path((table.ttl,)), {"N": str(int(now.timestamp()))}))


def has_expired(table: Table, item: Item | None, now: datetime | None) -> bool:
    """Say whether there is an item that has expired by then, swept or not."""
    gone = None if item is None else expired(table, now)
    return gone is not None and item is not None and holds(gone, item)


def judged_alive(table: Table, when: Condition | None, now: datetime) -> Condition | None:
    """Judge a caller's condition on what stands there, and where that has expired on nothing."""
    gone = expired(table, now)
    if gone is None or when is None:
        return when
    return gone | when if holds(when, {}) else ~gone & when


def seen(table: Table, refusal: Refusal, now: datetime) -> Refusal:
    """Give a refusal as it is to be told: what has expired does not stand there."""
    if not has_expired(table, refusal.item, now):
        return refusal
    told = Refusal(refusal.error, refusal.message, sent=refusal.sent)
    told.__cause__ = refusal.__cause__
    return told
