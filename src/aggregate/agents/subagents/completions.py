"""Ends of runs: reported by the host, by the executor or by a timeout, all recorded in one way."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from aggregate.agents.subagents.session_state import CompletionStatus, SessionState
from aggregate.agents.subagents.timeouts import Timeouts, Timers
from aggregate.base.values import Group, RunStatus, Value, failure_text, isolated_copy, unawaited

logger: Final = logging.getLogger(__name__)


class Completions:
    """Records ends with their time and keeps the timeouts of one session."""

    def __init__(self, state: SessionState, clock: Callable[[], datetime], timers: Timers) -> None:
        self._state = state
        self._clock = clock
        self._timeouts = Timeouts(timers)

    def begin(self, run_id: str, seconds: float | None, expired: Callable[[], None]) -> bool:
        """Begin the timeout of a run that was queued; one that has ended meanwhile does not start: ``False``."""
        run = self._state.run(run_id)
        if run is None or run.status is not RunStatus.PENDING:
            return False
        if seconds is not None:
            self.watch_run(run_id, seconds, expired)
        return True

    def fail(self, run_id: str, error: object) -> bool:
        """Record why a run failed; ``False`` where it changes nothing."""
        return self.end(run_id, RunStatus.ERROR, failure_text(error))

    def end(self, run_id: str, status: RunStatus, result: Value) -> bool:
        """Record one end; log the one that changes nothing and return ``False`` for it (rules O-41, O-42, O-46)."""
        if refused := unawaited(result):
            result, status = refused, RunStatus.ERROR
        try:
            result = isolated_copy(result)
        except BaseException as error:  # noqa: BLE001 - foreign code runs here, and the run has to end
            status, result = RunStatus.ERROR, f"the output cannot be copied: {failure_text(error)}"
        ended = self._state.end(run_id, status, self._now(), result=result)
        self._timeouts.cancel(run_id)
        if ended.group is not None and ended.group.status.final:
            self.unwatch(ended.group)
        if ended.status is not CompletionStatus.RECORDED:
            logger.warning(
                "%s: this %s result is %s, the value stays as it is",
                run_id,
                status,
                ended.status.value,
            )
        return ended.status is CompletionStatus.RECORDED

    def _now(self) -> datetime:
        """Return the host's time; a clock that fails must not keep a run from ending."""
        try:
            return self._clock()
        except BaseException as error:  # noqa: BLE001 - foreign code
            logger.warning(
                "the session's clock failed, the system's is used: %s", failure_text(error)
            )
            return datetime.now(UTC)

    def watch_run(
        self, run_id: str, seconds: float, expired: Callable[[], None] | None = None
    ) -> None:
        """Time a run out after ``seconds`` and then call ``expired``."""

        def expire() -> None:
            self.end(run_id, RunStatus.TIMEOUT, f"timeout after {seconds:g} s")
            if expired is not None:
                expired()

        self._timeouts.begin(run_id, seconds, expire)

    def watch_group(
        self, group: Group, seconds: float, expired: Callable[[tuple[str, ...]], None]
    ) -> None:
        """Time out what is unfinished ``seconds`` after the group was opened and tell ``expired`` the runs' ids."""
        name, opened = group.variable_name, group.opened

        def expire() -> None:
            late = f"timeout: the group was open for {seconds:g} s"
            run_ids = self._state.expire(name, opened, self._now(), reason=late)
            for run_id in run_ids:
                self._timeouts.cancel(run_id)
            expired(run_ids)

        self._timeouts.begin((name, opened), seconds, expire)

    def unwatch(self, group: Group, run_ids: tuple[str, ...] = ()) -> None:
        """Watch a group, and these of its runs, no longer."""
        for key in ((group.variable_name, group.opened), *run_ids):
            self._timeouts.cancel(key)
