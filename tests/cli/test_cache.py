"""``cache``: what is kept for the next run, and emptying it (rule I-3)."""

import json
from pathlib import Path

import pytest

from aggregate import load_config
from tests.cli.command_line import aggregate, mistake
from tests.project.index.samples import fill, place


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of the test."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("AGGREGATE_CACHE_LIMIT", "500MB")
    return tmp_path / "cache"


def test_cache_shows_what_is_kept(folder: Path) -> None:
    """A row each for path, bytes, entries, hits, misses and limit (rule I-3)."""
    fill(folder)
    size = place(folder).stat().st_size
    rows = f"path     {place(folder)}\nbytes    {size:,}\nentries  80\nhits     0\nmisses   0\n"
    assert aggregate("cache") == (0, f"{rows}limit    500,000,000\n", "")


def test_cache_as_json(folder: Path) -> None:
    """The same as one object; an index that is not there is empty, and is not made (rule I-3)."""
    nothing = dict.fromkeys(("bytes", "entries", "hits", "misses"), 0)
    data = json.loads(aggregate("cache", "--json").out)
    assert data == {"path": str(place(folder)), **nothing, "limit": 500_000_000}
    assert not folder.exists()


def test_cache_clear_empties_a_damaged_one(folder: Path) -> None:
    """Shown, it is a warning beside the figures; cleared, its path is printed; without one nothing is (rule I-3)."""
    fill(folder)
    place(folder).write_bytes(b"damaged")
    (folder.parent / "manual_slop.toml").touch()
    load_config(folder.parent / "manual_slop.toml")
    assert (folder / "configurations").is_dir()
    shown = aggregate("cache", "--json")
    assert json.loads(shown.out)["bytes"] == 7
    assert shown.err == f"warning: the index {place(folder)} was damaged: the index is rebuilt\n"
    assert aggregate("cache", "clear") == (0, f"{place(folder)}\n", "")
    assert list(folder.iterdir()) == []
    assert aggregate("cache", "clear") == (0, "", "")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("AGGREGATE_CACHE_LIMIT", "lots", 'AGGREGATE_CACHE_LIMIT is "lots", which is not a size'),
        ("AGGREGATE_CACHE_DIR", "here", 'AGGREGATE_CACHE_DIR is "here", a relative path'),
    ],
)
def test_mistakes_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    """A malformed variable is a mistake of the user's, with exit code 2."""
    monkeypatch.setenv(variable, value)
    assert mistake(aggregate("cache")).startswith(said)
