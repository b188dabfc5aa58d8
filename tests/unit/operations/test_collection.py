"""Collections as requests: the range, the tags that go along, pages, and what is told apart on this side."""

from __future__ import annotations

from typing import Any

from singletable.entity import Entity
from singletable.fields import Field
from singletable.gathering import Collection
from singletable.indexes import GlobalIndex
from singletable.operations.collection import Gather
from singletable.operations.query import Count, Found, ReadPage, next_asked, request
from singletable.patterns import Key
from singletable.schema import Table
from tests.unit.operations.playing import NAME, context, play

gsi1 = GlobalIndex("GSI1")
farm = Table("farm", indexes=[gsi1])


class Acre(Entity, table=farm, tag="field"):
    farm: Field[str]
    no: Field[str]
    key = Key(pk="#FARM#{farm}", sk="#FIELD#{no}")


class Barn(Entity, table=farm, tag="barn", aliases=["shed"]):
    farm: Field[str]
    key = Key(pk="#FARM#{farm}", sk="#BARN")


class Crop(Entity, table=farm, tag="crop"):
    farm: Field[str]
    no: Field[str]
    year: Field[int] = Field(name="y")
    key = Key(within=Acre.key, sk="#CROP#{year}")


class Worker(Entity, table=farm, tag="worker"):
    farm: Field[str]
    name: Field[str]
    key = Key(pk="#FARM#{farm}", sk="#WORKER#{name}")


land = Collection(Barn, Acre, Crop, pk="#FARM#{farm}")
places = Collection(Barn, Acre, pk="#FARM#{farm}")
field = Collection(Acre, Crop, pk="#FARM#{farm}", sk="#FIELD#{no}")


class Estate(Collection, pk="#FARM#{farm}"):
    barn: Barn | None
    fields: list[Acre]


def stored(sk: str, tag: str, **values: str) -> dict[str, Any]:
    """Write an item of farm f as it is stored."""
    fixed = {"PK": "#FARM#f", "SK": sk, "_et": tag, "farm": "f"}
    return {name: {"S": value} for name, value in (fixed | values).items()}


BARN, FIELD = stored("#BARN", "barn"), stored("#FIELD#1", "field", no="1")
CROP = {**stored("#FIELD#1#CROP#0000000000000002026", "crop", no="1"), "y": {"N": "2026"}}


def page(*items: dict[str, Any], start: dict[str, Any] | None = None) -> dict[str, Any]:
    """Answer a query with a page."""
    return {"Items": list(items), "Count": len(items), **({} if start is None else {"LastEvaluatedKey": start})}


class TestRequest:
    def test_no_filter_where_only_members_stand(self) -> None:
        """The range ends before the workers, so that no filter goes along, and limits are asked for as they are."""
        assert request(context(), land(farm="f")) == {
            "TableName": NAME,
            "KeyConditionExpression": "#0 = :0 AND #1 BETWEEN :1 AND :2",
            "ScanIndexForward": True,
            "ExpressionAttributeNames": {"#0": "PK", "#1": "SK"},
            "ExpressionAttributeValues": {":0": {"S": "#FARM#f"}, ":1": {"S": "#BARN"}, ":2": {"S": "#FIELD$"}},
        }
        assert next_asked(context(), land(farm="f").limit(3), 3, 0) == 3
        assert "FilterExpression" not in (request(context(), field(farm="f", no="1")) or {})

    def test_the_tags_go_along_where_others_stand(self) -> None:
        """Crops stand among the fields, so that the members' tags and aliases are the filter."""
        params = request(context(), places(farm="f"))
        assert params is not None
        assert params["FilterExpression"].count("#2 = ") == 3
        assert [params["ExpressionAttributeValues"][f":{n}"]["S"] for n in (3, 4, 5)] == ["barn", "shed", "field"]
        assert next_asked(context(), places(farm="f").limit(3), 3, 0) == 12

    def test_a_base_does_not_filter_by_its_own_kinds(self) -> None:
        """Where only kinds of the base stand in its index range, its query sends no tag; that of one kind does."""
        index = GlobalIndex("GSI1")
        table = Table("zoo", indexes=[index])

        class Animal(Entity, table=table):
            zoo: Field[str]
            name: Field[str]
            by_zoo = Key(on=index, pk="#ZOO#{zoo}", sk="#{name}")

        class Dog(Animal, tag="dog"):
            key = Key(pk="#DOG#{name}", sk="#DOG")

        class Cat(Animal, tag="cat"):
            key = Key(pk="#CAT#{name}", sk="#CAT")

        table.check()
        assert Cat.__table__ is table
        assert "FilterExpression" not in (request(context(), Animal.by_zoo(zoo="z")) or {})
        assert "FilterExpression" in (request(context(), Dog.by_zoo(zoo="z")) or {})

    def test_only_fetches_what_each_member_has(self) -> None:
        """A field of one member is fetched under its stored name, with every member's key and the tag."""
        params = request(context(), land(farm="f").only(Crop.year))
        assert params is not None
        names = params["ExpressionAttributeNames"]
        shown = {names[each] for each in params["ProjectionExpression"].split(", ")}
        assert shown == {"PK", "SK", "_et", "farm", "no", "y"}


class TestReading:
    def test_each_row_is_read_as_its_own_kind(self) -> None:
        """Rows of three kinds come in their order, each by its own class; others' rows are left out (D9, D12)."""
        other = stored("#CAT", "cat")
        found, calls = play(ReadPage(land(farm="f")).steps(context()), page(BARN, other, FIELD, CROP))
        assert found == Found(
            (Barn(farm="f"), Acre(farm="f", no="1"), Crop(farm="f", no="1", year=2026)),
            None,
            (("#BARN",), ("#FIELD#1",), ("#FIELD#1#CROP#0000000000000002026",)),
        )
        assert len(calls) == 1

    def test_counting_sends_the_tags(self) -> None:
        """Rows that nobody looks at are counted by DynamoDB, which is told the tags."""
        total, calls = play(Count(land(farm="f")).steps(context()), {"Count": 3})
        assert total == 3
        assert calls[0].params["Select"] == "COUNT"
        assert calls[0].params["FilterExpression"].count("=") == 4


class TestGather:
    def test_all_pages_fill_one_instance(self) -> None:
        """Two pages are two requests, the second from where the first ended; other kinds are left out."""
        start = {"PK": {"S": "#FARM#f"}, "SK": {"S": "#FIELD#1"}}
        more = stored("#FIELD#2", "field", no="2")
        made, calls = play(
            Gather(Estate.of(farm="f")).steps(context()), page(BARN, FIELD, start=start), page(CROP, more)
        )
        assert made == Estate(barn=Barn(farm="f"), fields=[Acre(farm="f", no="1"), Acre(farm="f", no="2")])
        assert [call.params.get("ExclusiveStartKey") for call in calls] == [None, start]
        assert all("FilterExpression" in call.params for call in calls)
