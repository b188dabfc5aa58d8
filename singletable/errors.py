"""Every error singletable raises, told apart by whose fault it is.

    SingleTableError
    ├── DeclarationError            a class or table that cannot work          ST10xx
    │   ├── TemplateError           a key template that cannot be read
    │   ├── UnresolvedName          an annotation or table that names nothing
    │   ├── TagClash                one tag for two entities
    │   ├── KeyClash                two entities that can share a primary key
    │   └── RangeClash              a query that would reach another entity
    ├── KeyPartError                a value that cannot stand in a key         ST20xx
    │   ├── MissingPart             a part that was not given
    │   ├── UnknownPart             a name that is no part of the key
    │   ├── PartHole                a part given without the one before it
    │   └── KeyTooLong              more bytes than DynamoDB allows
    ├── FieldValueError             a value its field cannot hold              ST30xx
    ├── UnknownField
    ├── ItemTooLarge
    ├── CorruptItem                 a stored item that contradicts itself
    ├── NumberNotAssigned           a number read before it was drawn
    ├── FieldNotLoaded              a field that only() left out of a query
    ├── QueryError                  a query DynamoDB cannot run                ST40xx
    ├── NoTruthValue
    ├── UsageError                  a call that makes no sense                 ST50xx
    ├── NotFound
    ├── AlreadyExists
    ├── ConditionFailed
    ├── UniqueViolation             another item has the value
    ├── ForeignItem                 another entity stands at the key
    ├── Unprocessed                 what a batch could not write
    ├── OutcomeUnknown              a write that may or may not have happened
    ├── TransactionFailed, TokenReused (singletable.failures)
    ├── SequenceContention          too many writers for one number            ST60xx
    ├── SequenceExhausted
    ├── TableMissing                                                          ST70xx
    ├── TableMismatch               the table has another shape
    ├── Throttled
    ├── ConfigurationError          no region, no credentials, no engine
    ├── Unreachable                 nobody answers at the endpoint
    └── ServiceError                any other answer of DynamoDB

A message says what was given, what was wanted and how to mend it. Values, which may be secrets, never stand in it: it
names the field and describes the value; the facts are on attributes.
"""

from __future__ import annotations

from typing import ClassVar

from singletable.wording import closest, kind_of

__all__ = [
    "AlreadyExists",
    "ConditionFailed",
    "ConfigurationError",
    "CorruptItem",
    "DeclarationError",
    "FieldNotLoaded",
    "FieldValueError",
    "ForeignItem",
    "ItemTooLarge",
    "KeyClash",
    "KeyPartError",
    "KeyTooLong",
    "MissingPart",
    "NoTruthValue",
    "NotFound",
    "NumberNotAssigned",
    "OutcomeUnknown",
    "PartHole",
    "QueryError",
    "RangeClash",
    "SequenceContention",
    "SequenceExhausted",
    "ServiceError",
    "SingleTableError",
    "TableMismatch",
    "TableMissing",
    "TagClash",
    "TemplateError",
    "Throttled",
    "UniqueViolation",
    "UnknownField",
    "UnknownPart",
    "Unprocessed",
    "Unreachable",
    "UnresolvedName",
    "UsageError",
    "closest",
    "kind_of",
]


class SingleTableError(Exception):
    """The base of all: `code` names the kind for good, `hint` says how to mend it.

    In a transaction `index` is the position of the operation it is of, from 0, and `op` the operation as it was given.
    """

    code: ClassVar[str] = "ST0000"
    message: str
    hint: str
    index: int | None = None
    op: object = None

    def __init__(self, message: str, *, hint: str = "", **facts: object) -> None:
        super().__init__(message)
        self.__dict__.update(facts, message=message, hint=hint)

    def __str__(self) -> str:
        return f"{self.code} {self.message}" + (f"\n  {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, dict(self.__dict__))


def _rebuild(kind: type[SingleTableError], message: str, facts: dict[str, object]) -> SingleTableError:
    """Make an error again from its pickled facts, without calling a subclass's own constructor."""
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__dict__.update(facts)
    return error


class DeclarationError(SingleTableError, TypeError):
    """A class or table is declared in a way that cannot work; raised where it is declared or checked."""

    code = "ST1001"


class TemplateError(DeclarationError, ValueError):
    """A key template cannot be read: unbalanced braces, a forbidden character, a part that is no field."""

    code = "ST1002"


class UnresolvedName(DeclarationError):
    """An annotation names something that does not exist where the class is defined."""

    code = "ST1003"


class TagClash(DeclarationError):
    """Two entities of one table are stored under the same tag."""

    code = "ST1004"


class KeyClash(DeclarationError):
    """Two entities can produce the same primary key; `witness` holds one pair of them."""

    code = "ST1005"
    witness: tuple[str, str]


class RangeClash(DeclarationError):
    """A query of one entity would reach another's items; `witness` holds one pair of them."""

    code = "ST1006"
    witness: tuple[str, str]


class KeyPartError(SingleTableError, ValueError):
    """A value cannot stand in a key: `part` names it, `wanted` says what would do."""

    code = "ST2001"
    part: str
    given: str
    wanted: str

    def __init__(self, part: str, *, given: str, wanted: str, hint: str = "") -> None:
        message = f"key part {part!r}: given {given}, wanted {wanted}"
        super().__init__(message, hint=hint, part=part, given=given, wanted=wanted)


class MissingPart(KeyPartError, LookupError):
    """A part the key needs was not given, or is None."""

    code = "ST2002"


class UnknownPart(KeyPartError, TypeError):
    """A name was given that is no part of the key; it is never ignored."""

    code = "ST2003"


class PartHole(KeyPartError, LookupError):
    """A part was given without one that stands before it: a query never silently widens."""

    code = "ST2004"


class KeyTooLong(KeyPartError):
    """A key has more UTF-8 bytes than may be stored: 2048 in a partition key, 1023 in a sort key.

    DynamoDB's own limit for a sort key is 1024 bytes; one is kept free, so that the end of every subtree can be named.
    """

    code = "ST2005"
    size: int
    limit: int


class FieldValueError(SingleTableError, ValueError):
    """A value does not fit its field: `field` names it, `wanted` says what would do.

    The message names the `entity` too, where it is known.
    """

    code = "ST3001"
    field: str
    given: str
    wanted: str

    def __init__(self, field: str, *, given: str, wanted: str, hint: str = "", entity: str = "") -> None:
        name = f"{entity}.{field}" if entity else field
        message = f"field {name!r}: given {given}, wanted {wanted}"
        super().__init__(message, hint=hint, field=field, given=given, wanted=wanted)


class UnknownField(SingleTableError, TypeError):
    """A name was given that is no field of the entity."""

    code = "ST3002"
    field: str


class ItemTooLarge(SingleTableError, ValueError):
    """An item has more than the 400 KB (409,600 bytes) that DynamoDB stores."""

    code = "ST3003"
    size: int
    limit: int


class CorruptItem(SingleTableError, ValueError):
    """A stored item cannot be read as what its tag says, or its key and its attributes differ."""

    code = "ST3004"
    entity: str
    field: str


class NumberNotAssigned(SingleTableError, AttributeError):
    """An AutoIncrement field was read before its number was drawn."""

    code = "ST3005"
    field: str


class FieldNotLoaded(SingleTableError, AttributeError):
    """A field was needed that a query left out by `only()`; an entity read so cannot be written as a whole."""

    code = "ST3006"
    field: str


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


class SequenceContention(SingleTableError):
    """Other writers took every number that was tried; nothing was written."""

    code = "ST6001"
    attempts: int
    seconds: float


class SequenceExhausted(SingleTableError, OverflowError):
    """A sequence has no number left below its `max_value`; nothing was written."""

    code = "ST6002"
    max_value: int


class TableMissing(SingleTableError, LookupError):
    """The table does not exist in this region and account, or at this endpoint."""

    code = "ST7001"
    table: str


class TableMismatch(SingleTableError):
    """An existing table has another shape than the one declared; `differences` lists them."""

    code = "ST7002"
    table: str
    differences: tuple[str, ...]


class Throttled(SingleTableError):
    """DynamoDB kept throttling until the attempts were used up; nothing was written."""

    code = "ST7003"
    attempts: int


class ConfigurationError(SingleTableError):
    """No client can be made; `missing` says for want of what: "region", "credentials", "moto", ... or None."""

    code = "ST7004"
    missing: str | None = None


class Unreachable(SingleTableError, ConnectionError):
    """Nobody answers at the endpoint; nothing was written."""

    code = "ST7005"
    endpoint: str


class ServiceError(SingleTableError):
    """DynamoDB answered with an error that no other class names; `error` is its name for it."""

    code = "ST7006"
    error: str
