"""A run of which nothing has changed is repeated; whatever has changed, it tells and writes what a first run would."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.command_line import begin

CONFIG = '[project]\nname = "demo"\n[files]\nbase_dir = "{}"\npaths = ["**/*"]\n[output]\noutput_dir = "out"\n'
# What is younger proves nothing: clocks of file systems tick in steps of up to two seconds.
AGED_SECONDS = 2.1


class Told(NamedTuple):
    code: int
    out: bytes
    err: bytes
    written: dict[str, bytes]


class Case(NamedTuple):
    """What a project has besides two files, what is run ``before``, and what happens to it between two runs."""

    changes: Callable[[Path], object]
    has: Callable[[Path], object] = lambda _: None
    command: tuple[str, ...] = ("run",)
    base: str = "."
    has_git: bool = True
    before: tuple[str, ...] = ()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def git(project: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=project, check=True)


def edit(name: str, text: str = "edited = 1\n") -> Callable[[Path], object]:
    return lambda project: write(project / name, text)


def moved_behind_a_link(project: Path) -> None:
    (project / "lib").rename(project.parent / "moved")
    (project / "lib").symlink_to(project.parent / "moved")


def pipe_to_file(project: Path) -> None:
    (project / "pipe.py").unlink()
    write(project / "pipe.py", "piped = 1\n")


def edited_without_record(project: Path) -> None:
    write(project / "a.py", "edited = 1\n")
    for record in (project / "out").glob(".*.chain.json"):
        record.unlink()


def with_rules_behind_a_link(project: Path) -> None:
    write(project / "rules", "build/\n")
    write(project / "build" / "a.py", "a = 1\n")
    (project / ".gitignore").symlink_to("rules")


def with_dangling_link(project: Path) -> None:
    write(project / ".gitignore", "/build/\n")
    write(project / "build" / "a.py", "")
    (project / "link.py").symlink_to("build/made.py")


def with_added_name(project: Path) -> None:
    run(project, ("run",), "other")
    write(project / "line\nbreak.txt", "text\n")


def with_ignored_file(project: Path) -> None:
    write(project / ".gitignore", "*.log\n")
    write(project / "kept.log", "log\n")
    git(project, "add", "a.py")


def with_setting(name: str, value: str) -> Callable[[Path], object]:
    def has(project: Path) -> None:
        write(project / "rules", "nothing\n")
        git(project, "config", name, value)

    return has


def edited_unseen(project: Path) -> None:
    path = project / "lib" / "b.py"
    info = path.stat()
    write(path, path.read_text().replace("class B", "class C"))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def saved_by_rename(project: Path) -> None:
    write(project / "a.py~", "saved = 1\n")
    (project / "a.py~").replace(project / "a.py")


def spoilt_prompt(project: Path) -> None:
    path = project / "out" / "demo_001.md"
    write(path, path.read_text().replace("class B", "class C"))


CASES = {
    "nothing": Case(lambda _: None),
    "nothing after an odd name was added": Case(lambda _: None, with_added_name),
    "nothing but prompts": Case(lambda _: None, base="out"),
    "a new file at the top": Case(edit("new.py")),
    "a new file below": Case(edit("lib/new.py")),
    "an edited file": Case(edit("lib/b.py")),
    "an edit that left size and time": Case(edited_unseen),
    "a file saved by rename": Case(saved_by_rename),
    "another setting": Case(lambda p: write(p / "manual_slop.toml", CONFIG.format("lib"))),
    "a discussion": Case(edit("history.toml", 'history = ["User: why?"]\n'), base="lib"),
    "the last prompt": Case(spoilt_prompt),
    "an edited file and no record": Case(edited_without_record),
    "rules that are shown": Case(edit(".gitignore", "a.py\n"), edit(".gitignore", "none\n")),
    "attributes that are shown": Case(
        edit("lib/.gitattributes", "b.py linguist-generated\n"), edit("lib/.gitattributes", "none linguist-generated\n")
    ),
    "a folder that becomes a link": Case(moved_behind_a_link, base="lib", has_git=False),
    "a folder above that becomes a link": Case(moved_behind_a_link, base="lib/deep", has_git=False),
    "an ignored file that is added": Case(lambda p: git(p, "add", "-f", "kept.log"), with_ignored_file),
    "an included setting": Case(
        edit("../inc", "[core]\nexcludesFile = ../rules\n"), with_setting("include.path", "../../inc")
    ),
    "named rules from below": Case(
        edit("rules", "b.py\n"), with_setting("core.excludesFile", "rules"), base="lib"
    ),
    "named rules that are shown": Case(edit("rules", "b.py\n"), with_setting("core.excludesFile", "rules")),
    "a folder that only rules behind a link name": Case(edit("build/new.py"), with_rules_behind_a_link),
    "the target of a dangling link": Case(edit("build/made.py"), with_dangling_link),
    "a pipe that becomes a file": Case(pipe_to_file, lambda p: os.mkfifo(p / "pipe.py"), has_git=False),
    "a task beside the prompts": Case(
        edit("out/demo_001.reply.md", "What does deep do?\n"),
        edit("out/demo_001.reply.md", "What does a do?\n"),
        ("run", "--task", "@out/demo_001.reply.md", "--budget", "2k"),
        has_git=False,
    ),
    "statistics": Case(edit("lib/new.py"), command=("stats",)),
    "a new file after other words": Case(edit("lib/deep/new.py"), command=("stats",), before=("run",)),
    "rules after other words": Case(edit("lib/.gitignore", "b.py\n"), before=("stats",)),
    "an edited file after other words": Case(
        edit("lib/b.py"), command=("run", "--task", "class B", "--budget", "2k"), before=("run",)
    ),
}  # fmt: skip


def run(project: Path, command: tuple[str, ...], cache: str) -> Told:
    before = {*(project / "out").glob("*")}
    home = str(project / "../home")
    with begin(
        project,
        *command,
        HOME=home,
        XDG_CONFIG_HOME=home,
        GIT_CONFIG_NOSYSTEM="1",
        AGGREGATE_CACHE_DIR=str(project.parent / cache),
    ) as begun:
        out, err = begun.out.read(), begun.err.read()
        code = begun.command.wait()
    new = {*(project / "out").iterdir()} - before
    return Told(code, out, err, {path.name: path.read_bytes() for path in new})


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """One project for each case, and one of the first case in memory, all of them old enough; each has run once."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as in_memory:
        made = {name: tmp_path_factory.mktemp("case") / "project" for name in CASES}
        made["in memory"] = Path(in_memory) / "project"
        for name, project in made.items():
            case = CASES.get(name, CASES["nothing"])
            for folder in ("project/out", "home", "cache/aggregate-index"):
                (project.parent / folder).mkdir(parents=True)
            write(project / "manual_slop.toml", CONFIG.format(case.base))
            write(project / "a.py", "def a():\n    return 1\n")
            write(project / "lib" / "b.py", "class B:\n    pass\n")
            write(project / "lib" / "deep" / "c.txt", "c\n")
            if case.has_git:
                git(project, "init", "-q")
            case.has(project)
        time.sleep(AGED_SECONDS)
        for name, project in made.items():
            case = CASES.get(name, CASES["nothing"])
            for command in filter(None, (case.before, case.command)):
                run(project, command, "cache")
        yield made


def kept(project: Path) -> list[tuple[str, int]]:
    """Return what is kept of runs; whatever goes the long way replaces it."""
    runs = (project.parent / "cache" / "aggregate-index").glob("run-*")
    return [(path.name, path.stat().st_ino) for path in runs]


def warm_and_cold(project: Path, command: tuple[str, ...]) -> tuple[Told, Told]:
    warm = run(project, command, "cache")
    for name in warm.written:
        (project / "out" / name).unlink()
    return warm, run(project, command, "empty")


@pytest.mark.parametrize("name", CASES)
def test_what_changes_between_two_runs_counts(name: str, projects: dict[str, Path]) -> None:
    """A run that is remembered tells and writes what one without a cache does, whatever happened in between."""
    project, case = projects[name], CASES[name]
    assert kept(project)
    case.changes(project)
    warm, cold = warm_and_cold(project, case.command)
    assert warm == cold
    assert warm.code == 0


def test_a_run_is_repeated_until_something_changes(projects: dict[str, Path]) -> None:
    """Nothing is kept anew where nothing has changed; a project in memory is one like any other."""
    project = projects["in memory"]
    before = kept(project)
    assert before
    run(project, ("run",), "cache")
    assert kept(project) == before
    write(project / "a.py", "edited = 1\n")
    warm, cold = warm_and_cold(project, ("run",))
    assert warm == cold
    assert b"edited = 1" in warm.written["demo_003.md"]


def test_the_second_run_in_a_new_output_folder_is_a_repetition(tmp_path: Path) -> None:
    """The ignore file that the first run writes changes nothing until somebody edits it (rule M-1)."""
    project = tmp_path / "project"
    write(project / "manual_slop.toml", CONFIG.format("."))
    write(project / "a.py", "def a():\n    return 1\n")
    time.sleep(AGED_SECONDS)
    run(project, ("run",), "cache")
    before = kept(project)
    assert before
    run(project, ("run",), "cache")
    assert kept(project) == before
    write(project / "out" / ".gitignore", "!*\n")
    warm, cold = warm_and_cold(project, ("run",))
    assert warm == cold
    assert b"out/.gitignore" in warm.written["demo_003.md"]


def test_rules_that_only_git_reads_are_no_mistake(tmp_path: Path) -> None:
    """Looking for what to remember a run by meets more rules than are read here, and the run is as good as without."""
    project = tmp_path / "project"
    (project / "out").mkdir(parents=True)
    write(project / "manual_slop.toml", CONFIG.format("."))
    write(project / "lib" / ".gitignore", "".join(f"rule{number}\n" for number in range(60_000)))
    git(project, "init", "-q")
    told = run(project, ("run", "-q"), "cache")
    assert (told.code, told.err) == (0, b"")
