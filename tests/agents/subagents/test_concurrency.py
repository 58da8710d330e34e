"""Executors, threads, event loops and real timers (rules O-2, O-7, O-23, O-46, O-51, O-56)."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from aggregate import RunStatus, SubagentSession
from tests.agents.subagents.records import record_of
from tests.fakes.executors import InlineExecutor, ManualExecutor, RefusingExecutor
from tests.fakes.time import FakeTime

NAME = "$all"
THREADS = 64


def seven() -> int:
    return 7


def test_an_executor_runs_callables_and_keeps_their_order() -> None:
    """Results of a thread pool are there as soon as all have ended, in spawn order; what raised is listed.

    Rules: O-2, O-48.
    """
    gate = threading.Event()

    def slow() -> str:
        gate.wait(5)
        return "slow"

    def broken() -> None:
        gate.set()
        raise LookupError("no page")

    with ThreadPoolExecutor(4) as pool, SubagentSession(executor=pool) as session:
        for label, task in (("A", slow), ("B", broken), ("C", lambda: {"n": 1})):
            session.spawn(task, label=label, collect_into=NAME)
        result = session.wait(NAME, timeout=5)
    assert result.value == ["slow", {"n": 1}]
    assert result.errors == ("B failed: LookupError: no page",)


def test_the_executor_bounds_what_runs_and_nothing_is_refused() -> None:
    """Beyond the executor's threads runs wait in their order (O-23)."""
    running, most, begun = [0], [0], []

    def task(number: int) -> int:
        running[0] += 1
        most[0] = max(most[0], running[0])
        begun.append(number)
        time.sleep(0.01)
        running[0] -= 1
        return number

    with ThreadPoolExecutor(2) as pool, SubagentSession(executor=pool) as session:
        for number in range(6):
            session.spawn(lambda number=number: task(number), collect_into=NAME)
        assert session.wait(NAME, timeout=5).value == [*range(6)]
    assert (most, begun) == ([2], [*range(6)])


def test_an_executor_that_runs_at_once() -> None:
    """Thousands of runs of one variable run one after the other (O-8, O-23)."""
    session = SubagentSession(executor=InlineExecutor())
    for number in range(3000):
        session.spawn(lambda number=number: number, collect_into=NAME)
    assert session.subagent_results[NAME].count == 3000


def test_an_executor_that_refuses_fails_the_run() -> None:
    """The group does not wait for a run that cannot be started (O-51)."""
    session = SubagentSession(executor=RefusingExecutor())
    session.spawn(seven, label="A", collect_into=NAME)
    result = session.subagent_results[NAME]
    assert result.errors == ("A failed: RuntimeError: cannot schedule new futures after shutdown",)


def test_the_timeout_of_a_callable_begins_with_its_start() -> None:
    """A run that waits for a thread does not time out; one that takes too long does (O-46)."""
    clock, pool = FakeTime(), ManualExecutor()
    session = SubagentSession(executor=pool, clock=clock, timer=clock.seconds)
    session.spawn(lambda: clock.advance(5), label="A", collect_into=NAME, timeout=5)
    session.spawn(seven, label="B", collect_into=NAME, timeout=5)
    clock.advance(9)
    assert [record_of(session, f"main-{n}").status for n in (1, 2)] == ["pending"] * 2
    pool.run_next()
    pool.run_next()
    result = session.subagent_results[NAME]
    assert (result.value, result.errors) == ([7], ("A failed: timeout after 5 s",))
    assert [run.label for run in session.late()] == ["A"]


def test_a_group_timeout_takes_waiting_runs_with_it() -> None:
    """Runs that never started end with their group and are not started afterwards (O-7, O-46)."""
    clock, pool, started = FakeTime(), ManualExecutor(), []
    session = SubagentSession(executor=pool, group_timeout=9, clock=clock, timer=clock.seconds)
    for number in range(3):
        session.spawn(lambda number=number: started.append(number), collect_into=NAME)
    clock.advance(9)
    assert session.subagent_results[NAME].status == "complete"
    while pool.tasks:
        pool.run_next()
    assert [record_of(session, f"main-{n}").status for n in (1, 2, 3)] == [RunStatus.TIMEOUT] * 3
    assert (started, session.late()) == ([], ())


def test_shutting_down_starts_nothing_more() -> None:
    """At the session's end waiting runs end as cancelled, and those on the executor go on (O-53)."""
    begun, gate = threading.Event(), threading.Event()

    def waits() -> bool:
        begun.set()
        return gate.wait(5)

    with ThreadPoolExecutor(1) as pool:
        with SubagentSession(executor=pool) as session:
            session.spawn(waits, collect_into=NAME)
            session.spawn(seven, collect_into=NAME)
            begun.wait(5)
        gate.set()
        result = session.wait(NAME, timeout=5)
    assert (result.status, result.value, len(result.errors)) == ("complete", [True], 1)
    assert record_of(session, "main-2").status is RunStatus.CANCELLED


def test_a_custom_function_whose_thread_reads_its_own_variable() -> None:
    """The group ends with an error within the time of ``wait``; another variable can be read there (O-9, O-53)."""
    session = SubagentSession()
    read: list[object] = []

    def merge(outputs: list[object]) -> object:
        with ThreadPoolExecutor(2) as pool:
            read.append(pool.submit(lambda: session.subagent_results["$other"].value).result())
            return pool.submit(lambda: session.subagent_results[NAME].value).result()

    for name, function in (("$other", len), (NAME, merge)):
        run = session.spawn(
            "task", collect_into=name, merge_strategy="custom", custom_function=function
        )
        session.complete(run.run_id, "b")
    began = time.monotonic()
    result = session.wait(NAME, timeout=1)
    assert time.monotonic() - began < 1.5
    assert "reads $all itself" in result.errors[0]
    assert read == [1]
    assert session.wait(NAME, timeout=1) == result


def test_a_thread_of_a_custom_function_waits_no_longer_than_its_own_timeout() -> None:
    """``wait`` with a timeout in a thread of the function fails then, though the outer call has none (O-9)."""
    session = SubagentSession()

    def merge(outputs: list[object]) -> object:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(session.wait, NAME, 0.2).result()

    run = session.spawn("task", collect_into=NAME, merge_strategy="custom", custom_function=merge)
    session.complete(run.run_id, "b")
    began = time.monotonic()
    assert "reads $all itself" in session.wait(NAME).errors[0]
    assert time.monotonic() - began < 1.5


def test_readers_wait_for_a_slow_custom_function() -> None:
    """A second reader gets what the one run of the function gave (O-53)."""
    session = SubagentSession()
    begun = threading.Event()
    runs: list[int] = []

    def merge(outputs: list[object]) -> object:
        begun.set()
        time.sleep(0.2)
        runs.append(len(outputs))
        return "merged"

    run = session.spawn("task", collect_into=NAME, merge_strategy="custom", custom_function=merge)
    session.complete(run.run_id, "b")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(session.wait, NAME, 5)
        begun.wait(5)
        assert session.subagent_results[NAME].value == "merged"
        assert first.result().value == "merged"
    assert runs == [1]


def test_many_threads_lose_nothing() -> None:
    """64 threads complete runs while others read: every result is there, and no read sees half a group (O-56)."""
    session = SubagentSession()
    ids = [session.spawn("task", collect_into=NAME).run_id for _ in range(640)]
    seen, start = [], threading.Barrier(THREADS + 2)

    def read() -> None:
        start.wait()
        while not (result := session.subagent_results[NAME]).status.final:
            seen.append((result.value, result.count))

    def complete(mine: list[str]) -> None:
        start.wait()
        for run_id in mine:
            session.complete(run_id, run_id)

    work = [threading.Thread(target=complete, args=(ids[n::THREADS],)) for n in range(THREADS)]
    threads = [*work, *(threading.Thread(target=read) for _ in range(2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.subagent_results.bare[NAME] == ids
    assert all(value is None and 0 <= count < len(ids) for value, count in seen)


def test_concurrent_first_readers_share_one_merge() -> None:
    """A slow custom function runs once however many read at the same time (O-53, O-56)."""
    calls = []

    def slow(results: list[object]) -> int:
        calls.append(1)
        time.sleep(0.05)
        return len(results)

    session = SubagentSession()
    session.complete(session.spawn("t", collect_into=NAME, custom_function=slow).run_id, 1)
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda _: session.subagent_results.bare[NAME], range(8)))
    assert (values, calls) == ([1] * 8, [1])


def test_a_handle_waits_for_its_run() -> None:
    """result() blocks until the run ends; with a timeout it says what it waited for (O-5)."""
    session = SubagentSession()
    run = session.spawn("task")
    with pytest.raises(TimeoutError, match=r"main-1 has not ended after 0\.01 s"):
        run.result(timeout=0.01)
    threading.Timer(0.02, session.complete, (run.run_id, "x")).start()
    assert run.result(timeout=5).output == "x"
    assert (run.done(), repr(run)) == (True, "RunHandle('main-1')")


def test_real_time_ends_runs() -> None:
    """Timeouts end runs in their order, without a thread for them (O-46)."""
    threads = threading.active_count()
    session = SubagentSession(group_timeout=0.3)
    session.spawn("task", label="A", collect_into=NAME, timeout=0.02)
    session.spawn("task", label="B", collect_into=NAME)
    result = session.wait(NAME, timeout=5)
    assert result.errors == (
        "A failed: timeout after 0.02 s",
        "B failed: timeout: the group was open for 0.3 s",
    )
    assert threading.active_count() == threads


def test_a_pool_that_is_shut_down_fails_what_it_cancels() -> None:
    """The runs that have not begun fail, and the group does not wait for them (O-51)."""
    gate, pool = threading.Event(), ThreadPoolExecutor(1)
    session = SubagentSession(executor=pool)
    for task in (lambda: gate.wait(5), seven, seven):
        session.spawn(task, collect_into=NAME)
    pool.shutdown(wait=False, cancel_futures=True)
    gate.set()
    result = session.wait(NAME, timeout=5)
    assert (result.value, result.failed) == ([True], 2)
    assert "cancelled before it began" in result.errors[0]


def test_timeouts_of_every_size() -> None:
    """A timeout beyond what a thread can wait for does not disturb the others (O-46)."""
    session = SubagentSession()
    for seconds in (float("inf"), 1e300):
        session.spawn("t", collect_into="$b", timeout=seconds)
    session.spawn("t", label="A", collect_into=NAME, timeout=0.02)
    result = session.wait(NAME, timeout=float("inf"))
    assert result.errors == ("A failed: timeout after 0.02 s",)
    assert session.wait("$b", timeout=0.01).status == "pending"
