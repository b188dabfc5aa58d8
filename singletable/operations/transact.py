"""Several writes as one transaction: all of them happen, or none.

Theory of operation. The writes are the same values as alone. They share one stamp (one id, one reading of the clock),
are drafted abreast, so that what they must read is read at once, and sent by `commit`. Each draft ends by itself: one
that must be made anew is, the others stay, and all is sent again. Numbers that are drawn by being stored are drawn for
all of a line together (`siblings`), counters in one request for each, beforehand. Within a process the turns of all
writes are taken in one order, so that two transactions never wait for each other. With a token a receipt is put with
them (`receipts`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

from singletable.entity import Entity, values_of
from singletable.errors import (
    CorruptItem,
    NotFound,
    OutcomeUnknown,
    ServiceError,
    SingleTableError,
    TokenReused,
    TransactionFailed,
    UniqueViolation,
    Unprocessed,
    UsageError,
    kind_of,
)
from singletable.operations.abreast import abreast, read_items
from singletable.operations.commit import ACTIONS_MOST, Endings, commit
from singletable.operations.context import Context, Stamp
from singletable.operations.create import Create, as_drawn, turn_of
from singletable.operations.delete import Delete
from singletable.operations.drafts import Again, Done, Draft, Ending, Part, changed, filled
from singletable.operations.drawing import raised_by
from singletable.operations.many import awaits_number, drawn, place_of
from singletable.operations.move import Move
from singletable.operations.put import Put
from singletable.operations.receipts import Delivered, Receipt, check_token, input_of
from singletable.operations.siblings import Siblings
from singletable.operations.update import Update
from singletable.schema import Model
from singletable.wire import Exclusive, Item, Pause, Steps, at_once

__all__ = ["Transact", "fixed"]

ROUNDS = 64
"""So often, at most, is a transaction sent with other drafts; each write has a bound of its own besides."""

NEW = (Create, Put)
"""The operations that store an entity, and give it back."""

OF_THE_WHOLE = (OutcomeUnknown, TokenReused, Unprocessed, UsageError)
"""Errors of what is stored that say nothing of one operation's item."""


@dataclass(init=False, frozen=True, slots=True, eq=False)
class Transact:
    """Carry all operations out or none, and give their results in position.

    Create, Put and Move give the stored entity with its numbers; Update, Delete and Check give None. TransactionFailed
    with an error for each operation that stood in the way. With `token` a request that is delivered again is carried
    out once, and gives what is stored; TokenReused where it asks for something else. UsageError, before anything is
    sent, for more than 100 items or two writes to one item.
    """

    operations: tuple[Any, ...]
    token: str | None
    stamp: Stamp | None = field(repr=False)
    drawn: bool = field(repr=False)
    receipt: Receipt | None = field(repr=False)

    def __init__(self, *operations: Part[Any], token: str | None = None) -> None:
        _check(operations)
        receipt = None if token is None else Receipt(check_token(token), input_of(operations))
        filled(self, operations=operations, token=token, stamp=None, drawn=False, receipt=receipt)

    def steps(self, context: Context) -> Steps[tuple[Any, ...]]:
        """Draw the numbers, draft all, and send one TransactWriteItems (again, where a draft must be made anew)."""
        if not self.operations:
            return ()
        stamp = replace(context.stamp() if self.stamp is None else self.stamp, shared=True)
        begun = self.operations if self.drawn else (yield from _begun(context, self.operations))
        flow = _Unit(context, self, begun, stamp).steps()
        results: tuple[Any, ...] = yield from _in_turn({write.turn(context) for write in begun} - {None}, flow)
        return results


def _check(operations: Sequence[Any]) -> None:
    """Raise UsageError for what is no write, and for more operations than can be."""
    for place, operation in enumerate(operations):
        if not all(hasattr(operation, name) for name in ("draft", "told")):
            raise UsageError(
                f"operation {place + 1} of the transaction is {kind_of(operation)}, wanted a write",
                hint="such as Create(entity), Put(entity), Update(ref, change), Delete(ref) or Check(ref, when)",
            )
    if len(operations) > ACTIONS_MOST:
        raise UsageError(
            f"a transaction of {len(operations)} operations", hint=f"DynamoDB takes at most {ACTIONS_MOST}: split it"
        )


def _in_turn(turns: set[Hashable], flow: Steps[Any]) -> Steps[Any]:
    """Run a flow while holding every turn; all who hold several take them in the same order."""
    for turn in sorted(turns, key=repr, reverse=True):
        flow = _holding(turn, flow)
    return flow


def _holding(turn: Hashable, flow: Steps[Any]) -> Steps[Any]:
    return (yield Exclusive(turn, flow))


# Numbers -------------------------------------------------------------------------------------------------------------


def _begun(context: Context, operations: Sequence[Any]) -> Steps[tuple[Any, ...]]:
    """Check every write, then draw the counter numbers, one request for each counter."""
    _check_distinct(context, operations)
    waiting: dict[int, Create[Any] | Put[Any]] = {}
    write: Any
    for place, write in enumerate(operations):
        if type(write) in NEW and not write.drawn:
            _noted(place, write, partial(write.check, context))
            waiting[place] = write
    yield from raised_by(context, [write.entity for write in waiting.values() if type(write) is Create])
    entities = yield from drawn(context, [write.entity for write in waiting.values()])
    made = {
        place: as_drawn(context, write, entity)
        for (place, write), entity in zip(waiting.items(), entities, strict=True)
    }
    return tuple(made.get(place, write) for place, write in enumerate(operations))


def _check_distinct(context: Context, operations: Sequence[Any]) -> None:
    """Raise UsageError for two writes to one item, where their keys are known; `commit` finds the others."""
    seen: dict[Hashable, int] = {}
    for place, write in enumerate(operations):
        key = _known_key(context, write)
        if key is not None:
            other = seen.setdefault(place_of(_model_of(context, write).primary, key), place)
            if other != place:
                names = [f"{each + 1} ({type(operations[each]).__name__})" for each in (other, place)]
                raise UsageError(
                    f"operations {' and '.join(names)} of the transaction write one item",
                    hint="DynamoDB takes one write an item: join the changes in one Update, or leave one out",
                )


def _known_key(context: Context, write: Any) -> Item | None:
    """Give the key a write has before its numbers are drawn; None for one that has none yet, or only looks."""
    if type(write) in (Update, Delete, Move):
        key: Item = context.bound(write.ref).key
        return key
    if type(write) not in NEW or awaits_number(write.entity):
        return None
    return context.model(write.entity.__class__).primary.render(values_of(write.entity))


def _noted(place: int, operation: object, check: Callable[[], None]) -> None:
    """Let an error tell which operation it is of."""
    try:
        check()
    except SingleTableError as error:
        error.index, error.op = place, operation
        error.add_note(f"operation {place + 1} of the transaction, {type(operation).__name__}")
        raise


def fixed(context: Context, operations: Sequence[Any], stamp: Stamp) -> Steps[tuple[Any, ...]]:
    """Fix stamp and numbers of writes that are not sent yet: whoever runs them, they are the same."""
    begun = yield from _begun(context, operations)
    made: list[Any] = [_fixed(write, stamp) for write in begun]
    for group in _groups(context, begun).values():
        drafts = yield from Siblings(context, group, stamp).draft()
        for place, draft in drafts.items():
            made[place] = draft.prepared
    for place, write in enumerate(begun):
        if type(write) is Move:
            made[place] = (yield from write.draft(context, stamp)).prepared
    return tuple(made)


def _fixed(write: Any, stamp: Stamp) -> Any:
    """Fix a write's stamp; one that drew a number for its key keeps that number, and creates."""
    if type(write) in NEW and write.asked is not None:
        return Create(write.entity, stamp=stamp, drawn=True)
    return changed(write, stamp=stamp)


def _groups(context: Context, writes: Sequence[Any]) -> dict[Hashable, dict[int, Entity]]:
    """Put together what draws numbers in one line by being stored."""
    groups: dict[Hashable, dict[int, Entity]] = {}
    for place, write in enumerate(writes):
        if type(write) in NEW:
            turn = turn_of(context, write.entity)
            if turn is not None:
                groups.setdefault(turn, {})[place] = write.entity
    return groups


# Sending -------------------------------------------------------------------------------------------------------------


class _Unit:
    """One transaction under way: its writes with their numbers, and what comes of them."""

    def __init__(self, context: Context, transact: Transact, writes: Sequence[Any], stamp: Stamp) -> None:
        self._context = context
        self._given = transact
        self._writes = writes
        self._stamp = stamp
        self._model = _model_of(context, writes[0])
        self._prepared = transact
        groups = [Siblings(context, group, stamp) for group in _groups(context, writes).values()]
        self._siblings = {place: group for group in groups for place in group.places}

    def steps(self) -> Steps[tuple[Any, ...]]:
        """Send the drafts until all are done, or one cannot be."""
        drafts = yield from self._made(dict.fromkeys(range(len(self._writes))))
        for _ in range(ROUNDS):
            endings = yield from self._committed(drafts)
            for ending in endings[len(drafts) :]:
                if isinstance(ending, Done) and isinstance(ending.value, Delivered):
                    return (yield from self._stored(ending.value))
                if isinstance(ending, TokenReused):
                    raise ending
            if all(isinstance(ending, Done) for ending in endings):
                return self._results(endings)
            endings = _awaiting(drafts, endings)
            self._raise({place: each for place, each in enumerate(endings) if isinstance(each, SingleTableError)})
            yield Pause(max((each.pause for each in endings if isinstance(each, Again)), default=0.0))
            drafts |= yield from self._made({place: endings[place] for place in drafts})
        raise ServiceError(
            f"the transaction found what it depends on changed {ROUNDS} times; nothing of it was carried out",
            hint="let fewer writers change these items at once, or make the transactions smaller",
            error="TransactionConflict",
        )

    def _committed(self, drafts: Mapping[int, Draft[Any]]) -> Steps[Endings]:
        """Send all drafts, and the receipt after them where there is one."""
        ordered = [drafts[place] for place in range(len(self._writes))]
        operations = tuple(draft.prepared for draft in ordered)
        self._prepared = changed(self._given, operations=operations, stamp=self._stamp, drawn=True)
        if self._given.receipt is not None:
            keys = [
                draft.own.key if type(write) in NEW else None
                for write, draft in zip(self._writes, ordered, strict=True)
            ]
            ordered.append(self._given.receipt.draft(self._model, self._stamp, keys))
        return (yield from commit(self._context, ordered, self._stamp.id, self._prepared))

    def _made(self, endings: Mapping[int, Ending[Any] | None]) -> Steps[dict[int, Draft[Any]]]:
        """Draft what has no draft yet, or must be drafted anew. TransactionFailed where that cannot be."""
        flows: dict[int, Steps[dict[int, Draft[Any]]]] = {}
        for place, ending in endings.items():
            group = self._siblings.get(place)
            if isinstance(ending, Draft):
                continue
            if group is None:
                flows[place] = _alone(place, partial(self._draft, place, ending))
            elif not flows.keys() & group.places:
                flows[place] = group.draft()
        made = yield from abreast(self._context, self._model.primary, list(flows.values()))
        outcomes = dict(zip(flows, made, strict=True))
        self._raise({place: each for place, each in outcomes.items() if isinstance(each, SingleTableError)})
        return {
            place: draft
            for each in outcomes.values()
            if not isinstance(each, SingleTableError)
            for place, draft in each.items()
        }

    def _draft(self, place: int, ending: Ending[Any] | None) -> Steps[Draft[Any]]:
        """Draft one write: first, anew, or as the check that there is still nothing to do."""
        if isinstance(ending, Again):
            return ending.draft()
        if isinstance(ending, Done) and ending.instead is not None:
            value, write = ending.value, self._writes[place]
            again: Again[Any] = Again(0.0, lambda: write.draft(self._context, self._stamp))
            return at_once(Draft(ending.instead, lambda _: value, lambda _: again, changed(write, stamp=self._stamp)))
        flow: Steps[Draft[Any]] = self._writes[place].draft(self._context, self._stamp)
        return flow

    def _results(self, endings: Endings) -> tuple[Any, ...]:
        values = [ending.value for ending in endings if isinstance(ending, Done)]
        return tuple(write.told(value) for write, value in zip(self._writes, values, strict=False))

    def _stored(self, delivered: Delivered) -> Steps[tuple[Any, ...]]:
        """Read what an earlier delivery of the same request stored."""
        layout = self._model.primary
        keys = [key for key in delivered.keys if key is not None]
        found = (yield from read_items(self._context, layout, keys)) if keys else {}
        return tuple(
            None if key is None else _read(self._context, write, found.get(place_of(layout, key)))
            for key, write in zip(delivered.keys, self._writes, strict=True)
        )

    def _raise(self, errors: Mapping[int, SingleTableError]) -> None:
        """Raise for what stood in the way: TransactionFailed, or an error that is none of a single item's."""
        for place, error in errors.items():
            error.index, error.op = place, self._given.operations[place]
        for error in errors.values():
            if isinstance(error, OutcomeUnknown):
                error.operation = self._prepared
            if not _is_of_item(error):
                raise error
        if errors:
            _fail(errors, len(self._writes))


def _awaiting(drafts: Mapping[int, Draft[Any]], endings: Endings) -> Endings:
    """Keep the drafts that found a value taken while another is made anew, which may be the one that frees it."""
    if not any(isinstance(ending, Again) for ending in endings):
        return endings
    return [drafts[place] if isinstance(each, UniqueViolation) else each for place, each in enumerate(endings)]


def _is_of_item(error: SingleTableError) -> bool:
    """Say whether an error says something of one operation's item, and so stands in TransactionFailed."""
    stored = error.code.startswith(("ST50", "ST60")) or isinstance(error, CorruptItem)
    return stored and not isinstance(error, OF_THE_WHOLE)


def _fail(errors: Mapping[int, SingleTableError], total: int) -> NoReturn:
    what = ", ".join(f"[{place}] {type(error).__name__}" for place, error in errors.items())
    raise TransactionFailed(
        f"nothing of the transaction was carried out, {len(errors)} of {total} failed: {what}",
        list(errors.values()),
        hint="error.exceptions has one error for each, with its .index (from 0) and its .op",
    ) from next(iter(errors.values())).__cause__


def _alone(place: int, begin: Callable[[], Steps[Draft[Any]]]) -> Steps[dict[int, Draft[Any]]]:
    """Draft one write; what already its beginning raises is told as an error of its own."""
    return {place: (yield from begin())}


def _model_of(context: Context, write: Any) -> Model:
    return context.model(write.entity.__class__ if type(write) in NEW else write.ref.entity)


def _read(context: Context, write: Any, item: Item | None) -> Any:
    """Read what was created, as it stands now. NotFound where it has been deleted since."""
    kind: type[Entity] = write.entity.__class__
    entity = context.read(kind, item)
    if entity is None:
        raise NotFound(
            f"the {kind.__name__} that this token stored has been deleted since",
            hint="the request was carried out before; a fresh token carries it out again",
        )
    return entity
