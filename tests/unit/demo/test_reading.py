"""What a query sends and what DynamoDB reads for it, with canned answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, TypeVar

import pytest

from singletable import to_item
from singletable.demo.entities import Game
from singletable.demo.reading import Cost, Exchange, Overhear, Weigh, unfiltered, words
from singletable.operations.context import Context
from singletable.wire import Call, Effect, Pause, Refusal, Steps

T = TypeVar("T")


@dataclass
class Played:
    """Plays canned answers into a flow, one for each request, and notes what the flow asked for."""

    answers: Iterable[Any]
    effects: list[Effect] = field(default_factory=list[Effect])

    def run(self, flow: Steps[T]) -> T:
        """Run the flow to its end; an answer that is an error is thrown into it, a pause takes no time."""
        left, answer = iter(self.answers), None
        while True:
            try:
                effect = flow.throw(answer) if isinstance(answer, Exception) else flow.send(answer)
            except StopIteration as done:
                assert next(left, None) is None, "an answer was not asked for"
                value: T = done.value
                return value
            self.effects.append(effect)
            answer = next(left) if isinstance(effect, Call) else None

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The parameters of every request."""
        return [dict(effect.params) for effect in self.effects if isinstance(effect, Call)]


CONTEXT = Context(
    "t", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), monotonic=lambda: 0.0, jitter=lambda: 0.0, fresh_id=lambda: "x"
)


def game(day: int, status: str = "DONE") -> Game:
    """Make a game of January 2025."""
    return Game(opponent="Bob", played_on=date(2025, 1, day), game_id=f"g{day}", status=status)


def answer(*games: Game, scanned: int | None = None, more: bool = False) -> dict[str, Any]:
    """Make the answer to a query; `scanned` counts what was read where a filter dropped some of it."""
    items = [to_item(each) for each in games]
    counts = {"Count": len(items), "ScannedCount": len(items) if scanned is None else scanned}
    return {"Items": items, **counts, **({"LastEvaluatedKey": {"PK": {"S": "p"}}} if more else {})}


def test_every_page_is_overheard() -> None:
    """A query of two pages gives the rows of both, and two exchanges; the second starts where the first ended."""
    played = Played([answer(game(1), game(2), more=True), answer(game(3))])
    rows, heard = played.run(Overhear(Game.key(opponent="Bob")).steps(CONTEXT))
    assert rows == (game(1), game(2), game(3))
    assert [exchange.answer["Count"] for exchange in heard] == [2, 1]
    assert "ExclusiveStartKey" not in played.requests[0]
    assert played.requests[1]["ExclusiveStartKey"] == {"PK": {"S": "p"}}


def test_a_limited_query_stops_at_its_limit() -> None:
    """A limited query asks for so many rows, and for no page after them although there is one."""
    played = Played([answer(game(1), game(2), more=True)])
    rows, heard = played.run(Overhear(Game.key(opponent="Bob").limit(2)).steps(CONTEXT))
    assert rows == (game(1), game(2))
    assert len(heard) == 1
    assert played.requests[0]["Limit"] == 2


def test_trouble_goes_on_to_the_store() -> None:
    """A throttled request is sent again by the store's own flow, after a pause; only the answer is an exchange."""
    refusal = Refusal("ThrottlingException", "slow down")
    played = Played([refusal, answer(game(1))])
    rows, heard = played.run(Overhear(Game.key(opponent="Bob")).steps(CONTEXT))
    assert rows == (game(1),)
    assert len(heard) == 1
    assert [type(effect) for effect in played.effects] == [Call, Pause, Call]


def test_a_refused_query_raises_its_error() -> None:
    """What the store cannot mend comes out as the error it raises."""
    from singletable import TableMissing

    flow = Overhear(Game.key(opponent="Bob")).steps(CONTEXT)
    with pytest.raises(TableMissing):
        Played([Refusal("ResourceNotFoundException", "no")]).run(flow)


def test_an_empty_range_sends_nothing() -> None:
    """Where no key can be in the range there are no rows, no requests and no cost."""
    nothing = Game.by_status(opponent="Bob", status="DONE").between(played_on=(date(2025, 2, 1), date(2025, 1, 1)))
    played = Played([])
    assert played.run(Overhear(nothing).steps(CONTEXT)) == ((), ())
    assert played.run(Weigh(()).steps(CONTEXT)) == Cost(0, 0, 0, 0.0)
    assert played.effects == []


ONE = {"PK": {"S": "p" * 998}, "n": {"N": "5"}}
"""1,003 bytes: 2 and 998 for the key, 1 and 2 for the number."""


def test_cost_counts_bytes_page_by_page() -> None:
    """Five items of 1,003 bytes are 1 unit (5,015 bytes are two blocks of 4 KB, eventually consistent), one is 0.5."""
    pages = [Exchange({}, {"Items": [ONE] * count, "Count": count, "ScannedCount": count}) for count in (5, 1)]
    assert Played([]).run(Weigh(tuple(pages)).steps(CONTEXT)) == Cost(requests=2, items=6, bytes=6018, units=1.5)


def test_what_a_filter_dropped_is_asked_for_again() -> None:
    """The cost of a filtered page is that of every item read, found out by the same request without the filter."""
    asked = {
        "KeyConditionExpression": "#0 = :0",
        "FilterExpression": "#1 = :1",
        "Limit": 9,
        "ExpressionAttributeNames": {"#0": "PK", "#1": "status"},
        "ExpressionAttributeValues": {":0": {"S": "p"}, ":1": {"S": "PENDING"}},
    }
    played = Played([{"Items": [ONE] * 9, "Count": 9, "ScannedCount": 9}])
    cost = played.run(Weigh((Exchange(asked, {"Items": [ONE], "Count": 1, "ScannedCount": 9}),)).steps(CONTEXT))
    assert cost == Cost(requests=1, items=9, bytes=9027, units=1.5)
    assert played.requests == [
        {
            "KeyConditionExpression": "#0 = :0",
            "Limit": 9,
            "ExpressionAttributeNames": {"#0": "PK"},
            "ExpressionAttributeValues": {":0": {"S": "p"}},
        }
    ]


def test_a_filter_leaves_its_own_names_only() -> None:
    """A placeholder that begins like one of the filter's is not taken for it: #1 is not #10."""
    params = {
        "KeyConditionExpression": "#10 = :10",
        "FilterExpression": "#1 = :1",
        "ExpressionAttributeNames": {"#1": "status", "#10": "PK"},
        "ExpressionAttributeValues": {":1": {"S": "x"}, ":10": {"S": "p"}},
    }
    assert unfiltered(params) == {
        "KeyConditionExpression": "#10 = :10",
        "ExpressionAttributeNames": {"#10": "PK"},
        "ExpressionAttributeValues": {":10": {"S": "p"}},
    }


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("#0 = :0", 'PK = "#USER#:1"'),
        ("#1 BETWEEN :1 AND :2", 'SK BETWEEN 7 AND "say \\"四\\""'),
        ("begins_with (#1, :2)", 'begins_with (SK, "say \\"四\\"")'),
    ],
)
def test_words_put_names_and_values_in_place(expression: str, said: str) -> None:
    """Numbers stand bare, texts in quotes; a value that looks like a placeholder stays as it is."""
    params = {
        "ExpressionAttributeNames": {"#0": "PK", "#1": "SK"},
        "ExpressionAttributeValues": {":0": {"S": "#USER#:1"}, ":1": {"N": "7"}, ":2": {"S": 'say "四"'}},
    }
    assert words(expression, params) == said
