"""Several queries in one: values of `is_in`, queries in turn and merged, what is sent and in what order rows come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from singletable.entity import Entity
from singletable.errors import KeyPartError, MissingPart, PartHole, QueryError, Throttled, UnknownPart
from singletable.operations.context import Context
from singletable.operations.merge import CountAll, First, Queries
from singletable.operations.query import Count, request
from singletable.queries import Query
from singletable.wire import Call, Item, Refusal
from tests.unit.operations.scripted import Book, Branch, Script, book, book_item, world

INS = Book.by_state(shelf="a")


class Stored:
    """Answers queries by state out of lists of titles, `size` rows a page, as DynamoDB would."""

    def __init__(self, titles: dict[str, list[str]], size: int = 100) -> None:
        self.titles = titles
        self.size = size

    def __call__(self, call: Call) -> dict[str, Any]:
        """Answer one Query on the index: a range of one state."""
        values = {value["S"] for value in call.params["ExpressionAttributeValues"].values()}
        (state,) = {text.split("#")[1] for text in values if text[1:].partition("#")[0] in self.titles}
        titles = sorted(self.titles[state], reverse=not call.params["ScanIndexForward"])
        begin = int(call.params.get("ExclusiveStartKey", {"at": {"N": "0"}})["at"]["N"])
        end = begin + min(self.size, call.params.get("Limit", self.size))
        page: dict[str, Any] = {"Items": [book_item(title, state) for title in titles[begin:end]]}
        return page | ({"LastEvaluatedKey": {"at": {"N": str(end)}}} if end < len(titles) else {})


def read(script: Script, *queries: Query[Any], merged: bool = False, context: Context | None = None) -> list[list[Any]]:
    """Read all, page by page."""
    reading = Queries(queries, merged).open()
    pages: list[list[Any]] = []
    while not reading.done:
        pages.append(list(script.run(reading.steps(world() if context is None else context))))
    return pages


def titles(pages: Iterable[Iterable[Book]]) -> list[str]:
    """Name the books of all pages in order, each with its state."""
    return [f"{each.state}:{each.title}" for page in pages for each in page]


class TestIsIn:
    def test_one_query_for_each_value(self) -> None:
        """Three values are three requests, sent together, each of exactly its range."""
        script = Script(by=Stored({"IN": ["b", "a"], "LOST": [], "OUT": ["c"]}))
        found = read(script, INS.is_in(state=("OUT", "IN", "LOST")))
        assert titles(found) == ["IN:a", "IN:b", "OUT:c"]
        assert script.methods == ["query"] * 3
        assert script.together == [3]
        ranges = [{each["S"] for each in call.params["ExpressionAttributeValues"].values()} for call in script.calls]
        assert ranges == [{"#STATE-OF#a", f"#{state}", f"#{state}$"} for state in ("OUT", "IN", "LOST")]

    def test_a_value_twice_is_asked_once(self) -> None:
        """Equal values are one request, and no row comes twice."""
        script = Script(by=Stored({"IN": ["a"]}))
        assert titles(read(script, INS.is_in(state=["IN", "IN"]))) == ["IN:a"]
        assert len(script.calls) == 1

    def test_no_value_sends_nothing(self) -> None:
        """An empty choice is an empty answer, for reading, for the first and for the count."""
        script, query = Script(), INS.is_in(state=())
        assert read(script, query) == []
        assert script.run(First(Queries((query,))).steps(world())) is None
        assert script.run(Count(query).steps(world())) == 0
        assert script.calls == []

    def test_descending(self) -> None:
        """Every query reads backwards, and so are they merged."""
        script = Script(by=Stored({"IN": ["a", "b"], "OUT": ["c", "d"]}))
        query = INS.is_in(state=("IN", "OUT")).descending()
        assert titles(read(script, query)) == ["OUT:d", "OUT:c", "IN:b", "IN:a"]

    def test_the_limit_counts_them_together(self) -> None:
        """Three rows of four come, and no request asks for more than three."""
        script = Script(by=Stored({"IN": ["a", "b"], "OUT": ["c", "d"]}))
        assert titles(read(script, INS.is_in(state=("OUT", "IN")).limit(3))) == ["IN:a", "IN:b", "OUT:c"]
        assert [call.params["Limit"] for call in script.calls] == [3, 3]

    def test_count(self) -> None:
        """A count is the sum over the values, up to the limit."""
        script = Script({"Count": 2}, {"Count": 5})
        assert script.run(Count(INS.is_in(state=("IN", "OUT"))).steps(world())) == 7
        script = Script({"Count": 2}, {"Count": 5})
        assert script.run(Count(INS.is_in(state=("IN", "OUT")).limit(4)).steps(world())) == 4

    def test_nested_paths_are_asked_once(self) -> None:
        """A node covers the nodes below it, so that no row comes twice."""
        query = Branch.key(country="CN").is_in(path=[("SC",), ("SC", "CD"), ("HN",)])
        assert [branch.values["path"] for branch in query.branches] == [("SC",), ("HN",)]

    def test_the_rest_of_the_query_goes_along(self) -> None:
        """Filter, projection and strong reading hold for every value."""
        query = Book.key(shelf="a").is_in(title=("x", "y")).where(Book.pages > 3).only(Book.state).consistent()
        for branch in query.branches:
            params = request(world(), branch)
            assert params is not None
            assert params["ConsistentRead"] is True
            assert "FilterExpression" in params
            assert "ProjectionExpression" in params

    def test_it_is_never_sent_as_one_range(self) -> None:
        """The query itself has no request, which could only be a wider one."""
        with pytest.raises(QueryError, match="several requests"):
            request(world(), INS.is_in(state=("IN",)))

    @pytest.mark.parametrize("given", ["IN", b"IN", 5, None])
    def test_values_are_several(self, given: Any) -> None:
        """A text is no list of its letters; the part is named."""
        with pytest.raises(KeyPartError, match=r"'state'.*several values"):
            INS.is_in(state=given)

    def test_every_value_is_checked_at_once(self) -> None:
        """A value that cannot stand in the key is refused when the query is written."""
        with pytest.raises(KeyPartError, match="'state'"):
            INS.is_in(state=("IN", 5))
        with pytest.raises(MissingPart, match="'state'"):
            INS.is_in(state=("IN", None))

    def test_the_part_is_the_next_one(self) -> None:
        """A part with one before it, an unknown one, and one that has its value are refused."""
        with pytest.raises(PartHole, match="'title'"):
            INS.is_in(title=("a",))
        with pytest.raises(UnknownPart, match="'colour'"):
            INS.is_in(colour=("red",))
        with pytest.raises(QueryError, match="'state'"):
            Book.by_state(shelf="a", state="IN").is_in(state=("OUT",))
        with pytest.raises(QueryError, match="'shelf'"):
            INS.is_in(shelf=("b",))

    def test_it_goes_with_no_other_range(self) -> None:
        """A query has one range, whichever comes first."""
        with pytest.raises(QueryError, match="is_in"):
            INS.begins_with(state="I").is_in(state=("IN",))
        with pytest.raises(QueryError, match="is_in"):
            INS.is_in(state=("IN",)).gte(title="a")
        with pytest.raises(QueryError, match="is_in"):
            INS.is_in(state=("IN",)).is_in(state=("OUT",))
        with pytest.raises(QueryError, match="2 parts"):
            INS.is_in(state=("IN",), title=("a",))


class TestMerged:
    def test_pages_are_merged_as_they_come(self) -> None:
        """Nothing is given out while something before it can still come, and no more than a page of each is held."""
        stored = Stored({"IN": ["a", "b", "c", "d"], "OUT": ["e"]}, size=2)
        script = Script(by=stored)
        found = read(script, Book.by_state(shelf="a", state="OUT"), Book.by_state(shelf="a", state="IN"), merged=True)
        assert [[each.title for each in page] for page in found] == [["a", "b"], ["c", "d", "e"]]
        assert script.together == [2]
        assert len(script.calls) == 3

    def test_a_page_that_is_filtered_away_holds_nothing_up(self) -> None:
        """A query whose page is empty but not its last is asked again before anything after it is given out."""
        start: Item = {"at": {"N": "1"}}
        empty: dict[str, Any] = {"Items": [], "LastEvaluatedKey": start}
        late = {"Items": [book_item("a")]}
        script = Script(empty, {"Items": [book_item("b", "OUT")]}, late)
        queries = (Book.by_state(shelf="a", state="IN"), Book.by_state(shelf="a", state="OUT"))
        assert titles(read(script, *queries, merged=True)) == ["IN:a", "OUT:b"]

    def test_each_keeps_its_own_limit(self) -> None:
        """A limit is of the query that has it."""
        script = Script(by=Stored({"IN": ["a", "b"], "OUT": ["c", "d"]}))
        queries = (Book.by_state(shelf="a", state="IN").limit(1), Book.by_state(shelf="a", state="OUT"))
        assert titles(read(script, *queries, merged=True)) == ["IN:a", "OUT:c", "OUT:d"]

    def test_equal_places_keep_the_order_of_the_queries(self) -> None:
        """Rows of two partitions with one sort key come in the order the queries were given, in both directions."""
        one, two = Book.key(shelf="a"), Book.key(shelf="b")
        for queries in ((one, two), (one.descending(), two.descending())):
            script = Script({"Items": [book_item("x")]}, {"Items": [book_item("x", shelf="b")]})
            assert [each.shelf for page in read(script, *queries, merged=True) for each in page] == ["a", "b"]

    def test_a_merged_choice_can_be_merged_again(self) -> None:
        """A query with is_in is one source like any other."""
        script = Script(by=Stored({"IN": ["a"], "LOST": ["b"], "OUT": ["c"]}))
        queries = (INS.is_in(state=("OUT", "IN")), Book.by_state(shelf="a", state="LOST"))
        assert titles(read(script, *queries, merged=True)) == ["IN:a", "LOST:b", "OUT:c"]

    def test_an_order_in_common_is_needed(self) -> None:
        """Queries of different indexes, or in different directions, cannot be merged."""
        with pytest.raises(QueryError, match="order"):
            Queries((Book.key(shelf="a"), INS), merged=True)
        with pytest.raises(QueryError, match="order"):
            Queries((INS, INS.descending()), merged=True)

    def test_an_error_of_one_is_raised(self) -> None:
        """Where one query fails the reading fails, when the others have ended."""
        refusal = Refusal("ThrottlingException", "Slow down")
        script = Script({"Items": []}, refusal, {"Items": []})
        with pytest.raises(Throttled):
            read(script, INS.is_in(state=("IN", "LOST", "OUT")))
        assert len(script.calls) == 3


class TestInTurn:
    def test_one_after_the_other(self) -> None:
        """The second query is not begun before the first is at its end."""
        branch: Item = {"PK": {"S": "#COUNTRY#CN"}, "SK": {"S": "#BRANCH#SC"}, "_et": {"S": "branch"}}
        branch |= {"country": {"S": "CN"}, "path": {"L": [{"S": "SC"}]}}
        script = Script({"Items": [book_item("x")]}, {"Items": [branch]})
        queries: tuple[Query[Entity], ...] = (Book.key(shelf="a"), Branch.key(country="CN"))
        reading = Queries(queries).open()
        assert script.run(reading.steps(world())) == (book("x"),)
        assert len(script.calls) == 1
        assert script.run(reading.steps(world())) == (Branch(country="CN", path=("SC",)),)
        assert reading.done
        assert script.together == []

    def test_the_first_of_all(self) -> None:
        """The first entity of several queries is that of the first query that has one; no further one is sent."""
        script = Script({"Items": []}, {"Items": [book_item("x", shelf="b")]})
        queries = tuple(Book.key(shelf=shelf).limit(1) for shelf in "abc")
        found = script.run(First(Queries(queries)).steps(world()))
        assert found == book("x", shelf="b")
        assert len(script.calls) == 2

    def test_a_count_of_all(self) -> None:
        """Several queries are counted at the same time and added."""
        script = Script({"Count": 2}, {"Count": 3})
        assert script.run(CountAll((Book.key(shelf="a"), Book.key(shelf="b"))).steps(world())) == 5
        assert script.together == [2]
