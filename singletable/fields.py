"""The `Field` descriptor: a typed value on an entity, an expression on its class.

Theory of operation. `Order.status` is the field itself, whose operators build conditions and changes; `order.status` is
the value. Values live in the instance's `__dict__`, and Field defines no `__set__` at run time (the type checkers see
one), so that reading a value costs a plain attribute look-up; only a value that is not there reaches `__get__`.
Comparing fields gives a condition, so code compares them by `is`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Never, TypeVar, overload

from singletable.adopted import Attribute, adopted
from singletable.codecs import Codec, Scope, codec_for
from singletable.errors import DeclarationError, FieldNotLoaded, FieldValueError, NumberNotAssigned
from singletable.expressions import Path
from singletable.options import MISSING, check_default, check_options
from singletable.places import Place
from singletable.wire import AttributeValue

__all__ = ["MISSING", "Field", "computed"]

T = TypeVar("T")


class Field(Place[T]):
    """One attribute of an entity, with a codec chosen from its annotation `Field[T]`.

    `default` or `default_factory` make it optional for the constructor; `name` is the stored attribute's name where it
    differs from the field's; `codec`, any PynamoDB attribute, says how the value is stored in place of the annotation.
    On the class it builds conditions (`== != < <= > >= between is_in exists does_not_exist startswith contains
    is_type size`) and changes (`set remove add delete append prepend`), and so does what stands inside of it, such as
    `Order.address["city"]`.
    """

    if TYPE_CHECKING:

        @overload
        def __init__(self, *, name: str | None = ..., codec: Codec | Attribute | None = ...) -> None: ...
        @overload
        def __init__(self, *, default: T, name: str | None = ..., codec: Codec | Attribute | None = ...) -> None: ...
        @overload
        def __init__(
            self,
            *,
            default_factory: Callable[[], T],
            name: str | None = ...,
            codec: Codec | Attribute | None = ...,
        ) -> None: ...

    def __init__(
        self,
        *,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        name: str | None = None,
        codec: Codec | Attribute | None = None,
    ) -> None:
        check_options(default, default_factory, name)
        self.default = default
        self.default_factory = default_factory
        self.stored_name = name
        self.name: str = ""
        self.owner: type | None = None
        self.annotation: object = MISSING
        self._given_codec = codec
        self._codec: Codec | None = None
        self._resolve: Callable[[], object] | None = None

    # Declaring -------------------------------------------------------------------------------------------------------

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
        given = self._given_codec
        self._codec = codec_for(annotation, scope or Scope()) if given is None else adopted(given, annotation)
        check_default(f"{_of(self.owner)}{self.name}", self.default, self._codec)
        self.annotation = annotation

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

    def _counted(self) -> AttributeValue | None:
        base = self.when_absent()
        return None if base is MISSING else self.encoded(base)

    def _refusal(self, given: str, wanted: str, hint: str = "", *, path: str = "") -> FieldValueError:
        entity = "" if self.owner is None else self.owner.__name__
        return FieldValueError(self.name + path, given=given, wanted=wanted, hint=hint, entity=entity)

    # Reading ---------------------------------------------------------------------------------------------------------

    @overload
    def __get__(self, instance: None, owner: Any) -> Field[T]: ...
    @overload
    def __get__(self, instance: object, owner: Any) -> T: ...
    def __get__(self, instance: object | None, owner: Any) -> T | Field[T]:
        if instance is None:
            return self
        if self.name in (getattr(instance, "_left_out", None) or ()):
            raise FieldNotLoaded(
                f"{owner.__name__}.{self.name} was not read: the query named other fields in only()",
                hint="name the field in only() too, or read the entity with store.get(...)",
                field=self.name,
            )
        raise NumberNotAssigned(
            f"{owner.__name__}.{self.name} has no value yet",
            hint="a number is drawn when the entity is stored: use what store.create(...) returns",
            field=self.name,
        )

    if TYPE_CHECKING:
        # `value` gives the constructor's argument its type, and an instance of Never is none at all: every assignment
        # is refused. A frozen dataclass_transform would refuse it too, but mypy then takes an inherited field on the
        # class for its value, and `Invoice.paid == True` for a bool.
        def __set__(self, instance: Never, value: T) -> None: ...

    # As a place in an item -------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """Where the value stands in an item."""
        return Path((self.attribute,), self)

    @property
    def shown(self) -> str:
        """The name that errors tell."""
        return self.name

    @property
    def removable(self) -> bool:
        """Whether it may be absent."""
        return self.codec.optional or self.codec.empty is not None

    # As an object ----------------------------------------------------------------------------------------------------

    def __reduce__(self) -> str | tuple[Any, ...]:
        return super().__reduce__() if self.owner is None else (getattr, (self.owner, self.name))

    def __copy__(self) -> Field[T]:
        return self

    def __deepcopy__(self, memo: object) -> Field[T]:
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name or '(not declared)'}>"


class computed(Field[T]):  # noqa: N801  # used as a decorator, like property
    """A value that is computed from the other fields, stored with them and written anew on every write.

        @computed
        def day(self) -> date:
            return self.sent_at.date()

    It can stand in key templates and conditions; it is never given to the constructor and cannot be changed.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        super().__init__()
        self.function = function
        self.__doc__ = function.__doc__

    @property
    def required(self) -> bool:
        """Whether the constructor must be given a value: it never is."""
        return False

    if not TYPE_CHECKING:

        def __get__(self, instance: object | None, owner: Any) -> Any:
            return self if instance is None else self.function(instance)


def _of(owner: type | None) -> str:
    return "" if owner is None else f"{owner.__qualname__}."
