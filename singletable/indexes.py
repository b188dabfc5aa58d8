"""Key attributes and secondary indexes: the shape of what DynamoDB keeps, without what stands in it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from singletable.errors import DeclarationError, kind_of
from singletable.options import check_attribute

__all__ = [
    "GlobalIndex",
    "HalfKey",
    "IndexWarning",
    "KeyAttribute",
    "KeyColumn",
    "LocalIndex",
    "Projection",
    "check_name",
    "check_projected",
    "check_quotas",
    "half_key",
    "read_indexes",
]

KeyAttribute: TypeAlias = str | tuple[str, type]
"""A key attribute: its name (text), or its name with `int`, `Decimal` or `bytes` for a native number or binary."""

HalfKey: TypeAlias = KeyAttribute | tuple[KeyAttribute, ...]
"""A partition or sort key of an index: one attribute, or up to four that hold native values."""

Projection: TypeAlias = Literal["all", "keys"] | list[str] | tuple[str, ...]
"""What an index holds of its items: everything, their keys alone, or their keys and some attributes by stored name."""

AttributeType: TypeAlias = Literal["S", "N", "B"]

NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")

MOST = 4
"""Attributes of one half of a global index key, at most. Source: AWS, "Multi-attribute keys pattern"."""

LOCAL_INDEXES = 5
GLOBAL_INDEXES = 20
"""Indexes of a table, at most; AWS raises the second on request. Source: AWS, "Quotas in Amazon DynamoDB"."""

PROJECTED = 20
PROJECTED_IN_ALL = 100
"""Attributes that one index may name, and all of a table. Source: AWS, "Projection" and "CreateTable"."""


class IndexWarning(UserWarning):
    """A table has more global indexes than DynamoDB allows without being asked: creating it will fail by default."""


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A key attribute of a table or index: its name and DynamoDB type."""

    name: str
    attribute_type: AttributeType

    @classmethod
    def of(cls, given: KeyAttribute) -> KeyColumn:
        """Read `"PK"` or `("id", int)`."""
        match given:
            case str() if given:
                return cls(given, "S")
            case (str() as name, kind) if name and kind in (int, Decimal):
                return cls(name, "N")
            case (str() as name, kind) if name and kind is bytes:
                return cls(name, "B")
            case (str() as name, kind) if name and kind is str:
                return cls(name, "S")
            case _:
                raise DeclarationError(
                    "a key attribute is a name, or a name with a type",
                    hint='pk="PK" for text, sk=("sk", int) for a number, ("id", bytes) for binary',
                )


def half_key(given: HalfKey) -> tuple[KeyColumn, ...]:
    """Read one half of an index key: an attribute, or a tuple of up to four.

    >>> half_key(("tenant", ("day", int)))[1]
    KeyColumn(name='day', attribute_type='N')
    >>> half_key(("day", int))
    (KeyColumn(name='day', attribute_type='N'),)
    """
    parts: tuple[Any, ...] = (given,) if isinstance(given, str) else given
    if len(parts) == 2 and isinstance(parts[0], str) and isinstance(parts[1], type):
        parts = ((parts[0], parts[1]),)
    if not 1 <= len(parts) <= MOST:
        raise DeclarationError(f"half an index key has {len(parts)} attributes", hint=f"DynamoDB allows 1 to {MOST}")
    return tuple(map(KeyColumn.of, parts))


def _named(given: HalfKey, index: str) -> HalfKey:
    return given.replace("{name}", index) if isinstance(given, str) else given


def check_name(what: str, name: object) -> None:
    """Raise DeclarationError for a name of a table or index that DynamoDB would not take.

    Source: AWS, "Supported data types and naming rules in Amazon DynamoDB".
    """
    if not isinstance(name, str):
        raise DeclarationError(f"the name of {what} is {kind_of(name)}", hint='wanted text, such as "app" or "GSI1"')
    if not NAME.fullmatch(name):
        raise DeclarationError(
            f"{name!r} cannot be the name of {what}", hint="DynamoDB wants 3 to 255 characters of A-Z a-z 0-9 _ - ."
        )


def _projection(index: str, given: Any) -> tuple[str, ...] | Literal["all", "keys"]:
    """Take what an index projects: a word, or the names of attributes, each once."""
    if isinstance(given, str) and given in ("all", "keys"):
        return "all" if given == "all" else "keys"
    if given.__class__ not in (list, tuple):
        raise DeclarationError(
            f"index {index!r}: projection= was given {kind_of(given)}",
            hint='wanted "all", "keys", or a list of stored attributes: projection=["status", "total"]',
        )
    names: tuple[Any, ...] = tuple(given)
    for name in names:
        check_attribute(f"index {index!r}: projection=[...]", name)
    return tuple(dict.fromkeys(names))


def check_projected(index: GlobalIndex | LocalIndex, names: tuple[str, ...]) -> None:
    """Raise DeclarationError where an index names more attributes than DynamoDB takes, or none at all."""
    if len(names) > PROJECTED:
        raise DeclarationError(
            f"index {index.name!r} names {len(names)} attributes with the tag, DynamoDB takes {PROJECTED}",
            hint='projection="all" holds every attribute',
        )
    if not names:
        raise DeclarationError(
            f"index {index.name!r} names no attribute but keys",
            hint='projection="keys" says so, for a table that keeps no tag',
        )


def check_quotas(table: str, indexes: Iterable[GlobalIndex | LocalIndex], named: int) -> None:
    """Raise DeclarationError for more local indexes or projected names than DynamoDB takes; IndexWarning for global."""
    local = [index.local for index in indexes]
    if sum(local) > LOCAL_INDEXES:
        raise DeclarationError(
            f"table {table!r} has more than {LOCAL_INDEXES} local indexes",
            hint="DynamoDB allows five; a GlobalIndex can do the same, eventually consistent",
        )
    if named > PROJECTED_IN_ALL:
        raise DeclarationError(
            f"the indexes of table {table!r} name {named} attributes, DynamoDB takes {PROJECTED_IN_ALL} in all",
            hint='an attribute counts once for each index, the tag too; projection="all" and "keys" name none',
        )
    if len(local) - sum(local) > GLOBAL_INDEXES:
        warnings.warn(
            f"table {table!r} has {len(local) - sum(local)} global indexes: DynamoDB allows {GLOBAL_INDEXES} unless "
            "the quota of your account was raised; several kinds can share one index",
            IndexWarning,
            stacklevel=3,
        )


class GlobalIndex:
    """A global secondary index; its key attributes are `<name>PK` and `<name>SK` unless named otherwise.

    `sk=None` makes one without sort key; a native number is `("score", int)`, as for a Table. A tuple of names, such as
    `pk=("tenant", "day")`, makes a multi-attribute key of up to four attributes, each holding one field as it is.
    `GlobalIndex("inverted", pk="SK", sk="PK")` turns the table's own key around.

    `projection` says what of an item the index holds beside the keys: "all", nothing ("keys"), or the attributes that a
    list names as they are stored. What it does not hold raises FieldNotLoaded on an entity read from it.
    """

    local = False

    def __init__(
        self,
        name: str,
        *,
        pk: HalfKey = "{name}PK",
        sk: HalfKey | None = "{name}SK",
        projection: Projection = "all",
    ) -> None:
        check_name("an index", name)
        self.name = name
        self.pks: tuple[KeyColumn, ...] = half_key(_named(pk, name))
        self.sks: tuple[KeyColumn, ...] = () if sk is None else half_key(_named(sk, name))
        self.projection = _projection(name, projection)

    def __repr__(self) -> str:
        return f"<GlobalIndex {self.name}: {', '.join(column.name for column in self.pks + self.sks)}>"


class LocalIndex:
    """A local secondary index: the table's partition key with another sort key, `<name>SK` unless named otherwise.

    It can be read consistently, has to be made with its table, and bounds an item collection to 10 GB (AWS, "Local
    secondary indexes"). `projection` is that of a GlobalIndex.
    """

    local = True

    def __init__(self, name: str, *, sk: KeyAttribute = "{name}SK", projection: Projection = "all") -> None:
        check_name("an index", name)
        self.name = name
        self.sks: tuple[KeyColumn, ...] = half_key(_named(sk, name))
        self.projection = _projection(name, projection)

    def __repr__(self) -> str:
        return f"<LocalIndex {self.name}: {self.sks[0].name}>"


def read_indexes(given: Any) -> tuple[GlobalIndex | LocalIndex, ...]:
    """Take the indexes of a table, or refuse what is given in their place."""
    if isinstance(given, GlobalIndex | LocalIndex):
        raise DeclarationError("Table(indexes=...) was given one index", hint="write indexes=[...], a list of them")
    indexes: tuple[Any, ...] = tuple(given) if hasattr(given, "__iter__") else (given,)
    for each in indexes:
        if not isinstance(each, GlobalIndex | LocalIndex):
            raise DeclarationError(
                f"Table(indexes=...) was given {kind_of(each)}, wanted indexes",
                hint='gsi1 = GlobalIndex("GSI1"), and then Table(..., indexes=[gsi1])',
            )
    return indexes
