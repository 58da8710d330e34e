"""Notebooks in prompts within a budget: sized, ranked and shown by their cells."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from aggregate import Composition, Task, compose_prompt, count, open_project, request_for
from aggregate.project.index import Index
from tests.projects import project


def cell(kind: str, *lines: str, picture: int = 0) -> dict[str, object]:
    made: dict[str, object] = {"cell_type": kind, "source": [f"{line}\n" for line in lines]}
    if kind == "code":
        made["outputs"] = [{"data": {"image/png": "A" * picture}}] if picture else []
    return made


def notebook(topic: str, *, indent: int | None = 1) -> str:
    cells = [
        cell("markdown", f"# About {topic}", "", f"All of {topic}."),
        cell("code", f"def load_{topic}(path):", f"    return open(path).read(), '{topic}'"),
        cell("markdown", f"## Weigh the {topic}"),
        *(cell("code", f"x = {n}", f"show(x + {n})", picture=5_000) for n in range(60)),
        cell("markdown", f"## Plot the {topic} curve"),
        cell("code", f"def plot_{topic}(data):", f"    return data.plot('{topic}')"),
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=indent)


def asked(
    folder: Path, budget: int, text: str = "fix the plot of the lantern curve, plot_lantern"
) -> Composition:
    made = open_project({"files": {"base_dir": str(folder), "paths": ["*"]}})
    request = request_for(made, with_history=False, task=Task(text), budget=budget)
    return compose_prompt(request, index=Index(None, limit=1))


def as_strings(text: str) -> str:
    """Return a notebook with one string for the lines of each cell."""
    document = json.loads(text)
    for each in document["cells"]:
        each["source"] = "".join(each["source"])
    return json.dumps(document)


@pytest.mark.parametrize(
    "write",
    [notebook, partial(notebook, indent=None), lambda topic: as_strings(notebook(topic))],
    ids=["lines", "one line", "strings"],
)
def test_notebooks_are_shown_by_cells(tmp_path: Path, write: Callable[[str], str]) -> None:
    """A budget far below all cells shows the headings and the cell that the task is about (B-2)."""
    files = {f"{topic}.ipynb": write(topic) for topic in ("lantern", "kettle", "anvil")}
    project(tmp_path, files)
    composed = asked(tmp_path, 1_000)
    markdown = composed.prompt.markdown
    assert "def plot_lantern(data):\n    return data.plot('lantern')" in markdown
    assert "# ## Plot the lantern curve" in markdown
    assert "# ## Weigh the lantern" in markdown  # whose cells are not shown
    assert 500 < count(markdown) <= 1_000
    sizes = {choice.path: choice.size for choice in composed.choices}
    assert max(sizes.values()) < 3_000  # a hundred times that with pictures


def test_a_task_names_its_notebook(tmp_path: Path) -> None:
    """The words before "notebook" name the file that gets most of the room (B-2)."""
    names = ("01_the_weather_landscape", "04_drawing_curves", "05_curves_and_kettles")
    texts = (notebook("lantern").replace("show(", f"show{number}(") for number in range(3))
    project(tmp_path, {f"{name}.ipynb": text for name, text in zip(names, texts, strict=True)})
    composed = asked(tmp_path, 2_000, "plot kettles and weather in the drawing curves notebook")
    tokens = {choice.path: choice.tokens for choice in composed.choices}
    assert tokens.pop("04_drawing_curves.ipynb") > 2 * sum(tokens.values())
