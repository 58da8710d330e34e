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
    calls: list[dict[str, Any]] = Field(
        default_factory=list,
        description="The tools that are called before the answer, one a turn: tool, and its arguments.",
    )
    refuse: bool = Field(
        default=False, description="The failure is a refusal: asking again does not help."
    )

    def failure(self, attempt: int) -> str:
        return self.fail if self.failures == 0 or attempt <= self.failures else ""


def _table(answer: object) -> object:
    return {"text": answer} if isinstance(answer, str) else answer


class ReplyScript(BaseModel):
    """A file of answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: dict[str, Annotated[ScriptedReply, BeforeValidator(_table)]] = Field(
        default_factory=dict, description="By ticket id or question: a text, or a table."
    )


def is_json(text: str, path: Path) -> bool:
    return path.suffix.lower() == ".json" or text.lstrip().startswith("{")


def parse_script(text: str, path: Path) -> Any:  # noqa: ANN401 - what a file holds
    return json.loads(text) if is_json(text, path) else parse_untrusted_toml(text)


def load_replies(path: Path) -> Mapping[str, ScriptedReply]:
    text = read_toml_text(path)
    language = "JSON" if is_json(text, path) else "TOML"
    try:
        script = parse_script(text, path)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"is no valid {language}: {error}", path=str(path)) from None
    if not isinstance(script, dict):
        raise ConfigError('must be an object with "answers"', path=str(path))
    # The lines of a mistake are looked up in TOML only.
    toml_text = text if language == "TOML" else ""
    return validate_table(ReplyScript, script, path=path, text=toml_text).answers
