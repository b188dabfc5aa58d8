"""Declaring what the store stamps: what each field is, where it cannot stand, and one time to live a table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import new_class
from typing import Any

import pytest

from singletable import (
    AutoIncrement,
    CreatedAt,
    DeclarationError,
    Entity,
    ExpiresAt,
    Field,
    FieldValueError,
    GlobalIndex,
    Key,
    LocalIndex,
    NumberNotAssigned,
    Table,
    UpdatedAt,
    UsageError,
    Version,
    evolve,
    from_dict,
    from_item,
    to_dict,
    to_item,
)
from singletable.schema import model_of
from singletable.wire import Item

NOW = datetime(2026, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC)
gsi1 = GlobalIndex("GSI1")
office = Table("office", indexes=[gsi1])


class Note(Entity, table=office, tag="note"):
    note_id: Field[str]
    version: Field[int] = Version()
    created_at: Field[datetime] = CreatedAt()
    updated_at: Field[datetime] = UpdatedAt(name="changed")
    expires_at: Field[datetime] = ExpiresAt(after=timedelta(days=1))

    key = Key(pk="#NOTE#{note_id}", sk="#NOTE")


def declared(table: Table, name: str = "Made", **body: Any) -> type[Entity]:
    """Declare an entity: keys as they are, and fields with their types."""
    space: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
    field: Any = Field
    for each, value in body.items():
        if isinstance(value, Key):
            space[each] = value
        else:
            kind, space[each] = value
            space["__annotations__"][each] = field[kind]
    return new_class(name, (Entity,), {"table": table}, lambda made: made.update(space))


def item(**attributes: dict[str, Any]) -> Item:
    """Write the stored item of note 1."""
    return {"PK": {"S": "#NOTE#1"}, "SK": {"S": "#NOTE"}, "_et": {"S": "note"}, "note_id": {"S": "1"}, **attributes}


def test_nothing_has_a_value_before_it_is_stored() -> None:
    """A new entity is made without them; reading one, or writing the item, says that it has no value yet."""
    note = Note(note_id="1")
    assert to_dict(note) == {"note_id": "1"}
    assert from_dict(Note, {"note_id": "1"}) == note
    for name in ("version", "created_at", "updated_at", "expires_at"):
        with pytest.raises(NumberNotAssigned, match=f"Note.{name} has no value yet"):
            getattr(note, name)
    with pytest.raises(NumberNotAssigned, match=r"Note\.version has no value yet"):
        to_item(note)


def test_what_each_verb_sets() -> None:
    """Create sets all of them, put goes on from what the entity has, update adds to the version and sets one time."""
    stamps = model_of(Note).stamps
    until = datetime(2026, 1, 3, 3, 4, 6, tzinfo=UTC)
    assert stamps.created({"version": 7, "created_at": until}, NOW) == {
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
        "expires_at": until,
    }
    held = {"version": 7, "created_at": until, "updated_at": until, "expires_at": NOW}
    assert stamps.put(held, NOW) == {
        "version": 8,
        "created_at": until,
        "updated_at": NOW,
        "expires_at": datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC),
    }
    assert [repr(change) for change in stamps.updated(NOW)] == ["<change add version>", "<change set changed>"]


def test_the_kinds_of_stamped_fields_say_what_they_do() -> None:
    """The description of a class names what the store keeps in each."""
    text = Note.describe()
    assert "version: an int (at most 38 digits), read-only, counts the writes" in text
    assert "expires_at: an aware datetime, stored in seconds since 1970, when it expires" in text


@pytest.mark.parametrize("name", ["version", "created_at", "updated_at"])
def test_they_cannot_be_evolved(name: str) -> None:
    """Another version or time is refused; the one it has may be given again."""
    note = from_item(Note, item(version={"N": "3"}, created_at={"S": "2026-01-02T03:04:05.600000Z"}))
    with pytest.raises(UsageError, match="read-only"):
        evolve(note, **{name: 4 if name == "version" else NOW + timedelta(days=1)})
    assert evolve(note, version=3) == note


def test_the_time_to_live_is_a_number_of_seconds() -> None:
    """It reads as an aware datetime; fractions are rounded up, and NULL is None where that may be."""
    assert from_item(Note, item(expires_at={"N": "1767323045.5"})).expires_at == datetime(
        2026, 1, 2, 3, 4, 6, tzinfo=UTC
    )
    codec: ExpiresAt[datetime | None] = ExpiresAt()
    codec.settle(datetime | None)
    assert codec.codec.decode({"NULL": True}) is None
    assert codec.encoded(None) is None
    assert codec.encoded(NOW) == {"N": "1767323046"}
    with pytest.raises(FieldValueError, match="naive"):
        codec.encoded(datetime(2026, 1, 2))
    with pytest.raises(FieldValueError, match="aware datetime"):
        codec.encoded(5)
    with pytest.raises(Exception, match="year 9999"):
        from_item(Note, item(expires_at={"N": "9" * 20}))


def test_an_item_without_them_is_read() -> None:
    """An item that is older than its class's stamps is read, and has no value in them."""
    note = from_item(Note, item())
    assert to_dict(note) == {"note_id": "1"}


def test_a_wrong_type_is_refused() -> None:
    """A version is an int, a time a datetime."""
    made: tuple[tuple[Field[Any], str], ...] = (
        (Version(), "Version is a int"),
        (CreatedAt(), "CreatedAt is a datetime"),
    )
    for field, words in made:
        with pytest.raises(DeclarationError, match=words):
            field.settle(str)
    ExpiresAt(after=timedelta(days=1)).settle(datetime)
    with pytest.raises(DeclarationError, match="leaves it open whether an item expires"):
        ExpiresAt().settle(datetime)


@pytest.mark.parametrize("after", [timedelta(0), timedelta(days=-1), 30])
def test_after_is_a_positive_time(after: Any) -> None:
    """No time at all, a negative one and a number are refused."""
    with pytest.raises(DeclarationError, match="wanted a positive timedelta"):
        ExpiresAt(after=after)


def test_an_item_has_one_version() -> None:
    """Two versions, or two times to expire, are refused."""
    with pytest.raises(DeclarationError, match=r"has \.one and \.two as Version"):
        declared(Table("desk"), one=(int, Version()), two=(int, Version()), key=Key(pk="#T", sk="#T"))


def test_a_table_has_one_time_to_live() -> None:
    """The declared one is that of fields without name; another is refused, but a class defined again may change it."""
    one, told = Table("one"), Table("told", ttl="ttl")

    def define(table: Table, stored: str | None, name: str = "Short") -> type[Entity]:
        return declared(table, name, until=(datetime | None, ExpiresAt(name=stored)), key=Key(pk="#S", sk="#S"))

    assert define(told, None).__fields__["until"].attribute == "ttl"
    with pytest.raises(DeclarationError, match="keeps the time to live in 'ttl'"):
        define(told, "other")
    assert one.ttl is None
    first = define(one, "a")
    assert one.ttl == "a"
    second = define(one, "b")
    assert one.ttl == "b", "the older class of this name has no say"

    with pytest.raises(DeclarationError, match="keeps the time to live in 'b'"):
        define(one, "c", "Other")
    assert first is not second


@pytest.mark.parametrize("name", ["PK", "_et", "_c", "a[0]"])
def test_the_time_to_live_is_no_other_attribute(name: str) -> None:
    """A key attribute, the tag and singletable's own attributes are refused, and what names a place inside one."""
    with pytest.raises(DeclarationError, match="ttl"):
        Table("desk", ttl=name)


def test_where_they_cannot_stand() -> None:
    """What changes with every write stands in no primary key, and neither a version nor seconds in any key."""
    table, counted = Table("desk", indexes=[gsi1]), Key(on=gsi1, pk="#C", sk="#{version}")
    with pytest.raises(DeclarationError, match=r"version \(Version\) stands in by_version"):
        declared(table, version=(int, Version()), key=Key(pk="#C", sk="#C"), by_version=counted)
    ending = ExpiresAt[datetime](after=timedelta(days=1))
    with pytest.raises(DeclarationError, match="stored in whole seconds"):
        declared(table, until=(datetime, ending), key=Key(pk="#C", sk="#{until}"))
    with pytest.raises(DeclarationError, match="changes with every write, and stands in the primary key"):
        declared(table, last=(datetime, UpdatedAt()), key=Key(pk="#C", sk="#{last}"))
    event = declared(table, made=(datetime, CreatedAt()), key=Key(pk="#E", sk="#{made}"))
    assert event.at(made=NOW).key["SK"] == {"S": "#2026-01-02T03:04:05.600000Z"}
    with pytest.raises(DeclarationError, match="is not known yet when 'n' is drawn"):
        declared(table, made=(datetime, CreatedAt()), n=(int, AutoIncrement()), key=Key(pk="#N", sk="#{made}#{n}"))


def test_what_expires_is_numbered_by_a_counter() -> None:
    """The sort key would give a number out again once its item is swept: a counter is chosen, sort_key refused."""

    class Ticket(Entity, table=office, tag="ticket"):
        n: Field[int] = AutoIncrement()
        until: Field[datetime | None] = ExpiresAt(name="expires_at")
        key = Key(pk="#TICKETS", sk="#{n}")

    (number,) = model_of(Ticket).numbers
    assert (number.strategy, number.why) == ("counter", "what expires would free its number")
    expiry = ExpiresAt[datetime | None](name="expires_at")
    with pytest.raises(DeclarationError, match="what expires would free its number"):
        declared(
            office,
            "Bad",
            n=(int, AutoIncrement("sort_key")),
            until=(datetime | None, expiry),
            key=Key(pk="#BAD", sk="#{n}"),
        )


def test_an_index_that_names_attributes_has_the_time_to_live() -> None:
    """What is named for an index goes with tag and time to live, so that its rows can be left out when they expire."""
    some = LocalIndex("LSI1", sk="lsk", projection=["text"])
    table = Table("desk", indexes=[some], ttl="ttl")
    assert table.named_by(some) == ("text", "_et", "ttl")
