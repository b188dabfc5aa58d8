"""Correct use, which the checkers must accept: every `assert_type` is a type that the library promises."""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeVar, assert_type
from uuid import UUID

from shop import Account, Draft, Home, Invoice, Lease, Order, OrderLine, Region, User, ann, app, gsi1, home, now, order, store

from singletable import (
    BoundKey,
    Change,
    Check,
    Collection,
    CollectionKey,
    Condition,
    Create,
    Delete,
    Element,
    Entity,
    Field,
    Gathering,
    GlobalIndex,
    Key,
    LocalIndex,
    Operand,
    Page,
    Put,
    Query,
    Ref,
    Rows,
    Scan,
    Size,
    Store,
    Table,
    TableDiff,
    Transact,
    Transaction,
    TransactionFailed,
    Update,
    evolve,
    fields,
    from_dict,
    from_item,
    size,
    to_dict,
    to_item,
)
from singletable.aio import AsyncRows, AsyncStore, AsyncTransaction

# The program of the first page.
store.create_table()
for each in store.query(Order.pending(user_id="u1")):
    assert_type(each, Order)
for region in store.query(Region.key(country="CN", path=("SICHUAN",))):
    assert_type(region, Region)
ann = store.update(User.at(user_id="u1"), User.email.set("ann@example.org"))
assert_type(ann, User)
assert_type(order, Order)
assert_type(Store.local(app), Store)

# Options of fields, and ids that are drawn.
draft = Draft(draft_id="d")
assert_type(draft.version, int)
assert_type(draft.created_at, datetime)
assert_type(draft.updated_at, datetime | None)
assert_type(Draft(draft_id="d", version=3, expires_at=now).expires_at, datetime)
assert_type(store.update(draft, Draft.expires_at.set(now)), Draft)
assert_type(Draft.key(draft_id="d").include_expired(), Query[Draft])
assert_type(store.scan(Draft, include_expired=True), Rows[Draft])
assert_type(Lease(lease_id="l").expires_at, datetime | None)
account = Account(name="Ann", mail="ann@example.org")
assert_type(account.account_id, str)
assert_type(account.trace, UUID)
assert_type(Account(account_id="1", trace=UUID(int=7), name="Ann", mail="m", note="n").note, str | None)
assert_type(from_dict(Account, {"name": "Ann", "mail": "m"}), Account)
assert_type(to_dict(account, hidden=True), dict[str, Any])
assert_type((Account.name.hidden, Account.name.unique), tuple[bool, bool])
assert_type(evolve(account, note="n"), Account)

# An instance holds values.
assert_type(order.user_id, str)
assert_type(order.order_id, int)
assert_type(order.placed_at, datetime)
assert_type(order.price, Decimal | None)
assert_type(order.tags, set[str])
assert_type(order.lines, list[str])
assert_type(order.due, date | None)
assert_type(order.currency, str)
assert_type(ann.email, str | None)
assert_type(Region(country="CN", path=(), name="all").path, tuple[str, ...])

# The class holds fields.
assert_type(Order.status, Field[str])
assert_type(Order.order_id, Field[int])
assert_type(Order.price, Field[Decimal | None])
assert_type(Order.tags, Field[set[str]])
assert_type(Order.key, BoundKey[Order])
assert_type(Order.by_status, BoundKey[Order])

# What is drawn or has a default may be left out and may be given; a base's fields count.
Order(user_id="u1", placed_at=now, order_id=7, status="PAID", total=3, price=None, tags={"a"}, lines=[], due=None)
invoice = Invoice(made=now)
assert_type(invoice.number, int)
assert_type(invoice.made, datetime)
assert_type(Invoice.number, Field[int])
Invoice(made=now, number=5, paid=True)
OrderLine(user_id="u1", order_id=order.order_id, line_no=1, sku="s")

# Conditions.
paid = Order.status == "PAID"
assert_type(paid, Condition)
assert_type(Order.status != "PAID", Condition)
assert_type(Order.total < 5, Condition)
assert_type(Order.total <= 5, Condition)
assert_type(Order.total > 5, Condition)
assert_type(Order.placed_at >= now, Condition)
assert_type(Order.due == None, Condition)  # noqa: E711
assert_type(paid & (Order.total > 5), Condition)
assert_type(paid | ~(Order.total > 5) & User.email.exists(), Condition)
assert_type(~paid, Condition)
assert_type(Order.total.between(1, 5), Condition)
assert_type(Order.status.is_in("PAID", "OPEN"), Condition)
assert_type(Order.status.startswith("PA"), Condition)
assert_type(User.email.startswith("ann@"), Condition)
assert_type(Order.tags.contains("gift"), Condition)
assert_type(Order.price.does_not_exist(), Condition)
assert_type(Order.status.is_type("S"), Condition)


# Places inside fields, sizes, and fields beside fields.
assert_type(Order.lines[0], Element[str])
assert_type(Order.rates["EUR"], Element[Decimal])
assert_type(Order.rates["EUR"] > Decimal(1), Condition)
assert_type(Order.lines[0].startswith("a"), Condition)
assert_type(size(Order.lines), Size)
assert_type(Order.status.size(), Size)
assert_type(size(Order.lines) > 3, Condition)
assert_type(size(Order.lines).between(1, 3) & (size(Order.tags) == size(Order.lines)), Condition)
assert_type(Order.total > Order.order_id, Condition)
assert_type(Order.status == User.name, Condition)
assert_type(Order.total > size(Order.lines), Condition)

# Changes.
assert_type(Order.status.set("PAID"), Change)
assert_type(Order.lines.append("a", "b"), Change)
assert_type(Order.lines.prepend("a"), Change)
assert_type(Region.path.append("x"), Change)
assert_type(Order.lines[0].set("x"), Change)
assert_type(Order.rates["EUR"].add(Decimal(1)), Change)
assert_type(Order.total + 1, Operand[int])
assert_type(1 + Order.total, Operand[int])
assert_type(Order.total - Order.order_id, Operand[int])
assert_type(Decimal(1) - Order.price, Operand[Decimal])
assert_type(User.email | "unknown", Operand[str])
assert_type(User.email | User.name, Operand[str])
assert_type(Order.status | "x", Operand[str])
assert_type(Order.total.set(Order.total + 1), Change)
assert_type(Order.price.set(Order.rates["EUR"] - Decimal(1)), Change)
assert_type(User.name.set(User.email | "unknown"), Change)
assert_type(User.email.set(User.name), Change)
assert_type(Order.price.set(None), Change)
assert_type(User.email.remove(), Change)
assert_type(Order.total.add(1), Change)
assert_type(Order.price.add(Decimal("0.5")), Change)
assert_type(Order.tags.add({"gift"}), Change)
assert_type(Order.tags.delete({"gift"}), Change)

# References.
ref = Order.at(user_id="u1", order_id=7)
assert_type(ref, Ref[Order])
assert_type(store.get(ref), Order | None)
assert_type(store.get(User.at(user_id="u1"), consistent=True), User | None)
assert_type(store.one(ref), Order)
assert_type(store.scoped(tenant="t7"), Store)
assert_type(store.update(ref, Order.status.set("PAID"), {"total": 5}), Order)
assert_type(store.update(order, Order.total.add(1), when=paid & (Order.total < 9)), Order)
assert_type(store.delete(ref), Order | None)
assert_type(store.delete(order, when=paid), Order | None)
assert_type(store.put(order), Order)
assert_type(store.put(ann, when=User.email.does_not_exist()), User)
assert_type(store.create(invoice), Invoice)

# Queries keep the type, step by step.
query = Order.by_status(user_id="u1")
assert_type(query, Query[Order])
assert_type(query.begins_with(status="PEN"), Query[Order])
assert_type(query.between(placed_at=(now, now)), Query[Order])
assert_type(query.gt(status="A").lt(status="B"), Query[Order])
assert_type(query.gte(status="A").lte(status="B"), Query[Order])
assert_type(query.where(paid), Query[Order])
assert_type(query.descending(), Query[Order])
assert_type(query.limit(3), Query[Order])
assert_type(query.below(), Query[Order])
assert_type(Order.key(user_id="u1").consistent(), Query[Order])
assert_type(Order.key(user_id="u1").begins_with(order_id="1").where(paid).descending().limit(3), Query[Order])
assert_type(Order.pending("u1"), Query[Order])
assert_type(Order.recent("u1", since=now, most=3).where(paid), Query[Order])

assert_type(Order.key(user_id="u1").is_in(order_id=(1, 2)), Query[Order])
assert_type(query.is_in(status=["PAID"]).only(Order.status, Order.placed_at), Query[Order])

# What a query gives.
rows = store.query(query)
assert_type(rows, Rows[Order])
assert_type(rows.all(), list[Order])
assert_type([row.order_id for row in rows], list[int])
assert_type(store.first(query), Order | None)
assert_type(store.count(query), int)
assert_type(store.put_many([order, order]), tuple[Order, ...])

# Several queries, and scans.
users = User.key(user_id="u1")
regions = Region.key(country="CN")
assert_type(store.query(users, query), Rows[User | Order])
assert_type(store.query(users, query, regions, merged=True), Rows[User | Order | Region])
assert_type(store.query(query, Order.pending("u1")), Rows[Order])
assert_type(store.query(*[query, query]), Rows[Order])
for either in store.query(users, query):
    assert_type(either, User | Order)
assert_type(store.first(users, query), User | Order | None)
assert_type(store.first(query, query, merged=True), Order | None)
assert_type(store.count(users, query), int)
assert_type(store.scan(Order), Rows[Order])
assert_type(store.scan(Order, segments=4, where=paid, limit=3, consistent=True).all(), list[Order])

# Collections: a query of several kinds, and a class with a place for each.
assert_type(home, CollectionKey[User | Order])
assert_type(home(user_id="u1"), Query[User | Order])
assert_type(home(user_id="u1").where(paid).descending().limit(3).only(User.name), Query[User | Order])
assert_type(store.query(home(user_id="u1")), Rows[User | Order])
assert_type(store.first(home(user_id="u1")), User | Order | None)
assert_type(store.query(home(user_id="u1"), regions, merged=True), Rows[User | Order | Region])
assert_type(Collection(User, pk="#USER#{user_id}"), CollectionKey[User])
assert_type(Collection(Order, OrderLine, pk="#USER#{u}", sk="#ORDER#{o}", on=gsi1), CollectionKey[Order | OrderLine])
assert_type(Collection(User, Order, OrderLine, pk=("a", "b"), sk=("c",)), CollectionKey[User | Order | OrderLine])
assert_type(Collection(User, Order, OrderLine, Region, pk="#A")(), Query[User | Order | OrderLine | Region])
five = Collection(User, Order, OrderLine, Region, Invoice, pk="#A")
assert_type(five(), Query[User | Order | OrderLine | Region | Invoice])
assert_type(Collection(*[Order, Order], pk="#A"), CollectionKey[Order])
assert_type(Home.of(user_id="u1"), Gathering[Home])
assert_type(Home.of(user_id="u1").where(paid).consistent(), Gathering[Home])
gathered = store.gather(Home.of(user_id="u1"))
assert_type(gathered, Home)
assert_type(gathered.user, User | None)
assert_type(gathered.orders, list[Order])
assert_type(gathered.lines, tuple[OrderLine, ...])
assert_type(gathered.total, int)
assert_type(Home(user=None, orders=[order], lines=()), Home)

# Many items.
ann_ref = User.at(user_id="u1")
region_ref = Region.at(country="CN", path=())
assert_type(store.get_many(ann_ref, ref), tuple[User | None, Order | None])
assert_type(store.get_many(ann_ref, ref, region_ref), tuple[User | None, Order | None, Region | None])
assert_type(store.get_many(ann_ref, ref, missing="raise"), tuple[User, Order])
assert_type(store.get_many(ann_ref, ref, region_ref, missing="raise", consistent=True), tuple[User, Order, Region])
assert_type(store.get_many(*[ref, ref]), tuple[Order | None, ...])
assert_type(store.get_many(*[ref, ref], missing="skip"), tuple[Order, ...])
assert_type(store.get_many(*[ref, ref], missing="raise"), tuple[Order, ...])
assert_type(store.create_many([order, order]), tuple[Order, ...])
assert_type(store.hydrate(store.query(query)), tuple[Order, ...])
assert_type(store.hydrate([order, order], missing="hole", consistent=True), tuple[Order | None, ...])
assert_type(store.hydrate([ref], missing="raise"), tuple[Order, ...])
assert_type(store.hydrate(store.query(users, query), missing="raise"), tuple[User | Order, ...])
assert_type(store.diff_table(), TableDiff)
assert_type(store.diff_table().addable, tuple[GlobalIndex, ...])
store.add_index(GlobalIndex("GSI2", projection="keys"), timeout=60)
GlobalIndex("GSI3", projection=["status", "total"])
LocalIndex("LSI1", projection=("status",))
store.put_many([order], progress=lambda done, total: None)
store.create_many([ann], progress=print)
store.delete_many([order, ref])
store.delete_many([ann_ref], progress=lambda done, total: done + total)


async def awaited(later: AsyncStore) -> None:
    """Give the same types, awaited."""
    assert_type(later.scoped(tenant="t7"), AsyncStore)
    assert_type(await later.get_many(ann_ref, ref), tuple[User | None, Order | None])
    assert_type(await later.get_many(ann_ref, ref, missing="raise"), tuple[User, Order])
    assert_type(await later.get_many(*[ref, ref], missing="skip"), tuple[Order, ...])
    assert_type(later.query(users, query), AsyncRows[User | Order])
    assert_type(await later.first(users, query), User | Order | None)
    assert_type(await later.count(users, query), int)
    assert_type(await later.gather(Home.of(user_id="u1")), Home)
    assert_type(later.query(home(user_id="u1")), AsyncRows[User | Order])
    assert_type(await later.scan(Order, segments=2).all(), list[Order])
    assert_type(await later.create_many([order, order]), tuple[Order, ...])
    assert_type(await later.hydrate(later.query(query)), tuple[Order, ...])
    assert_type(await later.hydrate([ref], missing="hole"), tuple[Order | None, ...])
    assert_type(await later.diff_table(), TableDiff)
    async for each in later.query(query):
        assert_type(each, Order)


# Functions on entities.
assert_type(evolve(order, status="PAID"), Order)
assert_type(to_dict(order), dict[str, Any])
assert_type(from_item(Order, to_item(order)), Order)
for name, field in fields(Order).items():
    assert_type(name, str)
    assert_type(field.attribute, str)
assert_type(Order.describe(), str)
assert_type({order: order.total, order: 2}, dict[Order, int])
assert_type(order == ann, bool)

# Code that is written for any entity.
E = TypeVar("E", bound=Entity)


def renew(ref: Ref[E], *changes: Change) -> E:
    """Keep the type through the verbs."""
    found = store.get(ref)
    return store.create(store.one(ref)) if found is None else store.update(found, *changes)


def there(refs: Iterable[Ref[Entity]]) -> list[Entity | None]:
    """Take references of different kinds: a reference to an order is a reference to an entity."""
    return [store.get(ref) for ref in refs]


def every(kinds: Iterable[Query[Entity]]) -> list[Entity]:
    """Take queries of different kinds: a query of orders is a query of entities."""
    return [found for kind in kinds for found in store.query(kind)]


assert_type(renew(ref, Order.total.add(1)), Order)
assert_type(there([ref, User.at(user_id="u1")]), list[Entity | None])
assert_type(every([query, User.key(user_id="u1")]), list[Entity])


# A base with the key of all its kinds.
class Pet(Entity, table=Table("pets", pk="id", sk=None), abstract=True):
    pet_id: Field[str] = Field(name="id")
    key = Key(pk=("pet_id",))


class Cat(Pet, tag="cat"):
    lives: Field[int] = Field(default=9)


assert_type(store.get(Pet.at(pet_id="1")), Pet | None)
assert_type(store.get(Cat.at(pet_id="1")), Cat | None)
assert_type(store.query(Pet.key(pet_id="1")).all(), list[Pet])
assert_type(Cat(pet_id="1").lives, int)
# A page has the type of what is asked for.
page = store.page(query, size=20)
assert_type(page, Page[Order])
assert_type(page.items, tuple[Order, ...])
assert_type(page.next, str | None)
assert_type([each.user_id for each in page], list[str])
assert_type(store.page(Scan(Order), size=20, cursor=page.next), Page[Order])
assert_type(store.page(query, User.key(user_id="u1"), size=20, merged=True), Page[Order | User])

# Transactions: results stand in position, and the items of errors are typed.
AT = User.at(user_id="u1")
assert_type(store.transact(Create(order)), tuple[Order])
assert_type(store.transact(Create(order), Update(AT, User.name.set("x"))), tuple[Order, None])
assert_type(
    store.transact(Put(ann), Delete(order), Check(AT), Create(order), Update(ann, {"name": "x"}), token="t"),
    tuple[User, None, None, Order, None],
)
assert_type(store.transact(*[Create(order), Create(order)]), tuple[Order, ...])
assert_type(store.run(Create(order)), Order)
assert_type(store.run(Update(AT, User.name.set("x"))), User | None)
assert_type(store.run(Transact(Create(order))), tuple[Any, ...])
assert_type(store.prepare(Create(order)), Create[Order])
assert_type(store.prepare(Transact(Create(order))), Transact)
assert_type(store.assign(order), Order)
assert_type(store.get_or_create(order), Order)
assert_type(store.create(order, token="t"), Order)
assert_type(store.get_many(AT, Order.at(user_id="u1", order_id=1), transactional=True), tuple[User | None, Order | None])


def build(tx: Transaction) -> tuple[Create[Order], Update[User]]:
    """Read, decide, write."""
    assert_type(tx.get(AT), User | None)
    assert_type(tx.one(AT), User)
    return Create(order), Update(AT, User.name.set("x"))


async def build_awaited(tx: AsyncTransaction) -> tuple[Create[Order], Update[User]]:
    """Read, decide, write."""
    assert_type(await tx.one(AT), User)
    return Create(order), Update(AT, User.name.set("x"))


def build_list(tx: Transaction) -> list[Create[Order]]:
    """Give as many operations as there are."""
    return [Create(order)]


assert_type(store.transact(build), tuple[Order, None])
assert_type(store.transact(build_list), tuple[Any, ...])
store.transact(lambda tx: (Update(tx.one(AT), User.name.set("x")),))


async def transact_awaited(store: AsyncStore) -> None:
    """The same, awaited."""
    assert_type(await store.transact(Create(order), Check(AT)), tuple[Order, None])
    assert_type(await store.transact(build_awaited), tuple[Order, None])
    assert_type(await store.prepare(Create(order)), Create[Order])


def explain(failed: TransactionFailed) -> list[int | None]:
    """Errors of a transaction know their place."""
    return [error.index for error in failed.exceptions]
