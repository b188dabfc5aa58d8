"""A store that is used on both sides of a fork: each process reads its own replies, and none hangs.

Each program runs in a process of its own, where a fork disturbs no other test.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

PREFACE = """
import sys
sys.path[:] = {paths!r}
import asyncio, os, threading, time, warnings
from concurrent.futures import ThreadPoolExecutor
import boto3
from singletable import AutoIncrement, Entity, Field, Key, Store, Table
from singletable.aio import AsyncStore

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork beside threads, which is the matter
box = Table("box")

class Thing(Entity, table=box, tag="thing"):
    number: Field[int]
    key = Key(pk="#THING#{{number}}", sk="#THING")

class Parcel(Entity, table=box, tag="parcel"):
    number: Field[int] = AutoIncrement(block=10)
    key = Key(pk="#PARCEL#{{number}}", sk="#PARCEL")

PLACE = dict(
    name={name!r},
    endpoint_url={url!r},
    session=boto3.Session(aws_access_key_id="x", aws_secret_access_key="x", region_name="us-east-1"),
)

def in_children(count, work):
    '''Fork so many children; give how each ended: 0 where its work was true within twenty seconds.'''
    children = []
    for place in range(count):
        child = os.fork()
        if child == 0:
            answers = []
            worker = threading.Thread(target=lambda: answers.append(work(place)), daemon=True)
            worker.start()
            worker.join(20)
            os._exit(0 if answers == [True] else 1)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
"""

THREADS = """
store = Store(box, **PLACE)
store.create_table()
store.put_many(Thing(number=number) for number in range(200))
warm = threading.Barrier(8, timeout=20)

def read(numbers):
    return all(store.one(Thing.at(number=number)).number == number for number in numbers)

def warming(place):
    warm.wait()
    return read(range(place, 200, 8))

with ThreadPoolExecutor(8) as pool:
    assert all(pool.map(warming, range(8)))

def work(place):
    with ThreadPoolExecutor(8) as pool:
        return all(pool.map(lambda turn: read(range(turn, 200, 4)), range(8)))

parents = []
parent = threading.Thread(target=lambda: [parents.append(read(range(200))) for _ in range(3)])
parent.start()
print(in_children(4, work))
parent.join(20)
print(parents)
store.delete_table()
"""

MAKING = """
real, begun = boto3.session.Session.client, threading.Event()

def slowly(*args, **kwargs):
    if threading.current_thread().name == "making":
        begun.set()
        time.sleep(0.3)
    return real(*args, **kwargs)

boto3.session.Session.client = slowly
store = Store(box, **PLACE)
making = threading.Thread(target=store.create_table, name="making")
making.start()
begun.wait(20)
print(in_children(2, lambda place: store.name == {name!r} and store._connected() is not None))
making.join(20)
local = Store.local(box)
holding = threading.Event()

def hold():
    with local._verbs.context.hints._lock:
        holding.set()
        time.sleep(2)

threading.Thread(target=hold, daemon=True).start()
holding.wait(20)
print(in_children(1, lambda place: local._verbs.context.hints.get("p", 0.0) is None))
store.delete_table()
"""

BLOCKS = """
store = Store(box, **PLACE)
store.create_table()
print([store.create(Parcel()).number for _ in range(2)])
print(in_children(1, lambda place: [store.create(Parcel()).number for _ in range(2)] == [11, 12]))
print([store.create(Parcel()).number for _ in range(2)])
store.delete_table()
"""

LOOPS = """
os.environ |= dict(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1")
del PLACE["session"]
store = AsyncStore(box, **PLACE)

async def read(numbers):
    found = await asyncio.gather(*[store.one(Thing.at(number=number)) for number in numbers])
    return [each.number for each in found] == list(numbers)

async def begin():
    await store.create_table()
    await store.put_many(Thing(number=number) for number in range(50))
    return await read(range(50))

loop = asyncio.new_event_loop()
assert loop.run_until_complete(begin())

def work(place):
    return not store._driver._loops and asyncio.run(read(range(place, 50)))

print(in_children(3, work))
print(loop.run_until_complete(read(range(50))))
loop.run_until_complete(store.delete_table())
loop.run_until_complete(store.close())
loop.close()
"""

GIVEN = """
given = PLACE["session"].client("dynamodb", endpoint_url=PLACE["endpoint_url"])
kept, own = Store(box, client=given), Store(box, **PLACE)
made = own._connected()
print(in_children(1, lambda place: kept._connected() is given and own._connected() is not made))
print(kept._connected() is given, own._connected() is made)
"""


def printed(program: str, url: str, name: str) -> list[str]:
    """Run a program and give the lines it prints."""
    text = (PREFACE + program.replace("{", "{{").replace("}", "}}").replace("{{name!r}}", "{name!r}")).format(
        paths=sys.path, url=url, name=name
    )
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_every_process_reads_what_it_asked_for(dynoxide_url: str, table_name: str) -> None:
    """Where eight connections are open at the fork, four children and the parent get the items they ask for."""
    assert printed(THREADS, dynoxide_url, table_name[-40:]) == ["[0, 0, 0, 0]", "[True, True, True]"]


def test_a_fork_while_the_client_is_made_hangs_nobody(dynoxide_url: str, table_name: str) -> None:
    """A child that is forked while another thread makes the client, or holds a lock of the hints, goes on."""
    assert printed(MAKING, dynoxide_url, table_name[-40:]) == ["[0, 0]", "[0]"]


def test_loops_share_nothing_with_a_child(dynoxide_url: str, table_name: str) -> None:
    """A child of a process with an open asynchronous client makes its own, and the parent's goes on."""
    assert printed(LOOPS, dynoxide_url, table_name[-40:]) == ["[0, 0, 0]", "True"]


def test_a_client_that_is_handed_in_is_kept(dynoxide_url: str, table_name: str) -> None:
    """A child keeps the client of the user, and makes its own in place of one that the store made."""
    assert printed(GIVEN, dynoxide_url, table_name[-40:]) == ["[0]", "True True"]


def test_a_child_draws_a_block_of_its_own(dynoxide_url: str, table_name: str) -> None:
    """A child that is forked in the middle of a block gives none of its numbers out once more."""
    assert printed(BLOCKS, dynoxide_url, table_name[-40:]) == ["[1, 2]", "[0]", "[3, 4]"]
