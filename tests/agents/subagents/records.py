"""What a session knows of a run that it must know."""

from aggregate import SubagentSession
from aggregate.base.values import RunRecord


def record_of(session: SubagentSession, run_id: str) -> RunRecord:
    record = session.run(run_id)
    assert record is not None
    return record
