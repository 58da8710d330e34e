"""What a first, a second and a small further run cost, beside other programs on the same files.

``python -m simulation.instant TREE`` copies the folder and measures each row in processes of their own, in turns, as
the median of the rounds: cold with an empty cache, warm with the one that the run before left, edited after one file of
the copy was changed. Other programs are measured where they are installed or named with ``--rival``; ratios are ours
divided by theirs, so less than 1 means that ours takes less. Machines are shared and noisy: quote the ratios.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from simulation.in_process import FIGURES, measure_here, print_figure
from simulation.processes import Cost, FailedJobError, Job, compare, try_once
from simulation.rivals import (
    FULL,
    QUIET,
    SKELETONS,
    Rival,
    command_of,
    count_shown,
    installed_rivals,
)

ROUNDS = 3
MANY = 100_000
_PER_FOLDER = 1_000
_FEWER = 10
"""How many times fewer files the other tree of the row on many files has: equal cost per file is linear."""
COLD, WARM, EDITED = "cold", "warm", "one file edited"
_RIVALS_IN = (COLD, EDITED)


@dataclass(slots=True)
class Workshop:
    """The copy of a tree, and everything that the measured programs read and write.

    Attributes:
        root: A folder of our own.
        suffix: Of the files that skeletons are made of.
        edits: How many files were changed.
    """

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
        line = (
            f"edited_{self.edits} = {self.edits}\n" if self.suffix == ".py" else "\n" * self.edits
        )
        path.write_bytes(path.read_bytes() + line.encode())

    def ours(self, kind: str, state: str, *arguments: str) -> Job:
        """Return our program on the configuration ``kind``, with a cache and an output folder of its own."""
        cache, output = self.root / "cache" / kind, self.root / "out" / kind

        def before() -> None:
            if state == COLD:
                for folder in (cache, output):
                    shutil.rmtree(folder, ignore_errors=True)
            if state == EDITED:
                self.edit()

        command, *options = arguments
        config = self.root / f"{kind}.toml"
        return Job(
            f"ours {state}",
            [sys.executable, "-m", "aggregate", command, "-c", str(config), *options],
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
        (self.root / f"{kind}.toml").write_text(
            f'[project]\nname = "benchmark"\n[files]\nbase_dir = "{base_dir}"\npaths = [{paths}]\n'
            'generated = "full"\n'  # rivals show generated files too
            f'[output]\noutput_dir = "out/{kind}"\n',
            encoding="utf-8",
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One job of the table.

    Attributes:
        title: What is done.
        kind: Our configuration.
        arguments: Our command and its options.
        states: In the order in which they are measured.
        job: What rivals are asked for, ``""`` for none.
        tree: What they are pointed at, below the workshop.
    """

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
    "stats": Row("stats of everything", "stats", ("stats",)),
}


def main() -> None:
    """Measure the rows that are asked for, or one figure in this process."""
    parser = argparse.ArgumentParser(prog="python -m simulation.instant", description=__doc__)
    parser.add_argument("tree", type=Path, help="a folder with source files")
    parser.add_argument("--suffix", default=".py", help="of the files for skeletons (.py)")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--only",
        action="append",
        choices=[*ROWS, "structure", *FIGURES, "many"],
        help="measure this row; repeatable",
    )
    parser.add_argument(
        "--rival",
        action="append",
        default=[],
        metavar="NAME[:JOB]=COMMAND",
        help=f"another program; JOB is {FULL} (default), {QUIET} or {SKELETONS}; {{tree}}, {{output}}, {{suffix}} and "
        "{extension} are filled in",
    )
    parser.add_argument("--many", type=int, default=MANY, help=f"files of the last row ({MANY:,})")
    parser.add_argument("--here", choices=FIGURES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print_figure(options.here, options.tree, options.suffix)
        return
    rivals = installed_rivals(options.rival)
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder), options.suffix)
        workshop.copy(options.tree)
        for line in _table(workshop, rivals, options):
            print(line, flush=True)


def _table(
    workshop: Workshop, rivals: Sequence[Rival], options: argparse.Namespace
) -> Iterator[str]:
    """Yield the lines of the table, each row's when it was measured."""
    _configure_all(workshop)
    wanted = options.only or [*ROWS, "structure", *FIGURES, "many"]
    yield f"{'':46}{'wall':>10}{'CPU':>10}{'memory':>10}"
    for name, row in ROWS.items():
        if name in wanted:
            yield from _measure_row(workshop, row, rivals, options.rounds)
    if "structure" in wanted:
        yield from _measure_structure(workshop, options.rounds)
    for name, figure in FIGURES.items():
        if name in wanted:
            yield f"{figure.title:46}{measure_here(name, workshop.tree, workshop.suffix)}"
    if "many" in wanted and options.many:
        yield from _measure_many(workshop, options.many)
    notes = {f"{rival.name}: {rival.note}" for rival in rivals if rival.note}
    yield from sorted(notes)


def _configure_all(workshop: Workshop) -> None:
    structure = '{{path = "**/*{}", view_mode = "{}"}}'
    for kind in ("full", "full-quiet", "stats"):
        workshop.configure(kind, '"**/*"')
    workshop.configure("skeletons", structure.format(workshop.suffix, "skeleton"))
    workshop.configure("skeletons-quiet", structure.format(workshop.suffix, "skeleton"))
    workshop.configure("outlines-quiet", structure.format(workshop.suffix, "outline"))
    small = workshop.root / "small"
    small.mkdir()
    median = sorted(workshop.editable, key=lambda path: path.stat().st_size)
    shutil.copy2(median[len(median) // 2], small / f"one{workshop.suffix}")
    workshop.configure("one", f'"one{workshop.suffix}"', "small")


def _measure_row(
    workshop: Workshop, row: Row, rivals: Sequence[Rival], rounds: int
) -> Iterator[str]:
    tree = workshop.root / row.tree
    jobs = [workshop.ours(row.kind, state, *row.arguments) for state in row.states]
    taking_part: list[Rival] = []
    if row.job in (FULL, QUIET):
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
        if row.job in (FULL, QUIET):
            yield _shows(rival.name, row, tree, workshop.rival_output(rival))
        taking_part.append(rival)
        jobs += theirs
    costs = compare(jobs, rounds)
    for state in row.states:
        ours = costs[f"ours {state}"]
        yield _line(f"{row.title}, {state}", ours)
        for rival in taking_part:
            if theirs_cost := costs.get(f"{rival.name} {state}"):
                yield _ratio(f"  / {rival.name}", ours, theirs_cost)


def _shows(name: str, row: Row, tree: Path, output: Path) -> str:
    if not output.exists():
        return f"{row.title}: {name} writes no text"
    shown, total = count_shown(tree, output)
    return f"{row.title}: {name} shows {shown:,} of {total:,} text files whole"


def _measure_structure(workshop: Workshop, rounds: int) -> Iterator[str]:
    """Skeletons and outlines without counts against each other, and against nothing but parsing the same files."""
    skeletons, outlines = (
        replace(workshop.ours(f"{name}-quiet", COLD, "run", "-q"), name=name)
        for name in ("skeletons", "outlines")
    )
    costs = compare([skeletons, outlines], rounds)
    yield _line("skeletons, no counts, cold", costs["skeletons"])
    yield _line("outlines, no counts, cold", costs["outlines"])
    yield _ratio("  / skeletons", costs["outlines"], costs["skeletons"])
    parse = measure_here("bare_parse", workshop.tree, workshop.suffix)
    yield _ratio("skeletons, no counts, cold / a bare parse", costs["skeletons"], parse.cost)


def _measure_many(workshop: Workshop, number: int) -> Iterator[str]:
    """Skeletons of many files, made from the tree's own, each with a line that no other has; one round."""
    costs: dict[int, dict[str, Cost]] = {}
    for files in (number // _FEWER, number):
        kind = f"many-{files}"
        _copy_many(workshop.editable, workshop.root / kind, files, workshop.suffix)
        paths = f'{{path = "**/*{workshop.suffix}", view_mode = "skeleton"}}'
        workshop.configure(kind, paths, kind)
        jobs = [workshop.ours(kind, state, "run") for state in (COLD, WARM)]
        costs[files] = compare(jobs, 1)
        for state in (COLD, WARM):
            yield _line(f"skeletons of {files:,} files, {state}", costs[files][f"ours {state}"])
    fewer, many = (costs[files]["ours cold"].cpu / files for files in (number // _FEWER, number))
    yield f"{'  CPU for a file / with a tenth as many':46}{'':10}{many / fewer:>10.2f}"


def _copy_many(files: Sequence[Path], target: Path, number: int, suffix: str) -> None:
    comment = "#" if suffix in (".py", ".rb", ".sh") else "//"
    for place in range(number):
        source = files[place % len(files)]
        folder = target / f"{place // _PER_FOLDER:04d}"
        if place % _PER_FOLDER == 0:
            folder.mkdir(parents=True)
        copy = folder / f"{place:06d}{suffix}"
        copy.write_bytes(source.read_bytes() + f"\n{comment} copy {place}\n".encode())
        shutil.copystat(source, copy)


def _line(title: str, cost: Cost) -> str:
    return f"{title:46}{cost.wall:>8.2f} s{cost.cpu:>8.2f} s{cost.peak_mb:>7.0f} MB"


def _ratio(title: str, ours: Cost, other: Cost) -> str:
    memory = f"{ours.peak_mb / other.peak_mb:>10.2f}" if other.peak_mb else ""
    return f"{title:46}{ours.wall / other.wall:>10.2f}{ours.cpu / other.cpu:>10.2f}{memory}"


if __name__ == "__main__":
    main()
