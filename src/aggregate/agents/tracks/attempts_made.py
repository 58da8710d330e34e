"""The recorded steps of the attempts at a ticket."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aggregate.agents.subagents import RunStatus
from aggregate.agents.tracks.assignment import RecordedStep
from aggregate.agents.tracks.attempt import Attempt
from aggregate.agents.tracks.run_control import PastRun, latest_run
from aggregate.base.errors import TrackError
from aggregate.project.configuration import Project


@dataclass(frozen=True, slots=True)
class MadeStep:
    what: str  # such as ``turn 2: read_file``, ``wrote: replace_text`` or ``check``
    fault: str = ""  # the first line of an error
    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class MadeAttempt:
    round: int
    number: int
    steps: tuple[MadeStep, ...]
    end: Attempt | None = None  # None while it is under way

    @property
    def state(self) -> str:
        if self.end is None:
            return "under way"
        return "done" if self.end.status is RunStatus.SUCCESS else f"failed: {self.end.text}"


def made_attempts(
    project: Project, name: str, ticket_id: str, *, database: str = ""
) -> list[MadeAttempt]:
    """Return all attempts of the latest run at a ticket in order."""
    with latest_run(project, name, database) as (runs, run):
        past = PastRun.of(runs, run)
        if ticket_id not in past.tickets:
            raise TrackError(f'{run.run_id} has no ticket "{ticket_id}": correct its name')
        made: list[MadeAttempt] = []
        for number, key in enumerate(past.keys_of_rounds(ticket_id), start=1):
            made += _attempts(runs.queue.steps(key), number)
        return made


def _attempts(records: Sequence[RecordedStep], round_number: int) -> Iterator[MadeAttempt]:
    steps: list[MadeStep] = []
    number, turns = 1, 0
    for name, record, _ in records:
        if name == "attempt":
            yield MadeAttempt(round_number, number, tuple(steps), Attempt.from_recorded(record))
            steps, number, turns = [], number + 1, 0
        elif isinstance(record, Mapping):
            turns += name == "turn"
            steps.append(_step(name, record, turns))
    if steps or number == 1:
        yield MadeAttempt(round_number, number, tuple(steps))


def _step(name: str, record: Mapping[str, Any], turn: int) -> MadeStep:
    seconds = float(record.get("seconds", 0))
    if record.get("timeout"):
        return MadeStep(name, "timed out", seconds)
    if name == "turn":
        calls = ", ".join(str(call.get("name")) for call in record.get("calls", ()))
        what = f"turn {turn}: {calls or 'answered'}"
        return MadeStep(what, str(record.get("error", "")), seconds, int(record.get("tokens", 0)))
    if name == "check":
        said = str(record.get("said", ""))
        return MadeStep("check", said.partition("\n")[0], seconds)
    results = [str(text) for text in record.get("results", ())]
    faults = [text.partition("\n")[0] for text in results if text.startswith("error: ")]
    what = {"calls": "read", "write": "wrote", "begin": "begins"}.get(name, name)
    return MadeStep(
        f"{what}: {', '.join(map(str, record.get('calls', ())))}", "; ".join(faults), seconds
    )
