"""Scripted answers by ticket or question, in TOML or JSON.

An answer is a text, a table of ``ScriptedReply``, or a list of these: one for each attempt. Goals ask a model with such
answers; tickets have a worker with them (``tracks/worker``).
"""

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from aggregate.agents.goals.questions import Completion, Question, QuestionKind
from aggregate.base.errors import ConfigError, ModelError, WorkerError
from aggregate.project.configuration import read_toml_text, validate_table
from aggregate.project.toml_text import parse_untrusted_toml


class ScriptedCall(BaseModel):
    """A scripted tool call; further keys are its arguments."""

    model_config = ConfigDict(extra="allow", frozen=True)

    tool: str = Field(min_length=1)


class ScriptedReply(BaseModel):
    """One scripted answer, with delay, failure, cost and tool calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = ""
    seconds: float = Field(default=0, ge=0, le=3600)  # until the answer
    fail: str = ""  # the error to raise instead of an answer
    failures: int = Field(default=0, ge=0)  # of attempts before the answer; 0 with ``fail``: all
    refuse: bool = False  # the failure is a refusal, which is not retried
    cost: float = Field(default=0, ge=0, allow_inf_nan=False)  # US dollars, to test limits
    calls: list[ScriptedCall] = []  # before the answer, one per turn
    then: tuple["ScriptedReply", ...] = ()  # answers to further attempts; the last one repeats

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

    answers: dict[str, ScriptedReply] = {}  # by ticket id or question


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


@dataclass(slots=True)
class ScriptedModel:
    """Answers questions by rules; the longest matching text wins."""

    rules: Mapping[tuple[QuestionKind, str], ScriptedReply]
    questions: list[Question] = field(default_factory=list)
    _times: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, question: Question) -> Completion:
        texts = [text for kind, text in self.rules if kind is question.call]
        fitting = [text for text in texts if text in question.text]
        with self._lock:
            self.questions.append(question)
            if not fitting:
                step = question.place or "goal"
                raise ModelError(
                    f"the script has no answer to {question.call} at step {step}: add a rule"
                )
            rule = question.call, max(fitting, key=len)
            self._times[*rule, question.place] += 1
            attempt = self._times[*rule, question.place]
        reply = self.rules[rule].take(attempt)
        return Completion(reply.text, (len(question.text) + len(reply.text)) // 4)


def scripted_model(script: Mapping[str, Any]) -> ScriptedModel:
    """Return a model with the answers of ``script``.

    Args:
        script: Answers by question kind, or by ``kind: text in the question``. An answer is a text, a
            table of ``ScriptedReply``, or a list of these.
    """
    try:
        answers = ReplyScript(answers=dict(script)).answers
    except ValidationError as error:
        name = error.errors()[0]["loc"][1]
        raise ModelError(f'the script\'s "{name}" needs a text or a list of texts') from None
    rules: dict[tuple[QuestionKind, str], ScriptedReply] = {}
    for name, reply in answers.items():
        kind, _, text = name.partition(":")
        if kind.strip() not in list(QuestionKind):
            kinds = ", ".join(QuestionKind)
            raise ModelError(f'the script\'s "{name}" is not a question: questions are {kinds}')
        rules[QuestionKind(kind.strip()), text.strip()] = reply
    return ScriptedModel(rules)


def read_script(path: Path) -> ScriptedModel:
    """Return a model with the answers of a script file."""
    return scripted_model(load_replies(path))
