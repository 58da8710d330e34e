"""Wait for groups and runs, in threads and in event loops."""

import asyncio
import os
from collections.abc import Iterable
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from threading import TIMEOUT_MAX
from time import monotonic

from aggregate.agents.subagents.deadlock import WAIT_GRAPH, run_of_this_thread
from aggregate.agents.subagents.session_state import SessionState
from aggregate.agents.subagents.task_runner import TaskRunner
from aggregate.base.errors import WaitError
from aggregate.base.values import RunRecord, RunStatus, isolated_copy


class Waiter:
    """Waits until runs or groups have ended; keys are run ids and variable names."""

    def __init__(self, state: SessionState, session: int, runner: TaskRunner | None) -> None:
        self._state = state
        self._session = session
        self._runner = runner
        self._process = os.getpid()

    def require_own_process(self) -> None:
        """Refuse to wait in a forked child, where the threads that would end the runs do not exist.

        Raises:
            WaitError: This is another process than the one that made the session.
        """
        if os.getpid() != self._process:
            raise WaitError(
                "the session belongs to the process that made it: make another one in a forked child"
            )

    def wait(self, keys: Iterable[str], timeout: float | None) -> bool:
        """Block until all have ended and return ``True``, or ``False`` after ``timeout`` seconds.

        Raises:
            WaitError: It would never end.
        """
        self.require_own_process()
        deadline = _deadline(timeout)
        for key in keys:
            while (change := self._state.change(key)) is not None:
                try:
                    with self._lent_slot(), self._in_wait_graph(key, timeout):
                        change.result(_remaining(deadline))
                except FutureTimeoutError:
                    return False
                finally:
                    change.cancel()
        return True

    async def wait_async(self, keys: Iterable[str], timeout: float | None) -> bool:
        """Do what ``wait`` does, without blocking the event loop."""
        self.require_own_process()
        deadline = _deadline(timeout)
        for key in keys:
            while (change := self._state.change(key)) is not None:
                try:
                    # The thread of a host's event loop goes on meanwhile; that of a run is a run's all the same.
                    in_graph = (
                        self._in_wait_graph(key, timeout) if run_of_this_thread() else nullcontext()
                    )
                    with self._lent_slot(), in_graph:
                        await asyncio.wait_for(asyncio.wrap_future(change), _remaining(deadline))
                except TimeoutError:
                    return False
                finally:
                    change.cancel()
        return True

    def _in_wait_graph(self, key: str, timeout: float | None) -> AbstractContextManager[None]:
        """Note what this thread waits for, unless the wait is bounded anyway."""
        if timeout is not None:
            return nullcontext()
        return WAIT_GRAPH.waiting(lambda: self._needed_threads(key), key)

    def _needed_threads(self, key: str) -> list[int]:
        return self._runner.threads(self._state.pending(key)) if self._runner else []

    def _lent_slot(self) -> AbstractContextManager[None]:
        """Lend the slot of the run that waits, where it is one of this session."""
        run_key = run_of_this_thread()
        if self._runner is None or run_key is None or run_key[0] != self._session:
            return nullcontext()
        return self._runner.lent(run_key[1])

    def run(self, run_id: str) -> RunRecord:
        """Return a run's record; a run that was cleared reads as failed."""
        cleared = RunRecord(run_id, "", status=RunStatus.ERROR, error="the run was cleared")
        return record_copy(self._state.run(run_id) or cleared)


def record_copy(run: RunRecord) -> RunRecord:
    """Return a record whose output is the reader's: changing it changes no result."""
    return replace(run, output=isolated_copy(run.output))


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else monotonic() + timeout


def _remaining(deadline: float | None) -> float | None:
    return None if deadline is None else min(max(0.0, deadline - monotonic()), TIMEOUT_MAX)


class RunHandle:
    """One spawned run: its id, and its record when it has ended."""

    def __init__(self, run_id: str, waiter: Waiter, *, refused: str | None = None) -> None:
        self.run_id = run_id
        self.refused = refused
        self._waiter = waiter

    def __repr__(self) -> str:
        return f"RunHandle({self.run_id!r})"

    def done(self) -> bool:
        """Return whether the run has ended."""
        return self._waiter.run(self.run_id).status is not RunStatus.PENDING

    def result(self, timeout: float | None = None) -> RunRecord:
        """Wait for the end of the run and return its record, whether it succeeded or not.

        Raises:
            TimeoutError: It has not ended after ``timeout`` seconds.
        """
        if not self._waiter.wait((self.run_id,), timeout):
            raise TimeoutError(f"{self.run_id} has not ended after {timeout:g} s")
        return self._waiter.run(self.run_id)

    async def result_async(self, timeout: float | None = None) -> RunRecord:
        """Do what ``result`` does, without blocking the event loop."""
        if not await self._waiter.wait_async((self.run_id,), timeout):
            raise TimeoutError(f"{self.run_id} has not ended after {timeout:g} s")
        return self._waiter.run(self.run_id)
