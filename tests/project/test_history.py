"""A discussion in its own file: reading, appending, removing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import example, given, strategies as st

from aggregate import AggregateError, ConfigError
from aggregate.project.history import (
    append_turns,
    find_history_file,
    history_file,
    read_discussion,
    replace_last_turns,
)

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
    """Turns are at the top level or under [discussion], strings and tables mixed (M-50)."""
    path = tmp_path / "history.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_discussion(path).turns == TURNS


def test_array_of_tables(tmp_path: Path) -> None:
    """TOML's arrays of tables work too; further keys of a turn stay."""
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
    assert read_discussion(path).turns == [{"role": "User", "content": "two\nlines", "at": 5}]


@pytest.mark.parametrize(
    "text", ["", "# nothing yet\n", "history = []", "[discussion]\nhistory = []"]
)
def test_no_turns(tmp_path: Path, text: str) -> None:
    """An empty file or list is an empty discussion."""
    (tmp_path / "history.toml").write_text(text, encoding="utf-8")
    assert read_discussion(tmp_path / "history.toml").turns == []


@pytest.mark.parametrize(
    ("content", "key", "message"),
    [
        (b"history = [", "", "the history is not TOML: .*; correct it in the file"),
        (b"history = '\xff'", "", r"is not UTF-8 \(byte 11\); save it as UTF-8"),
        (b"histroy = []", "history", "history is missing; add history = "),
        (b"[discussion]\nturns = []", "history", "history is missing; add history = "),
        (b"history = 'x'", "history", "history is not a list; write it as a list"),
        (b"[discussion]\nhistory = 5", "discussion.history", "discussion.history is not a list"),
        (b"history = ['a', 5]", "history", "entry 2 of history is a int; write a string or a table"),
        (b"history = []\n[discussion]\nhistory = []", "history", "both at the top level and under"),
        (b"x = " + b"[" * 5000, "", "the history is not TOML"),
    ],
)  # fmt: skip
def test_errors_name_file_and_cure(tmp_path: Path, content: bytes, key: str, message: str) -> None:
    """An invalid discussion is one error with file, key and remedy."""
    path = tmp_path / "history.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as caught:
        read_discussion(path)
    assert (caught.value.path, caught.value.key) == (str(path), key)
    assert str(caught.value).startswith(f"{path}: ")


def test_missing_file(tmp_path: Path) -> None:
    """An unreadable file or a folder is the same error."""
    with pytest.raises(ConfigError, match="the history cannot be read"):
        read_discussion(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="the history cannot be read"):
        read_discussion(tmp_path)


def test_find(tmp_path: Path) -> None:
    """The file named after the configuration comes before the common one."""
    config = tmp_path / "manual_slop.toml"
    assert find_history_file(config) is None
    (tmp_path / "history.toml").touch()
    assert find_history_file(config) == tmp_path / "history.toml"
    (tmp_path / "manual_slop_history.toml").mkdir()
    assert find_history_file(config) == tmp_path / "history.toml"
    (tmp_path / "manual_slop_history.toml").rmdir()
    (tmp_path / "manual_slop_history.toml").touch()
    assert find_history_file(config) == tmp_path / "manual_slop_history.toml"


ASKED = {"role": "User", "content": "Why?"}
TOLD = {"role": "AI", "content": 'Two lines:\n"""\\ and a bell \x07\n'}
ASKED_TEXT = '[[history]]\nrole = "User"\ncontent = "Why?"\n'
TOLD_TEXT = (
    '[[history]]\nrole = "AI"\ncontent = """\nTwo lines:\n""\\"\\\\ and a bell \\u0007\n"""\n'
)

CASES = {
    "a missing file": (None, f'begun_by = "send"\n\n{ASKED_TEXT}\n{TOLD_TEXT}'),
    "an empty file": ("", f"{ASKED_TEXT}\n{TOLD_TEXT}"),
    "tables": (
        "# our talk\n[[history]] # the first\nrole = 'User'\ncontent = 'x' # why\n# the end\n",
        "# our talk\n[[history]] # the first\nrole = 'User'\ncontent = 'x' # why\n# the end\n\n"
        f"{ASKED_TEXT}\n{TOLD_TEXT}",
    ),
    "an empty array": ("# ours\nhistory = []\n", f"# ours\n\n{ASKED_TEXT}\n{TOLD_TEXT}"),
    "under discussion": (
        "[discussion]\nmode = 1\nhistory = [] # none yet\n",
        f"[discussion]\nmode = 1\n\n{ASKED_TEXT}\n{TOLD_TEXT}".replace(
            "[history]", "[discussion.history]"
        ),
    ),
    "an array": (
        'history = [\n  "plain", # said first\n]\n',
        'history = [\n  "plain", # said first\n  {role = "User", content = "Why?"},\n'
        '  {role = "AI", content = "Two lines:\\n\\"\\"\\"\\\\ and a bell \\u0007\\n"},\n]\n',
    ),
    "an array on one line": (
        'history = ["plain"]\n',
        'history = [\n    "plain",\n    {role = "User", content = "Why?"},\n'
        '    {role = "AI", content = "Two lines:\\n\\"\\"\\"\\\\ and a bell \\u0007\\n"},\n]\n',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_turns_are_added_behind(case: str, tmp_path: Path) -> None:
    """Comments and layout stay; new turns are appended and read back equal."""
    before, after = CASES[case]
    path = tmp_path / "manual_slop_history.toml"
    if before is not None:
        path.write_text(before, encoding="utf-8")
    append_turns(path, [ASKED, TOLD])
    assert path.read_text(encoding="utf-8") == after
    assert read_discussion(path).turns[-2:] == [ASKED, TOLD]


def test_line_ends_of_the_file_stay(tmp_path: Path) -> None:
    """New lines have the file's line ends."""
    path = tmp_path / "history.toml"
    path.write_bytes(b"[[history]]\r\nrole = 'a'\r\ncontent = 'b'\r\n")
    append_turns(path, [ASKED])
    new = b'\r\n[[history]]\r\nrole = "User"\r\ncontent = "Why?"\r\n'
    assert path.read_bytes() == b"[[history]]\r\nrole = 'a'\r\ncontent = 'b'\r\n" + new


@example(["\nA line", "\n", "\n\n", "\r\nx\n", "x\n\\", '"""', '\n"', "\\\n  x"])
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_any_text_is_kept(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    """Any text is read back exactly, over several turns."""
    path = tmp_path_factory.mktemp("said") / "history.toml"
    turns = [{"role": "User", "content": text} for text in texts]
    for turn in turns:
        append_turns(path, [turn])
    assert read_discussion(path).turns == turns


def test_a_file_without_a_history_is_left_alone(tmp_path: Path) -> None:
    """The error has the file's name, and the file stays."""
    path = tmp_path / "history.toml"
    path.write_text("other = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="history is missing"):
        append_turns(path, [ASKED])
    assert path.read_text(encoding="utf-8") == "other = 1\n"


def test_what_cannot_be_held_is_refused(tmp_path: Path) -> None:
    """A text with a lone surrogate is refused: it would not be read back equal."""
    path = tmp_path / "history.toml"
    with pytest.raises(AggregateError, match="TOML cannot represent its text unchanged"):
        append_turns(path, [{"role": "User", "content": "\ud800"}])
    assert not path.exists()


def test_where_the_discussion_is_kept(tmp_path: Path) -> None:
    """``<stem>_history.toml``, unless ``history.toml`` is there."""
    config = tmp_path / "manual_slop.toml"
    assert history_file(config) == tmp_path / "manual_slop_history.toml"
    (tmp_path / "history.toml").write_text("", encoding="utf-8")
    assert history_file(config) == tmp_path / "history.toml"


def test_writers_at_the_same_moment_lose_nothing(tmp_path: Path) -> None:
    """Eight concurrent writers with five turns each store all forty."""
    path = tmp_path / "history.toml"

    def write(number: int) -> None:
        for turn in range(5):
            append_turns(path, [{"role": "User", "content": f"{number}, {turn}"}])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    said = [turn["content"] for turn in read_discussion(path).turns if isinstance(turn, dict)]
    assert sorted(said) == sorted(f"{number}, {turn}" for number in range(8) for turn in range(5))


EXCHANGE = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def test_a_table_in_two_places_is_left_as_it_is(tmp_path: Path) -> None:
    """With keys of the discussion after its turns the file is refused unchanged (S-6)."""
    path = tmp_path / "h.toml"
    turns = "".join(
        f'[[discussion.history]]\nrole = "{turn["role"]}"\ncontent = "{turn["content"]}"\n'
        for turn in EXCHANGE
    )
    path.write_text(turns + "[discussion]\nname = 1\n")
    before = path.read_text()
    with pytest.raises(AggregateError, match=r"cannot remove a turn from .*: edit it by hand"):
        replace_last_turns(path, EXCHANGE, [])
    assert path.read_text() == before


def test_turns_are_taken_out_and_the_rest_stays(tmp_path: Path) -> None:
    """Removing the last turns keeps comments and other turns (S-6)."""
    path = tmp_path / "h.toml"
    path.write_text('# ours\nhistory = ["first", {role = "user", content = "a"}]\n')
    assert replace_last_turns(path, EXCHANGE[:1], [])
    assert path.read_text() == '# ours\nhistory = ["first"]\n'
