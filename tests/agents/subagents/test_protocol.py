"""The sessions_spawn protocol: parameters in, responses out, shown whole (rules O-1, O-11, O-12, O-20 to O-25)."""

import pytest

from aggregate import SubagentSession, sessions_spawn
from tests.agents.subagents.records import record_of
from tests.fakes.time import FakeTime

NOTE = "The result of each run is delivered on its own."


def test_one_run_is_accepted() -> None:
    """The response names the child session, the run and the group (O-1, O-12)."""
    session = SubagentSession("agent:main")
    response = sessions_spawn(
        session, {"task": "search A", "collectInto": "$research", "mergeStrategy": "json"}
    )
    assert response == {
        "status": "accepted",
        "childSessionKey": "agent:main:subagent:agent:main-1",
        "runId": "agent:main-1",
        "aggregationGroup": {"variableName": "$research", "mergeStrategy": "json"},
        "note": NOTE,
    }


STRATEGIES = "mergeStrategy must be one of concat, json, merge, first, last, custom, not "
ERRORS = [
    ({"collectInto": "research"}, 'collectInto must start with "$" (e.g., "$research")', "INVALID_COLLECT_INTO"),
    ({"collectInto": "$"}, 'collectInto must be "$" and a name of letters, digits and "_" (e.g., "$research")', "INVALID_COLLECT_INTO"),
    ({"collectInto": "$a", "mergeStrategy": "zip"}, STRATEGIES + "'zip'", "INVALID_MERGE_STRATEGY"),
    ({"collectInto": "$a", "mergeStrategy": "custom"}, 'mergeStrategy "custom" needs customFunction', "MISSING_CUSTOM_FUNCTION"),
    ({"collectInto": "$a", "mergeStrategy": {}}, STRATEGIES + "{}", "INVALID_MERGE_STRATEGY"),
    ({"mergeStrategy": "json"}, "mergeStrategy and customFunction need collectInto", "MISSING_COLLECT_INTO"),
    ({"task": ""}, "task must be a text that is not empty, or a callable", "INVALID_TASK"),
    ({"task": ["a"]}, "task must be a text that is not empty, or a callable", "INVALID_TASK"),
    ({"runTimeoutSeconds": "soon"}, "runTimeoutSeconds must be a number", "INVALID_TIMEOUT"),
    ({"label": 5}, "label must be a text", "INVALID_PARAMETER"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "error", "code"), ERRORS)
def test_errors_have_codes_and_spawn_nothing(
    parameters: dict[str, object], error: str, code: str
) -> None:
    """What cannot be spawned answers with a sentence and a code (O-20, O-21, O-22, O-24)."""
    session = SubagentSession()
    answer = sessions_spawn(session, {"task": "t", **parameters})
    assert answer == {"status": "error", "error": error, "code": code}
    assert session.run("main-1") is None


def test_a_refused_run_is_forbidden_and_counted() -> None:
    """The hook admit sees the host's options; its refusal answers forbidden and is in the group at once.

    Rules: O-11, O-12, O-51.
    """
    session = SubagentSession(
        admit=lambda request: "no such agent" if request.options["agentId"] == "x" else None
    )
    response = sessions_spawn(
        session, {"task": "t", "label": "A", "agentId": "x", "collectInto": "$a"}
    )
    assert (response["status"], response["error"]) == ("forbidden", "no such agent")
    assert session.subagent_results["$a"].errors == ("A failed: no such agent",)


def test_timeouts_and_unsupported_parameters() -> None:
    """The name timeoutSeconds is an alias, 0 means none, and what is not supported is named in the note (O-11)."""
    time = FakeTime()
    session = SubagentSession(clock=time, timer=time.seconds)
    sessions_spawn(session, {"task": "t", "timeoutSeconds": 5, "collectInto": "$a"})
    sessions_spawn(session, {"task": "t", "runTimeoutSeconds": 0})
    time.advance(5)
    assert [record_of(session, f"main-{n}").status for n in (1, 2)] == ["timeout", "pending"]
    response = sessions_spawn(
        session, {"task": "t", "retryCount": 2, "chainAfter": "x", "model": "m"}
    )
    assert response["note"] == f"{NOTE} Not supported and ignored: retryCount, chainAfter."
