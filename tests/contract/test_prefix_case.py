"""Prefixes of keys are compared byte by byte."""

from __future__ import annotations

from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, app


def test_a_prefix_of_a_key_minds_its_case(backend: MakeStore) -> None:
    """begins_with(home="A") leaves "ajax" out."""
    store = backend(app)
    store.put_many(Match(league="L", season=1, round_no=1, home=home) for home in ("ajax", "Aberdeen", "Brugge"))
    found = store.query(Match.key(league="L", season=1, round_no=1).begins_with(home="A"))
    assert [match.home for match in found] == ["Aberdeen"]


def test_keys_sort_by_their_bytes(backend: MakeStore) -> None:
    """B1b: text sorts by its UTF-8 bytes, a character beyond U+FFFF after every other, forwards and backwards."""
    store = backend(app)
    homes = ["A", "Z", "a", "a b", "aa", "é", "中", "\uffff", "😀"]
    store.put_many(Match(league="L", season=1, round_no=1, home=home) for home in reversed(homes))
    rows = Match.key(league="L", season=1, round_no=1)
    assert [match.home for match in store.query(rows)] == homes
    assert [match.home for match in store.query(rows.descending())] == homes[::-1]
