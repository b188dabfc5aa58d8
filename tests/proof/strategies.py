"""The ways to draw numbers that are put to proof, and what each of them promises. A new one is one entry of the table.

Theory of operation. Every entity here has a logical id of its own, written with it, so that a row tells which create
it is of. A *group* is what a strategy counts for: the partition, or all of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from singletable import AutoIncrement, Entity, Field, Key, Sequence, Table
from singletable.wire import Item
from tests.proof.histories import Row

__all__ = ["DEADLINE", "FEW", "HIGHEST", "NUMBERED", "STRATEGIES", "TRIES", "Strategy", "proof"]

TRIES = 16
DEADLINE = 5.0
"""The attempts and the deadline that AutoIncrement has by itself."""

ALL = "all"
HIGHEST = 2**63 - 1

proof = Table("proof")
orders = Table("orders", pk="pk", sk=None, tag=None)

NUMBERED: TypeAlias = type[Any]
"""An entity class with the fields `partition`, `number` and `id`."""


def numbered(tag: str, drawn: AutoIncrement) -> NUMBERED:
    """Declare an entity whose number ends its sort key."""

    class Numbered(Entity, table=proof, tag=tag):
        partition: Field[str]
        id: Field[str]
        number: Field[int] = drawn

        key = Key(pk="#PARTITION#{partition}", sk=f"#{tag.upper()}#{{number}}")

    return Numbered


class Order(Entity, table=orders):
    """An order as the source document counts and stores it, with our own attributes beside."""

    number: Field[int] = AutoIncrement(Sequence(pk="orderCounter", attribute="count"))
    id: Field[str] = Field(name="deliveryMethod")
    partition: Field[str]

    key = Key(pk="{number}", raw=True)


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """One way to draw numbers: the kinds of entities that draw from the same group, and what is promised.

    `grouped`: each partition is a group. `ordered`: what is begun later has the higher number. `contiguous`: no hole.
    `tombstones`: a deleted number leaves one. `deletes`: numbers may be deleted meanwhile. `races`: a number may be
    lost to others, so that there is a deadline and SequenceContention. `beside`: every other writer is the source
    document's own program. `given`: some creates bring a number of their own along.
    """

    name: str
    kinds: tuple[NUMBERED, ...]
    grouped: bool = True
    ordered: bool = True
    contiguous: bool = False
    tombstones: bool = False
    deletes: bool = True
    races: bool = False
    beside: bool = False
    given: bool = False
    max_value: int = HIGHEST

    @property
    def table(self) -> Table:
        """The table that the entities stand in."""
        return orders if self.beside else proof

    def group(self, partition: str) -> str:
        """Name the group that is counted for in a partition."""
        return partition if self.grouped else ALL

    def row(self, item: Item) -> Row:
        """Tell what an item of the table is."""
        return (_order if self.beside else self._item)(item)

    def _item(self, item: Item) -> Row:
        pk, sk = item["PK"]["S"], item["SK"]["S"]
        group = self.group(pk.rpartition("#")[2])
        if item["_et"]["S"] == "!seq":
            return Row("counter", group, int(item["last"]["N"]))
        if item["_et"]["S"] == "!gone":
            return Row("tombstone", group, int(sk.rpartition("#")[2]))
        return Row("entity", group, int(item["number"]["N"]), item["id"]["S"])


def _order(item: Item) -> Row:
    pk = item["pk"]["S"]
    if pk == "orderCounter":
        return Row("counter", ALL, int(item["count"]["N"]))
    return Row("entity", ALL, int(pk), item["deliveryMethod"]["S"])


BY_SORT_KEY: Mapping[str, bool] = {"contiguous": True, "tombstones": True, "races": True}
WITH_OWN: Mapping[str, bool] = {"given": True, "deletes": False}
SHARED = Sequence("shared", pk="#PARTITION#{partition}")
FEW = 60
"""As many numbers as a sequence has that is to be used up."""

FOUND: tuple[Strategy, ...] = (
    Strategy("counter per entity", (numbered("tally", AutoIncrement("counter", per="entity")),), grouped=False),
    Strategy("counter per partition", (numbered("local", AutoIncrement("counter")),)),
    Strategy("sort_key", (numbered("event", AutoIncrement()),), **BY_SORT_KEY),
    Strategy(
        'sort_key reuse="allow"',
        (numbered("note", AutoIncrement(reuse="allow")),),
        **{**BY_SORT_KEY, "tombstones": False, "deletes": False},
    ),
    Strategy("shared Sequence", (numbered("issue", AutoIncrement(SHARED)), numbered("pull", AutoIncrement(SHARED)))),
    Strategy("adopted Sequence", (Order,), grouped=False, beside=True),
    Strategy("counter block=10", (numbered("ticket", AutoIncrement("counter", block=10)),), ordered=False),
    Strategy("gapless", (numbered("bill", AutoIncrement("counter", gapless=True)),), contiguous=True, races=True),
    Strategy("counter on_explicit", (numbered("slot", AutoIncrement("counter", on_explicit="allow")),), **WITH_OWN),
    Strategy(
        "sort_key on_explicit",
        (numbered("page", AutoIncrement(on_explicit="allow")),),
        **{**WITH_OWN, "races": True, "ordered": False},
    ),
    Strategy("counter, used up", (numbered("seat", AutoIncrement("counter", max_value=FEW)),), max_value=FEW),
    Strategy("sort_key, used up", (numbered("row", AutoIncrement(max_value=FEW)),), max_value=FEW, **BY_SORT_KEY),
)

STRATEGIES: Mapping[str, Strategy] = {each.name: each for each in FOUND}
