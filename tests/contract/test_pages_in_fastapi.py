"""A list in a web application, in process: the cursor goes out in the answer and comes back as a parameter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException
from fastapi.testclient import TestClient
from pydantic import BaseModel

from singletable import BadCursor, Entity, Field, GlobalIndex, Key, Store, Table

gsi = GlobalIndex("GSI1")
feed = Table("feed", indexes=[gsi])
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Post(Entity, table=feed, tag="post"):
    user_id: Field[str]
    post_no: Field[int]
    sent_at: Field[datetime]

    key = Key(pk="#USER#{user_id}", sk="#POST#{post_no}")
    by_date = Key(on=gsi, pk="#POSTS#{user_id}", sk="#{sent_at}")


class PostOut(BaseModel):
    post_no: int


class PostPage(BaseModel):
    items: list[PostOut]
    next: str | None
    previous: str | None


class Clock:
    """A time of day that the test moves."""

    now = NOON


def application(store: Store, clock: Clock) -> FastAPI:
    """Make the application: the posts of the last thirty days, the oldest first."""
    made = FastAPI()

    @made.get("/users/{user_id}/posts")
    def posts(user_id: str, cursor: str | None = None, reader: str = "ann") -> PostPage:
        query = Post.by_date(user_id=user_id).gte(sent_at=clock.now - timedelta(days=30))
        try:
            page = store.page(query, size=2, cursor=cursor, context=reader)
        except BadCursor as error:
            raise HTTPException(400, error.reason) from None
        items = [PostOut(post_no=post.post_no) for post in page]
        return PostPage(items=items, next=page.next, previous=page.previous)

    assert callable(posts)
    return made


@pytest.fixture
def clock() -> Clock:
    """Give the clock of the application."""
    return Clock()


@pytest.fixture
def web(clock: Clock) -> TestClient:
    """Give a client of an application with posts 31, 29, 20, 10 and 1 days old."""
    store = Store.local(feed, cursor_key=["new secret", "old secret"], cursor_ttl=timedelta(days=40))
    for number, age in enumerate((31, 29, 20, 10, 1), start=1):
        store.put(Post(user_id="u1", post_no=number, sent_at=NOON - timedelta(days=age)))
    return TestClient(application(store, clock))


def got(web: TestClient, **params: Any) -> tuple[list[int], dict[str, Any]]:
    """Ask for a page and give its numbers, and the whole answer."""
    answer = web.get("/users/u1/posts", params=params).raise_for_status().json()
    return [item["post_no"] for item in answer["items"]], answer


def test_page_two_works_with_a_later_now(web: TestClient, clock: Clock) -> None:
    """The last thirty days are the same list a minute later; a place that has fallen out of them is their beginning."""
    numbers, first = got(web)
    assert (numbers, first["previous"]) == ([2, 3], None)
    clock.now += timedelta(minutes=1)
    numbers, second = got(web, cursor=first["next"])
    assert (numbers, second["next"]) == ([4, 5], None)
    assert got(web, cursor=second["previous"])[0] == [2, 3]
    clock.now += timedelta(days=25)
    numbers, late = got(web, cursor=first["next"])
    assert (numbers, late["previous"], late["next"]) == ([5], None, None)


def test_what_is_wrong_with_a_cursor_is_the_clients_mistake(web: TestClient) -> None:
    """Another reader, another user and a changed text are told apart; none reads anything."""
    _, first = got(web)
    asked = [
        ("/users/u1/posts", {"cursor": first["next"], "reader": "ben"}, "context"),
        ("/users/u2/posts", {"cursor": first["next"]}, "query"),
        ("/users/u1/posts", {"cursor": first["next"][:-2] + "AA"}, "signature"),
        ("/users/u1/posts", {"cursor": "x y"}, "malformed"),
    ]
    for path, params, reason in asked:
        answer = web.get(path, params=params)
        assert (answer.status_code, answer.json()) == (400, {"detail": reason})
