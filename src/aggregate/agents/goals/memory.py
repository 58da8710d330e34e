"""What earlier goals saved and this one may need (rule P15)."""

from typing import Any

from aggregate.agents.goals import formatting, reply_parsing
from aggregate.agents.goals.budget import LimitReached
from aggregate.agents.goals.goal_context import GoalContext
from aggregate.agents.goals.model import QuestionKind
from aggregate.agents.goals.trace import TraceRecorder
from aggregate.agents.tools import StateStore
from aggregate.base.errors import AggregateError
from aggregate.base.text import fence

MOST_KEYS = 60
KEY_CHARACTERS = 60
"""Keys in a question, and characters of each: it stays below about a thousand tokens."""


def recall_saved_state(
    run: GoalContext, node: TraceRecorder, goal: str, store: StateStore
) -> dict[str, Any]:
    """Return the saved values that help with ``goal``, by key; no model is asked where nothing is saved.

    Keys that were never saved count for nothing, and every failure is an empty memory with a warning: the goal goes on.
    """
    try:
        keys = store.keys()
        if not keys:
            return {}
        listed = fence(", ".join(formatting.clip(key, KEY_CHARACTERS) for key in keys[:MOST_KEYS]))
        if len(keys) > MOST_KEYS:
            node.warn(f"Only {MOST_KEYS} of {len(keys)} saved keys were considered.")
        reply = run.ask(node, QuestionKind.MEMORY, goal=goal, keys=listed)
        loaded = {
            key: store.load(key)
            for key in relevant_keys(reply_parsing.json_value(reply, dict), keys)
        }
        return {key: value for key, (exists, value) in loaded.items() if exists}
    except (AggregateError, LimitReached) as error:
        node.warn(f"Nothing was recalled: {error}")
        return {}


def relevant_keys(answer: Any, keys: list[str]) -> list[str]:  # noqa: ANN401 - whatever a model wrote
    """Return the keys in ``{"relevant_keys": [...]}`` that exist, once each; anything but a list of texts is none."""
    named = answer.get("relevant_keys") if isinstance(answer, dict) else None
    if not isinstance(named, list):
        return []
    texts = [key for key in named if isinstance(key, str)]
    return [key for key in dict.fromkeys(texts) if key in keys]
