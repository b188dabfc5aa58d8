"""Pydantic models inside a field: maps like dataclasses, each member by our own codecs, nothing through JSON.

Theory. A model says what its fields are, so pydantic is not asked to dump anything: numbers stay exact, and what has no
stored form is refused when the class is declared. On reading the model validates, as when it was made; a model whose
validators change their own results is therefore not for storage. A stored member that a model does not declare is
refused, as a dataclass does, unless it allows extra ones: then it is kept. Pydantic is never imported here: whoever has
a model has loaded it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from singletable.attributes import Codec
from singletable.documents import read_any, write_any
from singletable.errors import DeclarationError, UnresolvedName
from singletable.records import UNTOLD, Member, instance_writer, member_reader, refusing
from singletable.scalars import CodecError
from singletable.wire import AttributeValue

__all__ = ["is_model", "model_codec", "model_members"]


def is_model(kind: object) -> bool:
    """Say whether a type is a model of pydantic 2: a subclass of its BaseModel."""
    bases = kind.__mro__ if isinstance(kind, type) else ()
    return any((base.__module__, base.__qualname__) == ("pydantic.main", "BaseModel") for base in bases)


def model_members(kind: Any) -> list[Member]:
    """List a model's fields. UnresolvedName where an annotation names nothing, DeclarationError for a RootModel."""
    if getattr(kind, "__pydantic_root_model__", False):
        raise DeclarationError(
            f"a field cannot hold {kind.__qualname__}: a RootModel is no map", hint="annotate what it holds"
        )
    if not kind.__pydantic_complete__ and not kind.model_rebuild(raise_errors=False):
        raise UnresolvedName(
            f"{kind.__qualname__} is a model whose annotations pydantic cannot resolve",
            hint="define what they name, or call its model_rebuild(), before the entity",
        )
    return [
        Member(name, field.annotation, left_out=not field.is_required(), stands_for=_stands_for(field))
        for name, field in kind.model_fields.items()
    ]


def _stands_for(field: Any) -> object:
    if field.default_factory in (set, frozenset):
        return set[object]()
    return UNTOLD if field.is_required() or field.default_factory is not None else field.default


def model_codec(kind: Any, members: list[tuple[Member, Codec]], level: int) -> Codec:
    """Store a model as M; `level` is the one it stands on."""
    wanted = f"an instance of {kind.__name__}"
    write = instance_writer(kind, members, wanted)
    extra = kind.model_config.get("extra") == "allow"
    rest = _keeping(level) if extra else refusing(members, wanted)
    encode = _with_extra(write, level) if extra else write
    return Codec(encode, member_reader(members, wanted, _maker(kind, wanted), rest), "M", wanted)


def _with_extra(write: Callable[[Any], AttributeValue], level: int) -> Callable[[Any], AttributeValue]:
    """Write what a model holds beside its fields too, each by its own type."""

    def encode(value: Any) -> AttributeValue:
        entries = write(value)["M"]
        return {"M": {**write_any(value.__pydantic_extra__ or {}, level)["M"], **entries}}

    return encode


def _keeping(level: int) -> Callable[[dict[str, Any], AttributeValue], None]:
    def keep(values: dict[str, Any], entries: AttributeValue) -> None:
        others = {name: held for name, held in entries.items() if name not in values}
        values |= read_any({"M": others}, level)

    return keep


def _maker(kind: Any, wanted: str) -> Callable[[dict[str, Any]], Any]:
    """Make the model by its fields' names, with its own checks; what these say quotes values, and is not passed on."""

    def make(values: dict[str, Any]) -> Any:
        try:
            return kind.model_validate(values, by_name=True, by_alias=False)
        except ValueError as error:
            raise CodecError(f"members its validation refuses ({type(error).__name__})", wanted) from None

    return make
