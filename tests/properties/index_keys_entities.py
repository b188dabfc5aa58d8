"""Entities of every way to be indexed, and their index keys worked out by hand, without the package.

Each kind has a function from an entity's values to the index attributes of its item: what `tests.properties` compares
stored items with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, TypeAlias

from singletable import (
    AutoIncrement,
    CreatedAt,
    Entity,
    ExpiresAt,
    Field,
    GlobalIndex,
    Key,
    LocalIndex,
    Table,
    Unique,
    UpdatedAt,
    Version,
    computed,
)

Values: TypeAlias = Mapping[str, Any]
Keys: TypeAlias = dict[str, dict[str, str]]

gsi1 = GlobalIndex("GSI1")
gsi2 = GlobalIndex("GSI2")
ranks = GlobalIndex("ranks", pk="SPK", sk=("score", int))
one = GlobalIndex("one", pk="GPK", sk="ASK")
two = GlobalIndex("two", pk="GPK", sk="BSK")
near = LocalIndex("near")
table = Table("follow", indexes=[gsi1, gsi2, ranks, one, two, near], ttl="ttl")

LIFE: Final = timedelta(seconds=40)


@dataclass(frozen=True)
class Address:
    """Where something is."""

    city: str
    street: str | None = None


class Thing(Entity, table=table, tag="thing"):
    """What is indexed in every way, and numbered, unique and versioned in none."""

    owner: Field[str]
    name: Field[str]
    team: Field[str | None] = Field(default=None)
    score: Field[int | None] = Field(default=None)
    a: Field[str | None] = Field(default=None)
    b: Field[str | None] = Field(default=None)
    level: Field[int] = Field(default=0)
    state: Field[str] = Field(default="OPEN")
    labels: Field[set[str]] = Field(default_factory=set)
    lines: Field[list[str]] = Field(default_factory=list)
    tally: Field[dict[str, int]] = Field(default_factory=dict)
    address: Field[Address | None] = Field(default=None)
    sent_at: Field[datetime]
    updated_at: Field[datetime] = UpdatedAt()

    @computed
    def day(self) -> date:
        """The day it was sent."""
        return self.sent_at.date()

    @computed
    def length(self) -> int:
        """How many lines it has."""
        return len(self.lines)

    key = Key(pk="#OWNER#{owner}", sk="#THING#{name}")
    by_team = Key(on=gsi1, pk="#TEAM#{team}", sk="#{state}#{level}#{updated_at}")
    by_day = Key(on=gsi2, pk="#DAY#{day}", sk="#{length}", when=lambda thing: thing.address["city"] == "Bonn")
    ranking = Key(on=ranks, pk="#TEAM#{team}", sk="{score}")
    by_a = Key(on=one, pk="#T#{team}", sk="#{a}")
    by_b = Key(on=two, pk="#T#{team}", sk="#{b}")
    nearby = Key(on=near, sk="#{a}#{level}#{b}")


class Member(Entity, table=table, tag="member"):
    """What has unique values and a version, and may expire."""

    member_id: Field[str]
    email: Field[str | None] = Field(default=None, unique=True)
    team: Field[str] = Field(default="red")
    shirt: Field[int | None] = Field(default=None)
    state: Field[str] = Field(default="OPEN")
    points: Field[int] = Field(default=0)
    version: Field[int] = Version()
    created_at: Field[datetime] = CreatedAt()
    until: Field[datetime | None] = ExpiresAt()

    key = Key(pk="#MEMBER#{member_id}", sk="#PROFILE")
    by_points = Key(on=gsi1, pk="#POINTS#{team}", sk="#{points}", when=lambda member: member.state == "OPEN")
    by_email = Key(on=gsi2, pk="#EMAIL#{email}", sk="#{created_at}")
    one_shirt = Unique("team", "shirt")


class Session(Entity, table=table, tag="session"):
    """What expires, and can be written in batches."""

    session_id: Field[str]
    user: Field[str | None] = Field(default=None)
    seen: Field[int] = Field(default=0)
    ends_at: Field[datetime] = ExpiresAt(after=LIFE)

    key = Key(pk="#SESSION#{session_id}", sk="#SESSION")
    by_user = Key(on=gsi1, pk="#SESSIONS#{user}", sk="#{seen}")


class Order(Entity, table=table, tag="order"):
    """What is numbered by its sort key, and leaves tombstones."""

    user: Field[str]
    order_id: Field[int] = AutoIncrement()
    status: Field[str] = Field(default="NEW")
    total: Field[int] = Field(default=0)
    note: Field[str | None] = Field(default=None)
    updated_at: Field[datetime] = UpdatedAt()

    key = Key(pk="#USER#{user}", sk="#ORDER#{order_id}")
    by_status = Key(on=gsi1, pk="#ORDERS#{user}", sk="#{status}#{total}#{note}")
    by_time = Key(on=near, sk="#{updated_at}")


class Line(Entity, table=table, tag="line"):
    """What stands below an order."""

    user: Field[str]
    order_id: Field[int]
    line_no: Field[int]
    sku: Field[str | None] = Field(default=None)
    quantity: Field[int] = Field(default=1)

    key = Key(within=Order.key, sk="#LINE#{line_no}")
    by_sku = Key(on=gsi2, pk="#SKU#{sku}", sk="#{user}#{quantity}")


class Ticket(Entity, table=table, tag="ticket"):
    """What is numbered by a counter."""

    number: Field[int] = AutoIncrement("counter")
    title: Field[str] = Field(default="t")
    weight: Field[int] = Field(default=0)

    key = Key(pk="#TICKET#{number}", sk="#TICKET")
    by_title = Key(on=gsi1, pk="#TICKETS#{title}", sk="#{weight}#{number}")


KINDS: Final[dict[str, type[Entity]]] = {
    "thing": Thing,
    "member": Member,
    "session": Session,
    "order": Order,
    "line": Line,
    "ticket": Ticket,
}

PARTS: Final[dict[str, tuple[str, ...]]] = {
    "thing": ("owner", "name"),
    "member": ("member_id",),
    "session": ("session_id",),
    "order": ("user", "order_id"),
    "line": ("user", "order_id", "line_no"),
    "ticket": ("number",),
}

UNIQUES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {"member": (("email",), ("team", "shirt"))}

ENDS: Final[dict[str, str]] = {"member": "until", "session": "ends_at"}


def expires(kind: str, values: Values) -> int | None:
    """Give the second in which an entity ends."""
    end = values.get(ENDS[kind]) if kind in ENDS else None
    return None if end is None else -int(-end.timestamp() // 1)


# Keys by hand ---------------------------------------------------------------------------------------------------------


def part(value: Any) -> str:
    """Write a value as it stands in a key."""
    if isinstance(value, int):
        return f"{value:019}" if value >= 0 else f"-{10**19 + value:019}"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    text = value.isoformat() if isinstance(value, date) else value
    return "".join(f"%{ord(each):02X}" if each <= "%" else each for each in text)


def _key(names: tuple[str, str], pk: tuple[Any, ...], sk: tuple[Any, ...]) -> Keys:
    """Write a pair of keys; the first of `pk` is a literal. None where a part is absent."""
    if None in pk or None in sk:
        return {}
    left = "#".join((f"#{pk[0]}", *map(part, pk[1:])))
    return {names[0]: {"S": left}, names[1]: {"S": "#" + "#".join(map(part, sk))}}


GSI1 = ("GSI1PK", "GSI1SK")
GSI2 = ("GSI2PK", "GSI2SK")


def _thing(v: Values) -> Keys:
    keys = _key(GSI1, ("TEAM", v["team"]), (v["state"], v["level"], v["updated_at"]))
    address = v["address"]
    if address is not None and address.city == "Bonn":
        keys |= _key(GSI2, ("DAY", v["sent_at"].date()), (len(v["lines"]),))
    if v["score"] is not None:
        keys["score"] = {"N": str(v["score"])}
        if v["team"] is not None:
            keys["SPK"] = {"S": f"#TEAM#{part(v['team'])}"}
    keys |= _key(("GPK", "ASK"), ("T", v["team"]), (v["a"],))
    keys |= _key(("GPK", "BSK"), ("T", v["team"]), (v["b"],))
    return keys | _local((v["a"], v["level"], v["b"]))


def _local(sk: tuple[Any, ...]) -> Keys:
    return {} if None in sk else {"nearSK": {"S": "#" + "#".join(map(part, sk))}}


def _member(v: Values) -> Keys:
    keys = _key(GSI1, ("POINTS", v["team"]), (v["points"],)) if v["state"] == "OPEN" else {}
    return keys | _key(GSI2, ("EMAIL", v["email"]), (v["created_at"],))


def _order(v: Values) -> Keys:
    return _key(GSI1, ("ORDERS", v["user"]), (v["status"], v["total"], v["note"])) | _local((v["updated_at"],))


INDEX_KEYS: Final[dict[str, Callable[[Values], Keys]]] = {
    "thing": _thing,
    "member": _member,
    "session": lambda v: _key(GSI1, ("SESSIONS", v["user"]), (v["seen"],)),
    "order": _order,
    "line": lambda v: _key(GSI2, ("SKU", v["sku"]), (v["user"], v["quantity"])),
    "ticket": lambda v: _key(GSI1, ("TICKETS", v["title"]), (v["weight"], v["number"])),
}


def guards_by_hand(kind: str, values: Values) -> list[str]:
    """Write the keys of the guards of an entity."""
    found = [names for names in UNIQUES.get(kind, ()) if all(values[name] is not None for name in names)]
    return ["#".join(("#!UNIQUE", kind, "!".join(names), *(part(values[name]) for name in names))) for names in found]


INDEX_ATTRIBUTES: Final = tuple(
    dict.fromkeys(column.name for column in table.columns if column.name not in ("PK", "SK"))
)
