"""One write on one item, alone or as a part of a transaction.

Theory of operation. An `Action` says what is to stand at a key and on which condition; it knows nothing of entities.
Alone it is a PutItem, UpdateItem or DeleteItem (a check is none of these: it needs a transaction); together with others
it is an element of TransactWriteItems. Where its condition fails, the item that stands there is always asked for, which
is free.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from singletable.expressions import Change, Condition, Expressions, all_of
from singletable.operations.context import Context
from singletable.wire import Call, Item

__all__ = ["Action", "Kind", "Returning", "call_of", "checked", "element_of"]

Kind: TypeAlias = Literal["put", "update", "delete", "check"]
Returning: TypeAlias = Literal["NONE", "ALL_OLD", "ALL_NEW"]

METHODS = {"put": "put_item", "update": "update_item", "delete": "delete_item"}
ELEMENTS = {"put": "Put", "update": "Update", "delete": "Delete", "check": "ConditionCheck"}


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """What is done at one key: a put has its `item`, an update its `changes`; `condition` guards it.

    `returning` is what a request of its own answers with; a transaction answers with nothing.
    """

    kind: Kind
    key: Item
    condition: Condition | None = None
    item: Item | None = field(default=None, repr=False)
    changes: tuple[Change, ...] = ()
    returning: Returning = "NONE"


def checked(action: Action, condition: Condition | None) -> Action:
    """Give an action that rests on a further condition."""
    return replace(action, condition=all_of((action.condition, condition)))


def call_of(context: Context, action: Action) -> Call:
    """Write an action as a request of its own."""
    params = _params(context, action)
    if action.returning != "NONE":
        params["ReturnValues"] = action.returning
    return Call(METHODS[action.kind], params)


def element_of(context: Context, action: Action) -> dict[str, Any]:
    """Write an action as an element of a transaction."""
    return {ELEMENTS[action.kind]: _params(context, action)}


def _params(context: Context, action: Action) -> dict[str, Any]:
    """Write what both have in common; a request has one table of names and one of values."""
    expressions = Expressions()
    params: dict[str, Any] = {"TableName": context.table}
    if action.item is not None:
        params["Item"] = action.item
    else:
        params["Key"] = action.key
    if action.changes:
        params["UpdateExpression"] = expressions.update(action.changes)
    if action.condition is not None:
        params["ConditionExpression"] = expressions.condition(action.condition)
        params["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {**params, **expressions.params()}
