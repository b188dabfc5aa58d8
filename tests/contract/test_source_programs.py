"""The two programs of the source document, and its own code taking turns with ours on the same items.

The document ("Two ways to make auto-increment ids in DynamoDB", after the AWS Database Blog's "Implement auto-increment
with Amazon DynamoDB") counts orders with an atomic counter and issues with the sort key. `COUNTER_PROGRAM`
and `SORT_KEY_PROGRAM` are its code as printed, and are run so; only `boto3.resource` leads to the test's own table.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, TypeAlias

import boto3
import pytest

from singletable import AlreadyExists, AutoIncrement, Entity, Field, Key, Sequence, Store, Table
from tests.contract.behind import everything, in_threads, item_under, resource_of
from tests.contract.conftest import MakeStore

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


COUNTER_PROGRAM = """\
import boto3

dynamodb = boto3.resource('dynamodb')
table = dynamodb.Table('orders')

# 原子递增计数器
response = table.update_item(
    Key={'pk': 'orderCounter'},
    UpdateExpression="ADD #cnt :val",
    ExpressionAttributeNames={'#cnt': 'count'},
    ExpressionAttributeValues={':val': 1},
    ReturnValues="UPDATED_NEW"
)

# 获取新的 ID 值
next_order_id = response['Attributes']['count']

# 使用新的 ID
table.put_item(
    Item={'pk': str(next_order_id), 'deliveryMethod': 'expedited'}
)
"""

SORT_KEY_PROGRAM = """\
import boto3
from boto3.dynamodb.conditions import Key

PROJECT_ID = 'projectA'

dynamodb = boto3.resource('dynamodb')
client = dynamodb.Table('projects')
highest_issue_id = 0
saved = False

# 查询最大排序键值
response = client.query(
    KeyConditionExpression=Key('pk').eq(PROJECT_ID),
    ScanIndexForward=False,
    Limit=1
)

# 获取最大排序键值
if response['Count'] > 0:
    highest_issue_id = int(response['Items'][0]['sk'])

while not saved:
    try:
        # 写入新项，并使用条件表达式避免并发写入
        response = client.put_item(
            Item={
                'pk': PROJECT_ID,
                'sk': highest_issue_id + 1,
                'priority': 'low'
            },
            ConditionExpression='attribute_not_exists(pk)'
        )
        saved = True
    # 如果条件表达式失败，则说明发生了并发写入，需要重新查询最大排序键值并重试
    except dynamodb.meta.client.exceptions.ConditionalCheckFailedException as e:
        highest_issue_id = highest_issue_id + 1
"""


class Renamed:
    """What `boto3.resource("dynamodb")` gives the document: every table of its is the one of the test."""

    def __init__(self, store: Store) -> None:
        self._resource = resource_of(store)
        self._name = store.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._resource, name)

    def Table(self, name: str) -> Any:  # noqa: N802  # boto3's own name
        """Give the test's table by whatever name."""
        assert name in ("orders", "projects")
        return self._resource.Table(self._name)


class Document:
    """The document's programs, run as they are printed, on the engine and the table of a store."""

    def __init__(self, store: Store) -> None:
        self._resource = Renamed(store)
        self._order = compile(COUNTER_PROGRAM, "counter program", "exec")

    def order(self) -> int:
        """Run the first program and give the number it issued."""
        return int(self._run(self._order)["next_order_id"])

    def issue(self, project: str = "projectA") -> int:
        """Run the second program for a project and give the number it issued."""
        program = SORT_KEY_PROGRAM.replace("projectA", project)
        return int(self._run(compile(program, "sort key program", "exec"))["highest_issue_id"]) + 1

    def resource(self, service: str) -> Renamed:
        """Stand for `boto3.resource`."""
        assert service == "dynamodb"
        return self._resource

    def _run(self, program: CodeType) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(program, names)
        return names


MakeDocument: TypeAlias = Callable[[Store], Document]


@pytest.fixture
def document(monkeypatch: pytest.MonkeyPatch) -> MakeDocument:
    """Let the document's `boto3.resource` talk to the engine of a store."""

    def of(store: Store) -> Document:
        made = Document(store)
        monkeypatch.setattr(boto3, "resource", made.resource)
        return made

    return of


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


def test_the_first_program_beside_the_documents_own(backend: MakeStore, document: MakeDocument) -> None:
    """Ours and the document's code by turns issue 1 to 20 once each, and each order can be read by us."""
    store = backend(orders)
    by_hand = document(store)
    issued: list[int] = []
    for turn in "oddoodddoooododdoodo":
        made = by_hand.order() if turn == "d" else store.create(_order("normal")).order_id
        issued.append(made)
    assert issued == list(range(1, 21))
    methods = [store.one(Order.at(order_id=number)).deliveryMethod for number in issued]
    assert methods == ["normal" if turn == "o" else "expedited" for turn in "oddoodddoooododdoodo"]
    assert item_under(store, {"pk": {"S": "orderCounter"}}) == {"pk": {"S": "orderCounter"}, "count": {"N": "20"}}
    assert len(everything(store)) == 21


def test_an_order_of_the_document_is_one_of_ours(backend: MakeStore, document: MakeDocument) -> None:
    """What the document stored is got, queried, changed, put and deleted; its number is read out of the key."""
    store = backend(orders)
    assert document(store).order() == 1
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


def test_a_table_of_the_document_is_continued(backend: MakeStore, document: MakeDocument) -> None:
    """Where the document has counted to 3, ours goes on with 4; the document's next number is 5."""
    store = backend(orders)
    by_hand = document(store)
    assert [by_hand.order() for _ in range(3)] == [1, 2, 3]
    assert store.create(_order("x")).order_id == 4
    assert by_hand.order() == 5


def test_both_first_programs_in_threads(backend: MakeStore, document: MakeDocument) -> None:
    """Eight threads, every other one the document's: 1 to 40 without duplicate, rising in each thread."""
    store = backend(orders)
    by_hand = document(store)

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


def test_the_second_program_beside_the_documents_own(backend: MakeStore, document: MakeDocument) -> None:
    """Ours and the document's code by turns issue 1 to 20 once each, beyond 9 and 10 too."""
    store = backend(projects)
    by_hand = document(store)
    issued = [by_hand.issue() if turn == "d" else _issue(store) for turn in "doodddoooododdoodood"]
    assert issued == list(range(1, 21))
    assert [issue.number for issue in store.query(Issue.key(project="projectA"))] == issued
    assert store.count(Issue.key(project="projectA").gt(number=18)) == 2
    assert len(everything(store)) == 20


def test_an_issue_of_the_document_is_one_of_ours(backend: MakeStore, document: MakeDocument) -> None:
    """What the document stored without tag is got, queried, changed and put; its number is read out of the key."""
    store = backend(projects)
    document(store).issue()
    issue = store.one(Issue.at(project="projectA", number=1))
    assert issue == Issue(project="projectA", number=1, priority="low")
    assert store.query(Issue.key(project="projectA")).all() == [issue]
    assert store.update(issue, Issue.priority.set("high")).priority == "high"
    assert store.put(issue) == issue
    assert store.delete(issue) == issue
    with pytest.raises(AlreadyExists):
        store.put(issue)


def test_projects_do_not_share_numbers(backend: MakeStore, document: MakeDocument) -> None:
    """Each project counts for itself, the document's and ours."""
    store = backend(projects)
    by_hand = document(store)
    assert by_hand.issue("projectB") == 1
    assert [_issue(store), _issue(store)] == [1, 2]
    assert by_hand.issue("projectB") == 2
    assert store.create(Issue(project="projectB")).number == 3


def test_a_deleted_issue_is_not_issued_again_by_either(backend: MakeStore, document: MakeDocument) -> None:
    """Our tombstone keeps the highest number from the document's code too."""
    store = backend(projects)
    by_hand = document(store)
    by_hand.issue()
    assert store.delete(Issue.at(project="projectA", number=_issue(store))) is not None
    assert by_hand.issue() == 3
    assert _issue(store) == 4
    assert [issue.number for issue in store.query(Issue.key(project="projectA"))] == [1, 3, 4]
    assert store.count(Issue.key(project="projectA")) == 3


def test_both_second_programs_in_threads(backend: MakeStore, document: MakeDocument) -> None:
    """Eight threads, every other one the document's: 1 to 40 without duplicate or gap, rising in each thread."""
    store = backend(projects)
    by_hand = document(store)

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
