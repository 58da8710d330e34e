"""Scripts: files of answers for the doubles that stand in for a model.

All read one form, as TOML or JSON: a table ``answers`` by ticket or question. An answer is a text, or a table of
``ScriptedReply``; a question, which a goal may ask again, may have a list of these.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from aggregate.base.errors import ConfigError
from aggregate.project.configuration import read_toml_text, validate_table
from aggregate.project.toml_text import parse_untrusted_toml


class ScriptedCall(BaseModel):
    """A call of a tool; its arguments stand beside its name."""

    model_config = ConfigDict(extra="allow", frozen=True)

    tool: str = Field(min_length=1, description="The name of the tool.")


class ScriptedReply(BaseModel):
    """What a double does when it is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(default="", description="The answer.")
    seconds: float = Field(default=0, ge=0, le=3600, description="How long it takes.")
    fail: str = Field(default="", description="The error that is raised instead of an answer.")
    failures: int = Field(
        default=0, ge=0, description="How many attempts fail first; 0 with fail means all."
    )
    cost: float = Field(
        default=0,
        ge=0,
        allow_inf_nan=False,
        description="What it costs, in US dollars; to try limits.",
    )
    calls: list[ScriptedCall] = Field(
        default_factory=list,
        description="The tools that are called before the answer, one a turn: tool, and its arguments.",
    )
    refuse: bool = Field(
        default=False, description="The failure is a refusal: asking again does not help."
    )

    def failure(self, attempt: int) -> str:
        return self.fail if self.failures == 0 or attempt <= self.failures else ""


def as_table(answer: object) -> object:
    return {"text": answer} if isinstance(answer, str) else answer


class ReplyScript(BaseModel):
    """A file of answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: dict[str, Annotated[ScriptedReply, BeforeValidator(as_table)]] = Field(
        default_factory=dict, description="By ticket id or question: a text, or a table."
    )


def read_answers(path: Path) -> tuple[dict[str, Any], str]:
    """Return the object that a script is, and its text where this is TOML, in which mistakes have lines."""
    text = read_toml_text(path)
    is_json = path.suffix.lower() == ".json" or text.lstrip().startswith("{")
    try:
        script = json.loads(text) if is_json else parse_untrusted_toml(text)
    except (ValueError, RecursionError) as error:
        language = "JSON" if is_json else "TOML"
        raise ConfigError(f"is no valid {language}: {error}", path=str(path)) from None
    if not isinstance(script, dict):
        raise ConfigError('must be an object with "answers"', path=str(path))
    return script, "" if is_json else text


def load_replies(path: Path) -> Mapping[str, ScriptedReply]:
    script, toml_text = read_answers(path)
    return validate_table(ReplyScript, script, path=path, text=toml_text).answers
