"""A DynamoDB in memory: pure, exact or refusing, and cheap to copy.

Theory of operation. `Memory.perform` carries one request out at one moment, as DynamoDB does with every request on one
item and with every transaction. So there are no conflicts and no throttling, and global indexes never lag: what a store
meets there beyond is the business of whoever puts faults between. A request that asks for more than is modelled raises
NotModelled; nothing is guessed. The model keeps no time: tokens hold for ever, and nothing that has expired is swept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from singletable.testing.answers import NotModelled, Refused, invalid
from singletable.testing.reading import get, query, scan
from singletable.testing.tables import Held, create_table, key_of, missing_table
from singletable.testing.values import stored_item
from singletable.testing.writing import Planned, plan, returned
from singletable.wire import Item

__all__ = ["Memory"]

_BATCH_READS, _BATCH_WRITES, _TRANSACTION = 100, 25, 100
_EXPRESSED = ("ExpressionAttributeNames", "ExpressionAttributeValues")
_CONDITIONAL = ("TableName", "ConditionExpression", "ReturnValues", "ReturnValuesOnConditionCheckFailure", *_EXPRESSED)
_READS = ("TableName", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames")
_MANY = (*_READS, *_EXPRESSED, "IndexName", "FilterExpression", "Limit", "Select", "ExclusiveStartKey")

_TAKES: Mapping[str, frozenset[str]] = {
    "get_item": frozenset({*_READS, "Key"}),
    "put_item": frozenset({*_CONDITIONAL, "Item"}),
    "update_item": frozenset({*_CONDITIONAL, "Key", "UpdateExpression"}),
    "delete_item": frozenset({*_CONDITIONAL, "Key"}),
    "query": frozenset({*_MANY, "KeyConditionExpression", "ScanIndexForward"}),
    "scan": frozenset({*_MANY, "Segment", "TotalSegments"}),
    "batch_get_item": frozenset({"RequestItems"}),
    "batch_write_item": frozenset({"RequestItems"}),
    "transact_get_items": frozenset({"TransactItems"}),
    "transact_write_items": frozenset({"TransactItems", "ClientRequestToken"}),
    "describe_table": frozenset({"TableName"}),
    "delete_table": frozenset({"TableName"}),
    "describe_time_to_live": frozenset({"TableName"}),
    "update_time_to_live": frozenset({"TableName", "TimeToLiveSpecification"}),
}
"""The parameters that are modelled; `create_table` has its own."""

_WRITES = {"put_item": "put", "update_item": "update", "delete_item": "delete"}
_ELEMENTS = {"Put": "put", "Update": "update", "Delete": "delete", "ConditionCheck": "check"}


class Memory:
    """Tables in memory, and the requests of a boto3 client on them.

    >>> memory = Memory()
    >>> key = {"AttributeName": "id", "AttributeType": "S"}
    >>> made = memory.perform("create_table", {"TableName": "t", "AttributeDefinitions": [key],
    ...     "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})
    >>> memory.perform("put_item", {"TableName": "t", "Item": {"id": {"S": "a"}}})
    {}
    >>> memory.items("t")
    [{'id': {'S': 'a'}}]
    """

    def __init__(self) -> None:
        self._tables: dict[str, Held] = {}
        self._tokens: dict[str, object] = {}

    def copy(self) -> Memory:
        """Give a memory of its own with the same tables and items."""
        made = Memory()
        made._tables = {name: held.copy() for name, held in self._tables.items()}
        made._tokens = dict(self._tokens)
        return made

    def items(self, table: str) -> list[Item]:
        """List every item of a table, hidden ones too, in the order of their keys."""
        held = self.held(table)
        return [stored_item(held.items[place]) for place in sorted(held.items, key=repr)]

    def held(self, table: str) -> Held:
        """Give a table. Refused with ResourceNotFoundException where there is none."""
        if table not in self._tables:
            raise missing_table(table)
        return self._tables[table]

    def perform(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Carry one request out and give its answer.

        Refused with the error that DynamoDB would answer; NotModelled for a method or parameter beyond the model.
        """
        if method == "create_table":
            return self._create_table(params)
        if method not in _TAKES:
            raise NotModelled(f"{method} is not modelled")
        _check_params(method, params, _TAKES[method])
        if method in _WRITES:
            return self._write(_WRITES[method], params)
        work: Callable[[Mapping[str, Any]], dict[str, Any]] = getattr(self, f"_{method}")
        return work(params)

    # Tables

    def _create_table(self, params: Mapping[str, Any]) -> dict[str, Any]:
        name = params["TableName"]
        if name in self._tables:
            raise Refused("ResourceInUseException", f"there is a table {name!r}")
        self._tables[name] = create_table(params)
        return {"TableDescription": dict(self._tables[name].described)}

    def _describe_table(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {"Table": dict(self.held(params["TableName"]).described)}

    def _delete_table(self, params: Mapping[str, Any]) -> dict[str, Any]:
        described = dict(self.held(params["TableName"]).described)
        del self._tables[params["TableName"]]
        return {"TableDescription": described}

    def _describe_time_to_live(self, params: Mapping[str, Any]) -> dict[str, Any]:
        swept = self.held(params["TableName"]).swept_by
        if swept is None:
            return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": swept}}

    def _update_time_to_live(self, params: Mapping[str, Any]) -> dict[str, Any]:
        held, wanted = self.held(params["TableName"]), params["TimeToLiveSpecification"]
        if not wanted["Enabled"] or held.swept_by is not None:
            raise NotModelled("to switch the time to live off, or on again, is not modelled")
        held.swept_by = wanted["AttributeName"]
        return {"TimeToLiveSpecification": dict(wanted)}

    # Reads

    def _get_item(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return get(self.held(params["TableName"]), params)

    def _query(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return query(self.held(params["TableName"]), params)

    def _scan(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return scan(self.held(params["TableName"]), params)

    def _batch_get_item(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, list[Item]] = {}
        asked = 0
        for table, batch in params["RequestItems"].items():
            _check_params("batch_get_item", batch, frozenset({*_READS, "Keys"}))
            held, keys = self.held(table), batch["Keys"]
            asked += len(keys)
            _check_distinct([key_of(held, key) for key in keys])
            answers = [get(held, {**batch, "Key": key}) for key in keys]
            found[table] = [answer["Item"] for answer in answers if answer]
        _check_count(asked, _BATCH_READS)
        return {"Responses": found, "UnprocessedKeys": {}}

    def _transact_get_items(self, params: Mapping[str, Any]) -> dict[str, Any]:
        elements = [element["Get"] for element in params["TransactItems"]]
        _check_count(len(elements), _TRANSACTION)
        for element in elements:
            _check_params("transact_get_items", element, _TAKES["get_item"])
        _check_distinct([(each["TableName"], key_of(self.held(each["TableName"]), each["Key"])) for each in elements])
        return {"Responses": [get(self.held(each["TableName"]), each) for each in elements]}

    # Writes

    def _write(self, kind: str, params: Mapping[str, Any]) -> dict[str, Any]:
        planned = plan(self.held(params["TableName"]), kind, params)
        planned.carry_out()
        return returned(planned, params.get("ReturnValues", "NONE"))

    def _batch_write_item(self, params: Mapping[str, Any]) -> dict[str, Any]:
        planned = [
            (table, plan(self.held(table), kind, element))
            for table, elements in params["RequestItems"].items()
            for kind, element in map(_batched, elements)
        ]
        _check_count(len(planned), _BATCH_WRITES)
        _check_distinct([(table, each.place) for table, each in planned])
        for _, each in planned:
            each.carry_out()
        return {"UnprocessedItems": {}}

    def _transact_write_items(self, params: Mapping[str, Any]) -> dict[str, Any]:
        token, asked = params.get("ClientRequestToken"), repr(params["TransactItems"])
        if token in self._tokens:
            if self._tokens[token] != asked:
                raise Refused("IdempotentParameterMismatchException", "another transaction had this token")
            return {}
        _check_count(len(params["TransactItems"]), _TRANSACTION)
        elements = [_transacted(element) for element in params["TransactItems"]]
        _check_distinct([(each["TableName"], self._place(kind, each)) for kind, each in elements])
        planned: list[Planned | Refused] = [self._planned(kind, each) for kind, each in elements]
        if any(isinstance(each, Refused) for each in planned):
            raise _cancelled(planned)
        for each in planned:
            if isinstance(each, Planned):
                each.carry_out()
        if token is not None:
            self._tokens[token] = asked
        return {}

    def _place(self, kind: str, params: Mapping[str, Any]) -> object:
        whole = kind == "put"
        return key_of(self.held(params["TableName"]), params["Item" if whole else "Key"], whole=whole)

    def _planned(self, kind: str, params: Mapping[str, Any]) -> Planned | Refused:
        try:
            return plan(self.held(params["TableName"]), kind, params)
        except Refused as refused:
            return refused


def _check_params(method: str, params: Mapping[str, Any], taken: frozenset[str]) -> None:
    beyond = sorted(set(params) - taken)
    if beyond:
        raise NotModelled(f"{method}({', '.join(f'{name}=' for name in beyond)}) is not modelled")


def _check_count(count: int, most: int) -> None:
    if not 0 < count <= most:
        invalid(f"{count} elements, where 1 to {most} are taken")


def _check_distinct(places: list[Any]) -> None:
    if len(set(places)) != len(places):
        invalid("two elements are about one item")


def _batched(element: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Give the kind and parameters of one element of a batch of writes."""
    ((kind, params),) = element.items()
    return ("put" if kind == "PutRequest" else "delete"), params


def _transacted(element: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Give the kind and parameters of one element of a transaction."""
    ((name, params),) = element.items()
    kind = _ELEMENTS[name]
    taken = frozenset({*_CONDITIONAL, "Item", "Key", "UpdateExpression"}) - {"ReturnValues"}
    _check_params("transact_write_items", params, taken)
    return kind, params


def _cancelled(planned: list[Planned | Refused]) -> Refused:
    """Make the error of a transaction that is not carried out, with a reason for each element."""
    return Refused(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons",
        CancellationReasons=list(_reasons(planned)),
    )


def _reasons(planned: list[Planned | Refused]) -> Iterator[dict[str, Any]]:
    names = {"ConditionalCheckFailedException": "ConditionalCheckFailed", "ValidationException": "ValidationError"}
    for each in planned:
        if isinstance(each, Planned):
            yield {"Code": "None"}
        else:
            yield {"Code": names.get(each.code, each.code), "Message": each.message, **each.more}
