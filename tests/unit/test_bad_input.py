"""Bad input: one coded error for each, which says what was given, what was wanted and how to mend it; nothing is sent.

Where only the answer can tell (a foreign item, a table that is missing or of another shape), one request is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from singletable.aio import AsyncStore
from singletable.entity import Entity
from singletable.errors import (
    ConfigurationError,
    FieldValueError,
    ForeignItem,
    ItemTooLarge,
    KeyPartError,
    KeyTooLong,
    MissingPart,
    PartHole,
    QueryError,
    SingleTableError,
    TableMismatch,
    TableMissing,
    TemplateError,
    UnknownField,
    UnknownPart,
    Unreachable,
    UsageError,
)
from singletable.fields import Field
from singletable.patterns import Key
from singletable.schema import Table
from singletable.store import Store
from tests.unit.operations.shop import PLACED, Invoice, Order, Region, User, shop, user_item

ANN = User(user_id="u1", name="Ann")


class Silent:
    """A client that fails on any call: nothing may be sent."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was sent")


class Answering:
    """A client that answers every call from a table of canned answers, and counts them."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.sent: list[str] = []
        self.meta = self
        self.endpoint_url = "http://engine.test"

    def __getattr__(self, name: str) -> Any:
        def answer(**_: Any) -> Any:
            self.sent.append(name)
            found = self.answers[name]
            if isinstance(found, Exception):
                raise found
            return found

        return answer


@pytest.fixture
def store() -> Store:
    """Give a store whose client fails on any call."""
    return Store(shop, client=Silent())


def untyped(value: Any) -> Any:
    """Hide a value's type from the checkers, as a caller without them would."""
    return value


class Reading(Entity, table=shop, tag="reading"):
    sensor: Field[str]
    value: Field[Decimal]
    grade: Field[float] = Field(default=0.0)

    key = Key(pk="#SENSOR#{sensor}", sk="#VALUE#{value}")


LONG = "é" * 1100
"""2,200 bytes of UTF-8 in 1,100 characters."""

KEYS: list[tuple[str, Callable[[Store], object], type[SingleTableError], str]] = [
    ("no partition part", lambda s: s.query(Order.by_status(status="PAID")), MissingPart, "'user_id': given nothing"),
    ("no part", lambda s: s.get(User.at()), MissingPart, "'user_id': given nothing"),
    ("no sort key part", lambda s: s.get(Order.at(user_id="u1")), MissingPart, "'order_id': given nothing"),
    ("None in a query", lambda s: s.query(Order.key(user_id=None)), MissingPart, "'user_id': given None"),
    ("None in a reference", lambda s: s.get(User.at(user_id=None)), MissingPart, "'user_id': given None"),
    (
        "None in a sort key part",
        lambda s: s.count(Order.key(user_id="u1", order_id=None)),
        MissingPart,
        "'order_id': given None",
    ),
    (
        "None in a range",
        lambda s: s.count(Order.key(user_id="u1").gte(order_id=None)),
        MissingPart,
        "'order_id': given None",
    ),
    (
        "None in a stored key",
        lambda s: s.create(User(user_id=untyped(None), name="A")),
        SingleTableError,
        "'User.user_id'",
    ),
    ("unknown name in a query", lambda s: s.query(Order.key(user_di="u1")), UnknownPart, "did you mean 'user_id'?"),
    ("unknown name in a reference", lambda s: s.get(User.at(userid="u1")), UnknownPart, "did you mean 'user_id'?"),
    (
        "unknown name in a range",
        lambda s: s.query(Order.key(user_id="u1").gte(orderid=7)),
        UnknownPart,
        "did you mean 'order_id'?",
    ),
    (
        "a hole",
        lambda s: s.query(Order.by_status(user_id="u1", placed_at=PLACED)),
        PartHole,
        "'status'",
    ),
    (
        "a hole in a range",
        lambda s: s.query(Order.by_status(user_id="u1").gte(placed_at=PLACED)),
        PartHole,
        "'status'",
    ),
    ("empty text", lambda s: s.get(User.at(user_id="")), KeyPartError, "'user_id': given empty str"),
    ("empty text in a query", lambda s: s.count(User.key(user_id="")), KeyPartError, "'user_id': given empty str"),
    ("empty text in an entity", lambda s: s.put(User(user_id="", name="A")), KeyPartError, "given empty str"),
    (
        "empty text in a path",
        lambda s: s.create(Region(country="CN", path=("a", ""))),
        KeyPartError,
        "'path': given empty str",
    ),
    ("a number as text", lambda s: s.get(Order.at(user_id="u1", order_id="7")), KeyPartError, "'order_id': given str"),
    (
        "a bool as number",
        lambda s: s.get(Order.at(user_id="u1", order_id=True)),
        KeyPartError,
        "'order_id': given bool",
    ),
    ("a float in a key", lambda s: s.get(Reading.at(sensor="s", value=1.5)), KeyPartError, "'value': given float"),
    (
        "NaN in a key",
        lambda s: s.get(Reading.at(sensor="s", value=Decimal("NaN"))),
        KeyPartError,
        "'value'",
    ),
    (
        "a naive datetime in a key",
        lambda s: s.count(Order.by_status(user_id="u1", status="PAID", placed_at=datetime(2026, 1, 1))),
        KeyPartError,
        "'placed_at': given naive datetime",
    ),
    ("two ranges", lambda s: s.query(Order.key(user_id="u1").gt(order_id=1).gte(order_id=2)), QueryError, "one range"),
]


@pytest.mark.parametrize(("act", "error", "words"), [case[1:] for case in KEYS], ids=[case[0] for case in KEYS])
def test_keys(store: Store, act: Callable[[Store], object], error: type[SingleTableError], words: str) -> None:
    """A value that cannot stand in a key is refused, the part named, before anything is sent."""
    with pytest.raises(error) as caught:
        act(store)
    assert caught.value.code != "ST0000"
    assert words in str(caught.value)


def test_a_key_error_says_it_all(store: Store) -> None:
    """A key part's error has the part, what was given and what was wanted as attributes, and never the value."""
    with pytest.raises(KeyPartError) as caught:
        store.get(Order.at(user_id="u1", order_id="secret-7"))
    error = caught.value
    assert (error.part, error.given, error.wanted) == ("order_id", "str", "int")
    assert "secret-7" not in str(error)


LONG_KEYS: list[Callable[[Store], object]] = [
    lambda s: s.get(User.at(user_id=LONG)),
    lambda s: s.count(User.key(user_id=LONG)),
    lambda s: s.create(User(user_id=LONG, name="A")),
]


@pytest.mark.parametrize("act", LONG_KEYS)
def test_a_key_too_long(store: Store, act: Callable[[Store], object]) -> None:
    """The longest part, the bytes there are (6 of the literal, 2,200 of the value) and the bytes allowed are named."""
    with pytest.raises(KeyTooLong, match=r"'user_id': given a key of 2206 bytes, wanted at most 2048") as caught:
        act(store)
    assert (caught.value.size, caught.value.limit, caught.value.part) == (2206, 2048, "user_id")


def test_a_sort_key_too_long(store: Store) -> None:
    """A sort key has 1,023 bytes at most: 7 of the label, 1 of a delimiter and 1,016 of the name are one too many."""
    store_ok = Store(shop, client=Answering(get_item={}))
    assert store_ok.get(Region.at(country="CN", path=("x" * 1015,))) is None
    with pytest.raises(KeyTooLong) as caught:
        store.get(Region.at(country="CN", path=("x" * 1016,)))
    assert (caught.value.part, caught.value.size, caught.value.limit) == ("path", 1024, 1023)


VALUES: list[tuple[str, Callable[[Store], object], str, str]] = [
    (
        "naive datetime",
        lambda s: s.create(Order(user_id="u1", placed_at=datetime(2026, 1, 1))),
        "placed_at",
        "a naive datetime",
    ),
    ("NaN", lambda s: s.create(Reading(sensor="s", value=Decimal("NaN"))), "value", "a NaN or an infinity"),
    (
        "infinity",
        lambda s: s.create(Reading(sensor="s", value=Decimal(1), grade=float("inf"))),
        "grade",
        "a NaN or an infinity",
    ),
    ("bool for a number", lambda s: s.create(Invoice(total=True)), "total", "bool"),
    ("bool in a put", lambda s: s.put(User(user_id="u1", name="A", visits=True)), "visits", "bool"),
    ("bool in a batch", lambda s: s.put_many([User(user_id="u1", name="A", visits=True)]), "visits", "bool"),
    ("bool in an update", lambda s: s.update(User.at(user_id="u1"), {"visits": True}), "visits", "bool"),
    ("None where it must be there", lambda s: s.create(User(user_id="u1", name=untyped(None))), "name", "None"),
    ("None in an update", lambda s: s.update(User.at(user_id="u1"), {"name": None}), "name", "None"),
    ("number for text", lambda s: s.create(User(user_id="u1", name=untyped(7))), "name", "int"),
    ("float for Decimal", lambda s: s.create(Reading(sensor="s", value=untyped(1.5))), "value", "float"),
    (
        "39 digits",
        lambda s: s.create(User(user_id="u1", name="A", visits=10**38 + 1)),
        "visits",
        "an int of more than 38 significant digits",
    ),
    ("in a condition", lambda s: s.delete(User.at(user_id="u1"), when=User.visits == True), "visits", "bool"),  # noqa: E712 - the mistake itself
]


@pytest.mark.parametrize(("act", "field", "given"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES])
def test_values(store: Store, act: Callable[[Store], object], field: str, given: str) -> None:
    """A value that its field cannot hold is refused, the field named, before anything is sent."""
    with pytest.raises(FieldValueError) as caught:
        act(store)
    error = caught.value
    assert (error.code, error.field, error.given) == ("ST3001", field, given)
    assert error.wanted
    assert error.wanted in str(error)


def test_a_float_field_cannot_stand_in_a_key() -> None:
    """A key template with a float is refused where the class is declared."""
    table = Table("floats")
    with pytest.raises(TemplateError, match="float"):

        class Measure(Entity, table=table, tag="measure"):  # pyright: ignore[reportUnusedClass]
            value: Field[float]

            key = Key(pk="#MEASURE#{value}", sk="#A")


def test_an_item_over_400_kb(store: Store) -> None:
    """An item of more than 409,600 bytes is refused, its size named: 70 of names and other values, and the text."""
    fixed = "PK" + "#USER#u1" + "SK" + "#PROFILE" + "_et" + "user" + "user_id" + "u1" + "name" + "visits"
    room = 409_600 - len(fixed) - 1 - len("_c") - 16  # the number 0 has one byte; the create id is sixteen characters
    sent = Answering(put_item={})
    Store(shop, client=sent).create(User(user_id="u1", name="x" * room))
    assert sent.sent == ["put_item"]
    with pytest.raises(ItemTooLarge) as caught:
        store.create(User(user_id="u1", name="x" * (room + 1)))
    assert (caught.value.size, caught.value.limit) == (409_601, 409_600)
    assert caught.value.hint


CALLS: list[tuple[str, Callable[[Store], object], type[SingleTableError]]] = [
    ("no change", lambda s: s.update(User.at(user_id="u1")), UsageError),
    ("unknown field", lambda s: s.update(User.at(user_id="u1"), {"nmae": "A"}), UnknownField),
    ("a dict for an entity", lambda s: s.create(untyped({"user_id": "u1"})), UsageError),
    ("text for a reference", lambda s: s.get(untyped("u1")), UsageError),
    ("a key for a query", lambda s: s.query(untyped(User.key)), UsageError),
    ("two entities at one key", lambda s: s.put_many([ANN, ANN]), UsageError),
    ("a number brought along", lambda s: s.create(Order(user_id="u1", order_id=7, placed_at=PLACED)), UsageError),
    ("strong reading of an index", lambda s: s.query(User.by_email(email="a").consistent()), QueryError),
]


@pytest.mark.parametrize(("act", "error"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_calls(store: Store, act: Callable[[Store], object], error: type[SingleTableError]) -> None:
    """A call that cannot mean anything is refused, with a hint, before anything is sent."""
    with pytest.raises(error) as caught:
        act(store)
    assert caught.value.hint


REGION_AT = Region.at(country="C", path=("a",))

WRONG: list[tuple[str, Callable[[Store], object], str, str]] = [
    ("first of a reference", lambda s: s.first(untyped(User.at(user_id="u1"))), "Ref", "User.key(user_id=...)"),
    ("first of nothing", lambda s: s.first(untyped(None)), "None", ".key("),
    ("count of a reference", lambda s: s.count(untyped(REGION_AT)), "Ref", "Region.key(country=...)"),
    ("query of a class", lambda s: s.query(untyped(Region)), "the class Region", "Region.key(country=...)"),
    ("query of an entity", lambda s: s.query(untyped(ANN)), "User", "User.key(user_id=...)"),
    ("get of an entity", lambda s: s.get(untyped(ANN)), "User", "User.at(user_id=...)"),
    ("get of a class", lambda s: s.get(untyped(Order)), "the class Order", "Order.at(user_id=..., order_id=...)"),
    ("get of a query", lambda s: s.get(untyped(Region.key(country="C"))), "Query", "Region.at(country=..., path=...)"),
    ("one of a class", lambda s: s.one(untyped(Order)), "the class Order", "Order.at(user_id=..., order_id=...)"),
    ("delete of a class", lambda s: s.delete(untyped(User)), "the class User", "User.at(user_id=...)"),
    ("delete of text", lambda s: s.delete(untyped("u1")), "str", ".at("),
    ("update of a class", lambda s: s.update(untyped(User), {"name": "B"}), "the class User", "User.at(user_id=...)"),
    ("create of a class", lambda s: s.create(untyped(Region)), "the class Region", "Region(...)"),
    ("put of a reference", lambda s: s.put(untyped(REGION_AT)), "Ref", "Region(...)"),
    ("put_many of an entity", lambda s: s.put_many(untyped(ANN)), "User", "iterable"),
    ("put_many of nothing", lambda s: s.put_many(untyped(None)), "None", "iterable"),
    ("put_many of a class", lambda s: s.put_many(untyped(User)), "the class User", "iterable"),
    ("put_many with a class", lambda s: s.put_many([ANN, untyped(Region)]), "the class Region", "Region(...)"),
    ("create_many of an entity", lambda s: s.create_many(untyped(ANN)), "User", "iterable"),
    ("delete_many of a reference", lambda s: s.delete_many(untyped(REGION_AT)), "Ref", "iterable"),
    ("get_many of a class", lambda s: s.get_many(untyped(Region)), "the class Region", "Region.at("),
    ("scan of an entity", lambda s: s.scan(untyped(ANN)), "User", "store.scan(User)"),
    ("consistent in get_many", lambda s: s.get_many(REGION_AT, consistent=untyped("x")), "str", "half"),
    ("consistent in scan", lambda s: s.scan(User, consistent=untyped("x")), "str", "half"),
    ("consistent in get", lambda s: s.get(User.at(user_id="u"), consistent=untyped("x")), "str", "half"),
    ("consistent in one", lambda s: s.one(User.at(user_id="u"), consistent=untyped(1)), "int", "half"),
    ("text for a table", lambda _: Store(untyped("tracker")), "str", 'Table("app")'),
    ("an entity class for a table", lambda _: Store(untyped(User)), "the class User", "Table that User is declared"),
    ("text for a local table", lambda _: Store.local(untyped("x")), "str", 'Table("app")'),
    ("text for a table of loops", lambda _: AsyncStore(untyped("x")), "str", 'Table("app")'),
    ("text for a local table of loops", lambda _: AsyncStore.local(untyped("x")), "str", 'Table("app")'),
    ("a number for a name", lambda _: Store(shop, untyped(7)), "int", "leave it out"),
    ("no name", lambda _: Store(shop, ""), "empty str", "leave it out"),
]


@pytest.mark.parametrize(("act", "given", "hint"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_a_verb_is_given_the_wrong_thing(store: Store, act: Callable[[Store], object], given: str, hint: str) -> None:
    """What a verb cannot work with is described, and the hint is written for the class in hand; nothing is sent."""
    with pytest.raises(UsageError, match=f"given {given}, wanted") as caught:
        act(store)
    assert hint in caught.value.hint


def test_the_table_of_each_class_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of many entities of two classes checks two of them, not all."""
    store, looked = Store(shop, client=Answering(batch_write_item={})), list[str]()

    def look(kind: type) -> None:
        looked.append(kind.__name__)

    monkeypatch.setattr(store._verbs.handed, "check", look)
    users = [User(user_id=f"u{number}", name="A") for number in range(10)]
    store.put_many([*users, Region(country="CN", path=("a",))])
    assert looked == ["User", "Region"]


def test_another_tables_entity(store: Store) -> None:
    """An entity, a reference and a query of another table are refused before anything is sent."""
    table = Table("elsewhere")

    class Stranger(Entity, table=table, tag="stranger"):
        name: Field[str]

        key = Key(pk="#STRANGER#{name}", sk="#A")

    acts: list[Callable[[], object]] = [
        lambda: store.create(Stranger(name="x")),
        lambda: store.get(Stranger.at(name="x")),
        lambda: store.query(Stranger.key(name="x")),
        lambda: store.put_many([Stranger(name="x")]),
    ]
    for act in acts:
        with pytest.raises(UsageError, match="'elsewhere'"):
            act()


# What only an answer, or the lack of one, can tell -------------------------------------------------------------------


def test_a_foreign_item() -> None:
    """Another entity's item at the key is named by its tag, after one request."""
    client = Answering(get_item={"Item": user_item(_et="admin")})
    with pytest.raises(ForeignItem, match="'admin'") as caught:
        Store(shop, client=client).get(User.at(user_id="u1"))
    assert (caught.value.found, client.sent) == ("admin", ["get_item"])
    assert caught.value.hint


def refusal(code: str) -> Exception:
    """Make botocore's error of a name."""
    from botocore.exceptions import ClientError

    return ClientError({"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": untyped({})}, "Any")


def test_a_missing_table() -> None:
    """A table that is not there is named, with the way to make it."""
    client = Answering(get_item=refusal("ResourceNotFoundException"))
    with pytest.raises(TableMissing, match="'mine'") as caught:
        Store(shop, "mine", client=client).get(User.at(user_id="u1"))
    assert caught.value.table == "mine"
    assert "create_table" in caught.value.hint
    assert client.sent == ["get_item"]


def test_a_table_of_another_shape() -> None:
    """A table that exists with other keys is described by its differences."""
    described = {
        "Table": {
            "TableStatus": "ACTIVE",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        }
    }
    client = Answering(create_table=refusal("ResourceInUseException"), describe_table=described)
    with pytest.raises(TableMismatch) as caught:
        Store(shop, client=client).create_table()
    assert caught.value.differences[0] == "the table has the partition key 'id' (N), declared 'PK' (S)"
    assert caught.value.hint


def test_no_region() -> None:
    """Without a region no client can be made; the error says where one is set."""
    with pytest.raises(ConfigurationError, match="no AWS region") as caught:
        Store(shop).get(User.at(user_id="u1"))
    assert "AWS_DEFAULT_REGION" in caught.value.hint


def test_no_credentials() -> None:
    """Without credentials no request can be signed; the error says where they are set."""
    with pytest.raises(ConfigurationError, match="no AWS credentials") as caught:
        Store(shop, region="eu-central-1").get(User.at(user_id="u1"))
    assert "AWS_ACCESS_KEY_ID" in caught.value.hint


def test_a_refused_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody listens the endpoint is named, after the attempts that are allowed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    url = f"http://127.0.0.1:{port}"
    store = Store(shop, endpoint_url=url, region="eu-central-1")
    with pytest.raises(Unreachable, match=f"{url} after 2 attempts") as caught:
        store.create(ANN)
    assert caught.value.endpoint == url
    assert isinstance(caught.value, ConnectionError)


def test_a_client_with_more() -> None:
    """A client and an endpoint, session or region together are refused: the client has its own."""
    with pytest.raises(ConfigurationError):
        Store(shop, client=Silent(), region="eu-central-1")
