"""The two programs of the source document as they are printed, run on a store's own engine and table.

The document ("Two ways to make auto-increment ids in DynamoDB", after the AWS Database Blog's "Implement auto-increment
with Amazon DynamoDB") counts orders with an atomic counter and issues with the sort key. Only the `boto3` that they
import is another: its one table is that of the store.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import CodeType, SimpleNamespace
from typing import Any

from singletable import Store
from tests.contract.behind import resource_of

__all__ = ["COUNTER_PROGRAM", "SORT_KEY_PROGRAM", "Document"]

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
    """What `boto3.resource("dynamodb")` gives the document: every table of its is the one of the store."""

    def __init__(self, resource: Any, name: str) -> None:
        self._resource = resource
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._resource, name)

    def Table(self, name: str) -> Any:  # noqa: N802  # boto3's own name
        """Give the store's table by whatever name."""
        assert name in ("orders", "projects")
        return self._resource.Table(self._name)


class Document:
    """The document's programs, on the engine and the table of a store, or through a resource that is given.

    `text` is what the document writes into its one field, where it is to be another than the printed one.
    """

    def __init__(self, store: Store, resource: Any = None) -> None:
        self._resource = Renamed(resource_of(store) if resource is None else resource, store.name)
        self._names = {"__builtins__": {**vars(builtins), "__import__": self._import}}

    def order(self, text: str = "expedited") -> int:
        """Run the first program and give the number it issued."""
        program = COUNTER_PROGRAM.replace("expedited", text)
        return int(self._run(compile(program, "counter program", "exec"))["next_order_id"])

    def issue(self, project: str = "projectA", text: str = "low") -> int:
        """Run the second program for a project and give the number it issued."""
        program = SORT_KEY_PROGRAM.replace("projectA", project).replace("'low'", repr(text))
        return int(self._run(compile(program, "sort key program", "exec"))["highest_issue_id"]) + 1

    def _resource_of(self, service: str) -> Renamed:
        assert service == "dynamodb"
        return self._resource

    def _run(self, program: CodeType) -> Mapping[str, Any]:
        names: dict[str, Any] = dict(self._names)
        exec(program, names)
        return names

    def _import(self, name: str, *args: Any) -> Any:
        """Import what a program asks for; of boto3 itself, what leads to the store's table."""
        if name == "boto3":
            return SimpleNamespace(resource=self._resource_of)
        return __import__(name, *args)
