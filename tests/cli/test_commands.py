"""The tables of commands and of what is loaded on first use."""

import ast
import gc
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import aggregate.cli
from aggregate.cli import lazy
from aggregate.cli.commands import COMMANDS, CONDUCT, Row, load

FOLDER = Path(aggregate.cli.__file__).parent


@pytest.mark.parametrize(
    ("name", "table"),
    [(name, table) for table in (COMMANDS, CONDUCT) for name in table],
    ids=lambda value: str(value)[:9],
)
def test_the_table_says_what_the_commands_say(name: str, table: dict[str, Row]) -> None:
    """Each command exists under its name, and its own help begins with what the list says of it."""
    command = load(name, table)
    assert command.name == name
    assert command.get_short_help_str(1_000) == table[name].summary


def test_the_lazy_names_are_those_for_readers() -> None:
    """What type checkers are told of ``lazy`` is what it loads, from the same modules."""
    told: dict[str | None, str | None] = {}
    for node in ast.walk(ast.parse(inspect.getsource(lazy))):
        if isinstance(node, ast.ImportFrom) and node.module not in ("importlib", "typing"):
            told |= {alias.asname: node.module for alias in node.names}
    assert told == lazy.HOMES
    assert all(getattr(lazy, name) for name in lazy.HOMES)
    with pytest.raises(AttributeError, match="has no attribute 'gone'"):
        lazy.gone  # noqa: B018


def test_modules_import_at_their_top() -> None:
    """No function of the command line imports anything: what is loaded late stands in a table."""
    late = []
    for path in FOLDER.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                late += [
                    path.name
                    for node in ast.walk(function)
                    if isinstance(node, ast.Import | ast.ImportFrom)
                ]
    assert late == []


@pytest.mark.parametrize("arguments", [["--help"], ["conduct", "--help"], ["--version"]])
def test_a_list_of_commands_loads_none(arguments: list[str]) -> None:
    """The program's help and that of ``conduct`` come from the tables."""
    modules = {f"aggregate.cli.{row.module}" for row in (*COMMANDS.values(), *CONDUCT.values())}
    heavy = {"pydantic", "rich", "tiktoken", "dbos", "sqlalchemy"} | modules - {
        "aggregate.cli.conduct.group"
    }
    code = (
        "import sys; from aggregate.cli.program import run_program\n"
        f"run_program({arguments}); print('loaded', sorted({heavy} & set(sys.modules)))"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("collects", [True, False])
def test_loading_a_command_leaves_the_collector_as_it_was(collects: bool) -> None:
    """Garbage is looked for behind the loading of a command as before it, whatever the caller has chosen."""
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        load("languages")
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
