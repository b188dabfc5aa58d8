"""Dataclasses and TypedDicts: maps whose members have names and types.

Theory. A record's members are compiled once, each to a writer and a reader, like an entity's fields. `None` and an
empty set are absent, and absent reads as the member's default, then as None or the empty set; where that would give
back another value than was written (`note: str | None = "none yet"`), NULL is stored instead: every value reads back.

A dataclass has no place for a member it does not declare, and dropping it would lose data with the next write; so such
an item is refused. A TypedDict keeps what it does not know, as `Any` would read it: choose it for maps that other
programs extend.

Annotations may be text. They are resolved with the names of the module their class stands in, and, for a class inside a
function, with the names around the entity, if that stands in the same function (`Scope`).
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from singletable.attributes import PAYLOADS, Codec, Inside, opener
from singletable.documents import any_codec, filled, read_any, reading, write_any
from singletable.errors import DeclarationError, UnresolvedName, closest, kind_of
from singletable.scalars import CodecError
from singletable.wire import AttributeValue

__all__ = [
    "UNTOLD",
    "Member",
    "Scope",
    "instance_writer",
    "is_record",
    "member_reader",
    "members_of",
    "record_codec",
    "refusing",
    "understood",
]

NOWHERE: Mapping[str, Any] = {}
UNTOLD: Final = object()
"""The value of an absent member is only known when its class makes it."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that annotations around an entity may use: those of the functions it stands in."""

    module: str = ""
    owner: str = ""
    names: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def seen_from(self, kind: type) -> Mapping[str, Any]:
        """Give the names, if a class stands in the same functions as the entity, or around them."""
        around = kind.__qualname__.rpartition(".")[0]
        same = around and kind.__module__ == self.module and self.owner.startswith(f"{around}.")
        return self.names if same else NOWHERE


def understood(annotation: object, names: Mapping[str, Any], around: Mapping[str, Any]) -> object:
    """Resolve one annotation with a module's names and those around; NameError where it names nothing.

    `typing.get_type_hints` of a whole class loses every annotation over one such name, so a function carries each.
    """

    def carrier() -> None:
        """Carry one annotation."""

    carrier.__annotations__ = {"it": annotation}
    return typing.get_type_hints(carrier, dict(names), dict(around), include_extras=True)["it"]


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its name, its resolved annotation, and what becomes of it where it is absent.

    With `left_out` the class itself fills it in, or the dict goes without; `stands_for` is the value it then has.
    """

    name: str
    annotation: object
    left_out: bool = False
    stands_for: object = UNTOLD
    given: bool = True
    """Whether the constructor takes it."""


def is_record(kind: Any) -> typing.TypeGuard[type[Any]]:
    """Say whether a type is a dataclass or a TypedDict."""
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or _is_dict(kind))


def _is_dict(kind: Any) -> bool:
    """Say whether a type is a TypedDict, of `typing` or of `typing_extensions` (which pydantic wants before 3.12)."""
    return typing.is_typeddict(kind) or type(kind).__name__ == "_TypedDictMeta"


def members_of(kind: type[Any], scope: Scope) -> list[Member]:
    """List the members of a dataclass or TypedDict. UnresolvedName, or DeclarationError where it cannot be made."""
    return _keys_of(kind, scope) if _is_dict(kind) else _fields_of(kind, scope)


def _fields_of(kind: type[Any], scope: Scope) -> list[Member]:
    members: list[Member] = []
    for each in dataclasses.fields(kind):
        owner = next(base for base in kind.__mro__ if each.name in inspect.get_annotations(base))
        annotation = _resolved(owner, each.name, inspect.get_annotations(owner)[each.name], scope)
        members.append(Member(each.name, annotation, _left_out(each), _stands_for(each), each.init))
    _check_constructor(kind, {member.name for member in members if member.given})
    return members


def _left_out(each: dataclasses.Field[Any]) -> bool:
    return not each.init or each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING


def _stands_for(each: dataclasses.Field[Any]) -> object:
    factory: object = typing.get_origin(each.default_factory) or each.default_factory  # set, or set[str]
    if factory is set or factory is frozenset:
        return set[object]()
    return UNTOLD if each.default is dataclasses.MISSING or not each.init else each.default


def _check_constructor(kind: type[Any], given: set[str]) -> None:
    parameters = inspect.signature(kind).parameters.values()
    variable = {each.kind for each in parameters} & {inspect.Parameter.VAR_KEYWORD}
    fixed = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    needed = {each.name for each in fixed if each.default is each.empty} - given
    unknown = set[str]() if variable else given - {each.name for each in fixed}
    if needed or unknown:
        raise DeclarationError(
            f"{kind.__qualname__} cannot be made from its fields: its constructor "
            + (f"wants {min(needed)!r}, which is none" if needed else f"does not take {min(unknown)!r}"),
            hint="give an InitVar a default, or keep the constructor that dataclass writes",
        )


def _keys_of(kind: type[Any], scope: Scope) -> list[Member]:
    members: list[Member] = []
    for name, annotation in inspect.get_annotations(kind).items():
        hint = _resolved(kind, name, annotation, scope)
        required = name in kind.__required_keys__
        while (qualifier := getattr(typing.get_origin(hint), "_name", "")) in ("Required", "NotRequired", "ReadOnly"):
            required = _REQUIRED.get(qualifier, required)
            (hint,) = typing.get_args(hint)
        members.append(Member(name, hint, not required))
    return members


_REQUIRED = {"Required": True, "NotRequired": False}


def _resolved(owner: type[Any], name: str, annotation: object, scope: Scope) -> object:
    module = sys.modules.get(owner.__module__)
    own = {key: value for key, value in vars(owner).items() if key not in inspect.get_annotations(owner)}
    itself = {owner.__name__: owner} if "<locals>" in owner.__qualname__ else {}
    parameters = {each.__name__: each for each in getattr(owner, "__type_params__", ())}
    around = {**itself, **scope.seen_from(owner), **parameters, **own}
    try:
        return understood(annotation, vars(module) if module else {}, around)
    except NameError as error:
        raise UnresolvedName(
            f"{owner.__qualname__}.{name} is annotated with {annotation!r}, and {error.name!r} is not defined",
            hint="define or import it in the module (not only under TYPE_CHECKING); inside a function, define it above "
            "the entity, in the same function",
        ) from None


# Codecs.


def record_codec(kind: type[Any], members: list[tuple[Member, Codec]], level: int) -> Codec:
    """Store a dataclass or TypedDict as M; `level` is the one it stands on."""
    if _is_dict(kind):
        wanted = f"a dict of {kind.__name__}"
        encode = _dict_writer(members, wanted, level)
        decode = member_reader(members, wanted, dict, _keeping(members, level))
        return Codec(encode, decode, "M", wanted, inside=_finder(members, any_codec(level + 1)))
    wanted = f"an instance of {kind.__name__}"
    encode = instance_writer(kind, members, wanted)
    decode = member_reader(members, wanted, _maker(kind, members, wanted), refusing(members, wanted))
    return Codec(encode, decode, "M", wanted, inside=_finder(members))


def _finder(members: list[tuple[Member, Codec]], others: Codec | None = None) -> Callable[[object], Inside]:
    """Make what finds a member by its name; `others` is the codec of those a TypedDict does not declare."""
    known = {member.name: _standing(member, codec) for member, codec in members}

    def inside(step: object) -> Inside:
        if isinstance(step, str) and step in known:
            return known[step]
        if not isinstance(step, str) or others is None:
            hint = closest(step, known) if isinstance(step, str) else ""
            raise CodecError(f"{kind_of(step)} as a step", "the name of a member", hint=hint)
        return Inside(step, others, "[...]")

    return inside


def _standing(member: Member, codec: Codec) -> Inside:
    removable = member.left_out or codec.optional or codec.empty is not None
    return Inside(member.name, replace(codec, encode=_writer(member, codec)), f".{member.name}", removable)


def _writer(member: Member, codec: Codec) -> Callable[[Any], AttributeValue | None]:
    """Write NULL for None or an empty set only where absent would read as something else."""
    stands_for = member.stands_for
    same = (codec.optional and stands_for is None) or (codec.empty is not None and stands_for == codec.empty())
    return filled(codec) if member.left_out and not same else codec.encode


def instance_writer(
    kind: type[Any], members: list[tuple[Member, Codec]], wanted: str
) -> Callable[[Any], AttributeValue]:
    """Make what writes an instance member by member."""
    writers = [(member.name, _writer(member, codec)) for member, codec in members]

    def encode(value: Any) -> AttributeValue:
        if type(value) is not kind:  # a subclass would lose its own members
            raise CodecError(kind_of(value), wanted)
        entries: AttributeValue = {}
        name = ""
        try:
            for name, write in writers:
                encoded = write(getattr(value, name))
                if encoded is not None:
                    entries[name] = encoded
        except CodecError as error:
            error.within(f".{name}")
            raise
        return {"M": entries}

    return encode


def _dict_writer(members: list[tuple[Member, Codec]], wanted: str, level: int) -> Callable[[Any], AttributeValue]:
    writers = [(member.name, _writer(member, codec), member.left_out, codec.wanted) for member, codec in members]
    known, mapping = frozenset(member.name for member, _ in members), PAYLOADS["M"]

    def encode(value: Any) -> AttributeValue:
        if not isinstance(value, mapping):
            raise CodecError(kind_of(value), wanted)
        entries: AttributeValue = {}
        for name, write, left_out, member_wanted in writers:
            if name in value:
                _put(entries, name, write, value[name])
            elif not left_out:
                raise CodecError("nothing", member_wanted, f".{name}")
        if not known.issuperset(value):
            rest = {name: one for name, one in value.items() if name not in known}
            entries |= write_any(rest, level)["M"]
        return {"M": entries}

    return encode


def _put(entries: AttributeValue, name: str, write: Callable[[Any], AttributeValue | None], value: object) -> None:
    try:
        encoded = write(value)
    except CodecError as error:
        error.within(f".{name}")
        raise
    if encoded is not None:
        entries[name] = encoded


def member_reader(
    members: list[tuple[Member, Codec]],
    wanted: str,
    make: Callable[[dict[str, Any]], Any],
    add_rest: Callable[[dict[str, Any], AttributeValue], None],
) -> Callable[[AttributeValue], Any]:
    """Make what reads a map member by member; `add_rest` is shown what it holds beside them, `make` gets the values."""
    open_ = opener("M", wanted)
    readers = [(member.name, reading(codec), _when_absent(member, codec)) for member, codec in members]

    def decode(stored: AttributeValue) -> Any:
        entries = open_(stored)
        values: dict[str, Any] = {}
        present, name = 0, ""
        try:
            for name, read, absent in readers:
                one = entries.get(name)
                if one is not None:
                    present += 1
                    values[name] = read(one)
                elif absent is not None:
                    values[name] = absent()
        except CodecError as error:
            error.within(f".{name}")
            raise
        if present != len(entries):
            add_rest(values, entries)
        return make(values)

    return decode


def _when_absent(member: Member, codec: Codec) -> Callable[[], Any] | None:
    """Give what makes the value of an absent member: None where it is left out, a refusal where it must be there."""
    if member.left_out:
        return None
    if codec.optional or codec.empty is not None:
        return codec.empty or _nothing

    def refuse() -> Any:
        raise CodecError("nothing", codec.wanted)

    return refuse


def _nothing() -> None:
    return None


def _keeping(members: list[tuple[Member, Codec]], level: int) -> Callable[[dict[str, Any], AttributeValue], None]:
    known = frozenset(member.name for member, _ in members)

    def keep(values: dict[str, Any], entries: AttributeValue) -> None:
        values |= read_any({"M": {name: held for name, held in entries.items() if name not in known}}, level)

    return keep


def refusing(members: list[tuple[Member, Codec]], wanted: str) -> Callable[[dict[str, Any], AttributeValue], None]:
    """Make what refuses members that are not declared: they would be lost with the next write."""
    known = frozenset(member.name for member, _ in members)

    def refuse(_values: dict[str, Any], entries: AttributeValue) -> None:
        position = next(place for place, name in enumerate(entries) if name not in known or entries[name] is None)
        raise CodecError("a member it does not declare", f"{wanted}; a TypedDict keeps others", f"[entry {position}]")

    return refuse


def _maker(kind: type[Any], members: list[tuple[Member, Codec]], wanted: str) -> Callable[[dict[str, Any]], Any]:
    """Make the instance through its constructor, so that its own checks run; then set what that does not take."""
    later = [member.name for member, _ in members if not member.given]

    def make(values: dict[str, Any]) -> Any:
        kept = {name: values.pop(name) for name in later if name in values}
        try:
            made = kind(**values)
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
            raise CodecError(f"members its constructor refuses ({type(error).__name__})", wanted) from error
        for name, value in kept.items():
            object.__setattr__(made, name, value)
        return made

    return make
