"""The audit of what is installed, run as a script."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "audit"
SOUND = {"name": "a", "version": "1", "vulns": []}
FAULTY = {"name": "b", "version": "2", "vulns": [{"id": "F-1"}, {"id": "F-2"}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("packages", "usual", "release", "said"),
    [
        ([SOUND, UNKNOWN], 0, 0, "1 of 2 packages looked up, 0 with known faults"),
        ([SOUND, FAULTY], 1, 1, "b 2: F-1, F-2"),
        ([UNKNOWN, UNKNOWN], 0, 1, "the index knows none of 2 packages"),
        ([], 0, 1, "the index knows none of 0 packages"),
        (None, 0, 1, "the index is out of reach"),
    ],
)
def test_a_release_needs_an_audit_that_took_place(
    tmp_path: Path, packages: list[object] | None, usual: int, release: int, said: str
) -> None:
    """Known faults fail always; that nothing was looked up is said, and fails before a release."""
    answer = json.dumps({"dependencies": packages})
    program = "raise SystemExit('the index is out of reach')"
    (tmp_path / "pip_audit.py").write_text(program if packages is None else f"print({answer!r})")
    for arguments, code in (((), usual), (("--release",), release)):
        done = subprocess.run(
            [sys.executable, SCRIPT, *arguments],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (code, "")
        assert said in done.stdout
        assert ("looked up, 0" in done.stdout) == (packages == [SOUND, UNKNOWN])
