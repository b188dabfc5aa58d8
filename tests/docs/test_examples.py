"""The pages as programs: every Python block of the README, of `docs/` and of `docs/zh/` is run, in order, page by page.

The blocks of one page share one namespace, as a reader would type them. A block that begins with `>>>` is a doctest:
what it shows is compared with what comes out. `<!-- not run: reason -->` above a block leaves it out.
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
from click.testing import CliRunner

from singletable import Key, Store, TableMissing, evolve, from_item, to_item
from singletable.cli.app import app
from tests.engines import PROJECT

README = PROJECT / "README.md"
ASYNCIO, PYNAMODB = "async.md", "from-pynamodb.md"
ON_A_SERVER = (ASYNCIO, PYNAMODB)
"""The pages that the embedded engine cannot answer."""

DOCS = PROJECT / "docs"
CHINESE = tuple(sorted((DOCS / "zh").glob("*.md")))
PAGES = (*sorted(DOCS.glob("*.md")), *CHINESE)
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^>]+) -->\n\n?)?```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)
COMMAND = re.compile(r"^\$ singletable counter (?P<words>.+)\n(?P<shown>(?:[^$`\n].*\n)*)", re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.DONT_ACCEPT_TRUE_FOR_1
ERROR = "singletable.errors."


class FirstLines(doctest.OutputChecker):
    """Compares an error of ours by its first line where the page shows no more: its hint may be worded anew."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Say whether what came out is what the page shows."""
        if want.startswith(ERROR) and want.count("\n") == 1:
            got = got.partition("\n")[0] + "\n"
        return super().check_output(want, got, optionflags)


@dataclass(frozen=True, slots=True)
class Block:
    """One Python block of a page; `line` is that of its first line of code, counted from 1."""

    page: Path
    line: int
    code: str
    skipped: str | None


def blocks_of(page: Path) -> Iterator[Block]:
    """Give every Python block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("code")) + 1
        yield Block(page, line, found["code"], found["reason"])


def commands_of(page: Path) -> list[tuple[str, str]]:
    """Give the `singletable counter` commands of a page, each with what it is to print."""
    text = page.read_text(encoding="utf-8")
    return [(found["words"], found["shown"]) for found in COMMAND.finditer(text)]


def called(page: Path) -> str:
    """Name a page: its path below `docs`, or its name where it stands elsewhere."""
    return page.relative_to(DOCS).as_posix() if page.is_relative_to(DOCS) else page.name


def run_page(page: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a page's blocks in one namespace, as a module of its own, and give the namespace."""
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks_of(page):
        if block.skipped is None:
            run_block(block, module.__dict__)
    return module.__dict__


def run_block(block: Block, namespace: dict[str, Any]) -> None:
    """Run one block; a doctest fails the test with what was wanted and what came out."""
    if not block.code.startswith(">>>"):
        exec(compile("\n" * (block.line - 1) + block.code, str(block.page), "exec"), namespace)
        return
    name = f"{block.page.name}:{block.line}"
    example = doctest.DocTestParser().get_doctest(block.code, namespace, name, str(block.page), block.line - 1)
    printed: list[str] = []
    result = doctest.DocTestRunner(FirstLines(), optionflags=FLAGS).run(example, out=printed.append, clear_globs=False)
    namespace.update(example.globs)
    assert result.failed == 0, "".join(printed)


@pytest.fixture
def page_on_dynoxide(dynoxide_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name a server by the environment alone, as the README tells its reader to; gives its URL."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", dynoxide_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    return dynoxide_url


@pytest.fixture
def readme(page_on_dynoxide: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, Any]]:
    """Run the README on a server and give its namespace; its table is dropped afterwards."""
    namespace = run_page(README, monkeypatch)
    yield namespace
    namespace["store"].delete_table()


def test_the_readme_runs_as_written(readme: Mapping[str, Any]) -> None:
    """The program of the README draws number 1 for the first order, and the e-mail index follows the update."""
    store: Store = readme["store"]
    first = store.one(readme["Order"].at(user_id="u1", order_id=1))
    assert (first.order_id, first.status) == (1, "PENDING")
    by_email = store.query(readme["User"].by_email(email="ann@example.org")).all()
    assert [user.name for user in by_email] == ["Ann"]
    home = readme["home"]
    assert (home.account.balance, home.account.version, home.orders) == (40, 2, [first])
    assert readme["page"].items == (first,)


def test_what_the_readme_writes_by_hand_is_what_singletable_writes(readme: Mapping[str, Any]) -> None:
    """The order and the user written with boto3 alone are our own items, apart from the id of the create."""
    order, user, stored = readme["Order"], readme["User"], readme["table"]
    item = _item(readme, user_id="u1", order_id=2)
    by_hand = from_item(order, item)
    assert by_hand.order_id == readme["number"] == 2
    assert item == to_item(order(user_id="u1", order_id=2, placed_at=by_hand.placed_at))
    ann = stored.get_item(Key={"PK": "#USER#u1", "SK": "#PROFILE"})["Item"]
    assert ann["email"] == "ann@example.org"
    ours = to_item(evolve(readme["store"].one(user.at(user_id="u1")), email="ann@example.org"))
    assert ann == {name: value["S"] for name, value in ours.items()}


def test_what_the_readme_writes_by_hand_is_found_by_its_queries(readme: Mapping[str, Any]) -> None:
    """Both orders, ours and the one by hand, are pending; the later one comes first."""
    found = readme["store"].query(readme["Order"].pending(user_id="u1")).all()
    assert [order.order_id for order in found] == [2, 1]


def _item(readme: Mapping[str, Any], **parts: object) -> dict[str, dict[str, Any]]:
    """Read one order as stored, in DynamoDB JSON, without looking through singletable."""
    client = boto3.client("dynamodb")
    key = readme["Order"].at(**parts).key
    item: dict[str, dict[str, Any]] = client.get_item(TableName="app", Key=key)["Item"]
    return item


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in ON_A_SERVER], ids=called)
def test_a_page_runs_as_written(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the page runs, in order, and prints what the page shows."""
    run_page(page, monkeypatch)


def test_the_asyncio_page_runs_on_a_server(page_on_dynoxide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the page runs on an engine that the environment names; it drops its table itself."""
    namespace = run_page(PROJECT / "docs" / ASYNCIO, monkeypatch)
    with pytest.raises(TableMissing):
        Store(namespace["app"]).delete_table()


def test_the_page_from_pynamodb_runs_on_a_server(page_on_dynoxide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the page runs, PynamoDB's models and our entities on one table that holds three posts."""
    namespace = run_page(PROJECT / "docs" / PYNAMODB, monkeypatch)
    store: Store = namespace["store"]
    assert store.count(namespace["Post"].key(thread="T#1")) == 3
    store.delete_table()


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=called)
def test_commands_print_what_the_page_shows(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `singletable counter` command of a page prints what stands below it; `shop` is the page itself."""
    run_page(page, monkeypatch)
    monkeypatch.setitem(sys.modules, "shop", sys.modules[f"page_{page.stem}"])
    for words, shown in commands_of(page):
        result = CliRunner().invoke(app, ["counter", *shlex.split(words)])
        assert (result.exit_code, result.output) == (0, shown)


@pytest.mark.parametrize("page", CHINESE, ids=called)
def test_a_chinese_page_shows_the_same_code(page: Path) -> None:
    """A page in Chinese has the code of the English page of its name, block by block."""
    english = DOCS / page.name
    assert [block.code for block in blocks_of(page)] == [block.code for block in blocks_of(english)]
    assert commands_of(page) == commands_of(english)


def test_the_pytest_example_passes(tmp_path: Path) -> None:
    """The fixture and the test that the page shows are found by pytest, and pass."""
    declared, *_, example = (block.code for block in blocks_of(PROJECT / "docs" / "local.md"))
    assert "def test_" in example
    module = tmp_path / "test_example.py"
    module.write_text(declared + "\n\n" + example, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(module)]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout.splitlines()[-1].split(" in ")[0]) == (0, "1 passed"), ran.stdout


@pytest.mark.parametrize("page", [README, *PAGES], ids=called)
def test_links_have_a_text(page: Path) -> None:
    """No link leaves its text to Sphinx: where the page is read as it is, nothing would be seen of it."""
    assert "[](" not in page.read_text(encoding="utf-8")


def test_pages_show_results() -> None:
    """The reader of these tests can trust them: pages with results are found, and their results are compared."""
    shown = [block for page in PAGES for block in blocks_of(page) if block.code.startswith(">>>")]
    assert {"tutorial.md", "design.md", "keys.md", "numbers.md"} <= {block.page.name for block in shown}


def test_a_wrong_result_is_noticed() -> None:
    """A shown result that differs from what comes out fails, with the page and the line."""
    with pytest.raises(AssertionError, match=r'File ".*index.md", line 8'):
        run_block(Block(PROJECT / "docs" / "index.md", 8, ">>> 1 + 1\n3\n", None), {})


def test_the_first_line_of_an_error_is_compared() -> None:
    """The hint of an error may be left out of a page; its name, code and message are compared."""
    raising = ">>> Key()\nTraceback (most recent call last):\n    ...\nsingletable.errors."
    shown = f"{raising}TemplateError: ST1002 a Key has no partition key template\n"
    run_block(Block(PROJECT / "docs" / "index.md", 8, shown, None), {"Key": Key})
    for wrong in (shown.replace("ST1002", "ST1001"), shown.replace("partition", "sort")):
        with pytest.raises(AssertionError, match="Failed example"):
            run_block(Block(PROJECT / "docs" / "index.md", 8, wrong, None), {"Key": Key})


def test_few_blocks_are_left_out() -> None:
    """A block that is not run says why, and there are no more than three of them."""
    skipped = [block.skipped for page in (README, *PAGES) for block in blocks_of(page) if block.skipped is not None]
    assert len(skipped) <= 3
    assert all(len(reason.split()) >= 3 for reason in skipped)
