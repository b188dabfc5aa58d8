"""Storing and deleting many items in batches of 25, at the same time.

Theory of operation. A batch cannot refuse to overwrite, so entities whose safety rests on a condition are not put in
one: a put of those is refused here, and a delete is sent singly. That is the case for an entity whose deleted numbers
stay taken (its delete is the put of a tombstone), where keys are raw or rows untagged: there another program's item may
stand at the key, which the guard of a single delete spares; and where kinds of an abstract base share their key.
Everywhere else the key itself is the entity's own. A key with a number that is only now drawn is not yet: the counter
may be behind what is stored, so such entities are created singly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from singletable.entity import Entity, changed
from singletable.errors import UsageError
from singletable.mapping import provisional
from singletable.operations.context import Context, in_parallel
from singletable.operations.delete import Delete
from singletable.operations.drawing import awaits_key
from singletable.operations.lines import claimed_by
from singletable.operations.many import (
    BATCH_ITEMS,
    Progress,
    Tally,
    WriteBatch,
    awaits_number,
    check_distinct,
    creating,
    drawn,
    one_by_one,
    place_of,
    settle,
    slices,
)
from singletable.operations.writing import with_create_id
from singletable.queries import Ref
from singletable.schema import CREATE_ID, Model
from singletable.wire import Item, Steps

__all__ = ["BATCH_ITEMS", "DeleteMany", "PutMany"]

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True, eq=False)
class PutMany(Generic[E]):
    """Store many entities, replacing what stands at their keys, and give them back with their counter numbers.

    What a number names that is only now drawn is never replaced: those whose keys hold one are created, each by itself.

    UsageError before anything is sent for two entities with one key and for a class numbered by sort key, Unprocessed
    with the list of what is not known to be stored. `progress` is called as batches end.
    """

    entities: tuple[E, ...]
    progress: Progress | None = None

    def steps(self, context: Context) -> Steps[tuple[E, ...]]:
        """Draw missing numbers, then send batches of 25, and single puts of fresh numbers, several at a time."""
        for kind in dict.fromkeys(type(entity) for entity in self.entities):
            _check_kind(context, context.model(kind))
        if any(map(awaits_number, self.entities)):
            _check(context, self.entities)
        numbered = yield from drawn(context, self.entities)
        now = context.clock()
        made = [_stamped(context, entity, now) for entity in numbered]
        check_distinct(context, made)
        tally, fresh = Tally(len(made), self.progress), self._fresh(context)
        requests = {
            at: {"PutRequest": {"Item": _item(context, entity)}} for at, entity in enumerate(made) if at not in fresh
        }
        flows = [batch.steps(context) for batch in _batches(context, made, requests, tally)]
        flows += [one_by_one(tally, {at: creating(context, self.entities[at], made, at)}) for at in fresh]
        left = yield from in_parallel(context, flows)
        settle(left, made, "stored", made)
        return tuple(made)

    def _fresh(self, context: Context) -> set[int]:
        """Give the places of those whose keys hold a number that is drawn now."""
        return {at for at, each in enumerate(self.entities) if awaits_key(context.model(type(each)), each)}


@dataclass(frozen=True, slots=True, eq=False)
class DeleteMany:
    """Delete the items at many keys; those where nothing stands are done at once.

    Unprocessed with the list of what was not deleted. `progress` is called as batches end.
    """

    refs: tuple[Ref[Entity], ...]
    progress: Progress | None = None
    given: Mapping[Ref[Entity], Entity] = field(default_factory=dict[Ref[Entity], Entity], repr=False)
    """The entities that were handed in whose version is to be checked."""

    def steps(self, context: Context) -> Steps[None]:
        """Ask once for each key: in batches of 25, or singly where a delete has a condition; several at a time."""
        bound = [context.bound(ref) for ref in self.refs]
        given = {place_of(each.layout, each.key): ref for ref, each in zip(self.refs, bound, strict=True)}
        refs = tuple(map(context.bound, given.values()))
        held = [self.given.get(ref) for ref in given.values()]
        tally = Tally(len(refs), self.progress)
        guarded = [_is_guarded(context, context.model(ref.entity)) for ref in refs]
        singly = [at for at in range(len(refs)) if held[at] is not None or guarded[at]]
        flows = [one_by_one(tally, {at: _deleting(context, refs[at], held[at])}) for at in singly]
        others = [position for position in range(len(refs)) if position not in set(singly)]
        for part in slices(others, BATCH_ITEMS):
            requests = {position: {"DeleteRequest": {"Key": refs[position].key}} for position in part}
            flows.append(WriteBatch(refs[part[0]].layout, requests, tally).steps(context))
        left = yield from in_parallel(context, flows)
        settle(left, tuple(given.values()), "deleted")


def _batches(
    context: Context, entities: list[E], requests: Mapping[int, dict[str, Any]], tally: Tally
) -> list[WriteBatch]:
    """Cut the requests into batches."""
    parts = slices(list(requests.items()), BATCH_ITEMS)
    return [WriteBatch(context.model(type(entities[0])).primary, dict(part), tally) for part in parts]


def _deleting(context: Context, ref: Ref[Any], given: Entity | None) -> Callable[[], Steps[None]]:
    def steps() -> Steps[None]:
        yield from Delete(ref if given is None else given).steps(context)

    return steps


def _stamped(context: Context, entity: E, now: datetime) -> E:
    """Give an entity as it is put: with the times that the store gives it."""
    stamps = context.model(type(entity)).stamps
    return changed(entity, stamps.put(entity.__dict__, now)) if stamps.fields else entity


def _item(context: Context, entity: Entity) -> Item:
    item = context.mapper(type(entity)).encode(entity)
    return item if CREATE_ID in item else with_create_id(item, context.fresh_id())


def _check(context: Context, entities: Sequence[Entity]) -> None:
    """Raise what can be known before a number is drawn: a value that cannot be stored, or two of one key."""
    for entity in entities:
        mapper = context.mapper(type(entity))
        mapper.check(entity)
        claimed = claimed_by(mapper.model, entity)
        if claimed is not None:
            raise UsageError(
                f"{mapper.model.name}.{claimed.name} is drawn without gaps, which needs a transaction for each",
                hint="store.create_many(...) creates many",
            )
        if not awaits_number(entity):
            mapper.encode(provisional(mapper.model, entity))
    check_distinct(context, entities)


def _check_kind(context: Context, model: Model) -> None:
    reason = _against_a_batch(context, model)
    if reason is not None:
        raise UsageError(
            f"{model.name} {reason}",
            hint="store.create_many(...) creates many; use store.put(...) for each that is to be replaced",
        )


def _against_a_batch(context: Context, model: Model) -> str | None:
    """Say what about an entity keeps it out of a batch; None where nothing does."""
    if model.uniques:
        return "has unique values, whose guards a batch cannot make"
    if model.stamps.counter() is not None:
        return "has a version, which needs a condition that a batch cannot make"
    if _shares_key(context, model):
        return "shares its primary key with other kinds, which a batch without conditions would overwrite"
    if model.sort_key_number is not None:
        return "is numbered by its sort key, which needs a condition that a batch cannot make"
    return None


def _is_guarded(context: Context, model: Model) -> bool:
    """Say whether a delete of this entity needs its condition."""
    told_by_tag = model.table.untagged is not None or model.primary.raw or _shares_key(context, model)
    return bool(model.uniques) or model.leaves_tombstones or told_by_tag


def _shares_key(context: Context, model: Model) -> bool:
    """Say whether an item of another kind may stand at its keys: those of one abstract base are told by their tags."""
    origin = model.primary.origin
    others = (context.model(entity).primary.origin for entity in model.table.entities if entity is not model.entity)
    return origin is not None and any(each is origin for each in others)
