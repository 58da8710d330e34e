"""The ``sessions_spawn`` protocol: requests and responses in camelCase (O-1, O-11 to O-15)."""

from collections.abc import Mapping
from typing import Any, Final

from aggregate.agents.subagents.session import SubagentSession
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.json_forms import json_text
from aggregate.prompt.asking.results import AggregatedResult

OWN: Final = ("task", "label", "collectInto", "mergeStrategy", "customFunction", "order", "count")
TIMEOUTS: Final = ("runTimeoutSeconds", "timeoutSeconds")
# Parameters for the host, handed to ``admit``
HOST: Final = ("agentId", "model", "thinking", "cleanup", "skills", "sharedContext")
# Runs of one request: the largest measured number of results
MAX_COUNT: Final = 10_000
NOTE: Final = "The result of each run is delivered on its own."


def sessions_spawn(session: SubagentSession, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Spawn the sub-agents of a request, and return the response.

    A list of tasks or a count spawns several. The response for one run: ``{status, childSessionKey, runId, note,
    aggregationGroup}`` with status ``accepted`` or ``forbidden``. For several: ``{status, spawned, accepted, failed,
    results, note}`` with status ``accepted`` or ``partial``. Invalid parameters never raise: the response is ``{status:
    "error", error, code}``, and nothing is spawned.
    """
    try:
        tasks = _tasks(parameters)
        if len(tasks) == 1 and not isinstance(parameters.get("task"), list | tuple):
            return {**_spawn(session, parameters, *tasks[0]), "note": _note(parameters)}
        # An error of the first task is one of the whole request.
        results = [_spawn(session, parameters, *tasks[0])]
    except SpawnError as error:
        return {"status": "error", "error": str(error), "code": error.code.value}
    for task, label in tasks[1:]:
        try:
            results.append(_spawn(session, parameters, task, label))
        except SpawnError as error:
            results.append({"status": "error", "error": str(error), "code": error.code.value})
    accepted = sum(result["status"] == "accepted" for result in results)
    return {
        "status": "accepted" if accepted == len(tasks) else "partial",
        "spawned": len(tasks),
        "accepted": accepted,
        "failed": len(tasks) - accepted,
        "results": results,
        "note": _note(parameters),
    }


def _tasks(parameters: Mapping[str, Any]) -> list[tuple[object, str | None]]:
    task = parameters.get("task")
    label = _text(parameters, "label")
    count = parameters.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_COUNT:
        raise SpawnError(
            f"count must be a whole number from 1 to {MAX_COUNT}", code=Refusal.INVALID_COUNT
        )
    several = task if isinstance(task, list | tuple) else [task] * count
    if len(several) > MAX_COUNT:
        raise SpawnError(
            f"task lists {len(several):,} tasks, one request takes at most {MAX_COUNT:,}: spread them over several",
            code=Refusal.INVALID_COUNT,
        )
    if not several:
        raise SpawnError("task must not be an empty list", code=Refusal.INVALID_TASK)
    if len(several) == 1:
        return [(several[0], label)]
    return [
        (entry, f"{label}-{number}" if label else None) for number, entry in enumerate(several, 1)
    ]


def _spawn(
    session: SubagentSession, parameters: Mapping[str, Any], task: object, label: str | None
) -> dict[str, Any]:
    seconds = next((parameters[key] for key in TIMEOUTS if parameters.get(key) is not None), None)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | None):
        raise SpawnError("runTimeoutSeconds must be a number", code=Refusal.INVALID_TIMEOUT)
    handle = session.spawn(
        task,
        label=label,
        collect_into=parameters.get("collectInto"),
        merge_strategy=parameters.get("mergeStrategy"),
        custom_function=parameters.get("customFunction"),
        timeout=seconds or None,
        order=_text(parameters, "order"),
        options={key: parameters[key] for key in HOST if key in parameters},
    )
    response: dict[str, Any] = {
        "status": "accepted" if handle.refused is None else "forbidden",
        "childSessionKey": f"{session.session_key}:subagent:{handle.run_id}",
        "runId": handle.run_id,
    }
    if handle.refused is not None:
        response["error"] = handle.refused
    if group := session.group(str(parameters.get("collectInto") or "").strip()):
        response["aggregationGroup"] = {
            "variableName": group.variable_name,
            "mergeStrategy": str(group.strategy),
        }
    return response


def _text(parameters: Mapping[str, Any], key: str) -> str | None:
    value = parameters.get(key)
    if value is not None and not isinstance(value, str):
        raise SpawnError(f"{key} must be a text", code=Refusal.INVALID_PARAMETER)
    return value


def _note(parameters: Mapping[str, Any]) -> str:
    """Return the note of a response, which lists unknown parameters."""
    ignored = [key for key in parameters if key not in (*OWN, *TIMEOUTS, *HOST)]
    return f"{NOTE} Not supported and ignored: {', '.join(ignored)}." if ignored else NOTE


def subagent_results(session: SubagentSession) -> dict[str, dict[str, Any]]:
    """Return the results of a session's finished groups.

    The keys are the groups' variables (rule O-14).
    """
    results = session.subagent_results.items()
    return {name: envelope(result) for name, result in results if result.status.final}


def envelope(result: AggregatedResult) -> dict[str, Any]:
    """Return a merged result with the protocol's field names (O-10)."""
    return {
        "variableName": result.variable_name,
        "strategy": str(result.strategy),
        "value": result.value,
        "errors": list(result.errors),
        "warnings": list(result.warnings),
        "completedAt": result.completed_at.isoformat() if result.completed_at else None,
        "count": result.count,
        "status": str(result.status),
    }


def announcement(*results: AggregatedResult) -> str:
    """Return a message on finished groups for the parent agent.

    Rule O-15. Values are JSON on one line: no text can look like the announcement of another group.
    """
    lines = [f"\N{PACKAGE} {result.variable_name}: {json_text(result.value)}" for result in results]
    return "\n".join(["---", "Collected Results (collectInto):", *lines]) if lines else ""
