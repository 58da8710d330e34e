"""The prompt of a draft changed step by step."""

from pathlib import Path

import aggregate
from aggregate.panel import ComposedDraft, Composer, Draft
from tests.projects import project
from tests.prompt.composing import in_index

FILES = {f"src/m{number}.py": f"def name{number}():\n    return retry\n" for number in range(40)}
CONFIG = """\
[files]
paths = ["**/*.py"]
[task]
text = "{task}"
[budget]
tokens = {budget}
"""


def test_another_budget_ranks_nothing_again(tmp_path: Path) -> None:
    """Another budget reuses the ranking, and gives the bytes of ``run``."""
    config = project(tmp_path / "p", FILES) / "manual_slop.toml"
    # All files were changed long before this clock's time: what was changed just now would not be remembered.
    composer = Composer(in_index(tmp_path))

    def composed(budget: int = 600, task: str = "what does name7 retry") -> ComposedDraft:
        draft = Draft(CONFIG.format(budget=budget, task=task))
        return composer.compose(draft, draft.project(config), disk=0)

    def ranking(prompt: ComposedDraft) -> object:
        return prompt.choices["src/m9.py"].reasons

    for _ in range(3):  # until nothing is left to be analysed
        kept = ranking(composed())
    for budget in (900, 400, 600):
        prompt = composed(budget)
        assert ranking(prompt) is kept
        config.write_text(prompt.draft.text)
        assert prompt.composition.prompt.written == aggregate.run(config)[0]
    assert ranking(composed(task="what does name8 retry")) is not kept
