"""Notebooks in prompts within a budget: sized, ranked and shown by their cells."""

import json
from pathlib import Path

from aggregate import Composition, Task, compose_prompt, count, open_project, request_for
from aggregate.project.index import Index
from tests.projects import project


def cell(kind: str, *lines: str, picture: int = 0) -> dict[str, object]:
    made: dict[str, object] = {"cell_type": kind, "source": [f"{line}\n" for line in lines]}
    if kind == "code":
        made["outputs"] = [{"data": {"image/png": "A" * picture}}] if picture else []
    return made


def notebook(topic: str) -> str:
    cells = [
        cell("markdown", f"# About {topic}", "", f"All of {topic}."),
        cell("code", f"def load_{topic}(path):", f"    return open(path).read(), '{topic}'"),
        *(cell("code", f"x = {n}", f"show(x + {n})", picture=5_000) for n in range(60)),
        cell("markdown", f"## Plot the {topic} curve"),
        cell("code", f"def plot_{topic}(data):", f"    return data.plot('{topic}')"),
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1)


def asked(folder: Path, budget: int) -> Composition:
    made = open_project({"files": {"base_dir": str(folder), "paths": ["*"]}})
    task = Task("fix the plot of the lantern curve, plot_lantern")
    return compose_prompt(
        request_for(made, with_history=False, task=task, budget=budget), index=Index(None, limit=1)
    )


def test_notebooks_are_shown_by_cells(tmp_path: Path) -> None:
    """A budget far below all cells shows the heading and the cell that the task is about."""
    files = {f"{topic}.ipynb": notebook(topic) for topic in ("lantern", "kettle", "anvil")}
    project(tmp_path, files)
    composed = asked(tmp_path, 1_000)
    markdown = composed.prompt.markdown
    assert "def plot_lantern(data):\n    return data.plot('lantern')" in markdown
    assert "# ## Plot the lantern curve" in markdown
    assert 500 < count(markdown) <= 1_000
    sizes = {choice.path: choice.size for choice in composed.choices}
    assert max(sizes.values()) < 3_000  # a hundred times that with pictures
