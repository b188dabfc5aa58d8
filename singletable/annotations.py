"""What the annotations of an entity class mean, wherever the class stands.

Theory of operation. With `from __future__ import annotations` an annotation is text, and its names may be globals of
the module, locals of the functions around the class, names of the class body or names that are only defined later.
`typing.get_type_hints(cls)` loses every field over one such name, so each annotation is resolved alone, by a carrier
function of its own, and one that names nothing yet is tried again when the class is first used. Of the locals only
those that the texts mention are kept, so that a class does not keep its test's or notebook's variables alive.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from singletable.errors import DeclarationError, UnresolvedName
from singletable.fields import Field, computed
from singletable.records import Scope, is_record, understood

__all__ = ["Annotations", "field_type", "is_class_variable", "is_field", "read_annotations"]

WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Annotations:
    """The annotations of one class body, and the names they may use; what a computed field returns is one of them."""

    owner: str
    own: Mapping[str, object]
    globals: Mapping[str, Any]
    locals: Mapping[str, Any]

    @property
    def scope(self) -> Scope:
        """The names that dataclasses beside the class may use in their own annotations."""
        return Scope(self.globals.get("__name__", ""), self.owner, self.locals)

    def resolve(self, name: str) -> object:
        """Understand one annotation. UnresolvedName where it names something that is not there (yet)."""
        try:
            return understood(self.own[name], self.globals, self.locals)
        except NameError as error:
            raise UnresolvedName(
                f"{self.owner}.{name} is annotated with {self.own[name]!r}, and {error.name!r} is not defined",
                hint="define or import it in the module (not only under TYPE_CHECKING), or above the class",
            ) from None


def read_annotations(cls: type) -> Annotations:
    """Collect a class's own annotations with the names around it; call it while the class statement runs."""
    own = inspect.get_annotations(cls) | _computed_types(cls)
    module = sys.modules.get(cls.__module__)
    around = _locals_around(cls) | _type_parameters(cls) | _body(cls)
    return Annotations(cls.__qualname__, own, vars(module) if module else {}, _mentioned(own.values(), around))


def _computed_types(cls: type) -> dict[str, object]:
    """Give what each computed field of a class body says it returns."""
    found: dict[str, object] = {}
    for name, value in vars(cls).items():
        if isinstance(value, computed):
            found[name] = inspect.get_annotations(value.function).get("return")
            if found[name] is None:
                raise DeclarationError(
                    f"{cls.__qualname__}.{name} is computed, but does not say what it gives",
                    hint=f"write `def {name}(self) -> date: ...`",
                )
    return found


def _mentioned(annotations: Iterable[object], around: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of the names around a class those that its annotations mention, or those of a dataclass they mention."""
    kept: dict[str, Any] = {}
    seen: set[type] = set()
    waiting = list(annotations)
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, str):
            new = {word: around[word] for word in WORD.findall(annotation) if word in around and word not in kept}
            kept |= new
            waiting += new.values()
        elif is_record(annotation) and annotation not in seen:
            seen.add(annotation)
            waiting += [each for base in annotation.__mro__ for each in inspect.get_annotations(base).values()]
        else:
            waiting += _parts(annotation)
    return kept


def _parts(annotation: object) -> tuple[object, ...]:
    """Give what an annotation is made of: the text of `Field["Later"]`, the X of `list[X]`."""
    if isinstance(annotation, typing.ForwardRef):
        return (annotation.__forward_arg__,)
    if isinstance(annotation, typing.NewType):
        return (annotation.__supertype__,)
    return typing.get_args(annotation)


def _body(cls: type) -> dict[str, Any]:
    """Give the class body's own names; a field of the same name as its type must not hide the type."""
    return {name: value for name, value in vars(cls).items() if not isinstance(value, Field)}


def _type_parameters(cls: type) -> dict[str, Any]:
    return {parameter.__name__: parameter for parameter in getattr(cls, "__type_params__", ())}


def _locals_around(cls: type) -> dict[str, Any]:
    """Give the locals of the functions and classes the class statement stands in, the innermost winning.

    Frames are found by name and module, not by depth: decorators, metaclasses and mixins may stand between.
    """
    wanted = _enclosing(cls.__qualname__)
    found: dict[str, FrameType] = {}
    frame = inspect.currentframe()
    while frame is not None and len(found) < len(wanted):
        name = frame.f_code.co_qualname
        if name in wanted and frame.f_globals.get("__name__") == cls.__module__:
            found.setdefault(name, frame)
        frame = frame.f_back
    names: dict[str, Any] = {}
    for scope in wanted:
        if scope in found:
            names |= {name: value for name, value in found[scope].f_locals.items() if not isinstance(value, Field)}
    return names


def _enclosing(qualname: str) -> list[str]:
    """List the qualified names of the scopes around a class, the outermost first.

    >>> _enclosing("Suite.test_it.<locals>.Order")
    ['Suite', 'Suite.test_it']
    """
    parts = qualname.split(".")[:-1]
    scopes = [".".join(parts[: end + 1]) for end in range(len(parts)) if parts[end] != "<locals>"]
    return [scope for scope in scopes if not scope.endswith("<locals>")]


def is_field(hint: object) -> bool:
    """Say whether an annotation is `Field[...]`."""
    return typing.get_origin(hint) is Field


def is_class_variable(hint: object) -> bool:
    """Say whether an annotation is `ClassVar` or `ClassVar[...]`."""
    return hint is typing.ClassVar or typing.get_origin(hint) is typing.ClassVar


def field_type(hint: object) -> object:
    """Give the T of `Field[T]`."""
    (argument,) = typing.get_args(hint)
    return argument
