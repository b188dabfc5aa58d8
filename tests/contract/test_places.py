"""Places inside fields, sizes, sums and lists: every condition and change, as DynamoDB carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypedDict

import pytest

from singletable import (
    Change,
    Condition,
    Create,
    Entity,
    Field,
    GlobalIndex,
    ItemTooLarge,
    Key,
    NotFound,
    PlaceMissing,
    Table,
    TransactionFailed,
    Update,
    computed,
    evolve,
    size,
)
from tests.contract.behind import CountingClient, client_of, item_at, sibling
from tests.contract.conftest import MakeStore

by_city = GlobalIndex("city")
shops = Table("shops", indexes=[by_city])


@dataclass(frozen=True)
class Address:
    city: str
    zip_code: str | None = None


class Line(TypedDict):
    sku: str
    count: int


class Basket(Entity, table=shops, tag="basket"):
    name: Field[str]
    address: Field[Address | None] = Field(default=None)
    lines: Field[list[Line]] = Field(default_factory=list[Line])
    prices: Field[dict[str, Decimal]] = Field(default_factory=dict[str, Decimal])
    free: Field[dict[str, Any]] = Field(default_factory=dict[str, Any])
    labels: Field[list[str]] = Field(default_factory=list[str], name="größe.of")
    total: Field[int] = Field(default=10)
    paid: Field[int | None] = Field(default=None, name="count")
    nick: Field[str | None] = Field(default=None)
    title: Field[str] = Field(default="")

    key = Key(pk="#BASKET#{name}", sk="#BASKET")


class Moved(Entity, table=shops, tag="moved"):
    """Found by where it is."""

    name: Field[str]
    address: Field[Address | None] = Field(default=None)

    @computed
    def town(self) -> str | None:
        """The town, where there is an address."""
        return None if self.address is None else self.address.city

    key = Key(pk="#MOVED#{name}", sk="#MOVED")
    by_town = Key(on=by_city, pk="#TOWN#{town}", sk="#{name}")


FULL = Basket(
    name="b",
    address=Address("Köln", "50667"),
    lines=[{"sku": "a", "count": 1}, {"sku": "b", "count": 5}],
    prices={"CN": Decimal("1.5"), "größe.of": Decimal(2), "size": Decimal(3)},
    free={"tags": {"x", "y"}, "n": 4, "deep": {"er": [1, "two", {"three": 3}]}},
    labels=["é", "f"],
    total=5,
    paid=5,
    nick="ann",
)
AT = Basket.at(name="b")

HOLDS: dict[str, Condition] = {
    "equal": Basket.address["city"] == "Köln",
    "unequal": Basket.lines[0]["sku"] != "b",
    "below": Basket.lines[0]["count"] < 2,
    "at most": Basket.prices["CN"] <= Decimal("1.50"),
    "above": Basket.lines[1]["count"] > 4,
    "at least": Basket.free["n"] >= 4,
    "between": Basket.prices["größe.of"].between(Decimal(2), Decimal(3)),
    "is_in": Basket.free["deep"]["er"][1].is_in("one", "two"),
    "exists": Basket.prices["size"].exists(),
    "does_not_exist": Basket.prices["DE"].does_not_exist() & Basket.lines[2].does_not_exist(),
    "startswith": Basket.address["city"].startswith("Kö"),
    "contains": Basket.free["tags"].contains("x") & Basket.address["city"].contains("öl"),
    "contains in a list": Basket.labels.contains("é"),
    "is_type": Basket.free["deep"]["er"].is_type("L"),
    "None": (Basket.prices["DE"] == None) & (Basket.address["zip_code"] != None),  # noqa: E711  # conditions
    "size": (size(Basket.lines) == 2) & (size(Basket.prices) > 2) & (Basket.free["tags"].size() < 3),
    "size of text": size(Basket.address["city"]).between(4, 4) & size(Basket.nick).is_in(1, 3),
    "two sizes": size(Basket.labels) == size(Basket.free["tags"]),
    "two fields": (Basket.total == Basket.paid) & (Basket.lines[0]["count"] < Basket.lines[1]["count"]),
    "a field and a size": Basket.total > size(Basket.lines),
    "more than a hundred": Basket.total.is_in(*range(-245, 6)) & ~Basket.total.is_in(*range(6, 257)),
}


def test_every_condition_on_a_place_holds(backend: MakeStore) -> None:
    """Each condition filters a query and guards a write, and its negation does the contrary."""
    store = backend(shops)
    store.put(FULL)
    query = Basket.key(name="b")
    assert [what for what, condition in HOLDS.items() if store.first(query.where(condition)) != FULL] == []
    assert [what for what, condition in HOLDS.items() if store.count(query.where(~condition))] == []
    for condition in HOLDS.values():
        store.put(FULL, when=condition)


CHANGES: dict[str, tuple[tuple[Change, ...], dict[str, Any]]] = {
    "set a member": ((Basket.address["city"].set("Bonn"),), {"address": Address("Bonn", "50667")}),
    "two members": (
        (Basket.address["city"].set("Bonn"), Basket.address["zip_code"].set(None)),
        {"address": Address("Bonn")},
    ),
    "set in a list": (
        (Basket.lines[1]["sku"].set("c"),),
        {"lines": [{"sku": "a", "count": 1}, {"sku": "c", "count": 5}]},
    ),
    "add a key": (
        (Basket.prices["DE"].set(Decimal(9)), Basket.prices["size"].remove(), Basket.prices["größe.of"].remove()),
        {"prices": {"CN": Decimal("1.5"), "DE": Decimal(9)}},
    ),
    "remove from a list": ((Basket.labels[0].remove(),), {"labels": ["f"]}),
    "add to a member": (
        (Basket.lines[0]["count"].add(2), Basket.lines[1]["count"].set(Basket.lines[1]["count"] - 1)),
        {"lines": [{"sku": "a", "count": 3}, {"sku": "b", "count": 4}]},
    ),
    "add to nothing": (
        (Basket.prices["DE"].add(Decimal(1)),),
        {"prices": {**FULL.prices, "DE": Decimal(1)}},
    ),
    "members of a set": (
        (Basket.free["tags"].delete({"x"}), Basket.free["deep"]["er"].append("end")),
        {"free": {"tags": {"y"}, "n": 4, "deep": {"er": [1, "two", {"three": 3}, "end"]}}},
    ),
    "append": ((Basket.labels.append("g", "h"),), {"labels": ["é", "f", "g", "h"]}),
    "prepend": ((Basket.labels.prepend("g", "h"),), {"labels": ["g", "h", "é", "f"]}),
    "sum": ((Basket.total.set(Basket.total + 1),), {"total": 6}),
    "reflected": ((Basket.total.set(12 - Basket.total),), {"total": 7}),
    "difference": ((Basket.paid.set(Basket.total - Basket.lines[0]["count"]),), {"paid": 4}),
    "or else": ((Basket.nick.set(Basket.nick | "unknown"), Basket.title.set(Basket.title | "x")), {"title": ""}),
    "a copy": (
        (Basket.title.set(Basket.nick | "unknown"), Basket.total.set(Basket.lines[1]["count"])),
        {"title": "ann"},
    ),
    "swapped": ((Basket.total.set(Basket.paid | 0), Basket.paid.set(Basket.total + 2)), {"paid": 7}),
}


def test_every_change_of_a_place_is_carried_out(backend: MakeStore) -> None:
    """Each change leaves what was worked out by hand, in one request, and all else as it was."""
    store = backend(shops)
    counting = CountingClient(client_of(store))
    counted = sibling(store, client=counting)
    for what, (changes, expected) in CHANGES.items():
        store.put(FULL)
        wanted = evolve(FULL, **expected)
        assert counted.update(AT, *changes) == wanted, what
        assert store.one(AT) == wanted, what
    assert counting.calls == {"update_item": len(CHANGES)}


def test_what_is_absent_counts_as_its_default(backend: MakeStore) -> None:
    """A sum counts an absent number as its default, or 0; a list that is absent is begun; | names another value."""
    store = backend(shops)
    client_of(store).put_item(TableName=store.name, Item={**AT.key, "_et": {"S": "basket"}, "name": {"S": "b"}})
    changed = store.update(
        AT,
        Basket.total.set(Basket.total + 1),
        Basket.paid.set(Basket.paid + 1),
        Basket.labels.append("x"),
        Basket.title.set(Basket.nick | "unknown"),
    )
    assert (changed.total, changed.paid, changed.labels, changed.title) == (11, 1, ["x"], "unknown")


def test_a_place_that_is_not_there_is_named(backend: MakeStore) -> None:
    """A write into an absent map, and a copy of an absent attribute, are PlaceMissing; nothing is changed."""
    store = backend(shops)
    bare = store.put(Basket(name="b"))
    with pytest.raises(PlaceMissing, match="map or list that is not there"):
        store.update(AT, Basket.address["city"].set("Bonn"))
    with pytest.raises(PlaceMissing, match="takes its value from"):
        store.update(AT, Basket.paid.set(Basket.lines[0]["count"]))
    with pytest.raises(ItemTooLarge):
        store.update(AT, Basket.title.set("x" * 204_800), Basket.nick.set("x" * 204_799))
    assert store.one(AT) == bare


class Branch(Entity, table=shops, tag="branch"):
    name: Field[str]
    address: Field[Address]
    visits: Field[int] = Field(default=0)
    sales: Field[int] = Field(default=0)
    lines: Field[list[str]] = Field(default_factory=list[str])

    @computed
    def city(self) -> str:
        """The city alone, for the index."""
        return self.address.city

    key = Key(pk="#BRANCH#{name}", sk="#BRANCH")
    in_city = Key(on=by_city, pk="#CITY#{city}", sk="#{visits}", when=lambda branch: size(branch.lines) < 2)


FOLLOWED: dict[str, tuple[tuple[Change, ...], tuple[str, str] | None]] = {
    "a member that a computed field reads": (
        (Branch.address["city"].set("Bonn"),),
        ("#CITY#Bonn", "#0000000000000000000"),
    ),
    "a sum": ((Branch.visits.set(Branch.sales + 2),), ("#CITY#Köln", "#0000000000000000009")),
    "or else": ((Branch.visits.set(Branch.sales | 3),), ("#CITY#Köln", "#0000000000000000007")),
    "a list the condition measures": ((Branch.lines.append("b"),), None),
    "and a shorter one": ((Branch.lines[0].remove(),), ("#CITY#Köln", "#0000000000000000000")),
}


@pytest.mark.parametrize("loaded", [False, True])
def test_index_keys_follow_every_kind_of_change(backend: MakeStore, loaded: bool) -> None:
    """C1 to C3: after a nested, worked out or list change the stored index key is the recomputed one."""
    store = backend(shops)
    for what, (changes, expected) in FOLLOWED.items():
        branch = store.put(Branch(name="x", address=Address("Köln"), sales=7, lines=["a"]))
        changed = store.update(branch if loaded else Branch.at(name="x"), *changes)
        item = item_at(store, Branch.at(name="x")) or {}
        found = (item["cityPK"]["S"], item["citySK"]["S"]) if "cityPK" in item else None
        assert found == expected, what
        assert store.one(Branch.at(name="x")) == changed, what


def test_a_place_that_came_since_is_found(backend: MakeStore) -> None:
    """A loaded entity without the place says nothing of the stored item, where an index key needs what is there."""
    store = backend(shops)
    old = store.create(Moved(name="m"))
    store.update(Moved.at(name="m"), Moved.address.set(Address("Köln")))
    assert store.update(old, Moved.address["city"].set("Bonn")).address == Address("Bonn")
    assert store.count(Moved.by_town(town="Bonn")) == 1
    store.delete(old)
    with pytest.raises(NotFound):
        store.update(old, Moved.address["city"].set("Bonn"))


def test_a_place_that_went_since_is_missed(transacting: MakeStore) -> None:
    """A loaded entity has the place, the stored item no longer: alone and in a transaction that is PlaceMissing."""
    store = transacting(shops)
    old = store.create(Moved(name="m", address=Address("Köln")))
    store.update(Moved.at(name="m"), Moved.address.remove())
    with pytest.raises(PlaceMissing):
        store.update(old, Moved.address["city"].set("Bonn"))
    with pytest.raises(TransactionFailed) as failed:
        store.transact(Create(Moved(name="n")), Update(old, Moved.address["city"].set("Bonn")))
    (error,) = failed.value.exceptions
    assert isinstance(error, PlaceMissing)
    assert error.index == 1
    assert store.get(Moved.at(name="n")) is None
