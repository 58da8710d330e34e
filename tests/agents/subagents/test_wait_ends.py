"""``wait()`` ends, whatever tasks, functions, executors, clocks and timers do (rules O-44, O-46, O-48, O-51, O-53)."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.agents.subagents.endings import DEADLINE, SCENES

CIRCLE = "$a cannot be waited for here: it waits for this very run"
NOT_BEGUN = "cancelled: the session ended before it began"
UNREADABLE = "its message cannot be read"
NO_THREAD = "RuntimeError: can't start new thread"
CANCELLED = "RuntimeError: the executor cancelled the task"

EXPECTED: dict[str, Any] = {
    "unprintable_exceptions": [
        "complete",
        [],
        [
            f"main-1 failed: MuteError: {UNREADABLE}",
            f"main-2 failed: QuittingError: {UNREADABLE}",
            "main-3 failed: AnonymousError",
            "main-4 failed: OddError: odd",
        ],
    ],
    "base_exceptions": [
        "complete",
        [],
        [
            "main-1 failed: SystemExit: 2",
            "main-2 failed: KeyboardInterrupt",
            "main-3 failed: GeneratorExit",
            "main-4 failed: CancelledError",
            "main-5 failed: BaseException: x",
        ],
    ],
    "base_exceptions_inline": ["complete", [7], ["main-1 failed: SystemExit: 2", "main-2 failed: GeneratorExit"]],
    "hostile_outputs": ["complete", [], ["main-1 failed: the output cannot be copied: KeyboardInterrupt"]],
    "queued_at_the_end": ["complete", [True], [f"B failed: {NOT_BEGUN}"], "cancelled"],
    "shut_down_elsewhere": ["complete", [], [f"B failed: {NOT_BEGUN}"]],
    "timeouts_outlive_the_session": ["complete", [], ["A failed: timeout after 0.05 s"]],
    "pool_cancels_what_it_holds": ["complete", [True], [f"B failed: {CANCELLED}", f"C failed: {CANCELLED}"]],
    "a_run_waits_for_its_own_group": ["complete", [], [f"{label} failed: WaitError: {CIRCLE}" for label in "AB"]],
    "runs_that_wait_for_runs_behind_them": [
        ["complete", [[[name], 1] for name in ("$b", "$c", "$d", "$e")], []],
        [7],
    ],
    "a_function_waits_for_itself": [
        "complete",
        {"error": "Custom merge function failed", "originalResults": [1]},
        ["Custom merge function failed: WaitError: the custom function of $a reads $a itself"],
    ],
    "a_clock_that_fails": ["complete", [1], [], True],
    "timers_that_fail": [["complete", [2], [f"A failed: {NO_THREAD}"]], ["complete", [], [f"A failed: {NO_THREAD}"]]],
    "timers_that_fire_at_once": ["complete", [], ["A failed: timeout: the group was open for 1 s"]],
    "timeouts_of_every_size": [["complete", [], ["A failed: timeout after 0.05 s"]], [1], "pending"],
    "an_action_that_leaves": True,
    "foreign_code_that_comes_back": ["complete", [1], []],
    "a_forked_child": ["the session belongs to the process that made it: make another one in a forked child"],
}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    """Run every situation in a process of its own."""
    command = [sys.executable, "-m", "tests.agents.subagents.endings"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=4 * DEADLINE)
    assert ran.returncode == 0, ran.stderr
    returned: dict[str, Any] = json.loads(ran.stdout)
    return returned


def test_no_situation_is_forgotten() -> None:
    """Each situation is expected to end in some way."""
    assert set(EXPECTED) == set(SCENES)


@pytest.mark.parametrize("name", EXPECTED)
def test_wait_ends(outcomes: dict[str, Any], name: str) -> None:
    """The waiter sees every run's end, and what kept it from ending before is named."""
    assert outcomes[name] == EXPECTED[name]
