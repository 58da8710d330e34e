"""The files of a project that is asked about again and again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from aggregate.compose.open_files import OpenFiles
from aggregate.compose.project import open_project, request_for
from aggregate.compose.request import Request
from aggregate.compose.within_budget import compose_within_budget
from aggregate.index.store import Index
from aggregate.models.budget import Budget
from aggregate.models.task import Task
from tests.compose.test_stream import in_index, kept_nothing
from tests.project import project

FILES = {f"src/m{number}.py": f"def name{number}():\n    return retry\n" for number in range(40)}


def asking(folder: Path) -> Request:
    """Return the question what retries."""
    files = {"base_dir": str(folder), "paths": ["**/*"]}
    task = Task("what does name7 retry")
    return request_for(open_project({"files": files}), task=task, budget=Budget(600))


def later() -> int:
    """Return a time at which all files were changed long ago."""
    return 2 * 10**18


def answer(request: Request, index: Index, opened: OpenFiles) -> str:
    """Return the prompt of a program that keeps running."""
    files = opened.read(request, index=index)
    prompt = compose_within_budget(request, index=index, files=files).prompt.markdown
    index.flush()
    return prompt


def test_what_has_not_changed_is_not_read_anew(tmp_path: Path) -> None:
    """Once all files are known, a question finds in memory what the last one did (rule I-6)."""
    request = asking(project(tmp_path / "p", FILES))
    index, opened = in_index(tmp_path), OpenFiles(later)
    answers = {answer(request, index, opened)}
    second = opened.read(request, index=index)
    assert opened.read(request, index=index) is second
    answers |= {answer(request, index, opened), answer(request, index, opened)}
    assert answers == {compose_within_budget(request, index=kept_nothing()).prompt.markdown}


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "src/m7.py").write_text("def name7():\n    return 'other'\n"),
        lambda folder: (folder / "src/m8.py").write_text("def name7():\n    return RETRY\n"),
        lambda folder: (folder / "src/new.py").write_text("def name7():\n    retry = 1\n"),
        lambda folder: (folder / "src/m7.py").unlink(),
        lambda folder: (folder / "src/m7.py").rename(folder / "src/name7.py"),
        lambda folder: (folder / ".gitignore").write_text("m7.py\n"),
        lambda folder: (folder / ".gitattributes").write_text("m7.py linguist-generated\n"),
    ],
    ids=["edit", "another edit", "new", "gone", "moved", "ignored", "generated"],
)
def test_after_any_change_the_answer_is_that_of_a_fresh_look(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    """A program that keeps running answers what a new one would (rule I-2)."""
    folder = project(tmp_path / "p", FILES)
    request = asking(folder)
    index, opened = in_index(tmp_path), OpenFiles(later)
    before = [answer(request, index, opened) for _ in range(3)]
    change(folder)
    fresh = compose_within_budget(request, index=kept_nothing()).prompt.markdown
    assert answer(request, index, opened) == fresh != before[-1]
    assert answer(request, index, opened) == answer(request, index, opened) == fresh


def test_what_was_changed_just_now_is_looked_at_again(tmp_path: Path) -> None:
    """Where the times of a file do not prove that it is unchanged, nothing is remembered (rule I-4)."""
    request = asking(project(tmp_path / "p", FILES))
    index, opened = in_index(tmp_path), OpenFiles()
    answer(request, index, opened)
    assert opened.read(request, index=index) is not opened.read(request, index=index)


def test_without_an_index_nothing_is_remembered(tmp_path: Path) -> None:
    """An index that keeps nothing says that nothing is to be kept."""
    request = asking(project(tmp_path / "p", FILES))
    index, opened = kept_nothing(), OpenFiles(later)
    assert opened.read(request, index=index) is not opened.read(request, index=index)
