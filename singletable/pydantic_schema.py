"""An entity class as pydantic sees it: a type of FastAPI's bodies and responses, or of a field of a BaseModel.

Theory of operation. Pydantic asks a class for its core schema. In goes an entity as it is, or a dict of its fields:
each value by pydantic's rules for the annotation, then by the field's own, so that nothing passes which could not be
stored. Out comes a dict of what may be shown. A hidden field takes no part, except that one without default must be
given: there is no entity without it. Pydantic is loaded by whoever uses it, never by us.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeAlias

from singletable.errors import FieldNotLoaded, NumberNotAssigned
from singletable.fields import MISSING, Field, computed
from singletable.increments import AutoIncrement

__all__ = ["core_schema_of", "json_schema_of"]

Fields: TypeAlias = Mapping[str, Field[Any]]
CONCEALED = "***"


def core_schema_of(cls: type[Any], fields: Fields, handler: Any) -> Any:
    """Make the core schema of an entity class. `handler` is pydantic's; it makes the schemas of the annotations."""
    from pydantic_core import core_schema

    given = {name: field for name, field in fields.items() if _is_given(field)}
    shown = {name: field for name, field in fields.items() if not field.hidden}
    taken = core_schema.typed_dict_schema(
        {name: _taken(field, handler) for name, field in given.items()}, cls_name=cls.__name__, extra_behavior="forbid"
    )
    out = core_schema.typed_dict_schema({name: _shown(field, handler) for name, field in shown.items()})
    return core_schema.no_info_wrap_validator_function(
        _reading(cls, {name for name, field in given.items() if field.sensitive}),
        taken,
        ref=f"{cls.__module__}.{cls.__qualname__}:{id(cls)}",
        serialization=core_schema.wrap_serializer_function_ser_schema(_writing(cls, shown), schema=out),
    )


def json_schema_of(cls: type[Any], schema: Any, handler: Any) -> Any:
    """Make the JSON schema of an entity class: what is given to it, or what comes out of it, as pydantic asks."""
    fields: Fields = vars(cls)["__fields__"]
    outgoing = handler.mode == "serialization"
    made = handler(schema["serialization"]["schema"] if outgoing else schema)
    inner = handler.resolve_ref_schema(made)
    inner["title"] = cls.__name__
    if cls.__doc__:
        inner["description"] = inspect.cleandoc(cls.__doc__)
    for name, each in inner["properties"].items():
        if fields[name].hidden:
            each["writeOnly"] = True
    return made


def _is_given(field: Field[Any]) -> bool:
    return not isinstance(field, computed) and (field.required or not field.hidden)


def _schema(field: Field[Any], handler: Any) -> Any:
    _ = field.codec  # which settles what the annotation is
    return handler.generate_schema(field.annotation)


def _taken(field: Field[Any], handler: Any) -> Any:
    """Say what a field is given: what pydantic takes for its annotation, if it can be stored."""
    from pydantic_core import core_schema

    schema: Any = core_schema.no_info_after_validator_function(field.given, _schema(field, handler))
    if field.default is not MISSING:
        schema = core_schema.with_default_schema(schema, default=field.default)
    return core_schema.typed_dict_field(schema, required=field.required)


def _shown(field: Field[Any], handler: Any) -> Any:
    from pydantic_core import core_schema

    required = not isinstance(field, AutoIncrement)
    return core_schema.typed_dict_field(_schema(field, handler), required=required)


def _reading(cls: type[Any], sensitive: set[str]) -> Any:
    """Make what takes an entity, or makes one of a dict."""
    from pydantic_core import ValidationError

    def read(value: object, handler: Any) -> Any:
        if isinstance(value, cls):
            return value
        if "__singletable__" not in vars(cls):
            raise ValueError(f"{cls.__name__} is abstract: name one of its kinds")
        try:
            values = handler(value)
        except ValidationError as error:
            if not sensitive:
                raise
            raise _concealed(error, sensitive) from None
        return cls(**values)

    read.__name__ = cls.__name__  # by which pydantic's errors call it
    return read


def _concealed(error: Any, sensitive: set[str]) -> Exception:
    """Make the same error without any input: a line of it may show the whole dict, with what is sensitive in it."""
    from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

    lines = [
        InitErrorDetails(
            type=PydanticCustomError(line["type"], _words(line, sensitive)),
            loc=line["loc"],
            input=CONCEALED,
        )
        for line in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return ValidationError.from_exception_data(error.title, lines)


def _words(line: Any, sensitive: set[str]) -> Any:
    """Say what is wrong; of a sensitive value only that it does not fit, since its own validators may quote it."""
    quoted = line["type"] != "missing" and not sensitive.isdisjoint(line["loc"][:1])
    return "The value does not fit; it is sensitive and not shown" if quoted else line["msg"]


def _writing(cls: type[Any], shown: Fields) -> Any:
    """Make what turns an entity into a dict of the fields that are shown; what has no value is left out."""
    from pydantic_core import PydanticSerializationUnexpectedValue

    def write(value: Any, handler: Any) -> Any:
        if not isinstance(value, cls):
            raise PydanticSerializationUnexpectedValue(f"wanted a {cls.__name__}, given {type(value).__name__}")
        own: Fields = value.__fields__
        found = {name: _value(value, name) for name in shown if not own[name].hidden}
        return handler({name: each for name, each in found.items() if each is not MISSING})

    return write


def _value(entity: Any, name: str) -> Any:
    try:
        return getattr(entity, name)
    except (FieldNotLoaded, NumberNotAssigned):
        return MISSING
