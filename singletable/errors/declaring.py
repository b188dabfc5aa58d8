"""Classes, tables and keys that cannot work."""

from __future__ import annotations

from singletable.errors.root import SingleTableError

__all__ = [
    "DeclarationError",
    "KeyClash",
    "KeyPartError",
    "KeyTooLong",
    "MissingPart",
    "PartHole",
    "RangeClash",
    "TagClash",
    "TemplateError",
    "UnknownPart",
    "UnresolvedName",
]


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
