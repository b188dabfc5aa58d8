"""What makes a request with a token happen once: a receipt that is written with it.

Theory of operation. A token names one request of the user's, however often it is delivered. DynamoDB's own tokens hold
ten minutes and only for the same bytes; a delivery to another process has another clock and draws other numbers. So a
hidden item, the *receipt*, is put in the same transaction, on condition that it is not there. Its key is the token's
digest; it keeps the keys of what was created, by place, and a digest of the input, so that a delivery that finds it
answers with what is stored, and one that asks for something else is told so. On a table whose items expire a receipt
does too, after a day.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2s
from typing import Any

from singletable.entity import Entity
from singletable.errors import TokenReused, UsageError, kind_of
from singletable.expressions import Change, Condition, Path
from singletable.fields import MISSING, computed
from singletable.increments import AutoIncrement
from singletable.operations.actions import Action
from singletable.operations.commit import token_of
from singletable.operations.context import Stamp
from singletable.operations.drafts import Done, Draft, Verdict
from singletable.operations.guards import guard_key
from singletable.operations.writing import absent, carries, key_of
from singletable.queries import Ref
from singletable.schema import CREATE_ID, HIDDEN, Model
from singletable.wire import Item, Refusal

__all__ = ["Delivered", "Receipt", "check_token", "input_of", "is_input", "reused"]

TOKEN_TAG = HIDDEN + "token"
TOKEN_CHARACTERS = 1024
"""A longer token is surely no token but a whole request."""

INPUT = "input"
OF = "of"

KEPT = timedelta(days=1)
"""So long a receipt stays on a table whose items expire."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What an earlier delivery stored: the key of each place that created something, None for the others."""

    keys: tuple[Item | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Receipt:
    """The receipt of one request: its token, and the digest of its input as it was given."""

    token: str
    input: str

    def draft(self, model: Model, stamp: Stamp, keys: Sequence[Item | None]) -> Draft[Delivered | None]:
        """Draft the put of the receipt. TokenReused where another request had the token."""
        item = self._item(model, stamp, keys)

        def judged(refusal: Refusal) -> Verdict[Delivered | None]:
            stored: Item = refusal.item or {}
            if carries(refusal, CREATE_ID, stamp.id):
                return Done(None)
            if stored.get(INPUT) != {"S": self.input}:
                return reused()
            return Done(Delivered(tuple(each.get("M") for each in stored.get(OF, {}).get("L", []))))

        action = Action("put", key_of(model, item), absent(model, stamp.now), item=item)
        return Draft(action, answer=lambda _: None, refused=judged, prepared=self)

    def _item(self, model: Model, stamp: Stamp, keys: Sequence[Item | None]) -> Item:
        table = model.table
        if table.pk.attribute_type != "S":
            raise UsageError(
                f"token= on table {table.name!r}: its partition key is no text, so that no receipt can stand in it",
                hint="run prepare(operation) first, store what it gives and run that as often as you like",
            )
        listed = [{"NULL": True} if key is None else {"M": key} for key in keys]
        item: Item = {
            **guard_key(model, model.hidden(f"#{HIDDEN}TOKEN#{token_of(self.token)}")),
            CREATE_ID: {"S": stamp.id},
            INPUT: {"S": self.input},
            OF: {"L": listed},
        }
        if table.tag is not None:
            item[table.tag] = {"S": TOKEN_TAG}
        if table.ttl is not None:
            item[table.ttl] = {"N": str(int((stamp.now + KEPT).timestamp()))}
        return item


def reused() -> TokenReused:
    """Make the error for a token that came with another request."""
    return TokenReused(
        "the token was used before, with another request",
        hint="a token belongs to one request: hand over a fresh one, or the same operations as the first time",
    )


def check_token(token: object) -> str:
    """Take a token: text of 1 to 1024 characters. UsageError for anything else."""
    if not isinstance(token, str) or not 0 < len(token) <= TOKEN_CHARACTERS:
        given = f"{len(token)} characters" if isinstance(token, str) and token else kind_of(token)
        raise UsageError(
            f"token= was given {given}, wanted text of 1 to {TOKEN_CHARACTERS} characters",
            hint="such as the id of the message or the HTTP header Idempotency-Key",
        )
    return token


# The input -----------------------------------------------------------------------------------------------------------


def is_input(entity: Entity, name: str) -> bool:
    """Say whether a field's value was given by the user: it is not drawn, computed, or made by a default_factory."""
    field = entity.__fields__[name]
    made = isinstance(field, computed | AutoIncrement) or field.default_factory is not MISSING
    return not made and name in entity.__dict__


def input_of(operations: Sequence[Any]) -> str:
    """Give the digest of what was asked for, the same in every process and at any time."""
    text = json.dumps([_described(operation) for operation in operations], sort_keys=True, default=_plain)
    return blake2s(text.encode(), digest_size=16).hexdigest()


def _described(operation: Any) -> dict[str, object]:
    parts = ("entity", "ref", "changes", "when")
    return {"does": type(operation).__name__, **{name: getattr(operation, name, None) for name in parts}}


def _plain(value: Any) -> object:
    """Write what JSON does not know: entities, references, conditions, changes, and bytes."""
    if isinstance(value, Entity):
        given = {
            name: value.__fields__[name].encoded(value.__dict__[name])
            for name in value.__fields__
            if is_input(value, name)
        }
        return {"entity": type(value).__name__, "values": given}
    if value.__class__ is Ref:
        return {"entity": value.entity.__name__, "parts": repr(value.parts)}
    if isinstance(value, Condition):
        return {"operator": value.operator, "operands": value.operands}
    if isinstance(value, Change):
        return {"action": value.action, "path": value.path.segments, "value": value.value}
    if isinstance(value, Path):
        return value.segments
    if isinstance(value, bytes | bytearray):
        return value.hex()
    raise TypeError(f"{type(value).__name__} has no description")
