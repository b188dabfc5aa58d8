"""Who sends again, and how often: our clients send once and the flows resend; a user's client keeps its own retries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from aiobotocore.config import AioConfig
from botocore.config import Config

from singletable import Store, Throttled
from singletable.aio import AsyncStore
from tests.contract.awaited import LoopThread
from tests.contract.behind import REGION, async_session, session
from tests.faults.matrix import Hurried, HurriedAsync
from tests.faults.proxy import Proxy, proxied
from tests.faults.rules import CLOSED, SERVER_ERROR, THROTTLE, Rule, Script
from tests.faults.scenes import Account, bank

A = Account.at(name="a")
OWN: Any = {"retries": {"total_max_attempts": 3, "mode": "standard"}}


@pytest.fixture
def throttling(dynoxide_url: str) -> Iterator[Proxy]:
    """Give a proxy that throttles whatever it is asked."""
    with proxied(dynoxide_url, Script(Rule(THROTTLE))) as proxy:
        yield proxy


def ours(url: str, name: str = "none") -> Store:
    """Make a store whose client is ours, and which does not wait."""
    store = Store(bank, name=name, endpoint_url=url, region=REGION, session=session())
    store._driver = Hurried(store._connected, workers=8)
    return store


def theirs(url: str, name: str = "none") -> Store:
    """Make a store with a user's client, which sends three times by itself."""
    client = session().client("dynamodb", endpoint_url=url, region_name=REGION, config=Config(**OWN))
    store = Store(bank, name=name, client=client)
    store._driver = Hurried(store._connected, workers=8)
    return store


@pytest.mark.parametrize(
    ("setting", "attempts"), [(None, 4), ("1", 1), ("2", 2), ("7", 7), ("0", 4), ("many", 4), ("", 4)]
)
def test_the_environment_says_how_often(
    throttling: Proxy, monkeypatch: pytest.MonkeyPatch, setting: str | None, attempts: int
) -> None:
    """AWS_MAX_ATTEMPTS, read when a store is made, is how often a request goes out; 4 where it says no number."""
    if setting is not None:
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", setting)
    with pytest.raises(Throttled) as caught:
        ours(throttling.url).get(A)
    assert caught.value.attempts == attempts
    assert throttling.script.calls == {"get_item": attempts}


def test_the_same_awaited(throttling: Proxy, monkeypatch: pytest.MonkeyPatch, loop: LoopThread) -> None:
    """The flows count in the same way in the other colour, over a client of ours that sends once."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    store = AsyncStore(bank, endpoint_url=throttling.url, region=REGION, session=async_session())
    store._driver = HurriedAsync(store._driver._connect)
    with pytest.raises(Throttled):
        loop.wait(store.get(A))
    loop.wait(store.close())
    assert throttling.script.calls == {"get_item": 3}


def test_a_users_client_keeps_its_retries(throttling: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sends three times does so for each of our attempts, and all of them are counted."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    with pytest.raises(Throttled) as caught:
        theirs(throttling.url).get(A)
    assert throttling.script.calls == {"get_item": 6}
    assert caught.value.attempts == 6


def test_a_users_awaited_client_keeps_its_retries(
    throttling: Proxy, monkeypatch: pytest.MonkeyPatch, loop: LoopThread
) -> None:
    """The same holds for an aiobotocore client."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    async def main() -> None:
        config = AioConfig(**OWN)
        making: Any = async_session().create_client(
            "dynamodb", endpoint_url=throttling.url, region_name=REGION, config=config
        )
        async with making as client:
            await AsyncStore(bank, client=client).get(A)

    with pytest.raises(Throttled):
        loop.wait(main())
    assert throttling.script.calls == {"get_item": 3}


@pytest.mark.parametrize("make", [ours, theirs])
@pytest.mark.parametrize("fault", [CLOSED, SERVER_ERROR], ids=repr)
def test_a_create_is_recognised_whoever_sent_again(dynoxide_url: str, table_name: str, make: Any, fault: Any) -> None:
    """A create whose first reply went wrong is sent twice and succeeds once, by the flow's resend or the client's."""
    clean = Store(bank, name=table_name, endpoint_url=dynoxide_url, region=REGION, session=session())
    clean.create_table()
    script = Script(Rule(fault, "put_item", nth=(1,)))
    with proxied(dynoxide_url, script) as proxy:
        store = make(proxy.url, table_name)
        made = store.create(Account(name="a", balance=1))
        store.close()
    assert clean.get(A, consistent=True) == made == Account(name="a", balance=1)
    assert script.calls == {"put_item": 2}
    clean.delete_table()
    clean.close()


@pytest.mark.parametrize("make", [ours, theirs])
def test_an_addition_is_made_once_whoever_sent_again(dynoxide_url: str, table_name: str, make: Any) -> None:
    """An addition whose first reply was lost is sent twice and made once."""
    clean = Store(bank, name=table_name, endpoint_url=dynoxide_url, region=REGION, session=session())
    clean.create_table()
    clean.create(Account(name="a", balance=10))
    script = Script(Rule(CLOSED, "update_item", nth=(1,)))
    with proxied(dynoxide_url, script) as proxy:
        store = make(proxy.url, table_name)
        assert store.update(A, Account.balance.add(5)).balance == 15
        store.close()
    assert clean.one(A, consistent=True).balance == 15
    assert script.calls == {"update_item": 2}
    clean.delete_table()
    clean.close()
