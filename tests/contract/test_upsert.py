"""An update that makes what is missing, what writes give of the old item, and moves to another key."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    ConditionFailed,
    CreatedAt,
    Entity,
    ExpiresAt,
    Field,
    ForeignItem,
    GlobalIndex,
    Key,
    Move,
    NotFound,
    Store,
    Table,
    TransactionFailed,
    UniqueViolation,
    UnknownPart,
    Update,
    UpdatedAt,
    UsageError,
    Version,
    VersionConflict,
    computed,
    to_item,
    unique_ref,
)
from tests.contract.behind import CountingClient, client_of, everything, in_threads, item_at, sibling, write
from tests.contract.conftest import MakeStore

gsi1 = GlobalIndex("GSI1")
gsi2 = GlobalIndex("GSI2")
app = Table("upsert", indexes=[gsi1, gsi2])

T0 = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Page(Entity, table=app, tag="page"):
    site: Field[str]
    slug: Field[str]
    title: Field[str] = Field(default="untitled")
    visits: Field[int] = Field(default=0)
    topic: Field[str | None] = Field(default=None)
    made_at: Field[datetime] = CreatedAt()
    changed_at: Field[datetime] = UpdatedAt()
    version: Field[int] = Version()

    key = Key(pk="#SITE#{site}", sk="#PAGE#{slug}")
    by_slug = Key(on=gsi1, pk="#SLUG#{slug}", sk="#{site}")
    by_topic = Key(on=gsi2, pk="#TOPIC#{topic}", sk="#{slug}")


class Shelf(Entity, table=app, tag="shelf"):
    """What one request cannot make: index keys of defaults, values that may be absent, what is computed."""

    site: Field[str]
    name: Field[str]
    owner: Field[str] = Field(read_only=True)
    city: Field[str] = Field(default="Rome")
    note: Field[str | None] = Field(default="new")
    books: Field[int] = Field(default=0)

    key = Key(pk="#SITE#{site}", sk="#SHELF#{name}")
    by_city = Key(on=gsi1, pk="#CITY#{city}", sk="#{name}")

    @computed
    def weight(self) -> int:
        return self.books * 2


class Post(Entity, table=app, tag="post"):
    site: Field[str]
    number: Field[int] = AutoIncrement()
    text: Field[str]

    key = Key(pk="#SITE#{site}", sk="#POST#{number}")


class Badge(Entity, table=app, tag="badge"):
    site: Field[str]
    name: Field[str]
    serial: Field[int] = AutoIncrement("counter")
    email: Field[str | None] = Field(default=None, unique=True)

    key = Key(pk="#SITE#{site}", sk="#BADGE#{name}")


lasting = Table("lasting")


class Lease(Entity, table=lasting, tag="lease"):
    name: Field[str]
    holds: Field[int] = Field(default=0)
    until: Field[datetime] = ExpiresAt(after=timedelta(hours=1))

    key = Key(pk="#LEASE#{name}", sk="#LEASE")


HOME = Page.at(site="s", slug="home")
SHELF = Shelf.at(site="s", name="a")


def counting(store: Store, at: datetime = T0) -> tuple[Store, Counter[str]]:
    """Give a store in the same place whose clock stands still, with what it sends."""
    client = CountingClient(client_of(store))
    return sibling(store, client=client, clock=lambda: at), client.calls


def as_stored(store: Store, page: Page) -> None:
    """See to it that a page is stored as its entity would be, but for the ids of writes: no ghost, no stale key."""
    marks = {"_c", "_w"}
    item = item_at(store, Page.at(site=page.site, slug=page.slug)) or {}
    wanted = to_item(page)
    assert {name: item[name] for name in item.keys() - marks} == {name: wanted[name] for name in wanted.keys() - marks}


def test_one_request_changes_or_makes(backend: MakeStore) -> None:
    """Cases C5, C10, C14, C15: tag, key fields, defaults, times and every complete index key, in one UpdateItem."""
    store, calls = counting(backend(app))
    made = store.update(HOME, Page.visits.add(1), Page.topic.set("news"), missing="create")
    assert made == Page(
        site="s",
        slug="home",
        visits=1,
        topic="news",
        made_at=T0,
        changed_at=T0,
        version=1,
    )
    assert calls == {"update_item": 1}
    as_stored(store, made)
    later, calls = counting(store, T0 + timedelta(hours=1))
    again = later.update(HOME, {"topic": None, "title": "Home"}, Page.visits.add(1), missing="create")
    assert calls == {"update_item": 1}
    assert (again.visits, again.version, again.made_at, again.topic, again.title) == (2, 2, T0, None, "Home")
    as_stored(later, again)
    assert [page.slug for page in store.query(Page.by_slug(slug="home"))] == ["home"]


def test_what_one_request_cannot_make_takes_two(backend: MakeStore) -> None:
    """Defaults in index keys, values that may be absent and computed ones: a read and a put; what stands is kept."""
    store, calls = counting(backend(app))
    made = store.update(SHELF, {"owner": "ann"}, Shelf.books.add(1), missing="create")
    assert made == Shelf(site="s", name="a", owner="ann", city="Rome", note="new", books=1)
    assert calls == {"get_item": 1, "put_item": 1}
    assert item_at(store, SHELF) is not None
    assert (item_at(store, SHELF) or {})["GSI1PK"] == {"S": "#CITY#Rome"}
    store.update(SHELF, {"note": None, "city": "Oslo"})
    kept = store.update(SHELF, {"owner": "bob"}, Shelf.books.add(1), missing="create")
    assert (kept.owner, kept.note, kept.city, kept.books, kept.weight) == ("ann", None, "Oslo", 2, 4)
    assert (item_at(store, SHELF) or {})["GSI1PK"] == {"S": "#CITY#Oslo"}


def test_it_must_know_every_required_field(backend: MakeStore) -> None:
    """What is not said, or does not fit, raises before anything is sent; an entity that is handed in says it all."""
    store, calls = counting(backend(app))
    with pytest.raises(UsageError, match=r"does not say owner"):
        store.update(SHELF, {"city": "Oslo"}, missing="create")
    with pytest.raises(UsageError, match="read-only"):
        store.update(SHELF, {"owner": "ann"})
    with pytest.raises(UsageError, match="missing="):
        store.update(SHELF, {"city": "Oslo"}, missing="make")  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="returning="):
        store.update(SHELF, {"city": "Oslo"}, returning="all")  # type: ignore[call-overload]
    assert not calls
    shelf = Shelf(site="s", name="a", owner="ann", note="mine")
    assert store.update(shelf, {"city": "Oslo"}, missing="create").note == "mine"
    with pytest.raises(NotFound):
        store.update(Shelf.at(site="s", name="b"), {"city": "Oslo"})


def test_conditions_versions_and_others_items(backend: MakeStore) -> None:
    """A condition is judged on nothing; a version that is gone, a tombstone and another's item stay what they are."""
    store = backend(app)
    with pytest.raises(ConditionFailed, match="nothing stands") as caught:
        store.update(HOME, Page.visits.add(1), when=Page.visits >= 0, missing="create")
    assert caught.value.current is None
    page = store.update(HOME, Page.visits.add(1), when=Page.slug.does_not_exist(), missing="create")
    store.delete(HOME)
    with pytest.raises(VersionConflict, match="any more"):
        store.update(page, Page.visits.add(1), missing="create")
    assert everything(store) == []
    post = store.create(Post(site="s", text="x"))
    store.delete(post)
    with pytest.raises(AlreadyExists, match="stays taken"):
        store.update(post, {"text": "y"}, missing="create")
    write(store, {**HOME.key, "_et": {"S": "other"}})
    with pytest.raises(ForeignItem):
        store.update(HOME, Page.visits.add(1), missing="create")


def test_what_has_expired_is_made_anew(backend: MakeStore) -> None:
    """An item that has expired is replaced as a whole, and gives no old one."""
    store, calls = counting(backend(lasting))
    at = Lease.at(name="n")
    for _ in range(2):
        store.get_or_create(Lease(name="other"))
    calls.clear()
    assert store.update(at, Lease.holds.add(1), missing="create", returning="old") is None
    assert (calls["update_item"], calls["put_item"]) == (1, 1)
    later, _ = counting(store, T0 + timedelta(hours=2))
    made = later.update(at, Lease.holds.add(1), missing="create")
    assert made == Lease(name="n", holds=1, until=T0 + timedelta(hours=3))
    latest, _ = counting(store, T0 + timedelta(hours=4))
    assert latest.put(Lease(name="n"), returning="old") is None
    assert latest.put(Lease(name="n", holds=5), returning="old") == Lease(name="n", until=T0 + timedelta(hours=5))


def test_many_at_once_lose_no_change(backend: MakeStore) -> None:
    """Of writers that all make the item, one does, and every addition counts."""
    store = backend(app)
    at = Shelf.at(site="s", name="z")

    def add(_: int) -> object:
        return sibling(store).update(HOME, Page.visits.add(1), missing="create"), sibling(store).update(
            at, {"owner": "ann"}, Shelf.books.add(1), missing="create"
        )

    in_threads(4, add)
    assert store.one(HOME).visits == store.one(HOME).version == 4
    assert store.one(at).books == 4


def test_returning(backend: MakeStore) -> None:
    """The old entity, or nothing, is given without a further request."""
    store, calls = counting(backend(app))
    assert store.put(Shelf(site="s", name="a", owner="ann"), returning="old") is None
    old = store.put(Shelf(site="s", name="a", owner="bob"), returning="old")
    assert old == Shelf(site="s", name="a", owner="ann")
    assert store.update(HOME, Page.visits.add(1), missing="create", returning="old") is None
    before = store.update(HOME, Page.visits.add(1), returning="old")
    assert before is not None
    assert before.visits == 1
    store.update(HOME, Page.visits.add(1), returning=None)
    assert store.put(Post(site="s", text="x"), returning="old") is None
    assert calls == {"put_item": 3, "update_item": 3, "query": 1}
    assert store.one(HOME).visits == 3


def test_unique_values_and_numbers(transacting: MakeStore) -> None:
    """Guards are taken by what is made, its number is drawn then alone, and the old one is exact."""
    store, calls = counting(transacting(app))
    ann, bob = Badge.at(site="s", name="ann"), Badge.at(site="s", name="bob")
    made = store.update(ann, {"email": "a@b.c"}, missing="create")
    assert made == Badge(site="s", name="ann", serial=1, email="a@b.c")
    assert calls == {"get_item": 1, "update_item": 1, "transact_write_items": 1}
    with pytest.raises(UniqueViolation):
        store.update(bob, {"email": "a@b.c"}, missing="create")
    assert store.update(ann, {"email": "n@b.c"}, missing="create", returning="old") == made
    assert store.put(Badge(site="s", name="ann", serial=1, email="x@b.c"), returning="old") == Badge(
        site="s", name="ann", serial=1, email="n@b.c"
    )
    assert store.one(unique_ref(Badge, email="x@b.c")).serial == 1
    results = store.transact(
        Update(HOME, Page.visits.add(2), missing="create"), Update(SHELF, {"owner": "o"}, missing="create")
    )
    assert results == (None, None)
    assert store.one(HOME).visits == 2
    assert store.one(SHELF).city == "Rome"


def test_move(transacting: MakeStore) -> None:
    """Everything goes along: index keys, version, time, guards; nothing is left, and two requests do it."""
    store = transacting(app)
    page = sibling(store, clock=lambda: T0).create(Page(site="s", slug="home", topic="news"))
    later, calls = counting(store, T0 + timedelta(hours=1))
    moved = later.move(page, slug="start")
    assert calls == {"get_item": 1, "transact_write_items": 1}
    assert moved.made_at == T0
    assert (moved.slug, moved.topic, moved.version, moved.changed_at) == ("start", "news", 2, T0 + timedelta(hours=1))
    as_stored(later, moved)
    assert len(everything(store)) == 1
    assert [each.slug for each in store.query(Page.by_slug(slug="home"))] == []
    with pytest.raises(NotFound):
        store.move(HOME, site="t")
    store.update(moved, Page.visits.add(1))
    with pytest.raises(VersionConflict):
        store.move(moved, site="t")
    store.create(Page(site="t", slug="start"))
    with pytest.raises(AlreadyExists) as caught:
        store.move(Page.at(site="s", slug="start"), site="t")
    assert caught.value.existing == store.one(Page.at(site="t", slug="start"))


def test_a_move_is_refused_before_it_is_sent(backend: MakeStore) -> None:
    """Parts that are none, the same key, and numbers are refused."""
    store, calls = counting(backend(app))
    with pytest.raises(UnknownPart):
        store.move(HOME, title="x")
    for parts in ({}, {"slug": "home"}):
        with pytest.raises(UsageError):
            store.move(HOME, **parts)
    with pytest.raises(UsageError, match="drawn"):
        store.move(Post.at(site="s", number=1), number=2)
    assert not calls


def test_moves_of_numbers_and_guards(transacting: MakeStore) -> None:
    """A sort-key number is drawn anew and the old one stays taken; a guard names its new owner, a value is kept."""
    store = transacting(app)
    store.create_many([Post(site="s", text="a"), Post(site="t", text="b"), Post(site="t", text="c")])
    moved = store.move(Post.at(site="s", number=1), site="t")
    assert moved == Post(site="t", number=3, text="a")
    assert store.create(Post(site="s", text="d")).number == 2
    assert store.create(Post(site="t", text="e")).number == 4
    store.create(Badge(site="s", name="ann", email="a@b.c"))
    (badge, none) = store.transact(
        Move(Badge.at(site="s", name="ann"), site="t"), Update(HOME, Page.visits.add(1), missing="create")
    )
    assert (badge, none) == (Badge(site="t", name="ann", serial=1, email="a@b.c"), None)
    assert store.one(unique_ref(Badge, email="a@b.c")) == badge
    store.update(badge, {"email": "n@b.c"})
    store.create(Badge(site="s", name="bob", email="a@b.c"))
    with pytest.raises(TransactionFailed) as caught:
        store.transact(Move(Post.at(site="s", number=1), site="u"))
    assert isinstance(caught.value.exceptions[0], NotFound)


def test_a_prepared_move_happens_once(transacting: MakeStore) -> None:
    """Run again, by whomever, it gives what it moved."""
    store = transacting(app)
    post = store.create(Post(site="s", text="a"))
    prepared = store.prepare(Move(post, site="t"))
    assert store.run(prepared) == sibling(store).run(prepared) == Post(site="t", number=1, text="a")
    upsert = store.prepare(Update(HOME, Page.visits.add(1), missing="create"))
    assert store.run(upsert) == sibling(store).run(upsert)
    assert store.one(HOME).visits == 1
