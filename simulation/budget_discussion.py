"""How much of a prompt twenty questions keep within a budget, and what they see of what they ask for.

``python -m simulation budget_discussion [CLONE] [--budget N] [--afresh]`` asks for what the last commits of any local
clone, by default this project's own, have done, one after the other: each message is a commit's first line. The files
stay as they are at the newest commit. It tells of each turn how many tokens of the last prompt the next one keeps
(rule B-9), and which part of the lines that the commit's files have was shown beside what a fit for this question
alone shows; ``--afresh`` fits each turn anew, for comparison.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aggregate.base.values import FileChoice
from aggregate.prompt import compose_prompt
from aggregate.sending import PreparedTurn
from simulation.sim_base import run_sim

QUESTIONS = 20
BUDGET = 60_000
ANSWER = (
    "The function is called for each file; it returns what is shown, and the caller counts it.\n"
    * 15
)
"""About 300 tokens, a usual answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """A commit's first line, and the files that the commit has changed."""

    text: str
    paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class Row:
    """What one turn kept and showed; the shares are of 1, ``None`` for the first turn."""

    question: Question
    kept: float | None
    tokens: int
    shown: float
    alone: float


def questions(clone: Path, number: int) -> list[Question]:
    """Return what the last commits were about, the oldest first; those of one to five files that are still there."""
    log = subprocess.run(
        ["git", "-C", str(clone), "log", "-400", "--no-merges", "--name-only", "--format=%x00%s"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    asked = []
    for entry in log.split("\0")[1:]:
        subject, *names = filter(None, entry.split("\n"))
        paths = frozenset(name for name in names if (clone / name).is_file())
        if 0 < len(paths) <= 5:
            asked.append(Question(subject, paths))
    return asked[:number][::-1]


def discuss(
    clone: Path, folder: Path, asked: Sequence[Question], budget: int, *, afresh: bool
) -> Iterator[Row]:
    """Hold the discussion and yield what became of each turn."""
    config = folder / "manual_slop.toml"
    config.write_text(
        f'[project]\nname = "asked"\n[files]\nbase_dir = "{clone.name}"\npaths = ["**/*"]\n'
        f"[budget]\ntokens = {budget}\n[send]\ndiffs = true\n",
        encoding="utf-8",
    )

    def forget(_: int) -> None:
        if afresh:
            for record in (folder / "md_gen").glob(".*.json"):
                text = record.read_text(encoding="utf-8")
                record.write_text(text.replace('"shown":', '"forgotten":'), encoding="utf-8")

    run = run_sim(
        config, [question.text for question in asked], answers=[ANSWER] * len(asked), before=forget
    )
    for question, turn in zip(asked, run, strict=True):
        yield _row(question, turn.prepared)


def _row(question: Question, turn: PreparedTurn) -> Row:
    report = turn.report
    kept = report.kept / report.before if report else None
    choices = turn.composition.choices if turn.composition else ()
    alone = compose_prompt(replace(turn.request, kept=())).choices
    return Row(question, kept, turn.plan.total, _part(question, choices), _part(question, alone))


def _part(question: Question, choices: Sequence[FileChoice]) -> float:
    """Return the part of the question's files' tokens that is shown."""
    asked = [choice for choice in choices if choice.path in question.paths]
    return sum(choice.tokens for choice in asked) / max(sum(choice.size for choice in asked), 1)


def main() -> None:
    """Print a line for each turn, and the means."""
    parser = argparse.ArgumentParser(
        description="Ask questions within a budget, and tell what is kept."
    )
    parser.add_argument("clone", type=Path, nargs="?", default=Path(__file__).parents[1])
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--afresh", action="store_true", help="fit each turn anew")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        clone = Path(name, "tree")
        subprocess.run(["git", "clone", "-q", str(options.clone.resolve()), str(clone)], check=True)
        for row in discuss(
            clone,
            Path(name),
            questions(clone, options.questions),
            options.budget,
            afresh=options.afresh,
        ):
            rows.append(row)
            kept = "     -" if row.kept is None else f"{row.kept:6.1%}"
            seen = f"{row.shown:6.1%} shown, {row.alone:6.1%} alone"
            print(f"{kept} kept  {row.tokens:>7,} tokens  {seen}  {row.question.text[:60]}")
    kept_shares = [row.kept for row in rows if row.kept is not None]
    print(
        f"{sum(kept_shares) / len(kept_shares):6.1%} kept, {sum(row.shown for row in rows) / len(rows):.1%} shown, "
        f"{sum(row.alone for row in rows) / len(rows):.1%} alone"
    )


if __name__ == "__main__":
    main()
