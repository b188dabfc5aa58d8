"""singletable: the single-table-design mapper for Amazon DynamoDB.

Entities are data, operations are values, a store runs them.
"""

from __future__ import annotations

from singletable.entity import Entity, evolve, fields
from singletable.errors import (
    AlreadyExists,
    BadCursor,
    ConditionFailed,
    ConfigurationError,
    CorruptItem,
    DeclarationError,
    FieldNotLoaded,
    FieldValueError,
    ForeignItem,
    ItemTooLarge,
    KeyClash,
    KeyPartError,
    KeyTooLong,
    MissingPart,
    NotFound,
    NoTruthValue,
    NumberNotAssigned,
    OutcomeUnknown,
    PartHole,
    QueryError,
    RangeClash,
    SequenceContention,
    SequenceExhausted,
    ServiceError,
    SingleTableError,
    TableMismatch,
    TableMissing,
    TagClash,
    TemplateError,
    Throttled,
    UnknownField,
    UnknownPart,
    Unprocessed,
    Unreachable,
    UnresolvedName,
    UsageError,
)
from singletable.expressions import Change, Condition
from singletable.fields import Field, computed
from singletable.increments import AutoIncrement, Sequence
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.mapping import from_item, to_dict, to_item
from singletable.operations.page import Page
from singletable.operations.scan import Scan
from singletable.patterns import BoundKey, Key, pattern
from singletable.queries import Query, Ref
from singletable.rows import Rows
from singletable.schema import Table
from singletable.store import Store

__all__ = [
    "AlreadyExists",
    "AutoIncrement",
    "BadCursor",
    "BoundKey",
    "Change",
    "Condition",
    "ConditionFailed",
    "ConfigurationError",
    "CorruptItem",
    "DeclarationError",
    "Entity",
    "Field",
    "FieldNotLoaded",
    "FieldValueError",
    "ForeignItem",
    "GlobalIndex",
    "ItemTooLarge",
    "Key",
    "KeyClash",
    "KeyPartError",
    "KeyTooLong",
    "LocalIndex",
    "MissingPart",
    "NoTruthValue",
    "NotFound",
    "NumberNotAssigned",
    "OutcomeUnknown",
    "Page",
    "PartHole",
    "Query",
    "QueryError",
    "RangeClash",
    "Ref",
    "Rows",
    "Scan",
    "Sequence",
    "SequenceContention",
    "SequenceExhausted",
    "ServiceError",
    "SingleTableError",
    "Store",
    "Table",
    "TableMismatch",
    "TableMissing",
    "TagClash",
    "TemplateError",
    "Throttled",
    "UnknownField",
    "UnknownPart",
    "Unprocessed",
    "Unreachable",
    "UnresolvedName",
    "UsageError",
    "computed",
    "evolve",
    "fields",
    "from_item",
    "pattern",
    "to_dict",
    "to_item",
]
