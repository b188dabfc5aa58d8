"""Collections as they are declared: which keys can stand in one, what its range is, and what its class may hold."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from singletable import (
    Collection,
    CollectionKey,
    DeclarationError,
    Entity,
    Field,
    Gathering,
    GlobalIndex,
    Key,
    LocalIndex,
    MissingPart,
    NoTruthValue,
    QueryError,
    RangeClash,
    Table,
    UnknownPart,
    UsageError,
)
from singletable.keys import KeyRange

board = GlobalIndex("board", sk=("score", int))
days = GlobalIndex("days", pk=("tenant", "day"), sk=("kind", "n"))
local = LocalIndex("LSI1")
club = Table("club", indexes=[board, days, local])


class Member(Entity, table=club, tag="member"):
    club_id: Field[str]
    name: Field[str]
    score: Field[int] = Field(default=0)
    key = Key(pk="#CLUB#{club_id}", sk="#MEMBER#{name}")
    by_score = Key(on=board, pk="#BOARD#{club_id}", sk="{score}")
    by_name = Key(on=local, sk="#N#{name}")


class Team(Entity, table=club, tag="team"):
    club: Field[str]
    number: Field[int]
    score: Field[int] = Field(default=0)
    key = Key(pk="#CLUB#{club}", sk="#TEAM#{number}")
    by_score = Key(on=board, pk="#BOARD#{club}", sk="{score}")


class Match(Entity, table=club, tag="match"):
    club: Field[str]
    number: Field[int]
    when: Field[str]
    key = Key(within=Team.key, sk="#AT#{when}")


class Place(Entity, table=club, tag="place"):
    club_id: Field[int]
    path: Field[tuple[str, ...]]
    key = Key(pk="#PLACE#{club_id}", sk="#PLACE#{path*}")


class Animal(Entity, table=club):
    """An abstract base."""

    zoo: Field[str]
    name: Field[str]


class Dog(Animal, table=club, tag="dog"):
    key = Key(pk="#ZOO#{zoo}", sk="#DOG#{name}")


class Cat(Animal, table=club, tag="cat"):
    key = Key(pk="#ZOO#{zoo}", sk="#CAT#{name}")


class Zoo(Entity, table=club, tag="zoo"):
    zoo: Field[str]
    key = Key(pk="#ZOO#{zoo}", sk="#ZOO")


everything = Collection(Member, Team, pk="#CLUB#{club_id}")
team = Collection(Team, Match, pk="#CLUB#{club}", sk="#TEAM#{number}")
leaders = Collection(Member, Team, on=board, pk="#BOARD#{club}", sk="{score}")


class Sheet(Collection, pk="#CLUB#{club_id}"):
    """A place of each sort."""

    first: Team
    best: Member | None
    matches: tuple[Match, ...]
    LIMIT: ClassVar[int] = 3

    @property
    def count(self) -> int:
        """Count the matches."""
        return len(self.matches)


def ranged(query: Any) -> tuple[str, ...]:
    """Give the range that a query asks for."""
    assert query.range is not None
    return (query.range.operator, *query.range.operands)


NUMBER = "#TEAM#0000000000000000007"


class TestRange:
    def test_the_least_range_that_holds_every_member(self) -> None:
        """Without sk= nothing before the first member's keys or after the last one's is read."""
        assert ranged(everything(club_id="c")) == ("BETWEEN", "#MEMBER#", "#TEAM$")
        assert ranged(Collection(Team, Match, pk="#CLUB#{c}")(c="c")) == ("begins_with", "#TEAM#")
        assert ranged(Collection(Zoo, Dog, pk="#ZOO#{zoo}")(zoo="z")) == ("BETWEEN", "#DOG#", "#ZOO")
        assert everything(club_id="c").partition == {"PK": {"S": "#CLUB#c"}}

    def test_a_node_with_what_is_below_it(self) -> None:
        """All parts of the collection's sort key are a node, not one item; fewer are the group."""
        assert ranged(team(club="c", number=7)) == ("BETWEEN", NUMBER, f"{NUMBER}$")
        assert ranged(team(club="c")) == ("begins_with", "#TEAM#")
        assert ranged(team(club="c").gte(number=7)) == ("BETWEEN", NUMBER, "#TEAM$")
        assert ranged(team(club="c").between(number=(7, 7))) == ("BETWEEN", NUMBER, f"{NUMBER}$")
        assert ranged(team(club="c", number=7).below()) == ("begins_with", f"{NUMBER}#")
        assert ranged(Collection(Team, Match, pk="#CLUB#{club}", sk="#TEAM")(club="c")) == (
            "BETWEEN",
            "#TEAM",
            "#TEAM$",
        )

    def test_a_native_sort_key(self) -> None:
        """A number is ranged over as a number; left out, it is no condition at all."""
        assert ranged(leaders(club="c").gte(score=5)) == (">=", "5")
        assert leaders(club="c").range == KeyRange("all")
        assert Collection(Member, Team, on=board, pk="#BOARD#{club}")(club="c").range == KeyRange("all")

    def test_a_local_index_is_read_consistently(self) -> None:
        """A collection on a local index has the table's partition key and may be read strongly; a global one not."""
        mine = Collection(Member, on=local, pk="#CLUB#{club_id}")(club_id="c")
        assert mine.consistent().strong
        assert (mine.layout.index, ranged(mine)) == ("LSI1", ("begins_with", "#N#"))
        with pytest.raises(QueryError, match="cannot be read consistently"):
            leaders(club="c").consistent()

    def test_an_abstract_member_is_its_kinds(self) -> None:
        """A base stands for every kind of it, one that is declared later too."""
        zoo = Collection(Zoo, Animal, pk="#ZOO#{zoo}")
        assert ranged(zoo(zoo="z")) == ("BETWEEN", "#CAT#", "#ZOO")

        class Ape(Animal, table=club, tag="ape"):
            key = Key(pk="#ZOO#{zoo}", sk="#APE#{name}")

        assert Ape.__table__ is club
        assert ranged(zoo(zoo="z")) == ("BETWEEN", "#APE#", "#ZOO")

    def test_parts_are_checked(self) -> None:
        """A part that is missing, unknown or the hidden one is refused; a collection without sk= has no ranges."""
        with pytest.raises(MissingPart, match="club_id"):
            everything()
        with pytest.raises(UnknownPart, match="number"):
            everything(club_id="c", number=7)
        with pytest.raises(UnknownPart):
            team(club="c", number=7, **{"": ("AT",)})
        with pytest.raises(QueryError, match=r"Member \| Team: the collection names no part of the sort key"):
            everything(club_id="c").below()

    def test_filters_and_fields_are_the_members(self) -> None:
        """A condition and only() take the fields of any member, and of nobody else."""
        mine = everything(club_id="c").where(Team.score > 3).where(Member.score > 3)
        assert mine.only(Team.number, Member.name).shown == ("number", "name")
        with pytest.raises(QueryError, match="another class"):
            everything(club_id="c").where(Match.when == "d")
        with pytest.raises(QueryError, match="wanted fields of it"):
            everything(club_id="c").only(Match.when)


class Guest(Entity, table=club, tag="guest"):
    club_id: Field[str]
    number: Field[str]
    key = Key(pk="#GUESTS#{club_id}", sk="#TEAM#{number}")


class Coach(Entity, table=club, tag="coach"):
    club_id: Field[str]
    number: Field[str]
    key = Key(pk="#CLUB#{club_id}", sk="#COACH#{number}")
    turned = Key(on=days, pk=("tenant", "day"), sk=("kind", "n"))
    tenant: Field[str]
    day: Field[str]
    kind: Field[str]
    n: Field[str]


raws = Table("raws")


class Raw(Entity, table=raws, tag="raw"):
    a: Field[str]
    b: Field[str]
    key = Key(pk="R|{a}", sk="S|{b}", raw="|")


class Hash(Entity, table=raws, tag="hash"):
    a: Field[str]
    key = Key(pk="R#{a}", sk="T")


NOBODY: list[type[Entity]] = []

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "another partition": (
        lambda: Collection(Member, Guest, pk="#CLUB#{club_id}"),
        r"Guest cannot stand in the collection #CLUB#\{club_id\}: its key is .*, such as '#GUESTS#a' / '#TEAM#a'",
    ),
    "beside the node": (
        lambda: Collection(Team, Member, pk="#CLUB#{club}", sk="#TEAM"),
        r"Member cannot stand in the collection #CLUB#\{club\} / #TEAM: .* '#CLUB#a' / '#MEMBER#a'",
    ),
    "above the node": (lambda: Collection(Team, Match, pk="#CLUB#{club}", sk="#TEAM#{number}#AT"), "Team cannot stand"),
    "two types": (
        lambda: Collection(Dog, Place, pk="#PLACE#{zoo}"),
        "'zoo' is str in Dog and int in Place",
    ),
    "no part there": (lambda: Collection(Zoo, pk="#ZOO#{zoo}", sk="#{rest}"), "no member has a part in the place"),
    "other marks": (lambda: Collection(Place, pk="#PLACE#{c}", sk="#PLACE#{path}"), "'path' stands in the place of"),
    "no key on the index": (
        lambda: Collection(Team, Zoo, on=board, pk="#BOARD#{c}"),
        "Zoo has no key on index 'board'",
    ),
    "open partition": (lambda: Collection(Place, pk="#PLACE#{path*}"), "every part of a partition key"),
    "a template too few": (
        lambda: Collection(Coach, on=days, pk="{tenant}"),
        "stands for 1 key attributes, there are 2",
    ),
    "native and more": (lambda: Collection(Member, on=board, pk="#BOARD#{c}", sk="#S#{score}"), "one value as it is"),
    "two tables": (lambda: Collection(Zoo, Hash, pk="#ZOO#{zoo}"), "Zoo stands in table 'club', Hash in 'raws'"),
    "two delimiters": (lambda: Collection(Raw, Hash, pk="R#{a}"), "write that key in several ways"),
    "no member": (lambda: Collection(*NOBODY, pk="#ZOO#{zoo}"), "given no entity"),
    "no entity": (lambda: Collection(Zoo, str, pk="#ZOO#{zoo}"), "given the class str"),  # type: ignore[type-var]
    "no class": (lambda: Collection("Zoo", pk="#ZOO#{zoo}"), "given str"),  # type: ignore[call-overload]
    "no pk": (lambda: Collection(Zoo, pk=None), "pk= is None"),  # type: ignore[call-overload]
    "no index": (lambda: Collection(Zoo, pk="#ZOO#{zoo}", on="GSI1"), "on= is str"),  # type: ignore[call-overload]
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_a_collection_is_refused_where_it_is_written(what: str) -> None:
    """Each mistake is a DeclarationError that names the member or the option, with a key as witness where one is."""
    declare, message = REFUSED[what]
    with pytest.raises(DeclarationError, match=message):
        declare()


def test_several_native_attributes_are_named_by_tuples() -> None:
    """A collection on a key of several attributes names a part for each, and narrows them in their order."""
    mine = Collection(Coach, on=days, pk=("t", "d"), sk=("kind", "n"))
    assert mine(t="t1", d="mon").partition == {"tenant": {"S": "t1"}, "day": {"S": "mon"}}
    assert [(span.column.name, span.range.operands) for span in mine(t="t1", d="m", kind="k").gte(n="2").spans] == [
        ("kind", ("k",)),
        ("n", ("2",)),
    ]
    assert Collection(Coach, on=days, pk=("t", "d"))(t="t1", d="mon").spans == ()


def test_raw_keys_keep_their_delimiter() -> None:
    """A collection of raw keys is written with their delimiter, and its node ends there."""
    mine = Collection(Raw, pk="R|{a}", sk="S")
    assert ranged(mine(a="x y")) == ("BETWEEN", "S", "S}")
    assert mine(a="x y").partition == {"PK": {"S": "R|x y"}}
    assert ranged(Collection(Raw, pk="R|{a}")(a="x")) == ("begins_with", "S|")


class TestClash:
    def declare(self) -> tuple[Table, type[Entity], type[Entity]]:
        """Declare two entities whose keys on an index have one template."""
        index = GlobalIndex("GSI1")
        table = Table("clash", indexes=[index])

        class Left(Entity, table=table, tag="left"):
            a: Field[str]
            key = Key(pk="#L#{a}", sk="#L")
            on = Key(on=index, pk="#ALL#{a}", sk="#{a}")

        class Right(Entity, table=table, tag="right"):
            a: Field[str]
            key = Key(pk="#R#{a}", sk="#R")
            on = Key(on=index, pk="#ALL#{a}", sk="#{a}")

        return table, Left, Right

    def test_members_may_share_ranges(self) -> None:
        """What is refused of strangers is allowed to the members of one collection, and then filtered by tag."""
        table, left, right = self.declare()
        with pytest.raises(RangeClash, match=r"Collection\(Left, Right"):
            table.check()
        (index,) = table.indexes
        assert isinstance(index, GlobalIndex)
        both = Collection(left, right, on=index, pk="#ALL#{a}")
        table.check()
        assert ranged(both(a="x")) == ("begins_with", "#")

    def test_only_on_the_collection_s_own_index(self) -> None:
        """A collection in the table says nothing about an index."""
        table, left, right = self.declare()
        with pytest.raises(DeclarationError, match="cannot stand"):
            Collection(left, right, pk="#L#{a}")
        Collection(left, pk="#L#{a}")
        with pytest.raises(RangeClash):
            table.check()


class TestClass:
    def test_it_is_frozen_data(self) -> None:
        """An instance is made by name, shown, compared, hashed, copied and pickled, and cannot be changed."""
        first = Team(club="c", number=1)
        sheet = Sheet(first=first, best=None, matches=())
        assert repr(sheet) == f"Sheet(first={first!r}, best=None, matches=())"
        assert sheet == Sheet(matches=(), first=first, best=None)
        assert sheet != Sheet(first=Team(club="c", number=2), best=None, matches=())
        assert hash(sheet) == hash(Sheet(matches=(), first=first, best=None))
        assert pickle.loads(pickle.dumps(sheet)) == copy.deepcopy(sheet) == sheet  # made here
        assert sheet.count == 0
        with pytest.raises(UsageError, match="frozen: 'best' cannot be assigned"):
            setattr(sheet, "best", None)  # noqa: B010  # what a type checker refuses
        with pytest.raises(UsageError, match="frozen: 'best' cannot be deleted"):
            delattr(sheet, "best")  # what a type checker refuses

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"best": None, "matches": ()}, "given no 'first'"),
            ({"first": None, "best": None, "matches": (), "frist": 1}, "no place 'frist'\n.*did you mean 'first'"),
        ],
    )
    def test_contents_are_named(self, given: dict[str, Any], message: str) -> None:
        """A place that is missing or unknown is refused, as is what is given without a name."""
        with pytest.raises(UsageError, match=message):
            Sheet(**given)
        with pytest.raises(UsageError, match="contents without a name"):
            type.__call__(Sheet, 1, first=None, best=None, matches=())

    def test_what_is_asked_for_is_a_value(self) -> None:
        """`of` checks its parts; the gathering has no truth, names its parts, and is narrowed step by step."""
        asked = Sheet.of(club_id="c")
        assert isinstance(asked, Gathering)
        assert repr(asked) == "<Sheet.of(club_id)>"
        assert asked.consistent().query.strong
        assert not asked.query.strong
        assert asked.where(Team.score > 1).query.condition is not None
        with pytest.raises(NoTruthValue):
            bool(asked)
        with pytest.raises(MissingPart):
            Sheet.of()

    def test_a_key_is_no_class(self) -> None:
        """What Collection(...) gives is called, it has no places; it says what it is of."""
        assert isinstance(everything, CollectionKey)
        assert repr(everything) == "<collection of Member | Team: #CLUB#{club_id}>"
        assert repr(leaders) == "<collection of Member | Team: #BOARD#{club} / {score} on index 'board'>"
        with pytest.raises(UsageError, match="no places to gather into"):
            type(everything).of(club_id="c")

    @pytest.mark.parametrize(
        ("annotation", "message"),
        [
            (int, "annotated with what no item"),
            (list[int], "annotated with what no item"),
            (tuple[Team, Team], "annotated with what no item"),
            (dict[str, Team], "annotated with what no item"),
            (Team | int, "annotated with what no item"),
            (Entity, "annotated with what no item"),
        ],
    )
    def test_unknown_annotations_are_refused(self, annotation: object, message: str) -> None:
        """A place holds entities of a declared kind, and says how many."""
        with pytest.raises(DeclarationError, match=message):
            type("Odd", (Collection,), {"__annotations__": {"it": annotation}}, pk="#CLUB#{c}")

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({"__annotations__": {"a": Team, "b": list[Team]}}, "places of the same kind"),
            ({"__annotations__": {"a": list[Animal], "b": Dog}}, "places of the same kind"),
            ({"__annotations__": {"a": list[Team]}, "a": []}, "given a default"),
            ({"__annotations__": {"_a": list[Team]}}, "cannot have this name"),
            ({"__annotations__": {"of": list[Team]}}, "cannot have this name"),
            ({}, "has no place"),
        ],
    )
    def test_places_are_checked(self, body: dict[str, Any], message: str) -> None:
        """Each kind has one place, without a default, under a name that is free."""
        with pytest.raises(DeclarationError, match=message):
            type("Odd", (Collection,), body, pk="#CLUB#{c}")

    def test_a_class_without_pk_is_refused(self) -> None:
        """Places want a partition key; a base with nothing but methods wants none; places are not inherited."""
        with pytest.raises(DeclarationError, match="pk= is None"):
            type("Lost", (Collection,), {"__annotations__": {"team": Team}})

        class Base(Collection):
            def shown(self) -> str:
                """Show it."""
                return "shown"

        class Below(Base, pk="#CLUB#{c}", sk="#TEAM#{number}"):
            team: Team

        assert Below(team=Team(club="c", number=1)).shown() == "shown"
        with pytest.raises(DeclarationError, match="cannot inherit the places of"):
            type("Further", (Below,), {"__annotations__": {"matches": list[Match]}}, pk="#CLUB#{c}")

    def test_names_may_come_later(self) -> None:
        """A place whose kind is defined after the class is understood when it is first asked for."""

        class Early(Collection, pk="#LATE#{late}"):
            late: list[Later]

        table = Table("late")

        class Later(Entity, table=table, tag="later"):
            late: Field[str]
            key = Key(pk="#LATE#{late}", sk="#LATE")

        Early.__plan__._annotations.locals["Later"] = Later  # type: ignore[union-attr, index]
        assert Early.of(late="l").query.partition == {"PK": {"S": "#LATE#l"}}
