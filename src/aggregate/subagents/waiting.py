"""Wait for groups and runs, in threads and in event loops."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import TimeoutError as FutureTimeoutError
from time import monotonic

from aggregate.models.group import RunRecord, RunStatus
from aggregate.subagents.ledger import Ledger


class Waiter:
    """Waits until runs or groups have ended; keys are run ids and variable names."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def wait(self, keys: Iterable[str], timeout: float | None) -> bool:
        """Block until all have ended and return ``True``, or ``False`` after ``timeout`` seconds."""
        deadline = _deadline(timeout)
        for key in keys:
            while (change := self._ledger.change(key)) is not None:
                try:
                    change.result(_left(deadline))
                except FutureTimeoutError:
                    change.cancel()
                    return False
        return True

    async def wait_async(self, keys: Iterable[str], timeout: float | None) -> bool:
        """Do what ``wait`` does, without blocking the event loop."""
        deadline = _deadline(timeout)
        for key in keys:
            while (change := self._ledger.change(key)) is not None:
                try:
                    await asyncio.wait_for(asyncio.wrap_future(change), _left(deadline))
                except TimeoutError:
                    return False
        return True

    def run(self, run_id: str) -> RunRecord:
        """Return a run's record; a run that was cleared reads as failed."""
        cleared = RunRecord(run_id, "", status=RunStatus.ERROR, error="the run was cleared")
        return self._ledger.run(run_id) or cleared


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else monotonic() + timeout


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - monotonic())


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
