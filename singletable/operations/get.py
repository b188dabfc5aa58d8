"""Reading one item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.errors import NotFound
from singletable.operations.context import Context
from singletable.operations.sending import send
from singletable.queries import Ref
from singletable.wire import Call, Steps

__all__ = ["Get", "One", "get_call"]

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
        return context.mapper(self.ref.entity).read(answer.get("Item"))


@dataclass(frozen=True, slots=True, eq=False)
class One(Generic[E]):
    """Read one item that must be there: NotFound where it is not."""

    ref: Ref[E]
    consistent: bool = False

    def steps(self, context: Context) -> Steps[E]:
        """Send one GetItem."""
        found = yield from Get(self.ref, self.consistent).steps(context)
        if found is None:
            raise NotFound(f"no {self.ref.entity.__name__} stands at {self.ref!r}", hint="store.get(...) answers None")
        return found
