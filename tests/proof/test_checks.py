"""The checks find what is wrong, and only that: by hand, and against the slow ones on histories of all kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proof import naive
from tests.proof.checks import (
    Violation,
    deadlines,
    duplicates,
    exhausted,
    false_failures,
    hole_count,
    holes,
    order,
    out_of_bounds,
    stored_once,
    unjust_contention,
)
from tests.proof.histories import Kind, Operation, Outcome, Row, Trace

History: TypeAlias = tuple[list[Operation], list[Row]]

SMALL = st.integers(1, 6)
GROUPS = st.sampled_from("gh")
KINDS: st.SearchStrategy[Kind] = st.sampled_from(("create", "create", "delete"))
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(("ok", "fail", "unknown"))
NO_ROWS: list[Row] = []


def created(name: str, invoked: int, replied: int, number: int, group: str = "g") -> Operation:
    """Make a create that succeeded."""
    return Operation(name, "create", "w", group, invoked, replied, "ok", number)


def unknown(name: str, invoked: int) -> Operation:
    """Make a create of which nobody knows."""
    return Operation(name, "create", "w", "g", invoked)


def failed(name: str, invoked: int, replied: int, error: str = "Throttled", tries: int = 0) -> Operation:
    """Make a create that failed."""
    return Operation(name, "create", "w", "g", invoked, replied, "fail", error=error, tries=tries)


def deleted(number: int, outcome: Outcome = "ok") -> Operation:
    """Make a delete of a number."""
    return Operation(f"delete {number}", "delete", "w", "g", 50, 51, outcome, number)


def living(name: str, number: int, group: str = "g") -> Row:
    """Make the row of an entity."""
    return Row("entity", group, number, name)


def pairs(found: Iterable[Violation]) -> set[tuple[str, str]]:
    """Leave the details out."""
    return {(each.check, each.subject) for each in found}


@st.composite
def operations(draw: st.DrawFn) -> list[Operation]:
    """Draw a history that need not make sense: a few operations on few numbers, at few times."""
    found: list[Operation] = []
    for place in range(draw(st.integers(0, 8))):
        kind, outcome = draw(KINDS), draw(OUTCOMES)
        invoked = draw(st.integers(0, 12))
        replied = invoked + draw(st.integers(0, 4))
        number = draw(SMALL) if kind == "delete" or outcome == "ok" else None
        gave_up = kind == "create" and outcome == "fail"
        found.append(
            Operation(
                str(place),
                kind,
                "w",
                draw(GROUPS),
                invoked,
                replied,
                outcome,
                number,
                error="SequenceContention" if gave_up else "",
                tries=draw(SMALL) if gave_up else 0,
                given=draw(st.booleans()),
            )
        )
    return found


ROWS = st.lists(
    st.builds(
        Row,
        st.sampled_from(("entity", "entity", "tombstone", "counter")),
        GROUPS,
        SMALL,
        st.integers(0, 9).map(str),
    ),
    max_size=6,
)


@given(operations(), ROWS)
def test_duplicates_are_those_of_the_slow_check(history: list[Operation], rows: list[Row]) -> None:
    """A number is found twice exactly where two ids have it."""
    assert pairs(duplicates(history, rows)) == naive.duplicated(history, rows)


@given(operations(), ROWS)
def test_order_is_that_of_the_slow_check(history: list[Operation], rows: list[Row]) -> None:
    """A create is out of order exactly where an earlier one was answered with no lower a number."""
    assert pairs(order(history, rows)) == naive.out_of_order(history, rows)


@given(operations(), ROWS, st.integers(1, 3), st.integers(1, 3))
def test_holes_are_those_of_the_slow_check(history: list[Operation], rows: list[Row], start: int, step: int) -> None:
    """A group has a hole exactly where its numbers are not counted through, and holes are counted one by one."""
    groups, missing = naive.left_out(history, rows, start, step)
    assert pairs(holes(history, rows, start=start, step=step)) == groups
    assert hole_count(history, rows, start=start, step=step) == missing


@given(operations(), ROWS, st.booleans())
def test_stored_once_is_as_the_slow_check(history: list[Operation], rows: list[Row], tombstones: bool) -> None:
    """A create is stored wrongly exactly where the slow check says so, and for the same reason."""
    found = pairs(stored_once(history, rows, tombstones=tombstones))
    assert found == naive.stored_wrongly(history, rows, tombstones=tombstones)


@given(operations())
def test_contention_is_that_of_the_slow_check(history: list[Operation]) -> None:
    """Giving up is unjust exactly where fewer others were there than tries were lost."""
    assert pairs(unjust_contention(history)) == naive.giving_up(history)


# By hand

GOOD: History = (
    [
        created("a", 0, 2, 1),
        created("b", 1, 5, 3),
        unknown("c", 3),
        created("d", 6, 7, 4),
        failed("e", 8, 9),
        deleted(4),
        unknown("f", 60),
    ],
    [living("a", 1), living("c", 2), living("b", 3), Row("tombstone", "g", 4), Row("counter", "g", 5)],
)


def test_a_good_history_passes() -> None:
    """Where four numbers were drawn in order, one of them deleted and one by an unknown create, nothing is found."""
    assert duplicates(*GOOD) == []
    assert order(*GOOD) == []
    assert holes(*GOOD) == []
    assert hole_count(*GOOD) == 0
    assert stored_once(*GOOD, tombstones=True) == []
    assert out_of_bounds(*GOOD, max_value=5) == []
    assert exhausted(*GOOD, max_value=5) == []
    assert deadlines(GOOD[0], deadline=1.0, tries=16, grace=0.0) == []
    assert unjust_contention(GOOD[0]) == []
    assert false_failures(GOOD[0], due={"Throttled"}) == []


@pytest.mark.parametrize(
    ("history", "found"),
    [
        (([created("a", 0, 1, 1), created("b", 0, 1, 1)], NO_ROWS), {"g:1"}),
        (([created("a", 0, 1, 1), unknown("b", 0)], [living("b", 1)]), {"g:1"}),
        (([created("a", 0, 1, 1), deleted(1), created("b", 60, 61, 1)], NO_ROWS), {"g:1"}),
        (([created("a", 0, 1, 1), created("b", 0, 1, 1, "h")], [living("a", 1)]), set[str]()),
    ],
    ids=["two answers", "an answer and an unknown one that is stored", "one was deleted", "of two groups"],
)
def test_a_number_that_came_twice_is_found(history: History, found: set[str]) -> None:
    """A number counts for whoever was told it and for whoever is stored under it, in its own group."""
    assert {each.subject for each in duplicates(*history)} == found


def test_a_number_lower_than_an_older_one_is_found() -> None:
    """What was begun after 7 was answered must be above 7; what was begun before need not, and groups are apart."""
    history = [
        created("seven", 0, 3, 7),
        created("beside", 3, 4, 6),
        created("after", 4, 5, 5),
        created("other", 4, 5, 5, "h"),
        unknown("lost", 6),
    ]
    assert pairs(order(history, [])) == {("order", "after")}
    assert pairs(order(history, [living("lost", 6)])) == {("order", "after"), ("order", "lost")}


def test_a_hole_is_found() -> None:
    """Of 10, 20, 40 the 30 is missing; 25 is on no step; a tombstone fills a hole."""
    ten, twenty, forty = (living("x", number) for number in (10, 20, 40))
    assert pairs(holes([], [ten, twenty, forty], start=10, step=10)) == {("hole", "g")}
    assert hole_count([], [ten, twenty, forty], start=10, step=10) == 1
    assert pairs(holes([], [ten, living("y", 25)], start=10, step=10)) == {("hole", "g")}
    assert holes([], [ten, twenty, Row("tombstone", "g", 30), forty], start=10, step=10) == []


@pytest.mark.parametrize(
    ("create", "rows", "others", "found"),
    [
        (created("a", 0, 1, 1), [living("a", 1), living("a", 2)], [], ("stored twice", "a")),
        (created("a", 0, 1, 1), [], [], ("lost", "a")),
        (created("a", 0, 1, 1), [], [deleted(1, "fail")], ("lost", "a")),
        (created("a", 0, 1, 1), [], [deleted(1)], ("no tombstone", "a")),
        (created("a", 0, 1, 1), [living("a", 1)], [deleted(1)], ("undead", "a")),
        (created("a", 0, 1, 1), [living("a", 2)], [], ("misplaced", "a")),
        (failed("a", 0, 1), [living("a", 1)], [], ("failed, stored", "a")),
        (unknown("a", 0), [living("a", 1), living("a", 2)], [], ("stored twice", "a")),
        (unknown("a", 0), [living("b", 1)], [], ("stray", "g:1")),
        (unknown("a", 0), [Row("tombstone", "g", 1)], [], ("stray", "g:1")),
    ],
)
def test_what_is_not_stored_just_once_is_found(
    create: Operation, rows: list[Row], others: list[Operation], found: tuple[str, str]
) -> None:
    """A create that is stored otherwise than it ended is told by name."""
    assert pairs(stored_once([create, *others], rows, tombstones=True)) == {found}


@pytest.mark.parametrize("outcome", ["ok", "unknown"])
def test_what_was_deleted_may_be_gone(outcome: Outcome) -> None:
    """A create may be gone where it was deleted, or may have been, with no tombstone where none is promised."""
    assert stored_once([created("a", 0, 1, 1), deleted(1, outcome)], [], tombstones=False) == []


def test_what_is_above_the_highest_number_is_found() -> None:
    """Up to 5, six is too many, in an answer, a row and a counter; and a counter is no lower than a row."""
    assert pairs(out_of_bounds([created("a", 0, 1, 6)], [], 5)) == {("bounds", "g:6")}
    assert pairs(out_of_bounds([], [living("a", 6)], 5)) == {("bounds", "g:6")}
    assert pairs(out_of_bounds([], [Row("counter", "g", 6)], 5)) == {("counter", "g")}
    assert pairs(out_of_bounds([], [living("a", 4), Row("counter", "g", 3)], 5)) == {("counter", "g")}


def test_what_was_not_used_up_is_found() -> None:
    """After SequenceExhausted no number comes, and the highest is there; before it, and beside it, all is well."""
    said = failed("x", 4, 6, "SequenceExhausted")
    assert exhausted([said, created("beside", 5, 9, 5)], [living("beside", 5)], 5) == []
    assert pairs(exhausted([said, created("after", 7, 9, 5)], [living("after", 5)], 5)) == {("exhausted", "after")}
    assert pairs(exhausted([said], [living("a", 4)], 5)) == {("exhausted", "g")}
    assert exhausted([said], [living("a", 4)], 5, step=2) == []


def test_what_goes_on_past_its_deadline_is_found() -> None:
    """A create may take its deadline and a grace from its first request on, and so many tries."""
    late = Operation("late", "create", "w", "g", 0, 3_000_000_000, "ok", 1, trace=Trace(first=500_000_000))
    assert deadlines([late], deadline=2.0, tries=16, grace=0.5) == []
    assert pairs(deadlines([late], deadline=2.0, tries=16, grace=0.4)) == {("deadline", "late")}
    stubborn = failed("stubborn", 0, 1, "SequenceContention", tries=17)
    assert pairs(deadlines([stubborn], deadline=2.0, tries=16, grace=0.0)) == {("tries", "stubborn")}


def test_giving_up_to_nobody_is_found() -> None:
    """Three tries are lost to two others at least; those that had ended, or failed, took nothing."""
    gave_up = failed("x", 10, 20, "SequenceContention", tries=3)
    before, beside = created("before", 0, 9, 1), created("beside", 0, 10, 2)
    assert pairs(unjust_contention([gave_up, before, beside])) == {("contention", "x")}
    assert pairs(unjust_contention([gave_up, beside, failed("f", 11, 12)])) == {("contention", "x")}
    assert unjust_contention([gave_up, beside, unknown("lost", 1)]) == []


def test_an_error_that_was_not_due_is_found() -> None:
    """AlreadyExists is due for a number that was given, and for one that became another's before it was run again."""
    taken = failed("a", 0, 1, "AlreadyExists")
    given = Operation("g", "create", "w", "g", 0, 1, "fail", error="AlreadyExists", given=True)
    again = Operation("b", "create", "w", "g", 0, 1, "fail", error="AlreadyExists", resumed=True)
    assert pairs(false_failures([taken, again], due={"Throttled"})) == {("false failure", "a"), ("false failure", "b")}
    assert pairs(false_failures([taken, again, given], due=(), retaken=True)) == {("false failure", "a")}
    assert false_failures([taken], due={"AlreadyExists"}) == []
