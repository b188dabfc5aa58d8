"""What an operation is about: the reference that was handed in, or that to the item of an entity that was."""

from __future__ import annotations

from typing import TypeVar

from singletable.entity import Entity, left_out
from singletable.errors import UsageError, kind_of
from singletable.queries import Ref
from singletable.schema import model_of

__all__ = ["loaded_of", "subject"]

E = TypeVar("E", bound=Entity)


def subject(what: Ref[E] | E) -> Ref[E]:
    """Give a reference, or refer to the item of an entity. UsageError for what is neither."""
    if isinstance(what, Ref):
        ref: Ref[E] = what
        return ref
    if not isinstance(what, Entity):
        raise UsageError(f"given {kind_of(what)}, wanted a reference or an entity", hint="such as User.at(user_id=...)")
    parts = model_of(type(what)).primary.parts
    return type(what).at(**{name: what.__dict__.get(name) for name in parts})


def loaded_of(what: Ref[E] | E) -> E | None:
    """Give an entity that was handed in and read as a whole, so that an update may rest on it."""
    return None if isinstance(what, Ref) or left_out(what) is not None else what
