"""What a field is declared with: its options, its type, and the codec that follows from it.

Theory of operation. A `Declaration` is made in the class body, gets its name and class when the class statement ends,
and its codec when its annotation is understood, which may be later. It is a place in an item (`places`), whose
operators build expressions; `Field` adds how its values are read on entities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, overload

from singletable.adopted import Attribute, adopted
from singletable.codecs import Codec, Scope, codec_for
from singletable.errors import DeclarationError, FieldValueError, kind_of
from singletable.options import MISSING, check_default, check_options, check_switches
from singletable.places import Place
from singletable.wire import AttributeValue

__all__ = ["Declaration", "validator_name"]

T = TypeVar("T")


class Declaration(Place[T]):
    """The options of one field, with what follows from its annotation."""

    @overload
    def __init__(
        self,
        *,
        name: str | None = ...,
        codec: Codec | Attribute | None = ...,
        unique: bool = ...,
        read_only: bool = ...,
        hidden: bool = ...,
        sensitive: bool = ...,
        validate: Callable[[Any], object] | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        default: T,
        name: str | None = ...,
        codec: Codec | Attribute | None = ...,
        unique: bool = ...,
        read_only: bool = ...,
        hidden: bool = ...,
        sensitive: bool = ...,
        validate: Callable[[Any], object] | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        default_factory: Callable[[], T],
        name: str | None = ...,
        codec: Codec | Attribute | None = ...,
        unique: bool = ...,
        read_only: bool = ...,
        hidden: bool = ...,
        sensitive: bool = ...,
        validate: Callable[[Any], object] | None = ...,
    ) -> None: ...
    def __init__(
        self,
        *,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        name: str | None = None,
        codec: Codec | Attribute | None = None,
        unique: bool = False,
        read_only: bool = False,
        hidden: bool = False,
        sensitive: bool = False,
        validate: Callable[[Any], object] | None = None,
    ) -> None:
        check_options(default, default_factory, name)
        check_switches(validate, unique=unique, read_only=read_only, hidden=hidden, sensitive=sensitive)
        self.default = default
        self.default_factory = default_factory
        self.stored_name = name
        self.unique = unique
        self.read_only = read_only
        self.hidden = hidden
        self.sensitive = sensitive
        self.validate = validate
        self.name: str = ""
        self.owner: type | None = None
        self.annotation: object = MISSING
        self.given_codec = codec
        self._codec: Codec | None = None
        self._resolve: Callable[[], object] | None = None

    def declare(self, name: str, resolve: Callable[[], object], owner: type | None = None) -> None:
        """Give the field its name, its class and the function that finds its codec when it is first needed.

        DeclarationError where the object is a field already: two would then have one name.
        """
        if self.name:
            raise DeclarationError(
                f"{_of(owner)}{name} is the Field object of {_of(self.owner)}{self.name}",
                hint="make one for each: a function that returns a new Field(...) saves the typing; what is declared "
                "in a base class is inherited",
            )
        self.name = name
        self.owner = owner
        self._resolve = resolve

    def settle(self, annotation: object, scope: Scope | None = None) -> None:
        """Give the field the T of its `Field[T]`, and with it its codec. DeclarationError where there is none.

        `scope` has the names that annotations of dataclasses beside the entity may use. UnresolvedName while one of
        them is missing; the field is then settled again later.
        """
        given = self.given_codec
        self._codec = codec_for(annotation, scope or Scope()) if given is None else adopted(given, annotation)
        check_default(f"{_of(self.owner)}{self.name}", self.default, self._codec)
        self.annotation = annotation
        self._check_default()

    def _check_default(self) -> None:
        """Refuse a default that the field's own `validate` does not accept: every entity would be made with it."""
        try:
            self.accept(None if self.default is MISSING else self.default)
        except FieldValueError as error:
            raise DeclarationError(
                f"{_of(self.owner)}{self.name}: its default is refused by its own validate=",
                hint="give another default, or leave it out",
            ) from error

    @property
    def attribute(self) -> str:
        """The stored attribute's name."""
        return self.stored_name or self.name

    @property
    def codec(self) -> Codec:
        """The codec of the annotated type; UnresolvedName where the annotation names nothing yet."""
        if self._codec is None and self._resolve is not None:
            self._resolve()
        if self._codec is None:
            raise DeclarationError(
                "a Field is used outside an entity class",
                hint="declare it as an annotated attribute of an Entity: `name: Field[str] = Field()`",
            )
        return self._codec

    @property
    def required(self) -> bool:
        """Whether the constructor must be given a value."""
        return self.default is MISSING and self.default_factory is MISSING

    @property
    def assigned(self) -> bool:
        """Whether the store gives a value where there is none: until then the entity has none."""
        return False

    @property
    def wanted(self) -> str:
        """What values are wanted, in words."""
        return self.codec.wanted

    role: ClassVar[str] = ""
    """What the store keeps in it, in words; empty for what is given."""

    kept: ClassVar[str] = ""
    """Why no update can set it, in words; empty where one can."""

    def when_absent(self) -> Any:
        """Give the value an item without the attribute is read with; MISSING where it must be there.

        None and the empty set are stored as absent, so that is what absence means where they can be; a default is for
        the others. What was stored thus always reads back.
        """
        if self.codec.empty is not None:
            return self.codec.empty()
        if self.codec.optional:
            return None
        return self.default if self.default_factory is MISSING else self.default_factory()

    def read_back(self, value: Any) -> Any:
        """Give a value as it is read again once it is stored: a codec of the user's may store `A@B.C` as `a@b.c`."""
        stored = None if self.given_codec is None or value is None else self.encoded(value)
        return value if stored is None else self.codec.decode(stored)

    def checked(self, value: object) -> AttributeValue | None:
        """Write a value that is to be stored, as `encoded` does; FieldValueError too where `validate` refuses it."""
        encoded = self.encoded(value)
        self.accept(value)
        return encoded

    def given(self, value: Any) -> Any:
        """Give back a value that the constructor was handed, if it fits and `validate` accepts it."""
        self.checked(value)
        return value

    def accept(self, value: object) -> None:
        """Raise FieldValueError where `validate` gives False for a value, or raises ValueError or AssertionError.

        None is not shown to it. What it raised is the error's cause, unless the field is sensitive: it may quote.
        """
        if self.validate is None or value is None:
            return
        cause: Exception | None = None
        try:
            if self.validate(value) is not False:
                return
        except (ValueError, AssertionError) as error:
            cause = None if self.sensitive else error
        raise self._refusal(
            f"a value ({kind_of(value)})", f"one that its validate={validator_name(self.validate)} accepts"
        ) from cause

    def _refusal(self, given: str, wanted: str, hint: str = "", *, path: str = "") -> FieldValueError:
        entity = "" if self.owner is None else self.owner.__name__
        return FieldValueError(self.name + path, given=given, wanted=wanted, hint=hint, entity=entity)


def _of(owner: type | None) -> str:
    return "" if owner is None else f"{owner.__qualname__}."


def validator_name(validate: Callable[[Any], object]) -> str:
    """Call a validator by its name; a lambda has none that says something.

    >>> validator_name(len), validator_name(lambda value: value > 0)
    ('len', '')
    """
    name = getattr(validate, "__name__", "<")
    return "" if name.startswith("<") else str(name)
