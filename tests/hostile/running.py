"""Running one command on a hostile project in this process, with an end to it."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli import command_line
from tests.cli.command_line import Ended

SECONDS = 60  # what hangs has no end at all, and a busy machine takes its time


class Hangs(BaseException):
    """A command took too long; no handler of ours may catch it."""


@contextmanager
def ends() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return

    def late(*_: object) -> None:
        raise Hangs(f"no end within {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def aggregate(*arguments: str | Path) -> Ended:
    """Run ``aggregate ARGUMENTS``; it ends, and whatever happens no traceback is shown."""
    with ends():
        ended = command_line.aggregate(*map(str, arguments))
    assert "Traceback" not in ended.out + ended.err
    return ended


def refused(ended: Ended) -> str:
    assert ended.code in (1, 2)
    lines = [line for line in ended.err.splitlines() if line.startswith("aggregate: ")]
    assert len(lines) == 1
    return lines[0].removeprefix("aggregate: ")


def _bubblewrap_works() -> bool:
    bwrap = shutil.which("bwrap")
    command = [bwrap or "", "--unshare-all", "--ro-bind", "/", "/", "true"]
    return bwrap is not None and subprocess.run(command, capture_output=True).returncode == 0


in_bubblewrap = pytest.mark.skipif(
    not _bubblewrap_works(), reason="bwrap is absent or may not make namespaces"
)
