"""Looking after numbers: what was issued last, drawing by hand, and setting, raising or forgetting a counter.

Theory of operation. A counter only ever rises, but for `ResetSequence`. What stands in the table is the truth that
`SyncSequence` raises it to: the highest number of every item that draws from it. In a partition whose numbers end its
keys that is one query; otherwise the items are read, those of a partition by a query and those of a whole entity, or of
everything that shares a `Sequence`, by a scan. By sort key there is no counter, and nothing to set: the items are it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from singletable.entity import Entity
from singletable.errors import UnknownPart, UsageError, closest, kind_of
from singletable.numbering import Numbering
from singletable.operations.context import Context, in_parallel
from singletable.operations.counters import Counter, counter_of, group_of
from singletable.operations.drawing import drawn_from, raised
from singletable.operations.lines import highest_number, last_issued, line_of, numbers_range, stored_maximum
from singletable.operations.query import Pages
from singletable.operations.scan import Scan
from singletable.operations.sending import CONDITION_FAILED, send
from singletable.queries import Query
from singletable.schema import Model
from singletable.wire import Call, Refusal, Steps

__all__ = [
    "NumbersOf",
    "PeekSequence",
    "ReserveNumbers",
    "ResetSequence",
    "SetSequence",
    "SyncSequence",
    "numbers_of",
]


@dataclass(frozen=True, slots=True)
class NumbersOf:
    """The numbers of one field, in the group that the values name: a partition, or what a Sequence counts for."""

    entity: type[Entity]
    name: str
    values: Mapping[str, Any] = field(hash=False)

    def model(self, context: Context) -> Model:
        """Give the entity's model as it stands in a store."""
        return context.model(self.entity)

    def number(self, context: Context) -> Numbering:
        """Give the numbering of the field as it stands in a store."""
        return next(number for number in self.model(context).numbers if number.name == self.name)

    def counter(self, context: Context, verb: str) -> Counter:
        """Find the counter. UsageError where there is none."""
        model, number = self.model(context), self.number(context)
        if number.strategy == "sort_key":
            raise UsageError(
                f"{verb}(): {model.name}.{number.name} is drawn by sort key and has no counter",
                hint="its highest item is what the next number comes after; there is nothing to set",
            )
        return counter_of(model, number, self.values)

    def forget(self, context: Context) -> None:
        """Forget what this store remembers of the numbers."""
        model, number = self.model(context), self.number(context)
        if number.claims:
            context.hints.drop((context.table, *line_of(model, number, self.values).identity))
        else:
            context.blocks.drop(counter_of(model, number, self.values))


def numbers_of(context: Context, entity: type[Entity], name: str | None, values: Mapping[str, Any]) -> NumbersOf:
    """Name the numbers of a field. UsageError, UnknownPart or KeyPartError where they are not named in full."""
    if name is not None and not isinstance(name, str):
        raise UsageError(f"sequence() was given {kind_of(name)} as the field, wanted its name", hint='such as "number"')
    model = context.model(entity)
    names = [number.name for number in model.numbers]
    if not names:
        raise UsageError(f"{model.name} has no AutoIncrement field", hint="sequence() is about the numbers of one")
    if name is None and len(names) > 1:
        raise UsageError(f"{model.name} draws {len(names)} numbers: {', '.join(names)}", hint=f'name one: "{names[0]}"')
    number = next((each for each in model.numbers if each.name == (name or names[0])), None)
    if number is None:
        raise UsageError(f"{model.name} has no AutoIncrement field {name!r}", hint=closest(str(name), names))
    needs = list(_needs(model, number))
    for given in values:
        if given not in needs:
            wanted = f"one of {', '.join(needs)}" if needs else "nothing: it counts for all"
            raise UnknownPart(given, given="a value", wanted=wanted, hint=closest(given, needs))
    line_of(model, number, values)  # raises for a part that is missing or cannot be written
    return NumbersOf(entity, number.name, dict(values))


def _needs(model: Model, number: Numbering) -> Iterable[str]:
    """Name the fields that choose the group: those of the counter, or the parts before the number."""
    if number.strategy == "counter":
        return number.needs
    parts = model.primary.parts
    return parts[: parts.index(number.name)]


@dataclass(frozen=True, slots=True)
class PeekSequence:
    """Give the last number issued, or None where none was; nothing is drawn."""

    numbers: NumbersOf

    def steps(self, context: Context) -> Steps[int | None]:
        """Send one strong GetItem; by sort key one strong Query of one row."""
        model, number = self.numbers.model(context), self.numbers.number(context)
        if number.strategy == "sort_key":
            return (yield from highest_number(context, numbers_range(model, number, self.numbers.values)))
        return (yield from last_issued(context, self.numbers.counter(context, "peek")))


@dataclass(frozen=True, slots=True)
class ReserveNumbers:
    """Draw so many consecutive numbers that no entity will be given. SequenceExhausted where fewer are left."""

    numbers: NumbersOf
    count: int

    def __post_init__(self) -> None:
        _check_whole("reserve", self.count)
        if self.count < 1:
            raise UsageError(f"reserve() was given {self.count}, wanted at least 1")

    def steps(self, context: Context) -> Steps[range]:
        """Send one UpdateItem."""
        self.numbers.counter(context, "reserve")
        model, number = self.numbers.model(context), self.numbers.number(context)
        if number.options.gapless:
            raise UsageError(
                f"reserve(): {model.name}.{number.name} has no gaps, and what is reserved would be one",
                hint="create the entities, which draw their numbers as they are stored",
            )
        return (yield from drawn_from(context, model, number, self.numbers.values, self.count))


@dataclass(frozen=True, slots=True)
class SetSequence:
    """Set the last number issued, so that the next one comes after it. UsageError where it is beyond that already."""

    numbers: NumbersOf
    value: int

    def __post_init__(self) -> None:
        _check_whole("set", self.value)

    def steps(self, context: Context) -> Steps[None]:
        """Send one conditional UpdateItem."""
        counter, number = self.numbers.counter(context, "set"), self.numbers.number(context)
        if not -(2**63) <= self.value <= number.max_value:
            raise UsageError(f"set() was given {self.value}, wanted a 64-bit integer of at most {number.max_value}")
        moved = yield from raised(context, counter, self.value)
        if not moved:
            last = yield from last_issued(context, counter)
            if last is not None and last > self.value:
                _refuse_back(self.value, last)
        self.numbers.forget(context)


def _refuse_back(value: int, last: int) -> NoReturn:
    raise UsageError(
        f"set() was given {value}, and {last} is issued already: a counter is never set back",
        hint="numbers would come twice; reset() forgets the counter, where no item is left that has them",
    )


@dataclass(frozen=True, slots=True)
class SyncSequence:
    """Raise a counter to the highest number stored, and give the last number issued then; None where there is none."""

    numbers: NumbersOf

    def steps(self, context: Context) -> Steps[int | None]:
        """Read what draws from the counter, then send one conditional UpdateItem."""
        if self.numbers.number(context).strategy == "sort_key":
            return (yield from PeekSequence(self.numbers).steps(context))
        counter = self.numbers.counter(context, "sync")
        highest = yield from self._highest(context, counter)
        if highest is not None:
            yield from raised(context, counter, highest)
        self.numbers.forget(context)
        return (yield from last_issued(context, counter))

    def _highest(self, context: Context, counter: Counter) -> Steps[int | None]:
        model, number = self.numbers.model(context), self.numbers.number(context)
        if not number.in_partition:
            _refuse_to_scan(context, model, number)
            flows = [
                _most(context, Scan(each.entity, consistent=True, shows_expired=True), counter, each, own)
                for each, own in _drawing(context, model, number)
            ]
            found = yield from in_parallel(context, flows)
            return max((each for each in found if each is not None), default=None)
        highest = yield from stored_maximum(context, model, number, self.numbers.values)
        if highest is not None:
            return highest
        query = Query(self.numbers.entity, model.primary, dict(self.numbers.values)).consistent().include_expired()
        return (yield from _most(context, query, counter, model, number))


def _refuse_to_scan(context: Context, model: Model, number: Numbering) -> None:
    if context.scope is not None:
        raise UsageError(
            f"sync() of {model.name}.{number.name} scans the whole table, and this store sees only what stands in its "
            f"scope {context.scope}",
            hint="say which number was issued last: store.sequence(...).set(number)",
        )


def _drawing(context: Context, model: Model, number: Numbering) -> Iterator[tuple[Model, Numbering]]:
    """Give every entity and field of the table that draws from the same counters."""
    if number.options.sequence is None:
        yield model, number
        return
    for entity in model.table.entities:
        other = context.model(entity)
        for each in other.numbers:
            sequence = each.options.sequence
            if sequence is not None and (sequence.name, sequence.attribute) == (
                number.options.sequence.name,
                number.options.sequence.attribute,
            ):
                yield other, each


def _most(
    context: Context, source: Scan[Any] | Query[Any], counter: Counter, model: Model, number: Numbering
) -> Steps[int | None]:
    """Give the highest number among the items that draw from a counter."""
    pages = source.open() if isinstance(source, Scan) else Pages(source)
    highest: int | None = None
    while not pages.done:
        entities: tuple[Entity, ...] = yield from pages.steps(context)
        for entity in entities:
            value = entity.__dict__.get(number.name)
            if value is not None and counter_of(model, number, group_of(model, number, entity)) == counter:
                highest = value if highest is None else max(highest, value)
    return highest


@dataclass(frozen=True, slots=True)
class ResetSequence:
    """Forget a counter, so that numbers begin at `start` again: only where no item is left that has them."""

    numbers: NumbersOf

    def steps(self, context: Context) -> Steps[None]:
        """Send one DeleteItem; of a counter that was adopted, one UpdateItem that removes its attribute."""
        counter = self.numbers.counter(context, "reset")
        params: dict[str, Any] = {"TableName": context.table, "Key": counter.item_key}
        params |= {"ConditionExpression": "attribute_exists(#last)"}
        params |= {"ExpressionAttributeNames": {"#last": counter.attribute}}
        if self.numbers.number(context).adopts:
            yield from _unless_gone(context, Call("update_item", params | {"UpdateExpression": "REMOVE #last"}))
        else:
            yield from _unless_gone(context, Call("delete_item", params))
        self.numbers.forget(context)


def _unless_gone(context: Context, call: Call) -> Steps[None]:
    try:
        yield from send(context, call)
    except Refusal as refusal:
        if refusal.error != CONDITION_FAILED:
            raise


def _check_whole(verb: str, given: object) -> None:
    if not isinstance(given, int) or isinstance(given, bool):
        raise UsageError(f"{verb}() was given {kind_of(given)}, wanted a whole number")
