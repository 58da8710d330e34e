"""Calls in child processes, request processes, and threads."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from operator import add
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from aggregate import AggregateError, ScopeError
from aggregate.base.concurrency import (
    AlternatingProcess,
    Call,
    PoolProcess,
    ahead,
    doubling_delay,
    frame,
    in_child,
    in_children,
    ordered_map,
    run_in_thread,
    wait_for_any,
)

LOST = "parsing was stopped: the parser crashed, or took far too much memory or time"


def answers(calls: Iterable[Call[Any, Any]], **options: Any) -> list[Any]:
    """Return the answers of calls, with a text for an aborted one."""
    answered = (call.answer for call in in_children(calls, **options))
    return [str(answer) if isinstance(answer, Exception) else answer for answer in answered]


def test_work_ahead_keeps_the_order_and_takes_only_what_comes_next() -> None:
    """Only a few of a thousand items are taken ahead; an error is raised in its turn."""
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1_000):
            taken.append(number)
            yield number

    made = ahead(str, items())
    assert next(made) == "0"
    assert len(taken) < 10
    assert [*made] == [str(number) for number in range(1, 1_000)]
    made_of_texts = ahead(int, ["1", "x", "3"])
    assert next(made_of_texts) == 1
    with pytest.raises(ValueError, match="invalid literal"):
        next(made_of_texts)


INTERRUPTED = """
import signal, time
from aggregate.base.concurrency import ordered_map, result_within, run_in_thread

def hang(_number: int = 0) -> None:
    signal.raise_signal(signal.SIGINT)
    time.sleep(60)

{}
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@pytest.mark.parametrize(
    "wait",
    [
        'ordered_map("hanging", hang, [1], workers=1)',
        'result_within(run_in_thread("hanging", hang), 50)',
    ],
)
def test_an_interrupt_that_wakes_no_wait_is_not_lost(wait: str) -> None:
    """Ctrl-C ends a wait for a thread, even if it comes just before the wait, or to another thread."""
    command = [sys.executable, "-c", INTERRUPTED.format(wait)]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=20, check=False)
    assert ended.returncode != 0
    assert ended.stderr.strip().endswith("KeyboardInterrupt")


def test_answers_come_in_order_and_what_asks_for_nothing_keeps_its_place() -> None:
    """Large and small calls in several processes are answered in order."""
    sizes = [3_000_000, 0, 7, 400_000, 400_000, 1]
    calls = [Call(size, len, ("x" * size,)) for size in sizes]
    calls.insert(3, Call(-1, None))
    assert answers(calls, workers=3) == [*sizes[:3], None, *sizes[3:]]


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        pytest.param(signal.raise_signal, signal.SIGSEGV, id="crash"),
        pytest.param(list, range(10**9), id="memory"),
        pytest.param(math.factorial, 10**8, id="time", marks=pytest.mark.slow),
    ],
)
def test_a_call_costs_itself_alone(function: Any, argument: Any) -> None:
    """A crashing or oversized call is aborted; all others are answered."""
    calls: list[Call[None, Any]] = [Call(None, abs, (-number,)) for number in range(6)]
    calls[3:3] = [Call(None, function, (argument,))]
    assert answers(calls) == [0, 1, 2, LOST, 3, 4, 5]
    with pytest.raises(AggregateError, match="parsing was stopped"):
        in_child(function, argument)
    assert in_child(abs, -1) == 1


def test_one_that_sleeps_is_given_up() -> None:
    """An idle process is stopped at the time limit."""
    calls: list[Call[None, Any]] = [Call(None, abs, (-1,)), Call(None, time.sleep, (3600,))]
    assert answers([*calls, Call(None, abs, (-2,))], patience=1) == [1, LOST, 2]


def test_a_process_that_was_killed_meanwhile_costs_nothing() -> None:
    """A child killed while waiting is replaced, and the call repeated."""
    os.kill(in_child(os.getpid), signal.SIGKILL)
    assert in_child(add, 1, 2) == 3


def test_what_a_function_raises_is_raised_here() -> None:
    """Our own errors are raised as they are, others with their traceback."""
    with pytest.raises(RuntimeError, match=r"ValueError: invalid literal"):
        in_child(int, "x")
    with pytest.raises(ScopeError, match=r"^what$"):
        in_child(raise_problem, "what")


def raise_problem(text: str) -> None:
    raise ScopeError(text)


def test_children_stay_and_are_renewed() -> None:
    """One process serves consecutive calls until it has read its maximum."""
    assert len({in_child(os.getpid) for _ in range(5)}) == 1
    calls = [Call(None, renewed, ("x" * 5_000_000,)) for _ in range(9)]
    assert len(set(answers(calls))) >= 2


def renewed(_: str) -> int:
    return os.getpid()


def test_threads_ask_at_the_same_time() -> None:
    """Concurrent threads get their own answers."""
    results: dict[int, list[Any]] = {}

    def ask(i: int) -> None:
        results[i] = answers(Call(None, add, (i, number)) for number in range(50))

    threads = [Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [i + number for number in range(50)] for i in range(4)}


SETUP = (
    "import os, signal, subprocess, sys, time\n"
    "from pathlib import Path\nfrom threading import Event, Thread\n"
    "from aggregate.base.concurrency.child_calls import Call, in_child, in_children\n"
)
THREAD = "Thread(target=Event().wait, daemon=True).start()\n"


def host(program: str, *, threads: bool) -> str:
    """Run a program with one or two threads, and return its output."""
    program = SETUP + (THREAD if threads else "") + program
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


INTERRUPT = {
    False: "signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGINT))\nsignal.setitimer(signal.ITIMER_REAL, 0.2)\n",
    True: "Thread(target=lambda: (time.sleep(0.2), os.killpg(0, signal.SIGINT))).start()\n",
}
ASKING = """
held = [os.open(os.devnull, 0) for _ in range(20)]
commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in ("self", in_child(os.getpid))]
print(commands[0] == commands[1], len(in_child(os.listdir, "/proc/self/fd")) <= 7)
first = in_child(os.getpid)
if not (fork := os.fork()):
    os._exit(in_child(os.getpid) == first)
print(os.waitpid(fork, 0)[1], in_child(os.getpid) == first)
os.setpgid(0, 0)
{interrupt}
try:
    in_child(time.sleep, 3600)
except KeyboardInterrupt:
    print("interrupted", in_child(abs, -1))
print(in_child(os.getpid))
"""


@pytest.mark.parametrize("threads", [False, True])
def test_a_program_that_asks_for_calls(*, threads: bool) -> None:
    """A single-threaded parent forks a child without its files; a threaded one starts a new Python.

    Ctrl-C, which reaches all processes, ends the wait here and is heard once. What was to be printed is printed once,
    and the end of the program ends its child.
    """
    told = host(ASKING.replace("{interrupt}", INTERRUPT[threads]), threads=threads).splitlines()
    assert told[:-1] == [f"{not threads} True", "0 True", "interrupted 1"]
    assert not Path(f"/proc/{told[-1]}").exists()


@pytest.mark.parametrize("threads", [False, True])
def test_the_death_of_a_program_ends_its_child(*, threads: bool) -> None:
    """A child ends with its parent, even a killed one."""
    program = "print(in_child(os.getpid), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    begun = [sys.executable, "-c", SETUP + (THREAD if threads else "") + program]
    (pid,) = subprocess.run(begun, stdout=subprocess.PIPE, text=True).stdout.split()
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists()


def test_where_no_process_can_be_started_a_sentence_says_so() -> None:
    """If a threaded program cannot start Python, that is an error, and nothing runs in-process."""
    program = (
        "for sys.executable in ('/no/python', '/bin/false'):\n"
        "    try:\n        in_child(os.getpid)\n"
        "    except Exception as error:\n        print(error)\n"
    )
    missing, wrong = host(program, threads=True).splitlines()
    problem = "cannot start a process for parsing: "
    assert missing.startswith(f"{problem}[Errno 2]")
    assert wrong == f"{problem}/bin/false ended with status 1"


CHILD = """
import os, sys, time
sys.path[:] = sys.argv[1:]
from aggregate.base.concurrency.child_server import serve_requests

def answer(request):
    print("noise", flush=True)
    if request == b"die":
        os._exit(3)
    return request * 2

serve_requests(answer)
"""
SIZES = (0, 1, 3_000_000, 7, 2_000_000)


def child(stderr: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start a process that echoes each request twice, and dies or hangs on demand."""
    command = [sys.executable, "-c", CHILD, *sys.path]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, bufsize=0)


def answers_of(process: PoolProcess, number: int) -> list[bytes]:
    """Return the answers until there are enough or the process ends."""
    got: list[bytes] = []
    while len(got) < number and not process.has_ended:
        wait_for_any([process], time.monotonic() + 60)
        got += process.transfer()
    return got


@pytest.mark.parametrize("kind", [PoolProcess, AlternatingProcess])
def test_answers_come_in_order_and_waiting_ends(kind: type[PoolProcess]) -> None:
    """Megabytes are sent ahead, or one by one as on Windows; the deadline holds."""
    process = kind(child())
    wanted = [b"x" * size for size in SIZES]
    try:
        for request in wanted:
            process.send(request)
        assert answers_of(process, 6) == [b"", *(request * 2 for request in wanted)]
        wait_for_any([process], time.monotonic() + 0.05)
        assert process.transfer() == []
    finally:
        process.kill()


def test_what_was_answered_before_the_end_is_still_read() -> None:
    """Answers before a crash are read, and the end is noticed."""
    process = PoolProcess(child())
    for request in (b"a", b"b", b"die", b"c"):
        process.send(request)
    assert answers_of(process, 9) == [b"", b"aa", b"bb"]
    assert process.has_ended
    assert process.kill() == process.kill() == 3


def test_a_child_whose_answers_nobody_takes_says_nothing() -> None:
    """If the parent is gone or both are interrupted, the child prints no traceback."""
    with child(subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        assert process.stdout.read(len(frame(b""))) == frame(b"")
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        process.stdin.write(frame(b"x" * 10_000))
        process.stdin.close()
        assert process.stderr.read() == b"noise\n"
    assert process.returncode == 0


def test_results_stand_in_the_order_of_the_items() -> None:
    """Results keep the order of the items; the number at a time is limited."""
    running: list[int] = []
    peaks: list[int] = []

    def work(number: int) -> int:
        running.append(number)
        peaks.append(len(running))
        time.sleep(0.01 * (number % 3))
        running.remove(number)
        return number * number

    assert ordered_map("square", work, range(20), workers=3) == [
        number * number for number in range(20)
    ]
    assert max(peaks) <= 3
    assert ordered_map("square", work, [], workers=3) == []


def test_a_failure_begins_no_further_work() -> None:
    """An error is raised as it is, and no further work begins."""
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.05)
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ordered_map("fail", work, range(100), workers=2)
    time.sleep(0.1)
    assert len(begun) <= 6


def test_work_has_a_thread_of_its_own_that_is_a_daemon() -> None:
    """A future has the result or error of its daemon thread."""
    thread = run_in_thread("one", threading.current_thread).result(timeout=5)
    assert (thread.name, thread.daemon) == ("one", True)
    with pytest.raises(ZeroDivisionError):
        run_in_thread("two", lambda: 1 / 0).result(timeout=5)


def test_delays_double_up_to_a_limit() -> None:
    """Delays double up to a limit, after any number of failures."""
    assert [doubling_delay(number, 1, 8) for number in range(1, 6)] == [1, 2, 4, 8, 8]
    assert doubling_delay(1, 30, 8) == 8
    assert doubling_delay(100_000, 0.5, 60) == 60
