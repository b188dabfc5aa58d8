"""What all writes share: whose item may stand at the key, the create id, and the errors of a write that was refused.

Theory of operation. A write is conditional on whose item stands at the key, so that nothing of another entity is ever
replaced, and asks for the old item on failure, which is free. Every item carries the id of the create that made it
(`_c`) and, where a write could not be repeated unnoticed, that of the last such write (`_w`): when a request had to be
sent again, a failed condition whose old item carries our own id is our own success. An item that has expired counts as
absent, whoever's it is, though DynamoDB has not swept it yet.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from singletable.entity import Entity
from singletable.errors import AlreadyExists, ConditionFailed, CorruptItem, OutcomeUnknown, SingleTableError
from singletable.expressions import Condition, Path, all_of, any_of
from singletable.judging import holds
from singletable.mapping import Mapper, foreign_item, kind_of_item
from singletable.schema import CREATE_ID, Model, Table
from singletable.wire import AttributeValue, Item, Refusal

__all__ = [
    "absent",
    "already_exists",
    "carries",
    "contended",
    "expired",
    "free_or_own",
    "has_expired",
    "key_of",
    "owned",
    "read_after",
    "readable",
    "refused",
    "stands",
    "unknown",
    "with_create_id",
]

E = TypeVar("E", bound=Entity)


def expired(table: Table, now: datetime | None) -> Condition | None:
    """Hold for an item that has expired by then; None where items of the table never do, or nobody asks."""
    if table.ttl is None or now is None:
        return None
    return Condition("<=", (Path((table.ttl,)), {"N": str(int(now.timestamp()))}))


def has_expired(table: Table, item: Item, now: datetime | None) -> bool:
    """Say whether an item has expired by then, swept or not."""
    gone = expired(table, now)
    return gone is not None and holds(gone, item)


def absent(model: Model, now: datetime | None = None) -> Condition:
    """Hold where nothing stands at the key, or only what has expired."""
    nothing = Condition("attribute_not_exists", (Path((model.table.pk.name,)),))
    gone = expired(model.table, now)
    return nothing if gone is None else nothing | gone


def owned(model: Model, now: datetime | None = None) -> Condition | None:
    """Hold where an item of this entity stands at the key, not expired; None where nothing tells."""
    gone = expired(model.table, now)
    live = None if gone is None else ~gone
    if model.table.tag is None:
        return live
    tag = Path((model.table.tag,))
    own: list[Condition | None] = [Condition("=", (tag, {"S": name})) for name in model.tags]
    if model.table.untagged is not None:
        there = Condition("attribute_exists", (Path((model.table.pk.name,)),))
        own.append(there & Condition("attribute_not_exists", (tag,)))
    return all_of((any_of(own), live))


def free_or_own(model: Model, now: datetime | None = None) -> Condition | None:
    """Hold where nothing or an item of this entity stands; None where the table keeps no tag to tell by."""
    if model.table.tag is None:
        return None
    return any_of((absent(model, now), owned(model)))


def key_of(model: Model, item: Item) -> Item:
    """Give the primary key of an item."""
    return {column.name: item[column.name] for column in model.table.pks + model.table.sks}


def with_create_id(item: Item, create_id: str) -> Item:
    """Give an item the id of the create that makes it."""
    return {**item, CREATE_ID: {"S": create_id}}


def carries(refusal: Refusal, attribute: str, write_id: str) -> bool:
    """Say whether the item that stood in the way carries our own id, as `_c` or `_w`."""
    return refusal.item is not None and refusal.item.get(attribute) == {"S": write_id}


def read_after(mapper: Mapper[E], item: Item, what: str) -> E:
    """Read what a write answered with. CorruptItem, which says that the write was carried out, where it cannot be."""
    try:
        return mapper.decode(item)
    except CorruptItem as error:
        raise CorruptItem(
            f"the item was {what}, and cannot be read: {error.message}",
            hint=error.hint,
            entity=error.entity,
            field=error.field,
        ) from error


def stands(path: Path, stored: AttributeValue | None) -> Condition:
    """Hold where an attribute is stored just so; None stands for absent."""
    return Condition("attribute_not_exists", (path,)) if stored is None else Condition("=", (path, stored))


def contended(mapper: Mapper[E], item: Item | None, what: str, tried: int) -> ConditionFailed:
    """Make the error for a write that others were faster at, each time it was tried."""
    return ConditionFailed(
        f"{mapper.model.name}: {tried} attempts found {what} changed by others",
        hint="what the write depends on is changed all the time: run it again, or let fewer writers change it at once",
        current=readable(mapper, item),
    )


def readable(mapper: Mapper[E], item: Item | None) -> E | None:
    """Read the entity that stands in a write's way; None for another's, a tombstone, and one that cannot be read."""
    if item is None or kind_of_item(mapper.model, item) != "own":
        return None
    try:
        return mapper.decode(item)
    except CorruptItem:
        return None


def unknown(operation: object) -> OutcomeUnknown:
    """Make the error for a write that was sent more than once and whose traces do not tell."""
    return OutcomeUnknown(
        f"{type(operation).__name__}: a reply was lost, and what is stored does not tell whether the write happened",
        hint="read the item before writing again",
        operation=operation,
    )


def already_exists(mapper: Mapper[E], item: Item | None) -> AlreadyExists:
    """Make the error for a key that is taken; the entity there is attached where it is of the same kind."""
    kind = None if item is None else kind_of_item(mapper.model, item)
    existing = readable(mapper, item)
    what = {"gone": "a number that was deleted, which stays taken", "foreign": "another entity's item"}
    return AlreadyExists(
        f"{mapper.model.name}: the key is taken" + (f" by {what[kind]}" if kind in what else ""),
        hint="store.put(...) replaces an item of the same kind, store.update(...) changes it",
        existing=existing,
    )


def refused(mapper: Mapper[E], refusal: Refusal, operation: object, *, taken: bool) -> SingleTableError:
    """Say why a guarded write was refused: another's item, a number that stays taken, or the caller's own condition."""
    item = refusal.item
    kind = None if item is None else kind_of_item(mapper.model, item)
    if item is not None and kind == "foreign":
        return foreign_item(mapper.model, item)
    if refusal.sent > 1:
        return unknown(operation)
    if kind == "gone" and taken:
        return already_exists(mapper, item)
    current = readable(mapper, item)
    return ConditionFailed(
        f"{mapper.model.name}: the condition of {type(operation).__name__.lower()} did not hold"
        + ("" if current is not None else ", nothing stands at the key"),
        hint="error.current is the entity as it stands",
        current=current,
    )
