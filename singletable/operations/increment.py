"""Drawing numbers: the counter's atomic update, and the sort key's read-and-put.

Theory of operation. A counter item holds the *last number issued*, so that a plain `ADD 1` by another program stays
correct; one update with an upper bound as its condition issues the next, and a reply that is lost costs a number, never
a duplicate. By sort key, the highest number in the partition is read strongly and the next is put on condition that
nothing stands there; within a process one writer at a time tries for a partition, starting from the last number this
process has seen, so that a number costs one request. A lost race reads again and backs off; nobody counts blindly on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from singletable.entity import Entity, changed, given_out, values_of
from singletable.errors import (
    ForeignItem,
    MissingPart,
    SequenceContention,
    SequenceExhausted,
    UsageError,
)
from singletable.expressions import Expressions
from singletable.keys import PK_BYTES, BoundTemplate, KeyValueError, Narrowing, key_range
from singletable.layouts import Layout
from singletable.mapping import Mapper
from singletable.numbering import Numbering
from singletable.operations.context import Context, backoff
from singletable.operations.counters import Counter, counter_of
from singletable.operations.drafts import Again, Draft
from singletable.operations.sending import CONDITION_FAILED, send
from singletable.schema import Model
from singletable.wire import Call, Refusal, Steps

__all__ = ["Race", "assigned", "assigned_all", "forget_highest", "next_number", "numbers_range", "refuse_given"]

E = TypeVar("E", bound=Entity)


def assigned(context: Context, mapper: Mapper[E], entity: E) -> Steps[E]:
    """Draw every counter number that the entity lacks."""
    (made,) = yield from assigned_all(context, mapper, [entity])
    return made


def assigned_all(context: Context, mapper: Mapper[E], entities: Sequence[E]) -> Steps[list[E]]:
    """Draw the counter numbers that entities of one class lack, one request for each counter and field."""
    made = list(entities)
    for number in mapper.model.numbers:
        if number.strategy == "counter":
            yield from _assign(context, mapper.model, number, made)
    return made


def _assign(context: Context, model: Model, number: Numbering, entities: list[E]) -> Steps[None]:
    name = number.name
    waiting: dict[Counter, list[int]] = {}
    for position, entity in enumerate(entities):
        if name not in entity.__dict__:
            waiting.setdefault(counter_of(model, number, entity.__dict__), []).append(position)
    for counter, positions in waiting.items():
        values = entities[positions[0]].__dict__
        drawn = yield from _draw(context, _Draw(model, number, counter, values, len(positions)))
        for position, value in zip(positions, drawn, strict=True):
            entities[position] = changed(entities[position], {name: value})


def refuse_given(model: Model, entity: Entity) -> None:
    """Raise UsageError where a fresh entity brings a number along that `assign` has not drawn for it.

    What was drawn for one key is no other entity's: of a copy under another key two would have one number.
    """
    drawn, key = given_out(entity)
    known = drawn if drawn and model.primary.render(values_of(entity)) == key else dict[str, int]()
    for number in model.numbers:
        name = number.name
        if name in entity.__dict__ and known.get(name) != entity.__dict__[name]:
            raise UsageError(
                f"{model.name}.{name} is drawn when the entity is created, and was given",
                hint=f"leave {name}= out; store.put(...) stores an entity whose number was drawn before, and "
                "store.assign(...) draws one before the entity is created",
            )


# The counter ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Draw:
    """So many numbers wanted from one counter; `values` are those of an entity that waits for one."""

    model: Model
    number: Numbering
    counter: Counter
    values: Mapping[str, Any]
    count: int


def _draw(context: Context, draw: _Draw) -> Steps[range]:
    """Issue numbers from a counter. SequenceExhausted where fewer are left than wanted."""
    options, number = draw.number.options, draw.number
    base = options.start - options.step
    if number.per == "partition" and options.sequence is None:
        found = yield from _bump(context, draw, base=None)
        if found is not None:
            return found
        highest = yield from _stored_maximum(context, draw)
        base = base if highest is None else max(base, highest)
    for start in (base, None):
        found = yield from _bump(context, draw, base=start)
        if found is not None:
            return found
    raise SequenceExhausted(
        f"{draw.model.name}.{number.name}: fewer than {draw.count} numbers are left up to {number.max_value}",
        hint="raise max_value=, or count for smaller groups",
        max_value=number.max_value,
    )


def _stored_maximum(context: Context, draw: _Draw) -> Steps[int | None]:
    """Read the highest number in a partition whose counter does not exist yet; None where its keys do not tell."""
    sk, name = draw.model.primary.sk, draw.number.name
    if sk is None or name != next(iter(sk.parts), None):
        return None
    if isinstance(sk, BoundTemplate) and not sk.formats[name].ordered:
        return None
    return (yield from highest_number(context, numbers_range(draw.model, draw.number, draw.values)))


def _bump(context: Context, draw: _Draw, *, base: int | None) -> Steps[range | None]:
    """Raise a counter in one update and give the numbers issued; None where its condition did not hold.

    With a base the counter may be absent, and then starts from it; without, it must be there.
    """
    step, counter = draw.number.options.step, draw.counter
    delta = step * draw.count
    room = draw.number.max_value - delta
    if base is not None and base > room:
        return None
    expressions = Expressions()
    last = expressions.name(counter.attribute)
    grown = expressions.value(_number(delta))
    old = last if base is None else f"if_not_exists({last}, {expressions.value(_number(base))})"
    bound = f"{last} <= {expressions.value(_number(room))}"
    update = f"SET {last} = {old} + {grown}"
    if counter.tag_name is not None:
        update += f", {expressions.name(counter.tag_name)} = {expressions.value({'S': counter.tag})}"
    params = {
        "TableName": context.table,
        "Key": counter.item_key,
        "UpdateExpression": update,
        "ConditionExpression": bound if base is None else f"attribute_not_exists({last}) OR {bound}",
        "ReturnValues": "UPDATED_NEW",
        **expressions.params(),
    }
    try:
        answer = yield from send(context, Call("update_item", params))
    except Refusal as refusal:
        if refusal.error != CONDITION_FAILED:
            raise
        return None
    new = int(answer["Attributes"][counter.attribute]["N"])
    return range(new - delta + step, new + step, step)


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}


# The sort key --------------------------------------------------------------------------------------------------------


def forget_highest(context: Context, model: Model, entity: Entity) -> None:
    """Forget the highest number seen in an entity's partition: a number that was put may be above it."""
    number = model.sort_key_number
    if number is not None:
        context.hints.drop((context.table, *numbers_range(model, number, entity.__dict__).identity))


@dataclass(frozen=True, slots=True)
class Span:
    """The sort keys that a partition's numbers stand at: `pk` and the range from `start` to the largest number."""

    number: Numbering
    layout: Layout
    pk: str
    low: str
    high: str

    @property
    def identity(self) -> tuple[str, str]:
        """What tells this range from every other in the table."""
        return self.pk, self.low

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


class Race:
    """The tries of one writer for a number by sort key, bounded by the attempts and the deadline of its field."""

    def __init__(self, context: Context, model: Model, span: Span) -> None:
        self._context = context
        self._model = model
        self._span = span
        self._begun = context.monotonic()
        self._tried = 0
        self._pauses = backoff(context, span.number.options.attempts, base=0.005, cap=0.1)

    @property
    def _identity(self) -> tuple[str, ...]:
        return (self._context.table, *self._span.identity)

    def won(self, value: int) -> None:
        """Remember the number that was stored."""
        self._context.hints.keep(self._identity, value, self._context.monotonic())

    def lost(self, draft: Callable[[], Steps[Draft[E]]]) -> Again[E] | SequenceContention:
        """Say that the number was another writer's: it is drafted anew, if there is a try left."""
        self._context.hints.drop(self._identity)
        self._tried += 1
        pause, spent = next(self._pauses, None), self._context.monotonic() - self._begun
        if pause is not None and spent + pause <= self._span.number.options.deadline:
            return Again(pause, draft)
        return SequenceContention(
            f"{self._model.name}.{self._span.number.name}: {self._tried} numbers were taken by other writers within "
            f"{spent:.1f} s",
            hint='use AutoIncrement("counter"), which has no races, or allow more attempts= and a longer deadline=',
            attempts=self._tried,
            seconds=spent,
        )


def next_number(context: Context, model: Model, span: Span) -> Steps[int]:
    """Give the number after the highest: the last one this process saw, or else the last one stored."""
    options = span.number.options
    highest = context.hints.get((context.table, *span.identity), context.monotonic())
    if highest is None:
        highest = yield from highest_number(context, span)
    value = options.start if highest is None else max(options.start, highest + options.step)
    if value > span.number.max_value:
        raise SequenceExhausted(
            f"{model.name}.{span.number.name}: the partition's numbers are used up to {span.number.max_value}",
            hint="raise max_value=, or number in smaller partitions",
            max_value=span.number.max_value,
        )
    return value


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
