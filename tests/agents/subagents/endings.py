"""Situations in which a session once waited for ever: each function makes one and returns what the waiter saw.

Run as a program, all of them run at the same time in threads of a process of their own, so that one that hangs
harms nobody; what each returned is printed as JSON, ``HANG`` for those that had not ended after ``DEADLINE``.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from aggregate.agents.subagents import SubagentSession
from aggregate.agents.subagents.completions import TimerThread
from aggregate.base.errors import AggregateError
from tests.fakes.executors import InlineExecutor, ManualExecutor

DEADLINE = 10.0
SCENES: dict[str, Callable[[], Any]] = {}


def scene(function: Callable[[], Any]) -> Callable[[], Any]:
    """Register a situation under its function's name."""
    SCENES[function.__name__] = function
    return function


def seen(session: SubagentSession, name: str = "$a") -> list[Any]:
    """Wait without a timeout and return the group's status, value and errors."""
    result = session.wait(name)
    return [str(result.status), result.value, list(result.errors)]


def raiser(error: BaseException) -> Callable[[], None]:
    """Return a task that raises ``error``."""

    def task() -> None:
        raise error

    return task


class MuteError(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        """Fail."""
        raise ValueError("no text")

    __repr__ = __str__


class QuittingError(Exception):
    """An exception whose text ends the program."""

    def __str__(self) -> str:
        """Leave."""
        raise SystemExit(3)


class Nameless(type):
    """A class of classes that have no name."""

    def __getattribute__(cls, name: str) -> Any:
        """Fail for the name."""
        if name == "__name__":
            raise RuntimeError("no name")
        return super().__getattribute__(name)


class AnonymousError(Exception, metaclass=Nameless):
    """An exception whose class has no name and whose arguments are no tuple of texts."""

    def __getattribute__(self, name: str) -> Any:
        """Fail for the arguments."""
        if name == "args":
            raise RuntimeError("no args")
        return super().__getattribute__(name)


class Sticky(str):
    """A text that cannot be looked at."""

    __slots__ = ()

    def __len__(self) -> int:
        """Fail."""
        raise RuntimeError("no length")

    __bool__ = __format__ = __str__ = __len__  # type: ignore[assignment]


class OddError(Exception):
    """An exception whose text is a hostile one."""

    def __str__(self) -> str:
        """Return a text of a class of its own."""
        return Sticky("odd")


@scene
def unprintable_exceptions() -> Any:
    """Tasks raise exceptions that cannot be turned into text."""
    with ThreadPoolExecutor(2) as pool, SubagentSession(executor=pool) as session:
        for error in (MuteError(), QuittingError(), AnonymousError(), OddError()):
            session.spawn(raiser(error), collect_into="$a")
        return seen(session)


@scene
def base_exceptions() -> Any:
    """Tasks raise what is no Exception."""
    errors = (
        SystemExit(2),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
        BaseException("x"),
    )
    with (
        ThreadPoolExecutor(2) as pool,
        SubagentSession(executor=pool, max_concurrency=1) as session,
    ):
        for error in errors:
            session.spawn(raiser(error), collect_into="$a")
        return seen(session)


@scene
def base_exceptions_inline() -> Any:
    """An executor lets what is no Exception out of submit(); the runs behind it start all the same."""
    session = SubagentSession(executor=InlineExecutor(), max_concurrency=1)
    for task in (raiser(SystemExit(2)), raiser(GeneratorExit()), lambda: 7):
        session.spawn(task, collect_into="$a")
    return seen(session)


@scene
def hostile_outputs() -> Any:
    """A task returns what interrupts the program when it is copied."""

    class Bomb:
        def __deepcopy__(self, memo: Any) -> Any:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as pool, SubagentSession(executor=pool) as session:
        session.spawn(Bomb, collect_into="$a")
        return seen(session)


@scene
def queued_at_the_end() -> Any:
    """The with block ends while runs wait for a place."""
    gate = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        with SubagentSession(executor=pool, max_concurrency=1) as session:
            session.spawn(lambda: gate.wait(DEADLINE), label="A", collect_into="$a")
            queued = session.spawn(lambda: 1, label="B", collect_into="$a")
        gate.set()
        return [*seen(session), str(queued.result().status)]


@scene
def shut_down_elsewhere() -> Any:
    """One thread waits while another ends the session."""
    pool, waiting = ManualExecutor(), threading.Event()
    session = SubagentSession(executor=pool, max_concurrency=1)
    session.spawn(lambda: 1, collect_into="$other")
    session.spawn(lambda: 2, label="B", collect_into="$a")

    def end() -> None:
        waiting.wait(DEADLINE)
        time.sleep(0.05)
        session.shut_down()

    threading.Thread(target=end, daemon=True).start()
    waiting.set()
    return seen(session)


@scene
def timeouts_outlive_the_session() -> Any:
    """A task hangs, its run has a timeout, and the with block has ended."""
    with SubagentSession(executor=ManualExecutor()) as session:
        session.spawn(lambda: 1, label="A", collect_into="$a", timeout=0.05)
    return seen(session)


@scene
def pool_cancels_what_it_holds() -> Any:
    """A pool is shut down with its futures cancelled, which it does while it holds its own lock."""
    gate = threading.Event()
    pool = ThreadPoolExecutor(1)
    session = SubagentSession(executor=pool, max_concurrency=2)
    session.spawn(lambda: gate.wait(DEADLINE), collect_into="$a")
    for label in "BC":
        session.spawn(lambda: 1, label=label, collect_into="$a")
    pool.shutdown(wait=False, cancel_futures=True)
    gate.set()
    status, value, errors = seen(session)
    return [status, value, sorted(errors)]


@scene
def a_function_waits_for_itself() -> Any:
    """A custom function waits for its own group."""
    session = SubagentSession()
    run = session.spawn("t", collect_into="$a", custom_function=lambda _: session.wait("$a").value)
    session.complete(run.run_id, 1)
    return seen(session)


@scene
def a_run_waits_for_its_own_group() -> Any:
    """A task waits for the group that waits for it, in a thread and in an event loop."""
    with ThreadPoolExecutor(2) as pool:
        session = SubagentSession(executor=pool)
        session.spawn(lambda: session.wait("$a").count, label="A", collect_into="$a")
        session.spawn(
            lambda: asyncio.run(session.wait_async("$a")).count, label="B", collect_into="$a"
        )
        return seen(session)


@scene
def runs_that_wait_for_runs_behind_them() -> Any:
    """Each of two tasks spawns another and waits for it, where two may run at one time."""
    with ThreadPoolExecutor(8) as pool:
        session = SubagentSession(executor=pool, max_concurrency=2)

        def task(name: str) -> Callable[[], Any]:
            def inner() -> Any:
                session.spawn(lambda: name, collect_into=name)
                return session.wait(name).value, asyncio.run(session.wait_async(name)).count

            return inner

        for name in ("$b", "$c", "$d", "$e"):
            session.spawn(task(name), collect_into="$a")
        first = seen(session)
        session.spawn(lambda: 7, collect_into="$f")
        return [first, session.wait("$f").value]


@scene
def a_clock_that_fails() -> Any:
    """The host's clock raises."""

    def clock() -> datetime:
        raise SystemExit("no clock")

    session = SubagentSession(clock=clock)
    session.complete(session.spawn("t", collect_into="$a").run_id, 1)
    return [*seen(session), isinstance(session.wait("$a").completed_at, datetime)]


@scene
def timers_that_fail() -> Any:
    """The host's timers raise, as threads that cannot be started do: the run ends, and so does the queue."""

    class Broken:
        def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
            raise RuntimeError("can't start new thread")

    session = SubagentSession(executor=InlineExecutor(), timers=Broken())
    text = SubagentSession(timers=Broken())
    with contextlib.suppress(RuntimeError):
        session.spawn(lambda: 1, label="A", collect_into="$a", timeout=5)
    with contextlib.suppress(RuntimeError):
        text.spawn("t", label="A", collect_into="$a", timeout=5)
    session.spawn(lambda: 2, collect_into="$a")
    return [seen(session), seen(text)]


@scene
def timers_that_fire_at_once() -> Any:
    """The host's timers call the action before they return."""

    class Now:
        def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
            action()
            return lambda: None

    session = SubagentSession(timers=Now(), group_timeout=1)
    session.spawn("t", label="A", collect_into="$a", timeout=1)
    return seen(session)


@scene
def timeouts_of_every_size() -> Any:
    """A timeout beyond what a thread can wait for must not end the thread that watches the others."""
    session = SubagentSession()
    session.spawn("t", collect_into="$b", timeout=float("inf"))
    session.spawn("t", collect_into="$b", timeout=1e300)
    time.sleep(0.05)
    session.spawn("t", label="A", collect_into="$a", timeout=0.05)
    first = seen(session)
    session.complete(session.spawn("t", collect_into="$c").run_id, 1)
    return [
        first,
        session.wait("$c", timeout=float("inf")).value,
        str(session.wait("$b", timeout=0.01).status),
    ]


@scene
def an_action_that_leaves() -> Any:
    """A timer's action raises SystemExit; the other timers go on."""
    fired, timers = threading.Event(), TimerThread()
    timers.call_later(0.01, lambda: sys.exit(1))
    timers.call_later(0.05, fired.set)
    return fired.wait(5)


@scene
def foreign_code_that_comes_back() -> Any:
    """``new_id``, and the end of an output's life, call the session that is calling them."""
    session: SubagentSession

    def new_id(number: int) -> str:
        return f"r-{number}-{session.run('r-1') is None}"

    session = SubagentSession(new_id=new_id)

    class Last:
        def __deepcopy__(self, memo: Any) -> Any:
            return self

        def __del__(self) -> None:
            session.complete("unknown", 1)

    session.complete(session.spawn("t", collect_into="$b").run_id, Last())
    session.clear("$b")
    session.complete(session.spawn("t", collect_into="$a").run_id, 1)
    return seen(session)


@scene
def a_forked_child() -> Any:
    """A forked child cannot wait for its parent's threads: it is told so, at once."""
    gate, (reading, writing) = threading.Event(), os.pipe()
    with ThreadPoolExecutor(1) as pool:
        session = SubagentSession(executor=pool)
        run = session.spawn(lambda: gate.wait(DEADLINE), collect_into="$a")
        child = os.fork()
        if child == 0:
            said = []
            for wait in (lambda: session.wait("$a"), run.result, lambda: session.spawn("t")):
                try:
                    wait()
                except AggregateError as error:
                    said.append(str(error))
            os.write(writing, json.dumps(sorted(set(said))).encode())
            os._exit(0)
        end = time.monotonic() + 3
        while (ended := os.waitpid(child, os.WNOHANG)[0]) == 0 and time.monotonic() < end:
            time.sleep(0.01)
        if not ended:
            os.kill(child, signal.SIGKILL)
        gate.set()
        session.wait("$a")
    return json.loads(os.read(reading, 4096)) if ended else "HANG"


def main() -> None:
    """Run all situations and print what each returned."""
    outcomes: dict[str, Any] = dict.fromkeys(SCENES, "HANG")

    def play(name: str, function: Callable[[], Any]) -> None:
        try:
            outcomes[name] = function()
        except BaseException as error:  # noqa: BLE001 - what a waiter must not see is an outcome too
            outcomes[name] = f"{type(error).__name__}: {error}"

    threads = [
        threading.Thread(target=play, args=item, daemon=True)
        for item in SCENES.items()
        if "fork" not in item[0]
    ]
    play("a_forked_child", a_forked_child)
    for thread in threads:
        thread.start()
    end = time.monotonic() + DEADLINE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    print(json.dumps(outcomes, default=repr), flush=True)  # noqa: T201 - its output
    os._exit(0)


if __name__ == "__main__":
    main()
