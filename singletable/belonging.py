"""Whether a condition speaks of the entity it is used on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from singletable.errors import QueryError, kind_of
from singletable.expressions import Condition, paths_of
from singletable.fields import Field

__all__ = ["check_condition", "check_conditions"]


def check_condition(condition: object, fields: Mapping[str, Field[Any]] | None, where: str) -> None:
    """Raise QueryError for what is no condition, or looks at a field that is not among `fields` (None: any)."""
    check_conditions(condition, None if fields is None else (fields,), where)


def check_conditions(condition: object, several: Iterable[Mapping[str, Field[Any]]] | None, where: str) -> None:
    """Do the same where the fields may be those of any of several classes."""
    if not isinstance(condition, Condition):
        raise QueryError(
            f"{where} was given {kind_of(condition)}, wanted a condition",
            hint="compare fields of the class, not of an entity, and join with & and |: Order.status == 'PAID'",
        )
    for path in paths_of(condition):
        source = path.source
        if several is not None and isinstance(source, Field) and not _is_among(source, several):
            raise QueryError(
                f"{where} looks at {source.name!r} of another class",
                hint="an item of this entity has no such field, so the condition would say nothing about it",
            )


def _is_among(source: Any, several: Iterable[Mapping[str, Field[Any]]]) -> bool:
    return any(fields.get(source.name) is source for fields in several)
