"""Other programs that write a folder's files into one text: how each is called, and how much each really shows.

A command may hold ``{tree}``, ``{output}``, ``{suffix}`` (with its dot) and ``{extension}`` (without). It is split as a
shell would, but no shell runs it. Each program is asked for everything that it can be asked for: no limit on sizes, no
lists of its own of what to leave out. What a program leaves out all the same is in the table as the number of files
that it shows.
"""

import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FULL, QUIET, SKELETONS = "full", "quiet", "skeletons"
"""The jobs: all files with their tokens counted, the same without counts, and only the structure of some."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A program beside ours."""

    name: str
    commands: Mapping[str, str]
    note: str = ""


KNOWN = (
    Rival(
        "diffctx",
        {
            FULL: "diffctx --no-default-ignores --no-file-size-limit -f md -o {output} {tree}",
            QUIET: "diffctx -q --no-default-ignores --no-file-size-limit -f md -o {output} {tree}",
        },
    ),
    Rival(
        "files-to-prompt", {QUIET: "files-to-prompt --include-hidden --markdown -o {output} {tree}"}
    ),
    Rival(
        "repomix",
        {
            FULL: "repomix --quiet --style markdown --no-default-patterns -o {output} {tree}",
            SKELETONS: "repomix --quiet --style markdown --no-default-patterns --compress"
            " --include **/*{suffix} -o {output} {tree}",
        },
    ),
    Rival(
        "context-builder",
        {
            FULL: "context-builder --token-count --include-lockfiles -d {tree}",
            QUIET: "context-builder --yes --include-lockfiles -d {tree} -o {output}",
        },
        note="it counts in a mode of its own, which writes nothing; the row with counts is that mode alone",
    ),
    Rival(
        "gitingest",
        {FULL: "gitingest --include-gitignored -s 1000000000 -o {output} {tree}"},
        note="it counts tokens only where it can fetch a vocabulary from the network",
    ),
    Rival(
        "yek",
        {QUIET: "yek --no-config --max-size 1000GB --output-name {output} {tree}"},
        note="it leaves out LICENSE, lock files, and folders such as vendor, dist, build and bin",
    ),
)


def installed_rivals(given: Iterable[str] = ()) -> list[Rival]:
    """Return the known rivals that are installed, and those that the user names."""
    named: dict[str, dict[str, str]] = {}
    for text in given:
        left, equals, command = text.partition("=")
        name, _, job = left.partition(":")
        job = job or FULL
        if not equals or "{tree}" not in command or job not in (FULL, QUIET, SKELETONS):
            raise SystemExit(
                f"--rival {text!r}: write NAME=COMMAND or NAME:JOB=COMMAND with {{tree}}, and {{output}} "
                f"where it writes, in the command; JOB is {FULL}, {QUIET} or {SKELETONS}"
            )
        named.setdefault(name, {})[job] = command
    found = [rival for rival in KNOWN if rival.name not in named and shutil.which(rival.name)]
    return [*found, *(Rival(name, commands) for name, commands in named.items())]


def command_of(rival: Rival, job: str, *, tree: Path, output: Path, suffix: str) -> list[str]:
    """Return a rival's command for a job, its program resolved."""
    places = {
        "tree": str(tree),
        "output": str(output),
        "suffix": suffix,
        "extension": suffix.removeprefix("."),
    }
    words = [word.format_map(places) for word in shlex.split(rival.commands[job])]
    return [shutil.which(words[0]) or words[0], *words[1:]]


def count_shown(tree: Path, output: Path) -> tuple[int, int]:
    """Return how many text files of ``tree`` a written prompt shows whole, and how many there are.

    A file counts as shown if each of its lines that is not blank is a line of the output, indented
    or not. Empty and binary files are left out.
    """
    with output.open(encoding="utf-8", errors="replace", newline="\n") as file:
        shown_lines = {hash(line.strip()) for text in file for line in text.splitlines()}
    shown = total = 0
    for path in sorted(tree.rglob("*")):
        lines = _lines(path)
        if not lines:
            continue
        total += 1
        shown += all(hash(line) in shown_lines for line in lines)
    return shown, total


def _lines(path: Path) -> list[str]:
    """Return the lines of a text file that are not blank, stripped; none of anything else."""
    if path.is_symlink() or not path.is_file():
        return []
    data = path.read_bytes()
    if b"\0" in data:
        return []
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return []
    return [line for line in map(str.strip, text.splitlines()) if line]
