"""Two templates that can make one key, or a query range that holds another entity's items."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TypeAlias

import pytest

from singletable.errors import TemplateError
from singletable.keys.clash import Form, Slot, clashes, leading, reaches, same_key
from singletable.keys.language import Language, shape

Languages: TypeAlias = Mapping[str, Language]

NUMBER = Language.shaped("number", [shape("d" * 19), shape("-" + "d" * 19)], lambda text: True, ["0" * 18 + "1"])
DAY = Language.shaped("date", [shape("dddd-dd-dd")], lambda text: True, ["2026-01-31"])
STATUS = Language.finite("Status", ["OPEN", "PAID"])
TYPES: Languages = {"n": NUMBER, "m": NUMBER, "day": DAY, "status": STATUS}
ONE = "0000000000000000001"


def slot(segment: str) -> Slot:
    """Read one segment: a literal, `{part}` with its language from TYPES (else text), or `{part*}`."""
    if not segment.startswith("{"):
        return Slot(segment)
    name = segment.strip("{}*")
    return Slot(part=name, language=TYPES.get(name), spread=segment.endswith("*}"))


def form(pk: str, sk: str | None = "#A", delimiter: str = "#") -> Form:
    """Read the two templates of an entity."""
    halves = [tuple(map(slot, text.split(delimiter))) for text in (pk, sk) if text is not None]
    return Form(halves[0], None if sk is None else halves[1], delimiter)


def met(a: Form, b: Form) -> tuple[bool, bool, bool]:
    """Say whether two forms share a key, a reaches b, b reaches a."""
    return same_key(a, b) is not None, reaches(a, b) is not None, reaches(b, a) is not None


def test_a_part_can_be_the_literal_of_another_template() -> None:
    """`#USER#{a}#{b}` and `#USER#ADMIN#{id}` share a key; the witness says with which values."""
    clash = same_key(form("#USER#{a}#{b}"), form("#USER#ADMIN#{id}"))
    assert clash is not None
    assert (clash.a, clash.b) == ({"a": "ADMIN", "b": "a"}, {"id": "a"})
    assert (clash.pk, clash.sk) == ("#USER#ADMIN#a", "#A")


def test_types_tell_a_summary_from_an_order() -> None:
    """`#ORDER#SUMMARY` lies in the range of `#ORDER#{int}` but is no key of it."""
    order, summary = form("#U#{u}", "#ORDER#{n}"), form("#U#{u}", "#ORDER#SUMMARY")
    assert met(order, summary) == (False, True, False)
    clash = reaches(order, summary)
    assert clash is not None
    assert (clash.a, clash.b) == ({"u": "a", "n": ONE}, {"u": "a"})
    assert (clash.pk, clash.sk) == ("#U#a", "#ORDER#SUMMARY")


def test_a_part_of_both_keys_is_one_value() -> None:
    """A part repeated in the sort key must be the same there: what it must be in either place rules out the other."""
    assert same_key(form("#{x}", "#{x}"), form("#A", "#B")) is None
    clash = same_key(form("#{x}", "#{x}"), form("#{y}", "#B"))
    assert clash is not None
    assert (clash.a, clash.b, clash.pk, clash.sk) == ({"x": "B"}, {"y": "B"}, "#B", "#B")


def test_equal_names_on_two_sides_are_two_values() -> None:
    """`id` of one entity and `id` of another are not the same field."""
    clash = same_key(form("#{id}", "#A#{x}"), form("#{x}", "#{id}#B"))
    assert clash is not None
    assert (clash.a, clash.b) == ({"id": "a", "x": "B"}, {"x": "a", "id": "A"})


def test_two_encodings_of_a_part_do_not_bind_each_other() -> None:
    """A number and the same number as text have different texts, so they are not made equal."""
    twice = Form((Slot(part="x", language=NUMBER),), (Slot(part="x", language=STATUS),))
    assert same_key(twice, Form((Slot(ONE),), (Slot("PAID"),))) is not None


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("#ORDER#{n}", "#ORDER#{m}", (True, True, True)),
        ("#ORDER#{n}", "#ORDER#{day}", (False, True, True)),
        ("#ORDER#{n}", "#ORDER#{n}#LINE#{m}", (False, True, True)),
        ("#ORDER#{n}", "#ORDERS#{n}", (False, False, False)),
        ("#ORDER#{n}", "#ORDER", (False, False, False)),
        ("#{status}#{n}", "#{day}#{n}", (False, True, True)),
        ("#{status}#{n}", "#PAID", (False, True, False)),
        ("#{status}#{n}", "#OPEN#{m}", (True, True, True)),
        ("#{status}#{n}", "#GONE#{m}", (False, True, False)),
        ("#GONE#{n}", "#{x}", (False, False, True)),
        ("#PROFILE", "#PROFILE", (True, True, True)),
        ("#PROFILE", "#PROFILE#{x}", (False, False, False)),
        ("#REGION#{p*}", "#REGION", (True, True, True)),
        ("#REGION#{p*}", "#REGION#{n}", (True, True, True)),
        ("#REGION#{p*}", "#REGION#!SEQ", (False, True, False)),
        ("#REGION#{p*}", "#REGIONS", (False, False, False)),
        ("#REGION#{p*}", "#REGION#A#B#{q*}", (True, True, True)),
        ("#{p*}", "#{x}#{y}", (True, True, True)),
        ("#{p*}", "#{q*}", (True, True, True)),
        ("{p*}", "A", (True, True, True)),
        ("{p*}", "#A", (False, False, False)),
        ("{x}", "#A", (False, False, False)),
        ("{x}", "ORDER#{n}", (False, True, False)),
        ("{x}", "!SEQ", (False, False, False)),
        ("#{x}", "!SEQ", (False, False, False)),
        ("{n}#{x}", "{day}", (False, True, True)),
    ],
)
def test_ranges_and_keys_of_one_partition(a: str, b: str, expected: tuple[bool, bool, bool]) -> None:
    """For two sort keys of one partition: same key, first reaches second, second reaches first, worked out by hand."""
    assert met(form("#U#{u}", a), form("#U#{u}", b)) == expected
    same, there, back = expected
    assert met(form("#U#{u}", b), form("#U#{u}", a)) == (same, back, there)


def test_other_partitions_are_out_of_reach() -> None:
    """Where no partition key is shared, nothing is reached, whatever the sort keys are."""
    for pk in ("#USERS#{u}", "#USER", "#USER#{u}#X", "USER#{u}", "#{n}#{u}"):
        assert met(form("#USER#{u}", "#{x}"), form(pk, "#{x}")) == (False, False, False)


def test_a_spread_is_bound_to_all_its_texts() -> None:
    """The witness gives a spread as a tuple: of the other side's segments, or empty."""
    region = form("#C", "#REGION#{path*}")
    deep, root = same_key(region, form("#C", "#REGION#A#{n}")), same_key(region, form("#C", "#REGION"))
    assert deep is not None
    assert root is not None
    assert (deep.a, root.a) == ({"path": ("A", ONE)}, {"path": ()})


def test_an_empty_path_alone_is_no_key() -> None:
    """`#{p*}` with nothing in it would be empty text, so two such templates meet one segment deeper."""
    clash = same_key(form("#C", "#{p*}"), form("#C", "#{q*}"))
    assert clash is not None
    assert (clash.a, clash.b, clash.sk) == ({"p": ("a",)}, {"q": ("a",)}, "#a")


def test_a_table_without_sort_key_is_told_by_its_partition_key() -> None:
    """Without sort keys a shared partition key is a shared key, and its sort key is None."""
    assert met(form("#U#{u}", None), form("#U#{v}", None)) == (True, True, True)
    assert met(form("#U#{u}", None), form("#O#{v}", None)) == (False, False, False)
    clash = same_key(form("#U#{u}", None), form("#U#{v}", None))
    assert clash is not None
    assert clash.sk is None


def test_native_sort_keys_share_every_partition_they_share() -> None:
    """A native number is one part without literal: two entities in one partition meet, in two partitions do not."""
    a, b, far = form("#U#{u}", "{n}"), form("#U#{u}", "{m}"), form("#V#{u}", "{n}")
    assert met(a, b) == (True, True, True)
    assert met(a, far) == (False, False, False)


@pytest.mark.parametrize(("pk", "sk"), [("#{p*}", "#A"), ("#A", "#{p*}#B")])
def test_a_spread_stands_last_in_a_sort_key(pk: str, sk: str) -> None:
    """A spread in a partition key or before the end is refused: the answers would not be exact."""
    with pytest.raises(TemplateError, match="spreads"):
        form(pk, sk)


def test_leading_literals_end_at_the_first_part() -> None:
    """The prefilter compares the literals before the first part, the empty one before `#` included."""
    assert leading(form("#USER#{u}#X", "#A#B")) == (("", "USER"), ("", "A", "B"))
    assert leading(form("{u}", None)) == ((), ())


SHOP = {
    "user": form("#USER#{u}", "#PROFILE"),
    "address": form("#USER#{u}", "#ADDRESS#{n}"),
    "order": form("#USER#{u}", "#ORDER#{n}"),
    "line": form("#USER#{u}", "#ORDER#{n}#LINE#{m}"),
    "invoice": form("#USER#{u}", "#INVOICE#{day}#{n}"),
    "region": form("#COUNTRY#{c}", "#REGION#{path*}"),
    "country": form("#COUNTRY#{c}", "#INFO"),
    "product": form("#PRODUCT#{sku}", "#INFO"),
    "review": form("#PRODUCT#{sku}", "#REVIEW#{u}"),
    "game": form("#GAME#{g}", "#META"),
    "player": form("#GAME#{g}", "#PLAYER#{u}"),
    "score": form("#GAME#{g}", "#SCORE#{n}#{u}"),
    "email guard": form("#!UNIQUE#user.email#{value}", "!"),
    "order counter": form("#USER#{u}", "!SEQ#order.order_id"),
}


def test_a_real_table_raises_no_alarm() -> None:
    """Thirteen usual entities and a hidden counter live in one table; only order and line, relatives, touch."""
    names, shop = list(SHOP), list(SHOP.values())
    family = {"order", "line"}
    assert list(clashes(shop, lambda i, j: {names[i], names[j]} == family)) == []
    touching = [(kind, names[i], names[j]) for kind, i, j, _ in clashes(shop, lambda i, j: False)]
    assert touching == [("reach", "order", "line"), ("reach", "line", "order")]


def test_a_newcomer_that_clashes_is_named() -> None:
    """One bad entity among the others is found, with the kind of clash and its direction."""
    names, shop = [*SHOP, "new"], list(SHOP.values())

    def found(new: Form) -> list[tuple[str, str, str]]:
        related = [{"order", "line"}]
        pairs = clashes([*shop, new], lambda i, j: {names[i], names[j]} in related)
        return [(kind, names[i], names[j]) for kind, i, j, _ in pairs]

    assert found(form("#PRODUCT#{sku}", "#{kind}")) == [("same", "product", "new"), ("reach", "new", "review")]
    assert found(form("#GAME#{g}", "#SCORE#TOTAL")) == [("reach", "score", "new")]
    assert found(form("#{kind}#{id}", "#META")) == [("same", "game", "new")]


def test_relatives_may_reach_but_not_share() -> None:
    """`related` silences reach only; a shared key is told in any case, once."""
    pair = [form("#U#{u}", "#O#{n}"), form("#U#{u}", "#O#{m}")]
    assert [kind for kind, *_ in clashes(pair, lambda i, j: True)] == ["same"]
    assert [kind for kind, *_ in clashes(pair, lambda i, j: False)] == ["same"]


def test_an_index_holds_equal_keys_but_its_ranges_count() -> None:
    """Where keys need not be unique a shared key is no clash by itself, reading another's item is."""
    pair = [form("#U#{u}", "#O#{n}"), form("#U#{u}", "#O#{m}")]
    found = [(kind, i, j) for kind, i, j, _ in clashes(pair, lambda i, j: False, unique=False)]
    assert found == [("reach", 0, 1), ("reach", 1, 0)]
    assert list(clashes(pair, lambda i, j: True, unique=False)) == []


def test_a_witness_is_written_with_the_delimiter_of_its_keys() -> None:
    """Two raw entities meet as encoded ones do, and the witness is a key as it would be stored."""
    user, admin = form("USER|{a}|{b}", "PROFILE", "|"), form("USER|ADMIN|{id}", "PROFILE", "|")
    clash = same_key(user, admin)
    assert clash is not None
    assert (clash.pk, clash.sk) == ("USER|ADMIN|a", "PROFILE")


@pytest.mark.parametrize(
    ("pk", "sk"),
    [
        ("#ORG#{id}", "#A"),
        ("#{id}", "#A"),
        ("#{path}", "#{p*}"),
        ("USER#{id}", "#A"),
        ("#USER|#{id}", "#A"),
    ],
)
def test_keys_of_two_delimiters_are_told_apart_by_their_beginnings(pk: str, sk: str) -> None:
    """Where one begins with text that no key of the other begins with, they never meet."""
    raw, part_first = form("USER|{id}", "PROFILE|{n}", "|"), form("{id}|{n}", "{m}", "|")
    assert met(raw, form(pk, sk)) == (False, False, False)
    if pk.startswith("#"):
        assert met(part_first, form(pk, sk)) == (False, False, False)


@pytest.mark.parametrize(
    ("pk", "sk"), [("{id}", "{n}"), ("USER|A#{id}", "P#{n}"), ("US#{id}", "{p*}"), ("USER", "{p*}")]
)
def test_keys_of_two_delimiters_that_may_meet_are_refused(pk: str, sk: str) -> None:
    """`USER|A#x` is a key of `USER|{id}` as well: nobody can tell, so the declaration is refused."""
    raw = form("{id}|{n}" if pk.startswith("US#") else "USER|{id}", "{n}", "|")
    for ask in (same_key, reaches):
        with pytest.raises(TemplateError, match="use one delimiter"):
            ask(raw, form(pk, sk))
        with pytest.raises(TemplateError, match="use one delimiter"):
            ask(form(pk, sk), raw)
    with pytest.raises(TemplateError, match="use one delimiter"):
        list(clashes([raw, form(pk, sk)], lambda i, j: False))


def test_a_hundred_entities_are_checked_in_a_moment() -> None:
    """One partition of 100 entities, a third of them with two optional parts: less than 50 ms of processor time."""
    forms: list[Form] = []
    owners: list[int] = []
    for number in range(100):
        ends = ["#{n}#{a}", "#{n}", "#{n}#{a}#L#{b}"][: 3 if number % 3 == 0 else 1]
        forms += [form("#USER#{id}", f"#E{number}{end}") for end in ends]
        owners += [number] * len(ends)

    def related(i: int, j: int) -> bool:
        return owners[i] == owners[j]

    def spent() -> float:
        begun = time.process_time()
        assert list(clashes(forms, related)) == []
        return time.process_time() - begun

    assert len(forms) == 168
    assert min(spent() for _ in range(5)) < 0.05
