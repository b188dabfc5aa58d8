"""Reading one item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from singletable.entity import Entity
from singletable.errors import NotFound
from singletable.operations.context import Context
from singletable.operations.sending import send
from singletable.queries import Ref
from singletable.wire import Call, Steps

__all__ = ["Get", "One", "get_call"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=Entity)


def get_call(context: Context, ref: Ref[Any], *, consistent: bool) -> Call:
    """Make the request that reads one item."""
    return Call("get_item", {"TableName": context.table, "Key": ref.key, "ConsistentRead": consistent})


@dataclass(frozen=True, slots=True, eq=False)
class Get(Generic[E]):
    """Read one item: the entity, or None where nothing stands at the key. ForeignItem where another's does."""

    ref: Ref[E]
    consistent: bool = False

    def steps(self, context: Context) -> Steps[E | None]:
        """Send one GetItem."""
        call = get_call(context, context.bound(self.ref), consistent=self.consistent)
        answer = yield from send(context, call)
        return context.read(self.ref.entity, answer.get("Item"))


class Looking(Protocol[T_co]):
    """A read of one item that may not be there."""

    def steps(self, context: Context) -> Steps[T_co | None]:
        """Give what is there, or None."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class One(Generic[T]):
    """Read one item that must be there: NotFound where it is not. `what` is what was asked for."""

    looking: Looking[T]
    what: object

    def steps(self, context: Context) -> Steps[T]:
        """Send what the read sends."""
        found = yield from self.looking.steps(context)
        if found is None:
            raise NotFound(f"nothing stands at {self.what!r}", hint="store.get(...) answers None")
        return found
