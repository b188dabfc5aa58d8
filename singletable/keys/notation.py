"""What a notation of values in a key is, and how one is made strict, kept clear of a delimiter, or turned downwards.

Every notation is strict both ways: `encode` refuses a value it cannot write exactly, `decode` refuses text that
`encode` would not have written. Values never stand in an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import InvalidOperation
from typing import Any

from singletable.errors import TemplateError, kind_of
from singletable.keys.encoding import DELIMITER, DELIMITERS, KeyValueError, after
from singletable.keys.language import Language, Shape

__all__ = ["KeyFormat", "affixed", "complemented", "continues", "delimiter_of", "fenced", "shaped", "strict", "takes"]


def _no_prefix(value: Any) -> str:
    raise KeyValueError(kind_of(value), "gt, gte, lt, lte or between: a value of this type has no text prefix")


@dataclass(frozen=True, slots=True, eq=False)
class KeyFormat:
    """How one type is written in a key; made by `key_format`.

    `prefix` encodes what a begins_with may ask for, `ordered` says whether text order is value order, `loose` that the
    text of one value may go on to that of another with a character that sorts no higher than what closes a subtree (raw
    text beside any delimiter, digits beside `|`), which leaves order exact in a last part only. `descending` says that
    the greater value has the lesser text, `delimiter` which one the text never holds.
    """

    name: str
    encode: Callable[[Any], str]
    decode: Callable[[str], Any]
    language: Language
    ordered: bool = True
    prefix: Callable[[Any], str] = _no_prefix
    raw: bool = False
    loose: bool = False
    descending: bool = False
    delimiter: str = DELIMITER


def delimiter_of(raw: bool | str) -> str:
    """Give the delimiter that `raw=` names: `#` for True and False; TemplateError for what cannot be one.

    >>> delimiter_of(True), delimiter_of("|")
    ('#', '|')
    """
    if isinstance(raw, bool):
        return DELIMITER
    if raw not in DELIMITERS:
        known = " ".join(sorted(DELIMITERS))
        raise TemplateError("a key's delimiter is one punctuation character", hint=f"one of {known}")
    return raw


def continues(chars: str, delimiter: str) -> bool:
    """Say whether text that goes on with one of these characters can lie in the range of a shorter text's subtree.

    >>> continues("0123456789", "#"), continues("0123456789", "|")
    (False, True)
    """
    return min(chars) <= after(delimiter)


def strict(encode: Callable[[Any], str], read: Callable[[str], Any], wanted: str) -> Callable[[str], Any]:
    """Make a decoder that takes a text only if encoding the result gives it back."""

    def decode(text: str) -> Any:
        try:
            value = read(text)
            if encode(value) == text:
                return value
        except (ValueError, LookupError, OverflowError, InvalidOperation):
            raise KeyValueError("other text", wanted) from None
        raise KeyValueError("other text", wanted)

    return decode


def takes(decode: Callable[[str], Any]) -> Callable[[str], bool]:
    """Make the rule of a language: a text is of it if it can be decoded."""

    def accepts(text: str) -> bool:
        try:
            decode(text)
        except KeyValueError:
            return False
        return True

    return accepts


def shaped(
    name: str, encode: Callable[[Any], str], read: Callable[[str], Any], shapes: Iterable[Shape], values: Iterable[Any]
) -> KeyFormat:
    """Make a format of texts of fixed shapes, with the encoded `values` as its examples."""
    decode = strict(encode, read, f"{name} in key form")
    return KeyFormat(name, encode, decode, Language.shaped(name, shapes, takes(decode), map(encode, values)))


def complemented(made: KeyFormat, digits: str) -> KeyFormat:
    """Turn a format whose texts are of one shape downwards: each digit becomes what it lacks to the highest.

    >>> day = shaped("day", lambda value: f"{value:02d}", int, [], [1])
    >>> complemented(day, "0123456789").encode(31)
    '68'
    """
    table = str.maketrans(digits, digits[::-1])

    def encode(value: Any) -> str:
        return made.encode(value).translate(table)

    def read(text: str) -> Any:
        return made.decode(text.translate(table))

    examples = map(made.decode, made.language.members)
    turned = shaped(f"{made.language.name}:desc", encode, read, made.language.shapes, examples)
    return replace(turned, name=made.name, descending=True)


def affixed(made: KeyFormat, affix: str) -> KeyFormat:
    """Put the same text before every text of a format.

    >>> day = shaped("day", lambda value: f"{value:02d}", int, [], [1])
    >>> affixed(day, "d-").encode(31), affixed(day, "d-").decode("d-31")
    ('d-31', 31)
    """

    def encode(value: Any) -> str:
        return affix + made.encode(value)

    def decode(text: str) -> Any:
        if not text.startswith(affix):
            raise KeyValueError("other text", f"{made.name} in key form")
        return made.decode(text.removeprefix(affix))

    def prefix(value: Any) -> str:
        return affix + made.prefix(value)

    texts, name = [affix + text for text in made.language.members], f"{affix}{made.language.name}"
    shapes = [tuple(map(frozenset, affix)) + each for each in made.language.shapes]
    if made.language.kind == "finite":
        language = Language.finite(name, texts)
    else:
        language = Language.shaped(name, shapes, takes(decode), texts)
    return replace(made, encode=encode, decode=decode, prefix=prefix, language=language)


def fenced(made: KeyFormat, delimiter: str) -> KeyFormat:
    """Keep a raw format clear of a delimiter of its own; TemplateError where every text of it would hold it.

    No format ever writes `#`.
    """
    if delimiter == DELIMITER:
        return made
    examples = [text for text in made.language.members if delimiter not in text]
    if not examples:
        raise TemplateError(
            f"{made.name} cannot stand in a key with the delimiter {delimiter!r}, which its text holds",
            hint="choose another delimiter, or declare the field as str and keep the text as it is stored",
        )

    def encode(value: Any) -> str:
        text = made.encode(value)
        if delimiter in text:
            raise KeyValueError(f"{made.name} whose text holds {delimiter!r}", f"{made.name} without {delimiter!r}")
        return text

    decode = strict(encode, made.decode, f"{made.name} without {delimiter!r}")
    language = made.language
    if language.kind != "finite":
        language = Language.shaped(f"{language.name} {delimiter}", language.shapes, takes(decode), examples)
    return replace(made, encode=encode, decode=decode, language=language, delimiter=delimiter)
