"""What the scenes of the demonstration are made of."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from singletable.demo import app, entities, games, hierarchy, shop
from singletable.demo.reading import Pattern

PATTERNS = (*shop.PATTERNS, *games.PATTERNS, *hierarchy.PATTERNS)


@pytest.mark.parametrize("shown", PATTERNS, ids=lambda shown: shown.title)
def test_the_query_shown_is_the_query_run(shown: Pattern) -> None:
    """The Python text of a pattern, evaluated, is its query: same key, range, filter, order and limit."""
    written = eval(shown.python, {**vars(entities), "date": date, "datetime": datetime})
    query = shown.query
    assert (written.entity, written.layout) == (query.entity, query.layout)
    assert (written.pk, written.range) == (query.pk, query.range)
    assert (written.ascending, written.most, written.depth) == (query.ascending, query.most, query.depth)
    assert (written.condition is None) is (query.condition is None)
    if query.condition is not None:
        assert written.condition.operator == query.condition.operator
        assert written.condition.operands == query.condition.operands


@pytest.mark.parametrize("shown", PATTERNS, ids=lambda shown: shown.title)
def test_the_columns_are_fields(shown: Pattern) -> None:
    """Every column that is shown is a field of the entity that is asked for."""
    assert set(shown.columns) <= set(shown.query.entity.__fields__)


def test_the_entities_fit_together() -> None:
    """The six entities of the demonstration share one table without a clash."""
    app.check()
    assert {entity.__name__ for entity in app.entities} == {"User", "Order", "OrderLine", "Invoice", "Game", "Place"}


def test_the_orders_leave_their_numbers_to_the_table() -> None:
    """No order and no invoice is written with a number; the lines name numbers that their user's orders will get."""
    assert all("order_id" not in order.__dict__ for order in shop.ORDERS)
    assert all("invoice_no" not in invoice.__dict__ for invoice in shop.INVOICES)
    drawn = sum(order.user_id == "ann" for order in shop.ORDERS)
    assert {line.order_id for line in shop.LINES} == set(range(1, drawn + 1))


def test_the_games_are_as_the_question_has_them() -> None:
    """Of 400 games on 400 days two are pending and one is in progress."""
    assert len({game.played_on for game in games.GAMES}) == 400
    assert sum(game.status == "PENDING" for game in games.GAMES) == 2
    assert sum(game.status == "IN_PROGRESS" for game in games.GAMES) == 1
