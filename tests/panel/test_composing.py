"""The prompt of a draft that changes a little at a time."""

from pathlib import Path

import pytest

import aggregate
from aggregate.panel.composing import ComposedDraft, Composer
from aggregate.panel.draft import Draft
from tests.projects import project
from tests.prompt.test_stream import in_index

FILES = {f"src/m{number}.py": f"def name{number}():\n    return retry\n" for number in range(40)}
CONFIG = """\
[files]
paths = ["**/*.py"{more}]
[task]
text = "{task}"
[budget]
tokens = 600
"""


def test_another_view_beside_a_task_ranks_nothing_again(tmp_path: Path) -> None:
    """What files are for a task does not depend on their views: the ranking is kept, the bytes are those of ``run``."""
    config = project(tmp_path / "p", FILES) / "manual_slop.toml"
    # All files were changed long before this clock's time: what was changed just now would not be remembered.
    composer = Composer(in_index(tmp_path), now=lambda: 2 * 10**18)

    def composed(more: str = "", task: str = "what does name7 retry") -> ComposedDraft:
        draft = Draft(CONFIG.format(more=more, task=task))
        return composer.compose(draft, draft.project(config), disk=0)

    def ranking(prompt: ComposedDraft) -> object:
        return prompt.choices["src/m9.py"].reasons

    for _ in range(3):  # until nothing is left to be analysed
        kept = ranking(composed())
    for mode in ("outline", "skeleton", "full"):
        more = f', {{path = "src/m7.py", view_mode = "{mode}"}}'
        prompt = composed(more)
        assert ranking(prompt) is kept
        config.write_text(prompt.draft.text)
        assert prompt.composition.prompt.markdown == aggregate.run(config)[0]
    assert ranking(composed(task="what does name8 retry")) is not kept


@pytest.mark.parametrize("path", ["src/m7.py", "src/m39.py"])
def test_another_view_is_told_of_files_that_are_shown_and_of_others(
    tmp_path: Path, path: str
) -> None:
    """What was decided about each file is that of a start from nothing, whether the file stands in the prompt or not."""
    config = project(tmp_path / "p", FILES) / "manual_slop.toml"
    composer = Composer(in_index(tmp_path), now=lambda: 2 * 10**18)
    for number, mode in enumerate(("full", "full", "outline", "skeleton", "none", "summary")):
        more = f', {{path = "{path}", view_mode = "{mode}"}}' if number else ""
        draft = Draft(CONFIG.format(more=more, task="what does name7 retry"))
        project_now = draft.project(config)
        kept = composer.compose(draft, project_now, disk=0)
        fresh = Composer(in_index(tmp_path / "fresh")).compose(draft, project_now, disk=0)
        assert kept.choices == fresh.choices
        assert kept.composition.prompt.markdown == fresh.composition.prompt.markdown
