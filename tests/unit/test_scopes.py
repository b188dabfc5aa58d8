"""Tables with a scope: what can have one, what a store's scope may be, and that nothing goes without it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable import (
    AutoIncrement,
    Collection,
    DeclarationError,
    Entity,
    Field,
    GlobalIndex,
    Key,
    KeyPartError,
    KeyTooLong,
    MissingPart,
    Sequence,
    Store,
    Table,
    TemplateError,
    UnknownPart,
    UsageError,
    from_item,
    operations,
    to_item,
)
from singletable.aio import AsyncStore
from singletable.mapping import mapper_of
from singletable.operations.add_index import AddIndex
from singletable.operations.batch import DeleteMany, PutMany
from singletable.operations.by_value import GetByValue, unique_ref
from singletable.operations.check import Check
from singletable.operations.collection import Gather
from singletable.operations.context import Context
from singletable.operations.create import Create
from singletable.operations.create_many import CreateMany
from singletable.operations.delete import Delete
from singletable.operations.get import Get, One
from singletable.operations.get_many import GetMany
from singletable.operations.guarding import BackfillUnique, Guard
from singletable.operations.merge import CountAll, First, Queries
from singletable.operations.move import Move
from singletable.operations.once import Assign, CreateOnce, GetOrCreate, Prepare
from singletable.operations.page import TakePage
from singletable.operations.put import Put
from singletable.operations.query import Count, Pages, ReadPage, request
from singletable.operations.scan import Scan
from singletable.operations.sequences import (
    NumbersOf,
    PeekSequence,
    ReserveNumbers,
    ResetSequence,
    SetSequence,
    SyncSequence,
)
from singletable.operations.standing import Reading
from singletable.operations.tables import CreateTable, DeleteTable, DiffTable
from singletable.operations.transact import Transact
from singletable.operations.update import Update
from singletable.scopes import KEPT, Scope
from singletable.verbs import Verbs
from tests.engines import PROJECT

gsi1 = GlobalIndex("GSI1")
turned = GlobalIndex("turned", pk="turnedPK", sk="PK")
app = Table("scoped-app", indexes=[gsi1, turned], scope="#TENANT#{tenant}")
plain = Table("plain-app")


class Order(Entity, table=app, tag="order"):
    user_id: Field[str]
    order_id: Field[int] = AutoIncrement()
    city: Field[str] = Field(default="Rome")

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    by_city = Key(on=gsi1, pk="#CITY#{city}", sk="#{order_id}")
    by_number = Key(on=turned, pk="#NUMBER#{order_id}", sk="#USER#{user_id}")


class Badge(Entity, table=app, tag="badge"):
    number: Field[int]
    email: Field[str] = Field(default="", unique=True)

    key = Key(pk="#BADGE#{number}", sk="#BADGE")


class Line(Entity, table=app, tag="line"):
    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]

    key = Key(within=Order.key, sk="#LINE#{line_no}")


class Plain(Entity, table=plain, tag="plain"):
    name: Field[str]

    key = Key(pk="#PLAIN#{name}", sk="#PLAIN")


def scope_of(table: Table, **parts: str) -> Scope:
    """Give a scope of a table."""
    assert table.scope is not None
    return table.scope.of(parts)


def context_of(table: Table, scope: Scope | None) -> Context:
    """Give what operations of a store are run with."""
    return replace(Verbs(table, None, lambda: datetime.now(UTC)).context, scope=scope)


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: Table("bad", scope="#TENANT"), "names no part"),
        (lambda: Table("bad", scope="#TENANT#{tenant*}"), "whole text"),
        (lambda: Table("bad", scope="#TENANT#{tenant?}"), "whole text"),
        (lambda: Table("bad", scope="#TENANT#{tenant:06}"), "whole text"),
        (lambda: Table("bad", scope="#TENANT#{tenant:desc}"), "whole text"),
        (lambda: Table("bad", scope="#!TENANT#{tenant}"), "cannot stand"),
        (lambda: Table("bad", scope=cast(str, ("tenant",))), "wanted a key template"),
        (lambda: Table("bad", pk=("id", int), scope="#T#{t}"), "the table, which is no text"),
        (lambda: Table("bad", pk=("id", bytes), scope="#T#{t}"), "the table, which is no text"),
        (lambda: Table("bad", indexes=[GlobalIndex("inv", pk="SK", sk="PK")], scope="#T#{t}"), "the table's sort key"),
        (lambda: Table("bad", indexes=[GlobalIndex("gsi", pk=("day", int))], scope="#T#{t}"), "no text"),
        (lambda: Table("bad", indexes=[GlobalIndex("gsi", pk=("a", "b", "c"))], scope="#T#{t}"), "several attributes"),
    ],
)
def test_a_table_that_cannot_carry_a_scope_is_refused(declare: Callable[[], Table], words: str) -> None:
    """A scope is whole text parts, and every partition key is one text attribute that is no sort key of the table."""
    with pytest.raises(DeclarationError, match=words):
        declare()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pk": "{name}", "sk": "#A"}, "does not begin as the scope"),
        ({"pk": "USER#{name}", "sk": "#A"}, "does not begin as the scope"),
        ({"pk": "|USER|{name}", "sk": "A", "raw": "|"}, "another delimiter"),
        ({"pk": ("name",), "sk": "#A"}, "a value as it is"),
    ],
)
def test_a_key_that_cannot_carry_the_scope_is_refused(options: dict[str, Any], words: str) -> None:
    """A partition key template has the scope's delimiter and begins as it does, so that no two keys become one."""
    table = Table("bad", scope="#TENANT#{tenant}")

    def declare() -> type[Entity]:
        class Bad(Entity, table=table, tag="bad"):
            name: Field[str] = Field(name="PK")

            key = Key(**options)

        return Bad

    with pytest.raises(TemplateError, match=words):
        declare()


def test_a_field_cannot_be_a_partition_key_that_has_a_scope() -> None:
    """The attribute holds the scope too, so it is not the field's own value."""
    table = Table("bad", scope="TENANT|{tenant}", raw="|")

    def declare() -> type[Entity]:
        class Bad(Entity, table=table, tag="bad"):
            name: Field[str] = Field(name="PK")

            key = Key(pk="{name}", sk="A")

        return Bad

    with pytest.raises(DeclarationError, match="stored as 'PK', which is a key attribute"):
        declare()


def test_an_adopted_counter_carries_the_scope_or_is_refused() -> None:
    """A Sequence's partition key is checked like any other."""
    table = Table("bad", scope="#TENANT#{tenant}")

    def declare() -> type[Entity]:
        class Bad(Entity, table=table, tag="bad"):
            name: Field[str]
            number: Field[int] = AutoIncrement(Sequence(pk="COUNTS", sk="#C", attribute="count"))

            key = Key(pk="#BAD#{name}", sk="#BAD")

        return Bad

    with pytest.raises(TemplateError, match="does not begin as the scope"):
        declare()


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({}, MissingPart),
        ({"tenant": None}, MissingPart),
        ({"tenat": "t7"}, UnknownPart),
        ({"tenant": "t7", "org": "o"}, UnknownPart),
        ({"tenant": ""}, KeyPartError),
        ({"tenant": 7}, KeyPartError),
        ({"tenant": "\ud800"}, KeyPartError),
        ({"tenant": "t" * 2048}, KeyTooLong),
    ],
)
@pytest.mark.parametrize("colour", [Store, AsyncStore])
def test_what_is_no_scope_is_refused(colour: type[Any], parts: dict[str, Any], error: type[Exception]) -> None:
    """A scope is said by exactly the parts of its template, as non-empty text, and no value is told."""
    with pytest.raises(error) as caught:
        colour(app).scoped(**parts)
    assert "t7" not in str(caught.value)


@pytest.mark.parametrize("colour", [Store, AsyncStore])
def test_a_scoped_store_shares_all_but_its_scope(colour: type[Any]) -> None:
    """It is of the same class, on the same driver and memory, says that it is scoped, and cannot be scoped again."""
    store = colour(app)
    scoped = store.scoped(tenant="t7")
    assert type(scoped) is colour
    assert scoped._driver is store._driver
    assert scoped._verbs.context.hints is store._verbs.context.hints
    assert "scoped by tenant" in repr(scoped)
    assert "t7" not in repr(scoped)
    assert "scoped" not in repr(store).replace("scoped-app", "")
    with pytest.raises(UsageError, match="divides the whole table"):
        scoped.scoped(tenant="t8")
    with pytest.raises(UsageError, match="has no scope"):
        colour(plain).scoped(tenant="t7")


def test_keys_begin_with_the_scope() -> None:
    """Every partition key does, also where another index sorts by it; sort keys of its own do not."""
    item = context_of(app, scope_of(app, tenant="a#b")).mapper(Order).encode(Order(user_id="u1", order_id=7))
    assert {name: item[name]["S"] for name in ("PK", "SK", "GSI1PK", "GSI1SK", "turnedPK")} == {
        "PK": "#TENANT#a%23b#USER#u1",
        "SK": "#ORDER#0000000000000000007",
        "GSI1PK": "#TENANT#a%23b#CITY#Rome",
        "GSI1SK": "#0000000000000000007",
        "turnedPK": "#TENANT#a%23b#NUMBER#0000000000000000007",
    }


def test_an_entity_is_read_without_the_scope_and_only_in_it() -> None:
    """Read under two tenants it is equal; an item of another tenant is no item of this one."""
    one, other = (context_of(app, scope_of(app, tenant=tenant)).mapper(Order) for tenant in ("a", "b"))
    order = Order(user_id="u1", order_id=7)
    assert one.decode(one.encode(order)) == other.decode(other.encode(order)) == order
    with pytest.raises(ValueError, match="differs from the key"):
        other.decode(one.encode(order))


def test_ranges_of_a_sort_key_with_the_scope_have_it() -> None:
    """Where an index sorts by the table's partition key, its range begins with the scope too."""
    query = Order.by_number(order_id=7, user_id="u1")
    params = request(context_of(app, scope_of(app, tenant="t7")), query)
    assert params is not None
    values = params["ExpressionAttributeValues"].values()
    assert {"S": "#TENANT#t7#USER#u1"} in values
    assert {"S": "#TENANT#t7#NUMBER#0000000000000000007"} in values


def test_relatives_are_filtered_as_without_a_scope() -> None:
    """Whether the tag goes along is decided by the declared keys, whichever store asks first."""
    params = request(context_of(app, scope_of(app, tenant="t7")), Order.key(user_id="u1"))
    assert params is not None
    assert "FilterExpression" in params
    assert "FilterExpression" in (request(context_of(app, scope_of(app, tenant="t8")), Order.key(user_id="u1")) or {})


def test_an_existing_table_keeps_its_keys_byte_for_byte() -> None:
    """With raw keys the scope is raw too, and refuses its delimiter."""
    table = Table("raw", scope="TENANT|{tenant}", raw="|")

    class Raw(Entity, table=table, tag="raw"):
        name: Field[str]
        number: Field[int] = AutoIncrement("counter", per="entity")

        key = Key(pk="USER|{name}", sk="PROFILE")

    mapper = context_of(table, scope_of(table, tenant="Acme Corp")).mapper(Raw)
    assert mapper.encode(Raw(name="Ann B", number=1))["PK"] == {"S": "TENANT|Acme Corp|USER|Ann B"}
    assert mapper.model.hidden("#!SEQ#raw.number") == "TENANT|Acme Corp|#!SEQ#raw.number"
    with pytest.raises(KeyPartError):
        scope_of(table, tenant="a|b")


def test_a_key_too_long_says_what_the_scope_takes() -> None:
    """A reference that has room alone may have none after the scope."""
    ref = Order.at(user_id="u" * 2000, order_id=1)
    with pytest.raises(KeyTooLong, match="a key of 2115 bytes, 109 of them the scope, wanted at most 2048") as caught:
        context_of(app, scope_of(app, tenant="t" * 101)).bound(ref)
    assert caught.value.part == "user_id"


def test_no_key_is_written_while_the_scope_is_open() -> None:
    """References, queries, items and bare contexts refuse to give a key that no tenant has."""
    order, ref = Order(user_id="u1", order_id=7), Order.at(user_id="u1", order_id=7)
    bare = context_of(app, None)
    for refused in (
        lambda: ref.key,
        lambda: Order.key(user_id="u1").partition,
        lambda: to_item(order),
        lambda: from_item(Order, {"_et": {"S": "order"}, "PK": {"S": "#USER#u1"}, "user_id": {"S": "u1"}}),
        lambda: bare.mapper(Order),
        lambda: bare.model(Order),
        lambda: bare.kinds(Order),
        lambda: bare.bound(ref),
        lambda: bare.bound_query(Order.key(user_id="u1")),
    ):
        with pytest.raises(UsageError, match=r"store\.scoped\(tenant=\.\.\.\)"):
            refused()


class Home(Collection, pk="#USER#{user_id}"):
    orders: list[Order]
    lines: list[Line]


ORDER, LINE = Order(user_id="u1"), Line(user_id="u1", order_id=7, line_no=1)
REF, QUERY = Order.at(user_id="u1", order_id=7), Order.key(user_id="u1")
NUMBERS = NumbersOf(Order, "order_id", {"user_id": "u1"})

OPERATIONS: Mapping[str, Any] = {
    "Get": Get(REF),
    "One": One(Get(REF), REF),
    "GetByValue": GetByValue(unique_ref(Badge, email="a@b.c")),
    "Guard": Guard(Badge.at(number=1)),
    "BackfillUnique": BackfillUnique(Badge),
    "Create": Create(ORDER),
    "Put": Put(LINE),
    "Update": Update(REF, Order.city.set("Oslo")),
    "Delete": Delete(REF),
    "Move": Move(Badge.at(number=1), number=2),
    "Check": Check(REF),
    "Transact": Transact(Create(ORDER), Delete(REF), token="t"),
    "CreateOnce": CreateOnce(ORDER, "t"),
    "GetOrCreate": GetOrCreate(Badge(number=1, email="a@b.c")),
    "Assign": Assign(ORDER),
    "Prepare": Prepare(Create(ORDER)),
    "Reading": Reading(REF),
    "PeekSequence": PeekSequence(NUMBERS),
    "ReserveNumbers": ReserveNumbers(NUMBERS, 1),
    "SetSequence": SetSequence(NUMBERS, 1),
    "SyncSequence": SyncSequence(NUMBERS),
    "ResetSequence": ResetSequence(NUMBERS),
    "GetMany": GetMany((REF,)),
    "PutMany": PutMany((LINE,)),
    "CreateMany": CreateMany((ORDER,)),
    "DeleteMany": DeleteMany((REF,)),
    "ReadPage": ReadPage(QUERY),
    "TakePage": TakePage(Queries((QUERY,)), 2),
    "Pages": Pages(QUERY),
    "Count": Count(QUERY),
    "CountAll": CountAll((QUERY,)),
    "Gather": Gather(Home.of(user_id="u1")),
    "First": First(Queries((QUERY,))),
}
"""An operation of each class, as `store.run` takes them."""


def is_protocol(given: object) -> bool:
    """Say whether a class is only an interface."""
    return bool(getattr(given, "_is_protocol", False))


WHOLE = {"AddIndex", "CreateTable", "DeleteTable", "DiffTable"}
INNER = {"WriteBatch", "ReadBatch", "ScanPage"}
"""What is given requests, not entities, references or queries."""


def test_every_operation_is_tried() -> None:
    """No class of operations is left out above."""
    modules = [import_module(f"{operations.__name__}.{each.name}") for each in iter_modules(operations.__path__)]
    found = {name: getattr(module, name) for module in modules for name in module.__all__}
    runnable = {name for name, each in found.items() if hasattr(each, "steps") and not is_protocol(each)}
    assert runnable == OPERATIONS.keys() | WHOLE | INNER


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_operation_is_run_while_the_scope_is_open(name: str) -> None:
    """A store that says no tenant refuses each before anything is sent, whichever way it was handed over."""
    with pytest.raises(UsageError, match=r"store\.scoped\(tenant=\.\.\.\)"):
        next(OPERATIONS[name].steps(context_of(app, None)))


@pytest.mark.parametrize(
    "operation", [CreateTable(app), DeleteTable(), DiffTable(app), AddIndex(app, gsi1), Scan(Order).open()]
)
def test_a_scoped_store_leaves_the_table_alone(operation: Any) -> None:
    """What concerns every tenant is refused there."""
    with pytest.raises(UsageError, match="the whole table"):
        next(operation.steps(context_of(app, scope_of(app, tenant="t7"))))


def test_a_description_tells_of_the_scope() -> None:
    """Who reads how a class is stored learns what stands before its keys."""
    assert "begins with #TENANT#{tenant} of the store" in Order.describe()
    assert "TENANT" not in Plain.describe()


def test_a_scope_is_for_its_own_table_and_tenant() -> None:
    """What is bound to one tenant, or belongs to another table, is refused in a scoped store."""
    one, other = context_of(app, scope_of(app, tenant="a")), context_of(app, scope_of(app, tenant="b"))
    ref, query = Order.at(user_id="u1", order_id=7), Order.by_city(city="Rome")
    assert (
        one.bound(one.bound(ref)).key == one.bound(ref).key == {**one.bound(ref).key, "PK": {"S": "#TENANT#a#USER#u1"}}
    )
    assert one.bound_query(one.bound_query(query)).partition == {"GSI1PK": {"S": "#TENANT#a#CITY#Rome"}}
    for refused in (
        lambda: other.bound(one.bound(ref)),
        lambda: other.bound_query(one.bound_query(query)),
        lambda: one.mapper(Plain),
        lambda: one.kinds(Plain),
        lambda: one.bound(Plain.at(name="x")),
        lambda: context_of(plain, None).bound(one.bound(ref)),
    ):
        with pytest.raises(UsageError):
            refused()


def test_without_a_scope_binding_is_the_identity() -> None:
    """A table without scope pays nothing."""
    context = context_of(plain, None)
    ref, query = Plain.at(name="x"), Plain.key(name="x")
    assert context.bound(ref) is ref
    assert context.bound_query(query) is query
    assert context.mapper(Plain) is mapper_of(Plain)


def test_what_is_kept_of_scopes_is_bounded() -> None:
    """However many tenants there are, a class remembers few of them, and one it remembers costs no second compiling."""
    contexts = [context_of(app, scope_of(app, tenant=f"t{number}")) for number in range(3 * KEPT)]
    for context in contexts:
        context.mapper(Order)
    assert len(mapper_of(Order).scoped) <= KEPT
    again = context_of(app, scope_of(app, tenant=f"t{3 * KEPT - 1}"))
    assert again.mapper(Order) is contexts[-1].mapper(Order)


TEXTS = st.text(st.sampled_from("#$%!|a0 \u00e9"), min_size=1, max_size=6)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_no_two_tenants_share_a_key(tenant: str, user: str, other_tenant: str, other_user: str) -> None:
    """One key stands for one tenant and one entity key, and no scope begins another."""
    keys: list[str] = []
    for name, user_id in ((tenant, user), (other_tenant, other_user)):
        context = context_of(app, scope_of(app, tenant=name))
        keys.append(context.bound(Order.at(user_id=user_id, order_id=1)).key["PK"]["S"])
        hidden = context.model(Order).hidden("#!SEQ#order")
        assert hidden.startswith(f"{context.scope and context.scope.text}#")
    assert (keys[0] == keys[1]) is ((tenant, user) == (other_tenant, other_user))
    leads = [f"{scope_of(app, tenant=name).text}#" for name in (tenant, other_tenant)]
    assert leads[0].startswith(leads[1]) is (tenant == other_tenant)


DECLARED = {"mapper_of", "model_of", "kinds_of"}
"""What gives a class as it is declared, without asking the context."""

FIELDS_ONLY = {"__post_init__", "__init__", "subject", "awaits_number", "_must_see", "unique_ref"}
"""Functions of operations that ask a declared model for fields, numbers or tags alone, before there is a context."""


def test_operations_ask_their_context() -> None:
    """No operation takes a model, or a key that may have no scope yet, but through its context."""
    found: list[str] = []
    for path in sorted((PROJECT / "singletable" / "operations").glob("*.py")):
        if path.name == "context.py":
            continue
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.name not in FIELDS_ONLY:
                nodes = list(ast.walk(function))
                names = {node.id for node in nodes if isinstance(node, ast.Name)} & DECLARED
                names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)} & {"written", "tried"}
                found += [f"{path.name}: {function.name}: {name}" for name in sorted(names)]
    assert found == []
