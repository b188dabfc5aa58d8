"""A write worked out: its actions, what its success gives, and what a failed condition means.

Theory of operation. A write (create, put, update, delete, check) is a value that says what is wanted. Its *draft* is
what that comes to now: an action on its own item, and others beside it on hidden items (the guards of unique values).
The draft is the same alone and in a transaction. When a condition fails, the draft judges the item that stands there:
the write was carried out before (`Done`: it recognises its own id), it must be drafted anew from what stands there
(`Again`), or it fails with an error.

What makes a write recognisable is its `Stamp`: an id and the time, taken once for everything that is written together.
A write with a fixed stamp is *prepared*: running it again sends the same, and finishes what may have happened before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from singletable.errors import SingleTableError
from singletable.operations.actions import Action
from singletable.operations.context import Context, Stamp
from singletable.wire import Item, Refusal, Steps

__all__ = [
    "Again",
    "Beside",
    "Done",
    "Draft",
    "Ending",
    "Judge",
    "Part",
    "Verdict",
    "Write",
    "changed",
    "filled",
    "retold",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Done(Generic[T_co]):
    """The write is carried out; this is what it gives.

    Where nothing had to be done, `instead` is the check that it still is so when others are committed with it.
    """

    value: T_co
    instead: Action | None = None


@dataclass(frozen=True, slots=True)
class Again(Generic[T]):
    """The write was not carried out, for want of knowledge that there is now: draft it anew after a pause."""

    pause: float
    draft: Callable[[], Steps[Draft[T]]]


Verdict: TypeAlias = Done[T] | Again[T] | SingleTableError
Judge: TypeAlias = Callable[[Refusal], Verdict[T]]
"""What a failed condition means, told by the item that stands there; `Refusal.sent` above 1 makes it ambiguous."""


@dataclass(frozen=True, slots=True, eq=False)
class Beside(Generic[T]):
    """An action on a hidden item, with what it means for the write if its condition fails.

    `leads`: the write's own item follows from it, so that its verdict counts above the one on that item.
    """

    action: Action
    refused: Judge[T]
    leads: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Draft(Generic[T]):
    """A write worked out.

    `answer` makes the result of what the request answered with: the item, or None where it answered nothing (as all
    transactions do). `prepared` is the operation that sends the same again. `after` reads the result, where the draft
    alone is a transaction that cannot answer with it.
    """

    own: Action
    answer: Callable[[Item | None], T]
    refused: Judge[T]
    prepared: object
    beside: tuple[Beside[T], ...] = ()
    after: Callable[[], Steps[T]] | None = None

    @property
    def alone(self) -> bool:
        """Whether one plain request does it."""
        return not self.beside and self.own.kind != "check"


def retold(draft: Draft[Any], tell: Callable[[Any], T], operation: object) -> Draft[T]:
    """Give a draft as that of another operation, which tells its result in its own way.

    A verdict of its own judge that it must be drafted anew is the other's already.
    """

    def judged(refusal: Refusal) -> Verdict[T]:
        verdict = draft.refused(refusal)
        return Done(tell(verdict.value)) if isinstance(verdict, Done) else verdict

    def beside(judge: Judge[Any]) -> Judge[T]:
        def judged_beside(refusal: Refusal) -> Verdict[T]:
            verdict = judge(refusal)
            if isinstance(verdict, Again):
                return Again(verdict.pause, lambda: _retold(verdict.draft(), tell, operation))
            return Done(tell(verdict.value)) if isinstance(verdict, Done) else verdict

        return judged_beside

    others = tuple(Beside(each.action, beside(each.refused), each.leads) for each in draft.beside)
    return Draft(draft.own, lambda item: tell(draft.answer(item)), judged, operation, others)


def _retold(flow: Steps[Draft[Any]], tell: Callable[[Any], T], operation: object) -> Steps[Draft[T]]:
    return retold((yield from flow), tell, operation)


Ending: TypeAlias = Verdict[T] | Draft[T]
"""How a draft ended that was sent with others: a draft again where nothing speaks against it."""


class Write(Protocol[T]):
    """A write as its user says it: a value, run alone or in a transaction."""

    @property
    def stamp(self) -> Stamp | None:
        """The id and time it is sent with; None for fresh ones on each run."""
        ...

    def begun(self, context: Context, /) -> Steps[Write[T]]:
        """Draw what is drawn once, such as counter numbers, and check all that can be: nothing is written yet."""
        ...

    def turn(self, context: Context, /) -> Hashable | None:
        """Name what only one writer of this process is to try at a time; None where there is no need."""
        ...

    def draft(self, context: Context, stamp: Stamp, /) -> Steps[Draft[T]]:
        """Work the write out, reading what it needs."""
        ...


class Part(Protocol[T_co]):
    """A write as a part of a transaction, where it gives less than alone: nothing is answered.

    It says no more than that, so that a checker learns the type of the result from `told` alone.
    """

    def told(self, value: Any, /) -> T_co:
        """Give its result in a transaction, of what its draft gives."""
        ...


def changed(operation: W, **facts: object) -> W:
    """Give an operation with some of its attributes changed, past its constructor and what that checks."""
    return filled(copy(operation), **facts)


def filled(operation: W, **facts: object) -> W:
    """Set attributes of an operation that is being made: it is frozen, and takes other arguments than it keeps."""
    for name, value in facts.items():
        object.__setattr__(operation, name, value)
    return operation
