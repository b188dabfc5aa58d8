"""What moto 5.2.5 does otherwise than DynamoDB.

Its updates and transactions are not atomic under threads, which the store's own lock mends (`singletable.local`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEVIATIONS: Final[Mapping[str, str]] = {
    "test_projections::test_a_local_index_reads_the_rest_from_the_table": (
        "it answers what a local index holds, and reads nothing else from the table"
    ),
}
