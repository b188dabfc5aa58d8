"""Queries page by page: the request, the filter that goes along, limits, and counting."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import CorruptItem
from singletable.fields import Field
from singletable.operations.query import Count, Found, ReadPage, next_asked, request
from singletable.patterns import Key
from singletable.queries import Query
from singletable.schema import Table
from tests.unit.operations.playing import NAME, context, play, throttled
from tests.unit.operations.shop import (
    Order,
    OrderLine,
    Project,
    Region,
    User,
    order_item,
    region_item,
    tombstone,
)

REGIONS = Region.key(country="CN")
ORDERS = Order.key(user_id="u1")
START = {"PK": {"S": "#COUNTRY#CN"}, "SK": {"S": "#REGION#A"}}


def page(*items: dict[str, Any], start: dict[str, Any] | None = None) -> dict[str, Any]:
    """Answer a query with a page."""
    return {"Items": list(items), "Count": len(items), **({} if start is None else {"LastEvaluatedKey": start})}


class TestRequest:
    def test_all_of_an_entity(self) -> None:
        """Without a sort key part the range is the entity's leading literals, group and all, and no filter is sent."""
        assert request(context(), REGIONS) == {
            "TableName": NAME,
            "KeyConditionExpression": "#0 = :0 AND #1 BETWEEN :1 AND :2",
            "ScanIndexForward": True,
            "ExpressionAttributeNames": {"#0": "PK", "#1": "SK"},
            "ExpressionAttributeValues": {
                ":0": {"S": "#COUNTRY#CN"},
                ":1": {"S": "#REGION"},
                ":2": {"S": "#REGION$"},
            },
        }

    def test_a_whole_key_is_equal(self) -> None:
        """With every part given the sort key is compared with `=`."""
        params = request(context(), OrderLine.key(user_id="u1", order_id=7, line_no=2))
        assert params is not None
        assert params["KeyConditionExpression"] == "#0 = :0 AND #1 = :1"
        assert params["ExpressionAttributeValues"][":1"] == {"S": "#ORDER#0000000000000000007#LINE#0000000000000000002"}

    def test_below_is_a_prefix(self) -> None:
        """What stands strictly below a node is a prefix."""
        params = request(context(), Region.key(country="CN", path=("SICHUAN",)).below())
        assert params is not None
        assert params["KeyConditionExpression"] == "#0 = :0 AND begins_with(#1, :1)"
        assert params["ExpressionAttributeValues"][":1"] == {"S": "#REGION#SICHUAN#"}

    def test_an_index_backwards(self) -> None:
        """An index is named, a descending query reads backwards; alone in the index, it sends no filter."""
        params = request(context(), Order.by_status(user_id="u1", status="PAID").descending())
        assert params == {
            "TableName": NAME,
            "IndexName": "GSI1",
            "KeyConditionExpression": "#0 = :0 AND #1 BETWEEN :1 AND :2",
            "ScanIndexForward": False,
            "ExpressionAttributeNames": {"#0": "GSI1PK", "#1": "GSI1SK"},
            "ExpressionAttributeValues": {
                ":0": {"S": "#ORDERS#u1"},
                ":1": {"S": "#PAID"},
                ":2": {"S": "#PAID$"},
            },
        }

    def test_strong_reading_is_asked_for(self) -> None:
        """A consistent query says so."""
        params = request(context(), ORDERS.consistent())
        assert params is not None
        assert params["ConsistentRead"] is True

    def test_conditions_are_filters(self) -> None:
        """Several conditions are joined by AND."""
        params = request(context(), User.key(user_id="u1").where(User.name == "Ann").where(User.visits > 3))
        assert params is not None
        assert params["FilterExpression"] == "(#2 = :2 AND #3 > :3)"

    def test_a_native_range(self) -> None:
        """A numeric sort key is compared as a number."""
        params = request(context(), Project.key(team="t").gt(number=7))
        assert params is not None
        assert params["KeyConditionExpression"] == "#0 = :0 AND #1 > :1"
        assert params["ExpressionAttributeValues"] == {":0": {"S": "#TEAM#t"}, ":1": {"N": "7"}}

    def test_all_numbers_need_no_range(self) -> None:
        """All of a partition with a numeric sort key is asked for by its partition key alone."""
        params = request(context(), Project.key(team="t"))
        assert params is not None
        assert params["KeyConditionExpression"] == "#0 = :0"

    def test_an_empty_range_sends_nothing(self) -> None:
        """A range whose end is before its beginning is an empty answer without a request."""
        query = ORDERS.between(order_id=(9, 3))
        assert request(context(), query) is None
        assert play(ReadPage(query).steps(context())) == (Found((), None), [])
        assert play(Count(query).steps(context())) == (0, [])


class TestReadPage:
    def test_rows_and_the_next_start(self) -> None:
        """A page gives its entities in order and where the next one starts."""
        found, _ = play(ReadPage(REGIONS).steps(context()), page(region_item(), region_item("A"), start=START))
        assert found.entities == (Region(country="CN", path=()), Region(country="CN", path=("A",)))
        assert found.next == START

    def test_a_start_and_a_limit_are_sent(self) -> None:
        """The start key and the number of rows go along as they are."""
        _, (call,) = play(ReadPage(REGIONS, START, 8).steps(context()), page())
        assert call.params["ExclusiveStartKey"] == START
        assert call.params["Limit"] == 8
        assert call.method == "query"

    def test_rows_of_others_are_left_out(self) -> None:
        """A tombstone and a relative's row in the range are no answer of this query."""
        line = {"PK": {"S": "#USER#u1"}, "SK": {"S": "#ORDER#1#LINE#1"}, "_et": {"S": "line"}}
        found, _ = play(ReadPage(ORDERS).steps(context()), page(order_item(1), line, tombstone(2), order_item(3)))
        assert [order.order_id for order in found.entities] == [1, 3]

    def test_rows_without_tag_are_read_by_their_key(self) -> None:
        """With `untagged="by_key"` no tag filter is sent, and rows are told apart by key."""
        old = {"pk": {"S": "#TEAM#t"}, "sk": {"N": "1"}, "name": {"S": "x"}}
        other = {**old, "sk": {"N": "2"}, "_et": {"S": "team"}}
        found, (call,) = play(ReadPage(Project.key(team="t")).steps(context()), page(old, other))
        assert found.entities == (Project(team="t", number=1, name="x"),)
        assert "FilterExpression" not in call.params

    def test_deeper_rows_are_dropped(self) -> None:
        """`below(depth=1)` keeps the children and leaves out what stands below them."""
        query = REGIONS.below(depth=1)
        rows = page(region_item("A"), region_item("A", "B"), region_item("C"))
        found, _ = play(ReadPage(query).steps(context()), rows)
        assert [region.path for region in found.entities] == [("A",), ("C",)]

    def test_a_corrupt_row_is_an_error(self) -> None:
        """A row that contradicts its key is not skipped."""
        with pytest.raises(CorruptItem):
            play(ReadPage(ORDERS).steps(context()), page({**order_item(1), "order_id": {"N": "2"}}))

    def test_a_throttled_page_is_asked_for_again(self) -> None:
        """Reading goes on after a throttle with the same request."""
        _, calls = play(ReadPage(ORDERS).steps(context()), throttled(), page())
        assert calls[0] == calls[1]


class TestLimits:
    def test_without_filter_exactly_what_is_wanted(self) -> None:
        """Where every row is an answer, as many rows are asked for as are wanted."""
        assert [next_asked(context(), REGIONS, 7, each) for each in range(3)] == [7, 7, 7]

    @pytest.mark.parametrize("query", [ORDERS, REGIONS.where(Region.path.exists()), REGIONS.below(depth=1)])
    def test_with_a_filter_four_times_then_doubling(self, query: Query[Any]) -> None:
        """Where rows may fall away, four for one are asked for, and twice as many on each further page."""
        assert [next_asked(context(), query, 3, each) for each in range(4)] == [12, 24, 48, 96]

    def test_never_more_than_ten_thousand(self) -> None:
        """The number of rows asked for is bounded."""
        assert next_asked(context(), ORDERS, 3000, 0) == 10_000
        assert next_asked(context(), ORDERS, 1, 60) == 10_000


class TestCount:
    def test_dynamodb_counts(self) -> None:
        """Counting fetches no items and follows every page."""
        total, (one, two) = play(Count(REGIONS).steps(context()), {"Count": 2, "LastEvaluatedKey": START}, {"Count": 3})
        assert total == 5
        assert one.params["Select"] == "COUNT"
        assert "ExclusiveStartKey" not in one.params
        assert two.params["ExclusiveStartKey"] == START

    def test_the_tag_is_filtered_where_others_may_stand(self) -> None:
        """Counting orders leaves out lines and tombstones by the tag filter."""
        _, (call,) = play(Count(ORDERS).steps(context()), {"Count": 2})
        assert call.params["KeyConditionExpression"] == "#0 = :0 AND begins_with(#1, :1)"
        assert call.params["FilterExpression"] == "#2 = :2"
        assert call.params["ExpressionAttributeValues"][":2"] == {"S": "order"}

    def test_a_limit_ends_it(self) -> None:
        """A limited count stops as soon as it is reached, and never says more."""
        total, (call,) = play(Count(ORDERS.limit(2)).steps(context()), {"Count": 5, "LastEvaluatedKey": START})
        assert total == 2
        assert call.params["Limit"] == 8

    def test_a_limit_that_is_not_reached_asks_on(self) -> None:
        """What is still wanted is asked for on the next page, four for one and doubled: (3 - 1) * 4 * 2."""
        total, calls = play(
            Count(ORDERS.limit(3)).steps(context()), {"Count": 1, "LastEvaluatedKey": START}, {"Count": 1}
        )
        assert total == 2
        assert [call.params["Limit"] for call in calls] == [12, 16]

    def test_rows_that_must_be_seen_are_fetched(self) -> None:
        """Where rows are dropped on our side they are fetched and counted here."""
        rows = page(region_item("A"), region_item("A", "B"))
        total, (call,) = play(Count(REGIONS.below(depth=1)).steps(context()), rows)
        assert total == 1
        assert "Select" not in call.params


def test_a_key_that_begins_with_a_part_leaves_hidden_items_out() -> None:
    """Where nothing stands before the first part, the range starts at the first character of a value."""
    table = Table("plain")

    class Note(Entity, table=table, tag="note"):
        box: Field[str]
        name: Field[str]

        key = Key(pk="#BOX#{box}", sk="{name}")

    params = request(context(), Note.key(box="b"))
    assert params is not None
    assert params["KeyConditionExpression"] == "#0 = :0 AND #1 >= :1"
    assert params["ExpressionAttributeValues"][":1"] == {"S": "%"}


def test_without_sort_key_the_partition_is_the_query() -> None:
    """A table without sort key is queried by its partition key alone."""
    table = Table("flat", sk=None)

    class Flag(Entity, table=table, tag="flag"):
        name: Field[str]

        key = Key(pk="#FLAG#{name}")

    params = request(context(), Flag.key(name="beta"))
    assert params == {
        "TableName": NAME,
        "KeyConditionExpression": "#0 = :0",
        "ScanIndexForward": True,
        "ExpressionAttributeNames": {"#0": "PK"},
        "ExpressionAttributeValues": {":0": {"S": "#FLAG#beta"}},
    }


def test_a_raw_neighbour_is_no_answer() -> None:
    """In a raw key `7!` sorts between `7` and what stands below it; it is dropped when it is read."""
    table = Table("raw")

    class Part(Entity, table=table, tag="part"):
        box: Field[str]
        path: Field[tuple[str, ...]]

        key = Key(pk="BOX#{box}", sk="PART#{path*}", raw=True)

    def item(key: str) -> dict[str, Any]:
        return {"PK": {"S": "BOX#b"}, "SK": {"S": f"PART#{key}"}, "_et": {"S": "part"}}

    query = Part.key(box="b", path=("7",))
    found, (call,) = play(ReadPage(query).steps(context()), page(item("7"), item("7!"), item("7#left")))
    assert [part.path for part in found.entities] == [("7",), ("7", "left")]
    assert call.params["ExpressionAttributeValues"][":2"] == {"S": "PART#7$"}
