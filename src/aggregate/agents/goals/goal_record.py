"""What a goal has asked and called so far, kept so that another process can go on with it.

A goal does the same again where it is given the same answers and results. So each answer of the model and each result
of a tool is recorded under the place where it was asked for; a goal that is begun again is given what is recorded, and
asks and calls from there on.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from threading import Lock
from typing import Any, Final

from aggregate.agents.goals.questions import Completion
from aggregate.base.errors import ModelError
from aggregate.base.values import jsonable

MEMORY_KEY: Final = "memory"
"""Where the saved values stand that the goal began with."""
TOOL_KEY: Final = "tool"
"""Where the results of tools stand; all else are the model's answers, by their questions."""

NO_MEMORY: Final[Mapping[str, Any]] = {"memory": {}}
"""The entry there where nothing was saved."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A call that was running when its process ended: nobody knows whether it was done.

    Attributes:
        key: Where it was made.
        tool: Name of the tool.
        arguments: What it was called with, as JSON.
    """

    key: str
    tool: str
    arguments: str


class GoalRecord:
    """Where a goal keeps what it was given, from several threads; this one keeps nothing.

    Attributes:
        started: When the goal was begun for the first time.
        spent: Seconds that the goal had taken when the last entry was made.
    """

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self.spent = 0.0

    def recall(self, key: str, digest: str) -> Mapping[str, Any] | None:
        """Return the entry under ``key``, ``None`` where there is none.

        Raises:
            StateError: It belongs to something else than what has this digest.
        """
        return None

    def begin(self, key: str, digest: str, *, tool: str, arguments: str) -> bool:
        """Keep that a call begins; return whether it had begun before and may not be repeated."""
        return False

    def finish(self, key: str, digest: str, entry: Mapping[str, Any], *, seconds: float) -> None:
        """Keep an entry, and how many seconds the goal has taken."""

    def check(self) -> None:
        """Raise ``StateError`` if the record did not fit, or could not be used: what the goal gave is worth nothing."""


@dataclass(slots=True)
class PlaceCounter:
    """Numbers what is asked at one place, in its order: one thread works at a place."""

    _counts: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def key(self, place: str, what: str) -> str:
        """Return the name of the next ``what`` at ``place``: ``0.2/1.3 parameters 1``."""
        name = f"{place or 'goal'} {what}"
        with self._lock:
            self._counts[name] += 1
            return f"{name} {self._counts[name]}"


def completion_entry(completion: Completion) -> dict[str, Any]:
    """Return a model's answer as an entry."""
    return {
        "text": jsonable(completion.text),
        "tokens": completion.tokens,
        "problem": completion.problem,
        "charged": completion.charged,
    }


def check_entry(key: str, entry: object) -> Mapping[str, Any]:
    """Return an entry that was read under ``key``, which a damaged or forged record may have in any form.

    Raises:
        ValueError: It is not what is recorded there.
    """
    what = key.split(" ")[-2]
    if isinstance(entry, dict):
        if what == MEMORY_KEY and isinstance(entry.get("memory"), dict):
            return entry
        if what == TOOL_KEY and "result" in entry:
            return entry
        if what not in (MEMORY_KEY, TOOL_KEY) and _is_completion(entry):
            return entry
    raise ValueError(f"its entry at {key} is damaged")


def _is_completion(entry: Mapping[str, Any]) -> bool:
    if "error" in entry:
        return isinstance(entry["error"], str)
    if "text" not in entry or not isinstance(entry.get("problem"), str):
        return False
    amounts = [entry.get("tokens"), entry.get("charged") or 0]
    # Less than nothing would give a goal more than its limit.
    return all(isinstance(n, int | float) and isfinite(n) and n >= 0 for n in amounts)


def recorded_completion(entry: Mapping[str, Any]) -> Completion:
    """Return the answer in an entry.

    Raises:
        ModelError: The model gave none.
    """
    if "error" in entry:
        raise ModelError(entry["error"])
    return Completion(entry["text"], entry["tokens"], entry["problem"], entry["charged"])


def digest_of(text: str) -> str:
    """Return what tells one question, or one call, from others."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
