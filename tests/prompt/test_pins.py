"""What is shown whatever it costs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate import Budget, Place, Task, open_project, request_for
from aggregate.prompt import select_files
from aggregate.prompt.ranked_files import Pins, find_pins
from aggregate.ranking.files import analyse
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
PLACES = (Place("c.md", 1, 2), Place("c.md", 5, 5))
FORCED = (
    {"path": "a.py", "force_full": True},
    {"path": "b.py", "tier": 3},
    {"path": "c.md", "force_full": True, "auto_aggregate": False},
    "lib/a.py",
)
GONE = "focus gone.py: no file of the project matches it; name it under [files] paths too"


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
    assert Pins({"a.py": (place,)}).runs("a.py", definitions) == runs
