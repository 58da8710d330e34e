"""``view``, ``stats``, ``languages``, ``schema`` and the help: looking without writing."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import aggregate, mistake, start, succeeded
from tests.projects import project

SOURCE = '''\
"""Shapes."""


class Circle:
    def area(self):
        return 3
'''


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--mode", "full"], SOURCE),
        ([], '"""Shapes."""\n\n\nclass Circle:\n    def area(self):\n        ...\n'),
        (["--mode", "outline"], "4-6  class Circle\n5-6    def area(self)\n"),
        (["--mode", "masked", "--symbol", "Circle.area"], "class Circle:\n    def area(self):\n        return 3\n"),
        (["--mode", "masked", "--symbol", "area=sig"], "class Circle:\n    def area(self):\n"),
        (["--mode", "custom", "--lines", "4-5"], "--- [Slice] Lines 4-5: ---\nclass Circle:\n    def area(self):\n"),
        (["--symbol", "Circle"], "class Circle:\n    def area(self):\n        return 3\n"),
        (["--lines", "4-4"], "--- [Slice] Lines 4-4: ---\nclass Circle:\n"),
        (["--mode", "none"], "(context excluded)\n"),
    ],
)  # fmt: skip
def test_each_view_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], shown: str
) -> None:
    """``view`` prints one file as a prompt would show it (M-31, M-33, M-34, M-35, M-36, M-37)."""
    monkeypatch.chdir(project(tmp_path, {"a.py": SOURCE}))
    captured = succeeded("view", "a.py", *options)
    assert (captured.out, captured.err) == (shown, "")


def test_a_symbol_that_is_not_there_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``view`` prints what there is, says once what there is not, and exits with 1; also for lines that are gone."""
    monkeypatch.chdir(project(tmp_path, {"a.py": SOURCE}))
    shown = aggregate(
        "view", "a.py", "--mode", "masked", "--symbol", "area=sig", "--symbol", "nope"
    )
    assert shown.code == 1
    assert shown.out == "class Circle:\n    def area(self):\n"
    assert shown.err == "aggregate: symbol not found: nope in a.py\n"
    shown = aggregate("view", "a.py", "--mode", "custom", "--lines", "900-901")
    assert shown.code == 1
    assert shown.out == ""
    assert shown.err.startswith("aggregate: --- [Slice] Lines 900-901: orphaned: ")


def test_a_mistyped_path_is_answered_with_the_nearest(tmp_path: Path) -> None:
    """Commands, ``--config``, ``--focus`` and entries name the path that is there, and none that is not like it."""
    files = {"src/shapes.py": SOURCE, "src/b.py": "x = 1\n"}
    folder = project(tmp_path, files)
    for typed, meant in (
        ("src/shapse.py", "src/shapes.py"),
        ("scr/shape.py", "src/shapes.py"),
        (str(folder / "src/shape.py"), str(folder / "src/shapes.py")),
        ("src/shapes.pyy", "src/shapes.py"),
        ("src/a.py", ""),
        ("other/shapes.py", ""),
        ("src/b.py/shapes.py", ""),
    ):
        ending = f': did you mean "{meant}"?' if meant else ""
        assert mistake(start(folder, "view", typed)) == f"file not found: {typed}{ending}"
    project(
        folder,
        {
            "manual_slop.toml": "[files]\npaths = ['src/shape.py', 'scr/*', 'src/b.py', 'src/a.py']\n"
        },
    )
    said = start(
        folder, "--task", "x", "--budget", "2k", "--focus", "src/bb.py", "--focus", "src/b.py"
    ).err.splitlines()
    assert [line for line in said if line.startswith("warning: ") and "found" in line] == [
        'warning: file not found: src/shape.py: did you mean "src/shapes.py"?',
        "warning: file not found: src/a.py",
    ]
    assert 'src/shape.py: did you mean "src/shapes.py"?\n' in start(folder, "check").out
    assert (
        'scr/*: no file matches this pattern (globs skip ignored files): did you mean "src"?\n'
        in start(folder, "stats").err
    )
    assert mistake(start(folder, "--config", "manual_slpo.toml")).endswith(
        'there is no manual_slpo.toml here: did you mean "manual_slop.toml"?'
    )
    assert (
        'warning: no file matches this pattern (globs skip ignored files): scr/*: did you mean "src"?'
        in said
    )
    assert (
        'warning: focus src/bb.py: no file of the project matches it: did you mean "src/b.py"?'
        in said
    )
    assert not any("cannot be read" in line for line in said)


def test_line_ends_reach_the_terminal_as_they_are(tmp_path: Path) -> None:
    """CR LF and characters that no terminal encoding has are printed, not changed (M-X18)."""
    (tmp_path / "a.txt").write_bytes("é\r\n\u2028x".encode())
    shown = start(tmp_path, "view", "a.txt", "--mode", "full")
    assert (shown.code, shown.out, shown.err) == (0, "é\r\n\u2028x\n", "")


def test_stats_show_folders_with_their_sums(tmp_path: Path) -> None:
    """Folders stand above their files with the sums of what is below (M-3, M-4)."""
    files = {
        "manual_slop.toml": '[files]\npaths = ["**/*.py"]\n',
        "p/a.py": SOURCE,
        "p/q/b.py": "x = 1\n",
        "c.py": "",
    }
    ended = start(project(tmp_path, files), "stats")
    rows = [line.split()[:3] for line in ended.out.splitlines()]
    assert (ended.code, ended.err) == (0, "")
    assert ["./", "7", "2"] in rows
    assert ["p/", "7", "2"] in rows
    assert ["q/", "1", "0"] in rows
    assert ["a.py", "6", "2"] in rows


def test_stats_as_json(tmp_path: Path) -> None:
    """``--json`` gives a list with a row per file and a token count per view; unreadable files carry their error."""
    config = '[files]\npaths = ["a.py", "gone.py"]\n'
    ended = start(
        project(tmp_path, {"manual_slop.toml": config, "a.py": SOURCE}), "stats", "--json"
    )
    rows = json.loads(ended.out)
    assert [row["path"] for row in rows] == ["a.py", "gone.py"]
    assert rows[0]["lines"] == 6
    assert rows[0]["ast_elements"] == 2
    assert list(rows[0]["tokens"]) == ["full", "skeleton", "outline", "summary"]
    assert rows[0]["tokens"]["skeleton"] <= rows[0]["tokens"]["full"]
    assert rows[1]["error"] == "file not found"


def test_languages_are_listed() -> None:
    """Each language stands on a line of its own with its kind and suffixes."""
    ended = succeeded("languages")
    rows = {line.split()[0]: line.split()[1:] for line in ended.out.splitlines()}
    assert rows["python"][:2] == ["code", ".py"]
    assert rows["toml"][:2] == ["data", ".toml"]
    assert len(rows) >= 19


def test_the_schema_describes_every_key() -> None:
    """``schema`` prints a JSON Schema whose tables are closed and whose keys are all described."""
    ended = succeeded("schema")
    schema = json.loads(ended.out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(schema["properties"]) >= {
        "project",
        "output",
        "files",
        "screenshots",
        "discussion",
        "context_presets",
    }
    for table in (schema, *schema["$defs"].values()):
        for key, value in table.get("properties", {}).items():
            assert {"description", "$ref"} & set(value), key
