"""The one sort-key condition that answers a question about leading parts, exactly.

Theory of operation. Whole leading values give the text V of a node. What is asked about the next part becomes one
range: `$` closes a group (it sorts above `V#...` and below any longer value), `#` opens it, and `below(V)` ends a range
just before V, which `SK < V` cannot (it would leak lower groups). Where a template begins with a part, nothing stands
before the group: its lower bound is the first character a value can have, so that hidden items (`!...`) stay out, and
it has no upper one. Raw text may hold characters below `#`, so its ranges are exact in a last part only and refused
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from operator import eq, ge, gt, le, lt
from typing import Any, Literal, TypeAlias

from singletable.errors import KeyPartError, MissingPart, PartHole, QueryError, UnknownPart, closest, kind_of
from singletable.keys.encoding import AFTER, DELIMITER, FLOOR, SENT_BYTES, SK_BYTES, KeyValueError, below
from singletable.keys.native import KeyTemplate, NativeTemplate
from singletable.keys.template import BoundTemplate, too_long

__all__ = ["KeyRange", "Narrowing", "depth_below", "key_range", "matches"]

LOWER = ("gt", "gte")
UPPER = ("lt", "lte")

Asked: TypeAlias = Literal["begins_with", "between", "gt", "gte", "lt", "lte", "below"]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a query asks of the parts after the whole ones; of `begins_with` only the last named part is a prefix."""

    operator: Asked
    parts: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A condition on the sort key. "all" needs none, "empty" no request.

    `exact` is False where raw keys beside the node may lie in the range: drop those where `depth_below` is negative.
    """

    operator: Literal["all", "=", "BETWEEN", "begins_with", ">=", "<=", "<", ">", "empty"]
    operands: tuple[str, ...] = ()
    exact: bool = True


def key_range(
    template: KeyTemplate, values: Mapping[str, Any], narrowings: tuple[Narrowing, ...] = (), *, tail: str = ""
) -> KeyRange:
    """Find the sort-key condition for whole leading `values` and what is asked of the part after them.

    `tail` are literals, such as "#LINE", that stand below the node in every key asked for; a range on a part cannot use
    them. UnknownPart, PartHole and MissingPart name the part that is wrong; QueryError is for operators that do not
    combine, or that the type cannot answer.

    >>> from singletable.keys import Template, key_format
    >>> order = Template.parse("#ORDER#{day}#{n}").bind({"day": key_format(str), "n": key_format(int)})
    >>> key_range(order, {"day": "mon"}).operands
    ('#ORDER#mon', '#ORDER#mon$')
    >>> key_range(order, {"day": "mon"}, (Narrowing("gte", (("n", 7),)),)).operands
    ('#ORDER#mon#0000000000000000007', '#ORDER#mon$')
    """
    whole, asked = _sorted_out(template, values, narrowings)
    if isinstance(template, NativeTemplate):
        return _native_range(template, whole, asked)
    node = _node(template, whole)
    if not asked or asked[0].operator == "below":
        return _subtree(node, tail, strict=bool(asked))
    group = _group(node, asked)
    return _prefixed(group, asked[0]) if asked[0].operator == "begins_with" else _ranged(group, asked)


def matches(template: KeyTemplate, wanted: KeyRange, key: str) -> bool:
    """Say whether a key lies in a range, as DynamoDB would.

    >>> from singletable.keys import Template, key_format
    >>> user = Template.parse("#USER#{id}").bind({"id": key_format(str)})
    >>> matches(user, key_range(user, {}), "#USER#u1"), matches(user, key_range(user, {}), "#USERS#u1")
    (True, False)
    """
    if wanted.operator in ("all", "empty"):
        return wanted.operator == "all"
    if wanted.operator == "begins_with":
        return key.startswith(wanted.operands[0])
    place, *bounds = [_comparable(template, text) for text in (key, *wanted.operands)]
    if wanted.operator == "BETWEEN":
        return bool(bounds[0] <= place <= bounds[1])
    return COMPARISONS[wanted.operator](place, bounds[0])


def _comparable(template: KeyTemplate, text: str) -> Any:
    return Decimal(text) if template.attribute_type == "N" else text


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def depth_below(template: KeyTemplate, values: Mapping[str, Any], key: str) -> int:
    """Count the segments by which a key stands below the node of the whole leading values.

    0 is the node itself; -1 is a key that is not under it. Without values the node is the leading literals.

    >>> from singletable.keys import Template, key_format
    >>> region = Template.parse("#REGION#{path*}").bind({"path": key_format(str)})
    >>> depth_below(region, {"path": ("SICHUAN",)}, "#REGION#SICHUAN#CHENGDU")
    1
    """
    whole, _ = _sorted_out(template, values, ())
    if isinstance(template, NativeTemplate):
        return -1 if whole and key != template.render(whole, limit=SK_BYTES) else 0
    node = _node(template, whole)
    if node.anywhere:
        return key.count(DELIMITER) + 1
    if key == node.text:
        return 0
    return key.count(DELIMITER, len(node.text)) if key.startswith(node.text + DELIMITER) else -1


# What is given


def _sorted_out(
    template: KeyTemplate, values: Mapping[str, Any], narrowings: tuple[Narrowing, ...]
) -> tuple[dict[str, Any], tuple[Narrowing, ...]]:
    """Check every name, and move the whole parts that a narrowing names over to the values."""
    whole = dict(values)
    asked: list[Narrowing] = []
    for narrowing in narrowings:
        last = 0 if narrowing.operator == "below" else 1
        cut = len(narrowing.parts) - last
        if cut < 0 or (cut and narrowing.operator not in ("begins_with", "below")):
            raise QueryError(f"{narrowing.operator} needs one part", hint="give the whole leading parts to the key")
        for name, value in narrowing.parts[:cut]:
            _claim(name, whole)
            whole[name] = value
        asked.append(Narrowing(narrowing.operator, narrowing.parts[cut:]))
    _check_combination(asked)
    targets = [name for narrowing in asked for name, _ in narrowing.parts]
    for name in targets:
        _claim(name, whole)
    _check_names(template.parts, [*whole, *targets])
    return whole, tuple(asked)


def _claim(name: str, whole: Mapping[str, Any]) -> None:
    if name in whole:
        raise QueryError(f"key part {name!r} is given twice", hint="give its whole value, or a range of it")


def _check_combination(asked: list[Narrowing]) -> None:
    """Allow one narrowing, or a lower with an upper bound of the same part."""
    operators = [each.operator for each in asked]
    if len(asked) < 2:
        return
    bounds = len(asked) == 2 and any(each in LOWER for each in operators) and any(each in UPPER for each in operators)
    if not bounds or asked[0].parts[0][0] != asked[1].parts[0][0]:
        raise QueryError(
            f"{' and '.join(operators)} do not combine: a query has one range of its sort key",
            hint="chain a lower with an upper bound of one part, or use between",
        )


def _check_names(parts: tuple[str, ...], names: list[str]) -> None:
    for name in names:
        if name not in parts:
            raise UnknownPart(name, given="a name", wanted="a part of the key", hint=closest(name, parts))
    leading = len(list(takewhile(names.__contains__, parts)))
    later = next((name for name in parts[leading:] if name in names), None)
    if later is not None:
        raise PartHole(parts[leading], given="nothing", wanted=f"a value, since {later!r} after it is given")


# The node


@dataclass(frozen=True, slots=True)
class _Node:
    """Whole leading values as text: `text` ends at the last value, `stem` at the literals after it."""

    template: BoundTemplate
    values: Mapping[str, Any]
    text: str
    stem: str

    @property
    def part(self) -> str | None:
        """The part after the whole ones, if one is left."""
        return next((name for name in self.template.parts if name not in self.values), None)

    @property
    def anywhere(self) -> bool:
        """Whether nothing stands before the part: the node is the whole partition."""
        return not self.values and self.template.position(0) == 0

    @property
    def loose(self) -> bool:
        """Whether the last whole value may be continued by characters that sort below the delimiter."""
        return bool(self.values) and self.template.formats[self.template.parts[len(self.values) - 1]].loose


def _node(template: BoundTemplate, values: Mapping[str, Any]) -> _Node:
    count = len(values)
    stem = template.position(count)
    end = template.position(count - 1) + 1 if 0 < count < len(template.parts) else stem
    node = _Node(template, values, _written(template, values, end), _written(template, values, stem))
    if values and not node.text:
        raise KeyPartError(template.parts[0], given="an empty path", wanted="a path of one name or more")
    template.measure(node.stem, values, SK_BYTES)
    return node


def _written(template: BoundTemplate, values: Mapping[str, Any], end: int) -> str:
    """Write the first segments of a key."""
    text = ""
    for at, segment in enumerate(template.segments[:end]):
        piece = segment.literal if segment.part is None else template.encode(segment.part, values)
        text += piece if at == 0 or segment.spread else DELIMITER + piece
    return text


def _subtree(node: _Node, tail: str, *, strict: bool) -> KeyRange:
    """Find the node and what stands below it, or strictly what stands below."""
    if node.anywhere:
        return KeyRange(">=", (FLOOR,))
    if tail:
        return KeyRange("begins_with", (f"{node.stem}{DELIMITER}{tail.strip(DELIMITER)}{DELIMITER}",))
    if node.part is None and node.template.spread is None and not strict:
        return KeyRange("=", (node.stem,))
    if _continued(node, strict=strict):
        return KeyRange("begins_with", (node.stem + DELIMITER,))
    return KeyRange("BETWEEN", (node.stem, node.stem + AFTER), exact=node.stem != node.text or not node.loose)


def _continued(node: _Node, *, strict: bool) -> bool:
    """Say whether every key asked for goes on after the stem, so that a prefix is enough.

    Below whole values that a part follows at once stands the node itself too, if another template has it: the range
    includes it, unless raw text could then bring in a neighbour.
    """
    labelled = node.stem != node.text
    if not node.stem or strict:
        return not (labelled and node.part == node.template.spread)
    plain = node.part is not None and node.part != node.template.spread
    return plain and (labelled or not node.values or node.loose)


# Ranges of one part


@dataclass(frozen=True, slots=True)
class _Group:
    """The keys that share a node, ranged over by the part after it: `low` and `high` are the ends of them all."""

    node: _Node
    part: str
    start: str
    low: str
    high: str | None

    @property
    def loose(self) -> bool:
        """Whether the part's own text may hold characters that sort below the delimiter."""
        return self.node.template.formats[self.part].loose

    def key(self, value: Any) -> str:
        """Write the key up to one value of the part."""
        text = self.start + self.node.template.encode(self.part, {self.part: value})
        if not text:
            raise KeyPartError(self.part, given="an empty path", wanted="a path of one name or more")
        return self.checked(text, SK_BYTES)

    def checked(self, text: str, limit: int) -> str:
        """Give the text back, or raise KeyTooLong."""
        if len(text.encode()) > limit:
            raise too_long(self.part, text, limit)
        return text


def _group(node: _Node, asked: tuple[Narrowing, ...]) -> _Group:
    """Find the group of the part that is asked about; QueryError where its text order is not value order."""
    part, value = asked[0].parts[0]
    spread = part == node.template.spread
    if asked[0].operator != "begins_with":
        _check_order(node.template, part, asked[0].operator)
    elif value is None:
        raise MissingPart(part, given="None", wanted="a value")
    if node.anywhere:
        return _Group(node, part, "", FLOOR, None)
    start = node.stem if spread else node.stem + DELIMITER
    return _Group(node, part, start, start or DELIMITER, node.stem + AFTER)


def _check_order(template: BoundTemplate, part: str, operator: str) -> None:
    used = template.formats[part]
    if not used.ordered:
        fix = "give the part a width, {" + part + ":06}, declare the key without raw=True, or ask for whole values"
        raise QueryError(f"no {operator} on raw {used.name} part {part!r}: its text order is not value order", hint=fix)
    last = template.segments[-1]
    if used.loose and (last.part != part or last.spread):
        fix = "declare the key without raw=True, or use begins_with or whole values"
        raise QueryError(f"no {operator} on raw part {part!r}: text below '#' can follow a value there", hint=fix)


def _prefixed(group: _Group, asked: Narrowing) -> KeyRange:
    """Find the keys whose part begins with a text; of a path all but the last element are whole."""
    template, value = group.node.template, asked.parts[0][1]
    start = group.start
    if group.part == template.spread:
        path = _items(value)
        if not path:
            raise KeyPartError(group.part, given=kind_of(value), wanted="tuple of non-empty texts")
        start, value = start + template.encode(group.part, {group.part: path[:-1]}), path[-1]
        start += "" if group.node.anywhere and not start else DELIMITER
    try:
        text = start + template.formats[group.part].prefix(value)
    except KeyValueError as error:
        raise KeyPartError(group.part, given=error.given, wanted=error.wanted) from None
    return KeyRange("begins_with", (group.checked(text, SENT_BYTES),))


def _items(value: Any) -> tuple[Any, ...]:
    """Give a tuple's items, and none of anything else."""
    items: tuple[Any, ...] = value
    return items if isinstance(value, tuple) else ()


def _ranged(group: _Group, asked: tuple[Narrowing, ...]) -> KeyRange:
    """Find the keys whose part lies between the bounds; groups below a bound's value count as it does."""
    low, high = group.low, group.high
    for operator, value in _bounds(asked):
        key = group.key(value)
        if operator in LOWER:
            low = key if operator == "gte" else key + ("\0" if group.loose else AFTER)
        else:
            high = below(key) if operator == "lt" else key if group.loose else key + AFTER
    if high is None:
        return KeyRange(">=", (low,))
    nothing = low > high or (low == high and not group.loose)
    return KeyRange("empty") if nothing else KeyRange("BETWEEN", (low, high))


def _bounds(asked: tuple[Narrowing, ...]) -> list[tuple[str, Any]]:
    """List the bounds one by one: between is a gte and an lte."""
    bounds: list[tuple[str, Any]] = []
    for narrowing in asked:
        part, value = narrowing.parts[0]
        pair = _items(value)
        if narrowing.operator != "between":
            bounds.append((narrowing.operator, value))
        elif len(pair) == 2:
            bounds += [("gte", pair[0]), ("lte", pair[1])]
        else:
            raise KeyPartError(part, given=kind_of(value), wanted="a pair (low, high)")
    return bounds


# Native keys

OPERATORS: Mapping[str, Literal[">", ">=", "<", "<="]] = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def _native_range(template: NativeTemplate, whole: Mapping[str, Any], asked: tuple[Narrowing, ...]) -> KeyRange:
    if not asked:
        return KeyRange("=", (template.render(whole, limit=SENT_BYTES),)) if whole else KeyRange("all")
    operator = asked[0].operator
    if operator == "below" or (operator == "begins_with" and template.attribute_type == "N"):
        hint = "a native key is one value: use gt, gte, lt, lte or between"
        raise QueryError(f"no {operator} on the native key {template.part!r}", hint=hint)
    bounds = [(each, template.render({template.part: value}, limit=SENT_BYTES)) for each, value in _bounds(asked)]
    if operator == "begins_with":
        return KeyRange("begins_with", (bounds[0][1],))
    if len(bounds) == 1:
        return KeyRange(OPERATORS[bounds[0][0]], (bounds[0][1],))
    return _native_between(template, dict(bounds))


def _native_between(template: NativeTemplate, bounds: Mapping[str, str]) -> KeyRange:
    """Close both ends, since a query has one condition on its sort key: `> a` is `>=` the least value above a."""
    low = bounds["gte"] if "gte" in bounds else template.after(bounds["gt"])
    high = bounds["lte"] if "lte" in bounds else template.before(bounds["lt"], SENT_BYTES)
    ordered = low and high and _comparable(template, low) <= _comparable(template, high)
    return KeyRange("BETWEEN", (low, high)) if ordered else KeyRange("empty")
