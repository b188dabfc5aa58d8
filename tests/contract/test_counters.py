"""Numbers drawn from counters: what is issued, where the counter stands, and that no query shows it."""

from __future__ import annotations

import pytest

from singletable import (
    AlreadyExists,
    AutoIncrement,
    Create,
    Entity,
    Field,
    FieldValueError,
    Key,
    KeyPartError,
    NumberNotAssigned,
    Put,
    Sequence,
    SequenceExhausted,
    Table,
    UsageError,
    computed,
)
from singletable.wire import Item
from tests.contract.behind import client_of, everything, item_under, write
from tests.contract.conftest import MakeStore

forge = Table("forge")
tickets = Sequence("tickets", pk="#REPO#{repo}")
everyone = Sequence("everyone")
adopted = Sequence(pk="COUNTERS", sk="of#{repo}", attribute="n")


class Invoice(Entity, table=forge, tag="invoice"):
    invoice_no: Field[int] = AutoIncrement()
    total: Field[int] = Field(default=0)

    key = Key(pk="#INVOICE#{invoice_no}", sk="#INVOICE")


class Comment(Entity, table=forge, tag="comment"):
    post: Field[str]
    n: Field[int] = AutoIncrement("counter")

    key = Key(pk="#POST#{post}", sk="#COMMENT#{n}")


class Team(Entity, table=forge, tag="team"):
    name: Field[str]
    n: Field[int] = AutoIncrement()

    @computed
    def slug(self) -> str:
        """The name, in small letters."""
        return self.name.lower()

    key = Key(pk="#TEAM#{slug}", sk="#TEAM#{n}")


class Shirt(Entity, table=forge, tag="shirt"):
    team: Field[str]
    n: Field[int] = AutoIncrement("counter")

    @computed
    def slug(self) -> str:
        """The team, in small letters."""
        return self.team.lower()

    key = Key(pk="#SHIRTS#{slug}", sk="#SHIRT#{n}")


class Issue(Entity, table=forge, tag="issue"):
    repo: Field[str]
    number: Field[int] = AutoIncrement(tickets)

    key = Key(pk="#REPO#{repo}", sk="#ISSUE#{number}")


class PullRequest(Entity, table=forge, tag="pull"):
    repo: Field[str]
    number: Field[int] = AutoIncrement(tickets)
    global_no: Field[int] = AutoIncrement(everyone)

    key = Key(pk="#REPO#{repo}", sk="#PULL#{number}")


class Release(Entity, table=forge, tag="release"):
    repo: Field[str]
    build: Field[int] = AutoIncrement(adopted)

    key = Key(pk="#REPO#{repo}", sk="#RELEASE#{build}")


class Badge(Entity, table=forge, tag="badge"):
    owner: Field[str]
    serial: Field[int] = AutoIncrement("counter", per="entity", start=100, step=10, max_value=125)

    key = Key(pk="#OWNER#{owner}", sk="#BADGE#{serial}")


class Seat(Entity, table=forge, tag="seat"):
    hall: Field[str]
    row: Field[int] = AutoIncrement("counter", start=98)

    key = Key(pk="#HALL#{hall}", sk="#SEAT#{row:02}")


def key(pk: str, sk: str) -> Item:
    """Write a key of the forge."""
    return {"PK": {"S": pk}, "SK": {"S": sk}}


def test_a_counter_of_an_entity_counts_for_the_whole_table(backend: MakeStore) -> None:
    """Invoices are numbered 1, 2, 3; the counter is one hidden item that holds the last number issued."""
    store = backend(forge)
    assert [store.create(Invoice(total=total)).invoice_no for total in (5, 6, 7)] == [1, 2, 3]
    assert item_under(store, key("#!SEQ#invoice.invoice_no", "!")) == {
        **key("#!SEQ#invoice.invoice_no", "!"),
        "_et": {"S": "!seq"},
        "last": {"N": "3"},
    }
    assert store.one(Invoice.at(invoice_no=2)).total == 6


def test_a_counter_of_a_partition_counts_for_itself(backend: MakeStore) -> None:
    """Each post's comments are numbered from 1; the counter stands in the post's partition, before its items."""
    store = backend(forge)
    drawn = [store.create(Comment(post=post)).n for post in ("a", "b", "a", "a")]
    assert drawn == [1, 1, 2, 3]
    assert item_under(store, key("#POST#a", "!SEQ#comment.n")) == {
        **key("#POST#a", "!SEQ#comment.n"),
        "_et": {"S": "!seq"},
        "last": {"N": "3"},
    }
    assert [comment.n for comment in store.query(Comment.key(post="a"))] == [1, 2, 3]
    assert store.count(Comment.key(post="b")) == 1


def test_a_counter_that_is_behind_overwrites_nothing(backend: MakeStore) -> None:
    """Whoever draws the number of a key that is taken draws on, by every verb that makes one item."""
    store = backend(forge)
    for number in (1, 2, 4, 7):
        store.put(Invoice(invoice_no=number, total=100))
    assert store.create(Invoice(total=1)).invoice_no == 3
    assert store.put(Invoice(total=2)).invoice_no == 5
    assert [made.invoice_no for made in store.create_many([Invoice(total=3), Invoice(total=4)])] == [6, 8]
    store.put(Invoice(invoice_no=9, total=100))
    assert [made.invoice_no for made in store.put_many([Invoice(total=5), Invoice(total=6)])] == [11, 10]
    totals = {each.invoice_no: each.total for each in store.scan(Invoice)}
    assert totals == {1: 100, 2: 100, 3: 1, 4: 100, 5: 2, 6: 3, 7: 100, 8: 4, 9: 100, 10: 6, 11: 5}


def test_what_is_prepared_keeps_its_number(backend: MakeStore) -> None:
    """A prepared create whose key is taken is refused each time: it never draws on, nor stores a second item."""
    store = backend(forge)
    store.put(Invoice(invoice_no=1, total=100))
    for prepared in (store.prepare(Create(Invoice(total=1))), store.prepare(Put(Invoice(total=2)))):
        for _ in range(2):
            with pytest.raises(AlreadyExists):
                store.run(prepared)
            store.put(Invoice(invoice_no=2, total=100))
    free = store.prepare(Create(Invoice(total=3)))
    assert [store.run(free).invoice_no for _ in range(2)] == [3, 3]
    store.put(Invoice(invoice_no=3, total=30))
    with pytest.raises(AlreadyExists):
        store.run(free)
    assert {each.invoice_no: each.total for each in store.scan(Invoice)} == {1: 100, 2: 100, 3: 30}


def test_a_computed_part_chooses_the_counter(backend: MakeStore) -> None:
    """A group that is named by a computed field counts as any other."""
    store = backend(forge)
    assert [store.create(Team(name=name)).n for name in ("Reds", "REDS", "blues")] == [1, 2, 1]
    assert [store.create(Shirt(team=team)).n for team in ("Reds", "REDS", "blues")] == [1, 2, 1]


def test_a_counter_that_is_behind_in_a_transaction(transacting: MakeStore) -> None:
    """A transaction draws on for the items whose keys are taken, and the others keep their numbers."""
    store = transacting(forge)
    store.put(Invoice(invoice_no=2, total=100))
    made = store.transact(Create(Invoice(total=1)), Put(Invoice(total=2)), Create(Invoice(total=3)))
    assert [invoice.invoice_no for invoice in made] == [1, 4, 3]
    assert store.one(Invoice.at(invoice_no=2)).total == 100


def test_a_deleted_counter_number_does_not_come_again(backend: MakeStore) -> None:
    """A counter never goes back, and a delete leaves no tombstone."""
    store = backend(forge)
    store.create(Comment(post="a"))
    second = store.create(Comment(post="a"))
    assert store.delete(second) == second
    assert store.create(Comment(post="a")).n == 3
    assert [item["SK"]["S"] for item in everything(store)] == [
        "!SEQ#comment.n",
        "#COMMENT#0000000000000000001",
        "#COMMENT#0000000000000000003",
    ]


def test_a_shared_sequence_numbers_several_entities(backend: MakeStore) -> None:
    """Issues and pull requests of one repository share its numbers; each repository has its own."""
    store = backend(forge)
    drawn = [
        store.create(Issue(repo="x")).number,
        store.create(PullRequest(repo="x")).number,
        store.create(Issue(repo="y")).number,
        store.create(PullRequest(repo="x")).number,
        store.create(Issue(repo="x")).number,
    ]
    assert drawn == [1, 2, 1, 3, 4]
    counter = item_under(store, key("#REPO#x", "!SEQ#tickets"))
    assert counter == {**key("#REPO#x", "!SEQ#tickets"), "_et": {"S": "!seq"}, "last": {"N": "4"}}
    assert [issue.number for issue in store.query(Issue.key(repo="x"))] == [1, 4]
    assert [(pull.number, pull.global_no) for pull in store.query(PullRequest.key(repo="x"))] == [(2, 1), (3, 2)]
    assert item_under(store, key("#!SEQ#everyone", "!")) == {
        **key("#!SEQ#everyone", "!"),
        "_et": {"S": "!seq"},
        "last": {"N": "2"},
    }


def test_repositories_with_nasty_names_do_not_share(backend: MakeStore) -> None:
    """A name cannot reach another partition's counter."""
    store = backend(forge)
    for repo in ("x", "x#!SEQ#tickets", "X", "x%23", "!SEQ#tickets"):
        assert store.create(Issue(repo=repo)).number == 1
    assert store.create(Issue(repo="x")).number == 2


def test_an_adopted_counter_is_shared_with_other_programs(backend: MakeStore) -> None:
    """A counter item that exists is counted on, as it is, between the plain ADDs of another program."""
    store = backend(forge)
    place = key("COUNTERS", "of#x")
    write(store, {**place, "n": {"N": "41"}, "note": {"S": "made by hand"}})
    assert store.create(Release(repo="x")).build == 42
    answer = client_of(store).update_item(
        TableName=store.name,
        Key=place,
        UpdateExpression="ADD n :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    assert answer["Attributes"]["n"] == {"N": "43"}
    assert store.create(Release(repo="x")).build == 44
    assert item_under(store, place) == {**place, "n": {"N": "44"}, "note": {"S": "made by hand"}}
    assert store.create(Release(repo="y")).build == 1
    assert item_under(store, key("COUNTERS", "of#y")) == {**key("COUNTERS", "of#y"), "n": {"N": "1"}}


def test_start_step_and_end(backend: MakeStore) -> None:
    """From 100 in tens up to 125 are 100, 110 and 120; then the sequence is exhausted, and nothing is written."""
    store = backend(forge)
    assert [store.create(Badge(owner=owner)).serial for owner in "abc"] == [100, 110, 120]
    before = everything(store)
    for _ in range(2):
        with pytest.raises(SequenceExhausted) as caught:
            store.create(Badge(owner="d"))
        assert caught.value.max_value == 125
    assert everything(store) == before
    assert store.count(Badge.key(owner="d")) == 0


def test_a_batch_that_does_not_fit_draws_nothing(backend: MakeStore) -> None:
    """Four numbers of three that are left are refused together; three fit then."""
    store = backend(forge)
    with pytest.raises(SequenceExhausted):
        store.put_many(Badge(owner=owner) for owner in "abcd")
    assert [badge.serial for badge in store.put_many(Badge(owner=owner) for owner in "abc")] == [100, 110, 120]


def test_a_width_ends_a_sequence(backend: MakeStore) -> None:
    """Two digits hold numbers up to 99; the next is refused rather than written out of order."""
    store = backend(forge)
    assert [store.create(Seat(hall="h")).row for _ in range(2)] == [98, 99]
    with pytest.raises(SequenceExhausted) as caught:
        store.create(Seat(hall="h"))
    assert caught.value.max_value == 99
    assert [seat.row for seat in store.query(Seat.key(hall="h"))] == [98, 99]


def test_the_largest_number_is_reached(backend: MakeStore) -> None:
    """The largest 64-bit integer is issued exactly, and nothing after it."""
    store = backend(forge)
    place = key("#POST#a", "!SEQ#comment.n")
    write(store, {**place, "_et": {"S": "!seq"}, "last": {"N": "9223372036854775806"}})
    assert store.create(Comment(post="a")).n == 9223372036854775807
    with pytest.raises(SequenceExhausted):
        store.create(Comment(post="a"))
    assert [comment.n for comment in store.query(Comment.key(post="a"))] == [9223372036854775807]


def test_a_partition_that_has_data_is_counted_on(backend: MakeStore) -> None:
    """A partition's first counter starts after the highest number stored there."""
    store = backend(forge)
    store.put_many([Comment(post="a", n=7), Comment(post="a", n=3), Comment(post="b", n=1)])
    assert store.create(Comment(post="a")).n == 8
    assert store.create(Comment(post="b")).n == 2
    assert store.create(Comment(post="c")).n == 1
    (made,) = store.put_many([Comment(post="a")])
    assert made.n == 9


def test_a_number_given_is_kept_by_put_and_refused_by_create(backend: MakeStore) -> None:
    """Put draws a number that is missing and keeps one that is there; create wants to draw it."""
    store = backend(forge)
    assert store.put(Invoice(total=1)).invoice_no == 1
    assert store.put(Invoice(invoice_no=50, total=2)).invoice_no == 50
    assert store.put(Invoice(total=3)).invoice_no == 2
    with pytest.raises(UsageError, match="invoice_no"):
        store.create(Invoice(invoice_no=3, total=4))
    assert store.get(Invoice.at(invoice_no=3)) is None


def test_a_number_does_not_exist_before_it_is_drawn(backend: MakeStore) -> None:
    """Reading it raises; the stored entity has it, the one handed in stays as it was."""
    store = backend(forge)
    fresh = Invoice(total=1)
    stored = store.create(fresh)
    assert stored.invoice_no == 1
    with pytest.raises(NumberNotAssigned, match="invoice_no"):
        _ = fresh.invoice_no


def test_a_counter_needs_its_partition(backend: MakeStore) -> None:
    """Where a part of the counter's key is missing, it is named and nothing is drawn."""
    store = backend(forge)
    with pytest.raises(KeyPartError, match="repo"):
        store.create(Issue(repo=""))
    with pytest.raises(FieldValueError, match="post"):
        store.create(Comment(post=None))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert everything(store) == []


def test_counters_beside_native_and_absent_sort_keys(backend: MakeStore) -> None:
    """Where the sort key is a number, or there is none, a counter stands under a partition key of its own."""
    native, bare = Table("native", sk=("SK", int)), Table("bare", sk=None)

    class Sample(Entity, table=native, tag="sample"):
        run: Field[str]
        n: Field[int] = AutoIncrement("counter")
        key = Key(pk="#RUN#{run}", sk="{n}")

    class Coupon(Entity, table=bare, tag="coupon"):
        n: Field[int] = AutoIncrement()
        key = Key(pk="#COUPON#{n}")

    store = backend(native)
    assert [store.create(Sample(run="r")).n for _ in range(2)] == [1, 2]
    assert [sample.n for sample in store.query(Sample.key(run="r"))] == [1, 2]
    place: Item = {"PK": {"S": "#!SEQ#sample.n#%23RUN%23r"}, "SK": {"N": "0"}}
    assert item_under(store, place) == {**place, "_et": {"S": "!seq"}, "last": {"N": "2"}}
    store = backend(bare)
    assert [store.create(Coupon()).n for _ in range(2)] == [1, 2]
    place = {"PK": {"S": "#!SEQ#coupon.n"}}
    assert item_under(store, place) == {**place, "_et": {"S": "!seq"}, "last": {"N": "2"}}
