"""Pydantic both ways: models inside of fields, and entities as types of models, bodies and responses."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import pytest
from fastapi import Body, FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, RootModel, TypeAdapter, ValidationError
from pydantic import Field as Member
from typing_extensions import TypedDict

from singletable.codecs import CodecError, codec_for
from singletable.entity import Entity, evolve
from singletable.errors import CorruptItem, DeclarationError, FieldValueError, UnresolvedName
from singletable.fields import Field, computed
from singletable.identifiers import Uuid7
from singletable.increments import AutoIncrement
from singletable.mapping import from_item, mapper_of, to_item
from singletable.patterns import Key
from singletable.schema import Table

table = Table("pydantic")


class Place(BaseModel):
    street: str
    price: Decimal = Decimal("1.5")
    size: float = 0.1
    since: datetime | None = None
    days: list[date] = []
    tags: set[str] = set()
    raw: bytes = b""
    inner: Place | None = Member(default=None, alias="in")

    model_config = ConfigDict(frozen=True)


class Open(BaseModel):
    name: str
    model_config = ConfigDict(extra="allow")


class Extra(TypedDict, total=False):
    note: str


class User(Entity, table=table, tag="user"):
    """Somebody."""

    user_id: Field[UUID] = Uuid7()
    name: Field[str] = Field(validate=str.isalpha)
    place: Field[Place | None] = Field(default=None)
    joined: Field[datetime] = Field(default=datetime(2026, 1, 1, tzinfo=UTC))
    number: Field[int] = AutoIncrement()
    role: Field[str] = Field(default="user", hidden=True)
    extra: Field[Extra] = Field(default_factory=Extra)

    @computed
    def shout(self) -> str:
        """The name, loud."""
        return self.name.upper()

    key = Key(pk="#USER#{user_id}", sk="#U")


class Login(Entity, table=table, tag="login"):
    name: Field[str]
    password: Field[str] = Field(hidden=True, sensitive=True)
    key = Key(pk="#LOGIN#{name}", sk="#L")


PLACE = Place(
    street="x",
    price=Decimal("12345678901234567890.12345678901234567"),
    since=datetime(2026, 1, 2, tzinfo=UTC),
    days=[date(2026, 1, 2)],
    tags={"a"},
    raw=b"\xff",
).model_copy(update={"inner": Place(street="y")})
USER_ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
ANN = User(user_id=USER_ID, name="Ann", place=Place(street="x"), number=7)
SHOWN = {
    "user_id": USER_ID,
    "name": "Ann",
    "place": Place(street="x").model_dump(),
    "joined": datetime(2026, 1, 1, tzinfo=UTC),
    "number": 7,
    "extra": {},
    "shout": "ANN",
}
USERS = TypeAdapter(User)


class TestModelsInFields:
    def test_a_model_is_a_map_of_its_members(self) -> None:
        """Each member is stored by our own codec, exactly; what is a default's own value is written too."""
        stored = codec_for(Place).encode(PLACE)
        assert stored is not None
        assert stored["M"]["price"] == {"N": "12345678901234567890.12345678901234567"}
        assert stored["M"]["since"] == {"S": "2026-01-02T00:00:00.000000Z"}
        assert (stored["M"]["tags"], stored["M"]["raw"]) == ({"SS": ["a"]}, {"B": b"\xff"})
        assert stored["M"]["inner"]["M"]["street"] == {"S": "y"}

    def test_it_reads_back(self) -> None:
        """What was written reads back equal, aliases or not, a model inside itself too."""
        user = evolve(ANN, place=PLACE)
        read = from_item(User, to_item(user))
        assert read == user
        assert type(read.place) is Place

    @given(
        st.builds(Place, street=st.text(st.characters(exclude_categories=["Cs"])), tags=st.sets(st.sampled_from("abc")))
    )
    def test_every_model_reads_back(self, place: Place) -> None:
        """The way there and back is the identity."""
        codec = codec_for(Place)
        stored = codec.encode(place)
        assert stored is not None
        assert codec.decode(stored) == place

    def test_extra_members_are_kept_where_they_are_allowed(self) -> None:
        """A model with extra="allow" keeps what it does not declare, exact; any other refuses it."""
        codec = codec_for(Open)
        made = Open.model_validate({"name": "n", "more": [1, Decimal("0.5")]})
        stored = {"M": {"more": {"L": [{"N": "1"}, {"N": "0.5"}]}, "name": {"S": "n"}}}
        assert codec.encode(made) == stored
        assert codec.decode(stored) == made
        with pytest.raises(CodecError, match="a member it does not declare"):
            codec_for(Place).decode({"M": {"street": {"S": "x"}, "more": {"S": "y"}}})

    def test_a_wrong_member_is_named(self) -> None:
        """A value that its member cannot hold is refused with the way to it, and another class as a whole."""
        with pytest.raises(FieldValueError, match=r"User\.place\.street': given int, wanted text"):
            mapper_of(User).encode(evolve(ANN, place=Place.model_construct(street=5)))
        untyped: Any = Open(name="n")
        with pytest.raises(FieldValueError, match="given Open, wanted an instance of Place"):
            to_item(evolve(ANN, place=untyped))

    def test_what_the_model_refuses_is_corrupt(self) -> None:
        """A stored map that the model's own checks refuse is a corrupt item, without the value."""

        class Small(BaseModel):
            size: int = Member(lt=10)

        class Box(Entity, table=table, tag="box"):
            box_id: Field[str]
            small: Field[Small]
            key = Key(pk="#BOX#{box_id}", sk="#B")

        item = to_item(Box(box_id="1", small=Small(size=1)))
        with pytest.raises(CorruptItem, match=r"members its validation refuses \(ValidationError\)") as caught:
            from_item(Box, {**item, "small": {"M": {"size": {"N": "4321"}}}})
        assert "4321" not in str(caught.value) + str(caught.value.__cause__)

    def test_what_has_no_codec_is_refused(self) -> None:
        """A RootModel, a member without codec and a name that is not there are told at the declaration."""

        class Wrong(BaseModel):
            other: complex

        class Later(BaseModel):
            other: NoSuchName  # type: ignore[name-defined]  # noqa: F821 - the missing name is what is tested

        with pytest.raises(DeclarationError, match="a RootModel is no map"):
            codec_for(RootModel[int])
        with pytest.raises(DeclarationError, match=r"Wrong\.other: a field cannot hold complex"):
            codec_for(Wrong)
        with pytest.raises(UnresolvedName, match="model_rebuild"):
            codec_for(Later)


class TestEntitiesAsTypes:
    def test_what_comes_out(self) -> None:
        """Every field that is not hidden comes out, computed ones too, by pydantic's rules for its type."""
        assert USERS.dump_python(ANN) == SHOWN
        written = json.loads(USERS.dump_json(ANN))
        assert (written["user_id"], written["place"]["price"]) == (str(USER_ID), "1.5")

    def test_a_number_comes_out_when_it_is_drawn(self) -> None:
        """An entity that is not stored yet comes out without its number."""
        new = User(user_id=USER_ID, name="Ann", place=Place(street="x"))
        assert USERS.dump_python(new) == {name: value for name, value in SHOWN.items() if name != "number"}

    def test_hidden_is_left_out_at_every_depth(self) -> None:
        """I9: a hidden field comes out nowhere: in lists, dicts, models, unions, and through a base's type."""

        class Answer(BaseModel):
            users: list[User | Login]
            by_name: dict[str, Login]

        login = Login(name="ann", password="s3cr3t")
        answer = Answer(users=[ANN, login], by_name={"ann": login})
        assert answer.model_dump() == {"users": [SHOWN, {"name": "ann"}], "by_name": {"ann": {"name": "ann"}}}
        assert "s3cr3t" not in answer.model_dump_json() + repr(answer)
        assert "password" not in json.dumps(Answer.model_json_schema(mode="serialization"))

    def test_a_kind_that_hides_a_field_is_respected_by_its_base(self) -> None:
        """A base's type shows the fields that the base has, less those the kind hides; it makes no instance."""

        class Owned(Entity, table=table):
            owner: Field[str]
            note: Field[str]

        class Memo(Owned, tag="memo"):
            note: Field[str] = Field(hidden=True)
            text: Field[str] = Field(default="")
            key = Key(pk="#MEMO#{owner}", sk="#M")

        owned = TypeAdapter(Owned)
        memo = Memo(owner="o", note="n")
        assert owned.validate_python(memo) is memo
        assert owned.dump_python(memo) == {"owner": "o"}
        with pytest.raises(ValidationError, match="Owned is abstract"):
            owned.validate_python({"owner": "o", "note": "n"})

    def test_include_and_exclude_reach_into_it(self) -> None:
        """Pydantic's own selections work on an entity too."""
        assert USERS.dump_python(ANN, include={"name", "shout"}) == {"name": "Ann", "shout": "ANN"}

    def test_what_goes_in(self) -> None:
        """An entity is taken as it is, a dict or JSON is made into one, defaults and ids filled in."""
        assert USERS.validate_python(ANN) is ANN
        made = USERS.validate_json('{"name": "Ann", "joined": "2026-01-02T00:00:00Z", "place": {"street": "x"}}')
        assert (made.name, made.place, made.role) == ("Ann", Place(street="x"), "user")
        assert made.joined == datetime(2026, 1, 2, tzinfo=UTC)
        assert made.user_id.version == 7
        assert USERS.validate_python({"name": "Ann", "number": 3}).number == 3

    @pytest.mark.parametrize(
        ("given", "where", "words"),
        [
            ({}, "name", "Field required"),
            ({"name": 5}, "name", "valid string"),
            ({"name": "4"}, "name", "validate=isalpha"),
            ({"name": "a", "joined": "2026-01-02T00:00:00"}, "joined", "aware datetime"),
            ({"name": "a", "nmae": "b"}, "nmae", "not permitted"),
            ({"name": "a", "role": "admin"}, "role", "not permitted"),
            ({"name": "a", "shout": "A"}, "shout", "not permitted"),
        ],
    )
    def test_what_does_not(self, given: dict[str, Any], where: str, words: str) -> None:
        """What is missing, wrong, unknown, computed, or hidden with a default is refused with its place."""
        with pytest.raises(ValidationError, match=words) as caught:
            USERS.validate_python(given)
        (line,) = caught.value.errors()
        assert line["loc"] == (where,)

    def test_a_sensitive_value_is_in_no_error(self) -> None:
        """No line of an error about a class with a sensitive field shows an input; required hidden ones are taken."""
        logins = TypeAdapter(Login)
        assert logins.validate_python({"name": "a", "password": "b"}).password == "b"
        for wrong in ({"password": "s3cr3t"}, {"name": "a", "password": ["s3cr3t"]}, {"name": 5, "password": "s3cr3t"}):
            with pytest.raises(ValidationError) as caught:
                logins.validate_python(wrong)
            assert "s3cr3t" not in str(caught.value) + repr(caught.value.errors()) + caught.value.json()

    def test_schemas(self) -> None:
        """The schema of the way in has what may be given, that of the way out what comes; hidden is write-only."""
        taken, given = USERS.json_schema(), USERS.json_schema(mode="serialization")
        assert set(taken["properties"]) == {"user_id", "name", "place", "joined", "number", "extra"}
        assert set(given["properties"]) == set(SHOWN)
        assert (taken["required"], taken["title"], taken["description"]) == (["name"], "User", "Somebody.")
        assert set(given["required"]) == set(SHOWN) - {"number"}
        logins = TypeAdapter(Login)
        assert logins.json_schema()["properties"]["password"]["writeOnly"] is True
        assert set(logins.json_schema(mode="serialization")["properties"]) == {"name"}


def test_fastapi_takes_and_gives_entities() -> None:
    """A body becomes an entity or 422, and an answer leaves out what is hidden, in OpenAPI too."""
    web, stored = FastAPI(), dict[str, Login]()

    @web.post("/logins")
    def make(login: Annotated[Login, Body()]) -> Login:
        stored[login.name] = login
        return login

    @web.get("/logins", response_model=list[Login])
    def every() -> list[Login]:
        return list(stored.values())

    with TestClient(web) as client:
        made = client.post("/logins", json={"name": "ann", "password": "s3cr3t"})
        assert (made.status_code, made.json()) == (200, {"name": "ann"})
        assert stored["ann"].password == "s3cr3t"
        assert client.get("/logins").json() == [{"name": "ann"}]
        wrong = client.post("/logins", json={"name": 5, "password": "s3cr3t"})
        assert (wrong.status_code, wrong.json()["detail"][0]["loc"]) == (422, ["body", "name"])
        assert "s3cr3t" not in wrong.text
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
        assert set(schemas["Login-Output"]["properties"]) == {"name"}
