"""What a run leaves where the system ends it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

WRITING = """
import signal, sys, time
from pathlib import Path
from aggregate.cli.output import orderly_termination
from aggregate.prompt.numbered_output import write_numbered
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may ignore it
def pieces():
    yield b"begun"
    print("writing", flush=True)
    time.sleep(60)
with orderly_termination():
    write_numbered(Path(sys.argv[1]), "demo", pieces())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has other signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_prompt_half_written_is_removed(number: int, tmp_path: Path) -> None:
    """At SIGTERM and SIGHUP no temporary file stays in the output folder, no number is taken, and nothing is said."""
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as process:
        assert process.stdout
        assert process.stdout.readline() == b"writing\n"
        assert len([*tmp_path.iterdir()]) == 1
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + number, b"")
    assert [*tmp_path.iterdir()] == []
