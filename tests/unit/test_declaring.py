"""What a class statement refuses: declarations that would store something else than they seem to."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import DeclarationError
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.patterns import Key
from singletable.schema import Table, model_of

app = Table("declared")


class Status(Enum):
    """A state of a task."""

    OPEN = "OPEN"


def other_status() -> Any:
    """Give another Enum of the same name, as a second module might have."""
    return Enum("Status", {"OPEN": "OPEN", "SHUT": "SHUT"})


class Task(Entity, table=app, tag="task"):
    project: Field[str]
    n: Field[int]
    key = Key(pk="#PROJECT#{project}", sk="#TASK#{n}")


def declare(
    name: str, types: dict[str, Any], *, table: Table | None = None, bases: tuple[type, ...] = (Entity,), **body: Any
) -> Any:
    """Declare an entity class with these annotations and these further names in its body."""
    made = {"__module__": __name__, "__qualname__": name, "__annotations__": types, **body}
    return type(name, bases, made, table=table)


def child(types: dict[str, Any], table: Table = app, within: Any = Task.key, **more: Any) -> Any:
    """Declare an entity below another, with these annotations and further names in its body."""
    raw = more.pop("raw", False)
    return declare("Comment", types, table=table, key=Key(within=within, sk="#COMMENT", raw=raw), **more)


class TestWithin:
    def test_parts_of_another_type(self) -> None:
        """A child whose inherited part is written in another way would stand beside its parent."""
        with pytest.raises(DeclarationError, match=r"Comment\.n is text, Task\.n is an int: a child keeps") as caught:
            child({"project": Field[str], "n": Field[str]})
        assert caught.value.hint == "annotate Comment.n as Task.n is"

    def test_enums_of_one_name(self) -> None:
        """Two Enums that only share their name are two types."""

        class Parent(Entity, table=Table("enums")):
            status: Field[Status]
            key = Key(pk="#S#{status}", sk="#A")

        with pytest.raises(DeclarationError, match="a child keeps its parent's parts"):
            child({"status": "Field[Other]"}, model_of(Parent).table, Parent.key, Other=other_status())

    def test_a_number_the_parent_drew(self) -> None:
        """A child does not draw the number that names its parent."""
        with pytest.raises(DeclarationError, match=r"Comment\.n draws a number") as caught:
            child({"project": Field[str], "n": Field[int]}, n=AutoIncrement())
        assert caught.value.hint == "declare it `n: Field[int]`: the parent drew it"

    def test_raw_unlike_the_parent(self) -> None:
        """The key of a child begins with its parent's, so both are raw or none is."""
        with pytest.raises(DeclarationError, match="are not both raw"):
            child({"project": Field[str], "n": Field[int]}, raw=True)

    def test_another_table(self) -> None:
        """A child cannot stand in another table than its parent."""
        with pytest.raises(DeclarationError, match="'elsewhere', its parent Task in 'declared'"):
            child({"project": Field[str], "n": Field[int]}, Table("elsewhere"))

    def test_the_same_parts(self) -> None:
        """With the parent's own types the child's key begins with the parent's."""
        made = child({"project": Field[str], "n": Field[int | None]})
        assert made.at(project="p", n=7).key["SK"] == {"S": "#TASK#0000000000000000007#COMMENT"}

    def test_raw_as_its_table(self) -> None:
        """What the table says of raw keys holds for parent and child, so saying it again is no difference."""
        table = Table("raws", raw=True)

        class Parent(Entity, table=table):
            a: Field[str]
            key = Key(pk="A#{a}", sk="B")

        made = child({"a": Field[str]}, table, Parent.key, raw=True)
        assert made.at(a="x y").key == {"PK": {"S": "A#x y"}, "SK": {"S": "B#COMMENT"}}


class TestOneObjectOneName:
    def test_a_field_under_two_names(self) -> None:
        """One Field object cannot be two fields: the second name would be read and written as the first."""
        shared: Any = Field(default="")
        with pytest.raises(DeclarationError, match=r"Twice\.b is the Field object of Twice\.a"):
            declare("Twice", {"a": Field[str], "b": Field[str]}, a=shared, b=shared)

    def test_a_field_in_two_classes(self) -> None:
        """Nor can it be a field of two classes, even under one name; a subclass inherits it."""
        shared: Any = AutoIncrement()
        first = declare("First", {"n": Field[int]}, n=shared)
        with pytest.raises(DeclarationError, match=r"Second\.n is the Field object of First\.n"):
            declare("Second", {"n": Field[int]}, n=shared)
        assert declare("Below", {"other": Field[str]}, bases=(first,)).n is first.n

    def test_a_key_in_two_classes(self) -> None:
        """A Key object belongs to one class."""
        shared = Key(pk="#A#{a}", sk="#A")
        declare("First", {"a": Field[str]}, table=Table("keys"), key=shared)
        with pytest.raises(DeclarationError, match=r"Second\.key is the Key object of First\.key"):
            declare("Second", {"a": Field[str]}, table=Table("keys"), key=shared)
