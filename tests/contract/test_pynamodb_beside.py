"""PynamoDB's models on the same table beside our entities: each reads what the other wrote.

PynamoDB makes a client of its own, which the embedded engine does not reach, so this runs on the servers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, TypedDict

import pytest
from pynamodb.attributes import (
    BinaryAttribute,
    BinarySetAttribute,
    BooleanAttribute,
    DiscriminatorAttribute,
    DynamicMapAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NullAttribute,
    NumberAttribute,
    NumberSetAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
    VersionAttribute,
)
from pynamodb.exceptions import PutError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model

from singletable import ConditionFailed, Entity, Field, ForeignItem, GlobalIndex, Key, Store, Table, evolve
from singletable.wire import Item
from tests.contract.behind import REGION, everything, item_under, session, sibling

Beside: TypeAlias = Callable[..., Store]
"""Make a table on the engine and a store of it, and point PynamoDB's models at it."""

NOON = datetime(2026, 1, 2, 12, 0, 0, 5, tzinfo=UTC)
UNTIL = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["dynoxide", "dynalite"])
def beside(request: pytest.FixtureRequest, table_name: str) -> Iterator[Beside]:
    """Give a maker of stores whose table PynamoDB's models use too; the table is deleted again."""
    url, made = request.getfixturevalue(f"{request.param}_url"), list[Store]()

    def make(table: Table, *models: type[Model]) -> Store:
        store = Store(table, name=table_name, endpoint_url=url, region=REGION, session=session())
        store.create_table()
        made.append(store)
        for model in models:
            point(model, table_name, url)
        return store

    yield make
    for store in made:
        store.delete_table()
        store.close()


def point(model: Any, name: str, url: str) -> None:
    """Point a model at a table of an engine; PynamoDB keeps a connection with each class."""
    model.Meta.table_name, model.Meta.host, model.Meta.region = name, url, REGION
    model.Meta.aws_access_key_id = model.Meta.aws_secret_access_key = "test"
    model._connection = None


# Every attribute ------------------------------------------------------------------------------------------------------


def declared(base: Any, name: str, *, discriminator: str | None = None, **attributes: Any) -> Any:
    """Write `class name(base): ...` for PynamoDB, whose types say nothing that a strict checker would take."""
    body = {"Meta": type("Meta", (), {"table_name": ""}), **attributes} if base is Model else attributes
    options = {} if discriminator is None else {"discriminator": discriminator}
    make: Callable[..., Any] = getattr(base, "__class__")  # noqa: B009  # a metaclass, which pyright takes for `object`
    return make(name, (base,), dict(body), **options)


Size = declared(MapAttribute, "Size", width=NumberAttribute(), unit=UnicodeAttribute(null=True))
Extra = declared(DynamicMapAttribute, "Extra", seen=UTCDateTimeAttribute(null=True))
raw_map: Any = MapAttribute
list_of: Any = ListAttribute


def attributes() -> dict[str, Any]:
    """Make one of each attribute."""
    return {
        "text": UnicodeAttribute(),
        "blob": BinaryAttribute(legacy_encoding=False),
        "old_blob": BinaryAttribute(legacy_encoding=True),
        "names": UnicodeSetAttribute(),
        "numbers": NumberSetAttribute(),
        "blobs": BinarySetAttribute(legacy_encoding=False),
        "old_blobs": BinarySetAttribute(legacy_encoding=True),
        "amount": NumberAttribute(),
        "price": NumberAttribute(),
        "flag": BooleanAttribute(),
        "at_time": UTCDateTimeAttribute(),
        "doc": JSONAttribute(),
        "things": list_of(),
        "words": list_of(of=UnicodeAttribute),
        "sizes": list_of(of=Size),
        "size": Size(),
        "free": raw_map(),
        "extra": Extra(),
        "until": TTLAttribute(),
        "version": VersionAttribute(),
        "nothing": NullAttribute(null=True),
    }


def table_key() -> dict[str, Any]:
    """Make the key attributes of a table of ours."""
    return {
        "pk": UnicodeAttribute(hash_key=True, attr_name="PK"),
        "sk": UnicodeAttribute(range_key=True, attr_name="SK"),
    }


CODECS = attributes()

VALUES: dict[str, Any] = {
    "text": "ä#b",
    "blob": b"\x00\xff",
    "old_blob": b"\x00\xff",
    "names": {"a", "b"},
    "numbers": {1, 2.5},
    "blobs": {b"a", b"\x00"},
    "old_blobs": {b"a", b"\x00"},
    "amount": 7,
    "price": 9.25,
    "flag": False,
    "at_time": NOON,
    "doc": {"a": [1, 2.5, None, "x"]},
    "things": ["a", 1, {"b": [True, None]}, {"s"}],
    "words": ["a", "b"],
    "sizes": [{"width": 2, "unit": "m"}, {"width": 3}],
    "size": {"width": 2, "unit": "m"},
    "free": {"a": 1, "b": {"c": ["d"]}, "n": None},
    "extra": {"seen": NOON, "b": 1},
    "until": UNTIL,
    "version": 1,
    "nothing": None,
}
"""A value of each; the version is that of an item saved once."""


Everything = declared(Model, "Everything", **table_key(), **attributes())

kept = Table("kept", tag=None, raw=True)
native = Table("native", tag=None, raw=True)


class Kept(Entity, table=kept):
    """The same item, each field with PynamoDB's own attribute as its codec."""

    name: Field[str]
    text: Field[str] = Field(codec=CODECS["text"])
    blob: Field[bytes] = Field(codec=CODECS["blob"])
    old_blob: Field[bytes] = Field(codec=CODECS["old_blob"])
    names: Field[set[str]] = Field(codec=CODECS["names"])
    numbers: Field[set[float]] = Field(codec=CODECS["numbers"])
    blobs: Field[set[bytes]] = Field(codec=CODECS["blobs"])
    old_blobs: Field[set[bytes]] = Field(codec=CODECS["old_blobs"])
    amount: Field[int] = Field(codec=CODECS["amount"])
    price: Field[float] = Field(codec=CODECS["price"])
    flag: Field[bool] = Field(codec=CODECS["flag"])
    at_time: Field[datetime] = Field(codec=CODECS["at_time"])
    doc: Field[Any] = Field(codec=CODECS["doc"])
    things: Field[list[Any]] = Field(codec=CODECS["things"])
    words: Field[list[str]] = Field(codec=CODECS["words"])
    sizes: Field[list[Any]] = Field(codec=CODECS["sizes"])
    size: Field[dict[str, Any]] = Field(codec=CODECS["size"])
    free: Field[dict[str, Any]] = Field(codec=CODECS["free"])
    extra: Field[dict[str, Any]] = Field(codec=CODECS["extra"])
    until: Field[datetime] = Field(codec=CODECS["until"])
    version: Field[int] = Field(codec=CODECS["version"])
    nothing: Field[None] = Field(codec=CODECS["nothing"], default=None)

    key = Key(pk="ALL#{name}", sk="INFO")


class Members(TypedDict, total=False):
    """The members of Size."""

    width: int
    unit: str


class Native(Entity, table=native):
    """The same item by annotations alone, as far as they read it."""

    name: Field[str]
    text: Field[str]
    blob: Field[bytes]
    names: Field[set[str]]
    numbers: Field[set[Decimal]]
    blobs: Field[set[bytes]]
    amount: Field[int]
    price: Field[float]
    flag: Field[bool]
    at_time: Field[datetime]
    things: Field[list[Any]]
    words: Field[list[str]]
    sizes: Field[list[Members]]
    size: Field[Members]
    free: Field[dict[str, Any]]
    until: Field[int]
    version: Field[int]

    key = Key(pk="ALL#{name}", sk="INFO")


OURS = {"PK", "name", "_c"}
"""What our items hold more, and the key, which differs in every test."""

OTHERWISE = {"at_time"}
"""What our annotations read and write, but in another text."""

SEEN_BY_NATIVE: dict[str, Any] = {**VALUES, "until": int(UNTIL.timestamp()), "numbers": {Decimal(1), Decimal("2.5")}}


def save_everything() -> None:
    """Make the item by PynamoDB and save it."""
    Everything("ALL#p", "INFO", **{name: value for name, value in VALUES.items() if name != "version"}).save()


def shown(model: Any) -> dict[str, Any]:
    """Give what a model read, its maps as dicts."""
    return {name: plain(getattr(model, name)) for name in VALUES}


def plain(value: Any) -> Any:
    """Take PynamoDB's maps apart."""
    if isinstance(value, MapAttribute):
        members: dict[str, Any] = value.attribute_values
        return {
            name: plain(each) for name, each in members.items() if name != "attribute_values"
        }  # an oversight of PynamoDB's
    kind: object = value.__class__
    return list(map(plain, value)) if kind is list else value


def stored(store: Store, name: str, *, without: set[str]) -> Item:
    """Read an item as it is, sets in order, numbers by value and without what differs on purpose."""
    item = item_under(store, {"PK": {"S": name}, "SK": {"S": "INFO"}})
    assert item is not None
    return {attribute: settled(value) for attribute, value in item.items() if attribute not in {*OURS, *without}}


def settled(attribute: Any) -> Any:
    """Put what DynamoDB keeps in no order of its own in order: sets, and the digits of numbers."""
    ((kind, value),) = attribute.items()
    if kind in ("SS", "BS"):
        return {kind: sorted(value)}
    if kind == "NS":
        return {kind: sorted(map(Decimal, value))}
    return {kind: Decimal(value)} if kind == "N" else {kind: value}


def test_every_attribute_by_its_codec(beside: Beside) -> None:
    """What PynamoDB saves reads here, what is stored here reads there, and both store the same bytes."""
    store = beside(kept, Everything)
    save_everything()
    theirs = store.one(Kept.at(name="p"))
    assert {name: getattr(theirs, name) for name in VALUES} == VALUES
    ours = store.create(Kept(name="o", **VALUES))
    assert evolve(theirs, name="o") == ours
    assert shown(Everything.get("ALL#o", "INFO")) == VALUES
    mine = stored(store, "ALL#o", without=set())
    assert mine.pop("nothing") == {"NULL": True}  # which a model of PynamoDB reads and never writes
    assert mine == stored(store, "ALL#p", without=set())


def test_every_attribute_by_its_annotation(beside: Beside) -> None:
    """Plain annotations read and write the same too, and the same bytes but for the text of a moment."""
    store = beside(native, Everything)
    save_everything()
    theirs = store.one(Native.at(name="p"))
    names = [name for name in VALUES if name in Native.__fields__]
    assert {name: getattr(theirs, name) for name in names} == {name: SEEN_BY_NATIVE[name] for name in names}
    store.create(Native(name="o", **{name: SEEN_BY_NATIVE[name] for name in names}))
    left_to_codecs = VALUES.keys() - set(names)
    assert left_to_codecs == {"old_blob", "old_blobs", "doc", "extra", "nothing"}
    different = left_to_codecs | OTHERWISE
    assert stored(store, "ALL#o", without=different) == stored(store, "ALL#p", without=different)
    at_times = [stored(store, name, without=set())["at_time"]["S"] for name in ("ALL#o", "ALL#p")]
    assert at_times == ["2026-01-02T12:00:00.000005Z", "2026-01-02T12:00:00.000005+0000"]


# Keys, indexes and discriminators ------------------------------------------------------------------------------------


ByAuthor = declared(
    GlobalSecondaryIndex,
    "ByAuthor",
    Meta=type("Meta", (), {"index_name": "by_author", "projection": AllProjection()}),
    author=UnicodeAttribute(hash_key=True),
    posted_at=UTCDateTimeAttribute(range_key=True),
)
PostModel = declared(
    Model,
    "PostModel",
    thread=UnicodeAttribute(hash_key=True),
    posted_at=UTCDateTimeAttribute(range_key=True),
    cls=DiscriminatorAttribute(),
    author=UnicodeAttribute(null=True),
    by_author=ByAuthor(),
)
QuestionModel = declared(PostModel, "QuestionModel", discriminator="Question", answered=BooleanAttribute(default=False))
ReplyModel = declared(PostModel, "ReplyModel", discriminator="Reply", votes=NumberAttribute(default=0))

by_author_index = GlobalIndex("by_author", pk="author", sk="posted_at")
posts = Table("posts", pk="thread", sk="posted_at", tag="cls", indexes=[by_author_index])


class Post(Entity, table=posts, abstract=True):
    """What all posts have, and the key they share."""

    thread: Field[str]
    posted_at: Field[datetime] = Field(codec=UTCDateTimeAttribute())
    author: Field[str | None] = Field(default=None)

    key = Key(pk=("thread",), sk=("posted_at",))
    by_author = Key(on=by_author_index, pk=("author",), sk=("posted_at",))


class Question(Post, tag="Question"):
    """A question."""

    answered: Field[bool] = Field(default=False)


class Reply(Post, tag="Reply"):
    """A reply."""

    votes: Field[int] = Field(default=0)


MINUTE = timedelta(minutes=1)


def test_discriminators_are_tags(beside: Beside) -> None:
    """Kinds are told by PynamoDB's discriminator, at one key, by key, index and scan, and each side reads the other."""
    store = beside(posts, PostModel, QuestionModel, ReplyModel)
    QuestionModel("t#1", NOON, author="ann").save()
    ReplyModel("t#1", NOON + MINUTE, author="bob", votes=2).save()
    ours = store.create(Reply(thread="t#1", posted_at=NOON + 2 * MINUTE, author="ann"))
    question = Question(thread="t#1", posted_at=NOON, author="ann")
    reply = Reply(thread="t#1", posted_at=NOON + MINUTE, author="bob", votes=2)
    assert store.get(Post.at(thread="t#1", posted_at=NOON)) == question
    assert store.get_many(Post.at(thread="t#1", posted_at=NOON), Post.at(thread="t#1", posted_at=NOON + MINUTE)) == (
        question,
        reply,
    )
    assert store.query(Post.key(thread="t#1")).all() == [question, reply, ours]
    assert store.query(Post.key(thread="t#1").gt(posted_at=NOON).descending()).all() == [ours, reply]
    assert store.query(Reply.key(thread="t#1").lte(posted_at=NOON + MINUTE)).all() == [reply]
    assert store.query(Post.by_author(author="ann")).all() == [question, ours]
    assert store.count(Question.by_author(author="ann")) == 1
    assert set(store.scan(Post)) == {question, reply, ours}
    with pytest.raises(ForeignItem):
        store.get(Reply.at(thread="t#1", posted_at=NOON))
    with pytest.raises(ForeignItem):
        store.put(Reply(thread="t#1", posted_at=NOON))
    theirs = list(PostModel.query("t#1"))
    assert [type(each) for each in theirs] == [QuestionModel, ReplyModel, ReplyModel]
    assert [each.posted_at for each in PostModel.by_author.query("ann")] == [NOON, NOON + 2 * MINUTE]
    assert [each.votes for each in ReplyModel.query("t#1", ReplyModel.posted_at > NOON)] == [2, 0]
    items = {item["posted_at"]["S"]: item for item in everything(store)}
    assert {moment: item["cls"]["S"] for moment, item in items.items()} == {
        "2026-01-02T12:00:00.000005+0000": "Question",
        "2026-01-02T12:01:00.000005+0000": "Reply",
        "2026-01-02T12:02:00.000005+0000": "Reply",
    }


# What a save erases ---------------------------------------------------------------------------------------------------


BookModel = declared(Model, "BookModel", **table_key(), title=UnicodeAttribute())
"""A book as an older program knows it: no tag, no index of ours, no pages."""

TaggedBookModel = declared(
    Model,
    "TaggedBookModel",
    **table_key(),
    title=UnicodeAttribute(),
    tag=UnicodeAttribute(attr_name="_et", null=True),
    create_id=UnicodeAttribute(attr_name="_c", null=True),
    write_id=UnicodeAttribute(attr_name="_w", null=True),
    gsi1_pk=UnicodeAttribute(attr_name="GSI1PK", null=True),
    gsi1_sk=UnicodeAttribute(attr_name="GSI1SK", null=True),
    pages=NumberAttribute(null=True),
)
"""The same with what is to survive a save declared."""

shelf_index = GlobalIndex("GSI1")
books = Table("books", indexes=[shelf_index])


class Book(Entity, table=books, tag="book"):
    """A book of ours in the same place."""

    isbn: Field[str]
    title: Field[str]
    pages: Field[int] = Field(default=0)

    key = Key(pk="BOOK#{isbn}", sk="INFO", raw=True)
    by_title = Key(on=shelf_index, pk="#BOOKS", sk="#{title}")


def test_what_a_save_of_pynamodb_erases(beside: Beside) -> None:
    """save() puts the whole item from its own attributes: tag, ids, index keys and what it does not know are gone."""
    store = beside(books, BookModel, TaggedBookModel)
    store.create(Book(isbn="1", title="Emma", pages=3))
    store.update(Book.at(isbn="1"), Book.pages.add(1))
    before, place = everything(store), ("BOOK#1", "INFO")
    assert before[0].keys() == {"PK", "SK", "GSI1PK", "GSI1SK", "_et", "_c", "_w", "isbn", "title", "pages"}
    model = BookModel.get(*place)
    model.save()
    assert everything(store) == [{"PK": {"S": "BOOK#1"}, "SK": {"S": "INFO"}, "title": {"S": "Emma"}}]
    with pytest.raises(ForeignItem, match="without tag"):
        store.get(Book.at(isbn="1"))


def test_what_survives_beside_pynamodb(beside: Beside) -> None:
    """Declared attributes survive a save, an update() touches only its own, and what we do not know survives ours."""
    store = beside(books, BookModel, TaggedBookModel)
    store.create(Book(isbn="1", title="Emma", pages=3))
    store.update(Book.at(isbn="1"), Book.pages.add(1))
    [before] = everything(store)
    TaggedBookModel.get("BOOK#1", "INFO").save()
    [after] = everything(store)
    assert {name for name in before if name not in after} == {"isbn"}
    assert all(after[name] == before[name] for name in after)
    assert store.one(Book.at(isbn="1")) == Book(isbn="1", title="Emma", pages=4)
    BookModel("BOOK#1", "INFO").update(actions=[BookModel.title.set("Sense")])
    [after] = everything(store)
    assert (after["title"], after["GSI1SK"]) == ({"S": "Sense"}, {"S": "#Emma"})
    store.put(store.one(Book.at(isbn="1")))
    [after] = everything(store)
    assert after["GSI1SK"] == {"S": "#Sense"}


def test_what_we_do_not_know_survives_our_writes(beside: Beside) -> None:
    """An attribute that only PynamoDB's model has is kept by update, and by put of what was read; not by a new put."""
    store = beside(books, BookModel, TaggedBookModel)
    TaggedBookModel("BOOK#1", "INFO", title="Emma", tag="book", pages=3).save()
    narrow = sibling(store, slim)
    narrow.update(Slim.at(isbn="1"), Slim.title.set("Emma, again"))
    read = narrow.put(evolve(narrow.one(Slim.at(isbn="1")), title="Emma"))
    assert TaggedBookModel.get("BOOK#1", "INFO").pages == 3
    narrow.put(Slim(isbn=read.isbn, title=read.title))
    assert TaggedBookModel.get("BOOK#1", "INFO").pages is None


slim = Table("slim")


class Slim(Entity, table=slim, tag="book"):
    """The book without its pages."""

    isbn: Field[str]
    title: Field[str]

    key = Key(pk="BOOK#{isbn}", sk="INFO", raw=True)


# Versions -------------------------------------------------------------------------------------------------------------


DraftModel = declared(Model, "DraftModel", **table_key(), text=UnicodeAttribute(), version=VersionAttribute())
"""An item that PynamoDB locks optimistically."""


class Draft(Entity, table=kept):
    """The same item of ours, the version an int like any other."""

    name: Field[str]
    text: Field[str]
    version: Field[int]

    key = Key(pk="DRAFT#{name}", sk="INFO")


def test_a_version_of_pynamodb_is_kept_by_hand(beside: Beside) -> None:
    """An update of ours that counts the version on, on condition that it stands, locks and is locked by PynamoDB."""
    store = beside(kept, DraftModel)
    DraftModel("DRAFT#1", "INFO", text="a").save()
    theirs, at = DraftModel.get("DRAFT#1", "INFO"), Draft.at(name="1")
    ours = store.one(at)
    assert (theirs.version, ours.version) == (1, 1)

    def write(read: Draft, text: str) -> Draft:
        return store.update(read, Draft.text.set(text), Draft.version.add(1), when=Draft.version == read.version)

    assert write(ours, "b").version == 2
    with pytest.raises(PutError):
        theirs.save()
    theirs.refresh()
    theirs.text = "c"
    theirs.save()
    with pytest.raises(ConditionFailed) as caught:
        write(ours, "d")
    assert caught.value.current == Draft(name="1", text="c", version=3)
    store.update(ours, Draft.text.set("e"))
    theirs.save()
    assert store.one(at) == Draft(name="1", text="c", version=4)
