"""What dynalite 4.0.0 does otherwise than DynamoDB.

It does not know `ReturnValuesOnConditionCheckFailure`: a failed condition comes without the item that made it fail. The
writes then read what stands there (`singletable.operations.writing`), so that only a count of requests can tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DEVIATIONS: Final[Mapping[str, str]] = {
    "test_add_index::test_an_index_is_added_to_a_live_table": (
        "it gives a table that is paid per request no index by UpdateTable, since it wants throughput for it"
    ),
    "test_filters::test_a_query_goes_on_over_pages_of_a_megabyte": (
        "a page takes in the row that passes one megabyte, so that seven rows of 300 KB are two pages"
    ),
    "test_projections::test_a_local_index_reads_the_rest_from_the_table": (
        "it answers what a local index holds, and reads nothing else from the table"
    ),
    "test_reading::test_more_than_sixteen_megabytes": "it answers in pages of less than the 16 MB that DynamoDB allows",
    "test_nested_values::test_a_nested_value_is_set": "contains() does not find a map in a list",
    "test_places::test_index_keys_follow_every_kind_of_change": (
        "no map or list is equal to another in a condition, so that an update which holds one never goes through"
    ),
    "test_places::test_a_place_that_came_since_is_found": (
        "no map or list is equal to another in a condition, so that an update which holds one never goes through"
    ),
    "test_sort_key_numbers::test_a_number_costs_one_request_in_a_row": (
        "a failed condition comes without the item, so that a lost race costs a read more"
    ),
}
