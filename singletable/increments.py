"""What an entity says of the numbers it draws: `AutoIncrement` fields and named `Sequence`s.

Two strategies, from "Implement auto-increment with Amazon DynamoDB" (AWS Database Blog, Gillespie and Hunter):

- *counter*: an item holds the last number issued, and one atomic update issues the next.
- *sort_key*: the highest number in the item's own partition is read, and the next is put on condition that it is free.

A counter is raised before the item is written, so that a write that fails leaves a gap; with `gapless=True` both happen
in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from singletable.codecs import Scope
from singletable.errors import DeclarationError, kind_of
from singletable.fields import Field
from singletable.keys import Template, plain_type
from singletable.options import check_attribute

__all__ = ["AutoIncrement", "Drawing", "Per", "Sequence", "Strategy"]

Strategy: TypeAlias = Literal["counter", "sort_key"]
Per: TypeAlias = Literal["partition", "entity"]

MAX_NUMBER: Final = 2**63 - 1
"""The largest signed 64-bit integer, Tablestore's bound for its auto-increment column."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A named counter that several entities may share, or a counter item that already exists.

    `Sequence("tickets", pk="#REPO#{owner}#{repo}")` counts once for each repository; without `pk` it counts for the
    whole table. `Sequence(pk="orderCounter", attribute="count")` adopts an item that other programs count with by
    `ADD count 1`: its key is exactly what the templates give, unescaped; `sk` is needed where the table has one. The
    `pk` of a named one is written as the keys of the entity that draws from it are.
    """

    name: str | None = None
    pk: str | None = None
    sk: str | None = None
    attribute: str | None = None

    def __post_init__(self) -> None:
        self._check_types()
        if self.attribute is None and self.name is None:
            raise DeclarationError(
                "a Sequence has neither a name nor an attribute",
                hint='write Sequence("tickets"), or Sequence(pk=..., attribute=...) for an item that exists',
            )
        if self.attribute is not None and self.pk is None:
            raise DeclarationError(
                "a Sequence adopts an attribute but does not say of which item", hint='add pk="..." (and sk="...")'
            )
        if self.attribute is None and self.sk is not None:
            raise DeclarationError(
                "a named Sequence has no sort key of its own", hint="leave sk= out, or adopt an item with attribute="
            )
        if self.attribute is not None:
            _ = self.parts

    @property
    def parts(self) -> tuple[str, ...]:
        """The fields whose values choose the counter."""
        templates = [Template.parse(text) for text in (self.pk, self.sk) if text]
        return tuple(dict.fromkeys(part for template in templates for part in template.parts))

    def _check_types(self) -> None:
        """Refuse what is no text, and an attribute that an update cannot name."""
        for option in ("name", "pk", "sk", "attribute"):
            given = getattr(self, option)
            if given is not None and (not isinstance(given, str) or not given):
                raise DeclarationError(
                    f"Sequence({option}=...) was given {kind_of(given)}, wanted text",
                    hint='such as Sequence("tickets", pk="#REPO#{owner}#{repo}")',
                )
        if self.attribute is not None:
            check_attribute("Sequence(attribute=...)", self.attribute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The options of an AutoIncrement field. DeclarationError for one that cannot be."""

    sequence: Sequence | None
    strategy: Strategy | None
    per: Per | None
    start: int
    step: int
    block: int
    gapless: bool
    reuse: Literal["never", "allow"]
    on_explicit: Literal["reject", "allow"]
    max_value: int
    attempts: int
    deadline: float

    def __post_init__(self) -> None:
        fine = {
            "strategy": self.strategy in ("counter", "sort_key", None),
            "per": self.per in ("partition", "entity", None),
            "block": _whole(self.block) and self.block >= 1,
            "gapless": isinstance(self.gapless, bool),
            "reuse": self.reuse in ("never", "allow"),
            "on_explicit": self.on_explicit in ("reject", "allow"),
            "start": _whole(self.start) and -MAX_NUMBER - 1 <= self.start <= MAX_NUMBER,
            "step": _whole(self.step) and self.step >= 1,
            "max_value": _whole(self.max_value) and _whole(self.start) and self.start <= self.max_value <= MAX_NUMBER,
            "attempts": _whole(self.attempts) and self.attempts >= 1,
            "deadline": _seconds(self.deadline) and self.deadline > 0,
        }
        for option, good in fine.items():
            if not good:
                raise DeclarationError(f"AutoIncrement({option}=...): {_WANTED[option]} is wanted")
        if self.sequence is not None and self.per is not None:
            raise DeclarationError(
                "AutoIncrement has both a Sequence and per=", hint="the Sequence's pk= says what it counts for"
            )
        self._check_together()

    def _check_together(self) -> None:
        """Refuse options that cannot both hold."""
        numbered = self.strategy == "sort_key"
        block, gapless, explicit = self.block > 1, self.gapless, self.on_explicit == "allow"
        unfit: tuple[tuple[bool, str, str], ...] = (
            (numbered and block, '"sort_key" and block=', "a number by sort key is nobody's until its item is stored"),
            (
                numbered and gapless,
                '"sort_key" and gapless=True',
                "without gaps it is a counter that counts",
            ),
            (gapless and block, "gapless=True and block=", "what is left of a block when the process ends is a gap"),
            (gapless and explicit, 'gapless=True and on_explicit="allow"', "numbers of your own leave gaps"),
            (block and explicit, 'block= and on_explicit="allow"', "another process may hold your number in its block"),
        )
        for both, given, reason in unfit:
            if both:
                raise DeclarationError(f"AutoIncrement has {given}: {reason}", hint="leave one of them out")


class AutoIncrement(Field[int]):
    """An integer that is drawn when the entity is first stored: unique and strictly increasing, gaps allowed.

    `strategy` is "counter", "sort_key" or a `Sequence`; with none, `sort_key` if the field is the last part of the
    primary sort key, else `counter`. `per` says what a counter counts for: each "partition" of the entity (the default
    where the number stands in the sort key) or the whole "entity". Numbers begin at `start` and grow by `step`, up to
    `max_value` (SequenceExhausted beyond). With `reuse="never"` a deleted sort-key number is not given out again; that
    leaves a small tombstone item. `block` numbers of a counter are drawn at a time, and given out by each store alone:
    unique, but no longer in order between stores. `gapless=True` moves a counter in the transaction that stores the
    item, so that no number is missing until an item is deleted. `on_explicit="allow"` lets `create` take numbers that
    the user gives. Where others race for a number (by sort key, gapless) it is tried `attempts` times within `deadline`
    seconds, then SequenceContention is raised.
    """

    def __init__(
        self,
        strategy: Strategy | Sequence | None = None,
        *,
        per: Per | None = None,
        start: int = 1,
        step: int = 1,
        block: int = 1,
        gapless: bool = False,
        reuse: Literal["never", "allow"] = "never",
        on_explicit: Literal["reject", "allow"] = "reject",
        max_value: int = MAX_NUMBER,
        attempts: int = 16,
        deadline: float = 5.0,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self.options: Drawing = Drawing(
            sequence=strategy if isinstance(strategy, Sequence) else None,
            strategy="counter" if isinstance(strategy, Sequence) else strategy,
            per=per,
            start=start,
            step=step,
            block=block,
            gapless=gapless,
            reuse=reuse,
            on_explicit=on_explicit,
            max_value=max_value,
            attempts=attempts,
            deadline=deadline,
        )

    @property
    def required(self) -> bool:
        """Whether the constructor must be given a value: never, the number is drawn."""
        return False

    @property
    def assigned(self) -> bool:
        """Whether the store gives a value where there is none: it draws one."""
        return True

    @property
    def wanted(self) -> str:
        """What values are wanted, in words."""
        return "a 64-bit int"

    kept = "is drawn when the entity is created, and kept"

    def settle(self, annotation: object, scope: Scope | None = None) -> None:
        """Take the annotation, which is `int`. DeclarationError for any other."""
        if plain_type(annotation) is not int:
            owner = "" if self.owner is None else f"{self.owner.__qualname__}."
            raise DeclarationError(
                f"{owner}{self.name}: AutoIncrement draws integers", hint=f"write `{self.name}: Field[int]`"
            )
        super().settle(annotation, scope)


_WANTED = {
    "strategy": "'counter', 'sort_key' or a Sequence",
    "per": "'partition' or 'entity'",
    "block": "an integer of at least 1",
    "gapless": "True or False",
    "reuse": "'never' or 'allow'",
    "on_explicit": "'reject' or 'allow'",
    "start": "a 64-bit integer",
    "step": "an integer of at least 1",
    "max_value": "an integer from start to 2**63 - 1",
    "attempts": "an integer of at least 1",
    "deadline": "a number of seconds above 0",
}


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
