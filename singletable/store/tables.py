"""The verbs on the table itself."""

from __future__ import annotations

from singletable.entity import Entity
from singletable.handles import SequenceHandle
from singletable.indexes import GlobalIndex
from singletable.operations.guarding import UniqueReport
from singletable.operations.shape import TableDiff
from singletable.operations.tables import CreateTable, DeleteTable, DiffTable
from singletable.store.running import Running

__all__ = ["Tables"]


class Tables(Running):
    """What a store can do with its table."""

    def create_table(self) -> None:
        """Make the table with its indexes, paid per request, and wait until it can be used.

        Does nothing where it exists in this shape; TableMismatch where it has another.
        """
        self.run(CreateTable(self.table))

    def diff_table(self) -> TableDiff:
        """Compare the table with its declaration and change nothing; the answer is true where they differ.

        Keys and their types, and each index with its keys and projection, are compared. TableMissing where there is
        none.
        """
        return self.run(DiffTable(self.table))

    def add_index(self, index: GlobalIndex, *, timeout: float = 3600.0) -> None:
        """Make a global index that the live table lacks, and wait until DynamoDB has filled it.

        Does nothing where it is there in this shape; TableMismatch where it has another. Items that were written before
        their class had a key on the index have no attributes for it: write each once more. ServiceError after `timeout`
        seconds; DynamoDB goes on, and calling it again waits on.
        """
        self.run(self._verbs.add_index(index, timeout))

    def delete_table(self) -> None:
        """Drop the table with everything in it and wait until it is gone. TableMissing where there is none."""
        self.run(DeleteTable())

    def sequence(self, entity: type[Entity], field: str | None = None, /, **parts: object) -> SequenceHandle:
        """Give a handle on the numbers of an entity's AutoIncrement field; nothing is sent.

        `parts` name the group: those of the partition or of the Sequence that the numbers count for, such as
        `store.sequence(Order, user_id="u1")`; none where they count for the whole entity. `field` says which, where
        there are several. UsageError, MissingPart or UnknownPart where that does not name one group.
        """
        return SequenceHandle(self._verbs.sequence(entity, field, parts), self.run)

    def backfill_unique(self, entity: type[Entity], *, segments: int = 1) -> UniqueReport:
        """Make the guards that items lack which are older than what is unique about them, and report.

        Scans the table, in so many parts at a time; safe beside writers, and to be run again: then it finds nothing to
        guard. `violations` of the report are values that several items have; none of them is changed.
        ConditionFailed where others changed an item each time it was to be guarded: run it again.
        """
        return self.run(self._verbs.backfill_unique(entity, segments))
