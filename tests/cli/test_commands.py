"""The table of commands."""

import pytest

from aggregate.cli.commands import COMMANDS, load


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_commands_say(name: str) -> None:
    """Each command exists under its name, and its own help begins with what the list says of it."""
    command = load(name)
    assert command.name == name
    assert command.get_short_help_str(1_000) == COMMANDS[name][1]
