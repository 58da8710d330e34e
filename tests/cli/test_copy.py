"""``run --copy``, as a user starts it."""

import base64
import os
from pathlib import Path

import pytest

from tests.cli.command_line import begin, start
from tests.cli.terminal import on_terminal
from tests.projects import project

CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["*.py"]\n'


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A project of one file."""
    return project(tmp_path / "demo", {"manual_slop.toml": CONFIG, "a.py": "a = 1\n"})


def test_options_that_exclude_copying_are_a_mistake(tmp_path: Path) -> None:
    """A prompt that is printed is not copied too."""
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
