"""The life of groups and runs as pure functions: a state and an event go in, the next state comes out.

A group is ``pending`` until its first result, ``partial`` until its last, then ``complete``; a spawn opens a complete
group again. With ``FailurePolicy.FAIL`` the first failure ends it as ``failed``. No clock, lock or thread is known here
(rules O-40..O-56).
"""

from dataclasses import replace
from datetime import datetime

from aggregate.base.values import FailurePolicy, Group, GroupStatus, RunRecord, RunStatus, Value


def with_run(group: Group) -> Group:
    """Return ``group`` with one run more; a complete group opens again and gives up its value (rule O-43)."""
    if not group.status.final:
        return _counted(group, group.status, spawned=group.spawned + 1)
    status = GroupStatus.PARTIAL if group.ended else GroupStatus.PENDING
    again = replace(group, opened=group.opened + 1, completed_at=None, last_sequence=0)
    return _counted(again, status, spawned=group.spawned + 1)


def with_result(group: Group, run: RunRecord) -> Group:
    """Return ``group`` after one of its runs has ended; a failed group only counts on (rules O-48, O-54)."""
    ended = group.ended + 1
    if group.status is GroupStatus.FAILED:
        return _counted(group, GroupStatus.FAILED, ended=ended)
    if group.on_error is FailurePolicy.FAIL and run.status is not RunStatus.SUCCESS:
        return _over(_counted(group, GroupStatus.FAILED, ended=ended), run)
    if ended == group.spawned:
        return _over(_counted(group, GroupStatus.COMPLETE, ended=ended), run)
    return _counted(group, GroupStatus.PARTIAL, ended=ended)


def _counted(
    group: Group, status: GroupStatus, *, spawned: int | None = None, ended: int | None = None
) -> Group:
    """Return ``group`` with another status and counts; in full, because ``replace`` takes five times as long."""
    return Group(
        group.variable_name,
        group.strategy,
        group.custom_function,
        group.order,
        group.on_error,
        status,
        group.spawned if spawned is None else spawned,
        group.ended if ended is None else ended,
        group.opened,
        group.completed_at,
        group.last_sequence,
        group.closed,
    )


def _over(group: Group, run: RunRecord) -> Group:
    return replace(group, completed_at=run.completed_at, last_sequence=run.sequence)


def ended_run(
    run: RunRecord, status: RunStatus, at: datetime, sequence: int, *, result: Value
) -> RunRecord:
    """Return ``run`` after its end.

    Args:
        run: A pending run.
        status: How it ended.
        at: When it ended.
        sequence: Its place among the session's ended runs.
        result: Its output for ``RunStatus.SUCCESS``, else the reason as text.
    """
    output, error = (result, None) if status is RunStatus.SUCCESS else (None, str(result))
    # In full, as above.
    return RunRecord(
        run.run_id,
        run.session_key,
        run.variable_name,
        run.label,
        status,
        output,
        error,
        at,
        sequence,
    )
