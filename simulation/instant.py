"""What a first, a second and a small further run cost, beside other programs on the same files.

The folder is copied, and each row measured in processes of their own, in turns, as the median of the rounds: cold with
an empty cache, warm with the one that the run before left, edited after one file of the copy was changed. Other
programs are measured where they are installed or named with ``--rival``; ratios are ours divided by theirs, so less
than 1 means that ours takes less. Machines are shared and noisy: quote the ratios.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simulation.processes import Cost, FailedJobError, Job, compare, line, ratio, try_once
from simulation.prompt_makers import Ask, Ours
from simulation.rivals import (
    FULL,
    QUIET,
    SKELETONS,
    Rival,
    command_of,
    count_shown,
    installed_rivals,
)
from simulation.trees import copy_many, write_config

MANY = 100_000
_FEWER = 10
"""How many times fewer files the other tree of the row on many files has: equal cost per file is linear."""
_EDITS = 5
# What was edited later proves nothing yet, and what came before this run is not measured.
_SETTLED_SECONDS = 2.1
_BUDGET = 8_000
TASK = (
    "--task",
    "Fix the crash in the loader when a cached file was deleted",
    "--budget",
    str(_BUDGET),
)
_HELP = ("--help",)
COLD, WARM, EDITED = "cold", "warm", "one file edited"
_RIVALS_IN = (COLD, EDITED)


@dataclass(slots=True)
class Workshop:
    """The copy of a tree, and everything that the measured programs read and write."""

    root: Path
    suffix: str
    edits: int = 0
    editable: list[Path] = field(default_factory=list)

    @property
    def tree(self) -> Path:
        """The copy."""
        return self.root / "tree"

    def copy(self, tree: Path) -> None:
        """Copy the files with their times: what was changed seconds ago has to be read again by any cache."""
        shutil.copytree(tree, self.tree, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        self.editable = sorted(self.tree.rglob(f"*{self.suffix}"))
        if not self.editable:
            raise SystemExit(f"there is no *{self.suffix} below {tree}: name another --suffix")

    def edit(self) -> None:
        """Change one file, each time another one, by a line that was never there before."""
        self.edits += 1
        path = self.editable[self.edits * 7919 % len(self.editable)]  # a prime, to jump about
        text = (
            f"edited_{self.edits} = {self.edits}\n" if self.suffix == ".py" else "\n" * self.edits
        )
        path.write_bytes(path.read_bytes() + text.encode())

    def ours(self, kind: str, state: str, *arguments: str) -> Job:
        """Return our program on the configuration ``kind``, with a cache and an output folder of its own."""
        cache, output = self.root / "cache" / kind, self.root / "out" / kind

        def before() -> None:
            if state == COLD:
                for folder in (cache, output):
                    shutil.rmtree(folder, ignore_errors=True)
                time.sleep(_SETTLED_SECONDS)
            if state == EDITED:
                self.edit()

        config = ["-c", str(self.root / f"{kind}.toml")] if arguments != _HELP else []
        return Job(
            f"ours {state}",
            [sys.executable, "-m", "aggregate", *arguments, *config],
            {"AGGREGATE_CACHE_DIR": str(cache), "AGGREGATE_STATE_DIR": str(self.root / "state")},
            before,
            self.root,
        )

    def rival(self, rival: Rival, job: str, state: str, tree: Path) -> Job:
        """Return another program on the same files; its cache lies in a home of its own, which is emptied when cold."""
        home, output = self.root / "homes" / rival.name, self.rival_output(rival)

        def before() -> None:
            if state == COLD:
                shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True, exist_ok=True)
            output.unlink(missing_ok=True)
            if state == EDITED:
                self.edit()

        command = command_of(rival, job, tree=tree, output=output, suffix=self.suffix)
        environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
        return Job(f"{rival.name} {state}", command, environment, before, home.parent)

    def rival_output(self, rival: Rival) -> Path:
        """Return where a rival writes."""
        return self.root / "homes" / f"{rival.name}.md"

    def configure(self, kind: str, paths: str, base_dir: str = "tree") -> None:
        """Write our configuration ``kind``; ``paths`` is TOML."""
        # Rivals show generated files too.
        more = f'generated = "full"\n[output]\noutput_dir = "out/{kind}"\n'
        write_config(self.root / f"{kind}.toml", [paths], base_dir, more)


@dataclass(frozen=True, slots=True)
class Row:
    """One job of the table."""

    title: str
    kind: str
    arguments: tuple[str, ...] = ("run",)
    states: tuple[str, ...] = (COLD, WARM)
    job: str = ""
    tree: str = "tree"


ROWS = {
    "full": Row("all files in full, tokens", "full", states=(COLD, WARM, EDITED), job=FULL),
    "quiet": Row("all files in full, no counts", "full-quiet", ("run", "-q"), job=QUIET),
    "skeletons": Row("skeletons, tokens", "skeletons", states=(COLD, WARM, EDITED), job=SKELETONS),
    "one": Row("a project of one file", "one", job=FULL, tree="small"),
    "stats": Row("stats of everything", "stats", ("stats",), job=FULL),
    "help": Row("a list of the commands", "one", _HELP, states=(WARM,)),
    "task": Row("a prompt for a task", "task", ("run", *TASK), states=(COLD, WARM, EDITED)),
}
EDIT = "edit_task"
"""The row of a question that is asked again in one process after an edit."""


def main(parser: ArgumentParser) -> None:
    """Measure the rows that are asked for, or edits in this process."""
    names = [*ROWS, EDIT, "many"]
    parser.add_argument("tree", type=Path, help="a folder with source files")
    parser.add_argument("--suffix", default=".py", help="of the files for skeletons (.py)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=names, help="repeatable")
    parser.add_argument(
        "--rival",
        action="append",
        default=[],
        metavar="NAME[:JOB]=COMMAND",
        help=f"another program; JOB is {FULL} (default), {QUIET} or {SKELETONS}; {{tree}}, {{output}}, {{suffix}} and "
        "{extension} are filled in",
    )
    parser.add_argument("--many", type=int, default=MANY, help=f"files of the last row ({MANY:,})")
    parser.add_argument("--here", action="store_true", help=SUPPRESS)
    options = parser.parse_args()
    if options.here:
        wall, cpu = edit_here(options.tree, options.suffix)
        print(json.dumps({"wall": wall, "cpu": cpu}))
        return
    rivals = installed_rivals(options.rival)
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder), options.suffix)
        workshop.copy(options.tree)
        for text in _table(workshop, rivals, options.only or names, options):
            print(text, flush=True)


def _table(
    workshop: Workshop, rivals: Sequence[Rival], wanted: Sequence[str], options: Namespace
) -> Iterator[str]:
    """Yield the lines of the table, each row's when it was measured."""
    _configure_all(workshop)
    yield f"{'':46}{'wall':>10}{'CPU':>10}{'memory':>10}"
    for name, row in ROWS.items():
        if name in wanted:
            yield from _measure_row(workshop, row, rivals, options.rounds)
    if EDIT in wanted:
        command = [sys.executable, "-m", "simulation", "instant", str(workshop.tree)]
        command += ["--suffix", workshop.suffix, "--here"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        yield line("a question in one process, after an edit", Cost(**json.loads(done.stdout)))
    if "many" in wanted:
        yield from _measure_many(workshop, options.many)
    yield from sorted({f"{rival.name}: {rival.note}" for rival in rivals if rival.note})


def edit_here(tree: Path, suffix: str) -> tuple[float, float]:
    """Return the median seconds and CPU seconds of a question asked again, in this process, after an edit."""
    _ask(tree)
    files = sorted(path for path in tree.rglob(f"*{suffix}") if path.is_file())
    walls, cpus = [], []
    for edit in range(_EDITS):
        path = files[edit * len(files) // _EDITS]
        path.write_bytes(path.read_bytes() + b"\n" * (edit + 1))
        start, cpu = time.perf_counter(), sum(os.times()[:4])
        _ask(tree)
        walls.append(time.perf_counter() - start)
        cpus.append(sum(os.times()[:4]) - cpu)
    return statistics.median(walls), statistics.median(cpus)


def _ask(tree: Path) -> None:
    Ours().make(tree, Ask(TASK[1]), _BUDGET)


def _configure_all(workshop: Workshop) -> None:
    for kind in ("full", "full-quiet", "stats", "task"):
        workshop.configure(kind, '"**/*"')
    skeletons = f'{{path = "**/*{workshop.suffix}", view_mode = "skeleton"}}'
    workshop.configure("skeletons", skeletons)
    small = workshop.root / "small"
    small.mkdir()
    by_size = sorted(workshop.editable, key=lambda path: path.stat().st_size)
    shutil.copy2(by_size[len(by_size) // 2], small / f"one{workshop.suffix}")
    workshop.configure("one", f'"one{workshop.suffix}"', "small")


def _measure_row(
    workshop: Workshop, row: Row, rivals: Sequence[Rival], rounds: int
) -> Iterator[str]:
    tree = workshop.root / row.tree
    jobs = [workshop.ours(row.kind, state, *row.arguments) for state in row.states]
    taking_part: list[Rival] = []
    compares_texts = row.job in (FULL, QUIET) and row.arguments[0] == "run"
    if compares_texts:
        try_once(jobs[0])
        output = max((workshop.root / "out" / row.kind).glob("*.md"))
        yield _shows("ours", row, tree, output)
    for rival in rivals:
        if row.job not in rival.commands:
            continue
        theirs = [
            workshop.rival(rival, row.job, state, tree)
            for state in row.states
            if state in _RIVALS_IN
        ]
        try:
            try_once(theirs[0])
        except (FailedJobError, OSError) as error:
            yield f"{row.title}: without {rival.name}: {error}"
            continue
        if compares_texts:
            yield _shows(rival.name, row, tree, workshop.rival_output(rival))
        taking_part.append(rival)
        jobs += theirs
    costs = compare(jobs, rounds)
    for state in row.states:
        ours = costs[f"ours {state}"]
        yield line(f"{row.title}, {state}", ours)
        for rival in taking_part:
            # They keep nothing: a run of theirs that nothing has changed before is a cold one.
            theirs_cost = costs.get(f"{rival.name} {state}") or costs[f"{rival.name} {COLD}"]
            yield ratio(f"  / {rival.name}", ours, theirs_cost)


def _shows(name: str, row: Row, tree: Path, output: Path) -> str:
    if not output.exists():
        return f"{row.title}: {name} writes no text"
    shown, total = count_shown(tree, output)
    return f"{row.title}: {name} shows {shown:,} of {total:,} text files whole"


def _measure_many(workshop: Workshop, number: int) -> Iterator[str]:
    """Skeletons of many files, made from the tree's own, each with a line that no other has; one round."""
    costs: dict[int, dict[str, Cost]] = {}
    for files in (number // _FEWER, number):
        kind = f"many-{files}"
        copy_many(workshop.editable, workshop.root / kind, files)
        paths = f'{{path = "**/*{workshop.suffix}", view_mode = "skeleton"}}'
        workshop.configure(kind, paths, kind)
        for what, arguments in (("a prompt for a task", TASK), ("skeletons", ())):
            jobs = [workshop.ours(kind, state, "run", *arguments) for state in (COLD, WARM)]
            costs[files] = compare(jobs, 1)
            for state in (COLD, WARM):
                cost = costs[files][f"ours {state}"]
                yield line(f"{what} of {files:,} files, {state}", cost)
    fewer, many = (costs[files]["ours cold"].cpu / files for files in (number // _FEWER, number))
    yield f"{'  CPU for a file / with a tenth as many':46}{'':10}{many / fewer:>10.2f}"
