"""The two models of an agent: a provider's client, and answers by rules, the same in every run."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from aggregate.agents.goals.questions import Completion, Model, Question, QuestionKind
from aggregate.base.disk.reading import read_text
from aggregate.base.errors import ModelError
from aggregate.sending.clients import ChatRequest, Client
from aggregate.sending.models import FinishReason

_PROBLEMS: Final = {
    FinishReason.REFUSED: "it refused to answer",
    FinishReason.LENGTH: "its answer was cut at the limit of tokens",
}


@dataclass(frozen=True, slots=True)
class ChatModel:
    """Asks each question as a message of its own, at its temperature and for an answer of its form."""

    client: Client
    model: str = ""

    def ask(self, question: Question) -> Completion:
        most = ChatRequest().max_output
        left = most if question.tokens_left is None else question.tokens_left
        reply = self.client.send(
            ChatRequest(
                message=question.text,
                model=self.model,
                max_output=max(1, min(most, left)),
                temperature=question.temperature,
                schema=question.schema,
                seconds=question.seconds_left,
            )
        )
        usage = reply.usage
        # Where the provider says nothing, a token for every four characters.
        tokens = usage.input + usage.output or (len(question.text) + len(reply.text)) // 4
        charged = ceil(tokens - usage.cache_read * (1 - reply.read_price))
        return Completion(reply.text, tokens, _PROBLEMS.get(reply.stop, ""), charged)


def as_model(client: Model | Client) -> Model:
    """Return ``client`` as something that answers questions: itself, or a provider's client behind an adapter."""
    return client if isinstance(client, Model) else ChatModel(client)


if TYPE_CHECKING:  # pydantic, which files of answers are checked by, is loaded for such a file only
    from aggregate.agents.script_file import ScriptedReply


@dataclass(slots=True)
class ScriptedModel:
    """Answers by the rule that fits with the longest text, the first of equals, counting for each step by itself.

    A rule has the question's kind and a text that it must hold; its answers are given one after the other, and the last
    one stays.
    """

    rules: "dict[tuple[QuestionKind, str], list[str | ScriptedReply]]"
    questions: list[Question] = field(default_factory=list)
    _times: Counter[tuple[object, ...]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, question: Question) -> Completion:
        fitting = [
            rule for rule in self.rules if rule[0] is question.call and rule[1] in question.text
        ]
        if not fitting:
            step = question.place or "goal"
            self.questions.append(question)
            raise ModelError(
                f"the script has no answer to {question.call} at step {step}: add a rule"
            )
        rule = max(fitting, key=lambda rule: len(rule[1]))
        with self._lock:
            self.questions.append(question)
            self._times[*rule, question.place] += 1
            attempt = self._times[*rule, question.place]
        answer = self.rules[rule][:attempt][-1]
        if not isinstance(answer, str):
            time.sleep(answer.seconds)
            if error := answer.failure(attempt):
                raise ModelError(error)
            answer = answer.text
        return Completion(answer, (len(question.text) + len(answer)) // 4)


def scripted_model(script: Mapping[str, Any]) -> ScriptedModel:
    """Return a model that answers by ``script``, by ``call`` or ``call: text that the question holds``.

    An answer is a text, a table of ``ScriptedReply`` or a list of these.
    """
    rules: dict[tuple[QuestionKind, str], list[str | ScriptedReply]] = {}
    for name, answers in script.items():
        kind, _, contains = name.partition(":")
        several = answers if isinstance(answers, list | tuple) else [answers]
        try:
            replies = list(map(_checked, several))
        except ValueError:
            replies = []
        if not replies:
            raise ModelError(f'the script\'s "{name}" needs a text or a list of texts')
        if kind.strip() not in list(QuestionKind):
            kinds = ", ".join(QuestionKind)
            raise ModelError(f'the script\'s "{name}" is no question: questions are {kinds}')
        rules[QuestionKind(kind.strip()), contains.strip()] = replies
    return ScriptedModel(rules)


def read_script(path: Path) -> ScriptedModel:
    """Return a model that answers by a file: ``{"answers": {"decompose": "1. ...", "code: Count": ["...", "..."]}}``.

    It is JSON, or TOML of the same form; an object without ``answers`` is the answers themselves.

    Raises:
        ModelError: The file cannot be read, or holds something else.
    """
    from aggregate.agents.script_file import parse_script

    try:
        script = parse_script(read_text(path), path)
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{path}: the script cannot be read: {reason}") from None
    answers = script.get("answers", script) if isinstance(script, dict) else None
    if not isinstance(answers, dict):
        raise ModelError(f"{path}: the script must be an object of answers by question")
    return scripted_model(answers)


def _checked(answer: object) -> "str | ScriptedReply":
    if isinstance(answer, str):
        return answer
    from aggregate.agents.script_file import ScriptedReply

    return ScriptedReply.model_validate(answer)
