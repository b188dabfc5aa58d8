"""What a class statement refuses: declarations that would store something else than they seem to."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NewType

import pytest

from singletable.entity import Entity, evolve
from singletable.errors import (
    DeclarationError,
    FieldValueError,
    KeyClash,
    KeyPartError,
    NoTruthValue,
    PartHole,
    UnknownPart,
    UsageError,
)
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.patterns import Key, pattern
from singletable.schema import Table, model_of

app = Table("declared")


class Status(Enum):
    """A state of a task."""

    OPEN = "OPEN"


def other_status() -> Any:
    """Give another Enum of the same name, as a second module might have."""
    return Enum("Status", {"OPEN": "OPEN", "SHUT": "SHUT"})


Place = NewType("Place", str)
Number = NewType("Number", int)


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


class TestDefaults:
    @pytest.mark.parametrize(
        ("kind", "default", "words", "hint"),
        [
            (Field[int], "1", r"Made\.size: its default is str, wanted an int", ""),
            (Field[list[str]], list, r"Made\.size: its default is type", "default_factory="),
            (Field[str], None, "its default is None", "Field[... | None]"),
            (Field[date], datetime(2026, 3, 1, tzinfo=UTC), "its default is datetime, wanted a date", ""),
        ],
    )
    def test_a_default_that_cannot_be_stored(self, kind: Any, default: Any, words: str, hint: str) -> None:
        """A default of another type is refused where it is declared, not where an entity is first stored."""
        with pytest.raises(DeclarationError, match=words) as caught:
            declare(
                "Made",
                {"a": Field[str], "size": kind},
                table=Table("defaults"),
                size=Field(default=default),
                key=Key(pk="#A#{a}", sk="#A"),
            )
        assert hint in caught.value.hint

    def test_a_factory_that_is_none(self) -> None:
        """A value in place of a factory is refused at once."""
        wrong: Any = []
        with pytest.raises(DeclarationError, match="default_factory is list, wanted a function"):
            Field(default_factory=wrong)


def wrong(given: object) -> Any:
    """Give a value as one of any type, as a user without a type checker would."""
    return given


def given_classmethod() -> Any:
    """Give a method of a class as @pattern finds it where it stands above @classmethod."""
    return vars(Entity)["at"]


def named(name: Any) -> Field[str]:
    """Make a text field of a name."""
    return Field(name=name)


GSI1 = GlobalIndex("GSI1")
OPTIONS: list[tuple[Callable[[], object], str, str]] = [
    (lambda: Table(wrong(5)), "the name of a table is int", "wanted text"),
    (lambda: Table(""), "'' cannot be the name of a table", "3 to 255 characters"),
    (lambda: Table("a" * 256), "cannot be the name of a table", "3 to 255 characters"),
    (lambda: Table("my app"), "'my app' cannot be the name of a table", "3 to 255 characters"),
    (lambda: GlobalIndex("by day"), "'by day' cannot be the name of an index", "3 to 255 characters"),
    (lambda: LocalIndex(wrong(5)), "the name of an index is int", "wanted text"),
    (lambda: Table("app", indexes=wrong(GSI1)), "was given one index", "indexes=[...]"),
    (lambda: Table("app", indexes=wrong(["GSI1"])), "was given str, wanted indexes", 'GlobalIndex("GSI1")'),
    (lambda: Table("app", indexes=wrong(None)), "was given None, wanted indexes", 'GlobalIndex("GSI1")'),
    (lambda: Table("app", tag=""), "was given empty str", "whole attribute"),
    (lambda: Table("app", tag="a[0]"), "a name with brackets", "whole attribute"),
    (lambda: Table("app", tag="_c"), "the attribute is singletable's own", "_et"),
    (lambda: Table("app", tag="PK"), "the key attribute 'PK' is the type tag", "otherwise"),
    (lambda: Table("app", pk="_w"), "the key attribute '_w' is singletable's own", "otherwise"),
    (lambda: Table("app", sk="gone_at"), "the key attribute 'gone_at' is singletable's own", "otherwise"),
    (lambda: Key(within=wrong(Task), sk="#A"), r"Key\(within=...\) was given the class Task", "within=Task.key"),
    (lambda: Key(on=wrong("GSI1"), pk="#A"), r"Key\(on=...\) was given str", "itself"),
    (lambda: Key(pk=wrong(5)), r"Key\(pk=...\) was given int", "template"),
    (lambda: Key(pk="#A", sk=wrong(["a"])), r"Key\(sk=...\) was given list", "tuple of field names"),
    (lambda: Key(pk="#A", sk="#B", raw=wrong(1)), r"Key\(raw=...\) was given int", "delimiter"),
    (lambda: Key(pk="#A", on=GSI1, when=wrong("x")), r"Key\(when=...\) was given str", "lambda o"),
    (lambda: AutoIncrement(deadline=wrong("x")), r"AutoIncrement\(deadline=...\): a number of seconds", ""),
    (lambda: named("a[0]"), "a name with brackets", "whole attribute"),
    (lambda: named(""), "was given empty str", "whole attribute"),
    (lambda: named(wrong(5)), "was given int, wanted the name", "whole attribute"),
    (lambda: pattern(given_classmethod()), "was given a classmethod", "@classmethod above @pattern"),
    (lambda: declare("Made", {}, table=wrong("app")), "table= is str", 'Table("app")'),
    (lambda: type("Made", (Entity,), {}, tag=5), "tag= is int", 'tag="user"'),
    (lambda: type("Made", (Entity,), {}, aliases="old"), "aliases= is str", 'aliases=["old"]'),
    (
        lambda: type("Made", (Entity,), {"key": Key(pk="#A", sk="#B")}, table=app, aliases=[5]),
        "an alias is int",
        '["old"]',
    ),
    (
        lambda: declare("Made", {"n": Field[int]}, n=AutoIncrement),
        "is given the class AutoIncrement",
        "AutoIncrement()",
    ),
]


@pytest.mark.parametrize(("declaring", "words", "hint"), OPTIONS)
def test_options_that_are_none(declaring: Callable[[], object], words: str, hint: str) -> None:
    """What is given in the place of something else is refused with a coded error that says what was wanted."""
    with pytest.raises(DeclarationError, match=words) as caught:
        declaring()
    assert hint in caught.value.hint


class Plain:
    """A mixin that is no Entity, with a field and a key."""

    note: Field[str]


class Keyed:
    """A mixin that is no Entity, with a key."""

    by_note = Key(on=GSI1, pk="#N#{note}", sk="#N")


@pytest.mark.parametrize(("mixin", "name"), [(Plain, "note"), (Keyed, "by_note")])
def test_a_mixin_that_is_no_entity(mixin: type, name: str) -> None:
    """Fields and keys of a base that is no Entity would be lost, so they are refused."""
    with pytest.raises(DeclarationError, match=rf"Made cannot inherit {mixin.__name__}\.{name}") as caught:
        declare("Made", {"a": Field[str]}, bases=(mixin, Entity))
    assert f"class {mixin.__name__}(Entity)" in caught.value.hint


def test_an_inherited_index_key_is_taken_away() -> None:
    """`by = None` in a subclass takes the key of its base away."""
    base = declare("Base", {"a": Field[str]}, by=Key(on=GSI1, pk="#A#{a}", sk="#A"))
    table = Table("without", indexes=[GSI1])
    made = declare("Made", {}, table=table, bases=(base,), by=None, key=Key(pk="#A#{a}", sk="#A"))
    kept = declare("Kept", {}, table=table, bases=(base,), key=Key(pk="#K#{a}", sk="#A"))
    assert (list(model_of(made).indexes), list(model_of(kept).indexes)) == ([], ["by"])


def test_fields_named_as_our_own_arguments() -> None:
    """No name of ours stands in the way of a field's."""
    types = {"self": Field[str], "cls": Field[str], "entity": Field[str]}
    made = declare("Made", types, table=Table("names"), key=Key(pk="#A#{self}", sk="#{cls}#{entity}"))
    assert evolve(made(self="a", cls="b", entity="c"), entity="d").entity == "d"
    assert made.at(self="a", cls="b", entity="c").key == {"PK": {"S": "#A#a"}, "SK": {"S": "#b#c"}}
    query = made.key(self="a", cls="b")
    assert [each.range.operands[0] for each in (query.begins_with(entity="c"), query.gte(entity="c"))] == [
        "#b#c",
        "#b#c",
    ]
    assert made.key(self="a").between(cls=("b", "d")).range.operands[0] == "#b"


def test_wrapped_types_in_keys() -> None:
    """NewType, Annotated and None in a Literal count as what they hold, in a spread part too."""
    types = {
        "path": Field[tuple[Annotated[Place, "any"], ...]],
        "level": Field[Literal["a", "b", None]],
        "n": Field[Number | None],
    }
    by = Key(on=GSI1, pk="#L#{level}", sk="#N#{n}")
    made = declare("Made", types, table=Table("wrapped", indexes=[GSI1]), key=Key(pk="#A", sk="#P#{path*}"), by=by)
    assert made.at(path=("x", "y")).key["SK"] == {"S": "#P#x#y"}
    assert made.by(level="a", n=7).range.operands[0] == "#N#0000000000000000007"
    drawn = declare("Drawn", {"n": Field[Number]}, n=AutoIncrement(), table=Table("d12"), key=Key(pk="#A", sk="#{n}"))
    assert model_of(drawn).numbers[0].strategy == "sort_key"


def test_a_spread_of_what_is_no_text() -> None:
    """A spread part is a tuple of texts, none of which may be absent."""
    with pytest.raises(DeclarationError, match="spreads a tuple"):
        declare("Made", {"p": Field[tuple[str | None, ...]]}, table=Table("spread"), key=Key(pk="#A", sk="#P#{p*}"))


class Sample(Entity, table=Table("hints", indexes=[GSI1])):
    """One field of each type that is often given another."""

    at_: Field[datetime]
    price: Field[Decimal]
    count: Field[int]
    status: Field[Status]
    day: Field[date]
    tags: Field[set[str]]
    key = Key(pk="#A#{count}", sk="#{status}#{at_}#{price}#{day}")


HINTS: list[tuple[Field[Any], str, object, str]] = [
    (Sample.at_, "at_", datetime(2026, 3, 1), "datetime.now(UTC), or value.replace(tzinfo=UTC)"),
    (Sample.price, "price", 9.95, "Decimal('9.95'): a float is not exact"),
    (Sample.count, "count", True, "a bool is no number: int(...)"),
    (Sample.count, "count", "secret", "int(...) makes one"),
    (Sample.status, "status", "OPEN", "Status(...) makes a member of its value"),
    (Sample.day, "day", datetime(2026, 3, 1, tzinfo=UTC), "a datetime has a time too: value.date()"),
]


@pytest.mark.parametrize(("field", "name", "value", "hint"), HINTS)
def test_what_was_probably_meant(field: Field[Any], name: str, value: object, hint: str) -> None:
    """A value of a type that is often given by mistake comes with what to write, in fields and in keys."""
    with pytest.raises(FieldValueError, match=rf"field 'Sample\.{name}': given") as caught:
        field.set(value)
    assert (caught.value.field, caught.value.hint) == (name, hint)
    parts = {
        "at_": datetime(2026, 3, 1, tzinfo=UTC),
        "price": Decimal(1),
        "count": 1,
        "status": Status.OPEN,
        "day": date(2026, 3, 1),
    }
    with pytest.raises(KeyPartError) as refused:
        Sample.at(**{**parts, name: value})
    assert (refused.value.part, refused.value.hint) == (name, hint)


def test_none_and_elements() -> None:
    """None for a field that must be there, and an element of a set, have their hints too."""
    missing: Any = None
    with pytest.raises(FieldValueError) as caught:
        Sample.count.set(missing)
    assert caught.value.hint == "None can only stand in a field of `... | None`"
    with pytest.raises(FieldValueError) as caught:
        Sample.tags.contains(5)
    assert caught.value.hint == "str(...) makes text"


class TestMessages:
    def test_a_range_on_a_part_of_the_partition_key(self) -> None:
        """A range on a part of the partition key is told from an unknown name."""
        with pytest.raises(UnknownPart, match="given a part of the partition key, wanted a part of the sort key"):
            Task.key(project="p").gte(project="q")

    def test_a_hole_names_what_is_missing(self) -> None:
        """The part that is missing is the one that is named, and the later one that was given is said."""
        with pytest.raises(PartHole, match="'status': given nothing, wanted a value, since 'price'") as caught:
            Sample.key(count=1, price=Decimal(1))
        assert caught.value.part == "status"

    def test_neither_queries_nor_keys_are_lists(self) -> None:
        """Iterating a query or a key says how it is run."""
        query: Any = Task.key(project="p")
        with pytest.raises(UsageError, match="a query holds no entities") as caught:
            list(query)
        assert "store.query(query)" in caught.value.hint
        key: Any = Task.key
        with pytest.raises(UsageError, match=r"Task\.key is a key") as caught:
            list(key)
        assert "store.query(Task.key(...))" in caught.value.hint

    def test_a_field_has_no_truth_value(self) -> None:
        """`if Task.n` is a mistake: it would always hold."""
        with pytest.raises(NoTruthValue, match="field 'n' has no truth value"):
            bool(Task.n)

    def test_a_field_can_be_pickled(self) -> None:
        """A field is pickled by class and name, and comes back as itself."""
        assert pickle.loads(pickle.dumps(Task.n)) is Task.n

    def test_a_dollar_in_a_template(self) -> None:
        """A part written as in a shell or in JavaScript is said to need no '$'."""
        with pytest.raises(DeclarationError, match="a '\\$' before a part") as caught:
            declare("Made", {"a": Field[str]}, table=Table("dollar"), key=Key(pk="#A#${a}", sk="#A"))
        assert caught.value.hint == "write {name} without '$'"

    def test_witnesses_are_values(self) -> None:
        """A witness shows the values of its parts, not their key text."""
        table = Table("witness")
        kept = [
            declare("One", {"n": Field[int]}, table=table, key=Key(pk="#A#{n}", sk="#B")),
            declare("Two", {"m": Field[int]}, table=table, key=Key(pk="#A#{m}", sk="#B")),
        ]
        with pytest.raises(KeyClash) as caught:
            table.check()
        assert caught.value.witness in {("One(n=1)", "Two(m=1)"), ("Two(m=1)", "One(n=1)")}
        assert len(kept) == 2
