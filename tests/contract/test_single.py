"""Reading, creating, putting and deleting one item."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import AlreadyExists, ConditionFailed, NotFound, UsageError, evolve
from singletable.operations.create import Create
from singletable.operations.get import Get
from tests.contract.behind import everything, item_at
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, OrderLine, Region, User, app, day, order

ANN = User(user_id="u1", name="Ann")


def test_nothing_there_is_none_or_not_found(backend: MakeStore) -> None:
    """Get answers None where nothing stands, one raises NotFound."""
    store = backend(app)
    assert store.get(User.at(user_id="u1")) is None
    assert store.get(User.at(user_id="u1"), consistent=True) is None
    with pytest.raises(NotFound, match="User"):
        store.one(User.at(user_id="u1"))


def test_what_is_created_is_read_back(backend: MakeStore) -> None:
    """Get and one give the entity that create gave, weakly and strongly read."""
    store = backend(app)
    created = store.create(User(user_id="u1", name="Ann", email="a@example.org"))
    assert created == User(user_id="u1", name="Ann", email="a@example.org")
    at = User.at(user_id="u1")
    assert store.get(at) == store.get(at, consistent=True) == created
    assert store.one(at) == store.one(at, consistent=True) == created


def test_an_item_is_stored_as_the_key_format_says(backend: MakeStore) -> None:
    """Tag, fields, keys, index keys and the create id are what is stored, and nothing else."""
    store = backend(app)
    store.create(order(on=5))
    item = item_at(store, Order.at(user_id="u1", order_id=1))
    assert item is not None
    assert len(item.pop("_c")["S"]) == 16
    assert item == {
        "PK": {"S": "#USER#u1"},
        "SK": {"S": "#ORDER#0000000000000000001"},
        "GSI1PK": {"S": "#ORDERS#u1"},
        "GSI1SK": {"S": "#PENDING#2026-12-05T12:00:00.000000Z"},
        "_et": {"S": "order"},
        "user_id": {"S": "u1"},
        "order_id": {"N": "1"},
        "status": {"S": "PENDING"},
        "placed_at": {"S": "2026-12-05T12:00:00.000000Z"},
    }


def test_create_never_overwrites(backend: MakeStore) -> None:
    """A second create on one key raises AlreadyExists with the entity there, and changes nothing."""
    store = backend(app)
    store.create(ANN)
    with pytest.raises(AlreadyExists) as caught:
        store.create(User(user_id="u1", name="Bob"))
    assert caught.value.existing == ANN
    assert store.one(User.at(user_id="u1")) == ANN
    assert len(everything(store)) == 1


def test_a_loaded_entity_cannot_be_created_again(backend: MakeStore) -> None:
    """Create of what create returned raises, although it carries its own create id."""
    store = backend(app)
    ann = store.create(ANN)
    with pytest.raises(AlreadyExists):
        store.create(ann)


def test_put_stores_and_replaces_its_own_kind(backend: MakeStore) -> None:
    """Put stores where nothing stands, and replaces the whole item where its own kind does."""
    store = backend(app)
    assert store.put(User(user_id="u1", name="Ann", email="a@example.org")).email == "a@example.org"
    assert store.put(ANN) == ANN
    assert store.one(User.at(user_id="u1")) == ANN
    assert store.query(User.by_email(email="a@example.org")).all() == []


def test_put_with_a_condition_holds_or_says_what_stands_there(backend: MakeStore) -> None:
    """put(when=) replaces where the condition holds; else ConditionFailed carries the stored entity."""
    store = backend(app)
    store.create(ANN)
    assert store.put(User(user_id="u1", name="Bob"), when=User.name == "Ann").name == "Bob"
    with pytest.raises(ConditionFailed) as caught:
        store.put(User(user_id="u1", name="Cy"), when=User.name == "Ann")
    assert caught.value.current == User(user_id="u1", name="Bob")
    assert store.one(User.at(user_id="u1")).name == "Bob"


def test_put_with_a_condition_on_nothing(backend: MakeStore) -> None:
    """A condition on a value fails where nothing stands, with current None; one of absence holds."""
    store = backend(app)
    with pytest.raises(ConditionFailed) as caught:
        store.put(ANN, when=User.name == "Ann")
    assert caught.value.current is None
    assert store.put(ANN, when=User.name.does_not_exist()) == ANN
    with pytest.raises(ConditionFailed):
        store.put(ANN, when=User.name.does_not_exist())


def test_delete_gives_the_old_entity_once(backend: MakeStore) -> None:
    """Delete gives what stood there, then None; reference and entity name the same item."""
    store = backend(app)
    store.create(ANN)
    assert store.delete(User.at(user_id="u1")) == ANN
    assert store.delete(User.at(user_id="u1")) is None
    assert store.get(User.at(user_id="u1")) is None
    store.create(ANN)
    assert store.delete(ANN) == ANN
    assert everything(store) == []


def test_delete_with_a_condition(backend: MakeStore) -> None:
    """delete(when=) removes where the condition holds; else ConditionFailed carries what stands there."""
    store = backend(app)
    store.create(ANN)
    with pytest.raises(ConditionFailed) as caught:
        store.delete(ANN, when=User.name == "Bob")
    assert caught.value.current == ANN
    assert store.delete(ANN, when=User.name.startswith("A")) == ANN
    with pytest.raises(ConditionFailed) as caught:
        store.delete(ANN, when=User.name == "Ann")
    assert caught.value.current is None


def test_deleting_a_parent_leaves_its_children(backend: MakeStore) -> None:
    """Delete removes one item, not what stands below it."""
    store = backend(app)
    first = store.create(order())
    line = store.create(OrderLine(user_id="u1", order_id=1, line_no=1, sku="A"))
    store.delete(first)
    assert store.query(OrderLine.key(user_id="u1", order_id=1)).all() == [line]


def test_an_entity_without_number_cannot_be_deleted(backend: MakeStore) -> None:
    """Delete of an entity whose number is not drawn names the missing part, and deletes nothing."""
    store = backend(app)
    store.create(order())
    with pytest.raises(LookupError, match="order_id"):
        store.delete(order())
    assert store.count(Order.key(user_id="u1")) == 1


def test_every_kind_of_value_comes_back_exactly(backend: MakeStore) -> None:
    """An empty path, an absent value, a set and a moment of the last microsecond are what they were."""
    store = backend(app)
    root = store.create(Region(country="CN", path=(), name="China"))
    late = store.create(Order(user_id="u1", placed_at=day(31) - timedelta(microseconds=1)))
    match = store.create(Match(league="L", season=-1, round_no=0, home="x", labels={"a", "b"}))
    assert store.one(Region.at(country="CN", path=())) == root
    assert store.one(Order.at(user_id="u1", order_id=1)).placed_at == late.placed_at
    assert store.one(Match.at(league="L", season=-1, round_no=0, home="x")) == match
    assert (match.labels, match.note, match.goals) == ({"a", "b"}, None, 0)


def test_an_evolved_entity_is_a_put_away(backend: MakeStore) -> None:
    """Evolve changes nothing stored; put does."""
    store = backend(app)
    ann = store.create(ANN)
    anna = evolve(ann, name="Anna")
    assert store.one(User.at(user_id="u1")) == ann
    assert store.put(anna) == anna == store.one(User.at(user_id="u1"))


def test_an_operation_is_a_value_that_can_be_run_again(backend: MakeStore) -> None:
    """Operations run as the verbs do, as often as one likes; making one sends nothing."""
    store = backend(app)
    create, get = Create(ANN), Get(User.at(user_id="u1"), consistent=True)
    assert store.run(get) is None
    assert store.run(create) == ANN
    assert (store.run(get), store.run(get)) == (ANN, ANN)
    with pytest.raises(AlreadyExists):
        store.run(create)


def test_what_is_no_entity_of_the_table_is_refused(backend: MakeStore) -> None:
    """A verb that is given something else says what it was given."""
    store = backend(app)
    with pytest.raises(UsageError, match="given dict, wanted an entity"):
        store.create({"user_id": "u1"})  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="given str, wanted a reference"):
        store.get("u1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="wanted a query"):
        store.count(User.at(user_id="u1"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
