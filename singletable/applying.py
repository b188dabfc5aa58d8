"""What changes make of an item, worked out on this side as DynamoDB would.

An update that index keys or computed values depend on needs the answer before it is sent. Rules from AWS, "Update
expressions", and from ScyllaDB's tests of DynamoDB itself: every right side is read from the item as it was; a place
beyond the end of a list is its end, several in the order of their numbers; removals count places as they were; a set
without members is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from decimal import Context, Decimal, Inexact
from typing import Any

from singletable.errors import PlaceMissing
from singletable.expressions import Change, Function, Path, Term
from singletable.judging import at
from singletable.scalars import number_text
from singletable.wire import AttributeValue, Item

__all__ = ["applied"]

EXACT = Context(prec=38, traps=[Inexact])
"""DynamoDB holds 38 digits; a sum with more is an error, never rounded."""


def applied(changes: Iterable[Change], item: Item) -> Item:
    """Give an item as the changes leave it; the item itself stays. PlaceMissing where DynamoDB would refuse one.

    `decimal.Inexact` for a sum of more than 38 digits, CodecError for one outside DynamoDB's range.

    >>> more = Function("+", (Path(("n",)), {"N": "2"}))
    >>> applied([Change("set", Path(("n",)), more), Change("remove", Path(("a",)))], {"n": {"N": "1"}, "a": {"S": "x"}})
    {'n': {'N': '3'}}
    """
    results = [(change.path, _result(change, item)) for change in changes]
    after: Item = deepcopy(item)
    for path, value in sorted(results, key=lambda result: _place(result[0])):
        if value is not None:
            _put(after, path, value)
    for path, value in sorted(results, key=lambda result: _place(result[0]), reverse=True):
        if value is None:
            _drop(after, path)
    return after


def _place(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if isinstance(step, int) else (-1, step) for step in path.segments)


# What a change puts there.


def _result(change: Change, item: Item) -> AttributeValue | None:
    """Give what stands at the place after a change; None where nothing does."""
    if change.action == "remove":
        return None
    given = _worked_out(change.value or {}, item)
    if change.action == "set":
        return given
    there = at(change.path.segments, {"M": item}) or change.base
    if "N" in given:
        return given if there is None else _sum("+", there, given)
    ((kind, members),) = given.items()
    held: list[Any] = [] if there is None else there.get(kind, [])
    return (_joined if change.action == "add" else _without)(kind, held, members)


def _worked_out(term: Term, item: Item) -> AttributeValue:
    if isinstance(term, Function):
        return _FUNCTIONS[term.name](term, item)
    if not isinstance(term, Path):
        return term
    found = at(term.segments, {"M": item})
    if found is None:
        raise PlaceMissing(
            f"a change takes its value from {term.attribute!r}, where nothing is stored",
            hint="say what counts then: set(Order.nick | 'unknown')",
        )
    return found


def _signed(term: Function, item: Item) -> AttributeValue:
    one, other = (_worked_out(each, item) for each in term.terms)
    return _sum(term.name, one, other)


def _sum(sign: str, one: AttributeValue, other: AttributeValue) -> AttributeValue:
    work = EXACT.add if sign == "+" else EXACT.subtract
    return {"N": number_text(work(_decimal(one), _decimal(other)))}


def _decimal(value: AttributeValue) -> Decimal:
    if "N" not in value:
        raise _misplaced("a number is added to what is none")
    return Decimal(value["N"])


def _or_else(term: Function, item: Item) -> AttributeValue:
    path, other = term.terms
    found = at(path.segments, {"M": item}) if isinstance(path, Path) else None
    return _worked_out(other, item) if found is None else found


def _appended(term: Function, item: Item) -> AttributeValue:
    one, other = (_worked_out(each, item) for each in term.terms)
    if "L" not in one or "L" not in other:
        raise _misplaced("elements are put to what is no list")
    return {"L": [*one["L"], *other["L"]]}


_FUNCTIONS: Mapping[str, Callable[[Function, Item], AttributeValue]] = {
    "+": _signed,
    "-": _signed,
    "if_not_exists": _or_else,
    "list_append": _appended,
}


def _joined(kind: str, held: list[Any], members: list[Any]) -> AttributeValue:
    known = {_member(kind, each) for each in held}
    return {kind: [*held, *(each for each in members if _member(kind, each) not in known)]}


def _without(kind: str, held: list[Any], members: list[Any]) -> AttributeValue | None:
    gone = {_member(kind, each) for each in members}
    left = [each for each in held if _member(kind, each) not in gone]
    return {kind: left} if left else None


def _member(kind: str, payload: Any) -> object:
    return Decimal(payload) if kind == "NS" else payload


# Where it stands.


def _put(item: Item, path: Path, value: AttributeValue) -> None:
    holder, last = _above(item, path), path.segments[-1]
    if isinstance(last, str) and "M" in holder:
        holder["M"][last] = value
    elif isinstance(last, int) and "L" in holder:
        holder["L"][last : last + 1] = [value]
    else:
        raise _misplaced("a change writes into what is no map or list")


def _drop(item: Item, path: Path) -> None:
    holder, last = _above(item, path), path.segments[-1]
    if isinstance(last, str) and "M" in holder:
        holder["M"].pop(last, None)
    elif isinstance(last, int) and "L" in holder:
        del holder["L"][last : last + 1]
    else:
        raise _misplaced("a change removes from what is no map or list")


def _above(item: Item, path: Path) -> AttributeValue:
    found = at(path.segments[:-1], {"M": item})
    if found is None:
        raise _misplaced(f"a change of {path.attribute!r} writes into a map or list that is not there")
    return found


def _misplaced(what: str) -> PlaceMissing:
    return PlaceMissing(what, hint='set the whole field instead: Order.address.set({"city": ...})')
