"""How good prompts for tasks are: what real commits change, looked for in the prompt that their message asks for.

``python -m simulation.recall CLONE... [--rivals]`` takes the newest suitable commits of each clone, asks for a prompt
in the tree of the parent, whose history ends there, and looks for the changed files, definitions and lines in it.
Means are over clones, with intervals that hold 95 % of the means of drawn clones and commits.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from simulation.bootstrap import bootstrap, mean_of_means
from simulation.prompt_makers import (
    NoAnswerError,
    Ours,
    PromptMaker,
    WholeFiles,
    recount,
)
from simulation.recall_asks import FORMS, Asked, asked
from simulation.recall_metrics import recall
from simulation.task_commits import COMMITS, Tree, task_commits
from simulation.task_rivals import diff_programs, other_programs

BUDGETS = (8_000, 27_000)
"""A question's worth of context, and an agent's."""
MEASURES = ("file", "definition", "line", "file_with_tests", "line_with_tests")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one program made of one task.

    Attributes:
        clone: Of which project.
        commit: Which task.
        maker: Which program.
        budget: The most tokens that the prompt may have.
        tokens: That it has.
        seconds: That it took.
        shares: By measure, ``None`` where there is nothing to measure.
        failure: Why there is no prompt, ``""`` where there is one.
    """

    clone: str
    commit: str
    maker: str
    budget: int
    tokens: int
    seconds: float
    shares: dict[str, float | None]
    failure: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the prompt has more tokens than it may."""
        return self.tokens > self.budget


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured in each clone; it is sent to other processes.

    Attributes:
        commits: How many tasks of each clone.
        skip: How many suitable commits are left out before.
        budgets: The budgets.
        form: How a commit is asked for, of ``FORMS``.
        rivals: Whether other programs are asked too.
        only: Names of the programs that take part, all where it is empty.
        aider: The interpreter that aider is installed for.
        left_out: Kinds of evidence that are left out, those with commas between together.
        work: Where trees lie.
    """

    commits: int
    skip: int
    budgets: tuple[int, ...]
    form: str
    rivals: bool
    aider: Path | None
    left_out: tuple[str, ...]
    work: Path
    only: tuple[str, ...] = ()

    def makers(self) -> list[PromptMaker]:
        """Return the programs, ours first."""
        makers: list[PromptMaker] = [Ours()]
        makers += [Ours(f"without {kind}", left_out=kind) for kind in self.left_out]
        if self.rivals:
            makers.append(WholeFiles())
            makers += diff_programs() if self.form == "since" else other_programs(self.aider)
        return [maker for maker in makers if not self.only or maker.name in self.only]


def main() -> None:
    """Measure, and print tables."""
    options = _parser().parse_args()
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
            work=options.work or Path(folder),
            only=tuple(options.only),
        )
        outcomes = list(measure(options.clones, plan, jobs=options.jobs))
    for file in options.beside:
        outcomes += [Outcome(**row) for row in json.loads(file.read_text(encoding="utf-8"))]
    if options.json:
        rows = [asdict(outcome) for outcome in outcomes]
        options.json.write_text(json.dumps(rows), encoding="utf-8")
    for line in (*tables(outcomes), f"\n{time.perf_counter() - started:.0f} s in all"):
        print(line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m simulation.recall", description=__doc__)
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
    parser.add_argument("--jobs", type=int, default=2, help="clones at once (2)")
    parser.add_argument("--work", type=Path, help="where trees are kept from run to run")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PROGRAM", help="repeatable; by its name"
    )
    parser.add_argument("--json", type=Path, help="where every single outcome is written")
    parser.add_argument(
        "--beside", type=Path, action="append", default=[], help="outcomes of an earlier run"
    )
    return parser


def measure(clones: Sequence[Path], plan: Plan, *, jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes of all clones, in their order; progress goes to standard error."""
    by_clone: dict[Path, list[Outcome]] = {}
    work = partial(measure_clone, plan=plan)
    if jobs < 2:
        for number, clone in enumerate(clones, start=1):
            by_clone[clone] = work(clone)
            _say(clone, by_clone[clone], f"{number}/{len(clones)}")
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            futures = {pool.submit(work, clone): clone for clone in clones}
            for number, future in enumerate(as_completed(futures), start=1):
                by_clone[futures[future]] = future.result()
                _say(futures[future], future.result(), f"{number}/{len(clones)}")
    for clone in clones:
        yield from by_clone[clone]


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
        prompt = maker.make(tree.folder, asked.ask, budget)
    except NoAnswerError as error:
        failure = str(error)
    seconds = time.perf_counter() - start
    shares = recall(asked.commit, maker.read(prompt))._asdict()
    tokens = recount(prompt)
    return Outcome(clone, asked.commit.name, maker.name, budget, tokens, seconds, shares, failure)


def clone_name(clone: Path) -> str:
    """Return the name of a clone's folder; of a bare one its parent's."""
    resolved = clone.resolve()
    return resolved.parent.name if resolved.name in ("repo", ".git", "git") else resolved.name


def tables(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of two tables in markdown: all programs, and ours by clone."""
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
    yield f"| {makers[0]} | tasks | {' | '.join(f'{budget:,} file / def / line' for budget in budgets)} |"
    yield "|---|---|" + "---|" * len(budgets)
    for clone in dict.fromkeys(outcome.clone for outcome in outcomes):
        ours = [each for each in outcomes if (each.clone, each.maker) == (clone, makers[0])]
        cells = [_three([each for each in ours if each.budget == budget]) for budget in budgets]
        yield f"| {clone} | {len(ours) // len(budgets)} | {' | '.join(cells)} |"
    for failure in sorted({each.failure for each in outcomes if each.failure})[:10]:
        yield f"\nfailed: {failure}"


def _three(rows: Sequence[Outcome]) -> str:
    means = (mean_of_means(_by_clone(rows, measure)) for measure in MEASURES[:3])
    return " / ".join(f"{mean:.2f}" for mean in means)


def _by_clone(rows: Sequence[Outcome], measure: str) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for row in rows:
        share = row.shares[measure]
        values.setdefault(row.clone, []).extend([] if share is None else [share])
    return values


def _say(clone: Path, outcomes: Sequence[Outcome], progress: str) -> None:
    budgets = sorted({outcome.budget for outcome in outcomes})
    parts = [
        f"{maker} {' '.join(_three([o for o in outcomes if (o.maker, o.budget) == (maker, b)]) for b in budgets)}"
        for maker in dict.fromkeys(outcome.maker for outcome in outcomes)
    ]
    print(f"{progress} {clone_name(clone)}: {'; '.join(parts)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
