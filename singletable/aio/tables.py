"""The verbs on the table itself, awaited."""

from __future__ import annotations

from singletable.aio.running import Running
from singletable.entity import Entity
from singletable.handles import AsyncSequenceHandle
from singletable.indexes import GlobalIndex
from singletable.operations.guarding import UniqueReport
from singletable.operations.shape import TableDiff
from singletable.operations.tables import CreateTable, DeleteTable, DiffTable

__all__ = ["Tables"]


class Tables(Running):
    """What a store can do with its table."""

    async def create_table(self) -> None:
        """Make the table with its indexes, paid per request, and wait until it can be used.

        Does nothing where it exists in this shape; TableMismatch where it has another.
        """
        await self.run(CreateTable(self.table))

    async def diff_table(self) -> TableDiff:
        """Compare the table with its declaration and change nothing; the answer is true where they differ.

        Keys and their types, and each index with its keys and projection, are compared. TableMissing where there is
        none.
        """
        return await self.run(DiffTable(self.table))

    async def add_index(self, index: GlobalIndex, *, timeout: float = 3600.0) -> None:
        """Make a global index that the live table lacks, and wait until DynamoDB has filled it.

        Does nothing where it is there in this shape; TableMismatch where it has another. Items that were written before
        their class had a key on the index have no attributes for it: write each once more. ServiceError after `timeout`
        seconds; DynamoDB goes on, and calling it again waits on.
        """
        await self.run(self._verbs.add_index(index, timeout))

    async def delete_table(self) -> None:
        """Drop the table with everything in it and wait until it is gone. TableMissing where there is none."""
        await self.run(DeleteTable())

    def sequence(self, entity: type[Entity], field: str | None = None, /, **parts: object) -> AsyncSequenceHandle:
        """Give a handle on the numbers of an entity's AutoIncrement field; nothing is sent.

        `parts` name the group: those of the partition or of the Sequence that the numbers count for, such as
        `store.sequence(Order, user_id="u1")`; none where they count for the whole entity. `field` says which, where
        there are several. UsageError, MissingPart or UnknownPart where that does not name one group.
        """
        return AsyncSequenceHandle(self._verbs.sequence(entity, field, parts), self.run)

    async def backfill_unique(self, entity: type[Entity], *, segments: int = 1) -> UniqueReport:
        """Make the guards that items lack which are older than what is unique about them, and report.

        Scans the table, in so many parts at a time; safe beside writers, and to be run again: then it finds nothing to
        guard. `violations` of the report are values that several items have; none of them is changed.
        ConditionFailed where others changed an item each time it was to be guarded: run it again.
        """
        return await self.run(self._verbs.backfill_unique(entity, segments))
