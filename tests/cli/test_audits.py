"""``explain``, ``locate``, ``diff`` and ``schema --audit``: what is told of prompts for a task or a budget."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.base.redaction.samples import PLANTED
from tests.cli.command_line import Ended, mistake, start
from tests.projects import project

SOURCE = '''\
"""Retrying."""


def retry(times):
    """Call again."""
    for _ in range(times):
        pass
    return times


def other():
    return 1
'''
FILES = {
    "manual_slop.toml": '[project]\nname = "demo"\n[files]\npaths = ["src/*.py", "notes.md"]\n'
    '[discussion]\nhistory = ["User: hello"]\n',
    "src/retry.py": SOURCE,
    "src/far.py": "def distance():\n    return 3\n",
    "notes.md": "# Notes\n\nNothing.\n",
}


def names(folder: Path) -> list[str]:
    """Return the names of the files that lie beside a project's prompts."""
    return sorted(path.name for path in (folder / "md_gen").iterdir())


def prompt_lines(folder: Path, number: int = 1) -> list[str]:
    return ["", *(folder / f"md_gen/demo_{number:03d}.md").read_text(encoding="utf-8").split("\n")]


@pytest.fixture(scope="module")
def asked_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with one prompt for a task and a budget, which no test changes."""
    folder = project(tmp_path_factory.mktemp("asked"), FILES)
    ended = start(folder, "run", "--task", "make retry wait", "--budget", "4k", "-q")
    assert (ended.code, ended.out, ended.err) == (0, "md_gen/demo_001.md\n", "")
    return folder


@pytest.fixture
def asked(asked_once: Path, tmp_path: Path) -> Path:
    """Return a copy of that project."""
    return Path(shutil.copytree(asked_once, tmp_path / "demo"))


def test_a_run_with_neither_task_nor_budget_leaves_no_audit(tmp_path: Path) -> None:
    """Such a run leaves the same files as ever, and one on standard output none (rules A-1, T-3)."""
    folder = project(tmp_path, FILES)
    assert start(folder, "run", "-q").code == 0
    assert start(folder, "run", "--task", "retry", "--stdout", "-q").code == 0
    assert names(folder) == [".demo_001.chain.json", ".gitignore", "demo_001.md"]
    said = mistake(start(folder, "locate", "1:3"))
    assert said == (
        "md_gen/demo_001.md: this prompt has no audit: "
        "only aggregate run with --task or --budget records the sources of its prompt"
    )
    assert mistake(start(folder, "explain")).startswith("no prompt in md_gen has an audit")


def test_each_run_with_one_leaves_an_audit_that_adds_up(tmp_path: Path) -> None:
    """With a task, a budget or both an audit lies beside the prompt, and its tokens add up (rules A-1, A-2)."""
    folder = project(tmp_path, FILES)
    for number, arguments in enumerate(
        (["--task", "retry"], ["--budget", "4k"], ["--task", "retry", "--budget", "150"]), start=1
    ):
        report = json.loads(start(folder, "run", *arguments, "--json").out)
        data = json.loads(start(folder, "explain", str(number), "--json").out)
        assert data["tokens"] == report["tokens"]["document"]
        assert data["sections"] == report["tokens"]["sections"]
        rows = sum(row["tokens"] for row in data["rows"])
        others = sum(count for name, count in data["sections"].items() if name != "files")
        assert rows + data["generated"] + others == data["tokens"]
        assert [row["path"] for row in data["rows"]] == ["src/far.py", "src/retry.py", "notes.md"]
        assert data["bytes"] == (folder / f"md_gen/demo_{number:03d}.md").stat().st_size
        for row in data["rows"]:  # what shows nothing is told in few bytes, as there may be many
            is_shown = row["tokens"] > 0
            content = (folder / row["path"]).read_bytes()
            assert row["content_hash"] == (sha256(content).hexdigest() if is_shown else "")
    assert len([name for name in names(folder) if name.endswith("audit.json")]) == 3


def test_the_table_names_files_and_reasons(asked: Path) -> None:
    """``explain`` shows the newest audit: files by tokens with level, score and reasons (rule A-2)."""
    ended = start(asked, "explain")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("demo_001.md: ")
    assert " of 4,000 tokens (o200k)" in lines[0]
    assert lines[1] == "task: make retry wait"
    assert lines[2].split() == ["tokens", "level", "score", "file", "why"]
    assert "src/retry.py" in lines[3]
    assert "retry" in lines[3].split("src/retry.py", 1)[1]
    assert any(line.endswith("in history") for line in lines)
    assert start(asked, "explain", "1").out == ended.out
    assert start(asked, "explain", "md_gen/demo_001.md").out == ended.out


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (["src/retry.py"], ["src/retry.py"]),
        (["1", "retry.py"], ["src/retry.py"]),
        (["src/*.py"], ["src/far.py", "src/retry.py"]),
        (["**/*.md"], ["notes.md"]),
        (["src"], ["src/far.py", "src/retry.py"]),
    ],
)
def test_a_path_tells_all_about_its_files(
    asked: Path, arguments: list[str], paths: list[str]
) -> None:
    """With a path, a part of one or a glob ``explain`` tells everything of these rows alone (rule A-2)."""
    rows = json.loads(start(asked, "explain", *arguments, "--json").out)
    assert [row["path"] for row in rows] == paths
    lines = start(asked, "explain", *arguments).out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == paths
    assert "  level        " in "\n".join(lines)


def test_explain_before_anything_is_written(asked: Path) -> None:
    """``run --explain`` prints the account that the prompt would have, and leaves nothing (rule A-3)."""
    arguments = ["run", "--task", "make retry wait", "--budget", "4k", "--explain", "-q"]
    before = names(asked)
    planned = start(asked, *arguments)
    assert (planned.code, planned.err) == (0, "")
    written = start(asked, "explain").out
    assert written == f"demo_001.md: {planned.out}"
    data = json.loads(start(asked, *arguments, "--json").out)
    kept = json.loads(start(asked, "explain", "--json").out)
    assert {**kept, "bytes": 0} == data
    assert names(asked) == before


def test_a_line_of_a_prompt_leads_to_its_origin(asked: Path) -> None:
    """``locate`` prints the file's line, or what a generated line or a turn stands for (rule L-2)."""
    lines = prompt_lines(asked)

    def located(text: str) -> Ended:
        return start(asked, "locate", f"1:{lines.index(text)}")

    assert located("def retry(times):") == Ended(0, "src/retry.py:4\n", "")
    assert located("## Files") == Ended(0, "generated: heading of the section files\n", "")
    assert located("### File src/retry.py") == Ended(0, "generated: heading of src/retry.py\n", "")
    assert located("User: hello") == Ended(0, "turn 1\n", "")
    number = len(lines) - 1  # the empty line behind the last line feed
    assert lines[number] == ""
    assert start(asked, "locate", f"1:{number}") == Ended(0, "generated: blank line\n", "")
    assert "but no line" in start(asked, "locate", f"1:{number + 1}").err
    number = lines.index("    return times")
    assert start(asked, "locate", f"md_gen/demo_001.md:{number}").out == "src/retry.py:8\n"
    assert start(asked, "locate", "src/retry.py:8").out == f"md_gen/demo_001.md:{number}\n"


def test_it_works_after_the_files_have_changed(asked: Path) -> None:
    """The recorded map is read, not the files: where these have changed or are gone it says so (rule L-2)."""
    number = prompt_lines(asked).index("def retry(times):")
    (asked / "src/retry.py").write_text("# one more line\n" + SOURCE, encoding="utf-8")
    told = "src/retry.py has changed since the prompt was written: line numbers are from then\n"
    assert start(asked, "locate", f"1:{number}") == Ended(0, "src/retry.py:4\n", told)
    assert start(asked, "locate", "src/retry.py:4") == Ended(
        0, f"md_gen/demo_001.md:{number}\n", told
    )
    (asked / "src/retry.py").unlink()
    gone = "src/retry.py does not exist any more: line numbers are from then\n"
    assert start(asked, "locate", f"1:{number}") == Ended(0, "src/retry.py:4\n", gone)
    with (asked / "md_gen/demo_001.md").open("a", encoding="utf-8") as prompt:
        prompt.write("more")
    edited = "demo_001.md has been edited since it was written: line numbers are from then\n"
    assert start(asked, "locate", f"1:{number}").err == edited + gone


def test_a_file_with_a_secret_has_changed_too(tmp_path: Path) -> None:
    """Of a file whose hash is not kept, since secrets in it were replaced, the line itself is compared (rule L-2)."""
    text = f"retry = 'ä'\n{PLANTED[0].content}\n"
    folder = project(tmp_path, {**FILES, "src/retry.py": ""})
    (folder / "src/retry.py").write_text(text, encoding="utf-8")
    assert start(folder, "run", "--task", "retry", "--budget", "4k", "--redact", "-q").code == 0
    lines = prompt_lines(folder)
    number = lines.index("retry = 'ä'")
    assert start(folder, "locate", f"1:{number}") == Ended(0, "src/retry.py:1\n", "")
    secret = next(place for place, line in enumerate(lines) if "[REDACTED" in line)
    told = start(folder, "locate", f"1:{secret}")
    assert told.out.startswith("src/retry.py:")
    assert told.err == f"demo_001.md:{secret} is a line with a secret that was replaced\n"
    place = told.out.strip()
    stands_in = f"it only represents {place}: a line with a secret that was replaced\n"
    assert start(folder, "locate", place).err == stands_in
    assert PLANTED[0].value not in (folder / "md_gen/.demo_001.audit.json").read_text("utf-8")
    (folder / "src/retry.py").write_text(f"\n{text}", encoding="utf-8")
    assert "has changed since" in start(folder, "locate", f"1:{number}").err


def test_a_name_is_told_only_where_it_stands(tmp_path: Path) -> None:
    """What is not shown is ``name`` where the prompt names it, else left out, by each command alike (rules B-2, L-2)."""
    many = {f"src/m{number}.py": f"def f{number}(x):\n    return x\n" * 9 for number in range(60)}
    folder = project(tmp_path, {**FILES, **many})
    assert start(folder, "run", "--task", "make retry wait", "--budget", "500", "-q").code == 0
    record = json.loads((folder / "md_gen/.demo_001.audit.json").read_text(encoding="utf-8"))
    levels = {row["path"]: row["level"] for row in record["rows"]}
    text = "\n".join(prompt_lines(folder))
    line = re.search(r"^- src/: (.+ [\d,]+)$", text, re.MULTILINE)
    listed = {path for path in levels if line and f"{path[4:]} " in line[1]}
    named = {path for path, level in levels.items() if level == "name"}
    out = {path for path, level in levels.items() if level == "left out"}
    assert named == listed
    assert named
    assert out
    told = {min(named): "only the file's name is shown", min(out): "the file was left out"}
    for path, sentence in told.items():
        assert sentence in start(folder, "locate", f"{path}:1").out
        assert f"level        {levels[path]} (" in start(folder, "explain", "1", path).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "9"], "md_gen/demo_009.md: no such prompt: only aggregate run with"),
        (["explain", "nope.py"], "md_gen/demo_001.md: nope.py is not a candidate of demo_001.md"),
        (
            ["explain", "manual_slop.toml"],
            "md_gen/demo_001.md: manual_slop.toml is not a candidate of demo_001.md: git ignores it, it is",
        ),
        (["explain", "1", "*.rs"], "md_gen/demo_001.md: *.rs is not a candidate of demo_001.md"),
        (["locate", "9:1"], "md_gen/demo_009.md: no such prompt"),
        (["locate", "1:99999"], "md_gen/demo_001.md: the prompt has "),
        (["locate", "1:0"], "md_gen/demo_001.md: the prompt has "),
        (["locate", "src/retry.py:99999"], "src/retry.py: the file has 12 lines, but no line"),
        (["locate", "src/retry.py:0"], "src/retry.py: the file has 12 lines, but no line 0"),
        (["locate", "src/retri.py:3"], 'src/retri.py is not a file of demo_001.md: did you mean "src/retry.py"?'),
        (
            ["explain", "retri.py"],
            "md_gen/demo_001.md: retri.py is not a candidate of demo_001.md: did you mean "
            '"src/retry.py"?',
        ),
        (["locate", "nope.py:1"], "nope.py is not a file of demo_001.md: aggregate explain lists its files"),
        (["locate", f"{'x' * 5000}:1"], "xxxxx"),
        (["locate", "md_gen/gone.md:1"], "md_gen/gone.md is not a file of demo_001.md"),
    ],
)  # fmt: skip
def test_what_is_unknown_is_one_sentence(asked: Path, arguments: list[str], said: str) -> None:
    """An unknown prompt, line or path is one line on standard error and exit code 2 (rules A-2, L-2)."""
    assert mistake(start(asked, *arguments)).startswith(said)


@pytest.mark.parametrize("place", ["x", "a.py:", "a.py:x", ":3", "1:12345678901"])
def test_a_place_has_a_line(asked: Path, place: str) -> None:
    """``locate`` without a line is a mistake in the command line (rule L-2)."""
    ended = start(asked, "locate", place)
    assert (ended.code, ended.out) == (2, "")
    assert "name a line, as in 3:120 or src/a.py:12" in ended.err


def test_damaged_audits_are_as_if_there_were_none(asked: Path) -> None:
    """A damaged audit ends no command with a traceback (rules A-1, L-2)."""
    audit = asked / "md_gen/.demo_001.audit.json"
    text = audit.read_text(encoding="utf-8")
    audit.write_text(text[: len(text) // 2], encoding="utf-8")
    assert "has no audit" in mistake(start(asked, "locate", "1:3"))
    assert "has no audit" in mistake(start(asked, "explain", "1"))
    data: dict[str, Any] = json.loads(text)
    del data["source_map"]
    audit.write_text(json.dumps(data), encoding="utf-8")
    assert "its audit has no source map" in mistake(start(asked, "locate", "1:3"))
    assert start(asked, "explain").code == 0


def test_the_schema_of_audits_is_published(tmp_path: Path) -> None:
    """``schema --audit`` prints the format with each key described (rule A-1)."""
    schema = json.loads(start(tmp_path, "schema", "--audit").out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["properties"]["version"]["const"] == 2
    tables = [schema]
    while tables:
        table = tables.pop()
        for key, value in table.get("properties", {}).items():
            assert value["description"].endswith("."), key
            tables += [value, value.get("items", {}), *value.get("anyOf", [])]


def row(path: str, level: str, **told: Any) -> dict[str, Any]:
    unknown = dict.fromkeys(("score", "rank", "next"))
    empty = {"tokens": 0, "evidence": [], "definitions": [], "content_hash": "", "size": 0}
    kept = {"path": path, "entry": "*", "level": level, "most": "full", "pinned": False}
    return kept | unknown | empty | told


EVIDENCE = (("named in the task", 2.0, "a.py"), ("imports", 1.0, "imports b"), ("third", 0.5, ""))
FOCUSED = {"pinned": True, "tokens": 1_200, "score": 0.99, "rank": 1, "definitions": ["f", "g"]}
AUDIT = {
    "version": 2,
    "task": "fix\nit",
    "seeds": {"focus": ["a.py:3-4"], "symbols": ["f"], "since": "HEAD"},
    "budget": {"tokens": 2_000, "history": 0.2, "results": 0.2, "order": "configured"},
    "tokens": 1_500,
    "sections": {"files": 1_300, "history": 200},
    "generated": 100,
    "bytes": 0,
    "missing": [{"evidence": "history", "reason": "there is no repository"}],
    "guess": {
        "reason": "nothing in the task points at specific code",
        "proposals": ["f in a.py", "b.py"],
    },
    "cut": [
        {"section": "history", "what": "turns 1 to 2", "tokens": 300, "reason": "its share is full"}
    ],
    "rows": [
        row("b.py", "name", score=0.01, rank=2, next="outline"),
        row(
            "a\x1b[2J.py",
            "focused",
            **FOCUSED,
            evidence=[
                dict(zip(("kind", "weight", "matched"), each, strict=True)) for each in EVIDENCE
            ],
        ),
        *(row(f"z{number:02}.py", "left out") for number in range(12)),
    ],
}


def test_the_table_as_a_whole(tmp_path: Path) -> None:
    """The whole of a table: nothing foreign steers a terminal, what was cut and what was missing is told (A-2, A-4)."""
    record = json.dumps(AUDIT)
    files = {"md_gen/demo_001.md": "x", "md_gen/.demo_001.audit.json": record}
    folder = project(tmp_path, {**FILES, **files})
    assert start(folder, "explain").out == (
        "demo_001.md: 1,500 of 2,000 tokens (o200k)\n"
        "task: fix it\n"
        "seeds: focus a.py:3-4, symbol f, since HEAD\n"
        "tokens  level             score                    file         why\n"
        " 1,200  focused (pinned)  99.0%  ████████████████  a\\x1b[2J.py  named in the task: a.py; imports b\n"
        "     0  name               1.0%  ▏                 b.py\n"
        + "".join(
            f"     0  left out                                   z{n:02}.py\n" for n in range(9)
        )
        + "and 3 more hidden files: aggregate explain PATH describes one\n"
        "      100 in headings of the files' section and in its list of hidden files\n"
        "      200 in history\n"
        "cut: history: turns 1 to 2, 300 tokens: its share is full\n"
        "a guess: nothing in the task points at specific code; likely areas: f in a.py, b.py\n"
        "ranked without history: there is no repository\n"
    )
    assert start(folder, "explain", "1", "b.py").out == (
        "b.py\n"
        "  level        name (at most full)\n"
        "  tokens       0\n"
        "  score        1.0000%, rank 2 of 14\n"
        "  entry        *\n"
        "  next         outline, for another tenth of the budget\n"
    )
