"""Faults, and when they happen: the part of the fault transport that does no I/O.

Theory of operation. A fault is a value whose `play` is a generator, as the operations under test are: it yields the
requests that really go to the engine (`Send`) and the waiting it does (`Wait`), and ends with the answer that the
caller is shown, or with what went wrong: `Refused`, an error that DynamoDB would answer, or `Lost`, where no answer
comes. `tests.faults.client` plays it around a client of either colour, `tests.faults.proxy` at the wire.

A `Script` holds the rules of one test: which fault, on which method, on which of its calls or with what chance. It
counts what it saw (`calls`) and keeps what it did (`done`), so that a test can tell that its fault really happened.

    script = Script(Rule(DROPPED, "put_item", nth=(1,)))                # the first put is carried out, its reply lost
    script = Script(Rule(THROTTLE), seed=7)                             # everything is throttled, always
    script = Script(Rule(SERVER_ERROR, chance=0.1), Rule(LEFTOVERS))    # the first rule that applies wins
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from threading import Lock
from typing import Any, TypeAlias

from tests.faults.lagging import Lagging

__all__ = [
    "CLOSED",
    "CONFLICT",
    "DROPPED",
    "FAILED_AFTER",
    "LEFTOVERS",
    "LOST",
    "SERVER_ERROR",
    "STALE",
    "THROTTLE",
    "UNSENT",
    "Fault",
    "Flow",
    "Lost",
    "Refused",
    "Rule",
    "Script",
    "Send",
    "Wait",
    "delayed",
]

Params: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request to the engine; the answer, or what went wrong, comes back."""

    method: str
    params: Params


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


Flow: TypeAlias = Generator[Send | Wait, Any, Any]
"""The steps of one request; its result is the answer, as a dict."""


class Refused(Exception):
    """DynamoDB answers with an error: its name, a status, and what else stands in the answer."""

    def __init__(self, code: str, message: str, *, status: int = 400, **more: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.more = more


class Lost(Exception):
    """No answer comes. `how`: "unsent" (no connection), "timeout" (none in time) or "closed" (the connection broke)."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


@dataclass(frozen=True, slots=True)
class Fault:
    """One way for a request to go wrong: `play` does it, `applies` says to which requests it can happen."""

    name: str
    play: Callable[[Send], Flow]
    applies: Callable[[Send], bool] = lambda _: True

    def __repr__(self) -> str:
        return self.name


# The faults ----------------------------------------------------------------------------------------------------------


def _throttle(_: Send) -> Flow:
    yield from ()
    raise Refused("ProvisionedThroughputExceededException", "The level of throughput is exceeded")


def _server_error(_: Send) -> Flow:
    yield from ()
    raise Refused("InternalServerError", "Internal server error", status=500)


def _failed_after(request: Send) -> Flow:
    yield from _carried_out(request)
    raise Refused("InternalServerError", "Internal server error", status=500)


def _unsent(_: Send) -> Flow:
    yield from ()
    raise Lost("unsent")


def _lost(_: Send) -> Flow:
    yield from ()
    raise Lost("closed")


def _dropped(request: Send) -> Flow:
    yield from _carried_out(request)
    raise Lost("timeout")


def _closed(request: Send) -> Flow:
    yield from _carried_out(request)
    raise Lost("closed")


def _carried_out(request: Send) -> Flow:
    """Let the engine have the request; what it answers, an error too, is not shown to the caller."""
    with suppress(Exception):
        yield request


def _leftovers(request: Send) -> Flow:
    """Let half of a batch through, rounded down for each table; the rest is left over, with what the engine leaves."""
    reading = request.method == "batch_get_item"
    sent: dict[str, Any] = {}
    left: dict[str, Any] = {}
    for table, part in request.params["RequestItems"].items():
        entries = part["Keys"] if reading else part
        half = len(entries) // 2
        for into, chosen in ((sent, entries[:half]), (left, entries[half:])):
            if chosen:
                into[table] = {**part, "Keys": chosen} if reading else chosen
    if not sent:
        return {"Responses": {}, "UnprocessedKeys": left} if reading else {"UnprocessedItems": left}
    answer = yield Send(request.method, {**request.params, "RequestItems": sent})
    name = "UnprocessedKeys" if reading else "UnprocessedItems"
    return {**answer, name: _joined(left, answer.get(name, {}), reading)}


def _joined(one: dict[str, Any], other: dict[str, Any], reading: bool) -> dict[str, Any]:
    """Join what two parts of a batch have left over."""
    joined = {**other, **one}
    for table in one.keys() & other.keys():
        if reading:
            joined[table] = {**one[table], "Keys": one[table]["Keys"] + other[table]["Keys"]}
        else:
            joined[table] = one[table] + other[table]
    return joined


def _conflict(request: Send) -> Flow:
    yield from ()
    message = "Transaction is ongoing for the item"
    if request.method.startswith("transact"):
        reasons = [{"Code": "TransactionConflict", "Message": message}]
        reasons += [{"Code": "None"} for _ in request.params["TransactItems"][1:]]
        raise Refused("TransactionCanceledException", message, CancellationReasons=reasons)
    raise Refused("TransactionConflictException", message)


def _stale(request: Send) -> Flow:
    return (yield request)  # the script sends it to the table that lags behind


def delayed(seconds: float) -> Fault:
    """Make the fault of an answer that comes late: the request waits before it goes to the engine."""

    def play(request: Send) -> Flow:
        yield Wait(seconds)
        return (yield request)

    return Fault(f"delayed {seconds:g} s", play)


WRITES = frozenset({"put_item", "update_item", "delete_item"})
BATCHES = frozenset({"batch_write_item", "batch_get_item"})
TRANSACTIONS = frozenset({"transact_write_items", "transact_get_items"})

THROTTLE = Fault("throttled", _throttle)
SERVER_ERROR = Fault("error 500", _server_error)
FAILED_AFTER = Fault("carried out, then error 500", _failed_after)
UNSENT = Fault("no connection", _unsent)
LOST = Fault("request lost", _lost)
DROPPED = Fault("carried out, reply timed out", _dropped)
CLOSED = Fault("carried out, connection closed", _closed)
LEFTOVERS = Fault("half left over", _leftovers, lambda request: request.method in BATCHES)
CONFLICT = Fault("transaction conflict", _conflict, lambda request: request.method in WRITES | TRANSACTIONS)
STALE = Fault("stale index", _stale, lambda request: request.method == "query" and "IndexName" in request.params)


# When they happen ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rule:
    """Let a fault happen to calls of a method ("*": of any), to the `nth` ones from 1 on (none: to all), by chance."""

    fault: Fault
    method: str = "*"
    nth: tuple[int, ...] = ()
    chance: float = 1.0


class Script:
    """The rules of one test, the first that applies wins; safe to share between threads.

    `calls` counts the requests by method as the caller sent them, `done` lists the faults as (method, name). With a
    `STALE` rule, index queries are answered as of before the last `lag` writes that went through here.
    """

    def __init__(self, *rules: Rule, seed: int = 0, lag: int = 1) -> None:
        self.rules = rules
        self.calls: Counter[str] = Counter()
        self.done: list[tuple[str, str]] = []
        self._seen = [0 for _ in rules]
        self._random = Random(seed)
        self._lock = Lock()
        self._lagging = Lagging(lag) if any(rule.fault is STALE for rule in rules) else None

    def play(self, method: str, params: Params) -> Flow:
        """Give the flow of one request: what really is sent, and what the caller is shown."""
        request = Send(method, params)
        fault = self._chosen(request)
        if self._lagging is None:
            return (yield from _plain(request) if fault is None else fault.play(request))
        if fault is STALE:
            name = yield from _each(self._lagging.table(params["TableName"]))
            return (yield Send(method, {**params, "TableName": name}))
        yield from _each(self._lagging.before(method, params))
        try:
            return (yield from _plain(request) if fault is None else fault.play(request))
        finally:
            self._lagging.wrote(method, params)

    def _chosen(self, request: Send) -> Fault | None:
        with self._lock:
            self.calls[request.method] += 1
            for place, rule in enumerate(self.rules):
                if rule.method in ("*", request.method) and rule.fault.applies(request):
                    self._seen[place] += 1
                    at = not rule.nth or self._seen[place] in rule.nth
                    if at and (rule.chance >= 1 or self._random.random() < rule.chance):
                        self.done.append((request.method, rule.fault.name))
                        return rule.fault
        return None


def _plain(request: Send) -> Flow:
    return (yield request)


def _each(steps: Generator[tuple[str, Params], Any, Any]) -> Generator[Send, Any, Any]:
    """Send what another part of the transport wants to know or to keep."""
    try:
        wanted = next(steps)
        while True:
            try:
                answer = yield Send(*wanted)
            except Exception as error:  # noqa: BLE001 - it is for those steps to judge
                wanted = steps.throw(error)
            else:
                wanted = steps.send(answer)
    except StopIteration as done:
        return done.value
