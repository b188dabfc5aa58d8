"""What a child's key must have in common with its parent's: it begins with it, written in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.errors import DeclarationError
from singletable.fields import Field
from singletable.increments import AutoIncrement
from singletable.keys import BoundTemplate
from singletable.layouts import Layout
from singletable.patterns import BoundKey
from singletable.schema import Table, model_of

__all__ = ["check_child"]


def check_child(
    child: str, fields: Mapping[str, Field[Any]], table: Table, layout: Layout, within: BoundKey[Any]
) -> None:
    """Raise where a child's key would not begin as its parent's does. UnresolvedName while the parent is not known."""
    parent = model_of(within.owner)
    if parent.table is not table:
        raise DeclarationError(
            f"{child} stands in table {table.name!r}, its parent {parent.name} in {parent.table.name!r}",
            hint="a child stands in its parent's partition, and so in its table",
        )
    for part in parent.primary.parts:
        if isinstance(fields[part], AutoIncrement):
            raise DeclarationError(
                f"{child}.{part} draws a number, and it is a part of {parent.name}'s key",
                hint=f"declare it `{part}: Field[int]`: the parent drew it",
            )
    for mine, theirs in zip(layout.columns, parent.primary.columns, strict=True):
        if isinstance(mine.template, BoundTemplate) and isinstance(theirs.template, BoundTemplate):
            _check_same_text(child, parent.name, mine.template, theirs.template)


def _check_same_text(child: str, parent: str, mine: BoundTemplate, theirs: BoundTemplate) -> None:
    """Raise where the parts a child has from its parent are written in another way than there."""
    if (mine.template.raw, mine.delimiter) != (theirs.template.raw, theirs.delimiter):
        raise DeclarationError(
            f"{child}'s key and {parent}'s are not both raw with one delimiter",
            hint="leave raw= out of Key(within=...): a child's key begins with its parent's",
        )
    for part in theirs.parts:
        ours, wanted = mine.formats[part], theirs.formats[part]
        if (ours.name, ours.raw, ours.language) != (wanted.name, wanted.raw, wanted.language):
            raise DeclarationError(
                f"{child}.{part} is {_kind(ours.name)}, {parent}.{part} is {_kind(wanted.name)}: a child keeps its "
                "parent's parts",
                hint=f"annotate {child}.{part} as {parent}.{part} is",
            )


def _kind(name: str) -> str:
    return "text" if name == "str" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
