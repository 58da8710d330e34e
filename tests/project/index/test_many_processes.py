"""Many processes on one index, killed at any moment."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from simulation.index_kills import kill_loop, share, use_once

from tests.project.index.samples import VIEW, fill, key, opened, payload, place

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")


def trouble(told: Counter[str]) -> list[str]:
    """Return wrong bytes, failed processes and warnings."""
    return [what for what in told if what.startswith(("wrong", "ended with 1", "warning"))]


@pytest.mark.parametrize(
    "kills", [5, pytest.param(400, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_a_kill_harms_nothing(tmp_path: Path, kills: int) -> None:
    """After a kill at any time the others read correct data without a warning (rule I-2)."""
    told = kill_loop(tmp_path, kills)
    assert trouble(told) == []
    assert told["killed"] == kills
    assert told["read"] > 0
    told = Counter(use_once(tmp_path / "cache", random.Random(1)))
    assert trouble(told) == []


@pytest.mark.slow
@pytest.mark.parametrize("kills", [12, 400])
def test_kills_and_damage_show_nothing_wrong(tmp_path: Path, kills: int) -> None:
    """The same while the index is cleared, deleted and damaged; the next run has a whole one (rule I-2)."""
    told = kill_loop(tmp_path, kills, disturbs=True)
    assert [what for what in trouble(told) if not what.startswith("warning")] == []
    # A file that is cut while it is read can also look as if the disk had failed.
    known = ("the index is rebuilt", "nothing is cached for the next run")
    assert [what for what in trouble(told) if not any(part in what for part in known)] == []
    # Damage is met where it is read, so that it can take some runs until all of it was.
    for _ in range(6):
        told = Counter(use_once(tmp_path / "cache", random.Random(1)))
    assert trouble(told) == []
    assert told["read"] > 0


def test_one_process_opens_it_twice(tmp_path: Path) -> None:
    """An index still works after its process opened and closed the same file again (I-2)."""
    fill(tmp_path)
    with opened(tmp_path) as first:
        assert first.get_many(VIEW, [key(1)]) == [payload(1)]
        with opened(tmp_path) as second:
            assert second.get_many(VIEW, [key(1)]) == [payload(1)]
        another = (
            "import sys; from tests.project.index.samples import *; from pathlib import Path\n"
        )
        another += "with opened(Path(sys.argv[1])) as index:\n"
        another += "    index.put_many(VIEW, [(key(100), payload(100))]); index.flush()"
        subprocess.run([sys.executable, "-c", another, str(tmp_path)], check=True)
        # What is open here writes to this log: who deletes it takes that for closed.
        assert place(tmp_path).with_name("index.sqlite-wal").exists()
        first.put_many(VIEW, [(key(101), payload(101))])
        first.flush()
        assert first.warning == ""
    with opened(tmp_path) as index:
        assert index.get_many(VIEW, [key(100), key(101)]) == [payload(100), payload(101)]


@pytest.mark.parametrize(
    "processes", [6, pytest.param(200, marks=pytest.mark.slow)], ids=["some", "two hundred"]
)
def test_processes_share_it(tmp_path: Path, processes: int) -> None:
    """Processes starting together create one index, without error or warning (rule I-2)."""
    told = share(tmp_path, processes)
    assert trouble(told) == []
    assert told["ended with 0"] == processes
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["aggregate-index"]
