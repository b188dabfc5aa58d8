"""Blocks of numbers as a store remembers them."""

from __future__ import annotations

from singletable.operations.remembered import Blocks, Hints


def test_a_hint_is_good_for_some_turns() -> None:
    """After so many numbers in a row the highest is to be read again, and then it is good for as many."""
    hints = Hints(turns=3)
    for _ in range(2):
        for number in (1, 2, 3):
            hints.keep("p", number, 0.0)
            assert hints.get("p", 1.0) == (number if number < 3 else None)


def test_a_hint_grows_old() -> None:
    """After its seconds it is forgotten, and so is the one used longest ago where there are too many."""
    hints = Hints(size=2, seconds=10.0)
    hints.keep("p", 7, 0.0)
    assert (hints.get("p", 9.9), hints.get("p", 10.0)) == (7, None)
    for key in "abc":
        hints.keep(key, 1, 0.0)
    assert [hints.get(key, 0.0) for key in "abc"] == [None, 1, 1]


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
