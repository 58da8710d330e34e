"""``run --pick``: a model is asked first, what it says stands in the audit, and what goes wrong is a warning."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import start
from tests.fakes.chat_server import chat_server
from tests.fakes.topics import TOPICS, add_areas, module_about
from tests.projects import project

TASK = ("What does the upper part of the lantern do?", "--budget", "1k")
ANSWER = '{"files": [{"file": 4, "confidence": 0.9, "why": "is near"}], "definitions": []}'
COMPATIBLE = '[send]\nprovider = "compatible"\nbase_url = "{url}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n'
    files = {f"src/{topic}.py": module_about(topic) for topic in TOPICS}
    return project(tmp_path, {"manual_slop.toml": config} | files)


def by_user(folder: Path, text: str) -> None:
    project(folder, {".xdg/manual_slop/manual_slop.toml": text})


def test_a_model_is_asked_and_its_choice_is_accounted_for(folder: Path) -> None:
    """The answer, its cost and what it changed stand in the audit; the next run asks nobody (rule T-10)."""
    plain = start(folder, *TASK)
    with chat_server(ANSWER) as server:
        by_user(folder, COMPATIBLE.format(url=server.url))
        first = start(
            folder, *TASK, "--pick", "compatible:tiny", AGGREGATE_CACHE_DIR=str(folder / "c")
        )
        again = start(
            folder,
            *TASK,
            "--pick",
            "compatible:tiny",
            "--redact",
            AGGREGATE_CACHE_DIR=str(folder / "c"),
        )
        assert (plain.code, first.code, again.code) == (0, 0, 0)
        assert len(server.bodies) == 1
        assert "1. src/lantern.py" in json.dumps(server.bodies[0])
    texts = [(folder / f"md_gen/demo_00{number}.md").read_text() for number in (1, 2, 3)]
    assert texts[0] != texts[1] == texts[2]
    said = "second look: compatible:tiny picks src/"
    assert said in first.err
    assert "1,112 tokens in, 3 out, price unknown\n" in first.err
    assert "(stored answer)\n" in again.err
    audit = json.loads((folder / "md_gen/.demo_002.audit.json").read_text())
    assert audit["look"][0].startswith("compatible:tiny picks src/")
    assert audit["look"][1].endswith(" 90%, number 4 before: is near")
    path = audit["look"][1].split()[0]
    (row,) = (row for row in audit["rows"] if row["path"] == path)
    (reason,) = (each for each in row["evidence"] if each["kind"] == "picked")
    assert (reason["weight"], reason["matched"], row["pinned"]) == (2.7, "is near", False)
    assert said in start(folder, "explain").out


def test_a_silly_answer_is_a_warning_and_is_asked_for_again(folder: Path) -> None:
    """The prompt is the one without a second look, and the run is not taken for one that is done (rule T-10)."""
    for pick in ([], ["--pick", "scripted"], ["--pick", "scripted"]):
        ended = start(folder, *TASK, *pick)
        assert ended.code == 0
        warning = "warning: second look: scripted:claude-sonnet-5 picked nothing in the project"
        assert (warning in ended.err) is bool(pick)
    texts = {path.read_text() for path in (folder / "md_gen").glob("demo_*.md")}
    assert len(texts) == 1


def test_only_the_user_has_a_model_asked(folder: Path) -> None:
    """``[task] pick`` counts in the user's own configuration; in a project's it is a warning (rule T-10)."""
    config = folder / "manual_slop.toml"
    before = config.read_text()
    config.write_text(f'{before}[task]\npick = "scripted"\n')
    ended = start(folder, *TASK)
    assert "second look" not in ended.err
    assert "task.pick: only your own configuration can have a model asked" in ended.err
    config.write_text(before)
    by_user(folder, '[task]\npick = "scripted"\n')
    assert "warning: second look: scripted" in start(folder, *TASK).err
    assert "second look" not in start(folder, "run").err


def test_a_pick_without_a_task_is_a_mistake(folder: Path) -> None:
    """It is a sentence, and nobody is asked."""
    ended = start(folder, "run", "--pick", "scripted")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("Error: --pick chooses files for a task and a budget: add both\n")


def test_auto_asks_the_users_own_model_if_the_ranking_is_unsure(folder: Path) -> None:
    """``--pick auto`` asks the model of the user's ``[send]``, but not about a named definition (rule T-17)."""
    add_areas(folder / "src")
    vague = ("Why is the weather so strange in the middle?", "--budget", "1k", "--pick", "auto")
    with chat_server(ANSWER) as server:
        by_user(folder, COMPATIBLE.format(url=server.url) + 'model = "tiny"\n')
        asked = start(folder, *vague)
        assert "second look: compatible:tiny picks src/" in asked.err
        assert len(server.bodies) == 1
        sure = start(folder, "Fix lantern_upper()", *vague[1:])
        assert (sure.code, len(server.bodies)) == (0, 1)
        assert "second look" not in sure.err
