"""Running flows abreast, so that what they read at the same time is read at once.

Theory of operation. Writes that go into one transaction are drafted by flows that know nothing of each other, and some
read the item they change. Here the flows are advanced in step: the strong reads of single items that they ask for at
one time become one BatchGetItem, and anything else they ask for is done at the same time. A flow that ends in an error
of ours does not end the others: errors stand among the outcomes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from singletable.errors import SingleTableError, Throttled
from singletable.layouts import Layout
from singletable.operations.context import Context
from singletable.operations.get_many import ReadBatch
from singletable.operations.many import place_of
from singletable.wire import Call, Effect, Item, NoReply, Refusal, Steps, Together

__all__ = ["abreast", "read_items"]

T = TypeVar("T")


def abreast(context: Context, layout: Layout, flows: Sequence[Steps[T]]) -> Steps[list[T | SingleTableError]]:
    """Run flows in step and list their results, or the errors they ended in; `layout` is that of the table's keys."""
    lanes = [_Lane(flow) for flow in flows]
    try:
        while waiting := [lane for lane in lanes if lane.asked is not None]:
            reads = [lane for lane in waiting if _is_read(lane.asked)]
            reads = reads if len(reads) > 1 else []
            if reads:
                yield from _read(context, layout, reads)
            yield from _perform(context, [lane for lane in waiting if lane not in reads])
        return [lane.outcome for lane in lanes]
    finally:
        for lane in lanes:
            lane.flow.close()


class _Lane(Generic[T]):
    """One flow: what it asks for now (None when it has ended), and in what it ended."""

    outcome: T | SingleTableError

    def __init__(self, flow: Steps[T]) -> None:
        self.flow = flow
        self.asked: Effect | None = None
        self.go_on(None)

    def go_on(self, answer: Any) -> None:
        """Give the flow its answer, or throw it in where that is an error, and take what it asks for next."""
        try:
            raised = isinstance(answer, Exception)
            self.asked = self.flow.throw(answer) if raised else self.flow.send(answer)
        except StopIteration as done:
            self.asked, self.outcome = None, done.value
        except SingleTableError as error:
            self.asked, self.outcome = None, error


def _is_read(effect: Effect | None) -> bool:
    return isinstance(effect, Call) and effect.method == "get_item" and effect.params["ConsistentRead"] is True


def _read(context: Context, layout: Layout, lanes: Sequence[_Lane[Any]]) -> Steps[None]:
    """Answer single reads out of one request."""
    keys = [lane.asked.params["Key"] for lane in lanes if isinstance(lane.asked, Call)]
    found = yield from read_items(context, layout, keys)
    for lane, key in zip(lanes, keys, strict=True):
        item = found.get(place_of(layout, key))
        lane.go_on({} if item is None else {"Item": item})


def read_items(context: Context, layout: Layout, keys: Sequence[Item]) -> Steps[dict[Hashable, Item]]:
    """Read items strongly by their keys, up to a hundred, in one request; Throttled where some are never answered."""
    batch = ReadBatch(layout, {place_of(layout, key): key for key in keys}, consistent=True)
    found, left = yield from batch.steps(context)
    if left:
        raise Throttled(
            f"DynamoDB kept not answering {len(left)} of the {len(batch.keys)} keys that a write depends on",
            hint="raise the table's capacity, or spread the writes over partitions; nothing was written",
            attempts=context.attempts,
        )
    return found


def _perform(context: Context, lanes: Sequence[_Lane[Any]]) -> Steps[None]:
    """Do everything else that flows ask for, at the same time."""
    asked = [lane.asked for lane in lanes if lane.asked is not None]
    if len(asked) == 1:
        try:
            answer = yield asked[0]
        except (Refusal, NoReply, SingleTableError) as error:
            answer = error
        lanes[0].go_on(answer)
        return
    if asked:
        answers = yield Together([_one(effect) for effect in asked], context.workers)
        for lane, answer in zip(lanes, answers, strict=True):
            lane.go_on(answer)


def _one(effect: Effect) -> Steps[Any]:
    return (yield effect)
