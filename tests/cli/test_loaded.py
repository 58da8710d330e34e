"""The process that runs commands for other tests."""

import os
from pathlib import Path

import pytest

from tests.cli.command_line import program_environment
from tests.cli.loaded import Loaded


def test_a_late_answer_is_not_taken_for_the_next_commands(tmp_path: Path) -> None:
    """A command that hangs is killed with the process that runs it, and the next one gets its own exit code."""
    process = Loaded((), program_environment(tmp_path))
    waiting, forever = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)

    def run(stdin: int, *arguments: str, seconds: float = 60) -> int:
        process.seconds = seconds
        environment = program_environment(tmp_path)
        with process.running(tmp_path, [*arguments], environment, [stdin, nothing, nothing]) as one:
            return one.wait()

    assert run(nothing, "--version") == 0
    with pytest.raises(TimeoutError):
        run(waiting, "run", "--task", "-", seconds=0.5)
    assert run(nothing, "run", "--no-such-option") == 2
    assert run(nothing, "--version") == 0
    process.close()
    for descriptor in (waiting, forever, nothing):
        os.close(descriptor)
