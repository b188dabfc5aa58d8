"""Nested values through a store: they come back from the engines as they were put."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NotRequired, TypedDict

from pynamodb.attributes import JSONAttribute

from singletable import Entity, Field, Key, Table
from tests.contract.conftest import MakeStore


@dataclass(frozen=True)
class Address:
    city: str
    seen: datetime | None = None
    tags: set[str] = field(default_factory=set[str])


class Parcel(TypedDict):
    weight: Decimal
    to: NotRequired[Address]


app = Table("nested")


class Shipment(Entity, table=app, tag="shipment"):
    shipment_id: Field[str]
    parcels: Field[list[Parcel]]
    stops: Field[tuple[Address, ...]]
    prices: Field[dict[str, list[Decimal | None]]]
    blobs: Field[list[set[bytes]]]
    free: Field[dict[str, Any]] = Field(default_factory=dict)
    extra: Field[Any] = Field(codec=JSONAttribute(), default=None)

    key = Key(pk="#SHIPMENT#{shipment_id}", sk="#SELF")


SHIPMENT = Shipment(
    shipment_id="s",
    parcels=[{"weight": Decimal("1.5"), "to": Address("Rome", datetime(2026, 1, 2, tzinfo=UTC), {"a"})}],
    stops=(Address("Rome"), Address("Ostia")),
    prices={"a b": [Decimal("0.10"), None], "none": []},
    blobs=[{b"\x00", b"\xff"}, set()],
    free={"n": 5, "d": Decimal("0.5"), "s": {"a"}, "b": b"\x00", "deep": [{"x": None}]},
    extra={"a": [1.5]},
)


def test_nested_values_come_back(backend: MakeStore) -> None:
    """What is created with lists, maps, dataclasses, sets and bytes inside is read back equal."""
    store = backend(app)
    store.create(SHIPMENT)
    assert store.get(Shipment.at(shipment_id="s")) == SHIPMENT


def test_a_nested_value_is_set(backend: MakeStore) -> None:
    """A change of a nested field stores the whole new value, on a condition on an element of another."""
    store = backend(app)
    store.create(SHIPMENT)
    ref = Shipment.at(shipment_id="s")
    changed = store.update(ref, Shipment.stops.set((Address("Pisa"),)), when=Shipment.stops.contains(Address("Ostia")))
    assert changed.stops == (Address("Pisa"),)
    assert store.get(ref) == changed
