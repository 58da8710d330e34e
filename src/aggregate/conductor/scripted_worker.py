"""A worker without a model: it answers by a script, or says what it was given.

There are three doubles, one for each thing that asks, and in each a text stands for an answer. What tells the answers
apart is what is asked: this one has them by ticket, ``agent.scripted_model`` by the kind of question, and
``clients.scripted_client`` in the order of the requests, for a request has no name. Only here an answer may also be a
table, with the time that it takes and the failures before it, for only here are attempts timed and repeated.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from aggregate.conductor.assignment import Assignment, WorkerReply
from aggregate.config.load import parse_toml, read_toml_text, validate_table
from aggregate.errors import ConfigError, WorkerError
from aggregate.models.prompt import Section
from aggregate.tokens.count import count


class ScriptedReply(BaseModel):
    """What a scripted worker does with one ticket."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(default="", description="The answer.")
    seconds: float = Field(default=0, ge=0, le=3600, description="How long it takes.")
    fail: str = Field(default="", description="The error that is raised instead of an answer.")
    failures: int = Field(default=0, ge=0, description="How many attempts fail first; 0 with fail means all.")
    refuse: bool = Field(default=False, description="The failure is a refusal: asking again does not help.")


def _as_table(answer: object) -> object:
    return {"text": answer} if isinstance(answer, str) else answer


ScriptedAnswer = Annotated[ScriptedReply, BeforeValidator(_as_table)]


class ReplyScript(BaseModel):
    """A file of answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: dict[str, ScriptedAnswer] = Field(default_factory=dict, description="By ticket id: a text, or a table.")


def load_script(path: Path) -> Mapping[str, ScriptedReply]:
    """Read answers from a TOML file, or from JSON of the same form.

    Raises:
        ConfigError: The file cannot be used.
    """
    text = read_toml_text(path)
    if path.suffix.lower() != ".json":
        return validate_table(ReplyScript, parse_toml(text, path), path=path, text=text).answers
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"is no valid JSON: {error}", path=str(path)) from None
    if not isinstance(data, dict):
        raise ConfigError('must be an object with "answers"', path=str(path))
    return validate_table(ReplyScript, data, path=path).answers


class ScriptedWorker:
    """Answers by ticket id; without an answer it describes what it was given. The same assignment, the same answer."""

    def __init__(self, answers: Mapping[str, ScriptedReply]) -> None:
        self._answers = answers

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Return the scripted answer, or fail as the script says; it begins at once and ends after its time."""
        begun()
        answer = self._answers.get(assignment.ticket)
        if answer is None:
            return WorkerReply(describe_assignment(assignment), count(assignment.text))
        time.sleep(answer.seconds)
        if answer.fail and (answer.failures == 0 or assignment.attempt <= answer.failures):
            raise WorkerError(answer.fail, again=not answer.refuse)
        return WorkerReply(answer.text, count(assignment.text) + count(answer.text))


def describe_assignment(assignment: Assignment) -> str:
    """Return one paragraph on what an assignment holds."""
    sources = [(segment.section, segment.source) for segment in assignment.prompt.segments if segment.source]
    files = [source for section, source in sources if section is Section.FILES]
    results = [source for section, source in sources if section is Section.RESULTS]
    task = assignment.message.strip().split("\n")[-1]
    file_or_files = "file" if len(files) == 1 else "files"
    and_results = f"the results {', '.join(results)}" if results else "no results"
    return (
        f"No model was asked: the scripted worker was given {count(assignment.text):,} tokens "
        f"with {len(files):,} {file_or_files} and {and_results}. The task is: {task}"
    )
