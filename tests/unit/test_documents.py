"""Lists, maps and free documents: their one stored form, their limits, and the path to what is wrong."""

from collections import OrderedDict
from datetime import date
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any, Literal

import pytest

from singletable.codecs import CodecError, codec_for
from singletable.documents import LEVELS
from singletable.errors import DeclarationError


class Colour(Enum):
    RED = "red"


class Size(StrEnum):
    SMALL = "s"


FORMS: list[tuple[Any, Any, Any]] = [
    (list[int], [1, 2], {"L": [{"N": "1"}, {"N": "2"}]}),
    (list[int], [], {"L": []}),
    (list[int | None], [1, None], {"L": [{"N": "1"}, {"NULL": True}]}),
    (list[set[str]], [{"a"}, set()], {"L": [{"SS": ["a"]}, {"NULL": True}]}),
    (list[list[bool]], [[True], []], {"L": [{"L": [{"BOOL": True}]}, {"L": []}]}),
    (list[str] | None, [], {"L": []}),
    (tuple[int, ...], (1,), {"L": [{"N": "1"}]}),
    (tuple[list[str], ...], (["a"],), {"L": [{"L": [{"S": "a"}]}]}),
    (dict[str, bytes], {"a b#": b"\x00"}, {"M": {"a b#": {"B": b"\x00"}}}),
    (dict[str, int], {}, {"M": {}}),
    (dict[str, set[int]], {"a": {1}, "b": set()}, {"M": {"a": {"NS": ["1"]}, "b": {"NULL": True}}}),
    (dict[str, list[Decimal]], {"a": [Decimal("1.50")]}, {"M": {"a": {"L": [{"N": "1.5"}]}}}),
    (dict[Colour, int], {Colour.RED: 1}, {"M": {"red": {"N": "1"}}}),
    (dict[Literal["a"], int], {"a": 1}, {"M": {"a": {"N": "1"}}}),
    (dict[date, int], {date(2026, 1, 2): 1}, {"M": {"2026-01-02": {"N": "1"}}}),
    (list[Any], ["a", 1, Decimal("0.5"), True, None, b"x"], {
        "L": [{"S": "a"}, {"N": "1"}, {"N": "0.5"}, {"BOOL": True}, {"NULL": True}, {"B": b"x"}]
    }),
    (list[Any], [{"b", "a"}, {1, Decimal("0.5")}, {b"x"}, [], {}], {
        "L": [{"SS": ["a", "b"]}, {"NS": ["0.5", "1"]}, {"BS": [b"x"]}, {"L": []}, {"M": {}}]
    }),
    (dict[str, Any], {"a": {"b": [None]}}, {"M": {"a": {"M": {"b": {"L": [{"NULL": True}]}}}}}),
    (dict[str, Any | None], {"a": None}, {"M": {"a": {"NULL": True}}}),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "value", "stored"), FORMS)
def test_value_and_attribute(annotation: object, value: object, stored: dict[str, Any]) -> None:
    """A value is stored in its one form, under the announced type, and that form reads back as an equal value."""
    codec = codec_for(annotation)
    assert codec.encode(value) == stored
    assert list(stored) == [codec.attribute_type]
    assert codec.decode(stored) == value


def test_none_in_a_typed_dict_is_absent() -> None:
    """None is absent wherever a place can be absent: the entry is not written."""
    assert codec_for(dict[str, int | None]).encode({"a": None, "b": 1}) == {"M": {"b": {"N": "1"}}}


def test_null_entry_of_others_is_read() -> None:
    """A NULL that another program wrote into a map reads as None."""
    assert codec_for(dict[str, int | None]).decode({"M": {"a": {"NULL": True}}}) == {"a": None}


def test_free_numbers_are_exact_and_whole_ones_are_ints() -> None:
    """A number of a free document reads as an int where it is whole, else as the exact Decimal, whoever wrote it."""
    read = codec_for(list[Any]).decode({"L": [{"N": "2.00"}, {"N": "1E+2"}, {"N": "0.1"}, {"NS": ["3", "0.5"]}]})
    assert read == [2, 100, Decimal("0.1"), {3, Decimal("0.5")}]
    assert [type(number) for number in read[:3]] == [int, int, Decimal]


def test_subclasses_in_free_documents_are_stored_plainly() -> None:
    """A subclass of a type that has a form is stored as that type."""
    assert codec_for(list[Any]).encode([Size.SMALL, OrderedDict(a=1)]) == {"L": [{"S": "s"}, {"M": {"a": {"N": "1"}}}]}


REFUSED: list[tuple[Any, Any, Any, Any]] = [
    (list[int], (1,), "", "tuple"),
    (list[int], "12", "", "str"),
    (tuple[int, ...], [1], "", "list"),
    (dict[str, int], [("a", 1)], "", "list"),
    (list[int], [1, 2, "x"], "[2]", "str"),
    (list[int], [1, None], "[1]", "None"),
    (tuple[str, ...], ("a", 5), "[1]", "int"),
    (list[list[int]], [[], [1, True]], "[1][1]", "bool"),
    (dict[str, list[int]], {"a": [], "secret": [0, 1.5]}, "[entry 1][1]", "float"),
    (dict[str, int], {"a": 1, 5: 1}, "[entry 1]", "int"),
    (dict[str, int], {"": 1}, "[entry 0]", "an empty key"),
    (dict[str, int], {"é" * 32_768: 1}, "[entry 0]", "a longer key"),
    (list[set[str]], [{"a"}, {1}], "[1]", "int as an element"),
    (dict[str, Any], {"a": [1, 0.5]}, "[entry 0][1]", "float"),
    (dict[str, Any], {"a": (1,)}, "[entry 0]", "tuple"),
    (dict[str, Any], {"a": set()}, "[entry 0]", "an empty set"),
    (dict[str, Any], {"a": {1, "a"}}, "[entry 0]", "a set of something else"),
    (dict[str, Any], {"a": {None}}, "[entry 0]", "a set of something else"),
    (dict[str, Any], {"a": date(2026, 1, 2)}, "[entry 0]", "date"),
    (dict[str, Any], {"a": Decimal("NaN")}, "[entry 0]", "a NaN or an infinity"),
]


@pytest.mark.parametrize(("annotation", "value", "path", "given"), REFUSED)
def test_wrong_value_is_refused_with_its_path(annotation: object, value: object, path: str, given: str) -> None:
    """A bad value deep inside is found by its path, and neither it nor any key is shown."""
    with pytest.raises(CodecError) as caught:
        codec_for(annotation).encode(value)
    assert (caught.value.path, caught.value.given) == (path, given)
    assert "secret" not in str(caught.value)


def test_float_is_told_the_way_out() -> None:
    """A float in a free document is answered with how to make an exact number of it."""
    with pytest.raises(CodecError) as caught:
        codec_for(dict[str, Any]).encode({"a": 0.5})
    assert caught.value.wanted == "a Decimal, such as Decimal(str(value)): numbers are exact"


def test_the_longest_key_is_stored() -> None:
    """A key may have 65,535 bytes of UTF-8."""
    key = "é" * 32_767 + "a"
    assert codec_for(dict[str, int]).encode({key: 1}) == {"M": {key: {"N": "1"}}}


UNREADABLE: list[tuple[Any, Any, Any, Any]] = [
    (list[int], {"SS": ["1"]}, "", "an attribute of type SS"),
    (list[int], {"L": [{"N": "1"}, {"S": "1"}]}, "[1]", "an attribute of type S"),
    (list[int], {"L": [{"NULL": True}]}, "[0]", "an attribute of type NULL"),
    (
        dict[str, int],
        {"M": {"a": {"N": "1"}, "secret": {"N": "x"}}},
        "[entry 1]",
        "number text that cannot be read",
    ),
    (dict[str, int], {"M": []}, "", "a malformed attribute of type M"),
    (dict[Colour, int], {"M": {"blue": {"N": "1"}}}, "[entry 0]", "an unknown str"),
    (list[Any], {"L": [{"L": [{"X": "1"}]}]}, "[0][0]", "an attribute of no known type"),
    (list[Any], {"L": [{"S": 1}]}, "[0]", "a malformed attribute of type S"),
    (list[Any], {"L": [{"NS": ["x"]}]}, "[0]", "number text that cannot be read"),
    (list[Any], {"L": [{}]}, "[0]", "dict, which is no DynamoDB JSON"),
    (list[Any], {"L": ["x"]}, "[0]", "str, which is no DynamoDB JSON"),
]


@pytest.mark.parametrize(("annotation", "stored", "path", "given"), UNREADABLE)
def test_wrong_attribute_is_refused_with_its_path(annotation: object, stored: Any, path: str, given: str) -> None:
    """A stored value of another type is found by its path."""
    with pytest.raises(CodecError) as caught:
        codec_for(annotation).decode(stored)
    assert (caught.value.path, caught.value.given) == (path, given)
    assert "secret" not in str(caught.value)


def test_keys_that_are_stored_alike_are_refused() -> None:
    """Two keys of one stored form are refused, lest one entry be lost without a word."""
    with pytest.raises(CodecError, match="stored like another"):
        codec_for(dict[date, int]).encode({Twin(2026, 1, 2): 1, date(2026, 1, 2): 2})


class Twin(date):
    """A date that is equal to none, though it is stored like one."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1


def nested(depth: int) -> Any:
    """Put so many lists around a number."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_31_containers_are_stored_and_32_refused() -> None:
    """A value may stand inside 31 lists and maps: AWS takes 31 around a text and refuses 32."""
    codec = codec_for(list[Any])
    assert codec.decode(codec.encode(nested(31)) or {}) == nested(31)
    with pytest.raises(CodecError, match="deeper than 32 levels") as caught:
        codec.encode(nested(32))
    assert caught.value.path == "[0]" * 32
    with pytest.raises(CodecError, match="deeper than 32 levels"):
        codec.decode({"L": [codec.encode(nested(31))]})


def test_a_document_that_holds_itself_is_refused() -> None:
    """A cycle ends at the limit of depth, not in a RecursionError."""
    circle: dict[str, Any] = {}
    circle["again"] = circle
    with pytest.raises(CodecError, match="deeper than 32 levels"):
        codec_for(dict[str, Any]).encode(circle)


def test_an_annotation_deeper_than_dynamodb_stores_is_refused_where_a_value_goes_so_deep() -> None:
    """33 nested lists can be declared; only a value on the 33rd level is refused."""
    annotation: Any = int
    for _ in range(LEVELS):
        annotation = list[annotation]
    codec = codec_for(annotation)
    assert codec.encode([]) == {"L": []}
    with pytest.raises(CodecError, match="deeper than 32 levels"):
        codec.encode(nested(32))


@pytest.mark.parametrize(
    ("annotation", "wanted"),
    [
        (list[str], "a list, each element text"),
        (dict[str, int], "a dict, each key text and each value an int (at most 38 digits)"),
        (list[Any], "a list, each element text, a bool, int, Decimal, bytes, None, or a list, dict or set of them"),
    ],
)
def test_wanted_is_said_in_few_words(annotation: object, wanted: str) -> None:
    """A codec says what it takes in the words that describe() prints."""
    assert codec_for(annotation).wanted == wanted


def test_an_optional_set_inside_is_refused() -> None:
    """What storage could not tell apart is refused at every depth."""
    with pytest.raises(DeclarationError, match="storage cannot tell None from an empty set"):
        codec_for(list[set[str] | None])
