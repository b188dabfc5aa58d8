"""Fields that the store gives a value to when an entity is written: its version, its times, and when it expires.

Theory of operation. Each such field says itself what its value is after a create, after a put in place of what stood
there, and what an update changes of it; the verbs ask every one and know none by name. All of one write, or of one
transaction, have one time: that of its stamp. A version is the number of writes, counted by DynamoDB itself with every
update, so that no update has to read it.

What expires is stored as DynamoDB's "time to live" wants it, in whole seconds since 1970: rounded up, so that nothing
ends early. Source: AWS, "Using time to live (TTL) in DynamoDB".
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Any, ClassVar, TypeVar, cast

from singletable.attributes import Codec, opener
from singletable.codecs import CodecError, Scope, takes_none
from singletable.errors import DeclarationError, kind_of
from singletable.expressions import Change
from singletable.fields import MISSING, Field
from singletable.keys import plain_type
from singletable.options import check_attribute
from singletable.wire import AttributeValue

__all__ = ["UNSTAMPED", "CreatedAt", "ExpiresAt", "Stamped", "Stamps", "TimeToLive", "UpdatedAt", "Version"]

T = TypeVar("T")
N = TypeVar("N", int, int | None)
M = TypeVar("M", datetime, datetime | None)

SECOND = timedelta(seconds=1)
LAST = datetime.max.replace(microsecond=0, tzinfo=UTC) - timedelta(days=1)
"""Later than this nothing is rounded: there are no later times."""


class Stamped(Field[T]):
    """A field that has no value of its own until the store gives it one."""

    kind: ClassVar[type]
    role: ClassVar[str]
    kept: ClassVar[str]
    in_keys: ClassVar[str] = ""
    """Why it can stand in no key; empty where it can."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name, read_only=True)

    @property
    def required(self) -> bool:
        """Whether the constructor must be given a value: never, the store gives it."""
        return False

    @property
    def assigned(self) -> bool:
        """Whether the store gives a value where there is none: it does."""
        return True

    def settle(self, annotation: object, scope: Scope | None = None) -> None:
        """Take the annotation, which is the type of its values, or that or None. DeclarationError for any other."""
        if plain_type(annotation) is not self.kind:
            made, kind = type(self).__name__, self.kind.__name__
            raise DeclarationError(
                f"{'' if self.owner is None else self.owner.__qualname__ + '.'}{self.name}: {made} is a {kind}",
                hint=f"write `{self.name}: Field[{kind}] = {made}()`",
            )
        super().settle(annotation, scope)

    def encoded(self, value: object) -> AttributeValue | None:
        """Write a value as it is stored; None, which an entity has that has none yet, as absent."""
        return None if value is None else super().encoded(value)

    def checked(self, value: object) -> AttributeValue | None:
        """Write a value that is to be stored. FieldValueError for None where the annotation does not allow it."""
        return super().encoded(value)

    def when_created(self, _held: Any, now: datetime, /) -> Any:
        """Give its value in an item that is made: the time, if it says nothing else. `_held` is the entity's."""
        return now

    def when_put(self, _held: Any, now: datetime, /) -> Any:
        """Give its value in an item that is put in place of what stands there."""
        return now

    def when_updated(self, _now: datetime, /) -> Change | None:
        """Give what every update changes of it: nothing, if it says nothing else."""
        return None


class Version(Stamped[N]):
    """How often an item was written: 1 when it is created, and one more with every write.

    DynamoDB counts, so that an update by reference needs no read. A write that is handed an entity is made on condition
    that the stored version is still the entity's: VersionConflict where it is not. One that is handed a reference is
    not checked. It can be neither updated nor evolved.
    """

    kind = int
    role = "counts the writes"
    kept = "counts the writes of its item: it cannot be set"
    in_keys = "it changes with every write"

    def when_created(self, _held: Any, _now: datetime, /) -> Any:
        """Give 1."""
        return 1

    def when_put(self, held: Any, _now: datetime, /) -> Any:
        """Give one more than the entity has."""
        if held is MISSING or held is None:
            return 1
        return held + 1 if type(held) is int else held  # what is no number is told when it is to be stored

    def when_updated(self, _now: datetime, /) -> Change | None:
        """Add one."""
        return cast(Field[int], self).add(1)


class CreatedAt(Stamped[M]):
    """When an item was created: the time of its `create`, or of the put that first stored it; nothing changes it."""

    kind = datetime
    role = "when it was created"
    kept = "is the time at which the item was created: it cannot be set"

    def when_put(self, held: Any, now: datetime, /) -> Any:
        """Give what the entity has, or the time."""
        return now if held is MISSING or held is None else held


class UpdatedAt(Stamped[M]):
    """When an item was last written: the time of its last create, put or update."""

    kind = datetime
    role = "when it was last written"
    kept = "is the time of the last write: it cannot be set"

    def when_updated(self, now: datetime, /) -> Change | None:
        """Set the time."""
        return cast(Field[datetime], self).set(now)


class ExpiresAt(Stamped[M]):
    """When an item expires: from then on it counts as absent, and some time later DynamoDB sweeps it.

    With `after` it is that much after the write that first stores the item, unless it is given; without, an item that
    is given none never expires, so that the annotation is `Field[datetime | None]`. It is stored in whole seconds,
    rounded up, and can be updated. A table has one attribute for it: `Table(ttl=...)`, or else the field's own.
    """

    kind = datetime
    role = "when it expires"
    kept = ""
    in_keys = "it is stored in whole seconds, and a key holds microseconds"

    def __init__(self, *, after: timedelta | None = None, name: str | None = None) -> None:
        _check_after(after)
        super().__init__(name=name)
        self.after = after
        self.read_only = False
        if after is None:
            self.default = None

    @property
    def assigned(self) -> bool:
        """Whether the store gives a value where there is none: only with `after`."""
        return self.after is not None

    def settle(self, annotation: object, scope: Scope | None = None) -> None:
        """Take the annotation: `datetime`, or `datetime | None`. DeclarationError for any other."""
        if self.after is None and plain_type(annotation) is datetime and not takes_none(annotation):
            raise DeclarationError(
                f"{'' if self.owner is None else self.owner.__qualname__ + '.'}{self.name}: ExpiresAt() without after= "
                "leaves it open whether an item expires",
                hint=f"write `{self.name}: Field[datetime | None] = ExpiresAt()`, or say after=timedelta(...)",
            )
        self.given_codec = _seconds_codec(optional=takes_none(annotation))
        super().settle(annotation, scope)

    def when_created(self, held: Any, now: datetime, /) -> Any:
        """Give what the entity has, or the time plus `after`, as it will be read."""
        value = now + self.after if held is MISSING and self.after is not None else held
        return _whole(value) if isinstance(value, datetime) and value.utcoffset() is not None else value

    def when_put(self, held: Any, now: datetime, /) -> Any:
        """Give what the entity has, or the time plus `after`."""
        return self.when_created(held, now)


def _check_after(after: object) -> None:
    if after is None or (isinstance(after, timedelta) and after > timedelta(0)):
        return
    given = "no time at all" if isinstance(after, timedelta) else kind_of(after)
    raise DeclarationError(
        f"ExpiresAt(after=...) was given {given}, wanted a positive timedelta",
        hint="such as ExpiresAt(after=timedelta(days=30))",
    )


# What an entity has of them ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Stamps:
    """The stamped fields of an entity."""

    fields: tuple[Stamped[Any], ...] = ()
    counts: tuple[Version[Any], ...] = ()

    def created(self, values: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """Give their values in an item that is made; `values` are the entity's."""
        return {each.name: each.when_created(values.get(each.name, MISSING), now) for each in self.fields}

    def put(self, values: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """Give their values in an item that is put in place of what stands there."""
        return {each.name: each.when_put(values.get(each.name, MISSING), now) for each in self.fields}

    def updated(self, now: datetime) -> tuple[Change, ...]:
        """Give what every update changes of them."""
        return tuple(change for each in self.fields if (change := each.when_updated(now)) is not None)

    def counter(self) -> Version[Any] | None:
        """Give the field that counts the writes; None where nobody does."""
        return self.counts[0] if self.counts else None

    @property
    def expire(self) -> bool:
        """Whether items of the entity may expire."""
        return any(isinstance(each, ExpiresAt) for each in self.fields)


UNSTAMPED = Stamps()
"""Those of an entity that has none."""


class TimeToLive:
    """The attribute of a table that says when an item expires: the declared one, or that of its ExpiresAt fields."""

    def __init__(self, declared: str | None) -> None:
        self._declared = declared
        self._taken: weakref.WeakKeyDictionary[type, str] = weakref.WeakKeyDictionary()

    @property
    def attribute(self) -> str | None:
        """The attribute; None while nothing in the table expires."""
        return next(iter(self._taken.values()), None) if self._declared is None else self._declared

    def check(self, others: tuple[str | None, ...]) -> None:
        """Refuse a declared name that is none, or that of another attribute."""
        if self._declared is None:
            return
        check_attribute("Table(ttl=...)", self._declared)
        if self._declared in others:
            raise DeclarationError(
                f"Table(ttl={self._declared!r}): the attribute is a key, the tag, or singletable's own",
                hint='such as ttl="expires_at"',
            )

    def take(self, entity: type, name: str) -> str | None:
        """Make an attribute that of an entity; give the other one that it is already, if there is one.

        An older class of the same module and qualified name has no say any more.
        """
        names = entity.__module__, entity.__qualname__
        for older in [each for each in self._taken if (each.__module__, each.__qualname__) == names]:
            del self._taken[older]
        if self.attribute not in (None, name):
            return self.attribute
        self._taken[entity] = name
        return None


# Seconds since 1970 --------------------------------------------------------------------------------------------------


def _whole(moment: datetime) -> datetime:
    """Round up to a whole second.

    >>> _whole(datetime(2026, 1, 1, microsecond=1, tzinfo=UTC)).isoformat()
    '2026-01-01T00:00:01+00:00'
    """
    whole = moment.replace(microsecond=0)
    return whole if whole == moment or whole >= LAST else whole + SECOND


def _seconds_codec(*, optional: bool) -> Codec:
    wanted = "an aware datetime, stored in seconds since 1970"
    open_ = opener("N", wanted)

    def encode(value: Any) -> dict[str, Any] | None:
        if value is None and optional:
            return None
        if not isinstance(value, datetime) or value.utcoffset() is None:
            given = "a naive datetime" if isinstance(value, datetime) else kind_of(value)
            raise CodecError(given, wanted, hint="such as datetime.now(UTC) + timedelta(days=30)")
        return {"N": str(int(_whole(value).timestamp()))}

    def decode(stored: dict[str, Any]) -> datetime | None:
        if optional and "NULL" in stored:
            return None
        seconds = Decimal(open_(stored)).to_integral_value(ROUND_CEILING)
        try:
            return datetime.fromtimestamp(int(seconds), UTC)
        except (ValueError, OverflowError, OSError):
            raise CodecError("a number of seconds beyond the year 9999", wanted) from None

    return Codec(encode, decode, "N", f"{wanted}, or None" if optional else wanted, optional)
