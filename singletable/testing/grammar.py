"""DynamoDB's expressions read from text into the values that judge and apply them.

Theory of operation. A parser by recursive descent, one function for each rule of the grammar (AWS, "Comparison operator
and function reference", "Update expressions"), makes `Condition`s, `Change`s and `Path`s. All expressions of a request
share its two tables of placeholders; one that is used and not defined, or defined and not used, is refused as DynamoDB
does. A name that stands there without placeholder is not modelled, for DynamoDB refuses some 570 reserved words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

from singletable.expressions import Change, Condition, Function, Path, Term, overlap
from singletable.testing.answers import NotModelled, invalid
from singletable.testing.values import comparable, stored
from singletable.wire import AttributeValue

__all__ = ["Placeholders", "read_changes", "read_condition", "read_paths"]

T = TypeVar("T")

_TOKEN = re.compile(r"\s*(#\w+|:\w+|[A-Za-z_]\w*|[0-9]+|<>|<=|>=|[=<>(),.\[\]+-])", re.ASCII)
_COMPARATORS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_TYPES = frozenset({"S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M"})
_TESTS = {"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2}


class Placeholders:
    """The tables of names and values of one request, and which of them its expressions have used."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._names: Mapping[str, str] = params.get("ExpressionAttributeNames", {})
        self._values: dict[str, AttributeValue] = {
            token: stored(value) for token, value in params.get("ExpressionAttributeValues", {}).items()
        }
        self._used: set[str] = set()

    def name(self, token: str) -> str:
        """Give the name behind a placeholder."""
        self._used.add(token)
        if token not in self._names:
            invalid(f"an expression uses the name {token}, which is not defined")
        return self._names[token]

    def value(self, token: str) -> AttributeValue:
        """Give the value behind a placeholder."""
        self._used.add(token)
        if token not in self._values:
            invalid(f"an expression uses the value {token}, which is not defined")
        return self._values[token]

    def check_used(self) -> None:
        """Refuse a request that defines what none of its expressions uses."""
        left = sorted({*self._names, *self._values} - self._used)
        if left:
            invalid(f"defined and not used in expressions: {', '.join(left)}")


def read_condition(text: str, placeholders: Placeholders) -> Condition:
    """Read a condition, filter or key condition.

    >>> tables = {"ExpressionAttributeNames": {"#a": "a"}, "ExpressionAttributeValues": {":v": {"N": "1"}}}
    >>> read_condition("NOT #a = :v", Placeholders(tables))
    <condition NOT on a>
    """
    return _Parser(text, placeholders).whole(_Parser.either)


def read_changes(text: str, placeholders: Placeholders) -> list[Change]:
    """Read an update expression. Refused where two changes are of one place."""
    changes = _Parser(text, placeholders).whole(_Parser.clauses)
    for number, change in enumerate(changes):
        if any(overlap(change.path, other.path) for other in changes[:number]):
            invalid("two document paths of an update overlap")
    return changes


def read_paths(text: str, placeholders: Placeholders) -> list[Path]:
    """Read a projection."""
    paths = _Parser(text, placeholders).whole(lambda parser: parser.listed(parser.path))
    for number, path in enumerate(paths):
        if any(overlap(path, other) for other in paths[:number]):
            invalid("two document paths of a projection overlap")
    return paths


@lru_cache(maxsize=1024)
def _tokens(text: str) -> tuple[str, ...]:
    found: list[str] = []
    place = 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            invalid(f"an expression cannot be read from {text[place : place + 20]!r} on")
        found.append(match[1])
        place = match.end()
    return tuple(found)


class _Parser:
    """The tokens of one expression, taken one after the other."""

    def __init__(self, text: str, placeholders: Placeholders) -> None:
        self._tokens = _tokens(text)
        self._place = 0
        self._tables = placeholders

    def whole(self, rule: Callable[[_Parser], T]) -> T:
        """Read by a rule to the very end."""
        made = rule(self)
        if self._next():
            self._wrong("the end")
        return made

    def _next(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else ""

    def _take(self) -> str:
        self._place += 1
        return self._next(-1)

    def _wrong(self, wanted: str) -> NoReturn:
        invalid(f"an expression has {self._next() or 'an end'!r} where {wanted} is wanted")

    def _word(self, *words: str) -> bool:
        """Take the next token if it is one of these, in any case."""
        if self._next().upper() not in words:
            return False
        self._place += 1
        return True

    def _must(self, token: str) -> None:
        if not self._word(token):
            self._wrong(repr(token))

    def listed(self, rule: Callable[[], T]) -> list[T]:
        """Read one or more, with commas between."""
        made = [rule()]
        while self._word(","):
            made.append(rule())
        return made

    # Places and values

    def path(self) -> Path:
        """Read a path into an item."""
        steps: list[str | int] = [self._name()]
        while True:
            if self._word("."):
                steps.append(self._name())
            elif self._word("["):
                if not self._next().isdigit():
                    self._wrong("a place in a list")
                steps.append(int(self._take()))
                self._must("]")
            else:
                return Path(tuple(steps))

    def _name(self) -> str:
        token = self._next()
        if token.startswith("#"):
            return self._tables.name(self._take())
        if not token.isidentifier():
            self._wrong("a name")
        raise NotModelled(
            f"the name {token!r} stands in an expression as it is; the model knows no list of reserved words: "
            "put it behind a placeholder such as #n"
        )

    def _literal(self) -> AttributeValue:
        if not self._next().startswith(":"):
            self._wrong("a value")
        return self._tables.value(self._take())

    def _operand(self) -> Term:
        if self._next().startswith(":"):
            return self._literal()
        if self._next() == "size" and self._next(1) == "(":
            self._place += 2
            path = self.path()
            self._must(")")
            return Function("size", (path,))
        return self.path()

    # Conditions

    def either(self) -> Condition:
        """Read conditions with OR between, which binds loosest."""
        made = self._both()
        while self._word("OR"):
            made = made | self._both()
        return made

    def _both(self) -> Condition:
        made = self._maybe_not()
        while self._word("AND"):
            made = made & self._maybe_not()
        return made

    def _maybe_not(self) -> Condition:
        if self._word("NOT"):
            return ~self._maybe_not()
        if self._word("("):
            made = self.either()
            self._must(")")
            return made
        return _checked(self._test())

    def _test(self) -> Condition:
        name = self._next()
        if name in _TESTS and self._next(1) == "(":
            self._place += 2
            terms = self.listed(self._operand)
            self._must(")")
            if len(terms) != _TESTS[name]:
                invalid(f"{name} takes {_TESTS[name]} operands, and was given {len(terms)}")
            return Condition(name, tuple(terms))
        first = self._operand()
        if self._next() in _COMPARATORS:
            return Condition(self._take(), (first, self._operand()))
        if self._word("BETWEEN"):
            low = self._operand()
            self._must("AND")
            return Condition("BETWEEN", (first, low, self._operand()))
        self._must("IN")
        self._must("(")
        choices = self.listed(self._operand)
        self._must(")")
        return Condition("IN", (first, *choices))

    # Changes

    def clauses(self) -> list[Change]:
        """Read the clauses of an update, each at most once."""
        rules = {"SET": self._set, "REMOVE": self._remove, "ADD": self._add, "DELETE": self._delete}
        made: list[Change] = []
        seen: set[str] = set()
        while self._next():
            clause = self._take().upper()
            if clause not in rules or clause in seen:
                invalid(f"an update expression has {clause} where a new clause is wanted")
            seen.add(clause)
            made.extend(self.listed(rules[clause]))
        if not made:
            invalid("an update expression is empty")
        return made

    def _set(self) -> Change:
        path = self.path()
        self._must("=")
        return Change("set", path, self._right_side())

    def _remove(self) -> Change:
        return Change("remove", self.path())

    def _add(self) -> Change:
        path, value = self.path(), self._literal()
        if not {"N", "SS", "NS", "BS"} & value.keys():
            invalid("ADD takes a number or a set")
        return Change("add", path, value)

    def _delete(self) -> Change:
        path, value = self.path(), self._literal()
        if not {"SS", "NS", "BS"} & value.keys():
            invalid("DELETE takes a set")
        return Change("delete", path, value)

    def _right_side(self) -> Term:
        first = self._worked_out()
        if self._next() in ("+", "-"):
            return Function(self._take(), (first, self._worked_out()))
        return first

    def _worked_out(self) -> Term:
        name = self._next()
        if name not in ("if_not_exists", "list_append") or self._next(1) != "(":
            return self._literal() if name.startswith(":") else self.path()
        self._place += 2
        first = self._worked_out()
        self._must(",")
        second = self._worked_out()
        self._must(")")
        if name == "if_not_exists" and not isinstance(first, Path):
            invalid("if_not_exists takes a path first")
        return Function(name, (first, second))


def _checked(condition: Condition) -> Condition:
    """Refuse operands that DynamoDB refuses before it looks at any item."""
    first, *others = condition.operands
    literals = [other for other in others if isinstance(other, dict)]
    if condition.operator not in ("BETWEEN", "IN") and any(first == other for other in others):
        invalid(f"the operands of {condition.operator} are the same")
    if condition.operator in ("<", "<=", ">", ">=", "BETWEEN") and None in map(comparable, literals):
        invalid(f"{condition.operator} compares text, numbers or binary values")
    if condition.operator == "BETWEEN" and len(literals) == 2:
        low, high = map(comparable, literals)
        if low is None or high is None or low[0] != high[0] or low[1] > high[1]:
            invalid("the bounds of BETWEEN are of two types, or the upper one is below the lower one")
    if condition.operator == "begins_with" and any(not {"S", "B"} & literal.keys() for literal in literals):
        invalid("begins_with takes text or a binary value")
    if condition.operator == "attribute_type" and [literal.get("S") in _TYPES for literal in literals] != [True]:
        invalid("attribute_type takes the name of a type")
    return condition
