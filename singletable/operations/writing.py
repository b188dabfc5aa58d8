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

from singletable.entity import Entity, left_out
from singletable.errors import (
    AlreadyExists,
    ConditionFailed,
    CorruptItem,
    FieldNotLoaded,
    OutcomeUnknown,
    SingleTableError,
    VersionConflict,
)
from singletable.expressions import Condition, Path, all_of, any_of
from singletable.mapping import Mapper, foreign_item, kind_of_item
from singletable.operations.expiring import expired
from singletable.schema import CREATE_ID, Model
from singletable.wire import AttributeValue, Item, Refusal

__all__ = [
    "absent",
    "already_exists",
    "at_version",
    "carries",
    "contended",
    "free_or_own",
    "key_of",
    "old_is_lost",
    "owned",
    "read_after",
    "readable",
    "refused",
    "replaceable",
    "stands",
    "unchanged",
    "unknown",
    "version_conflict",
    "with_create_id",
]

E = TypeVar("E", bound=Entity)


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


def replaceable(model: Model, now: datetime, held: Condition | None) -> Condition | None:
    """Hold where nothing stands, or an item of this entity of the version that is held."""
    if held is None:
        return free_or_own(model, now)
    return any_of((absent(model, now), all_of((owned(model), held))))


def at_version(model: Model, given: Entity | None) -> Condition | None:
    """Hold where the stored version is that of an entity, none being none; None where nobody counts, or none is given.

    FieldNotLoaded for an entity that was read without its version.
    """
    version = model.stamps.counter()
    if version is None or given is None:
        return None
    if version.name in (left_out(given) or ()):
        raise FieldNotLoaded(
            f"{model.name}.{version.name} was not read: nobody can tell whether the item is still the same",
            hint="name it in only() too, or write by reference: it is not checked then",
            field=version.name,
        )
    held = given.__dict__.get(version.name)
    return stands(version.path, None if held is None else version.encoded(held))


def version_conflict(mapper: Mapper[E], item: Item | None, given: Entity) -> VersionConflict:
    """Make the error for an entity whose item was written by others since."""
    what = "nothing stands there any more" if item is None else "it was written since this entity was read"
    return VersionConflict(
        f"{mapper.model.name}: {what}",
        hint="read it again and do it anew; error.current is the entity as it stands, error.given what was handed in",
        current=readable(mapper, item),
        given=given,
    )


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


def unchanged(model: Model, key: Item, item: Item) -> Condition | None:
    """Hold where an item stands just as it was read, and lacks what it lacked of its fields."""
    known = [field.attribute for field in model.fields.values()]
    names = dict.fromkeys(name for name in (*item, *known) if name not in key)
    return all_of(stands(Path((name,)), item.get(name)) for name in names)


def old_is_lost(operation: object) -> OutcomeUnknown:
    """Make the error for a write that was carried out, and whose reply with the old item was lost."""
    return OutcomeUnknown(
        f"{type(operation).__name__}: it was carried out, and the reply with the old item was lost",
        hint="read the item: it is as the write left it; running error.operation again does not write it twice",
        operation=operation,
    )


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


def already_exists(
    mapper: Mapper[E],
    item: Item | None,
    *,
    hint: str = "store.put(...) replaces an item of the same kind, store.update(...) changes it",
) -> AlreadyExists:
    """Make the error for a key that is taken; the entity there is attached where it is of the same kind."""
    kind = None if item is None else kind_of_item(mapper.model, item)
    existing = readable(mapper, item)
    what = {"gone": "a number that was deleted, which stays taken", "foreign": "another entity's item"}
    return AlreadyExists(
        f"{mapper.model.name}: the key is taken" + (f" by {what[kind]}" if kind in what else ""),
        hint=hint,
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
