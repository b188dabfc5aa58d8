"""Kinds of an abstract base that all stand at its primary key, told apart by their tags alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from singletable import (
    AutoIncrement,
    Entity,
    Field,
    GlobalIndex,
    Key,
    KeyClash,
    MissingPart,
    RangeClash,
    Sequence,
    Table,
    UsageError,
    to_item,
)
from singletable.errors import DeclarationError, ForeignItem
from singletable.operations.get import Get
from singletable.operations.get_many import GetMany
from singletable.operations.query import request
from tests.unit.operations.playing import Player, context

pets = Table("pets", pk="id", sk=None, tag="cls")


class Pet(Entity, table=pets, abstract=True):
    """What all pets have."""

    pet_id: Field[str] = Field(name="id")
    name: Field[str]

    key = Key(pk=("pet_id",))


class Feline(Pet, abstract=True):
    """A base in between."""

    lives: Field[int] = Field(default=9)


class Cat(Feline, tag="Cat"):
    """A kind two bases down."""


class Dog(Pet, tag="Dog"):
    """Another kind."""


TOM = {"cls": {"S": "Cat"}, "id": {"S": "1"}, "name": {"S": "Tom"}, "lives": {"N": "7"}}
REX = {"cls": {"S": "Dog"}, "id": {"S": "2"}, "name": {"S": "Rex"}}


def kind(name: str, base: Any, *, tag: str, abstract: bool = False, **body: Any) -> object:
    """Declare a class by name."""
    make: Callable[..., object] = base.__class__
    return make(name, (base,), {"__module__": __name__, **body}, tag=tag, abstract=abstract)


class TestReading:
    """References and queries of the base, and of a kind."""

    def test_a_reference_of_the_base_reads_the_kind_that_stands_there(self) -> None:
        """One GetItem; the tag says which class is made; nothing there is None."""
        player = Player({"Item": TOM})
        assert player.play(Get(Pet.at(pet_id="1")).steps(context())) == Cat(pet_id="1", name="Tom", lives=7)
        assert [call.method for call in player.calls] == ["get_item"]
        assert Player({}).play(Get(Feline.at(pet_id="1")).steps(context())) is None

    def test_many_are_read_each_as_its_kind(self) -> None:
        """A reference of the base and one of a kind to one key are asked for once."""
        player = Player({"Responses": {"shop-test": [REX, TOM]}})
        refs: tuple[Any, ...] = (Pet.at(pet_id="1"), Pet.at(pet_id="2"), Dog.at(pet_id="2"))
        dog = Dog(pet_id="2", name="Rex")
        assert player.play(GetMany(refs).steps(context())) == (Cat(pet_id="1", name="Tom", lives=7), dog, dog)
        assert len(player.calls) == 1

    def test_a_kind_reads_no_other(self) -> None:
        """Another kind at the key is foreign, also for a base in between."""
        for ref in (Dog.at(pet_id="1"), Feline.at(pet_id="2")):
            with pytest.raises(ForeignItem):
                Player({"Item": TOM if ref.entity is Dog else REX}).play(Get(ref).steps(context()))

    def test_a_query_of_a_kind_filters_by_its_tag(self) -> None:
        """Relatives stand in one range: the tag goes along, of the base all its kinds' tags."""
        sent = request(context(), Cat.key(pet_id="1")) or {}
        assert sent["ExpressionAttributeValues"] == {":0": {"S": "1"}, ":1": {"S": "Cat"}}
        sent = request(context(), Feline.key(pet_id="1")) or {}
        assert "FilterExpression" in sent

    def test_parts_are_checked_as_ever(self) -> None:
        """A reference of the base wants every part."""
        with pytest.raises(MissingPart):
            Pet.at()


class TestWriting:
    """A write is of a kind."""

    def test_a_kind_has_its_tag(self) -> None:
        """A kind is stored at the base's key under its own tag."""
        assert to_item(Dog(pet_id="2", name="Rex")) == REX

    def test_the_base_writes_nothing(self) -> None:
        """The base has no tag, so it can be neither updated nor described nor encoded."""
        with pytest.raises(UsageError, match="abstract"):
            to_item(Pet(pet_id="1", name="x"))
        with pytest.raises(UsageError, match="abstract"):
            Pet.describe()


class TestDeclaring:
    """What can share a key, and what cannot."""

    def test_the_check_lets_kinds_of_one_base_meet(self) -> None:
        """Their common key is no clash where a tag tells them apart."""
        pets.check()

    def test_without_a_tag_they_clash(self) -> None:
        """Where kinds are told by their keys, two at one key cannot be told."""
        for table in (Table("untagged", tag=None), Table("untagged", untagged="by_key")):

            class Base(Entity, table=table, abstract=True):
                name: Field[str]
                key = Key(pk="#B#{name}", sk="#B")

            class One(Base):
                pass

            class Two(Base):
                pass

            with pytest.raises(KeyClash, match="One"):
                table.check()
            assert {One, Two} == set(table.entities)

    def test_an_index_that_holds_no_tag_tells_no_kinds(self) -> None:
        """Kinds that share their key cannot meet in an index of keys alone; with the tag, or apart, they can."""

        def declared(projection: Any, pk: str) -> Table:
            table = Table("projected", indexes=[GlobalIndex("GSI1", projection=projection)])

            class Base(Entity, table=table, abstract=True):
                name: Field[str]
                key = Key(pk="#B#{name}", sk="#B")

            class One(Base):
                found = Key(on=table.indexes[0], pk="#ALL", sk="#{name}")

            class Two(Base):
                found = Key(on=table.indexes[0], pk=pk, sk="#{name}")

            kept.extend((One, Two))
            return table

        kept: list[type] = []
        with pytest.raises(RangeClash, match="holds no tag"):
            declared("keys", "#{name}").check()
        declared("keys", "#OTHERS").check()
        declared([], "#{name}").check()

    def test_an_index_of_the_base_holds_the_tag(self) -> None:
        """An index key that all kinds inherit wants the tag in its index."""
        cases: list[tuple[Any, bool]] = [("keys", False), ([], True)]
        for projection, holds in cases:
            index = GlobalIndex("GSI1", projection=projection)
            table = Table("inherited", indexes=[index])

            class Base(Entity, table=table, abstract=True):
                name: Field[str]
                key = Key(pk="#B#{name}", sk="#B")
                found = Key(on=index, pk="#ALL", sk="#{name}")

            class One(Base):
                pass

            class Two(Base):
                pass

            if holds:
                table.check()
            else:
                with pytest.raises(RangeClash, match="holds no tag"):
                    table.check()
            assert {One, Two} == set(table.entities)

    def test_keys_that_only_look_alike_still_clash(self) -> None:
        """Two keys of one text, each declared for itself, are an accident."""
        table = Table("alike")

        class One(Entity, table=table, tag="one"):
            name: Field[str]
            key = Key(pk="#B#{name}", sk="#B")

        class Two(Entity, table=table, tag="two"):
            name: Field[str]
            key = Key(pk="#B#{name}", sk="#B")

        with pytest.raises(KeyClash):
            table.check()
        assert {One, Two} == set(table.entities)

    def test_an_abstract_class_has_no_tag(self) -> None:
        """A tag on an abstract class would be stored by nobody."""
        with pytest.raises(DeclarationError, match="no item of its own"):
            kind("Tagged", Pet, abstract=True, tag="x")

    def test_a_subclass_of_a_kind_is_refused(self) -> None:
        """A kind is concrete; what is below it would stand where its items stand."""
        with pytest.raises(DeclarationError, match="abstract=True"):
            kind("Kitten", Cat, tag="Kitten")

    def test_a_counter_of_one_kind_is_refused_in_the_shared_key(self) -> None:
        """Two kinds that count for themselves would be given one number; a named Sequence is shared."""
        table = Table("counted")

        class Base(Entity, table=table, abstract=True):
            key = Key(pk="#N#{number}", sk="#N")

        with pytest.raises(DeclarationError, match="Sequence"):
            kind("Own", Base, tag="own", number=AutoIncrement(), __annotations__={"number": "Field[int]"})

        class Shared(Base, tag="shared"):
            number: Field[int] = AutoIncrement(Sequence("numbers"))

        assert Shared.at(number=7).key["SK"] == {"S": "#N"}
