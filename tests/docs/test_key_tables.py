"""The worked examples in the tables of the key format page are what the encoder writes, and what the decoder reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest

from singletable import PartHole
from singletable.keys import Template, escape, key_format, unescape
from tests.engines import PROJECT

PAGE = (PROJECT / "docs" / "keys.md").read_text(encoding="utf-8")
SAID: Mapping[str, object] = {
    "2^63 - 1": 2**63 - 1,
    "-2^63": -(2**63),
    "2026-12-01 09:30 at UTC+1": datetime(2026, 12, 1, 9, 30, tzinfo=timezone(timedelta(hours=1))),
    "1 December 2026": date(2026, 12, 1),
    "half past eight": time(8, 30),
    "1.5 seconds": timedelta(seconds=1, milliseconds=500),
    "00 FF": b"\x00\xff",
}
KINDS: Mapping[str, type] = {
    "int": int,
    "Decimal": Decimal,
    "datetime": datetime,
    "date": date,
    "time": time,
    "timedelta": timedelta,
    "UUID": UUID,
    "bytes": bytes,
}


def rows(heading: str) -> list[list[str]]:
    """Give the rows of the table that has this heading, without the marks of code."""
    table = PAGE.split(f"\n| {heading} |\n", 1)[1].split("\n\n", 1)[0]
    cells = [line.strip("|").split(" | ") for line in table.splitlines()[1:]]
    return [[cell.strip().strip("`").replace("\\|", "|") for cell in row] for row in cells]


ESCAPED = [row for row in rows("value | stands in the key as") if not row[1].startswith("refused")]
TYPED = rows("type | value | text")
DECIMALS = rows("value | text")
DOWNWARDS = rows("type | value | text, downwards")
OPTIONAL = rows("city | street | sort key")
RAW = rows("template | `raw=` | values | key")


@pytest.mark.parametrize(("value", "text"), ESCAPED)
def test_escaped_text(value: str, text: str) -> None:
    """Text is escaped as the table shows, and read back."""
    plain = "\n" if value == "a line feed" else value
    assert escape(plain) == text
    assert unescape(text) == plain


@pytest.mark.parametrize(("kind", "value", "text"), TYPED)
def test_typed_values(kind: str, value: str, text: str) -> None:
    """A value of each type is written as the table shows, and read back."""
    _check(kind, value, text, descending=False)


@pytest.mark.parametrize(("kind", "value", "text"), DOWNWARDS)
def test_values_downwards(kind: str, value: str, text: str) -> None:
    """A value of each type is written downwards as the table shows, and read back."""
    _check(kind, value, text, descending=True)


def _check(kind: str, value: str, text: str, *, descending: bool) -> None:
    width = re.search(r"\{n:0(\d)(:desc)?\}", kind)
    type_ = KINDS[kind.partition("`")[0]]
    spoken = SAID.get(value)
    given: object = spoken if spoken is not None else UUID(int=int(value)) if type_ is UUID else type_(value)
    made = key_format(type_, width=int(width[1]) if width else None, descending=descending)
    assert made.encode(given) == text
    assert made.decode(text) == given


@pytest.mark.parametrize(("city", "street", "key"), OPTIONAL)
def test_optional_parts(city: str, street: str, key: str) -> None:
    """A key of optional parts ends after the last that is there; a hole is refused."""
    template = Template.parse("#SHOP#CITY#{city?}#STREET#{street?}")
    made = template.bind(dict.fromkeys(("city", "street"), key_format(str)))
    values = {name: None if text == "none" else text for name, text in (("city", city), ("street", street))}
    if key == "refused":
        with pytest.raises(PartHole):
            made.render(values, limit=1023)
    else:
        assert made.render(values, limit=1023) == key
        assert made.parse(key) == values


@pytest.mark.parametrize(("text", "said", "values", "key"), RAW)
def test_raw_keys(text: str, said: str, values: str, key: str) -> None:
    """A raw key is written as the table shows, and read back."""
    raw: bool | str = True if said == "True" else said.strip('"')
    template = Template.parse(text, delimiter="#" if raw is True else str(raw))
    given = {
        name: int(value) if value.isdigit() else value.strip("`")
        for name, value in zip(template.parts, values.split(", "), strict=True)
    }
    widths = {segment.part: segment.width for segment in template.segments}
    formats = {name: key_format(type(value), width=widths[name], raw=raw) for name, value in given.items()}
    made = template.bind(formats)
    assert made.render(given, limit=1023) == key
    assert made.parse(key) == given


@pytest.mark.parametrize(("value", "text"), DECIMALS)
def test_decimals(value: str, text: str) -> None:
    """A Decimal is written as the table shows, and read back."""
    made = key_format(Decimal)
    assert made.encode(Decimal(value)) == text
    assert made.decode(text) == Decimal(value)


def test_the_tables_are_found() -> None:
    """The tables have as many rows as the page shows today, so none is skipped unseen."""
    assert (len(ESCAPED), len(TYPED), len(DECIMALS)) == (7, 13, 7)
    assert (len(DOWNWARDS), len(OPTIONAL), len(RAW)) == (15, 4, 4)


def test_longer_negative_decimals_sort_lower() -> None:
    """What the page says of -12.55: it sorts below -12.5."""
    made = key_format(Decimal)
    assert made.encode(Decimal("-12.55")) < made.encode(Decimal("-12.5"))
