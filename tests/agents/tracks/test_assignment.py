"""Assignments as a database keeps them."""

import json

from aggregate import Prompt
from aggregate.agents.tracks.assignment import Assignment
from aggregate.base.values import RenderedFile
from aggregate.prompt.layout import rendered_segment


def test_an_assignment_keeps_its_prompt_and_no_texts_behind_it() -> None:
    """What a block was made of stays in memory: the database has the prompt, and gives the same one back (rule L-3)."""
    file = RenderedFile("a.py", content="def f(): ...\n", source="def f(): return 'hidden'\n")
    assignment = Assignment("k", "t", Prompt((rendered_segment(file),)), "do it", tools=("x",))
    text = assignment.to_json()
    assert "hidden" not in text
    (segment,) = json.loads(text)["prompt"]["segments"]
    assert [*segment] == ["section", "text", "stability", "source"]
    assert Assignment.from_json(text) == assignment
