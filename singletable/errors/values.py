"""Values that do not fit, and stored items that cannot be read."""

from __future__ import annotations

from singletable.errors.root import SingleTableError

__all__ = [
    "CorruptItem",
    "FieldNotLoaded",
    "FieldValueError",
    "ItemTooLarge",
    "NumberNotAssigned",
    "UnknownField",
]


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
    """An item has more than the 400 KB (409,600 bytes) that DynamoDB stores; `size` is 0 where only it knows."""

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
