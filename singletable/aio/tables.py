"""The verbs on the table itself, awaited."""

from __future__ import annotations

from singletable.aio.running import Running
from singletable.operations.tables import CreateTable, DeleteTable

__all__ = ["Tables"]


class Tables(Running):
    """What a store can do with its table."""

    async def create_table(self) -> None:
        """Make the table with its indexes, paid per request, and wait until it can be used.

        Does nothing where it exists in this shape; TableMismatch where it has another.
        """
        await self.run(CreateTable(self.table))

    async def delete_table(self) -> None:
        """Drop the table with everything in it and wait until it is gone. TableMissing where there is none."""
        await self.run(DeleteTable())
