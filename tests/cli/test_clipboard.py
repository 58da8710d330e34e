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


def _copy(folder: Path, **environment: str) -> str:
    """Copy where the programs of ``folder`` are the only ones: the machine's own would take the user's clipboard."""
    here = {"PATH": str(folder)} | environment
    return copy_to_clipboard(TEXT.encode(), environment=here)


@pytest.mark.parametrize(
    ("environment", "program", "arguments", "encoding"),
    [
        ({}, "pbcopy", "", "utf-8"),
        ({"SYSTEMROOT": "C:/Windows"}, "clip", "", "utf-16"),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "wl-copy", "", "utf-8"),
        ({"DISPLAY": ":0"}, "xclip", "-selection clipboard -in", "utf-8"),
        ({"DISPLAY": ":0"}, "xsel", "--clipboard --input", "utf-8"),
        ({"WSL_DISTRO_NAME": "Debian"}, "clip.exe", "", "utf-16"),
    ],
)  # fmt: skip
def test_each_system_has_its_program(
    folder: Path, environment: dict[str, str], program: str, arguments: str, encoding: str
) -> None:
    """The program of the desktop or of WSL gets the text in the encoding that it expects (W-2)."""
    _put(folder, program, f'echo "$*" > {folder}/arguments; cat > {folder}/clipboard')
    assert _copy(folder, **environment) == f"copied to the clipboard ({program})"
    assert (folder / "arguments").read_text() == f"{arguments}\n"
    assert (folder / "clipboard").read_bytes().decode(encoding) == TEXT


def test_programs_of_other_systems_are_not_asked(folder: Path) -> None:
    """Without a display, or elsewhere, a program that is installed all the same gets nothing (W-2)."""
    for name in ("clip", "clip.exe", "wl-copy", "xclip", "xsel"):
        _put(folder, name, f"cat > {folder}/clipboard")
    with pytest.raises(AggregateError, match="there is no clipboard to copy to"):
        _copy(folder)
    assert not (folder / "clipboard").exists()


def test_a_program_that_fails_is_named(folder: Path) -> None:
    """The next one is asked, and where none is left the last failure is told (W-2)."""
    _put(folder, "wl-copy", "echo 'no compositor' >&2; exit 3")
    desktop = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    failed = "nothing was copied: wl-copy ended with 3 \\(no compositor\\)"
    with pytest.raises(AggregateError, match=failed):
        _copy(folder, **desktop)
    _put(folder, "xclip", "cat > /dev/null")
    assert _copy(folder, **desktop) == "copied to the clipboard (xclip)"
