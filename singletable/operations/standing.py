"""Transactions that rest on what was read: reads are checked to stand still when it is committed.

Theory of operation. A `build` reads items and says what to write. Each item it read becomes a check, in the same
transaction, that the item is stored as it was read, or still absent; it is merged into the write of the same item.
Where one has changed, nothing was written, and the build is run again from the start. This is optimistic concurrency
control (Kung and Robinson, "On Optimistic Methods for Concurrency Control", 1981); it is bounded, and backs off.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.errors import ConditionFailed, NotFound, TransactionFailed, UsageError, kind_of
from singletable.expressions import Condition
from singletable.operations.actions import Action
from singletable.operations.context import Context, Stamp, backoff
from singletable.operations.drafts import Draft, Verdict, changed
from singletable.operations.expiring import seen
from singletable.operations.get import get_call
from singletable.operations.sending import send
from singletable.operations.transact import Transact
from singletable.operations.writing import absent, readable, unchanged, unknown
from singletable.queries import Ref
from singletable.schema import Model
from singletable.wire import Item, Pause, Refusal, Steps, at_once

__all__ = ["Attempt", "Committing", "Reading", "Still", "must_be", "operations_of"]

E = TypeVar("E", bound=Entity)

ATTEMPTS = 24
"""So often, at most, is a build run."""


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """See to it that an item is stored as it was read; `item` is None where none was."""

    ref: Ref[Any]
    item: Item | None
    stamp: Stamp | None = field(default=None, kw_only=True, repr=False)

    def begun(self, _: Context) -> Steps[Still]:
        """Draw nothing."""
        return at_once(self)

    def turn(self, _: Context) -> Hashable | None:
        """Let many go on at a time."""
        return None

    def told(self, _: object) -> None:
        """Give nothing."""

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[None]]:
        """Draft the check of every attribute that was read, and of those fields that were absent."""
        ref, mapper = context.bound(self.ref), context.mapper(self.ref.entity)
        prepared = changed(self, stamp=stamp)

        def judged(refusal: Refusal) -> Verdict[None]:
            refusal = seen(mapper.model.table, refusal, stamp.now)
            if refusal.sent > 1:
                return unknown(prepared)
            return ConditionFailed(
                f"{mapper.model.name}: the item has changed since it was read",
                hint="error.current is the entity as it stands; run the whole again",
                current=readable(mapper, refusal.item),
            )

        action = Action("check", ref.key, _as_read(mapper.model, ref.key, self.item, stamp))
        return at_once(Draft(action, answer=lambda _: None, refused=judged, prepared=prepared))


def _as_read(model: Model, key: Item, item: Item | None, stamp: Stamp) -> Condition | None:
    return absent(model, stamp.now) if item is None else unchanged(model, key, item)


@dataclass(frozen=True, slots=True, eq=False)
class Reading(Generic[E]):
    """Read one item strongly, and keep it as it is stored."""

    ref: Ref[E]

    def steps(self, context: Context) -> Steps[tuple[E | None, Still]]:
        """Send one GetItem."""
        answer = yield from send(context, get_call(context, context.bound(self.ref), consistent=True))
        item = answer.get("Item")
        return context.read(self.ref.entity, item), Still(self.ref, item)


class Attempt:
    """What one run of a build has read: each item once, so that it sees one state."""

    def __init__(self) -> None:
        self._seen: dict[Ref[Any], tuple[Any, Still]] = {}

    def known(self, ref: Ref[E]) -> tuple[E | None, Still] | None:
        """Give what was read at a reference, or None where it was not read yet."""
        return self._seen.get(ref)

    def keep(self, ref: Ref[E], found: tuple[E | None, Still]) -> E | None:
        """Remember what was read."""
        kept: E | None = self._seen.setdefault(ref, found)[0]
        return kept

    @property
    def stills(self) -> tuple[Still, ...]:
        """The checks of all that was read."""
        return tuple(still for _, still in self._seen.values())


def must_be(ref: Ref[E], found: E | None) -> E:
    """Give an item that must be there. NotFound where it is not."""
    if found is None:
        raise NotFound(f"no {ref.entity.__name__} stands at {ref!r}", hint="tx.get(...) answers None")
    return found


def operations_of(built: Any) -> tuple[Any, ...]:
    """Take the operations that a build gives. UsageError for anything else."""
    if type(built) in (list, tuple):
        return tuple(built)
    raise UsageError(
        f"the build gave {kind_of(built)}, wanted a list or tuple of operations",
        hint="such as return Update(ann, Account.balance.add(-5)), Update(bob, Account.balance.add(5))",
    )


class Committing:
    """The tries of one build: what each wants to write is committed, or the next one begins after a pause."""

    def __init__(self, token: str | None) -> None:
        self._token = token
        self._tried = 0
        self._pauses: Iterator[float] | None = None

    def commit(self, operations: Iterable[Any], attempt: Attempt) -> _Commit:
        """Give the operation that commits one try: its results, or None where what it read has changed."""
        self._tried += 1
        return _Commit(self, tuple(operations), attempt.stills, self._token)

    def sent(self, context: Context, commit: _Commit) -> Steps[tuple[Any, ...] | None]:
        """Send one transaction; wait where it is to be built anew. TransactionFailed when the tries are used up."""
        if self._pauses is None:
            self._pauses = backoff(context, ATTEMPTS, base=0.01, cap=0.5)
        operations = commit.operations
        if not operations:
            return ()
        try:
            results = yield from Transact(*operations, *commit.stills, token=commit.token).steps(context)
        except TransactionFailed as failed:
            pause = next(self._pauses, None) if _has_changed(failed) else None
            if pause is None:
                raise self._told(failed) from failed.__cause__
            yield Pause(pause)
            return None
        return results[: len(operations)]

    def _told(self, failed: TransactionFailed) -> TransactionFailed:
        if not _has_changed(failed):
            return failed
        return TransactionFailed(
            f"what the transaction had read was changed by others each of {self._tried} times; nothing was carried out",
            failed.exceptions,
            hint="let fewer writers change these items at once, or say the change itself, such as field.add(1)",
        )


def _has_changed(failed: TransactionFailed) -> bool:
    return any(isinstance(error.op, Still) for error in failed.exceptions)


@dataclass(frozen=True, slots=True, eq=False)
class _Commit:
    committing: Committing
    operations: tuple[Any, ...]
    stills: tuple[Still, ...]
    token: str | None

    def steps(self, context: Context) -> Steps[tuple[Any, ...] | None]:
        """Send one transaction."""
        return (yield from self.committing.sent(context, self))
