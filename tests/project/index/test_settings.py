"""Where the index lies and how large it may become: the environment alone says so."""

from pathlib import Path

import pytest

from aggregate import ConfigError
from aggregate.project.index import byte_limit, index_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 10**9),
        ("  ", 10**9),
        ("1GB", 10**9),
        ("500MB", 500 * 10**6),
        ("2g", 2 * 10**9),
        ("1.5 kb", 1500),
        ("3KiB", 3 * 1024),
        ("12345", 12345),
        ("0", 0),
        ("1T", 10**12),
    ],
)
def test_a_limit_is_a_size(monkeypatch: pytest.MonkeyPatch, text: str, expected: int) -> None:
    """Bytes, or a number with a unit; nothing means a gigabyte (rule I-3)."""
    monkeypatch.setenv("AGGREGATE_CACHE_LIMIT", text)
    assert byte_limit() == expected


@pytest.mark.parametrize("text", ["lots", "-1", "1e9", "GB", "1XB", "1,000", "١GB", "9" * 400])
def test_a_limit_that_is_no_size_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """It says what is wrong and what to write (rule I-3)."""
    monkeypatch.setenv("AGGREGATE_CACHE_LIMIT", text)
    with pytest.raises(ConfigError) as caught:
        byte_limit()
    assert str(caught.value) == (
        f'AGGREGATE_CACHE_LIMIT is "{text}", which is no size: write bytes, or a number with a unit such as 500MB or 2g'
    )


def test_the_cache_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset and empty mean the usual folder; an absolute path moves it; nothing is made (rule I-1)."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path / "x" / ".." / "cache"))
    assert index_path() == tmp_path / "cache" / "aggregate-index" / "index.sqlite"
    for empty in (True, False):
        if empty:
            monkeypatch.setenv("AGGREGATE_CACHE_DIR", "")
        else:
            monkeypatch.delenv("AGGREGATE_CACHE_DIR")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
        usual = index_path()
        assert usual is not None
        assert usual.is_absolute()
        assert usual.parts[-3:] == ("manual_slop", "aggregate-index", "index.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["cache", "./cache", "../cache", "~/cache"])
def test_a_relative_cache_folder_is_refused(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """It would lie in whatever project is the current folder, which may bring an index of its own (rule I-1)."""
    monkeypatch.setenv("AGGREGATE_CACHE_DIR", path)
    with pytest.raises(
        ConfigError, match=r'is "\S+", a relative path, .* set it to an absolute one'
    ):
        index_path()


def test_no_default_leads_into_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path in the system's own variable names no cache folder either (rule I-1)."""
    monkeypatch.delenv("AGGREGATE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    path = index_path()
    assert path is None or path.is_absolute()
