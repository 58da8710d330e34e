"""Fit the weights of the evidences again, on what commits of git clones change.

The newest suitable commits of each clone are taken. This asks the ranking for the evidence of each piece of the tree
before, and finds the weights under which the pieces that the commit changed are
likeliest. The weights that ship are where it begins and what it is pulled towards. Each clone is left out once: what
the weights of the others make of its commits says whether a fit is worth having. Needs numpy.
"""

import random
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simulation.recall import clone_name
from simulation.softmax_fit import (
    Array,
    Example,
    Observed,
    fit,
    load_observed,
    mean_likelihood,
    save_observed,
)
from simulation.task_commits import COMMITS, TaskCommit, Tree, task_commits

PULL = 0.002
"""Toward the weights that ship: evidence that hardly occurs stays where it is."""
_BEST, _OTHERS = 1_500, 500
"""Pieces that are no answer: the likeliest by the weights that ship, and a sample that stands for all others."""


class Fitted(NamedTuple):
    """Weights of one fit."""

    weights: Mapping[str, float]
    likelihood: float
    shipped: float


def main(parser: ArgumentParser) -> None:
    """Fit, and print a table."""
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--commits", type=int, default=COMMITS)
    parser.add_argument("--skip", type=int, default=0, help="suitable commits to leave out before")
    parser.add_argument("--pull", type=float, default=PULL, help=f"toward what ships ({PULL})")
    parser.add_argument("--subject-only", action="store_true", help="the first line is the task")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--keep", type=Path, help="a folder where evidence is kept for further fits"
    )
    parser.add_argument("--work", type=Path, help="where trees are kept from run to run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = partial(
            observe_clone,
            commits=options.commits,
            skip=options.skip,
            subject_only=options.subject_only,
            work=options.work or Path(folder),
            keep=options.keep,
        )
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
            names = map(clone_name, options.clones)
            observed = dict(zip(names, pool.map(work, options.clones), strict=True))
    for line in table(observed, pull=options.pull):
        print(line)


def observe_clone(
    clone: Path, *, commits: int, skip: int, subject_only: bool, work: Path, keep: Path | None
) -> Observed:
    """Return the evidence of a clone's tasks, which is taken from ``keep`` where it is there."""
    kept = keep / f"{clone_name(clone)}.npz" if keep else None
    if kept and kept.exists():
        return load_observed(kept)
    tree = Tree(clone, work / clone_name(clone))
    kinds: tuple[str, ...] = ()
    examples: list[Example] = []
    lost = total = 0
    for commit in task_commits(clone, commits, skip=skip):
        tree.check_out(commit.parent)
        text = commit.subject if subject_only else commit.message
        kinds, example, answers = _observe(tree.folder, commit, text)
        total += answers
        lost += answers - (int(example.is_answer.sum()) if example else 0)
        if example:
            examples.append(example)
    print(f"{clone_name(clone)}: {len(examples)} tasks", file=sys.stderr, flush=True)
    observed = Observed(kinds, examples, (lost, total))
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        save_observed(kept, observed)
    return observed


def _observe(
    tree: Path, commit: TaskCommit, text: str
) -> tuple[tuple[str, ...], Example | None, int]:
    """Return the kinds of evidence, an example if any changed piece is a candidate, and how many were changed."""
    from aggregate.base.task_budget import Task
    from aggregate.project.index import user_index
    from aggregate.prompt import request_for
    from aggregate.prompt.asking import open_project
    from aggregate.prompt.corpus import read_files
    from aggregate.prompt.corpus.ranked_files import question_for
    from simulation.piece_features import features

    project = open_project({"files": {"base_dir": str(tree), "paths": ["**/*"]}})
    request = request_for(project, task=Task(text))
    index = user_index()
    corpus = read_files(request, index=index)
    paths = [facts.path for facts in corpus.files]
    observed = features(corpus, question_for(request, index=index, paths=paths))
    changed = {file.path: file.lines for file in commit.sources}
    numbers = [number for number, path in enumerate(paths) if path in changed]
    answers = {
        (number, place)
        for number, analysis in zip(numbers, corpus.analyses(numbers), strict=True)
        for place, piece in enumerate(analysis.pieces)
        if any(piece.first <= line <= piece.last for line in changed[paths[number]])
    }
    is_answer = [key in answers for key in observed.pieces]
    kinds = observed.kinds
    if not any(is_answer):
        return kinds, None, len(answers)
    rows = np.asarray(observed.rows, dtype=np.float64)
    return kinds, _thinned(rows, np.asarray(is_answer), _shipped(kinds)), len(answers)


def _thinned(
    rows: Array, is_answer: "np.ndarray[tuple[int], np.dtype[np.bool_]]", shipped: Array
) -> Example:
    """Return an example of the answers, the likeliest other pieces, and some of the rest, which stand for all of it."""
    order = np.argsort(-(rows @ shipped), kind="stable")
    others = [int(place) for place in order if not is_answer[place]]
    best, rest = others[:_BEST], others[_BEST:]
    sample = random.Random(0).sample(rest, min(_OTHERS, len(rest)))
    kept = [*np.flatnonzero(is_answer).tolist(), *best, *sample]
    offsets = np.zeros(len(kept))
    if sample:
        offsets[-len(sample) :] = np.log(len(rest) / len(sample))
    return Example(rows[kept], is_answer[kept], offsets)


def _shipped(kinds: Sequence[str]) -> Array:
    from aggregate.ranking import WEIGHTS

    return np.array([WEIGHTS.get(kind, 0.0) for kind in kinds])


def fit_all(observed: Mapping[str, Observed], *, pull: float) -> tuple[Fitted, dict[str, Fitted]]:
    """Return the fit on all clones, and for each clone the one on the others."""
    kinds = next(iter(observed.values())).kinds
    shipped = _shipped(kinds)

    def fitted(train: Sequence[Example], test: Sequence[Example]) -> Fitted:
        weights = fit(train, shipped, pull=pull)
        table = {kind: float(weight) for kind, weight in zip(kinds, weights, strict=True)}
        return Fitted(table, mean_likelihood(test, weights), mean_likelihood(test, shipped))

    examples = [example for clone in observed.values() for example in clone.examples]
    without: dict[str, Fitted] = {}
    if len(observed) > 1:
        for name, clone in observed.items():
            others = [
                example
                for other, that in observed.items()
                if other != name
                for example in that.examples
            ]
            without[name] = fitted(others, clone.examples)
    return fitted(examples, examples), without


def table(observed: Mapping[str, Observed], *, pull: float) -> Iterator[str]:
    """Yield the lines of the weights' table, and of the test on clones that were left out."""
    whole, without = fit_all(observed, pull=pull)
    kinds = list(whole.weights)
    shipped = dict(zip(kinds, _shipped(kinds), strict=True))
    yield "| kind | ships | fitted | whichever clone is left out |"
    yield "|---|---|---|---|"
    for kind, weight in whole.weights.items():
        values = [fit.weights[kind] for fit in without.values()] or [weight]
        yield f"| {kind} | {shipped[kind]:.1f} | {weight:.1f} | {min(values):.1f} to {max(values):.1f} |"
    yield ""
    yield "| left out | tasks | lost pieces | log-likelihood as shipped | fitted on the others |"
    yield "|---|---|---|---|---|"
    for name, fitted in without.items():
        lost, total = observed[name].lost
        tasks = len(observed[name].examples)
        yield f"| {name} | {tasks} | {lost} of {total} | {fitted.shipped:.2f} | {fitted.likelihood:.2f} |"
    yield f"| none | | | {whole.shipped:.2f} | {whole.likelihood:.2f} |"
