"""An index on a live table, and how a table differs from its declaration."""

from __future__ import annotations

import pytest

from singletable import Entity, Field, GlobalIndex, Key, LocalIndex, Table, TableDiff, TableMismatch, TableMissing
from tests.contract.behind import CountingClient, client_of, sibling
from tests.contract.conftest import MakeStore

first = GlobalIndex("first", projection=["text"])
late = GlobalIndex("late", projection="keys")
grown = Table("notes", indexes=[first, late])


class Note(Entity, table=grown, tag="note"):
    """A note of a table that has grown an index."""

    note_id: Field[str]
    topic: Field[str]
    text: Field[str] = Field(default="")

    key = Key(pk="#NOTE#{note_id}", sk="#NOTE")
    by_topic = Key(on=late, pk="#TOPIC#{topic}", sk="#NOTE#{note_id}")


def test_an_index_is_added_to_a_live_table(backend: MakeStore) -> None:
    """It is made, filled and waited for in three requests; adding it again is one look, and the table then fits."""
    young = backend(Table("notes", indexes=[first]))
    client = CountingClient(client_of(young))
    store = sibling(young, grown, client=client)
    store.put(Note(note_id="1", topic="x"))
    diff = store.diff_table()
    assert diff == TableDiff(store.name, ("index 'late' is missing",), ("late",), (), (late,))
    client.calls.clear()
    store.add_index(late)
    assert client.calls["update_table"] == 1
    store.add_index(late)
    assert client.calls["update_table"] == 1
    assert [note.note_id for note in store.query(Note.by_topic(topic="x"))] == ["1"]
    assert not store.diff_table()
    store.create_table()


def test_a_table_is_compared_and_left_as_it_is(backend: MakeStore) -> None:
    """Projections, missing and further indexes are told, and nothing is changed; without a table it is TableMissing."""
    store = backend(grown)
    assert store.diff_table() == TableDiff(store.name)
    whole = GlobalIndex("first")
    near = LocalIndex("near")
    other = sibling(store, Table("notes", indexes=[whole, near]))
    diff = other.diff_table()
    assert diff.differences == (
        "index 'first' projects INCLUDE '_et', 'text', declared ALL",
        "index 'near' is missing",
    )
    assert (diff.missing_indexes, diff.extra_indexes, diff.addable) == (("near",), ("late",), ())
    with pytest.raises(TableMismatch) as caught:
        other.add_index(whole)
    assert caught.value.differences == diff.differences[:1]
    assert store.diff_table() == TableDiff(store.name)
    store.delete_table()
    with pytest.raises(TableMissing):
        store.diff_table()
    with pytest.raises(TableMissing):
        store.add_index(late)
