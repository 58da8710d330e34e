"""A task and a budget on the command line."""

import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from aggregate import Place, Task
from aggregate.cli.arguments import read_task_argument, typed_places
from tests.cli.command_line import aggregate, mistake, start
from tests.project.history import Repository
from tests.projects import project

FILES = {
    "README.md": "# Demo\n",
    "src/a.py": "def retry():\n    return 1\n",
    "src/b.py": "x = 2\n",
    "data.bin": "\0\0",
    ".env": "KEY=1\n",
    ".gitignore": "ignored/\n",
    "ignored/c.py": "x = 3\n",
}
KEEP = "no manual_slop.toml here: files are chosen from all that git does not ignore; "


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one commit, without a configuration."""
    folder = tmp_path_factory.mktemp("committed")
    Repository(folder).commit("Begin", FILES)
    return folder


@pytest.fixture
def clone(committed: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(committed, tmp_path / "my clone"))


def shown(text: str) -> list[str]:
    heads = [line for line in text.splitlines() if line.startswith("### File ")]
    return [head.removeprefix("### File ") for head in heads]


def test_a_folder_without_a_configuration_stands_for_its_files(clone: Path) -> None:
    """A task needs no configuration: all files that git would take, named after the folder, and how to keep it (T-6)."""
    ended = start(clone, "run", "--task", "retry once more")
    assert (ended.code, ended.out) == (0, "md_gen/my_clone_001.md\n")
    assert (
        ended.err.splitlines()[0]
        == KEEP + "to choose from fewer, write one: aggregate init --budget 32k"
    )
    text = (clone / "md_gen/my_clone_001.md").read_text(encoding="utf-8")
    assert sorted(path for path in shown(text) if "*" not in path) == [
        ".gitignore",
        "README.md",
        "src/a.py",
        "src/b.py",
    ]
    assert "KEY=1" not in text
    quiet = start(clone, "retry once more", "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, "md_gen/my_clone_002.md\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--budget", "32k"],
        ["--symbol", "retry"],
        ["--since", "HEAD"],
        ["--task", "retry once more", "--focus", "src/a.py"],
        ["fix the retry loop", "--budget", "auto"],
        [" fix\nit ", "--budget", "60,000"],
        ["重试循环中的超时"],
    ],
)
def test_each_way_to_ask_needs_no_configuration(clone: Path, arguments: list[str]) -> None:
    """A budget, a seed or a sentence alone composes the folder's files as ``run --task`` does (rules T-1 and T-6)."""
    ended = start(clone, *arguments, "-q")
    assert (ended.code, ended.out, ended.err) == (0, "md_gen/my_clone_001.md\n", "")


def test_a_configuration_that_was_named_must_be_there(clone: Path) -> None:
    """Nothing else is taken in its place (rule T-6)."""
    for arguments in (["-c", "manual_slop.toml"], ["-c", "manual_slop.toml", "--task", "x"]):
        said = mistake(start(clone, *arguments))
        assert said.startswith(
            "manual_slop.toml: there is no manual_slop.toml here: create it with"
        )


def test_a_home_folder_is_no_project(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed in the wrong place does not read all that somebody has; a repository there is one (T-6, T-12)."""
    monkeypatch.setenv("HOME", str(clone))
    monkeypatch.chdir(clone)
    assert aggregate("fix it now", "-q").code == 0
    (clone / ".git").rename(clone / "git")
    for arguments in (["fix it now", "-q"], [], ["stats"], ["send", "x", "--provider", "scripted"]):
        assert "this folder holds all your files" in mistake(aggregate(*arguments))


def test_prompts_of_a_folder_without_a_configuration_can_be_looked_after(clone: Path) -> None:
    """``explain`` and ``prune`` find what was written there; where nothing was, they say how to (rule T-6)."""
    assert "there is neither a manual_slop.toml nor a prompt here" in mistake(
        start(clone, "explain")
    )
    start(clone, "run", "--task", "x", "-q")
    start(clone, "run", "--task", "x", "-q")
    assert start(clone, "explain", "2").out.startswith("my_clone_002.md")
    assert start(clone, "prune", "--keep", "1").code == 0
    assert [path.name for path in (clone / "md_gen").glob("*.md")] == ["my_clone_002.md"]


def test_a_task_comes_from_a_file_or_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``@FILE`` and ``-`` are read as UTF-8; anything else is the text itself (rule T-1)."""
    monkeypatch.chdir(project(tmp_path, {"ticket.md": "Größer\nmachen\n"}))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("von außen".encode())))
    assert read_task_argument("@ticket.md") == Task("Größer\nmachen\n")
    assert read_task_argument("-") == Task("von außen")
    assert read_task_argument(" @ticket.md") == Task(" @ticket.md")
    assert read_task_argument("") == Task("")
    assert read_task_argument(None) is None
    assert read_task_argument(None, symbols=("A.b",), since="v1") == Task("", (), ("A.b",), "v1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--task", "@gone.md"], "the task's file gone.md cannot be read: No such file or directory"),
        (["--task", "@."], "the task's file . cannot be read: is a directory"),
        (["--task", "@latin.txt"], "the task's file latin.txt is not UTF-8 (byte 1): save it as UTF-8"),
        (["--task", "@pipe"], "the task's file pipe cannot be read: is not a regular file"),
        (["--symbol", " "], "--symbol is empty: give it the name of a definition"),
        (["--budget", "some"], "it must be a number of tokens from 1 to 1,000,000,000, such as 32000,"),
        (["--budget", "0"], "or auto, not '0'"),
        (["--budget", "-5"], "or auto, not '-5'"),
        (["--explain"], "--explain needs a task or a budget: add --task or --budget"),
        (["--explain", "--stdout", "--task", "x"], "--stdout and --explain exclude each other"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(
    clone: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    """A task that cannot be read, and what is no budget, exit with 2 and write nothing (rules T-1 and B-1)."""
    project(clone, {"manual_slop.toml": ""})
    (clone / "latin.txt").write_bytes(b"f\xfcr")
    os.mkfifo(clone / "pipe")
    monkeypatch.chdir(clone)
    captured = aggregate(*arguments)
    assert captured.code == 2
    assert captured.out == ""
    assert said in " ".join(captured.err.split())
    assert not (clone / "md_gen").exists()


def test_lines_of_a_focus_belong_to_a_task(clone: Path) -> None:
    """With ``--tier 3``, and with neither task nor budget, lines are refused in one sentence (rule T-2)."""
    project(clone, {"manual_slop.toml": "[files]\npaths = ['src/*.py']\n"})
    for arguments in ([], ["--tier", "3", "--task", "x"]):
        said = mistake(start(clone, *arguments, "--focus", "src/a.py:1-2"))
        assert said.startswith("focus src/a.py:1-2: a Tier 3 context shows whole files: leave the")
    asked = start(clone, "--stdout", "-q", "--focus", "src/a.py:1-2", "--task", "x")
    assert asked.code == 0
    assert asked.out.startswith("## Files\n")
    tier3 = start(clone, "--stdout", "-q", "--focus", "src/a.py", "--task", "x", "--tier", "3")
    assert tier3.out.startswith("## Files (Tier 3 - Focused)\n")


def test_places_begin_in_the_current_folder(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed is relative to where the user stands, also with lines, and to the files' folder after (T-2)."""
    project(clone, {"src/odd:7": ""})
    monkeypatch.chdir(clone / "src")
    typed = ["a.py:3-9", "b.py", "odd:7", "gone.py:1", "src/a.py:2"]
    assert typed_places(typed, clone) == (
        Place("src/a.py", 3, 9),
        Place("src/b.py"),
        Place("src/odd:7"),
        Place("gone.py", 1, 1),
        Place("src/a.py", 2, 2),
    )


def test_init_can_keep_the_choice(clone: Path) -> None:
    """``init --budget`` writes a configuration that takes what the folder did without one (rule T-6)."""
    before = start(clone, "run", "--task", "retry", "--budget", "32k", "--stdout", "-q").out
    assert start(clone, "init", "--budget", "32k").code == 0
    text = (clone / "manual_slop.toml").read_text(encoding="utf-8")
    assert "\n[budget]\n" in text
    assert "\ntokens = 32_000\n" in text
    assert start(clone, "run", "--task", "retry", "--stdout", "-q").out == before


def test_files_have_scores_with_a_task(clone: Path) -> None:
    """Without a budget too: the audit has them, their sum is 1, and ``--explain`` lists them (rule T-3)."""
    assert start(clone, "run", "--task", "retry", "-q").code == 0
    rows = json.loads(start(clone, "explain", "--json").out)["rows"]
    scores = {row["path"]: row["score"] for row in rows if row["score"] is not None}
    assert max(scores, key=lambda path: scores[path]) == "src/a.py"
    assert 0.999 < sum(scores.values()) < 1.001
    table = start(clone, "run", "--task", "retry", "--explain").out
    assert ["tokens", "level", "score"] in [line.split()[:3] for line in table.splitlines()]


def test_a_sentence_may_stand_behind_options(clone: Path) -> None:
    """The task may be named where it suits, but once; ``@`` and ``-`` mean in a sentence what they do else (T-1)."""
    for arguments in (["--budget", "32k", "fix the loop"], ["run", "fix the loop"]):
        assert start(clone, *arguments, "-q").code == 0
    ended = start(clone, "run", "fix it", "--task", "x")
    assert ended.code == 2
    assert "the task is stated twice: leave out --task or 'fix it'" in ended.err


def test_pins_that_exceed_the_budget_fail(clone: Path) -> None:
    """The exit code is 1, nothing is written, and the budget that is named is the smallest that would do (rule B-4)."""
    options = ["fix the loop", "--focus", "src/a.py", "-q"]
    ended = start(clone, *options, "--budget", "5")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("aggregate: the required parts have ")
    assert ended.err.count("\n") == 1
    smallest = int(ended.err.rpartition(" ")[2])
    assert start(clone, *options, "--budget", str(smallest - 1)).code == 1
    assert not (clone / "md_gen").exists()
    assert start(clone, *options, "--budget", str(smallest)).code == 0


@pytest.mark.parametrize("place", ["src/a.py", "src/a.py:2"])
def test_a_focus_is_shown_in_full_without_a_budget(clone: Path, place: str) -> None:
    """A task pins its focus also where nothing is chosen, and leaves the other files as they are (rules T-2 and T-3)."""
    config = '[files]\npaths = [{ path = "src/*.py", view_mode = "skeleton" }, "README.md"]\n'
    project(clone, {"manual_slop.toml": config, "src/c.py": "def wait():\n    return 3\n"})
    bare = start(clone, "--stdout", "-q").out
    asked = start(clone, "fix the retry", "--focus", place, "--stdout", "-q").out
    assert start(clone, "fix the retry", "--stdout", "-q").out == bare
    assert asked == bare.replace("def retry():\n    ...\n", FILES["src/a.py"])


@pytest.mark.parametrize(
    ("options", "matching"),
    [
        ([], True),
        (["--budget", "4k"], True),
        (["--tier", "3"], False),
        (["--budget", "4k", "--tier", "3"], False),
    ],
)
def test_what_points_at_nothing_is_told_once(
    clone: Path, options: list[str], matching: bool
) -> None:
    """Beside seeds that match, and in a Tier 3 prompt, seeds that match nothing are a warning each (rule T-2)."""
    seeds = ["--focus", "src/gone.py", "--symbol", "nowhere"]
    seeds += ["--focus", "src/a.py", "--symbol", "retry"] if matching else []
    ended = start(clone, "fix the retry", *seeds, *options)
    assert ended.code == 0
    assert ended.err.count("src/gone.py") == 1
    assert ended.err.count("warning: no definition is called nowhere\n") == 1


@pytest.mark.parametrize("options", [["fix it"], ["fix it", "--budget", "4k"], ["--budget", "4k"]])
@pytest.mark.parametrize(
    ("seeds", "nearest"),
    [
        (["--focus", "src/aa.py"], 'did you mean "src/a.py"?'),
        (["--focus", "src/aa.py", "--symbol", "retry"], 'did you mean "src/a.py"?'),
        (["--focus", "src/a.py", "--symbol", "retryy"], 'did you mean "retry"?'),
        (["--symbol", "zzz"], "no definition is called zzz: name a function, class or constant"),
    ],
)
def test_seeds_without_a_match_are_a_mistake(
    clone: Path, options: list[str], seeds: list[str], nearest: str
) -> None:
    """Where no focus, or no symbol, matches anything, nothing is written and the nearest names are said (rule T-2)."""
    before = sorted(clone.rglob("*.md"))
    ended = start(clone, *options, *seeds)
    assert (ended.code, ended.out) == (2, "")
    assert nearest in ended.err
    assert sorted(clone.rglob("*.md")) == before


def test_a_focus_without_a_match_is_a_mistake_without_a_task(clone: Path) -> None:
    """A focus alone that names no file writes nothing either."""
    ended = start(clone, "--focus", "src/aa.py")
    assert (ended.code, ended.out) == (2, "")
    assert 'did you mean "src/a.py"?' in ended.err


def test_levels_in_json_are_those_of_the_audit(clone: Path) -> None:
    """``--json`` says of each file the most that is shown of it, and what is (rule A-2)."""
    bodies = "".join(
        f"def step_{n}():\n    return wait({n}) + wait({n} * 2)\n\n\n" for n in range(50)
    )
    project(clone, {"src/long.py": f"def retry_all():\n    return 1\n\n\n{bodies}"})
    files = json.loads(start(clone, "fix retry_all", "--budget", "600", "--json").out)["files"]
    rows = json.loads(start(clone, "explain", "--json").out)["rows"]
    levels = {row["path"]: row["level"] for row in rows}
    assert {file["view_mode"] for file in files} == {"full"}
    assert {file["path"]: file["level"] for file in files} == {
        file["path"]: levels[file["path"]] for file in files
    }
    assert levels["src/long.py"] == "focused"


def test_a_budget_that_fits_no_file_is_told(clone: Path) -> None:
    """The prompt is valid, and one line says that it shows no file (rule B-7)."""
    ended = start(clone, "fix the retry", "--stdout", "--budget", "80")
    assert "no file fits into the budget" in ended.err
    assert "### File" not in ended.out


def test_without_a_cache_no_log_is_written(clone: Path) -> None:
    """``--no-cache`` leaves nothing beside the prompt but its account."""
    start(clone, "fix the retry", "--budget", "2k", "--no-cache")
    names = sorted(path.name for path in (clone / "md_gen").iterdir())
    assert names == [".gitignore", ".my_clone_001.audit.json", "my_clone_001.md"]
