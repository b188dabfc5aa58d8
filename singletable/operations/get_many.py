"""Reading many items by their keys, a hundred at a time.

Theory of operation. BatchGetItem refuses a key that is asked for twice, answers in no order, and leaves keys over:
where it was throttled, and where the answer reached 16 MB. So each key is asked for once and the answer is put in the
order of the references. Keys that are left over are asked for again, at once where at least something came, and with
backoff where nothing did.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from singletable.entity import Entity
from singletable.errors import NotFound, Unprocessed
from singletable.layouts import Layout
from singletable.operations.context import Context, backoff, in_parallel
from singletable.operations.many import place_of, slices
from singletable.operations.sending import send
from singletable.operations.snapshot import read_at_one_moment
from singletable.queries import Ref
from singletable.wire import Call, Item, Pause, Steps

__all__ = ["BATCH_KEYS", "GetMany", "Missing", "ReadBatch"]

E = TypeVar("E", bound=Entity)

ATTEMPTS = 10
BATCH_KEYS = 100
"""A BatchGetItem asks for at most so many keys. Source: AWS, "BatchGetItem"."""

Missing: TypeAlias = Literal["hole", "skip", "raise"]
"""What stands in the answer for an item that is not there: None, nothing, or no answer but NotFound."""


@dataclass(frozen=True, slots=True, eq=False)
class GetMany(Generic[E]):
    """Read many items, each as its own class, in the order of their references.

    ForeignItem where another entity's item stands at a key, NotFound where one is missing and `missing` is "raise",
    Unprocessed with the references of what DynamoDB kept not answering.
    """

    refs: tuple[Ref[E], ...]
    missing: Missing = "hole"
    consistent: bool = False
    transactional: bool = False

    def steps(self, context: Context) -> Steps[tuple[E | None, ...]]:
        """Send BatchGetItems of a hundred distinct keys, several at a time."""
        bound = [context.bound(ref) for ref in self.refs]
        places = [place_of(ref.layout, ref.key) for ref in bound]
        asked, given = dict(zip(places, bound, strict=True)), dict(zip(places, self.refs, strict=True))
        items = yield from self._items(context, asked, given)
        wanted = dict.fromkeys(zip((ref.entity for ref in self.refs), places, strict=True))
        now = context.clock()
        found = {(entity, place): context.read(entity, items.get(place), now) for entity, place in wanted}
        return self._answer([found[ref.entity, place] for ref, place in zip(self.refs, places, strict=True)])

    def _items(
        self, context: Context, asked: Mapping[Hashable, Ref[E]], given: Mapping[Hashable, Ref[E]]
    ) -> Steps[dict[Hashable, Item]]:
        """Read the items by their places: at one moment, or in batches."""
        if self.transactional:
            return (yield from read_at_one_moment(context, {place: ref.key for place, ref in asked.items()}))
        answers = yield from in_parallel(context, [batch.steps(context) for batch in self._batches(asked)])
        _check_left([given[place] for _, left in answers for place in left], len(asked))
        return {place: item for found, _ in answers for place, item in found.items()}

    def _batches(self, asked: Mapping[Hashable, Ref[E]]) -> list[ReadBatch]:
        return [
            ReadBatch(asked[part[0]].layout, {place: asked[place].key for place in part}, self.consistent)
            for part in slices(list(asked), BATCH_KEYS)
        ]

    def _answer(self, found: list[E | None]) -> tuple[E | None, ...]:
        if self.missing == "skip":
            return tuple(entity for entity in found if entity is not None)
        absent = [ref for ref, entity in zip(self.refs, found, strict=True) if entity is None]
        if absent and self.missing == "raise":
            raise NotFound(
                f"{len(absent)} of {len(self.refs)} items are not there, the first at {absent[0]!r}",
                hint='missing="hole" answers None for them, missing="skip" leaves them out',
            )
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class ReadBatch:
    """Up to a hundred keys by their places."""

    layout: Layout
    keys: Mapping[Hashable, Item]
    consistent: bool

    def steps(self, context: Context) -> Steps[tuple[dict[Hashable, Item], list[Hashable]]]:
        """Ask for the keys, and again for what is left over; give what was found, and what was never answered."""
        found: dict[Hashable, Item] = {}
        left = list(self.keys)
        pauses = backoff(context, ATTEMPTS, base=0.05, cap=5.0)
        while True:
            wanted: dict[str, Any] = {"Keys": [self.keys[place] for place in left], "ConsistentRead": self.consistent}
            answer = yield from send(context, Call("batch_get_item", {"RequestItems": {context.table: wanted}}))
            items = answer.get("Responses", {}).get(context.table, [])
            found |= {place_of(self.layout, item): item for item in items}
            over = answer.get("UnprocessedKeys", {}).get(context.table, {}).get("Keys", [])
            before, left = left, [place_of(self.layout, key) for key in over]
            if not left:
                return found, []
            if items and len(left) < len(before):
                continue
            pause = next(pauses, None)
            if pause is None:
                return found, left
            yield Pause(pause)


def _check_left(refs: list[Ref[E]], total: int) -> None:
    if refs:
        raise Unprocessed(
            f"{len(refs)} of {total} keys were never answered, in {ATTEMPTS} attempts without one item",
            hint="error.items lists their references, to be asked for again",
            items=tuple(refs),
            causes=(None,) * len(refs),
        )
