"""The verbs on the table itself."""

from __future__ import annotations

from singletable.operations.tables import CreateTable, DeleteTable
from singletable.store.running import Running

__all__ = ["Tables"]


class Tables(Running):
    """What a store can do with its table."""

    def create_table(self) -> None:
        """Make the table with its indexes, paid per request, and wait until it can be used.

        Does nothing where it exists in this shape; TableMismatch where it has another.
        """
        self.run(CreateTable(self.table))

    def delete_table(self) -> None:
        """Drop the table with everything in it and wait until it is gone. TableMissing where there is none."""
        self.run(DeleteTable())
