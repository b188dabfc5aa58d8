"""The text of a key template, read into segments: literals and `{field}` parts between delimiters.

Text is split at every delimiter that stands outside braces; a leading one gives an empty first segment. A part fills
its segment, but that in a raw key text may stand before it (`id_{id}`): `{name}`, `{name*}` spreads a tuple, `{name?}`
may be absent, `{name:06}` is padded, `{name:desc}` sorts downwards (`{name:06:desc}` both). Whatever may be left out
stands at the end: a spread part last, and after an optional part nothing but such parts and their labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from singletable.errors import TemplateError
from singletable.keys.encoding import DELIMITER, forges
from singletable.keys.numbers import DIGITS

__all__ = ["Segment", "ends_of", "read_segments", "refuse"]

PART = re.compile("\\{([^{}]*)\\}")
AFFIXED = re.compile("([^{}]+)\\{([^{}]*)\\}")
ODD = re.compile("[^A-Za-z0-9_.:/{}-]")
RAW_ODD = re.compile("[^ -~]")
EVERY = "a part is {name}, {name?}, {name*}, {name:06} or {name:desc}"


@dataclass(frozen=True, slots=True)
class Segment:
    """What stands between two delimiters: a literal, or one part.

    A part may spread a tuple, be absent, be padded to a width, or sort downwards. In a raw key it may have text before
    it, the `affix`.
    """

    literal: str = ""
    part: str | None = None
    spread: bool = False
    width: int | None = None
    optional: bool = False
    descending: bool = False
    affix: str = ""


def refuse(text: str, what: str, fix: str) -> NoReturn:
    """Raise TemplateError about a template: what is wrong with it and how to mend it."""
    raise TemplateError(f"key template {text!r}: {what}", hint=fix)


def read_segments(text: str, delimiter: str = DELIMITER, *, raw: bool = False) -> tuple[Segment, ...]:
    """Read a template's text; TemplateError says what is wrong with it. Raw literals are any printable ASCII.

    >>> read_segments("USER|{id}", "|", raw=True) == (Segment("USER"), Segment(part="id"))
    True
    """
    segments = tuple(_segments(text, delimiter, raw=raw))
    _check_names(text, [segment.part for segment in segments if segment.part is not None])
    _check_end(text, segments)
    return segments


def ends_of(segments: Sequence[Segment]) -> tuple[int, ...]:
    """Say after how many segments a key can end, shortest first; more than one only where parts may be absent.

    An absent part takes its label along; the literals before the first part always stay. A spread counts as one.

    >>> ends_of(read_segments("#SHOP#CITY#{city?}#STREET#{street?}"))
    (3, 4, 6)
    """
    optional = [at for at, segment in enumerate(segments) if segment.optional]
    if not optional:
        return (len(segments),)
    before = [at for at in range(optional[0]) if segments[at].part is not None]
    return (before[-1] + 1 if before else optional[0], *(at + 1 for at in optional))


def _segments(text: str, delimiter: str, *, raw: bool) -> Iterator[Segment]:
    if not text:
        refuse(text, "it is empty", "write literals and {field} parts between '#', such as '#USER#{user_id}'")
    for position, piece in enumerate(re.split(f"{re.escape(delimiter)}(?![^{{}}]*\\}})", text)):
        if piece or (position == 0 and len(text) > 1):
            yield _segment(text, piece, delimiter, raw=raw)
        else:
            what = f"nothing stands between two {delimiter!r} or after the last"
            refuse(text, what, f"take away the {delimiter!r} too many")
    if raw and text[0] in ' "':
        refuse(text, f"it begins with {text[0]!r}", "begin with a character that sorts no lower than '#'")


def _segment(text: str, piece: str, delimiter: str, *, raw: bool) -> Segment:
    whole = PART.fullmatch(piece)
    if whole is not None:
        return _part(text, whole[1])
    odd = (RAW_ODD if raw else ODD).search(piece)
    if "${" in piece:
        refuse(text, f"{piece!r} has a '$' before a part", "write {name} without '$'")
    affixed = AFFIXED.fullmatch(piece) if raw else None
    if affixed is not None:
        return _affixed(text, affixed[1], _part(text, affixed[2]))
    if PART.search(piece) is not None:
        fix = f"write {_separated(piece, delimiter)!r}: a part fills its segment"
        refuse(text, f"{piece!r} is not one whole part", fix)
    if "{" in piece or "}" in piece:
        refuse(text, f"the braces of {piece!r} do not match", "a part is {name}")
    if odd is not None:
        allowed = "printable ASCII" if raw else "A-Z a-z 0-9 _ - . : /"
        refuse(text, f"{odd[0]!r} cannot stand in a literal", f"a literal holds {allowed} only")
    if forges(piece):
        refuse(text, f"{piece!r} holds a segment that begins with '!'", "'!' is kept for hidden items")
    return Segment(piece)


def _affixed(text: str, affix: str, part: Segment) -> Segment:
    """Put the text before a part into its segment; only printable ASCII, and none that a hidden item begins with."""
    if part.spread or part.optional:
        refuse(text, f"{affix!r} stands before a part that may be left out", "give that part a segment of its own")
    if RAW_ODD.search(affix) or forges(affix):
        refuse(text, f"{affix!r} cannot stand before a part", "printable ASCII without '!' at the beginning")
    return replace(part, affix=affix)


def _separated(piece: str, delimiter: str) -> str:
    """Put the delimiter around each part: "a{b}" to "a#{b}"."""
    return delimiter.join(filter(None, re.split("(\\{[^{}]*\\})", piece)))


def _part(text: str, inner: str) -> Segment:
    """Read what stands in the braces: a name, a mark and the options after colons."""
    head, *options = inner.split(":")
    mark = head[-1:] if head.endswith(("*", "?")) else ""
    name = head.removesuffix(mark)
    if not name.isidentifier():
        refuse(text, f"'{{{inner}}}' names no field", EVERY)
    if mark == "*" and options:
        refuse(text, f"the spread part '{{{inner}}}' has a width or an order", f"write {{{name}*}}")
    descending = options[-1:] == ["desc"]
    width = _width(text, inner, options[:-1] if descending else options)
    return Segment(part=name, spread=mark == "*", width=width, optional=mark == "?", descending=descending)


def _width(text: str, inner: str, options: list[str]) -> int | None:
    if not options:
        return None
    width = int(options[0]) if re.fullmatch("0[0-9]{1,2}", options[0]) and len(options) == 1 else 0
    if not 1 <= width <= DIGITS:
        fix = f"write {{{inner.partition(':')[0]}:06}}, a zero and 1 to {DIGITS} digits, or :desc, or :06:desc"
        refuse(text, f"'{{{inner}}}' has no width", fix)
    return width


def _check_names(text: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            refuse(text, f"part {name!r} stands in it twice", "name each field once")


def _check_end(text: str, segments: tuple[Segment, ...]) -> None:
    """Refuse what may be left out before the end: the segments after it would move up."""
    if any(segment.spread for segment in segments[:-1]):
        refuse(text, "a spread part {name*} stands before its end", "put the spread part last")
    first = next((at for at, segment in enumerate(segments) if segment.optional), len(segments))
    later = next((segment.part for segment in segments[first:] if segment.part and not segment.optional), None)
    if later is not None:
        fix = f"put the optional parts last, or make {later!r} optional too"
        refuse(text, f"part {later!r} stands after an optional part {{name?}}", fix)
    if first < len(segments) and segments[-1].part is None:
        refuse(
            text, "a literal stands after the last optional part", "a literal there is the label of an optional part"
        )
