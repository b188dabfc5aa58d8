"""Sending several drafts as one transaction: all of it happens or nothing does.

Theory of operation. The actions of all drafts are put together by key. DynamoDB takes one action an item, so a check is
merged into the write of the same item, a hidden item that one write frees and another takes becomes one conditional
put, and steps of one counter become one step; anything else on one item is refused before it is sent. The request
carries a token, so that sending it again after a lost reply does nothing twice for ten minutes (AWS,
"TransactWriteItems", Idempotency); where an engine knows no tokens, the ids the items carry tell. Of a cancelled
transaction each failed condition is judged by the draft whose it is; conflicts and throttling are sent again within
bounds, as no retry mode of botocore does.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from typing import Any, TypeAlias

from singletable.errors import ServiceError, SingleTableError, Throttled, UsageError
from singletable.expressions import all_of, any_of
from singletable.judging import holds
from singletable.operations.actions import Action, checked, element_of
from singletable.operations.context import Context, backoff
from singletable.operations.drafts import Again, Done, Draft, Ending, Judge, Verdict
from singletable.operations.sending import send
from singletable.sizes import item_size
from singletable.wire import Call, Item, Pause, Reason, Refusal, Steps

__all__ = ["ACTIONS_MOST", "ATTEMPTS", "Endings", "commit", "exhausted", "is_transient", "token_of"]

ACTIONS_MOST = 100
"""A transaction writes at most so many items. Source: AWS, "TransactWriteItems"."""

FAILED = "ConditionalCheckFailed"
TRANSIENT = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
"""Reasons for which the same transaction is sent again. Source: AWS, "TransactWriteItems", CancellationReasons."""

BYTES_MOST = 4 * 1024 * 1024
"""The items of a transaction have at most so many bytes together. Source: as above."""

ATTEMPTS = 16

Endings: TypeAlias = list[Ending[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One action of one draft; `hidden` tells those beside the draft's own item, `leads` those that it follows from."""

    place: int
    action: Action
    judge: Judge[Any]
    hidden: bool
    leads: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Element:
    """What is sent for one item: the parts that were merged into one action."""

    action: Action
    parts: tuple[_Part, ...]


def commit(context: Context, drafts: Sequence[Draft[Any]], name: str, operation: object) -> Steps[Endings]:
    """Write all drafts or none, and give a verdict for each; where all are `Done`, everything is written.

    `name` names what is sent: the same actions under one name are one transaction. UsageError for more than 100 items,
    or two writes to one item; OutcomeUnknown, with `operation`, where it may have happened; ServiceError or Throttled
    where conflicts or throttling did not end.
    """
    elements = _elements(drafts)
    _check_size(elements)
    items = [element_of(context, element.action) for element in elements]
    params = {"TransactItems": items, "ClientRequestToken": token_of(f"{name}/{items!r}")}
    pauses, tried, resent = backoff(context, ATTEMPTS, base=0.01, cap=0.5), 0, False
    while True:
        try:
            yield from send(context, Call("transact_write_items", params), writing=operation)
            return [Done(draft.answer(None)) for draft in drafts]
        except Refusal as refusal:
            tried, resent = tried + 1, resent or refusal.sent > 1
            if not is_transient(refusal):
                refusal.sent = max(refusal.sent, 2) if resent else refusal.sent
                return _verdicts(drafts, elements, refusal)
            pause = next(pauses, None)
            if pause is None:
                raise exhausted(context, refusal, tried) from refusal.__cause__
        yield Pause(pause)


def token_of(name: str) -> str:
    """Make the token of a transaction: 32 hexadecimal digits, of the 36 characters DynamoDB takes.

    >>> len(token_of("order-7"))
    32
    """
    return blake2s(name.encode(), digest_size=16).hexdigest()


# One action for each item --------------------------------------------------------------------------------------------


def _elements(drafts: Sequence[Draft[Any]]) -> list[_Element]:
    found: dict[Hashable, list[_Part]] = {}
    for place, draft in enumerate(drafts):
        parts = [_Part(place, draft.own, draft.refused, hidden=False, leads=False)]
        parts += [_Part(place, each.action, each.refused, hidden=True, leads=each.leads) for each in draft.beside]
        for part in parts:
            found.setdefault(_place_of(part.action.key), []).append(part)
    return [_Element(_merged(parts), tuple(parts)) for parts in found.values()]


def _place_of(key: Item) -> Hashable:
    return tuple(sorted((name, *map(str, value.items())) for name, value in key.items()))


def _merged(parts: Sequence[_Part]) -> Action:
    """Make one action of several on one item. UsageError where they cannot be one."""
    whole = [part for part in parts if part.action.kind != "check"]
    checks = all_of(part.action.condition for part in parts if part.action.kind == "check")
    if not whole:
        return replace(parts[0].action, condition=checks)
    if len(whole) == 1:
        return checked(whole[0].action, checks)
    takes = [part for part in whole if part.action.kind == "put"]
    if len(whole) == 2 and len(takes) == 1 and all(part.hidden for part in whole) and checks is None:
        return replace(takes[0].action, condition=any_of(part.action.condition for part in whole))
    steps = None if checks is not None else _in_chain([part.action for part in whole if part.hidden])
    if steps is not None and len(steps) == len(whole):
        return replace(steps[-1], condition=steps[0].condition)
    what = "take one unique value" if len(takes) > 1 and all(part.hidden for part in whole) else "write one item"
    raise UsageError(
        f"operations {', '.join(str(part.place + 1) for part in whole)} of the transaction {what}",
        hint="DynamoDB takes one write an item: join the changes in one Update, or leave one out",
    )


def _in_chain(updates: Sequence[Action]) -> list[Action] | None:
    """Put updates in an order in which each rests on what the one before leaves there; None where there is none."""
    if any(action.kind != "update" or action.condition is None for action in updates):
        return None
    left, chain = list(updates), list[Action]()
    while left:
        following = [one for one in left if not any(_rests(one, other) for other in left if other is not one)]
        if len(following) != 1 or (chain and not _rests(following[0], chain[-1])):
            return None
        chain.append(following[0])
        left.remove(following[0])
    return chain


def _rests(action: Action, before: Action) -> bool:
    """Say whether the condition of an update holds on just what another writes."""
    written = {change.path.attribute: change.value for change in before.changes if isinstance(change.value, dict)}
    return action.condition is not None and holds(action.condition, written)


def _check_size(elements: Sequence[_Element]) -> None:
    size = sum(item_size(element.action.item or element.action.key) for element in elements)
    if size > BYTES_MOST:
        raise UsageError(
            f"the transaction puts {size} bytes, DynamoDB takes at most {BYTES_MOST}", hint="split it into several"
        )
    if len(elements) > ACTIONS_MOST:
        raise UsageError(
            f"the transaction comes to {len(elements)} items, with hidden ones such as the guards of unique values",
            hint=f"DynamoDB writes at most {ACTIONS_MOST} at once: split it, or use create_many for what need not be",
        )


# What a cancelled transaction means ----------------------------------------------------------------------------------


def is_transient(refusal: Refusal) -> bool:
    """Say whether a cancelled transaction, of reads or writes, may go through when it is sent again."""
    codes = {reason.code for reason in refusal.reasons} - {"None"}
    return bool(codes) and codes <= TRANSIENT


def _verdicts(drafts: Sequence[Draft[Any]], elements: Sequence[_Element], refusal: Refusal) -> Endings:
    """Judge every failed condition; a draft none of whose conditions failed stays as it is."""
    failed = [
        (element, reason) for element, reason in zip(elements, refusal.reasons, strict=False) if reason.code == FAILED
    ]
    if not failed:
        raise _refused(refusal) from refusal.__cause__
    verdicts: dict[int, Verdict[Any]] = {}
    outdated: dict[int, Verdict[Any]] = {}  # worked out from what no longer stands: so was what was refused beside
    for element, reason in failed:
        told = Refusal(refusal.error, refusal.message, item=reason.item, sent=refusal.sent)
        for part in _blamed(element, reason):
            verdict = part.judge(told)
            if isinstance(verdict, Done) and verdict.instead is None:
                every: Endings = [Done(draft.answer(None)) for draft in drafts]  # all of it was carried out
                every[part.place] = verdict
                return every
            if isinstance(verdict, SingleTableError):
                verdict.__cause__ = refusal.__cause__
            if part.leads or (isinstance(verdict, Again) and not part.hidden):
                outdated[part.place] = verdict
            if not isinstance(verdicts.get(part.place), SingleTableError):
                verdicts[part.place] = verdict
    verdicts |= outdated
    return [verdicts.get(place, draft) for place, draft in enumerate(drafts)]


def _blamed(element: _Element, reason: Reason) -> list[_Part]:
    """Find the parts whose own conditions do not hold on what stands there; all, where each of them would."""
    item = {} if reason.item is None else reason.item
    takes = [part for part in element.parts if part.hidden and part.action.kind == "put"]
    if takes:
        return takes
    parts = [part for part in element.parts if part.action.condition is not None]
    wrong = [part for part in parts if part.action.condition is not None and not holds(part.action.condition, item)]
    return wrong or parts


def _refused(refusal: Refusal) -> ServiceError:
    reasons = [f"{reason.code}: {reason.message}" for reason in refusal.reasons if reason.code != "None"]
    return ServiceError(
        f"DynamoDB cancelled the transaction: {'; '.join(reasons) or refusal.message}",
        hint="nothing of it was carried out; see the message of DynamoDB above",
        error=refusal.error,
    )


def exhausted(context: Context, refusal: Refusal, tried: int) -> SingleTableError:
    """Make the error for a transaction whose conflicts or throttling did not end."""
    codes = sorted({reason.code for reason in refusal.reasons} - {"None"})
    if codes == ["TransactionConflict"]:
        return ServiceError(
            f"the transaction met others at its items {tried} times; nothing of it was carried out",
            hint="let fewer writers change these items at once, or make the transactions smaller",
            error="TransactionConflict",
        )
    return Throttled(
        f"DynamoDB throttled a transaction on table {context.table!r} {tried} times",
        hint="raise the table's capacity, or spread the writes over partitions",
        attempts=tried,
    )
