"""What is handed to a verb: checked here to be an entity, a reference or a query of the store's own table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeAlias, TypeVar

from singletable.cursors import Signing
from singletable.entity import Entity
from singletable.errors import UsageError, kind_of
from singletable.gathering import Collection, Gathering
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.operations.by_value import UniqueRef
from singletable.operations.check import Check
from singletable.operations.create import Create
from singletable.operations.delete import Delete
from singletable.operations.get import Get
from singletable.operations.move import Move
from singletable.operations.put import Put
from singletable.operations.sequences import (
    PeekSequence,
    ReserveNumbers,
    ResetSequence,
    SetSequence,
    SyncSequence,
)
from singletable.operations.standing import Reading
from singletable.operations.subjects import subject
from singletable.operations.transact import Transact
from singletable.operations.update import Update
from singletable.queries import Query, Ref
from singletable.schema import Table, kinds_of, model_of
from singletable.scopes import Scope

__all__ = ["CursorKey", "Handed", "check_name", "check_table", "flag", "seconds", "signing_of"]

STORING = (Create, Put)
REFERRING = (Get, Update, Delete, Move, Check, Reading)
LOOKING_AFTER = (PeekSequence, ReserveNumbers, SetSequence, SyncSequence, ResetSequence)

T = TypeVar("T")
E = TypeVar("E", bound=Entity)
H = TypeVar("H", bound=Collection)


CursorKey: TypeAlias = str | bytes | Sequence[str | bytes]
"""The secret that seals cursors, or several: the first seals, all are taken."""


class Handed:
    """Takes what is handed to a store of one table, or raises UsageError with an example of what is wanted."""

    def __init__(self, table: Table, scope: Scope | None) -> None:
        self.table = table
        self.scope = scope

    def queries(self, queries: Iterable[Query[E]]) -> tuple[Query[E], ...]:
        """Take one or more queries."""
        made = tuple(map(self.query, queries))
        if not made:
            raise UsageError("no query was given", hint=f"such as {self._example(None, 'key')}")
        return made

    def query(self, query: Query[E]) -> Query[E]:
        """Take a query."""
        if not isinstance(query, Query):
            raise UsageError(f"given {_given(query)}, wanted a query", hint=f"such as {self._example(query, 'key')}")
        self.check(query.entity)
        return query

    def gathering(self, what: Gathering[H]) -> Gathering[H]:
        """Take what is to be gathered."""
        if not isinstance(what, Gathering):
            raise UsageError(
                f"given {_given(what)}, wanted what a collection's class gives",
                hint="such as store.gather(Home.of(user_id=...)); store.query(...) runs a query",
            )
        self.check(what.query.entity)
        return what

    def all_own(self, entities: Iterable[E]) -> tuple[E, ...]:
        """Take many entities."""
        given = tuple(_listed(entities))
        for one in {type(each): each for each in given}.values():
            self.own(one)
        return given

    def own(self, entity: E) -> E:
        """Take an entity."""
        if not isinstance(entity, Entity):
            raise self._no_entity(entity)
        self.check(type(entity))
        return entity

    def ref(self, ref: Ref[E]) -> Ref[E]:
        """Take a reference."""
        if not isinstance(ref, Ref):
            raise UsageError(f"given {_given(ref)}, wanted a reference", hint=f"such as {self._example(ref, 'at')}")
        self.check(ref.entity)
        return ref

    def unique_ref(self, ref: UniqueRef[E]) -> UniqueRef[E]:
        """Take a reference by a unique value."""
        self.check(ref.entity)
        return ref

    def referred(self, what: Ref[E] | E) -> Ref[E]:
        """Take a reference, or an entity as the reference to its item."""
        if isinstance(what, Ref):
            ref: Ref[E] = self.ref(what)
            return ref
        if not isinstance(what, Entity):
            hint = f"such as {self._example(what, 'at')}"
            raise UsageError(f"given {_given(what)}, wanted a reference or an entity", hint=hint)
        return subject(self.own(what))

    def all_referred(self, what: Iterable[Ref[E] | E]) -> tuple[Ref[E], ...]:
        """Take many references or entities."""
        return tuple(map(self.referred, _listed(what)))

    def all_given(self, what: Iterable[Ref[E] | E]) -> tuple[tuple[Ref[E], ...], dict[Ref[E], E]]:
        """Take many references or entities; give with their references the entities that have a version."""
        pairs = [(each, self.referred(each)) for each in _listed(what)]
        given = {ref: each for each, ref in pairs if not isinstance(each, Ref) and _is_counted(each)}
        return tuple(ref for _, ref in pairs), given

    def operation(self, operation: Any) -> None:
        """Take an operation, which was made by a user or by a verb: what it is about is checked as by the verbs."""
        if isinstance(operation, Transact):
            for each in operation.operations:
                self.operation(each)
        elif type(operation) in STORING:
            self.own(operation.entity)
        elif type(operation) in REFERRING:
            self.ref(operation.ref)
        elif isinstance(operation, LOOKING_AFTER):
            self.kind(operation.numbers.entity)
        elif not hasattr(operation, "steps"):
            raise UsageError(f"given {_given(operation)}, wanted an operation", hint="such as Create(entity)")

    def index(self, index: object) -> GlobalIndex:
        """Take a global index of the table."""
        if isinstance(index, LocalIndex):
            raise UsageError(
                f"{index!r} cannot be added: DynamoDB makes local indexes with their table alone",
                hint="a GlobalIndex can do the same, eventually consistent; or make a table anew and move the items",
            )
        if not isinstance(index, GlobalIndex):
            raise UsageError(f"add_index() was given {_given(index)}, wanted a GlobalIndex of the table")
        if not any(each is index for each in self.table.indexes):
            raise UsageError(
                f"table {self.table.name!r} does not declare {index!r}", hint="list it: Table(..., indexes=[...])"
            )
        return index

    def kind(self, entity: type[E]) -> type[E]:
        """Take an entity class."""
        if not isinstance(entity, type):
            kind = self._kind(entity)
            hint = f"such as store.scan({'MyEntity' if kind is None else kind.__name__})"
            raise UsageError(f"given {_given(entity)}, wanted an entity class", hint=hint)
        self.check(entity)
        return entity

    def _no_entity(self, given: object) -> UsageError:
        kind = self._kind(given)
        hint = "an instance of a subclass of Entity" if kind is None else f"an instance, such as {kind.__name__}(...)"
        return UsageError(f"given {_given(given)}, wanted an entity", hint=hint)

    def _example(self, given: object, call: str) -> str:
        """Write the call that makes a query ("key") or reference ("at") of the class in hand."""
        kind = self._kind(given)
        if kind is None:
            return f"MyEntity.{call}(...)"
        model = kinds_of(kind)[0]
        parts = model.primary.pk_parts if call == "key" else model.primary.parts
        return f"{model.name}.{call}({', '.join(f'{part}=...' for part in parts)})"

    def _kind(self, given: object) -> type[Entity] | None:
        """Find the entity class that something stands for, or else one of the table."""
        kind = _class_of(given)
        if issubclass(kind, Entity) and kind.__table__ is not None:
            return kind
        return next(iter(self.table.entities), None)

    def check(self, entity: type) -> None:
        """Check that an entity class is one of the table, that the table is sound and that its scope is known."""
        table = kinds_of(entity)[0].table
        if table is not self.table:
            raise UsageError(
                f"{entity.__name__} belongs to table {table.name!r}, this store holds {self.table.name!r}",
                hint="make a Store for that table",
            )
        self.table.check()
        if self.scope is not None and self.scope.is_open:
            raise self.scope.refusal()


def check_table(table: object) -> None:
    """Raise UsageError where a store is made of anything but a Table, such as an entity class or a name."""
    if isinstance(table, Table):
        return
    kind = _class_of(table)
    hint = f"hand over the Table that {kind.__name__} is declared with: table=..."
    if not issubclass(kind, Entity):
        hint = 'such as app = Table("app"), and class User(Entity, table=app, ...)'
    raise UsageError(f"a store was given {_given(table)}, wanted a Table", hint=hint)


def _listed(given: Iterable[T]) -> Iterable[T]:
    if isinstance(given, Entity | Ref) or not isinstance(given, Iterable):
        hint = "a list or another iterable of them; store.one(...), .put(...), .create(...) and .delete(...) take one"
        raise UsageError(f"given {_given(given)}, wanted many at once", hint=hint)
    return given


def _is_counted(entity: Entity) -> bool:
    return model_of(type(entity)).stamps.counter() is not None


def check_name(name: object) -> None:
    """Raise UsageError for what cannot be a table's name."""
    if name is not None and (not isinstance(name, str) or not name):
        raise UsageError(f"name= was given {_given(name)}, wanted text", hint="leave it out for the Table's own name")


def signing_of(cursor_key: Any, cursor_ttl: object) -> Signing:
    """Take `cursor_key=` and `cursor_ttl=` of a store."""
    given: Sequence[object] = cursor_key if cursor_key.__class__ in (list, tuple) else (cursor_key,)
    keys = (b"",) if cursor_key is None else tuple(map(_secret, given))
    if cursor_key is not None and (not keys or b"" in keys):
        raise UsageError(
            "cursor_key= wants a secret, text or bytes, or a list of them: the first seals, all are taken",
            hint='make one with secrets.token_urlsafe(32) and keep it out of the code: os.environ["CURSOR_KEY"]',
        )
    if cursor_ttl is not None and (not isinstance(cursor_ttl, timedelta) or cursor_ttl < timedelta(seconds=1)):
        raise UsageError(
            f"cursor_ttl= was given {_given(cursor_ttl)}, wanted a timedelta of a second or more",
            hint="such as timedelta(hours=1); leave it out for cursors that do not expire",
        )
    return Signing(keys, None if cursor_ttl is None else int(cursor_ttl.total_seconds()))


def _secret(key: object) -> bytes:
    """Give a key as bytes; nothing for what is none."""
    return key.encode() if isinstance(key, str) else key if isinstance(key, bytes) else b""


def flag(given: object, name: str = "consistent") -> bool:
    """Take True or False for `consistent=`, or another switch."""
    if not isinstance(given, bool):
        hint = "False costs half" if name == "consistent" else ""
        raise UsageError(f"{name}= was given {_given(given)}, wanted True or False", hint=hint)
    return given


def seconds(what: str, given: object) -> float:
    """Take a number of seconds above 0."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise UsageError(f"{what} was given {_given(given)}, wanted seconds above 0", hint="such as timeout=600")
    return given


def _class_of(given: object) -> type:
    """Give the class that something is, is of, or refers to."""
    kind: object = getattr(given, "entity", None) if issubclass(type(given), Ref | Query) else given
    return kind if isinstance(kind, type) else type(given)


def _given(value: object) -> str:
    """Describe what was given: a class by its name, anything else by its kind."""
    return f"the class {value.__name__}" if isinstance(value, type) else kind_of(value)
