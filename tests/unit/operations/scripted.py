"""A table for the verbs on many items, and a script that answers what their flows ask for, call by call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from typing import Any, TypeAlias, TypeVar

from singletable import GlobalIndex, Key, Table
from singletable.entity import Entity
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.operations.context import Context
from singletable.wire import Call, Effect, Exclusive, Item, Pause, Steps

T = TypeVar("T")

Answer: TypeAlias = dict[str, Any] | Exception

PLACE = "library-test"
gsi1 = GlobalIndex("GSI1")
library = Table("library", indexes=[gsi1])


class Book(Entity, table=library, tag="book", aliases=["tome"]):
    shelf: Field[str]
    title: Field[str]
    state: Field[str] = Field(default="IN")
    pages: Field[int] = Field(default=0, name="p")
    note: Field[str | None] = Field(default=None)

    key = Key(pk="#SHELF#{shelf}", sk="#BOOK#{title}")
    by_state = Key(on=gsi1, pk="#STATE-OF#{shelf}", sk="#{state}#{title}")


class Branch(Entity, table=library, tag="branch"):
    country: Field[str]
    path: Field[tuple[str, ...]]

    key = Key(pk="#COUNTRY#{country}", sk="#BRANCH#{path*}")


class Loan(Entity, table=library, tag="loan"):
    reader: Field[str]
    loan_no: Field[int] = AutoIncrement(attempts=2)

    key = Key(pk="#READER#{reader}", sk="#LOAN#{loan_no}")


class Card(Entity, table=library, tag="card"):
    card_no: Field[int] = AutoIncrement(max_value=1000)
    holder: Field[str] = Field(default="")

    key = Key(pk="#CARD#{card_no}", sk="#CARD")


class Seat(Entity, table=library, tag="seat"):
    name: Field[str]
    ticket: Field[int] = AutoIncrement("counter")

    key = Key(pk="#SEAT#{name}", sk="#SEAT")


old_rows = Table("old-rows", tag=None)


class Row(Entity, table=old_rows):
    a: Field[str]
    b: Field[str] = Field(default="")

    key = Key(pk="#R#{a}", sk="#ROW", raw=True)


counted = Table("counted", pk=("id", int), sk=None)


class Numbered(Entity, table=counted, tag="numbered"):
    id: Field[int]

    key = Key(pk="{id}")


def book(title: str, state: str = "IN", shelf: str = "a") -> Book:
    """Make a book."""
    return Book(shelf=shelf, title=title, state=state)


def book_item(title: str, state: str = "IN", shelf: str = "a") -> Item:
    """Write a book's item by hand."""
    return {
        "PK": {"S": f"#SHELF#{shelf}"},
        "SK": {"S": f"#BOOK#{title}"},
        "GSI1PK": {"S": f"#STATE-OF#{shelf}"},
        "GSI1SK": {"S": f"#{state}#{title}"},
        "_et": {"S": "book"},
        "shelf": {"S": shelf},
        "title": {"S": title},
        "state": {"S": state},
        "p": {"N": "0"},
    }


def book_key(title: str, shelf: str = "a") -> Item:
    """Write a book's key by hand."""
    return {"PK": {"S": f"#SHELF#{shelf}"}, "SK": {"S": f"#BOOK#{title}"}}


def world(**changes: Any) -> Context:
    """Give a context without time and chance: half of each pause is left, ids are id-1, id-2, ..."""
    numbers = count(1)
    options: dict[str, Any] = {"attempts": 1, "workers": 8, **changes}
    return Context(
        PLACE,
        clock=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        monotonic=lambda: 1000.0,
        jitter=lambda: 0.0,
        fresh_id=lambda: f"id-{next(numbers)}",
        **options,
    )


class Script:
    """Answers calls in order, or by a function of the call; keeps the calls, the pauses and how many ran at once."""

    def __init__(self, *answers: Answer, by: Callable[[Call], Answer] | None = None) -> None:
        self.answers = list(answers)
        self.by = by
        self.calls: list[Call] = []
        self.pauses: list[float] = []
        self.together: list[int] = []

    @property
    def methods(self) -> list[str]:
        """The methods called."""
        return [call.method for call in self.calls]

    def run(self, flow: Steps[T]) -> T:
        """Run a flow to its end."""
        result: Any = None
        error: Exception | None = None
        try:
            while True:
                effect = flow.send(result) if error is None else flow.throw(error)
                result, error = None, None
                try:
                    result = self._perform(effect)
                except Exception as raised:  # noqa: BLE001 - handed on into the flow
                    error = raised
        except StopIteration as done:
            value: T = done.value
            return value
        finally:
            flow.close()

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Call):
            return self._answer(effect)
        if isinstance(effect, Pause):
            return self.pauses.append(effect.seconds)
        if isinstance(effect, Exclusive):
            return self.run(effect.flow)
        self.together.append(len(effect.flows))
        return [self._outcome(flow) for flow in effect.flows]

    def _outcome(self, flow: Steps[Any]) -> Any:
        try:
            return self.run(flow)
        except Exception as error:  # noqa: BLE001 - an outcome that is an exception stands in its place
            return error

    def _answer(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        answer = self.answers.pop(0) if self.by is None else self.by(call)
        if isinstance(answer, Exception):
            raise answer
        return answer
