"""The discussion in a file of its own."""

from pathlib import Path
from textwrap import dedent

import pytest

from aggregate import ConfigError
from aggregate.project.history import find_history_file
from aggregate.project.history.history_reader import load_history

TURNS = ["User: hi", {"role": "AI", "content": "hello\nthere"}]


@pytest.mark.parametrize(
    "text",
    [
        'history = ["User: hi", {role = "AI", content = "hello\\nthere"}]',
        '[discussion]\nhistory = ["User: hi", {role = "AI", content = "hello\\nthere"}]',
        'title = "kept"\r\nhistory = [\r\n  "User: hi",\r\n  {role = "AI", content = "hello\\nthere"},\r\n]\r\n',
    ],
)
def test_both_places(tmp_path: Path, text: str) -> None:
    """The turns stand at the top level or under [discussion], as strings and tables mixed (M-50)."""
    path = tmp_path / "history.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_history(path) == TURNS


def test_array_of_tables(tmp_path: Path) -> None:
    """TOML's long form for tables is the same; further keys of a turn stay."""
    path = tmp_path / "history.toml"
    path.write_text(
        dedent("""\
            [[discussion.history]]
            role = "User"
            content = '''
            two
            lines'''
            at = 5
            """),
        encoding="utf-8",
    )
    assert load_history(path) == [{"role": "User", "content": "two\nlines", "at": 5}]


@pytest.mark.parametrize(
    "text", ["", "# nothing yet\n", "history = []", "[discussion]\nhistory = []"]
)
def test_no_turns(tmp_path: Path, text: str) -> None:
    """An empty file or list is an empty discussion."""
    (tmp_path / "history.toml").write_text(text, encoding="utf-8")
    assert load_history(tmp_path / "history.toml") == []


@pytest.mark.parametrize(
    ("content", "key", "message"),
    [
        (b"history = [", "", "the history is not TOML: .*; correct it there"),
        (b"history = '\xff'", "", r"is not UTF-8 \(byte 11\); save it as UTF-8"),
        (b"histroy = []", "history", "there is no history; write history = "),
        (b"[discussion]\nturns = []", "history", "there is no history; write history = "),
        (b"history = 'x'", "history", "history is no list; write it as a list"),
        (b"[discussion]\nhistory = 5", "discussion.history", "discussion.history is no list"),
        (b"history = ['a', 5]", "history", "entry 2 of history is a int; write a string or a table"),
        (b"history = []\n[discussion]\nhistory = []", "history", "both at the top level and under"),
        (b"x = " + b"[" * 5000, "", "the history is not TOML"),
    ],
)  # fmt: skip
def test_errors_name_file_and_cure(tmp_path: Path, content: bytes, key: str, message: str) -> None:
    """What cannot be used is one error with the file, the key, and what to do."""
    path = tmp_path / "history.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as caught:
        load_history(path)
    assert (caught.value.path, caught.value.key) == (str(path), key)
    assert str(caught.value).startswith(f"{path}: ")


def test_missing_file(tmp_path: Path) -> None:
    """A file that cannot be opened, or a folder, is such an error too."""
    with pytest.raises(ConfigError, match="the history cannot be read"):
        load_history(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="the history cannot be read"):
        load_history(tmp_path)


def test_find(tmp_path: Path) -> None:
    """The file named after the configuration comes before the common one; folders do not count."""
    config = tmp_path / "manual_slop.toml"
    assert find_history_file(config) is None
    (tmp_path / "history.toml").touch()
    assert find_history_file(config) == tmp_path / "history.toml"
    (tmp_path / "manual_slop_history.toml").mkdir()
    assert find_history_file(config) == tmp_path / "history.toml"
    (tmp_path / "manual_slop_history.toml").rmdir()
    (tmp_path / "manual_slop_history.toml").touch()
    assert find_history_file(config) == tmp_path / "manual_slop_history.toml"
