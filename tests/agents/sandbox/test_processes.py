"""The processes behind the sandboxes: kept warm, replaced, never left behind, and missed with a clear sentence."""

import os
import resource
import subprocess
import sys
import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aggregate import SandboxError
from aggregate.agents.sandbox import SandboxLimits, run_javascript, run_python
from aggregate.base.errors import Stopped


def python(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ran = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=30
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_missing_extra_is_named() -> None:
    """Without the extra a merge fails with the documented value and says what to install, as does analysis.

    Rules: O-9, D-92.
    """
    printed = python(
        """
        import sys
        from aggregate import LabelledOutput, execute_data_analysis, merge_outputs
        sys.modules["pydantic_monty"] = sys.modules["_quickjs"] = None
        for function in ("len(results)", "r => r.length"):
            print(merge_outputs([LabelledOutput("a")], "custom", custom_function=function).errors[0])
        print(execute_data_analysis("result = 1", {}))
        """,
        PATH="",
    )
    assert printed.splitlines() == [
        "Custom merge function failed: Python code needs pydantic-monty: install manual-slop[sandbox]",
        "Custom merge function failed: JavaScript functions need quickjs-ng: install manual-slop[sandbox]",
        "{'success': False, 'error': 'Python code needs pydantic-monty: install manual-slop[sandbox]', 'retry': False}",
    ]


def test_a_forked_child_does_not_answer_for_its_parent() -> None:
    """A forked child starts JavaScript workers of its own; Monty, whose threads do not survive a fork, refuses.

    Pipes with descriptors above 1023 work too. Rules: O-9.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1200 if hard == resource.RLIM_INFINITY else min(1200, hard)
    assert wanted > 1100, "the hard limit of open files is too low for this test"
    printed = python(
        f"""
        import os, resource
        resource.setrlimit(resource.RLIMIT_NOFILE, ({wanted}, {wanted}))
        held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1050)]
        from aggregate.base.errors import SandboxError
        from aggregate.agents.sandbox import run_javascript, run_python
        print(run_javascript("r => r", 1), run_python("1", {{}}).value, flush=True)
        child = os.fork()
        if child == 0:
            print(run_javascript("r => r", 2), flush=True)
            try:
                run_python("2", {{}})
            except SandboxError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(run_javascript("r => r", 3), run_python("3", {{}}).value)
        """
    )
    refusal = "Monty cannot run in a process that was forked after its use: start it with spawn"
    assert printed.splitlines() == ["1 1", "2", refusal, "3 3"]


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads /proc")
def test_no_worker_stays() -> None:
    """Code that ends and code that hangs leave no process behind (O-9)."""
    before = children()
    run_javascript("r => r", 1)
    with pytest.raises(SandboxError) as error:
        run_javascript("r => new Array(1e9) + ''", 1, limits=SandboxLimits(seconds=0.2))
    assert error.value.kind is Stopped.TIMEOUT
    assert children() == before


def test_a_worker_ends_when_its_parent_is_killed() -> None:
    """A parent that dies while its worker hangs leaves no busy process: the worker's own timer ends it (O-9)."""
    program = """
        import os, signal, threading
        from aggregate.agents.sandbox import SandboxLimits, run_javascript
        def die():
            print(*open(f"/proc/self/task/{main}/children").read().split(), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        main = threading.main_thread().native_id
        threading.Timer(0.5, die).start()
        run_javascript("r => new Array(1e9) + ''", 1, limits=SandboxLimits(seconds=1))
        """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30)
    workers = [Path(f"/proc/{pid}") for pid in ran.stdout.split()]
    assert workers
    end = time.monotonic() + 5
    while any(alive(worker) for worker in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(alive(worker) for worker in workers)


def alive(process: Path) -> bool:
    """Return whether a process still runs; one that has ended but was not waited for does not."""
    try:
        return (process / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_the_same_code_gives_the_same_result() -> None:
    """The clock stands at the run's time and the random numbers begin at the same place, in every sandbox (O-53)."""
    now = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    code = "import random\nfrom datetime import datetime\n[str(datetime.now()), random.random()]"
    javascript = "() => [new Date().toISOString(), Date.now(), Date().slice(11, 15), new Date(0).getTime(), Math.random()]"
    for _ in range(2):
        assert run_python(code, {}, now=now).value == ["2031-05-06 07:08:09", 0.8444218515250481]
        values = run_javascript(javascript, None, now=now)
        first = 48271 / 2147483647
        assert values == ["2031-05-06T07:08:09.000Z", now.timestamp() * 1000, "2031", 0, first]


def test_inputs_of_any_size_pass() -> None:
    """Megabytes go through the pipes in both directions (O-52)."""
    value = ["x" * 1000] * 3000
    assert run_javascript("r => r", value) == value
    assert run_python("v", {"v": value}).value == value
