"""Cases of other mappers that conditions, changes and projections must not repeat; tests are named after them."""

from __future__ import annotations

import pytest

from singletable.entity import Entity
from singletable.errors import ItemTooLarge, KeyPartError, QueryError, UnknownField, UsageError
from singletable.fields import Field
from singletable.indexes import GlobalIndex
from singletable.mapping import to_item
from singletable.operations.changing import changes_of
from singletable.operations.query import request
from singletable.operations.update import Update
from singletable.patterns import Key
from singletable.places import size
from singletable.schema import Table, model_of
from tests.unit.operations.playing import context, play
from tests.unit.operations.shop import Order, User, user_item

AT = User.at(user_id="u1")
native = GlobalIndex("native", pk="team", sk=("score", int))


class Player(Entity, table=Table("cases", indexes=[native]), tag="player"):
    name: Field[str]
    team: Field[str]
    score: Field[int]
    extra: Field[dict[str, str | None]] = Field(default_factory=dict[str, str | None], name="größe.of[x]"[:8])

    key = Key(pk="#PLAYER#{name}", sk="#PLAYER")
    by_score = Key(on=native, pk=("team",), sk=("score",))


def test_c10_no_place_is_set_twice_and_no_table_key() -> None:
    """C10: two changes of one place, or of a place and what stands in it, and any of a table key are refused."""
    at = Player.at(name="a")
    for changes in (
        (Player.score.set(1), Player.score.add(1)),
        (Player.extra.set({}), Player.extra["a"].set("x")),
        (Player.extra["a"].set("x"), Player.extra["a"].remove()),
    ):
        with pytest.raises(UsageError, match="changed twice"):
            Update(at, *changes)
    with pytest.raises(UsageError, match="primary key"):
        Update(at, Player.name.set("b"))
    Update(at, Player.extra["a"].set("x"), Player.extra["b"].set("y"))


def test_d7_filters_do_not_accumulate() -> None:
    """D7: a query that is filtered stays as it was, whatever is made of it."""
    query = Player.key(name="a")
    first = query.where(Player.extra["a"].exists())
    query.where(size(Player.extra) > 1)
    assert query.condition is None
    assert request(context(), query.where(Player.extra["a"].exists())) == request(context(), first)


def test_d8_a_request_is_written_the_same_twice() -> None:
    """D8: writing a query as a request changes nothing about it."""
    query = Player.key(name="a").where(Player.extra["a"] == "x").only(Player.extra)
    assert request(context(), query) == request(context(), query)


def test_d11_a_filter_looks_at_no_key_attribute() -> None:
    """D11: a field that is the key attribute itself is refused in a filter of that index, with the way out."""
    with pytest.raises(QueryError, match="narrow the key"):
        Player.by_score(team="x").where(Player.score > 3)
    with pytest.raises(QueryError, match="key attribute 'team'"):
        Player.by_score(team="x").where((Player.extra["a"] == "x") | (size(Player.team) > 3))
    assert Player.key(name="a").where(Player.score > 3).condition is not None


def test_d13_two_ranges_say_between() -> None:
    """D13: two conditions on one sort key are refused, with `between` as the way out."""
    with pytest.raises((QueryError, KeyPartError), match="between"):
        Player.by_score(team="x").gte(score=1).gt(score=2)


def test_d15_and_d16_one_table_of_names_and_of_values() -> None:
    """D15, D16: changes, operands, guards and `when` of a request share one table of each kind."""
    update = Update(
        AT, User.visits.set(User.visits + 1), User.name.set("Bob"), when=(User.visits > 3) & (User.name == "A")
    )
    _, (call,) = play(update.steps(context()), {"Attributes": user_item()})
    text = call.params["UpdateExpression"] + call.params["ConditionExpression"]
    names, values = call.params["ExpressionAttributeNames"], call.params["ExpressionAttributeValues"]
    assert len(set(names.values())) == len(names)
    assert all(f"{placeholder}" in text for placeholder in (*names, *values))
    assert [value for value in values.values() if value == {"N": "3"}] == [{"N": "3"}]


def test_i1_and_i4_empty_text_is_a_value_and_none_is_absent() -> None:
    """I1, I4: "" is stored at any depth, None is left out at any depth."""
    item = to_item(Player(name="a", team="t", score=1, extra={"empty": "", "nothing": None}))
    assert item[Player.extra.attribute] == {"M": {"empty": {"S": ""}}}


def test_i3_and_i6_none_is_never_set() -> None:
    """I3, I6: a change to None removes, also inside a dict, so that attribute_not_exists means what it says."""
    email, extra = User.email.set(None), Player.extra["a"].set(None)
    assert (email.action, extra.action) == ("remove", "remove")
    assert changes_of(model_of(User), [{"email": None}])[0].action == "remove"


def test_another_classs_field_in_an_operand_is_refused() -> None:
    """A value that is taken from another entity's field is refused where the update is made."""
    with pytest.raises(UnknownField, match="another class"):
        Update(AT, User.name.set(Order.status))


def test_an_update_too_large_is_known_beforehand() -> None:
    """What the changes alone make too large is refused before anything is sent."""
    steps = Update(AT, User.name.set("x" * 409_600)).steps(context())
    with pytest.raises(ItemTooLarge) as caught:
        next(steps)
    assert caught.value.size > caught.value.limit == 409_600
