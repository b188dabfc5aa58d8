"""The checks once more, each as its sentence says it, pair by pair: slow, and plain enough to believe."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

from tests.proof.histories import Operation, Row

__all__ = ["duplicated", "giving_up", "left_out", "out_of_order", "stored_wrongly"]

Found: TypeAlias = set[tuple[str, str]]
"""The checks that fail, each with what it fails on."""


def duplicated(operations: Sequence[Operation], rows: Sequence[Row]) -> Found:
    """List the numbers that two ids have."""
    having = [
        (each.group, each.number, each.id) for each in operations if each.kind == "create" and each.outcome == "ok"
    ]
    having += [(row.group, row.number, row.id) for row in rows if row.kind == "entity"]
    return {("duplicate", f"{a[0]}:{a[1]}") for a, b in combinations(having, 2) if a[:2] == b[:2] and a[2] != b[2]}


def out_of_order(operations: Sequence[Operation], rows: Sequence[Row]) -> Found:
    """List the creates that a create with no lower a number was answered before."""
    found: Found = set()
    for later in operations:
        for earlier in operations:
            if later.given or later.kind == "delete" or earlier.kind == "delete" or later.group != earlier.group:
                continue
            if earlier.outcome != "ok" or earlier.replied is None or earlier.replied >= later.invoked:
                continue
            number = later.number if later.outcome == "ok" else _stored(later, rows)
            if number is not None and earlier.number is not None and number <= earlier.number:
                found.add(("order", later.id))
    return found


def _stored(operation: Operation, rows: Sequence[Row]) -> int | None:
    return min((row.number for row in rows if row.kind == "entity" and row.id == operation.id), default=None)


def left_out(operations: Sequence[Operation], rows: Sequence[Row], start: int, step: int) -> tuple[Found, int]:
    """List the groups that are not counted through, and count the numbers that nobody has."""
    found: Found = set()
    missing = 0
    for group in {each.group for each in operations} | {row.group for row in rows}:
        has = [each.number for each in operations if each.group == group and _drew(each)]
        has += [row.number for row in rows if row.group == group and row.kind != "counter"]
        numbers = [number for number in has if number is not None]
        if not numbers:
            continue
        wanted = [number for number in range(start, max(numbers) + 1) if (number - start) % step == 0]
        missing += sum(number not in numbers for number in wanted)
        if set(numbers) != set(wanted):
            found.add(("hole", group))
    return found, missing


def _drew(each: Operation) -> bool:
    return each.kind == "create" and each.outcome == "ok"


def stored_wrongly(operations: Sequence[Operation], rows: Sequence[Row], *, tombstones: bool) -> Found:
    """List the creates that are stored otherwise than they ended, and the rows that nobody made."""
    found: Found = set()
    for each in operations:
        if each.kind == "create":
            wrong = _wrong(each, operations, rows, tombstones)
            found |= {(wrong, each.id)} if wrong else set()
    for row in rows:
        made = any(each.kind == "create" and each.id == row.id for each in operations)
        removed = any(_removes(each, row.group, row.number) for each in operations)
        if (row.kind == "entity" and not made) or (row.kind == "tombstone" and not removed):
            found.add(("stray", f"{row.group}:{row.number}"))
    return found


def _wrong(create: Operation, operations: Sequence[Operation], rows: Sequence[Row], tombstones: bool) -> str:
    mine = [row for row in rows if row.kind == "entity" and row.id == create.id]
    deletes = [each for each in operations if _removes(each, create.group, create.number)]
    stones = [
        row for row in rows if row.kind == "tombstone" and (row.group, row.number) == (create.group, create.number)
    ]
    verdicts = {
        "stored twice": len(mine) >= 2,
        "failed, stored": create.outcome == "fail" and len(mine) == 1,
        "lost": create.outcome == "ok" and not mine and not deletes,
        "misplaced": create.outcome == "ok" and any(_elsewhere(row, create) for row in mine),
        "undead": create.outcome == "ok" and bool(mine) and any(each.outcome == "ok" for each in deletes),
        "no tombstone": create.outcome == "ok" and not mine and tombstones and not stones,
    }
    return next((name for name, wrong in verdicts.items() if wrong), "")


def _elsewhere(row: Row, create: Operation) -> bool:
    return (row.group, row.number) != (create.group, create.number)


def _removes(operation: Operation, group: str, number: int | None) -> bool:
    gone = operation.kind == "delete" and operation.outcome != "fail"
    return gone and (operation.group, operation.number) == (group, number)


def giving_up(operations: Sequence[Operation]) -> Found:
    """List the creates that gave up more tries than others can have taken from them."""
    found: Found = set()
    for each in operations:
        if each.kind == "create" and each.error == "SequenceContention" and each.replied is not None:
            others = [other for other in operations if _beside(other, each.group, each.invoked, each.replied)]
            if len(others) < each.tries - 1:
                found.add(("contention", each.id))
    return found


def _beside(other: Operation, group: str, begun: int, ended: int) -> bool:
    if other.kind == "delete" or other.outcome == "fail" or other.group != group or other.invoked > ended:
        return False
    return other.outcome == "unknown" or (other.replied is not None and other.replied >= begun)
