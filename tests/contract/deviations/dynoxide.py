"""What dynoxide 1.2.1 does otherwise than DynamoDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEVIATIONS: Final[Mapping[str, str]] = {
    "test_projections::test_a_local_index_reads_the_rest_from_the_table": (
        "it answers what a local index holds, and reads nothing else from the table"
    ),
    "test_prefix_case::test_a_prefix_of_a_key_minds_its_case": (
        "dynoxide compares the prefix of a key condition without regard to ASCII case"
    ),
}
