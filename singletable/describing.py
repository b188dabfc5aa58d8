"""A model in words, for people: how a class is stored."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.numbering import Numbering
from singletable.schema import Model

__all__ = ["describe"]


def describe(model: Model) -> str:
    """Say how an entity is stored: tag, fields, keys, patterns, and how its numbers are drawn and why."""
    return "\n".join(_lines(model))


def _lines(model: Model) -> Iterator[str]:
    tag = "told by its key" if model.tag is None else f"tag {model.tag!r} in {model.table.tag!r}"
    yield f"{model.name} in table {model.table.name!r}, {tag}"
    for name, field in model.fields.items():
        stored = "" if field.attribute == name else f", stored as {field.attribute!r}"
        yield f"  {name}: {field.codec.wanted}{stored}"
    yield f"  primary key: {model.primary}"
    for name, layout in model.indexes.items():
        yield f"  {name} on index {layout.index}: {layout}"
    for number in model.numbers:
        yield f"  {number.name} is drawn by {_numbering(number)}"
    for name in model.patterns:
        yield f"  pattern {name}"


def _numbering(number: Numbering) -> str:
    scope = "each partition" if number.per == "partition" else "the whole entity"
    return f"{number.strategy}, counting for {scope}: {number.why}"
