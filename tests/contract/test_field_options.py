"""Field options on every backend: what is stored, read, refused and shown; values, nulls and schema drift."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

import pytest
from pydantic import BaseModel

from singletable import (
    ConditionFailed,
    Entity,
    Field,
    FieldValueError,
    GlobalIndex,
    Key,
    Table,
    Ulid,
    UsageError,
    Uuid7,
    evolve,
    to_dict,
)
from tests.contract.behind import item_at
from tests.contract.conftest import MakeStore

gsi1 = GlobalIndex("GSI1")
vault = Table("vault", indexes=[gsi1])


class Size(BaseModel):
    width: Decimal
    label: str | None = None


@dataclass(frozen=True)
class Note:
    text: str
    more: str | None = None


class Owned(Entity, table=vault):
    """What has an owner; abstract."""

    owner: Field[str] = Field(read_only=True)
    by_owner = Key(on=gsi1, pk="#OWNER#{owner}", sk="#{made}")
    made: Field[UUID] = Uuid7()


class Box(Owned, tag="box"):
    box_id: Field[str] = Ulid()
    secret: Field[str] = Field(default="", hidden=True, sensitive=True)
    price: Field[Decimal] = Field(default=Decimal(1), validate=lambda price: price >= 0)
    size: Field[Size | None] = Field(default=None)
    notes: Field[list[Note]] = Field(default_factory=list)
    key = Key(pk="#BOX#{box_id}", sk="#BOX")


class Lid(Owned, tag="lid"):
    lid_id: Field[str] = Ulid()
    key = Key(pk="#LID#{lid_id}", sk="#LID")


def test_options_hold_in_every_verb(backend: MakeStore) -> None:
    """Hidden values are stored, read and judged; read-only and refused ones never reach the table."""
    store = backend(vault)
    box = store.create(Box(owner="ann", secret="s", size=Size(width=Decimal("1.50")), notes=[Note("")]))
    item = item_at(store, Box.at(box_id=box.box_id)) or {}
    assert (item["secret"], item["size"]) == ({"S": "s"}, {"M": {"width": {"N": "1.5"}}})
    assert item["notes"] == {"L": [{"M": {"text": {"S": ""}}}]}
    assert store.get(Box.at(box_id=box.box_id)) == box
    assert "secret" not in to_dict(box)
    with pytest.raises(ConditionFailed) as caught:
        store.update(box, Box.price.set(Decimal(2)), when=Box.secret == "other")
    assert caught.value.current == box
    changed = store.update(box, {"secret": "", "size": None, "price": Decimal(2)}, when=Box.secret == "s")
    assert changed == evolve(box, secret="", size=None, price=Decimal(2))
    for refused, error in (({"owner": "bob"}, UsageError), ({"price": Decimal(-1)}, FieldValueError)):
        with pytest.raises(error):
            store.update(box, refused)
    stored = item_at(store, Box.at(box_id=box.box_id)) or {}
    assert (stored["secret"], stored.get("size"), stored["owner"]) == ({"S": ""}, None, {"S": "ann"})


def test_a_base_reads_its_kinds_in_the_order_they_were_made(backend: MakeStore) -> None:
    """A query by a base's key and a scan of the base give each kind as its own class; ids sort by time."""
    store = backend(vault)
    made = [store.create(kind(owner="ann")) for kind in (Lid, Box, Lid)]
    assert store.query(Owned.by_owner(owner="ann")).all() == made
    assert sorted(map(type, store.scan(Owned)), key=lambda kind: kind.__name__) == [Box, Lid, Lid]
