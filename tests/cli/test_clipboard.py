"""Which program or terminal gets what is copied, with programs that stand in for the systems' own."""

import os
from pathlib import Path

import pytest

from aggregate import AggregateError
from aggregate.cli.clipboard import copy_to_clipboard

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake programs are shell scripts")

TEXT = "naïve → 🙂\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for programs."""
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def _put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    (folder / name).chmod(0o755)


def _copy(folder: Path, system: str, **environment: str) -> str:
    """Copy where the programs of ``folder`` are the only ones: the machine's own would take the user's clipboard."""
    here = {"PATH": str(folder)} | environment
    return copy_to_clipboard(TEXT.encode(), environment=here, system=system, seconds=1)


@pytest.mark.parametrize(
    ("system", "environment", "program", "arguments", "encoding"),
    [
        ("darwin", {}, "pbcopy", "", "utf-8"),
        ("win32", {}, "clip", "", "utf-16"),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "wl-copy", "", "utf-8"),
        ("linux", {"DISPLAY": ":0"}, "xclip", "-selection clipboard -in", "utf-8"),
        ("linux", {"DISPLAY": ":0"}, "xsel", "--clipboard --input", "utf-8"),
        ("linux", {"WSL_DISTRO_NAME": "Debian"}, "clip.exe", "", "utf-16"),
        ("linux", {"TERMUX_VERSION": "1"}, "termux-clipboard-set", "", "utf-8"),
        ("linux", {"TMUX": "/tmp/tmux,1,0"}, "tmux", "load-buffer -w -", "utf-8"),
        ("linux", {"TMUX": "x", "SSH_TTY": "y", "DISPLAY": ":0"}, "tmux", "load-buffer -w -", "utf-8"),
    ],
)  # fmt: skip
def test_each_system_has_its_program(
    folder: Path,
    system: str,
    environment: dict[str, str],
    program: str,
    arguments: str,
    encoding: str,
) -> None:
    """The program of the desktop, of WSL or of tmux gets the text in the encoding that it expects (W-2)."""
    _put(folder, program, f'echo "$*" > {folder}/arguments; cat > {folder}/clipboard')
    assert _copy(folder, system, **environment) == f"copied to the clipboard ({program})"
    assert (folder / "arguments").read_text() == f"{arguments}\n"
    assert (folder / "clipboard").read_bytes().decode(encoding) == TEXT


def test_programs_of_other_systems_are_not_asked(folder: Path) -> None:
    """Without a display, or on another system, a program that is installed all the same gets nothing (W-2)."""
    for name in ("pbcopy", "clip", "clip.exe", "wl-copy", "xclip", "xsel", "tmux"):
        _put(folder, name, f"cat > {folder}/clipboard")
    with pytest.raises(AggregateError, match="there is no clipboard to copy to"):
        _copy(folder, "linux")
    assert not (folder / "clipboard").exists()


def test_a_program_that_hangs_is_named(folder: Path) -> None:
    """Who does not answer is told apart from no clipboard, in bounded time, and the next one is asked (W-2)."""
    _put(folder, "wl-copy", "exec sleep 60")
    desktop = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    with pytest.raises(
        AggregateError, match="nothing was copied: wl-copy did not answer within 1 s"
    ):
        _copy(folder, "linux", **desktop)
    _put(folder, "wl-copy", "echo 'no compositor' >&2; exit 3")
    _put(folder, "xclip", "cat > /dev/null")
    said = "copied to the clipboard (xclip); wl-copy ended with 3 (no compositor)"
    assert _copy(folder, "linux", **desktop) == said
