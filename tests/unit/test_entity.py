"""Entities as data: frozen, equal by value, copied whole; and every way a class can be declared wrong."""

from __future__ import annotations

import copy
import inspect
import pickle
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from singletable.dictionaries import to_dict
from singletable.entity import Entity, evolve, fields
from singletable.errors import (
    DeclarationError,
    NumberNotAssigned,
    SingleTableError,
    TemplateError,
    UnknownField,
    UsageError,
)
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.indexes import GlobalIndex
from singletable.mapping import from_item, to_item
from singletable.patterns import Key
from singletable.schema import Table, model_of

gsi1, gsi2 = GlobalIndex("GSI1"), GlobalIndex("GSI2")
table = Table("entities", indexes=[gsi1])


class User(Entity, table=table, tag="user"):
    user_id: Field[str]
    name: Field[str] = Field(default="")
    tags: Field[set[str]] = Field(default_factory=set)

    key = Key(pk="#USER#{user_id}", sk="#PROFILE")


class Admin(Entity, table=table, tag="admin"):
    user_id: Field[str]
    name: Field[str] = Field(default="")
    tags: Field[set[str]] = Field(default_factory=set)

    key = Key(pk="#ADMIN#{user_id}", sk="#PROFILE")


class Order(Entity, table=table, tag="order"):
    user_id: Field[str]
    number: Field[int] = AutoIncrement()

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{number}")


class Odd(Entity, table=table, tag="odd"):
    """An entity whose fields have names that generated code could trip over."""

    self: Field[str]
    values: Field[str]
    cls: Field[str] = Field(default="c")
    MISSING: Field[str] = Field(default="m")
    type: Field[str] = Field(default="t")

    key = Key(pk="#ODD#{self}", sk="#{values}")


ANN = User(user_id="u1", name="Ann", tags={"a"})
UNTYPED: Any = User  # as a caller without type checker sees it
STORED = {
    "PK": {"S": "#USER#u1"},
    "SK": {"S": "#PROFILE"},
    "_et": {"S": "user"},
    "user_id": {"S": "u1"},
    "name": {"S": "Ann"},
    "extra": {"S": "kept"},
}


def pickled(entity: Any) -> Any:
    """Pickle and read back."""
    return pickle.loads(pickle.dumps(entity))


class TestConstructor:
    def test_defaults(self) -> None:
        """Fields with defaults may be left out; a factory makes a new value each time."""
        one, two = User(user_id="a"), User(user_id="b")
        assert (one.name, one.tags) == ("", set())
        assert one.tags is not two.tags

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (UNTYPED, "user_id"),
            (lambda: UNTYPED(user_id="a", nmae="b"), "nmae"),
            (lambda: UNTYPED("a"), "positional"),
        ],
    )
    def test_mistakes_are_type_errors(self, make: Callable[[], object], words: str) -> None:
        """A missing, unknown or positional argument is Python's own TypeError."""
        with pytest.raises(TypeError, match=words) as caught:
            make()
        assert not isinstance(caught.value, SingleTableError)

    def test_a_real_signature(self) -> None:
        """Tools see the fields as keyword-only parameters, the required ones first."""
        parameters = inspect.signature(User).parameters
        assert list(parameters) == ["user_id", "name", "tags"]
        assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
        assert parameters["name"].default == ""

    def test_any_field_name_will_do(self) -> None:
        """Fields called `self`, `values` or `type` hold what they are given."""
        odd = Odd(self="s", values="v")
        assert to_dict(odd) == {"self": "s", "values": "v", "cls": "c", "MISSING": "m", "type": "t"}
        assert from_item(Odd, to_item(odd)) == odd


class TestFrozen:
    def test_nothing_is_assigned(self) -> None:
        """Assigning and deleting are refused, fields and other names, with the ways to change something."""
        user: Any = User(user_id="u1")
        with pytest.raises(UsageError, match="evolve"):
            user.name = "Bob"
        with pytest.raises(UsageError):
            user.other = 1
        with pytest.raises(UsageError):
            del user.name
        assert user == User(user_id="u1")

    def test_evolve_makes_another(self) -> None:
        """`evolve` gives an entity with some fields changed and leaves the first one alone."""
        bob = evolve(ANN, name="Bob")
        assert (bob.name, ANN.name) == ("Bob", "Ann")
        assert (bob.user_id, bob.tags) == ("u1", {"a"})

    def test_evolve_keeps_what_is_hidden(self) -> None:
        """Attributes we do not know go along when an entity is evolved."""
        assert to_item(evolve(from_item(User, STORED), name="Bob")) == {**STORED, "name": {"S": "Bob"}}

    def test_evolve_knows_its_fields(self) -> None:
        """A name that is no field is refused with the one that was meant."""
        with pytest.raises(UnknownField, match="did you mean 'name'") as caught:
            evolve(ANN, nmae="Bob")
        assert caught.value.field == "nmae"

    def test_evolve_leaves_a_number_out(self) -> None:
        """A number that is not drawn yet is not there in the evolved entity either."""
        assert to_dict(evolve(Order(user_id="u1"), user_id="u2")) == {"user_id": "u2"}


class TestAsAValue:
    def test_equality(self) -> None:
        """Entities are equal where class and fields are; what is hidden does not count."""
        assert User(user_id="u1", name="Ann") == from_item(User, STORED)
        assert User(user_id="u1") != User(user_id="u1", name="Ann")
        assert User(user_id="u1") != Admin(user_id="u1")
        assert User(user_id="u1") != {"user_id": "u1"}
        assert Order(user_id="u1") != Order(user_id="u1", number=1)

    def test_hash(self) -> None:
        """The hash is of class and primary key: equal ones agree, and unhashable fields do no harm."""
        assert hash(User(user_id="u1", name="a")) == hash(User(user_id="u1", name="b"))
        assert len({User(user_id="u1"), User(user_id="u1"), Admin(user_id="u1")}) == 2
        assert len({Order(user_id="u1"), Order(user_id="u1")}) == 1

    def test_text(self) -> None:
        """The text of an entity is its constructor call; a number not drawn is left out."""
        assert repr(User(user_id="u1", name="Ann")) == "User(user_id='u1', name='Ann', tags=set())"
        assert repr(Order(user_id="u1")) == "Order(user_id='u1')"

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
    @pytest.mark.parametrize("entity", [ANN, Order(user_id="u1"), from_item(User, STORED)])
    def test_copies(self, copied: Callable[[Any], Any], entity: Entity) -> None:
        """A copied or pickled entity is equal, frozen, and carries what is hidden."""
        other = copied(entity)
        assert other == entity
        assert other is not entity
        assert getattr(other, "_hidden", {}) == getattr(entity, "_hidden", {})
        with pytest.raises(UsageError):
            other.user_id = "x"

    def test_a_deep_copy_shares_nothing(self) -> None:
        """A deep copy has values of its own."""
        other = copy.deepcopy(ANN)
        other.tags.add("b")
        assert ANN.tags == {"a"}

    def test_fields_and_values(self) -> None:
        """`fields` gives the declarations in order, of a class or an entity; `to_dict` gives the values."""
        assert list(fields(User)) == list(fields(ANN)) == ["user_id", "name", "tags"]
        assert fields(User)["name"] is User.name
        assert to_dict(ANN) == {"user_id": "u1", "name": "Ann", "tags": {"a"}}
        assert to_dict(Order(user_id="u1")) == {"user_id": "u1"}

    def test_weak_references(self) -> None:
        """An entity can be referred to weakly."""
        user = User(user_id="u1")
        assert weakref.ref(user)() is user


class Named(Entity):
    """An abstract base: fields, no key."""

    name: Field[str]
    note: Field[str] = Field(default="")


class Dated(Named):
    day: Field[str] = Field(default="mon")


class Mixin:
    """No entity."""

    def shout(self) -> str:
        """Say the name aloud."""
        name: str = getattr(self, "name")  # noqa: B009 - a mixin does not know its class
        return name.upper()


class Dog(Mixin, Dated, table=table, tag="dog"):
    dog_id: Field[str]
    note: Field[str] = Field(default="good")

    key = Key(pk="#DOG#{dog_id}", sk="#{name}")


class TestAbstract:
    def test_fields_are_inherited(self) -> None:
        """A concrete class has its bases' fields, the eldest first; a field declared again takes its place."""
        assert list(fields(Dog)) == ["name", "note", "day", "dog_id"]
        dog = Dog(dog_id="d", name="rex")
        assert (dog.note, dog.day, dog.shout()) == ("good", "mon", "REX")
        assert from_item(Dog, to_item(dog)) == dog

    def test_an_abstract_class_stands_nowhere(self) -> None:
        """An abstract class can neither be referred to nor described, and is no entity of a table."""
        with pytest.raises(UsageError, match="abstract"):
            Named.at(name="x")
        with pytest.raises(UsageError, match="abstract"):
            Named.describe()
        assert Named not in table.entities

    def test_a_base_may_name_the_table(self) -> None:
        """A base with `table=` gives its table to those below."""
        own = Table("own")

        class Base(Entity, table=own):
            name: Field[str]

        class Made(Base, tag="made"):
            key = Key(pk="#MADE#{name}", sk="#A")

        assert own.entities == (Made,)
        assert to_item(Made(name="x"))["PK"] == {"S": "#MADE#x"}

    def test_an_index_key_is_inherited(self) -> None:
        """An index key of an abstract base belongs to each class below."""
        own = Table("own", indexes=[gsi1])

        class Base(Entity, table=own):
            name: Field[str]
            by_name = Key(on=gsi1, pk="#NAME#{name}", sk="#A")

        class Made(Base, tag="made"):
            key = Key(pk="#MADE#{name}", sk="#A")

        assert to_item(Made(name="x"))["GSI1PK"] == {"S": "#NAME#x"}

    def test_the_tag_is_the_class_name_where_none_is_given(self) -> None:
        """Without `tag=` an entity is stored under its class name."""

        class Plain(Entity, table=Table("tab")):
            name: Field[str]

            key = Key(pk="#PLAIN#{name}", sk="#A")

        assert to_item(Plain(name="x"))["_et"] == {"S": "Plain"}


# Classes that cannot work --------------------------------------------------------------------------------------------


def no_init(self: object, name: str) -> None:
    """Be an `__init__` that nobody may have."""


def a_key() -> Key:
    """Make a primary key that suits the classes declared here."""
    return Key(pk="#A#{name}", sk="#B")


def declared(body: dict[str, Any], *, base: type = Entity, **options: Any) -> type:
    """Declare a class with a field `name` and more; `types` in the body annotates further fields."""
    types = {"name": "Field[str]", **body.pop("types", {})}
    made = {"__module__": __name__, "__qualname__": "Made", "__annotations__": types, **body}
    return type("Made", (base,), made, **options)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"key": a_key(), "size": Field(default=1)}, "Field without annotation"),
    ({"key": a_key(), "types": {"size": "int"}}, "annotated with 'int'"),
    ({"key": a_key(), "types": {"size": "Field[int]"}, "size": 3}, "plain default"),
    ({"key": a_key(), "types": {"at": "Field[int]"}}, "cannot have this name"),
    ({"key": a_key(), "types": {"describe": "Field[int]"}}, "cannot have this name"),
    ({"key": a_key(), "types": {"_size": "Field[int]"}}, "cannot have this name"),
    ({"key": a_key(), "types": {"number": "Field[str]"}, "number": AutoIncrement()}, "draws integers"),
    ({"key": a_key(), "types": {"thing": "Field[object]"}}, "thing|object"),
    ({"key": a_key(), "__init__": no_init}, "__init__ of its own"),
    ({"key": a_key(), "other": Key(pk="#C#{name}", sk="#D")}, "2 primary keys"),
    ({"key": a_key(), "by": Key(on=gsi2, pk="#C#{name}", sk="#D")}, "does not have"),
    (
        {"key": a_key(), "a": Key(on=gsi1, pk="#C#{name}", sk="#D"), "b": Key(on=gsi1, pk="#E#{name}", sk="#F")},
        "keys of one index 'GSI1'",
    ),
    ({"key": Key(pk="#A#{nmae}", sk="#B")}, "did you mean 'name'"),
    ({"key": Key(pk="#A#{name}")}, "a sort key"),
    ({"key": a_key(), "types": {"PK": "Field[str]"}}, "a key attribute"),
    ({"key": a_key(), "types": {"pk": "Field[str]"}, "pk": Field(name="GSI1PK")}, "a key attribute"),
    ({"key": a_key(), "types": {"kind": "Field[str]"}, "kind": Field(name="_et")}, "the type tag"),
    ({"key": a_key(), "types": {"made": "Field[str]"}, "made": Field(name="_c")}, "the create id"),
    ({"key": a_key(), "types": {"last": "Field[str]"}, "last": Field(name="_w")}, "the write id"),
    ({"key": a_key(), "types": {"other": "Field[str]"}, "other": Field(name="name")}, "field 'name'"),
]


@pytest.mark.parametrize(("body", "words"), BAD)
def test_a_class_that_cannot_work(body: dict[str, Any], words: str) -> None:
    """What cannot work is refused in the class statement itself, and the message names it."""
    with pytest.raises(DeclarationError, match=words) as caught:
        declared(dict(body), table=Table("tab", indexes=[gsi1]), tag="made")
    assert caught.value.code in {"ST1001", "ST1002"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tag": "made"}, "no table"),
        ({"table": table, "tag": ""}, "cannot be a tag"),
        ({"table": table, "tag": "!gone"}, "cannot be a tag"),
        ({"table": table, "tag": "made", "aliases": ["!seq"]}, "cannot be a tag"),
        ({"table": Table("tab", tag=None), "tag": "made"}, "keeps none"),
        ({"table": Table("tab", tag=None), "aliases": ["made"]}, "keeps none"),
    ],
)
def test_options_that_cannot_work(options: dict[str, Any], words: str) -> None:
    """A key without table, and a tag that cannot be one, are refused."""
    with pytest.raises(DeclarationError, match=words):
        declared({"key": Key(pk="#A#{name}", sk="#B")}, **options)


def test_a_concrete_class_is_no_base() -> None:
    """A subclass of a concrete class without a key of its own would stand where its base's items stand."""
    with pytest.raises(DeclarationError, match="would have the key of User"):
        declared({}, base=User, tag="made")


def test_a_tag_without_a_key() -> None:
    """A tag on a class without key is refused: it would never be stored."""
    with pytest.raises(DeclarationError, match="no primary key"):
        declared({}, table=table, tag="made")


def test_a_template_error_is_raised_as_itself() -> None:
    """An error in a template is a TemplateError, not Python's RuntimeError around it."""
    with pytest.raises(TemplateError):
        declared({"key": Key(pk="#A#{other}", sk="#B")}, table=Table("tab"), tag="made")


def test_a_refused_class_is_not_registered() -> None:
    """A class statement that failed leaves nothing in the table."""
    own = Table("tab")
    with pytest.raises(DeclarationError):
        declared({"key": Key(pk="#A#{other}", sk="#B")}, table=own, tag="made")
    assert own.entities == ()


def test_class_variables_stay_on_the_class() -> None:
    """A ClassVar is no field."""

    class Made(Entity, table=Table("tab"), tag="made"):
        limit: ClassVar[int] = 3
        name: Field[str]

        key = Key(pk="#A#{name}", sk="#B")

    assert list(fields(Made)) == ["name"]
    assert Made.limit == 3


def test_reading_a_number_not_drawn() -> None:
    """A number that does not exist yet cannot be read, stored or referred to by accident."""
    order = Order(user_id="u1")
    with pytest.raises(NumberNotAssigned):
        _ = order.number
    with pytest.raises(NumberNotAssigned):
        to_item(order)


def test_a_model_is_made_once() -> None:
    """The model of a class is one object."""
    assert model_of(User) is model_of(User)
