"""The `Field` descriptor: a typed value on an entity, an expression on its class.

Theory of operation. `Order.status` is the field itself, a place in the item whose operators build conditions and
changes (`places`); `order.status` is the value. Values live in the instance's `__dict__`, and Field defines no
`__set__` at run time (the type checkers see one), so that reading a value costs a plain attribute look-up; only a value
that is not there reaches `__get__`. Comparing fields gives a condition, so code compares them by `is`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Never, TypeVar, overload

from singletable.declaration import Declaration
from singletable.errors import FieldNotLoaded, NumberNotAssigned
from singletable.expressions import Path
from singletable.options import MISSING
from singletable.wire import AttributeValue

__all__ = ["MISSING", "Field", "computed"]

T = TypeVar("T")


class Field(Declaration[T]):
    """One attribute of an entity, with a codec chosen from its annotation `Field[T]`.

    `default` or `default_factory` make it optional for the constructor; `name` is the stored attribute's name where it
    differs from the field's; `codec`, any PynamoDB attribute, says how the value is stored in place of the annotation.
    `unique` values are had by one item alone. `validate` is called with every value that is to be stored. A `read_only`
    field keeps the value it was made with; a `hidden` one is shown nowhere, a `sensitive` one in no repr.
    On the class it builds conditions (`== != < <= > >= between is_in exists does_not_exist startswith contains
    is_type size`) and changes (`set remove add delete append prepend`), and so does what stands inside of it, such as
    `Order.address["city"]`.
    """

    def _counted(self) -> AttributeValue | None:
        base = self.when_absent()
        return None if base is MISSING else self.encoded(base)

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
                f"{owner.__name__}.{self.name} was not read: only() left it out, or the index does not hold it",
                hint="name the field in only() too, or read the whole entities: store.hydrate(...), store.get(...)",
                field=self.name,
            )
        raise NumberNotAssigned(
            f"{owner.__name__}.{self.name} has no value yet",
            hint="the store gives it one when the entity is stored: use what store.create(...) returns",
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
