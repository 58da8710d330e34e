"""Settings of all tests."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from traceback import walk_tb

import pytest
from hypothesis import settings

# Modules are compiled once, not again in each worker and in each of the many processes that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell starts what it puts into the background with SIGINT ignored, and so would be each program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing that collecting makes is garbage, and most of what tests make needs no collector: it took 7 % of their time.
gc.disable()
_FEW_COLLECTIONS = (
    50_000,
    20,
    50,
)  # new objects, and younger collections, from one collection to the next

# No test is timed: machines are shared, and the first example often loads a vocabulary or a grammar. The default run
# draws the same examples each time, so that it fails for a change and not by chance; --hypothesis-profile explore
# draws new ones, and many more.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("explore", deadline=None, max_examples=400)
settings.load_profile("steady")

END = "-----END CERTIFICATE-----\n"


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: a third of a run's time is waiting for processes, limits and clocks."""
    return (os.cpu_count() or 1) + 1


BARE = (
    "tests/prompt/",
    "tests/project/",
    "tests/docs_build/test_examples.py",
    *(
        f"tests/cli/test_{name}.py"
        for name in ("arguments", "init", "loaded", "mistakes", "run", "send")
    ),
)  # what reads and writes projects, in less than a minute


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(BARE):
            item.add_marker(pytest.mark.bare)


def pytest_collection_finish() -> None:
    """Let no collection of garbage look again at what stays to the end: all tests and what they have imported."""
    gc.freeze()
    gc.set_threshold(*_FEW_COLLECTIONS)
    gc.enable()


@contextmanager
def _without_missing_programs() -> Iterator[None]:
    """Skip a test that itself starts a program that is not installed; our own code has to do without."""
    try:
        yield
    except FileNotFoundError as error:
        program = str(error.filename)
        ours = [
            frame
            for frame, _ in walk_tb(error.__traceback__)
            if "/src/aggregate/" in frame.f_code.co_filename
        ]
        if ours or os.sep in program or shutil.which(program):
            raise
        pytest.skip(f"{program} is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    with _without_missing_programs():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with _without_missing_programs():
        yield


@pytest.fixture(autouse=True, scope="session")
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests read and leave in the user's folders apart from the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGGREGATE_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        patch.setenv("AGGREGATE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        config = tmp_path_factory.mktemp("config")
        patch.setenv("XDG_CONFIG_HOME", str(config))
        # A new repository gets no samples of hooks, and a commit starts no second process that would tidy up.
        for name in ("git", "template/hooks", "template/info"):
            (config / name).mkdir(parents=True)
        (config / "git/config").write_text("[maintenance]\nauto = false\n", encoding="utf-8")
        patch.setenv("GIT_TEMPLATE_DIR", str(config / "template"))
        # Each start of a program looks at each folder of PATH: one that is named twice or missing finds nothing.
        folders = filter(os.path.isdir, os.environ["PATH"].split(os.pathsep))
        patch.setenv("PATH", os.pathsep.join(dict.fromkeys(map(os.path.realpath, folders))))
        if find_spec("certifi"):
            # Servers are on this machine: a client that reads one authority instead of 140 is opened 17 ms sooner.
            authorities = import_module("certifi").contents()
            authority = tmp_path_factory.mktemp("tls") / "authority.pem"
            authority.write_text(authorities[: authorities.index(END) + len(END)], encoding="utf-8")
            patch.setenv("SSL_CERT_FILE", str(authority))
        yield
