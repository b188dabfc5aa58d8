"""Writing many items in batches of 25.

Theory of operation. BatchWriteItem has no conditions, and it answers with the items it did not take. Those are sent
again with backoff; whatever is left at last is raised as a list, so nothing is lost in silence. Batches run at the same
time. Since a batch cannot refuse to overwrite, entities whose safety rests on a condition are refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from singletable.entity import Entity
from singletable.errors import OutcomeUnknown, SingleTableError, Unprocessed, UsageError
from singletable.mapping import Mapper, mapper_of
from singletable.operations.context import Context, backoff
from singletable.operations.increment import assigned_all
from singletable.operations.sending import send
from singletable.operations.writing import with_create_id
from singletable.schema import CREATE_ID
from singletable.wire import Call, Item, Pause, Steps, Together

__all__ = ["BATCH_ITEMS", "PutMany"]

E = TypeVar("E", bound=Entity)

BATCH_ITEMS = 25
"""A BatchWriteItem holds at most so many items. Source: AWS, "BatchWriteItem"."""

ATTEMPTS = 10


@dataclass(frozen=True, slots=True, eq=False)
class PutMany(Generic[E]):
    """Store many entities, replacing what stands at their keys, and give them back with their counter numbers.

    UsageError before anything is sent for two entities with one key and for a class numbered by sort key, Unprocessed
    with the list of what is not known to be stored.
    """

    entities: tuple[E, ...]

    def steps(self, context: Context) -> Steps[tuple[E, ...]]:
        """Draw missing numbers, then send batches of 25, several at a time."""
        for kind in dict.fromkeys(map(type, self.entities)):
            _check_kind(mapper_of(kind))
        if any(_missing(entity) for entity in self.entities):
            _check(self.entities)
        made = yield from _numbered(context, self.entities)
        pairs = [(entity, _item(context, entity)) for entity in made]
        _check_keys(pairs)
        batches = [_Batch(pairs[at : at + BATCH_ITEMS]) for at in range(0, len(pairs), BATCH_ITEMS)]
        outcomes = yield Together([batch.steps(context) for batch in batches], context.workers)
        _raise_leftovers(batches, outcomes)
        return tuple(made)


class _Batch:
    """Up to 25 items, each with the entity it was written from; `left` are the requests not known to be carried out."""

    def __init__(self, pairs: Sequence[tuple[Entity, Item]]) -> None:
        self.pairs = pairs
        self.left: Sequence[Any] = [{"PutRequest": {"Item": item}} for _, item in pairs]

    def steps(self, context: Context) -> Steps[None]:
        """Send the items, and again those that were left over, as long as that is of use."""
        pauses = backoff(context, ATTEMPTS, base=0.05, cap=5.0)
        while True:
            params = {"RequestItems": {context.table: self.left}}
            answer = yield from send(context, Call("batch_write_item", params), writing=self)
            self.left = answer.get("UnprocessedItems", {}).get(context.table, [])
            pause = next(pauses, None) if self.left else None
            if pause is None:
                return
            yield Pause(pause)

    @property
    def entities(self) -> list[Entity]:
        """The entities that are not known to be stored."""
        keys = [request["PutRequest"]["Item"] for request in self.left]
        return [entity for entity, item in self.pairs if any(_key(entity, item) == _key(entity, i) for i in keys)]


def _numbered(context: Context, entities: tuple[E, ...]) -> Steps[list[E]]:
    """Draw the counter numbers that are missing, class by class, and keep the order."""
    places: dict[type[E], list[int]] = {}
    for place, entity in enumerate(entities):
        places.setdefault(type(entity), []).append(place)
    made = list(entities)
    for kind, where in places.items():
        numbered = yield from assigned_all(context, mapper_of(kind), [entities[place] for place in where])
        for place, entity in zip(where, numbered, strict=True):
            made[place] = entity
    return made


def _item(context: Context, entity: Entity) -> Item:
    item = mapper_of(type(entity)).encode(entity)
    return item if CREATE_ID in item else with_create_id(item, context.fresh_id())


def _check(entities: Sequence[Entity]) -> None:
    """Raise what can be known before a number is drawn: a value that cannot be stored, or two of one key."""
    whole: list[tuple[Entity, Item]] = []
    for entity in entities:
        mapper, missing = mapper_of(type(entity)), _missing(entity)
        if not missing:
            whole.append((entity, mapper.encode(entity)))
            continue
        mapper.check(entity)
        computed = {field.name for field in mapper.model.computed}
        if missing.union(computed).isdisjoint(mapper.model.primary.parts):
            whole.append((entity, mapper.model.primary.render(entity.__dict__)))
    _check_keys(whole)


def _missing(entity: Entity) -> set[str]:
    """Name the numbers that are to be drawn for an entity."""
    return {number.name for number in mapper_of(type(entity)).model.numbers if number.name not in entity.__dict__}


def _check_kind(mapper: Mapper[Any]) -> None:
    if mapper.model.sort_key_number is not None:
        raise UsageError(
            f"{mapper.model.name} is numbered by its sort key, which needs a condition that a batch cannot make",
            hint="use store.create(...) or store.put(...) for each",
        )


def _check_keys(pairs: Iterable[tuple[Entity, Item]]) -> None:
    seen: set[tuple[str, ...]] = set()
    for entity, item in pairs:
        key = _key(entity, item)
        if key in seen:
            raise UsageError(
                f"two of the entities have one primary key; the second is a {type(entity).__name__}",
                hint="a batch keeps no order, so it could store either: leave one out",
            )
        seen.add(key)


def _key(entity: Entity, item: Item) -> tuple[str, ...]:
    table = mapper_of(type(entity)).model.table
    return tuple(str(item[column.name]) for column in (table.pk, table.sk) if column is not None)


def _raise_leftovers(batches: Sequence[_Batch], outcomes: Sequence[object]) -> None:
    """Raise Unprocessed for what is left, or the one reason why nothing at all was stored."""
    causes = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    for cause in causes:
        if not isinstance(cause, Exception):
            raise cause
    left = tuple(entity for batch in batches for entity in batch.entities)
    total = sum(len(batch.pairs) for batch in batches)
    if len(left) == total and causes and all(_came_to_nothing(cause) for cause in causes):
        raise causes[0]
    if left:
        raise Unprocessed(
            f"{len(left)} of {total} items were not stored, or nobody can tell",
            hint="error.items lists exactly those; store.put_many(error.items) tries them again",
            items=left,
        ) from next(iter(causes), None)


def _came_to_nothing(cause: BaseException) -> bool:
    """Say whether an error of a batch tells that nothing of it was stored."""
    return isinstance(cause, SingleTableError) and not isinstance(cause, OutcomeUnknown)
