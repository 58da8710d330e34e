"""The manual page."""

import shutil
import subprocess
from pathlib import Path

import pytest
from docs_build.man_page import man_page

from aggregate.cli.commands import COMMANDS

PAGE = Path(__file__).parents[2] / "docs/aggregate.1"


def test_the_manual_page_is_that_of_the_commands() -> None:
    """The page in the repository is what the commands' help makes; python -m docs_build.man_page writes it."""
    assert PAGE.read_text(encoding="utf-8") == man_page()
    for name in COMMANDS:
        assert f'.SS "aggregate {name}"' in man_page()


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
def test_the_manual_page_has_no_fault() -> None:
    """Groff shows it without a warning."""
    done = subprocess.run(["groff", "-man", "-Tascii", "-ww", str(PAGE)], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"--budget" in done.stdout
