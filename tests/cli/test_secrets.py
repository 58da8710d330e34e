"""Planted secrets of all kinds, through each way out of the program and into what it keeps."""

import os
import sys
from pathlib import Path

import pytest

from aggregate.redaction.redact import digest_of
from tests.cli.command_line import start
from tests.project import project
from tests.redaction.samples import PLANTED, pem
from tests.sources.history import Repository

KEY = PLANTED[3].value
TASK = f"why does the lantern refuse {KEY}"


FILES = {
    "src/keys.md": "# Keys\n\n" + "\n".join(sample.content for sample in PLANTED),
    "src/lantern.py": f'def lantern(key="{KEY}"):\n    """Refuse {KEY}."""\n    return key\n',
    "src/lantern.go": f'package a\n\nconst Key = "{KEY}"\n\nfunc Lantern(key string) {{}}\n',
    "src/lantern.ts": f'export const KEYS = {{ lantern: "{KEY}" }};\n',
    "src/key.txt": f"the key\n{pem('RSA', 'k')}",
}
CONFIG = """\
[project]
name = "demo"
[files]
paths = ["src/**"]
"""
VIEWS = """\
[project]
name = "demo"
[files]
paths = ["src/*.md", { path = "src/*.py", view_mode = "skeleton" }, { path = "src/*.go", view_mode = "outline" },
  { path = "src/*.t*", view_mode = "summary" }]
"""
VALUES = {sample.value.encode() for sample in PLANTED} | {pem("RSA", "k").split("\n")[3].encode()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a file for each kind, and code that has one in definitions and calls."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "state"))
    history = f'[discussion]\nhistory = ["User: it is {KEY}"]\n'
    return project(tmp_path / "demo", {**FILES, "manual_slop.toml": CONFIG + history})


def leaked(folder: Path, *places: str) -> list[bytes]:
    """Return the values that stand in any file below some places, in whatever case."""
    found = [path for place in places for path in sorted((folder / place).rglob("*"))]
    data = b"\n".join(path.read_bytes() for path in found if path.is_file()).lower()
    return sorted(value for value in VALUES if value.lower() in data)


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--task", TASK, "--budget", "60k"],
        ["run", "--task", TASK],
        ["run", "--budget", "60k"],
        ["run", "--task", TASK, "--budget", "60k", "--explain", "--json"],
        ["run", "--redact", "--json"],
        ["send", TASK, "--provider", "scripted", "--dry-run"],
        ["send", TASK, "--provider", "scripted", "--budget", "60k"],
    ],
    ids=lambda command: " ".join(command).replace(TASK, "TASK"),
)
def test_what_is_asked_for_shows_no_planted_secret(command: list[str], folder: Path) -> None:
    """No kind reaches the prompt, what is printed, the account, the records or the index, cold and warm."""
    for _ in range(2):
        ended = start(folder, *command)
        assert ended.code == 0
        printed = f"{ended.out}{ended.err}".encode()
        assert [value for value in VALUES if value in printed] == []
    assert leaked(folder, "md_gen", "../cache", "../state") == []
    prompts = sorted((folder / "md_gen").glob("demo_*.md")) if (folder / "md_gen").exists() else []
    assert not prompts or prompts[0].read_text().count("[REDACTED") > 20


@pytest.mark.skipif(sys.platform != "linux", reason="the program that stands in is a shell script")
def test_what_is_copied_is_what_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clipboard gets the bytes of the file, whose secrets are replaced."""
    programs = folder.parent / "bin"
    programs.mkdir()
    (programs / "wl-copy").write_text(f"#!/bin/sh\ncat > {programs}/clipboard\n")
    (programs / "wl-copy").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    for variable in ("TMUX", "SSH_TTY", "SSH_CONNECTION", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(variable, raising=False)
    assert start(folder, "run", "--task", TASK, "--budget", "60k", "--copy").code == 0
    copied = (programs / "clipboard").read_bytes()
    assert copied == (folder / "md_gen/demo_001.md").read_bytes()
    assert [value for value in VALUES if value in copied] == []


@pytest.mark.parametrize("config", [CONFIG, VIEWS], ids=["full", "views"])
def test_the_index_holds_none_whatever_is_shown(config: str, folder: Path) -> None:
    """Not where the prompt keeps them either: no view, definition, term or reference of such a file, no commit's words."""
    project(folder, {"manual_slop.toml": config})
    repository = Repository(folder)
    repository.commit("first", {})
    repository.commit(f"let the lantern take {KEY}", {"src/more.py": "more = 1\n"})
    for options in (
        [],
        ["--task", TASK, "--no-redact"],
        ["--task", TASK, "--budget", "60k", "--no-redact"],
    ):
        assert start(folder, "run", *options).code == 0
    assert start(folder, "stats").code == 0
    texts = [path.read_text() for path in sorted((folder / "md_gen").glob("demo_*.md"))]
    assert all(KEY in text for text in texts)
    assert any((folder / "../cache").rglob("*.sqlite"))
    assert leaked(folder, "../cache") == []


def test_what_is_allowed_decides_on_what_is_kept(folder: Path) -> None:
    """With other allowances the same files give what they would without anything kept (rule I-2)."""
    config = folder / "manual_slop.toml"
    plain = config.read_text()
    allowing = ", ".join(f'"{digest_of(sample.value.encode())}"' for sample in PLANTED[:4])
    texts = []
    for text in (plain, f"{plain}[redaction]\nallow = [{allowing}]\n", plain):
        config.write_text(text)
        command = ("run", "--stdout", "-q", "--task", "lantern", "--budget", "60k")
        kept, anew = start(folder, *command), start(folder, *command, "--no-cache")
        assert kept.out == anew.out
        texts.append(kept.out)
    assert texts[0] == texts[2] != texts[1]
    assert KEY in texts[1]
