"""Annotations as text, with `from __future__ import annotations`: entities wherever a class may stand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from singletable.entity import Entity, fields
from singletable.errors import DeclarationError, UnresolvedName
from singletable.fields import Field
from singletable.fields import Field as AnyName
from singletable.mapping import from_item, to_item
from singletable.patterns import Key
from singletable.schema import Table

if TYPE_CHECKING:
    from decimal import Decimal

table = Table("text")


class AtModule(Entity, table=table, tag="module"):
    user_id: Field[str]
    date: Field[date]
    other: Field[dt.date | None] = Field(default=None)
    later: Field[Later] = Field(default=None)
    limit: ClassVar[int] = 3
    plain: ClassVar = 4

    key = Key(pk="#M#{user_id}", sk="#D#{date}")


Later = str | None


class Outer:
    """Holds an entity and its type."""

    class Kind(Enum):
        """A type in a class."""

        SEVEN = 7

    class Nested(Entity, table=table, tag="nested"):
        """An entity in a class."""

        name: Field[str]
        kind: Field[Kind]  # type: ignore[name-defined]  # noqa: F821 - a name of the class around it

        key = Key(pk="#N#{name}", sk="#A")


def round_trip(entity: Entity) -> bool:
    """Say whether an entity comes back as it was."""
    return from_item(type(entity), to_item(entity)) == entity


def test_in_a_module() -> None:
    """Types of the module are found, those defined later too, and a field may be called as its type."""
    table.check()
    assert list(fields(AtModule)) == ["user_id", "date", "other", "later"]
    assert round_trip(AtModule(user_id="u", date=date(2026, 1, 2), later="x"))
    assert (AtModule.limit, AtModule.plain) == (3, 4)


def test_nested_in_a_class() -> None:
    """A class in a class finds the types of the class around it."""
    assert round_trip(Outer.Nested(name="n", kind=Outer.Kind.SEVEN))


def test_a_field_named_as_its_type_with_a_default() -> None:
    """As text, `date: Field[date] = Field(...)` means the type: the field on the class does not hide it."""

    class Event(Entity, table=table, tag="event"):
        name: Field[str]
        date: Field[date] = Field(default=date(2026, 1, 2))

        key = Key(pk="#EV#{name}", sk="#A")

    assert Event(name="n").date == dt.date(2026, 1, 2)
    assert round_trip(Event(name="n", date=dt.date(2026, 3, 4)))


def test_in_a_function_and_below() -> None:
    """A type of the function, and one of a function around it, are found; the inner one wins."""

    class Kind(Enum):
        SEVEN = 7

    class Shadowed(Enum):
        OUTER = "outer"

    def inner() -> Entity:
        class Shadowed(Enum):
            INNER = "inner"

        class Inside(Entity, table=table, tag="inside"):
            name: Field[Shadowed]
            kind: Field[Kind]

            key = Key(pk="#I#{name}", sk="#A")

        return Inside(name=Shadowed.INNER, kind=Kind.SEVEN)

    assert list(Shadowed) == [Shadowed.OUTER]
    assert round_trip(inner())


class TestInAMethod:
    def test_in_a_test_method(self) -> None:
        """A type that only the test knows is found."""

        class Kind(Enum):
            SEVEN = 7

        class Inside(Entity, table=table, tag="method"):
            name: Field[str]
            kind: Field[Kind]

            key = Key(pk="#T#{name}", sk="#A")

        assert round_trip(Inside(name="n", kind=Kind.SEVEN))

    @pytest.mark.parametrize("kind", [int, str])
    def test_types_of_a_test_do_not_mix(self, kind: type) -> None:
        """The same class statement run again takes the types of its own run."""

        class Inside(Entity, table=table, tag="again"):
            name: Field[str]
            kind: Field[kind]  # type: ignore[valid-type]

            key = Key(pk="#AG#{name}", sk="#A")

        value = kind("7")
        assert round_trip(Inside(name="n", kind=value))
        assert to_item(Inside(name="n", kind=value))["kind"] == ({"N": "7"} if kind is int else {"S": "7"})


def test_through_a_decorator_and_a_factory() -> None:
    """Frames between the class statement and its function do no harm."""

    def decorated(make: Callable[[], type[Any]]) -> type[Any]:
        return make()

    class Kind(Enum):
        SEVEN = 7

    @decorated
    def made() -> type[Any]:
        class Made(Entity, table=table, tag="made"):
            name: Field[str]
            kind: Field[Kind]

            key = Key(pk="#DE#{name}", sk="#A")

        return Made

    assert round_trip(made(name="n", kind=Kind.SEVEN))


def test_only_under_type_checking() -> None:
    """A type that is imported for the checkers only is named, with the way out."""

    class Inside(Entity, table=Table("tab"), tag="checking"):
        name: Field[str]
        price: Field[Decimal]

        key = Key(pk="#TC#{name}", sk="#A")

    with pytest.raises(UnresolvedName, match=r"price.*'Decimal' is not defined") as caught:
        Inside.at(name="n")
    assert "TYPE_CHECKING" in caught.value.hint


def test_one_missing_name_does_not_lose_the_others() -> None:
    """Each annotation stands alone: the class exists, and the table's check names the one that is missing."""
    own = Table("tab")

    class Inside(Entity, table=own, tag="lost"):
        name: Field[str]
        other: Field[Nowhere]  # type: ignore[name-defined]  # noqa: F821 - the mistake itself

        key = Key(pk="#LO#{name}", sk="#A")

    assert list(fields(Inside)) == ["name", "other"]
    with pytest.raises(UnresolvedName, match=r"\.other .*'Nowhere'"):
        own.check()


def test_a_plain_annotation_is_refused() -> None:
    """An annotation that is neither Field nor ClassVar is refused, with both ways out."""
    with pytest.raises(DeclarationError, match=r"Field\[\.\.\.\].*ClassVar"):

        class Inside(Entity, table=Table("tab"), tag="plain"):  # pyright: ignore[reportUnusedClass]
            name: str

            key = Key(pk="#PL#{name}", sk="#A")


def test_the_field_class_by_another_name() -> None:
    """As text too, Field may go by another name."""

    class Inside(Entity, table=Table("tab"), tag="named"):
        name: AnyName[str]

        key = Key(pk="#AN#{name}", sk="#A")

    assert round_trip(Inside(name="n"))


def test_a_type_that_cannot_be_stored() -> None:
    """A type without codec is refused in the class statement."""
    with pytest.raises(DeclarationError):

        class Inside(Entity, table=Table("tab"), tag="object"):  # pyright: ignore[reportUnusedClass]
            name: Field[str]
            thing: Field[object]

            key = Key(pk="#OB#{name}", sk="#A")
