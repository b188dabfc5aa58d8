"""Nested dataclasses and TypedDicts: what is absent, what is unknown, what names itself, and where names come from."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Generic, NamedTuple, NewType, NotRequired, Required, TypedDict, TypeVar

import pytest

from singletable import Entity, FieldValueError, Key, Table, UnresolvedName, from_item, to_item
from singletable.annotations import read_annotations
from singletable.codecs import CodecError, Scope, codec_for
from singletable.errors import CorruptItem, DeclarationError
from singletable.fields import Field

T = TypeVar("T")


class Colour(Enum):
    RED = "red"


@dataclass
class Address:
    city: str
    street: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    address: Address
    tags: set[str]
    nick: str | None
    colours: list[Colour] = field(default_factory=lambda: [Colour.RED])
    past: tuple[Address, ...] = ()


ANN = Person("Ann", Address("Rome"), set(), None)
ANN_STORED: dict[str, Any] = {
    "M": {
        "name": {"S": "Ann"},
        "address": {"M": {"city": {"S": "Rome"}}},
        "colours": {"L": [{"S": "red"}]},
        "past": {"L": []},
    }
}


def test_dataclass_is_a_map_of_its_members() -> None:
    """Members are stored under their names; None and an empty set are absent and read back as they were."""
    codec = codec_for(Person)
    assert codec.attribute_type == "M"
    assert codec.encode(ANN) == ANN_STORED
    assert codec.decode(ANN_STORED) == ANN


def test_defaults_fill_what_is_absent() -> None:
    """An absent member reads as its default, made anew by a default_factory."""
    codec = codec_for(Person)
    stored = {"M": {"name": {"S": "Ann"}, "address": {"M": {"city": {"S": "Rome"}}}}}
    first, second = codec.decode(stored), codec.decode(stored)
    assert first == ANN
    assert first.colours is not second.colours


def test_absent_required_member_is_named() -> None:
    """A member without default that is not stored is an error with its path."""
    with pytest.raises(CodecError) as caught:
        codec_for(Person).decode({"M": {"name": {"S": "Ann"}, "address": {"M": {}}}})
    assert (caught.value.path, caught.value.given, caught.value.wanted) == (".address.city", "nothing", "text")
    assert str(caught.value) == "at address.city: given nothing, wanted text"


@dataclass
class Tricky:
    note: str | None = "none yet"
    tags: set[str] = field(default_factory=lambda: {"new"})
    few: frozenset[int] = frozenset()
    more: set[int] = field(default_factory=set[int])


def test_none_under_another_default_is_stored_as_null() -> None:
    """Where absent reads as a default, None and an empty set are written as NULL, so that they read back."""
    codec = codec_for(Tricky)
    value = Tricky(None, set())
    assert codec.encode(value) == {"M": {"note": {"NULL": True}, "tags": {"NULL": True}}}
    assert codec.decode({"M": {"note": {"NULL": True}, "tags": {"NULL": True}}}) == value
    assert codec.decode({"M": {}}) == Tricky()


def test_unknown_member_of_a_dataclass_is_refused() -> None:
    """A dataclass has no place for another member; dropping it would lose it with the next write."""
    with pytest.raises(CodecError) as caught:
        codec_for(Address).decode({"M": {"city": {"S": "Rome"}, "secret": {"S": "x"}}})
    assert (caught.value.path, caught.value.given) == ("[entry 1]", "a member it does not declare")
    assert caught.value.wanted == "an instance of Address; a TypedDict keeps others"


@dataclass
class Foreign(Address):
    country: str = "IT"


def test_subclass_is_refused_and_inherits_members() -> None:
    """A subclass's instance would lose its own members; as an annotation of its own it has all of them."""
    with pytest.raises(CodecError) as caught:
        codec_for(Address).encode(Foreign("Rome"))
    assert caught.value.given == "Foreign"
    stored = {"M": {"city": {"S": "Rome"}, "country": {"S": "FR"}}}
    assert codec_for(Foreign).encode(Foreign("Rome", country="FR")) == stored
    assert codec_for(Foreign).decode(stored) == Foreign("Rome", country="FR")


def test_bad_member_is_named_by_its_path() -> None:
    """The path leads through members, lists and dicts; the bad value is not shown."""
    person = Person("Ann", Address("Rome"), set(), None, past=(Address("A"), Address(b"s3cret")))  # type: ignore[arg-type]
    with pytest.raises(CodecError) as caught:
        codec_for(Person).encode(person)
    assert caught.value.path == ".past[1].city"
    assert str(caught.value) == "at past[1].city: given bytes, wanted text"


@dataclass
class Node:
    value: int
    next: Node | None = None
    children: list[Node] = field(default_factory=list["Node"])


def chain(length: int) -> Node:
    """Make so many nodes, each inside the one before."""
    node = Node(0)
    for _ in range(length - 1):
        node = Node(0, node)
    return node


def test_dataclass_that_holds_itself() -> None:
    """A self-referencing dataclass reads back, down to the deepest level that DynamoDB stores."""
    codec = codec_for(Node)
    tree = Node(1, Node(2, children=[Node(3)]), [Node(4)])
    assert codec.decode(codec.encode(tree) or {}) == tree
    assert codec.decode(codec.encode(chain(31)) or {}) == chain(31)
    with pytest.raises(CodecError, match="deeper than 32 levels"):
        codec.encode(chain(32))


def test_cycle_is_refused() -> None:
    """An instance that holds itself is refused at the limit of depth."""
    node = Node(1)
    node.next = node
    with pytest.raises(CodecError, match="deeper than 32 levels"):
        codec_for(Node).encode(node)


@dataclass
class Checked:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low above high")


def test_constructor_runs_on_reading() -> None:
    """A dataclass's own check judges what is read; its error is the cause."""
    with pytest.raises(CodecError) as caught:
        codec_for(list[Checked]).decode({"L": [{"M": {"low": {"N": "2"}, "high": {"N": "1"}}}]})
    assert (caught.value.path, caught.value.given) == ("[0]", "members its constructor refuses (ValueError)")
    assert isinstance(caught.value.__cause__, ValueError)


@dataclass(frozen=True)
class Computed:
    name: str
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


def test_field_outside_the_constructor_is_stored_and_restored() -> None:
    """A field with init=False is stored, and set again after the constructor ran."""
    codec = codec_for(Computed)
    assert codec.encode(Computed("Ann")) == {"M": {"name": {"S": "Ann"}, "length": {"N": "3"}}}
    assert codec.decode({"M": {"name": {"S": "Ann"}, "length": {"N": "7"}}}).length == 7
    assert codec.decode({"M": {"name": {"S": "Ann"}}}).length == 3


@dataclass
class NeedsMore:
    name: str
    seed: InitVar[int]


@dataclass(init=False)
class TakesLess:
    name: str

    def __init__(self) -> None:
        self.name = "x"


class Pair(NamedTuple):
    one: int


class Model:
    model_fields: ClassVar[dict[str, object]] = {}


@dataclass
class Box(Generic[T]):
    value: T


@dataclass
class Broken:
    inner: Inner


@dataclass
class Inner:
    bad: complex


@dataclass
class Dangling:
    other: NoSuchName  # type: ignore[name-defined]  # noqa: F821 - the missing name is what is tested


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (NeedsMore, "its constructor wants 'seed', which is none"),
        (TakesLess, "its constructor does not take 'name'"),
        (Pair, "read back as tuple"),
        (Model, "there is no codec for it"),
        (Box[int], "a generic one has no codec"),
        (Broken, r"Broken\.inner: Inner\.bad: a field cannot hold complex"),
    ],
)
def test_record_without_a_codec(annotation: object, words: str) -> None:
    """A record that cannot be made again, or holds what has no codec, is refused where it is declared."""
    with pytest.raises(DeclarationError, match=words):
        codec_for(annotation)


def test_member_that_names_nothing_is_unresolved() -> None:
    """A name that is not there (yet) is its own error, so that the class can be settled later."""
    with pytest.raises(UnresolvedName, match=r"Dangling\.other is annotated with 'NoSuchName'"):
        codec_for(Dangling)


class Parcel(TypedDict):
    weight: int
    label: NotRequired[str | None]
    marks: NotRequired[set[str]]
    to: Address | None


class Partial(TypedDict, total=False):
    a: int
    b: Required[str]


class Wider(Parcel, total=False):
    extra: str


DICTS: list[tuple[Any, Any, Any]] = [
    (Parcel, {"weight": 1, "to": None}, {"weight": {"N": "1"}}),
    (
        Parcel,
        {"weight": 1, "to": Address("R"), "label": None, "marks": set()},
        {"weight": {"N": "1"}, "label": {"NULL": True}, "marks": {"NULL": True}, "to": {"M": {"city": {"S": "R"}}}},
    ),
    (Parcel, {"weight": 1, "to": None, "new": [1]}, {"weight": {"N": "1"}, "new": {"L": [{"N": "1"}]}}),
    (Partial, {"b": "x"}, {"b": {"S": "x"}}),
    (Wider, {"weight": 1, "to": None, "extra": "e"}, {"weight": {"N": "1"}, "extra": {"S": "e"}}),
]


@pytest.mark.parametrize(("annotation", "value", "stored"), DICTS)
def test_typed_dict(annotation: object, value: object, stored: dict[str, Any]) -> None:
    """Keys that may be missing are told from those that are None; keys it does not know survive."""
    codec = codec_for(annotation)
    assert codec.encode(value) == {"M": stored}
    read = codec.decode({"M": stored})
    assert read == value
    assert type(read) is dict


@pytest.mark.parametrize(
    ("annotation", "value", "path", "given"),
    [
        (Parcel, {"to": None}, ".weight", "nothing"),
        (Parcel, [], "", "list"),
        (Parcel, {"weight": 1, "to": None, "secret": 0.5}, "[entry 0]", "float"),
        (Parcel, {"weight": 1, "to": Address(5)}, ".to.city", "int"),  # type: ignore[arg-type]
        (Partial, {"a": 1}, ".b", "nothing"),
        (Wider, {"to": None}, ".weight", "nothing"),
    ],
)
def test_typed_dict_refuses(annotation: object, value: object, path: str, given: str) -> None:
    """A required key that is missing, and a bad value under any key, is refused with its path."""
    with pytest.raises(CodecError) as caught:
        codec_for(annotation).encode(value)
    assert (caught.value.path, caught.value.given) == (path, given)
    assert "secret" not in str(caught.value)


def test_typed_dict_of_others_without_a_required_key() -> None:
    """A stored map without a required key is refused, not read as a dict that breaks its type."""
    with pytest.raises(CodecError) as caught:
        codec_for(Parcel).decode({"M": {"label": {"S": "x"}}})
    assert (caught.value.path, caught.value.given) == (".weight", "nothing")


def test_any_inside_a_record() -> None:
    """Any stands inside of containers: a member holds whatever DynamoDB has a form for, None included."""

    @dataclass
    class Event:
        payload: Any
        maybe: Any = 1

    codec = codec_for(Event)
    value = Event(None, {"a": [Decimal("0.5")]})
    stored = {"M": {"payload": {"NULL": True}, "maybe": {"M": {"a": {"L": [{"N": "0.5"}]}}}}}
    assert codec.encode(value) == stored
    assert codec.decode(stored) == value


# Names: where the annotations of local classes are looked up. This module's own annotations are all text.

app = Table("app")


def test_local_dataclasses_find_each_other() -> None:
    """Dataclasses beside an entity inside a function may name each other and themselves, mentioned by it or not."""

    @dataclass
    class City:
        name: str

    @dataclass(slots=True)
    class Place:
        city: City
        near: list[Place] = field(default_factory=list["Place"])

    Home = NewType("Home", Place)

    class House(Entity, table=Table("app"), tag="house"):
        house_id: Field[str]
        home: Field[Home]

        key = Key(pk="#HOUSE#{house_id}", sk="#SELF")

    house = House(house_id="h", home=Home(Place(City("Rome"), [Place(City("Ostia"))])))
    assert from_item(House, to_item(house)) == house


def test_only_mentioned_names_are_kept() -> None:
    """A class keeps alive, of the locals around it, only what its annotations and its dataclasses mention."""

    @dataclass
    class City:
        name: str

    @dataclass
    class Place:
        city: City

    Unused = City

    class Probe:
        place: Place
        ready: bool = True

    assert Unused is City
    assert set(read_annotations(Probe).locals) == {"Place", "City"}


def test_a_scope_is_not_for_classes_from_elsewhere() -> None:
    """A class that stands in other functions, or in another module, does not see the names around the entity."""
    scope = Scope(__name__, "test.<locals>.User", {"Address": int})

    def elsewhere() -> type:
        @dataclass
        class Local:
            address: Address

        return Local

    assert scope.seen_from(Address) == {}
    kind = elsewhere()
    assert codec_for(kind, scope).encode(kind(Address("Rome"))) == {"M": {"address": {"M": {"city": {"S": "Rome"}}}}}


def test_member_defined_later_is_settled_later() -> None:
    """An entity whose dataclass names what is not there yet works once the name is there."""
    table = Table("app")

    class Owner(Entity, table=table, tag="owner"):
        owner_id: Field[str]
        late: Field[Late]

        key = Key(pk="#OWNER#{owner_id}", sk="#SELF")

    with pytest.raises(UnresolvedName):
        table.check()
    globals()["LaterStill"] = Address
    try:
        owner = Owner(owner_id="o", late=Late(Address("Rome")))
        assert from_item(Owner, to_item(owner)) == owner
    finally:
        del globals()["LaterStill"]


@dataclass
class Late:
    inner: LaterStill  # type: ignore[name-defined]  # noqa: F821 - defined by the test


class Customer(Entity, table=app, tag="customer"):
    customer_id: Field[str]
    address: Field[Address]
    lines: Field[list[str]] = Field(default_factory=list)
    more: Field[dict[str, Any]] = Field(default_factory=dict)

    key = Key(pk="#CUSTOMER#{customer_id}", sk="#SELF")


def test_entity_names_the_bad_member() -> None:
    """A field's error says which member is wrong, when an entity is written, compared, changed and read."""
    bad = Address(5)  # type: ignore[arg-type]
    with pytest.raises(FieldValueError, match=r"field 'Customer.address\.city': given int, wanted text") as caught:
        to_item(Customer(customer_id="c", address=bad))
    assert caught.value.field == "address.city"
    with pytest.raises(FieldValueError, match=r"field 'Customer\.address\.city'"):
        Customer.address.set(bad)
    item = to_item(Customer(customer_id="c", address=Address("Rome"), lines=["a"]))
    item["lines"]["L"].append({"N": "1"})
    with pytest.raises(CorruptItem, match=r"'lines\[1\]' holds an attribute of type N") as corrupt:
        from_item(Customer, item)
    assert corrupt.value.field == "lines[1]"


def test_conditions_and_changes_on_nested_fields() -> None:
    """A list's `contains` takes an element; a nested value can be set and compared whole."""
    assert Customer.lines.contains("a").operands[1] == {"S": "a"}
    assert Customer.address.set(Address("Rome")).value == {"M": {"city": {"S": "Rome"}}}
    assert (Customer.lines == ["a"]).operands[1] == {"L": [{"S": "a"}]}
    assert Customer.more.set({"n": 1}).value == {"M": {"n": {"N": "1"}}}
    with pytest.raises(FieldValueError, match=r"field 'Customer\.lines': given int as an element, wanted text"):
        Customer.lines.contains(5)
