"""Every order of requests and every lost reply: no number twice, one row for each create, nothing lost or made up."""

from __future__ import annotations

import pytest

from singletable import AutoIncrement, Entity, Field, Key, Store
from singletable.testing import InterleavingFailed, interleave
from tests.interleavings.gapless import GAPLESS
from tests.interleavings.scenes import SCENES, Order, Scene, add, app, explore, numbered, summed, with_accounts

SCHEDULES = 150
"""Schedules of a scene in the suite, at most; `python -m tests.interleavings` explores further."""


@pytest.mark.slow
@pytest.mark.parametrize("scene", [*SCENES, *GAPLESS], ids=lambda scene: scene.name)
def test_no_order_of_requests_breaks_it(scene: Scene) -> None:
    """What the scene promises holds after every schedule."""
    explored = explore(scene, most=SCHEDULES)
    assert explored.schedules > 1
    assert (explored.losses > 0) is (scene.losses > 0)


def test_what_is_known_to_be_open_is_found() -> None:
    """An `add` whose reply is lost, and that another follows before it is sent again, is added twice: a known limit."""
    with pytest.raises(InterleavingFailed) as failed:
        interleave(app, add(10), add(-30), setup=with_accounts, check=summed(10, -30), lost_replies=1)
    assert failed.value.schedule == "0:1!lost 1:1 0:2"


def counting(store: Store) -> Order:
    """Number an order as a program without singletable would: one more than there are, then a plain put."""
    number = 1 + len(store.query(Order.key(user="u")).all())
    return store.put(Order(user="u", number=number, by=f"{number}"))


def test_a_number_that_is_counted_is_found_out() -> None:
    """Two writers that count rows get one number, and one of them loses its order: the scenes' check sees it."""
    with pytest.raises(InterleavingFailed, match="the check raised AssertionError") as failed:
        interleave(app, counting, counting, check=numbered(Order))
    assert [step.split()[3] for step in failed.value.steps].count("put_item") == 2


class Slip(Entity, table=app, tag="slip"):
    user: Field[str]
    number: Field[int] = AutoIncrement(reuse="allow")
    key = Key(pk="#SLIP#{user}", sk="#SLIP#{number}")


def test_a_number_that_comes_again_is_found_out() -> None:
    """Without tombstones a number of what was deleted is given out again, in some order."""

    def gone(store: Store) -> int:
        made = store.create(Slip(user="u"))
        store.delete(made)
        return made.number

    def made(store: Store) -> int:
        return store.create(Slip(user="u")).number

    with pytest.raises(InterleavingFailed, match="the check gave False"):
        interleave(app, gone, made, check=lambda _, results: results[0] != results[1])
