"""Where a key stands with regard to a range, and what is left of a range from a key on.

Theory of operation. Pages of one query go on at a key, which the range may have moved away from meanwhile: `side` says
whether the key lies before, in or after it, by DynamoDB's order. When several queries are read as one, the others go on
at a key of another partition, which is no start key there: their range is `cut` at it instead, or just past it where
what they hold under that key was read before.
"""

from __future__ import annotations

from singletable.keys.bounds import COMPARISONS, KeyRange
from singletable.keys.encoding import SENT_BYTES, below, filled
from singletable.keys.native import KeyTemplate, NativeTemplate, comparable

__all__ = ["cut", "end_of", "side"]


def side(template: KeyTemplate, wanted: KeyRange, key: str) -> int:
    """Say where a key stands: -1 before the range, 0 in it, 1 after it; an empty range has everything before it.

    >>> from singletable.keys import Template, key_format
    >>> user = Template.parse("#USER#{id}").bind({"id": key_format(str)})
    >>> wanted = KeyRange("BETWEEN", ("#USER#b", "#USER#c$"))
    >>> side(user, wanted, "#USER#a"), side(user, wanted, "#USER#c#1"), side(user, wanted, "#USER#d")
    (-1, 0, 1)
    """
    if wanted.operator in ("all", "empty"):
        return 0 if wanted.operator == "all" else 1
    place, *bounds = [comparable(template, text) for text in (key, *wanted.operands)]
    if wanted.operator == "begins_with":
        return 0 if key.startswith(wanted.operands[0]) else -1 if place < bounds[0] else 1
    if wanted.operator == "BETWEEN":
        return -1 if place < bounds[0] else int(place > bounds[1])
    if COMPARISONS[wanted.operator](place, bounds[0]):
        return 0
    if wanted.operator == "=":
        return -1 if place < bounds[0] else 1
    return -1 if wanted.operator in (">", ">=") else 1


def cut(template: KeyTemplate, wanted: KeyRange, key: str, *, upwards: bool, past: bool = False) -> KeyRange:
    """Give what of a range lies at a key and after it, or with `upwards=False` at it and before it; `past` it only.

    >>> from singletable.keys import Template, key_format
    >>> user = Template.parse("#USER#{id}").bind({"id": key_format(str)})
    >>> cut(user, KeyRange("BETWEEN", ("#USER#b", "#USER#c$")), "#USER#bb", upwards=False).operands
    ('#USER#b', '#USER#bb')
    """
    where = side(template, wanted, key)
    if where:
        return wanted if (where < 0) is upwards else KeyRange("empty")
    if wanted.operator == "=":
        return KeyRange("empty") if past else wanted
    start, end = _next(template, key, upwards=upwards) if past else key, _last(template, wanted, upwards=upwards)
    if start == "":
        return KeyRange("empty")
    if end is None:
        return KeyRange(">=" if upwards else "<=", (start,), wanted.exact)
    low, high = (start, end) if upwards else (end, start)
    if comparable(template, low) > comparable(template, high):
        return KeyRange("empty")
    return KeyRange("BETWEEN", (low, high), wanted.exact)


def end_of(template: KeyTemplate, wanted: KeyRange, *, upper: bool) -> str | None:
    """Give a key that none of the range lies beyond; None where it is open on that side."""
    match wanted.operator, wanted.operands:
        case ("=", (only,)):
            return only
        case ("BETWEEN", (low, high)):
            return high if upper else low
        case ("begins_with", (prefix,)):
            return _top(template, prefix) if upper else prefix
        case ((">" | ">="), (low,)):
            return None if upper else low
        case (("<" | "<="), (high,)):
            return high if upper else None
        case _:
            return None


def _last(template: KeyTemplate, wanted: KeyRange, *, upwards: bool) -> str | None:
    """Give the end of a range as a bound that is itself included."""
    end = end_of(template, wanted, upper=upwards)
    if end is None or wanted.operator not in ("<", ">") or not isinstance(template, NativeTemplate):
        return end
    return _next(template, end, upwards=not upwards)


def _next(template: KeyTemplate, key: str, *, upwards: bool) -> str:
    """Give the least key above one, or with `upwards=False` the greatest below it; empty text where there is none."""
    if isinstance(template, NativeTemplate):
        return template.after(key) if upwards else template.before(key, SENT_BYTES)
    return key + "\0" if upwards else below(key)


def _top(template: KeyTemplate, prefix: str) -> str:
    """Give the greatest key that begins with a prefix."""
    return prefix.ljust(SENT_BYTES * 2, "f") if template.attribute_type == "B" else filled(prefix)
