"""What an update makes where nothing stands: the whole item, and whether one request can either change or make it.

Theory of operation. The item that is made is the entity of the key's parts, the defaults and the changes, as `create`
would store it. One UpdateItem does both where it writes just that item on nothing, which is tried out here, and where
what it adds for a new item alone says nothing new of one that is there: `if_not_exists` writes only attributes that
every item of the entity has. A value that may be absent (None), an index key made of defaults, an expiry, a number, a
unique or a computed value are not such; then a create follows where the update found nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from singletable.applying import applied
from singletable.codecs import CodecError
from singletable.entity import Entity, changed, left_out
from singletable.errors import PlaceMissing, UsageError
from singletable.expressions import Change, Function, Path
from singletable.fields import MISSING, Field, computed
from singletable.mapping import Mapper
from singletable.operations.context import Stamp
from singletable.operations.outcome import Outcome, Plan, field_of, worked_out
from singletable.operations.writing import with_create_id
from singletable.queries import Ref
from singletable.schema import Model
from singletable.stamped import ExpiresAt
from singletable.wire import Item

__all__ = ["check_known", "made_at_once", "made_of"]

E = TypeVar("E", bound=Entity)


def check_known(model: Model, ref: Ref[Any], given: Entity | None, changes: tuple[Change, ...]) -> None:
    """Raise UsageError where the item cannot be made, since fields are not known that the constructor wants."""
    known = {name for name, _ in ref.parts} | {field_of(model, change).name for change in changes}
    known |= set() if given is None else given.__dict__.keys()
    unknown = [name for name, field in model.fields.items() if field.required and name not in known]
    if unknown:
        raise UsageError(
            f"update(missing='create') of a {model.name} does not say {', '.join(unknown)}, which every one has",
            hint="set them too, or declare a default; without missing= an update only changes what is there",
        )


def made_of(mapper: Mapper[E], ref: Ref[E], given: E | None, changes: tuple[Change, ...]) -> E:
    """Make the entity that is stored where nothing stands. UsageError where it would stand at another key.

    FieldValueError and other errors of `create` where it cannot be stored.
    """
    model = mapper.model
    values = {**_defaults(model), **({} if given is None else given.__dict__)}
    values |= {name: value for name, value in ref.parts if not isinstance(model.fields[name], computed)}
    before: Item = {}
    for name, value in values.items():
        encoded = model.fields[name].encoded(value)
        if encoded is not None:
            before[model.fields[name].attribute] = encoded
    for field in dict.fromkeys(field_of(model, change) for change in changes):
        own = tuple(change for change in changes if field_of(model, change) is field)
        values[field.name], _ = worked_out(field, own, before)
    values = {name: value for name, value in values.items() if value is not MISSING}
    whole = given is not None and left_out(given) is None
    made = changed(given, values) if given is not None and whole else mapper.entity(**values)
    mapper.check(made)
    return made


def _defaults(model: Model) -> dict[str, Any]:
    """Give the values that the constructor gives where it is told nothing."""
    made: dict[str, Any] = {}
    for name, field in model.fields.items():
        if not (isinstance(field, computed) or field.required or field.assigned):
            made[name] = field.default if field.default_factory is MISSING else field.default_factory()
    return made


def made_at_once(mapper: Mapper[E], made: E, plan: Plan, outcome: Outcome, stamp: Stamp) -> tuple[Change, ...] | None:
    """Give what the update must write besides, so that it also makes the item; None where it cannot do both."""
    model = mapper.model
    if plan.must_read or model.uniques or model.computed or model.table.tag is None or model.table.untagged:
        return None
    if any(number.name not in made.__dict__ for number in model.numbers):
        return None
    wanted = mapper.encode(changed(made, model.stamps.created(made.__dict__, stamp.now)))
    wanted = with_create_id(wanted, stamp.id)
    written = {change.path.attribute for change in outcome.changes}
    added = tuple(_filled(name, wanted) for name in wanted if name not in {*written, *plan.key})
    names = {change.path.attribute for change in added}
    if not names <= {*_constant(model)} or not _makes((*outcome.changes, *added), plan.key, wanted):
        return None
    return added


def _filled(name: str, item: Item) -> Change:
    path = Path((name,))
    return Change("set", path, Function("if_not_exists", (path, item[name])))


def _constant(model: Model) -> Iterator[str]:
    """Give the attributes that every item of the entity has, so that a new one's say nothing of one that is there."""
    yield from with_create_id({}, "")
    if model.table.tag is not None:
        yield model.table.tag
    parts = model.primary.parts
    for field in model.fields.values():
        if field.name in parts or _is_always_there(field):
            yield field.attribute
    for layout in model.indexes.values():
        if layout.when is None and set(layout.parts) <= {*parts}:
            yield from layout.names


def _is_always_there(field: Field[Any]) -> bool:
    return not (field.codec.optional or field.codec.empty is not None or isinstance(field, ExpiresAt))


def _makes(changes: tuple[Change, ...], key: Item, wanted: Item) -> bool:
    """Say whether changes of nothing come to just this item."""
    try:
        return {**applied(changes, {}), **key} == wanted
    except (PlaceMissing, CodecError, ArithmeticError):
        return False
