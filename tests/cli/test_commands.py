"""The tables of commands."""

import subprocess
import sys

import pytest

from aggregate.cli.program import COMMANDS, CONDUCT, Row, load


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
