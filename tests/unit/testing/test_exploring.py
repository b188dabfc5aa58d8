"""The reduction loses nothing: random programs end in the same states with it and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import AlreadyExists, Entity, Field, GlobalIndex, Key, Query, Store, Table, Transact, Update
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


def _named(query: Query[Box]) -> Verb:
    return lambda store: [box.name for box in store.query(query)]


VERBS: st.SearchStrategy[Verb] = st.one_of(
    st.builds(lambda shelf, name: lambda store: store.get(Box.at(shelf=shelf, name=name)), SHELVES, NAMES),
    st.builds(lambda shelf, name: lambda store: store.create(Box(shelf=shelf, name=name)), SHELVES, NAMES),
    st.builds(
        lambda shelf, name, colour: lambda store: store.put(Box(shelf=shelf, name=name, colour=colour)),
        SHELVES,
        NAMES,
        COLOURS,
    ),
    st.builds(
        lambda shelf, name: (
            lambda store: store.update(Box.at(shelf=shelf, name=name), Box.count.add(1), missing="create")
        ),
        SHELVES,
        NAMES,
    ),
    st.builds(lambda shelf, name: lambda store: store.delete(Box.at(shelf=shelf, name=name)), SHELVES, NAMES),
    SHELVES.map(lambda shelf: _named(Box.key(shelf=shelf))),
    st.just(_named(Box.by_colour(colour="red"))),
    st.just(lambda store: len(store.scan(Box).all())),
    st.builds(
        lambda one, other: (
            lambda store: store.run(
                Transact(
                    Update(Box.at(shelf="p", name=one), Box.count.add(1), missing="create"),
                    Update(Box.at(shelf="q", name=other), Box.count.add(1), missing="create"),
                )
            )
        ),
        NAMES,
        NAMES,
    ),
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


@settings(max_examples=60)
@given(programs=PROGRAMS)
def test_every_ending_is_found(programs: list[list[Verb]]) -> None:
    """With reduction programs end in exactly the states in which they end without, in no more schedules."""
    found, schedules = endings(programs)
    wanted, every = endings(programs, reduce=False)
    if every < 3000:
        assert found == wanted
        assert schedules <= every


@settings(max_examples=25)
@given(programs=st.lists(st.lists(VERBS, min_size=1, max_size=1), min_size=2, max_size=2))
def test_every_ending_is_found_where_replies_are_lost(programs: list[list[Verb]]) -> None:
    """The same holds with one request lost, before or after it was carried out."""
    options: Any = {"lost_replies": 1, "lost_requests": True, "expect": Exception}
    assert endings(programs, **options)[0] == endings(programs, reduce=False, **options)[0]


@pytest.mark.parametrize("lost", ["reads", "touches", "writes"])
def test_a_wrong_footprint_would_be_seen(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a part of the footprints is left out, some program ends in fewer states than it can."""
    programs: dict[str, list[list[Verb]]] = {
        "reads": [
            [lambda store: store.get(Box.at(shelf="p", name="a"))],
            [lambda store: store.put(Box(shelf="p", name="a"))],
        ],
        "touches": [[_named(Box.key(shelf="p"))], [lambda store: store.put(Box(shelf="p", name="a"))]],
        "writes": [[lambda store, name=name: store.put(Box(shelf="p", name="a", colour=name))] for name in "rg"],
    }
    assert len(endings(programs[lost])[0]) == 2
    meets = Footprint.meets

    def without(footprint: Footprint) -> Footprint:
        parts = {part: getattr(footprint, part) for part in ("reads", "writes", "touches")}
        return Footprint(**{**parts, lost: frozenset()})

    monkeypatch.setattr(Footprint, "meets", lambda one, other: meets(without(one), without(other)))
    assert len(endings(programs[lost])[0]) == 1
