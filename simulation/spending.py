"""What a prompt's tokens are spent on: real commits' messages ask, and each block is counted by its kind.

Edited are the lines of the innermost definitions around the changed lines, or these alone where none is around them.
"""

import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from aggregate.code.syntax import language_of, read_definitions
from simulation.prompt_makers import Ask, Ours, recount
from simulation.recall import clone_name
from simulation.recall_metrics import read_blocks, shown_lines
from simulation.task_commits import ChangedFile, TaskCommit, Tree, kind_of, task_commits

KINDS = ("edited", "rest of their files", "other sources", "tests", "documents", "names", "frame")
_NAMES = "\n### Not shown\n"


def main(parser: ArgumentParser) -> None:
    """Compose prompts for the newest suitable commits of each clone, and print a table."""
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--commits", type=int, default=1, help="of each clone (1)")
    parser.add_argument("--budget", type=int, action="append", help="repeatable (4000, 8000)")
    options = parser.parse_args()
    totals: dict[int, Counter[str]] = {}
    print(f"| budget | task | tokens | {' | '.join(KINDS)} |\n|---|---|---|{'---|' * len(KINDS)}")
    with tempfile.TemporaryDirectory() as folder:
        for clone in options.clones:
            tree = Tree(clone, Path(folder, clone_name(clone)))
            for commit in task_commits(clone, options.commits):
                tree.check_out(commit.parent)
                for budget in options.budget or (4_000, 8_000):
                    prompt = Ours().make(tree.folder, Ask(commit.message), budget)
                    spent = spending(prompt, commit)
                    totals.setdefault(budget, Counter()).update(spent)
                    print(_row(budget, f"{clone_name(clone)} {commit.name[:8]}", spent), flush=True)
    for budget, total in totals.items():
        print(_row(budget, "all", total))


def spending(prompt: str, commit: TaskCommit) -> Counter[str]:
    """Return the tokens of each kind in a prompt for a commit's message."""
    changed = {file.path: file for file in commit.sources}
    spent: Counter[str] = Counter()
    for path, lines in read_blocks(prompt).items():
        tokens = recount("\n".join(lines))
        if path in changed:
            edited = recount("\n".join(_edited_lines(changed[path], lines)))
            spent["edited"] += edited
            spent["rest of their files"] += tokens - edited
            continue
        kind = kind_of(path)
        is_source = kind.is_code and not kind.is_auxiliary
        name = "other sources" if is_source else "documents"
        spent["tests" if kind.is_test else name] += tokens
    spent["names"] = recount(prompt.partition(_NAMES)[2].partition("\n## ")[0])
    spent["frame"] = recount(prompt) - spent.total()
    return spent


def _edited_lines(file: ChangedFile, shown: Sequence[str]) -> Iterator[str]:
    language = language_of(file.path, file.text)
    definitions = read_definitions(file.text, language).definitions if language else ()
    edited = set(file.lines)
    for number in file.lines:
        around = [one for one in definitions if one.first_line <= number <= one.last_line]
        if around:
            inner = max(around, key=lambda one: (one.depth, one.first_line))
            edited.update(range(inner.first_line, inner.last_line + 1))
    lines = file.text.split("\n")
    yield from (lines[number - 1] for number in sorted(edited & shown_lines(shown, file.text)))


def _row(budget: int, task: str, spent: Counter[str]) -> str:
    total = max(spent.total(), 1)
    shares = (f"{spent[kind] / total:.0%}" for kind in KINDS)
    return f"| {budget:,} | {task} | {total:,} | {' | '.join(shares)} |"
