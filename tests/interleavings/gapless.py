"""Numbers without gaps and in blocks, run at once: no hole whatever fails, no number twice."""

from __future__ import annotations

from typing import Any

from singletable import AlreadyExists, AutoIncrement, Create, Entity, Field, Key, Store
from singletable import Sequence as Numbers
from singletable.errors import OutcomeUnknown, SequenceContention
from tests.interleavings.scenes import Actor, Scene, app

__all__ = ["GAPLESS"]

pages = Numbers("pages")


class Bill(Entity, table=app, tag="bill"):
    number: Field[int] = AutoIncrement(gapless=True)
    by: Field[str] = Field(default="")
    key = Key(pk="#BILL#{number}", sk="#BILL")


class Sheet(Entity, table=app, tag="sheet"):
    by: Field[str]
    number: Field[int] = AutoIncrement(pages, gapless=True)
    key = Key(pk="#SHEET#{by}", sk="#SHEET")


class Cover(Entity, table=app, tag="cover"):
    by: Field[str]
    number: Field[int] = AutoIncrement(pages, gapless=True)
    key = Key(pk="#COVER#{by}", sk="#COVER")


class Parcel(Entity, table=app, tag="parcel"):
    number: Field[int] = AutoIncrement(block=2)
    by: Field[str] = Field(default="")
    key = Key(pk="#PARCEL#{number}", sk="#PARCEL")


Kind = type[Bill] | type[Sheet] | type[Cover] | type[Parcel]


def creating(*made: Bill | Sheet | Cover | Parcel) -> Actor:
    """Create entities one after the other."""
    return lambda store: [store.create(each) for each in made]


def together(*made: Bill | Sheet | Cover) -> Actor:
    """Create entities in one transaction."""
    return lambda store: list(store.transact(*map(Create, made)))


def whole(*kinds: Kind, gapless: bool = True, taken: bool = False) -> Any:
    """Say what must hold of numbers of one counter: each stored once, none twice, and (`gapless`) none missing.

    Only where a key is `taken` may a create be refused.
    """

    def check(store: Store, results: list[Any]) -> None:
        rows: list[Any] = [row for kind in kinds for row in store.scan(kind)]
        lists: list[list[Any]] = [made for made in results if type(made) is list]
        told = [each for made in lists for each in made]
        numbers = sorted(row.number for row in rows)
        assert len(set(numbers)) == len(numbers), rows
        assert len({(row.__class__.__name__, row.by) for row in rows}) == len(rows), rows
        assert all(each in rows for each in told), (told, rows)
        assert not gapless or numbers == list(range(1, len(rows) + 1)), rows
        assert not any(isinstance(made, SequenceContention) for made in results), results
        assert taken or not any(isinstance(made, AlreadyExists) for made in results), results
        if not any(isinstance(made, (OutcomeUnknown, AlreadyExists)) for made in results):
            assert len(rows) == len(told), (told, rows)

    return check


def with_sheet(store: Store) -> None:
    """Store a sheet, number 1."""
    store.create(Sheet(by="first"))


GAPLESS: tuple[Scene, ...] = (
    Scene("gapless: create, create", (creating(Bill(by="a")), creating(Bill(by="b"))), whole(Bill)),
    Scene("gapless: three creates", tuple(creating(Bill(by=by)) for by in "abc"), whole(Bill), losses=0),
    Scene("gapless: two creates each", (creating(Bill(by="a"), Bill(by="b")), creating(Bill(by="c"))), whole(Bill)),
    Scene(
        "gapless, the key is taken: create, create",
        (creating(Sheet(by="first")), creating(Sheet(by="b")), creating(Sheet(by="c"))),
        whole(Sheet, taken=True),
        setup=with_sheet,
        losses=0,
    ),
    Scene(
        "gapless, one key: create, create", (creating(Sheet(by="a")), creating(Sheet(by="a"))), whole(Sheet, taken=True)
    ),
    Scene(
        "gapless, shared: together, create",
        (together(Sheet(by="a"), Cover(by="a")), creating(Cover(by="b"))),
        whole(Sheet, Cover),
    ),
    Scene(
        "gapless, one process: create, create",
        (creating(Bill(by="a")), creating(Bill(by="b"))),
        whole(Bill),
        shared=True,
    ),
    Scene(
        "block: two creates each",
        (creating(Parcel(by="a"), Parcel(by="b"), Parcel(by="c")), creating(Parcel(by="d"))),
        whole(Parcel, gapless=False),
    ),
    Scene(
        "block, one process: create, create",
        (creating(Parcel(by="a")), creating(Parcel(by="b")), creating(Parcel(by="c"))),
        whole(Parcel, gapless=False),
        shared=True,
        losses=0,
    ),
)
