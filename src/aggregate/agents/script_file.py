"""Scripted answers by ticket or question, in TOML or JSON.

An answer is a text, a table of ``ScriptedReply``, or a list of these: one for each attempt.
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from aggregate.base.errors import ConfigError, WorkerError
from aggregate.project.configuration import read_toml_text, validate_table
from aggregate.project.toml_text import parse_untrusted_toml


class ScriptedCall(BaseModel):
    """A scripted tool call; further keys are its arguments."""

    model_config = ConfigDict(extra="allow", frozen=True)

    tool: str = Field(min_length=1, description="The name of the tool.")


class ScriptedReply(BaseModel):
    """One scripted answer, with delay, failure, cost and tool calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(default="", description="The answer.")
    seconds: float = Field(default=0, ge=0, le=3600, description="Seconds until the answer.")
    fail: str = Field(default="", description="The error to raise instead of an answer.")
    failures: int = Field(
        default=0,
        ge=0,
        description="Number of attempts that fail before the answer; 0 with a text in fail: all of them.",
    )
    cost: float = Field(
        default=0,
        ge=0,
        allow_inf_nan=False,
        description="Cost of the answer in US dollars, to test limits.",
    )
    calls: list[ScriptedCall] = Field(
        default_factory=list,
        description="Tool calls before the answer, one per turn: tool, and its arguments as further keys.",
    )
    refuse: bool = Field(
        default=False, description="The failure is a refusal, which is not retried."
    )
    then: tuple["ScriptedReply", ...] = Field(
        default=(), description="Answers to further attempts; the last one repeats."
    )

    @model_validator(mode="before")
    @classmethod
    def _as_table(cls, answer: object) -> object:
        """Convert a text to a table with that text."""
        first, *rest = answer if isinstance(answer, list | tuple) and answer else [answer]
        table = {"text": first} if isinstance(first, str) else first
        return {**table, "then": rest} if rest and isinstance(table, dict) else table

    def take(self, attempt: int) -> "ScriptedReply":
        """Return the reply for an attempt; raise ``WorkerError`` for a scripted failure."""
        reply = (self, *self.then)[:attempt][-1]
        time.sleep(reply.seconds)
        if reply.fail and (reply.failures == 0 or attempt <= reply.failures):
            raise WorkerError(reply.fail, again=not reply.refuse)
        return reply


class ReplyScript(BaseModel):
    """The content of a script file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: dict[str, ScriptedReply] = Field(
        default_factory=dict,
        description="By ticket id or question: a text, a table, or a list of these.",
    )


def load_replies(path: Path) -> Mapping[str, ScriptedReply]:
    """Read the answers of a script file.

    Raises:
        ConfigError: The file cannot be read, or is not a script.
    """
    text = read_toml_text(path)
    is_json = path.suffix.lower() == ".json" or text.lstrip().startswith("{")
    try:
        script = json.loads(text) if is_json else parse_untrusted_toml(text)
    except (ValueError, RecursionError) as error:
        language = "JSON" if is_json else "TOML"
        raise ConfigError(f"is not valid {language}: {error}", path=str(path)) from None
    if not isinstance(script, dict):
        raise ConfigError('must be an object with "answers"', path=str(path))
    script = script if "answers" in script else {"answers": script}
    return validate_table(ReplyScript, script, path=path, text="" if is_json else text).answers
