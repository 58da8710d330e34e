"""How good prompts for tasks are: what real commits change, looked for in the prompt that their message asks for.

The newest suitable commits of each clone are asked for in the tree of the parent, whose history ends there.
Means are over clones, with intervals that hold 95 % of the means of drawn clones and commits.
"""

import random
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import stdev
from typing import NamedTuple

from simulation.picks import read_answers
from simulation.prompt_makers import NoAnswerError, Ours, PromptMaker, WholeFiles, recount
from simulation.recall_asks import FORMS, Asked, asked
from simulation.recall_metrics import recall
from simulation.task_commits import COMMITS, Tree, task_commits
from simulation.task_rivals import diff_programs, other_programs

BUDGETS = (8_000, 27_000)
"""A question's worth of context, and an agent's."""
DRAWS = 2_000
"""Samples of clones and commits: enough for the second decimal of a 95 % interval."""
MEASURES = ("file", "definition", "line", "file_with_tests", "line_with_tests")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one program made of one task."""

    clone: str
    commit: str
    maker: str
    budget: int
    tokens: int
    seconds: float
    shares: dict[str, float | None]
    failure: str = ""
    is_chore: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the prompt has more tokens than it may."""
        return self.tokens > self.budget


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured in each clone; it is sent to other processes."""

    commits: int
    skip: int
    budgets: tuple[int, ...]
    form: str
    rivals: bool
    aider: Path | None
    left_out: tuple[str, ...]
    work: Path
    picks: tuple[Path, ...] = ()

    def makers(self) -> list[PromptMaker]:
        """Return the programs, ours first."""
        makers: list[PromptMaker] = [Ours()]
        makers += [Ours(f"without {kind}", left_out=kind) for kind in self.left_out]
        makers += [Ours(f"picks of {file.name}", answers=read_answers(file)) for file in self.picks]
        if self.rivals:
            makers.append(WholeFiles())
            makers += diff_programs() if self.form == "since" else other_programs(self.aider)
        return makers


def main(parser: ArgumentParser) -> None:
    """Measure, and print tables."""
    _add_options(parser)
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(
            commits=options.commits,
            skip=options.skip,
            budgets=tuple(options.budget or BUDGETS),
            form=options.form,
            rivals=options.rivals,
            aider=options.aider,
            left_out=tuple(options.leave_out),
            picks=tuple(options.picks),
            work=Path(folder),
        )
        outcomes = list(measure(options.clones, plan, jobs=options.jobs))
    for line in (*tables(outcomes), f"\n{time.perf_counter() - started:.0f} s in all"):
        print(line)


def _add_options(parser: ArgumentParser) -> None:
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--commits", type=int, default=COMMITS, help=f"of each clone ({COMMITS})")
    parser.add_argument(
        "--skip", type=int, default=0, help="suitable commits to leave out before (0)"
    )
    parser.add_argument("--budget", type=int, action="append", help="repeatable (8000, 27000)")
    forms = parser.add_mutually_exclusive_group()
    for form, meaning in FORMS.items():
        if meaning.option:
            forms.add_argument(
                meaning.option, dest="form", action="store_const", const=form, help=meaning.help
            )
    parser.set_defaults(form="message")
    parser.add_argument("--rivals", action="store_true", help="ask other programs too")
    parser.add_argument("--aider", type=Path, metavar="PYTHON", help="that aider is installed for")
    parser.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="KIND[,KIND...]",
        help="evidence; repeatable",
    )
    parser.add_argument(
        "--picks",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="compare with what was picked of each task's sheet, as python -m simulation picks says; repeatable",
    )
    parser.add_argument("--jobs", type=int, default=2, help="clones at once (2)")


def measure(clones: Sequence[Path], plan: Plan, *, jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes of all clones, in their order; progress goes to standard error."""
    work = partial(measure_clone, plan=plan)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for number, outcomes in enumerate(pool.map(work, clones), start=1):
            print(f"{number} of {len(clones)} clones", file=sys.stderr, flush=True)
            yield from outcomes


def measure_clone(clone: Path, plan: Plan) -> list[Outcome]:
    """Return the outcomes of one clone's commits."""
    name = clone_name(clone)
    tree = Tree(clone, plan.work / name)
    makers = plan.makers()
    outcomes: list[Outcome] = []
    for commit in task_commits(clone, plan.commits, skip=plan.skip):
        question = asked(commit, plan.form)
        if question is None:
            continue
        tree.check_out(commit.parent)
        tree.restore(commit.name, question.done)
        for maker in makers:
            for budget in plan.budgets:
                outcomes.append(_outcome(name, maker, tree=tree, asked=question, budget=budget))
    return outcomes


def _outcome(clone: str, maker: PromptMaker, *, tree: Tree, asked: Asked, budget: int) -> Outcome:
    start = time.perf_counter()
    failure = prompt = ""
    try:
        ask = replace(asked.ask, commit=asked.commit.name)
        prompt = maker.make(tree.folder, ask, budget)
    except NoAnswerError as error:
        failure = str(error)
    seconds = time.perf_counter() - start
    shares = recall(asked.commit, maker.read(prompt))._asdict()
    tokens = recount(prompt)
    return Outcome(
        clone,
        asked.commit.name,
        maker.name,
        budget,
        tokens,
        seconds,
        shares,
        failure,
        is_chore=asked.commit.is_chore,
    )


def clone_name(clone: Path) -> str:
    """Return the name of a clone's folder; of a bare one its parent's."""
    resolved = clone.resolve()
    return resolved.parent.name if resolved.name in ("repo", ".git", "git") else resolved.name


def tables(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of three tables in markdown: all programs, tasks that can be asked and chores, ours by clone."""
    makers = list(dict.fromkeys(outcome.maker for outcome in outcomes))
    budgets = sorted({outcome.budget for outcome in outcomes})
    yield "| tokens | program | file | definition | line | file, tests too | line, tests too | over | failed | s |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for budget in budgets:
        for maker in makers:
            rows = [each for each in outcomes if (each.maker, each.budget) == (maker, budget)]
            cells = [str(bootstrap(_by_clone(rows, measure))) for measure in MEASURES]
            over, failed = sum(row.is_over for row in rows), sum(bool(row.failure) for row in rows)
            seconds = sum(row.seconds for row in rows) / max(len(rows), 1)
            yield f"| {budget:,} | {maker} | {' | '.join(cells)} | {over} | {failed} | {seconds:.2f} |"
    yield ""
    yield from _by_kind(outcomes, makers, budgets)
    yield ""
    yield f"| {makers[0]} | tasks | {' | '.join(f'{budget:,} file / def / line' for budget in budgets)} |"
    yield "|---|---|" + "---|" * len(budgets)
    for clone in dict.fromkeys(outcome.clone for outcome in outcomes):
        ours = [each for each in outcomes if (each.clone, each.maker) == (clone, makers[0])]
        cells = [_three([each for each in ours if each.budget == budget]) for budget in budgets]
        yield f"| {clone} | {len(ours) // len(budgets)} | {' | '.join(cells)} |"
    for failure in sorted({each.failure for each in outcomes if each.failure})[:10]:
        yield f"\nfailed: {failure}"


def _by_kind(
    outcomes: Sequence[Outcome], makers: Sequence[str], budgets: Sequence[int]
) -> Iterator[str]:
    """Yield a table of means by kind of task, with their standard errors over clones."""
    yield "| tokens | program | tasks | number | file | definition | line | file, tests too | line, tests too |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for budget in budgets:
        for maker in makers:
            for kind, is_chore in (("can be asked", False), ("chores", True)):
                rows = [
                    outcome
                    for outcome in outcomes
                    if (outcome.maker, outcome.budget, outcome.is_chore)
                    == (maker, budget, is_chore)
                ]
                cells = [_with_error(_by_clone(rows, measure)) for measure in MEASURES]
                yield f"| {budget:,} | {maker} | {kind} | {len(rows)} | {' | '.join(cells)} |"


def _with_error(samples: Mapping[str, Sequence[float]]) -> str:
    means = [sum(values) / len(values) for values in samples.values() if values]
    error = stdev(means) / sqrt(len(means)) if len(means) > 1 else 0.0
    return f"{_short(mean_of_means(samples))} ± {_short(error)}"


def _three(rows: Sequence[Outcome]) -> str:
    means = (mean_of_means(_by_clone(rows, measure)) for measure in MEASURES[:3])
    return " / ".join(f"{mean:.2f}" for mean in means)


def _by_clone(rows: Sequence[Outcome], measure: str) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for row in rows:
        share = row.shares[measure]
        values.setdefault(row.clone, []).extend([] if share is None else [share])
    return values


class Interval(NamedTuple):
    """A mean with the interval that holds 95 % of the means of drawn samples."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_short(self.mean)} [{_short(self.low)}, {_short(self.high)}]"


def mean_of_means(samples: Mapping[str, Sequence[float]]) -> float:
    """Return the mean over the clones of each one's mean; clones without a value do not count."""
    means = [sum(values) / len(values) for values in samples.values() if values]
    return sum(means) / len(means) if means else 0.0


def bootstrap(samples: Mapping[str, Sequence[float]], *, draws: int = DRAWS) -> Interval:
    """Return the mean over clones with its interval; both the clones and their commits are drawn with replacement."""
    chance = random.Random(0)
    rows = [list(values) for _, values in sorted(samples.items()) if values]
    if not rows:
        return Interval(0.0, 0.0, 0.0)
    means = sorted(_drawn_mean(rows, chance) for _ in range(draws))
    return Interval(mean_of_means(samples), means[draws // 40], means[-draws // 40])


def _drawn_mean(rows: Sequence[Sequence[float]], chance: random.Random) -> float:
    drawn = [chance.choices(values, k=len(values)) for values in chance.choices(rows, k=len(rows))]
    return sum(sum(values) / len(values) for values in drawn) / len(drawn)


def _short(value: float) -> str:
    """Return a share with two decimals and without its leading zero."""
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"
