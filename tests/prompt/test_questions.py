"""From requests to questions, and what is shown whatever it costs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate import Budget, Place, Task, open_project, request_for
from aggregate.prompt.corpus import question_for, resolve_place
from aggregate.prompt.files import select_files
from aggregate.prompt.fit import Pins, find_pins, pinned_runs
from aggregate.ranking import ChangedLines, Question
from aggregate.ranking.files import analyse
from tests.project.history import Repository
from tests.projects import project
from tests.prompt.composing import kept_nothing


def asked(root: Path, task: Task | None, *paths: str) -> Question:
    """Return the question of a task in a folder with some candidates."""
    project = open_project({"files": {"base_dir": str(root), "paths": ["**"]}})
    request = replace(request_for(project), task=task)
    return question_for(request, index=kept_nothing(), paths=paths)


def test_all_parts_of_a_question(tmp_path: Path) -> None:
    """Text, focus, symbols, changes of candidates and history come together (rules T-2 and T-6)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1\n", "b.py": "1\n", "c.py": "1\n"})
    repository.commit("Retry it", {"a.py": "2\n"})
    repository.write({"b.py": "2\n", "c.py": "2\n"})
    task = Task(
        "retry fails", (Place("./a.py", 3, 4),), (" Cart.total", "", "Cart.total"), "HEAD~1"
    )
    question = asked(tmp_path, task, "a.py", "b.py")
    assert question.task.terms == {"retry": 1, "fail": 1}
    assert question.focus == (("a.py", 3, 4),)
    assert question.symbols == ("Cart.total",)
    assert question.changes == (ChangedLines("a.py", 1, 1), ChangedLines("b.py", 1, 1))
    assert question.commits[0].terms == {"retry"}
    assert question.commits[0].paths == ("a.py",)
    assert len(question.commits) == 1
    assert question.missing == ()


@pytest.mark.parametrize("task", [None, Task(), Task(" \n"), Task("the of")])
def test_nothing_is_asked_without_a_task(tmp_path: Path, task: Task | None) -> None:
    """Without a task there is nothing to look up in the history, and nothing is an error (rules T-3 and T-5)."""
    assert asked(tmp_path, task, "a.py").is_empty
    assert asked(tmp_path, task).commits == ()
    assert len(asked(tmp_path, task).missing) == (task is not None)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    """A task without a repository, and seeds without a text, say what there is none of (rule T-5)."""
    assert [missing.evidence for missing in asked(tmp_path, Task("retry")).missing] == ["history"]
    question = asked(tmp_path, Task(symbols=("f",)))
    assert [missing.evidence for missing in question.missing] == ["history", "text"]


def test_a_revision_without_changes_is_said(tmp_path: Path) -> None:
    """Where no candidate has changed since the revision, that is told (rules T-2 and T-5)."""
    Repository(tmp_path).commit("begin", {"a.py": "1\n", "b.py": "1\n"})
    (tmp_path / "b.py").write_text("2\n", encoding="utf-8")
    question = asked(tmp_path, Task("retry", since="HEAD"), "a.py")
    assert question.changes == ()
    assert [missing.evidence for missing in question.missing] == ["history", "changes"]


@pytest.mark.parametrize(
    ("place", "resolved"),
    [
        ("src/a.py:3-5", ("src/a.py", 3, 5)),
        ("./src/../src/a.py:3", ("src/a.py", 3, 3)),
        ("src\\a.py", ("src/a.py", 0, 0)),
        ("b.py", ("lib/b.py", 0, 0)),
        ("a.py", ("a.py", 0, 0)),
        ("d.py", ("d.py", 0, 0)),
        ("odd:7", ("odd:7", 0, 0)),
        ("", ("", 0, 0)),
    ],
)
def test_the_candidate_that_a_place_names(place: str, resolved: tuple[str, int, int]) -> None:
    """A place names a candidate by its path or by an ending that only one has, else it stays as written (rule T-2)."""
    paths = {"src/a.py", "a.py", "lib/b.py", "x/d.py", "y/d.py", "odd:7"}
    assert resolve_place(Place.parse(place), paths) == resolved


FILES = {"a.py": "x = 1\n", "lib/a.py": "y = 2\n", "b.py": "z = 3\n", "c.md": "# C\n"}
TEXT = '''import os


class Cart:
    """Things."""

    def add(self, thing):
        self.things.append(thing)

    def total(self):
        def price(thing):
            return thing.price

        return sum(map(price, self.things))


def main():
    Cart()
'''
PLACES = (Place("c.md", 1, 2), Place("c.md", 5, 5))
FORCED = (
    {"path": "a.py", "force_full": True},
    {"path": "b.py", "tier": 3},
    {"path": "c.md", "force_full": True, "auto_aggregate": False},
    "lib/a.py",
)
GONE = "focus gone.py: no file of the project matches it; if it is a file of the project, add it to [files] paths"


@pytest.mark.parametrize(
    ("focus", "entries", "tier3", "expected"),
    [
        ((), ["**/*"], (), Pins({})),
        ((Place("b.py"), *PLACES), ["**/*"], (), Pins({"b.py": (), "c.md": PLACES})),
        ((*PLACES, Place("c.md")), ["**/*"], (), Pins({"c.md": ()})),
        # Unless the entry is kept out of prompts.
        ((), FORCED, (), Pins({"a.py": (), "b.py": ()})),
        # It is told once, and not for the focus files of Tier 3, of which the prompt itself tells.
        (
            (Place("gone.py"), Place("b.py")),
            ["**/*"],
            ("lost.py", "c.md"),
            Pins({"b.py": (), "c.md": ()}, (GONE,)),
        ),
    ],
)
def test_files_and_places(
    tmp_path: Path,
    focus: tuple[Place, ...],
    entries: Sequence[Any],
    tier3: tuple[str, ...],
    expected: Pins,
) -> None:
    """Focus, ``force_full`` and ``tier = 3`` pin; several places of a file add up (rules T-2, B-4, B-11)."""
    project(tmp_path, FILES)
    config = {"files": {"base_dir": str(tmp_path), "paths": list(entries)}}
    request = request_for(open_project(config))
    request = replace(request, task=Task("x", focus), budget=Budget(1_000), focus_files=tier3)
    assert find_pins(request, select_files(request).files) == expected


@pytest.mark.parametrize(
    ("place", "runs"),
    [
        # A line of a method: its class's signature, its own, and all of it.
        (Place("a.py", 8, 8), ((8, 8), (4, 4), (7, 7), (7, 8))),
        # A function inside a method is no definition of its own: the method is shown.
        (Place("a.py", 12, 12), ((12, 12), (4, 4), (10, 10), (10, 14))),
        # A line of no definition stands for itself.
        (Place("a.py", 1, 1), ((1, 1),)),
        # Lines that touch two definitions show both.
        (Place("a.py", 14, 17), ((14, 17), (4, 4), (10, 10), (10, 14), (17, 17), (17, 18))),
    ],
)
def test_the_innermost_definitions_around_a_place(
    place: Place, runs: tuple[tuple[int, int], ...]
) -> None:
    """They are shown whole, those around them by their signatures (rule B-4)."""
    definitions = analyse("a.py", TEXT).definitions
    assert tuple(pinned_runs((place,), definitions)) == runs
