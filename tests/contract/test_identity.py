"""No value forges a key, no item of another entity is touched, nothing unknown is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from singletable import AlreadyExists, CorruptItem, Entity, Field, ForeignItem, Key, Table, evolve
from singletable.wire import Item
from tests.contract.behind import everything, item_at, write
from tests.contract.conftest import MakeStore
from tests.contract.shop import Order, Region, User, app, order

NASTY = (
    "user1",
    "user10",
    "User1",
    "USER1",
    "user",
    "user1#",
    "#user1",
    "#",
    "##",
    "#PROFILE",
    "user1#PROFILE",
    "user1#ORDER#1",
    "%",
    "%23",
    "%%",
    "user1%23",
    "$",
    "user1$",
    "!",
    "!SEQ#order.order_id",
    "#!SEQ#order.order_id",
    " ",
    "user 1",
    " user1",
    "user1 ",
    "\t",
    "user1\n",
    "user1\x00",
    "\x00",
    "{user_id}",
    "*",
    "?",
    "😀",
    "😀😀",
    "\uffff",
    "\U0010ffff",
    "é",
    "e\u0301",
    "中国",
    "'; DROP TABLE",
    "u" * 2000,
)


def test_no_id_overwrites_or_reads_another(backend: MakeStore) -> None:
    """Every id is an item of its own: created without clash, got and queried back alone."""
    store = backend(app)
    for user_id in NASTY:
        store.create(User(user_id=user_id, name=f"name of {user_id}"))
    assert len(everything(store)) == len(NASTY)
    for user_id in NASTY:
        expected = User(user_id=user_id, name=f"name of {user_id}")
        assert store.one(User.at(user_id=user_id)) == expected
        assert store.query(User.key(user_id=user_id)).all() == [expected]


def test_no_id_counts_in_another_partition(backend: MakeStore) -> None:
    """Each user's first order is number 1, and each user's query gives that order alone."""
    store = backend(app)
    for user_id in NASTY:
        assert store.create(order(user_id)).order_id == 1
    for user_id in NASTY:
        assert [found.user_id for found in store.query(Order.key(user_id=user_id))] == [user_id]


def test_no_value_leaks_out_of_its_group(backend: MakeStore) -> None:
    """A status that holds delimiters, or begins as another does, is a group of its own in the composite key."""
    store = backend(app)
    statuses = NASTY[:-1]
    for status in statuses:
        store.create(order(status=status))
    for status in statuses:
        assert [found.status for found in store.query(Order.by_status(user_id="u1", status=status))] == [status]


def test_no_name_is_a_level_of_a_path(backend: MakeStore) -> None:
    """('a', 'b') and ('a#b',) are two nodes; neither is below the other."""
    store = backend(app)
    paths = [("a",), ("a", "b"), ("a#b",), ("a%23b",), ("a$",), ("a ",), ("a\x00",), ("a", "#"), ("a#",)]
    store.put_many(Region(country="X", path=path, name="n") for path in paths)
    for path in paths:
        assert store.one(Region.at(country="X", path=path)).path == path
    node = Region.key(country="X", path=("a",))
    assert {region.path for region in store.query(node.below())} == {("a", "b"), ("a", "#")}
    store.create(Region(country="X", path=("A", "b"), name="n"))
    assert {region.path for region in store.query(node)} == {("a",), ("a", "b"), ("a", "#")}


def test_another_entitys_item_is_never_touched(backend: MakeStore) -> None:
    """Get raises ForeignItem with its tag; create, put, update and delete refuse; the item is as it was."""
    store = backend(app)
    foreign = write(
        store,
        {"PK": {"S": "#USER#u1"}, "SK": {"S": "#PROFILE"}, "_et": {"S": "post"}, "text": {"S": "x"}, "n": {"N": "1"}},
    )
    at = User.at(user_id="u1")
    verbs: dict[str, Callable[[], object]] = {
        "get": lambda: store.get(at),
        "one": lambda: store.one(at, consistent=True),
        "put": lambda: store.put(User(user_id="u1", name="Ann")),
        "put when": lambda: store.put(User(user_id="u1", name="Ann"), when=User.name.does_not_exist()),
        "update": lambda: store.update(at, User.name.set("Ann")),
        "update read first": lambda: store.update(at, User.email.set("a@x.org")),
        "delete": lambda: store.delete(at),
        "delete when": lambda: store.delete(at, when=User.name.does_not_exist()),
    }
    for verb, run in verbs.items():
        with pytest.raises(ForeignItem) as caught:
            run()
        assert caught.value.found == "post", verb
    with pytest.raises(AlreadyExists) as taken:
        store.create(User(user_id="u1", name="Ann"))
    assert taken.value.existing is None
    assert store.query(User.key(user_id="u1")).all() == []
    assert everything(store) == [foreign]


def test_a_foreign_item_at_a_numbered_key(backend: MakeStore) -> None:
    """An entity that leaves tombstones buries nobody else's item."""
    store = backend(app)
    foreign = write(
        store, {"PK": {"S": "#USER#u1"}, "SK": {"S": "#ORDER#0000000000000000001"}, "_et": {"S": "invoice"}}
    )
    verbs: list[Callable[[], object]] = [
        lambda: store.get(Order.at(user_id="u1", order_id=1)),
        lambda: store.delete(Order.at(user_id="u1", order_id=1)),
        lambda: store.put(evolve(order(), order_id=1)),
    ]
    for run in verbs:
        with pytest.raises(ForeignItem):
            run()
    assert everything(store) == [foreign]
    assert store.create(order()).order_id == 2
    assert store.count(Order.key(user_id="u1")) == 1


@pytest.mark.parametrize("tag", [None, {"N": "1"}, {"S": "User"}, {"S": ""}], ids=["none", "number", "case", "empty"])
def test_an_item_without_our_tag_is_foreign(backend: MakeStore, tag: dict[str, str] | None) -> None:
    """A missing tag, one of another type and one of another case are not ours."""
    store = backend(app)
    item = {"PK": {"S": "#USER#u1"}, "SK": {"S": "#PROFILE"}, "name": {"S": "Ann"}}
    write(store, item if tag is None else {**item, "_et": tag})
    with pytest.raises(ForeignItem):
        store.get(User.at(user_id="u1"))
    with pytest.raises(ForeignItem):
        store.delete(User.at(user_id="u1"))
    assert len(everything(store)) == 1


def test_unknown_attributes_survive(backend: MakeStore) -> None:
    """What a newer program stored beside our fields is there after a read and put, an evolve and an update."""
    store = backend(app)
    extra: Item = {
        "added_later": {"M": {"list": {"L": [{"N": "1"}, {"NULL": True}]}, "bytes": {"B": b"\x00\xff"}}},
        "flags": {"SS": ["a", "b"]},
        "_c": {"S": "made elsewhere"},
    }
    write(
        store,
        {"PK": {"S": "#USER#u1"}, "SK": {"S": "#PROFILE"}, "_et": {"S": "user"}, "name": {"S": "Ann"}, **extra},
    )
    ann = store.one(User.at(user_id="u1"))
    assert ann == User(user_id="u1", name="Ann")
    store.put(evolve(ann, name="Anna"))
    store.update(User.at(user_id="u1"), User.email.set("a@x.org"))
    (again,) = store.query(User.by_email(email="a@x.org"))
    store.put(evolve(again, email=None))
    item = item_at(store, User.at(user_id="u1"))
    assert item is not None
    item["flags"]["SS"].sort()
    assert item == {
        "PK": {"S": "#USER#u1"},
        "SK": {"S": "#PROFILE"},
        "_et": {"S": "user"},
        "user_id": {"S": "u1"},
        "name": {"S": "Anna"},
        **extra,
    }


def test_an_item_that_contradicts_itself_says_so(backend: MakeStore) -> None:
    """A key that differs from the item's own attributes is corrupt, as is a value of another type."""
    store = backend(app)
    base = {"PK": {"S": "#USER#u1"}, "SK": {"S": "#PROFILE"}, "_et": {"S": "user"}, "name": {"S": "Ann"}}
    write(store, {**base, "user_id": {"S": "u2"}})
    with pytest.raises(CorruptItem):
        store.get(User.at(user_id="u1"))
    write(store, {**base, "name": {"N": "1"}})
    with pytest.raises(CorruptItem) as caught:
        store.query(User.key(user_id="u1")).all()
    assert (caught.value.entity, caught.value.field) == ("User", "name")


def test_an_alias_is_read_and_written_over(backend: MakeStore) -> None:
    """Items under an older tag are read, queried, counted; a put renews the tag."""
    table = Table("renamed")

    class Member(Entity, table=table, tag="member", aliases=["user", "person"]):
        name: Field[str]
        age: Field[int] = Field(default=0)
        key = Key(pk="#MEMBER#{name}", sk="#MEMBER")

    store = backend(table)
    for tag in ("user", "person"):
        write(store, {"PK": {"S": f"#MEMBER#{tag}"}, "SK": {"S": "#MEMBER"}, "_et": {"S": tag}})
    assert store.one(Member.at(name="user")) == Member(name="user")
    assert store.count(Member.key(name="person")) == 1
    assert store.update(Member.at(name="person"), Member.age.add(1)).age == 1
    store.put(Member(name="user"))
    item = item_at(store, Member.at(name="user"))
    assert item is not None
    assert item["_et"] == {"S": "member"}
    assert store.delete(Member.at(name="person")) == Member(name="person", age=1)
