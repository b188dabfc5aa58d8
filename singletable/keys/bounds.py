"""The one sort-key condition that answers a question about leading parts, exactly.

Theory of operation. Whole leading values give the text V of a node. What is asked about the next part becomes one
range: `$` closes a group (it sorts above `V#...` and below any longer value), `#` opens it, and `below(V)` ends a range
just before V, which `SK < V` cannot (it would leak lower groups). Where a template begins with a part, nothing stands
before the group: its lower bound is the first character a value can have, so that hidden items (`!...`) stay out, and
it has no upper one.

An absent part takes its label along, so of parts that may be absent the whole node is asked for, from V on, and what
is asked about the part itself never holds a key without it. A part that sorts downwards has the opposite bounds.

Raw text is not kept above the delimiter. Beside V there may stand keys whose value goes on with a lower character, and
`$` is then whatever follows the delimiter (`}` after `|`): such a range holds more than the node, says that it is not
exact, and `depth_below` tells the rest. Ranges of a part are exact where the part is the last, or where no text of it
goes on to another; elsewhere they are refused. Whole values and prefixes are exact always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt
from typing import Any

from singletable.errors import KeyPartError, MissingPart, QueryError, kind_of
from singletable.keys.encoding import DELIMITER, FLOOR, SENT_BYTES, SK_BYTES, KeyValueError, after, below, forges
from singletable.keys.native import KeyTemplate, NativeTemplate, comparable, native_range
from singletable.keys.questions import LOWER, KeyRange, Narrowing, bounds_of, items_of, sorted_out
from singletable.keys.template import BoundTemplate, too_long

__all__ = ["KeyRange", "Narrowing", "depth_below", "enclosing", "key_range", "matches", "overlap"]

MIRRORED = {"gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte"}
"""What a bound of the value is to text that sorts downwards."""


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
    whole, asked = sorted_out(template.parts, values, narrowings)
    if isinstance(template, NativeTemplate):
        return native_range(template, whole, asked)
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
    place, *bounds = [comparable(template, text) for text in (key, *wanted.operands)]
    if wanted.operator == "BETWEEN":
        return bool(bounds[0] <= place <= bounds[1])
    return COMPARISONS[wanted.operator](place, bounds[0])


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def depth_below(template: KeyTemplate, values: Mapping[str, Any], key: str) -> int:
    """Count the segments by which a key stands below the node of the whole leading values.

    0 is the node itself; -1 is a key that is not under it. Without values the node is the leading literals.

    >>> from singletable.keys import Template, key_format
    >>> region = Template.parse("#REGION#{path*}").bind({"path": key_format(str)})
    >>> depth_below(region, {"path": ("SICHUAN",)}, "#REGION#SICHUAN#CHENGDU")
    1
    """
    whole, _ = sorted_out(template.parts, values, ())
    if isinstance(template, NativeTemplate):
        hidden = template.attribute_type == "S" and forges(key)
        return -1 if hidden or (whole and key != template.render(whole, limit=SK_BYTES)) else 0
    node, delimiter = _node(template, whole), template.delimiter
    if node.anywhere:
        return key.count(delimiter) + 1
    if key == node.text:
        return 0
    return key.count(delimiter, len(node.text)) if key.startswith(node.text + delimiter) else -1


# Several templates


def enclosing(ranges: Iterable[KeyRange]) -> KeyRange:
    """Find the least range that holds those of several whole templates, each as asked for without any part.

    >>> enclosing([KeyRange("=", ("#PROFILE",)), KeyRange("begins_with", ("#ORDER#",))]).operands
    ('#ORDER#', '#PROFILE')
    """
    given = tuple(dict.fromkeys(ranges))
    if len(given) == 1:
        return given[0]
    if any(each.operator == "all" for each in given):
        return KeyRange("all", exact=all(each.exact for each in given))
    lows, highs = zip(*map(_ends, given), strict=True)
    if None in highs:
        return KeyRange(">=", (min(lows),))
    return KeyRange("BETWEEN", (min(lows), max(highs)))


def overlap(a: KeyRange, b: KeyRange) -> bool:
    """Say whether the ranges of two whole templates may have a key in common.

    >>> overlap(KeyRange("=", ("#PROFILE",)), KeyRange("begins_with", ("#ORDER#",)))
    False
    """
    if "all" in (a.operator, b.operator):
        return True
    (low, high), (other_low, other_high) = _ends(a), _ends(b)
    return (other_high is None or low <= other_high) and (high is None or other_low <= high)


def _ends(whole: KeyRange) -> tuple[str, str | None]:
    """Give the ends of a whole template's range; a prefix there ends with the delimiter."""
    low = whole.operands[0]
    if whole.operator == ">=":
        return low, None
    return low, low[:-1] + after(low[-1]) if whole.operator == "begins_with" else whole.operands[-1]


# The node


@dataclass(frozen=True, slots=True)
class _Node:
    """Whole leading values as text: `text` ends at the last value, `stem` at the literals after it.

    Every key asked for begins with the `trunk`: the text where the literals fall away with the part after them.
    """

    template: BoundTemplate
    values: Mapping[str, Any]
    text: str
    stem: str

    @property
    def part(self) -> str | None:
        """The part after the whole ones, if one is left."""
        return next((name for name in self.template.parts if name not in self.values), None)

    @property
    def closed(self) -> bool:
        """Whether every key that holds the whole values goes on in one way: no part that may be absent follows."""
        template = self.template
        return not template.open or self.part not in (None, template.spread, *template.optional)

    @property
    def trunk(self) -> str:
        """The text with which every key below the node begins, the node included."""
        return self.text if self.part in self.template.optional else self.stem

    @property
    def anywhere(self) -> bool:
        """Whether nothing stands before the part: the node is the whole partition."""
        return not self.values and self.template.position(0) == 0

    @property
    def loose(self) -> bool:
        """Whether the last whole value may go on to another one that sorts within its subtree."""
        return bool(self.values) and self.template.formats[self.template.parts[len(self.values) - 1]].loose

    @property
    def beside(self) -> bool:
        """Whether keys of the template beside the node can lie in a range that begins at the trunk itself."""
        return self.template.delimiter != DELIMITER or (self.loose and self.trunk == self.text)


def _node(template: BoundTemplate, values: Mapping[str, Any]) -> _Node:
    count = len(values)
    stem = template.position(count)
    end = template.position(count - 1) + 1 if 0 < count < len(template.parts) else stem
    node = _Node(template, values, _written(template, values, end), _written(template, values, stem))
    if values and not node.text:
        raise KeyPartError(template.parts[0], given="an empty path", wanted="a path of one name or more")
    template.measure(node.trunk, values, SK_BYTES)
    return node


def _written(template: BoundTemplate, values: Mapping[str, Any], end: int) -> str:
    """Write the first segments of a key."""
    text = ""
    for at, segment in enumerate(template.segments[:end]):
        piece = segment.literal if segment.part is None else template.encode(segment.part, values)
        text += piece if at == 0 or segment.spread else template.delimiter + piece
    return text


def _subtree(node: _Node, tail: str, *, strict: bool) -> KeyRange:
    """Find the node and what stands below it, or strictly what stands below."""
    delimiter = node.template.delimiter
    if node.anywhere:
        return KeyRange(">=", (FLOOR,))
    if tail:
        return KeyRange("begins_with", (f"{node.trunk}{delimiter}{tail.strip(delimiter)}{delimiter}",))
    if node.part is None and node.closed and not strict:
        return KeyRange("=", (node.stem,))
    if _continued(node, strict=strict):
        return _beginning(node, node.stem + delimiter)
    return KeyRange("BETWEEN", (node.trunk, node.trunk + after(delimiter)), exact=not node.beside)


def _beginning(node: _Node, text: str) -> KeyRange:
    if len(text.encode()) > SENT_BYTES:
        raise too_long(node.part or node.template.parts[-1], text, SENT_BYTES)
    return KeyRange("begins_with", (text,))


def _continued(node: _Node, *, strict: bool) -> bool:
    """Say whether every key asked for goes on after the stem, so that a prefix is enough.

    Below whole values that a part follows at once stands the node itself too, if another template has it: the range
    includes it, unless that could bring in a neighbour.
    """
    labelled = node.stem != node.text
    if not node.stem or strict:
        return not (labelled and node.part is not None and node.part == node.template.spread)
    return node.closed and (labelled or not node.values or node.beside)


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
        """Whether one text of the part may go on to another that sorts within its subtree."""
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
    template, spread = node.template, part == node.template.spread
    _check_order(template, part, asked[0].operator)
    if asked[0].operator == "begins_with" and value is None:
        raise MissingPart(part, given="None", wanted="a value")
    if node.anywhere:
        return _Group(node, part, "", FLOOR, None)
    template.measure(node.stem, node.values, SK_BYTES)
    start = node.stem if spread else node.stem + template.delimiter
    return _Group(node, part, start, start or template.delimiter, node.stem + after(template.delimiter))


def _check_order(template: BoundTemplate, part: str, operator: str) -> None:
    used = template.formats[part]
    if used.descending and operator == "begins_with":
        fix = "use gt, gte, lt, lte or between"
        raise QueryError(f"no begins_with on part {part!r}, which sorts downwards: its text is turned round", hint=fix)
    if operator == "begins_with":
        return
    if not used.ordered:
        fix = "give the part a width, {" + part + ":06}, declare the key without raw=, or ask for whole values"
        raise QueryError(f"no {operator} on raw {used.name} part {part!r}: its text order is not value order", hint=fix)
    last = template.segments[-1]
    if used.loose and (last.part != part or last.spread):
        fix = "declare the key without raw=, or use begins_with or whole values"
        what = f"its text can go on with what sorts below {template.delimiter!r}"
        raise QueryError(f"no {operator} on raw part {part!r}: {what}", hint=fix)


def _prefixed(group: _Group, asked: Narrowing) -> KeyRange:
    """Find the keys whose part begins with a text; of a path all but the last element are whole."""
    template, value = group.node.template, asked.parts[0][1]
    start = group.start
    if group.part == template.spread:
        path = items_of(value)
        if not path:
            raise KeyPartError(group.part, given=kind_of(value), wanted="tuple of non-empty texts")
        start, value = start + template.encode(group.part, {group.part: path[:-1]}), path[-1]
        start += "" if group.node.anywhere and not start else template.delimiter
    try:
        text = start + template.formats[group.part].prefix(value)
    except KeyValueError as error:
        raise KeyPartError(group.part, given=error.given, wanted=error.wanted, hint=error.hint) from None
    return KeyRange("begins_with", (group.checked(text, SENT_BYTES),))


def _ranged(group: _Group, asked: tuple[Narrowing, ...]) -> KeyRange:
    """Find the keys whose part lies between the bounds; groups below a bound's value count as it does."""
    template, low, high = group.node.template, group.low, group.high
    descending = template.formats[group.part].descending
    for operator, value in bounds_of(asked):
        key, asks = group.key(value), MIRRORED[operator] if descending else operator
        if asks in LOWER:
            low = key if asks == "gte" else key + ("\0" if group.loose else after(template.delimiter))
        else:
            high = below(key) if asks == "lt" else key if group.loose else key + after(template.delimiter)
    if high is None:
        return KeyRange(">=", (low,))
    if low > high or (low == high and not group.loose):
        return KeyRange("empty")
    return KeyRange("BETWEEN", (low, high), exact=not (group.node.loose and template.open))
