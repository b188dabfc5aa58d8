"""The one table of the demonstration and everything that stands in it, declared as a user would.

Six kinds of items share the table and its one index: the index serves a user by e-mail, orders and games by status and
date, invoices by customer and places by name.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Self

from singletable import AutoIncrement, Entity, Field, GlobalIndex, Key, Query, Table, pattern

__all__ = ["Game", "Invoice", "Order", "OrderLine", "Place", "User", "app"]

gsi1 = GlobalIndex("GSI1")
app = Table("singletable-demo", indexes=[gsi1])


class User(Entity, table=app, tag="user"):
    """A customer. Only those with an e-mail address stand in the index (sparse)."""

    user_id: Field[str]
    name: Field[str]
    email: Field[str | None] = Field(default=None)

    key = Key(pk="#USER#{user_id}", sk="#PROFILE")
    by_email = Key(on=gsi1, pk="#EMAIL#{email}", sk="#USER")


class Order(Entity, table=app, tag="order"):
    """An order, numbered for each user by its sort key; by status and date in one composite key."""

    user_id: Field[str]
    order_id: Field[int] = AutoIncrement()
    status: Field[str] = Field(default="PENDING")
    placed_at: Field[datetime]
    total: Field[Decimal]

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    by_status = Key(on=gsi1, pk="#ORDERS#{user_id}", sk="#{status}#{placed_at}")

    @classmethod
    @pattern
    def pending(cls, user_id: str) -> Query[Self]:
        """Ask for a user's pending orders, newest first."""
        return cls.by_status(user_id=user_id, status="PENDING").descending()


class OrderLine(Entity, table=app, tag="line"):
    """A line of an order; it stands below its order in the same partition."""

    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]
    sku: Field[str]
    quantity: Field[int] = Field(default=1)

    key = Key(within=Order.key, sk="#LINE#{line_no}")


class Invoice(Entity, table=app, tag="invoice"):
    """An invoice, numbered for the whole table by a counter."""

    invoice_no: Field[int] = AutoIncrement(start=1001)
    user_id: Field[str]
    billed_on: Field[date]

    key = Key(pk="#INVOICE#{invoice_no}", sk="#INVOICE")
    by_customer = Key(on=gsi1, pk="#INVOICES#{user_id}", sk="#{invoice_no}")


class Game(Entity, table=app, tag="game"):
    """A game against an opponent: by date in the table, by status and date in the index."""

    opponent: Field[str]
    played_on: Field[date]
    game_id: Field[str]
    status: Field[str]

    key = Key(pk="#OPPONENT#{opponent}", sk="#GAME#{played_on}#{game_id}")
    by_status = Key(on=gsi1, pk="#OPPONENT#{opponent}", sk="#{status}#{played_on}")


class Place(Entity, table=app, tag="place"):
    """A province, city, area or street: its names from the province down are its hierarchical key."""

    country: Field[str]
    path: Field[tuple[str, ...]]
    name: Field[str]
    code: Field[str]

    key = Key(pk="#COUNTRY#{country}", sk="#PLACE#{path*}")
    by_name = Key(on=gsi1, pk="#NAMES#{country}", sk="#{name}#{path*}")
