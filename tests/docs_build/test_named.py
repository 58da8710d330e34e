"""What pages name besides their examples: commands, configurations and measurements that there are."""

import re
import shlex
import tomllib
from collections.abc import Iterator

import click
from docs_build.examples import blocks_of
from simulation.__main__ import simulations

import aggregate
from aggregate.cli.program import program
from tests.docs_build.pages import PAGES, ROOT

ELSEWHERE = frozenset({"mcp_servers", "tickets"})
"""Tables of other files than the configuration: another program's, and a track's."""


def test_python_that_is_not_run_is_at_least_python() -> None:
    """Each block of Python on any page compiles."""
    for page in PAGES:
        for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
            if block.kind == "python":
                compile("\n".join(block.lines), f"{page}:{block.first}", "exec")


def test_configurations_that_pages_show_are_taken() -> None:
    """Each block of TOML on any page can be read, and one that is a configuration has no key that would be refused."""
    for page in PAGES:
        for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
            if block.kind == "toml":
                tables = tomllib.loads("\n".join(block.lines))
                if not ELSEWHERE & set(tables):
                    aggregate.open_project(tables)


def test_commands_that_pages_name_exist() -> None:
    """Each command on any page, in its text and in lists for a reader's own project, has the options it is shown with."""
    told = [
        f"{page}: {call}: there is no {word}"
        for page in PAGES
        for call in sorted(_calls((ROOT / page).read_text(encoding="utf-8")))
        for word in _unknown_options(call)
    ]
    assert told == []


def test_pages_can_be_followed_one_after_another() -> None:
    """A page that works on the example project begins in the clone with a fresh copy, wherever the last page ended.

    Only the two that a reader meets first do not: nothing is there to be deleted yet.
    """
    copy = "$ cp -r docs/examples/ferry ~/ferry"
    fresh = f"$ cd ~/manual-slop\n$ rm -rf ~/ferry\n{copy}"
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    assert [page for page, text in texts.items() if copy in text and fresh not in text] == [
        "docs/index.md",
        "README.md",
    ]


def test_measurements_that_pages_name_exist() -> None:
    """Each benchmark by which a page says that its figures can be measured again is there, and the table has all."""
    known = set(simulations())
    for page in PAGES:
        named = re.findall(r"python -m simulation (\w+)", (ROOT / page).read_text(encoding="utf-8"))
        assert set(named) <= known, page
    rows = (ROOT / "simulation/README.md").read_text(encoding="utf-8").split("\n| `")[1:]
    cells = " ".join(row.split(" | ")[0] for row in rows)
    assert set(re.findall(r"[a-z_]+", cells)) >= known


def _calls(text: str) -> set[str]:
    """Return what a page says in one line, or between backticks, that begins with the program's name."""
    listed = [line for block in blocks_of(text) if block.kind == "sh" for line in block.lines]
    spans = re.findall(r"`(aggregate [^`\n]+)`", text)
    return {line.split("#")[0] for line in [*listed, *spans] if line.startswith("aggregate ")}


def _unknown_options(call: str) -> Iterator[str]:
    """Yield the options of a call that its command does not have; without a command it is that of ``run``."""
    words = shlex.split(call.split("|")[0])[1:]
    context = click.Context(program, **program.context_settings)
    command: click.Command = program
    while isinstance(command, click.Group) and words and words[0] in command.list_commands(context):
        command = command.get_command(context, words.pop(0)) or command
    if command is program:
        command = program.get_command(context, "run") or program
    known = {"--help"}.union(*(each.opts + each.secondary_opts for each in command.params))
    options = (word.split("=")[0] for word in words if word.startswith("-") and len(word) > 1)
    yield from (option for option in options if option not in known)
