"""Native keys, fields that are key attributes themselves, and raw keys of other delimiters.

Multi-attribute index keys run on the embedded engine alone; dynoxide does not know them yet (`engines` in the docs).
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from singletable import (
    CorruptItem,
    DeclarationError,
    Entity,
    Field,
    GlobalIndex,
    Key,
    KeyPartError,
    PartHole,
    Store,
    Table,
    TemplateError,
    computed,
    to_item,
)
from tests.contract.behind import write
from tests.contract.conftest import MakeStore

by_day = GlobalIndex("by_day", pk=("tenant", "day"), sk=(("score", int), "player"))
games = Table("games", indexes=[by_day])
music = Table("music", pk="artist", sk="song_title")
blobs = Table("blobs", pk=("digest", bytes), sk=("part", int))
old = Table("old", pk="id", sk="range", tag="type", raw="|")


class Game(Entity, table=games, tag="game"):
    """A game, ranked within a tenant's day."""

    game_id: Field[str]
    tenant: Field[str]
    player: Field[str]
    score: Field[int]
    played_at: Field[datetime]

    @computed
    def day(self) -> date:
        """The day it was played."""
        return self.played_at.date()

    key = Key(pk="#GAME#{game_id}", sk="#GAME")
    ranking = Key(on=by_day, pk=("tenant", "day"), sk=("score", "player"))


class Song(Entity, table=music, tag="song"):
    """A song whose fields are the table's key."""

    artist: Field[str]
    song_title: Field[str]
    plays: Field[int] = Field(default=0)

    key = Key(pk=("artist",), sk=("song_title",))


class Blob(Entity, table=blobs, tag="blob"):
    """A part of something, under its digest."""

    digest: Field[bytes]
    part: Field[int]
    size: Field[int]

    key = Key(pk=("digest",), sk=("part",))


class Row(Entity, table=old, tag="row"):
    """A row of a table that existed, with keys joined by `|`."""

    org: Field[str]
    user: Field[str]
    day: Field[date]

    key = Key(pk="ORG|{org}", sk="USER|{user}|{day}")


DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)


def game(game_id: str, score: int, player: str = "ann") -> Game:
    """Make a game of that day."""
    return Game(game_id=game_id, tenant="t", player=player, score=score, played_at=DAY)


class TestSeveralAttributes:
    """An index key of several attributes."""

    def test_it_ranks(self) -> None:
        """Scores sort as numbers, a range stands on the first attribute that is not given whole."""
        store = Store.local(games)
        made = [store.create(game(str(score), score)) for score in (10, 9, 100)]
        board = Game.ranking(tenant="t", day=date(2026, 3, 1))
        assert [each.score for each in store.query(board)] == [9, 10, 100]
        assert [each.score for each in store.query(board.gte(score=10).descending())] == [100, 10]
        assert store.query(Game.ranking(tenant="t", day=date(2026, 3, 1), score=9).begins_with(player="a")).all() == [
            made[1]
        ]

    def test_it_follows_an_update(self) -> None:
        """A field is the key attribute, so a change of it moves the item; a computed one follows what it is made of."""
        store = Store.local(games)
        store.create(game("1", 5))
        store.update(Game.at(game_id="1"), Game.score.add(3))
        assert store.count(Game.ranking(tenant="t", day=date(2026, 3, 1), score=8)) == 1
        store.update(Game.at(game_id="1"), Game.played_at.set(datetime(2026, 3, 2, tzinfo=UTC)))
        assert store.count(Game.ranking(tenant="t", day=date(2026, 3, 1))) == 0
        assert store.count(Game.ranking(tenant="t", day=date(2026, 3, 2))) == 1

    def test_no_further_attributes_are_stored(self) -> None:
        """The item holds the fields once, and no text key for the index."""
        names = {"game_id", "tenant", "player", "score", "played_at", "day", "PK", "SK", "_et"}
        assert set(to_item(game("1", 5))) - {"_c"} == names

    def test_a_hole_is_refused(self) -> None:
        """A later attribute without the one before it is named."""
        with pytest.raises(PartHole, match="'score'"):
            Game.ranking(tenant="t", day=date(2026, 3, 1), player="ann")
        with pytest.raises(PartHole, match="'score'"):
            Game.ranking(tenant="t", day=date(2026, 3, 1)).gte(player="ann")

    def test_what_does_not_fit_is_refused(self) -> None:
        """The fields must be stored under the index's names and in its types."""
        with pytest.raises(DeclarationError, match="which is a number"):
            declare_with_text_scores()
        with pytest.raises(TemplateError, match="1 fields for 2 key attributes"):
            declare_with_half_a_key()


def declare_with_text_scores() -> type[Entity]:
    """Declare a class whose score is text, where the index has a number."""

    class Wrong(Entity, table=Table("tab", indexes=[by_day])):
        tenant: Field[str]
        day: Field[str]
        score: Field[str]
        player: Field[str]
        key = Key(pk="#A#{tenant}", sk="#B")
        ranking = Key(on=by_day, pk=("tenant", "day"), sk=("score", "player"))

    return Wrong


def declare_with_half_a_key() -> type[Entity]:
    """Declare a class with one field for a partition key of two attributes."""

    class Short(Entity, table=Table("tab", indexes=[by_day])):
        tenant: Field[str]
        key = Key(pk="#A#{tenant}", sk="#B")
        ranking = Key(on=by_day, pk=("tenant",), sk=("tenant", "tenant"))

    return Short


def test_text_fields_are_the_key(backend: MakeStore) -> None:
    """Native text stands in the key as it is, `#` and all, and ranges are those of the text."""
    store = backend(music)
    songs = [store.create(Song(artist="a#b", song_title=title)) for title in ("Call#1", "Call#2", "Dial")]
    assert store.one(Song.at(artist="a#b", song_title="Call#1")) == songs[0]
    assert store.query(Song.key(artist="a#b").begins_with(song_title="Call")).all() == songs[:2]
    assert store.query(Song.key(artist="a#b").between(song_title=("Call#2", "E"))).all() == songs[1:]
    assert store.update(songs[2], Song.plays.add(1)).plays == 1
    assert set(to_item(songs[0])) == {"artist", "song_title", "plays", "_et", "_c"}


@pytest.mark.parametrize("title", ["", "!gone", "x#!SEQ"])
def test_native_text_cannot_forge_a_hidden_item(title: str) -> None:
    """Empty text, and text with a segment that begins with `!`, is refused before anything is sent."""
    with pytest.raises(KeyPartError, match="'song_title'"):
        Song.at(artist="a", song_title=title)


def test_binary_and_number_keys(backend: MakeStore) -> None:
    """Bytes and numbers sort as such and read back as such."""
    store = backend(blobs)
    parts = [store.create(Blob(digest=b"\x00\xff", part=number, size=1)) for number in (-1, 2, 10)]
    assert store.query(Blob.key(digest=b"\x00\xff")).all() == parts
    assert store.query(Blob.key(digest=b"\x00\xff").gt(part=-1)).all() == parts[1:]
    assert store.get(Blob.at(digest=b"\x00\xff", part=2)) == parts[1]
    assert store.delete(parts[0]) == parts[0]
    assert store.count(Blob.key(digest=b"\x00\xff")) == 2


def test_rows_of_another_program(backend: MakeStore) -> None:
    """Keys joined by `|` are written byte for byte as the other program writes them, and its rows are read."""
    store = backend(old)
    mine = store.create(Row(org="o", user="u1", day=date(2026, 1, 2)))
    assert {name: to_item(mine)[name] for name in ("id", "range")} == {
        "id": {"S": "ORG|o"},
        "range": {"S": "USER|u1|2026-01-02"},
    }
    write(store, {"id": {"S": "ORG|o"}, "range": {"S": "USER|u10|2026-01-01"}, "type": {"S": "row"}})
    theirs = Row(org="o", user="u10", day=date(2026, 1, 1))
    assert store.query(Row.key(org="o")).all() == [theirs, mine]
    assert store.query(Row.key(org="o", user="u1")).all() == [mine]
    assert store.query(Row.key(org="o", user="u10").gte(day=date(2026, 1, 1))).all() == [theirs]
    with pytest.raises(KeyPartError, match="'user'"):
        store.create(Row(org="o", user="u|1", day=date(2026, 1, 2)))


def test_a_key_that_differs_from_its_attributes_is_corrupt(backend: MakeStore) -> None:
    """A row whose own attribute says something else than its key is told, not guessed."""
    store = backend(old)
    key = {"id": {"S": "ORG|o"}, "range": {"S": "USER|u1|2026-01-02"}}
    write(store, {**key, "type": {"S": "row"}, "user": {"S": "u2"}})
    with pytest.raises(CorruptItem, match="differs"):
        store.get(Row.at(org="o", user="u1", day=date(2026, 1, 2)))
