"""What a session knows of a run that it must know."""

from typing import Any

from aggregate import SubagentSession


def record_of(session: SubagentSession, run_id: str) -> Any:
    record = session.run(run_id)
    assert record is not None
    return record
