"""Reading, creating, putting and deleting one item: the requests that are sent and what their answers mean."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import evolve
from singletable.errors import (
    AlreadyExists,
    ConditionFailed,
    CorruptItem,
    FieldValueError,
    ForeignItem,
    NotFound,
    OutcomeUnknown,
    UsageError,
)
from singletable.mapping import from_item
from singletable.operations.create import Create
from singletable.operations.delete import Delete
from singletable.operations.get import Get, One
from singletable.operations.put import Put
from tests.unit.operations.playing import NAME, Player, condition_failed, context, lost, play, to_run_again
from tests.unit.operations.shop import (
    PLACED,
    Invoice,
    Order,
    Parcel,
    Project,
    User,
    order_item,
    tombstone,
    user_item,
)

ANN = User(user_id="u1", name="Ann")
KEY = {"PK": {"S": "#USER#u1"}, "SK": {"S": "#PROFILE"}}
AT = User.at(user_id="u1")


class TestGet:
    def test_it_sends_one_get_item(self) -> None:
        """A look-up is one GetItem of the whole key; strong reading is asked for by name."""
        found, (call,) = play(Get(AT, consistent=True).steps(context()), {"Item": user_item()})
        assert found == ANN
        assert call.method == "get_item"
        assert call.params == {"TableName": NAME, "Key": KEY, "ConsistentRead": True}

    def test_nothing_is_none(self) -> None:
        """Where nothing stands at the key the answer is None."""
        assert play(Get(AT).steps(context()), {})[0] is None

    def test_a_tombstone_is_nothing(self) -> None:
        """A deleted number is as absent as one that never was."""
        ref = Order.at(user_id="u1", order_id=7)
        assert play(Get(ref).steps(context()), {"Item": tombstone(7)})[0] is None

    def test_another_entitys_item_is_refused(self) -> None:
        """An item with another tag at the key is no answer but an error that names the tag."""
        with pytest.raises(ForeignItem, match="'admin'") as caught:
            play(Get(AT).steps(context()), {"Item": user_item(_et="admin")})
        assert caught.value.found == "admin"

    def test_an_alias_is_read(self) -> None:
        """An item under an older tag of the entity is its own."""
        assert play(Get(AT).steps(context()), {"Item": user_item(_et="customer")})[0] == ANN

    def test_a_corrupt_item_says_so(self) -> None:
        """An item whose attribute differs from its key is an error, not an entity."""
        with pytest.raises(CorruptItem):
            play(Get(AT).steps(context()), {"Item": user_item(user_id="u2")})

    def test_one_wants_something(self) -> None:
        """`One` gives the entity, and NotFound where there is none."""
        assert play(One(Get(AT), AT).steps(context()), {"Item": user_item()})[0] == ANN
        with pytest.raises(NotFound, match="User"):
            play(One(Get(AT), AT).steps(context()), {})


class TestCreate:
    def test_it_sends_one_conditional_put(self) -> None:
        """A create is one PutItem on condition that nothing stands there, marked with its own id."""
        made, (call,) = play(Create(ANN).steps(context()), {})
        assert made == ANN
        assert call.method == "put_item"
        assert call.params == {
            "TableName": NAME,
            "Item": {**user_item(), "_c": {"S": "id-1"}},
            "ConditionExpression": "attribute_not_exists (#0)",
            "ExpressionAttributeNames": {"#0": "PK"},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def test_an_index_key_is_written_where_its_parts_are_there(self) -> None:
        """With an e-mail the item is in the index of e-mails, without one it is not."""
        _, (call,) = play(Create(evolve(ANN, email="a@b.c")).steps(context()), {})
        item = call.params["Item"]
        assert (item["GSI1PK"], item["GSI1SK"]) == ({"S": "#EMAIL#a@b.c"}, {"S": "#USER"})
        _, (call,) = play(Create(ANN).steps(context()), {})
        assert "GSI1PK" not in call.params["Item"]
        assert "GSI1SK" not in call.params["Item"]

    def test_a_taken_key_gives_the_entity_there(self) -> None:
        """AlreadyExists carries the entity that stands at the key."""
        with pytest.raises(AlreadyExists) as caught:
            play(Create(ANN).steps(context()), condition_failed(user_item(name="Bob")))
        assert caught.value.existing == User(user_id="u1", name="Bob")

    def test_a_key_taken_by_another_entity_gives_nothing_away(self) -> None:
        """Another entity's item makes the key taken but is not attached."""
        with pytest.raises(AlreadyExists, match="another entity") as caught:
            play(Create(ANN).steps(context()), condition_failed(user_item(_et="admin")))
        assert caught.value.existing is None

    def test_its_own_write_is_a_success(self) -> None:
        """Where the first reply was lost and the item carries our id, our first write was carried out."""
        written = {**user_item(), "_c": {"S": "id-1"}}
        made, calls = play(Create(ANN).steps(context()), lost(), condition_failed(written))
        assert made == ANN
        assert calls[0] == calls[1]

    def test_another_writers_item_after_a_lost_reply_is_unknown(self) -> None:
        """After a lost reply somebody else's item does not tell what became of ours."""
        operation = Create(ANN)
        theirs = {**user_item(), "_c": {"S": "id-9"}}
        with pytest.raises(OutcomeUnknown) as caught:
            play(operation.steps(context()), lost(), condition_failed(theirs))
        assert type(caught.value.operation) is Create
        again = to_run_again(caught.value)
        made, (call,) = play(again.steps(context()), condition_failed({**user_item(), "_c": {"S": "id-1"}}))
        assert made == ANN
        assert call.params["Item"]["_c"] == {"S": "id-1"}

    def test_without_a_lost_reply_the_condition_means_what_it_says(self) -> None:
        """Another writer's id at the key is AlreadyExists where the request was sent once."""
        theirs = {**user_item(), "_c": {"S": "id-9"}}
        with pytest.raises(AlreadyExists):
            play(Create(ANN).steps(context()), condition_failed(theirs))

    def test_a_created_entity_is_put_under_the_same_id(self) -> None:
        """The id of the create rides along: a later put writes it again."""
        made, _ = play(Create(ANN).steps(context()), {})
        _, (call,) = play(Put(evolve(made, name="Anna")).steps(context()), {})
        assert call.params["Item"]["_c"] == {"S": "id-1"}
        assert call.params["Item"]["name"] == {"S": "Anna"}

    def test_a_bad_value_is_found_before_a_number_is_drawn(self) -> None:
        """A field that cannot be stored is refused before anything is sent, for counters and sort keys."""
        naive = PLACED.replace(tzinfo=None)
        for operation in (
            Create(Order(user_id="u1", placed_at=naive)),
            Put(Order(user_id="u1", placed_at=naive)),
            Create(Invoice(total=True)),
        ):
            player = Player()
            with pytest.raises(FieldValueError):
                player.play(operation.steps(context()))
            assert player.calls == []

    @pytest.mark.parametrize(
        "entity",
        [
            Order(user_id="u1", order_id=7, placed_at=PLACED),
            Invoice(number=7, total=1),
            Parcel(order_id=7, name="box"),
        ],
    )
    def test_a_number_cannot_be_brought_along(self, entity: Any) -> None:
        """A create draws its number; one that is given is refused before anything is sent."""
        player = Player()
        with pytest.raises(UsageError, match="drawn"):
            player.play(Create(entity).steps(context()))
        assert player.calls == []


class TestPut:
    def test_it_replaces_its_own_kind_only(self) -> None:
        """A put is conditional on nothing, or an item under one of the entity's tags, standing there."""
        made, (call,) = play(Put(ANN).steps(context()), {})
        assert made == ANN
        assert call.params == {
            "TableName": NAME,
            "Item": {**user_item(), "_c": {"S": "id-1"}},
            "ConditionExpression": "(attribute_not_exists (#0) OR (#1 = :0 OR #1 = :1))",
            "ExpressionAttributeNames": {"#0": "PK", "#1": "_et"},
            "ExpressionAttributeValues": {":0": {"S": "user"}, ":1": {"S": "customer"}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def test_another_entitys_item_is_never_replaced(self) -> None:
        """Another's item at the key is ForeignItem, even after a lost reply."""
        with pytest.raises(ForeignItem):
            play(Put(ANN).steps(context()), condition_failed(user_item(_et="admin")))
        with pytest.raises(ForeignItem):
            play(Put(ANN).steps(context()), lost(), condition_failed(user_item(_et="admin")))

    def test_a_deleted_number_stays_taken(self) -> None:
        """A put under a number that was deleted is AlreadyExists with nothing there."""
        order = Order(user_id="u1", order_id=7, placed_at=PLACED)
        with pytest.raises(AlreadyExists, match="deleted") as caught:
            play(Put(order).steps(context()), condition_failed(tombstone(7)))
        assert caught.value.existing is None

    def test_the_callers_condition_is_added(self) -> None:
        """`when` joins the guard; where it does not hold the entity as it stands comes along."""
        player = Player(condition_failed(user_item(name="Bob")))
        with pytest.raises(ConditionFailed) as caught:
            player.play(Put(ANN, User.name == "Ann").steps(context()))
        assert caught.value.current == User(user_id="u1", name="Bob")
        expression = player.calls[0].params["ConditionExpression"]
        assert expression == "((attribute_not_exists (#0) OR (#1 = :0 OR #1 = :1)) AND #2 = :2)"

    def test_a_condition_on_nothing_says_so(self) -> None:
        """Where nothing stands at the key and `when` does not hold, there is no current entity."""
        with pytest.raises(ConditionFailed, match="nothing stands") as caught:
            play(Put(ANN, User.name == "Ann").steps(context()), condition_failed(), {})
        assert caught.value.current is None

    def test_a_failed_condition_after_a_lost_reply_is_unknown(self) -> None:
        """Our own first write may have made `when` fail."""
        with pytest.raises(OutcomeUnknown):
            play(Put(ANN, User.name == "Bob").steps(context()), lost(), condition_failed(user_item()))

    def test_a_number_that_is_there_is_kept(self) -> None:
        """A put of an entity with its number draws none."""
        order = Order(user_id="u1", order_id=7, placed_at=PLACED)
        made, (call,) = play(Put(order).steps(context()), {})
        assert made == order
        assert call.params["Item"] == {**order_item(7), "_c": {"S": "id-1"}}

    def test_without_tag_there_is_no_guard(self) -> None:
        """A table without tags cannot tell kinds apart by an attribute, so a put has no condition."""
        _, (call,) = play(Put(Parcel(order_id=7, name="box")).steps(context()), {})
        assert call.params == {
            "TableName": NAME,
            "Item": {"pk": {"S": "7"}, "order_id": {"N": "7"}, "name": {"S": "box"}, "_c": {"S": "id-1"}},
        }

    def test_rows_without_tag_are_ours_where_the_table_says_so(self) -> None:
        """With `untagged="by_key"` a put also replaces an item that carries no tag."""
        _, (call,) = play(Put(Project(team="t", number=7, name="x")).steps(context()), {})
        assert call.params["ConditionExpression"] == (
            "(attribute_not_exists (#0) OR (#1 = :0 OR (attribute_exists (#0) AND attribute_not_exists (#1))))"
        )


class TestDelete:
    def test_it_sends_one_guarded_delete(self) -> None:
        """A delete is one DeleteItem where nothing or our own item stands; it gives the old entity."""
        old, (call,) = play(Delete(AT).steps(context()), {"Attributes": user_item()})
        assert old == ANN
        assert call.method == "delete_item"
        assert call.params == {
            "TableName": NAME,
            "Key": KEY,
            "ReturnValues": "ALL_OLD",
            "ConditionExpression": "(attribute_not_exists (#0) OR (#1 = :0 OR #1 = :1))",
            "ExpressionAttributeNames": {"#0": "PK", "#1": "_et"},
            "ExpressionAttributeValues": {":0": {"S": "user"}, ":1": {"S": "customer"}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def test_nothing_there_gives_none(self) -> None:
        """Deleting what is not there is no error."""
        assert play(Delete(AT).steps(context()), {})[0] is None

    def test_another_entitys_item_stays(self) -> None:
        """Another's item at the key is ForeignItem."""
        with pytest.raises(ForeignItem):
            play(Delete(AT).steps(context()), condition_failed(user_item(_et="admin")))

    def test_a_condition_that_does_not_hold(self) -> None:
        """`when` that does not hold is ConditionFailed, with the entity as it stands, or None where nothing does."""
        with pytest.raises(ConditionFailed) as caught:
            play(Delete(AT, User.name == "Bob").steps(context()), condition_failed(user_item()))
        assert caught.value.current == ANN
        with pytest.raises(ConditionFailed) as caught:
            play(Delete(AT, User.name == "Bob").steps(context()), condition_failed(), {})
        assert caught.value.current is None

    def test_a_number_leaves_a_tombstone(self) -> None:
        """What is numbered by its sort key is replaced by a tombstone: key, tag `!gone` and the time."""
        ref = Order.at(user_id="u1", order_id=7)
        old, (call,) = play(Delete(ref).steps(context()), {"Attributes": order_item(7)})
        assert old == Order(user_id="u1", order_id=7, placed_at=PLACED)
        assert call.method == "put_item"
        assert call.params == {
            "TableName": NAME,
            "Item": {**tombstone(7), "_w": {"S": "id-1"}},  # 2026-01-02T03:04:05Z is 1767323045
            "ReturnValues": "ALL_OLD",
            "ConditionExpression": "#0 = :0",
            "ExpressionAttributeNames": {"#0": "_et"},
            "ExpressionAttributeValues": {":0": {"S": "order"}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    @pytest.mark.parametrize("there", [None, tombstone(7)])
    def test_no_tombstone_where_nothing_is(self, there: dict[str, dict[str, str]] | None) -> None:
        """Deleting a number that is not there, or is deleted already, gives None and buries nothing."""
        ref = Order.at(user_id="u1", order_id=7)
        answers: list[Any] = [condition_failed(there)] if there else [condition_failed(), {}]
        assert play(Delete(ref).steps(context()), *answers)[0] is None

    def test_a_lost_reply_leaves_it_unknown(self) -> None:
        """After a lost reply a refused delete cannot tell what it deleted."""
        with pytest.raises(OutcomeUnknown):
            play(Delete(Order.at(user_id="u1", order_id=7)).steps(context()), lost(), condition_failed(tombstone(7)))

    def test_reuse_allowed_deletes_for_real(self) -> None:
        """With `reuse="allow"` a delete is a DeleteItem."""
        item = {"pk": {"S": "#TEAM#t"}, "sk": {"N": "7"}, "name": {"S": "x"}}
        old, (call,) = play(Delete(Project.at(team="t", number=7)).steps(context()), {"Attributes": item})
        assert call.method == "delete_item"
        assert old == Project(team="t", number=7, name="x")


def test_what_is_stored_is_what_comes_back() -> None:
    """An entity that was created equals the one read from the item that was sent."""
    made, (call,) = play(Create(evolve(ANN, email="a@b.c", visits=3)).steps(context()), {})
    assert from_item(User, call.params["Item"]) == made
