"""Random writes of every kind: what each is about, its changes and its condition, and the same on plain values.

The choice is by table: `CHANGES` has the changes of each kind, `CONDITIONS` its conditions, `FRESH` what is new. A few
values make them meet often; texts with `#`, `$` and `!` are among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final, TypeAlias

from singletable import Condition, Entity, Field, PlaceMissing, evolve
from tests.properties.index_keys_entities import (
    ENDS,
    KINDS,
    PARTS,
    Address,
    Line,
    Member,
    Order,
    Session,
    Thing,
    Ticket,
    Values,
)
from tests.properties.index_keys_world import Predicate, Step, World, Write, place_of, whole

OWNERS: Final = ("o1", "o#2")
NAMES: Final = ("n", "n$", "!n")
TEAMS: Final = ("red", "blue#1")
TEXTS: Final = ("x", "y#z", "é $")
STATES: Final = ("OPEN", "DONE")
EMAILS: Final = ("e1", "e#2", "e3")
USERS: Final = ("u1", "u!2")
SKUS: Final = ("tea", "cup")
DAYS: Final = tuple(datetime(2026, 1, day, 12, day, tzinfo=UTC) for day in (1, 2, 3))
SOON: Final = timedelta(seconds=25, microseconds=3)

StepMaker: TypeAlias = Callable[[Random, World], Step]


def maybe(rng: Random, values: tuple[Any, ...]) -> Any:
    """Choose one of the values, or None."""
    return rng.choice((None, *values))


def addresses(rng: Random) -> Address | None:
    """Choose an address, or none."""
    return rng.choice((None, Address("Bonn"), Address("Bonn", "a"), Address("Köln", "b")))


# Changes --------------------------------------------------------------------------------------------------------------


def setting(field: Any, choose: Callable[[Random, World], Any]) -> StepMaker:
    """Make a change to a chosen value; None removes. Now and then it is said as a mapping, as a PATCH body does."""

    def make(rng: Random, world: World) -> Step:
        value, name = choose(rng, world), field.name
        by_name = rng.random() < 0.3
        change = {name: value} if by_name else field.remove() if value is None else field.set(value)
        kept = whole(value) if name in ENDS.values() else value
        return Step(f"{name}={value!r}", change, lambda _, after: after.__setitem__(name, kept))

    return make


def working(text: str, change: Callable[[], Any], name: str, result: Callable[[Values], Any]) -> StepMaker:
    """Make a change whose result is worked out from the values before."""

    def make(_: Random, __: World) -> Step:
        return Step(text, change(), lambda before, after: after.__setitem__(name, result(before)))

    return make


def in_address(member: str, value: str) -> StepMaker:
    """Make a change of a place inside the address."""
    place: Any = Thing.address[member]

    def apply(before: Values, after: dict[str, Any]) -> None:
        if before["address"] is None:
            raise PlaceMissing("nothing is there")
        after["address"] = replace(before["address"], **{member: value})

    def make(_: Random, __: World) -> Step:
        return Step(f"address.{member}={value!r}", place.set(value), apply)

    return make


def adding(field: Field[int] | Any, *amounts: int) -> StepMaker:
    """Make an addition."""

    def make(rng: Random, _: World) -> Step:
        amount, name = rng.choice(amounts), field.name
        text = f"{name}+={amount}"
        return Step(
            text, field.add(amount), lambda before, after: after.__setitem__(name, (before[name] or 0) + amount)
        )

    return make


def _tallied(before: Values) -> dict[str, int]:
    return {**before["tally"], "k": before["tally"].get("k", 0) + 2}


CHANGES: Final[Mapping[str, Mapping[str, tuple[StepMaker, ...]]]] = {
    "thing": {
        "team": (
            setting(Thing.team, lambda rng, _: maybe(rng, TEAMS)),
            working("team|red", lambda: Thing.team.set(Thing.team | "red"), "team", lambda v: v["team"] or "red"),
        ),
        "score": (setting(Thing.score, lambda rng, _: maybe(rng, (-3, 0, 7))), adding(Thing.score, 1, -2)),
        "a": (
            setting(Thing.a, lambda rng, _: maybe(rng, TEXTS)),
            working("a=b|z", lambda: Thing.a.set(Thing.b | "z"), "a", lambda v: v["b"] or "z"),
        ),
        "b": (setting(Thing.b, lambda rng, _: maybe(rng, TEXTS)),),
        "level": (
            setting(Thing.level, lambda rng, _: rng.choice((0, 9, 10, -1))),
            adding(Thing.level, 1, -1),
            working("level=level+2", lambda: Thing.level.set(Thing.level + 2), "level", lambda v: v["level"] + 2),
            working("level=9-level", lambda: Thing.level.set(9 - Thing.level), "level", lambda v: 9 - v["level"]),
        ),
        "state": (setting(Thing.state, lambda rng, _: rng.choice(STATES)),),
        "labels": (
            working("labels+=p,q", lambda: Thing.labels.add({"p", "q"}), "labels", lambda v: v["labels"] | {"p", "q"}),
            working("labels-=p", lambda: Thing.labels.delete({"p"}), "labels", lambda v: v["labels"] - {"p"}),
        ),
        "lines": (
            working("lines.append", lambda: Thing.lines.append("x", "y"), "lines", lambda v: [*v["lines"], "x", "y"]),
            working("lines.prepend", lambda: Thing.lines.prepend("w"), "lines", lambda v: ["w", *v["lines"]]),
            working("lines[0]=s", lambda: Thing.lines[0].set("s"), "lines", lambda v: ["s", *v["lines"][1:]]),
            working("lines[0] away", Thing.lines[0].remove, "lines", lambda v: v["lines"][1:]),
            setting(Thing.lines, lambda rng, _: rng.choice(([], ["one"]))),
        ),
        "tally": (working("tally.k+=2", lambda: Thing.tally["k"].add(2), "tally", _tallied),),
        "address": (
            setting(Thing.address, lambda rng, _: addresses(rng)),
            in_address("city", "Bonn"),
            in_address("city", "Köln"),
            in_address("street", "c"),
        ),
        "sent_at": (setting(Thing.sent_at, lambda rng, _: rng.choice(DAYS)),),
    },
    "member": {
        "email": (setting(Member.email, lambda rng, _: maybe(rng, EMAILS)),),
        "team": (setting(Member.team, lambda rng, _: rng.choice(TEAMS)),),
        "shirt": (setting(Member.shirt, lambda rng, _: maybe(rng, (1, 2))), adding(Member.shirt, 1)),
        "state": (setting(Member.state, lambda rng, _: rng.choice(STATES)),),
        "points": (adding(Member.points, 1, 5), setting(Member.points, lambda rng, _: rng.choice((0, 10)))),
        "until": (
            setting(Member.until, lambda rng, world: rng.choice((None, world.now + SOON, world.now + 4 * SOON))),
        ),
    },
    "session": {
        "user": (setting(Session.user, lambda rng, _: maybe(rng, USERS)),),
        "seen": (adding(Session.seen, 1),),
        "ends_at": (setting(Session.ends_at, lambda _, world: world.now + SOON),),
    },
    "order": {
        "status": (setting(Order.status, lambda rng, _: rng.choice(("NEW", "PAID"))),),
        "total": (adding(Order.total, 3), setting(Order.total, lambda rng, _: rng.choice((0, 5)))),
        "note": (setting(Order.note, lambda rng, _: maybe(rng, TEXTS)),),
    },
    "line": {
        "sku": (setting(Line.sku, lambda rng, _: maybe(rng, SKUS)),),
        "quantity": (adding(Line.quantity, 1, 2),),
    },
    "ticket": {
        "title": (setting(Ticket.title, lambda rng, _: rng.choice(TEXTS)),),
        "weight": (adding(Ticket.weight, 1),),
    },
}


def steps(rng: Random, world: World, kind: str) -> list[Step]:
    """Choose one to three changes of different fields."""
    makers = CHANGES[kind]
    names = rng.sample(list(makers), rng.randint(1, min(3, len(makers))))
    return [rng.choice(makers[name])(rng, world) for name in names]


# Conditions -----------------------------------------------------------------------------------------------------------


def _if(test: Callable[[Values], bool]) -> Predicate:
    return lambda values: values is not None and test(values)


CONDITIONS: Final[Mapping[str, tuple[tuple[str, Condition, Predicate], ...]]] = {
    "thing": (
        ("level>=1", Thing.level >= 1, _if(lambda v: v["level"] >= 1)),
        ("city is Bonn", Thing.address["city"] == "Bonn", _if(lambda v: (v["address"] or Address("")).city == "Bonn")),
    ),
    "member": (("state is OPEN", Member.state == "OPEN", _if(lambda v: v["state"] == "OPEN")),),
    "session": (("seen<3", Session.seen < 3, _if(lambda v: v["seen"] < 3)),),
    "order": (("status is NEW", Order.status == "NEW", _if(lambda v: v["status"] == "NEW")),),
    "line": (("quantity>1", Line.quantity > 1, _if(lambda v: v["quantity"] > 1)),),
    "ticket": (("weight<2", Ticket.weight < 2, _if(lambda v: v["weight"] < 2)),),
}


# Entities -------------------------------------------------------------------------------------------------------------


def _thing(rng: Random, _: World) -> Entity:
    return Thing(
        owner=rng.choice(OWNERS),
        name=rng.choice(NAMES),
        team=maybe(rng, TEAMS),
        score=maybe(rng, (1, -1)),
        a=maybe(rng, TEXTS),
        b=maybe(rng, TEXTS),
        level=rng.choice((0, 1, 10)),
        lines=rng.choice(([], ["l"])),
        address=addresses(rng),
        sent_at=rng.choice(DAYS),
    )


def _member(rng: Random, world: World) -> Entity:
    return Member(
        member_id=rng.choice(("m1", "m#2", "m3")),
        email=maybe(rng, EMAILS),
        team=rng.choice(TEAMS),
        shirt=maybe(rng, (1, 2)),
        state=rng.choice(STATES),
        until=rng.choice((None, None, world.now + SOON)),
    )


def _session(rng: Random, _: World) -> Entity:
    return Session(session_id=rng.choice(("s1", "s2", "s$3")), user=maybe(rng, USERS))


def _order(rng: Random, _: World) -> Entity:
    return Order(user=rng.choice(USERS), status=rng.choice(("NEW", "PAID")), note=maybe(rng, TEXTS))


def _line(rng: Random, world: World) -> Entity:
    user = rng.choice(USERS)
    number = rng.randint(0, world.numbers.get(user, 0))  # below an order that stands, or stood: others count as numbers
    return Line(user=user, order_id=number, line_no=rng.choice((1, 2)), sku=maybe(rng, SKUS))


def _ticket(rng: Random, _: World) -> Entity:
    return Ticket(title=rng.choice(TEXTS))


FRESH: Final[Mapping[str, Callable[[Random, World], Entity]]] = {
    "thing": _thing,
    "member": _member,
    "session": _session,
    "order": _order,
    "line": _line,
    "ticket": _ticket,
}

WEIGHTS: Final = {"thing": 6, "member": 6, "session": 3, "order": 4, "line": 2, "ticket": 1}


def some_kind(rng: Random, among: tuple[str, ...] = tuple(KINDS)) -> str:
    """Choose a kind."""
    return rng.choices(among, [WEIGHTS[kind] for kind in among])[0]


def some_loaded(rng: Random, world: World, kind: str) -> Entity | None:
    """Choose an entity that was given back before, stale or not."""
    known = [place for place in world.loaded if place[0] == kind]
    return rng.choice(world.loaded[rng.choice(known[-8:])]) if known else None


def _known_parts(rng: Random, world: World, kind: str) -> tuple[Any, ...] | None:
    """Choose the key of an item: mostly of one that lives, now and then of one that was or may never have been."""
    living = world.living(kind)
    if living and rng.random() < 0.85:
        return rng.choice(living)[1]
    known = [place for place in world.loaded if place[0] == kind]
    if known:
        return rng.choice(known)[1]
    if kind in ("order", "ticket"):
        return None
    entity = FRESH[kind](rng, world)
    return tuple(getattr(entity, name) for name in PARTS[kind])


def create(rng: Random, world: World, kind: str) -> Write:
    """Create something new."""
    entity = FRESH[kind](rng, world)
    return Write("create", kind, _parts(entity, kind), entity)


def _parts(entity: Entity, kind: str) -> tuple[Any, ...] | None:
    names = PARTS[kind]
    known = all(name in entity.__dict__ for name in names)
    return tuple(entity.__dict__[name] for name in names) if known else None


def put(rng: Random, world: World, kind: str) -> Write:
    """Put something new, or what was loaded, some values changed."""
    loaded = some_loaded(rng, world, kind) if rng.random() < 0.6 else None
    entity = FRESH[kind](rng, world) if loaded is None else _evolved(rng, world, loaded, kind)
    parts = _parts(entity, kind)
    when = rng.choice(CONDITIONS[kind]) if parts is not None and rng.random() < 0.25 else None
    return Write("put", kind, parts, entity, (), when)


def _evolved(rng: Random, world: World, loaded: Entity, kind: str) -> Entity:
    """Take the values of something new over, but for its key."""
    other = FRESH[kind](rng, world)
    names = [name for name in CHANGES[kind] if name in other.__dict__ and rng.random() < 0.4]
    return evolve(loaded, **{name: other.__dict__[name] for name in names if name != "ends_at"})


def update(rng: Random, world: World, kind: str) -> Write:
    """Update by reference, or by an entity that was loaded before."""
    chosen, parts = _subject(rng, world, kind)
    if parts is None:
        return create(rng, world, kind)
    when = rng.choice(CONDITIONS[kind]) if rng.random() < 0.2 else None
    return Write("update", kind, parts, chosen, steps(rng, world, kind), when)


def delete(rng: Random, world: World, kind: str) -> Write:
    """Delete by reference, or by an entity that was loaded before."""
    chosen, parts = _subject(rng, world, kind)
    if parts is None:
        return create(rng, world, kind)
    return Write("delete", kind, parts, chosen, (), rng.choice(CONDITIONS[kind]) if rng.random() < 0.2 else None)


def check(rng: Random, world: World, kind: str) -> Write:
    """Check an item."""
    parts = _known_parts(rng, world, kind)
    if parts is None:
        return create(rng, world, kind)
    return Write("check", kind, parts, None, (), rng.choice((None, *CONDITIONS[kind])))


def _subject(rng: Random, world: World, kind: str) -> tuple[Entity | None, tuple[Any, ...] | None]:
    loaded = some_loaded(rng, world, kind) if rng.random() < 0.4 else None
    return loaded, _known_parts(rng, world, kind) if loaded is None else place_of(loaded)[1]


MOVES: Final[Mapping[str, tuple[Callable[[Random, World, str], Write], int]]] = {
    "create": (create, 6),
    "put": (put, 6),
    "update": (update, 12),
    "delete": (delete, 3),
}
"""The single writes and how often each is chosen. A new verb (move, update with missing="create") gets its line here,
in `JUDGES` and in the driver's `OPERATIONS`."""
