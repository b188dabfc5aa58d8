"""Features together: values that expire, transactions that pass values on, kinds that share a key, tombstones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pynamodb.attributes import UnicodeAttribute

from singletable import (
    AutoIncrement,
    Create,
    Entity,
    ExpiresAt,
    Field,
    ForeignItem,
    Key,
    Put,
    Store,
    Table,
    TransactionFailed,
    UniqueViolation,
    Unprocessed,
    Update,
    UsageError,
    evolve,
    unique_ref,
)
from tests.contract.behind import sibling
from tests.contract.conftest import MakeStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


class Lower(UnicodeAttribute):
    """Stores text in lower case."""

    def serialize(self, value: str) -> str | None:
        """Write the text as it is stored."""
        stored: str | None = super().serialize(value.lower())
        return stored


lasting = Table("lasting", ttl="expires_at")


class Kind(Entity, table=lasting, abstract=True):
    """What stands at one key, whichever kind it is."""

    item_id: Field[str]
    email: Field[str | None] = Field(default=None, unique=True)
    expires_at: Field[datetime | None] = ExpiresAt()

    key = Key(pk="#ITEM#{item_id}", sk="#ITEM")


class Red(Kind, tag="red"):
    """A kind."""


class Blue(Kind, tag="blue"):
    """Another kind."""


class Plain(Entity, table=lasting, abstract=True):
    """Kinds without anything unique that share a key."""

    item_id: Field[str]

    key = Key(pk="#PLAIN#{item_id}", sk="#PLAIN")


class Square(Plain, tag="square"):
    """A kind."""


class Circle(Plain, tag="circle"):
    """Another kind."""


class Login(Entity, table=lasting, tag="login"):
    """Someone whose name is stored in another way than it is given."""

    login_id: Field[str]
    name: Field[str] = Field(unique=True, codec=Lower())

    key = Key(pk="#LOGIN#{login_id}", sk="#LOGIN")


tickets = Table("tickets")


class Ticket(Entity, table=tickets, tag="ticket"):
    """Numbered by sort key, and unique in something."""

    queue: Field[str]
    number: Field[int] = AutoIncrement()
    slug: Field[str | None] = Field(default=None, unique=True)

    key = Key(pk="#QUEUE#{queue}", sk="#TICKET#{number}")


@pytest.fixture
def times() -> list[datetime]:
    """Give the moments of the store's clock: the last one is now."""
    return [NOW]


def test_a_guard_lasts_as_long_as_its_item_whatever_the_writer_knew(
    transacting: MakeStore, times: list[datetime]
) -> None:
    """An entity read before its item was given more time moves a guard with that time, not with the one it knew."""
    store = sibling(transacting(lasting), clock=lambda: times[-1])
    old = store.create(Red(item_id="1", email="a", expires_at=NOW + DAY))
    store.update(Red.at(item_id="1"), Red.expires_at.set(NOW + 30 * DAY))
    store.update(old, Red.email.set("b"))
    times.append(NOW + 2 * DAY)
    with pytest.raises(UniqueViolation):
        store.create(Red(item_id="2", email="b"))
    assert store.one(unique_ref(Red, email="b")).item_id == "1"


def test_a_value_of_what_expired_is_nobodys(transacting: MakeStore, times: list[datetime]) -> None:
    """A guard that is not swept yet names no owner, though another kind stands at the key it names."""
    store = sibling(transacting(lasting), clock=lambda: times[-1])
    store.create(Red(item_id="1", email="a", expires_at=NOW + DAY))
    times.append(NOW + 2 * DAY)
    store.create(Blue(item_id="1", email="a"))
    assert store.get(unique_ref(Red, email="a")) is None
    assert store.create(Red(item_id="2", email="a")) == store.one(unique_ref(Red, email="a"))


def test_many_spare_other_kinds_at_a_shared_key(transacting: MakeStore) -> None:
    """A batch has no condition, so deletes of kinds that share a key are sent singly, and puts are refused."""
    store = transacting(lasting)
    square = store.create(Square(item_id="1"))
    with pytest.raises(Unprocessed) as caught:
        store.delete_many([Circle.at(item_id="1")])
    assert [type(cause) for cause in caught.value.causes] == [ForeignItem]
    with pytest.raises(UsageError, match="shares its primary key"):
        store.put_many([Circle(item_id="1")])
    assert store.get(Plain.at(item_id="1")) == square


def test_a_transaction_passes_values_on(transacting: MakeStore) -> None:
    """A value that a put or a stale entity frees in the same transaction can be taken there; a taken one cannot."""
    store = transacting(lasting)
    one, two = store.create(Red(item_id="1", email="a")), store.create(Red(item_id="2", email="b"))
    made = store.transact(Put(evolve(one, email="c")), Create(Red(item_id="3", email="a")))
    assert [each.email for each in made] == ["c", "a"]
    store.transact(Update(one, Red.email.set("b")), Update(two, Red.email.set("c")))
    assert [store.one(unique_ref(Red, email=email)).item_id for email in "abc"] == ["3", "1", "2"]
    with pytest.raises(TransactionFailed) as caught:
        store.transact(Put(Red(item_id="1", email="d")), Create(Red(item_id="4", email="a")))
    assert [(error.index, type(error)) for error in caught.value.exceptions] == [(1, UniqueViolation)]
    assert store.get(unique_ref(Red, email="d")) is None


def test_a_tombstone_outlasts_every_delete(transacting: MakeStore) -> None:
    """A second delete of what is gone leaves the tombstone, so that another process draws no number twice."""
    store = transacting(tickets)
    assert store.create(Ticket(queue="q", slug="s")).number == 1
    assert store.delete(Ticket.at(queue="q", number=1)) is not None
    assert store.delete(Ticket.at(queue="q", number=1)) is None
    store.delete_many([Ticket.at(queue="q", number=1)])
    assert sibling(store).create(Ticket(queue="q", slug="s")).number == 2


def test_a_value_is_unique_as_it_is_stored(transacting: MakeStore) -> None:
    """Where a codec stores two values alike, they are one: it is refused, found, changed and freed so."""
    store: Store = transacting(lasting)
    store.create(Login(login_id="1", name="Ann"))
    with pytest.raises(UniqueViolation):
        store.create(Login(login_id="2", name="ANN"))
    assert store.one(unique_ref(Login, name="aNN")).login_id == "1"
    store.update(Login.at(login_id="1"), Login.name.set("BEN"))
    with pytest.raises(UniqueViolation):
        store.create(Login(login_id="2", name="ben"))
    store.delete(Login.at(login_id="1"))
    assert store.create(Login(login_id="2", name="Ben")).name == "ben"
