"""The life of groups, seen from outside (rules O-1 to O-10 and O-40 to O-56)."""

from collections.abc import Callable
from typing import Any

import pytest

from aggregate import RunStatus, SpawnError, SubagentSession
from tests.agents.subagents.records import record_of
from tests.fakes.time import FakeTime

NAME = "$research"


def session_at(time: FakeTime | None = None, **options: Any) -> SubagentSession:
    time = time or FakeTime()
    return SubagentSession(clock=time, timer=time.seconds, **options)


def spawned(session: SubagentSession, *labels: str, **options: object) -> list[str]:
    """Spawn one run for each label into ``$research`` and return the ids."""
    return [
        session.spawn("task", label=label, collect_into=NAME, **options).run_id  # type: ignore[arg-type]
        for label in labels
    ]


def refusal(session: SubagentSession, label: str) -> str:
    """Return the code with which a spawn is refused."""
    with pytest.raises(SpawnError) as error:
        spawned(session, label)
    return error.value.code


def test_sessions_are_isolated_by_exact_key() -> None:
    """A session whose key is the beginning of another's sees nothing of it, and takes no end of its runs.

    Rules: O-42, O-53.
    """
    long, short = SubagentSession("agent:main:main"), SubagentSession("agent:main:ma")
    run = long.spawn("task", collect_into=NAME)
    assert not short.complete(run.run_id, "x")
    long.complete(run.run_id, "x")
    assert dict(short.subagent_results) == {}
    assert long.subagent_results.bare[NAME] == ["x"]


def test_an_unknown_variable_is_empty() -> None:
    """Reading a name that nobody collected into gives an empty result; it is not in the mapping (O-45)."""
    results = session_at().subagent_results
    nothing = results["$none"]
    assert (nothing.value, nothing.status, nothing.count) == (None, "empty", 0)
    assert results.bare["$none"] is None
    assert "$none" not in results
    assert "$none" not in results.bare
    assert len(results.bare) == 0


def test_a_group_timeout_ends_what_is_unfinished() -> None:
    """After group_timeout the value is final, names who is missing, and does not change any more (O-7, O-46)."""
    time = FakeTime()
    session = session_at(time, group_timeout=30)
    first, second = spawned(session, "A", "B")
    session.complete(first, "a")
    time.advance(30)
    result = session.subagent_results[NAME]
    assert (result.value, result.status) == (["a"], "complete")
    assert result.errors == ("B failed: timeout: the group was open for 30 s",)
    assert record_of(session, second).status is RunStatus.TIMEOUT
    assert not session.complete(second, "late")
    assert session.subagent_results[NAME] == result
    assert [(run.run_id, run.output) for run in session.late()] == [(second, "late")]


def test_a_run_timeout_names_the_run() -> None:
    """A run with a timeout of its own ends as timed out; one that ended in time is left alone (O-46, O-48)."""
    time = FakeTime()
    session = session_at(time)
    spawned(session, "Task A", timeout=5)
    (quick,) = spawned(session, "Task B", timeout=5)
    session.complete(quick, "b")
    time.advance(5)
    assert session.subagent_results[NAME].errors == ("Task A failed: timeout after 5 s",)
    assert session.subagent_results.bare[NAME] == ["b"]


def test_a_host_can_report_a_timeout() -> None:
    """time_out ends a run; what it gives later is kept as late and only once (O-46)."""
    session = session_at()
    (run_id,) = spawned(session, "A")
    assert session.time_out(run_id)
    assert not session.time_out(run_id)
    assert not session.complete(run_id, "first")
    assert not session.complete(run_id, "second")
    assert session.subagent_results[NAME].errors == ("A failed: timeout",)
    assert [run.output for run in session.late()] == ["first"]


CONFLICTS = [
    ({"merge_strategy": "json"}, "mergeStrategy"),
    ({"merge_strategy": "custom", "custom_function": "len(results)"}, "mergeStrategy"),
    ({"order": "completion"}, "order"),
]


@pytest.mark.parametrize(("options", "named"), CONFLICTS)
def test_a_conflicting_strategy_is_refused(options: dict[str, str], named: str) -> None:
    """Another strategy for the same name spawns nothing and leaves the group as it was; none inherits (O-47)."""
    session = session_at()
    (first,) = spawned(session, "", merge_strategy="concat")
    with pytest.raises(SpawnError, match=named) as error:
        spawned(session, "", **options)
    assert error.value.code == "MERGE_STRATEGY_CONFLICT"
    (second,) = spawned(session, "")
    session.complete(first, "a")
    session.complete(second, "b")
    assert session.subagent_results[NAME].count == 2


def counting(extra: int) -> Callable[[list[Any]], int]:
    return lambda results: len(results) + extra


SAME = [(counting(1), counting(1)), (len, len), ("lambda results: 1", " lambda results: 1\n")]
DIFFERENT = [(counting(1), counting(2)), (len, max), ("results", "lambda results: 2"), ("len", len)]


@pytest.mark.parametrize(("one", "other"), [*SAME, *DIFFERENT])
def test_a_group_has_one_function(one: Any, other: Any) -> None:
    """A group takes the same function made anew, with the same captured values, and refuses another (O-47)."""
    session = session_at()
    spawned(session, "", custom_function=one)
    if (one, other) in SAME:
        spawned(session, "", custom_function=other)
    else:
        with pytest.raises(SpawnError, match="already has another customFunction"):
            spawned(session, "", custom_function=other)


ON_ERROR = [
    ("report", ["a", "c"], ("B failed: no network",), "complete", 3),
    ("skip", ["a", "c"], (), "complete", 3),
    ("fail", ["a"], ("B failed: no network",), "failed", 2),
]


@pytest.mark.parametrize(("on_error", "value", "errors", "status", "count"), ON_ERROR)
def test_failures_are_listed_skipped_or_final(
    on_error: str, value: list[str], errors: tuple[str, ...], status: str, count: int
) -> None:
    """A failed run is listed with its label and reason, or not listed, or ends the group; successes stay.

    Rules: O-6, O-48.
    """
    session = session_at(on_error=on_error)
    a, b, c = spawned(session, "A", "B", "C")
    session.complete(a, "a")
    session.fail(b, "no network")
    session.complete(c, "c")
    result = session.subagent_results[NAME]
    assert (result.value, result.errors) == (value, errors)
    assert (result.status, result.count) == (status, count)


def test_a_failed_group_keeps_what_comes_later_and_takes_no_more() -> None:
    """After on_error=fail the rest is late, each run still has its own record, and the group says whom it left.

    Rules: O-48.
    """
    session = session_at(on_error="fail")
    a, b = spawned(session, "A", "B")
    session.fail(a, "no")
    assert session.subagent_results[NAME].warnings == (
        "not included, since the group failed before they ended: B",
    )
    assert not session.complete(b, "b")
    assert record_of(session, b).output == "b"
    assert [run.run_id for run in session.late()] == [b]
    assert session.subagent_results[NAME].value == []
    assert refusal(session, "C") == "GROUP_FAILED"


ALL_FAILED: list[tuple[str, object]] = [
    ("concat", []),
    ("json", {}),
    ("merge", {}),
    ("first", None),
]


@pytest.mark.parametrize(("strategy", "value"), ALL_FAILED)
def test_a_group_whose_runs_all_failed_is_complete_and_empty(strategy: str, value: object) -> None:
    """Nothing succeeded: the value is the strategy's empty one, every failure is listed (O-49)."""
    session = session_at()
    for run_id in spawned(session, "A", "B", merge_strategy=strategy):
        session.fail(run_id, "no")
    result = session.subagent_results[NAME]
    assert (result.value, result.errors) == (value, ("A failed: no", "B failed: no"))
    assert result.status == "complete"


def test_a_refused_spawn_is_a_failed_member() -> None:
    """A refusal is recorded at once and the group does not wait for it (O-51)."""
    depth = "depth 2 is not allowed"
    session = session_at(admit=lambda request: depth if request.label == "B" else None)
    a, b = spawned(session, "A", "B")
    session.complete(a, "a")
    result = session.subagent_results[NAME]
    assert (result.value, result.errors) == (["a"], ("B failed: depth 2 is not allowed",))
    assert record_of(session, b).status is RunStatus.ERROR


def test_a_value_is_made_once_and_belongs_to_its_reader() -> None:
    """The function runs once, the time stands, and neither readers nor producers can change the value (O-53)."""
    time, calls = FakeTime(), []
    session = session_at(time)

    def merge(results: list[object]) -> list[object]:
        calls.append(len(results))
        return results

    (run_id,) = spawned(session, "", custom_function=merge)
    output = {"n": [1]}
    session.complete(run_id, output)
    output["n"].append(2)
    before = session.subagent_results[NAME]
    before.value[0]["n"].append(3)
    time.advance(60)
    after = session.subagent_results[NAME]
    assert (after.value, after.completed_at, calls) == ([{"n": [1]}], before.completed_at, [1])


def test_groups_are_closed_and_cleared_explicitly() -> None:
    """close() lets nothing in, clear() forgets; an end that comes afterwards is unknown (O-53)."""
    session = session_at()
    (run_id,) = spawned(session, "")
    session.close(NAME)
    assert refusal(session, "") == "GROUP_CLOSED"
    session.clear(NAME)
    assert NAME not in session.subagent_results
    assert not session.complete(run_id, "x")
    (again,) = spawned(session, "")
    session.complete(again, "y")
    assert session.subagent_results.bare[NAME] == ["y"]
    session.clear()
    assert dict(session.subagent_results) == {}


def test_clearing_everything_forgets_ended_runs_and_tells_who_waits() -> None:
    """clear() without a name drops lone runs that have ended; a handle of a cleared run reads as failed (O-53)."""
    time = FakeTime()
    session = session_at(time, group_timeout=9)
    lone, open_lone = session.spawn("t"), session.spawn("t")
    grouped = session.spawn("t", collect_into=NAME, timeout=9)
    session.complete(lone.run_id, "x")
    session.clear()
    assert session.run(lone.run_id) is None
    assert record_of(session, open_lone.run_id).status is RunStatus.PENDING
    assert grouped.result().error == "the run was cleared"
    time.advance(10)
    assert dict(session.subagent_results) == {}


def test_an_empty_output_is_a_success_with_a_warning() -> None:
    """An empty reply is kept, counted and named (O-55)."""
    session = session_at()
    a, b = spawned(session, "A", "B")
    session.complete(a, "")
    session.complete(b, "b")
    result = session.subagent_results[NAME]
    assert (result.value, result.errors) == (["", "b"], ())
    assert result.warnings == ("A: the output is empty",)


def test_a_race_takes_the_order_of_completion() -> None:
    """order="completion" makes first the one that ended first (O-40)."""
    session = session_at()
    a, b = spawned(session, "A", "B", merge_strategy="first", order="completion")
    session.complete(b, "fast")
    session.complete(a, "slow")
    assert session.subagent_results.bare[NAME] == "fast"


def test_the_text_of_a_group_is_what_a_reader_sees() -> None:
    """A concat reads as its items, each with its label (O-3)."""
    session = session_at()
    for label, output in (("Reddit", "loved"), ("", "mixed"), ("YouTube", {"n": 1})):
        session.complete(session.spawn("task", label=label, collect_into=NAME).run_id, output)
    assert session.text(NAME) == 'Reddit: loved\n\nmixed\n\nYouTube: {\n  "n": 1\n}'
    assert session.text(NAME, labels=False) == 'loved\n\nmixed\n\n{\n  "n": 1\n}'
    assert session.text("$none") == ""


BAD = [
    ({"collect_into": "research"}, "INVALID_COLLECT_INTO"),
    ({"collect_into": "$"}, "INVALID_COLLECT_INTO"),
    ({"collect_into": "$a b"}, "INVALID_COLLECT_INTO"),
    ({"collect_into": 7}, "INVALID_COLLECT_INTO"),
    ({"collect_into": "$a", "merge_strategy": "concatenate"}, "INVALID_MERGE_STRATEGY"),
    ({"collect_into": "$a", "merge_strategy": 3}, "INVALID_MERGE_STRATEGY"),
    ({"collect_into": "$a", "merge_strategy": "custom"}, "MISSING_CUSTOM_FUNCTION"),
    ({"collect_into": "$a", "merge_strategy": "custom", "custom_function": " "}, "MISSING_CUSTOM_FUNCTION"),
    ({"collect_into": "$a", "custom_function": 3}, "INVALID_CUSTOM_FUNCTION"),
    ({"collect_into": "$a", "merge_strategy": "json", "custom_function": "1"}, "INVALID_CUSTOM_FUNCTION"),
    ({"collect_into": "$a", "order": "random"}, "INVALID_ORDER"),
    ({"merge_strategy": "json"}, "MISSING_COLLECT_INTO"),
    ({"collect_into": "  ", "custom_function": "1"}, "MISSING_COLLECT_INTO"),
    ({"timeout": 0}, "INVALID_TIMEOUT"),
    ({"timeout": float("nan")}, "INVALID_TIMEOUT"),
    ({"task": " "}, "INVALID_TASK"),
    ({"task": 5}, "INVALID_TASK"),
    ({"task": print}, "INVALID_TASK"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "code"), BAD)
def test_a_bad_request_spawns_nothing(options: dict[str, Any], code: str) -> None:
    """Names, strategies and functions are checked before anything is spawned (O-3, O-20, O-21, O-22, O-24)."""
    session = session_at()
    with pytest.raises(SpawnError) as error:
        session.spawn(**{"task": "task", **options})
    assert error.value.code == code
    assert session.spawn("task").run_id == "main-1"
    assert len(session.subagent_results) == 0


def test_names_are_trimmed_and_empty_means_absent() -> None:
    """Spaces around names do not count (O-25)."""
    session = session_at()
    names: dict[str, Any] = {"label": " A ", "collect_into": " $a ", "merge_strategy": " json "}
    run = session.spawn("task", **names, custom_function="")
    session.complete(run.run_id, 1)
    assert dict(session.subagent_results.bare) == {"$a": {"A": 1}}
    run = session.spawn("task", collect_into="", merge_strategy="")
    assert record_of(session, run.run_id).variable_name is None


@pytest.mark.parametrize(
    "read",
    [
        lambda session: session.subagent_results[NAME].value,
        lambda session: session.subagent_results.bare[NAME],
        lambda session: session.wait(NAME, timeout=1).value,
        lambda session: session.wait(timeout=1),
    ],
)
def test_a_custom_function_that_reads_its_own_variable(read: Callable[[Any], object]) -> None:
    """The group ends with an error at once; other variables stay readable in the function (O-9, O-53)."""
    session = session_at()
    session.complete(session.spawn("task", collect_into="$other").run_id, "x")
    options = {"merge_strategy": "custom", "custom_function": lambda _outputs: read(session)}
    (run,) = spawned(session, "a", **options)
    session.complete(run, "b")
    result = session.wait(NAME, timeout=1)
    assert result.value == {"error": "Custom merge function failed", "originalResults": ["b"]}
    assert "reads $research itself" in result.errors[0]
    assert session.wait("$other").value == ["x"]
    third = session.spawn(
        "task",
        collect_into="$third",
        merge_strategy="custom",
        custom_function=lambda _outputs: session.subagent_results.bare["$other"],
    )
    session.complete(third.run_id, "c")
    assert session.subagent_results.bare["$third"] == ["x"]
