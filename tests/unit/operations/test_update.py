"""Changing an item in place: one request where all is known, index keys that follow, and what a refusal means."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from singletable.entity import Entity, evolve
from singletable.errors import (
    ConditionFailed,
    FieldValueError,
    ForeignItem,
    NotFound,
    OutcomeUnknown,
    UnknownField,
    UsageError,
)
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.mapping import from_item, to_item
from singletable.operations.changing import changes_of
from singletable.operations.update import Update
from singletable.patterns import Key
from singletable.schema import Table, model_of
from tests.unit.operations.playing import NAME, Player, condition_failed, context, lost, play, to_run_again
from tests.unit.operations.shop import (
    PLACED,
    Invoice,
    Member,
    Order,
    Parcel,
    User,
    gsi1,
    order_item,
    tombstone,
    user_item,
)

ANN = User(user_id="u1", name="Ann")
AT = User.at(user_id="u1")
ORDER = Order.at(user_id="u1", order_id=7)


def new(item: dict[str, Any]) -> dict[str, Any]:
    """Answer an update with the item as it is now."""
    return {"Attributes": item}


class TestRequest:
    def test_a_plain_field_is_one_update(self) -> None:
        """A field of no key is set in one UpdateItem on condition that our own item is there."""
        made, (call,) = play(Update(AT, User.name.set("Bob")).steps(context()), new(user_item(name="Bob")))
        assert made == User(user_id="u1", name="Bob")
        assert call.method == "update_item"
        assert call.params == {
            "TableName": NAME,
            "Key": {"PK": {"S": "#USER#u1"}, "SK": {"S": "#PROFILE"}},
            "UpdateExpression": "SET #0 = :0",
            "ReturnValues": "ALL_NEW",
            "ConditionExpression": "(#1 = :1 OR #1 = :2)",
            "ExpressionAttributeNames": {"#0": "name", "#1": "_et"},
            "ExpressionAttributeValues": {":0": {"S": "Bob"}, ":1": {"S": "user"}, ":2": {"S": "customer"}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def test_an_index_key_follows(self) -> None:
        """An e-mail that is set takes both attributes of its index key with it, in the same request."""
        now = user_item(email="a@b.c", GSI1PK="#EMAIL#a@b.c", GSI1SK="#USER")
        made, (call,) = play(Update(AT, User.email.set("a@b.c")).steps(context()), new(now))
        assert made is not None
        assert made.email == "a@b.c"
        assert call.params["UpdateExpression"] == "SET #0 = :0, #1 = :1, #2 = :2"
        names, values = call.params["ExpressionAttributeNames"], call.params["ExpressionAttributeValues"]
        assert (names["#0"], names["#1"], names["#2"]) == ("email", "GSI1PK", "GSI1SK")
        assert (values[":1"], values[":2"]) == ({"S": "#EMAIL#a@b.c"}, {"S": "#USER"})

    def test_an_index_entry_goes_with_its_part(self) -> None:
        """An e-mail that is removed, or set to None, takes both attributes of its index key away."""
        for change in (User.email.remove(), User.email.set(None)):
            _, (call,) = play(Update(AT, change).steps(context()), new(user_item()))
            assert call.params["UpdateExpression"] == "REMOVE #0, #1, #2"
            assert sorted(call.params["ExpressionAttributeNames"].values()) == ["GSI1PK", "GSI1SK", "_et", "email"]

    def test_both_parts_given_need_no_read(self) -> None:
        """An index key made of two changed fields is written without reading, from the changes alone."""
        changes = (Order.status.set("PAID"), Order.placed_at.set(PLACED))
        _, (call,) = play(Update(ORDER, *changes).steps(context()), new(order_item(7, status="PAID")))
        assert {"S": "#PAID#2026-01-01T09:30:00.000000Z"} in call.params["ExpressionAttributeValues"].values()

    def test_a_part_that_is_not_known_is_read_first(self) -> None:
        """A status alone needs the time: one strong read, then an update on condition that it still holds."""
        read, now = {"Item": order_item(7)}, new(order_item(7, status="PAID"))
        made, (get, update) = play(Update(ORDER, Order.status.set("PAID")).steps(context()), read, now)
        assert made is not None
        assert made.status == "PAID"
        assert get.params["ConsistentRead"] is True
        assert update.params["ConditionExpression"] == "(#3 = :3 AND #4 = :4)"
        assert update.params["ExpressionAttributeNames"]["#4"] == "placed_at"
        assert update.params["ExpressionAttributeValues"][":4"] == {"S": "2026-01-01T09:30:00.000000Z"}

    def test_a_loaded_entity_spares_the_read(self) -> None:
        """With the entity at hand its time is used, on condition that it still holds."""
        loaded = from_item(Order, order_item(7))
        update = Update(loaded, Order.status.set("PAID"))
        _, (call,) = play(update.steps(context()), new(order_item(7, status="PAID")))
        assert call.method == "update_item"
        assert call.params["ConditionExpression"] == "(#3 = :3 AND #4 = :4)"

    def test_the_callers_condition_is_added(self) -> None:
        """`when` joins the guard."""
        update = Update(AT, User.name.set("Bob"), when=User.visits > 3)
        _, (call,) = play(update.steps(context()), new(user_item(name="Bob")))
        assert call.params["ConditionExpression"] == "((#1 = :1 OR #1 = :2) AND #2 > :3)"

    def test_without_tag_the_item_must_be_there(self) -> None:
        """In a table without tags the guard is that something stands at the key."""
        item = {"pk": {"S": "7"}, "order_id": {"N": "7"}, "name": {"S": "bag"}}
        made, (call,) = play(Update(Parcel.at(order_id=7), Parcel.name.set("bag")).steps(context()), new(item))
        assert made == Parcel(order_id=7, name="bag")
        assert call.params["ConditionExpression"] == "(NOT attribute_not_exists (#1))"

    def test_an_addition_is_marked(self) -> None:
        """An addition carries an id of its own, and a condition that the same one was not carried out before."""
        _, (call,) = play(Update(AT, User.visits.add(2)).steps(context()), new(user_item()))
        assert call.params["UpdateExpression"] == "SET #0 = :0 ADD #1 :1"
        assert call.params["ExpressionAttributeNames"]["#0"] == "_w"
        assert call.params["ExpressionAttributeValues"][":0"] == {"S": "id-1"}
        assert call.params["ConditionExpression"].endswith("(attribute_not_exists (#0) OR #0 <> :4))")

    def test_a_repeatable_change_carries_no_mark(self) -> None:
        """Setting a value twice does no harm, so it is not marked."""
        _, (call,) = play(Update(AT, User.visits.set(2)).steps(context()), new(user_item()))
        assert "_w" not in call.params["ExpressionAttributeNames"].values()


class Score(Entity, table=Table("scores", indexes=[gsi1]), tag="score"):
    player: Field[str]
    points: Field[int | None] = Field(default=None)
    rank: Field[int] = Field(default=0)

    key = Key(pk="#PLAYER#{player}", sk="#SCORE")
    by_points = Key(on=gsi1, pk="#SCORES", sk="#{points}")


class TestIndexedNumber:
    ITEM: ClassVar[dict[str, Any]] = {
        "PK": {"S": "#PLAYER#p"},
        "SK": {"S": "#SCORE"},
        "_et": {"S": "score"},
        "player": {"S": "p"},
        "points": {"N": "40"},
        "rank": {"N": "0"},
        "GSI1PK": {"S": "#SCORES"},
        "GSI1SK": {"S": "#0000000000000000040"},
    }

    def test_an_addition_reads_first(self) -> None:
        """An addition to a part of an index key needs its value: one strong read, then on condition of it."""
        read = {"Item": self.ITEM}
        now = {**self.ITEM, "points": {"N": "42"}, "GSI1SK": {"S": "#0000000000000000042"}}
        update = Update(Score.at(player="p"), Score.points.add(2))
        made, (get, call) = play(update.steps(context()), read, new(now))
        assert made == Score(player="p", points=42)
        assert get.params["ConsistentRead"] is True
        values = list(call.params["ExpressionAttributeValues"].values())
        assert {"S": "#0000000000000000042"} in values
        assert {"N": "40"} in values

    def test_an_addition_to_nothing(self) -> None:
        """Where no number is stored the sum is what is added, and the index entry is made."""
        empty = {name: value for name, value in self.ITEM.items() if name not in ("points", "GSI1PK", "GSI1SK")}
        update = Update(Score.at(player="p"), Score.points.add(2))
        _, (_, call) = play(update.steps(context()), {"Item": empty}, new(self.ITEM))
        values = list(call.params["ExpressionAttributeValues"].values())
        assert {"S": "#0000000000000000002"} in values
        assert "attribute_not_exists" in call.params["ConditionExpression"]

    def test_another_field_leaves_the_index_alone(self) -> None:
        """A change of no part of an index key sends nothing about the index."""
        update = Update(Score.at(player="p"), Score.rank.add(1))
        _, (call,) = play(update.steps(context()), new(self.ITEM))
        assert "GSI1SK" not in call.params["ExpressionAttributeNames"].values()


class TestRefused:
    @pytest.mark.parametrize("there", [None, tombstone(7)])
    def test_nothing_there(self, there: dict[str, Any] | None) -> None:
        """Nothing, and a deleted number, are NotFound."""
        changes = (Order.status.set("PAID"), Order.placed_at.set(PLACED))
        answers: list[Any] = [condition_failed(there)] if there else [condition_failed(), {}]
        with pytest.raises(NotFound):
            play(Update(ORDER, *changes).steps(context()), *answers)

    def test_nothing_to_read(self) -> None:
        """Where the index needs a read and nothing is there, no update is sent."""
        player = Player({})
        with pytest.raises(NotFound):
            player.play(Update(ORDER, Order.status.set("PAID")).steps(context()))
        assert len(player.calls) == 1

    def test_another_entitys_item(self) -> None:
        """Another's item at the key is ForeignItem."""
        with pytest.raises(ForeignItem):
            play(Update(AT, User.name.set("Bob")).steps(context()), condition_failed(user_item(_et="admin")))

    def test_the_callers_condition(self) -> None:
        """Where `when` does not hold, the entity as it stands comes along, and nothing is tried again."""
        player = Player(condition_failed(user_item()))
        with pytest.raises(ConditionFailed) as caught:
            player.play(Update(AT, User.name.set("Bob"), when=User.visits > 3).steps(context()))
        assert caught.value.current == ANN
        assert len(player.calls) == 1

    def test_a_faster_writer(self) -> None:
        """Where what the index key was made of has changed, the old item that comes back is the next knowledge."""
        later = "2026-02-01T00:00:00.000000Z"
        changed = order_item(7, placed_at=later, GSI1SK=f"#PENDING#{later}")
        loaded = from_item(Order, order_item(7))
        player = Player(condition_failed(changed), new({**changed, "status": {"S": "PAID"}}))
        player.play(Update(loaded, Order.status.set("PAID")).steps(context()))
        values = player.calls[1].params["ExpressionAttributeValues"].values()
        assert {"S": f"#PAID#{later}"} in values
        assert {"S": later} in values
        assert player.pauses == [0.0025]

    def test_writers_that_never_stop(self) -> None:
        """Against writers that always are faster the update gives up after 16 attempts."""
        minutes = [f"2026-02-01T00:{minute:02d}:00.000000Z" for minute in range(16)]
        changed = [condition_failed(order_item(7, placed_at=minute)) for minute in minutes]
        player = Player(*changed)
        loaded = from_item(Order, order_item(7))
        with pytest.raises(ConditionFailed, match="16 attempts"):
            player.play(Update(loaded, Order.status.set("PAID")).steps(context()))
        assert len(player.calls) == 16

    def test_a_mark_of_ours_is_a_success(self) -> None:
        """A lost reply whose item carries our mark was carried out: the addition is not made twice."""
        done = {**user_item(), "visits": {"N": "2"}, "_w": {"S": "id-1"}}
        made, calls = play(Update(AT, User.visits.add(2)).steps(context()), lost(), condition_failed(done))
        assert made == evolve(ANN, visits=2)
        assert calls[0] == calls[1]

    def test_a_foreign_mark_leaves_it_unknown(self) -> None:
        """A lost reply and a condition that failed for another reason do not tell."""
        operation = Update(AT, User.visits.add(2), when=User.name == "Ann")
        other = {**user_item(name="Bob"), "_w": {"S": "id-9"}}
        with pytest.raises(OutcomeUnknown) as caught:
            play(operation.steps(context()), lost(), condition_failed(other))
        assert type(caught.value.operation) is Update
        again = to_run_again(caught.value)
        mine = {**user_item(), "visits": {"N": "2"}, "_w": {"S": "id-1"}}
        made, (call,) = play(again.steps(context()), condition_failed(mine))
        assert made == User(user_id="u1", name="Ann", visits=2)
        assert {"S": "id-1"} in call.params["ExpressionAttributeValues"].values()

    def test_gone_after_a_lost_reply_is_unknown(self) -> None:
        """An item that is gone after a lost reply may have been changed before."""
        with pytest.raises(OutcomeUnknown):
            play(Update(AT, User.name.set("Bob")).steps(context()), lost(), condition_failed(), {})


class TestChanges:
    def test_a_mapping_sets_and_removes(self) -> None:
        """A mapping, as from a PATCH body, sets what it names and removes what is None."""
        name, email = changes_of(model_of(User), [{"name": "Bob", "email": None}])
        assert (name.action, name.value) == ("set", {"S": "Bob"})
        assert email.action == "remove"

    def test_changes_stay_as_they_are(self) -> None:
        """Changes and mappings may be mixed; they keep their order."""
        change = User.name.set("Bob")
        first, second = changes_of(model_of(User), [change, {"visits": 3}])
        assert first is change
        assert (second.action, second.value) == ("set", {"N": "3"})

    def test_an_unknown_name_is_refused(self) -> None:
        """A name that is no field is refused with the one that was meant."""
        with pytest.raises(UnknownField, match="did you mean 'email'"):
            changes_of(model_of(User), [{"emial": "x"}])

    def test_something_else_is_refused(self) -> None:
        """What is neither a change nor a mapping is refused."""
        with pytest.raises(UsageError, match="str"):
            changes_of(model_of(User), ["name"])  # type: ignore[list-item]  # what an untyped caller may do

    def test_a_field_that_must_be_there_cannot_be_set_to_none(self) -> None:
        """None for a field that is not optional is refused."""
        with pytest.raises(FieldValueError, match=r"'User\.name'"):
            changes_of(model_of(User), [{"name": None}])

    def test_no_changes_are_refused(self) -> None:
        """An update that changes nothing is an error, where it is made."""
        with pytest.raises(UsageError, match="without a change"):
            Update(AT)

    def test_one_field_twice_is_refused(self) -> None:
        """DynamoDB takes one change for each attribute."""
        with pytest.raises(UsageError, match="twice"):
            Update(AT, User.name.set("a"), User.name.set("b"))

    def test_key_parts_stay(self) -> None:
        """A part of the primary key cannot be changed in place."""
        with pytest.raises(UsageError, match="primary key"):
            Update(AT, User.user_id.set("u2"))

    def test_numbers_stay(self) -> None:
        """A number that was drawn is kept for life."""
        with pytest.raises(UsageError, match="primary key"):
            Update(Invoice.at(number=1), Invoice.number.set(2))

        class Bill(Entity, table=Table("bills"), tag="bill"):
            name: Field[str]
            number: Field[int] = AutoIncrement()

            key = Key(pk="#BILL#{name}", sk="#A")

        with pytest.raises(UsageError, match="drawn when the entity is created"):
            Update(Bill.at(name="x"), Bill.number.set(2))

    def test_another_classs_field_is_refused(self) -> None:
        """A change made with another entity's field that this one does not have is refused."""
        with pytest.raises(UnknownField, match="another class"):
            Update(AT, Order.status.set("PAID"))


def test_what_a_transaction_updated_may_be_deleted_since() -> None:
    """The update of a unique value reads the new item afterwards: what is gone by then is told, not given as None."""
    item = to_item(Member(member_id="ann", email="a@b.c"))
    with pytest.raises(NotFound, match="was updated, and another writer has deleted it since"):
        play(Update(Member.at(member_id="ann"), Member.email.set("n@b.c")).steps(context()), {"Item": item}, {}, {})
