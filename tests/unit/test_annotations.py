"""Annotations as objects, without `from __future__ import annotations`: entities wherever a class may stand.

The same places with annotations as text are in `test_annotations_text.py`.
"""

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, ClassVar, NewType

import pytest

import singletable
from singletable.annotations import read_annotations
from singletable.entity import Entity, fields
from singletable.errors import DeclarationError, UnresolvedName
from singletable.fields import Field
from singletable.fields import Field as AnyName
from singletable.keys import plain_type
from singletable.mapping import from_item, to_item
from singletable.patterns import Key
from singletable.schema import Table

table = Table("annotations")
UserId = NewType("UserId", str)


class AtModule(Entity, table=table, tag="module"):
    user_id: Field[UserId]
    day: Field[date | None] = Field(default=None)
    text: "Field[str]" = Field(default="")
    later: Field["Later"] = Field(default=None)
    limit: ClassVar[int] = 3

    key = Key(pk="#M#{user_id}", sk="#A")


Later = str | None


class Outer:
    """Holds an entity."""

    class Nested(Entity, table=table, tag="nested"):
        """An entity in a class."""

        name: Field[str]

        key = Key(pk="#N#{name}", sk="#A")


def round_trip(entity: Entity) -> bool:
    """Say whether an entity comes back as it was."""
    return from_item(type(entity), to_item(entity)) == entity


def test_in_a_module() -> None:
    """Fields of a module's class have the types they are annotated with, in order; a ClassVar is none."""
    table.check()
    assert list(fields(AtModule)) == ["user_id", "day", "text", "later"]
    assert round_trip(AtModule(user_id=UserId("u"), day=date(2026, 1, 2), later="x"))
    assert AtModule.limit == 3


def test_nested_in_a_class() -> None:
    """A class in a class is an entity like any other."""
    assert round_trip(Outer.Nested(name="n"))


def test_in_a_function() -> None:
    """A type that only the function knows is found."""

    class Local(Enum):
        ONE = "one"
        TWO = "two"

    class Inside(Entity, table=table, tag="inside"):
        name: Field[str]
        day: Field[Local]
        text: Field["Local"] = Field(default=Local.ONE)

        key = Key(pk="#I#{name}", sk="#A")

    assert round_trip(Inside(name="n", day=Local.ONE, text=Local.TWO))


class TestInAMethod:
    def test_in_a_test_method(self) -> None:
        """A class in a test's method is an entity, its types from module and method."""

        class Local(Enum):
            SEVEN = 7

        class Inside(Entity, table=table, tag="method"):
            user_id: Field[UserId]
            number: Field["Local"]

            key = Key(pk="#T#{user_id}", sk="#A")

        assert round_trip(Inside(user_id=UserId("u"), number=Local.SEVEN))


def test_defined_later_in_a_function() -> None:
    """A name that is defined after the class is found when the class is first used."""

    class Early(Entity, table=table, tag="early"):
        name: Field[str]
        other: Field["AfterAll"]  # type: ignore[name-defined]  # noqa: F821 - it comes later

        key = Key(pk="#E#{name}", sk="#A")

    with pytest.raises(UnresolvedName, match="'AfterAll'"):
        to_item(Early(name="n", other=1))
    globals()["AfterAll"] = int
    try:
        assert round_trip(Early(name="n", other=1))
    finally:
        del globals()["AfterAll"]


def test_a_field_that_hides_its_type() -> None:
    """Without text annotations `date: Field[date] = Field()` means the field itself: it is found and explained."""
    with pytest.raises(DeclarationError, match="hides the type") as caught:

        class Shadow(Entity, table=table, tag="shadow"):  # pyright: ignore[reportUnusedClass]
            name: Field[str]
            date: Field[date] = Field(default=None)  # type: ignore[arg-type]

            key = Key(pk="#S#{name}", sk="#A")

    assert "from __future__ import annotations" in caught.value.hint


def test_a_field_named_as_its_type_without_default() -> None:
    """Without a value on the class nothing is hidden."""

    class Event(Entity, table=table, tag="event"):
        name: Field[str]
        date: Field[date]

        key = Key(pk="#EV#{name}", sk="#A")

    assert round_trip(Event(name="n", date=date(2026, 1, 2)))


def test_the_field_class_by_any_name() -> None:
    """Field may be reached through a module or another name."""

    class Inside(Entity, table=table, tag="names"):
        name: AnyName[str]
        note: singletable.Field[str]

        key = Key(pk="#F#{name}", sk="#A")

    assert list(fields(Inside)) == ["name", "note"]


def test_annotated_stands_for_what_it_holds() -> None:
    """`Annotated[str, ...]` is text, in a field and in a key."""

    class Inside(Entity, table=table, tag="annotated"):
        name: Field[Annotated[str, "unit"]]

        key = Key(pk="#AN#{name}", sk="#A")

    assert round_trip(Inside(name="n"))


def test_locals_are_not_kept() -> None:
    """A class keeps only those of the locals around it that its annotations name."""

    class Wanted:
        pass

    unwanted = bytearray(10)

    class Inside:
        number: "Field[Wanted]"
        other: Field["Wanted"]
        plain: int

    found = read_annotations(Inside)
    assert found.resolve("number") == Field[Wanted]
    assert found.resolve("other") == Field[Wanted]
    assert "unwanted" in locals()
    assert unwanted not in found.locals.values()


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("annotation", "plain"),
    [
        (int, int),
        (int | None, int),
        (UserId, str),
        (UserId | None, str),
        (Annotated[int | None, "x"], int),
        (int | str | None, int | str | None),
        (Point, Point),
        (list[int], list[int]),
    ],
)
def test_plain_types(annotation: Any, plain: Any) -> None:
    """What a key sees of a type is what it holds, without None, Annotated and NewType."""
    assert plain_type(annotation) == plain


if True:  # a class in a branch stands in the module

    class InABranch(Entity, table=table, tag="branch"):
        name: Field[str]

        key = Key(pk="#BR#{name}", sk="#A")


def test_in_a_branch() -> None:
    """A class statement below an `if` is a module's class."""
    assert round_trip(InABranch(name="n"))
