"""Every order of requests and every lost reply: no number twice, one row for each create, nothing lost or made up."""

from __future__ import annotations

import pytest

from singletable.testing import InterleavingFailed, interleave
from tests.interleavings.scenes import SCENES, Scene, add, app, explore, summed, with_accounts

SLOW = 400
"""Schedules of a scene in the suite, at most; `python -m tests.interleavings` explores further."""


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_no_order_of_requests_breaks_it(scene: Scene) -> None:
    """What the scene promises holds after every schedule."""
    explored = explore(scene, most=SLOW)
    assert explored.schedules > 1
    assert (explored.losses > 0) is (scene.losses > 0)


def test_what_is_known_to_be_open_is_found() -> None:
    """An `add` whose reply is lost, and that another follows before it is sent again, is added twice: a known limit."""
    with pytest.raises(InterleavingFailed) as failed:
        interleave(app, add(10), add(-30), setup=with_accounts, check=summed(10, -30), lost_replies=1)
    assert failed.value.schedule == "0:1!lost 1:1 0:2"
