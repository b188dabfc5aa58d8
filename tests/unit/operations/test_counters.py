"""Where a counter stands: in its partition, under a key of its own, or where it always stood."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import DeclarationError, ForeignItem, KeyPartError, MissingPart, ServiceError
from singletable.fields import Field
from singletable.increments import AutoIncrement, Sequence
from singletable.operations.counters import Counter, counter_of
from singletable.operations.create import Create
from singletable.patterns import Key
from singletable.schema import Table, model_of
from singletable.wire import Item, Refusal
from tests.unit.operations.playing import condition_failed, context, play
from tests.unit.operations.shop import Invoice, Project


def counter(number: AutoIncrement, table: Table, values: dict[str, Any], **key: Any) -> Counter:
    """Declare an entity with fields box and number and find its counter."""
    body = {
        "__annotations__": {"box": Field[str], "number": Field[int]},
        "__module__": __name__,
        "number": number,
        "key": Key(**key),
    }
    model = model_of(type("Made", (Entity,), body, table=table, tag="made"))
    (numbering,) = model.numbers
    return counter_of(model, numbering, values)


def test_a_named_sequence_of_the_table() -> None:
    """A sequence without key counts for the table, under a partition key that no value can produce."""
    found = counter(AutoIncrement(Sequence("a#b")), Table("tab"), {}, pk="#M#{number}", sk="#M")
    assert found.item_key == {"PK": {"S": "#!SEQ#a%23b"}, "SK": {"S": "!"}}
    assert (found.attribute, found.tag_name, found.tag) == ("last", "_et", "!seq")


def test_a_named_sequence_of_a_group() -> None:
    """A sequence with a key counts in that partition, in front of its items; its parts are escaped."""
    number = AutoIncrement(Sequence("tickets", pk="#REPO#{box}"))
    found = counter(number, Table("tab"), {"box": "x y"}, pk="#M#{number}", sk="#M")
    assert found.item_key == {"PK": {"S": "#REPO#x%20y"}, "SK": {"S": "!SEQ#tickets"}}


def test_a_sequences_part_must_be_there() -> None:
    """A counter whose group is not given is none."""
    number = AutoIncrement(Sequence("tickets", pk="#REPO#{box}"))
    with pytest.raises(MissingPart, match="'box'"):
        counter(number, Table("tab"), {}, pk="#M#{number}", sk="#M")


def test_beside_a_numeric_sort_key() -> None:
    """Where the sort key is a number, a partition's counter has a partition key naming the owner's."""
    table = Table("tab", sk=("sk", int))
    found = counter(AutoIncrement("counter"), table, {"box": "b"}, pk="#BOX#{box}", sk="{number}")
    assert found.item_key == {"PK": {"S": "#!SEQ#made.number#%23BOX%23b"}, "sk": {"N": "0"}}


def test_without_sort_key() -> None:
    """Where the table has no sort key, neither has the counter."""
    found = counter(AutoIncrement(), Table("tab", sk=None), {}, pk="#M#{number}")
    assert found.item_key == {"PK": {"S": "#!SEQ#made.number"}}


def test_an_owner_too_long_to_name() -> None:
    """A partition key that is too long to be named in the counter's is refused."""
    table = Table("tab", sk=("sk", int))
    with pytest.raises(KeyPartError, match="too long"):
        counter(AutoIncrement("counter"), table, {"box": "b" * 2040}, pk="#BOX#{box}", sk="{number}")


def test_an_adopted_item_with_a_sort_key() -> None:
    """An adopted counter's key is what its templates give, unescaped, and gets no tag."""
    number = AutoIncrement(Sequence(pk="COUNT#{box}", sk="A", attribute="n"))
    found = counter(number, Table("tab"), {"box": "x y"}, pk="#M#{number}", sk="#M")
    assert found.item_key == {"PK": {"S": "COUNT#x y"}, "SK": {"S": "A"}}
    assert (found.attribute, found.tag_name) == ("n", None)


def test_where_keys_do_not_tell_the_highest() -> None:
    """A missing counter starts at the start where the number is not the first part of the sort key."""

    class Note(Entity, table=Table("tab"), tag="note"):
        box: Field[str]
        kind: Field[str]
        number: Field[int] = AutoIncrement("counter")

        key = Key(pk="#BOX#{box}", sk="#NOTE#{kind}#{number}")

    made, calls = play(
        Create(Note(box="b", kind="k")).steps(context()),
        condition_failed(),
        {"Attributes": {"last": {"N": "1"}}},
        {},
    )
    assert made.number == 1
    assert [call.method for call in calls] == ["update_item", "update_item", "put_item"]


def test_where_raw_keys_do_not_sort() -> None:
    """Raw numbers do not sort as text, so the highest is not asked for."""

    class Note(Entity, table=Table("tab"), tag="note"):
        box: Field[str]
        number: Field[int] = AutoIncrement("counter")

        key = Key(pk="BOX#{box}", sk="NOTE#{number}", raw=True)

    answers: list[Any] = [condition_failed(), {"Attributes": {"last": {"N": "1"}}}, {}]
    _, calls = play(Create(Note(box="b")).steps(context()), *answers)
    assert [call.method for call in calls] == ["update_item", "update_item", "put_item"]


def test_another_refusal_of_a_counter() -> None:
    """A refusal that is no failed condition is not taken for an exhausted counter."""
    with pytest.raises(ServiceError, match="TransactionCanceled"):
        play(Create(Invoice(total=1)).steps(context()), Refusal("TransactionCanceledException", ""))


def test_a_fraction_among_the_numbers() -> None:
    """A numeric sort key that is no whole number is another program's."""
    found = {"Items": [{"pk": {"S": "#TEAM#t"}, "sk": {"N": "7.5"}}]}
    with pytest.raises(ForeignItem):
        play(Create(Project(team="t", name="x")).steps(context()), found)


@pytest.mark.parametrize("digits", ["41", "41.0", "4.1E+1"])
def test_a_number_in_any_digits(digits: str) -> None:
    """A numeric sort key counts however its digits are written."""
    found = {"Items": [{"pk": {"S": "#TEAM#t"}, "sk": {"N": digits}}]}
    made, _ = play(Create(Project(team="t", name="x")).steps(context()), found, {})
    assert made.number == 42


def key_of(tag: str, number: AutoIncrement, table: Table, key: Key, *, aliases: tuple[str, ...] = ()) -> Item:
    """Declare an entity whose Python field `drawn` is stored as "n" and give the key of its counter."""
    body = {
        "__annotations__": {"box": Field[str], "drawn": Field[int]},
        "__module__": __name__,
        "drawn": number,
        "key": key,
    }
    model = model_of(type("Made", (Entity,), body, table=table, tag=tag, aliases=aliases))
    return counter_of(model, model.numbers[0], {"box": "a b"}).item_key


@pytest.mark.parametrize(
    ("per", "table", "pk", "wanted"),
    [
        ("entity", Table("one"), "#BOX#{box}", {"PK": {"S": "#!SEQ#old.n"}, "SK": {"S": "!"}}),
        ("partition", Table("two"), "#BOX#{box}", {"PK": {"S": "#BOX#a%20b"}, "SK": {"S": "!SEQ#old.n"}}),
        ("partition", Table("raw", raw=True), "BOX#{box}", {"PK": {"S": "BOX#a b"}, "SK": {"S": "!SEQ#old.n"}}),
        ("partition", Table("bar", raw="|"), "BOX|{box}", {"PK": {"S": "BOX|a b"}, "SK": {"S": "!SEQ#old.n"}}),
    ],
)
def test_a_named_sequence_goes_on_with_a_fields_counter(per: Any, table: Table, pk: str, wanted: Item) -> None:
    """The counter of a field is called by tag and stored name; a Sequence of that name and partition is the same."""
    own = AutoIncrement("counter", per=per, name="n")
    assert key_of("old", own, table, Key(pk=pk, sk="A")) == wanted
    named = Sequence("old.n", pk=None if per == "entity" else pk)
    assert key_of("new", AutoIncrement(named, name="n"), table, Key(pk=pk, sk="A"), aliases=("old",)) == wanted


@pytest.mark.parametrize(
    ("per", "hint"),
    [("entity", 'Sequence("old.n")'), ("partition", 'Sequence("old.n", pk="#BOX#{box}")')],
)
def test_a_new_tag_does_not_count_anew(per: Any, hint: str) -> None:
    """An entity that reads an older tag must say where its numbers go on; the hint is what goes on."""
    with pytest.raises(DeclarationError, match="would count anew") as caught:
        key_of(
            "new",
            AutoIncrement("counter", per=per, name="n"),
            Table("tab"),
            Key(pk="#BOX#{box}", sk="A"),
            aliases=("old",),
        )
    assert hint in caught.value.hint
