"""The error tree: codes, builtin kin, messages without values, and what survives pickling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import pytest

from singletable import errors
from singletable.errors import (
    ConditionFailed,
    DeclarationError,
    FieldValueError,
    KeyPartError,
    KeyTooLong,
    MissingPart,
    NumberNotAssigned,
    SingleTableError,
    Unprocessed,
    Unreachable,
    closest,
    kind_of,
)


def tree(kind: type[SingleTableError] = SingleTableError) -> Iterator[type[SingleTableError]]:
    """Walk over all error classes."""
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == "singletable.errors":
            yield from tree(child)


ALL = list(tree())


def test_every_code_is_its_own() -> None:
    """No two errors share a code, and every code has the form ST and four digits."""
    codes = [kind.code for kind in ALL]
    assert len(set(codes)) == len(codes)
    assert all(len(code) == 6 and code.startswith("ST") and code[2:].isdigit() for code in codes)


def test_every_error_is_public() -> None:
    """Every error class is in `__all__`, and the tree in the module's docstring names it."""
    documented = errors.__doc__ or ""
    for kind in ALL:
        assert kind.__name__ in errors.__all__
        assert kind.__name__ in documented
        assert kind.__doc__


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        ("DeclarationError", TypeError),
        ("TemplateError", ValueError),
        ("KeyPartError", ValueError),
        ("MissingPart", LookupError),
        ("UnknownPart", TypeError),
        ("FieldValueError", ValueError),
        ("UnknownField", TypeError),
        ("NumberNotAssigned", AttributeError),
        ("QueryError", ValueError),
        ("NoTruthValue", TypeError),
        ("UsageError", TypeError),
        ("NotFound", LookupError),
        ("SequenceExhausted", OverflowError),
        ("TableMissing", LookupError),
        ("Unreachable", ConnectionError),
    ],
)
def test_mistakes_are_builtin_errors_too(kind: str, builtin: type[Exception]) -> None:
    """A caller who knows only Python's own errors catches ours by them."""
    assert issubclass(getattr(errors, kind), builtin)


def test_a_message_says_code_message_and_hint() -> None:
    """The text is the code, the message and, on a line of its own, the hint where there is one."""
    assert str(DeclarationError("no key", hint="add one")) == "ST1001 no key\n  add one"
    assert str(DeclarationError("no key")) == "ST1001 no key"


def test_facts_are_attributes() -> None:
    """What an error knows stands on it."""
    error = KeyPartError("day", given="float", wanted="a date", hint="use date")
    assert (error.part, error.given, error.wanted, error.hint) == ("day", "float", "a date", "use date")
    assert str(error) == "ST2001 key part 'day': given float, wanted a date\n  use date"
    value = FieldValueError("total", given="bool", wanted="an int")
    assert str(value) == "ST3001 field 'total': given bool, wanted an int"


def too_long() -> KeyTooLong:
    """Make an error whose facts were set afterwards."""
    error = KeyTooLong("name", given="a key of 2049 bytes", wanted="at most 2048 bytes")
    error.size, error.limit = 2049, 2048
    return error


@pytest.mark.parametrize(
    "error",
    [
        too_long(),
        MissingPart("day", given="nothing", wanted="a value"),
        FieldValueError("total", given="bool", wanted="an int", hint="h"),
        Unprocessed("2 left", hint="again", items=("a", "b")),
        Unreachable("nobody", endpoint="http://engine.test"),
        ConditionFailed("no", current=None),
        NumberNotAssigned("none", field="order_id"),
    ],
)
def test_errors_survive_copies(error: SingleTableError) -> None:
    """An error that is pickled (to another process) or copied keeps its class, text and facts."""
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert other.__dict__ == error.__dict__
        assert other.args == error.args


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        ("", "empty str"),
        (b"", "empty bytes"),
        ((), "empty tuple"),
        ("secret", "str"),
        (True, "bool"),
        (0, "int"),
        ([], "list"),
    ],
)
def test_values_are_described_not_shown(value: object, words: str) -> None:
    """A description names the type and emptiness, and nothing of the value."""
    assert kind_of(value) == words


def test_the_closest_name_is_suggested() -> None:
    """A near name is suggested; with none near all known are listed, and with none known that is said."""
    assert closest("emial", ["email", "name"]) == "did you mean 'email'?"
    assert closest("xyz", ["email", "name"]) == "known: 'email', 'name'"
    assert closest("xyz", []) == "known: none"
