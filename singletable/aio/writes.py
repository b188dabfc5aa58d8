"""The verbs that write, awaited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeVar, overload

from singletable.aio.running import Running
from singletable.entity import Entity
from singletable.expressions import Change, Condition
from singletable.operations.many import Progress
from singletable.operations.put import Kept
from singletable.operations.update import Missing, Returned
from singletable.queries import Ref

__all__ = ["Writes"]

E = TypeVar("E", bound=Entity)


class Writes(Running):
    """What a store can write."""

    async def create(self, entity: E, *, token: str | None = None) -> E:
        """Store a new entity and give it back, its numbers drawn. AlreadyExists where its key is taken.

        With `token` a request that is delivered again, to any process, is carried out once and gives what is stored;
        TokenReused where it asks for something else.
        """
        return await self.run(self._verbs.create(entity, token))

    async def get_or_create(self, entity: E) -> E:
        """Store an entity where nothing stands at its key, and give what stands there then: this one or the other.

        Of many that try at once, one stores its entity and all give that one. AlreadyExists where another entity's
        item, or a number that was deleted, stands there.
        """
        return await self.run(self._verbs.get_or_create(entity))

    @overload
    async def put(self, entity: E, *, when: Condition | None = ..., returning: Literal["new"] = ...) -> E: ...
    @overload
    async def put(self, entity: E, *, when: Condition | None = ..., returning: Literal["old"]) -> E | None: ...
    async def put(self, entity: E, *, when: Condition | None = None, returning: Kept = "new") -> E | None:
        """Store an entity in place of what stands there of its own kind; missing numbers are drawn, others kept.

        With `returning="old"` it gives what was replaced, or None where nothing was. ForeignItem where another entity's
        item stands there, ConditionFailed where `when` does not hold.
        """
        made: E | None = await self.run(self._verbs.put(entity, when, returning))
        return made

    @overload
    async def update(
        self,
        what: Ref[E] | E,
        *changes: Change | Mapping[str, object],
        when: Condition | None = ...,
        missing: Missing = ...,
        returning: Literal["new"] = ...,
    ) -> E: ...
    @overload
    async def update(
        self,
        what: Ref[E] | E,
        *changes: Change | Mapping[str, object],
        when: Condition | None = ...,
        missing: Missing = ...,
        returning: Literal["old"],
    ) -> E | None: ...
    @overload
    async def update(
        self,
        what: Ref[E] | E,
        *changes: Change | Mapping[str, object],
        when: Condition | None = ...,
        missing: Missing = ...,
        returning: None,
    ) -> None: ...
    async def update(
        self,
        what: Ref[E] | E,
        *changes: Change | Mapping[str, object],
        when: Condition | None = None,
        missing: Missing = "raise",
        returning: Returned = "new",
    ) -> E | None:
        """Change fields of a stored item, its index keys with them, and give the new entity.

        Changes are `Order.status.set("PAID")` or a mapping such as `{"status": "PAID", "note": None}`. With a loaded
        entity, what its index keys need is taken from it on condition that it still holds. NotFound where nothing
        stands there, ConditionFailed where `when` does not hold. `missing="create"` makes the item where there is none,
        of the key, the changes and the defaults: UsageError where these do not tell every required field, AlreadyExists
        where its number was deleted. `returning="old"` gives the entity as it was, or None where it was made;
        `returning=None` gives nothing.
        """
        made: E | None = await self.run(
            self._verbs.update(what, *changes, when=when, missing=missing, returning=returning)
        )
        return made

    async def move(self, what: Ref[E] | E, /, **parts: object) -> E:
        """Put an item at another primary key, in one transaction, and give the entity there.

        `parts` are those parts of the key that change. Index keys, guards, version and times follow; a number by sort
        key is drawn anew in the partition it comes to, and the old one stays taken. NotFound, AlreadyExists,
        UnknownPart for what is no part of the key, UsageError for the same key.
        """
        return await self.run(self._verbs.move(what, parts))

    async def delete(self, what: Ref[E] | E, *, when: Condition | None = None) -> E | None:
        """Delete an item and give the old entity; None where nothing stood there.

        ForeignItem where another entity's item stands there, ConditionFailed where `when` does not hold.
        """
        return await self.run(self._verbs.delete(what, when))

    async def put_many(self, entities: Iterable[E], *, progress: Progress | None = None) -> tuple[E, ...]:
        """Store many entities in batches of 25 at the same time, replacing what stands at their keys.

        Gives them back with their counter numbers. Unprocessed lists what was not stored. `progress(done, total)` is
        called as batches end, in the thread where they do.
        """
        return await self.run(self._verbs.put_many(entities, progress))

    async def create_many(self, entities: Iterable[E], *, progress: Progress | None = None) -> tuple[E, ...]:
        """Store many new entities, several at the same time, each on condition that its key is free.

        Gives them back in order with their numbers; by sort key these rise in the order of the list. What is stored
        stays, and is `done` of the Unprocessed that lists the others in `items` and says why in `causes`.
        `progress(done, total)` is called after each.
        """
        return await self.run(self._verbs.create_many(entities, progress))

    async def delete_many(self, what: Iterable[Ref[Entity] | Entity], *, progress: Progress | None = None) -> None:
        """Delete many items in batches of 25 at the same time; where nothing stands there is nothing to do.

        Entities whose numbers stay taken, and those of tables with raw keys or rows without tag, are deleted singly
        under a condition. Unprocessed lists the references of what was not deleted. `progress(done, total)` is called
        as batches end.
        """
        await self.run(self._verbs.delete_many(what, progress))
