"""The verbs of transactions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from singletable.entity import Entity
from singletable.operations.drafts import Part
from singletable.operations.standing import Attempt, Committing, Reading, must_be, operations_of
from singletable.queries import Ref
from singletable.store.running import Running
from singletable.verbs import Operation

__all__ = ["Transaction", "Transactions"]

E = TypeVar("E", bound=Entity)
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
T = TypeVar("T")
W = TypeVar("W")


Read: TypeAlias = Callable[[Operation[Any]], Any]
"""How a reader reads: the `run` of its store."""


class Transaction:
    """What the function given to `transact` reads with: each item once, strongly, and checked when it is committed."""

    def __init__(self, read: Read, attempt: Attempt) -> None:
        self._read = read
        self._attempt = attempt

    def get(self, ref: Ref[E]) -> E | None:
        """Read one item; None where nothing stands there. ForeignItem where another entity's item does."""
        known = self._attempt.known(ref)
        return self._attempt.keep(ref, self._read(Reading(ref)) if known is None else known)

    def one(self, ref: Ref[E]) -> E:
        """Read one item that must be there; NotFound where it is not."""
        return must_be(ref, self.get(ref))


class Transactions(Running):
    """What a store can do as a whole or not at all."""

    @overload
    def transact(self, a: Part[A], /, *, token: str | None = ...) -> tuple[A]: ...
    @overload
    def transact(self, a: Part[A], b: Part[B], /, *, token: str | None = ...) -> tuple[A, B]: ...
    @overload
    def transact(self, a: Part[A], b: Part[B], c: Part[C], /, *, token: str | None = ...) -> tuple[A, B, C]: ...
    @overload
    def transact(
        self, a: Part[A], b: Part[B], c: Part[C], d: Part[D], /, *, token: str | None = ...
    ) -> tuple[A, B, C, D]: ...
    @overload
    def transact(
        self, a: Part[A], b: Part[B], c: Part[C], d: Part[D], f: Part[F], /, *, token: str | None = ...
    ) -> tuple[A, B, C, D, F]: ...
    @overload
    def transact(self, build: Callable[[Transaction], tuple[Part[A]]], /, *, token: str | None = ...) -> tuple[A]: ...
    @overload
    def transact(
        self, build: Callable[[Transaction], tuple[Part[A], Part[B]]], /, *, token: str | None = ...
    ) -> tuple[A, B]: ...
    @overload
    def transact(
        self, build: Callable[[Transaction], tuple[Part[A], Part[B], Part[C]]], /, *, token: str | None = ...
    ) -> tuple[A, B, C]: ...
    @overload
    def transact(
        self, build: Callable[[Transaction], Sequence[Part[Any]]], /, *, token: str | None = ...
    ) -> tuple[Any, ...]: ...
    @overload
    def transact(self, *operations: Part[T], token: str | None = ...) -> tuple[T, ...]: ...
    def transact(self, *operations: Any, token: str | None = None) -> tuple[Any, ...]:
        """Carry operations out together, all or none, and give their results in position.

        `Create(entity)` and `Put(entity)` give the stored entity, its numbers drawn; `Update`, `Delete` and `Check`
        give None. TransactionFailed has an error for each operation that stood in the way. With `token` a request that
        is delivered again, to any process, is carried out once and gives what is stored.

        Given one function instead, it is called with a reader (`tx.get`, `tx.one`) and gives the operations. What it
        read must still stand when they are committed; where it does not, the function is called again from the start.
        """
        if len(operations) != 1 or not callable(operations[0]):
            return self.run(self._verbs.transact(operations, token))
        (build,), committing = operations, Committing(token)
        while True:
            attempt = Attempt()
            tx = Transaction(self.run, attempt)
            built = self._verbs.transact(operations_of(build(tx)), token).operations
            results = self.run(committing.commit(built, attempt))
            if results is not None:
                return results

    def prepare(self, operation: W) -> W:
        """Fix the id, the clock and the numbers of a write, without writing: run as often as you like, it happens once.

        It can be pickled, stored, and run by another process. By sort key its number is nobody's until it is run:
        where another writer takes it first, AlreadyExists is raised.
        """
        return self.run(self._verbs.prepare(operation))

    def assign(self, entity: E) -> E:
        """Draw the counter numbers of an entity that is created later, so that others can name it; nothing is written.

        `create` and `Create` then take the entity as it is given here. UsageError where a number is by sort key: that
        is drawn by being stored.
        """
        return self.run(self._verbs.assign(entity))
