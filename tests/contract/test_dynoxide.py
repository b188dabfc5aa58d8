"""What dynoxide 1.2.1 does otherwise than DynamoDB, where it matters here: strict expected failures.

One that passes one day tells that dynoxide was mended, and that the contract suite may ask more of it.
"""

from __future__ import annotations

import pytest

from tests.contract.behind import sibling
from tests.contract.conftest import MakeStore
from tests.contract.shop import Match, app


@pytest.mark.xfail(reason="dynoxide compares the prefix of a key condition without regard to ASCII case", strict=True)
@pytest.mark.parametrize("backend", ["dynoxide"], indirect=True)
def test_a_prefix_of_a_key_minds_its_case(backend: MakeStore) -> None:
    """begins_with(home="A") leaves "ajax" out, as DynamoDB and moto do."""
    assert _homes_with_capital_a(backend) == ["Aberdeen"]


@pytest.mark.parametrize("backend", ["moto"], indirect=True)
def test_the_expectation_holds_on_another_engine(backend: MakeStore) -> None:
    """The same question is answered rightly by moto, so it is rightly asked."""
    assert _homes_with_capital_a(backend) == ["Aberdeen"]


def _homes_with_capital_a(make: MakeStore) -> list[str]:
    store = sibling(make(app))
    store.put_many(Match(league="L", season=1, round_no=1, home=home) for home in ("ajax", "Aberdeen", "Brugge"))
    return [match.home for match in store.query(Match.key(league="L", season=1, round_no=1).begins_with(home="A"))]
