"""A pure model of a table: what each write comes to, judged on entities as plain values, without the package's code.

Theory of operation. The world maps a place (the kind and the values of its primary key) to the values of the entity
that stands there. `judge` says what one write must come to: the errors it may be refused with, or the values after it.
What has expired is kept, since it is stored, and counts as absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from singletable import (
    AlreadyExists,
    Change,
    Condition,
    ConditionFailed,
    Entity,
    NotFound,
    PlaceMissing,
    UniqueViolation,
    VersionConflict,
    fields,
)
from tests.properties.index_keys_entities import LIFE, PARTS, UNIQUES, Values, expires

Place: TypeAlias = tuple[str, tuple[Any, ...]]
Predicate: TypeAlias = Callable[[Values | None], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """One change of an update, and the same on plain values: it reads `before` and writes `after`."""

    text: str
    change: Change | Mapping[str, object]
    apply: Callable[[Values, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Write:
    """One write: its verb, the place (None where the number is not drawn yet), and what it is about."""

    verb: str
    kind: str
    parts: tuple[Any, ...] | None
    entity: Entity | None = None
    """What is created or put, or the loaded entity that an update or delete is handed."""
    steps: Sequence[Step] = ()
    when: tuple[str, Condition, Predicate] | None = None

    def __str__(self) -> str:
        told = [f"{self.verb} {self.kind} {self.parts}"]
        told += [] if self.entity is None else [repr(self.entity)]
        told += [step.text for step in self.steps]
        return ", ".join([*told, *([] if self.when is None else [f"when={self.when[0]}"])])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a write must come to: one of `errors`, where there are any, or `after` in place of `before`."""

    place: Place | None
    errors: frozenset[type[Exception]] = frozenset()
    before: Values | None = None
    after: Values | None = None
    changes: bool = True


@dataclass(slots=True)
class World:
    """What stands in the table, by a clock that is moved by hand."""

    now: datetime = datetime(2026, 1, 2, 23, 59, 30, 250_000, tzinfo=UTC)
    items: dict[Place, Values] = field(default_factory=dict[Place, Values])
    gone: set[Place] = field(default_factory=set[Place])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    """The highest order number that was ever given to each user."""
    counted: int = 0
    loaded: dict[Place, list[Entity]] = field(default_factory=dict[Place, list[Entity]])

    def __call__(self) -> datetime:
        return self.now

    def has_expired(self, place: Place) -> bool:
        """Say whether what stands at a place has expired."""
        end = expires(place[0], self.items[place])
        return end is not None and end <= int(self.now.timestamp())

    def alive(self, place: Place) -> Values | None:
        """Give what counts as standing at a place."""
        return None if place not in self.items or self.has_expired(place) else self.items[place]

    def living(self, kind: str) -> list[Place]:
        """Name the places of what lives of a kind."""
        return [place for place in self.items if place[0] == kind and not self.has_expired(place)]

    def settle(self, verdict: Verdict) -> None:
        """Make a verdict true."""
        place = verdict.place
        if verdict.errors or not verdict.changes or place is None:
            return
        if verdict.after is not None:
            self.items[place] = verdict.after
            if place[0] == "order":
                user, number = place[1]
                self.numbers[user] = max(number, self.numbers.get(user, 0))
            return
        self.items.pop(place, None)
        if place[0] == "order" and verdict.before is not None:
            self.gone.add(place)

    def see(self, entity: Entity) -> None:
        """Remember an entity that was given back, to hand it in later."""
        kept = self.loaded.setdefault(place_of(entity), [])
        kept.append(entity)
        del kept[:-3]


def kind_of(entity: Entity) -> str:
    """Name the kind of an entity."""
    return type(entity).__name__.lower()


def place_of(entity: Entity) -> Place:
    """Give the place of an entity that has its numbers."""
    kind = kind_of(entity)
    return kind, tuple(getattr(entity, name) for name in PARTS[kind])


def values_of(entity: Entity) -> dict[str, Any]:
    """Give the values an entity has, computed ones left out."""
    return {name: entity.__dict__[name] for name in fields(entity) if name in entity.__dict__}


# Verdicts -------------------------------------------------------------------------------------------------------------


def judge(world: World, write: Write, *, unique: bool = True) -> Verdict:
    """Say what a write must come to; `unique=False` leaves it to the caller whether its unique values are free."""
    return JUDGES[write.verb](world, write, unique)


def _create(world: World, write: Write, unique: bool) -> Verdict:
    assert write.entity is not None
    after = stamped(world, write.entity, created=True)
    place = _numbered(world, write.kind, after)
    errors = set[type[Exception]]()
    if place is not None and (world.alive(place) is not None or place in world.gone):
        errors.add(AlreadyExists)
    if unique and taken(world, write.kind, place, after):
        errors.add(UniqueViolation)
    return Verdict(place, frozenset(errors), None, after)


def _numbered(world: World, kind: str, after: dict[str, Any]) -> Place | None:
    """Draw an order's number; None for a ticket, whose counter may have left gaps."""
    if kind == "order" and "order_id" not in after:
        after["order_id"] = world.numbers.get(after["user"], 0) + 1
    if kind == "ticket" and "number" not in after:
        return None
    return kind, tuple(after[name] for name in PARTS[kind])


def _put(world: World, write: Write, unique: bool) -> Verdict:
    assert write.entity is not None
    had = values_of(write.entity)
    after = stamped(world, write.entity, created=False)
    place = _numbered(world, write.kind, after)
    before = None if place is None else world.alive(place)
    errors = set[type[Exception]]()
    if place is not None and place in world.gone:
        errors.add(AlreadyExists)
    if write.kind == "member" and had.get("version") != (None if before is None else before["version"]):
        errors.add(VersionConflict)
    if write.when is not None and not write.when[2](before):
        errors.add(ConditionFailed)
    if unique and taken(world, write.kind, place, after):
        errors.add(UniqueViolation)
    return Verdict(place, frozenset(errors), before, after)


def stamped(world: World, entity: Entity, *, created: bool) -> dict[str, Any]:
    """Give the values of an entity as they are stored: with what the store stamps."""
    values, kind = values_of(entity), kind_of(entity)
    if kind in ("thing", "order"):
        values["updated_at"] = world.now
    if kind == "member":
        values["version"] = 1 if created else (values.get("version") or 0) + 1
        kept = None if created else values.get("created_at")
        values["created_at"] = kept or world.now
        values["until"] = whole(values.get("until"))
    if kind == "session":
        values["ends_at"] = whole(values.get("ends_at") or world.now + LIFE)
    return values


def whole(moment: datetime | None) -> datetime | None:
    """Round a moment up to a whole second."""
    if moment is None or moment.microsecond == 0:
        return moment
    return moment.replace(microsecond=0) + timedelta(seconds=1)


def _update(world: World, write: Write, unique: bool) -> Verdict:
    place = _placed(write)
    before = world.alive(place)
    if before is None:
        return Verdict(place, frozenset({NotFound}))
    after, errors = dict(before), _outdated(write, before)
    for step in write.steps:
        try:
            step.apply(before, after)
        except PlaceMissing:
            errors.add(PlaceMissing)
    after |= {"version": before["version"] + 1} if "version" in before else {}
    after |= {"updated_at": world.now} if "updated_at" in before else {}
    changed = [names for names in UNIQUES.get(write.kind, ()) if _of(before, names) != _of(after, names)]
    if unique and taken(world, write.kind, place, after, changed):
        errors.add(UniqueViolation)
    return Verdict(place, frozenset(errors), before, after)


def _outdated(write: Write, before: Values) -> set[type[Exception]]:
    """Give the errors of a write whose entity or condition does not fit what stands there."""
    errors = set[type[Exception]]()
    if write.entity is not None and "version" in before and values_of(write.entity)["version"] != before["version"]:
        errors.add(VersionConflict)
    if write.when is not None and not write.when[2](before):
        errors.add(ConditionFailed)
    return errors


def _delete(world: World, write: Write, _: bool) -> Verdict:
    place = _placed(write)
    before = world.alive(place)
    if before is None:
        refused = write.when is not None and not write.when[2](None)
        return Verdict(place, frozenset({ConditionFailed} if refused else ()))
    return Verdict(place, frozenset(_outdated(write, before)), before)


def _check(world: World, write: Write, _: bool) -> Verdict:
    place = _placed(write)
    before = world.alive(place)
    refused = before is None or (write.when is not None and not write.when[2](before))
    return Verdict(place, frozenset({ConditionFailed} if refused else ()), before, changes=False)


def _placed(write: Write) -> Place:
    assert write.parts is not None
    return write.kind, write.parts


JUDGES: Mapping[str, Callable[[World, Write, bool], Verdict]] = {
    "create": _create,
    "put": _put,
    "update": _update,
    "delete": _delete,
    "check": _check,
}
"""What each verb comes to. A new verb (move, update with missing="create") gets its judge here."""


def _of(values: Values, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """Give a combination of unique values; None where one of them is absent."""
    found = tuple(values[name] for name in names)
    return None if None in found else found


def taken(
    world: World, kind: str, place: Place | None, after: Values, uniques: Sequence[tuple[str, ...]] | None = None
) -> bool:
    """Say whether another living item has one of the unique values."""
    for names in UNIQUES.get(kind, ()) if uniques is None else uniques:
        wanted = _of(after, names)
        others = [world.items[other] for other in world.living(kind) if other != place]
        if wanted is not None and any(_of(other, names) == wanted for other in others):
            return True
    return False
