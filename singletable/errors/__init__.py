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
    ├── BadCursor                   a cursor that is none of this request
    ├── UsageError                  a call that makes no sense                 ST50xx
    ├── NotFound
    ├── AlreadyExists
    ├── ConditionFailed
    │   └── VersionConflict         the item was written since it was read
    ├── UniqueViolation             another item has the value
    ├── ForeignItem                 another entity stands at the key
    ├── SeveralFound                several items where one was looked for
    ├── Unprocessed                 what a batch could not write
    ├── TransactionFailed           a transaction of which nothing was done
    ├── TokenReused                 a token that came with another request
    ├── PlaceMissing                a change of what is not there, inside an item
    ├── OutcomeUnknown              a write that may or may not have happened
    ├── SequenceContention          too many writers for one number            ST60xx
    ├── SequenceExhausted
    ├── TableMissing                                                          ST70xx
    ├── TableMismatch               the table has another shape
    ├── Throttled
    ├── ConfigurationError          no region, no credentials, no engine
    ├── Unreachable                 nobody answers at the endpoint
    └── ServiceError                any other answer of DynamoDB

A message says what was given, what was wanted and how to mend it. Values never stand in it (they may be secrets):
it names the field and describes the value; the facts are on attributes.
"""

from __future__ import annotations

from singletable.errors.declaring import (
    DeclarationError,
    KeyClash,
    KeyPartError,
    KeyTooLong,
    MissingPart,
    PartHole,
    RangeClash,
    TagClash,
    TemplateError,
    UnknownPart,
    UnresolvedName,
)
from singletable.errors.operating import (
    AlreadyExists,
    BadCursor,
    ConditionFailed,
    ForeignItem,
    NotFound,
    NoTruthValue,
    OutcomeUnknown,
    PlaceMissing,
    QueryError,
    SeveralFound,
    UniqueViolation,
    Unprocessed,
    UsageError,
    VersionConflict,
)
from singletable.errors.root import SingleTableError
from singletable.errors.together import TokenReused, TransactionFailed
from singletable.errors.values import (
    CorruptItem,
    FieldNotLoaded,
    FieldValueError,
    ItemTooLarge,
    NumberNotAssigned,
    UnknownField,
)
from singletable.errors.world import (
    ConfigurationError,
    SequenceContention,
    SequenceExhausted,
    ServiceError,
    TableMismatch,
    TableMissing,
    Throttled,
    Unreachable,
)
from singletable.wording import closest, kind_of

__all__ = [
    "AlreadyExists",
    "BadCursor",
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
    "PlaceMissing",
    "QueryError",
    "RangeClash",
    "SequenceContention",
    "SequenceExhausted",
    "ServiceError",
    "SeveralFound",
    "SingleTableError",
    "TableMismatch",
    "TableMissing",
    "TagClash",
    "TemplateError",
    "Throttled",
    "TokenReused",
    "TransactionFailed",
    "UniqueViolation",
    "UnknownField",
    "UnknownPart",
    "Unprocessed",
    "Unreachable",
    "UnresolvedName",
    "UsageError",
    "VersionConflict",
    "closest",
    "kind_of",
]
