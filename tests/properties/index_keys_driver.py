"""Run random operations on a store and hold what is stored, and what is answered, against the pure model.

Theory of operation. Step `n` of a run draws its choices from a generator of its own, seeded by the run's seed and `n`,
so that leaving steps out leaves the others nearly as they were: that is how a failing run is made small. After every
few steps all items are read behind the mapper's back. `Finding` is what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, Final

from singletable import (
    Check,
    Create,
    Delete,
    Entity,
    Put,
    SingleTableError,
    Store,
    TransactionFailed,
    UniqueViolation,
    Unprocessed,
    Update,
    UsageError,
    from_item,
    to_item,
)
from singletable.wire import Item
from tests.contract.behind import client_of, everything, sibling
from tests.properties.index_keys_entities import (
    INDEX_ATTRIBUTES,
    INDEX_KEYS,
    KINDS,
    PARTS,
    UNIQUES,
    Line,
    Member,
    Order,
    Session,
    Thing,
    Ticket,
    Values,
    expires,
    guards_by_hand,
    part,
)
from tests.properties.index_keys_moves import (
    DAYS,
    EMAILS,
    MOVES,
    OWNERS,
    SKUS,
    TEAMS,
    TEXTS,
    USERS,
    check,
    create,
    delete,
    put,
    some_kind,
)
from tests.properties.index_keys_world import Place, Verdict, World, Write, judge, kind_of, place_of, values_of


class Finding(AssertionError):
    """Something that is stored, or was answered, and does not fit the model."""


def fits(true: bool, told: str, *more: object) -> None:
    """Raise Finding unless it is true."""
    if not true:
        raise Finding("\n  ".join([told, *map(str, more)]))


@dataclass(slots=True)
class Run:
    """One table, the world it should be, and what was done to it."""

    store: Store
    world: World
    told: list[str] = field(default_factory=list[str])
    writes: int = 0

    def step(self, rng: Random) -> None:
        """Do one operation of a random kind."""
        self.world.now += timedelta(seconds=rng.choice((0, 0, 1, 5)), microseconds=rng.choice((0, 1, 999_999)))
        names = list(OPERATIONS)
        name = rng.choices(names, [OPERATIONS[name][1] for name in names])[0]
        OPERATIONS[name][0](self, rng)

    def tell(self, text: object) -> None:
        """Note what is done next."""
        self.told.append(f"{self.world.now:%H:%M:%S.%f} {text}")


# Operations -----------------------------------------------------------------------------------------------------------


def operation_of(write: Write) -> Any:
    """Make the operation of a write, as a transaction takes it."""
    condition = None if write.when is None else write.when[1]
    what: Any = write.entity if write.entity is not None else _ref(write.kind, write.parts)
    if write.verb == "create":
        return Create(what)
    if write.verb == "put":
        return Put(what, condition)
    if write.verb == "update":
        return Update(what, *(step.change for step in write.steps), when=condition)
    return (Delete if write.verb == "delete" else Check)(what, when=condition)


def _ref(kind: str, parts: tuple[Any, ...] | None) -> Any:
    assert parts is not None
    return KINDS[kind].at(**dict(zip(PARTS[kind], parts, strict=True)))


def single(run: Run, rng: Random) -> None:
    """Run one write alone."""
    kind = some_kind(rng)
    name = rng.choices(list(MOVES), [weight for _, weight in MOVES.values()])[0]
    write = MOVES[name][0](rng, run.world, kind)
    run.tell(write)
    run.writes += 1
    verdict = judge(run.world, write)
    try:
        answer = run.store.run(operation_of(write))
    except SingleTableError as error:
        fits(type(error) in verdict.errors, f"raised {error!r}", f"expected one of {_named(verdict.errors)}")
        return
    fits(not verdict.errors, f"was carried out, expected one of {_named(verdict.errors)}")
    _settle(run, verdict, answer, write.verb)


def _named(errors: Iterable[type[Exception]]) -> list[str]:
    return sorted(error.__name__ for error in errors)


def _settle(run: Run, verdict: Verdict, answer: Any, verb: str, *, told: bool = True) -> None:
    """Hold an answer against the verdict, and make it true; an update's and a delete's is not told in a transaction."""
    verdict = _with_number(run.world, verdict, answer)
    expected = verdict.before if verb == "delete" else verdict.after
    if told and verb != "check":
        given = None if answer is None else values_of(answer)
        fits(given == expected, f"{verb} gave another entity", f"given {given}", f"expected {expected}")
    run.world.settle(verdict)
    if answer is not None and verb != "delete":
        run.world.see(answer)


def _with_number(world: World, verdict: Verdict, answer: Any) -> Verdict:
    """Fill in a number that only the counter knows."""
    if verdict.place is not None or answer is None:
        return verdict
    number: int = answer.number
    fits(number > world.counted, f"the counter gave {number} after {world.counted}")
    world.counted = number
    return Verdict(("ticket", (number,)), verdict.errors, None, {**(verdict.after or {}), "number": number})


TOLD = ("create", "put")
"""The verbs whose result a transaction tells."""


def transaction(run: Run, rng: Random) -> None:
    """Run two to five writes of different items as one."""
    writes = _several(run, rng)
    run.tell("transact: " + "; ".join(map(str, writes)))
    run.writes += len(writes)
    scratch = _copy(run.world)
    verdicts = list[Verdict]()
    for write in writes:
        verdicts.append(judge(scratch if write.kind == "order" else run.world, write, unique=False))
        scratch.settle(verdicts[-1])
    double = _has_double(scratch)
    refusable = double or any(verdict.errors for verdict in verdicts)
    try:
        answers = run.store.transact(*map(operation_of, writes))
    except TransactionFailed as failed:
        fits(refusable, f"failed with {failed.exceptions!r}", "expected to be carried out")
        for error in failed.exceptions:
            at = error.index
            assert at is not None
            likely = {*verdicts[at].errors, *({UniqueViolation} if writes[at].kind in UNIQUES else ())}
            fits(type(error) in likely, f"operation {at} raised {error!r}", f"expected one of {_named(likely)}")
        return
    except UsageError as error:
        fits(refusable, f"refused with {error!r}")
        return
    fits(not refusable, "was carried out", f"expected {[_named(verdict.errors) for verdict in verdicts]}, {double=}")
    for write, verdict, answer in zip(writes, verdicts, answers, strict=True):
        _settle(run, verdict, answer, write.verb, told=write.verb in TOLD)


def _several(run: Run, rng: Random) -> list[Write]:
    """Choose writes of different items; a check may be of one that is also written."""
    chosen, places = list[Write](), set[Place]()
    for _ in range(rng.randint(2, 5)):
        kind = some_kind(rng)
        maker = rng.choice((create, put, MOVES["update"][0], MOVES["update"][0], delete, check))
        write = maker(rng, run.world, kind)
        place = None if write.parts is None else (kind, write.parts)
        if place is None or place not in places:
            chosen.append(write)
            places |= set() if place is None else {place}
    return chosen


def _copy(world: World) -> World:
    return World(world.now, dict(world.items), set(world.gone), dict(world.numbers))


def _has_double(world: World) -> bool:
    """Say whether two living items would have one unique value."""
    for kind in UNIQUES:
        found = [guard for place in world.living(kind) for guard in guards_by_hand(kind, world.items[place])]
        if len(found) != len(set(found)):
            return True
    return False


def create_many(run: Run, rng: Random) -> None:
    """Create several of one kind, each on its own."""
    writes = _distinct(
        run, [create(rng, run.world, kind) for kind in [some_kind(rng)] for _ in range(rng.randint(1, 5))]
    )
    run.tell("create_many: " + "; ".join(map(str, writes)))
    run.writes += len(writes)
    failed, scratch = dict[int, frozenset[type[Exception]]](), _copy(run.world)
    verdicts = list[Verdict]()
    for at, write in enumerate(writes):
        verdicts.append(judge(scratch, write))
        scratch.settle(verdicts[-1])
        failed |= {at: verdicts[-1].errors} if verdicts[-1].errors else {}
    entities = [write.entity for write in writes if write.entity is not None]
    done = _many(lambda: run.store.create_many(entities), failed, entities)
    good = [verdict for verdict in verdicts if not verdict.errors]
    fits(len(done) == len(good), f"create_many gave {len(done)} of {len(good)}")
    for verdict, entity in zip(good, done, strict=True):
        _settle(run, verdict, entity, "create")


def _distinct(run: Run, writes: list[Write]) -> list[Write]:
    """Leave out what would have the key, or a unique value, of another in the list: its order is not promised."""
    kept, seen = list[Write](), set[object]()
    for write in writes:
        values = judge(run.world, write).after
        marks: set[object] = {(write.kind, write.parts)} if write.parts is not None else set()
        marks |= set() if values is None else set(guards_by_hand(write.kind, values))
        if not marks & seen:
            kept.append(write)
            seen |= marks
    return kept


def _many(
    verb: Callable[[], Any], failed: Mapping[int, frozenset[type[Exception]]], given: list[Any]
) -> tuple[Entity, ...]:
    """Run a verb on many, and hold what it could not do against what it should not."""
    try:
        done = verb()
    except Unprocessed as error:
        wanted = [given[at] for at in sorted(failed)]
        fits(len(error.items) == len(wanted), f"did not do {error.items}", f"for {error.causes}", f"expected {wanted}")
        for cause, errors in zip(error.causes, [failed[at] for at in sorted(failed)], strict=True):
            fits(type(cause) in errors, f"gave {cause!r} as a cause", f"expected one of {_named(errors)}")
        left: tuple[Any, ...] = error.done
        return left
    fits(not failed, "did all", f"expected to fail at {sorted(failed)}")
    return done or ()


def put_many(run: Run, rng: Random) -> None:
    """Put several of one kind in a batch."""
    kind = some_kind(rng, ("thing", "session", "line", "ticket"))
    writes = _distinct(run, [put(rng, run.world, kind) for _ in range(rng.randint(1, 6))])
    run.tell("put_many: " + "; ".join(map(str, writes)))
    run.writes += len(writes)
    verdicts = [judge(run.world, Write("put", kind, write.parts, write.entity)) for write in writes]
    done = run.store.put_many([write.entity for write in writes if write.entity is not None])
    for verdict, entity in zip(verdicts, done, strict=True):
        _settle(run, verdict, entity, "put")


def delete_many(run: Run, rng: Random) -> None:
    """Delete several, of any kinds."""
    chosen = [delete(rng, run.world, some_kind(rng)) for _ in range(rng.randint(1, 4))]
    writes = _distinct(run, [write for write in chosen if write.verb == "delete"])
    plain = [Write("delete", write.kind, write.parts, write.entity) for write in writes]
    run.tell("delete_many: " + "; ".join(map(str, plain)))
    run.writes += len(plain)
    verdicts = [judge(run.world, write) for write in plain]
    what = [_ref(write.kind, write.parts) if write.entity is None else write.entity for write in plain]
    failed = {at: verdict.errors for at, verdict in enumerate(verdicts) if verdict.errors}
    _many(lambda: run.store.delete_many(what), failed, what)
    for verdict in verdicts:
        run.world.settle(verdict)


def load(run: Run, rng: Random) -> None:
    """Read what lives of one kind, and keep it to be handed in later."""
    places = run.world.living(some_kind(rng))
    places = rng.sample(places, min(3, len(places)))
    run.tell(f"load {places}")
    for place in places:
        found = run.store.get(_ref(*place), consistent=True)
        assert found is not None, f"get({place}) gave nothing"
        fits(values_of(found) == run.world.items[place], f"get({place}) gave {found}")
        run.world.see(found)


def ask(run: Run, rng: Random) -> None:
    """Query an index, and hold the answer against the model."""
    name = rng.choice(list(QUESTIONS))
    kind, attribute, value, query = QUESTIONS[name](rng)
    run.tell(f"query {name} {value}")
    found = run.store.query(query).all()
    wanted = [place for place in run.world.living(kind) if _under(place, run.world.items[place], attribute) == value]
    fits(sorted(map(place_of, found)) == sorted(wanted), f"{name} found {found}", f"expected {wanted}")


def _under(place: Place, values: Values, attribute: str) -> object:
    """Give the partition key of an item on an index; None where it is not on it."""
    keys = INDEX_KEYS[place[0]](values)
    if attribute == "nearSK":
        return f"#OWNER#{part(values['owner'])}" if attribute in keys else None
    other = {"GSI1PK": "GSI1SK", "GSI2PK": "GSI2SK", "SPK": "score", "GPK/a": "ASK", "GPK/b": "BSK"}[attribute]
    pk = keys.get(attribute.partition("/")[0])
    return pk["S"] if pk is not None and other in keys else None


def _question(
    kind: str, attribute: str, label: str, name: str, asked: tuple[Callable[..., Any], tuple[Any, ...]]
) -> Any:
    key, choices = asked

    def make(rng: Random) -> tuple[str, str, str, Any]:
        value = rng.choice(choices)
        return kind, attribute, f"#{label}#{part(value)}", key(**{name: value})

    return make


QUESTIONS: Final[Mapping[str, Callable[[Random], tuple[str, str, str, Any]]]] = {
    "by_team": _question("thing", "GSI1PK", "TEAM", "team", (Thing.by_team, TEAMS)),
    "by_day": _question("thing", "GSI2PK", "DAY", "day", (Thing.by_day, tuple(day.date() for day in DAYS))),
    "ranking": _question("thing", "SPK", "TEAM", "team", (Thing.ranking, TEAMS)),
    "by_a": _question("thing", "GPK/a", "T", "team", (Thing.by_a, TEAMS)),
    "by_b": _question("thing", "GPK/b", "T", "team", (Thing.by_b, TEAMS)),
    "nearby": _question("thing", "nearSK", "OWNER", "owner", (Thing.nearby, OWNERS)),
    "by_points": _question("member", "GSI1PK", "POINTS", "team", (Member.by_points, TEAMS)),
    "by_email": _question("member", "GSI2PK", "EMAIL", "email", (Member.by_email, EMAILS)),
    "by_user": _question("session", "GSI1PK", "SESSIONS", "user", (Session.by_user, USERS)),
    "by_status": _question("order", "GSI1PK", "ORDERS", "user", (Order.by_status, USERS)),
    "by_sku": _question("line", "GSI2PK", "SKU", "sku", (Line.by_sku, SKUS)),
    "by_title": _question("ticket", "GSI1PK", "TICKETS", "title", (Ticket.by_title, TEXTS)),
}


def sweep(run: Run, rng: Random) -> None:
    """Sweep some of what has expired, guards among it, as DynamoDB does in its own time."""
    run.tell("sweep")
    for item in everything(run.store):
        if "ttl" in item and int(item["ttl"]["N"]) <= int(run.world.now.timestamp()) and rng.random() < 0.5:
            key = {"PK": item["PK"], "SK": item["SK"]}
            client_of(run.store).delete_item(TableName=run.store.name, Key=key)
            if item["_et"]["S"] in KINDS:
                run.world.items.pop(place_of(_read(item)))


def another(run: Run, _: Random) -> None:
    """Go on as another process, which remembers nothing."""
    run.tell("another process")
    run.store = sibling(run.store, clock=run.world)


OPERATIONS: Final[Mapping[str, tuple[Callable[[Run, Random], None], int]]] = {
    "single": (single, 60),
    "transaction": (transaction, 14),
    "create_many": (create_many, 5),
    "put_many": (put_many, 5),
    "delete_many": (delete_many, 4),
    "load": (load, 6),
    "ask": (ask, 8),
    "sweep": (sweep, 2),
    "another": (another, 1),
}
"""What a step does, and how often."""


# What is stored -------------------------------------------------------------------------------------------------------


def verify(run: Run) -> None:
    """Read every item behind the mapper's back, and hold it against the world."""
    world, found, guards = run.world, set[Place](), dict[str, Item]()
    for item in everything(run.store):
        tag = item["_et"]["S"]
        if tag == "!gone":
            fits(_tombstone(item) in world.gone, f"a tombstone stands at {item['PK']}, {item['SK']}")
        elif tag == "!unique":
            guards[item["PK"]["S"]] = item
        elif tag == "!seq":
            fits(int(item["last"]["N"]) >= world.counted, f"the counter stands at {item['last']}")
        else:
            found.add(_verify_item(world, item))
    fits(found == set(world.items), f"stored are {sorted(found, key=str)}", f"expected {sorted(world.items, key=str)}")
    _verify_guards(world, guards)


def _tombstone(item: Item) -> Place:
    *_, number = item["SK"]["S"].split("#")
    (user,) = [user for user in USERS if item["PK"]["S"] == f"#USER#{part(user)}"]
    return "order", (user, int(number))


def _read(item: Item) -> Entity:
    return from_item(KINDS[item["_et"]["S"]], item)


def _verify_item(world: World, item: Item) -> Place:
    """Check one item of ours: it is what its entity gives, its keys are those worked out by hand."""
    entity = _read(item)
    place, values = place_of(entity), values_of(entity)
    kind = kind_of(entity)
    fits(place in world.items, f"{place} is stored")
    fits(
        values == world.items[place], f"{place} has other values", f"stored {values}", f"expected {world.items[place]}"
    )
    stored = {name: item[name] for name in INDEX_ATTRIBUTES if name in item}
    wanted = INDEX_KEYS[kind](world.items[place])
    fits(stored == wanted, f"{place} has other index keys", f"stored {stored}", f"expected {wanted}")
    again = {name: value for name, value in to_item(entity).items() if name not in ("_c", "_w")}
    bare = {name: value for name, value in item.items() if name not in ("_c", "_w")}
    fits(_settled(again) == _settled(bare), f"{place} is not what it gives", f"stored {bare}", f"recomputed {again}")
    return place


def _settled(item: Item) -> Item:
    """Put the members of sets in order."""
    return {name: {"SS": sorted(value["SS"])} if "SS" in value else value for name, value in item.items()}


def _verify_guards(world: World, guards: dict[str, Item]) -> None:
    """Check that what lives has its guards, each its own and with its time to live, and nothing else has one."""
    wanted = dict[str, Item]()
    for place in world.items:
        if world.has_expired(place):
            continue
        values, end = world.items[place], expires(place[0], world.items[place])
        of = {"M": _ref(*place).key}
        for pk in guards_by_hand(place[0], values):
            wanted[pk] = {"of": of, **({} if end is None else {"ttl": {"N": str(end)}})}
    now = int(world.now.timestamp())
    living = {pk: item for pk, item in guards.items() if "ttl" not in item or int(item["ttl"]["N"]) > now}
    shown = {pk: {name: item[name] for name in ("of", "ttl") if name in item} for pk, item in living.items()}
    fits(shown == wanted, "the guards differ", f"stored {shown}", f"expected {wanted}")


# Runs -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Report:
    """What a run came to: its steps, the writes among them, and what was found, if anything was."""

    steps: int
    writes: int
    finding: str | None = None


def perform(store: Store, seed: str, indices: Iterable[int], every: int = 1) -> Report:
    """Run the steps of these numbers on a new table, and check all items after every few of them, and at last."""
    world = World()
    run, done = Run(sibling(store, clock=world), world), 0
    try:
        for index in indices:
            run.step(Random(f"{seed}:{index}"))
            done += 1
            if done % every == 0:
                verify(run)
        verify(run)
    except Exception as error:  # noqa: BLE001  # whatever an operation raises is a finding, and is told with its steps
        last = "\n".join(run.told[-40:])
        return Report(done, run.writes, f"{type(error).__name__}: {error}\nafter\n{last}")
    return Report(done, run.writes)


def smallest(make: Callable[[], Store], seed: str, steps: int) -> list[int]:
    """Leave steps out for as long as the same kind of finding remains; give what is left."""
    kept, size = list(range(steps)), steps // 2
    kind = _kind(perform(make(), seed, kept))
    while size:
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + size :]
            report = perform(make(), seed, fewer)
            if report.finding is not None and _kind(report) == kind:
                kept = fewer[: report.steps + 1]
            else:
                at += size
        size //= 2
    return kept


def _kind(report: Report) -> str:
    return (report.finding or "").partition(" ")[0]
