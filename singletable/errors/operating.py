"""What an operation found to stand in its way."""

from __future__ import annotations

from singletable.errors.root import SingleTableError

__all__ = [
    "AlreadyExists",
    "ConditionFailed",
    "ForeignItem",
    "NoTruthValue",
    "NotFound",
    "OutcomeUnknown",
    "PlaceMissing",
    "QueryError",
    "SeveralFound",
    "UniqueViolation",
    "Unprocessed",
    "UsageError",
]


class QueryError(SingleTableError, ValueError):
    """A query or scan asks for what DynamoDB cannot do; nothing was sent."""

    code = "ST4001"


class NoTruthValue(SingleTableError, TypeError):
    """A condition, change, query or reference was used as a truth value."""

    code = "ST4002"


class UsageError(SingleTableError, TypeError):
    """A call cannot mean anything: an entity of another table, an update without a change."""

    code = "ST5001"


class NotFound(SingleTableError, LookupError):
    """No item stands at the key (or it has expired)."""

    code = "ST5002"


class AlreadyExists(SingleTableError):
    """`create` found its key taken; `existing` is the entity there, or None (a number that was deleted stays taken)."""

    code = "ST5003"
    existing: object | None


class ConditionFailed(SingleTableError):
    """The `when=` of a write did not hold; `current` is the entity as it stands, or None if there is none."""

    code = "ST5004"
    current: object | None


class UniqueViolation(SingleTableError):
    """A value that must be unique is another item's: `field` names it, `owner` refers to that item."""

    code = "ST5008"
    field: str
    owner: object | None


class ForeignItem(SingleTableError):
    """Another entity's item stands at the key; `found` is its tag, or None where it has none."""

    code = "ST5005"
    found: str | None


class SeveralFound(SingleTableError, LookupError):
    """Several items stand where one was looked for; `found` has them all."""

    code = "ST5020"
    found: tuple[object, ...]


class Unprocessed(SingleTableError):
    """A verb on many items ended without some of them: `items` lists exactly those, the others are done.

    `causes` has the error of each, in the same order; None where DynamoDB just never took it. `done` is what the verb
    would have given back for the others, with the numbers that were drawn; of reads and deletes, nothing.
    """

    code = "ST5006"
    items: tuple[object, ...]
    causes: tuple[SingleTableError | None, ...]
    done: tuple[object, ...] = ()


class OutcomeUnknown(SingleTableError):
    """The reply to a write was lost, and what is stored does not tell whether `operation` was carried out."""

    code = "ST5007"
    operation: object


class PlaceMissing(SingleTableError, LookupError):
    """A change writes into a map or list that is not there, or takes a value from an attribute that is not.

    Nothing was changed. The item itself is there: `NotFound` says where it is not.
    """

    code = "ST5009"
