"""Conditions and changes, as values.

A condition is a small immutable tree over attribute paths and values already in DynamoDB JSON; PynamoDB's expression
language (`pynamodb.expressions`) writes it as text when a request is made, with every name and value behind a
placeholder, so that no stored name and no value can ever be read as syntax. PynamoDB is loaded then, not at import.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from singletable.errors import DeclarationError, NoTruthValue, QueryError
from singletable.wire import AttributeValue

__all__ = [
    "IN_OPERANDS",
    "Change",
    "Condition",
    "Expressions",
    "Function",
    "Path",
    "Term",
    "all_of",
    "any_of",
    "no_truth",
    "overlap",
    "paths_in",
    "paths_of",
]

IN_OPERANDS = 100
"""At most so many values may stand in `IN`. Source: AWS, "Service quotas", Expression parameters."""

EXPRESSION_BYTES = 4096
"""At most so many bytes may one expression have. Source: as above."""

OPERATORS = 300
"""At most so many operators and functions may one expression have. Source: as above."""


def no_truth(what: str, instead: str) -> NoReturn:
    """Raise for a value that was used in `if`, `and`, `or`, `not` or `in`."""
    raise NoTruthValue(f"{what} has no truth value", hint=instead)


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value stands in an item: the attribute's stored name, then the steps into maps (names) and lists (ints).

    `source` is the field it was made from, so that a condition or change of another class is told.
    """

    segments: tuple[str | int, ...]
    source: object = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.segments:
            if isinstance(name, str) and (not name or "[" in name or "]" in name):
                raise DeclarationError(
                    f"attribute name {name!r} cannot be used in an expression",
                    hint="choose a name that is not empty and holds neither '[' nor ']'",
                )

    @property
    def attribute(self) -> str:
        """The stored name of the attribute it stands in."""
        return str(self.segments[0])

    @property
    def is_nested(self) -> bool:
        """Whether it stands inside a list or map."""
        return len(self.segments) > 1


@dataclass(frozen=True, slots=True)
class Function:
    """A value that DynamoDB works out: `size` in conditions; `+`, `-`, `if_not_exists`, `list_append` in changes."""

    name: str
    terms: tuple[Term, ...]


Term: TypeAlias = Path | AttributeValue | Function
"""What stands at one side of a comparison or at the right of an assignment."""


def paths_in(term: Term | None) -> Iterator[Path]:
    """Give the paths a term looks at."""
    if isinstance(term, Path):
        yield term
    elif isinstance(term, Function):
        for each in term.terms:
            yield from paths_in(each)


def overlap(one: Path, other: Path) -> bool:
    """Say whether one place is the other, or inside it: one update may not change both.

    >>> overlap(Path(("a",)), Path(("a", "b"))), overlap(Path(("a", "b")), Path(("a", "c")))
    (True, False)
    """
    common = min(len(one.segments), len(other.segments))
    return one.segments[:common] == other.segments[:common]


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A condition on an item, combined by `&`, `|` and `~`; it has no truth value and no equality of its own."""

    operator: str
    operands: tuple[Term | Condition, ...]

    def __and__(self, other: Condition) -> Condition:
        return Condition("AND", (self, _condition(other, "&")))

    def __or__(self, other: Condition) -> Condition:
        return Condition("OR", (self, _condition(other, "|")))

    def __invert__(self) -> Condition:
        return Condition("NOT", (self,))

    def __bool__(self) -> bool:
        no_truth("a condition", "combine conditions with &, | and ~ and put each comparison in brackets")

    def __repr__(self) -> str:
        return f"<condition {self.operator} on {', '.join(sorted({path.attribute for path in paths_of(self)}))}>"


def _condition(value: object, sign: str) -> Condition:
    if isinstance(value, Condition):
        return value
    raise QueryError(
        f"the right side of {sign} is {type(value).__name__}, not a condition",
        hint="& and | bind tighter than ==: write (Order.status == 'x') & (Order.total > 1)",
    )


def all_of(conditions: Iterable[Condition | None]) -> Condition | None:
    """Join the conditions that are there with AND; None if there are none."""
    return _joined("AND", conditions)


def any_of(conditions: Iterable[Condition | None]) -> Condition | None:
    """Join the conditions that are there with OR; None if there are none."""
    return _joined("OR", conditions)


def _joined(operator: str, conditions: Iterable[Condition | None]) -> Condition | None:
    whole: Condition | None = None
    for condition in conditions:
        if condition is not None:
            whole = condition if whole is None else Condition(operator, (whole, condition))
    return whole


def paths_of(condition: Condition) -> tuple[Path, ...]:
    """List every path a condition looks at, in order of appearance."""
    return tuple(path for operand in _leaves(condition) for path in paths_in(operand))


def _leaves(condition: Condition) -> Iterator[Term]:
    """Give every operand that is no condition, in order; however deep conditions are nested."""
    left: list[Term | Condition] = [condition]
    while left:
        operand = left.pop()
        if isinstance(operand, Condition):
            left.extend(reversed(operand.operands))
        else:
            yield operand


def _operators(whole: Condition | Term | None) -> int:
    """Count the operators and functions of a condition, or of the right side of a change."""
    count, left = 0, [whole]
    while left:
        each = left.pop()
        if isinstance(each, Condition | Function):
            count += 1
            left.extend(each.operands if isinstance(each, Condition) else each.terms)
    return count


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One change of an update: `action` is set, remove, add or delete; `value` in DynamoDB JSON, `given` as it was.

    The value of a `set` may be worked out by DynamoDB from what is stored. `base` is what an absent attribute counts
    as when a number is added to it; None for 0.
    """

    action: str
    path: Path
    value: Term | None = None
    given: object = None
    base: AttributeValue | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it sets or removes a whole attribute, whatever is stored."""
        return self.action in ("set", "remove") and not self.path.is_nested and not isinstance(self.value, _WORKED_OUT)

    @property
    def is_repeatable(self) -> bool:
        """Whether carrying it out twice comes to the same as once.

        A place in a list is another one when elements were removed or put at the end.
        """
        if isinstance(self.path.segments[-1], int):
            return False
        if self.action == "set":
            return not isinstance(self.value, _WORKED_OUT) or self._fills
        return self.action != "add" or not isinstance(self.value, dict) or "N" not in self.value

    @property
    def _fills(self) -> bool:
        """Whether it sets a place that is empty, and otherwise keeps what is there."""
        value = self.value
        if not isinstance(value, Function) or value.name != "if_not_exists":
            return False
        return value.terms[0] == self.path and not any(isinstance(each, _WORKED_OUT) for each in value.terms[1:])

    def __bool__(self) -> bool:
        no_truth("a change", "hand it to store.update(...)")

    def __repr__(self) -> str:
        return f"<change {self.action} {self.path.attribute}{'...' if self.path.is_nested else ''}>"


_WORKED_OUT = (Path, Function)

ConditionOf: TypeAlias = Any
"""A condition, operand or action of PynamoDB's, which declares no types for them."""


@dataclass(slots=True)
class Expressions:
    """The expressions of one request, sharing one table of names and one of values."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def condition(self, condition: Condition) -> str:
        """Write a condition as text. QueryError beyond DynamoDB's 300 operators or 4 KB."""
        _check_operators("condition", _operators(condition))
        return self._sized("condition", _pynamodb_condition(condition).serialize(self.names, self.values))

    def update(self, changes: Sequence[Change]) -> str:
        """Write changes as one update expression: every SET, then REMOVE, ADD and DELETE. QueryError as above."""
        from pynamodb.expressions.update import Update

        _check_operators("update", sum(_operators(change.value) for change in changes))
        update: ConditionOf = Update(*map(_pynamodb_action, changes))
        return self._sized("update", update.serialize(self.names, self.values))

    def name(self, attribute: str) -> str:
        """Give the placeholder of an attribute's name."""
        from pynamodb.expressions.util import substitute_names

        return substitute_names([attribute], self.names)

    def value(self, value: AttributeValue) -> str:
        """Give the placeholder of a value."""
        from pynamodb.expressions.util import get_value_placeholder

        return get_value_placeholder(value, self.values)

    def params(self) -> dict[str, dict[str, Any]]:
        """Give the two tables as request parameters; an empty one is left out, as DynamoDB requires."""
        tables: dict[str, dict[str, Any]] = {
            "ExpressionAttributeNames": {placeholder: name for name, placeholder in self.names.items()},
            "ExpressionAttributeValues": self.values,
        }
        return {key: table for key, table in tables.items() if table}

    @staticmethod
    def _sized(what: str, text: str) -> str:
        size = len(text.encode())
        if size > EXPRESSION_BYTES:
            raise QueryError(
                f"the {what} expression has {size} bytes, at most {EXPRESSION_BYTES} are allowed",
                hint="split it into several requests, or compare fewer values",
            )
        return text


def _check_operators(what: str, count: int) -> None:
    if count > OPERATORS:
        raise QueryError(
            f"the {what} expression has {count} operators and functions, at most {OPERATORS} are allowed",
            hint="split it into several requests, or ask for several values by one is_in(...)",
        )


def _path(path: Path) -> ConditionOf:
    from pynamodb.expressions.operand import Path as PynamoPath

    segments: list[str] = []
    for step in path.segments:
        if isinstance(step, int):
            segments[-1] += f"[{step}]"
        else:
            segments.append(step)
    return PynamoPath(segments)


def _operand(operand: Term | Condition) -> ConditionOf:
    from pynamodb.expressions.operand import Value

    if isinstance(operand, Condition):
        return _pynamodb_condition(operand)
    if isinstance(operand, Function):
        return _function(operand)
    return _path(operand) if isinstance(operand, Path) else Value(operand)


def _function(function: Function) -> ConditionOf:
    from pynamodb.expressions import condition as made

    first, *others = map(_operand, function.terms)
    if function.name == "size":
        return vars(made)["size"](first)
    (second,) = others
    writers: dict[str, Callable[[ConditionOf, ConditionOf], ConditionOf]] = {
        "+": operator.add,
        "-": operator.sub,
        "if_not_exists": lambda one, other: one | other,
    }
    return writers[function.name](first, second) if function.name in writers else first.append(second)


def _pynamodb_condition(condition: Condition) -> ConditionOf:
    from pynamodb.expressions import condition as made

    operands = [_operand(operand) for operand in condition.operands]
    kinds: dict[str, ConditionOf] = {
        "AND": made.And,
        "OR": made.Or,
        "NOT": made.Not,
        "BETWEEN": made.Between,
        "IN": made.In,
        "begins_with": made.BeginsWith,
        "contains": made.Contains,
        "attribute_exists": made.Exists,
        "attribute_not_exists": made.NotExists,
        "attribute_type": made.IsType,
    }
    kind = kinds.get(condition.operator)
    comparison: ConditionOf = made.Comparison
    return kind(*operands) if kind else comparison(condition.operator, *operands)


def _pynamodb_action(change: Change) -> ConditionOf:
    from pynamodb.expressions import update as made

    path = _path(change.path)
    if change.action == "remove":
        return made.RemoveAction(path)
    if change.base is not None:
        return made.SetAction(path, (path | _operand(change.base)) + _operand(change.value or {}))
    kinds: dict[str, ConditionOf] = {"set": made.SetAction, "add": made.AddAction, "delete": made.DeleteAction}
    return kinds[change.action](path, _operand(change.value or {}))
