"""What a field may be declared with: the name of its attribute, and a default that can be stored."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from singletable.attributes import Codec
from singletable.errors import DeclarationError, kind_of
from singletable.scalars import CodecError

__all__ = ["MISSING", "check_attribute", "check_default", "check_options", "check_switches"]


class _Missing:
    """The type of `MISSING`, which stands for a value that was not given."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


def check_options(default: object, default_factory: object, name: object) -> None:
    """Raise DeclarationError for options that no field can have, whatever its type."""
    if default is not MISSING and default_factory is not MISSING:
        raise DeclarationError("a field has both default= and default_factory=", hint="give one of them")
    if default_factory is not MISSING and not callable(default_factory):
        raise DeclarationError(
            f"a field's default_factory is {kind_of(default_factory)}, wanted a function without arguments",
            hint="such as default_factory=list; a value is given as default=",
        )
    if not isinstance(default, Hashable):
        raise DeclarationError(
            f"a field's default is a mutable {type(default).__name__}, which all entities would share",
            hint="use default_factory= with a function that makes a new one",
        )
    if name is not None:
        check_attribute("Field(name=...)", name)


def check_switches(validate: object, **switches: object) -> None:
    """Raise DeclarationError for a switch that is neither True nor False, and a validator that cannot be called."""
    for option, given in switches.items():
        if not isinstance(given, bool):
            raise DeclarationError(f"Field({option}=...) was given {kind_of(given)}, wanted True or False")
    if validate is not None and not callable(validate):
        raise DeclarationError(
            f"Field(validate=...) was given {kind_of(validate)}, wanted a function of the value",
            hint="such as validate=lambda price: price >= 0; what gives False or raises ValueError is refused",
        )


def check_attribute(where: str, name: object) -> None:
    """Raise DeclarationError for what cannot name a stored attribute: no text, or a place inside of one."""
    if not isinstance(name, str) or not name or "[" in name or "]" in name:
        given = kind_of(name) if not isinstance(name, str) or not name else "a name with brackets"
        raise DeclarationError(
            f"{where} was given {given}, wanted the name of an attribute",
            hint="name the whole attribute; what stands inside of it is a field of a dataclass, list or dict",
        )


def check_default(where: str, default: object, codec: Codec) -> None:
    """Refuse a default that could not be stored: it would fail where no one gave it."""
    if default is MISSING:
        return
    try:
        codec.encode(default)
    except CodecError as error:
        hint = ""
        if callable(default):
            hint = "a function that makes the default is given as default_factory="
        elif default is None:
            hint = f"annotate `{where.rpartition('.')[2]}: Field[... | None]`, or leave default= out"
        raise DeclarationError(
            f"{where}: its default is {error.given}, wanted {error.wanted}", hint=hint, given=error.given
        ) from None
