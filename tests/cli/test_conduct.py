"""``aggregate conduct`` from outside."""

import re
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from aggregate.base import install_command
from tests.cli.command_line import Ended, aggregate, begin, succeeded
from tests.fakes.conducting import TRACK, track_project
from tests.fakes.postgres import HOW_TO_GET_IT, find_programs, outage, postgres_server
from tests.hostile.running import ends

ROOT = Path(__file__).parents[2]
TICKETS = """\
[[tickets]]
id = "a"
prompt = "Look."
focus_files = ["one.py"]
collect_into = "$found"
retries = 0

[[tickets]]
id = "b"
prompt = "Go on."
depends_on = ["a"]
"""
CONDUCTOR = ("aggregate.agents.tracks.service", "aggregate.agents.tracks.durable.dbos_queue")


def conduct(folder: Path, *arguments: str) -> Ended:
    return aggregate("conduct", *arguments, "-c", str(folder / "manual_slop.toml"))


def conducted(folder: Path, *arguments: str) -> Ended:
    return succeeded("conduct", *arguments, "-c", str(folder / "manual_slop.toml"))


def test_a_run_and_another(tmp_path: Path) -> None:
    """The report's path is all that standard output gets; every run has its own folder; runs are listed by status."""
    folder = track_project(
        tmp_path,
        TICKETS,
        **{f"conductor/tracks/{TRACK}/answers.toml": '[answers]\na = "one is 1"\n'},
    )
    first = conducted(folder, "run", "demo")
    report = Path(first.out.strip())
    assert report == folder / "md_gen" / f"{TRACK}_001" / "report.md"
    assert first.err == "started  a\ndone     a\nstarted  b\ndone     b\n"
    assert "#### a\n\n```text\none is 1\n```" in report.read_text()
    ended = conducted(folder, "run", TRACK, "--places", "2")
    second = Path(ended.out.strip())
    assert second.parent.name == f"{TRACK}_002"
    assert without_times(second) == without_times(report)
    ended = conducted(folder, "status", TRACK)
    status = ended.out.splitlines()
    assert status[0] == f"demo/{TRACK}/002: finished, 2 of 2 tickets have ended"
    assert [row.partition(",")[0] for row in status[1:3]] == ["  a: done", "  b: done"]
    assert status[3].startswith("so far: ")
    ended = conducted(folder)
    assert ended.out == f"[x] {TRACK}: A demo\n"
    ended = conducted(folder, "forget", TRACK)
    assert ended.out == f"forgot demo/{TRACK}/001\nforgot demo/{TRACK}/002\n"
    assert conduct(folder, "forget", TRACK)[:2] == (0, "no finished run\n")


def without_times(report: Path) -> str:
    """Return a report without what its tickets took, which is never the same."""
    return re.sub(r"\| \d+ s \|", "| |", report.read_text())


def test_a_dry_run(tmp_path: Path) -> None:
    """Order, contexts and tokens are shown; nothing is written and no database made."""
    folder = track_project(tmp_path, TICKETS)
    before = sorted(folder.rglob("*"))
    ended = conducted(folder, "run", "demo", "--dry-run")
    lines = ended.out.splitlines()
    assert [line.rpartition("  ")[0] for line in lines[:3]] == [
        "  1  a -> $found",
        "     ",
        "  2  b <- a",
    ]
    assert lines[1].strip() == "one.py"
    assert lines[3].startswith("2 tickets, ")
    assert sorted(folder.rglob("*")) == before


def test_without_dbos_a_run_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look ahead works without it."""
    monkeypatch.setitem(sys.modules, "dbos", None)
    folder = track_project(tmp_path, TICKETS)
    conducted(folder, "run", "demo", "--dry-run")
    ended = conduct(folder, "run", "demo")
    assert (ended.code, ended.out) == (1, "")
    assert f"running tracks needs DBOS: {install_command('agents')}" in ended.err


@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_a_limit_of_costs_that_are_not_known(tmp_path: Path, dry: list[str]) -> None:
    """It is refused before anything is begun or asked, by a look ahead too."""
    folder = track_project(tmp_path, TICKETS)
    server = ["--worker", "compatible:mine", "--base-url", "http://127.0.0.1:9/v1"]
    arguments = ["run", "demo", *server, "--max-cost", "1", *dry]
    shown = conduct(folder, *arguments)
    assert shown.code == 2
    assert (shown.out, "max_cost cannot be enforced: the price of" in shown.err) == ("", True)
    assert not (folder / "md_gen").exists()


def test_a_run_that_spent_its_limit_says_so(tmp_path: Path) -> None:
    """Not only the report: whoever looks at the terminal learns why tickets were not begun."""
    costs = "[answers]\na = { text = 'x', cost = 0.3 }\n"
    folder = track_project(tmp_path, TICKETS, **{f"conductor/tracks/{TRACK}/answers.toml": costs})
    ended = conduct(folder, "run", "demo", "--max-cost", "0.5")
    assert ended.code == 1
    said = ended.err
    assert said.startswith("started  a\ndone     a\nstopped: of max_cost, $0.5, $0.3000 is spent")


def test_a_scripted_call_names_its_tool(tmp_path: Path) -> None:
    """A call without a tool is refused before anything runs, with its place."""
    script = "[answers.a]\ncalls = [{ path = 'x' }]\n"
    folder = track_project(tmp_path, TICKETS, **{f"conductor/tracks/{TRACK}/answers.toml": script})
    ended = conduct(folder, "run", "demo")
    assert (ended.code, '"answers.a.calls[0].tool" is missing' in ended.err) == (2, True)


def test_a_failure_is_the_exit_code(tmp_path: Path) -> None:
    """A run with a failed ticket ends with 1, and prints the report's path all the same; an error is one line, without a terminal's commands."""
    script = tmp_path / "script.json"
    script.write_text('{"answers": {"a": {"fail": "no\\nway \\u001b[2J", "refuse": true}}}')
    folder = track_project(tmp_path / "p", f'on_error = "fail"\n{TICKETS}')
    captured = conduct(folder, "run", "demo", "--worker", f"scripted:{script}")
    assert captured.code == 1
    assert captured.err == (
        'started  a\nfailed   a: no way \\x1b[2J\nnot run  b: not run: it depends on "a", which failed\n'
    )
    assert "a: no way" in Path(captured.out.strip()).read_text()
    ended = conducted(folder, "status", "demo")
    assert ended.out.splitlines()[1:] == [
        "  a: failed, 0 s, 0 tokens (no way \\x1b[2J)",
        "  b: not run",
        "so far: 0 tokens",
        "aggregate conduct resume demo runs the failed tickets again",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "gone"], f"there is no track gone: it has {TRACK}"),
        (["run", "demo", "--worker", "oracle"], "no such worker: 'oracle'; use scripted"),
        (["run", "demo", "--worker", "scripted:gone.toml"], "there is no gone.toml here: correct its name\n"),
        (["resume", "demo"], f"{TRACK}: no run to resume: all have ended"),
        (["cancel", "demo"], f"{TRACK}: there is no run to cancel: all have ended"),
        (["statsu", "demo"], "No such command 'statsu'. Did you mean 'status'?"),
        (["run", "demo", "--database", "mysql://h/d"], "mysql://... is not a database for runs"),
        (["run", "demo", "--max-cost", "inf"], "'--max-cost': 'inf' is not a finite number."),
        (["resume", "demo", "--max-cost", "nan"], "'--max-cost': 'nan' is not a finite number."),
        (["run", "demo", "--max-seconds", "nan"], "'--max-seconds': 'nan' is not a finite number."),
        (["run", "demo", "--lease", "inf"], "'--lease': 'inf' is not a finite number."),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, arguments: list[str], message: str) -> None:
    """A mistake is one sentence, and nothing is started."""
    folder = track_project(tmp_path, TICKETS)
    captured = conduct(folder, *arguments)
    assert captured.code in (1, 2)
    assert message in captured.err
    assert captured.out == ""
    assert not (folder / "md_gen").exists()


def test_a_missing_focus_file(tmp_path: Path) -> None:
    """It is refused before the run exists: there is nothing to resume."""
    folder = track_project(tmp_path, TICKETS.replace("one.py", "none.py"))
    ended = conduct(folder, "run", "demo")
    assert ended.code == 2
    assert 'the ticket "a" has the focus file none.py, which does not exist' in ended.err
    assert conduct(folder, "status", "demo")[:2] == (0, "no run yet\n")


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    """An interrupt ends the program at once though a worker is busy; the next start goes on with the same run."""
    folder = track_project(
        tmp_path,
        TICKETS,
        **{f"conductor/tracks/{TRACK}/answers.toml": "[answers.a]\nseconds = 600\n"},
    )
    with ends(), begin(folder, "conduct", "run", "demo", load=CONDUCTOR) as begun:
        assert begun.err.readline() == b"started  a\n"
        time.sleep(0.3)
        begun.command.interrupt(signal.SIGINT)
        errors, code = begun.err.read(), begun.command.wait()
    goes_on = f"interrupted: aggregate conduct resume {TRACK} continues\n".encode()
    assert (code, errors) == (130, goes_on + b"\naggregate: interrupted\n")
    ended = conducted(folder, "status", "demo")
    status = ended.out.splitlines()
    assert status[0] == f"demo/{TRACK}/001: interrupted, 0 of 2 tickets have ended"
    assert status[-1].endswith("aggregate conduct resume demo continues it")
    (folder / f"conductor/tracks/{TRACK}/answers.toml").unlink()
    ended = conducted(folder, "resume", "demo")
    assert ended.err.splitlines()[0] == f"continuing demo/{TRACK}/001"


def test_workers_in_other_processes(tmp_path: Path) -> None:
    """A coordinator that does no work itself ends when a worker has done it; a worker ends at SIGTERM."""
    folder = track_project(tmp_path, TICKETS)
    database = str(tmp_path / "shared.sqlite")
    with begin(tmp_path, "conduct", "worker", "--database", database, load=CONDUCTOR) as worker:
        assert conduct(folder, "run", "demo", "--no-work", "--database", database).code == 0
        worker.command.interrupt(signal.SIGTERM)
        errors, code = worker.err.read(), worker.command.wait()
    assert (code, errors.startswith(b"working as ")) == (0, True)


def test_a_worker_waits_for_its_database(tmp_path: Path) -> None:
    """One that is started while the server is away says so, waits, and obeys SIGTERM; a wrong database ends it."""
    away = "postgresql://u@/d?host=/nowhere"
    with begin(tmp_path, "conduct", "worker", "--database", away, load=CONDUCTOR) as worker:
        said = worker.err.readline()
        worker.command.interrupt(signal.SIGTERM)
        assert worker.command.wait() == 0
    assert said.startswith(b"waiting for the database: postgresql+psycopg://u@/d")
    assert aggregate("conduct", "worker", "--database", "mysql://h/d").code == 1


@pytest.mark.slow
def test_a_worker_whose_server_comes_and_goes(tmp_path: Path) -> None:
    """It begins to work once the server is there, and ends at SIGTERM while it is away again."""
    if find_programs() is None:
        pytest.skip(HOW_TO_GET_IT)
    folder = track_project(tmp_path, TICKETS)
    arguments = ("conduct", "worker", "--database")
    with postgres_server() as url, ExitStack() as stack:
        with outage(url):
            worker = stack.enter_context(begin(tmp_path, *arguments, url, load=CONDUCTOR))
            assert worker.err.readline().startswith(b"waiting for the database")
        assert conduct(folder, "run", "demo", "--no-work", "--database", url).code == 0
        with outage(url):
            worker.command.interrupt(signal.SIGTERM)
            assert worker.command.wait() == 0


@pytest.mark.slow
def test_the_track_of_this_project(tmp_path: Path) -> None:
    """The track that a newcomer runs first works as its specification says, with a line for each change."""
    for name in ("conductor", "src"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    config = '[project]\nname = "portrait"\n\n[files]\npaths = ["src/aggregate/base/errors.py"]\n'
    (tmp_path / "manual_slop.toml").write_text(config)
    with begin(tmp_path, "conduct", "run", "self_portrait", load=CONDUCTOR) as begun:
        lines, out = begun.err.read().decode().splitlines(), begun.out.read().decode()
        assert begun.command.wait() == 0
    report = (tmp_path / out.strip()).read_text()
    assert "4 of 4 tickets done" in report
    assert "### $findings\n\njson of 3 results\n" in report
    prompt = (tmp_path / out.strip()).with_name("004_portrait.prompt.md").read_text()
    assert '"views": "A view is a pure function' in prompt
    assert len([line for line in lines if line.startswith("done ")]) == 4
