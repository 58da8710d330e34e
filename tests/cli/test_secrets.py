"""Planted secrets of all kinds, through each way out of the program and into what it keeps."""

import json
from pathlib import Path
from typing import Any

import pytest

from aggregate.mcp import Workspace
from aggregate.project.index import user_index
from tests.base.redaction.samples import PLANTED, RARE, digest_of, pem
from tests.cli.command_line import aggregate
from tests.mcp.serving import Asking, over, server_for
from tests.panel.opened import opened
from tests.project.history import Repository
from tests.projects import project

KEY = PLANTED[3].value
TASK = f"why does the lantern refuse {KEY}"


EXAMPLES = [sample.content for sample in RARE]
FILES = {
    "src/keys.md": "# Keys\n\n" + "\n".join(sample.content for sample in PLANTED),
    "src/rules.md": "# Rules\n\n" + "\n\n".join(EXAMPLES),
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
VIEWS_OF_AGENTS = ("full", "skeleton", "outline", "summary")
VALUES = {
    *(sample.value.encode() for sample in PLANTED),
    *(sample.value.encode() for sample in RARE),
    pem("RSA", "k").split("\n")[3].encode(),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a file for each kind, and code that has one in definitions and calls."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "state"))
    history = f'[discussion]\nhistory = ["User: it is {KEY}"]\n'
    made = project(tmp_path / "demo", {**FILES, "manual_slop.toml": CONFIG + history})
    monkeypatch.chdir(made)
    return made


def leaked(folder: Path, *places: str) -> list[bytes]:
    """Return the values that stand in any file below some places, in whatever case."""
    found = [path for place in places for path in sorted((folder / place).rglob("*"))]
    data = b"\n".join(path.read_bytes() for path in found if path.is_file()).lower()
    return sorted(value for value in VALUES if value.lower() in data)


def browsed(folder: Path) -> str:
    """Return what the panel answers to a page that opens a project with a task, and all of its files."""
    panel = opened(folder, {})
    panel.edit(op="task", task="lantern", budget="60k")
    total = panel.get("prompt")["lines"]
    modes = ("", "full", "summary", "skeleton", "outline")
    routes = (
        "state",
        "files",
        "prompt",
        "prompt/text",
        f"prompt/lines?first=1&last={total}",
        *(f"file?path={path}&mode={mode}" for path in FILES for mode in modes),
    )
    answers = [panel.client.get(f"/api/{route}") for route in routes]
    assert {answer.status_code for answer in answers} == {200}
    user_index().flush()
    return "\n".join([answer.text for answer in answers] + [json.dumps(panel.post("run"))])


def served(folder: Path) -> str:
    """Return what an agent and its host are answered by all tools, and by files and prompts that they attach."""
    answers: list[str] = []

    async def questions(ask: Asking) -> None:
        asks: list[tuple[str, dict[str, Any]]] = [
            ("compose", {"task": TASK, "budget": 60_000}),
            ("explain", {}),
            *(("read", {"path": path, "view": view}) for path in FILES for view in VIEWS_OF_AGENTS),
            *(("outline", {"path": path}) for path in ("", *FILES)),
            *(("find", {"query": words}) for words in ("key", "lantern", KEY[:8])),
        ]
        for tool, arguments in asks:
            answers.append((await ask(tool, **arguments)).text)

    over(server_for(Workspace(folder / "manual_slop.toml", cap=60_000)), questions)
    user_index().flush()
    return "\n".join(answers)


COMMANDS = (
    ("run", "--task", TASK, "--budget", "60k"),
    ("run", "--task", TASK, "--budget", "60k", "--stdout"),
    ("run", "--task", TASK),
    ("run", "--budget", "60k"),
    ("run", "--task", TASK, "--budget", "60k", "--explain", "--json"),
    ("run", "--redact", "--json"),
    ("send", TASK, "--provider", "scripted", "--dry-run"),
    ("send", TASK, "--provider", "scripted", "--budget", "60k"),
)


def test_what_is_asked_for_shows_no_planted_secret(folder: Path) -> None:
    """No kind reaches the prompt, what is said, the account, its map, the records or the index, cold and warm."""
    ended = [aggregate(*command) for command in COMMANDS]
    assert [each.code for each in ended] == [0] * len(COMMANDS)
    said = [f"{each.out}{each.err}" for each in ended] + [browsed(folder)]
    assert leaked(folder, "md_gen", "../cache", "../state") == []
    said.append(served(folder))
    assert leaked(folder, "../cache", "../state") == []
    for shown in said:
        assert "[REDACTED" in shown or "secrets replaced" in shown
        assert [value for value in VALUES if value.decode() in shown] == []


@pytest.mark.parametrize("config", [CONFIG, VIEWS], ids=["full", "views"])
def test_the_index_holds_none_whatever_is_shown(config: str, folder: Path) -> None:
    """Not where the prompt keeps them either: no view, definition, term or reference of such a file, no commit's words."""
    project(folder, {"manual_slop.toml": config})
    repository = Repository(folder)
    repository.commit("first", {})
    repository.commit(f"let the lantern take {KEY}", {"src/more.py": "more = 1\n"})
    for options in (["--task", TASK], ["--task", TASK, "--budget", "60k"]):
        assert aggregate("run", *options, "--no-redact").code == 0
    texts = [path.read_text() for path in sorted((folder / "md_gen").glob("demo_*.md"))]
    assert all(KEY in text for text in texts)
    assert config == VIEWS or [value for value in VALUES if value.decode() not in texts[0]] == []
    assert any((folder / "../cache").rglob("*.sqlite"))
    assert leaked(folder, "../cache") == []


def test_what_is_allowed_decides_on_what_is_kept(folder: Path) -> None:
    """With other allowances the same files give what they would without anything kept (rule I-2)."""
    config = folder / "manual_slop.toml"
    plain = config.read_text()
    allowing = ", ".join(f'"{digest_of(sample.value)}"' for sample in PLANTED[:4])
    texts = []
    command = ("run", "--stdout", "-q", "--task", "lantern", "--budget", "60k")
    for text in (plain, f"{plain}[redaction]\nallow = [{allowing}]\n", plain):
        config.write_text(text)
        texts.append(aggregate(*command).out)
    config.write_text(f"{plain}[redaction]\nallow = [{allowing}]\n")
    assert aggregate(*command, "--no-cache").out == texts[1]
    assert texts[0] == texts[2] != texts[1]
    assert KEY in texts[1]
