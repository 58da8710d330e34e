"""Detect tool loops that make no progress: repeated, malformed and announced calls, missing edits."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aggregate.agents.tools import ToolRegistry, checked_arguments
from aggregate.base.errors import ToolError
from aggregate.base.messages import did_you_mean
from aggregate.sending.models import CallResult, ToolCall

SAME_CALLS: Final = 3  # with the same arguments and result
MALFORMED_CALLS: Final = 5
CALL_NOW: Final = (
    "You announced a call and made none. Make the call now, or give your final answer."
)
ACT_OR_SAY: Final = (
    "You have changed no file. Make the change now with your tools, or say in one sentence why none is "
    "needed."
)
_ANNOUNCED: Final = re.compile(
    r"\b(?:i will|i'll|i’ll|i am going to|i'm going to|i’m going to"
    r"|let me(?! know)|let's|let’s|i(?: first)? need to|next,? i)\b"
    r"[^.!?\n]{0,120}\b(?:call|use|run|read|open|look|check|search|inspect|examine|edit|replace|write|update|fix|create)",
    re.IGNORECASE,
)
_MALFORMED: Final = "error: malformed call: "
_LONGEST_ANNOUNCEMENT: Final = 600  # characters; a longer text is an answer


def announces_call(text: str) -> bool:
    """Return whether an answer only announces a tool call."""
    return len(text) <= _LONGEST_ANNOUNCEMENT and _ANNOUNCED.search(text) is not None


def malformed(call: ToolCall, registry: ToolRegistry) -> str:
    """Return why a tool call cannot be run, ``""`` if it can."""
    if call.fault:
        return f"{_MALFORMED}{call.fault}"
    if call.name not in registry:
        near = did_you_mean(call.name, registry.names)
        return f"{_MALFORMED}there is no tool {call.name!r}: {near}"
    try:
        checked_arguments(registry.get(call.name), call.arguments)
    except ToolError as error:
        return f"{_MALFORMED}{error}"
    return ""


@dataclass(slots=True)
class CallWatch:
    """Counts malformed and repeated calls in a row."""

    _last: tuple[str, str, str] | None = None
    _same: int = 0
    _malformed: int = 0

    def stuck(self, results: Iterable[CallResult]) -> str:
        """Record the results of calls; return why the loop should stop, or ``""``."""
        for result in results:
            call = result.call
            key = (call.name, json.dumps(call.arguments, sort_keys=True, default=str), result.text)
            self._same = self._same + 1 if key == self._last else 1
            self._last = key
            is_malformed = result.text.startswith(_MALFORMED)
            self._malformed = self._malformed + 1 if is_malformed else 0
            if self._malformed >= MALFORMED_CALLS:
                return (
                    f"{self._malformed} calls in a row were malformed, the last one of {call.name}"
                )
            if self._same >= SAME_CALLS:
                return f"it made the same call of {call.name} {self._same} times in a row, with the same result"
        return ""
