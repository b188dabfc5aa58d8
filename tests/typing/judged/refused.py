"""Mistakes, which the checkers must find: each line that has one names the rule by which either checker reports it."""

from decimal import Decimal
from typing import assert_type

from shop import Account, Invoice, Order, OrderLine, User, ann, app, now, order, store

from singletable import AutoIncrement, Create, Entity, Field, GlobalIndex, Key, Query, Ref, Table, Ulid, evolve, from_dict, from_item, to_dict
from singletable import to_dict as as_dict

# Transactions are made of writes.
store.transact(order)  # error: mypy[call-overload] pyright[reportArgumentType, reportCallIssue]
store.transact(Create(order), User.at(user_id="u1"))  # error: mypy[call-overload] pyright[reportCallIssue]
store.transact(Create(order))[1]  # error: mypy[misc] pyright[reportIndexIssue]
Create("x")  # error: mypy[type-var] pyright[reportArgumentType]
Update("x", Order.total.add(1))  # error: mypy[arg-type] pyright[reportArgumentType]
Update(order, "PAID")  # error: mypy[arg-type] pyright[reportArgumentType]

# Constructor arguments: missing, of the wrong type, unknown, positional.
Order(placed_at=now)  # error: mypy[call-arg] pyright[reportCallIssue]
Order(user_id="u1")  # error: mypy[call-arg] pyright[reportCallIssue]
OrderLine(user_id="u1", line_no=1, sku="s")  # error: mypy[call-arg] pyright[reportCallIssue]
Invoice(number=1)  # error: mypy[call-arg] pyright[reportCallIssue]
Order(user_id=1, placed_at=now)  # error: mypy[arg-type] pyright[reportArgumentType]
Order(user_id="u1", placed_at="2026-12-01")  # error: mypy[arg-type] pyright[reportArgumentType]
Order(user_id="u1", placed_at=now, order_id="7")  # error: mypy[arg-type] pyright[reportArgumentType]
Order(user_id=None, placed_at=now)  # error: mypy[arg-type] pyright[reportArgumentType]
Order(user_id="u1", placed_at=now, tags={1})  # error: mypy[arg-type] pyright[reportArgumentType]
Order(user_id="u1", placed_at=now, lines=("a", "b"))  # error: mypy[arg-type] pyright[reportArgumentType]
User(user_id="u1", name="Ann", email=1)  # error: mypy[arg-type] pyright[reportArgumentType]
User(user_id="u1", name=None)  # error: mypy[arg-type] pyright[reportArgumentType]
Invoice(made=now, paid="yes")  # error: mypy[arg-type] pyright[reportArgumentType]
Order(user_id="u1", placed_at=now, nmae=1)  # error: mypy[call-arg] pyright[reportCallIssue]
Order(user_id="u1", placed_at=now, currency="EUR")  # error: mypy[call-arg] pyright[reportCallIssue]
Order(user_id="u1", placed_at=now, key="k")  # error: mypy[call-arg] pyright[reportCallIssue]
Order("u1", placed_at=now)  # error: mypy[call-arg] pyright[reportCallIssue]
User("u1", "Ann")  # error: mypy[call-arg] pyright[reportCallIssue]

# Options of fields, and ids that are drawn.
Account(name="Ann")  # error: mypy[call-arg] pyright[reportCallIssue]
Account(name="Ann", mail="m", account_id=7)  # error: mypy[arg-type] pyright[reportArgumentType]
Account(name="Ann", mail="m", trace="7")  # error: mypy[arg-type] pyright[reportArgumentType]
Field(hidden="yes")  # error: mypy[call-overload] pyright[reportArgumentType]
Field(validate=5)  # error: mypy[call-overload] pyright[reportArgumentType]
Ulid(hidden=True)  # error: mypy[call-arg] pyright[reportCallIssue]
from_dict(Account, 5)  # error: mypy[arg-type] pyright[reportArgumentType]
to_dict(order, True)  # error: mypy[call-arg] pyright[reportCallIssue]

# Nothing is assigned.
order.status = "x"  # error: mypy[arg-type] pyright[reportAttributeAccessIssue]
order.order_id = 3  # error: mypy[arg-type] pyright[reportAttributeAccessIssue]
ann.email = None  # error: mypy[arg-type] pyright[reportAttributeAccessIssue]
store.create(Invoice(made=now)).paid = True  # error: mypy[arg-type] pyright[reportAttributeAccessIssue]
order.user_id = 3  # error: mypy[arg-type, assignment] pyright[reportAttributeAccessIssue]

# Names and keys that are none, and keys on an instance.
order.nmae  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
Order.nmae  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
order.key  # error: mypy[arg-type] pyright[reportAttributeAccessIssue]
order.by_status  # error: mypy[arg-type] pyright[reportAttributeAccessIssue]
Order.by_name(user_id="u1")  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
Order.new(user_id="u1")  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]

# Values are what they are annotated as.
assert_type(order.order_id, str)  # error: mypy[assert-type] pyright[reportAssertTypeFailure]
assert_type(Order.status, str)  # error: mypy[assert-type] pyright[reportAssertTypeFailure]
order.order_id.startswith("7")  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
ann.email.lower()  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
print(order.status + 1)  # error: mypy[operator] pyright[reportOperatorIssue]

# Conditions.
print(Order.total < "5")  # error: mypy[operator] pyright[reportOperatorIssue]
print(Order.placed_at >= "2026")  # error: mypy[operator] pyright[reportOperatorIssue]
Order.total.between(1, "5")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.status.is_in("PAID", 5)  # error: mypy[arg-type] pyright[reportArgumentType]
Order.status.is_in(["PAID"])  # error: mypy[arg-type] pyright[reportArgumentType]
Order.total.startswith("1")  # error: mypy[misc] pyright[reportAttributeAccessIssue]
Order.placed_at.startswith("2026")  # error: mypy[misc] pyright[reportAttributeAccessIssue]
Order.tags.startswith("a")  # error: mypy[misc] pyright[reportAttributeAccessIssue]
Order.status.startswith(5)  # error: mypy[arg-type] pyright[reportArgumentType]
print((Order.status == "PAID") & True)  # error: mypy[operator] pyright[reportOperatorIssue]
print(Order.status & (Order.total > 5))  # error: mypy[operator] pyright[reportOperatorIssue]
Order.status.size()  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
Order.pending("u1").where(Order.status == 5)  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending("u1").where((Order.status == 5) & (Order.total > 5))  # error: mypy[operator] pyright[reportOperatorIssue]
store.put(order, when=Order.total != "5")  # error: mypy[arg-type] pyright[reportArgumentType]
print(Invoice.made >= "2026")  # error: mypy[operator] pyright[reportOperatorIssue]

# Changes.
Order.status.add(1)  # error: mypy[misc] pyright[reportAttributeAccessIssue]
Order.placed_at.add(1)  # error: mypy[misc] pyright[reportAttributeAccessIssue]
Order.total.add("1")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.total.add({1})  # error: mypy[arg-type] pyright[reportArgumentType]
Order.price.add("0.5")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.tags.add("gift")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.tags.add({1})  # error: mypy[arg-type] pyright[reportArgumentType]
Order.tags.delete("gift")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.total.delete({1})  # error: mypy[arg-type, misc] pyright[reportAttributeAccessIssue]
Order.status.delete({"PAID"})  # error: mypy[arg-type, misc] pyright[reportAttributeAccessIssue]
Order.lines.delete(["a"])  # error: mypy[call-overload, misc] pyright[reportAttributeAccessIssue]
Order.status.set(5)  # error: mypy[arg-type] pyright[reportArgumentType]
Order.status.set(None)  # error: mypy[arg-type] pyright[reportArgumentType]
Order.price.set("0.5")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.total.set(Decimal(1))  # error: mypy[arg-type] pyright[reportArgumentType]
Order.status.increment(1)  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]

# Patterns and queries.
Order.pending(user_id=1)  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending()  # error: mypy[call-arg] pyright[reportCallIssue]
Order.pending("u1", "PAID")  # error: mypy[call-arg] pyright[reportCallIssue]
Order.pending("u1", user="u1")  # error: mypy[call-arg] pyright[reportCallIssue]
Order.recent("u1")  # error: mypy[call-arg] pyright[reportCallIssue]
Order.recent("u1", since="2026")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending("u1").where(True)  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending("u1").where(order.status == "PAID")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending("u1").limit("3")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending("u1").descending(True)  # error: mypy[call-arg] pyright[reportCallIssue]
Order.pending("u1").between(placed_at=now)  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending("u1").below(depth="1")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.pending("u1").sorted()  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
Order.key("u1")  # error: mypy[call-arg] pyright[reportCallIssue]
Order.at("u1", 7)  # error: mypy[call-arg] pyright[reportCallIssue]
orders: Query[Order] = User.key(user_id="u1")  # error: mypy[assignment] pyright[reportAssignmentType]
users: Ref[User] = Order.at(user_id="u1", order_id=7)  # error: mypy[assignment] pyright[reportAssignmentType]

# Verbs.
store.get(Order)  # error: mypy[arg-type] pyright[reportArgumentType]
store.get(order)  # error: mypy[arg-type] pyright[reportArgumentType]
store.get("u1")  # error: mypy[arg-type] pyright[reportArgumentType]
store.get(Order.key(user_id="u1"))  # error: mypy[arg-type] pyright[reportArgumentType]
store.get(Order.at(user_id="u1", order_id=1)).status  # error: mypy[union-attr] pyright[reportOptionalMemberAccess]
store.one(order)  # error: mypy[arg-type] pyright[reportArgumentType]
store.create(User)  # error: mypy[type-var] pyright[reportArgumentType]
store.create(Order.at(user_id="u1", order_id=1))  # error: mypy[type-var] pyright[reportArgumentType]
store.put({"user_id": "u1"})  # error: mypy[type-var] pyright[reportArgumentType]
store.put(order, when=True)  # error: mypy[arg-type] pyright[reportArgumentType]
store.put(order, User.email.exists())  # error: mypy[call-arg] pyright[reportCallIssue]
store.update(Order.at(user_id="u1", order_id=1), "PAID")  # error: mypy[arg-type] pyright[reportArgumentType]
store.update(order, Order.status == "PAID")  # error: mypy[arg-type] pyright[reportArgumentType]
store.update(order, status="PAID")  # error: mypy[call-arg] pyright[reportCallIssue]
store.update(Order, Order.total.add(1))  # error: mypy[arg-type] pyright[reportArgumentType]
store.delete("u1")  # error: mypy[arg-type] pyright[reportArgumentType]
store.query(Order)  # error: mypy[call-overload] pyright[reportCallIssue, reportArgumentType]
store.query(Order.pending)  # error: mypy[call-overload] pyright[reportCallIssue, reportArgumentType]
store.query(Order.at(user_id="u1", order_id=1))  # error: mypy[call-overload] pyright[reportCallIssue, reportArgumentType]
store.first(order)  # error: mypy[call-overload] pyright[reportCallIssue, reportArgumentType]
store.count(Order)  # error: mypy[arg-type] pyright[reportArgumentType]
store.put_many(order)  # error: mypy[arg-type] pyright[reportArgumentType]
store.put_many(["u1"])  # error: mypy[type-var] pyright[reportArgumentType]
user: User | None = store.get(Order.at(user_id="u1", order_id=7))  # error: mypy[assignment] pyright[reportAssignmentType]
made: User = store.create(order)  # error: mypy[assignment] pyright[reportAssignmentType]
number: str = store.count(Order.pending("u1"))  # error: mypy[assignment] pyright[reportAssignmentType]
for row in store.query(Order.pending("u1")):
    row.nmae  # error: mypy[attr-defined] pyright[reportAttributeAccessIssue]
Order.pending("u1").only("status")  # error: mypy[arg-type] pyright[reportArgumentType]
Order.by_status(user_id="u1").is_in(status=5)  # error: mypy[arg-type] pyright[reportArgumentType]
pair: tuple[User, Order] = store.get_many(User.at(user_id="u1"), Order.at(user_id="u1", order_id=7))  # error: mypy[assignment] pyright[reportAssignmentType]
store.get_many(User.at(user_id="u1"), ann)  # error: mypy[call-overload] pyright[reportCallIssue, reportArgumentType]
store.get_many(User.at(user_id="u1"), missing="ignore")  # error: mypy[call-overload] pyright[reportCallIssue, reportArgumentType]
store.query(Order)  # error: mypy[call-overload] pyright[reportCallIssue, reportArgumentType]
for mixed in store.query(User.key(user_id="u1"), Order.pending("u1")):
    mixed.order_id  # error: mypy[union-attr] pyright[reportAttributeAccessIssue]
store.scan(order)  # error: mypy[arg-type] pyright[reportArgumentType]
store.scan(Order, where="paid")  # error: mypy[arg-type] pyright[reportArgumentType]
store.create_many(order)  # error: mypy[arg-type] pyright[reportArgumentType]
store.delete_many(["u1"])  # error: mypy[list-item] pyright[reportArgumentType]
store.put_many([order], progress="yes")  # error: mypy[arg-type] pyright[reportArgumentType]
from_item(order, {})  # error: mypy[arg-type] pyright[reportArgumentType]
from_item(Order, "item")  # error: mypy[arg-type] pyright[reportArgumentType]
as_dict(Order)  # error: mypy[arg-type] pyright[reportArgumentType]
evolve(Order, status="PAID")  # error: mypy[type-var] pyright[reportArgumentType]
changed: User = evolve(order, status="PAID")  # error: mypy[assignment] pyright[reportAssignmentType]

# Declarations.
Table("app", indexes=[GlobalIndex])  # error: mypy[list-item] pyright[reportArgumentType]
Table("app", pk=5)  # error: mypy[arg-type] pyright[reportArgumentType]
Table(name="app", colour="red")  # error: mypy[call-arg] pyright[reportCallIssue]
Key("#USER#{user_id}")  # error: mypy[call-arg] pyright[reportCallIssue]
Key(pk=5)  # error: mypy[arg-type] pyright[reportArgumentType]
Key(on="GSI1", pk="#USER#{user_id}")  # error: mypy[arg-type] pyright[reportArgumentType]
Key(within=Order, sk="#LINE")  # error: mypy[arg-type] pyright[reportArgumentType]
AutoIncrement("fastest")  # error: mypy[arg-type] pyright[reportArgumentType]
AutoIncrement(per="table")  # error: mypy[arg-type] pyright[reportArgumentType]
AutoIncrement(start="1")  # error: mypy[arg-type] pyright[reportArgumentType]
Field("PENDING")  # error: mypy[call-overload] pyright[reportCallIssue]
Field(default=1, default_factory=int)  # error: mypy[call-overload] pyright[reportCallIssue]


class Wrong(Entity, table="app"):  # error: mypy[arg-type] pyright[reportArgumentType, reportGeneralTypeIssues]
    text: Field[str] = Field(default=1)  # error: mypy[arg-type] pyright[reportAssignmentType]
    nothing: Field[str] = Field(default=None)  # error: mypy[arg-type] pyright[reportAssignmentType]
    many: Field[list[str]] = Field(default_factory=set)  # error: mypy[arg-type] pyright[reportAssignmentType]
    number: Field[str] = AutoIncrement()  # error: mypy[assignment] pyright[reportAssignmentType]
    plain: Field[str] = "x"  # error: mypy[assignment] pyright[reportAssignmentType]


class Late(Order, table=app):
    late: Field[int]


Late(user_id="u1", placed_at=now)  # error: mypy[call-arg] pyright[reportCallIssue]
