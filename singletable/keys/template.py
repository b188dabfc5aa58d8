"""Key templates: literals and `{field}` parts between `#`, read once and rendered or parsed many times.

Theory of operation. A template is split on `#` into segments, each a literal or one whole part; a leading `#` gives an
empty first segment. A literal cannot hold a character up to U+0025 and a part's text is encoded (or, raw, refused where
it holds the delimiter, as a raw literal is), so the segments of a key are told apart by splitting it again: no value
changes which segment, or which template, a key parses to. Where parts may be absent the key ends after the last one
that is there, and the number of its segments tells which those are. `Template` is the text as declared, `BoundTemplate`
knows the format of each part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NoReturn, TypeAlias

from singletable.errors import KeyPartError, KeyTooLong, MissingPart, PartHole, kind_of
from singletable.keys.encoding import DELIMITER, FLOOR, KeyValueError
from singletable.keys.notation import KeyFormat, affixed, delimiter_of
from singletable.keys.segments import Segment, ends_of, read_segments, refuse

__all__ = ["BoundTemplate", "Segment", "Template", "shortened", "too_long"]

Encoders: TypeAlias = tuple[tuple[str, Callable[[Any], str]], ...]
Writer: TypeAlias = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Template:
    """A key template as declared; `parse` reads one."""

    text: str
    segments: tuple[Segment, ...]
    delimiter: str = DELIMITER
    raw: bool = False
    scope_bytes: int = 0
    """So many bytes at the beginning are the scope of a store, which no part of the template is to blame for."""

    @classmethod
    def parse(cls, text: str, *, delimiter: str | None = None) -> Template:
        """Read a template; TemplateError says what is wrong with it and how to mend it.

        A `delimiter`, `#` too, makes it one of raw keys: its literals may hold any printable ASCII but the delimiter
        and braces, and `bind` wants raw formats of that delimiter.

        >>> Template.parse("#USER#{user_id}").parts
        ('user_id',)
        >>> Template.parse("#REGION#{path*}").segments[-1] == Segment(part="path", spread=True)
        True
        >>> Template.parse("ORG:{org}:USER:{id}", delimiter=":").parts
        ('org', 'id')
        """
        raw = delimiter is not None
        used = DELIMITER if delimiter is None else delimiter_of(delimiter)
        return cls(text, read_segments(text, used, raw=raw), used, raw)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in order."""
        return tuple(segment.part for segment in self.segments if segment.part is not None)

    @property
    def open(self) -> bool:
        """Whether keys of it have different numbers of segments, as no partition key may."""
        return any(segment.spread or segment.optional for segment in self.segments)

    def bind(self, formats: Mapping[str, KeyFormat]) -> BoundTemplate:
        """Give each part its format (a spread part that of its elements); TemplateError where one does not fit."""
        for segment in self.segments:
            if segment.part is not None:
                self._check_format(segment, formats)
        affixes = {segment.part: segment.affix for segment in self.segments if segment.affix}
        bound = {
            name: affixed(formats[name], affixes[name]) if name in affixes else formats[name] for name in self.parts
        }
        return BoundTemplate(self, bound)

    def _check_format(self, segment: Segment, formats: Mapping[str, KeyFormat]) -> None:
        """Refuse a part without a format, or with one made for another delimiter or direction."""
        name = segment.part or ""
        if name not in formats:
            refuse(self.text, f"part {name!r} is no field", f"fields: {', '.join(formats) or 'none'}")
        used = formats[name]
        if used.delimiter != self.delimiter or (self.raw and not used.raw):
            fix = "read the template and choose the formats with one raw="
            refuse(self.text, f"the format of part {name!r} is not that of its delimiter {self.delimiter!r}", fix)
        if used.descending is not segment.descending:
            refuse(self.text, f"the format of part {name!r} sorts the other way", "choose it with descending=")


def shortened(template: Template) -> tuple[tuple[Segment, ...], ...]:
    """List the segments of every form that keys of a template have, the shortest first.

    There are several where parts may be absent; the form that would leave nothing is none. A spread stays as it is.

    >>> [len(form) for form in shortened(Template.parse("#SHOP#{city?}#STREET#{street?}"))]
    [2, 3, 5]
    """
    forms = (template.segments[:end] for end in ends_of(template.segments))
    return tuple(form for form in forms if form not in ((), (Segment(""),)))


@dataclass(frozen=True, slots=True, eq=False)
class BoundTemplate:
    """A template whose parts have formats: it renders values to key text and parses key text to values."""

    template: Template
    formats: Mapping[str, KeyFormat]
    attribute_type: Literal["S"] = "S"
    raw: bool = field(init=False)
    literals: str = field(init=False)
    spread: str | None = field(init=False)
    optional: tuple[str, ...] = field(init=False)
    encoders: Encoders = field(init=False, repr=False)
    readers: tuple[tuple[str | None, Callable[[str], Any]], ...] = field(init=False, repr=False)
    ends: tuple[int, ...] = field(init=False, repr=False)
    write: Writer = field(init=False, repr=False)
    least: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._derive("raw", self.template.raw or any(each.raw for each in self.formats.values()))
        leading = self.segments[: self.position(0)]
        self._derive("literals", self.delimiter.join(segment.literal for segment in leading))
        self._derive("spread", self.segments[-1].part if self.segments[-1].spread else None)
        self._derive("optional", tuple(segment.part for segment in self.segments if segment.optional))
        self._derive("encoders", tuple((name, self.encoder(name)) for name in self.parts))
        self._derive("readers", tuple(self._reader(segment) for segment in self.segments if not segment.spread))
        self._derive("ends", ends_of(self.segments))
        self._derive("write", self._writer())
        self._derive("least", FLOOR if self.position(0) == 0 else DELIMITER)

    def _derive(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def delimiter(self) -> str:
        """What stands between the segments."""
        return self.template.delimiter

    @property
    def open(self) -> bool:
        """Whether keys of it have different numbers of segments, as no partition key may."""
        return self.template.open

    @property
    def segments(self) -> tuple[Segment, ...]:
        """What stands between the delimiters."""
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

        MissingPart for a part that is absent or None (an optional one may be, but none after it given: PartHole),
        KeyPartError for a value that cannot stand in a key, KeyTooLong (with the longest part and the size) for too
        many bytes.

        >>> from singletable.keys import key_format
        >>> user = Template.parse("#USER#{user_id}").bind({"user_id": key_format(str)})
        >>> user.render({"user_id": "a#b"}, limit=2048)
        '#USER#a%23b'
        """
        try:
            key = self.write(values)
        except (KeyError, KeyValueError):
            self._blame(values)
            raise
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
            raise KeyPartError(name, given=error.given, wanted=error.wanted, hint=error.hint) from None

    def encoder(self, name: str) -> Callable[[Any], str]:
        """Give the function that writes one part; that of a spread part writes the delimiters too."""
        encode = self.formats[name].encode
        if name != self.spread:
            return encode
        return _spreading(encode, self.delimiter, first=self.delimiter if len(self.segments) > 1 else "")

    def measure(self, key: str, values: Mapping[str, Any], limit: int) -> None:
        """Raise KeyTooLong if the key, written from these values, has more than `limit` bytes."""
        if len(key.encode()) > limit:
            given = [(name, encode) for name, encode in self.encoders if values.get(name) is not None]
            sizes = {name: len(encode(values[name]).encode()) for name, encode in given}
            longest = max(sizes, key=sizes.__getitem__, default="")
            raise too_long(longest, key, limit, scope=self.template.scope_bytes)

    def parse(self, text: str) -> dict[str, Any] | None:
        """Read the values back; None for text that this template would not have written.

        An empty spread is the root: its key ends at the label and gives the empty tuple; an absent part gives None.

        >>> from singletable.keys import key_format
        >>> region = Template.parse("#REGION#{path*}").bind({"path": key_format(str)})
        >>> region.parse("#REGION#SICHUAN#CHENGDU"), region.parse("#REGION"), region.parse("#REGION#")
        ({'path': ('SICHUAN', 'CHENGDU')}, {'path': ()}, None)
        """
        pieces = text.split(self.delimiter)
        fixed = len(self.readers)
        if text < self.least or (len(pieces) not in self.ends if self.spread is None else len(pieces) < fixed):
            return None
        try:
            values = {name: read(piece) for (name, read), piece in zip(self.readers, pieces, strict=False)}
            if self.spread is not None:
                values[self.spread] = tuple(map(self.formats[self.spread].decode, pieces[fixed:]))
        except KeyValueError:
            return None
        named = {name: value for name, value in values.items() if name is not None}
        return named if len(pieces) >= fixed else named | dict.fromkeys(self.parts[len(named) :])

    def _reader(self, segment: Segment) -> tuple[str | None, Callable[[str], Any]]:
        """Give the name and the decoder of a segment; that of a literal takes nothing but the literal."""
        if segment.part is not None:
            return segment.part, self.formats[segment.part].decode
        return None, partial(_expect, segment.literal)

    def _writer(self) -> Writer:
        """Make the function that writes keys: one for each form, chosen by the optional parts that are there."""
        counts = [sum(segment.part is not None for segment in self.segments[:end]) for end in self.ends]
        writers = [
            _writing(_texts(self.segments[:end], self.delimiter), self.encoders[:count])
            for end, count in zip(self.ends, counts, strict=True)
        ]
        return _shortening(self.optional, writers) if self.optional else writers[0]

    def _blame(self, values: Mapping[str, Any]) -> None:
        """Raise the error of the first part that cannot be written."""
        for name in self.parts:
            if name not in self.optional or values.get(name) is not None:
                self.encode(name, values)

    def _refuse_start(self, key: str) -> NoReturn:
        """Refuse the empty key of absent parts, and a raw first part that would sort below every key of ours."""
        given, wanted = "text", "a first character above '$'"
        if not key:
            given = "nothing" if self.optional else "an empty path"
            wanted = "a value, since no other part is given" if self.optional else "a path of one name or more"
        raise KeyPartError(self.parts[0], given=given, wanted=wanted)


def _texts(segments: Sequence[Segment], delimiter: str) -> list[str]:
    """Give what stands before, between and after the parts; a spread part writes its own delimiters."""
    texts = [""]
    for at, segment in enumerate(segments):
        texts[-1] += (delimiter if at and not segment.spread else "") + segment.literal
        if segment.part is not None:
            texts.append("")
    return texts


def _writing(texts: Sequence[str], encoders: Encoders) -> Writer:
    """Make the function that puts parts between texts; up to three are spelled out, in half the time of a loop."""
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
            pattern = "%s".join(text.replace("%", "%%") for text in texts)
            return lambda values: pattern % tuple(encode(values[name]) for name, encode in encoders)


def _shortening(optional: Sequence[str], writers: Sequence[Writer]) -> Writer:
    """Make the function that writes as many optional parts as are given; PartHole where one is missing between."""

    def write(values: Mapping[str, Any]) -> str:
        given = [values.get(name) is not None for name in optional]
        count = given.index(False) if False in given else len(given)
        if True in given[count:]:
            hole, later = optional[count], optional[given.index(True, count)]
            what = "None" if hole in values else "nothing"
            raise PartHole(hole, given=what, wanted=f"a value, since {later!r} after it is given")
        return writers[count](values)

    return write


def _expect(literal: str, piece: str) -> None:
    if piece != literal:
        raise KeyValueError("other text", "the literal of the template")


def _spreading(encode: Callable[[Any], str], delimiter: str, *, first: str) -> Callable[[Any], str]:
    """Make the encoder of a spread part: each element after a delimiter."""

    def encode_all(value: Any) -> str:
        items: tuple[Any, ...] = value
        if not isinstance(value, tuple):
            raise KeyValueError(kind_of(value), "tuple of non-empty texts")
        return first + delimiter.join(map(encode, items)) if items else ""

    return encode_all


def too_long(part: str, key: str, limit: int, *, scope: int = 0) -> KeyTooLong:
    """Make the error for a key of more than `limit` bytes, blaming one part; `scope` of them are the store's.

    >>> too_long("name", "#USER#a", 4).size
    7
    """
    size = len(key.encode())
    given = f"a key of {size} bytes" + (f", {scope} of them the scope" if scope else "")
    error = KeyTooLong(part, given=given, wanted=f"at most {limit} bytes of UTF-8")
    error.size, error.limit = size, limit
    return error
