"""What a field's options promise: read-only, hidden, sensitive, validated, with defaults for new and for old items."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from singletable.dictionaries import from_dict, to_dict
from singletable.entity import Entity, evolve
from singletable.errors import (
    AlreadyExists,
    CorruptItem,
    DeclarationError,
    FieldValueError,
    OutcomeUnknown,
    SingleTableError,
    UnknownField,
    Unprocessed,
    UsageError,
)
from singletable.fields import Field, computed
from singletable.mapping import from_item, to_item
from singletable.operations.batch import PutMany
from singletable.operations.changing import changes_of
from singletable.operations.create import Create
from singletable.operations.create_many import CreateMany
from singletable.operations.many import Tally, WriteBatch
from singletable.operations.put import Put
from singletable.operations.update import Update
from singletable.patterns import Key
from singletable.schema import Table, model_of
from singletable.wire import Steps
from tests.unit.operations.playing import Player, condition_failed, context, lost, play

table = Table("options")

SECRET = "s3cr3t-canary"


def is_price(value: Decimal) -> bool:
    """Accept what is above nothing."""
    return value >= 0


def is_name(value: str) -> None:
    """Accept a short name; the error quotes the value, as validators do."""
    if len(value) > 20:
        raise ValueError(f"{value} is too long")


class Account(Entity, table=table, tag="account"):
    owner: Field[str]
    opened: Field[date] = Field(default=date(2026, 1, 1), read_only=True)
    name: Field[str | None] = Field(default=None, validate=is_name)
    price: Field[Decimal] = Field(default=Decimal(1), validate=is_price)
    token: Field[str] = Field(default="t", hidden=True)
    password: Field[str] = Field(default="p", sensitive=True, validate=is_name, name="pw")

    @computed
    def day(self) -> str:
        """The day it was opened."""
        return self.opened.isoformat()

    key = Key(pk="#OWNER#{owner}", sk="#ACCOUNT")


UNTYPED: Any = Account
ANN = Account(owner="ann", name="Ann", token=SECRET, password=SECRET)
REF = Account.at(owner="ann")


def whole(error: BaseException) -> str:
    """Give all that a log would show of an error, its causes included."""
    return "".join(traceback.format_exception(error)) + repr(error)


FAILURES: list[tuple[Any, list[Any]]] = [
    (Create(ANN), [condition_failed(to_item(ANN))]),
    (Create(ANN), [condition_failed(sent=2), {}]),
    (Put(ANN, Account.password == "x"), [condition_failed(to_item(ANN))]),
    (
        Update(ANN, Account.password.set("x"), when=Account.password == "y"),
        [condition_failed(to_item(ANN))] * 2,
    ),
    (PutMany((ANN,)), [lost()] * 4),
]
"""Writes that end badly, and what they are answered."""


class TestReadOnly:
    @pytest.mark.parametrize("change", [Account.opened.set(date(2026, 2, 2)), {"opened": date(2026, 2, 2)}])
    def test_an_update_is_refused_before_anything_is_sent(self, change: Any) -> None:
        """A read-only field keeps its value, whether the change is an expression or named in a mapping."""
        with pytest.raises(UsageError, match=r"Account\.opened is read-only"):
            Update(REF, change)

    def test_evolve_takes_only_the_same_value(self) -> None:
        """`evolve` refuses another value, and takes the one that is there."""
        assert evolve(ANN, opened=date(2026, 1, 1)) == ANN
        with pytest.raises(UsageError, match=r"Account\.opened is read-only"):
            evolve(ANN, opened=date(2026, 2, 2))

    def test_it_is_given_at_construction(self) -> None:
        """A constructor, and so a create or a put, sets it."""
        made = Account(owner="o", opened=date(2026, 2, 2))
        assert to_item(made)["opened"] == {"S": "2026-02-02"}


class TestHidden:
    def test_it_is_shown_nowhere(self) -> None:
        """Neither repr nor `to_dict` has it, unless it is asked for."""
        assert SECRET not in repr(evolve(ANN, password="p"))
        assert "token" not in repr(ANN)
        assert "token" not in to_dict(ANN)
        assert to_dict(ANN, hidden=True)["token"] == SECRET

    def test_it_is_stored_read_and_compared(self) -> None:
        """It is in the item, in conditions, and in equality."""
        assert to_item(ANN)["token"] == {"S": SECRET}
        assert from_item(Account, to_item(ANN)).token == SECRET
        assert evolve(ANN, token="other") != ANN
        assert (Account.token == "x").operands[1] == {"S": "x"}

    def test_it_is_absent_at_every_depth_of_a_repr(self) -> None:
        """I9: an entity inside lists, dicts and errors shows nothing of it either."""
        error = AlreadyExists("taken", existing=ANN)
        assert SECRET not in repr([{"a": (ANN,)}]) + whole(error) + repr(error.__dict__)


class TestSensitive:
    def test_a_repr_says_that_there_is_one(self) -> None:
        """The repr has stars for the value; `to_dict` has the value: it is data."""
        assert "password=***" in repr(ANN)
        assert SECRET not in repr(ANN)
        assert to_dict(ANN)["password"] == SECRET

    @pytest.mark.parametrize(
        "thing",
        [
            Account.password.set(SECRET),
            Account.password == SECRET,
            Create(ANN),
            Put(ANN, Account.password == SECRET),
            Update(ANN, Account.password.set(SECRET), when=Account.password == SECRET),
            PutMany((ANN,)),
            CreateMany((ANN,)),
            Unprocessed("left", items=(ANN,)).items,
            WriteBatch(model_of(Account).primary, {0: {"PutRequest": {"Item": to_item(ANN)}}}, Tally(1, None)),
        ],
        ids=lambda thing: type(thing).__name__,
    )
    def test_what_holds_it_does_not_show_it(self, thing: object) -> None:
        """Changes, conditions, operations and the items an error lists show no value in their repr."""
        assert SECRET not in repr(thing)

    @pytest.mark.parametrize(
        "flow",
        [
            lambda: Account(owner="ann", password=SECRET * 2),
            lambda: Account.password.set(SECRET * 2),
            lambda: evolve(ANN, password=SECRET * 2),
            lambda: from_dict(Account, {"owner": "ann", "password": SECRET * 2}),
            lambda: from_dict(Account, {"owner": "ann", "password": [SECRET]}),
            lambda: from_item(Account, {**to_item(ANN), "pw": {"L": [{"S": SECRET}]}}),
            lambda: from_item(Account, {**to_item(ANN), "SK": {"S": SECRET}}),
            lambda: UNTYPED.password.startswith([SECRET]),
        ],
    )
    def test_no_error_shows_it(self, flow: Callable[[], object]) -> None:
        """Neither message nor traceback nor cause of an error quotes the value, even where its validator does."""
        with pytest.raises(SingleTableError) as caught:
            flow()
        assert SECRET not in whole(caught.value)

    @pytest.mark.parametrize(("flow", "answers"), FAILURES)
    def test_no_failed_operation_shows_it(self, flow: Any, answers: list[Any]) -> None:
        """What a refused or unknown write raises shows nothing of it, nor do the things it lists."""
        with pytest.raises(SingleTableError) as caught:
            Player(*answers).play(flow.steps(context()))
        error = caught.value
        assert SECRET not in whole(error) + repr(error.__dict__)

    def test_the_operation_of_an_unknown_outcome_does_not_show_it(self) -> None:
        """`OutcomeUnknown.operation` can be logged."""
        with pytest.raises(OutcomeUnknown) as caught:
            play(Create(ANN).steps(context()), condition_failed(sent=2), {})
        assert caught.value.operation is not None
        assert SECRET not in repr(caught.value.operation)


def writes() -> list[Callable[[Any], Steps[Any]]]:
    """List the writes of a whole entity."""
    return [
        lambda entity: Create(entity).steps(context()),
        lambda entity: Put(entity).steps(context()),
        lambda entity: PutMany((entity,)).steps(context()),
        lambda entity: CreateMany((entity,)).steps(context()),
    ]


class TestValidate:
    @pytest.mark.parametrize(
        "flow",
        [
            lambda: Account(owner="o", price=Decimal(-1)),
            lambda: evolve(ANN, price=Decimal(-1)),
            lambda: Account.price.set(Decimal(-1)),
            lambda: changes_of(model_of(Account), [{"price": Decimal(-1)}]),
            lambda: from_dict(Account, {"owner": "o", "price": Decimal(-1)}),
        ],
    )
    def test_a_refused_value_is_an_error_where_it_is_given(self, flow: Callable[[], object]) -> None:
        """What the function gives False for is a FieldValueError with its name and the field's, without the value."""
        with pytest.raises(
            FieldValueError, match=r"a value \(Decimal\), wanted one that its validate=is_price accepts"
        ) as e:
            flow()
        assert e.value.field == "price"
        assert "-1" not in str(e.value)

    def test_an_error_of_the_validator_is_the_cause(self) -> None:
        """A ValueError or AssertionError of the function is the cause; any other is the function's own mistake."""
        with pytest.raises(FieldValueError, match=r"Account\.name") as caught:
            Account(owner="o", name="n" * 21)
        assert isinstance(caught.value.__cause__, ValueError)
        assert "n" * 21 not in str(caught.value)

        def asserts(value: int) -> None:
            assert value > 0

        class Strict(Entity):
            count: Field[int] = Field(validate=asserts)
            even: Field[int] = Field(validate=lambda value: 1 // value)

        with pytest.raises(FieldValueError):
            Strict(count=0, even=1)
        with pytest.raises(ZeroDivisionError):
            Strict(count=1, even=0)

    def test_the_type_is_checked_first(self) -> None:
        """The function only sees values of the field's type, and never None."""
        assert Account(owner="o", name=None).name is None
        with pytest.raises(FieldValueError, match="given int, wanted text"):
            UNTYPED(owner="o", name=5)

    @pytest.mark.parametrize("write", writes())
    def test_nothing_refused_is_sent(self, write: Callable[[Any], Steps[Any]]) -> None:
        """A value that became invalid after the entity was read is refused before a request is made."""
        stored = from_item(Account, {**to_item(ANN), "price": {"N": "-1"}})
        with pytest.raises(SingleTableError) as caught:
            play(write(stored))
        causes = caught.value.causes if isinstance(caught.value, Unprocessed) else (caught.value,)
        assert all(isinstance(cause, FieldValueError) for cause in causes)

    def test_an_old_item_is_read_and_mended(self) -> None:
        """Reading does not validate, and another field of an old item can be changed."""
        old = from_item(Account, {**to_item(ANN), "price": {"N": "-1"}})
        assert old.price == -1
        assert evolve(old, name="B").price == -1
        assert to_item(evolve(old, price=Decimal(2)))["price"] == {"N": "2"}
        answer = {"Attributes": {**to_item(ANN), "price": {"N": "-1"}}}
        updated, calls = play(Update(old, Account.name.set("B")).steps(context()), answer)
        assert updated is not None
        assert (updated.price, len(calls)) == (Decimal(-1), 1)

    def test_a_default_is_validated_in_the_class_statement(self) -> None:
        """A default that its own validator refuses fails where it is declared."""
        with pytest.raises(DeclarationError, match=r"its default is refused by its own validate="):

            class Wrong(Entity, table=table, tag="wrong"):  # pyright: ignore[reportUnusedClass]
                price: Field[Decimal] = Field(default=Decimal(-1), validate=is_price)
                key = Key(pk="#WRONG", sk="#{price}")

    def test_a_made_default_is_validated(self) -> None:
        """What `default_factory` makes is checked like a value that was given."""

        class Made(Entity):
            price: Field[Decimal] = Field(default_factory=lambda: Decimal(-1), validate=is_price)

        with pytest.raises(FieldValueError):
            Made()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hidden": 1}, r"Field\(hidden=...\) was given int"),
        ({"sensitive": "yes"}, r"Field\(sensitive=...\) was given str"),
        ({"read_only": None}, r"Field\(read_only=...\) was given None"),
        ({"unique": 0}, r"Field\(unique=...\) was given int"),
        ({"validate": 5}, r"Field\(validate=...\) was given int"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, Any], words: str) -> None:
    """A switch that is no bool and a validator that is no function fail at once."""
    untyped: Any = Field
    with pytest.raises(DeclarationError, match=words):
        untyped(**options)


def test_options_are_kept() -> None:
    """Every option can be read from the field, and is off where it was not given."""
    field = Field[str](unique=True, read_only=True, hidden=True, sensitive=True, validate=is_name)
    assert (field.unique, field.read_only, field.hidden, field.sensitive) == (True, True, True, True)
    assert field.validate is is_name
    plain = Field[str]()
    assert (plain.unique, plain.read_only, plain.hidden, plain.sensitive, plain.validate) == (False,) * 4 + (None,)


def test_describe_tells_them() -> None:
    """`describe` names each option, and no value."""
    lines = Account.describe().splitlines()
    assert "  opened: a date, read-only" in lines
    assert "  token: text, hidden" in lines
    assert "  password: text, stored as 'pw', sensitive, validated by is_name" in lines
    assert "  day: text, computed" in lines


class TestDefaults:
    def test_a_new_entity_has_them(self) -> None:
        """What is not given is the default."""
        assert Account(owner="o").price == 1

    def test_an_old_item_reads_with_them(self) -> None:
        """I1: an item written before the field existed reads with its default, an optional one as None."""
        old = {name: value for name, value in to_item(ANN).items() if name not in ("price", "token", "name")}
        read = from_item(Account, old)
        assert (read.price, read.token, read.name) == (Decimal(1), "t", None)

    def test_without_one_it_is_corrupt(self) -> None:
        """A field without default must be stored."""

        class Bare(Entity, table=table, tag="bare"):
            a: Field[str]
            b: Field[str]
            key = Key(pk="#BARE#{a}", sk="#B")

        item = to_item(Bare(a="1", b="2"))
        del item["b"]
        with pytest.raises(CorruptItem, match="'b' is absent"):
            from_item(Bare, item)

    def test_a_renamed_field_reads_the_old_attribute(self) -> None:
        """`name=` keeps the stored name where the field is called otherwise."""
        assert to_item(ANN)["pw"] == {"S": SECRET}
        assert from_item(Account, to_item(ANN)).password == SECRET


class TestFromDict:
    def test_it_is_the_way_back(self) -> None:
        """An entity is made again of what `to_dict` gives with hidden fields."""
        assert from_dict(Account, to_dict(ANN, hidden=True)) == ANN
        assert from_dict(Account, {"owner": "o"}) == Account(owner="o")

    @pytest.mark.parametrize(
        ("values", "error", "words"),
        [
            ({"owner": 5}, FieldValueError, r"Account\.owner.*given int, wanted text"),
            ({}, FieldValueError, r"Account\.owner.*given nothing, wanted text"),
            ({"owner": "o", "nmae": "x"}, UnknownField, "did you mean 'name'"),
            ({"owner": "o", 5: "x"}, UnknownField, "a name that is int"),
            ({"owner": "o", "day": "x"}, UsageError, r"Account\.day is computed"),
            ([("owner", "o")], UsageError, "was given list, wanted a dict"),
        ],
    )
    def test_what_is_wrong_is_said(self, values: Any, error: type[Exception], words: str) -> None:
        """A wrong type, a missing or unknown name, a computed field and what is no dict are told apart."""
        with pytest.raises(error, match=words):
            from_dict(Account, values)


class TestCopies:
    def test_copies_are_equal(self) -> None:
        """Copies, deep copies and pickles keep hidden and sensitive values."""
        for made in (copy.copy(ANN), copy.deepcopy(ANN), pickle.loads(pickle.dumps(ANN))):
            assert made == ANN
            assert (made.token, made.password) == (SECRET, SECRET)

    def test_a_pickle_is_read_in_another_process(self, tmp_path: Path) -> None:
        """An entity goes whole through a pickle that a fresh process reads."""
        module = tmp_path / "shapes.py"
        module.write_text(
            "from uuid import UUID\nfrom singletable import *\n"
            "class Row(Entity, table=Table('rows'), tag='row'):\n"
            "    row_id: Field[UUID] = Uuid7()\n"
            "    token: Field[str] = Field(hidden=True, sensitive=True, validate=str.isalpha)\n"
            "    key = Key(pk='#ROW#{row_id}', sk='#R')\n"
        )
        made = "shapes.Row(row_id=shapes.UUID(int=7), token='abc')"
        write = f"import pickle, sys, shapes; sys.stdout.buffer.write(pickle.dumps({made}))"
        read = (
            "import pickle, sys, shapes; row = pickle.load(sys.stdin.buffer); "
            f"print(row == {made}, row.token, 'pydantic' in sys.modules)"
        )
        command = [sys.executable, "-c"]
        written = subprocess.run([*command, write], cwd=tmp_path, capture_output=True, timeout=60, check=True).stdout
        done = subprocess.run(
            [*command, read], cwd=tmp_path, input=written, capture_output=True, timeout=60, check=True
        )
        assert done.stdout.split() == [b"True", b"abc", b"False"]
