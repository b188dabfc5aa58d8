"""The entities that the operations are tested with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from singletable.entity import Entity
from singletable.fields import Field
from singletable.increments import AutoIncrement, Sequence
from singletable.indexes import GlobalIndex
from singletable.patterns import Key
from singletable.schema import Table

gsi1 = GlobalIndex("GSI1")
shop = Table("shop", indexes=[gsi1])


class User(Entity, table=shop, tag="user", aliases=["customer"]):
    user_id: Field[str]
    name: Field[str]
    email: Field[str | None] = Field(default=None)
    visits: Field[int] = Field(default=0)

    key = Key(pk="#USER#{user_id}", sk="#PROFILE")
    by_email = Key(on=gsi1, pk="#EMAIL#{email}", sk="#USER")


class Order(Entity, table=shop, tag="order"):
    user_id: Field[str]
    order_id: Field[int] = AutoIncrement(attempts=3)
    status: Field[str] = Field(default="PENDING")
    placed_at: Field[datetime]

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    by_status = Key(on=gsi1, pk="#ORDERS#{user_id}", sk="#{status}#{placed_at}")


class OrderLine(Entity, table=shop, tag="line"):
    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]

    key = Key(within=Order.key, sk="#LINE#{line_no}")


class Invoice(Entity, table=shop, tag="invoice"):
    number: Field[int] = AutoIncrement(max_value=100)
    total: Field[int]

    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


class Ticket(Entity, table=shop, tag="ticket"):
    repo: Field[str]
    number: Field[int] = AutoIncrement("counter", per="partition", start=10, step=10)
    title: Field[str] = Field(default="")

    key = Key(pk="#REPO#{repo}", sk="#TICKET#{number}")


class Region(Entity, table=shop, tag="region"):
    country: Field[str]
    path: Field[tuple[str, ...]]

    key = Key(pk="#COUNTRY#{country}", sk="#REGION#{path*}")


orders = Table("orders", pk="pk", sk=None, tag=None)
counter = Sequence(pk="orderCounter", attribute="count")


class Parcel(Entity, table=orders):
    order_id: Field[int] = AutoIncrement(counter)
    name: Field[str]

    key = Key(pk="{order_id}", raw=True)


projects = Table("projects", pk="pk", sk=("sk", int), untagged="by_key")


class Project(Entity, table=projects, tag="project"):
    team: Field[str]
    number: Field[int] = AutoIncrement(reuse="allow", attempts=2)
    name: Field[str]

    key = Key(pk="#TEAM#{team}", sk="{number}")


PLACED = datetime(2026, 1, 1, 9, 30, tzinfo=UTC)


club = Table("club")


class Member(Entity, table=club, tag="member"):
    member_id: Field[str]
    email: Field[str | None] = Field(default=None, unique=True)

    key = Key(pk="#MEMBER#{member_id}", sk="#PROFILE")


def user_item(**more: str) -> dict[str, dict[str, str]]:
    """Give the item of user u1, Ann, with further text attributes."""
    fixed = {"PK": "#USER#u1", "SK": "#PROFILE", "_et": "user", "user_id": "u1", "name": "Ann"}
    return {**{name: {"S": text} for name, text in {**fixed, **more}.items()}, "visits": {"N": "0"}}


def order_item(number: int, *, user: str = "u1", status: str = "PENDING", **more: str) -> dict[str, dict[str, str]]:
    """Give the item of an order of a user, placed at PLACED."""
    texts = {
        "PK": f"#USER#{user}",
        "SK": f"#ORDER#{number:019d}",
        "_et": "order",
        "user_id": user,
        "status": status,
        "placed_at": "2026-01-01T09:30:00.000000Z",
        "GSI1PK": f"#ORDERS#{user}",
        "GSI1SK": f"#{status}#2026-01-01T09:30:00.000000Z",
        **more,
    }
    return {**{name: {"S": text} for name, text in texts.items()}, "order_id": {"N": str(number)}}


def tombstone(number: int) -> dict[str, dict[str, str]]:
    """Give the item that a deleted order of user u1 leaves."""
    key = {"PK": {"S": "#USER#u1"}, "SK": {"S": f"#ORDER#{number:019d}"}}
    return {**key, "_et": {"S": "!gone"}, "gone_at": {"N": "1767323045"}}


def region_item(*path: str) -> dict[str, dict[str, Any]]:
    """Give the item of a region of China."""
    key: dict[str, dict[str, Any]] = {
        "PK": {"S": "#COUNTRY#CN"},
        "SK": {"S": "#".join(("#REGION", *path))},
        "_et": {"S": "region"},
    }
    return {**key, "country": {"S": "CN"}, "path": {"L": [{"S": name} for name in path]}}
