"""singletable: the single-table-design mapper for Amazon DynamoDB.

Entities are data, operations are values, a store runs them.
"""

from __future__ import annotations

from singletable.entity import Entity, evolve, fields
from singletable.errors import (
    AlreadyExists,
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
from singletable.failures import TokenReused, TransactionFailed
from singletable.fields import Field, computed
from singletable.increments import AutoIncrement, Sequence
from singletable.indexes import GlobalIndex, LocalIndex
from singletable.mapping import from_item, to_dict, to_item
from singletable.operations.check import Check
from singletable.operations.create import Create
from singletable.operations.delete import Delete
from singletable.operations.get import Get, One
from singletable.operations.put import Put
from singletable.operations.transact import Transact
from singletable.operations.update import Update
from singletable.patterns import BoundKey, Key, pattern
from singletable.queries import Query, Ref
from singletable.rows import Rows
from singletable.schema import Table
from singletable.store import Store
from singletable.store.transactions import Transaction

__all__ = [
    "AlreadyExists",
    "AutoIncrement",
    "BoundKey",
    "Change",
    "Check",
    "Condition",
    "ConditionFailed",
    "ConfigurationError",
    "CorruptItem",
    "Create",
    "DeclarationError",
    "Delete",
    "Entity",
    "Field",
    "FieldNotLoaded",
    "FieldValueError",
    "ForeignItem",
    "Get",
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
    "One",
    "OutcomeUnknown",
    "PartHole",
    "Put",
    "Query",
    "QueryError",
    "RangeClash",
    "Ref",
    "Rows",
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
    "TokenReused",
    "Transact",
    "Transaction",
    "TransactionFailed",
    "UnknownField",
    "UnknownPart",
    "Unprocessed",
    "Unreachable",
    "UnresolvedName",
    "Update",
    "UsageError",
    "computed",
    "evolve",
    "fields",
    "from_item",
    "pattern",
    "to_dict",
    "to_item",
]
