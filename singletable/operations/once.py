"""Writes that are carried out once, whoever runs them and how often: prepared ones, and creates with a token.

Theory of operation. `Prepare` fixes what a run would take afresh: id, clock and numbers. Running the result again sends
the same, or recognises by its id that it was carried out. A create with a token must hold across processes that share
nothing but the token. Where the key is made of what the user gave alone, the token is the create's id: whoever comes
second finds it at the key. Where a part of the key is drawn, computed or made by a factory, the second would come to
another key, so a receipt is written with the item.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from singletable.entity import Entity, values_of, with_numbers
from singletable.errors import OutcomeUnknown, TransactionFailed, UsageError, kind_of
from singletable.mapping import Mapper, kind_of_item
from singletable.operations.carrying import carry_out
from singletable.operations.commit import token_of
from singletable.operations.context import Context, Stamp
from singletable.operations.create import Create, turn_of
from singletable.operations.drafts import Done, Draft, Verdict, changed
from singletable.operations.drawing import assigned_all, refuse_given
from singletable.operations.get import Get
from singletable.operations.receipts import check_token, input_of, is_input, reused
from singletable.operations.subjects import subject
from singletable.operations.transact import Transact, fixed
from singletable.schema import CREATE_ID
from singletable.wire import Item, Refusal, Steps

__all__ = ["Assign", "CreateOnce", "GetOrCreate", "Prepare"]

E = TypeVar("E", bound=Entity)
W = TypeVar("W")


@dataclass(frozen=True, slots=True, eq=False)
class Prepare(Generic[W]):
    """Give a write with its id, clock and numbers fixed; nothing is written. UsageError for what is no write."""

    operation: W

    def __post_init__(self) -> None:
        if not all(hasattr(self.operation, name) for name in ("stamp", "steps")):
            raise UsageError(
                f"prepare() was given {kind_of(self.operation)}, wanted a write",
                hint="such as store.prepare(Create(entity))",
            )

    def steps(self, context: Context) -> Steps[W]:
        """Draw the numbers; for one by sort key, read the highest."""
        operation: Any = self.operation
        if operation.stamp is not None:
            return self.operation
        stamp = context.stamp()
        if isinstance(operation, Transact):
            writes = yield from fixed(context, operation.operations, stamp)
            return changed(self.operation, operations=writes, stamp=stamp, drawn=True)
        (made,) = yield from fixed(context, (operation,), stamp)
        write: W = made
        return write


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Generic[E]):
    """Draw the counter numbers of an entity that is created later. UsageError where it has none, or has them."""

    entity: E

    def steps(self, context: Context) -> Steps[E]:
        """Send one update for each counter."""
        mapper = context.mapper(type(self.entity))
        model = mapper.model
        counters = [number.name for number in model.numbers if number.strategy == "counter"]
        claimed = model.claimed_number
        if claimed is not None:
            how = "without gaps" if claimed.options.gapless else "by sort key"
            raise UsageError(
                f"{model.name}.{claimed.name} is drawn {how}: until it is stored it is nobody's",
                hint='use AutoIncrement("counter"), whose numbers are given out once and for all',
            )
        if not counters:
            raise UsageError(f"{model.name} has no AutoIncrement field", hint="store.create(entity) stores it")
        mapper.check(self.entity)
        refuse_given(model, self.entity)
        (made,) = yield from assigned_all(context, mapper, [self.entity])
        key = model.primary.render(values_of(made))
        return with_numbers(made, {name: made.__dict__[name] for name in counters}, key)


@dataclass(frozen=True, slots=True, eq=False)
class GetOrCreate(Generic[E]):
    """Create an entity, or give the one that stands at its key. UsageError where its key waits for a number."""

    entity: E

    def steps(self, context: Context) -> Steps[E]:
        """Send one conditional PutItem; a GetItem before it where a counter number would be drawn in vain."""
        model = context.model(type(self.entity))
        waiting = [number.name for number in model.numbers if number.name not in self.entity.__dict__]
        for name in waiting:
            if name in model.primary.parts:
                raise UsageError(
                    f"{model.name}.{name} is drawn when the entity is created, and stands in its key",
                    hint="store.create(entity) makes a new one; with token= the same request makes one only once",
                )
        if waiting:
            found = yield from Get(subject(self.entity), consistent=True).steps(context)
            if found is not None:
                kept: E = found
                return kept
        return (yield from carry_out(context, _Meeting(self.entity, _standing)))


@dataclass(frozen=True, slots=True, eq=False)
class CreateOnce(Generic[E]):
    """Create an entity once for a token, and give what is stored for it. TokenReused for another entity."""

    entity: E
    token: str
    unit: Transact | None = field(default=None, kw_only=True, repr=False)
    """The transaction with a receipt, prepared, where an earlier try of it ended unknown."""

    def __post_init__(self) -> None:
        check_token(self.token)

    def steps(self, context: Context) -> Steps[E]:
        """Send one conditional PutItem, or one transaction of the item and its receipt."""
        parts = context.model(type(self.entity)).primary.parts
        if all(is_input(self.entity, part) for part in parts):
            return (yield from carry_out(context, _tokened(self.entity, self.token)))
        unit = Transact(Create(self.entity), token=self.token) if self.unit is None else self.unit
        try:
            (made,) = yield from unit.steps(context)
        except TransactionFailed as failed:
            raise failed.exceptions[0] from failed.__cause__
        except OutcomeUnknown as error:
            if isinstance(error.operation, Transact):
                error.operation = replace(self, unit=error.operation)
            raise
        entity: E = made
        return entity


class _Meeting(Generic[E]):
    """A create that judges what stands at its key otherwise; `write_id` is its id, where that is not a fresh one."""

    def __init__(
        self, entity: E, meets: Callable[[Mapper[E], Item], Verdict[E] | None], write_id: str | None = None
    ) -> None:
        self._entity = entity
        self._meets = meets
        self._write_id = write_id
        self.stamp: Stamp | None = None

    def begun(self, context: Context) -> Steps[_Meeting[E]]:
        """Draw the counter numbers, none of which stands in the key."""
        create = yield from Create(self._entity).begun(context)
        return _Meeting(create.entity, self._meets, self._write_id)

    def turn(self, context: Context) -> Hashable | None:
        """Name the line that a number is drawn in by being stored."""
        return turn_of(context, self._entity)

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[E]]:
        """Draft the create; what it meets at the key may be the answer."""
        mapper, write_id = context.mapper(type(self._entity)), self._write_id or stamp.id
        draft = yield from Create(self._entity, drawn=True).draft(context, Stamp(write_id, stamp.now))

        def judged(refusal: Refusal) -> Verdict[E]:
            met = None if refusal.item is None else self._meets(mapper, refusal.item)
            return draft.refused(refusal) if met is None else met

        return replace(draft, refused=judged)


def _standing(mapper: Mapper[E], item: Item) -> Verdict[E] | None:
    """Take what stands there, whoever made it: a reply that was lost changes nothing."""
    return Done(mapper.decode(item)) if kind_of_item(mapper.model, item) == "own" else None


def _tokened(entity: E, token: str) -> _Meeting[E]:
    """Make the create of an entity under an id that is made of its token, and of what was asked for."""
    digest = token_of(token)
    own = f"{digest}.{input_of([Create(entity)])}"

    def meets(mapper: Mapper[E], item: Item) -> Verdict[E] | None:
        made: str = item.get(CREATE_ID, {}).get("S", "")
        if made == own:
            return Done(mapper.decode(item))
        return reused() if made.startswith(f"{digest}.") else None

    return _Meeting(entity, meets, own)
