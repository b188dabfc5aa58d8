"""A field whose `codec=` stores another value than it is given cannot stand in a key with it."""

from __future__ import annotations

import pytest

from singletable import Entity, Field, FieldValueError, GlobalIndex, Key, Store, Table, Update, to_item
from singletable.attributes import Codec

gsi1 = GlobalIndex("GSI1")
mails = Table("mails", indexes=[gsi1])
LOWER = Codec(lambda value: {"S": value.lower()}, lambda stored: stored["S"], "S", "text in lower case")


class Box(Entity, table=mails, tag="box"):
    number: Field[int]
    mail: Field[str] = Field(codec=LOWER)

    key = Key(pk="#BOX#{number}", sk="#BOX")
    by_mail = Key(on=gsi1, pk="#MAIL#{mail}", sk="#BOX")


class Named(Entity, table=mails, tag="named"):
    mail: Field[str] = Field(codec=LOWER)

    key = Key(pk="#NAMED#{mail}", sk="#NAMED")


def test_what_the_codec_gives_back_stands_in_keys() -> None:
    """A value in the form that is stored is written into the key."""
    assert to_item(Box(number=1, mail="a@x"))["GSI1PK"] == {"S": "#MAIL#a@x"}


def test_another_value_is_refused_before_anything_is_sent() -> None:
    """Of `A@X` the key would hold another text than the item reads back: index key, primary key and update refuse."""
    for entity in (Box(number=1, mail="A@X"), Named(mail="A@X")):
        with pytest.raises(FieldValueError, match="codec=") as caught:
            to_item(entity)
        assert caught.value.field == "mail"
    store = Store.local(mails)
    store.create(Box(number=1, mail="a@x"))
    with pytest.raises(FieldValueError, match="codec="):
        store.run(Update(Box.at(number=1), Box.mail.set("A@X")))
