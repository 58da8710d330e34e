"""Any history of spawns, ends, timeouts and reads against a model that fits on one page.

Rules: O-1, O-2, O-4, O-40, O-41, O-43, O-44, O-46, O-53, O-54.
"""

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aggregate import SpawnError, SubagentSession
from tests.agents.subagents.records import record_of
from tests.fakes.time import FakeTime

NAMES = st.sampled_from(["$a", "$aa"])
PICK = st.integers(0, 1000)


class Lifecycle(RuleBasedStateMachine):
    """The model: for each name the runs in spawn order, each pending or with its outcome."""

    def __init__(self) -> None:
        super().__init__()
        self.time = FakeTime()
        self.session = SubagentSession(clock=self.time, timer=self.time.seconds, group_timeout=100)
        self.groups: dict[str, dict[str, tuple[str, str] | None]] = {}
        self.closed: set[str] = set()
        self.ids: list[str] = []
        self.number = 0

    @rule(name=NAMES)
    def spawn(self, name: str) -> None:
        if name in self.closed:
            with pytest.raises(SpawnError, match="is closed"):
                self.session.spawn("task", collect_into=name)
            return
        run_id = self.session.spawn("task", collect_into=name).run_id
        self.groups.setdefault(name, {})[run_id] = None
        self.ids.append(run_id)

    @precondition(lambda self: self.ids)
    @rule(pick=PICK, kind=st.sampled_from(["complete", "fail", "time_out"]))
    def end(self, pick: int, kind: str) -> None:
        run_id = self.ids[pick % len(self.ids)]
        self.number += 1
        text = f"output {self.number}"
        runs = next((runs for runs in self.groups.values() if run_id in runs), None)
        counts = runs is not None and runs[run_id] is None
        given = (run_id,) if kind == "time_out" else (run_id, text)
        assert getattr(self.session, kind)(*given) is counts
        if runs is not None and counts:
            runs[run_id] = (kind, text)

    @rule(seconds=st.sampled_from([40, 100]))
    def let_time_pass(self, seconds: int) -> None:
        self.time.advance(seconds)
        for runs in self.groups.values():
            for run_id, outcome in runs.items():
                timed_out = outcome is None and record_of(self.session, run_id).status != "pending"
                runs[run_id] = ("time_out", "") if timed_out else outcome
        if seconds == 100:
            assert all(None not in runs.values() for runs in self.groups.values())

    @rule(name=NAMES)
    def close(self, name: str) -> None:
        self.session.close(name)
        if name in self.groups:
            self.closed.add(name)

    @rule(name=NAMES)
    def clear(self, name: str) -> None:
        self.session.clear(name)
        self.groups.pop(name, None)
        self.closed.discard(name)

    @invariant()
    def what_is_read_is_what_the_model_says(self) -> None:
        """Names, status, count, value and errors agree, and reading twice gives the same."""
        assert list(self.session.subagent_results) == list(self.groups)
        for name, runs in self.groups.items():
            result = self.session.subagent_results[name]
            ends = [outcome for outcome in runs.values() if outcome is not None]
            whole = len(ends) == len(runs)
            open_status = "partial" if ends else "pending"
            assert result.status == ("complete" if whole else open_status)
            assert result.count == len(ends)
            values = [text for kind, text in ends if kind == "complete"]
            assert result.value == (values if whole else None)
            assert len(result.errors) == (len(ends) - len(values) if whole else 0)
            assert self.session.subagent_results[name] == result


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(stateful_step_count=30)
