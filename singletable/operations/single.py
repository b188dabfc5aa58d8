"""Reading, creating, putting and deleting one item.

A deleted item whose sort-key number must not come again leaves a tombstone: its key, the tag `!gone` and the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from singletable.belonging import check_condition
from singletable.entity import Entity
from singletable.errors import NotFound, UsageError
from singletable.expressions import Condition, all_of
from singletable.mapping import GONE, Mapper, kind_of_item
from singletable.operations.context import Context
from singletable.operations.increment import assigned, create_numbered, forget_highest
from singletable.operations.sending import send
from singletable.operations.writing import (
    conditional,
    free_or_own,
    guarded,
    owned,
    put_absent,
    put_call,
    read_after,
    refused,
    unknown,
    with_create_id,
)
from singletable.queries import Ref
from singletable.schema import CREATE_ID, model_of
from singletable.wire import Call, Item, Refusal, Steps

__all__ = ["Create", "Delete", "Get", "One", "Put", "get_call", "put_new"]

E = TypeVar("E", bound=Entity)


def get_call(context: Context, ref: Ref[Any], *, consistent: bool) -> Call:
    """Make the request that reads one item."""
    return Call("get_item", {"TableName": context.table, "Key": context.bound(ref).key, "ConsistentRead": consistent})


@dataclass(frozen=True, slots=True, eq=False)
class Get(Generic[E]):
    """Read one item: the entity, or None where nothing stands at the key. ForeignItem where another's does."""

    ref: Ref[E]
    consistent: bool = False

    def steps(self, context: Context) -> Steps[E | None]:
        """Send one GetItem."""
        answer = yield from send(context, get_call(context, self.ref, consistent=self.consistent))
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


@dataclass(frozen=True, slots=True, eq=False)
class Create(Generic[E]):
    """Store a new entity and give it back with its numbers. AlreadyExists where its key is taken."""

    entity: E

    def steps(self, context: Context) -> Steps[E]:
        """Draw the missing numbers, then send one conditional PutItem (by sort key: until a number is free)."""
        mapper = context.mapper(type(self.entity))
        mapper.check(self.entity)
        entity = yield from assigned(context, mapper, self.entity, fresh=True)
        return (yield from put_new(context, entity, self))


def put_new(context: Context, entity: E, operation: object) -> Steps[E]:
    """Put an entity that has its counter numbers where nothing stands; by sort key under the next number."""
    mapper = context.mapper(type(entity))
    number = mapper.model.sort_key_number
    if number is not None and number.name not in entity.__dict__:
        return (yield from create_numbered(context, mapper, entity, number, operation))
    return (yield from put_absent(context, mapper, entity, operation))


@dataclass(frozen=True, slots=True, eq=False)
class Put(Generic[E]):
    """Store an entity, replacing what is there of its own kind. ForeignItem where another's item stands.

    A number that is missing is drawn, one that is there is kept; a key whose number was deleted is AlreadyExists.
    """

    entity: E
    when: Condition | None = None

    def __post_init__(self) -> None:
        if self.when is not None:
            check_condition(self.when, self.entity.__fields__, "put(when=)")

    def steps(self, context: Context) -> Steps[E]:
        """Send one PutItem, after drawing the numbers that are missing."""
        mapper = context.mapper(type(self.entity))
        mapper.check(self.entity)
        entity = yield from assigned(context, mapper, self.entity, fresh=False)
        number = mapper.model.sort_key_number
        if number is None or number.name in entity.__dict__:
            return (yield from self._replace(context, mapper, entity))
        if self.when is not None:
            raise UsageError(
                f"put(when=) of a {mapper.model.name} without {number.name!r}: a new number has no item to judge",
                hint="leave when= out, or put an entity that has its number",
            )
        return (yield from create_numbered(context, mapper, entity, number, self))

    def _replace(self, context: Context, mapper: Mapper[E], entity: E) -> Steps[E]:
        item = mapper.encode(entity)
        if CREATE_ID not in item:
            item = with_create_id(item, context.fresh_id())
        call = put_call(context, item, all_of((free_or_own(mapper.model), self.when)))
        answer = yield from conditional(context, mapper.model, call, self)
        if isinstance(answer, Refusal):
            raise refused(mapper, answer, self, taken=True) from answer.__cause__
        forget_highest(context, mapper.model, entity)
        return mapper.decode(item)


@dataclass(frozen=True, slots=True, eq=False)
class Delete(Generic[E]):
    """Delete one item of this entity and give the old one, or None where none stands there.

    ForeignItem where another's stands, ConditionFailed where `when` does not hold. An entity numbered by sort key
    leaves a tombstone, so that its number stays taken.
    """

    ref: Ref[E]
    when: Condition | None = None

    def __post_init__(self) -> None:
        if self.when is not None:
            check_condition(self.when, model_of(self.ref.entity).fields, "delete(when=)")

    def steps(self, context: Context) -> Steps[E | None]:
        """Send one DeleteItem, or one PutItem of a tombstone."""
        mapper = context.mapper(self.ref.entity)
        call = self._bury(context, mapper) if mapper.model.leaves_tombstones else self._remove(context, mapper)
        answer = yield from conditional(context, mapper.model, call, self)
        if not isinstance(answer, Refusal):
            old = answer.get("Attributes")
            return None if old is None else read_after(mapper, old, "deleted")
        if answer.sent > 1:
            raise unknown(self) from answer.__cause__
        if self.when is None and (answer.item is None or kind_of_item(mapper.model, answer.item) != "foreign"):
            return None  # one of our own would have been deleted: it was made after nothing was found
        raise refused(mapper, answer, self, taken=False) from answer.__cause__

    def _remove(self, context: Context, mapper: Mapper[E]) -> Call:
        params = {"Key": context.bound(self.ref).key, "ReturnValues": "ALL_OLD"}
        return Call("delete_item", guarded(context, params, all_of((free_or_own(mapper.model), self.when))))

    def _bury(self, context: Context, mapper: Mapper[E]) -> Call:
        stone: Item = {**context.bound(self.ref).key, "gone_at": {"N": str(int(context.clock().timestamp()))}}
        if mapper.model.table.tag is not None:
            stone[mapper.model.table.tag] = {"S": GONE}
        params = {"Item": stone, "ReturnValues": "ALL_OLD"}
        return Call("put_item", guarded(context, params, all_of((owned(mapper.model), self.when))))
