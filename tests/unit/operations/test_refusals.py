"""What DynamoDB may answer to any request of any operation: it always ends in an error of ours, never in the wire's."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import singletable.operations
from singletable.errors import OutcomeUnknown, ServiceError, SingleTableError, Unprocessed
from singletable.gathering import Collection
from singletable.indexes import GlobalIndex
from singletable.mapping import to_item
from singletable.operations.add_index import AddIndex
from singletable.operations.batch import DeleteMany, PutMany
from singletable.operations.by_value import GetByValue, unique_ref
from singletable.operations.check import Check
from singletable.operations.collection import Gather
from singletable.operations.create import Create
from singletable.operations.create_many import CreateMany
from singletable.operations.delete import Delete
from singletable.operations.get import Get, One
from singletable.operations.get_many import GetMany, ReadBatch
from singletable.operations.guarding import BackfillUnique, Guard
from singletable.operations.many import WriteBatch
from singletable.operations.merge import CountAll, First, Queries
from singletable.operations.move import Move
from singletable.operations.once import Assign, CreateOnce, GetOrCreate, Prepare
from singletable.operations.page import TakePage
from singletable.operations.put import Put
from singletable.operations.query import Count, Pages, ReadPage
from singletable.operations.scan import Scan, ScanPage
from singletable.operations.sequences import (
    NumbersOf,
    PeekSequence,
    ReserveNumbers,
    ResetSequence,
    SetSequence,
    SyncSequence,
)
from singletable.operations.shape import index_definition
from singletable.operations.standing import Reading
from singletable.operations.tables import CreateTable, DeleteTable, DiffTable
from singletable.operations.transact import Transact
from singletable.operations.update import Update
from singletable.wire import Call, Refusal, Steps
from tests.unit.operations.playing import Player, context, lost, missing
from tests.unit.operations.shop import PLACED, Invoice, Member, Order, Region, Ticket, User, order_item, shop, user_item
from tests.unit.operations.test_tables import described

ANN = User(user_id="u1", name="Ann")
AT = User.at(user_id="u1")
ORDER_AT = Order.at(user_id="u1", order_id=7)
ANNE = Member(member_id="ann", email="a@b.c")
ANNE_AT = Member.at(member_id="ann")
ORDERS = Order.key(user_id="u1")
gsi2 = GlobalIndex("GSI2")
INVOICES = NumbersOf(Invoice, "number", {})


class Home(Collection, pk="#USER#{user_id}"):
    user: User | None
    orders: list[Order]


OPERATIONS: list[Callable[[], Any]] = [
    lambda: Get(AT),
    lambda: One(Get(AT), AT),
    lambda: Create(ANN),
    lambda: Create(Order(user_id="u1", placed_at=PLACED)),
    lambda: Create(Invoice(total=1)),
    lambda: Create(Ticket(repo="r")),
    lambda: Put(ANN),
    lambda: Put(Order(user_id="u1", order_id=7, placed_at=PLACED)),
    lambda: Update(AT, User.name.set("Bob")),
    lambda: Update(AT, User.visits.add(1)),
    lambda: Update(ORDER_AT, Order.status.set("PAID")),
    lambda: Delete(AT),
    lambda: Move(AT, user_id="u2"),
    lambda: Move(ORDER_AT, user_id="u2"),
    lambda: Move(ANNE_AT, member_id="anne"),
    lambda: Update(AT, User.name.set("Bob"), missing="create"),
    lambda: Update(ORDER_AT, Order.placed_at.set(PLACED), missing="create", returning="old"),
    lambda: Update(ANNE_AT, Member.email.set("n@b.c"), missing="create", returning="old"),
    lambda: Put(ANN, returning="old"),
    lambda: Delete(ORDER_AT),
    lambda: Check(AT),
    lambda: Pages(ORDERS),
    lambda: ReadPage(ORDERS),
    lambda: Count(ORDERS),
    lambda: PutMany((Region(country="CN", path=("a",)), ANN)),
    lambda: PutMany((Invoice(total=1),)),
    lambda: CreateMany((ANN, Order(user_id="u1", placed_at=PLACED))),
    lambda: DeleteMany((AT, ORDER_AT)),
    lambda: GetMany((AT, ORDER_AT)),
    lambda: GetMany((AT, ORDER_AT), transactional=True),
    lambda: Transact(Create(ANN), Update(ORDER_AT, Order.status.set("PAID")), Create(Invoice(total=1))),
    lambda: Transact(Create(Order(user_id="u1", placed_at=PLACED)), Check(AT), token="t"),
    lambda: CreateOnce(ANN, "t"),
    lambda: CreateOnce(Invoice(total=1), "t"),
    lambda: GetOrCreate(ANN),
    lambda: Assign(Invoice(total=1)),
    lambda: Prepare(Create(Order(user_id="u1", placed_at=PLACED))),
    lambda: Reading(AT),
    lambda: First(Queries((ORDERS,))),
    lambda: First(Scan(User)),
    lambda: TakePage(Queries((ORDERS,)), 2),
    lambda: ScanPage(Scan(User)),
    lambda: CountAll((ORDERS, User.key(user_id="u1"))),
    lambda: GetByValue(unique_ref(Member, email="a@b.c")),
    lambda: Create(ANNE),
    lambda: Put(ANNE),
    lambda: Update(ANNE_AT, Member.email.set("n@b.c")),
    lambda: Delete(ANNE_AT),
    lambda: Guard(ANNE_AT),
    lambda: BackfillUnique(Member),
    lambda: PeekSequence(INVOICES),
    lambda: ReserveNumbers(INVOICES, 2),
    lambda: SetSequence(INVOICES, 7),
    lambda: SyncSequence(INVOICES),
    lambda: SyncSequence(NumbersOf(Ticket, "number", {"repo": "r"})),
    lambda: ResetSequence(INVOICES),
    lambda: Gather(Home.of(user_id="u1")),
    lambda: CreateTable(shop),
    lambda: DiffTable(shop),
    lambda: AddIndex(shop, gsi2),
    DeleteTable,
]

GSI2 = {**index_definition(shop, gsi2), "IndexStatus": "ACTIVE"}
TYPES = [{"AttributeName": name, "AttributeType": "S"} for name in ("GSI2PK", "GSI2SK")]

KNOWN = (
    "ConditionalCheckFailedException",
    "ItemCollectionSizeLimitExceededException",
    "LimitExceededException",
    "ProvisionedThroughputExceededException",
    "ReplicatedWriteConflictException",
    "ResourceInUseException",
    "ResourceNotFoundException",
    "TransactionCanceledException",
    "TransactionConflictException",
    "ValidationException",
)
SURPRISE = "SurpriseException"
MOST_CALLS = 6


class Answering(Player):
    """Answers each call as an engine would, but from one call on with trouble alone."""

    def __init__(self, trouble: Callable[[], Exception], after: int) -> None:
        super().__init__()
        self.trouble, self.after = trouble, after

    def _answer(self, call: Call) -> dict[str, Any]:
        self.calls.append(call)
        if len(self.calls) > self.after:
            raise self.trouble()
        if call.method == "describe_table" and self.calls[0].method == "delete_table":
            raise missing()
        if call.method == "describe_table" and "update_table" in [each.method for each in self.calls]:
            return {"Table": {**described()["Table"], "GlobalSecondaryIndexes": [GSI2], "AttributeDefinitions": TYPES}}
        key = call.params.get("Key", {})
        item = order_item(7) if key.get("SK", {}).get("S", "").startswith("#ORDER") else user_item()
        item = to_item(ANNE) if key.get("PK", {}).get("S", "").startswith("#MEMBER") else item
        answers: dict[str, dict[str, Any]] = {
            "get_item": {"Item": item},
            "put_item": {},
            "update_item": {"Attributes": {**item, "last": {"N": "7"}}},
            "delete_item": {"Attributes": item},
            "transact_write_items": {},
            "transact_get_items": {"Responses": [{"Item": user_item()}, {"Item": order_item(7)}]},
            "query": {"Items": [], "Count": 0},
            "scan": {"Items": [to_item(ANNE)]},
            "batch_get_item": {"Responses": {}},
            "batch_write_item": {},
            "create_table": {},
            "update_table": {},
            "describe_table": described(),
            "delete_table": {},
        }
        return answers[call.method]


def ending(make: Callable[[], Any], trouble: Callable[[], Exception], after: int) -> tuple[object, int]:
    """Run an operation that meets trouble; give its error (None where it ends well), and how much it asked for."""
    player = Answering(trouble, after)
    flow: Steps[Any] = make().steps(context(attempts=2))
    try:
        player.play(flow)
    except Exception as error:  # noqa: BLE001 - whatever comes out is what the tests look at
        return error, len(player.calls)
    return None, len(player.calls)


def test_every_operation_is_among_them() -> None:
    """Each public class of the operations that has steps is run here."""
    names = [module.name for module in pkgutil.iter_modules(singletable.operations.__path__)]
    modules = [import_module(f"singletable.operations.{name}") for name in names]
    public = [getattr(module, name) for module in modules for name in module.__all__]
    run = {each for each in public if isinstance(each, type) and hasattr(each, "steps")}
    abstract = {each for each in run if getattr(each, "_is_protocol", False)}
    assert run - abstract - {WriteBatch, ReadBatch} == {type(make()) for make in OPERATIONS}


@pytest.mark.parametrize("make", OPERATIONS, ids=lambda make: repr(make())[:40])
def test_an_unknown_refusal_is_a_service_error(make: Callable[[], Any]) -> None:
    """An error that DynamoDB has never had ends any operation in ServiceError, at whichever request it comes."""
    after, met = 0, 0
    while True:
        error, calls = ending(make, lambda: Refusal(SURPRISE, "new"), after)
        if calls <= after:
            break
        met += 1
        reason = error.__cause__ if isinstance(error, Unprocessed | OutcomeUnknown) else error
        assert isinstance(reason, ServiceError), error
        assert reason.error == SURPRISE
        after += 1
        assert after < MOST_CALLS
    assert met > 0
    assert error is None


@pytest.mark.parametrize("make", OPERATIONS, ids=lambda make: repr(make())[:40])
@pytest.mark.parametrize(("status", "sent"), [(400, 1), (400, 2), (500, 1)])
@pytest.mark.parametrize("code", KNOWN)
def test_no_refusal_reaches_the_caller(make: Callable[[], Any], code: str, status: int, sent: int) -> None:
    """Whatever DynamoDB answers, however often the client sent, it is one of our errors or no error at all."""
    for after in range(3):
        error, _ = ending(make, lambda: Refusal(code, "x", status=status, sent=sent), after)
        assert error is None or isinstance(error, SingleTableError), error


@pytest.mark.parametrize("make", OPERATIONS, ids=lambda make: repr(make())[:40])
def test_no_lost_reply_reaches_the_caller(make: Callable[[], Any]) -> None:
    """Where no answer comes any more the error is one of ours."""
    for after in range(3):
        error, calls = ending(make, lost, after)
        assert (error is None) is (calls <= after)
        assert error is None or isinstance(error, SingleTableError)
