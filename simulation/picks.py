"""Sheets of the likeliest files for commits of clones, to be picked from blind, and what a perfect choice picks.

``sheets`` prints each task with its sheet; whoever picks sees nothing else, and writes a line of each::

    KEY 1:.9 4:.3 1/url_for 4/App.run +src/unseen.py +parse_header

that is files by their numbers with a confidence, definitions, and names that are expected but not on the sheet.
``oracle`` prints such lines from the answers.
``python -m simulation recall --picks FILE`` measures a file of them. The commits are those of ``recall``.
"""

import json
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from simulation.recall_metrics import changed_definitions
from simulation.task_commits import COMMITS, TaskCommit, Tree, task_commits

if TYPE_CHECKING:
    from aggregate.prompt.asking import Request
    from aggregate.prompt.corpus import Sheet
    from aggregate.prompt.corpus.ranked_files import RankedFiles

SHORT = 10
"""Digits of a commit's name that stand for it."""
SHEET = 6_000
"""Tokens of a sheet at most, as ``--pick`` shows."""


def main(parser: ArgumentParser) -> None:
    """Print sheets or lines of picks."""
    parser.add_argument("what", choices=["sheets", "oracle"])
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--commits", type=int, default=COMMITS, help=f"of each clone ({COMMITS})")
    parser.add_argument("--skip", type=int, default=0, help="commits to leave out before (0)")
    options = parser.parse_args()
    for clone in options.clones:
        commits = task_commits(clone, options.commits, skip=options.skip)
        for commit, sheet in _sheets(clone, commits):
            key = commit.name[:SHORT]
            if options.what == "oracle":
                print(key, *_true_picks(commit, sheet))
            else:
                print(f"=== {key}\n{commit.message}\n---\n{sheet.text}")


def _sheets(clone: Path, commits: Iterator[TaskCommit]) -> Iterator[tuple[TaskCommit, "Sheet"]]:
    from aggregate.base.task_budget import Budget, Task
    from aggregate.prompt import request_for
    from aggregate.prompt.asking import open_project

    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(clone, Path(folder, "tree"))
        for commit in commits:
            tree.check_out(commit.parent)
            files = {"base_dir": str(tree.folder), "paths": ["**/*"]}
            task, budget = Task(commit.message), Budget(8_000)
            request = request_for(open_project({"files": files}), task=task, budget=budget)
            yield commit, sheet_of(request)[0]


def sheet_of(request: "Request") -> tuple["Sheet", "RankedFiles"]:
    """Return the sheet of a request's likeliest files, and the files it is from."""
    from aggregate.project.index import user_index
    from aggregate.prompt import SavedCounts
    from aggregate.prompt.corpus import make_sheet
    from aggregate.prompt.corpus.ranked_files import rank_files

    index = user_index()
    ranked = rank_files(request, index=index)
    return make_sheet(ranked, SavedCounts(index), most=SHEET), ranked


def _true_picks(commit: TaskCommit, sheet: "Sheet") -> Iterator[str]:
    numbers = {path: number for number, path in enumerate(sheet.names, start=1)}
    changed = [file for file in commit.sources if file.path in numbers]
    yield from (f"{numbers[file.path]}:1" for file in changed)
    for file in changed:
        names = {definition.name for definition in changed_definitions(file)}
        own = [name for name in sheet.names[file.path] if name.rpartition(".")[2] in names]
        yield from (f"{numbers[file.path]}/{name.replace(' ', '_')}" for name in own)


def read_answers(file: Path) -> Mapping[str, str]:
    """Return what a file of picks says of each commit, as a model would answer."""
    answers: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        key, *picks = line.split()
        expected = [pick[1:] for pick in picks if pick.startswith("+")]
        seen = [pick for pick in picks if not pick.startswith("+")]
        files = [pick.split(":") for pick in seen if "/" not in pick]
        names = [pick.replace("/", " ", 1) for pick in seen if "/" in pick]
        rows = [{"file": int(number), "confidence": float(sure)} for number, sure in files]
        answers[key] = json.dumps({"files": rows, "definitions": names, "expected": expected})
    return answers
