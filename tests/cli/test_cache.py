"""``cache``: what is kept for the next run, and emptying it (rule I-3)."""

import json
from pathlib import Path

import pytest

from aggregate.cli.program import run_program
from tests.project.index.samples import fill, place


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of the test."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("AGGREGATE_CACHE_LIMIT", "500MB")
    return tmp_path / "cache"


def test_cache_shows_what_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row each for path, bytes, entries, hits, misses and limit (rule I-3)."""
    fill(folder)
    assert run_program(["cache"]) == 0
    size = place(folder).stat().st_size
    assert capsys.readouterr() == (
        f"path     {place(folder)}\nbytes    {size:,}\nentries  80\nhits     0\nmisses   0\n"
        "limit    500,000,000\n",
        "",
    )


def test_cache_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as one object; an index that is not there is empty, and is not made (rule I-3)."""
    assert run_program(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "path": str(place(folder)),
        "bytes": 0,
        "entries": 0,
        "hits": 0,
        "misses": 0,
        "limit": 500_000_000,
    }
    assert not folder.exists()


def test_cache_clear_empties_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what it has deleted, also of a damaged one; without one it prints nothing (rule I-3)."""
    fill(folder)
    place(folder).write_bytes(b"damaged")
    assert run_program(["cache", "clear"]) == 0
    assert capsys.readouterr() == (f"{place(folder)}\n", "")
    assert list(folder.iterdir()) == []
    assert run_program(["cache", "clear"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_damaged_cache_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One warning on standard error, beside the figures."""
    fill(folder)
    place(folder).write_bytes(b"damaged")
    assert run_program(["cache", "--json"]) == 0
    ended = capsys.readouterr()
    assert json.loads(ended.out)["bytes"] == 7
    assert ended.err == f"warning: the index {place(folder)} was damaged: it is made anew\n"


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("AGGREGATE_CACHE_LIMIT", "lots", 'AGGREGATE_CACHE_LIMIT is "lots", which is no size'),
        ("AGGREGATE_CACHE_DIR", "here", 'AGGREGATE_CACHE_DIR is "here", a relative path'),
    ],
)
def test_mistakes_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    said: str,
) -> None:
    """A malformed variable is a mistake of the user's, with exit code 2."""
    monkeypatch.setenv(variable, value)
    assert run_program(["cache"]) == 2
    ended = capsys.readouterr()
    assert ended.err.startswith(f"aggregate: {said}")
    assert (ended.out, ended.err.count("\n")) == ("", 1)


def test_json_is_for_showing(capsys: pytest.CaptureFixture[str]) -> None:
    """An option that would have no effect is refused."""
    assert run_program(["cache", "--json", "clear"]) == 2
    assert "leave it out" in capsys.readouterr().err
