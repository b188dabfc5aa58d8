"""References and queries: what they check when they are written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from singletable.entity import Entity
from singletable.errors import MissingPart, NoTruthValue, PartHole, QueryError, UnknownPart
from singletable.fields import Field
from singletable.indexes import GlobalIndex
from singletable.keys import KeyRange
from singletable.patterns import Key
from singletable.queries import Query
from singletable.schema import Table

gsi1 = GlobalIndex("GSI1")
table = Table("queries", indexes=[gsi1])


class Order(Entity, table=table, tag="order"):
    user_id: Field[str]
    number: Field[int]
    status: Field[str]
    placed_at: Field[datetime]

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{number}")
    by_status = Key(on=gsi1, pk="#ORDERS#{user_id}", sk="#{status}#{placed_at}")


class Region(Entity, table=table, tag="region"):
    country: Field[str]
    path: Field[tuple[str, ...]]

    key = Key(pk="#COUNTRY#{country}", sk="#REGION#{path*}")


class Own(Entity, table=table, tag="own"):
    name: Field[str]
    part: Field[str]

    key = Key(pk="#OWN#{name}", sk="#OWN#{name}#{part}")


ORDERS = Order.key(user_id="u1")
BY_STATUS = Order.by_status(user_id="u1")
DAY = datetime(2026, 1, 1, tzinfo=UTC)
SEVEN, NINE = "#ORDER#0000000000000000007", "#ORDER#0000000000000000009"


class TestRef:
    def test_it_knows_its_key(self) -> None:
        """A reference has the parts in the key's order and the key as it is stored."""
        ref = Order.at(number=7, user_id="u#1")
        assert ref.parts == (("user_id", "u#1"), ("number", 7))
        assert ref.key == {"PK": {"S": "#USER#u%231"}, "SK": {"S": SEVEN}}

    def test_equality_is_of_entity_and_parts(self) -> None:
        """References to one item are equal and hash alike; those of another entity or part are not."""
        assert Order.at(user_id="u1", number=7) == Order.at(number=7, user_id="u1")
        assert hash(Order.at(user_id="u1", number=7)) == hash(Order.at(number=7, user_id="u1"))
        assert Order.at(user_id="u1", number=7) != Order.at(user_id="u1", number=8)
        other: object = Region.at(country="a", path=("b",))
        assert Own.at(name="a", part="b") != other

    def test_it_shows_no_value(self) -> None:
        """The text of a reference names its parts only."""
        assert repr(Order.at(user_id="secret", number=7)) == "<Order.at(user_id, number)>"

    def test_it_has_no_truth_value(self) -> None:
        """A reference in `if` is an error: it does not say whether something is there."""
        with pytest.raises(NoTruthValue):
            bool(Order.at(user_id="u1", number=7))

    def test_every_part_is_needed(self) -> None:
        """A missing part, None and an unknown name are refused with the whole call as the hint."""
        with pytest.raises(MissingPart, match=r"Order\.at\(user_id=\.\.\., number=\.\.\.\)"):
            Order.at(user_id="u1")
        with pytest.raises(MissingPart, match="None"):
            Order.at(user_id="u1", number=None)
        with pytest.raises(UnknownPart, match="'status'"):
            Order.at(user_id="u1", number=7, status="x")


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (ORDERS, KeyRange("begins_with", ("#ORDER#",))),
        (Order.key(user_id="u1", number=7), KeyRange("=", (SEVEN,))),
        (ORDERS.between(number=(7, 9)), KeyRange("BETWEEN", (SEVEN, NINE + "$"))),
        (ORDERS.gte(number=7), KeyRange("BETWEEN", (SEVEN, "#ORDER$"))),
        (ORDERS.gt(number=7), KeyRange("BETWEEN", (SEVEN + "$", "#ORDER$"))),
        (ORDERS.lte(number=9), KeyRange("BETWEEN", ("#ORDER#", NINE + "$"))),
        (ORDERS.gt(number=7).lte(number=9), KeyRange("BETWEEN", (SEVEN + "$", NINE + "$"))),
        (ORDERS.lte(number=9).gte(number=7), KeyRange("BETWEEN", (SEVEN, NINE + "$"))),
        (Order.by_status(user_id="u1", status="PAID"), KeyRange("BETWEEN", ("#PAID", "#PAID$"))),
        (BY_STATUS.begins_with(status="PA"), KeyRange("begins_with", ("#PA",))),
        (
            Order.by_status(user_id="u1", status="PAID").begins_with(placed_at="2026-01"),
            KeyRange("begins_with", ("#PAID#2026-01",)),
        ),
        (BY_STATUS.begins_with(status="PAID", placed_at="2026"), KeyRange("begins_with", ("#PAID#2026",))),
        (Region.key(country="CN", path=("A", "B")), KeyRange("BETWEEN", ("#REGION#A#B", "#REGION#A#B$"))),
        (Region.key(country="CN", path=("A",)).below(), KeyRange("begins_with", ("#REGION#A#",))),
        (Own.key(name="a"), KeyRange("BETWEEN", ("#OWN#a", "#OWN#a$"))),
    ],
)
def test_ranges(query: Query[object], wanted: KeyRange) -> None:
    """Each question is one range of the sort key, as the range table has it."""
    assert query.range is not None
    assert (query.range.operator, query.range.operands) == (wanted.operator, wanted.operands)


def test_lower_than_ends_just_before() -> None:
    """`lt` ends at the greatest text before the value, so that no lower group leaks in."""
    found = ORDERS.lt(number=9).range
    assert found is not None
    low, high = found.operands
    assert (found.operator, low) == ("BETWEEN", "#ORDER#")
    assert "#ORDER#0000000000000000008\U0010ffff" < high < NINE


class TestRefused:
    def test_two_ranges(self) -> None:
        """Two lower ends, or a range with a prefix, do not combine."""
        with pytest.raises(QueryError, match="one range"):
            ORDERS.gt(number=1).gte(number=2)
        with pytest.raises(QueryError, match="one range"):
            BY_STATUS.begins_with(status="P").lt(status="Q")

    def test_a_range_of_two_parts(self) -> None:
        """A range wants one part; those before it are given to the key."""
        with pytest.raises(QueryError, match="2 parts"):
            BY_STATUS.gte(status="PAID", placed_at=DAY)
        with pytest.raises(QueryError, match="0 parts"):
            ORDERS.gte()

    def test_a_part_twice(self) -> None:
        """A part with a whole value cannot have a range too."""
        with pytest.raises(QueryError, match="'number'"):
            Order.key(user_id="u1", number=7).gte(number=7)

    def test_a_hole(self) -> None:
        """A part after one that is not given is refused, in values and in ranges."""
        with pytest.raises(PartHole, match="'status'"):
            Order.by_status(user_id="u1", placed_at=DAY)
        with pytest.raises(PartHole, match="'status'"):
            BY_STATUS.between(placed_at=(DAY, DAY))

    @pytest.mark.parametrize("depth", [0, -1, True, 1.5])
    def test_no_such_depth(self, depth: int) -> None:
        """A depth is a whole number above 0."""
        with pytest.raises(QueryError, match="depth"):
            Region.key(country="CN").below(depth)

    @pytest.mark.parametrize("most", [0, -1, True, 1.5])
    def test_no_such_limit(self, most: int) -> None:
        """A limit is a whole number above 0."""
        with pytest.raises(QueryError, match="limit"):
            ORDERS.limit(most)

    def test_an_index_is_never_consistent(self) -> None:
        """Strong reading of an index is refused where it is asked for."""
        with pytest.raises(QueryError, match="'GSI1'"):
            BY_STATUS.consistent()

    def test_a_filter_is_a_condition_on_no_key_attribute(self) -> None:
        """`where` wants a condition; a table's key attribute is narrowed, not filtered."""
        with pytest.raises(QueryError, match="bool"):
            ORDERS.where(True)  # type: ignore[arg-type]

        class Plain(Entity, table=Table("plain"), tag="plain"):
            box: Field[str]
            SK: Field[str]

            key = Key(pk="BOX#{box}", sk="{SK}", raw=True)

        with pytest.raises(QueryError, match="'SK'"):
            Plain.key(box="b").where(Plain.SK == "x")

    def test_no_truth_value(self) -> None:
        """A query in `if` is an error: it was not read."""
        with pytest.raises(NoTruthValue):
            bool(ORDERS)

    def test_no_sort_key_no_range(self) -> None:
        """A key without sort key has no ranges."""

        class Flag(Entity, table=Table("flat", sk=None), tag="flag"):
            name: Field[str]

            key = Key(pk="#FLAG#{name}")

        with pytest.raises(QueryError, match="no sort key"):
            Flag.key(name="x").gte(name="a")


class TestImmutable:
    def test_each_step_is_another_query(self) -> None:
        """Narrowing, ordering, filtering and limiting leave the query they start from as it is."""
        start = Order.key(user_id="u1")
        end = start.gte(number=7).descending().limit(3).consistent().where(Order.status == "PAID")
        assert (start.narrowings, start.ascending, start.most, start.strong, start.condition) == (
            (),
            True,
            None,
            False,
            None,
        )
        assert (end.ascending, end.most, end.strong) == (False, 3, True)
        assert len(end.narrowings) == 1
        assert end.condition is not None

    def test_its_text_shows_no_value(self) -> None:
        """The text of a query names its entity, its key and its steps."""
        assert repr(Order.key(user_id="secret").gte(number=7)) == (
            "<query Order #USER#{user_id} / #ORDER#{number} given user_id.gte(number)>"
        )
        narrowed = Order.key(user_id="secret").where(Order.status == "secret").descending().limit(7)
        assert repr(narrowed) == (
            "<query Order #USER#{user_id} / #ORDER#{number} given user_id.where(...).descending().limit(...)>"
        )


def test_a_part_of_both_halves_is_given_once() -> None:
    """A part that stands in both halves narrows the sort key too."""
    found = Own.key(name="a", part="b").range
    assert found is not None
    assert (found.operator, found.operands) == ("=", ("#OWN#a#b",))
