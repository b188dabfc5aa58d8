"""The driver of threads: one at a time, all together, exceptions in place, and a life after fork."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore import exceptions as theirs

from singletable.driver import Driver
from singletable.errors import ConfigurationError, UsageError
from singletable.wire import Call, Exclusive, NoReply, Pause, Refusal, Steps, Together

WAIT = 10.0


class Client:
    """A client with one method, `ask`, that calls a function."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        self.ask = answer
        self.meta = self
        self.endpoint_url = "http://engine.test"


def no_client() -> Any:
    """Be the client of flows that call nothing."""
    raise AssertionError("nothing may be sent")


@pytest.fixture
def driver() -> Iterator[Driver]:
    """Give a driver with four helpers and no client."""
    made = Driver(no_client, workers=4)
    yield made
    made.close()


def giving(value: Any) -> Steps[Any]:
    """Make a flow that ends at once with a value."""
    yield Pause(0)
    return value


def failing(error: Exception) -> Steps[Any]:
    """Make a flow that raises."""
    yield Pause(0)
    raise error


def calling(*calls: Callable[[], Any]) -> Steps[list[Any]]:
    """Make a flow that calls plain functions between two effects."""
    results: list[Any] = []
    for call in calls:
        yield Pause(0)
        results.append(call())
    return results


class TestRun:
    def test_a_call_is_sent_by_its_name(self) -> None:
        """A call is the client's method of that name with those parameters, and its answer is sent back."""

        def answer(**params: Any) -> Any:
            return {"got": params}

        driver = Driver(lambda: Client(answer), workers=1)

        def flow() -> Steps[Any]:
            answer = yield Call("ask", {"Key": 1})
            return answer

        assert driver.run(flow()) == {"got": {"Key": 1}}

    def test_what_a_flow_raises_comes_out(self, driver: Driver) -> None:
        """An error of the flow is raised by `run`, as it is."""
        error = LookupError("x")
        with pytest.raises(LookupError) as caught:
            driver.run(failing(error))
        assert caught.value is error

    def test_an_effects_error_can_be_handled(self) -> None:
        """What goes wrong in an effect is thrown into the flow at the effect, which may go on."""
        answers: list[Any] = [RuntimeError("once"), "second"]

        def answer(**_: Any) -> Any:
            found = answers.pop(0)
            if isinstance(found, Exception):
                raise found
            return found

        def flow() -> Steps[Any]:
            try:
                yield Call("ask", {})
            except RuntimeError:
                return (yield Call("ask", {}))
            return None

        assert Driver(lambda: Client(answer), workers=1).run(flow()) == "second"

    def test_a_flow_is_closed_on_interrupt(self) -> None:
        """An interrupt is not thrown into the flow, but the flow is closed, though somebody still holds it."""
        thrown: list[BaseException] = []

        def interrupt(**_: Any) -> Any:
            raise KeyboardInterrupt

        def flow() -> Steps[None]:
            try:
                yield Call("ask", {})
            except BaseException as error:
                thrown.append(error)
                raise

        held = flow()
        with pytest.raises(KeyboardInterrupt):
            Driver(lambda: Client(interrupt), workers=1).run(held)
        assert inspect.getgeneratorstate(held) == inspect.GEN_CLOSED
        assert [type(error) for error in thrown] == [GeneratorExit]

    def test_a_pause_waits(self, driver: Driver) -> None:
        """A pause lasts at least as long as it says."""

        def flow() -> Steps[None]:
            yield Pause(0.02)

        begun = time.monotonic()
        driver.run(flow())
        assert time.monotonic() - begun >= 0.02


class TestFaults:
    def run(self, error: Exception) -> Any:
        """Send a call that ends in botocore's error."""

        def answer(**_: Any) -> Any:
            raise error

        def flow() -> Steps[Any]:
            return (yield Call("ask", {}))

        return Driver(lambda: Client(answer), workers=1).run(flow())

    def test_an_answer_that_is_an_error(self) -> None:
        """A ClientError of botocore's is a Refusal with name, status, old item and the number of attempts."""
        item = {"PK": {"S": "x"}}
        response: Any = {
            "Error": {"Code": "ConditionalCheckFailedException", "Message": "no"},
            "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 2},
            "Item": item,
        }
        cause = theirs.ClientError(response, "PutItem")
        with pytest.raises(Refusal) as caught:
            self.run(cause)
        refusal = caught.value
        assert (refusal.error, refusal.message, refusal.status) == ("ConditionalCheckFailedException", "no", 400)
        assert (refusal.item, refusal.sent) == (item, 3)
        assert refusal.__cause__ is cause

    @pytest.mark.parametrize(
        ("error", "sent"),
        [
            (theirs.EndpointConnectionError(endpoint_url="u"), False),
            (theirs.ConnectTimeoutError(endpoint_url="u"), False),
            (theirs.ReadTimeoutError(endpoint_url="u"), True),
            (theirs.ConnectionClosedError(endpoint_url="u"), True),
        ],
    )
    def test_no_answer(self, error: Exception, sent: bool) -> None:
        """A connection that was not made sent nothing; one that broke may have."""
        with pytest.raises(NoReply) as caught:
            self.run(error)
        assert (caught.value.sent, caught.value.endpoint) == (sent, "http://engine.test")

    @pytest.mark.parametrize("error", [theirs.NoRegionError(), theirs.NoCredentialsError()])
    def test_no_client(self, error: Exception) -> None:
        """A missing region or missing credentials are a ConfigurationError, with the way out."""
        with pytest.raises(ConfigurationError) as caught:
            self.run(error)
        assert caught.value.hint
        assert caught.value.__cause__ is error

    @pytest.mark.parametrize(
        ("error", "missing"),
        [
            (theirs.UnauthorizedSSOTokenError(), "credentials"),
            (theirs.SSOTokenLoadError(error_msg="x"), "credentials"),
            (theirs.TokenRetrievalError(provider="sso", error_msg="x"), "credentials"),
            (theirs.ProfileNotFound(profile="nope"), "profile"),
            (theirs.ConfigParseError(path="p"), None),
            (theirs.UnknownCredentialError(name="n"), None),
        ],
    )
    def test_no_request_can_be_made(self, error: Exception, missing: str | None) -> None:
        """Whatever botocore lacks for a request is a ConfigurationError that names it, with the way out."""
        with pytest.raises(ConfigurationError) as caught:
            self.run(error)
        assert caught.value.missing == missing
        assert caught.value.hint
        assert caught.value.__cause__ is error

    def test_parameters_that_botocore_refuses(self) -> None:
        """A parameter that botocore refuses is named, and its value is shown nowhere, not even by a cause."""
        reports = [
            "Invalid type for parameter Item.note.S, value: secret, type: <class 'int'>, valid types: <class 'str'>",
            'Missing required parameter in input: "TableName"',
        ]
        with pytest.raises(UsageError, match=r"parameters Item\.note\.S, input\n") as caught:
            self.run(theirs.ParamValidationError(report="\n".join(reports)))
        shown = "".join(traceback.format_exception(caught.value))
        assert "secret" not in shown
        assert caught.value.hint

    def test_anything_else_is_left_alone(self) -> None:
        """An error that is not botocore's comes through as it is."""
        error = ZeroDivisionError()
        with pytest.raises(ZeroDivisionError) as caught:
            self.run(error)
        assert caught.value is error

    def test_a_client_that_cannot_be_made(self) -> None:
        """The same holds where the client itself cannot be made."""

        def make() -> Any:
            raise theirs.NoRegionError

        def flow() -> Steps[Any]:
            return (yield Call("ask", {}))

        with pytest.raises(ConfigurationError, match="region"):
            Driver(make, workers=1).run(flow())


class TestExclusive:
    def test_one_at_a_time(self, driver: Driver) -> None:
        """Of flows with one key never two are inside."""
        inside, most = [0], [0]

        def enter() -> None:
            inside[0] += 1
            most[0] = max(most[0], inside[0])

        def leave() -> None:
            inside[0] -= 1

        def flow() -> Steps[None]:
            yield Exclusive("key", calling(enter, lambda: time.sleep(0.002), leave))

        threads = [threading.Thread(target=lambda: driver.run(flow())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        assert (most, inside) == ([1], [0])

    def test_other_keys_do_not_wait(self, driver: Driver) -> None:
        """Flows with different keys are inside at the same time."""
        both = threading.Barrier(2, timeout=WAIT)

        def flow(key: str) -> Steps[Any]:
            return (yield Exclusive(key, calling(both.wait)))

        outcomes = driver.run(together([flow("a"), flow("b")]))
        assert sorted(outcome[0] for outcome in outcomes) == [0, 1]

    def test_the_result_is_the_flows(self, driver: Driver) -> None:
        """What the inner flow gives, or raises, is what the effect gives or raises; the lock is free again."""

        def flow(inner: Steps[Any]) -> Steps[Any]:
            return (yield Exclusive("key", inner))

        assert driver.run(flow(giving(7))) == 7
        with pytest.raises(LookupError):
            driver.run(flow(failing(LookupError())))
        assert driver.run(flow(giving(8))) == 8

    def test_locks_are_forgotten(self, driver: Driver) -> None:
        """A lock that nobody holds takes no memory."""

        def flow(key: int) -> Steps[Any]:
            return (yield Exclusive(key, giving(key)))

        for key in range(100):
            driver.run(flow(key))
        assert len(driver._locks) == 0


def together(flows: list[Steps[Any]], at_most: int = 8) -> Steps[list[Any]]:
    """Make a flow that runs others at once."""
    outcomes: list[Any] = yield Together(flows, at_most)
    return outcomes


class TestTogether:
    def test_results_keep_the_order(self, driver: Driver) -> None:
        """Results stand where their flows stood, however long each took."""
        delays = [0.02, 0.0, 0.01, 0.0, 0.005]

        def flow(place: int) -> Steps[int]:
            yield Pause(delays[place])
            return place

        assert driver.run(together([flow(place) for place in range(5)])) == [0, 1, 2, 3, 4]

    def test_nothing_together(self, driver: Driver) -> None:
        """No flows give no results, and start no thread."""
        assert driver.run(together([])) == []
        assert driver._pool is None

    def test_they_run_at_the_same_time(self, driver: Driver) -> None:
        """Three flows that wait for each other all come through."""
        all_there = threading.Barrier(3, timeout=WAIT)
        outcomes = driver.run(together([calling(all_there.wait) for _ in range(3)], at_most=3))
        assert sorted(outcome[0] for outcome in outcomes) == [0, 1, 2]

    def test_never_more_than_allowed(self, driver: Driver) -> None:
        """With `at_most=2` never three run at once."""
        lock, inside, most = threading.Lock(), [0], [0]

        def enter() -> None:
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])

        def leave() -> None:
            with lock:
                inside[0] -= 1

        flows: list[Steps[Any]] = [calling(enter, lambda: time.sleep(0.003), leave) for _ in range(8)]
        driver.run(together(flows, at_most=2))
        assert most[0] <= 2
        assert inside == [0]

    def test_exceptions_stand_in_place(self, driver: Driver) -> None:
        """A flow that raises gives its exception in its place, and every other runs to its end."""
        error = LookupError("second")
        assert driver.run(together([giving(1), failing(error), giving(3)])) == [1, error, 3]

    def test_nested_ones_do_not_wait_for_each_other(self) -> None:
        """Flows that run flows that run flows come through with a single helper thread."""
        driver = Driver(no_client, workers=1)

        def nest(depth: int) -> Steps[int]:
            if depth == 0:
                yield Pause(0.001)
                return 1
            outcomes = yield Together([nest(depth - 1) for _ in range(3)], 3)
            return sum(outcomes)

        results: list[int] = []
        thread = threading.Thread(target=lambda: results.append(driver.run(nest(3))), daemon=True)
        thread.start()
        thread.join(WAIT)
        assert results == [27]
        driver.close()

    def test_many_callers_share_the_helpers(self, driver: Driver) -> None:
        """Twenty threads that run eight flows each all get their own results."""
        results: dict[int, list[Any]] = {}

        def run(number: int) -> None:
            results[number] = driver.run(together([giving((number, place)) for place in range(8)]))

        threads = [threading.Thread(target=run, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        assert results == {number: [(number, place) for place in range(8)] for number in range(20)}

    def test_a_closed_driver_works_again(self, driver: Driver) -> None:
        """Closing lets the threads go; the next need makes new ones."""
        driver.run(together([giving(1), giving(2)]))
        driver.close()
        assert driver.run(together([giving(1), giving(2)])) == [1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
class TestFork:
    def test_a_child_has_new_locks(self) -> None:
        """A child that is forked while a lock is held can take that lock, and has threads of its own."""
        program = FORKING.format(paths=sys.path)
        assert run_python(program) == "0"


FORKING = """
import sys
sys.path[:] = {paths!r}
import os, threading
from singletable.driver import Driver
from singletable.wire import Exclusive, Pause, Together

driver = Driver(lambda: None, workers=2)
held, done = threading.Event(), threading.Event()

def giving(value):
    yield Pause(0)
    return value

def holding():
    yield Pause(0)
    held.set()
    done.wait(10)

def exclusive(inner):
    return (yield Exclusive("key", inner))

def together():
    return (yield Together([giving(1), giving(2)], 2))

driver.run(together())
threading.Thread(target=lambda: driver.run(exclusive(holding()))).start()
held.wait(10)
child = os.fork()
if child == 0:
    answer = []
    def work():
        answer.append(driver.run(exclusive(giving(7))))
        answer.append(driver.run(together()))
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(5)
    os._exit(0 if answer == [7, [1, 2]] else 1)
_, status = os.waitpid(child, 0)
done.set()
print(os.waitstatus_to_exitcode(status))
"""


def run_python(program: str) -> str:
    """Run a program in a process of its own, where a fork disturbs no other test, and give what it prints."""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.strip()
