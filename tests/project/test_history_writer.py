"""Taking turns out of a history's file."""

from pathlib import Path

import pytest

from aggregate.base.errors import OutputError
from aggregate.project.history import replace_last_turns

TURNS = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def test_a_table_in_two_places_is_left_as_it_is(tmp_path: Path) -> None:
    """Where the discussion's other keys stand behind its turns, a sentence says so, and the file stays (S-6)."""
    path = tmp_path / "h.toml"
    turns = "".join(
        f'[[discussion.history]]\nrole = "{turn["role"]}"\ncontent = "{turn["content"]}"\n'
        for turn in TURNS
    )
    path.write_text(turns + "[discussion]\nname = 1\n")
    before = path.read_text()
    with pytest.raises(OutputError, match=r"cannot take a turn out of .*: edit it by hand"):
        replace_last_turns(path, TURNS, [])
    assert path.read_text() == before


def test_turns_are_taken_out_and_the_rest_stays(tmp_path: Path) -> None:
    """Comments and other turns stay where the last turns go (S-6)."""
    path = tmp_path / "h.toml"
    path.write_text('# ours\nhistory = ["first", {role = "user", content = "a"}]\n')
    assert replace_last_turns(path, TURNS[:1], [])
    assert path.read_text() == '# ours\nhistory = ["first"]\n'
