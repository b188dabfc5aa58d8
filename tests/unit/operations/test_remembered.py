"""Blocks of numbers as a store remembers them."""

from __future__ import annotations

from singletable.operations.remembered import Blocks


def test_numbers_are_given_out_once_and_in_order() -> None:
    """What is taken is gone; what is kept later comes after what is left."""
    blocks = Blocks()
    blocks.keep(("c", 1), range(1, 4))
    assert blocks.take(("c", 1), 2) == [1, 2]
    blocks.keep(("c", 1), [11, 12])
    assert blocks.take(("c", 1), 9) == [3, 11, 12]
    assert blocks.take(("c", 1), 1) == []


def test_all_or_nothing() -> None:
    """With `whole` too few are left where they are."""
    blocks = Blocks()
    blocks.keep(("c", 1), [1, 2])
    assert blocks.take(("c", 1), 3, whole=True) == []
    assert blocks.take(("c", 1), 2, whole=True) == [1, 2]


def test_what_was_taken_comes_back_in_its_place() -> None:
    """Numbers that were not given out after all are the first again."""
    blocks = Blocks()
    blocks.keep(("c", 1), [1, 2, 3])
    blocks.keep(("c", 1), blocks.take(("c", 1), 2))
    assert blocks.take(("c", 1), 3) == [1, 2, 3]


def test_a_counter_is_forgotten_whole() -> None:
    """Blocks of one counter go, whatever their step; those of others stay."""
    blocks = Blocks()
    for key in (("c", 1), ("c", 10), ("d", 1)):
        blocks.keep(key, [7])
    blocks.drop("c")
    assert [blocks.take(key, 1) for key in (("c", 1), ("c", 10), ("d", 1))] == [[], [], [7]]
