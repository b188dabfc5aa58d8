"""Cases of other mappers that no other test says by itself; `tests/CASES.md` names the tests of all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from singletable.entity import Entity
from singletable.errors import KeyPartError, TemplateError
from singletable.fields import Field
from singletable.indexes import GlobalIndex
from singletable.mapping import to_item
from singletable.operations.batch import PutMany
from singletable.operations.get_many import GetMany
from singletable.operations.query import ReadPage
from singletable.operations.subjects import subject
from singletable.patterns import Key
from singletable.schema import Table
from tests.unit.operations.scripted import PLACE, Script, world

TESTS: Final = Path(__file__).parents[1]
ROOMS: Final = {
    "c": "contract",
    "d": "docs",
    "f": "faults",
    "k": "unit/keys",
    "o": "unit/operations",
    "p": "properties",
    "u": "unit",
}

gsi1 = GlobalIndex("GSI1")
cases = Table("cases", indexes=[gsi1])
numbers = Table("numbers", pk=("id", int), sk=None)
digests = Table("digests", pk=("id", bytes), sk=("part", int))


class Switch(Entity, table=cases, tag="switch"):
    name: Field[str]
    on: Field[bool] = Field(default=True)
    level: Field[int] = Field(default=1)

    key = Key(pk="#SWITCH#{name}", sk="#SWITCH")
    every = Key(on=gsi1, pk="#SWITCHES", sk="#{on}#{level}")


class Counted(Entity, table=numbers, tag="counted"):
    id: Field[int]

    key = Key(pk=("id",))


class Digest(Entity, table=digests, tag="digest"):
    id: Field[bytes]
    part: Field[int]

    key = Key(pk=("id",), sk=("part",))


ENTITIES: Final[tuple[Entity, ...]] = (
    Switch(name="a"),
    Counted(id=10),
    Digest(id=b"\x00\xff", part=-1),
)


def test_a5_only_none_is_absent() -> None:
    """A5: False and 0 stand in a key like any other value; empty text is refused, not left out."""
    item = to_item(Switch(name="a", on=False, level=0))
    assert item["GSI1SK"] == {"S": "#false#0000000000000000000"}
    asked = Switch.every(on=False, level=0).range
    assert asked is not None
    assert asked.operands == ("#false#0000000000000000000",)
    with pytest.raises(KeyPartError, match="empty"):
        Switch.at(name="")


@pytest.mark.parametrize("template", ["#A#{where.city}", "#A#${name}", "#A#{missing}", "#A#{name"])
def test_a9_a10_no_placeholder_is_left_standing(template: str) -> None:
    """A9, A10: what names no field of its class, a place inside one too, is refused where it is declared."""
    with pytest.raises(TemplateError):
        declare(template)


def declare(template: str) -> type[Entity]:
    """Declare a class with a partition key template."""

    class Wrong(Entity, table=Table("wrong")):
        name: Field[str]
        where: Field[dict[str, str]]

        key = Key(pk=template, sk="#A")

    return Wrong


def test_d6_a_constant_partition_is_a_query() -> None:
    """D6: a key that takes no value at all, and one that takes few, is asked for by Query and never by Scan."""
    script = Script(by=lambda _: {"Items": []})
    for query in (Switch.every(), Switch.every().where(Switch.name == "a"), Switch.key(name="a")):
        script.run(ReadPage(query).steps(world()))
    assert script.methods == ["query"] * 3
    assert script.calls[0].params["ExpressionAttributeValues"][":0"] == {"S": "#SWITCHES"}


@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: type(entity).__name__)
def test_g2_what_is_left_over_is_known_whatever_its_key(entity: Entity) -> None:
    """G2: keys of text, numbers and bytes that DynamoDB left over are asked for, and written, once more."""
    item, ref = to_item(entity), subject(entity)
    reading = Script({"Responses": {}, "UnprocessedKeys": {PLACE: {"Keys": [ref.key]}}}, {"Responses": {PLACE: [item]}})
    assert reading.run(GetMany((ref,)).steps(world())) == (entity,)
    assert [call.params["RequestItems"][PLACE]["Keys"] for call in reading.calls] == [[ref.key], [ref.key]]
    writing = Script(
        by=lambda call: {"UnprocessedItems": call.params["RequestItems"] if call is writing.calls[0] else {}}
    )
    assert writing.run(PutMany((entity,)).steps(world())) == (entity,)
    first, second = (call.params["RequestItems"][PLACE] for call in writing.calls)
    assert first == second


def test_each_case_names_tests_that_exist() -> None:
    """Every row of the table of cases has a test, and every test that it names is there."""
    lines = (TESTS / "CASES.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if re.match(r"\| [A-I]\d", line)]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row[2])]
    assert all("`" in row[2] for row in rows)
    assert [name for name in named if not exists(name)] == []
    assert len(rows) == len({row[0] for row in rows})


def exists(name: str) -> bool:
    """Find a test by room, module and name, each without `test_`; a number of rooms is a letter."""
    room, module, test = re.split("/|::", name)
    text = (TESTS / ROOMS[room] / f"test_{module}.py").read_text(encoding="utf-8")
    return re.search(rf"^ *(?:async )?def test_{test}\(", text, re.MULTILINE) is not None
