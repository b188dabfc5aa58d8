"""What must hold of a history and the rows that are left: each check gives what violates it.

Theory of operation. All are pure functions over a merged history and the whole table read afterwards, at rest. None
takes longer than sorting does, so that twenty thousand operations are checked in a moment. The numbers of a run
are the drawn ones that somebody was told and those that stand in the table, so what was stored unbeknown counts too.
An operation whose outcome is unknown may have happened or not; it has no end, so nothing comes after it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tests.proof.histories import Operation, Row

__all__ = [
    "Violation",
    "deadlines",
    "duplicates",
    "exhausted",
    "false_failures",
    "hole_count",
    "holes",
    "order",
    "out_of_bounds",
    "stored_once",
    "unjust_contention",
]

Operations: TypeAlias = Sequence[Operation]
Rows: TypeAlias = Sequence[Row]
Place: TypeAlias = tuple[str, int]
"""A number in its group."""


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One thing that must not be: which check found it, on which operation or number, and what is wrong."""

    check: str
    subject: str
    detail: str = ""


def duplicates(operations: Operations, rows: Rows) -> list[Violation]:
    """Find the numbers that two logical operations have, be they living, deleted or unknown ones that were stored."""
    owners: dict[Place, set[str]] = defaultdict(set)
    for place, owner in _numbered(operations, rows):
        owners[place].add(owner)
    twice = {place: sorted(ids) for place, ids in owners.items() if len(ids) > 1}
    return [Violation("duplicate", _text(place), " ".join(ids)) for place, ids in twice.items()]


def order(operations: Operations, rows: Rows) -> list[Violation]:
    """Find the creates whose number is no higher than one that was answered in their group before they were begun.

    A create that brings its number along may bring a low one; those after it are above it all the same.
    """
    stored = {row.id: row.number for row in sorted(_living(rows), key=_number, reverse=True)}
    known = [
        (each, number)
        for each in _creates(operations)
        if (number := each.number if each.outcome == "ok" else stored.get(each.id)) is not None
    ]
    answered = sorted((each.replied, each.group, number) for each, number in known if each.outcome == "ok")
    highest: dict[str, int] = {}
    found: list[Violation] = []
    position = 0
    for each, number in sorted(known, key=lambda pair: pair[0].invoked):
        while position < len(answered) and (answered[position][0] or 0) < each.invoked:
            _, group, value = answered[position]
            highest[group] = max(value, highest.get(group, value))
            position += 1
        if not each.given and number <= highest.get(each.group, number - 1):
            found.append(Violation("order", each.id, f"{number} was begun after {highest[each.group]} was answered"))
    return found


def hole_count(operations: Operations, rows: Rows, *, start: int = 1, step: int = 1) -> int:
    """Count the numbers below the highest of each group that nobody has; tombstones are somebody's."""
    return sum(
        len(range(start, max(numbers) + 1, step)) - sum(_fits(number, start, step) for number in numbers)
        for numbers in _by_group(operations, rows).values()
    )


def holes(operations: Operations, rows: Rows, *, start: int = 1, step: int = 1) -> list[Violation]:
    """Find the groups whose numbers are not start, start + step and so on without one left out."""
    found: list[Violation] = []
    for group, numbers in _by_group(operations, rows).items():
        wanted = range(start, start + step * len(numbers), step)
        wrong = [number for number, right in zip(sorted(numbers), wanted, strict=True) if number != right]
        if wrong:
            found.append(Violation("hole", group, f"{wrong[0]} is the first that does not follow"))
    return found


def stored_once(operations: Operations, rows: Rows, *, tombstones: bool) -> list[Violation]:
    """Find the logical creates that are not stored as their outcome says, and the rows that are nobody's.

    What succeeded is stored once under the number that was answered, or was deleted later; what failed is not stored;
    what is unknown is stored at most once. With `tombstones` a number that was deleted left one, and nothing else did.
    """
    creates = {each.id: each for each in _creates(operations)}
    places: dict[str, list[Place]] = {name: [] for name in creates}
    found: list[Violation] = []
    for row in _living(rows):
        if row.id in places:
            places[row.id].append((row.group, row.number))
        else:
            found.append(Violation("stray", _text((row.group, row.number)), f"{row.id} was never begun"))
    deleted = _deleted(operations)
    stones = {(row.group, row.number) for row in rows if row.kind == "tombstone"}
    for name, create in creates.items():
        wrong = _misplaced(create, places[name], deleted) or (tombstones and _unburied(create, places[name], stones))
        if wrong:
            found.append(Violation(wrong, name, f"{create.outcome} {create.number} {places[name]}"))
    found += [Violation("stray", _text(place), "a tombstone of no delete") for place in stones if place not in deleted]
    return found


def _misplaced(create: Operation, places: Sequence[Place], deleted: dict[Place, bool]) -> str:
    """Say what is wrong with where a create is stored; empty where nothing is."""
    if len(places) > 1:
        return "stored twice"
    if create.outcome == "fail":
        return "failed, stored" if places else ""
    if create.outcome == "unknown":
        return ""
    place = (create.group, create.number or 0)
    if not places:
        return "" if place in deleted else "lost"
    if places[0] != place:
        return "misplaced"
    return "undead" if deleted.get(place, False) else ""


def _unburied(create: Operation, places: Sequence[Place], stones: set[Place]) -> str:
    buried = (create.group, create.number or 0) in stones
    return "no tombstone" if create.outcome == "ok" and not places and not buried else ""


def _deleted(operations: Operations) -> dict[Place, bool]:
    """Tell of each number that somebody tried to delete, without failing for certain, whether it surely is."""
    found: dict[Place, bool] = {}
    for each in operations:
        if each.kind == "delete" and each.outcome != "fail" and each.number is not None:
            place = (each.group, each.number)
            found[place] = found.get(place, False) or each.outcome == "ok"
    return found


def out_of_bounds(operations: Operations, rows: Rows, max_value: int) -> list[Violation]:
    """Find the numbers and counters above `max_value`, and the counters below a number of their group."""
    numbers = _by_group(operations, rows)
    found = [
        Violation("bounds", _text((group, number)), f"above {max_value}")
        for group, each in numbers.items()
        for number in each
        if number > max_value
    ]
    for row in rows:
        highest = max(numbers.get(row.group, ()), default=row.number)
        if row.kind == "counter" and not highest <= row.number <= max_value:
            found.append(Violation("counter", row.group, f"it holds {row.number} beside {highest}"))
    return found


def exhausted(operations: Operations, rows: Rows, max_value: int, *, step: int = 1) -> list[Violation]:
    """Find what was said to be used up and was not, and the creates that drew a number after that was answered."""
    said: dict[str, int] = {}
    for each in operations:
        if each.error == "SequenceExhausted" and each.replied is not None:
            said[each.group] = min(each.replied, said.get(each.group, each.replied))
    highest: dict[str, int] = {}
    for row in rows:
        highest[row.group] = max(row.number, highest.get(row.group, row.number))
    found = [
        Violation("exhausted", group, f"at {highest.get(group)} of {max_value}")
        for group in said
        if highest.get(group, max_value - step) <= max_value - step
    ]
    found += [
        Violation("exhausted", each.id, f"it drew {each.number} afterwards")
        for each in _creates(operations)
        if each.outcome == "ok" and each.group in said and each.invoked > said[each.group]
    ]
    return found


def deadlines(operations: Operations, *, deadline: float, tries: int, grace: float) -> list[Violation]:
    """Find the creates that went on for longer than their deadline (in seconds) and a grace, or for more tries.

    They count from their first request: waiting for one's turn in the process comes before.
    """
    found: list[Violation] = []
    for each in _creates(operations):
        if each.tries > tries:
            found.append(Violation("tries", each.id, f"{each.tries} of {tries}"))
        if each.trace.first is None or each.replied is None or each.resumed:
            continue
        seconds = (each.replied - each.trace.first) / 1e9
        if seconds > deadline + grace:
            found.append(Violation("deadline", each.id, f"{seconds:.3f} s"))
    return found


def unjust_contention(operations: Operations) -> list[Violation]:
    """Find the creates that gave up to others though there were not so many others.

    A number is lost to a create that goes on at the same time, each to another one. The first try alone may come from
    what the process remembers, and be lost to an older create.
    """
    begun: dict[str, list[int]] = defaultdict(list)
    ended: dict[str, list[int]] = defaultdict(list)
    for each in _creates(operations):
        if each.outcome != "fail":
            begun[each.group].append(each.invoked)
            if each.outcome == "ok" and each.replied is not None:
                ended[each.group].append(each.replied)
    for times in (*begun.values(), *ended.values()):
        times.sort()
    found: list[Violation] = []
    for each in _creates(operations):
        if each.error == "SequenceContention" and each.replied is not None:
            others = bisect_right(begun[each.group], each.replied) - bisect_left(ended[each.group], each.invoked)
            if others < each.tries - 1:
                found.append(Violation("contention", each.id, f"{each.tries} tries beside {others} others"))
    return found


def false_failures(operations: Operations, *, due: Collection[str], retaken: bool = False) -> list[Violation]:
    """Find the operations that failed with an error that was not due.

    AlreadyExists is due for a number that was brought along; with `retaken` also for an unknown create that is run
    again, whose number may have become another's.
    """
    return [
        Violation("false failure", each.id, each.error)
        for each in operations
        if each.outcome == "fail"
        and each.error not in due
        and not (each.error == "AlreadyExists" and (each.given or (retaken and each.resumed)))
    ]


def _numbered(operations: Operations, rows: Rows) -> Iterator[tuple[Place, str]]:
    """Give every number with the logical operation that has it."""
    for each in _creates(operations):
        if each.outcome == "ok" and each.number is not None:
            yield (each.group, each.number), each.id
    for row in _living(rows):
        yield (row.group, row.number), row.id


def _by_group(operations: Operations, rows: Rows) -> dict[str, set[int]]:
    """Give the numbers of each group that somebody has or had."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for (group, number), _ in _numbered(operations, rows):
        numbers[group].add(number)
    for row in rows:
        if row.kind == "tombstone":
            numbers[row.group].add(row.number)
    return numbers


def _fits(number: int, start: int, step: int) -> bool:
    return number >= start and (number - start) % step == 0


def _creates(operations: Iterable[Operation]) -> Iterator[Operation]:
    return (each for each in operations if each.kind == "create")


def _living(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if row.kind == "entity")


def _number(row: Row) -> int:
    return row.number


def _text(place: Place) -> str:
    return f"{place[0]}:{place[1]}"
