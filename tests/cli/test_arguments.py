"""Arguments of ``run``: paths, the task, where the prompt is written, and the usual budgets."""

import json
import re
import subprocess
from itertools import chain
from pathlib import Path

import pytest

from tests.cli.command_line import Ended, aggregate
from tests.projects import project

LONG = "".join(f"def step_{n}():\n    return wait({n})\n\n\n" for n in range(30))
FILES = {
    "README.md": "# Demo\n",
    "src/core.py": f"def changed():\n    return 1\n\n\n{LONG}",
    "src/use.py": "from core import changed\n\n\ndef call():\n    return changed()\n",
    "src/[id]/page.py": "PAGE = 1\n",
    "tests/test_core.py": "from core import changed\n\n\ndef test_it():\n    changed()\n",
    "CONDUCT.md": "# Conduct\n\nBe kind.\n",
}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository without a configuration, which is the current folder."""
    folder = project(tmp_path / "clone", FILES)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        subprocess.run(["git", "-C", str(folder), *identity, *command], check=True)
    monkeypatch.chdir(folder)
    return folder


def succeeded(*arguments: str) -> Ended:
    ended = aggregate(*arguments)
    assert ended.code == 0, ended.err
    return ended


def shown(*arguments: str) -> list[str]:
    """Return the files that a prompt shows."""
    lines = succeeded(*arguments, "--stdout", "-q").out.splitlines()
    return [line.removeprefix("### File ") for line in lines if line.startswith("### File ")]


def refused(*arguments: str) -> str:
    ended = aggregate(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert not Path("md_gen").exists()
    return ended.err


def test_a_task_without_a_budget_has_32000_tokens(clone: Path) -> None:
    """One line says so; ``--budget all`` shows everything as without a task (rule T-3)."""
    ended = succeeded("fix the retry loop")
    assert "\nbudget: 32,000 tokens by default; --budget N sets another one" in ended.err
    assert "budget" not in json.loads(Path("md_gen/.clone_001.audit.json").read_text())["missing"]
    assert Path("md_gen/clone_001.md").read_text().rstrip().endswith("fix the retry loop")
    whole = succeeded("fix the retry loop", "--budget", "all")
    assert "budget:" not in whole.err
    assert "## Task" not in Path("md_gen/clone_002.md").read_text()


@pytest.mark.parametrize("config", ["[files]\npaths = ['src/*.py']\n", "[budget]\ntokens = 5000\n"])
def test_a_configured_project_keeps_its_budget(clone: Path, config: str) -> None:
    """Configured files or a configured budget leave a task as it was (rule T-3)."""
    project(clone, {"manual_slop.toml": config})
    assert "budget:" not in succeeded("fix the retry loop").err


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (["src/core.py"], ["src/core.py"]),
        (["README.md", "src/use.py"], ["README.md", "src/use.py"]),
        (["src/*.py"], ["src/core.py", "src/use.py"]),
        (["src"], ["src/[id]/page.py", "src/core.py", "src/use.py"]),
        (["src/[id]"], ["src/[id]/page.py"]),
        (["src", "--exclude", "core.py"], ["src/[id]/page.py", "src/use.py"]),
        ([".", "--include", "*.md"], ["CONDUCT.md", "README.md"]),
        ([".", "--include", "src/", "--exclude", "[[]id]/"], ["src/core.py", "src/use.py"]),
        (["src/use.py", "change the call"], ["src/use.py"]),
    ],
)
def test_paths_are_arguments(clone: Path, arguments: list[str], paths: list[str]) -> None:
    """Files, folders and globs are the only candidates, and stand in full without a task (rule T-13)."""
    assert shown(*arguments) == paths


def test_the_rest_of_the_arguments_is_the_task(clone: Path) -> None:
    """Words need no quotes, one word is a task, and words behind ``--`` are no paths (rule T-13)."""
    for arguments, task in (
        (["src", "fix", "the", "call"], "fix the call"),
        (["changed"], "changed"),
        (["--", "README.md"], "README.md"),
        (["fix what?"], "fix what?"),
    ):
        text = succeeded("--stdout", "-q", *arguments).out
        assert text.rstrip().endswith(f"\n\n{task}")


def test_a_word_near_a_command_is_a_mistake(clone: Path) -> None:
    """The error names the command and how to make the word the task (rule T-13)."""
    message = refused("chekc")
    assert "Did you mean one of: 'cache', 'check'?" in message
    assert 'aggregate --task "chekc"' in message


@pytest.mark.parametrize("typed", ["src/cor.py", "READM.md", "src/*.go", "gone/file.py"])
def test_a_path_that_does_not_exist_is_a_mistake(clone: Path, typed: str) -> None:
    """The nearest name is proposed and nothing is written (rule T-13)."""
    message = refused(typed)
    assert typed in message
    assert ("did you mean" in message) == (typed in ("src/cor.py", "READM.md"))


def test_a_path_is_shown_as_its_entry_allows_at_most(clone: Path) -> None:
    """What the configuration does not name is shown too (rules T-13 and B-3)."""
    config = '[files]\npaths = [{ path = "src/*.py", view_mode = "skeleton" }]\n'
    project(clone, {"manual_slop.toml": config})
    text = succeeded("src/use.py", "CONDUCT.md", "--stdout", "-q").out
    assert "def call():\n    ...\n" in text
    assert "Be kind." in text
    assert "step_1" not in text


def test_paths_come_from_a_file(clone: Path) -> None:
    """Lines and NUL-separated names are read; names that are gone are a warning (rule T-13)."""
    (clone / "list").write_text('src/use.py\n"READ\\115E.md"\ngone.py\n', encoding="utf-8")
    ended = succeeded("--paths-from", "list", "--stdout")
    assert "### File src/use.py" in ended.out
    assert "### File README.md" in ended.out
    assert "warning: gone.py: no such file, left out" in ended.err
    (clone / "list").write_text("src/use.py\0README.md\0", encoding="utf-8")
    assert shown("--paths-from", "list") == ["src/use.py", "README.md"]
    (clone / "list").write_text("gone.py\n", encoding="utf-8")
    assert "contains no existing file" in refused("--paths-from", "list")


def test_a_prompt_is_written_where_it_is_asked_for(clone: Path) -> None:
    """Its audit lies beside it, ``explain`` and ``locate`` find it, and no later prompt takes it (rule T-13)."""
    assert succeeded("fix the call", "-o", "ask.md", "-q").out == "ask.md\n"
    assert (clone / ".ask.audit.json").is_file()
    assert not (clone / "md_gen").exists()
    assert succeeded("explain", "ask.md").out.startswith("ask.md: ")
    assert succeeded("locate", "ask.md:1").code == 0
    for arguments in (["-o", "ask.md"], ["-o", "other.txt"], ["-o", "-"]):
        ended = succeeded("--budget", "all", "-q", *arguments)
        text = ended.out if arguments[1] == "-" else (clone / arguments[1]).read_text()
        assert "### File README.md" in text
        assert "ask.md" not in text
    assert aggregate("README.md", "-o", "src").code == 1


def test_a_review_shows_what_has_changed(clone: Path) -> None:
    """Without a task changed definitions stand in full, with callers, tests and the diff (rule T-14)."""
    path = clone / "src/core.py"
    path.write_text(path.read_text().replace("return 1", "return 2"), encoding="utf-8")
    (clone / "new.py").write_text("def fresh():\n    return 3\n", encoding="utf-8")
    ended = succeeded("--diff", "--stdout")
    assert "budget: 16,000 tokens" in ended.err
    assert "def changed():\n    return 2\n" in ended.out
    assert "def fresh():\n    return 3\n" in ended.out
    assert "return changed()" in ended.out
    assert "-    return 1\n+    return 2\n" in ended.out
    assert "## Task" not in ended.out
    assert succeeded("--since", "HEAD", "--stdout", "-q").out == ended.out


def test_a_task_behind_diff_is_no_revision(clone: Path) -> None:
    """A revision needs ``=`` (rule T-14)."""
    path = clone / "src/core.py"
    path.write_text(path.read_text().replace("return 1", "return 2"), encoding="utf-8")
    text = succeeded("--diff", "fix the slash", "--stdout", "-q").out
    assert text.rstrip().endswith("fix the slash")
    assert "What has changed since HEAD" in text
    assert "what has changed since v9" not in text


def test_a_review_of_nothing_warns(clone: Path) -> None:
    """Where no file differs, a line says so (rule T-14)."""
    sentence = "none of the files differs from HEAD; an older revision has committed changes"
    assert f"warning: {sentence}\n" in succeeded("--diff").err


def test_a_pattern_that_leaves_no_file_is_named(clone: Path) -> None:
    """Where ``--include`` or ``--exclude`` leaves nothing, the warning names the options (rule T-13)."""
    sentence = "or nothing matches [files] paths, --include or --exclude\n"
    assert sentence in succeeded("--include", "nothing/*.md").err
    assert sentence not in succeeded("--include", "src/*.py").err


def test_the_folder_of_prompts_ignores_itself(clone: Path) -> None:
    """Git sees no prompt where the program made the folder; a folder that was there stays as it was (rule M-1)."""
    succeeded("README.md", "-q")
    status = subprocess.run(["git", "status", "--short"], capture_output=True, check=True)
    assert status.stdout == b""
    ignore = clone / "md_gen/.gitignore"
    ignore.write_text("# mine\n", encoding="utf-8")
    succeeded("README.md", "-q")
    assert ignore.read_text(encoding="utf-8") == "# mine\n"
    (clone / "manual_slop.toml").write_text("[output]\noutput_dir = 'src'\n", encoding="utf-8")
    succeeded("README.md", "-q")
    assert not (clone / "src/.gitignore").exists()


def test_a_preset_is_not_overwritten_by_accident(clone: Path) -> None:
    """``save`` counts the files that its globs match, and needs ``--force`` for a name that is there."""
    (clone / "manual_slop.toml").write_text("", encoding="utf-8")
    assert succeeded("preset", "save", "mine", "src/*.py").err == 'saved "mine": 2 files\n'
    again = aggregate("preset", "save", "mine", "README.md")
    assert again.code == 2
    assert "add --force to overwrite it" in again.err
    forced = succeeded("preset", "save", "mine", "README.md", "--force")
    assert forced.err == 'saved "mine": 1 file\n'
    assert succeeded("preset", "save", "folder", "src").err == 'saved "folder": 3 files\n'
    assert "is a directory" not in succeeded("--preset", "folder").err


def test_a_prompt_is_split_between_files(clone: Path) -> None:
    """Each part keeps to its tokens and says what the others hold; a large file is cut alone (rule T-15)."""
    ended = succeeded("src", "README.md", "CONDUCT.md", "--split", "300", "-q")
    paths = ended.out.split()
    assert len(paths) > 2
    texts = [Path(path).read_text(encoding="utf-8") for path in paths]
    for number, text in enumerate(texts, start=1):
        assert text.startswith(
            f"This is part {number} of {len(texts)} of a prompt of the project clone."
        )
        assert text.count("\n- part ") == len(texts) - 1
        audit = json.loads(Path(f"md_gen/.clone_{number:03d}.audit.json").read_text())
        assert audit["tokens"] <= 300
        assert len(audit["cut"]) == len(texts) - 1
    pieces = [
        re.findall(r"### File src/core.py \(piece[^\n]*\n\n```python\n(.*?)\n```", text, re.DOTALL)
        for text in texts
    ]
    assert "\n".join([*chain(*pieces), ""]) == FILES["src/core.py"]
    assert all(piece[0].startswith("def ") for piece in pieces if piece)
    assert sum(text.count("### File README.md") for text in texts) == 1
    place = next(n for n, found in enumerate(pieces, start=1) if found and "step_20" in found[0])
    line = texts[place - 1].split("\n").index("def step_20():") + 1
    origin = succeeded("locate", f"{place}:{line}").out
    expected = FILES["src/core.py"].split("\n").index("def step_20():") + 1
    assert origin.startswith(f"src/core.py:{expected}")


def test_a_long_line_is_split_between_characters(clone: Path) -> None:
    """Nothing is lost of a line that is larger than a part; its characters stand in the heading (rule T-15)."""
    line = "".join(f"step({number});" for number in range(1_000))
    (clone / "src/all.js").write_text(f"// All\n\n\n{line}\n\nend();\n", encoding="utf-8")
    paths = succeeded("src/all.js", "--split", "600", "-q").out.split()
    texts = [Path(path).read_text(encoding="utf-8") for path in paths]
    form = r"### File src/all.js \(piece \d+, ([^)]*)\)\n\n```javascript\n(.*?)\n```"
    pieces = [piece for text in texts for piece in re.findall(form, text, re.DOTALL)]
    parts = [text for where, text in pieces if where.startswith("line 4, characters")]
    assert len(parts) > 5
    assert "".join(parts) == line
    assert pieces[1][0] == f"line 4, characters 1-{len(parts[0])} of {len(line)}"
    assert [text for where, text in pieces if "characters" not in where] == [
        "// All\n\n",
        "\nend();",
    ]
    place = next(number for number, text in enumerate(texts, start=1) if parts[0] in text)
    number = texts[place - 1].split("\n").index(parts[0]) + 1
    assert succeeded("locate", f"{place}:{number}").out == "src/all.js:4\n"


def test_parts_far_away_share_a_line(clone: Path) -> None:
    """However many parts there are, a part has room for content (rule T-15)."""
    for number in range(60):
        (clone / f"src/part_{number:02d}.py").write_text("X = 1\n" * 60, encoding="utf-8")
    paths = succeeded("src", "--split", "800", "-q").out.split()
    assert len(paths) > 25
    lines = Path(paths[12]).read_text(encoding="utf-8").split("\n")
    others = [line for line in lines if line.startswith("- part")]
    assert others[0].startswith("- parts 1 to 7: ")
    assert others[1].startswith("- part 8: ")
    assert others[-1].startswith(f"- parts 19 to {len(paths)}: ")


def test_a_revision_behind_diff_is_the_task(clone: Path) -> None:
    """A word behind ``--diff`` is the task, with a warning if it names a revision; a path is none (rule T-14)."""
    (clone / "src/use.py").write_text("from core import step_1\n\nstep_1()\n", encoding="utf-8")
    warning = 'warning: "HEAD" is taken as the task: write --diff=HEAD for the changes since this revision, or --task "HEAD"'
    assert warning in succeeded("--diff", "HEAD").err
    for arguments in (
        ["--diff=HEAD"],
        ["--diff", "src"],
        ["--diff", "fix HEAD"],
        ["--diff", "-q", "HEAD"],
    ):
        assert "is taken as the task" not in succeeded(*arguments).err


def test_a_prompt_without_a_record_is_named(clone: Path) -> None:
    """A named prompt of neither task nor budget is there, though nothing says where its lines come from (rule L-2)."""
    succeeded("src", "-o", "all.md", "-q")
    for command in (["locate", "all.md:5"], ["explain", "all.md"]):
        assert "all.md: this prompt has no audit" in refused(*command)


@pytest.mark.parametrize("option", [["--budget", "4k"], ["--stdout"], ["-o", "x.md"]])
def test_split_writes_numbered_prompts_alone(clone: Path, option: list[str]) -> None:
    """It goes with no budget and no other place (rule T-15)."""
    assert "--split writes numbered prompts" in refused("--split", "4k", *option)
