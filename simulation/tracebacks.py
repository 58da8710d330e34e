"""Whether a prompt that is asked for with nothing but a program's own traceback shows the function with the bug.

``python -m simulation.tracebacks`` writes small projects in Python, JavaScript and Go, runs each with a bug, and asks
for a prompt with what it printed when it failed. Languages whose program is not installed are left out.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulation.prompt_makers import Ask, Ours, PromptMaker, WholeFiles, recount
from simulation.traceback_projects import PROJECTS, Bug, Project

BUDGETS = (1_000, 2_000, 4_000)
"""The projects have some 70,000 tokens."""
_SECONDS = 120
"""Go compiles first."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a program made of one traceback.

    Attributes:
        language: Of the project.
        where: Where the bug lies, seen from where it fails.
        maker: Which program.
        budget: The most tokens that the prompt may have.
        is_shown: Whether the line with the bug stands in the prompt below its file.
        is_over: Whether the prompt has more tokens than it may.
    """

    language: str
    where: str
    maker: str
    budget: int
    is_shown: bool
    is_over: bool


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m simulation.tracebacks", description=__doc__)
    parser.add_argument("--budget", type=int, action="append", help="repeatable")
    options = parser.parse_args()
    budgets = options.budget or list(BUDGETS)
    found: list[Found] = []
    for project in PROJECTS:
        if shutil.which(project.program) is None:
            print(f"without {project.language}: {project.program} is not installed")
            continue
        for bug in project.bugs:
            found += measure(project, bug, [Ours(), WholeFiles()], budgets)
    for line in table(found):
        print(line)


def measure(
    project: Project, bug: Bug, makers: Sequence[PromptMaker], budgets: Sequence[int]
) -> Iterator[Found]:
    """Yield what each program makes of the traceback that a bug causes."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / "shop"
        project.write(tree, bug)
        text = failure_of(project, tree)
        for arguments in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", "-C", str(tree), *arguments], check=True, capture_output=True)
        for maker in makers:
            for budget in budgets:
                prompt = maker.make(tree, Ask(text), budget)
                lines = maker.read(prompt).get(bug.path, ())
                is_shown = any(bug.wrong in line for line in lines)
                is_over = recount(prompt) > budget
                yield Found(project.language, bug.where, maker.name, budget, is_shown, is_over)


def failure_of(project: Project, tree: Path) -> str:
    """Return what a project prints when it fails.

    Raises:
        AssertionError: It does not fail.
    """
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
    }
    done = subprocess.run(
        [project.program, *project.arguments],
        check=False,
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    if not done.returncode:
        raise AssertionError(f"{project.language}: it did not fail: {done.stdout}")
    return done.stderr


def table(found: Sequence[Found]) -> Iterator[str]:
    """Yield the lines of a table in markdown: how many of the bugs are shown."""
    budgets = sorted({each.budget for each in found})
    yield f"| bug | program | {' | '.join(f'{budget:,} tokens' for budget in budgets)} |"
    yield "|---|---|" + "---|" * len(budgets)
    for where, maker in dict.fromkeys((each.where, each.maker) for each in found):
        rows = [each for each in found if (each.where, each.maker) == (where, maker)]
        cells = [_cell([row for row in rows if row.budget == budget]) for budget in budgets]
        yield f"| {where} | {maker} | {' | '.join(cells)} |"


def _cell(rows: Sequence[Found]) -> str:
    """Return how many are shown, with the languages of those that are not."""
    missed = [row.language for row in rows if not row.is_shown]
    over = ", over the budget" if any(row.is_over for row in rows) else ""
    names = f" (not {', '.join(missed)})" if missed else ""
    return f"{len(rows) - len(missed)} of {len(rows)}{names}{over}"


if __name__ == "__main__":
    main()
