"""The base of every error."""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "SingleTableError",
]


class SingleTableError(Exception):
    """The base of all: `code` names the kind for good, `hint` says how to mend it.

    In a transaction `index` is the position of the operation it is of, from 0, and `op` the operation as it was given.
    """

    __module__ = "singletable.errors"
    code: ClassVar[str] = "ST0000"
    hint: str
    index: int | None = None
    op: object = None

    def __init__(self, message: str, *, hint: str = "", **facts: object) -> None:
        super().__init__(message)
        self.hint = hint
        self.__dict__.update(facts)

    @property
    def message(self) -> str:
        """What was given and what was wanted, without the hint."""
        return str(self.args[0])

    def __init_subclass__(cls) -> None:
        """Let the errors of this package be known by where they are imported from, not by the room they stand in."""
        super().__init_subclass__()
        if cls.__module__.startswith("singletable.errors."):
            cls.__module__ = "singletable.errors"

    def __str__(self) -> str:
        lines = f"{self.code} {self.message}"
        return f"{lines}\n  {self.hint}" if self.hint else lines

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, dict(self.__dict__))


def _rebuild(kind: type[SingleTableError], message: str, facts: dict[str, object]) -> SingleTableError:
    """Make an error again from its pickled facts, without calling a subclass's own constructor."""
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__dict__.update(facts)
    return error
