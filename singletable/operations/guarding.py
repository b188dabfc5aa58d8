"""Making the guards of items that are older than what is unique about them.

Theory of operation. The items of an entity are gone through by a scan, page by page. The guards they should have are
looked up, and each item that lacks one is guarded in a transaction with a check that it still has these values, so that
a writer who changes them meanwhile is never overtaken. A guard that is another item's is a violation: it is told, and
nothing is changed. Going through the items once more finds nothing to write, which verifies the result.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from singletable.entity import Entity, values_of
from singletable.errors import UniqueViolation, UsageError
from singletable.expressions import all_of
from singletable.operations.actions import Action
from singletable.operations.carrying import carry_out
from singletable.operations.context import Context, Stamp, backoff, in_parallel
from singletable.operations.drafts import Again, Draft, Verdict
from singletable.operations.get import get_call
from singletable.operations.get_many import BATCH_KEYS, ReadBatch
from singletable.operations.guards import as_held, guard_key, guards_of, is_guard_of, taken
from singletable.operations.many import place_of, slices
from singletable.operations.scan import Scan
from singletable.operations.sending import send
from singletable.operations.subjects import subject
from singletable.operations.writing import contended, owned
from singletable.queries import Ref
from singletable.schema import model_of
from singletable.wire import Item, Refusal, Steps, at_once

__all__ = ["BackfillUnique", "Guard", "UniqueReport"]

E = TypeVar("E", bound=Entity)

ATTEMPTS = 16
"""So often, at most, is an item guarded anew as it stands."""


@dataclass(frozen=True, slots=True)
class UniqueReport:
    """What a backfill of guards came to: items looked at, items it guarded, and values that several items have."""

    items: int
    guarded: int
    violations: tuple[UniqueViolation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """Put the guards that an item lacks. UniqueViolation where another item has one of them."""

    ref: Ref[Any]
    stamp: Stamp | None = field(default=None, kw_only=True, repr=False)

    def steps(self, context: Context) -> Steps[None]:
        """Read the item, then send one transaction of a check and a put for each guard."""
        yield from carry_out(context, self)

    def begun(self, _: Context) -> Steps[Guard]:
        """Draw nothing: a guard has no numbers."""
        return at_once(self)

    def turn(self, _: Context) -> Hashable | None:
        """Let many go on at a time."""
        return None

    def draft(self, context: Context, stamp: Stamp) -> Steps[Draft[None]]:
        """Draft the check of the item as it stands, and its guards."""
        pauses = backoff(context, ATTEMPTS, base=0.005, cap=0.1)
        return (yield from self._draft(context, stamp, pauses))

    def _draft(self, context: Context, stamp: Stamp, pauses: Iterator[float]) -> Steps[Draft[None]]:
        mapper, ref = context.mapper(self.ref.entity), context.bound(self.ref)
        answer = yield from send(context, get_call(context, ref, consistent=True))
        item: Item = answer.get("Item", {})
        model = mapper.model
        found = context.read(self.ref.entity, item or None, stamp.now)
        ttl = None if model.table.ttl is None else item.get(model.table.ttl)
        guards = () if found is None else taken(model, ref.key, guards_of(model, values_of(found), ttl), stamp)
        own = owned(model) if found is not None else None

        def refused(refusal: Refusal) -> Verdict[None]:
            pause = next(pauses, None)
            if pause is None:
                return contended(mapper, refusal.item, "its unique values", ATTEMPTS)
            return Again(pause, lambda: self._draft(context, stamp, pauses))

        check = Action("check", ref.key, all_of((own, as_held(model, item))))
        return Draft(check, lambda _: None, refused, self, guards)


@dataclass(frozen=True, slots=True, eq=False)
class BackfillUnique(Generic[E]):
    """Give every item of an entity the guards it lacks, and tell which values several items have."""

    entity: type[E]
    segments: int = 1

    def __post_init__(self) -> None:
        if not model_of(self.entity).uniques:
            raise UsageError(
                f"nothing is unique about {self.entity.__name__}",
                hint="declare Field(unique=True) or Unique(...) first",
            )

    def steps(self, context: Context) -> Steps[UniqueReport]:
        """Scan the table; for each page read the guards, and write those that are missing."""
        items, guarded, violations = 0, 0, list[UniqueViolation]()
        reading = Scan(self.entity, self.segments, consistent=True).open()
        while not reading.done:
            page = yield from reading.steps(context)
            lacking = yield from _lacking(context, page)
            outcomes = yield from in_parallel(context, [_guarded(context, ref) for ref in lacking])
            items, guarded = items + len(page), guarded + outcomes.count(())
            violations += [violation for outcome in outcomes for violation in outcome]
        return UniqueReport(items, guarded, tuple(violations))


def _guarded(context: Context, ref: Ref[Any]) -> Steps[tuple[UniqueViolation, ...]]:
    """Guard one item; give the violation where another has one of its values."""
    try:
        yield from Guard(ref).steps(context)
    except UniqueViolation as violation:
        return (violation,)
    return ()


def _lacking(context: Context, page: Sequence[Entity]) -> Steps[list[Ref[Any]]]:
    """Find the entities whose guards are not all there and their own."""
    wanted: list[tuple[Ref[Any], Item]] = []
    for entity in page:
        model, ref = context.model(type(entity)), context.bound(subject(entity))
        guards = guards_of(model, values_of(entity), None).guards.values()
        wanted.extend((ref, guard_key(model, guard)) for guard in guards)
    found: dict[Hashable, Item] = {}
    for part in slices(wanted, BATCH_KEYS):
        layout = part[0][0].layout
        keys = {place_of(layout, key): key for _, key in part}
        items, _ = yield from ReadBatch(layout, keys, consistent=True).steps(context)
        found |= items
    lacking = [ref for ref, key in wanted if not is_guard_of(found.get(place_of(ref.layout, key)), ref.key)]
    return list(dict.fromkeys(lacking))
