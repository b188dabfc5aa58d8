"""The reduction loses nothing: random programs end in the same states with it and without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import (
    AlreadyExists,
    AutoIncrement,
    Entity,
    Field,
    GlobalIndex,
    Key,
    Query,
    Store,
    Table,
    Transact,
    Update,
)
from singletable.testing import interleave
from singletable.testing.footprints import Footprint

index = GlobalIndex("by_colour")
app = Table("app", indexes=[index])


class Box(Entity, table=app, tag="box"):
    shelf: Field[str]
    name: Field[str]
    count: Field[int] = Field(default=0)
    colour: Field[str | None] = Field(default=None)
    key = Key(pk="#SHELF#{shelf}", sk="#BOX#{name}")
    by_colour = Key(on=index, pk="#COLOUR#{colour}", sk="#{name}")


Verb: TypeAlias = Callable[[Store], object]

SHELVES, NAMES, COLOURS = st.sampled_from("pq"), st.sampled_from("ab"), st.sampled_from(["red", None])


def get(place: tuple[str, str]) -> Verb:
    """Read one box."""
    return lambda store: store.get(Box.at(shelf=place[0], name=place[1]))


def create(place: tuple[str, str]) -> Verb:
    """Create one box where none is."""
    return lambda store: store.create(Box(shelf=place[0], name=place[1]))


def put(place: tuple[str, str, str | None]) -> Verb:
    """Put one box, of a colour or none."""
    return lambda store: store.put(Box(shelf=place[0], name=place[1], colour=place[2]))


def more(place: tuple[str, str]) -> Verb:
    """Count one more in a box, which is made where it is not there."""
    return lambda store: store.update(Box.at(shelf=place[0], name=place[1]), Box.count.add(1), missing="create")


def delete(place: tuple[str, str]) -> Verb:
    """Delete one box."""
    return lambda store: store.delete(Box.at(shelf=place[0], name=place[1]))


def named(query: Query[Box]) -> Verb:
    """List the boxes of a query."""
    return lambda store: [box.name for box in store.query(query)]


def count_all(store: Store) -> int:
    """Count all boxes."""
    return len(store.scan(Box).all())


def both(names: tuple[str, str]) -> Verb:
    """Count one more in a box of each shelf, in one transaction."""
    ends = [
        Update(Box.at(shelf=shelf, name=name), Box.count.add(1), missing="create")
        for shelf, name in zip("pq", names, strict=True)
    ]
    return lambda store: store.run(Transact(*ends))


PLACES = st.tuples(SHELVES, NAMES)
VERBS: st.SearchStrategy[Verb] = st.one_of(
    PLACES.map(get),
    PLACES.map(create),
    st.tuples(SHELVES, NAMES, COLOURS).map(put),
    PLACES.map(more),
    PLACES.map(delete),
    SHELVES.map(lambda shelf: named(Box.key(shelf=shelf))),
    st.just(named(Box.by_colour(colour="red"))),
    st.just(count_all),
    st.tuples(NAMES, NAMES).map(both),
)
PROGRAMS = st.lists(st.lists(VERBS, min_size=1, max_size=2), min_size=2, max_size=3)


def actor(verbs: list[Verb]) -> Callable[[Store], list[object]]:
    """Do some verbs one after the other, and give what each gave or raised."""

    def run(store: Store) -> list[object]:
        found: list[object] = []
        for verb in verbs:
            try:
                found.append(repr(verb(store)))
            except AlreadyExists as error:
                found.append(type(error).__name__)
        return found

    return run


def endings(programs: list[list[Verb]], **options: Any) -> tuple[set[str], int]:
    """Give every state that some programs can end in, and how many schedules were run."""
    found: set[str] = set()

    def note(store: Store, results: list[Any]) -> None:
        found.add(repr((sorted(map(repr, store.scan(Box))), results)))

    report = interleave(app, *map(actor, programs), check=note, most=3000, **options)
    assert report.complete or not options.get("reduce", True)
    return found, report.schedules


@pytest.mark.slow
@settings(max_examples=30)
@given(programs=PROGRAMS)
def test_every_ending_is_found(programs: list[list[Verb]]) -> None:
    """With reduction programs end in exactly the states in which they end without, in no more schedules."""
    found, schedules = endings(programs)
    wanted, every = endings(programs, reduce=False)
    if every < 3000:
        assert found == wanted
        assert schedules <= every


@pytest.mark.slow
@settings(max_examples=12)
@given(programs=st.lists(st.lists(VERBS, min_size=1, max_size=1), min_size=2, max_size=2))
def test_every_ending_is_found_where_replies_are_lost(programs: list[list[Verb]]) -> None:
    """The same holds with one request lost, before or after it was carried out."""
    options: Any = {"lost_replies": 1, "lost_requests": True, "expect": Exception}
    assert endings(programs, **options)[0] == endings(programs, reduce=False, **options)[0]


@pytest.mark.slow
@settings(max_examples=12)
@given(programs=PROGRAMS)
def test_every_ending_is_found_in_one_store(programs: list[list[Verb]]) -> None:
    """The same holds where all share a store, its locks and what it remembers."""
    found, schedules = endings(programs, shared=True)
    wanted, every = endings(programs, shared=True, reduce=False)
    if every < 3000:
        assert (found, schedules) == (wanted, every)


class Slip(Entity, table=app, tag="slip"):
    shelf: Field[str]
    number: Field[int] = AutoIncrement()
    key = Key(pk="#SLIPS#{shelf}", sk="#SLIP#{number}")


def draw(*shelves: str) -> Callable[[Store], list[int]]:
    """Draw a number for each shelf, under the lock of its partition."""
    return lambda store: [store.create(Slip(shelf=shelf)).number for shelf in shelves]


@pytest.mark.parametrize("drawn", [("p", "p"), ("p", "p", "p"), ("pq", "qp"), ("pp", "p")])
def test_who_gets_a_lock_is_tried_in_every_order(drawn: tuple[str, ...]) -> None:
    """In one store no two requests change places, so that every order is run, and none twice."""

    def ended(*, reduce: bool) -> tuple[set[str], int]:
        found: set[str] = set()
        actors = [draw(*shelves) for shelves in drawn]
        report = interleave(app, *actors, shared=True, reduce=reduce, check=lambda _, results: found.add(repr(results)))
        assert report.complete
        return found, report.schedules

    found, schedules = ended(reduce=True)
    assert (found, schedules) == ended(reduce=False)
    assert schedules > 1


@pytest.mark.parametrize("lost", ["reads", "touches", "writes"])
def test_a_wrong_footprint_would_be_seen(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a part of the footprints is left out, some program ends in fewer states than it can."""
    write = put(("p", "a", "red"))
    programs = {
        "reads": [[get(("p", "a"))], [write]],
        "touches": [[named(Box.key(shelf="p"))], [write]],
        "writes": [[put(("p", "a", None))], [write]],
    }
    assert len(endings(programs[lost])[0]) == 2
    meets = Footprint.meets

    def without(footprint: Footprint) -> Footprint:
        parts: Any = {lost: frozenset[Any]()}
        return replace(footprint, **parts)

    def met(one: Footprint, other: Footprint) -> bool:
        return meets(without(one), without(other))

    monkeypatch.setattr(Footprint, "meets", met)
    assert len(endings(programs[lost])[0]) == 1
