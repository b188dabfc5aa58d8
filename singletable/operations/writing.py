"""What all writes share: guards, the create id, and what a failed condition means.

Theory of operation. A write is conditional on whose item stands at the key, so that nothing of another entity is ever
replaced, and asks for the old item on failure, which is free. Every item carries the id of the create that made it
(`_c`): when a request had to be sent again, a failed condition whose old item carries our own id is our own success.
A failure that comes without an item says that nothing stood there, or that the engine knows of no such asking
(dynalite): one strong read tells which.
"""

from __future__ import annotations

from typing import Any, TypeVar

from singletable.entity import Entity
from singletable.errors import AlreadyExists, ConditionFailed, CorruptItem, OutcomeUnknown, SingleTableError
from singletable.expressions import Condition, Expressions, Path, any_of
from singletable.mapping import Mapper, foreign_item, kind_of_item
from singletable.operations.context import Context
from singletable.operations.sending import CONDITION_FAILED, send
from singletable.schema import CREATE_ID, Model
from singletable.wire import Call, Item, Refusal, Steps

__all__ = [
    "absent",
    "already_exists",
    "conditional",
    "free_or_own",
    "guarded",
    "owned",
    "put_absent",
    "put_call",
    "read_after",
    "readable",
    "refused",
    "unknown",
    "with_create_id",
]

E = TypeVar("E", bound=Entity)


def absent(model: Model) -> Condition:
    """Hold where nothing stands at the key."""
    return Condition("attribute_not_exists", (Path((model.table.pk.name,)),))


def owned(model: Model) -> Condition | None:
    """Hold where an item of this entity stands at the key; None where the table keeps no tag to tell by."""
    if model.table.tag is None:
        return None
    tag = Path((model.table.tag,))
    own: list[Condition | None] = [Condition("=", (tag, {"S": name})) for name in model.tags]
    if model.table.untagged is not None:
        there = Condition("attribute_exists", (Path((model.table.pk.name,)),))
        own.append(there & Condition("attribute_not_exists", (tag,)))
    return any_of(own)


def free_or_own(model: Model) -> Condition | None:
    """Hold where nothing or an item of this entity stands; None where the table keeps no tag to tell by."""
    own = owned(model)
    return None if own is None else absent(model) | own


def put_absent(context: Context, mapper: Mapper[E], entity: E, operation: object) -> Steps[E]:
    """Put an entity where nothing stands. AlreadyExists where something does, OutcomeUnknown where nobody can tell."""
    item = with_create_id(mapper.encode(entity), context.fresh_id())
    answer = yield from conditional(context, mapper.model, put_call(context, item, absent(mapper.model)), operation)
    if not isinstance(answer, Refusal) or _ours(answer, item):
        return mapper.decode(item)
    if answer.sent > 1:
        raise unknown(operation) from answer.__cause__
    raise already_exists(mapper, answer.item) from answer.__cause__


def with_create_id(item: Item, create_id: str) -> Item:
    """Give an item the id of the create that makes it."""
    return {**item, CREATE_ID: {"S": create_id}}


def put_call(context: Context, item: Item, condition: Condition | None) -> Call:
    """Make the request that puts an item under a condition."""
    return Call("put_item", guarded(context, {"Item": item}, condition))


def guarded(
    context: Context, params: dict[str, Any], condition: Condition | None, expressions: Expressions | None = None
) -> dict[str, Any]:
    """Add the table's name and the condition to a write; where it fails, the old item is answered.

    `expressions` are those the write already uses: a request has one table of names and one of values.
    """
    expressions = Expressions() if expressions is None else expressions
    params = {"TableName": context.table, **params}
    if condition is not None:
        params["ConditionExpression"] = expressions.condition(condition)
        params["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {**params, **expressions.params()}


def conditional(context: Context, model: Model, call: Call, operation: object) -> Steps[dict[str, Any] | Refusal]:
    """Send a guarded write; give its answer, or the Refusal where its condition failed, with the item that stands.

    Where the refusal came without an item one is looked for; DynamoDB sends it along if there is one, so that on
    DynamoDB only a write to a key where nothing stands costs this read.
    """
    try:
        return (yield from send(context, call, writing=operation))
    except Refusal as refusal:
        if refusal.error != CONDITION_FAILED:
            raise
        if refusal.item is None:
            refusal.item = yield from _standing(context, model, call)
        return refusal


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


def readable(mapper: Mapper[E], item: Item | None) -> E | None:
    """Read the entity that stands in a write's way; None for another's, a tombstone, and one that cannot be read."""
    if item is None or kind_of_item(mapper.model, item) != "own":
        return None
    try:
        return mapper.decode(item)
    except CorruptItem:
        return None


def _standing(context: Context, model: Model, call: Call) -> Steps[Item | None]:
    """Read what stands at the key of a write. None where nothing does, or where it cannot be read just now.

    The write was refused, which is certain and must be told; a read that fails only leaves it at what DynamoDB said.
    """
    columns = model.table.pks + model.table.sks
    key = (
        call.params["Key"] if "Key" in call.params else {each.name: call.params["Item"][each.name] for each in columns}
    )
    params = {"TableName": context.table, "Key": key, "ConsistentRead": True}
    try:
        answer = yield from send(context, Call("get_item", params))
    except SingleTableError:
        return None
    item: Item | None = answer.get("Item")
    return item


def _ours(refusal: Refusal, item: Item) -> bool:
    return refusal.item is not None and refusal.item.get(CREATE_ID) == item[CREATE_ID]


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
