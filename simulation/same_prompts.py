"""Whether a change of the program left what its commands write as it was, to the byte.

``python -m simulation same_prompts TREE... --write FOLDER`` runs every kind of prompt in a copy of each tree, with an
empty index and again with the full one, and keeps what was printed and written; with ``--against FOLDER`` that is
compared with what another version kept. The trees must be the same ones, with their histories.
"""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from simulation.trees import git

BUDGETS = ("2k", "8k", "27k")
_LEAST_WORDS = 3
"""Of a commit's message that serves as a task."""
_MOST_LOOKED_AT = "50"
"""Commits of which the task is taken."""
_LAST_TASK = 14
"""The number of the prompt that ``run --json`` writes, which has an audit."""
_VIEWS = ("full", "summary", "skeleton", "outline", "masked", "custom", "none")
_BEAD = (
    '{{"id":"tr-{0}","title":"Bead {0}","status":"{1}","priority":1,'
    '"created_at":"2026-01-0{0}T00:00:00Z","updated_at":"2026-01-0{0}T00:00:00Z"}}\n'
)
_CONFIGURATION = """\
history = ["user: hello", "assistant: hi"]
[project]
execution_mode = "beads"
[files]
paths = [
{}
]
[screenshots]
paths = ["shot.png"]
"""
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000100000001080600000"
    "01f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def main(parser: ArgumentParser) -> None:
    """Run the commands, keep or compare, and print what differs."""
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE", help="a work tree of git")
    parser.add_argument("--write", type=Path, required=True, metavar="FOLDER", help="kept here")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="what was kept before")
    options = parser.parse_args()
    shutil.rmtree(options.write, ignore_errors=True)
    for tree in options.trees:
        record_tree(tree, options.write / tree.name)
    differing = list(_cold_and_warm_differ(options.write))
    if options.against:
        for tree in options.trees:
            differing += _differing(options.write / tree.name, options.against / tree.name)
    kept = sum(1 for path in options.write.rglob("*") if path.is_file())
    print(f"{kept} texts, {len(differing)} differ")
    for name in differing:
        print(f"  {name}")
    sys.exit(bool(differing))


def record_tree(tree: Path, kept: Path) -> None:
    """Run all commands in a copy of ``tree``, cold and warm, and keep what each prints and writes below ``kept``."""
    with tempfile.TemporaryDirectory(prefix="same-", dir="/tmp") as folder:
        work = Path(folder)
        environ = {**os.environ, "AGGREGATE_CACHE_DIR": f"{work}/cache", "HOME": f"{work}/home"}
        for state in ("cold", "warm"):
            project = work / "project" / tree.name
            git(tree, "clone", "-q", "--no-hardlinks", str(tree.resolve()), str(project))
            task = _prepare(project)
            for name, arguments in _commands(project, task):
                _record(project, name, arguments, kept / state, environ)
            shutil.rmtree(project)


def _prepare(project: Path) -> str:
    """Add a configuration, beads, a screenshot and a discussion to the tree; return a task."""
    files = git(project, "ls-files", "-z").decode("utf-8", "replace").rstrip("\0").split("\0")
    globs = {f"**/*{Path(name).suffix}" for name in files if Path(name).suffix}
    entries = [
        f'  {{ path = "{glob}", view_mode = "{_VIEWS[number % len(_VIEWS)]}" }},'
        for number, glob in enumerate(sorted(globs))
    ]
    (project / ".beads").mkdir()
    beads = [_BEAD.format(number, status) for number, status in enumerate(("open", "closed"), 1)]
    (project / ".beads/issues.jsonl").write_text("".join(beads), encoding="utf-8")
    (project / "shot.png").write_bytes(_PIXEL)
    (project / "all.toml").write_text('[files]\npaths = ["**/*"]\n', encoding="utf-8")
    views = _CONFIGURATION.format("\n".join(entries))
    (project / "views.toml").write_text(views, encoding="utf-8")
    for path in project.rglob("*"):
        os.utime(path, ns=(0, 0), follow_symlinks=False)
    log = git(project, "log", "-n", _MOST_LOOKED_AT, "--no-merges", "--format=%B%x00")
    messages = (message.strip() for message in log.decode(errors="replace").split("\0"))
    return next(text for text in messages if len(text.split()) >= _LEAST_WORDS)


def _commands(project: Path, task: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield a name and the arguments of each command."""
    code = max(
        (
            path
            for path in project.rglob("*")
            if path.suffix in {".py", ".go", ".js", ".java", ".h"}
        ),
        key=lambda path: (path.stat().st_size, str(path)),
    )
    largest = code.relative_to(project).as_posix()
    yield "views", ["run", "-c", "views.toml"]
    for strategy in ("full", "summarize"):
        yield f"all-{strategy}", ["run", "-c", "all.toml", "--strategy", strategy]
    yield "tier3", ["run", "-c", "all.toml", "--tier", "3", "--focus", largest]
    yield "scored", ["run", "-c", "all.toml", "--task", task]
    for budget in BUDGETS:
        yield f"task-{budget}", ["run", "--task", task, "--budget", budget]
        yield f"structure-{budget}", ["run", "-c", "views.toml", "--budget", budget]
    yield "focus", ["run", "--task", task, "--budget", "8k", "--focus", f"{largest}:20-40"]
    yield "since", ["run", "--task", task, "--budget", "8k", "--since", "HEAD~2"]
    yield "json", ["run", "-c", "all.toml", "--task", task, "--budget", "8k", "--json"]
    yield "explain", ["explain"]
    yield "explain-json", ["explain", "--json"]
    yield "explain-file", ["explain", "--json", largest]
    for line in (1, 40, 400):
        yield f"locate-{line}", ["locate", f"{_LAST_TASK}:{line}"]
        yield f"locate-file-{line}", ["locate", f"{largest}:{line}"]
    yield "stats", ["stats", "-c", "all.toml"]
    yield "stats-json", ["stats", "-c", "all.toml", "--json"]
    for view in ("summary", "skeleton", "outline"):
        yield f"view-{view}", ["view", largest, "--mode", view]
    send = ["send", "hello", "--provider", "scripted", "-c", "views.toml"]
    yield "send-plan", [*send, "--dry-run"]
    yield "send-plan-json", [*send, "--budget", "8k", "--dry-run", "--json"]
    yield "send", [*send, "--budget", "8k"]
    yield "send-again", [*send, "--budget", "8k"]
    yield "diff", ["diff", "1", "2"]


def _record(
    project: Path, name: str, arguments: Sequence[str], kept: Path, environ: Mapping[str, str]
) -> None:
    """Run one command; keep what it prints, and what it has written in place of what was there before."""
    command = [sys.executable, "-m", "aggregate", *arguments]
    done = subprocess.run(command, cwd=project, env=environ, capture_output=True, check=False)
    folder = kept / name
    folder.mkdir(parents=True)
    text = b"\n".join((b"exit code %d" % done.returncode, done.stdout, done.stderr))
    place = str(project.parent.parent).encode()
    (folder / "printed").write_bytes(text.replace(place, b"/place"))
    output = project / "md_gen"
    for path in sorted(output.glob("*")) + sorted(output.glob(".*")):
        if path.is_file() and path.stat().st_mtime_ns:
            data = path.read_bytes().replace(place, b"/place")
            (folder / path.name.lstrip(".")).write_bytes(data)
            os.utime(path, ns=(0, 0))


def _cold_and_warm_differ(folder: Path) -> Iterator[str]:
    """Yield the names of what is another text once the index knows the files (rule I-1)."""
    for tree in sorted(folder.iterdir()):
        yield from _differing(tree / "warm", tree / "cold")


def _differing(folder: Path, other: Path) -> Iterator[str]:
    """Yield the names of texts that two folders do not both hold, with the same bytes."""
    names = {
        path.relative_to(base).as_posix()
        for base in (folder, other)
        for path in base.rglob("*")
        if path.is_file()
    }
    for name in sorted(names):
        pair = folder / name, other / name
        if not all(path.is_file() for path in pair) or not filecmp.cmp(*pair, shallow=False):
            yield f"{folder}/{name}"
