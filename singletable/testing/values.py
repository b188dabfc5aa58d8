"""Values as DynamoDB stores them, and what they are ordered and told apart by."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from singletable.scalars import CodecError, number_text
from singletable.testing.answers import invalid
from singletable.wire import AttributeValue, Item

__all__ = ["comparable", "identity", "number", "stored", "stored_item"]

_PLAIN = {"S": str, "BOOL": bool, "NULL": bool}


def stored_item(item: Mapping[str, Any]) -> Item:
    """Give a copy of an item as it is stored."""
    return {name: stored(value) for name, value in item.items()}


def stored(value: Mapping[str, Any]) -> AttributeValue:
    """Give a copy of a value as it is stored: one text for one number, no set empty or with a member twice.

    >>> stored({"L": [{"N": "1.0"}, {"NS": ["1e2", "3"]}]})
    {'L': [{'N': '1'}, {'NS': ['100', '3']}]}
    """
    if len(value) != 1:
        invalid("a value has exactly one type")
    ((kind, held),) = value.items()
    if kind in _PLAIN and isinstance(held, _PLAIN[kind]):
        return {kind: held}
    if kind == "N":
        return {"N": number(held)}
    if kind == "B":
        return {"B": bytes(held)}
    if kind == "L":
        return {"L": [stored(each) for each in held]}
    if kind == "M":
        return {"M": stored_item(held)}
    if kind not in ("SS", "NS", "BS"):
        invalid(f"a value has the type {kind!r}")
    members = [stored({kind[0]: each})[kind[0]] for each in held]
    if not members or len(set(members)) != len(members):
        invalid("a set is empty, or has a member twice")
    return {kind: members}


def number(text: str) -> str:
    """Write a number as DynamoDB does, with at most 38 digits."""
    try:
        return number_text(Decimal(text))
    except (CodecError, InvalidOperation, TypeError):
        invalid("a number is none, or has more than 38 digits, or is too large or too small")


def comparable(value: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Give the type of an ordered value and what it is sorted by; None for a value of another type."""
    ((kind, held),) = value.items()
    if kind == "N":
        return kind, Decimal(held)
    if kind == "S":
        return kind, held.encode()
    return (kind, bytes(held)) if kind == "B" else None


def identity(value: Mapping[str, Any]) -> Hashable:
    """Give what tells a key value from any other of its type."""
    found = comparable(value)
    return None if found is None else found[1]
