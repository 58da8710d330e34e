"""Programs of a project that libraries would start: none of them runs in a process of ours."""

import json
import os
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from aggregate.cli.program import COMMANDS
from tests.hostile.planted import Planted, plant
from tests.hostile.servers import answering
from tests.project.repository import git
from tests.projects import project

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the planted programs are scripts")

_SECONDS = 30.0
"""That a loaded machine may take for what takes a moment."""
NAMES = (
    *("git", "bd", "gemini", "bwrap", "monty", "node"),  # ours, and what they start
    *("sh", "bash", "env", "python", "python3"),
    *("uname", "file", "ldconfig", "gcc", "objdump", "lsb_release", "oslevel"),  # platform, ctypes, distro
    *("ip", "ifconfig", "arp", "netstat", "lanscan"),  # uuid
    *("gcloud", "pg_config", "less", "more", "tput", "stty"),  # google.auth, psycopg, pagers
    *("xdg-open", "xdg-settings", "x-www-browser", "www-browser", "sensible-browser", "wslview", "wslpath"),
    *("gio", "gvfs-open", "kfmclient", "firefox", "chromium", "google-chrome", "w3m", "lynx", "links"),
    *("wl-copy", "xclip", "xsel", "pbcopy", "tmux"),
)  # fmt: skip
"""What the standard library, our dependencies and we start."""
FILES = {
    "manual_slop.toml": '[project]\nname = "demo"\n[files]\npaths = ["retry.py"]\n',
    "big.toml": '[files]\npaths = [{ path = "big*.py", view_mode = "outline" }]\n',
    "retry.py": 'def retry(times):\n    """Try again."""\n    return times\n',
    "script.json": "{}",
    "big0.py": "def f0():\n    pass\n",  # a worker parses them
    "big1.py": "def f1():\n    pass\n",
    "tools/ask.py": (
        "import subprocess\nfrom aggregate.agents.tools import tool\n@tool()\ndef ask() -> dict:\n"
        '    """Ask."""\n    subprocess.run(["./asked"])\n    return {"success": True}\n'
    ),
}
HERE: Mapping[tuple[str, ...], int] = {
    ("run", "--task", "fix the retry loop", "--budget", "500"): 0,
    ("run", "--copy"): 1,
    ("run", "-c", "big.toml"): 0,
    ("send", "Hello?", "--provider", "scripted"): 0,
    ("send", "Hello?", "--provider", "openai", "--model", "gpt-5", "--base-url", "{server}"): 1,
    ("chat", "--provider", "scripted"): 0,
    ("discussion", "list"): 0,
    ("explain",): 0,
    ("locate", "retry.py:1"): 0,
    ("goal", "count the files", "--script", "script.json"): 1,
    ("conduct", "new", "demo"): 0,
    ("conduct", "run", "demo"): 0,
    ("mcp",): 0,
    ("init", "-c", "new.toml"): 0,
    ("check",): 0,
    ("preset", "list"): 0,
    ("trust", "--list"): 0,
    ("stats",): 0,
    ("view", "retry.py"): 0,
    ("prune", "--keep", "9"): 0,
    ("cache",): 0,
    ("costs",): 0,
    ("languages",): 0,
    ("schema",): 0,
}
"""Each command in the project, and how it ends."""
ELSEWHERE: Mapping[tuple[str, ...], int] = {
    ("stats", "--config={tree}/manual_slop.toml"): 0,
    ("run", "-c", "{tree}/manual_slop.toml"): 0,
}
"""Commands that name the project from outside of it."""
ELSEWHERE_WITH_LIBRARIES: Mapping[tuple[str, ...], int] = {
    ("conduct", "status", "demo", "--config={tree}/manual_slop.toml"): 2,
    ("send", "Hello?", "-c", "{tree}/manual_slop.toml", "--provider", "openai", "--base-url", "{server}"): 1,
}  # fmt: skip
"""The same, of commands that load much."""
ATTEMPTS = {
    "subprocess.run(['./x'])": "refused",
    "subprocess.run(['bin/../x'])": "refused",
    "subprocess.run([b'./x'])": "refused",
    "subprocess.run([Path('x').absolute()])": "refused",
    "subprocess.run(['x'], env={'PATH': '.'})": "refused",
    "subprocess.run(['x'], env={'PATH': ''})": "refused",
    "subprocess.run(['x'], env={'PATH': os.environ['PATH'] + ':bin'})": "refused",
    "subprocess.run(['./x'], cwd='bin')": "refused",
    "subprocess.run(['true'], executable='./x')": "refused",
    "subprocess.run('./x', shell=True)": "refused",
    "subprocess.run('\"./x\" -p', shell=True)": "refused",
    "subprocess.run(['./link-out'])": "refused",
    "subprocess.run(['../link-in'])": "refused",
    "subprocess.run(['../other/bin/x'])": "refused",
    "asyncio.run(asyncio.create_subprocess_exec('./x'))": "refused",
    "os.system('./x')": "refused",
    "os.popen('./x')": "refused",
    "os.execv('./x', ['x'])": "refused",
    "os.execvpe('x', ['x'], {'PATH': 'bin'})": "refused",
    "os.posix_spawn('x', ['x'], {})": "refused",
    "os.posix_spawnp('x', ['x'], {'PATH': 'bin'})": "refused",
    "sys.audit('subprocess.Popen', None, '\"./x\" -p', None, None)": "refused",  # as on Windows
    "subprocess.run(['x'])": "missing",
    "os.system('x 2> /dev/null')": "done",  # by a shell, which finds none
    "subprocess.run(['outside'])": "done",
    "subprocess.run(['./outside'], cwd='../programs')": "done",
    "subprocess.run([sys.executable, '-c', ''])": "done",
    "subprocess.run([sys.executable, '-c', './x'], stderr=subprocess.DEVNULL)": "done",
    "subprocess.run(['sh', '-n', './x'])": "done",
    "tools.run('ask', {})": "done",
}
"""What is tried in a project, and what becomes of it."""
TRY_ALL = """
import asyncio, json, os, subprocess, sys
from pathlib import Path
import aggregate
from aggregate.base.disk.programs import guard_process
guard_process()
aggregate.open_project("../other/manual_slop.toml")
tools = aggregate.ToolRegistry()
tools.discover(Path("tools"))
for attempt in json.loads(sys.argv[1]):
    try:
        eval(attempt)
    except PermissionError as error:
        print("refused" if "of the project" in str(error) else error)
    except FileNotFoundError:
        print("missing")
    else:
        print("done")
"""
RUN_ALL = """
import json, sys, aggregate
ends = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["aggregate", *arguments]
    try:
        aggregate.main()
    except SystemExit as end:
        ends.append(end.code)
print("\\n" + json.dumps(ends))
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = project(tmp_path / "tree", FILES)
    git(folder, "init", "-q")
    return folder


@pytest.fixture
def planted(tree: Path) -> list[Planted]:
    """Return programs of the checkout under all names, in each folder that PATH could lead to."""
    venv.create(tree / ".venv", symlinks=True)
    folders = (tree, tree / "bin", tree / ".venv" / "bin")
    environments_own = tree / ".venv" / "bin" / "monty"
    return [
        plant(folder, name)
        for folder in folders
        for name in NAMES
        if not (folder / name).exists() and folder / name != environments_own
    ]


def _environment(tree: Path, *outside: Path, **variables: str) -> dict[str, str]:
    folders = ("", ".", "bin", str(tree / ".venv" / "bin"), str(tree / "bin"), *map(str, outside))
    return {
        **{name: value for name, value in os.environ.items() if name != "BROWSER"},
        "PATH": os.pathsep.join((*folders, os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **variables,
    }


def _run_all(
    python: str, folder: Path, commands: Mapping[tuple[str, ...], int], environment: dict[str, str]
) -> None:
    tree = str(folder.parent / "tree")
    with answering(401, "{}") as server:
        filled = [[part.format(server=server, tree=tree) for part in parts] for parts in commands]
        done = subprocess.run(
            [python, "-c", RUN_ALL, json.dumps(filled)],
            cwd=folder,
            env={**environment, "OPENAI_API_KEY": "sk-none"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
    ends = json.loads(done.stdout.splitlines()[-1])
    assert dict(zip(commands, ends, strict=True)) == commands, done.stderr


def test_no_command_runs_a_program_of_the_project(tree: Path, planted: list[Planted]) -> None:
    """Whatever libraries start is none of the project's; our workers, in an environment in the project, do start."""
    assert {command[0] for command in HERE} == COMMANDS.keys() - {"panel"}
    python = str(tree / ".venv" / "bin" / "python")
    _run_all(python, tree, HERE, _environment(tree, DISPLAY=":9", WAYLAND_DISPLAY="w"))
    assert [one.path for one in planted if one.was_run] == []
    assert "f1()" in (tree / "md_gen" / "tree_001.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "commands", [ELSEWHERE, pytest.param(ELSEWHERE_WITH_LIBRARIES, marks=pytest.mark.slow)]
)
def test_nor_does_one_that_names_it_from_elsewhere(
    tree: Path, tmp_path: Path, planted: list[Planted], commands: Mapping[tuple[str, ...], int]
) -> None:
    """A project that is named by its configuration is none that programs come from, either."""
    (tmp_path / "elsewhere").mkdir()
    _run_all(sys.executable, tmp_path / "elsewhere", commands, _environment(tree))
    assert [one.path for one in planted if one.was_run] == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other browsers")
def test_the_panel_opens_no_browser_of_the_project(
    tree: Path, tmp_path: Path, planted: list[Planted]
) -> None:
    """The page opens in the browser that PATH has outside of the project, which alone learns the token."""
    plant(tmp_path / "programs", "xdg-settings")  # which names no other browser
    outside = plant(tmp_path / "programs", "xdg-open")
    outside.path.write_text(f"#!/bin/sh\necho \"$1\" > '{outside.mark}'\n", encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "aggregate", "panel"],
        cwd=tree,
        env=_environment(tree, tmp_path / "programs", DISPLAY=":9", PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as panel:
        end = time.monotonic() + _SECONDS
        while not (outside.was_run and outside.mark.read_text()) and time.monotonic() < end:
            time.sleep(0.05)
        panel.send_signal(signal.SIGINT)
        printed, errors = panel.communicate(timeout=_SECONDS)
    assert "token=" in printed, errors
    assert outside.mark.read_text() == printed
    assert [one.path for one in planted if one.was_run] == []


def test_a_start_of_the_projects_programs_is_refused(tree: Path, tmp_path: Path) -> None:
    """However a library names it, a program of a project counts as one that cannot be started; others are started."""
    project(tmp_path / "other", {"manual_slop.toml": ""})
    forbidden = [plant(tree / name, "x") for name in (".", "bin", "../other/bin")]
    wanted = [plant(tree, "asked"), plant(tmp_path / "programs", "outside")]
    (tree / "link-out").symlink_to("/bin/true")
    (tmp_path / "link-in").symlink_to(tree / "x")
    done = subprocess.run(
        [sys.executable, "-c", TRY_ALL, json.dumps([*ATTEMPTS])],
        cwd=tree,
        env=_environment(tree, tmp_path / "programs", tmp_path / "other" / "bin"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    ends = done.stdout.splitlines()
    assert dict(zip(ATTEMPTS, ends, strict=True)) == ATTEMPTS, done.stderr
    assert [one.path for one in forbidden if one.was_run] == []
    assert all(one.was_run for one in wanted)


def test_a_program_that_embeds_this_one_owns_its_process(tree: Path) -> None:
    """Importing and using the package leaves the host's PATH and what it starts alone."""
    own = plant(tree, "own")
    code = (
        "import os, subprocess; before = dict(os.environ); import aggregate\n"
        "aggregate.run('manual_slop.toml'); aggregate.count('x')\n"
        "assert dict(os.environ) == before; subprocess.run(['own'])"
    )
    environment = _environment(tree)
    subprocess.run([sys.executable, "-c", code], cwd=tree, env=environment, check=True)
    assert own.was_run


@pytest.mark.parametrize("threads", [False, True])
def test_our_workers_start_none_in_another_s_process(
    tree: Path, tmp_path: Path, threads: bool
) -> None:
    """A process that we start is ours, also where a program that embeds this one starts it: a grammar finds nothing."""
    own = plant(tree, "own")
    grammar = tmp_path / "grammars" / "tree_sitter_python.py"
    project(
        grammar.parent,
        {
            grammar.name: f"""\
                import contextlib, os, pathlib, subprocess
                if os.getpid() != int(os.environ["HOST"]):
                    pathlib.Path({str(grammar.with_suffix(".seen"))!r}).touch()
                    with contextlib.suppress(OSError):
                        subprocess.run(["own"])
                raise ImportError
            """
        },
    )
    environment = _environment(tree)
    environment["PYTHONPATH"] = f"{grammar.parent}{os.pathsep}{environment['PYTHONPATH']}"
    code = f"""if True:
        import os, threading
        os.environ["HOST"] = str(os.getpid())
        if {threads}:  # then it is not forked
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        import aggregate
        aggregate.run('big.toml')
    """
    subprocess.run([sys.executable, "-c", code], cwd=tree, env=environment, check=True)
    assert grammar.with_suffix(".seen").exists()
    assert not own.was_run
