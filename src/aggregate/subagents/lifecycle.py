"""The life of groups and runs as pure functions: a state and an event go in, the next state comes out.

A group is ``pending`` until its first result, ``partial`` until its last, then ``complete``; a spawn opens a complete
group again. With ``OnError.FAIL`` the first failure ends it as ``failed``. No clock, lock or thread is known here
(rules O-40..O-56).
"""

from dataclasses import replace
from datetime import datetime

from aggregate.models.group import Group, GroupStatus, OnError, RunRecord, RunStatus
from aggregate.models.plain import Value


def with_run(group: Group) -> Group:
    """Return ``group`` with one run more; a complete group opens again and gives up its value (rule O-43)."""
    grown = replace(group, spawned=group.spawned + 1)
    if not group.status.final:
        return grown
    status = GroupStatus.PARTIAL if group.ended else GroupStatus.PENDING
    return replace(grown, status=status, opened=group.opened + 1, completed_at=None, last_sequence=0)


def with_result(group: Group, run: RunRecord) -> Group:
    """Return ``group`` after one of its runs has ended; a failed group only counts on (rules O-48, O-54)."""
    grown = replace(group, ended=group.ended + 1)
    if group.status is GroupStatus.FAILED:
        return grown
    if group.on_error is OnError.FAIL and run.status is not RunStatus.SUCCESS:
        return _over(grown, GroupStatus.FAILED, run)
    if grown.ended == grown.spawned:
        return _over(grown, GroupStatus.COMPLETE, run)
    return replace(grown, status=GroupStatus.PARTIAL)


def _over(group: Group, status: GroupStatus, run: RunRecord) -> Group:
    return replace(group, status=status, completed_at=run.completed_at, last_sequence=run.sequence)


def ended(run: RunRecord, status: RunStatus, at: datetime, sequence: int, *, result: Value) -> RunRecord:
    """Return ``run`` after its end.

    Args:
        run: A pending run.
        status: How it ended.
        at: When it ended.
        sequence: Its place among the session's ended runs.
        result: Its output for ``RunStatus.SUCCESS``, else the reason as text.
    """
    if status is RunStatus.SUCCESS:
        return replace(run, status=status, output=result, completed_at=at, sequence=sequence)
    return replace(run, status=status, error=str(result), completed_at=at, sequence=sequence)
