"""Keys as text: encoding, formats of values, templates, ranges and clashes. Pure, and no outside library.

`encoding` escapes, `formats` (with `notation`, `moments` and `numbers`) writes one value, `template` (with `segments`)
writes and reads a whole key (`native`: one that is a single value), `bounds` (with `questions`) finds the range that
answers a query, `language` and `clash` tell whether two templates can meet. `kinds` says what an annotation stands for.
"""

from __future__ import annotations

from singletable.keys.bounds import KeyRange, Narrowing, depth_below, enclosing, key_range, matches, overlap
from singletable.keys.encoding import AFTER, DELIMITER, PK_BYTES, SK_BYTES, below, escape, unescape
from singletable.keys.formats import KeyFormat, KeyValueError, key_format
from singletable.keys.kinds import plain_type, slip, unwrapped
from singletable.keys.native import KeyTemplate, NativeTemplate
from singletable.keys.template import BoundTemplate, Segment, Template, shortened

__all__ = [
    "AFTER",
    "DELIMITER",
    "PK_BYTES",
    "SK_BYTES",
    "BoundTemplate",
    "KeyFormat",
    "KeyRange",
    "KeyTemplate",
    "KeyValueError",
    "Narrowing",
    "NativeTemplate",
    "Segment",
    "Template",
    "below",
    "depth_below",
    "enclosing",
    "escape",
    "key_format",
    "key_range",
    "matches",
    "overlap",
    "plain_type",
    "shortened",
    "slip",
    "unescape",
    "unwrapped",
]
