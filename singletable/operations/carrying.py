"""Carrying one write out: its draft is sent, and drafted anew as long as that is of use.

Theory of operation. A draft with one action is one plain request; one with more (or a mere check) is a transaction. The
draft itself says what a failed condition means, and how often it may be made again. A refusal that comes without an
item says that nothing stood there, or that the engine knows of no such asking (dynalite): one strong read tells which,
until the engine has once shown that it answers with items.
"""

from __future__ import annotations

from typing import Any, TypeVar

from singletable.errors import SingleTableError
from singletable.operations.actions import call_of
from singletable.operations.commit import commit
from singletable.operations.context import Context, Stamp
from singletable.operations.drafts import Again, Done, Draft, Ending, Verdict, Write
from singletable.operations.sending import CONDITION_FAILED, send
from singletable.wire import Call, Exclusive, Item, Pause, Refusal, Steps

__all__ = ["carry_out"]

T = TypeVar("T")


def carry_out(context: Context, write: Write[T]) -> Steps[T]:
    """Run one write and give its result, or raise why it could not be."""
    stamp = context.stamp() if write.stamp is None else write.stamp
    begun = yield from write.begun(context)
    turn, flow = begun.turn(context), _run(context, begun, stamp)
    if turn is None:
        return (yield from flow)
    result: T = yield Exclusive(turn, flow)
    return result


def _run(context: Context, write: Write[T], stamp: Stamp) -> Steps[T]:
    draft = yield from write.draft(context, stamp)
    while True:
        ending: Ending[T]
        if draft.alone:
            ending = yield from _sent(context, draft)
        else:
            ending = yield from _committed(context, draft, stamp)
        if isinstance(ending, Done):
            return ending.value
        if isinstance(ending, SingleTableError):
            raise ending
        if isinstance(ending, Again):
            yield Pause(ending.pause)
            draft = yield from ending.draft()


def _sent(context: Context, draft: Draft[T]) -> Steps[Verdict[T]]:
    """Send a draft as one plain request."""
    try:
        answer: dict[str, Any] = yield from send(context, call_of(context, draft.own), writing=draft.prepared)
    except Refusal as refusal:
        if refusal.error != CONDITION_FAILED:
            raise
        yield from _look(context, draft.own.key, refusal)
        verdict = draft.refused(refusal)
        if isinstance(verdict, SingleTableError):
            raise verdict from refusal.__cause__
        return verdict
    return Done(draft.answer(answer.get("Attributes")))


def _committed(context: Context, draft: Draft[T], stamp: Stamp) -> Steps[Ending[T]]:
    """Send a draft as a transaction of its own."""
    (ending,) = yield from commit(context, [draft], stamp.id, draft.prepared)
    if isinstance(ending, Done) and draft.after is not None:
        return Done((yield from draft.after()))
    return ending


def _look(context: Context, key: Item, refusal: Refusal) -> Steps[None]:
    """Find out what stands at the key of a write whose refusal came without an item.

    The write was refused, which is certain and must be told; a read that fails only leaves it at what was answered.
    """
    if refusal.item is not None:
        context.knows_old.set()
        return
    if context.knows_old.is_set():
        return
    params = {"TableName": context.table, "Key": key, "ConsistentRead": True}
    try:
        answer = yield from send(context, Call("get_item", params))
    except SingleTableError:
        return
    refusal.item = answer.get("Item")
