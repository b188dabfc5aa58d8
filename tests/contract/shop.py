"""The entities of the design's own program, and a league whose sort key has three parts, all in one table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Self

from singletable import AutoIncrement, Entity, Field, GlobalIndex, Key, Query, Table, pattern

gsi1 = GlobalIndex("GSI1")
app = Table("app", indexes=[gsi1])


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

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    by_status = Key(on=gsi1, pk="#ORDERS#{user_id}", sk="#{status}#{placed_at}")

    @classmethod
    @pattern
    def pending(cls, user_id: str) -> Query[Self]:
        """A user's pending orders, newest first."""
        return cls.by_status(user_id=user_id, status="PENDING").descending()


class OrderLine(Entity, table=app, tag="line"):
    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]
    sku: Field[str]

    key = Key(within=Order.key, sk="#LINE#{line_no}")


class Region(Entity, table=app, tag="region"):
    country: Field[str]
    path: Field[tuple[str, ...]]
    name: Field[str]

    key = Key(pk="#COUNTRY#{country}", sk="#REGION#{path*}")


class Match(Entity, table=app, tag="match"):
    league: Field[str]
    season: Field[int]
    round_no: Field[int]
    home: Field[str]
    goals: Field[int] = Field(default=0)
    note: Field[str | None] = Field(default=None)
    labels: Field[set[str]] = Field(default_factory=set)

    key = Key(pk="#LEAGUE#{league}", sk="#MATCH#{season}#{round_no}#{home}")


def day(number: int) -> datetime:
    """Give noon of a day in December 2026, UTC."""
    return datetime(2026, 12, number, 12, tzinfo=UTC)


def order(user_id: str = "u1", on: int = 1, status: str = "PENDING") -> Order:
    """Make an order without number."""
    return Order(user_id=user_id, placed_at=day(on), status=status)
