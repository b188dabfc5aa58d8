"""Which strategy a field uses: only the class itself decides, and says why."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import DeclarationError
from singletable.fields import Field
from singletable.increments import AutoIncrement, Sequence
from singletable.numbering import Numbering
from singletable.patterns import Key
from singletable.schema import Table, model_of

LARGEST = 9_223_372_036_854_775_807


def decided(number: AutoIncrement, *, table: Table | None = None, **key: Any) -> Numbering:
    """Declare an entity with fields `box: str` and `number` and give the decision."""
    whole: dict[str, Any] = {"pk": "#BOX#{box}", "sk": "#N#{number}", **key}
    body = {
        "__annotations__": {"box": Field[str], "number": Field[int]},
        "__module__": __name__,
        "number": number,
        "key": Key(**whole),
    }
    made = type("Made", (Entity,), body, table=Table("tab") if table is None else table)
    (found,) = model_of(made).numbers
    return found


class TestAutomatic:
    def test_last_in_the_sort_key(self) -> None:
        """The last part of the primary sort key is numbered by it, for each partition."""
        found = decided(AutoIncrement())
        assert (found.strategy, found.per, found.max_value) == ("sort_key", "partition", LARGEST)
        assert "last part" in found.why

    @pytest.mark.parametrize(
        ("key", "why"),
        [
            ({"pk": "#N#{number}", "sk": "#A"}, "partition key"),
            ({"sk": "#N#{number}#{box}"}, "not the last part"),
            ({"sk": "#N#{number}#TAIL"}, "literal follows"),
            ({"sk": "#A"}, "it stands in no primary key"),
            ({"sk": "#N#{number}", "raw": True}, "raw text"),
        ],
    )
    def test_anywhere_else(self, key: dict[str, Any], why: str) -> None:
        """Anywhere else a counter draws it, and the reason is said."""
        found = decided(AutoIncrement(), **key)
        assert found.strategy == "counter"
        assert why in found.why

    def test_a_numeric_sort_key(self) -> None:
        """A number that is the sort key itself is numbered by it."""
        found = decided(AutoIncrement(), table=Table("tab", sk=("sk", int)), sk="{number}")
        assert found.strategy == "sort_key"

    def test_no_sort_key(self) -> None:
        """In a table without sort key only a counter can draw."""
        found = decided(AutoIncrement(), table=Table("tab", sk=None), pk="#N#{number}", sk=None)
        assert (found.strategy, found.per) == ("counter", "entity")

    @pytest.mark.parametrize(
        ("key", "per"),
        [
            ({"pk": "#N#{number}", "sk": "#A"}, "entity"),
            ({"sk": "#N#{number}#TAIL"}, "partition"),
            ({"sk": "#A"}, "entity"),
        ],
    )
    def test_what_a_counter_counts_for(self, key: dict[str, Any], per: str) -> None:
        """A counter counts for the partition where its number stands in the sort key, else for the entity."""
        assert decided(AutoIncrement(), **key).per == per

    def test_per_can_be_said(self) -> None:
        """A counter asked for counts for what it is told, and says that it was asked for."""
        found = decided(AutoIncrement("counter", per="entity"))
        assert (found.strategy, found.per, found.why) == ("counter", "entity", "it was asked for")

    def test_a_width_bounds_the_numbers(self) -> None:
        """A width of three digits ends the numbers at 999, or before it where the field says so."""
        assert decided(AutoIncrement(), sk="#N#{number:03}").max_value == 999
        assert decided(AutoIncrement(max_value=50), sk="#N#{number:03}").max_value == 50

    def test_options_that_need_a_counter(self) -> None:
        """Blocks and gaplessness are a counter's, also at the end of the sort key; an own number is not."""
        gapless, blocks = decided(AutoIncrement(gapless=True)), decided(AutoIncrement(block=50))
        assert (gapless.how, gapless.per, gapless.why) == ("counter without gaps", "partition", "it is gapless")
        assert (blocks.how, blocks.why) == ("counter in blocks of 50", "it is drawn in blocks")
        assert decided(AutoIncrement(on_explicit="allow")).how == "sort_key"

    def test_a_sequence(self) -> None:
        """A field that draws from a Sequence says so."""
        found = decided(AutoIncrement(Sequence("tickets", pk="#BOX#{box}")))
        assert (found.strategy, found.why) == ("counter", "it draws from a Sequence")


@pytest.mark.parametrize(
    ("number", "key", "words"),
    [
        (AutoIncrement("sort_key"), {"pk": "#N#{number}", "sk": "#A"}, "partition key"),
        (AutoIncrement("sort_key"), {"sk": "#N#{number}#TAIL"}, "literal follows"),
        (AutoIncrement("sort_key"), {"raw": True}, "raw text"),
        (AutoIncrement(start=100), {"sk": "#N#{number:02}"}, "begins at 100, and its width in the key holds 0 to 99"),
        (AutoIncrement(start=-3), {"sk": "#N#{number:02}"}, "begins at -3"),
        (AutoIncrement("sort_key", per="entity"), {}, "per= belongs to a counter"),
        (AutoIncrement("counter", reuse="allow"), {}, 'belongs to "sort_key"'),
        (AutoIncrement(Sequence("t", pk="#A#{nobody}")), {}, "'nobody'"),
        (AutoIncrement(Sequence("t", pk="#A#{number}")), {}, "'number'"),
        (AutoIncrement(Sequence(pk="c", attribute="n")), {}, "with sort key"),
        (AutoIncrement(Sequence("t", pk="#A#{box?}")), {}, "may be absent or spread"),
        (AutoIncrement(Sequence("t", pk="#A#{box:06}")), {}, "a width is for int parts"),
        (AutoIncrement(Sequence("t", pk="#A#{box")), {}, "braces"),
        (AutoIncrement(Sequence(pk="c", sk="s", attribute="PK")), {}, "a key attribute or the tag"),
        (AutoIncrement(Sequence(pk="c", sk="s", attribute="_et")), {}, "a key attribute or the tag"),
    ],
)
def test_what_cannot_work(number: AutoIncrement, key: dict[str, Any], words: str) -> None:
    """A strategy that the class cannot use is refused with the reason."""
    with pytest.raises(DeclarationError, match=words):
        decided(number, **key)


def test_deleted_numbers_need_a_tag() -> None:
    """A table without tag cannot keep deleted numbers; allowing reuse is the way out."""
    with pytest.raises(DeclarationError, match="without tag"):
        decided(AutoIncrement(), table=Table("tab", tag=None))
    assert decided(AutoIncrement(reuse="allow"), table=Table("tab", tag=None)).strategy == "sort_key"


def test_a_native_partition_key_holds_no_counter_of_ours() -> None:
    """Under a partition key that is a number only an adopted item can count."""
    native = Table("tab", pk=("id", int), sk=None)
    with pytest.raises(DeclarationError, match="adopt"):
        decided(AutoIncrement(), table=native, pk="{number}", sk=None)
    adopted = AutoIncrement(Sequence(pk="0", attribute="n"))
    assert decided(adopted, table=Table("other", pk=("id", int), sk=None), pk="{number}", sk=None).strategy == "counter"


def test_an_adopted_item_without_sort_key() -> None:
    """In a table without sort key an adopted item has none either."""
    with pytest.raises(DeclarationError, match="without sort key"):
        decided(
            AutoIncrement(Sequence(pk="c", sk="s", attribute="n")),
            table=Table("tab", sk=None),
            pk="#N#{number}",
            sk=None,
        )


def two(first: AutoIncrement, second: AutoIncrement, pk: str = "#BOX#{box}") -> list[str]:
    """Declare an entity of two numbers, `a` before `b`, and give the order they are drawn in."""
    body = {
        "__annotations__": {"a": Field[int], "b": Field[int], "box": Field[str]},
        "__module__": __name__,
        "a": first,
        "b": second,
        "key": Key(pk=pk, sk="#N#{b}"),
    }
    return [number.name for number in model_of(type("Two", (Entity,), body, table=Table("two"))).numbers]


def test_numbers_are_drawn_in_the_order_they_need() -> None:
    """A number that chooses the counter of another is drawn before it, one in the sort key last."""
    assert two(AutoIncrement(Sequence("s", pk="#S#{b}")), AutoIncrement("counter")) == ["b", "a"]
    assert two(AutoIncrement("counter"), AutoIncrement("counter")) == ["a", "b"]
    assert two(AutoIncrement("counter"), AutoIncrement()) == ["a", "b"]


def test_two_that_are_drawn_by_being_stored() -> None:
    """One transaction moves one line: a second number without gaps, or by sort key, is refused."""
    with pytest.raises(DeclarationError, match="'a' and 'b' are both drawn by being stored"):
        two(AutoIncrement(gapless=True, per="entity"), AutoIncrement(gapless=True, per="entity"))


def test_numbers_that_wait_for_each_other() -> None:
    """Two counters cannot choose each other, and none can be chosen by a number in the sort key, drawn last of all."""
    with pytest.raises(DeclarationError, match="'a': its counter is chosen by 'b'"):
        two(AutoIncrement(Sequence("s", pk="#S#{b}")), AutoIncrement(Sequence("t", pk="#T#{a}")))
    with pytest.raises(DeclarationError, match="'a': its counter is chosen by 'b'"):
        two(AutoIncrement(Sequence("s", pk="#S#{b}")), AutoIncrement())
