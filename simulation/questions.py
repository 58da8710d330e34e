"""How high files stand that answer a question in plain words: published questions, asked of our ranking.

The questions are those of MinishLab/semble: ``benchmarks/annotations/NAME.json`` holds queries with the files that
answer them, ``benchmarks/repos.json`` the revision and the folder that each is asked in. Here as there NDCG@10 counts
all files named, main and secondary, alike. Names are queries of category ``symbol``.
"""

import json
import math
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

DEPTH = 10
CATEGORIES = {"symbol": "names", "semantic": "semantic", "architecture": "architecture"}


class Answer(NamedTuple):
    """What the ranking makes of one question.

    Attributes:
        ranks: Of the files that answer it, 1 for the first; ``0`` for one that is none of the project's.
        first: The files that it puts first.
    """

    query: str
    category: str
    ranks: tuple[int, ...]
    first: tuple[str, ...]

    @property
    def gain(self) -> float:
        """NDCG at ``DEPTH``: 1 where the files that answer stand before all others."""
        found = sum(1 / math.log2(rank + 1) for rank in self.ranks if 0 < rank <= DEPTH)
        return found / sum(1 / math.log2(i + 2) for i in range(min(DEPTH, len(self.ranks))))


def main(parser: ArgumentParser) -> None:
    """Ask, and print a table."""
    parser.add_argument("annotations", type=Path, help="a folder of NAME.json and repos.json")
    parser.add_argument("clones", type=Path, help="a folder of clones, each called NAME")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="projects; all that are there")
    parser.add_argument("--whole", action="store_true", help="rank all files of the project")
    parser.add_argument("--below", type=float, metavar="NDCG", help="tell what scores less")
    parser.add_argument("--jobs", type=int, default=2, help="projects at once (2)")
    options = parser.parse_args()
    known = json.loads((options.annotations / "repos.json").read_text("utf-8"))
    roots = {row["name"]: row.get("benchmark_root") or "" for row in known}
    names = options.only or [
        name
        for name in sorted(roots)
        if (options.annotations / f"{name}.json").exists() and (options.clones / name).is_dir()
    ]
    folders = [options.clones / name / ("" if options.whole else roots[name]) for name in names]
    work = partial(answers, annotations=options.annotations)
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        answered = dict(zip(names, pool.map(work, names, folders), strict=True))
    print("\n".join(table(answered)))
    for name, rows in answered.items():
        for row in rows:
            if options.below is not None and row.gain < options.below:
                print(f"{name} {row.gain:.2f} {row.ranks} {row.query!r}: {', '.join(row.first)}")


def answers(name: str, folder: Path, *, annotations: Path) -> list[Answer]:
    """Ask all questions about a project."""
    from aggregate.base.task_budget import Task
    from aggregate.project.index import user_index
    from aggregate.prompt import request_for
    from aggregate.prompt.asking import open_project
    from aggregate.prompt.corpus.ranked_files import rank_files

    project = open_project({"files": {"base_dir": str(folder), "paths": ["**/*"]}})
    found: list[Answer] = []
    for item in json.loads((annotations / f"{name}.json").read_text("utf-8")):
        request = request_for(project, task=Task(item["query"]))
        ranked = rank_files(request, index=user_index())
        files = ranked.corpus.files
        paths = [files[entry.file].path for entry in ranked.ranking.files]
        wanted = [_path(target) for target in (*item["relevant"], *item.get("secondary", ()))]
        ranks = tuple(_rank(paths, path) for path in wanted)
        found.append(Answer(item["query"], item["category"], ranks, tuple(paths[:5])))
    return found


def _path(target: str | Mapping[str, str]) -> str:
    return target if isinstance(target, str) else target["path"]


def _rank(paths: Sequence[str], wanted: str) -> int:
    """Return where the first path stands that is the end of the wanted one, or the other way round."""
    for rank, path in enumerate(paths, start=1):
        if path == wanted or path.endswith(f"/{wanted}") or wanted.endswith(f"/{path}"):
            return rank
    return 0


def table(answered: Mapping[str, Sequence[Answer]]) -> Iterator[str]:
    """Yield the lines of a table in markdown: the means of each project, and over all questions."""
    yield f"| project | questions | all | {' | '.join(CATEGORIES.values())} |"
    yield "|---|---|---|" + "---|" * len(CATEGORIES)
    every = [row for rows in answered.values() for row in rows]
    for name, rows in (*answered.items(), ("all questions", every)):
        of_category = ([r for r in rows if r.category == each] for each in CATEGORIES)
        cells = [_mean(rows), *map(_mean, of_category)]
        yield f"| {name} | {len(rows)} | {' | '.join(cells)} |"


def _mean(rows: Sequence[Answer]) -> str:
    return f"{sum(row.gain for row in rows) / len(rows):.3f}" if rows else ""
