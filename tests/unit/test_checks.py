"""The checks of a whole table: tags, keys and ranges that meet, each with a witness."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import DeclarationError, KeyClash, RangeClash, TagClash, UnresolvedName
from singletable.fields import Field
from singletable.increments import AutoIncrement, Sequence
from singletable.indexes import GlobalIndex
from singletable.patterns import Key
from singletable.schema import Table


def entity(name: str, table: Table, keys: dict[str, Key], *, tag: str | None = None, **types: str) -> type[Entity]:
    """Declare an entity by name, with keys and fields of the types given as text."""
    body: dict[str, Any] = {
        "__annotations__": {field: f"Field[{kind}]" for field, kind in types.items()},
        "__module__": __name__,
        **keys,
    }
    return type(name, (Entity,), body, table=table, tag=tag or name.lower())


def test_one_tag_for_two() -> None:
    """Two entities under one tag are refused by their names and the tag."""
    table = Table("tab")
    kept = [
        entity("A", table, {"key": Key(pk="#A#{x}", sk="#A")}, tag="same", x="str"),
        entity("B", table, {"key": Key(pk="#B#{x}", sk="#B")}, tag="same", x="str"),
    ]
    with pytest.raises(TagClash, match=r"A and B .* 'same'"):
        table.check()
    assert len(kept) == 2


def test_an_alias_is_a_tag() -> None:
    """An alias that is another's tag is refused too; an alias equal to the own tag is not."""
    table = Table("tab")

    class A(Entity, table=table, tag="a", aliases=["a", "b"]):
        x: Field[str]

        key = Key(pk="#A#{x}", sk="#A")

    table.check()

    class B(Entity, table=table, tag="b"):
        x: Field[str]

        key = Key(pk="#B#{x}", sk="#B")

    with pytest.raises(TagClash, match="'b'"):
        table.check()
    assert (A.__name__, B.__name__) == ("A", "B")


def test_one_key_for_two() -> None:
    """Two entities that can share a primary key are refused with one concrete pair."""
    table = Table("tab")
    kept = [
        entity("User", table, {"key": Key(pk="#U#{user}", sk="#P")}, user="str"),
        entity("Person", table, {"key": Key(pk="#U#{who}", sk="#P")}, who="str"),
    ]
    with pytest.raises(KeyClash) as caught:
        table.check()
    first, second = sorted(caught.value.witness)
    assert first.startswith("Person(who=")
    assert second.startswith("User(user=")
    assert first.partition("=")[2] == second.partition("=")[2]
    assert caught.value.hint
    assert len(kept) == 2


def test_types_tell_keys_apart() -> None:
    """A number and a label that is none cannot meet in a key, but the one stands in the other's range."""
    table = Table("tab")
    kept = [
        entity("Order", table, {"key": Key(pk="#U#{u}", sk="#ORDER#{n}")}, u="str", n="int"),
        entity("Summary", table, {"key": Key(pk="#U#{u}", sk="#ORDER#SUMMARY")}, u="str"),
    ]
    with pytest.raises(RangeClash, match="a query of Order would reach items of Summary") as caught:
        table.check()
    assert "#ORDER#SUMMARY" in str(caught.value)
    assert len(kept) == 2


def test_relatives_may_stand_in_each_others_ranges() -> None:
    """What is declared below another by `within=` is no stranger in its range."""
    table = Table("tab")

    class Order(Entity, table=table, tag="order"):
        u: Field[str]
        n: Field[int]

        key = Key(pk="#U#{u}", sk="#ORDER#{n}")

    class Line(Entity, table=table, tag="line"):
        u: Field[str]
        n: Field[int]
        line: Field[int]

        key = Key(within=Order.key, sk="#LINE#{line}")

    table.check()
    assert Line.__name__ == "Line"


def test_indexes_may_share_keys_but_not_ranges() -> None:
    """Two entities at one key of an index are allowed, a stranger in a range of it is not."""
    gsi = GlobalIndex("GSI1")
    table = Table("tab", indexes=[gsi])
    shared = entity(
        "A",
        table,
        {"key": Key(pk="#A#{x}", sk="#A"), "by": Key(on=gsi, pk="#ALL#{day}", sk="#A#{x}")},
        x="str",
        day="str",
    )
    table.check()
    other = entity(
        "B",
        table,
        {"key": Key(pk="#B#{x}", sk="#B"), "by": Key(on=gsi, pk="#ALL#{day}", sk="#A#{x}#{day}")},
        x="str",
        day="str",
    )
    with pytest.raises(RangeClash, match="on index 'GSI1'"):
        table.check()
    assert (shared.__name__, other.__name__) == ("A", "B")


def test_two_in_a_numeric_sort_key() -> None:
    """Two entities whose sort keys are plain numbers of one partition share their keys."""
    table = Table("tab", sk=("sk", int))
    kept = [
        entity("A", table, {"key": Key(pk="#P#{p}", sk="{n}")}, p="str", n="int"),
        entity("B", table, {"key": Key(pk="#P#{p}", sk="{m}")}, p="str", m="int"),
    ]
    with pytest.raises(KeyClash):
        table.check()
    assert len(kept) == 2


def test_different_labels_fit_together() -> None:
    """Entities of one partition with labels of their own fit."""
    table = Table("tab")
    kept = [
        entity("User", table, {"key": Key(pk="#U#{u}", sk="#PROFILE")}, u="str"),
        entity("Order", table, {"key": Key(pk="#U#{u}", sk="#ORDER#{n}")}, u="str", n="int"),
        entity("Note", table, {"key": Key(pk="#U#{u}", sk="#NOTE#{n}")}, u="str", n="int"),
        entity("Orders", table, {"key": Key(pk="#U#{u}", sk="#ORDERS#{n}")}, u="str", n="int"),
    ]
    table.check()
    assert len(table.entities) == len(kept)


def test_a_class_that_is_gone_is_never_blamed() -> None:
    """A class that waits to be collected as garbage clashes with nobody, though it was checked before."""
    table = Table("tab")

    def declare() -> None:
        class Order(Entity, table=table, tag="order"):
            x: Field[str]

            key = Key(pk="#A#{x}", sk="#A")

        table.check()
        assert Order in table.entities

    def again() -> None:
        class Order(Entity, table=table, tag="order"):
            x: Field[str]

            key = Key(pk="#A#{x}", sk="#A")

        table.check()
        assert table.entities == (Order,)

    gc.disable()
    try:
        declare()
        again()
    finally:
        gc.enable()


def test_a_class_defined_again_replaces_itself() -> None:
    """The newest class of one name in one place is the entity, as in a notebook."""
    table = Table("tab")
    first = entity("A", table, {"key": Key(pk="#A#{x}", sk="#A")}, x="str")
    second = entity("A", table, {"key": Key(pk="#A#{x}", sk="#A")}, x="str")
    table.check()
    assert table.entities == (second,)
    assert first is not second


def test_a_name_that_nobody_defines() -> None:
    """An annotation that still names nothing is found by the check."""
    table = Table("tab")
    made = entity("A", table, {"key": Key(pk="#A#{x}", sk="#A")}, x="str", y="Nowhere")
    with pytest.raises(UnresolvedName, match=r"A\.y .*'Nowhere'"):
        table.check()
    assert made.__name__ == "A"


def counted(name: str, table: Table, number: AutoIncrement, key: Key) -> type:
    """Declare an entity with a text `u` and a drawn number `m`."""
    body = {"__annotations__": {"u": Field[str], "m": Field[int]}, "__module__": __name__, "m": number, "key": key}
    return type(name, (Entity,), {**body, "__qualname__": name}, table=table)


class TestCounters:
    def test_an_adopted_counter_at_an_entitys_key(self) -> None:
        """Counting in an item that an entity can be is refused: each write of one would spoil the other."""
        table = Table("adopting")
        orders = Sequence(pk="#U#{u}", sk="#P", attribute="orders")
        kept = [
            counted("Order", table, AutoIncrement(orders), Key(pk="#O#{m}", sk="#O")),
            counted("Person", table, AutoIncrement("counter"), Key(pk="#U#{u}", sk="#P")),
        ]
        with pytest.raises(KeyClash, match=r"Order\.m adopts can stand at the key of Person\(u='a'\)") as caught:
            table.check()
        assert caught.value.witness == ("Person(u='a')", "the counter of Order.m(u='a')")
        assert len(kept) == 2

    @pytest.mark.parametrize(
        ("table", "sk"), [(Table("beside"), "#COUNT"), (Table("untagged", tag=None), "#P")], ids=["beside", "untagged"]
    )
    def test_an_adopted_counter_elsewhere(self, table: Table, sk: str) -> None:
        """At a key of its own it stands well; without tags nothing is known of what stands where."""
        orders = Sequence(pk="#U#{u}", sk=sk, attribute="orders")
        kept = [
            counted("Order", table, AutoIncrement(orders), Key(pk="#O#{m}", sk="#O")),
            counted("Person", table, AutoIncrement("counter"), Key(pk="#U#{u}", sk="#P")),
        ]
        table.check()
        assert len(kept) == 2

    def test_an_adopted_counter_among_bare_ids(self) -> None:
        """Where a key is nothing but an id, one id is the counter's: so existing tables do it."""
        table = Table("bare", sk=None)
        adopted = AutoIncrement(Sequence(pk="orderCounter", attribute="count"))
        kept = counted("Order", table, adopted, Key(pk="{u}", raw=True))
        table.check()
        assert kept.__name__ == "Order"

    def test_a_sequence_named_as_a_fields_counter(self) -> None:
        """A Sequence does not share the counter of a field by accident."""
        table = Table("named")
        kept = [
            counted("E1", table, AutoIncrement("counter"), Key(pk="#A#{u}", sk="#A")),
            counted("E2", table, AutoIncrement(Sequence("E1.m")), Key(pk="#B#{u}", sk="#B")),
        ]
        with pytest.raises(KeyClash, match=r"would count with one counter, 'E1\.m'"):
            table.check()
        assert len(kept) == 2

    def test_a_sequence_of_two_entities(self) -> None:
        """Two that draw from one Sequence share it on purpose, whatever its name."""
        table = Table("shared")
        kept = [
            counted("E1", table, AutoIncrement(Sequence("E1.m")), Key(pk="#A#{u}", sk="#A")),
            counted("E2", table, AutoIncrement(Sequence("E1.m")), Key(pk="#B#{u}", sk="#B")),
        ]
        table.check()
        assert len(kept) == 2

    def test_a_gapless_sequence_counts_in_one_step(self) -> None:
        """Two steps of one counter cannot follow each other without gaps."""
        table = Table("shared")
        kept = [
            counted("E1", table, AutoIncrement(Sequence("n"), gapless=True), Key(pk="#A#{u}", sk="#A")),
            counted("E2", table, AutoIncrement(Sequence("n"), gapless=True, step=10), Key(pk="#B#{u}", sk="#B")),
        ]
        with pytest.raises(DeclarationError, match="count in steps of 1 and 10"):
            table.check()
        assert len(kept) == 2

    def test_a_sequence_that_is_gapless_for_one(self) -> None:
        """Two that share a Sequence are both gapless or neither: one that wastes numbers makes gaps for the other."""
        for on in (True, False):
            table = Table("shared")
            kept = [
                counted("E1", table, AutoIncrement(Sequence("n"), gapless=True), Key(pk="#A#{u}", sk="#A")),
                counted("E2", table, AutoIncrement(Sequence("n"), gapless=on), Key(pk="#B#{u}", sk="#B")),
            ]
            if on:
                table.check()
                continue
            with pytest.raises(DeclarationError, match=r"E1\.m and E2\.m draw from one Sequence, and only E1\.m is"):
                table.check()
            assert len(kept) == 2
