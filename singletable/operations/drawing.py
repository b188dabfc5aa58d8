"""Drawing numbers from counters before anything is stored, singly and in blocks.

Theory of operation. A counter item holds the *last number issued*, so that a plain `ADD 1` by another program stays
correct; one update with an upper bound as its condition issues the next, and a reply that is lost costs a number, never
a duplicate. A block is so many numbers issued at once, of which the store gives out one after the other; within a
process one writer at a time draws a new one. A number that the user brings along raises its counter first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from singletable.entity import Entity, changed, given_out, values_of
from singletable.errors import SequenceExhausted, UsageError
from singletable.expressions import Expressions
from singletable.mapping import Mapper
from singletable.numbering import Numbering
from singletable.operations.context import Context
from singletable.operations.counters import Counter, counter_of, group_of
from singletable.operations.lines import last_in, last_issued, stored_maximum
from singletable.operations.sending import CONDITION_FAILED, send
from singletable.schema import Model
from singletable.wire import Call, Exclusive, Refusal, Steps

__all__ = ["assigned", "assigned_all", "awaits_key", "drawn_from", "raised", "raised_by", "refuse_given"]

E = TypeVar("E", bound=Entity)


def assigned(context: Context, mapper: Mapper[E], entity: E) -> Steps[E]:
    """Draw every counter number that the entity lacks and that is drawn before it is stored."""
    (made,) = yield from assigned_all(context, mapper, [entity])
    return made


def assigned_all(context: Context, mapper: Mapper[E], entities: Sequence[E]) -> Steps[list[E]]:
    """Draw the counter numbers that entities of one class lack, one request for each counter and field."""
    made = list(entities)
    for number in mapper.model.numbers:
        if not number.claims:
            yield from _assign(context, mapper.model, number, made)
    return made


def _assign(context: Context, model: Model, number: Numbering, entities: list[E]) -> Steps[None]:
    name = number.name
    waiting: dict[Counter, tuple[_Draw, list[int]]] = {}
    for position, entity in enumerate(entities):
        if name not in entity.__dict__:
            draw = _draw_of(model, number, group_of(model, number, entity))
            waiting.setdefault(draw.counter, (draw, []))[1].append(position)
    for draw, positions in waiting.values():
        drawn = yield from _issued(context, draw, len(positions))
        for position, value in zip(positions, drawn, strict=True):
            entities[position] = changed(entities[position], {name: value})


def awaits_key(model: Model, entity: Entity) -> bool:
    """Say whether a counter number is still to be drawn that stands in the entity's primary key."""
    missing = (number.name for number in model.numbers if not number.claims and number.name not in entity.__dict__)
    return any(name in model.primary.parts for name in missing)


def refuse_given(model: Model, entity: Entity) -> None:
    """Raise UsageError where a fresh entity brings a number along that `assign` has not drawn for it.

    What was drawn for one key is no other entity's: of a copy under another key two would have one number. With
    `on_explicit="allow"` it may, up to the field's largest.
    """
    drawn, key = given_out(entity)
    known = drawn if drawn and model.primary.render(values_of(entity)) == key else dict[str, int]()
    for number in model.numbers:
        name, given = number.name, entity.__dict__.get(number.name)
        if name not in entity.__dict__ or known.get(name) == given:
            continue
        if number.options.on_explicit == "reject":
            raise UsageError(
                f"{model.name}.{name} is drawn when the entity is created, and was given",
                hint=f"leave {name}= out; store.put(...) stores an entity whose number was drawn before, "
                "store.assign(...) draws one before the entity is created, and "
                'AutoIncrement(on_explicit="allow") takes numbers of your own',
            )
        if isinstance(given, int) and not -(2**63) <= given <= number.max_value:
            raise UsageError(
                f"{model.name}.{name} was given {given}, wanted at most {number.max_value} and at least -2**63",
                hint="raise max_value= (or the width in the key), or give another number",
            )


def raised_by(context: Context, entities: Iterable[Entity]) -> Steps[None]:
    """Raise the counters to the numbers that new entities bring along, so that these are not drawn later."""
    brought: dict[Counter, tuple[int, _Draw]] = {}
    for entity in entities:
        model = context.model(type(entity))
        for number in model.numbers:
            value = entity.__dict__.get(number.name)
            if number.raises_counter and value is not None and given_out(entity)[0].get(number.name) != value:
                draw = _draw_of(model, number, group_of(model, number, entity))
                if draw.counter not in brought or brought[draw.counter][0] < value:
                    brought[draw.counter] = value, draw
    for value, draw in brought.values():
        yield from _raised_to(context, draw, value)


def _raised_to(context: Context, draw: _Draw, value: int) -> Steps[None]:
    """Raise a counter; one of a partition that does not exist yet begins above the numbers stored there as well."""
    if draw.number.in_partition and (yield from last_issued(context, draw.counter)) is None:
        highest = yield from stored_maximum(context, draw.model, draw.number, draw.values)
        value = value if highest is None else max(value, highest)
    options = draw.number.options
    yield from raised(context, draw.counter, max(value, options.start - options.step))


# Requests


@dataclass(frozen=True, slots=True)
class _Draw:
    """So many numbers wanted from one counter; `values` are those of an entity that waits for one."""

    model: Model
    number: Numbering
    counter: Counter
    values: Mapping[str, Any]


def _draw_of(model: Model, number: Numbering, values: Mapping[str, Any]) -> _Draw:
    return _Draw(model, number, counter_of(model, number, values), values)


def _issued(context: Context, draw: _Draw, count: int) -> Steps[Sequence[int]]:
    """Issue so many numbers, from a block where there is one. SequenceExhausted where fewer are left than wanted."""
    number = draw.number
    if number.options.block == 1 or not context.blocks.keeps:
        return (yield from _drawn(context, draw, count))
    block = draw.counter, context.table, number.options.step, number.max_value
    return context.blocks.take(block, count, whole=True) or (
        yield Exclusive(("block", *block), _from_block(context, draw, block, count))
    )


def drawn_from(
    context: Context, model: Model, number: Numbering, values: Mapping[str, Any], count: int
) -> Steps[range]:
    """Draw so many consecutive numbers, past any block. SequenceExhausted where fewer are left than wanted."""
    return (yield from _drawn(context, _draw_of(model, number, values), count))


def _from_block(context: Context, draw: _Draw, block: tuple[Any, ...], count: int) -> Steps[list[int]]:
    """Take numbers from the block at hand, and draw the next one where they do not suffice."""
    taken = context.blocks.take(block, count)
    missing = count - len(taken)
    if missing:
        try:
            fresh = yield from _fresh_block(context, draw, missing)
        except BaseException:
            context.blocks.keep(block, taken)
            raise
        taken += fresh[:missing]
        context.blocks.keep(block, fresh[missing:])
    return taken


def _fresh_block(context: Context, draw: _Draw, missing: int) -> Steps[Sequence[int]]:
    """Draw a block; of what is left where that is less, as many as are wanted."""
    size = draw.number.options.block
    if missing < size:
        try:
            return (yield from _drawn(context, draw, size))
        except SequenceExhausted:
            return (yield from _drawn(context, draw, missing))
    return (yield from _drawn(context, draw, missing))


def _drawn(context: Context, draw: _Draw, count: int) -> Steps[range]:
    """Issue so many numbers by one update; of a counter that does not exist yet, from where it begins."""
    options, number = draw.number.options, draw.number
    base = options.start - options.step
    if number.in_partition:
        found = yield from _bump(context, draw, count, base=None)
        if found is not None:
            return found
        highest = yield from stored_maximum(context, draw.model, number, draw.values)
        base = base if highest is None else max(base, highest)
    for start in (base, None):
        found = yield from _bump(context, draw, count, base=start)
        if found is not None:
            return found
    yield from last_issued(context, draw.counter)  # raises where it holds no number, which no condition tells
    raise SequenceExhausted(
        f"{draw.model.name}.{number.name}: fewer than {count} numbers are left up to {number.max_value}",
        hint="raise max_value=, or count for smaller groups",
        max_value=number.max_value,
    )


def _bump(context: Context, draw: _Draw, count: int, *, base: int | None) -> Steps[range | None]:
    """Raise a counter in one update and give the numbers issued; None where its condition did not hold.

    With a base the counter may be absent, and then starts from it; without, it must be there.
    """
    step, counter = draw.number.options.step, draw.counter
    delta = step * count
    room = draw.number.max_value - delta
    if base is not None and base > room:
        return None
    expressions = Expressions()
    last = expressions.name(counter.attribute)
    grown = expressions.value(_number(delta))
    old = last if base is None else f"if_not_exists({last}, {expressions.value(_number(base))})"
    bound = f"{last} <= {expressions.value(_number(room))}"
    condition = bound if base is None else f"attribute_not_exists({last}) OR {bound}"
    answer = yield from _updated(context, counter, expressions, f"{old} + {grown}", condition)
    if answer is None:
        return None
    new = last_in(counter, answer["Attributes"]) or 0
    return range(new - delta + step, new + step, step)


def raised(context: Context, counter: Counter, value: int) -> Steps[bool]:
    """Raise a counter to a number, so that the next one is above it; False where it is there or beyond already."""
    expressions = Expressions()
    last, to = expressions.name(counter.attribute), expressions.value(_number(value))
    condition = f"attribute_not_exists({last}) OR {last} < {to}"
    return (yield from _updated(context, counter, expressions, to, condition)) is not None


def _updated(
    context: Context, counter: Counter, expressions: Expressions, value: str, condition: str
) -> Steps[dict[str, Any] | None]:
    """Set a counter on a condition, and give the answer; None where the condition did not hold."""
    update = f"SET {expressions.name(counter.attribute)} = {value}"
    if counter.tag_name is not None:
        update += f", {expressions.name(counter.tag_name)} = {expressions.value({'S': counter.tag})}"
    params = {
        "TableName": context.table,
        "Key": counter.item_key,
        "UpdateExpression": update,
        "ConditionExpression": condition,
        "ReturnValues": "UPDATED_NEW",
        **expressions.params(),
    }
    try:
        answer: dict[str, Any] = yield from send(context, Call("update_item", params))
    except Refusal as refusal:
        if refusal.error != CONDITION_FAILED:
            raise
        return None
    return answer


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}
