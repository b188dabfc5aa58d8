"""What entities inherit: fields and index keys of bases and mixins, overridden or not, and reads of a base."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import pytest

from singletable.entity import Entity, evolve, fields
from singletable.errors import DeclarationError, FieldValueError, UsageError
from singletable.fields import Field
from singletable.indexes import GlobalIndex
from singletable.mapping import from_item, to_item
from singletable.operations.query import ReadPage
from singletable.operations.scan import Scan
from singletable.patterns import Key
from singletable.schema import Table
from tests.unit.operations.playing import context, play

gsi1 = GlobalIndex("GSI1")
table = Table("inherited", indexes=[gsi1])


class Stamped(Entity):
    """A mixin without table."""

    made_by: Field[str] = Field(default="nobody", read_only=True)
    note: Field[str] = Field(default="mixin")


class Named(Entity):
    name: Field[str]
    note: Field[str] = Field(default="named")


class Owned(Entity, table=table):
    owner: Field[str]
    by_owner = Key(on=gsi1, pk="#OWNER#{owner}", sk="#{name}")


class Task(Owned, Stamped, Named, tag="task"):
    key = Key(pk="#TASK#{name}", sk="#T")


class Memo(Owned, Named, Stamped, tag="memo"):
    owner: Field[str] = Field(default="all", validate=str.islower)
    key = Key(pk="#MEMO#{name}", sk="#M")


TASK, MEMO = Task(owner="ann", name="t"), Memo(name="m")


def test_mixins_count_in_the_order_of_python() -> None:
    """Where two mixins have one field, the one named first wins, as for any attribute."""
    assert (TASK.note, MEMO.note) == ("mixin", "named")
    assert set(fields(Task)) == set(fields(Memo)) == {"owner", "made_by", "note", "name"}


def test_a_diamond_is_resolved_as_python_does() -> None:
    """A base that only inherits a field does not hide the one that a base after it declares anew."""

    class Root(Entity):
        note: Field[str] = Field(default="root")

    class Left(Root):
        pass

    class Right(Root):
        note: Field[str] = Field(default="right")

    class Both(Left, Right):
        pass

    assert fields(Both)["note"] is vars(Right)["note"]
    assert Both().note == "right"


def test_options_are_inherited() -> None:
    """A field of a base keeps its options in each kind."""
    for entity in (TASK, MEMO):
        with pytest.raises(UsageError, match="made_by is read-only"):
            evolve(entity, made_by="x")


def test_a_kind_overrides_a_field() -> None:
    """A kind may declare an inherited field anew; its index key then takes that one, and the base keeps its own."""
    assert to_item(MEMO)["GSI1PK"] == {"S": "#OWNER#all"}
    assert to_item(TASK)["GSI1PK"] == {"S": "#OWNER#ann"}
    with pytest.raises(FieldValueError, match=r"Memo\.owner"):
        Memo(name="m", owner="ANN")
    assert Task(owner="ANN", name="t").owner == "ANN"


def test_a_base_reads_each_kind_as_itself() -> None:
    """A query by a base's key and a scan of the base give every kind's own class, whole."""
    items = [to_item(TASK), to_item(evolve(MEMO, owner="ann"))]
    rows, _ = play(ReadPage(Owned.by_owner(owner="ann")).steps(context()), {"Items": items})
    assert list(rows.entities) == [TASK, evolve(MEMO, owner="ann")]
    assert [from_item(type(each), to_item(each)) for each in rows.entities] == list(rows.entities)
    assert Scan(Owned).entity is Owned


def test_a_foreign_item_is_not_read_as_a_kind() -> None:
    """I12: an item is only read as the kind whose tag it has."""
    with pytest.raises(Exception, match="tagged 'memo'") as caught:
        from_item(Task, to_item(MEMO))
    assert type(caught.value).__name__ == "ForeignItem"


T = TypeVar("T")


class Box(Entity, Generic[T], table=table):
    """A generic base, whose field has no type yet."""

    box_id: Field[str]
    content: Field[T]


def test_a_generic_base_is_filled_in_by_each_kind() -> None:
    """A kind of a generic base declares the open field anew; where it does not, the error says so."""

    class Numbers(Box[int], tag="numbers"):
        content: Field[int]
        key = Key(pk="#NUMBERS#{box_id}", sk="#B")

    assert from_item(Numbers, to_item(Numbers(box_id="1", content=7))).content == 7
    with pytest.raises(DeclarationError, match="declare the field anew in each kind"):

        class Open(Box[str], tag="open"):  # pyright: ignore[reportUnusedClass]
            key = Key(pk="#OPEN#{box_id}", sk="#B")


def test_a_field_outside_of_an_entity_is_refused() -> None:
    """A mixin that is no Entity would not be seen, so it is refused."""

    class Plain:
        name: Field[str] = Field()

    with pytest.raises(DeclarationError, match="Plain is no Entity"):

        class Wrong(Owned, Plain, tag="wrong"):  # pyright: ignore[reportUnusedClass]
            key = Key(pk="#WRONG", sk="#{owner}")


def test_loaded_is_clean() -> None:
    """I8: what was read equals what was stored, and putting it back writes the same item."""
    stored: Any = to_item(TASK)
    loaded = from_item(Task, stored)
    assert loaded == TASK
    assert to_item(loaded) == stored
