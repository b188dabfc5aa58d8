"""References and queries: immutable descriptions of what to read, checked when they are written.

A `Ref` names one item, a `Query` a range of items under one partition key. Neither does anything; a store runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Generic, NoReturn, TypeVar

from singletable.belonging import check_conditions
from singletable.errors import (
    KeyPartError,
    MissingPart,
    PartHole,
    QueryError,
    UnknownPart,
    UsageError,
    kind_of,
)
from singletable.expressions import Condition, all_of, no_truth, paths_of
from singletable.fields import Field
from singletable.keys import PK_BYTES, BoundTemplate, KeyRange, Narrowing, key_range
from singletable.layouts import Column, Layout, words
from singletable.scopes import Scope
from singletable.wire import Item

__all__ = ["Query", "Ref", "Span", "refer"]

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Ref(Generic[E_co]):
    """A reference to one item: its entity and every part of its primary key. Compares and hashes by them."""

    entity: type[E_co]
    parts: tuple[tuple[str, Any], ...]
    layout: Layout = field(compare=False, repr=False)
    written: Item = field(compare=False, repr=False)
    """The key attributes; while the scope is open they stand for no item."""

    @property
    def key(self) -> Item:
        """The key attributes. UsageError of a reference whose scope only a store can say: ask its context."""
        self.layout.check_said()
        return self.written

    def under(self, scope: Scope | None) -> Ref[E_co]:
        """Give the reference as it stands in a store's scope. KeyTooLong where there is no room for both."""
        layout = self.layout.under(scope)
        return self if layout is self.layout else Ref(self.entity, self.parts, layout, layout.render(dict(self.parts)))

    def __bool__(self) -> bool:
        no_truth("a reference", "store.get(ref) answers None where nothing stands there")

    def __repr__(self) -> str:
        return f"<{self.entity.__name__}.at({', '.join(name for name, _ in self.parts)})>"


def refer(entity: type[E], layout: Layout, parts: Mapping[str, Any]) -> Ref[E]:
    """Check the parts of a primary key and refer to the item there; a missing, unknown or unfit part raises."""
    layout.check_names(parts)
    for name in layout.required:
        if parts.get(name) is None:
            raise MissingPart(
                name,
                given="nothing" if name not in parts else "None",
                wanted=f"every part of the primary key ({layout})",
                hint=f"{entity.__name__}.at(" + ", ".join(f"{part}=..." for part in layout.parts) + ")",
            )
    return Ref(entity, tuple((name, parts.get(name)) for name in layout.parts), layout, layout.tried(parts))


@dataclass(frozen=True, slots=True)
class Span:
    """The range a query asks for in one column of the sort key."""

    column: Column
    range: KeyRange


@dataclass(frozen=True, slots=True, eq=False)
class Query(Generic[E_co]):
    """A range of one entity's items under one partition key, narrowed and filtered step by step.

    Every method gives a new query. At most one range stands on the sort key (a lower with an upper may be chained);
    whatever it names is checked at once: a query never silently widens and never becomes a scan.
    """

    entity: type[E_co]
    layout: Layout
    values: Mapping[str, Any]
    narrowings: tuple[Narrowing, ...] = ()
    condition: Condition | None = None
    ascending: bool = True
    most: int | None = None
    strong: bool = False
    depth: int | None = None
    choices: tuple[str, tuple[Any, ...]] | None = None
    """The part that `is_in` names, with its values."""
    shown: tuple[str, ...] | None = None
    """The fields that `only` names."""
    written: Item = field(init=False, repr=False)
    """The partition key attributes; while the scope is open they stand for no partition."""
    spans: tuple[Span, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.layout.check_names(self.values)
        for name in self.layout.pk_parts:
            if self.values.get(name) is None:
                raise MissingPart(
                    name,
                    given="nothing" if name not in self.values else "None",
                    wanted=f"every part of the partition key ({words(self.layout.pks)})",
                    hint=f"a query needs {', '.join(f'{part}=' for part in self.layout.pk_parts)}",
                )
        written = {column.name: column.render(self.values, PK_BYTES) for column in self.layout.pks}
        object.__setattr__(self, "written", written)
        object.__setattr__(self, "spans", tuple(self._spans()))

    def _spans(self) -> Iterator[Span]:
        """Find the range of each sort key column: whole values in leading ones, then at most one range."""
        if not self.layout.sks and self.narrowings:
            raise QueryError(f"{self.entity.__name__}: the key has no sort key, so it has no ranges")
        if len(self.layout.sks) > 1:
            yield from self._native_spans()
        elif self.layout.sks:
            (column,) = self.layout.sks
            yield Span(column, self._widest() or key_range(column.template, self._leading(column), self.narrowings))

    def _widest(self) -> KeyRange | None:
        """Give the range of a collection that names no part of the sort key."""
        if self.layout.widest is not None and self.narrowings:
            raise QueryError(
                f"{self.entity.__name__}: the collection names no part of the sort key, so it has no ranges",
                hint='declare it with one: Collection(..., sk="#ORDER#{order_id}")',
            )
        return self.layout.widest

    def _leading(self, *columns: Column) -> dict[str, Any]:
        """Give the values of the sort key's leading parts.

        A part that the partition key gives too stands in `values` anyway; where one before it is not given, it does not
        narrow. Any other part without the one before it is a hole.
        """
        parts = [name for column in columns for name in column.template.parts]
        given = [name for name in parts if name in self.values]
        whole = {name: self.values[name] for name in takewhile(self.values.__contains__, parts)}
        for name in given[len(whole) :]:
            if name not in self.layout.pk_parts:
                raise _hole(parts[len(whole)], name)
        return whole

    def _native_spans(self) -> Iterator[Span]:
        """Find the ranges of a sort key of several attributes: equal in the leading ones, a range in the next."""
        parts = tuple(column.template.parts[0] for column in self.layout.sks)
        whole = self._leading(*self.layout.sks)
        asked = {name for narrowing in self.narrowings for name, _ in narrowing.parts}
        following = parts[len(whole)] if len(whole) < len(parts) else None
        for name in asked - {following}:
            if following is not None and name not in whole:
                raise _hole(following, name)
            raise PartHole(name, given="a range and a whole value", wanted="one of them")
        for column, name in zip(self.layout.sks, parts, strict=True):
            if name in whole:
                yield Span(column, key_range(column.template, {name: whole[name]}))
            elif name == following and self.narrowings:
                yield Span(column, key_range(column.template, {}, self.narrowings))

    @property
    def partition(self) -> Item:
        """The partition key attributes. UsageError of a query whose scope only a store can say: ask its context."""
        self.layout.check_said()
        return self.written

    def under(self, scope: Scope | None) -> Query[E_co]:
        """Give the query as it stands in a store's scope. KeyTooLong where there is no room for both."""
        layout = self.layout.under(scope)
        return self if layout is self.layout else replace(self, layout=layout)

    @property
    def range(self) -> KeyRange | None:
        """The range of the (first) sort key attribute; None where every value will do."""
        return self.spans[0].range if self.spans else None

    @property
    def is_empty(self) -> bool:
        """Whether the range holds nothing, so that no request is needed."""
        return any(span.range.operator == "empty" for span in self.spans)

    def begins_with(self, /, **parts: object) -> Query[E_co]:
        """Narrow to sort keys that continue so: whole leading parts, the last one named is a prefix of its value.

        A text prefix for text, ISO text (such as "2026-12") for dates, a tuple for a path.
        """
        return self._narrow("begins_with", parts)

    def between(self, /, **parts: tuple[object, object]) -> Query[E_co]:
        """Narrow to values from the first to the second, ends (and what stands below them) included."""
        return self._narrow("between", parts)

    def gt(self, /, **parts: object) -> Query[E_co]:
        """Narrow to values above the one given; what stands below it in the hierarchy is left out too."""
        return self._narrow("gt", parts)

    def gte(self, /, **parts: object) -> Query[E_co]:
        """Narrow to the value given and those above it."""
        return self._narrow("gte", parts)

    def lt(self, /, **parts: object) -> Query[E_co]:
        """Narrow to values below the one given."""
        return self._narrow("lt", parts)

    def lte(self, /, **parts: object) -> Query[E_co]:
        """Narrow to the value given (with what stands below it) and those before it."""
        return self._narrow("lte", parts)

    def below(self, depth: int | None = None) -> Query[E_co]:
        """Narrow to what stands below the node, without the node itself; `depth` levels down at most.

        Deeper rows are read and dropped on this side: DynamoDB cannot leave them out.
        """
        if depth is not None and not _positive(depth):
            raise QueryError("below(depth=): given no whole number above 0", hint="leave depth out for every level")
        return replace(self._narrow("below", {}), depth=depth)

    def is_in(self, **parts: Iterable[object]) -> Query[E_co]:
        """Narrow to several values of the next part, each with what stands below it; rows come in key order.

        DynamoDB is asked once for each distinct value; without values the answer is empty and nothing is sent.
        """
        if len(parts) != 1 or self.choices is not None or self.narrowings:
            raise QueryError(
                f"is_in() was given {len(parts)} parts, wanted one, and no other range beside it",
                hint='such as Order.by_status(user_id="u1").is_in(status=("PAID", "SHIPPED"))',
            )
        ((name, given),) = parts.items()
        self._check_next(name)
        made = replace(self, choices=(name, _several(name, given)))
        _ = made.branches  # every value is checked now
        return made

    def _check_next(self, name: str) -> None:
        """Raise where a part of the sort key is not the first that is left."""
        self.layout.check_names((name,))
        parts = [part for column in self.layout.sks for part in column.template.parts]
        left = [part for part in parts if part not in self.values]
        if name not in left:
            raise QueryError(f"is_in() names {name!r}, which has its value or is no part of the sort key")
        if name != left[0]:
            raise PartHole(name, given="values", wanted=f"a value for {left[0]!r} too, which stands before it")

    @property
    def branches(self) -> tuple[Query[E_co], ...]:
        """The queries that are sent: this one, or one for each value of `is_in` that no other one covers."""
        if self.choices is None:
            return (self,)
        name, values = self.choices
        made = {value: replace(self, values={**self.values, name: value}, choices=None) for value in values}
        if isinstance(self.layout.sk, BoundTemplate) and self.layout.sk.spread == name:
            made = {value: each for value, each in made.items() if not any(_above(other, value) for other in made)}
        return tuple({branch.spans: branch for branch in made.values()}.values())

    def _narrow(self, operator: Any, parts: Mapping[str, Any]) -> Query[E_co]:
        if self.choices is not None:
            raise QueryError(f"{operator}() does not go together with is_in()", hint="a query has one range")
        if operator not in ("begins_with", "below") and len(parts) != 1:
            raise QueryError(
                f"{operator}() was given {len(parts)} parts, wanted one",
                hint="give the parts before it to the key itself: Order.by_status(user_id=..., status=...).gte(...)",
            )
        self.layout.check_names(tuple(parts))
        following = {part for column in self.layout.sks for part in column.template.parts}
        for name in parts:
            if self.layout.sks and name not in following:
                raise UnknownPart(
                    name,
                    given="a part of the partition key",
                    wanted=f"a part of the sort key ({words(self.layout.sks)})",
                    hint="give it to the key itself, whole: a query reads one partition",
                )
        return replace(self, narrowings=(*self.narrowings, Narrowing(operator, tuple(parts.items()))))

    def where(self, condition: Condition) -> Query[E_co]:
        """Keep only items that meet the condition; several are joined with AND.

        DynamoDB reads (and bills) what the key range holds and filters then: a composite key is cheaper.
        """
        check_conditions(condition, self._fields(), f"where() of {self.entity.__name__}")
        for path in paths_of(condition):
            if path.attribute in self.layout.names:
                raise QueryError(
                    f"a filter cannot look at the key attribute {path.attribute!r}",
                    hint="DynamoDB filters by other attributes alone: narrow the key (.between(), .gte(), .is_in()), "
                    "or ask by several queries",
                )
            if self.layout.held is not None and path.segments[0] not in self.layout.held:
                raise QueryError(
                    f"a filter cannot look at {path.segments[0]!r}, which index {self.layout.index!r} does not hold",
                    hint="name it in the index's projection=, or look at what store.hydrate(...) gives",
                )
        return replace(self, condition=all_of((self.condition, condition)))

    def _fields(self) -> list[Mapping[str, Field[Any]]] | None:
        """Give the fields a filter may look at; None for an abstract entity, whose kinds have fields of their own."""
        classes = _classes(self.entity)
        concrete = all(getattr(each, "__singletable__", None) is not None for each in classes)
        return [getattr(each, "__fields__", {}) for each in classes] if concrete else None

    def only(self, *fields: Field[Any]) -> Query[E_co]:
        """Fetch these fields and those of the primary key; reading any other raises FieldNotLoaded.

        It saves transfer and memory, not capacity: DynamoDB reads (and bills) whole items. An entity read so cannot be
        put or created, since what was left out would be lost. A second `only` replaces the first. A global index gives
        what it holds and no more; for a local one DynamoDB reads the rest from the table, an item at a time.
        """
        for each in fields:
            if not _is_field_of(self.entity, each):
                raise QueryError(
                    f"only() of {self.entity.__name__} was given {kind_of(each)}, wanted fields of it",
                    hint="such as .only(Order.status, Order.placed_at); a place inside a field comes with its field",
                )
            if not self.layout.local and self.layout.shows is not None and each.name not in self.layout.shows:
                raise QueryError(
                    f"only() names {each.name!r}, which index {self.layout.index!r} does not hold",
                    hint="name it in the index's projection=, or read the whole entities: store.hydrate(...)",
                )
        if not fields:
            raise QueryError("only() was given no field", hint="name at least one, or leave only() out")
        return replace(self, shown=tuple(dict.fromkeys(each.name for each in fields)))

    def descending(self) -> Query[E_co]:
        """Read from the end of the range to its beginning."""
        return replace(self, ascending=False)

    def limit(self, most: int) -> Query[E_co]:
        """Give at most so many entities, counted after every filter."""
        if not _positive(most):
            raise QueryError("limit() wants a whole number above 0")
        return replace(self, most=most)

    def consistent(self) -> Query[E_co]:
        """Read strongly: every write acknowledged before is seen, at twice the cost. Not possible on an index."""
        if self.layout.index is not None and not self.layout.local:
            raise QueryError(
                f"index {self.layout.index!r} cannot be read consistently",
                hint="DynamoDB keeps global indexes eventually consistent; query the table's own key instead",
            )
        return replace(self, strong=True)

    def __bool__(self) -> bool:
        no_truth("a query", "store.first(query) is None where nothing is found; store.count(query) counts")

    def __repr__(self) -> str:
        steps = [f".{step.operator}({', '.join(name for name, _ in step.parts)})" for step in self.narrowings]
        steps += [] if self.choices is None else [f".is_in({self.choices[0]})"]
        steps += [".where(...)"] if self.condition is not None else []
        steps += [] if self.ascending else [".descending()"]
        steps += [] if self.most is None else [".limit(...)"]
        steps += [".consistent()"] if self.strong else []
        return (
            f"<query {self.entity.__name__} {self.layout} given {', '.join(self.values) or 'nothing'}{''.join(steps)}>"
        )

    def __iter__(self) -> NoReturn:
        raise UsageError("a query holds no entities", hint="run it: for entity in store.query(query): ...")


def _hole(missing: str, later: str) -> PartHole:
    return PartHole(missing, given="nothing", wanted=f"a value, since {later!r} after it is given")


def _several(name: str, given: Iterable[object]) -> tuple[object, ...]:
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise KeyPartError(name, given=kind_of(given), wanted="several values, such as a tuple of them")
    return tuple(given)


def _classes(entity: type) -> tuple[type, ...]:
    """Give the classes that a query reads: one, or the members of a collection."""
    gathered: tuple[type, ...] = getattr(entity, "__gathered__", (entity,))
    return gathered


def _is_field_of(entity: type, given: object) -> bool:
    return isinstance(given, Field) and any(getattr(each, given.name, None) is given for each in _classes(entity))


def _above(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Say whether one path is a node above another."""
    return one != other and other[: len(one)] == one


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
