"""Bad input: one coded error each, which says what was given, what was wanted and how to mend it, and sends nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import boto3
import pytest

from singletable import (
    ConfigurationError,
    Entity,
    Field,
    FieldValueError,
    GlobalIndex,
    ItemTooLarge,
    Key,
    KeyPartError,
    KeyTooLong,
    MissingPart,
    PartHole,
    SingleTableError,
    Store,
    Table,
    UnknownField,
    UnknownPart,
    Unreachable,
    UsageError,
)
from tests.contract.behind import everything
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, Order, Region, User, app, day
from tests.engines import HOST, free_port

by_weight = GlobalIndex("weight", pk="label", sk=("grams", Decimal))
shop = Table("shop", indexes=[by_weight])


class Parcel(Entity, table=shop, tag="parcel"):
    parcel_id: Field[str]
    label: Field[str | None] = Field(default=None)
    grams: Field[Decimal | None] = Field(default=None)
    ratio: Field[float] = Field(default=0.5)
    count: Field[int] = Field(default=0)

    key = Key(pk="#PARCEL#{parcel_id}", sk="#PARCEL")
    heaviest = Key(on=by_weight, pk="{label}", sk="{grams}", raw=True)


class Mute:
    """A client that fails the test as soon as anything is sent."""

    def __getattr__(self, method: str) -> Any:
        raise AssertionError(f"{method} was sent")


@dataclass(frozen=True)
class Case:
    """A call, the error it must raise, and texts that must stand in its message."""

    run: Callable[[Store], object]
    error: type[SingleTableError]
    code: str
    says: tuple[str, ...]


def user(**values: Any) -> User:
    """Make a user with values that no type checker has seen."""
    return User(**{"user_id": "u1", "name": "n", **values})


SECRET = "s3cret"
NO_NUMBER: Any = SECRET

APP: dict[str, Case] = {
    "missing partition part": Case(lambda s: s.get(User.at()), MissingPart, "ST2002", ("'user_id'", "given nothing")),
    "missing sort part": Case(
        lambda s: s.get(Order.at(user_id="u1")), MissingPart, "ST2002", ("'order_id'", "every part of the primary key")
    ),
    "missing partition part of a query": Case(
        lambda s: s.query(Order.key(order_id=1)), MissingPart, "ST2002", ("'user_id'",)
    ),
    "unknown part": Case(
        lambda s: s.get(User.at(user_id="u1", nmae="x")), UnknownPart, "ST2003", ("'nmae'", "known: 'user_id'")
    ),
    "hole": Case(lambda s: s.count(Match.key(league="L", home="x")), PartHole, "ST2004", ("'season'",)),
    "None in a key": Case(lambda s: s.get(User.at(user_id=None)), MissingPart, "ST2002", ("'user_id'", "given None")),
    "None for a field": Case(
        lambda s: s.create(user(name=None)), FieldValueError, "ST3001", ("'User.name'", "given None", "wanted text")
    ),
    "empty text in a key": Case(
        lambda s: s.get(User.at(user_id="")), KeyPartError, "ST2001", ("'user_id'", "given empty str")
    ),
    "empty text in a created key": Case(
        lambda s: s.create(user(user_id="")), KeyPartError, "ST2001", ("'user_id'", "given empty str")
    ),
    "empty text in an index key": Case(
        lambda s: s.create(user(email="")), KeyPartError, "ST2001", ("'email'", "given empty str")
    ),
    "empty text set into an index key": Case(
        lambda s: s.update(User.at(user_id="u1"), User.email.set("")), KeyPartError, "ST2001", ("'email'",)
    ),
    "empty name in a path": Case(
        lambda s: s.put(Region(country="CN", path=("A", ""), name="x")), KeyPartError, "ST2001", ("'path'",)
    ),
    "partition key too long": Case(
        lambda s: s.put(user(user_id="é" * 1022)), KeyTooLong, "ST2005", ("'user_id'", "2050", "2048")
    ),
    "sort key too long": Case(
        lambda s: s.put(Region(country="C", path=("x" * 600, "y" * 415), name="n")),
        KeyTooLong,
        "ST2005",
        ("'path'", "1024", "1023"),
    ),
    "naive datetime": Case(
        lambda s: s.create(Order(user_id="u1", placed_at=datetime(2026, 12, 1))),
        FieldValueError,
        "ST3001",
        ("'Order.placed_at'", "naive", "aware datetime"),
    ),
    "naive datetime in a range": Case(
        lambda s: s.count(Order.by_status(user_id="u1", status="x").gt(placed_at=datetime(2026, 12, 1))),
        KeyPartError,
        "ST2001",
        ("'placed_at'", "naive"),
    ),
    "bool for a number": Case(
        lambda s: s.put(Match(league="L", season=1, round_no=1, home="x", goals=True)),
        FieldValueError,
        "ST3001",
        ("'Match.goals'", "given bool", "int"),
    ),
    "bool in a key": Case(
        lambda s: s.get(Order.at(user_id="u1", order_id=True)), KeyPartError, "ST2001", ("'order_id'", "given bool")
    ),
    "float in a key": Case(
        lambda s: s.get(Order.at(user_id="u1", order_id=1.0)), KeyPartError, "ST2001", ("'order_id'", "given float")
    ),
    "number for text": Case(lambda s: s.get(User.at(user_id=7)), KeyPartError, "ST2001", ("'user_id'", "given int")),
    "text for a number": Case(
        lambda s: s.get(Order.at(user_id="u1", order_id="1")), KeyPartError, "ST2001", ("'order_id'", "given str")
    ),
    "number beyond 64 bits in a key": Case(
        lambda s: s.get(Order.at(user_id="u1", order_id=2**63)), KeyPartError, "ST2001", ("'order_id'", "64 bits")
    ),
    "item too large": Case(
        lambda s: s.put(user(name="x" * 409_600)), ItemTooLarge, "ST3003", ("409600", "User", "split it")
    ),
    "item too large in a batch": Case(
        lambda s: s.put_many([user(), user(user_id="u2", name="x" * 409_600)]), ItemTooLarge, "ST3003", ("409600",)
    ),
    "unknown field of a change": Case(
        lambda s: s.update(User.at(user_id="u1"), {"nam": "x"}), UnknownField, "ST3002", ("'nam'", "did you mean")
    ),
    "None set in a field that needs a value": Case(
        lambda s: s.update(User.at(user_id="u1"), {"name": None}),
        FieldValueError,
        "ST3001",
        ("'User.name'", "given None"),
    ),
    "another table's entity": Case(
        lambda s: s.create(Parcel(parcel_id="p")), UsageError, "ST5001", ("'shop'", "'app'")
    ),
    "value of the wrong type in a condition": Case(
        lambda s: s.count(Match.key(league="L").where(Match.goals == NO_NUMBER)),
        FieldValueError,
        "ST3001",
        ("'Match.goals'", "given str"),
    ),
    "no value is shown": Case(
        lambda s: s.create(user(name=[SECRET])), FieldValueError, "ST3001", ("'User.name'", "given list")
    ),
}


@pytest.mark.parametrize("what", APP)
def test_bad_input_is_named_before_anything_is_sent(what: str) -> None:
    """The error has its code, names the part, and neither sends a request nor shows a value."""
    case = APP[what]
    with pytest.raises(case.error) as caught:
        case.run(Store(app, client=Mute()))
    assert caught.value.code == case.code
    assert type(caught.value) is case.error
    assert all(text in str(caught.value) for text in case.says), str(caught.value)
    assert SECRET not in str(caught.value)


PARCELS: dict[str, Case] = {
    "NaN": Case(lambda s: s.put(_parcel(grams=Decimal("NaN"))), FieldValueError, "ST3001", ("'Parcel.grams'", "NaN")),
    "NaN as a float": Case(
        lambda s: s.put(_parcel(ratio=float("nan"))), FieldValueError, "ST3001", ("'Parcel.ratio'",)
    ),
    "infinity": Case(lambda s: s.put(_parcel(ratio=float("inf"))), FieldValueError, "ST3001", ("'Parcel.ratio'",)),
    "float for an int": Case(
        lambda s: s.put(_parcel(count=1.0)), FieldValueError, "ST3001", ("'Parcel.count'", "float")
    ),
    "float for a Decimal": Case(
        lambda s: s.put(_parcel(grams=1.5)), FieldValueError, "ST3001", ("'Parcel.grams'", "float")
    ),
    "39 digits": Case(lambda s: s.put(_parcel(count=10**38 + 1)), FieldValueError, "ST3001", ("'Parcel.count'", "38")),
    "empty text in a native index key": Case(
        lambda s: s.put(_parcel(label="", grams=Decimal(1))), KeyPartError, "ST2001", ("'label'", "empty str")
    ),
    "NaN in a native range": Case(
        lambda s: s.count(Parcel.heaviest(label="x").gt(grams=Decimal("NaN"))), KeyPartError, "ST2001", ("'grams'",)
    ),
    "float in a native key": Case(
        lambda s: s.count(Parcel.heaviest(label="x", grams=1.5)), KeyPartError, "ST2001", ("'grams'", "float")
    ),
}


@pytest.mark.parametrize("what", PARCELS)
def test_a_bad_number_is_named_before_anything_is_sent(what: str) -> None:
    """What DynamoDB could not hold exactly is refused with its field."""
    case = PARCELS[what]
    with pytest.raises(case.error) as caught:
        case.run(Store(shop, client=Mute()))
    assert type(caught.value) is case.error
    assert caught.value.code == case.code
    assert all(text in str(caught.value) for text in case.says), str(caught.value)


def test_no_region() -> None:
    """Without a region the first verb says so and names the ways to set one."""
    with pytest.raises(ConfigurationError, match="no AWS region") as caught:
        Store(app, session=boto3.Session(aws_access_key_id="x", aws_secret_access_key="y")).get(User.at(user_id="u1"))
    assert caught.value.code == "ST7004"
    assert "AWS_DEFAULT_REGION" in caught.value.hint


def test_no_credentials() -> None:
    """Without credentials the first verb says so, and names the embedded engine as the way without AWS."""
    with pytest.raises(ConfigurationError, match="no AWS credentials") as caught:
        Store(app, region="us-east-1").get(User.at(user_id="u1"))
    assert caught.value.code == "ST7004"
    assert "Store.local" in caught.value.hint


def test_a_client_and_a_place_are_too_much() -> None:
    """A client has its endpoint already: giving both is refused."""
    with pytest.raises(ConfigurationError, match="a client and also"):
        Store(app, client=Mute(), region="us-east-1")


@pytest.mark.parametrize("verb", ["get", "create"])
def test_a_refused_connection(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """Where nobody listens the endpoint is named, for a read and for a write that certainly did not happen."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    url = f"http://{HOST}:{free_port()}"
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="y", region_name="us-east-1")
    store = Store(app, endpoint_url=url, session=session)
    with pytest.raises(Unreachable) as caught:
        store.get(User.at(user_id="u1")) if verb == "get" else store.create(user())
    assert caught.value.code == "ST7005"
    assert caught.value.endpoint == url
    assert url in str(caught.value)
    assert "2 attempts" in str(caught.value)


def test_the_longest_keys_are_stored(backend: MakeStore) -> None:
    """Keys of exactly 2048 and 1023 bytes are stored and read back."""
    store = backend(app)
    long = Region(country="C" * 2039, path=("x" * 600, "y" * 414), name="n")
    assert store.create(long) == store.one(Region.at(country=long.country, path=long.path))


@pytest.mark.parametrize("backend", ["dynoxide"], indirect=True)  # moto refuses items from 405,000 bytes on
def test_the_largest_item_is_stored(backend: MakeStore) -> None:
    """An item of exactly 409,600 bytes, its create id included, is stored; one byte more is refused before."""
    store = backend(app)
    # PK 2 + 8, SK 2 + 8, _et 3 + 4, user_id 7 + 2, the name of name 4, and _c 2 + 16 are 58 bytes.
    large = user(name="x" * (409_600 - 58))
    assert store.create(large) == large
    with pytest.raises(ItemTooLarge) as caught:
        store.put(user(name="x" * (409_600 - 57)))
    assert (caught.value.size, caught.value.limit) == (409_601, 409_600)
    assert len(everything(store)) == 1


def test_a_moment_of_another_zone_is_the_same_moment(backend: MakeStore) -> None:
    """An aware datetime is stored in UTC, and read back as the same moment."""
    store = backend(app)
    order = store.create(Order(user_id="u1", placed_at=day(3).astimezone()))
    assert order.placed_at == day(3)
    assert store.one(Order.at(user_id="u1", order_id=1)).placed_at.tzinfo == UTC


def _parcel(**values: Any) -> Parcel:
    return Parcel(parcel_id="p", **values)
