"""References and queries: immutable descriptions of what to read, checked when they are written.

A `Layout` says how one key of an entity stands in the table or an index. A `Ref` names one item, a `Query` a range of
items under one partition key. Neither does anything; a store runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from singletable.errors import KeyPartError, MissingPart, PartHole, QueryError, UnknownPart, closest, kind_of
from singletable.expressions import Condition, all_of, no_truth, paths_of
from singletable.fields import Field
from singletable.keys import (
    PK_BYTES,
    SK_BYTES,
    BoundTemplate,
    KeyRange,
    KeyTemplate,
    Narrowing,
    NativeTemplate,
    key_range,
)
from singletable.wire import Item

__all__ = ["Layout", "Query", "Ref", "refer"]

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Layout:
    """How one key stands in the table (`index` None) or in an index: attribute names and templates of both halves."""

    index: str | None
    pk_name: str
    pk: KeyTemplate
    sk_name: str | None = None
    sk: KeyTemplate | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """Every part, the partition key's first; a part in both halves once."""
        return tuple(dict.fromkeys(self.pk.parts + (self.sk.parts if self.sk else ())))

    @property
    def names(self) -> tuple[str, ...]:
        """The key attributes' names."""
        return (self.pk_name,) if self.sk_name is None else (self.pk_name, self.sk_name)

    @property
    def raw(self) -> bool:
        """Whether a half of the key holds values as they are, unescaped."""
        return any(isinstance(half, BoundTemplate) and half.raw for half in (self.pk, self.sk))

    @property
    def plain(self) -> dict[str, str]:
        """The key attributes that hold one field's value just as the field itself would be stored, with that field."""
        halves = [(self.pk_name, self.pk), *([(self.sk_name, self.sk)] if self.sk_name and self.sk else [])]
        return {name: template.parts[0] for name, template in halves if _is_plain(template)}

    def render(self, values: Mapping[str, Any]) -> Item:
        """Write the key attributes. MissingPart, KeyPartError or KeyTooLong where a part does not fit."""
        key: Item = {self.pk_name: {self.pk.attribute_type: self.pk.render(values, limit=PK_BYTES)}}
        if self.sk is not None and self.sk_name is not None:
            key[self.sk_name] = {self.sk.attribute_type: self.sk.render(values, limit=SK_BYTES)}
        return key

    def parse(self, item: Item) -> dict[str, Any] | None:
        """Read every part out of the key attributes; None where they are not of this layout."""
        values = _parsed(self.pk, item.get(self.pk_name))
        if values is None or self.sk is None or self.sk_name is None:
            return values
        more = _parsed(self.sk, item.get(self.sk_name))
        if more is None or any(values[name] != more[name] for name in values.keys() & more.keys()):
            return None
        return values | more

    def check_names(self, names: Mapping[str, object] | tuple[str, ...]) -> None:
        """Raise UnknownPart for a name that is no part of this key."""
        for name in names:
            if name not in self.parts:
                raise UnknownPart(
                    name, given="a value", wanted=f"a part of this key ({self})", hint=closest(name, self.parts)
                )

    def __str__(self) -> str:
        return " / ".join(_words(template) for template in (self.pk, self.sk) if template is not None)


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _words(template: KeyTemplate) -> str:
    return f"{{{template.part}}}" if isinstance(template, NativeTemplate) else template.template.text


def _is_plain(template: KeyTemplate) -> bool:
    if isinstance(template, NativeTemplate):
        return True
    return template.raw and len(template.segments) == 1 and template.segments[0].part is not None


def _parsed(template: KeyTemplate, value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    stored = value.get(template.attribute_type) if value else None
    return None if stored is None else template.parse(stored)


@dataclass(frozen=True, slots=True)
class Ref(Generic[E_co]):
    """A reference to one item: its entity and every part of its primary key. Compares and hashes by them."""

    entity: type[E_co]
    parts: tuple[tuple[str, Any], ...]
    layout: Layout = field(compare=False, repr=False)
    key: Item = field(compare=False, repr=False)

    def __bool__(self) -> bool:
        no_truth("a reference", "store.get(ref) answers None where nothing stands there")

    def __repr__(self) -> str:
        return f"<{self.entity.__name__}.at({', '.join(name for name, _ in self.parts)})>"


def refer(entity: type[E], layout: Layout, parts: Mapping[str, Any]) -> Ref[E]:
    """Check the parts of a primary key and refer to the item there; a missing, unknown or unfit part raises."""
    layout.check_names(parts)
    for name in layout.parts:
        if parts.get(name) is None:
            raise MissingPart(
                name,
                given="nothing" if name not in parts else "None",
                wanted=f"every part of the primary key ({layout})",
                hint=f"{entity.__name__}.at(" + ", ".join(f"{part}=..." for part in layout.parts) + ")",
            )
    return Ref(entity, tuple((name, parts[name]) for name in layout.parts), layout, layout.render(parts))


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
    range: KeyRange | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.layout.check_names(self.values)
        for name in self.layout.pk.parts:
            if self.values.get(name) is None:
                raise MissingPart(
                    name,
                    given="nothing" if name not in self.values else "None",
                    wanted=f"every part of the partition key ({_words(self.layout.pk)})",
                    hint=f"a query needs {', '.join(f'{part}=' for part in self.layout.pk.parts)}",
                )
        object.__setattr__(self, "range", self._range())

    def _range(self) -> KeyRange | None:
        template = self.layout.sk
        if template is None:
            if self.narrowings:
                raise QueryError(f"{self.entity.__name__}: the key has no sort key, so it has no ranges")
            return None
        shared = [name for name in template.parts if name in self.layout.pk.parts]
        given = {name: self.values[name] for name in template.parts if name in self.values}
        return key_range(template, _without_tail(given, shared, template), self.narrowings)

    @property
    def pk(self) -> str:
        """The partition key's stored text (or number)."""
        return self.layout.pk.render(self.values, limit=PK_BYTES)

    def begins_with(self, **parts: object) -> Query[E_co]:
        """Narrow to sort keys that continue so: whole leading parts, the last one named is a prefix of its value.

        A text prefix for text, ISO text (such as "2026-12") for dates, a tuple for a path.
        """
        return self._narrow("begins_with", parts)

    def between(self, **parts: tuple[object, object]) -> Query[E_co]:
        """Narrow to values from the first to the second, ends (and what stands below them) included."""
        return self._narrow("between", parts)

    def gt(self, **parts: object) -> Query[E_co]:
        """Narrow to values above the one given; what stands below it in the hierarchy is left out too."""
        return self._narrow("gt", parts)

    def gte(self, **parts: object) -> Query[E_co]:
        """Narrow to the value given and those above it."""
        return self._narrow("gte", parts)

    def lt(self, **parts: object) -> Query[E_co]:
        """Narrow to values below the one given."""
        return self._narrow("lt", parts)

    def lte(self, **parts: object) -> Query[E_co]:
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
        left = [] if self.layout.sk is None else [part for part in self.layout.sk.parts if part not in self.values]
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
        return tuple({branch.range: branch for branch in made.values()}.values())

    def _narrow(self, operator: Any, parts: Mapping[str, Any]) -> Query[E_co]:
        if self.choices is not None:
            raise QueryError(f"{operator}() does not go together with is_in()", hint="a query has one range")
        if operator not in ("begins_with", "below") and len(parts) != 1:
            raise QueryError(
                f"{operator}() was given {len(parts)} parts, wanted one",
                hint="give the parts before it to the key itself: Order.by_status(user_id=..., status=...).gte(...)",
            )
        self.layout.check_names(tuple(parts))
        return replace(self, narrowings=(*self.narrowings, Narrowing(operator, tuple(parts.items()))))

    def where(self, condition: Condition) -> Query[E_co]:
        """Keep only items that meet the condition; several are joined with AND.

        DynamoDB reads (and bills) what the key range holds and filters then: a composite key is cheaper.
        """
        if not isinstance(condition, Condition):
            raise QueryError(
                f"where() was given {type(condition).__name__}, wanted a condition",
                hint='such as Order.status == "PAID", joined with & and |',
            )
        for path in paths_of(condition):
            if path.segments[0] in self.layout.names:
                raise QueryError(
                    f"a filter cannot look at the key attribute {path.segments[0]!r}",
                    hint="narrow the key instead: .between(), .gte(), .begins_with()",
                )
        return replace(self, condition=all_of((self.condition, condition)))

    def only(self, *fields: Field[Any]) -> Query[E_co]:
        """Fetch these fields and those of the primary key; reading any other raises FieldNotLoaded.

        It saves transfer and memory, not capacity: DynamoDB reads (and bills) whole items. An entity read so cannot be
        put or created, since what was left out would be lost. A second `only` replaces the first.
        """
        for each in fields:
            if not _is_field_of(self.entity, each):
                raise QueryError(
                    f"only() of {self.entity.__name__} was given {kind_of(each)}, wanted fields of it",
                    hint="such as .only(Order.status, Order.placed_at)",
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
        if self.layout.index is not None:
            raise QueryError(
                f"index {self.layout.index!r} cannot be read consistently",
                hint="DynamoDB keeps global indexes eventually consistent; query the table's own key instead",
            )
        return replace(self, strong=True)

    def __bool__(self) -> bool:
        no_truth("a query", "store.first(query) is None where nothing is found; store.count(query) counts")

    def __repr__(self) -> str:
        steps = "".join(f".{step.operator}" for step in self.narrowings) + (".is_in" if self.choices else "")
        return f"<query {self.entity.__name__} {self.layout}{steps}>"


def _several(name: str, given: Iterable[object]) -> tuple[object, ...]:
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise KeyPartError(name, given=kind_of(given), wanted="several values, such as a tuple of them")
    return tuple(given)


def _is_field_of(entity: type, given: object) -> bool:
    return isinstance(given, Field) and getattr(entity, given.name, None) is given


def _above(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Say whether one path is a node above another."""
    return one != other and other[: len(one)] == one


def _without_tail(given: dict[str, Any], shared: list[str], template: KeyTemplate) -> dict[str, Any]:
    """Leave out parts that only the partition key gave and that stand after a part that was not given.

    A part in both halves is given by the partition key; it narrows the sort key as far as the parts before it allow.
    """
    whole: dict[str, Any] = {}
    for name in template.parts:
        if name in given:
            whole[name] = given[name]
        elif any(later in given and later not in shared for later in template.parts[len(whole) :]):
            later = next(later for later in template.parts if later in given and later not in whole)
            raise PartHole(later, given="a value", wanted=f"a value for {name!r} too, which stands before it")
        else:
            break
    return whole
