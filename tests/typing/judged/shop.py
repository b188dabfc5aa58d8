"""A shop as its author declares it: what the other programs here use. Read by the type checkers, never run."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import ClassVar, Self
from uuid import UUID

from singletable import (
    AutoIncrement,
    Collection,
    Entity,
    Field,
    GlobalIndex,
    Key,
    Query,
    Sequence,
    Store,
    Table,
    Ulid,
    Uuid7,
    pattern,
)

gsi1 = GlobalIndex("GSI1")
app = Table("app", indexes=[gsi1])
tickets = Sequence("tickets")


class User(Entity, table=app, tag="user"):
    user_id: Field[str]
    name: Field[str]
    email: Field[str | None] = Field(default=None)

    key = Key(pk="#USER#{user_id}", sk="#PROFILE")
    by_email = Key(on=gsi1, pk="#EMAIL#{email}", sk="#USER")


class Order(Entity, table=app, tag="order"):
    user_id: Field[str]
    order_id: Field[int] = AutoIncrement()
    status: Field[str] = Field(default="PENDING")
    placed_at: Field[datetime]
    total: Field[int] = Field(default=0)
    price: Field[Decimal | None] = Field(default=None)
    tags: Field[set[str]] = Field(default_factory=set)
    lines: Field[list[str]] = Field(default_factory=list, name="l")
    rates: Field[dict[str, Decimal]] = Field(default_factory=dict)
    due: Field[date | None] = Field(default=None, name="d")
    currency: ClassVar[str] = "EUR"

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    by_status = Key(on=gsi1, pk="#ORDERS#{user_id}", sk="#{status}#{placed_at}")

    @classmethod
    @pattern
    def pending(cls, user_id: str) -> Query[Self]:
        """A user's pending orders, newest first."""
        return cls.by_status(user_id=user_id, status="PENDING").descending()

    @classmethod
    @pattern
    def recent(cls, user_id: str, *, since: datetime, most: int = 10) -> Query[Self]:
        """A user's orders of a state since a moment."""
        return cls.by_status(user_id=user_id, status="PAID").gte(placed_at=since).limit(most)


class OrderLine(Entity, table=app, tag="line"):
    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]
    sku: Field[str]

    key = Key(within=Order.key, sk="#LINE#{line_no}")


def is_short(name: str) -> bool:
    return len(name) < 10


class Account(Entity, table=app, tag="account"):
    account_id: Field[str] = Ulid()
    trace: Field[UUID] = Uuid7()
    name: Field[str] = Field(read_only=True, validate=is_short)
    note: Field[str | None] = Field(default=None, hidden=True, sensitive=True, validate=is_short)
    mail: Field[str] = Field(unique=True, name="m")
    tags: Field[set[str]] = Field(default_factory=set, hidden=True, unique=False, validate=len)

    key = Key(pk="#ACCOUNT#{account_id}", sk="#ACCOUNT")


class Numbered(Entity):
    """An abstract base: its fields come before those of the classes below it."""

    number: Field[int] = AutoIncrement(tickets, start=100)
    made: Field[datetime]


class Invoice(Numbered, table=app, tag="invoice"):
    paid: Field[bool] = Field(default=False)

    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


class Region(Entity, table=app, tag="region"):
    country: Field[str]
    path: Field[tuple[str, ...]]
    name: Field[str]

    key = Key(pk="#COUNTRY#{country}", sk="#REGION#{path*}")


class Home(Collection, pk="#USER#{user_id}"):
    """A user with what is theirs."""

    user: User | None
    orders: list[Order]
    lines: tuple[OrderLine, ...]
    most: ClassVar[int] = 100

    @property
    def total(self) -> int:
        """Add up the orders."""
        return sum(order.total for order in self.orders)


home = Collection(User, Order, pk="#USER#{user_id}")
now = datetime.now(UTC)
store = Store(app)
ann = store.create(User(user_id="u1", name="Ann"))
order = store.create(Order(user_id="u1", placed_at=now))
