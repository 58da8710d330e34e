"""The ``sessions_spawn`` protocol: requests and responses in camelCase (O-1, O-11, O-12)."""

from collections.abc import Mapping
from typing import Any, Final

from aggregate.agents.subagents.session import SubagentSession
from aggregate.base.errors import Refusal, SpawnError

OWN: Final = ("task", "label", "collectInto", "mergeStrategy", "customFunction", "order")
TIMEOUTS: Final = ("runTimeoutSeconds", "timeoutSeconds")
# Parameters for the host, handed to ``admit``
HOST: Final = ("agentId", "model", "thinking", "cleanup", "skills", "sharedContext")
NOTE: Final = "The result of each run is delivered on its own."


def sessions_spawn(session: SubagentSession, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Spawn the sub-agent of a request, and return the response.

    The response is ``{status, childSessionKey, runId, note, aggregationGroup}`` with status ``accepted`` or
    ``forbidden``; the note lists unknown parameters. Invalid parameters never raise: the response is ``{status:
    "error", error, code}``, and nothing is spawned.
    """
    seconds = next((parameters[key] for key in TIMEOUTS if parameters.get(key) is not None), None)
    try:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float | None):
            raise SpawnError("runTimeoutSeconds must be a number", code=Refusal.INVALID_TIMEOUT)
        handle = session.spawn(
            parameters.get("task"),
            label=_text(parameters, "label"),
            collect_into=parameters.get("collectInto"),
            merge_strategy=parameters.get("mergeStrategy"),
            custom_function=parameters.get("customFunction"),
            timeout=seconds or None,
            order=_text(parameters, "order"),
            options={key: parameters[key] for key in HOST if key in parameters},
        )
    except SpawnError as error:
        return {"status": "error", "error": str(error), "code": error.code.value}
    response: dict[str, Any] = {
        "status": "accepted" if handle.refused is None else "forbidden",
        "childSessionKey": f"{session.session_key}:subagent:{handle.run_id}",
        "runId": handle.run_id,
        "note": NOTE,
    }
    if handle.refused is not None:
        response["error"] = handle.refused
    if group := session.group(str(parameters.get("collectInto") or "").strip()):
        names = {"variableName": group.variable_name, "mergeStrategy": str(group.strategy)}
        response["aggregationGroup"] = names
    if ignored := [key for key in parameters if key not in (*OWN, *TIMEOUTS, *HOST)]:
        response["note"] = f"{NOTE} Not supported and ignored: {', '.join(ignored)}."
    return response


def _text(parameters: Mapping[str, Any], key: str) -> str | None:
    value = parameters.get(key)
    if value is not None and not isinstance(value, str):
        raise SpawnError(f"{key} must be a text", code=Refusal.INVALID_PARAMETER)
    return value
