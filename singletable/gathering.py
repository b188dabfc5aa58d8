"""Collections: several entities that are read together, from one partition, in one request a page.

Theory of operation. `Collection(User, Order, pk=...)` is a key of several entities: called with parts it makes a query
whose entity is a class that stands for its members, so that whatever runs queries runs it. A subclass of `Collection`
is the same with a place for each kind, which its annotations name and `fill` fills. The templates are bound to the
members' keys as soon as these are understood, and bound anew when an abstract member has got another kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeAlias, TypeVar, dataclass_transform, overload

from singletable.annotations import Annotations, read_annotations
from singletable.entity import Entity
from singletable.errors import DeclarationError, UnresolvedName, UsageError, closest, kind_of
from singletable.expressions import Condition, no_truth
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.layouts import Layout
from singletable.members import Range, gathered
from singletable.patterns import Half
from singletable.queries import Query
from singletable.schema import Model, kinds_of
from singletable.slots import Place, filled, names_of, places_of

__all__ = ["Collection", "CollectionKey", "Gathering"]

A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
D = TypeVar("D", bound=Entity)
E = TypeVar("E", bound=Entity)
F = TypeVar("F", bound=Entity)
E_co = TypeVar("E_co", bound=Entity, covariant=True)
H_co = TypeVar("H_co", bound="Collection", covariant=True)

Index: TypeAlias = GlobalIndex | LocalIndex


class _Plan:
    """A collection before its members are understood."""

    def __init__(self, declared: Range, name: str, members: Callable[[], tuple[type, ...]]) -> None:
        self.declared = declared
        self._name = name
        self._members = members
        self._kind: type | None = None
        self._bound: tuple[list[type], Layout] | None = None

    @property
    def kind(self) -> type[Any]:
        """The class that stands for the members in a query."""
        if self._kind is None:
            members = self._members()
            name = self._name or " | ".join(each.__name__ for each in members)
            self._kind = type(name, (), {"__gathered__": members, "__doc__": "Stands for the members of a collection."})
        return self._kind

    @property
    def layout(self) -> Layout:
        """The range in the table or the index; UnresolvedName while a member's annotations name nothing."""
        models = kinds_of(self.kind)
        entities = [model.entity for model in models]
        if self._bound is None or self._bound[0] != entities:
            _check_table(self.kind.__name__, models)
            layout = gathered(self.declared, models)
            models[0].table.gather(layout.index, models)
            self._bound = entities, layout
        return self._bound[1]

    def query(self, parts: dict[str, object]) -> Query[Any]:
        """Ask for the items of a partition."""
        return Query(self.kind, self.layout, parts)


class _Class(_Plan):
    """A collection's class: the same, with the places of its members."""

    def __init__(self, owner: str, declared: Range, names: tuple[str, ...], annotations: Annotations) -> None:
        super().__init__(declared, owner, lambda: tuple(kind for place in self.places for kind in place.kinds))
        self._annotations = annotations
        self._places: tuple[Place, ...] | None = None
        self.owner = owner
        self.names = names

    @property
    def places(self) -> tuple[Place, ...]:
        """The places, once the annotations are understood."""
        if self._places is None:
            self._places = places_of(self.owner, self.names, self._annotations)
        return self._places


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Collection:
    """Several entities that stand in one partition and are read together, in the order of their sort keys.

        home = Collection(User, Order, pk="#USER#{user_id}")
        store.query(home(user_id="u1"))                # iterates User | Order

    As a class it has a place for each kind, and `store.gather` fills them: `X` for exactly one, `X | None` for one or
    none, `list[X]` or `tuple[X, ...]` for any number. Kinds that have no place are left out.

        class Home(Collection, pk="#USER#{user_id}"):
            user: User | None
            orders: list[Order]

        store.gather(Home.of(user_id="u1")).orders

    `pk` is the members' partition key template, with parts of any name: each takes the type that the members have in
    its place. `sk` narrows the collection to what stands at a node and below it, such as `sk="#ORDER#{order_id}"` for
    an order with its lines; without it the range is the least that holds every member. `on=` reads an index.
    DeclarationError where a member could not stand in the collection, or the members are of several tables.

    An instance of a collection's class is frozen data: equal where the contents are, and without a truth to it.
    """

    __plan__: ClassVar[_Class | None] = None

    @overload
    def __new__(cls, a: type[A], /, *, pk: Half, sk: Half | None = ..., on: Index | None = ...) -> CollectionKey[A]: ...
    @overload
    def __new__(
        cls, a: type[A], b: type[B], /, *, pk: Half, sk: Half | None = ..., on: Index | None = ...
    ) -> CollectionKey[A | B]: ...
    @overload
    def __new__(
        cls, a: type[A], b: type[B], c: type[C], /, *, pk: Half, sk: Half | None = ..., on: Index | None = ...
    ) -> CollectionKey[A | B | C]: ...
    @overload
    def __new__(
        cls,
        a: type[A],
        b: type[B],
        c: type[C],
        d: type[D],
        /,
        *,
        pk: Half,
        sk: Half | None = ...,
        on: Index | None = ...,
    ) -> CollectionKey[A | B | C | D]: ...
    @overload
    def __new__(
        cls,
        a: type[A],
        b: type[B],
        c: type[C],
        d: type[D],
        f: type[F],
        /,
        *,
        pk: Half,
        sk: Half | None = ...,
        on: Index | None = ...,
    ) -> CollectionKey[A | B | C | D | F]: ...
    @overload
    def __new__(
        cls, *members: type[E], pk: Half, sk: Half | None = ..., on: Index | None = ...
    ) -> CollectionKey[E]: ...
    def __new__(cls, *members: Any, **given: Any) -> Any:
        """Make the key of a collection from its members, or an instance of a collection's class from its contents."""
        if issubclass(CollectionKey, cls):
            return object.__new__(CollectionKey)
        made = object.__new__(cls)
        made.__dict__.update(_contents(cls, members, given))
        return made

    def __init_subclass__(
        cls, *, pk: Half | None = None, sk: Half | None = None, on: Index | None = None, **rest: Any
    ) -> None:
        super().__init_subclass__(**rest)
        annotations = read_annotations(cls)
        names = names_of(cls, annotations)
        if cls.__plan__ is not None:
            raise DeclarationError(
                f"{cls.__qualname__} cannot inherit the places of {cls.__plan__.owner}",
                hint="write a class of its own: class ...(Collection, pk=...), with all its places",
            )
        if pk is None and sk is None and on is None and not names:
            return  # a base with methods
        plan = _Class(
            cls.__qualname__, _range(f"class {cls.__name__}(Collection, ...)", pk, sk, on), names, annotations
        )
        if not names:
            raise DeclarationError(f"{cls.__qualname__} has no place", hint="such as orders: list[Order]")
        cls.__plan__ = plan
        with suppress(UnresolvedName):
            _ = plan.layout

    @classmethod
    def of(cls, /, **parts: object) -> Gathering[Self]:
        """Ask for what stands in a partition: every part of its key, and any number of the sort key's leading parts."""
        return Gathering(cls, _plan_of(cls).query(parts))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise UsageError(f"{type(self).__name__} is frozen: {name!r} cannot be assigned")

    def __delattr__(self, name: str) -> NoReturn:
        raise UsageError(f"{type(self).__name__} is frozen: {name!r} cannot be deleted")

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), self.__dict__


class CollectionKey(Collection, Generic[E_co]):
    """A collection as a key of several entities: called with parts it makes a query. `Collection(...)` gives it."""

    def __init__(self, *members: Any, pk: Half, sk: Half | None = None, on: Index | None = None) -> None:
        for member in members:
            if not isinstance(member, type) or not issubclass(member, Entity) or member is Entity:
                given = f"the class {member.__name__}" if isinstance(member, type) else kind_of(member)
                raise DeclarationError(
                    f"Collection(...) was given {given}, wanted entity classes",
                    hint='such as Collection(User, Order, pk="#USER#{user_id}")',
                )
        if not members:
            raise DeclarationError(
                "Collection(...) was given no entity", hint="name the classes that are read together"
            )
        plan = _Plan(_range("Collection(...)", pk, sk, on), "", lambda: members)
        self.__dict__["plan"] = plan
        with suppress(UnresolvedName):
            _ = plan.layout

    @property
    def layout(self) -> Layout:
        """How the collection's key stands in the table or its index."""
        plan: _Plan = self.__dict__["plan"]
        return plan.layout

    def __call__(self, /, **parts: object) -> Query[E_co]:
        """Query by every partition key part and any number of leading sort key parts: the node and what is below it."""
        plan: _Plan = self.__dict__["plan"]
        return plan.query(parts)

    def __repr__(self) -> str:
        plan: _Plan = self.__dict__["plan"]
        return f"<collection of {plan.kind.__name__}: {plan.declared}>"


@dataclass(frozen=True, slots=True, eq=False)
class Gathering(Generic[H_co]):
    """What `store.gather` reads: a collection's class, and the query for its contents.

    `query` can be run by itself, read page by page, or counted: it gives the entities in the order of their sort keys.
    """

    kind: type[H_co]
    query: Query[Entity]

    def where(self, condition: Condition) -> Gathering[H_co]:
        """Keep only items that meet the condition, of whatever kind; several are joined with AND."""
        return replace(self, query=self.query.where(condition))

    def consistent(self) -> Gathering[H_co]:
        """Read strongly: every write acknowledged before is seen, at twice the cost. Not possible on an index."""
        return replace(self, query=self.query.consistent())

    def fill(self, found: Iterable[Entity]) -> H_co:
        """Put entities into their places. SeveralFound or NotFound where there are too many or too few."""
        plan = _plan_of(self.kind)
        return self.kind(**filled(plan.owner, plan.places, found))

    def __bool__(self) -> bool:
        no_truth("what is to be gathered", "store.gather(...) reads it")

    def __repr__(self) -> str:
        return f"<{self.kind.__name__}.of({', '.join(self.query.values)})>"


def _range(where: str, pk: Any, sk: Any, on: Any) -> Range:
    """Take the options of a collection, or refuse what is given in their place."""
    for option, half in (("pk", pk), ("sk", sk)):
        texts: tuple[object, ...] = half if half.__class__ is tuple else (half,)
        if not texts or not all(isinstance(text, str) and text for text in texts):
            if option == "sk" and half is None:
                continue
            raise DeclarationError(
                f"{where}: {option}= is {kind_of(half)}, wanted a template", hint='such as pk="#USER#{user_id}"'
            )
    if on is not None and not isinstance(on, GlobalIndex | LocalIndex):
        raise DeclarationError(f"{where}: on= is {kind_of(on)}", hint="wanted the GlobalIndex or LocalIndex itself")
    return Range(pk, sk, on)


def _check_table(name: str, models: Sequence[Model]) -> None:
    other = next((model for model in models if model.table is not models[0].table), None)
    if other is not None:
        raise DeclarationError(
            f"the collection {name}: {models[0].name} stands in table {models[0].table.name!r}, {other.name} in "
            f"{other.table.name!r}",
            hint="what is read in one request stands in one table",
        )


def _plan_of(kind: type[Collection]) -> _Class:
    if kind.__plan__ is None:
        raise UsageError(
            f"{kind.__name__} has no places to gather into",
            hint="a collection as a class: class Home(Collection, pk=...): user: User | None. One that was made by "
            "Collection(...) is called: store.query(home(...))",
        )
    return kind.__plan__


def _contents(kind: type[Collection], members: Sequence[object], given: dict[str, Any]) -> dict[str, Any]:
    """Check what an instance of a collection's class is made of."""
    names = _plan_of(kind).names
    for name in given:
        if name not in names:
            raise UsageError(f"{kind.__name__} has no place {name!r}", hint=closest(name, names))
    missing = [name for name in names if name not in given]
    if members or missing:
        what = f"no {missing[0]!r}" if missing else "contents without a name"
        raise UsageError(
            f"{kind.__name__}(...) was given {what}", hint="name each: " + ", ".join(f"{n}=" for n in names)
        )
    return {name: given[name] for name in names}
