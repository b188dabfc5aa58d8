"""The two programs of the source document, and its own code taking turns with ours on the same items.

`tests.contract.programs` holds them as printed.
"""

from __future__ import annotations

import pytest

from singletable import AlreadyExists, AutoIncrement, Entity, Field, Key, Sequence, Store, Table
from tests.contract.behind import everything, in_threads, item_under
from tests.contract.conftest import MakeStore
from tests.contract.programs import Document

orders = Table("orders", pk="pk", sk=None, tag=None)
projects = Table("projects", pk="pk", sk=("sk", int), untagged="by_key")


class Order(Entity, table=orders):
    order_id: Field[int] = AutoIncrement(Sequence(pk="orderCounter", attribute="count"))
    deliveryMethod: Field[str]  # noqa: N815  # the document's attribute

    key = Key(pk="{order_id}", raw=True)


class Issue(Entity, table=projects, tag="issue"):
    project: Field[str]
    number: Field[int] = AutoIncrement()
    priority: Field[str] = Field(default="low")

    key = Key(pk="{project}", sk="{number}", raw=True)


# The first program: a counter


def test_the_first_program(backend: MakeStore) -> None:
    """An order gets the next number of the counter item and is stored under it, as the document stores it."""
    store = backend(orders)
    order = store.create(Order(deliveryMethod="expedited"))
    assert order.order_id == 1
    assert item_under(store, {"pk": {"S": "orderCounter"}}) == {"pk": {"S": "orderCounter"}, "count": {"N": "1"}}
    item = item_under(store, {"pk": {"S": "1"}})
    assert item is not None
    assert item.pop("_c")
    assert item == {"pk": {"S": "1"}, "order_id": {"N": "1"}, "deliveryMethod": {"S": "expedited"}}
    assert store.one(Order.at(order_id=1)) == order


def test_the_first_program_beside_the_documents_own(backend: MakeStore) -> None:
    """Ours and the document's code by turns issue 1 to 20 once each, and each order can be read by us."""
    store = backend(orders)
    by_hand = Document(store)
    issued: list[int] = []
    for turn in "oddoodddoooododdoodo":
        made = by_hand.order() if turn == "d" else store.create(_order("normal")).order_id
        issued.append(made)
    assert issued == list(range(1, 21))
    methods = [store.one(Order.at(order_id=number)).deliveryMethod for number in issued]
    assert methods == ["normal" if turn == "o" else "expedited" for turn in "oddoodddoooododdoodo"]
    assert item_under(store, {"pk": {"S": "orderCounter"}}) == {"pk": {"S": "orderCounter"}, "count": {"N": "20"}}
    assert len(everything(store)) == 21


def test_an_order_of_the_document_is_one_of_ours(backend: MakeStore) -> None:
    """What the document stored is got, queried, changed, put and deleted; its number is read out of the key."""
    store = backend(orders)
    assert Document(store).order() == 1
    order = store.one(Order.at(order_id=1))
    assert order == Order(order_id=1, deliveryMethod="expedited")
    assert store.query(Order.key(order_id=1)).all() == [order]
    assert store.update(order, Order.deliveryMethod.set("slow")).deliveryMethod == "slow"
    assert store.put(order) == order
    assert store.delete(Order.at(order_id=1)) == order
    assert store.create(_order("next")).order_id == 2


def test_the_counter_item_is_no_order(backend: MakeStore) -> None:
    """The counter stands in the same table, and no order's key can reach it."""
    store = backend(orders)
    store.put_many([_order("a"), _order("b"), _order("c")])
    assert {item["pk"]["S"] for item in everything(store)} == {"orderCounter", "1", "2", "3"}
    assert item_under(store, {"pk": {"S": "orderCounter"}}) == {"pk": {"S": "orderCounter"}, "count": {"N": "3"}}


def test_a_table_of_the_document_is_continued(backend: MakeStore) -> None:
    """Where the document has counted to 3, ours goes on with 4; the document's next number is 5."""
    store = backend(orders)
    by_hand = Document(store)
    assert [by_hand.order() for _ in range(3)] == [1, 2, 3]
    assert store.create(_order("x")).order_id == 4
    assert by_hand.order() == 5


def test_both_first_programs_in_threads(backend: MakeStore) -> None:
    """Eight threads, every other one the document's: 1 to 40 without duplicate, rising in each thread."""
    store = backend(orders)
    by_hand = Document(store)

    def work(place: int) -> list[int]:
        if place % 2:
            return [by_hand.order() for _ in range(5)]
        return [store.create(_order(f"t{place}")).order_id for _ in range(5)]

    issued = in_threads(8, work)
    assert all(each == sorted(set(each)) for each in issued)
    assert sorted(number for each in issued for number in each) == list(range(1, 41))


# The second program: a sort key


def test_the_second_program(backend: MakeStore) -> None:
    """An issue gets the number after its project's highest, as the numeric sort key itself."""
    store = backend(projects)
    issues = [store.create(Issue(project="projectA")) for _ in range(2)]
    assert [issue.number for issue in issues] == [1, 2]
    item = item_under(store, {"pk": {"S": "projectA"}, "sk": {"N": "2"}})
    assert item is not None
    assert item.pop("_c")
    assert item == {
        "pk": {"S": "projectA"},
        "sk": {"N": "2"},
        "_et": {"S": "issue"},
        "project": {"S": "projectA"},
        "number": {"N": "2"},
        "priority": {"S": "low"},
    }


def test_the_second_program_beside_the_documents_own(backend: MakeStore) -> None:
    """Ours and the document's code by turns issue 1 to 20 once each, beyond 9 and 10 too."""
    store = backend(projects)
    by_hand = Document(store)
    issued = [by_hand.issue() if turn == "d" else _issue(store) for turn in "doodddoooododdoodood"]
    assert issued == list(range(1, 21))
    assert [issue.number for issue in store.query(Issue.key(project="projectA"))] == issued
    assert store.count(Issue.key(project="projectA").gt(number=18)) == 2
    assert len(everything(store)) == 20


def test_an_issue_of_the_document_is_one_of_ours(backend: MakeStore) -> None:
    """What the document stored without tag is got, queried, changed and put; its number is read out of the key."""
    store = backend(projects)
    Document(store).issue()
    issue = store.one(Issue.at(project="projectA", number=1))
    assert issue == Issue(project="projectA", number=1, priority="low")
    assert store.query(Issue.key(project="projectA")).all() == [issue]
    assert store.update(issue, Issue.priority.set("high")).priority == "high"
    assert store.put(issue) == issue
    assert store.delete(issue) == issue
    with pytest.raises(AlreadyExists):
        store.put(issue)


def test_projects_do_not_share_numbers(backend: MakeStore) -> None:
    """Each project counts for itself, the document's and ours."""
    store = backend(projects)
    by_hand = Document(store)
    assert by_hand.issue("projectB") == 1
    assert [_issue(store), _issue(store)] == [1, 2]
    assert by_hand.issue("projectB") == 2
    assert store.create(Issue(project="projectB")).number == 3


def test_a_deleted_issue_is_not_issued_again_by_either(backend: MakeStore) -> None:
    """Our tombstone keeps the highest number from the document's code too."""
    store = backend(projects)
    by_hand = Document(store)
    by_hand.issue()
    assert store.delete(Issue.at(project="projectA", number=_issue(store))) is not None
    assert by_hand.issue() == 3
    assert _issue(store) == 4
    assert [issue.number for issue in store.query(Issue.key(project="projectA"))] == [1, 3, 4]
    assert store.count(Issue.key(project="projectA")) == 3


def test_both_second_programs_in_threads(backend: MakeStore) -> None:
    """Eight threads, every other one the document's: 1 to 40 without duplicate or gap, rising in each thread."""
    store = backend(projects)
    by_hand = Document(store)

    def work(place: int) -> list[int]:
        if place % 2:
            return [by_hand.issue() for _ in range(5)]
        return [_issue(store) for _ in range(5)]

    issued = in_threads(8, work)
    assert all(each == sorted(set(each)) for each in issued)
    assert sorted(number for each in issued for number in each) == list(range(1, 41))
    assert [issue.number for issue in store.query(Issue.key(project="projectA"))] == list(range(1, 41))


def _order(method: str) -> Order:
    return Order(deliveryMethod=method)


def _issue(store: Store) -> int:
    return store.create(Issue(project="projectA")).number
