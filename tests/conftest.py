"""Settings of all tests."""

import gc
import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Modules are compiled once, not again in each worker and in each of the many processes that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell starts what it puts into the background with SIGINT ignored, and so would be each program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test is timed: machines are shared, and the first example often loads a vocabulary or a grammar. The default run
# draws the same examples each time, so that it fails for a change and not by chance; --hypothesis-profile explore
# draws new ones, and many more.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("explore", deadline=None, max_examples=400)
settings.load_profile("steady")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: a third of a run's time is waiting for processes, limits and clocks."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Let no collection of garbage look again at what stays to the end: all tests and what they have imported."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests read and leave in the user's folders apart from the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGGREGATE_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        patch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield
