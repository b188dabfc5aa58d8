"""What is run at once, and what must hold after every order of requests, with every reply lost once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from singletable import (
    AlreadyExists,
    AutoIncrement,
    ConditionFailed,
    Entity,
    Field,
    Key,
    NotFound,
    Store,
    Table,
    Transaction,
    TransactionFailed,
    UniqueViolation,
    Update,
    Version,
    VersionConflict,
    evolve,
    unique_ref,
)
from singletable import (
    Sequence as Numbers,
)
from singletable.errors import OutcomeUnknown
from singletable.testing import Explored, interleave

__all__ = ["SCENES", "Order", "Scene", "add", "app", "explore", "numbered", "summed", "with_accounts"]

app = Table("app")
tickets = Numbers("tickets", pk="#DESK#{desk}")


class Order(Entity, table=app, tag="order"):
    user: Field[str]
    number: Field[int] = AutoIncrement()
    by: Field[str] = Field(default="")
    key = Key(pk="#USER#{user}", sk="#ORDER#{number}")


class Invoice(Entity, table=app, tag="invoice"):
    number: Field[int] = AutoIncrement()
    by: Field[str] = Field(default="")
    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


class Line(Entity, table=app, tag="line"):
    book: Field[str]
    day: Field[str]
    number: Field[int] = AutoIncrement("counter")
    by: Field[str] = Field(default="")
    key = Key(pk="#BOOK#{book}", sk="#LINE#{number}#{day}")


class Call(Entity, table=app, tag="call"):
    desk: Field[str]
    number: Field[int] = AutoIncrement(tickets)
    by: Field[str] = Field(default="")
    key = Key(pk="#DESK#{desk}", sk="#CALL#{number}")


class Visit(Entity, table=app, tag="visit"):
    desk: Field[str]
    number: Field[int] = AutoIncrement(tickets)
    by: Field[str] = Field(default="")
    key = Key(pk="#DESK#{desk}", sk="#VISIT#{number}")


class User(Entity, table=app, tag="user"):
    name: Field[str]
    email: Field[str] = Field(unique=True)
    key = Key(pk="#PERSON#{name}", sk="#PERSON")


class Account(Entity, table=app, tag="account"):
    name: Field[str]
    balance: Field[int] = Field(default=100)
    key = Key(pk="#ACCOUNT#{name}", sk="#ACCOUNT")


class Page(Entity, table=app, tag="page"):
    name: Field[str]
    text: Field[str] = Field(default="")
    version: Field[int] = Version()
    key = Key(pk="#PAGE#{name}", sk="#PAGE")


Actor = Callable[[Store], Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """Some actors, what stands there before them, and what must hold after them."""

    name: str
    actors: tuple[Actor, ...]
    check: Callable[[Store, list[Any]], None]
    setup: Callable[[Store], object] | None = None
    losses: int = 1
    most: int = 20_000
    shared: bool = False


EXPECTED = (
    OutcomeUnknown,
    AlreadyExists,
    ConditionFailed,
    VersionConflict,
    UniqueViolation,
    TransactionFailed,
    NotFound,
)


def explore(scene: Scene, *, most: int = 20_000) -> Explored:
    """Run a scene in every order. AssertionError tells a schedule after which something does not hold."""
    return interleave(
        app,
        *scene.actors,
        setup=scene.setup,
        check=scene.check,
        expect=EXPECTED,
        lost_replies=scene.losses,
        lost_requests=scene.losses > 0,
        shared=scene.shared,
        most=min(most, scene.most),
    )


# Numbers: no two alike, none of what was deleted, one row for each create that is told to have succeeded

Numbered = Order | Invoice | Line | Call | Visit


def creating(made: Numbered) -> Actor:
    """Create an entity, whose `by` no other has."""
    return lambda store: store.create(made)


def numbered(*kinds: type[Numbered], above: int = 0) -> Callable[[Store, list[Any]], None]:
    """Say what must hold of entities whose numbers are drawn from one place; all of them were created by an actor."""

    def check(store: Store, results: list[Any]) -> None:
        rows: list[Any] = [row for kind in kinds for row in store.scan(kind)]
        created: list[Any] = [made for made in results if isinstance(made, kinds)]
        unknown = sum(isinstance(made, OutcomeUnknown) for made in results)
        assert len(created) + unknown == len(results), results
        drawn = [row for row in rows if row.by]
        assert len({row.number for row in drawn}) == len(drawn), drawn
        assert all(row.number > above for row in drawn), drawn
        assert max(Counter(row.by for row in drawn).values(), default=1) == 1, drawn
        assert all(made in rows for made in created), (created, rows)
        assert len(created) <= len(drawn) <= len(created) + unknown, (created, rows)

    return check


def create_and_delete(store: Store) -> tuple[Order, Order | None]:
    """Create an order, and delete it at once."""
    made = store.create(Order(user="u", by="gone"))
    return made, store.delete(made)


def never_again(store: Store, results: list[Any]) -> None:
    """The number of an order that was deleted is no other order's."""
    first, *others = results
    rows = store.query(Order.key(user="u")).all()
    assert not isinstance(first, Exception) or isinstance(first, OutcomeUnknown)
    made: list[Order] = [other for other in others if isinstance(other, Order)]
    deleted: list[Order] = [] if isinstance(first, Exception) else [first[0]]
    numbers = [order.number for order in (*made, *deleted)]
    assert len(set(numbers)) == len(numbers), results
    assert all(order in rows for order in made), (results, rows)
    assert not any(order in rows for order in deleted), (results, rows)


def delete_first(store: Store) -> Order | None:
    """Delete the order that was there before."""
    return store.delete(Order.at(user="u", number=1))


def after_the_deleted(store: Store, results: list[Any]) -> None:
    """Whoever creates gets a number above 1, be the first order deleted by then or not."""
    numbered(Order, above=1)(store, results[1:])
    assert isinstance(results[0], OutcomeUnknown | Order | None), results
    assert isinstance(results[0], OutcomeUnknown) or store.get(Order.at(user="u", number=1)) is None


def with_order(store: Store) -> None:
    """Let one order stand there, which no actor made."""
    store.create(Order(user="u"))


def with_line(store: Store) -> None:
    """Let a line of number 5 stand there, of which no counter knows."""
    store.put(Line(book="b", day="mon", number=5))


def one_for_all(store: Store, results: list[Any]) -> None:
    """Several creates under one token, or of one key, come to one order; whoever is told of it is told the same."""
    told = {repr(each) for each in results if not isinstance(each, OutcomeUnknown)}
    rows = store.query(Order.key(user="u")).all()
    assert len(told) <= 1, results
    assert len(rows) <= 1, rows
    assert told <= {repr(row) for row in rows}, (results, rows)


def get_or_create(store: Store) -> User:
    """Give the user "x" of one name, whoever made it."""
    return store.get_or_create(User(name="only", email="x"))


def one_user(store: Store, results: list[Any]) -> None:
    """There is one user at most, and all who were given one were given it."""
    rows = store.scan(User).all()
    told: list[User] = [result for result in results if isinstance(result, User)]
    assert len(told) + sum(isinstance(result, OutcomeUnknown) for result in results) == len(results), results
    assert len(rows) <= 1, rows
    assert all(user in rows for user in told), (rows, results)


def move_to(number: int) -> Actor:
    """Move an order to another user, where it draws a new number."""
    return lambda store: store.move(Order.at(user="u", number=number), user="v")


def with_two_orders(store: Store) -> None:
    """Let a user have two orders."""
    for by in "ab":
        store.create(Order(user="u", by=by))


def moved(store: Store, results: list[Any]) -> None:
    """Each order is in one place, and has a number of its own there; what is told to be moved is there."""
    rows = [*store.query(Order.key(user="u")), *store.query(Order.key(user="v"))]
    assert sorted(row.by for row in rows) in (["a", "b"], ["a", "b", "c"]), rows
    there: list[Order] = [result for result in results if isinstance(result, Order)]
    assert all(order in rows for order in there), (rows, results)
    assert len({order.number for order in there}) == len(there), results


# Changes of one item


def add(amount: int) -> Actor:
    """Add to a balance, by reference."""
    return lambda store: store.update(Account.at(name="a"), Account.balance.add(amount))


def add_exactly(amount: int) -> Actor:
    """Add to a balance in a transaction, which a reply that is lost does not repeat."""
    return lambda store: store.transact(Update(Account.at(name="a"), Account.balance.add(amount)))


def add_or_make(amount: int) -> Actor:
    """Add to a balance, of an account that begins with 100 if it is not there; in a transaction."""
    return lambda store: store.transact(Update(Account.at(name="a"), Account.balance.add(amount), missing="create"))


def decide(amount: int) -> Actor:
    """Read a balance, and set it to what it comes to, in a transaction that is decided anew where it has changed."""

    def decision(tx: Transaction) -> list[Update[Account]]:
        account = tx.one(Account.at(name="a"))
        return [Update(account, Account.balance.set(account.balance + amount))]

    return lambda store: store.transact(decision)


def summed(*amounts: int) -> Callable[[Store, list[Any]], None]:
    """Say that each amount was added once; one whose outcome is unknown once or not at all."""

    def check(store: Store, results: list[Any]) -> None:
        sums = {100}
        for amount, result in zip(amounts, results, strict=True):
            unknown = {each for each in sums if isinstance(result, OutcomeUnknown)}
            sums = {each + amount for each in sums} | unknown
        assert store.one(Account.at(name="a")).balance in sums, results

    return check


def with_accounts(store: Store) -> None:
    """Let there be two accounts with 100 each."""
    store.put_many([Account(name="a"), Account(name="b")])


def transfer(source: str, target: str, amount: int) -> Actor:
    """Move an amount from one account to another, in one transaction, if it is there."""
    return lambda store: store.transact(
        Update(Account.at(name=source), Account.balance.add(-amount), when=Account.balance >= amount),
        Update(Account.at(name=target), Account.balance.add(amount)),
    )


def audit(store: Store) -> int:
    """Read both accounts at one moment."""
    found = store.get_many(Account.at(name="a"), Account.at(name="b"), missing="raise", transactional=True)
    return sum(account.balance for account in found)


def conserved(store: Store, results: list[Any]) -> None:
    """Nothing is lost or made by transfers; who reads at one moment sees it so; 60 leaves 100 only once."""
    accounts = [store.one(Account.at(name=name)) for name in "ab"]
    assert sum(account.balance for account in accounts) == 200, accounts
    assert all(account.balance >= 0 for account in accounts), accounts
    assert all(result == 200 for result in results if isinstance(result, int)), results


def edit(text: str) -> Actor:
    """Read a page, and put it back with another text."""
    return lambda store: store.put(evolve(store.one(Page.at(name="p")), text=text))


def amend(text: str) -> Actor:
    """Read a page, and update it on condition that it is as it was read."""
    return lambda store: store.update(store.one(Page.at(name="p")), Page.text.set(text))


def with_page(store: Store) -> None:
    """Let there be a page of version 1."""
    store.create(Page(name="p"))


def counted(store: Store, results: list[Any]) -> None:
    """Each edit that succeeded is one version, no two the same; one whose outcome is unknown may be one more."""
    page = store.one(Page.at(name="p"))
    done: list[Page] = [result for result in results if isinstance(result, Page)]
    unknown = sum(isinstance(result, OutcomeUnknown) for result in results)
    assert len({each.version for each in done}) == len(done), results
    assert 1 + len(done) <= page.version <= 1 + len(done) + unknown, (page, results)
    assert done or unknown, results


# Unique values


def sign_up(name: str, email: str = "x") -> Actor:
    """Create a user with an address."""
    return lambda store: store.create(User(name=name, email=email))


def change(name: str, email: str) -> Actor:
    """Give a user another address."""
    return lambda store: store.update(User.at(name=name), User.email.set(email))


def leave(name: str) -> Actor:
    """Delete a user."""
    return lambda store: store.delete(User.at(name=name))


def with_user(store: Store) -> None:
    """Let there be a user with the address "x"."""
    store.create(User(name="first", email="x"))


def guarded(store: Store, results: list[Any]) -> None:
    """No two users have one address, each is found by its own, and an address that nobody has can be taken."""
    users = store.scan(User).all()
    taken = {user.email: user for user in users}
    assert len(taken) == len(users), users
    assert all(
        result in users or isinstance(result, Exception) or result is None or _gone(result, taken) for result in results
    )
    for email in ("x", "y"):
        if email in taken:
            assert store.get(unique_ref(User, email=email)) == taken[email]
        else:
            assert store.get(unique_ref(User, email=email)) is None
            assert store.create(User(name=f"new {email}", email=email)).email == email


def _gone(user: User, taken: dict[str, User]) -> bool:
    """Say whether a user that a verb gave may be gone since: the first one is changed and deleted."""
    return user.name == "first" and user not in taken.values()


SCENES: tuple[Scene, ...] = (
    Scene("sort key: create, create", tuple(creating(Order(user="u", by=by)) for by in "ab"), numbered(Order)),
    Scene(
        "sort key: three creates", tuple(creating(Order(user="u", by=by)) for by in "abc"), numbered(Order), losses=0
    ),
    Scene("sort key: three creates, losses", tuple(creating(Order(user="u", by=by)) for by in "abc"), numbered(Order)),
    Scene(
        "sort key: delete the highest, create, create",
        (delete_first, *(creating(Order(user="u", by=by)) for by in "ab")),
        after_the_deleted,
        setup=with_order,
    ),
    Scene(
        "sort key: create and delete, create",
        (create_and_delete, creating(Order(user="u", by="a"))),
        never_again,
    ),
    Scene(
        "sort key: create and delete, create, create",
        (create_and_delete, *(creating(Order(user="u", by=by)) for by in "ab")),
        never_again,
        losses=0,
    ),
    Scene(
        "sort key, one process: create, create",
        tuple(creating(Order(user="u", by=by)) for by in "ab"),
        numbered(Order),
        shared=True,
    ),
    Scene(
        "sort key: put, create",
        (lambda store: store.put(Order(user="u", by="a")), creating(Order(user="u", by="b"))),
        numbered(Order),
    ),
    Scene(
        "one token: create, create",
        tuple(lambda store: store.create(Order(user="u", by="a"), token="t") for _ in "ab"),
        one_for_all,
    ),
    Scene("counter: create, create", tuple(creating(Invoice(by=by)) for by in "ab"), numbered(Invoice)),
    Scene("counter: four creates", tuple(creating(Invoice(by=by)) for by in "abcd"), numbered(Invoice), losses=0),
    Scene(
        "first of a partition's counter: create, create",
        tuple(creating(Line(book="b", day="mon", by=by)) for by in "ab"),
        numbered(Line),
    ),
    Scene(
        "first of a partition's counter, above 5: create, create",
        tuple(creating(Line(book="b", day="mon", by=by)) for by in "ab"),
        numbered(Line, above=5),
        setup=with_line,
    ),
    Scene(
        "sequence: call, visit, call",
        (creating(Call(desk="d", by="a")), creating(Visit(desk="d", by="b")), creating(Call(desk="d", by="c"))),
        numbered(Call, Visit),
    ),
    Scene("update: add, add", (add(10), add(-30)), summed(10, -30), setup=with_accounts, losses=0),
    Scene("update: three times add", (add(10), add(-30), add(1)), summed(10, -30, 1), setup=with_accounts, losses=0),
    Scene("move, move", (move_to(1), move_to(2)), moved, setup=with_two_orders),
    Scene(
        "move, move, create",
        (move_to(1), move_to(2), creating(Order(user="v", by="c"))),
        moved,
        setup=with_two_orders,
        losses=0,
    ),
    Scene("get_or_create, twice", (get_or_create, get_or_create), one_user),
    Scene("transact: add or make, twice", (add_or_make(10), add_or_make(-30)), summed(10, -30)),
    Scene("transact: decide, decide", (decide(10), decide(-30)), summed(10, -30), setup=with_accounts),
    Scene(
        "transact: three decide",
        (decide(10), decide(-30), decide(1)),
        summed(10, -30, 1),
        setup=with_accounts,
        losses=0,
    ),
    Scene("transact: add, add", (add_exactly(10), add_exactly(-30)), summed(10, -30), setup=with_accounts),
    Scene(
        "transact: transfers against each other, and an audit",
        (transfer("a", "b", 60), transfer("b", "a", 30), audit),
        conserved,
        setup=with_accounts,
    ),
    Scene(
        "transact: 60 of 100, twice", (transfer("a", "b", 60), transfer("a", "b", 60)), conserved, setup=with_accounts
    ),
    Scene("version: put, put", (edit("one"), edit("two")), counted, setup=with_page),
    Scene("version: put, update, put", (edit("one"), amend("two"), edit("three")), counted, setup=with_page, losses=0),
    Scene("version: update, update", (amend("one"), amend("two")), counted, setup=with_page),
    Scene("unique: create, create", (sign_up("a"), sign_up("b")), guarded),
    Scene("unique: delete, create, create", (leave("first"), sign_up("a"), sign_up("b")), guarded, setup=with_user),
    Scene(
        "unique: change, delete, create", (change("first", "y"), leave("first"), sign_up("a")), guarded, setup=with_user
    ),
    Scene(
        "unique: change, create, create",
        (change("first", "y"), sign_up("a"), sign_up("b", "y")),
        guarded,
        setup=with_user,
        losses=0,
    ),
)
