"""``run --watch`` and ``run --copy``, as a user starts them."""

import base64
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command_line import Begun, begin, start
from tests.cli.terminal import on_terminal
from tests.project.repository import git
from tests.projects import project

CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["*.py"]\n'
PATIENCE = 20
"""Seconds until a line that was not printed counts as missing: machines are slow at times."""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A project of one file."""
    return project(tmp_path / "demo", {"manual_slop.toml": CONFIG, "a.py": "a = 1\n"})


def _line(read: Callable[[], bytes], beginning: str = "") -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        line = read().decode()
        if line.startswith(beginning):
            return line.rstrip("\n")
    raise AssertionError(f"no line begins with {beginning!r}")


def _end(command: Begun) -> str:
    command.command.interrupt(signal.SIGINT)
    assert command.command.wait() == 130
    return command.err.read().decode()


def test_what_changes_is_composed_again(demo: Path) -> None:
    """A change of a file, a new file, the configuration and the discussion make the next prompt, each told in a line.

    What no prompt shows, and the run's own output, make none; Ctrl-C ends it with 130 and one line (W-1).
    """
    with begin(demo, "--watch") as command:
        out, err = command.out.readline, command.err.readline
        assert _line(out) == "md_gen/demo_001.md"
        assert _line(err, "watching") == "watching for changes; Ctrl-C ends it"
        (demo / "b.py").write_text("b = 1\n")
        assert _line(out) == "md_gen/demo_002.md"
        assert _line(err) == (
            "32 tokens (o200k), +15; changed: b.py; 17 of 17 tokens of the prefix are kept (appended)"
        )
        (demo / "notes.txt").write_text("not in the prompt\n")
        time.sleep(0.3)
        (demo / "history.toml").write_text('history = ["Hello"]\n')
        assert _line(out) == "md_gen/demo_003.md"
        assert "changed: history.toml" in _line(err)
        (demo / "manual_slop.toml").write_text(CONFIG.replace("*.py", "b.py"))
        assert _line(out) == "md_gen/demo_004.md"
        assert "changed: manual_slop.toml" in _line(err)
        assert _end(command) == "aggregate: ended, 4 prompts written\n"
    assert "b = 1" in (demo / "md_gen/demo_004.md").read_text()


def test_a_configuration_that_is_being_edited_is_one_line(demo: Path) -> None:
    """What cannot be composed is told once, the next change is waited for, and what is mended is told too (W-1)."""
    with begin(demo, "run", "--watch", "--json") as command:
        assert json.loads(_line(command.out.readline))["tokens"]["document"] == 17
        _line(command.err.readline, "watching")
        for text in (f"{CONFIG}[", f"{CONFIG}[["):
            (demo / "new.toml").write_text(text)
            # At once: emptied and then filled, it could be read empty, which is a configuration.
            (demo / "new.toml").replace(demo / "manual_slop.toml")
        line = _line(command.err.readline)
        assert line.startswith("aggregate: manual_slop.toml: is no valid TOML")
        assert line.endswith("; waiting for the next change")
        (demo / "manual_slop.toml").write_text(CONFIG)
        assert _line(command.err.readline, "that") == "that is mended; the prompt is as before"
        (demo / "a.py").write_text("a = 2\n")
        data = json.loads(_line(command.out.readline))
        assert (data["path"], data["changed"]) == ("md_gen/demo_002.md", ["a.py"])
        assert data["prefix"] < 17
        _end(command)


@pytest.mark.skipif(
    os.name != "posix", reason="elsewhere a pipe does not tell before it is written to"
)
def test_a_run_ends_when_nobody_reads_on(demo: Path) -> None:
    """Where the reader has left, as ``head -1`` does, it ends without a further change (W-1)."""
    read, write = os.pipe()
    with begin(demo, "--watch", stdout=write) as command:
        os.close(write)
        _line(command.err.readline, "watching")
        os.close(read)
        assert command.command.wait() == 1
        assert "Broken pipe" not in command.err.read().decode()


def test_a_checkout_is_one_prompt(demo: Path) -> None:
    """While git holds the index nothing is composed; then all that changed meanwhile is one prompt (W-1)."""
    git(demo, "init", "-q", "-b", "main")
    lock = demo / ".git/index.lock"
    with begin(demo, "--watch", "--json") as command:
        _line(command.err.readline, "watching")
        lock.touch()
        for name in ("b.py", "c.py", "d.py"):
            (demo / name).write_text(f"{name[0]} = 1\n")
            time.sleep(0.25)  # longer than any pause between two prompts
        lock.unlink()
        prompts = [json.loads(_line(command.out.readline)) for _ in range(2)]
        _end(command)
    assert [prompt["changed"] for prompt in prompts] == [[], ["b.py", "c.py", "d.py"]]


@pytest.mark.slow
def test_beads_that_come_later_are_composed(tmp_path: Path) -> None:
    """The first beads of a project count, though ignore rules hide their folder, and so does a new database (W-1)."""
    config = '[project]\nname = "demo"\nexecution_mode = "beads"\n[files]\npaths = ["*.py"]\n'
    files = {"manual_slop.toml": config, "a.py": "a = 1\n", ".gitignore": ".beads/\n"}
    folder = project(tmp_path, files)
    with begin(folder, "--watch") as command:
        _line(command.err.readline, "watching")
        bead = {"id": "d-1", "title": "Later", "status": "open", "priority": 1}
        project(folder, {".beads/issues.jsonl": json.dumps(bead)})
        paths = [_line(command.out.readline) for _ in range(2)]
        line = _line(command.err.readline)
        _end(command)
    assert "Later" in (folder / paths[-1]).read_text()
    assert "changed: " in line


@pytest.mark.slow
def test_a_project_that_is_made_again_is_composed_again(demo: Path) -> None:
    """The folder that the run was started in may be deleted and made again, as by a new checkout."""
    with begin(demo, "--watch") as command:
        assert _line(command.out.readline) == "md_gen/demo_001.md"
        _line(command.err.readline, "watching")
        while demo.exists():  # a prompt may be written while it is deleted
            shutil.rmtree(demo, ignore_errors=True)
        assert "there is no manual_slop.toml" in _line(command.err.readline, "aggregate:")
        project(demo, {"manual_slop.toml": CONFIG, "a.py": "a = 2\n"})
        assert _line(command.out.readline, "md_gen") == "md_gen/demo_001.md"
        _end(command)
    assert "a = 2" in (demo / "md_gen/demo_001.md").read_text()


def test_options_that_exclude_watching_are_a_mistake(tmp_path: Path) -> None:
    """What prints a prompt, or writes none, is not made again and again."""
    for option in ("--stdout", "--explain"):
        refused = start(tmp_path, "run", "--watch", option, "--task", "x")
        assert refused.code == 2
        assert f"{option} and --watch exclude each other" in refused.err
    assert "--stdout and --copy exclude" in start(tmp_path, "run", "--stdout", "--copy").err


def _program(folder: Path, name: str, script: str) -> str:
    """Make a program and return a PATH of it alone: the machine's own would take the user's clipboard."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    (folder / name).chmod(0o755)
    return str(folder)


NO_DESKTOP = {
    **dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "SSH_TTY", "SSH_CONNECTION"), ""),
    "WSL_DISTRO_NAME": "",
    "PATH": os.devnull,
}


@pytest.mark.skipif(os.name != "posix", reason="the fake programs are shell scripts")
def test_copy_hands_the_prompt_to_the_desktop(demo: Path, tmp_path: Path) -> None:
    """The file is written as ever, the text goes to the desktop's program, whose life does not hold up a pipe (W-2)."""
    script = f"cat > {tmp_path}/clipboard; (sleep 30; touch {tmp_path}/over) &"
    path = _program(tmp_path / "bin", "xclip", script)
    desktop = NO_DESKTOP | {"DISPLAY": ":0", "PATH": path}
    with begin(demo, "--copy", **desktop) as begun:  # type: ignore[arg-type]
        assert begun.out.read() == b"md_gen/demo_001.md\n"
        assert begun.err.read().endswith(b"copied to the clipboard (xclip)\n")
        assert begun.command.wait() == 0
    assert not (tmp_path / "over").exists()
    assert (tmp_path / "clipboard").read_bytes() == (demo / "md_gen/demo_001.md").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="terminals of our own need pseudo terminals")
def test_copy_over_ssh_goes_through_the_terminal(demo: Path, tmp_path: Path) -> None:
    """Over ssh the terminal gets the text by OSC 52 (W-2)."""
    path = _program(tmp_path / "bin", "xclip", "exit 1")
    ssh = NO_DESKTOP | {"SSH_TTY": "/dev/pts/0", "DISPLAY": ":0", "PATH": path}
    code, printed = on_terminal(demo, "--copy", **ssh)
    text = base64.b64encode((demo / "md_gen/demo_001.md").read_bytes()).decode()
    assert code == 0
    assert f"\x1b]52;c;{text}\x07" in printed
    assert "handed to the terminal for its clipboard (OSC 52)" in printed


def test_without_a_clipboard_the_prompt_is_there_all_the_same(demo: Path) -> None:
    """Where there is neither a desktop nor a terminal the path is printed, and the error says what to install (W-2)."""
    ended = start(demo, "-q", "--copy", **NO_DESKTOP)
    assert (ended.code, ended.out) == (1, "md_gen/demo_001.md\n")
    assert ended.err.startswith("aggregate: there is no clipboard to copy to: on a desktop install")


@pytest.mark.skipif(os.name != "posix", reason="terminals of our own need pseudo terminals")
def test_a_long_prompt_for_a_terminal_is_warned_of(demo: Path) -> None:
    """Beyond what every terminal takes, the bytes and the limit are said."""
    (demo / "a.py").write_text("a = 1\n" * 20_000)
    printed = on_terminal(demo, "--copy", **NO_DESKTOP)[1]
    assert "it has 120,0" in printed
    assert "many terminals take 74,994" in printed
