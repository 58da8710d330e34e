"""``completion`` and the manual page."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from aggregate.cli.commands import COMMANDS
from aggregate.cli.man_page import man_page
from tests.cli.command_line import Ended, start

PAGE = Path(__file__).parents[2] / "docs/aggregate.1"


def _start(folder: Path, *arguments: str, login: str = "/bin/bash") -> Ended:
    """Run the command for a user whose home is ``folder``."""
    home = str(folder)
    return start(folder, "completion", *arguments, HOME=home, XDG_DATA_HOME=home, SHELL=login)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_installing_twice_is_installing_once_and_can_be_taken_back(
    tmp_path: Path, shell: str
) -> None:
    """The files that changed are printed; what stood in the start-up file stays, and stays after all is taken back (W-4)."""
    start_file = tmp_path / f".{shell}rc"
    start_file.write_text("alias x=y\n")
    installed = _start(tmp_path, shell, "--install")
    assert installed.code == 0
    paths = [Path(line) for line in installed.out.splitlines()]
    assert len(paths) == (1 if shell == "fish" else 2)
    assert f"open a new {shell}" in installed.err
    again = _start(tmp_path, shell, "--install")
    assert (again.out, again.err) == ("", f"completion for {shell} is installed already\n")
    if shell != "fish":
        assert str(paths[0]) in start_file.read_text()
    removed = _start(tmp_path, shell, "--uninstall")
    assert sorted(removed.out.splitlines()) == sorted(map(str, paths))
    assert start_file.read_text() == "alias x=y\n"
    assert not paths[0].exists()
    assert "is not installed" in _start(tmp_path, shell, "--uninstall").err


@pytest.mark.parametrize("home", ["", "relative", "/dev/null"])
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_without_a_home_nothing_is_installed(tmp_path: Path, shell: str, home: str) -> None:
    """Where HOME names no folder, or one below the current folder, that is one sentence, and nothing is written."""
    environment = {"HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    refused = start(tmp_path, "completion", shell, "--install", **environment)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("aggregate: there is no home folder to install in: set HOME")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_what_is_installed_completes(tmp_path: Path) -> None:
    """A bash that has read its start-up file completes the name of a command."""
    _start(tmp_path, "--install")
    program = Path(shutil.which("aggregate") or "aggregate")
    script = (
        ". ~/.bashrc; complete -p aggregate; COMP_WORDS=(aggregate compl); COMP_CWORD=1; "
        '_aggregate_completion aggregate; echo "${COMPREPLY[@]}"'
    )
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "HOME": str(tmp_path), "PATH": path},
        capture_output=True,
        timeout=60,
    )
    lines = done.stdout.decode().splitlines()
    assert lines[0].endswith("-F _aggregate_completion aggregate")
    if shutil.which("aggregate"):
        assert lines[1] == "completion"


def test_what_cannot_be_parsed_back_is_left_alone(tmp_path: Path) -> None:
    """A start-up file that is no text, or whose marks were edited, and a script of the user's own are not touched (W-4)."""
    start_file = tmp_path / ".bashrc"
    for data, reason in (
        (b"alias x=\xff\n", "byte 8 is not UTF-8; add to it yourself: [ ! -r "),
        (
            b"# >>> aggregate >>>\n",
            "are not there once, in this order; add to it yourself: [ ! -r ",
        ),
    ):
        start_file.write_bytes(data)
        ended = _start(tmp_path, "bash", "--install")
        assert ended.code == 1
        assert reason in ended.err
        assert start_file.read_bytes() == data
    script = tmp_path / ".config/fish/completions/aggregate.fish"
    script.parent.mkdir(parents=True)
    script.write_text("complete -c aggregate\n")
    ended = start(
        tmp_path, "completion", "fish", "--install", HOME=str(tmp_path), XDG_CONFIG_HOME=""
    )
    assert "is there and not ours" in ended.err
    assert script.read_text() == "complete -c aggregate\n"


def test_a_shell_without_completion_is_a_mistake(tmp_path: Path) -> None:
    """Where the login shell is another one, the sentence names those that are known; each script can be printed."""
    ended = _start(tmp_path, login="/bin/tcsh")
    assert ended.code == 2
    assert "your login shell is none of bash, zsh, fish" in ended.err
    assert "_AGGREGATE_COMPLETE=fish_complete" in _start(tmp_path, "fish").out


def test_the_manual_page_is_that_of_the_commands() -> None:
    """The page in the repository is what the commands' help makes; python -m aggregate.cli.man_page writes it."""
    assert PAGE.read_text(encoding="utf-8") == man_page()
    for name in COMMANDS:
        assert f'.SS "aggregate {name}"' in man_page()


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
def test_the_manual_page_has_no_fault() -> None:
    """Groff shows it without a warning."""
    done = subprocess.run(["groff", "-man", "-Tascii", "-ww", str(PAGE)], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"--budget" in done.stdout
