"""The set of texts that one segment of a key can hold, and whether several such sets meet.

Theory of operation. A part of a key is text of some type: a number is nineteen digits, a date has its dashes where
every date has them, an Enum is one of a few words, a `str` is anything that is encoded. `common` answers with a text
that lies in all of the sets, so that a clash between two key templates can be shown and not only claimed:

- a finite set among them: its members are tried one by one, so the answer is exact;
- otherwise the examples of every language are tried, so two parts of one type, or a `str` and anything, always meet;
- otherwise the shapes are laid over each other position by position. Where they do not meet, the answer None is exact.
  Where they do, a bounded number of texts is tried, in a fixed order, and a text is an answer only if every language
  accepts it. So a witness is always real; the price is that two different types of one shape, of which neither takes
  the other's examples nor any text tried, pass for disjoint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Literal, TypeAlias

from singletable.errors import DeclarationError

__all__ = ["Language", "Shape", "common", "shape"]

Shape: TypeAlias = tuple[frozenset[str], ...]
"""The characters allowed at each position of a text of fixed length."""

ENCODED = re.compile("(?:[^\\x00-\\x25\\ud800-\\udfff]|%[01][0-9A-F]|%2[0-5])+")
"""Non-empty text as the key encoding writes it: a character up to U+0025 stands as `%XX` and nothing else does."""

CLASSES = {"d": frozenset("0123456789"), "x": frozenset("0123456789abcdef")}
TRIED = 512


def shape(mask: str) -> Shape:
    """Read a mask: `d` is any digit, `x` any lower-case hex digit, every other character stands for itself.

    >>> [sorted(chars)[-1] for chars in shape("d-x")]
    ['9', '-', 'f']
    """
    return tuple(CLASSES.get(char, frozenset(char)) for char in mask)


@dataclass(frozen=True, slots=True)
class Language:
    """The texts that one segment can hold; make one with `text`, `finite`, `literal` or `shaped`.

    `members` are all of its texts where it is finite, examples otherwise. Two languages of one kind, name, members and
    shapes are equal: the name stands for the rule.
    """

    kind: Literal["text", "finite", "shaped"]
    name: str
    members: tuple[str, ...]
    shapes: tuple[Shape, ...]
    rule: Callable[[str], bool] = field(compare=False, repr=False)

    @classmethod
    def text(cls, examples: Sequence[str] = ("a", "b")) -> Language:
        """Make the language of every non-empty encoded text.

        >>> Language.text().accepts("a%23b"), Language.text().accepts("a#b"), Language.text().accepts("")
        (True, False, False)
        """
        return cls("text", "text", tuple(examples), (), _is_encoded)

    @classmethod
    def finite(cls, name: str, texts: Iterable[str]) -> Language:
        """Make the language of exactly these texts, as of an Enum or a bool.

        >>> Language.finite("bool", ["false", "true"]).accepts("TRUE")
        False
        """
        members = tuple(dict.fromkeys(texts))
        return cls("finite", name, members, (), frozenset(members).__contains__)

    @classmethod
    def literal(cls, text: str) -> Language:
        """Make the language of one text, which may be empty or one that no value can produce.

        >>> Language.literal("ORDER").accepts("ORDER")
        True
        """
        return cls("finite", "literal", (text,), (), text.__eq__)

    @classmethod
    def shaped(
        cls, name: str, shapes: Iterable[Shape], accepts: Callable[[str], bool], examples: Iterable[str]
    ) -> Language:
        """Make the language of the texts of some fixed shapes that `accepts` takes, as of numbers, dates and UUIDs.

        Without shapes a text may have any length (bytes as hex). DeclarationError unless there are examples and every
        one is accepted.

        >>> day = Language.shaped("day", [shape("dd")], lambda text: "01" <= text <= "31", ["01", "31"])
        >>> day.accepts("30"), day.accepts("32"), day.accepts("9")
        (True, False, False)
        """
        language = cls("shaped", name, tuple(examples), tuple(shapes), accepts)
        if not language.members or not all(map(language.accepts, language.members)):
            raise DeclarationError(f"key language {name!r}: needs examples, each of a declared shape and accepted")
        return language

    def accepts(self, text: str) -> bool:
        """Say whether the language holds the text; a rule is asked only about text that fits a shape."""
        return (not self.shapes or any(_fits(text, each) for each in self.shapes)) and self.rule(text)


def common(languages: Sequence[Language]) -> str | None:
    """Find a text that every language holds, or None when there is none; the same answer for the same input.

    The limits are told in the theory above: None is exact where a language is finite or `str`, where all have one name,
    and where the shapes do not meet.

    >>> number = Language.shaped("n", [shape("dd")], str.isdigit, ["01", "99"])
    >>> common([Language.text(), number])
    '01'
    >>> common([number, Language.literal("SUMMARY")]) is None
    True
    """
    return next((text for text in _candidates(languages) if all(each.accepts(text) for each in languages)), None)


def _is_encoded(text: str) -> bool:
    return ENCODED.fullmatch(text) is not None


def _fits(text: str, chars: Shape) -> bool:
    return len(text) == len(chars) and all(char in allowed for char, allowed in zip(text, chars, strict=True))


def _candidates(languages: Sequence[Language]) -> Iterator[str]:
    """List the texts worth trying: the members of the smallest finite language, or examples and then shapes."""
    finite = [each for each in languages if each.kind == "finite"]
    if finite:
        yield from min((each.members for each in finite), key=len)
        return
    ranked = sorted(languages, key=lambda each: each.kind == "text")
    examples = [text for each in ranked for text in each.members]
    yield from examples
    shaped = [each.shapes for each in languages if each.shapes]
    for met in filter(None, map(_meet, product(*shaped) if shaped else ())):
        yield from islice(_drawn(met, examples), TRIED)


def _meet(shapes: Sequence[Shape]) -> Shape | None:
    """Lay shapes over each other; None where their lengths differ or a position has no character left.

    >>> _meet([shape("dd"), shape("xa")]) is None
    True
    """
    if len({len(each) for each in shapes}) > 1:
        return None
    met = tuple(column[0].intersection(*column[1:]) for column in zip(*shapes, strict=True))
    return met if all(met) else None


def _drawn(met: Shape, examples: Sequence[str]) -> Iterator[str]:
    """Draw texts of a shape: each example bent into it, then every choice of lowest or highest character."""
    for text in examples:
        if len(text) == len(met):
            yield "".join(char if char in chars else min(chars) for char, chars in zip(text, met, strict=True))
    yield from map("".join, product(*(sorted({min(chars), max(chars)}) for chars in met)))
