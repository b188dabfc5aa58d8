"""Key templates: literals and `{field}` parts between `#`, read once and rendered or parsed many times.

Theory of operation. A template is split on `#` into segments, each a literal or one whole part; a leading `#` gives an
empty first segment. A literal cannot hold a character up to U+0025 and a part's text is encoded (or, raw, refused where
it holds `#`), so the segments of a key are told apart by splitting it again: no value changes which segment, or which
template, a key parses to. `Template` is the text as declared, `BoundTemplate` knows the format of each part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NoReturn

from singletable.errors import KeyPartError, KeyTooLong, MissingPart, TemplateError, kind_of
from singletable.keys.encoding import DELIMITER, FLOOR, KeyValueError
from singletable.keys.formats import KeyFormat
from singletable.keys.numbers import DIGITS

__all__ = ["BoundTemplate", "Segment", "Template", "too_long"]

PART = re.compile("\\{([^{}]*)\\}")
FORBIDDEN = re.compile("[^A-Za-z0-9_.:/{}-]")


@dataclass(frozen=True, slots=True)
class Segment:
    """What stands between two `#`: a literal, or one part, which may spread a tuple or be padded to a width."""

    literal: str = ""
    part: str | None = None
    spread: bool = False
    width: int | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """A key template as declared; `parse` reads one."""

    text: str
    segments: tuple[Segment, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template; TemplateError says what is wrong with it and how to mend it.

        >>> Template.parse("#USER#{user_id}").parts
        ('user_id',)
        >>> Template.parse("#REGION#{path*}").segments[-1]
        Segment(literal='', part='path', spread=True, width=None)
        """
        template = cls(text, tuple(_segments(text)))
        names = template.parts
        for name in names:
            if names.count(name) > 1:
                _refuse(text, f"part {name!r} stands in it twice", "name each field once")
        if any(segment.spread for segment in template.segments[:-1]):
            _refuse(text, "a spread part {name*} stands before its end", "put the spread part last")
        return template

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in order."""
        return tuple(segment.part for segment in self.segments if segment.part is not None)

    def bind(self, formats: Mapping[str, KeyFormat]) -> BoundTemplate:
        """Give each part its format (a spread part that of its elements); TemplateError where one is missing."""
        for name in self.parts:
            if name not in formats:
                _refuse(self.text, f"part {name!r} is no field", f"fields: {', '.join(formats) or 'none'}")
        return BoundTemplate(self, {name: formats[name] for name in self.parts})


def _refuse(text: str, what: str, fix: str) -> NoReturn:
    raise TemplateError(f"key template {text!r}: {what}", hint=fix)


def _segments(text: str) -> Iterator[Segment]:
    if not text:
        _refuse(text, "it is empty", "write literals and {field} parts between '#', such as '#USER#{user_id}'")
    for position, piece in enumerate(text.split(DELIMITER)):
        if piece or (position == 0 and len(text) > 1):
            yield _segment(text, piece)
        else:
            _refuse(text, "nothing stands between two '#' or after the last", "take away the '#' too many")


def _segment(text: str, piece: str) -> Segment:
    whole = PART.fullmatch(piece)
    if whole is not None:
        return _part(text, whole[1])
    odd = FORBIDDEN.search(piece)
    if PART.search(piece) is not None:
        _refuse(text, f"{piece!r} is not one whole part", f"write {_separated(piece)!r}: a part fills its segment")
    if "{" in piece or "}" in piece:
        _refuse(text, f"the braces of {piece!r} do not match", "a part is {name}")
    if odd is not None:
        _refuse(text, f"{odd[0]!r} cannot stand in a literal", "a literal holds A-Z a-z 0-9 _ - . : / only")
    return Segment(piece)


def _separated(piece: str) -> str:
    """Put `#` around each part: "a{b}" to "a#{b}"."""
    return DELIMITER.join(filter(None, re.split("(\\{[^{}]*\\})", piece)))


def _part(text: str, inner: str) -> Segment:
    """Read what stands in the braces: `name`, `name*` or `name:06`."""
    name, colon, option = inner.partition(":")
    if name.endswith("?"):
        _refuse(text, f"an optional part {{{name}}} is not supported yet", "make the part required")
    if option == "desc":
        _refuse(text, "a descending part {name:desc} is not supported yet", "ask the query for .descending()")
    spread = name.endswith("*")
    name = name.removesuffix("*")
    if not name.isidentifier():
        _refuse(text, f"'{{{inner}}}' names no field", "a part is {name}, {name*} or {name:06}")
    if not colon:
        return Segment(part=name, spread=spread)
    width = int(option) if re.fullmatch("0[0-9]{1,2}", option) else 0
    if spread or not 1 <= width <= DIGITS:
        _refuse(text, f"'{{{inner}}}' has no width", f"write {{{name}:06}}: a zero, then 1 to {DIGITS} digits")
    return Segment(part=name, width=width)


@dataclass(frozen=True, slots=True, eq=False)
class BoundTemplate:
    """A template whose parts have formats: it renders values to key text and parses key text to values."""

    template: Template
    formats: Mapping[str, KeyFormat]
    attribute_type: Literal["S"] = "S"
    raw: bool = field(init=False)
    literals: str = field(init=False)
    spread: str | None = field(init=False)
    encoders: tuple[tuple[str, Callable[[Any], str]], ...] = field(init=False, repr=False)
    readers: tuple[tuple[str | None, Callable[[str], Any]], ...] = field(init=False, repr=False)
    pattern: str = field(init=False, repr=False)
    write: Callable[[Mapping[str, Any]], str] = field(init=False, repr=False)
    least: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._derive("raw", any(each.raw for each in self.formats.values()))
        self._derive("literals", DELIMITER.join(segment.literal for segment in self.segments[: self.position(0)]))
        self._derive("spread", self.segments[-1].part if self.segments[-1].spread else None)
        self._derive("encoders", tuple((name, self.encoder(name)) for name in self.parts))
        self._derive("readers", tuple(self._reader(segment) for segment in self.segments if not segment.spread))
        self._derive("pattern", self._pattern())
        self._derive("write", _writer(self.pattern, self.encoders))
        self._derive("least", FLOOR if self.position(0) == 0 else DELIMITER)

    def _derive(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """What stands between the `#`."""
        return self.template.segments

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in order."""
        return self.template.parts

    def position(self, count: int) -> int:
        """Say at which segment the part after the first `count` ones stands; past the end where there is none."""
        places = [at for at, segment in enumerate(self.segments) if segment.part is not None]
        return places[count] if count < len(places) else len(self.segments)

    def render(self, values: Mapping[str, Any], *, limit: int) -> str:
        """Write the key of these values, at most `limit` bytes of UTF-8.

        MissingPart for a part that is absent or None, KeyPartError for a value that cannot stand in a key, KeyTooLong
        (with the longest part and the size) for too many bytes.

        >>> from singletable.keys import key_format
        >>> user = Template.parse("#USER#{user_id}").bind({"user_id": key_format(str)})
        >>> user.render({"user_id": "a#b"}, limit=2048)
        '#USER#a%23b'
        """
        try:
            key = self.write(values)
        except (KeyError, KeyValueError):
            key = self.pattern % tuple(self.encode(name, values) for name in self.parts)
        if len(key) * 4 > limit:
            self.measure(key, values, limit)
        if key < self.least:
            self._refuse_start(key)
        return key

    def encode(self, name: str, values: Mapping[str, Any]) -> str:
        """Write one part as it stands in the key, or raise the error that names it."""
        value = values.get(name)
        if value is None:
            raise MissingPart(name, given="None" if name in values else "nothing", wanted="a value")
        try:
            return self.encoder(name)(value)
        except KeyValueError as error:
            raise KeyPartError(name, given=error.given, wanted=error.wanted) from None

    def encoder(self, name: str) -> Callable[[Any], str]:
        """Give the function that writes one part; that of a spread part writes the delimiters too."""
        encode = self.formats[name].encode
        return encode if name != self.spread else _spreading(encode, DELIMITER if len(self.segments) > 1 else "")

    def measure(self, key: str, values: Mapping[str, Any], limit: int) -> None:
        """Raise KeyTooLong if the key, written from these values, has more than `limit` bytes."""
        if len(key.encode()) > limit:
            sizes = {name: len(encode(values[name]).encode()) for name, encode in self.encoders if name in values}
            raise too_long(max(sizes, key=sizes.__getitem__, default=""), key, limit)

    def parse(self, text: str) -> dict[str, Any] | None:
        """Read the values back; None for text that this template would not have written.

        An empty spread is the root: its key ends at the label and gives the empty tuple.

        >>> from singletable.keys import key_format
        >>> region = Template.parse("#REGION#{path*}").bind({"path": key_format(str)})
        >>> region.parse("#REGION#SICHUAN#CHENGDU"), region.parse("#REGION"), region.parse("#REGION#")
        ({'path': ('SICHUAN', 'CHENGDU')}, {'path': ()}, None)
        """
        pieces = text.split(DELIMITER)
        fixed = len(self.readers)
        if text < self.least or len(pieces) < fixed or (self.spread is None and len(pieces) > fixed):
            return None
        try:
            values = {name: read(piece) for (name, read), piece in zip(self.readers, pieces, strict=False)}
            if self.spread is not None:
                values[self.spread] = tuple(map(self.formats[self.spread].decode, pieces[fixed:]))
        except KeyValueError:
            return None
        return {name: value for name, value in values.items() if name is not None}

    def _reader(self, segment: Segment) -> tuple[str | None, Callable[[str], Any]]:
        """Give the name and the decoder of a segment; that of a literal takes nothing but the literal."""
        if segment.part is not None:
            return segment.part, self.formats[segment.part].decode
        return None, partial(_expect, segment.literal)

    def _pattern(self) -> str:
        """Write the template as a %-format: literals hold no `%`."""
        texts = ["%s" if segment.part is not None else segment.literal for segment in self.segments]
        if self.spread is not None:
            return DELIMITER.join(texts[:-1]) + "%s"
        return DELIMITER.join(texts)

    def _refuse_start(self, key: str) -> NoReturn:
        """Refuse the empty key of an empty path, and a raw first part that would sort below every key of ours."""
        given, wanted = (
            ("an empty path", "a path of one name or more") if not key else ("text", "a first character above '$'")
        )
        raise KeyPartError(self.parts[0], given=given, wanted=wanted)


def _writer(pattern: str, encoders: tuple[tuple[str, Callable[[Any], str]], ...]) -> Callable[[Mapping[str, Any]], str]:
    """Make the function that fills a pattern; up to three parts are spelled out, in half the time of a loop."""
    texts = pattern.split("%s")
    match encoders:
        case ((a, f),):
            start, end = texts
            return lambda values: f"{start}{f(values[a])}{end}"
        case ((a, f), (b, g)):
            start, middle, end = texts
            return lambda values: f"{start}{f(values[a])}{middle}{g(values[b])}{end}"
        case ((a, f), (b, g), (c, h)):
            start, middle, inner, end = texts
            return lambda values: f"{start}{f(values[a])}{middle}{g(values[b])}{inner}{h(values[c])}{end}"
        case _:
            return lambda values: pattern % tuple(encode(values[name]) for name, encode in encoders)


def _expect(literal: str, piece: str) -> None:
    if piece != literal:
        raise KeyValueError("other text", "the literal of the template")


def _spreading(encode: Callable[[Any], str], first: str) -> Callable[[Any], str]:
    """Make the encoder of a spread part: each element after a delimiter."""

    def encode_all(value: Any) -> str:
        items: tuple[Any, ...] = value
        if not isinstance(value, tuple):
            raise KeyValueError(kind_of(value), "tuple of non-empty texts")
        return first + DELIMITER.join(map(encode, items)) if items else ""

    return encode_all


def too_long(part: str, key: str, limit: int) -> KeyTooLong:
    """Make the error for a key of more than `limit` bytes, blaming one part.

    >>> too_long("name", "#USER#a", 4).size
    7
    """
    size = len(key.encode())
    error = KeyTooLong(part, given=f"a key of {size} bytes", wanted=f"at most {limit} bytes of UTF-8")
    error.size, error.limit = size, limit
    return error
