"""Reported issues as tasks: are the files that their fixes change among the first, and what does a prompt show?

``issues.csv`` names issues and the commits that fix them, without a text. ``TEXTS`` holds the text of each as
``OWNER+NAME-NUMBER.md``, and ``CLONES`` a bare clone of each repository as ``OWNER+NAME/repo``.
"""

import csv
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from simulation.prompt_makers import Ask, Ours
from simulation.recall_metrics import recall
from simulation.task_commits import TaskCommit, Tree, changed_files, kind_of
from simulation.trees import git

ISSUES = Path(__file__).with_suffix(".csv")
FIRST = (1, 3, 5, 10)
"""Numbers of files among which all changed sources are looked for."""
BUDGETS = (8_000, 27_000)
SHARES = ("file", "definition", "line")


def main(parser: ArgumentParser) -> None:
    """Rank and compose for each issue, and print a table."""
    parser.add_argument("texts", type=Path, metavar="TEXTS")
    parser.add_argument("clones", type=Path, metavar="CLONES")
    options = parser.parse_args()
    rows: dict[str, list[Mapping[str, float | None]]] = {}
    with ISSUES.open(encoding="utf-8", newline="") as file, tempfile.TemporaryDirectory() as work:
        for repository, number, name in csv.reader(file):
            folder = repository.replace("/", "+")
            text = options.texts / f"{folder}-{number}.md"
            clone = options.clones / folder / "repo"
            if text.exists() and clone.exists():
                issue = text.read_text(encoding="utf-8")
                row = measure(clone, name, issue, Tree(clone, Path(work, folder)))
                rows.setdefault(repository, []).append(row)
                print(f"{repository}#{number}: {row}", flush=True)
    for line in table(rows):
        print(line)


def measure(clone: Path, name: str, text: str, tree: Tree) -> Mapping[str, float | None]:
    """Return the measures of an issue's task in the tree before its fix."""
    parent = git(clone, "rev-parse", f"{name}^").decode().strip()
    commit = TaskCommit(name, parent, text, changed_files(clone, parent, name))
    tree.check_out(parent)
    order = [path for path in ranked_paths(tree.folder, text) if is_source(path)]
    changed = {file.path for file in commit.sources}
    row: dict[str, float | None] = {
        f"first {count}": float(changed.issubset(order[:count])) for count in FIRST
    }
    maker = Ours()
    for budget in BUDGETS:
        shares = recall(commit, maker.read(maker.make(tree.folder, Ask(text), budget)))._asdict()
        row |= {f"{share} at {budget:,}": shares[share] for share in SHARES}
    return row


def is_source(path: str) -> bool:
    """Return whether a path is a program's source, and not a test."""
    kind = kind_of(path)
    return kind.is_code and not kind.is_test and not kind.is_auxiliary


def ranked_paths(folder: Path, text: str) -> list[str]:
    """Return the files of a tree, the likeliest for a task first."""
    from aggregate.base.task_budget import Budget, Task
    from aggregate.project.index import user_index
    from aggregate.prompt import request_for
    from aggregate.prompt.asking import open_project
    from aggregate.prompt.corpus.ranked_files import rank_files

    project = open_project({"files": {"base_dir": str(folder), "paths": ["**/*"]}})
    request = request_for(project, task=Task(text), budget=Budget(BUDGETS[0]))
    ranked = rank_files(request, index=user_index())
    return [ranked.corpus.shown[ranking.file].path for ranking in ranked.ranking.files]


def table(rows: Mapping[str, Sequence[Mapping[str, float | None]]]) -> Iterator[str]:
    """Yield the means by repository and over all issues."""
    everything = [row for group in rows.values() for row in group]
    measures = list(everything[0]) if everything else []
    yield f"| repository | issues | {' | '.join(measures)} |"
    yield "|---|---|" + "---|" * len(measures)
    for repository, group in [*rows.items(), ("all", everything)]:
        means = (_mean(group, measure) for measure in measures)
        yield f"| {repository} | {len(group)} | {' | '.join(means)} |"


def _mean(rows: Sequence[Mapping[str, float | None]], measure: str) -> str:
    values = [value for row in rows if (value := row[measure]) is not None]
    return f"{sum(values) / len(values):.3f}" if values else "-"
