"""``python -m simulation NAME``: how a simulation is run by its name."""

import subprocess
import sys

RUN = """
import pickle, sys
from simulation.__main__ import main
sys.argv = ["simulation", "track_kills", "0"]
try:
    main()
except SystemExit as end:
    assert not end.code
pickle.dumps(sys.modules["simulation.track_kills"].DecidingWorker)
"""


def test_a_simulation_that_starts_processes() -> None:
    """It runs under its own name, so that what it hands to processes can be found there again."""
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, timeout=60)
    assert (done.stderr, done.returncode) == ("", 0)
