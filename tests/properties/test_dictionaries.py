"""An entity and its dict say the same."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from singletable.dictionaries import from_dict, to_dict
from singletable.entity import Entity
from singletable.fields import Field, computed
from singletable.identifiers import Ulid
from singletable.increments import AutoIncrement
from singletable.mapping import from_item, to_item
from singletable.patterns import Key
from singletable.schema import Table


class Thing(Entity, table=Table("things"), tag="thing"):
    thing_id: Field[str] = Ulid()
    number: Field[int] = AutoIncrement()
    label: Field[str | None] = Field(default="none yet", validate=lambda label: "!" not in label)
    price: Field[Decimal] = Field(default=Decimal(0), sensitive=True)
    tags: Field[set[str]] = Field(default_factory=set, hidden=True)
    made: Field[datetime] = Field(default=datetime(2026, 1, 1, tzinfo=UTC), read_only=True)

    @computed
    def size(self) -> int:
        """How many tags it has."""
        return len(self.tags)

    key = Key(pk="#THING#{thing_id}", sk="#T")


labels = st.none() | st.text(st.characters(exclude_characters="!", exclude_categories=["Cs"]))
values = st.fixed_dictionaries(
    {},
    optional={
        "thing_id": st.text("abc", min_size=1),
        "number": st.integers(1, 2**63 - 1),
        "label": labels,
        "price": st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-1000, max_value=1000),
        "tags": st.sets(st.text("ab", min_size=1)),
        "made": st.datetimes(timezones=st.just(UTC)),
    },
)


@given(values)
def test_the_way_back(given: dict[str, object]) -> None:
    """What `to_dict` gives, hidden fields included, `from_dict` makes into an equal entity, drawn number or not."""
    thing = from_dict(Thing, given)
    assert from_dict(Thing, to_dict(thing, hidden=True)) == thing
    assert to_dict(thing) == {name: value for name, value in to_dict(thing, hidden=True).items() if name != "tags"}
    if "number" in given:
        assert from_item(Thing, to_item(thing)) == thing
