"""Numbers that are drawn by being stored: by sort key, and without gaps.

Theory of operation. Such a number is nobody's until its item is written. A *line* is where the next one is known from:
by sort key the partition itself, whose highest number is read strongly; without gaps the counter, which is moved on in
the transaction that puts the item, on condition that it still stands where it was read. Either is tried on condition.
Within a process one writer at a time tries in a line, starting from the last number that this process has seen, so that
a number costs one request. A lost race reads again and backs off; nobody counts blindly on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from singletable.entity import Entity
from singletable.errors import ForeignItem, MissingPart, SequenceContention, SequenceExhausted, UsageError
from singletable.expressions import Change, Condition, Expressions, Path
from singletable.keys import PK_BYTES, BoundTemplate, KeyValueError, Narrowing, key_range
from singletable.layouts import Layout
from singletable.numbering import Numbering
from singletable.operations.actions import Action
from singletable.operations.context import Context, backoff
from singletable.operations.counters import Counter, counter_of, group_of
from singletable.operations.drafts import Again, Draft
from singletable.operations.sending import send
from singletable.schema import Model
from singletable.wire import Call, Item, Steps

__all__ = [
    "Line",
    "Race",
    "Span",
    "claimed_by",
    "forget_highest",
    "highest_number",
    "last_in",
    "last_issued",
    "line_of",
    "next_number",
    "numbers_range",
    "stored_maximum",
]

E = TypeVar("E", bound=Entity)


class Line(Protocol):
    """Where a number that is drawn by being stored is known from."""

    @property
    def number(self) -> Numbering:
        """The numbering of the field."""
        ...

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells this line from every other in the table."""
        ...

    def last(self, context: Context, /) -> Steps[int]:
        """Read the number after which the next one comes, strongly."""
        ...

    def step(self, value: int, /) -> Action | None:
        """Give what must happen beside the put of the item that takes a number; None where that is enough."""
        ...

    def shown(self, item: Item | None, /) -> int | None:
        """Tell the last number by what stood in the way of a step; None where that does not tell."""
        ...


def claimed_by(model: Model, entity: Entity) -> Numbering | None:
    """Give the numbering of what an entity still draws by being stored; None where it draws nothing so, or has it."""
    number = model.claimed_number
    return None if number is None or number.name in entity.__dict__ else number


def line_of(model: Model, number: Numbering, values: Mapping[str, Any], *, prepared: bool = False) -> Line:
    """Find the line an entity with these values draws in. MissingPart where a part of its key is missing.

    A step of a `prepared` create may also make the counter, which was perhaps missing then.
    """
    if number.strategy == "sort_key":
        return numbers_range(model, number, values)
    return _Row(model, number, counter_of(model, number, values), values, may_be_absent=prepared)


def next_number(context: Context, model: Model, line: Line, count: int = 1) -> Steps[int]:
    """Give the first of so many numbers after the last: the last one this process saw, or else the one stored.

    SequenceExhausted where fewer are left.
    """
    step, most = line.number.options.step, line.number.max_value
    last = context.hints.get((context.table, *line.identity), context.monotonic())
    if last is None:
        last = yield from line.last(context)
    if last + step * count > most:
        owner = "partition" if line.number.per == "partition" else "counter"
        used = f"the {owner}'s numbers are used up to {most}"
        raise SequenceExhausted(
            f"{model.name}.{line.number.name}: "
            + (used if count == 1 else f"fewer than {count} numbers are left in the {owner}, up to {most}"),
            hint="raise max_value=, or number in smaller groups",
            max_value=most,
        )
    return last + step


class Race:
    """The tries of one writer for a number, bounded by the attempts and the deadline of its field."""

    def __init__(self, context: Context, model: Model, line: Line) -> None:
        self._context = context
        self._model = model
        self._line = line
        self._begun = context.monotonic()
        self._tried = 0
        self._pauses = backoff(context, line.number.options.attempts, base=0.02, cap=0.4)

    @property
    def _identity(self) -> tuple[str, ...]:
        return (self._context.table, *self._line.identity)

    def won(self, value: int) -> None:
        """Remember the number that was stored."""
        self._context.hints.keep(self._identity, value, self._context.monotonic())

    def lost(self, draft: Callable[[], Steps[Draft[E]]], last: int | None = None) -> Again[E] | SequenceContention:
        """Say that the number was another writer's: it is drafted anew, if there is a try left.

        `last` is the number that the refusal showed to be the last one.
        """
        self._context.hints.drop(self._identity)
        if last is not None:
            self.won(last)
        self._tried += 1
        pause, spent = next(self._pauses, None), self._context.monotonic() - self._begun
        if pause is not None and spent + pause <= self._line.number.options.deadline:
            return Again(pause, draft)
        return SequenceContention(
            f"{self._model.name}.{self._line.number.name}: {self._tried} numbers were taken by other writers within "
            f"{spent:.1f} s",
            hint='use AutoIncrement("counter"), which has no races, or allow more attempts= and a longer deadline=',
            attempts=self._tried,
            seconds=spent,
        )


# By sort key


def forget_highest(context: Context, model: Model, entity: Entity) -> None:
    """Forget the highest number seen in an entity's partition: a number that was put may be above it."""
    number = model.sort_key_number
    if number is not None:
        context.hints.drop((context.table, *numbers_range(model, number, group_of(model, number, entity)).identity))


@dataclass(frozen=True, slots=True)
class Span:
    """The sort keys that a partition's numbers stand at: `pk` and the range from `start` to the largest number."""

    number: Numbering
    layout: Layout
    pk: str
    low: str
    high: str

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells this range from every other in the table."""
        return self.pk, self.low

    def last(self, context: Context) -> Steps[int]:
        """Read the highest number stored, strongly; the one before `start` where none is."""
        base = self.number.options.start - self.number.options.step
        highest = yield from highest_number(context, self)
        return base if highest is None else max(base, highest)

    def step(self, _: int) -> Action | None:
        """Need nothing beside the item: its key is the claim."""
        return None

    def shown(self, _: Item | None) -> int | None:
        """Tell nothing: there is no step to stand in the way of."""
        return None

    def number_in(self, key: str) -> int:
        """Read the number out of a sort key in the range; what stands below it does no harm."""
        template, name = self.layout.sk, self.number.name
        try:
            if not isinstance(template, BoundTemplate):
                return _whole(key)
            position = next(at for at, segment in enumerate(template.segments) if segment.part == name)
            return int(template.formats[name].decode(key.split(template.delimiter)[position]))
        except KeyValueError as error:
            raise ForeignItem(
                f"a sort key among the numbers of {name!r} holds none: given {error.given}",
                hint="another program wrote it; move it out of this range of keys",
                found=None,
            ) from None


def _whole(number: str) -> int:
    """Read a native number that must be whole, however its digits are written."""
    value = Decimal(number)
    if value != value.to_integral_value():
        raise KeyValueError("a fraction", "a whole number")
    return int(value)


def numbers_range(model: Model, number: Numbering, values: Mapping[str, Any]) -> Span:
    """Find where the numbers of an entity's partition stand. MissingPart where a part before the number is missing."""
    layout = model.primary
    name = number.name
    if layout.sk is None:
        raise UsageError(f"{model.name}.{name}: the table has no sort key")
    before = layout.sk.parts[: layout.sk.parts.index(name)]
    for part in (*layout.pk.parts, *before):
        if values.get(part) is None:
            raise MissingPart(part, given="None", wanted=f"every part of the primary key ({layout})")
    leading = {part: values[part] for part in before}
    ends = (Narrowing("between", ((name, (number.options.start, number.max_value)),)),)
    low, *rest = key_range(layout.sk, leading, ends).operands
    return Span(number, layout, layout.pk.render(values, limit=PK_BYTES), low, rest[0] if rest else low)


def highest_number(context: Context, span: Span) -> Steps[int | None]:
    """Read the highest number stored in a partition, strongly; tombstones count. None where there is none."""
    layout = span.layout
    if layout.sk is None or layout.sk_name is None:
        return None
    expressions, kind = Expressions(), layout.sk.attribute_type
    pk, sk = expressions.name(layout.pk_name), expressions.name(layout.sk_name)
    low, high = expressions.value({kind: span.low}), expressions.value({kind: span.high})
    owner = expressions.value({layout.pk.attribute_type: span.pk})
    params = {
        "TableName": context.table,
        "KeyConditionExpression": f"{pk} = {owner} AND {sk} BETWEEN {low} AND {high}",
        "ProjectionExpression": f"{pk}, {sk}",
        "ScanIndexForward": False,
        "ConsistentRead": True,
        "Limit": 1,
        **expressions.params(),
    }
    answer = yield from send(context, Call("query", params))
    items = answer["Items"]
    return span.number_in(items[0][layout.sk_name][kind]) if items else None


# Without gaps


@dataclass(slots=True)
class _Row:
    """The numbers of one counter, each issued by the transaction that stores it."""

    model: Model
    number: Numbering
    counter: Counter
    values: Mapping[str, Any]
    may_be_absent: bool = False
    """Whether the counter was just found missing: only then does a step make it."""

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells this counter from every other in the table, and from every range of sort keys."""
        return *(text for _, _, text in self.counter.key), self.counter.attribute

    def last(self, context: Context) -> Steps[int]:
        """Read the last number issued, strongly; where there is no counter yet, the one before the first."""
        found = yield from last_issued(context, self.counter)
        self.may_be_absent = found is None
        if found is not None:
            return found
        base, highest = self.number.options.start - self.number.options.step, None
        if self.number.in_partition:
            highest = yield from stored_maximum(context, self.model, self.number, self.values)
        return base if highest is None else max(base, highest)

    def step(self, value: int) -> Action:
        """Move the counter on to a number, from the one before it or from nothing."""
        path, before = Path((self.counter.attribute,)), value - self.number.options.step
        free = Condition("=", (path, {"N": str(before)}))
        if self.may_be_absent:
            free |= Condition("attribute_not_exists", (path,))
        changes = [Change("set", path, {"N": str(value)})]
        if self.counter.tag_name is not None:
            changes.append(Change("set", Path((self.counter.tag_name,)), {"S": self.counter.tag}))
        return Action("update", self.counter.item_key, free, changes=tuple(changes))

    def shown(self, item: Item | None) -> int | None:
        """Tell the last number by the counter item."""
        return last_in(self.counter, item)


def last_issued(context: Context, counter: Counter) -> Steps[int | None]:
    """Read the last number issued from a counter, strongly; None where it does not exist yet."""
    call = Call("get_item", {"TableName": context.table, "Key": counter.item_key, "ConsistentRead": True})
    answer = yield from send(context, call)
    return last_in(counter, answer.get("Item"))


def last_in(counter: Counter, item: Item | None) -> int | None:
    """Read the last number issued from a counter item. ForeignItem where its attribute holds no whole number."""
    held = None if item is None else item.get(counter.attribute)
    if held is None:
        return None
    try:
        return _whole(held.get("N", ""))
    except (KeyValueError, ArithmeticError) as error:
        raise ForeignItem(
            f"the attribute {counter.attribute!r} of a counter holds no whole number",
            hint="another program wrote it; give the counter an attribute of its own",
            found=None,
        ) from error


def stored_maximum(context: Context, model: Model, number: Numbering, values: Mapping[str, Any]) -> Steps[int | None]:
    """Read the highest number in a partition whose counter does not exist yet; None where its keys do not tell."""
    sk, name = model.primary.sk, number.name
    if sk is None or name != next(iter(sk.parts), None):
        return None
    if isinstance(sk, BoundTemplate) and not sk.formats[name].ordered:
        return None
    return (yield from highest_number(context, numbers_range(model, number, values)))
