"""A model in words, for people: how a class is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from singletable.declaration import validator_name
from singletable.fields import Field, computed
from singletable.layouts import Column, Layout
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
        yield f"  {name}: {field.wanted}{stored}{_options(field)}"
    yield f"  primary key: {model.primary}"
    for name, layout in model.indexes.items():
        yield f"  {name} on index {layout.index}: {layout}{_sparse(model, layout)}"
    for number in model.numbers:
        yield f"  {number.name} is drawn by {number.how}, counting for {_scope(model, number)}: {number.why}"
    if model.table.scope is not None:
        yield f"  every partition key, and every counter's, begins with {model.table.scope} of the store"
    for name in model.patterns:
        yield f"  pattern {name}"


def _options(field: Field[Any]) -> str:
    """Name what a field was declared with beside its type."""
    switches = {"unique": field.unique, "read-only": field.read_only, "hidden": field.hidden}
    words = [word for word, on in {**switches, "sensitive": field.sensitive}.items() if on]
    words += [field.role] if field.role else []
    words += ["computed"] if isinstance(field, computed) else []
    words += [] if field.validate is None else [f"validated by {validator_name(field.validate) or 'a lambda'}"]
    return "".join(f", {word}" for word in words)


def _sparse(model: Model, layout: Layout) -> str:
    """Say which items an index does not hold."""
    absent = [name for name in layout.required if model.fields[name].codec.optional]
    without = f" (not in it without {', '.join(absent)})" if absent else ""
    only = f" (only items that meet its condition on {', '.join(layout.watched)})" if layout.when is not None else ""
    return without + only


def _scope(model: Model, number: Numbering) -> str:
    """Say what has numbers of its own: each group that the parts before the number name, or all of them together."""
    if number.templates:
        halves = [Column("", template) for template in number.templates]
    elif number.per == "partition":
        halves = list(model.primary.pks)
    else:
        return "the whole table" if number.options.sequence is not None else "the whole entity"
    words = [str(half) for half in halves]
    parts = [part for half in halves for part in half.template.parts]
    if number.strategy == "sort_key" and model.primary.sks:
        before = str(model.primary.sks[0]).partition("{" + number.name)[0].rstrip("#")
        words += [before] if "{" in before else []
        parts += [part for part in model.primary.sks[0].template.parts if part != number.name]
    return f"each {' / '.join(words)}" if parts else f"the whole partition {words[0]}"
