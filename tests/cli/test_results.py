"""``aggregate results``: files in, JSON or text out."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import aggregate, succeeded
from tests.projects import project


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four producers' files: two JSON objects, a text, and one that is no JSON."""
    project(
        tmp_path,
        {
            "a.json": '{"x": 1, "n": {"p": [1]}}',
            "b.json": '{"n": {"q": 2}}',
            "c.txt": "words\n",
            "d.json": "{no",
        },
    )
    return [str(tmp_path / name) for name in ("a.json", "b.json", "c.txt", "d.json")]


@pytest.mark.parametrize(
    ("options", "value"),
    [
        (["--strategy", "concat"], [{"x": 1, "n": {"p": [1]}}, {"n": {"q": 2}}, "words\n"]),
        (["--strategy", "json", "--label-from", "stem"], {"a": {"x": 1, "n": {"p": [1]}}, "b": {"n": {"q": 2}}, "c": "words\n"}),
        (["--strategy", "merge"], {"x": 1, "n": {"p": [1], "q": 2}}),
        (["--strategy", "first"], {"x": 1, "n": {"p": [1]}}),
        (["--strategy", "last"], "words\n"),
        (["--strategy", "custom", "--function", "lambda results: len(results)"], 3),
        (["--strategy", "custom", "--function", "function (results) { return results.length; }"], 3),
    ],
)  # fmt: skip
def test_merge(files: list[str], options: list[str], value: object) -> None:
    """Each strategy over files; a file that is no JSON is a failed result, listed, and ends nothing (O-3, O-6)."""
    ended = succeeded("results", "merge", *options, *files)
    result = json.loads(ended.out)
    assert (result["value"], result["count"]) == (value, 4)
    assert "is no valid JSON" in result["errors"][0]


def test_merge_as_text(files: list[str]) -> None:
    """The text that a prompt would show; what failed goes to standard error."""
    captured = succeeded("results", "merge", "--text", "--label-from", "name", *files[2:])
    assert captured.out == "c.txt: words\n"
    assert captured.err.startswith("warning: d.json failed: is no valid JSON: ")


def test_merge_of_nothing_usable(tmp_path: Path) -> None:
    """If every file failed the exit code says so, and the errors are still printed (O-49)."""
    ended = aggregate("results", "merge", str(tmp_path / "gone.json"))
    assert ended.code == 1
    result = json.loads(ended.out)
    assert (result["value"], result["errors"]) == (
        [],
        [f"{tmp_path}/gone.json failed: file not found"],
    )


@pytest.mark.parametrize(
    "options", [["--strategy", "custom"], ["--function", "len"], ["--strategy", "sum"]]
)
def test_mistakes(files: list[str], options: list[str]) -> None:
    """Options that do not fit are a usage error."""
    ended = aggregate("results", "merge", *options, *files)
    assert ended.code == 2
    assert "Usage: aggregate results merge" in ended.err


def test_compile_of_nothing_usable(tmp_path: Path) -> None:
    """The exit code says so, and so does one sentence; the report is printed nevertheless (R-X9)."""
    missing = str(tmp_path / "missing.json")
    captured = aggregate("results", "compile", missing)
    assert captured.code == 1
    assert captured.err == f"warning: {missing}: file not found\n"
    assert json.loads(captured.out)["analysis_metadata"]["errors"] == [
        "missing failed: file not found"
    ]


@pytest.mark.parametrize("command", ["merge", "compile"])
def test_what_is_no_json_is_never_printed_as_json(command: str, tmp_path: Path) -> None:
    """NaN and infinities are texts, and half of a surrogate pair is its escape: any reader takes the output."""
    project(tmp_path, {"a.json": '{"n": [NaN, -Infinity], "half \\ud800": "\\udfff", "é": 1}'})
    printed = aggregate("results", command, str(tmp_path / "a.json")).out
    held = json.loads(printed, parse_constant=pytest.fail)
    value = held["value"][0] if command == "merge" else held["general_results"]["a"]
    assert value == {"n": ["NaN", "-Infinity"], "half \ud800": "\udfff", "é": 1}
    assert "\\ud800" in aggregate("results", command, "--text", str(tmp_path / "a.json")).out


def test_compile(tmp_path: Path) -> None:
    """Each file is a tool's result, placed by its metadata; unreadable ones are visible (R-5, R-X9)."""
    metadata = {"category": "security", "result_type": "scan"}
    project(
        tmp_path,
        {"bandit.json": json.dumps({"issues": 0, "_tool_metadata": metadata}), "broken.json": "{"},
    )
    files = [str(tmp_path / "bandit.json"), str(tmp_path / "broken.json")]
    options = ["--prompt", "check it", "--timestamp", "2026-01-31T10:30:00Z"]
    ended = succeeded("results", "compile", *options, *files)
    report = json.loads(ended.out)
    assert report["security_analysis"]["scan"]["issues"] == 0
    assert report["analysis_metadata"]["user_prompt"] == "check it"
    assert report["analysis_metadata"]["timestamp"] == "2026-01-31T10:30:00Z"
    assert "is no valid JSON" in report["analysis_metadata"]["errors"][0]
    ended = succeeded("results", "compile", "--text", *options, *files)
    assert ended.out.startswith("### Compiled Report\n\n```json\n")
    ended = aggregate("results", "compile", "--timestamp", "soon", *files)
    assert ended.code == 2
    assert ended.err.startswith("aggregate: --timestamp: 'soon' is no ISO 8601 time")
