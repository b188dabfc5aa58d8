"""Ids that a constructor draws: unique, sorted by time, never made up for what is stored."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, cast
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.entity import Entity, evolve
from singletable.errors import CorruptItem, DeclarationError
from singletable.fields import Field
from singletable.identifiers import TimeOrdered, Ulid, Uuid7, ulid_text, uuid7_of
from singletable.mapping import from_item, to_item
from singletable.patterns import Key
from singletable.schema import Table

table = Table("ids")


class Event(Entity, table=table, tag="event"):
    event_id: Field[str] = Ulid()
    trace: Field[UUID] = Uuid7(name="t")
    key = Key(pk="#EVENT#{trace}", sk="#{event_id}")


def drawer(times: list[int], chance: Callable[[int], int]) -> TimeOrdered:
    """Make a drawer whose clock says these times, one after the other."""
    return TimeOrdered(8, clock=iter(times).__next__, chance=chance)


def test_each_is_greater_while_the_clock_stands_or_goes_back() -> None:
    """Time stands first, then chance; where time does not go on, the last number is increased."""
    ids = drawer([5, 5, 3, 6], lambda bits: bits)
    assert [ids.draw() for _ in range(4)] == [5 << 8 | 8, (5 << 8 | 8) + 33, (5 << 8 | 8) + 66, 6 << 8 | 8]


def test_a_full_millisecond_goes_on_in_the_next() -> None:
    """Chance that overflows carries into the time, so that order and uniqueness hold."""
    ids = drawer([5, 5, 6], lambda bits: 2**bits - 1 if bits == 8 else 0)
    drawn = [ids.draw() for _ in range(3)]
    assert drawn == [5 << 8 | 255, 6 << 8, (6 << 8) + 1]


@given(st.lists(st.integers(0, 2**48 - 1), min_size=1, max_size=20))
def test_order_holds_whatever_the_clock_says(times: list[int]) -> None:
    """Numbers, ULIDs and UUIDs of one process are strictly increasing."""
    numbers = TimeOrdered(74, clock=iter(times).__next__, chance=lambda bits: 2**bits - 1)
    drawn = [numbers.draw() for _ in times]
    assert all(low < high for low, high in pairwise(drawn))
    texts, uuids = [ulid_text(each) for each in drawn], [uuid7_of(each) for each in drawn if each < 2**122]
    assert texts == sorted(texts)
    assert uuids == sorted(uuids)
    assert all(each.version == 7 and each.variant == RFC_4122 for each in uuids)


def an_event(_number: int) -> Event:
    """Make one, for a thread."""
    return Event()


def test_threads_never_draw_the_same() -> None:
    """Many threads get as many ids."""
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(an_event, range(500)))
    assert len({event.event_id for event in made}) == len({event.trace for event in made}) == 500


FORKS = """
import os
from singletable.identifiers import UUIDS
before = UUIDS.draw()
reading, writing = os.pipe()
if not os.fork():
    os.write(writing, str(UUIDS.draw()).encode())
    os._exit(0)
os.wait()
print(before, os.read(reading, 100).decode(), UUIDS.draw())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_draws_others() -> None:
    """A child does not go on from its parent's last number, from where the parent goes on: it begins anew."""
    ran = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60, check=True)
    before, theirs, ours = map(int, ran.stdout.split())
    assert abs(theirs - before) > 2**40
    assert before < ours != theirs


class TestFields:
    def test_an_entity_draws_its_own(self) -> None:
        """Each entity has another id, which says when it was made; one that is given is kept."""
        one, two = Event(), Event()
        assert one.event_id < two.event_id
        assert one.trace < two.trace
        made = datetime.fromtimestamp((one.trace.int >> 80) / 1000, UTC)
        assert abs(datetime.now(UTC) - made) < timedelta(minutes=1)
        assert Event(event_id="mine").event_id == "mine"

    def test_it_is_kept(self) -> None:
        """Storing, reading and evolving keep the id."""
        event = Event()
        assert from_item(Event, to_item(event)) == event
        assert to_item(event)["t"] == {"S": str(event.trace)}
        assert evolve(event, event_id="other").trace == event.trace

    def test_none_is_made_up_for_an_old_item(self) -> None:
        """An item without it is corrupt, not given another id with every read."""

        class Log(Entity, table=table, tag="log"):
            name: Field[str]
            log_id: Field[str] = Ulid()
            other: Field[UUID] = Uuid7()
            key = Key(pk="#LOG#{name}", sk="#LOG")

        for name in ("log_id", "other"):
            item = to_item(Log(name="n"))
            del item[name]
            with pytest.raises(CorruptItem, match=f"'{name}' is absent"):
                from_item(Log, item)

    def test_the_annotation_must_fit(self) -> None:
        """A ULID is text and a UUID is a UUID; anything else fails in the class statement."""
        ulid, uuid7 = cast("Any", Ulid()), cast("Any", Uuid7())
        with pytest.raises(DeclarationError, match="Ulid draws a str"):

            class WrongUlid(Entity, table=table, tag="wrong"):  # pyright: ignore[reportUnusedClass]
                it: Field[UUID] = ulid
                key = Key(pk="#WRONG", sk="#{it}")

        with pytest.raises(DeclarationError, match="Uuid7 draws a UUID"):

            class WrongUuid(Entity, table=table, tag="wrong"):  # pyright: ignore[reportUnusedClass]
                it: Field[str] = uuid7
                key = Key(pk="#WRONG", sk="#{it}")
