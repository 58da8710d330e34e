"""Scripts of answers by ticket or question."""

from pathlib import Path

import pytest

from aggregate.agents import load_replies
from aggregate.base import ConfigError

SCRIPTS = [
    ("a.toml", 'answers.a = ["x", {text = "y", cost = 1}]\nanswers.b = "z"'),
    ("a.json", '{"answers": {"a": ["x", {"text": "y", "cost": 1}], "b": {"text": "z"}}}'),
    ("a.json", '{"a": ["x", {"text": "y", "cost": 1}], "b": "z"}'),
]


@pytest.mark.parametrize(("name", "text"), SCRIPTS)
def test_a_list_has_an_answer_for_each_attempt(tmp_path: Path, name: str, text: str) -> None:
    """The last one stays; a text or a table alone answers every attempt."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    replies = load_replies(path)
    assert [replies["a"].take(attempt).text for attempt in (1, 2, 3)] == ["x", "y", "y"]
    assert [replies["a"].take(attempt).cost for attempt in (1, 2)] == [0, 1]
    assert [replies["b"].take(attempt).text for attempt in (1, 2)] == ["z", "z"]


@pytest.mark.parametrize("text", ["answers.a = []", "answers.a = 1", "answers.a = [1, 2]"])
def test_mistakes_name_the_answer(tmp_path: Path, text: str) -> None:
    """Anything but texts and tables is refused with its place."""
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="answers"):
        load_replies(path)
