"""A goal's result, the trace of its calls, and the choice of its answer (D-60 to D-73, X-3, X-5).

The first existing answer is chosen: a text with the requested number of lines; results of sub-tasks; the newest text by
Python code, by a model, by other tools; a number if the goal asks for a count; the last successful result.
"""

import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from aggregate.agents.goals.lists import DENDRITES, NAME_FIELDS
from aggregate.agents.goals.words import counted_noun, extract_quantity
from aggregate.agents.limits import Limit
from aggregate.base.json_forms import DEPTH, failure_text, jsonable
from aggregate.base.values import Value, is_reference, isolated_copy
from aggregate.prompt.asking.results import Answer, AnswerKind, AnswerSource, value_text

TOO_DEEP: Final = "Max recursion depth reached"
NO_STEPS: Final = "Could not decompose goal"


def is_failure(result: Value) -> bool:
    if not isinstance(result, Mapping):
        return False
    return result.get("success", True) is False or bool(jsonable(result.get("error")))


def failure_message(failure: Mapping[str, Any]) -> str:
    return str(failure.get("error") or "no reason given")


class TraceKind(StrEnum):
    GOAL = "goal"
    NEURON = "neuron"
    DENDRITE = "dendrite"
    TOOL = "tool"
    MODEL = "model"


@dataclass(slots=True)
class Trace:
    """A node in a goal's tree of steps and calls.

    Only one thread at a time uses a node.
    """

    kind: TraceKind
    label: str  # 0.2 for a step, 1.3 for a sub-task; the tool's or question's name
    text: str  # the goal, the step, the arguments
    seconds: float = 0.0
    own_tokens: int = 0
    ok: bool = True
    note: str = ""
    children: list["Trace"] = field(default_factory=list)  # in the order of their start or items
    place: str = ""  # the path to the node, 0.2/1.3; unique in its tree
    warnings: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Tokens of all questions in this node and below."""
        return self.own_tokens + sum(child.tokens for child in self.children)

    @property
    def calls(self) -> int:
        """Number of questions in this node and below."""
        return (self.kind is TraceKind.MODEL) + sum(child.calls for child in self.children)

    def child(self, kind: TraceKind, label: str, text: str) -> "Trace":
        path = self.place
        if kind in (TraceKind.NEURON, TraceKind.DENDRITE):
            path = f"{path}/{label}" if path else label
        child = Trace(kind, label, text, place=path)
        self.children.append(child)
        return child

    @contextmanager
    def timed(self) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - started

    def fail(self, note: str) -> None:
        self.ok, self.note = False, note

    def all_warnings(self) -> Iterator[str]:
        """Yield warnings of the node and its descendants, in order."""
        yield from self.warnings
        for child in self.children:
            yield from child.all_warnings()


@dataclass(frozen=True, slots=True)
class Neuron:
    """One step of a goal: a small question and one tool call (D-1, D-2)."""

    description: str
    index: int  # its place among the steps of its goal, from 1
    depth: int = 0  # 0 for the steps of the user's goal
    result: Value = None
    validated: bool = False  # whether its result passed the check
    spawned_dendrites: tuple[str, ...] = ()  # the labels of its sub-tasks, 1.1, 1.2

    @property
    def key(self) -> str:
        """The key of the result in the goal's context (D-3)."""
        return f"neuron_{self.depth}_{self.index}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "description": self.description,
            "index": self.index,
            "depth": self.depth,
            "validated": self.validated,
            "spawned_dendrites": list(self.spawned_dendrites),
        }


@dataclass(frozen=True, slots=True)
class GoalResult:
    """The steps and answer of a goal (rules X-6, X-12)."""

    success: bool  # whether there is an answer, and no limit left work undone
    goal: str
    depth: int
    neurons: tuple[Neuron, ...]  # the steps, a corrective one last
    final: Answer | None  # the answer, None if nothing ran
    error: str  # why nothing ran
    warnings: tuple[str, ...]  # failed steps, skipped items, questions without an answer
    trace: Trace
    limit: Limit | None = None  # the limit with undone work
    stopped: str = ""  # a sentence on the limit, with the finished steps

    @property
    def results(self) -> tuple[Value, ...]:
        """The full result of each step."""
        return tuple(neuron.result for neuron in self.neurons)

    @property
    def text(self) -> str:
        """The answer, or why there is none."""
        if self.final is None:
            return self.stopped or self.error
        return self.final.summary if self.has_answer else self.stopped or self.final.summary

    @property
    def has_answer(self) -> bool:
        """Whether a step gave a usable result, even if a limit then stopped the goal."""
        return self.final is not None and self.final.success

    def as_dict(self) -> dict[str, Any]:
        limit = {"limit": self.limit.value, "stopped": self.stopped} if self.limit else {}
        if self.final is None:
            return {"success": False, "error": self.error, **limit}
        return {
            "success": self.success,
            "goal": self.goal,
            "depth": self.depth,
            "neurons": [neuron.as_dict() for neuron in self.neurons],
            "results": list(self.results),
            "final": final_dict(self.final),
            **limit,
        }


def final_dict(answer: Answer) -> dict[str, Any]:
    """Return the answer as a plain dictionary (X-6)."""
    source = answer.source
    missing = {"missing": answer.missing} if answer.missing else {}
    return {
        "summary": answer.summary,
        "detailed_results": list(answer.detailed_results),
        "source": {"index": source.index, "kind": source.kind.value, "reason": source.reason},
        "success": answer.success,
        "warnings": list(answer.warnings),
        **missing,
    }


logger: Final = logging.getLogger(__name__)

SHOWN_ITEMS: Final = 10
# Beginnings of explanations in place of answers (rule D-73)
EXPLANATION: Final = re.compile(
    r"\s*(?:step 1:|first,|to filter|we need to|i was asked to"
    r"|(?:the|this|my|our|your) (?:\S+ )?(?:goal|task|step|aim|objective|request|question) (?:was|is) (?:to|about)\b)",
    re.IGNORECASE,
)
# Kinds of texts, the preferred first (rule X-3)
RANKS: Final = (AnswerKind.SUBTASKS, AnswerKind.PYTHON, AnswerKind.AI, AnswerKind.TEXT)
# Keys of an envelope's content, the outermost first
WRAPPERS: Final = ("final", "summary", "answer", "result")
ENVELOPE: Final = ("success", "type", "goal", "depth", "neurons", "results", "_tool_metadata")
_NO_SOURCE: Final = AnswerSource(0, AnswerKind.NONE, "no usable result")


def select_answer(
    goal: str,
    results: Sequence[Value],
    *,
    descriptions: Sequence[str] | None = None,
    missing: str = "",
) -> Answer:
    """Choose the answer to ``goal`` among its steps' results.

    Without a usable result the answer's ``success`` is false.

    Args:
        goal: The goal in plain language.
        results: The result of each step in execution order, those of corrective steps last (D-67).
        descriptions: The text of each step, for warnings only.
        missing: The fault of an earlier answer, repeated if the answer is only a number of items.
    """
    target = extract_quantity(goal)
    if target is not None:
        logger.info("🎯 Target count from goal: %s", target)
    # Copies as JSON: a result's own methods are never called.
    copies = [jsonable(result) for result in results]
    newest = [(n, copy) for n, copy in enumerate(copies, 1) if not is_failure(copy)][::-1]
    warnings = _failures(copies, descriptions)
    warnings += [f"Step {n} gave an empty text." for n, copy in newest[::-1] if _is_blank(copy)]
    summary, source = (
        _best_text(newest, target)
        or _counted(goal, newest)
        or _last_value(newest, missing)
        or _explanation(newest)
        or ("No step gave a usable result.", _NO_SOURCE)
    )
    if source.kind in RANKS:
        kind, reason = source.kind, source.reason
        logger.info("📝 Using formatted answer from neuron %s (%s, %s)", source.index, kind, reason)
        lines = line_count(summary)
        if target is not None and lines != target:
            warnings.append(f"The goal asks for {target}, the answer has {lines} lines.")
    success = source.kind is not AnswerKind.NONE
    return Answer(summary, source, success, tuple(warnings), tuple(map(isolated_copy, results)))


def answer_of(goal: str, neurons: Sequence[Neuron], missing: str = "") -> Answer:
    results = [neuron.result for neuron in neurons]
    descriptions = [neuron.description for neuron in neurons]
    return select_answer(goal, results, descriptions=descriptions, missing=missing)


def line_count(text: str) -> int:
    return len([line for line in text.strip().split("\n") if line.strip()])


_Numbered = Sequence[tuple[int, Value]]  # results with their steps' numbers, the newest first
_Choice = tuple[str, AnswerSource] | None


def _text(result: Value) -> tuple[str, AnswerKind]:
    """Return the formatted text of a result and its kind (D-61)."""
    if type(result) is str:
        return result, AnswerKind.TEXT
    if not isinstance(result, Mapping):
        return "", AnswerKind.NONE
    if isinstance(result.get(DENDRITES), list):
        return _subtasks_text(result), AnswerKind.SUBTASKS
    if is_prose(result) and type(result.get("answer")) is str:
        return result["answer"], AnswerKind.AI
    if type(result.get("result")) is str:
        is_python = result.get("success")
        return result["result"], AnswerKind.PYTHON if is_python else AnswerKind.TEXT
    return "", AnswerKind.NONE


def is_prose(result: Value) -> bool:
    """Return whether a result is text by the model alone."""
    return isinstance(result, Mapping) and result.get("type") == "ai_response"


def _is_blank(result: Value) -> bool:
    """Return whether a text of a result is blank, and so not an answer (D-72)."""
    is_object = isinstance(result, Mapping)
    texts = [result.get("answer"), result.get("result")] if is_object else [result]
    return any(isinstance(text, str) and not text.strip() for text in texts)


def _texts(newest: _Numbered) -> list[tuple[str, AnswerKind, int]]:
    texts = [(*_text(result), number) for number, result in newest]
    return [entry for entry in texts if entry[0].strip()]


def _best_text(newest: _Numbered, target: int | None) -> _Choice:
    """Return the text with the requested lines, else the newest of the best kind (D-64)."""
    answers = [
        (text, kind, number)
        for text, kind, number in _texts(newest)
        if kind is not AnswerKind.AI or not EXPLANATION.match(text)
    ]
    # Sorting is stable: of one kind, the newest stays first.
    answers.sort(key=lambda answer: RANKS.index(answer[1]))
    reason = "most recent of its kind"
    if exact := [answer for answer in answers if line_count(answer[0]) == target]:
        answers, reason = exact, f"matches target count {target}"
    if not answers:
        return None
    text, kind, number = answers[0]
    return text.strip("\n"), AnswerSource(number, kind, reason)


def _counted(goal: str, newest: _Numbered) -> _Choice:
    """Return the newest whole number, if the goal asks for a count (D-71)."""
    noun = counted_noun(goal)
    for number, result in newest if noun else ():
        if (count := _count_of(result)) is not None:
            reason = "the goal asks for a count, and this is a number"
            return f"{count} {noun}", AnswerSource(number, AnswerKind.COUNT, reason)
    return None


def _last_value(newest: _Numbered, missing: str) -> _Choice:
    """Return the last successful result as text (D-68, X-7, X-8)."""
    for number, result in newest:
        if _text(result)[0].strip():
            continue
        count, value = _count_of(result), envelope_content(result)
        is_number = not isinstance(value, Mapping | list) or value == {"count": count}
        if count is not None and is_number:
            text = f"Success: {count} items"
            if missing:
                text = f"{count} items, not complete: {missing}"
        else:
            text = "" if value is None or value in ([], {}) else _value_lines(value)
        if text.strip():
            return text, AnswerSource(number, AnswerKind.VALUE, "last successful result")
    return None


def _explanation(newest: _Numbered) -> _Choice:
    """Return the newest text, whatever it is: the last resort (D-73)."""
    for text, kind, number in _texts(newest):
        return text.strip("\n"), AnswerSource(number, kind, "only an explanation")
    return None


def _failures(results: Sequence[Value], descriptions: Sequence[str] | None) -> list[str]:
    failures = [(number, result) for number, result in enumerate(results, 1) if is_failure(result)]
    if not failures:
        return []
    names = ", ".join(str(number) for number, _ in failures)
    warnings = [
        f"⚠️  Warning: Some processing steps failed (steps {names}). Results may be incomplete or inaccurate."
    ]
    for number, result in failures:
        description = "".join(f" ({text})" for text in (descriptions or ())[number - 1 : number])
        error = failure_text(result.get("error") or None)
        warnings.append(f"Step {number}{description} failed: {error}")
    return warnings


# Results as text


def _count_of(result: Value) -> int | None:
    """Return the whole number that is a result's content, if any (D-71, D-72, X-8)."""
    is_object = isinstance(result, Mapping)
    for value in (result.get("result"), result.get("count")) if is_object else (result,):
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
            return int(value)
    return None


def envelope_content(result: Value) -> Value:
    for _ in range(DEPTH):  # an envelope may hold itself
        if not isinstance(result, Mapping) or is_reference(result):
            break
        inner = next((result[key] for key in WRAPPERS if result.get(key) is not None), None)
        if inner is None:
            rest = {key: value for key, value in result.items() if key not in ENVELOPE}
            return rest if rest else result
        result = inner
    return result


def _value_lines(value: Value) -> str:
    """Return the first items of a list, or an object's fields, as lines."""
    if is_reference(value):
        return str(value["summary"])
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_inline(item)}" for key, item in value.items())
    if not isinstance(value, list | tuple):
        return value_text(value)
    lines = [_inline(item) for item in value[:SHOWN_ITEMS]]
    if rest := len(value) - len(lines):
        lines.append(f"... and {rest} more ({len(value)} in all)")
    return "\n".join(lines) or "0 items"


def _inline(value: Value) -> str:
    if isinstance(value, list | tuple) and len(value) > SHOWN_ITEMS:
        return f"{len(value)} items"
    return value_text(value, indent=None)


def _subtasks_text(result: Mapping[str, Any]) -> str:
    """Return a line for each sub-task: ``Activity 7: Ann, Bo (2 total)`` (D-73)."""
    lists = {k: v for k, v in result.items() if k != DENDRITES and isinstance(v, list)}
    key, items = next(iter(lists.items()), ("item", []))
    singular = f"{key[:-3]}y" if key.endswith("ies") else key.removesuffix("s")
    noun = str(result.get("item_noun") or singular).replace("_", " ").capitalize() or "Item"
    lines = []
    for number, subtask in enumerate(result[DENDRITES], 1):
        item = items[number - 1] if number <= len(items) else None
        name = item.get("id") if isinstance(item, Mapping) else None
        heading = f"{noun} {name}" if name is not None else f"Item {number}"
        lines.append(f"{heading}: {_subtask_text(subtask)}")
    return "\n".join(lines)


def _subtask_text(subtask: Value) -> str:
    if is_failure(subtask):
        return f"failed: {value_text(subtask.get('error') or 'no reason given', indent=None)}"
    value = envelope_content(subtask)
    noun = "items"
    if isinstance(value, Mapping):
        lists = [(str(key), items) for key, items in value.items() if isinstance(items, list)]
        noun, value = lists[0] if lists else (noun, value)
    if not isinstance(value, list):
        return _value_lines(value).replace("\n", "; ")
    names = []
    for item in value:
        name = item if type(item) is str else ""
        fields = item if isinstance(item, Mapping) else {"name": name}
        names += [str(fields[field]) for field in NAME_FIELDS if fields.get(field)][:1]
    if value and len(names) == len(value):
        return f"{', '.join(names)} ({len(value)} total)"
    return f"{len(value)} {noun}"
