"""The command `singletable demo`, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import boto3
import pytest
from click.testing import CliRunner, Result

from singletable.cli.app import app
from tests.engines import free_port

PLACES = {
    "provinces.csv": 'code,name\n51,"四川省"\n11,"北京市"\n',
    "cities.csv": 'code,name,provinceCode\n5101,"成都市",51\n1101,"市辖区",11\n',
    "areas.csv": 'code,name,cityCode\n510104,"锦江区",5101\n510107,"武侯区",5101\n110101,"东城区",1101\n',
    "streets.csv": 'code,name,areaCode\n510107001,"东坡街道",510107\n',
}
"""Eight places: in Sichuan one city with two areas, one of them with a street; two places begin with 东."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a directory with few places, so that moto is quick."""
    folder = tmp_path_factory.mktemp("places")
    for name, text in PLACES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def printed(places: Path) -> str:
    """Give what the demonstration prints where there is no terminal."""
    return ran(CliRunner().invoke(app, ["demo", "--data", str(places)])).stdout


@pytest.fixture(scope="module")
def told(places: Path) -> dict[str, Any]:
    """Give the demonstration as a document."""
    result = ran(CliRunner().invoke(app, ["demo", "--data", str(places), "--json"]))
    document: dict[str, Any] = json.loads(result.stdout_bytes)
    return document


def ran(result: Result) -> Result:
    """Insist on success."""
    assert result.exit_code == 0, result.output
    assert result.exception is None
    assert result.stderr == ""
    return result


def pattern(told: dict[str, Any], scene: int, number: int) -> dict[str, Any]:
    """Pick one access pattern out of the document."""
    found: dict[str, Any] = told["scenes"][scene]["patterns"][number]
    return found


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own, without any AWS setting but the ones given."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    nothing = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    return subprocess.run(
        [sys.executable, "-m", "singletable", *arguments],
        env={**clean, **nothing, "AWS_EC2_METADATA_DISABLED": "true", "PYTHONIOENCODING": "utf-8", **settings},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def on_terminal(stream: Literal["stdout", "stderr"], *arguments: str, **settings: str) -> tuple[str, str]:
    """Run the demonstration with stdout or stderr on a terminal; gives what went to the other one, and to it."""
    ours, theirs = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "singletable", "demo", *arguments],
        env={**environment, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **settings},
        encoding="utf-8",
        stdout=theirs if stream == "stdout" else subprocess.PIPE,
        stderr=theirs if stream == "stderr" else subprocess.PIPE,
    )
    os.close(theirs)
    with ThreadPoolExecutor(1) as reader:
        shown = reader.submit(everything, ours)
        piped = "".join(part or "" for part in process.communicate(timeout=120))
    os.close(ours)
    assert process.returncode == 0
    return piped, shown.result()


def everything(terminal: int) -> str:
    """Read a terminal until the program at its other end is gone, which Linux tells by an error."""
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            part = b""
        if not part:
            return b"".join(parts).decode("utf-8")
        parts.append(part)


def test_the_text_is_plain_where_there_is_no_terminal(printed: str) -> None:
    """Neither escape sequences nor trailing spaces nor lines over 100 characters go into a file or a pipe."""
    lines = printed.splitlines()
    assert "\x1b" not in printed
    assert [line for line in lines if line != line.rstrip()] == []
    assert max(map(len, lines)) <= 100


def test_each_pattern_shows_query_condition_rows_and_cost(printed: str) -> None:
    """Every one of the eleven access patterns has its four labelled lines."""
    labels = [
        line.split()[0] for line in printed.splitlines() if line.strip() and len(line) > 13 and line[11:13] == "  "
    ]
    assert {label: labels.count(label) for label in ("query", "sent", "rows", "read")} == {
        "query": 11,
        "sent": 11,
        "rows": 11,
        "read": 11,
    }


def test_a_pattern_reads_as_it_was_sent(printed: str) -> None:
    """The lines of an order are asked for by a prefix below the order's own key, and come in order."""
    shown = printed[printed.index("The lines of Ann's order 2") :].splitlines()
    assert shown[1].split(maxsplit=1) == ["query", 'OrderLine.key(user_id="ann", order_id=2)']
    assert shown[2].split(maxsplit=1) == [
        "sent",
        'PK = "#USER#ann" AND begins_with(SK, "#ORDER#0000000000000000002#LINE#")',
    ]
    assert [line.split() for line in shown[5:8]] == [["1", "LAMP", "2"], ["2", "BULB-E27", "4"], ["3", "CABLE-2M", "1"]]


def test_the_numbers_are_drawn_as_declared(told: dict[str, Any]) -> None:
    """Orders count for each user; 25 invoices drawn by eight threads are 1001 to 1025, each of them once."""
    orders, invoices = told["scenes"][0]["facts"]
    assert orders == "Order numbers, for each user, by the sort key: ann 1-5, bob 1-2, cho 1-2, dee 1."
    assert invoices.endswith("8 threads drew 1001-1025, each one once.")


def test_the_composite_key_reads_what_is_wanted(told: dict[str, Any]) -> None:
    """For the same two games the filter reads all 400 and the composite key two, newest first."""
    filtered, composite = pattern(told, 1, 0), pattern(told, 1, 1)
    assert filtered["first_rows"] == composite["first_rows"]
    assert [row["played_on"] for row in composite["first_rows"]] == ["2025-11-17", "2025-05-31"]
    assert (filtered["filter"], composite["filter"]) == ('status = "PENDING"', None)
    assert (filtered["read"]["items"], composite["read"]["items"]) == (400, 2)
    assert composite["read"]["units"] == 0.5
    assert filtered["read"]["units"] == -(-filtered["read"]["bytes"] // 4096) / 2


def test_the_places_are_one_tree(told: dict[str, Any]) -> None:
    """Sichuan gives its five places, Chengdu the two right below it while reading three, 东 both that begin so."""
    province, city, name = (pattern(told, 2, number) for number in range(3))
    assert (province["rows"], province["read"]["items"]) == (5, 5)
    assert (city["rows"], city["read"]["items"]) == (2, 3)
    assert name["rows"] == 2
    assert {row["name"] for row in name["first_rows"]} == {"东城区", "东坡街道"}
    assert province["key_condition"] == 'PK = "#COUNTRY#CN" AND SK BETWEEN "#PLACE#四川省" AND "#PLACE#四川省$"'
    assert name["key_condition"] == 'GSI1PK = "#NAMES#CN" AND begins_with(GSI1SK, "#东")'


def test_the_sparse_index_holds_one_ann(told: dict[str, Any]) -> None:
    """A user is found by e-mail with one item read."""
    by_email = pattern(told, 0, 0)
    assert (by_email["index"], by_email["rows"], by_email["read"]["items"]) == ("GSI1", 1, 1)
    assert by_email["first_rows"] == [
        {"entity": "User", "user_id": "ann", "name": "Ann Lee", "email": "ann@example.org"}
    ]


@pytest.mark.slow
def test_the_sample_runs_as_a_module() -> None:
    """With the sample that ships, everything runs as `python -m singletable demo`; nothing goes to stderr."""
    done = run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "31 provinces, 342 cities, 226 areas, 610 streets." in done.stdout
    assert "466 rows in" in done.stdout


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_progress_is_drawn_on_a_terminal_only(places: Path) -> None:
    """With stderr on a terminal and stdout in a pipe, bars go to the one and plain text to the other."""
    printed, drawn = on_terminal("stderr", "--data", str(places))
    assert "orders" in drawn
    assert "\x1b[" in drawn
    assert "Chengdu" not in drawn
    assert "\x1b" not in printed
    assert "Chengdu" in printed


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
@pytest.mark.parametrize(("setting", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_can_be_switched_off(places: Path, setting: dict[str, str], coloured: bool) -> None:
    """On a terminal queries are cyan (SGR 36), unless NO_COLOR is set."""
    nothing, printed = on_terminal("stdout", "--data", str(places), **setting)
    assert nothing == ""
    assert "User.by_email" in printed
    assert ("\x1b[36m" in printed) is coloured


def test_an_endpoint_is_left_as_it_was(dynoxide_url: str, places: Path) -> None:
    """On another engine a table of its own is made and deleted, without region or credentials being set."""
    done = run("demo", "--endpoint-url", dynoxide_url, "--data", str(places), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["engine"] == dynoxide_url
    assert pattern(told, 2, 0)["rows"] == 5
    session = boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")
    assert told["table"] not in session.client("dynamodb", endpoint_url=dynoxide_url).list_tables()["TableNames"]


def test_nobody_at_the_endpoint_is_one_line() -> None:
    """Where nobody listens, the exit code is 1 and one line names the endpoint and the error's code."""
    url = f"http://127.0.0.1:{free_port()}"
    done = run("demo", "--endpoint-url", url)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: ST7005 no answer from {url} after 4 attempts")
    assert done.stderr.count("\n") == 1


def test_half_of_the_credentials_is_an_error(dynoxide_url: str) -> None:
    """Credentials that are set by half are told, never replaced by invented ones."""
    done = run("demo", "--endpoint-url", dynoxide_url, AWS_ACCESS_KEY_ID="only")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ST7004 no AWS credentials were found")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://", "http://host:99999", "http://host:0"])
def test_what_is_no_address_is_a_usage_error(url: str) -> None:
    """An endpoint that is no URL of a host is refused before anything runs, with exit code 2 and an example."""
    result = CliRunner().invoke(app, ["demo", "--endpoint-url", url])
    assert result.exit_code == 2
    assert "no address of an engine, such as http://127.0.0.1:8000" in result.stderr


def test_a_missing_directory_is_a_usage_error(tmp_path: Path) -> None:
    """A directory that does not exist is refused with exit code 2."""
    result = CliRunner().invoke(app, ["demo", "--data", str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_a_directory_without_places_is_one_line(tmp_path: Path) -> None:
    """A directory that lacks the files ends with exit code 1 and one line that names the file."""
    result = CliRunner().invoke(app, ["demo", "--data", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: ST5001 provinces.csv cannot be read: No such file or directory "
        "(wanted: provinces.csv, cities.csv, areas.csv, streets.csv)\n"
    )


def test_help_loads_nothing_heavy() -> None:
    """`--help` answers without rich, boto3 or moto being loaded."""
    program = (
        "import sys\nfrom singletable.cli import main\ntry:\n    main(['demo', '--help'])\nexcept SystemExit as end:\n"
        "    print(end.code, [name for name in ('rich', 'boto3', 'botocore', 'moto') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "--endpoint-url URL" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 []"


def test_the_version_is_the_installed_one() -> None:
    """`--version` tells the version of the package."""
    from importlib.metadata import version

    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"singletable, version {version('singletable')}\n")


def test_without_its_extra_the_command_says_how_to_get_it() -> None:
    """Where click and rich are not installed, one line names the extra; there is no traceback."""
    program = (
        "import importlib.util, sys\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name in ('click', 'rich') else find(name, *rest)\n"
        "sys.modules['click'] = sys.modules['rich'] = None\n"
        "from singletable.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: the command line needs click and rich, which the extra 'cli' brings: "
        'pip install "singletable[cli]" (with the demo: "singletable[cli,local]")\n'
    )
