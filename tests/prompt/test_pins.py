"""What is shown whatever it costs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate.base.values import Budget, Place, Task
from aggregate.prompt import open_project, request_for, select_files
from aggregate.prompt.pins import Pins, runs_around
from aggregate.ranking import analyse
from tests.projects import project

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


def pins(
    folder: Path,
    focus: Sequence[Place] = (),
    *,
    entries: Sequence[Any] = ("**/*",),
    tier3: tuple[str, ...] = (),
) -> Pins:
    """Return the pins of a task among some files."""
    project(folder, FILES)
    config = {"files": {"base_dir": str(folder), "paths": list(entries)}}
    request = replace(
        request_for(open_project(config)),
        task=Task("x", tuple(focus)),
        budget=Budget(1_000),
        focus_files=tier3,
    )
    return Pins.of(request, select_files(request).files)


def test_nothing_is_pinned_by_itself(tmp_path: Path) -> None:
    """Without a focus, forced files and tiers everything is ranked (rule B-4)."""
    assert pins(tmp_path) == Pins(frozenset(), {})


def test_files_and_places(tmp_path: Path) -> None:
    """A path pins its file, a place what is around its lines; several places of a file add up (rules T-2, B-4)."""
    found = pins(tmp_path, [Place("b.py"), Place("c.md", 1, 2), Place("c.md", 5, 5)])
    assert found.whole == {"b.py"}
    assert found.places == {"c.md": (Place("c.md", 1, 2), Place("c.md", 5, 5))}
    assert found.doubts == ()


def test_forced_entries_and_tier_3(tmp_path: Path) -> None:
    """``force_full`` and ``tier = 3`` pin, unless the entry is kept out of prompts (rule B-4)."""
    entries = [
        {"path": "a.py", "force_full": True},
        {"path": "b.py", "tier": 3},
        {"path": "c.md", "force_full": True, "auto_aggregate": False},
        "lib/a.py",
    ]
    assert pins(tmp_path, entries=entries).whole == {"a.py", "b.py"}


def test_a_focus_that_is_no_file_is_doubtful(tmp_path: Path) -> None:
    """It is told once, and not for the focus files of Tier 3, of which the prompt itself tells (rules T-2, B-11)."""
    found = pins(tmp_path, [Place("gone.py"), Place("b.py")], tier3=("lost.py", "c.md"))
    assert found.whole == {"b.py", "c.md"}
    assert found.doubts == (
        "focus gone.py: no file of the project matches it; name it under [files] paths too",
    )


@pytest.mark.parametrize(
    ("place", "runs"),
    [
        # A line of a method: its class's signature, its own, and all of it.
        (Place("a.py", 8, 8), [(8, 8), (4, 4), (7, 7), (7, 8)]),
        # A function inside a method is no definition of its own: the method is shown.
        (Place("a.py", 12, 12), [(12, 12), (4, 4), (10, 10), (10, 14)]),
        # A line of no definition stands for itself.
        (Place("a.py", 1, 1), [(1, 1)]),
        # Lines that touch two definitions show both.
        (Place("a.py", 14, 17), [(14, 17), (4, 4), (10, 10), (10, 14), (17, 17), (17, 18)]),
    ],
)
def test_the_innermost_definitions_around_a_place(
    place: Place, runs: list[tuple[int, int]]
) -> None:
    """They are shown whole, those around them by their signatures (rule B-4)."""
    definitions = analyse("a.py", TEXT).definitions
    assert list(runs_around([place], definitions)) == runs
