"""What the matrix does and what must come of it: each verb on a small bank, and the states it may leave.

A scene sets the table up, does one thing, and looks. `before` and `after` are what stands there when nothing and when
all was done; there is no third state, except for a batch, which may be done in part. The ending says which of the two
it is: success is `after`, an outcome that is unknown may be either, any other error is `before`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from singletable import (
    AutoIncrement,
    Create,
    Entity,
    Field,
    GlobalIndex,
    Key,
    OutcomeUnknown,
    Ref,
    Store,
    Table,
    Transaction,
    Unprocessed,
    Update,
)
from tests.contract.awaited import Blocking
from tests.contract.behind import sibling

__all__ = ["SCENES", "Account", "Entry", "Invoice", "Scene", "bank"]

gsi1 = GlobalIndex("GSI1")
bank = Table("bank", indexes=[gsi1])

BATCH = 30


class Account(Entity, table=bank, tag="account"):
    name: Field[str]
    owner: Field[str] = Field(default="ann")
    level: Field[str] = Field(default="basic")
    balance: Field[int] = Field(default=0)

    key = Key(pk="#ACCOUNT#{name}", sk="#ACCOUNT")
    by_owner = Key(on=gsi1, pk="#OWNER#{owner}", sk="#{level}#{name}")


class Entry(Entity, table=bank, tag="entry"):
    account: Field[str]
    n: Field[int] = AutoIncrement()
    memo: Field[str]

    key = Key(pk="#ACCOUNT#{account}", sk="#ENTRY#{n}")


class Invoice(Entity, table=bank, tag="invoice"):
    number: Field[int] = AutoIncrement("counter")
    memo: Field[str]

    key = Key(pk="#INVOICE#{number}", sk="#INVOICE")


State: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """One verb: what stands there first, what is done, how what stands there is told, and what it is before and after.

    `result` is what the verb gives where it succeeds; `repeated` is what it may give instead where a reply was lost.
    """

    name: str
    seed: Callable[[Store], object]
    act: Callable[[Store], object]
    look: Callable[[Any], State]
    before: State
    after: State
    result: Callable[[Any], bool]
    repeated: Callable[[Any], bool] = lambda _: False
    in_part: bool = False
    """Whether it may be done for some entities and not for others."""
    removes: bool = False
    """Whether it takes away what stands there."""
    in_steps: bool = False
    """Whether an error may come after it is done: a table that was made, and could not be looked at. Run it again."""
    made: bool = True
    """Whether the table is made before."""

    def allows(self, state: State, error: Exception | None) -> bool:
        """Tell whether a state may be left with this ending."""
        if error is None:
            return state == self.after
        whole = self.before if self.removes else self.after
        if self.in_part and isinstance(error, Unprocessed):
            listed = {dict(each.parts)["name"] if isinstance(each, Ref) else vars(each)["name"] for each in error.items}
            certain = set[Any]() if self.removes else set(self.after) - listed
            return certain <= set(state) <= (listed if self.removes else set(self.after)) and bool(listed)
        if not isinstance(error, OutcomeUnknown) and not self.in_steps:
            return state == self.before
        return state in (self.before, self.after) or (self.in_part and set(state) <= set(whole))


# What stands there ---------------------------------------------------------------------------------------------------


def rows(items: list[Any], tag: str, *attributes: str) -> State:
    """List the items of a tag, each as the texts of some of its attributes."""
    own = [item for item in items if item.get("_et", {}).get("S") == tag]
    return tuple(sorted(tuple(next(iter(item[name].values()), None) for name in attributes) for item in own))


def accounts(items: list[Any]) -> State:
    """List the accounts: name, level, balance and the sort key in the index."""
    return rows(items, "account", "name", "level", "balance", "GSI1SK")


def names(items: list[Any]) -> State:
    """List the names of the accounts."""
    return tuple(name for (name,) in rows(items, "account", "name"))


def entries(items: list[Any]) -> State:
    """List the entries by key, tombstones with their tag alone."""
    stones = tuple((item["SK"]["S"], "gone") for item in items if item.get("_et", {}).get("S") == "!gone")
    return tuple(sorted(rows(items, "entry", "SK", "memo") + stones))


def invoices(items: list[Any]) -> State:
    """List the invoices without their numbers: a reply that was lost may leave a gap."""
    return rows(items, "invoice", "memo")


def tables(found: Any) -> State:
    """Tell whether the table is there; the transport looks for it by itself."""
    return (found is not None,)


def key(n: int) -> str:
    """Write the sort key of an entry, as docs/keys.md has it: nineteen digits."""
    return f"#ENTRY#{n:019d}"


def bulk() -> list[Account]:
    """Make the accounts of the batch."""
    return [Account(name=f"{number:02d}") for number in range(BATCH)]


def account(store: Store) -> Account:
    """Store the account of most scenes."""
    return store.put(Account(name="a", balance=10))


def two_entries(store: Store) -> None:
    """Store two entries, 1 and 2."""
    for memo in ("one", "two"):
        store.create(Entry(account="a", memo=memo))


def one_invoice(store: Store) -> None:
    """Store an invoice, so that its counter is there."""
    store.create(Invoice(memo="old"))


def three() -> list[Account]:
    """Make three accounts."""
    return [Account(name=name) for name in "abc"]


def three_accounts(store: Store) -> None:
    """Store three accounts."""
    store.put_many(three())


def without_index(store: Store) -> None:
    """Make the table without its index, and store the account of most scenes."""
    sibling(store, Table("bank")).create_table()
    account(store)


def add_and_query(store: Store) -> list[Account]:
    """Add the index, and read by it."""
    store.add_index(gsi1)
    return store.query(Account.by_owner(owner="ann")).all()


def nothing(_: Store) -> None:
    """Store nothing."""


def moved(store: Store) -> Any:
    """Give a build that copies an account's balance, for the colour of a store."""

    def written(found: Any) -> Any:
        return Update(found, Account.level.set("gold")), Create(Account(name="b", balance=found.balance))

    async def awaited(tx: Any) -> Any:
        return written(await tx.one(A))

    def at_once(tx: Any) -> Any:
        return written(tx.one(A))

    return awaited if isinstance(store, Blocking) else at_once


def copied(store: Store) -> object:
    """Copy an account's balance by a build."""
    build: Callable[[Transaction], list[Any]] = moved(store)
    return store.transact(build)


A = Account.at(name="a")
BASIC = ("a", "basic", "10", "#basic#a")
GOLD = ("a", "gold", "10", "#gold#a")
PAIR = ((key(1), "one"), (key(2), "two"))

SCENES: tuple[Scene, ...] = (
    Scene(
        "create",
        nothing,
        lambda store: store.create(Account(name="a", balance=10)),
        accounts,
        before=(),
        after=(BASIC,),
        result=lambda made: made == Account(name="a", balance=10),
    ),
    Scene(
        "create, sort_key",
        two_entries,
        lambda store: store.create(Entry(account="a", memo="new")),
        entries,
        before=PAIR,
        after=(*PAIR, (key(3), "new")),
        result=lambda made: (made.n, made.memo) == (3, "new"),
    ),
    Scene(
        "create, counter",
        one_invoice,
        lambda store: store.create(Invoice(memo="new")),
        invoices,
        before=(("old",),),
        after=(("new",), ("old",)),
        result=lambda made: made.number > 1,
    ),
    Scene(
        "create, token=",
        nothing,
        lambda store: store.create(Account(name="a", balance=10), token="t"),
        accounts,
        before=(),
        after=(BASIC,),
        result=lambda made: made == Account(name="a", balance=10),
    ),
    Scene(
        "create, receipt",
        one_invoice,
        lambda store: store.create(Invoice(memo="new"), token="t"),
        invoices,
        before=(("old",),),
        after=(("new",), ("old",)),
        result=lambda made: made.number > 1,
    ),
    Scene(
        "get_or_create",
        account,
        lambda store: store.get_or_create(Account(name="a", balance=99)),
        accounts,
        before=(BASIC,),
        after=(BASIC,),
        result=lambda made: made.balance == 10,
    ),
    Scene(
        "prepared",
        two_entries,
        lambda store: store.run(store.prepare(Create(Entry(account="a", memo="new")))),
        entries,
        before=PAIR,
        after=(*PAIR, (key(3), "new")),
        result=lambda made: (made.n, made.memo) == (3, "new"),
    ),
    Scene(
        "assign",
        account,
        lambda store: store.assign(Invoice(memo="new")),
        accounts,
        before=(BASIC,),
        after=(BASIC,),
        result=lambda made: made.number >= 1,
    ),
    Scene(
        "transact",
        account,
        lambda store: store.transact(
            Update(A, Account.balance.add(-5), when=Account.balance >= 5), Create(Account(name="b", balance=5))
        ),
        accounts,
        before=(BASIC,),
        after=(("a", "basic", "5", "#basic#a"), ("b", "basic", "5", "#basic#b")),
        result=lambda made: made == (None, Account(name="b", balance=5)),
    ),
    Scene(
        "transact, numbers",
        two_entries,
        lambda store: store.transact(*(Create(Entry(account="a", memo=memo)) for memo in ("x", "y")), token="t"),
        entries,
        before=PAIR,
        after=(*PAIR, (key(3), "x"), (key(4), "y")),
        result=lambda made: [each.n for each in made] == [3, 4],
    ),
    Scene(
        "transact, build",
        account,
        copied,
        accounts,
        before=(BASIC,),
        after=(GOLD, ("b", "basic", "10", "#basic#b")),
        result=lambda made: made == (None, Account(name="b", balance=10)),
    ),
    Scene(
        "get_many, transactional",
        account,
        lambda store: store.get_many(A, Account.at(name="b"), transactional=True),
        accounts,
        before=(BASIC,),
        after=(BASIC,),
        result=lambda found: found == (Account(name="a", balance=10), None),
    ),
    Scene(
        "put",
        account,
        lambda store: store.put(Account(name="a", balance=20)),
        accounts,
        before=(BASIC,),
        after=(("a", "basic", "20", "#basic#a"),),
        result=lambda made: made.balance == 20,
    ),
    Scene(
        "put, when=",
        account,
        lambda store: store.put(Account(name="a", balance=20), when=Account.balance == 10),
        accounts,
        before=(BASIC,),
        after=(("a", "basic", "20", "#basic#a"),),
        result=lambda made: made.balance == 20,
    ),
    Scene(
        "update, set",
        account,
        lambda store: store.update(A, Account.balance.set(20)),
        accounts,
        before=(BASIC,),
        after=(("a", "basic", "20", "#basic#a"),),
        result=lambda made: made.balance == 20,
    ),
    Scene(
        "update, index",
        account,
        lambda store: store.update(A, Account.level.set("gold")),
        accounts,
        before=(BASIC,),
        after=(GOLD,),
        result=lambda made: made.level == "gold",
    ),
    Scene(
        "update, add",
        account,
        lambda store: store.update(A, Account.balance.add(5)),
        accounts,
        before=(BASIC,),
        after=(("a", "basic", "15", "#basic#a"),),
        result=lambda made: made.balance == 15,
    ),
    Scene(
        "delete",
        account,
        lambda store: store.delete(A),
        accounts,
        before=(BASIC,),
        after=(),
        result=lambda old: old == Account(name="a", balance=10),
        repeated=lambda old: old is None,
    ),
    Scene(
        "delete, tombstone",
        two_entries,
        lambda store: store.delete(Entry.at(account="a", n=2)),
        entries,
        before=PAIR,
        after=((key(1), "one"), (key(2), "gone")),
        result=lambda old: old is not None and (old.n, old.memo) == (2, "two"),
        repeated=lambda old: old is None,
    ),
    Scene(
        "get",
        account,
        lambda store: store.get(A),
        accounts,
        before=(BASIC,),
        after=(BASIC,),
        result=lambda found: found == Account(name="a", balance=10),
    ),
    Scene(
        "query",
        two_entries,
        lambda store: store.query(Entry.key(account="a")).all(),
        entries,
        before=PAIR,
        after=PAIR,
        result=lambda found: [each.n for each in found] == [1, 2],
    ),
    Scene(
        "query, index",
        account,
        lambda store: store.query(Account.by_owner(owner="ann")).all(),
        accounts,
        before=(BASIC,),
        after=(BASIC,),
        result=lambda found: [each.name for each in found] == ["a"],
    ),
    Scene(
        "count",
        two_entries,
        lambda store: store.count(Entry.key(account="a")),
        entries,
        before=PAIR,
        after=PAIR,
        result=lambda found: found == 2,
    ),
    Scene(
        "put_many",
        nothing,
        lambda store: store.put_many(bulk()),
        names,
        before=(),
        after=tuple(each.name for each in bulk()),
        result=lambda made: len(made) == BATCH,
        in_part=True,
    ),
    Scene(
        "one",
        account,
        lambda store: store.one(A),
        accounts,
        before=(BASIC,),
        after=(BASIC,),
        result=lambda found: found == Account(name="a", balance=10),
    ),
    Scene(
        "first",
        two_entries,
        lambda store: store.first(Entry.key(account="a").descending()),
        entries,
        before=PAIR,
        after=PAIR,
        result=lambda found: found.n == 2,
    ),
    Scene(
        "query, merged",
        three_accounts,
        lambda store: store.query(*(Account.key(name=name) for name in "ab"), merged=True).all(),
        names,
        before=("a", "b", "c"),
        after=("a", "b", "c"),
        result=lambda found: [each.name for each in found] == ["a", "b"],
    ),
    Scene(
        "get_many",
        three_accounts,
        lambda store: store.get_many(*(Account.at(name=name) for name in "cxa")),
        names,
        before=("a", "b", "c"),
        after=("a", "b", "c"),
        result=lambda found: [each and each.name for each in found] == ["c", None, "a"],
    ),
    Scene(
        "scan",
        three_accounts,
        lambda store: store.scan(Account, segments=2).all(),
        names,
        before=("a", "b", "c"),
        after=("a", "b", "c"),
        result=lambda found: sorted(each.name for each in found) == ["a", "b", "c"],
    ),
    Scene(
        "create_many",
        nothing,
        lambda store: store.create_many(three()),
        names,
        before=(),
        after=("a", "b", "c"),
        result=lambda made: [each.name for each in made] == ["a", "b", "c"],
        in_part=True,
    ),
    Scene(
        "delete_many",
        three_accounts,
        lambda store: store.delete_many(three()),
        names,
        before=("a", "b", "c"),
        after=(),
        result=lambda made: made is None,
        in_part=True,
        removes=True,
    ),
    Scene(
        "create_table",
        nothing,
        lambda store: store.create_table(),
        tables,
        before=(False,),
        after=(True,),
        result=lambda made: made is None,
        in_steps=True,
        made=False,
    ),
    Scene(
        "diff_table",
        nothing,
        lambda store: store.diff_table(),
        tables,
        before=(True,),
        after=(True,),
        result=lambda diff: not diff and diff.extra_indexes == (),
    ),
    Scene(
        "add_index",
        without_index,
        add_and_query,
        accounts,
        before=(BASIC,),
        after=(BASIC,),
        result=lambda found: [each.name for each in found] == ["a"],
        in_steps=True,
        made=False,
    ),
    Scene(
        "delete_table",
        nothing,
        lambda store: store.delete_table(),
        tables,
        before=(True,),
        after=(False,),
        result=lambda made: made is None,
        in_steps=True,
    ),
)
