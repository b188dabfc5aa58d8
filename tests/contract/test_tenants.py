"""Two tenants in one table: whatever is done for one is neither seen nor changed by the other, verb by verb.

A verb that is new in the package wants an entry in `VERBS` below, and the tests fail until it has one; a new kind of
hidden item wants one in `HIDDEN`. A case does its work in the store of one tenant, where the same keys stand in the
store of the other, and gives whatever it read. What goes over the wire is looked at too: every partition key there must
begin with the tenant's scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    BadCursor,
    Check,
    Collection,
    Create,
    Delete,
    Entity,
    Field,
    GlobalIndex,
    Key,
    LocalIndex,
    Put,
    Sequence,
    Store,
    Table,
    UniqueViolation,
    Update,
    UsageError,
    unique_ref,
)
from singletable.operations.get import Get
from singletable.wire import Item
from tests.contract.behind import CountingClient, client_of, everything, sibling
from tests.contract.conftest import MakeStore

gsi1 = GlobalIndex("GSI1")
by_note = LocalIndex("by-note", sk="NoteSK")
app = Table("tenants", indexes=[gsi1, by_note], scope="#TENANT#{tenant}")

A, B = "t7", "t7#USER#u1"
"""Two tenants; the second one's name tries to stand in a partition of the first one."""

SCOPES = {A: "#TENANT#t7#", B: "#TENANT#t7%23USER%23u1#"}
PKS = ("PK", "GSI1PK")


class User(Entity, table=app, tag="user"):
    user_id: Field[str]
    note: Field[str]
    city: Field[str] = Field(default="Rome")

    key = Key(pk="#USER#{user_id}", sk="#PROFILE")
    by_city = Key(on=gsi1, pk="#CITY#{city}", sk="#{user_id}")


class Order(Entity, table=app, tag="order"):
    user_id: Field[str]
    order_id: Field[int] = AutoIncrement()
    note: Field[str]

    key = Key(pk="#USER#{user_id}", sk="#ORDER#{order_id}")
    noted = Key(on=by_note, sk="#ORDER#{note}")


class Line(Entity, table=app, tag="line"):
    user_id: Field[str]
    order_id: Field[int]
    line_no: Field[int]
    note: Field[str]

    key = Key(within=Order.key, sk="#LINE#{line_no}")


class Ticket(Entity, table=app, tag="ticket"):
    number: Field[int] = AutoIncrement()
    note: Field[str]

    key = Key(pk="#TICKET#{number}", sk="#TICKET")


class Comment(Entity, table=app, tag="comment"):
    user_id: Field[str]
    number: Field[int] = AutoIncrement("counter")
    note: Field[str]

    key = Key(pk="#USER#{user_id}", sk="#COMMENT#{number}")


class Invoice(Entity, table=app, tag="invoice"):
    region: Field[str]
    number: Field[int] = AutoIncrement(Sequence("invoices", pk="#REGION#{region}"))
    note: Field[str]

    key = Key(pk="#REGION#{region}", sk="#INVOICE#{number}")


class Visit(Entity, table=app, tag="visit"):
    user_id: Field[str]
    number: Field[int] = AutoIncrement(Sequence(pk="#STATS#{user_id}", sk="#VISITS", attribute="visits"))
    note: Field[str]

    key = Key(pk="#VISITOR#{user_id}", sk="#VISIT#{number}")


class Badge(Entity, table=app, tag="badge"):
    number: Field[int]
    email: Field[str] = Field(unique=True)

    key = Key(pk="#BADGE#{number}", sk="#BADGE")


class Home(Collection, pk="#USER#{user_id}"):
    user: User | None
    orders: list[Order]


Case: TypeAlias = Callable[[Store], Iterable[object]]

FIRST = Order.at(user_id="u1", order_id=1)
ANN = User.at(user_id="u1")


def _updates(store: Store) -> Iterator[object]:
    yield store.update(ANN, User.city.set("Oslo"))
    yield store.update(store.one(ANN), {"city": "Rome"})
    yield store.update(FIRST, Order.note.set(A))
    yield store.update(User.at(user_id="u6"), User.note.set(A), missing="create")
    yield store.update(Line.at(user_id="u6", order_id=1, line_no=1), Line.note.set(A), missing="create")


def _deletes(store: Store) -> Iterator[object]:
    yield store.delete(FIRST)
    yield store.delete(ANN)
    yield store.delete(ANN)
    yield store.get(FIRST)


def _queries(store: Store) -> Iterator[object]:
    yield from store.query(Order.key(user_id="u1"))
    yield from store.query(User.by_city(city="Rome"))
    yield from store.query(Order.noted(user_id="u1").begins_with(note="t"))
    yield from store.query(Line.key(user_id="u1", order_id=1).limit(5))
    yield from store.query(Order.key(user_id="u1").is_in(order_id=(1, 2)).descending())
    yield from store.query(User.key(user_id="u1"), Comment.key(user_id="u1"), merged=True)


def _pages(store: Store) -> Iterator[object]:
    first = store.page(Order.key(user_id="u1"), User.by_city(city="Rome"), size=1)
    yield from first
    yield from store.page(Order.key(user_id="u1"), User.by_city(city="Rome"), size=5, cursor=first.next)
    with pytest.raises(BadCursor):
        store.page(Order.key(user_id="u2"), User.by_city(city="Rome"), size=5, cursor=first.next)


def _gathered(home: Home) -> Iterator[object]:
    yield from (home.user, *home.orders)


def _transactions(store: Store) -> Iterator[object]:
    yield from store.transact(Create(User(user_id="u6", note=A)), Update(ANN, User.city.set("Oslo")), Check(FIRST))
    yield from store.transact(Put(store.one(ANN)), Delete(FIRST), token="t")


def _many_deletes(store: Store) -> Iterator[object]:
    store.delete_many([ANN, FIRST, User.at(user_id="none")])
    yield from (store.get(ANN), store.get(FIRST))


def _counts(store: Store) -> Iterator[object]:
    assert store.count(Order.key(user_id="u1"), User.by_city(city="Rome")) == 3
    assert store.count(User.by_city(city="Rome").where(User.note == B)) == 0
    yield from ()


def _creates(store: Store) -> Iterator[object]:
    yield store.create(User(user_id="u9", note=A))
    for made in fresh(A):
        yield store.create(made)
    with pytest.raises(AlreadyExists) as caught:
        store.create(User(user_id="u1", note=A))
    yield caught.value.existing


def _numbers(store: Store) -> Iterator[object]:
    tickets, comments = store.sequence(Ticket), store.sequence(Comment, user_id="u1")
    assert (tickets.peek(), comments.sync(), tickets.reserve(2)) == (1, 1, range(2, 4))
    tickets.set(9)
    comments.reset()
    yield store.create(Ticket(note=A))
    assert (tickets.peek(), comments.peek()) == (10, None)
    assert store.sequence(Order, user_id="u1").peek() == 2
    store.sequence(Visit, user_id="u1").reset()
    with pytest.raises(UsageError, match="sees only what stands in its scope"):
        tickets.sync()


VERBS: Mapping[str, Case] = {
    "get": lambda store: [store.get(ANN), store.get(FIRST, consistent=True), store.get(User.at(user_id="none"))],
    "one": lambda store: [store.one(ANN)],
    "get_many": lambda store: store.get_many(ANN, FIRST, User.at(user_id="none")),
    "query": _queries,
    "first": lambda store: [store.first(Order.key(user_id="u1").descending()), store.first(User.by_city(city="Rome"))],
    "count": _counts,
    "create": _creates,
    "put": lambda store: [store.put(User(user_id="u1", note=A, city="Oslo")), store.put(store.one(FIRST))],
    "update": _updates,
    "delete": _deletes,
    "page": _pages,
    "gather": lambda store: _gathered(store.gather(Home.of(user_id="u1"))),
    "hydrate": lambda store: store.hydrate(store.query(User.by_city(city="Rome"))),
    "get_or_create": lambda store: [store.get_or_create(User(user_id=each, note=A)) for each in ("u1", "u8")],
    "prepare": lambda store: [store.run(store.prepare(Create(User(user_id="u7", note=A))))],
    "assign": lambda store: [store.assign(each) for each in fresh(A) if not isinstance(each, Order)],
    "put_many": lambda store: store.put_many([User(user_id=f"u{n}", note=A) for n in range(3)]),
    "create_many": lambda store: store.create_many([*fresh(A), *fresh(A)]),
    "delete_many": _many_deletes,
    "run": lambda store: [store.run(Get(ANN))],
    "sequence": _numbers,
}
"""What each verb does for one tenant."""

IN_TRANSACTIONS: Mapping[str, Case] = {
    "transact": _transactions,
    "move": lambda store: [store.move(ANN, user_id="u7"), store.move(FIRST, user_id="u7")],
}
"""The same of verbs that not every engine has."""

ON_THE_TABLE = {"create_table", "delete_table", "diff_table", "add_index", "scan", "backfill_unique"}
"""Verbs that concern every tenant, so that a scoped store refuses them."""

NO_VERBS = {"local", "scoped", "table", "name", "close"}


def _buried(store: Store) -> Iterator[int]:
    for _ in range(3):
        made = store.create(Order(user_id="u", note="n"))
        store.delete(made)
        yield made.order_id


HIDDEN: Mapping[str, Case] = {
    "the counter of an entity": lambda store: [store.create(Ticket(note="n")).number for _ in range(3)],
    "the counter of a partition": lambda store: [store.create(Comment(user_id="u", note="n")).number for _ in range(3)],
    "a named Sequence": lambda store: [store.create(Invoice(region="EU", note="n")).number for _ in range(3)],
    "an adopted Sequence": lambda store: [store.create(Visit(user_id="u", note="n")).number for _ in range(3)],
    "tombstones": _buried,
}
"""What each kind of hidden item comes to: the numbers 1, 2 and 3, for each tenant by itself."""


def fresh(note: str) -> list[Entity]:
    """Make an entity of each kind that draws a number."""
    return [
        Order(user_id="u1", note=note),
        Ticket(note=note),
        Comment(user_id="u1", note=note),
        Invoice(region="EU", note=note),
        Visit(user_id="u1", note=note),
    ]


def fill(store: Store, note: str) -> None:
    """Store the same keys for a tenant as for any other; two orders, one user with one index entry."""
    store.create(User(user_id="u1", note=note))
    store.create_many([*fresh(note), Order(user_id="u1", note=note)])
    store.create(Line(user_id="u1", order_id=1, line_no=1, note=note))


class Recorder(CountingClient):
    """A client that keeps the parameters of every request too."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name == "meta":
            return found

        def kept(**params: Any) -> Any:
            self.sent.append((name, params))
            return found(**params)

        return kept


def partitions(value: Any) -> Iterator[str]:
    """List every partition key in the parameters of a request: in keys and items, and compared with or set to."""
    if value.__class__ is list:
        for each in value:
            yield from partitions(each)
    elif value.__class__ is dict:
        params: dict[str, Any] = value
        yield from (params[name]["S"] for name in PKS if isinstance(params.get(name), dict))
        names, values = params.get("ExpressionAttributeNames", {}), params.get("ExpressionAttributeValues", {})
        for text in (text for name, text in params.items() if name.endswith("Expression")):
            for name, given in re.findall(r"(#\w+)\s*=\s*(:\w+)", text):
                if names.get(name) in PKS:
                    yield values[given]["S"]
        for each in params.values():
            yield from partitions(each)


def of_tenant(items: Iterable[Item], tenant: str) -> list[Item]:
    """Give the items of one tenant, in the order of their keys."""
    return in_order(item for item in items if item["PK"]["S"].startswith(SCOPES[tenant]))


def in_order(items: Iterable[Item]) -> list[Item]:
    """Sort items by their keys."""
    return sorted(items, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))


def test_every_verb_has_a_case() -> None:
    """No verb of the store is left out below."""
    assert {
        name for name in dir(Store) if not name.startswith("_")
    } == VERBS.keys() | IN_TRANSACTIONS.keys() | ON_THE_TABLE | NO_VERBS


def test_no_verb_leaks(backend: MakeStore) -> None:
    """Each verb gives and changes what is one tenant's own alone, and sends no key that is not."""
    _check_leaks(backend(app), VERBS)


def test_no_transaction_leaks(transacting: MakeStore) -> None:
    """The same for transactions, with the receipts of their tokens."""
    _check_leaks(transacting(app), IN_TRANSACTIONS)


def _check_leaks(store: Store, cases: Mapping[str, Case]) -> None:
    recorder, other = Recorder(client_of(store)), store.scoped(tenant=B)
    recorded = sibling(store, client=recorder)
    fill(other, B)
    before = everything(store)
    assert of_tenant(before, B) == in_order(before)
    for verb, case in cases.items():
        tenant, scope = f"{A}#{verb}", f"#TENANT#{A}%23{verb}#"
        own, others = recorded.scoped(tenant=tenant), everything(store)
        fill(own, A)
        recorder.sent.clear()
        seen = [each for each in case(own) if each is not None]
        assert [each for each in seen if getattr(each, "note", "") != A] == [], verb
        assert recorder.sent, verb
        for method, params in recorder.sent:
            found = list(partitions(params))
            assert found, (verb, method)
            assert [key for key in found if not key.startswith(scope)] == [], (verb, method)
        mine = [item for item in everything(store) if item["PK"]["S"].startswith(scope)]
        assert all(item[name]["S"].startswith(scope) for item in mine for name in PKS if name in item), verb
        assert in_order(item for item in everything(store) if item not in mine) == in_order(others), verb


def test_hidden_items_are_each_tenants_own(backend: MakeStore) -> None:
    """What one tenant's hidden items hold is nothing to another: both count from 1."""
    store = backend(app)
    own, other = store.scoped(tenant=A), store.scoped(tenant=B)
    for name, case in HIDDEN.items():
        assert list(case(own)) == [1, 2, 3], name
        assert list(case(other)) == [1, 2, 3], name
    items = everything(store)
    assert len(of_tenant(items, A)) == len(of_tenant(items, B)) == len(items) / 2
    assert own.get(Order.at(user_id="u", order_id=1)) is None
    assert own.one(Ticket.at(number=2)) == other.one(Ticket.at(number=2))


def test_a_unique_value_is_unique_within_its_tenant(transacting: MakeStore) -> None:
    """Guards are each tenant's own: both may have one value, each once, and each finds its own item by it."""
    store = transacting(app)
    own, other = store.scoped(tenant=A), store.scoped(tenant=B)
    for number, mine in enumerate((own, other)):
        mine.create(Badge(number=number, email="a@b.c"))
        with pytest.raises(UniqueViolation):
            mine.create(Badge(number=7, email="a@b.c"))
    items = everything(store)
    assert len(of_tenant(items, A)) == len(of_tenant(items, B)) == 2
    assert own.one(unique_ref(Badge, email="a@b.c")).number == 0
    assert other.one(unique_ref(Badge, email="a@b.c")).number == 1
    own.delete(Badge.at(number=0))
    assert of_tenant(everything(store), B) == of_tenant(items, B)


def test_verbs_on_the_table_are_the_unscoped_stores(backend: MakeStore) -> None:
    """A scoped store cannot make, drop or scan the table, the store it was made of does no more than make and drop."""
    store = backend(app)
    own = store.scoped(tenant=A)
    refusals: list[Callable[[], object]] = [own.create_table, own.delete_table]
    refusals += [lambda: own.scan(User), lambda: store.scan(User), lambda: own.backfill_unique(Badge)]
    for refused in refusals:
        with pytest.raises(UsageError):
            refused()
    own.create(User(user_id="u1", note=A))
    with pytest.raises(UsageError, match=r"store\.scoped"):
        store.get(ANN)
    store.create_table()
    assert own.one(ANN).note == A
