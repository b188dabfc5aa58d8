"""Conditions and changes, as values.

A condition is a small immutable tree over attribute paths and values already in DynamoDB JSON; PynamoDB's expression
language (`pynamodb.expressions`) writes it as text when a request is made, with every name and value behind a
placeholder, so that no stored name and no value can ever be read as syntax. PynamoDB is loaded then, not at import.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from singletable.errors import DeclarationError, NoTruthValue, QueryError
from singletable.wire import AttributeValue

__all__ = ["IN_OPERANDS", "Change", "Condition", "Expressions", "Path", "all_of", "any_of", "no_truth", "paths_of"]

IN_OPERANDS = 100
"""At most so many values may stand in `IN`. Source: AWS, "Service quotas", Expression parameters."""

EXPRESSION_BYTES = 4096
"""At most so many bytes may one expression have. Source: as above."""


def no_truth(what: str, instead: str) -> NoReturn:
    """Raise for a value that was used in `if`, `and`, `or`, `not` or `in`."""
    raise NoTruthValue(f"{what} has no truth value", hint=instead)


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value stands in an item: the attribute's stored name, then the steps into a map.

    `source` is the field it was made from, so that a condition or change of another class is told.
    """

    segments: tuple[str, ...]
    source: object = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in self.segments:
            if not name or "[" in name or "]" in name:
                raise DeclarationError(
                    f"attribute name {name!r} cannot be used in an expression",
                    hint="choose a name that is not empty and holds neither '[' nor ']'",
                )


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A condition on an item, combined by `&`, `|` and `~`; it has no truth value and no equality of its own."""

    operator: str
    operands: tuple[Path | AttributeValue | Condition, ...]

    def __and__(self, other: Condition) -> Condition:
        return Condition("AND", (self, _condition(other, "&")))

    def __or__(self, other: Condition) -> Condition:
        return Condition("OR", (self, _condition(other, "|")))

    def __invert__(self) -> Condition:
        return Condition("NOT", (self,))

    def __bool__(self) -> bool:
        no_truth("a condition", "combine conditions with &, | and ~ and put each comparison in brackets")

    def __repr__(self) -> str:
        return f"<condition {self.operator} on {', '.join(sorted({path.segments[0] for path in paths_of(self)}))}>"


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
    found: list[Path] = []
    for operand in condition.operands:
        if isinstance(operand, Path):
            found.append(operand)
        elif isinstance(operand, Condition):
            found.extend(paths_of(operand))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One change of an update: `action` is set, remove, add or delete; `value` in DynamoDB JSON, `given` as it was.

    `base` is what an absent attribute counts as when a number is added to it; None for 0.
    """

    action: str
    path: Path
    value: AttributeValue | None = None
    given: object = None
    base: AttributeValue | None = None

    def __bool__(self) -> bool:
        no_truth("a change", "hand it to store.update(...)")

    def __repr__(self) -> str:
        return f"<change {self.action} {'.'.join(self.path.segments)}>"


ConditionOf: TypeAlias = Any
"""A condition, operand or action of PynamoDB's, which declares no types for them."""


@dataclass(slots=True)
class Expressions:
    """The expressions of one request, sharing one table of names and one of values."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def condition(self, condition: Condition) -> str:
        """Write a condition as text."""
        return self._sized("condition", _pynamodb_condition(condition).serialize(self.names, self.values))

    def update(self, changes: Sequence[Change]) -> str:
        """Write changes as one update expression: every SET, then REMOVE, ADD and DELETE."""
        from pynamodb.expressions.update import Update

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


def _path(path: Path) -> ConditionOf:
    from pynamodb.expressions.operand import Path as PynamoPath

    return PynamoPath(list(path.segments))


def _operand(operand: Path | AttributeValue | Condition) -> ConditionOf:
    from pynamodb.expressions.operand import Value

    if isinstance(operand, Condition):
        return _pynamodb_condition(operand)
    return _path(operand) if isinstance(operand, Path) else Value(operand)


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
