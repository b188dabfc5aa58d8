"""Errors of several operations that were to happen together, or once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

from singletable.errors.root import SingleTableError

__all__ = ["TokenReused", "TransactionFailed"]

K = TypeVar("K", bound=SingleTableError)


class TransactionFailed(SingleTableError, ExceptionGroup[SingleTableError]):
    """Nothing of a transaction was carried out: `exceptions` has an error for each operation that stood in its way.

    Each tells its position (`index`, from 0) and the operation itself (`op`). It can be caught with `except*`.
    """

    code = "ST5011"

    def __new__(cls, message: str, exceptions: Sequence[SingleTableError], *, hint: str = "") -> Self:
        """Make the group; an exception group keeps its errors from here."""
        made = super().__new__(cls, message, tuple(exceptions))
        made.hint = hint
        return made

    def __init__(self, message: str, exceptions: Sequence[SingleTableError], *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.args = (message, tuple(exceptions))

    @property
    def exceptions(self) -> tuple[SingleTableError, ...]:
        """The errors, in the order of their operations."""
        return tuple(error for error in super().exceptions if isinstance(error, SingleTableError))

    def only(self, kind: type[K]) -> K:
        """Give the first error where every error is of one class; raise this one again where any is not.

        `failed.only(AlreadyExists).existing` is for code that expects one way to fail, and nothing else.
        """
        found = [error for error in self.exceptions if isinstance(error, kind)]
        if len(found) < len(self.exceptions):
            raise self
        return found[0]

    def derive(self, exceptions: Any) -> Any:
        """Make the group of some of the errors, as `except*` does."""
        return TransactionFailed(self.message, exceptions, hint=self.hint)

    def __str__(self) -> str:
        lines = [f"  [{error.index}] {error}" for error in self.exceptions]
        return "\n".join([super().__str__(), *lines])

    def __reduce__(self) -> tuple[object, ...]:
        return _regroup, (self.message, self.exceptions, dict(self.__dict__))


def _regroup(message: str, exceptions: tuple[SingleTableError, ...], facts: dict[str, object]) -> TransactionFailed:
    """Make a group again from what was pickled."""
    failed = TransactionFailed(message, exceptions)
    failed.__dict__.update(facts)
    return failed


class TokenReused(SingleTableError, ValueError):
    """A token came with another request than the first time; nothing was written."""

    code = "ST5012"
