"""singletable: the single-table-design mapper for Amazon DynamoDB.

Entities are data, operations are values, a store runs them.
"""

from __future__ import annotations

from singletable.comparing import Size
from singletable.dictionaries import from_dict, to_dict
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
    PlaceMissing,
    QueryError,
    RangeClash,
    SequenceContention,
    SequenceExhausted,
    ServiceError,
    SeveralFound,
    SingleTableError,
    TableMismatch,
    TableMissing,
    TagClash,
    TemplateError,
    Throttled,
    TokenReused,
    TransactionFailed,
    UniqueViolation,
    UnknownField,
    UnknownPart,
    Unprocessed,
    Unreachable,
    UnresolvedName,
    UsageError,
    VersionConflict,
)
from singletable.expressions import Change, Condition
from singletable.fields import Field, computed
from singletable.gathering import Collection, CollectionKey, Gathering
from singletable.handles import SequenceHandle
from singletable.identifiers import Ulid, Uuid7
from singletable.increments import AutoIncrement, Sequence
from singletable.indexes import GlobalIndex, IndexWarning, LocalIndex
from singletable.mapping import from_item, to_item
from singletable.operands import Operand
from singletable.operations.by_value import UniqueRef, unique_ref
from singletable.operations.check import Check
from singletable.operations.create import Create
from singletable.operations.delete import Delete
from singletable.operations.get import Get
from singletable.operations.guarding import UniqueReport
from singletable.operations.move import Move
from singletable.operations.page import Page
from singletable.operations.put import Put
from singletable.operations.scan import Scan
from singletable.operations.shape import TableDiff
from singletable.operations.transact import Transact
from singletable.operations.update import Update
from singletable.patterns import BoundKey, Key, pattern
from singletable.places import Element, size
from singletable.queries import Query, Ref
from singletable.rows import Rows
from singletable.schema import Table
from singletable.stamped import CreatedAt, ExpiresAt, UpdatedAt, Version
from singletable.store import Store
from singletable.store.transactions import Transaction
from singletable.uniques import Unique

__all__ = [
    "AlreadyExists",
    "AutoIncrement",
    "BadCursor",
    "BoundKey",
    "Change",
    "Check",
    "Collection",
    "CollectionKey",
    "Condition",
    "ConditionFailed",
    "ConfigurationError",
    "CorruptItem",
    "Create",
    "CreatedAt",
    "DeclarationError",
    "Delete",
    "Element",
    "Entity",
    "ExpiresAt",
    "Field",
    "FieldNotLoaded",
    "FieldValueError",
    "ForeignItem",
    "Gathering",
    "Get",
    "GlobalIndex",
    "IndexWarning",
    "ItemTooLarge",
    "Key",
    "KeyClash",
    "KeyPartError",
    "KeyTooLong",
    "LocalIndex",
    "MissingPart",
    "Move",
    "NoTruthValue",
    "NotFound",
    "NumberNotAssigned",
    "Operand",
    "OutcomeUnknown",
    "Page",
    "PartHole",
    "PlaceMissing",
    "Put",
    "Query",
    "QueryError",
    "RangeClash",
    "Ref",
    "Rows",
    "Scan",
    "Sequence",
    "SequenceContention",
    "SequenceExhausted",
    "SequenceHandle",
    "ServiceError",
    "SeveralFound",
    "SingleTableError",
    "Size",
    "Store",
    "Table",
    "TableDiff",
    "TableMismatch",
    "TableMissing",
    "TagClash",
    "TemplateError",
    "Throttled",
    "TokenReused",
    "Transact",
    "Transaction",
    "TransactionFailed",
    "Ulid",
    "Unique",
    "UniqueRef",
    "UniqueReport",
    "UniqueViolation",
    "UnknownField",
    "UnknownPart",
    "Unprocessed",
    "Unreachable",
    "UnresolvedName",
    "Update",
    "UpdatedAt",
    "UsageError",
    "Uuid7",
    "Version",
    "VersionConflict",
    "computed",
    "evolve",
    "fields",
    "from_dict",
    "from_item",
    "pattern",
    "size",
    "to_dict",
    "to_item",
    "unique_ref",
]
