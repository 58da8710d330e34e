"""Choose the answer among the results of a chain of steps: data rather than words about data, and no model.

The order (rules D-60 to D-74, X-3, X-5): a text with exactly as many lines as the goal asks for; else what sub-tasks
gave; else the newest text of Python, of a model, of anything else; else a number for a goal that counts; else the last
result that succeeded. Everything is looked at by its type, newest first.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from aggregate.agents.goals.formatting import (
    DENDRITES,
    count_of,
    envelope_content,
    subtasks_text,
    value_lines,
)
from aggregate.agents.goals.quantities import counted_noun, extract_quantity
from aggregate.base.values import (
    Answer,
    AnswerKind,
    AnswerSource,
    Value,
    failure_text,
    isolated_copy,
    jsonable,
)

logger: Final = logging.getLogger(__name__)

DETAIL_LIMIT: Final = 10_000
"""Bytes of JSON from which detailed results are shortened, and the length of a list that then goes (rule D-74)."""
LIST_LIMIT: Final = 500
EXPLANATIONS: Final = ("step 1:", "first,", "to filter", "we need to")
"""How answers begin that explain instead of answering (rule D-73)."""
NO_ANSWER: Final = "No step gave a usable result."
RANKS: Final = (AnswerKind.SUBTASKS, AnswerKind.PYTHON, AnswerKind.AI, AnswerKind.TEXT)


@dataclass(frozen=True, slots=True)
class _AnswerCandidate:
    """A formatted text among the results."""

    index: int
    text: str
    kind: AnswerKind

    @property
    def lines(self) -> int:
        """Lines that are not blank (rule D-63)."""
        return len([line for line in self.text.strip().split("\n") if line.strip()])


def select_answer(
    goal: str,
    results: Sequence[Value],
    *,
    descriptions: Sequence[str] | None = None,
    missing: str = "",
) -> Answer:
    """Return the answer to ``goal`` among ``results``.

    Args:
        goal: What was asked.
        results: What each step gave, in execution order; corrective steps appended, never in place of others (D-67).
        descriptions: What each step was to do; named in warnings, never used to choose.
        missing: What a check found the answer to lack; a mere number of items then says so, too.

    Returns:
        The answer; ``success`` is false, and the summary says so, when no result is usable.
    """
    target = extract_quantity(goal)
    if target:
        logger.info("🎯 Target count from goal: %s", target)
    # Chosen among copies that are JSON: whatever a result's own methods would do.
    originals, results = results, [jsonable(result) for result in results]
    usable = [
        (number, result) for number, result in enumerate(results, 1) if not is_failure(result)
    ]
    candidates = [_AnswerCandidate(number, *_text(result)) for number, result in reversed(usable)]
    texts = [candidate for candidate in candidates if candidate.text.strip()]
    summary, source = _choose(goal, target, usable, texts, missing)
    warnings = _failures(results, descriptions)
    # A blank text counts as nothing, not as an answer (rule D-72).
    warnings += [
        f"Step {number} gave a blank text." for number, result in usable if _has_blank_text(result)
    ]
    for text in texts if target else ():
        if (text.index, text.kind) == (source.index, source.kind) and text.lines != target:
            warnings.append(f"The goal asks for {target}, the answer has {text.lines} lines.")
    is_large = _size(results) > DETAIL_LIMIT
    return Answer(
        summary=summary,
        source=source,
        success=source.kind is not AnswerKind.NONE,
        warnings=tuple(warnings),
        detailed_results=tuple(
            map(_shortened, results) if is_large else map(isolated_copy, originals)
        ),
    )


def is_failure(result: Value) -> bool:
    """Return whether a result reports a failure."""
    if not isinstance(result, Mapping):
        return False
    return result.get("success", True) is False or bool(jsonable(result.get("error")))


def failure_message(failure: Mapping[str, Any]) -> str:
    """Return the error of a failed result."""
    return str(failure.get("error") or "no reason given")


def _text(result: Value) -> tuple[str, AnswerKind]:
    """Return the formatted text in a result, by its type (rules D-61, D-62, X-5)."""
    if not isinstance(result, Mapping):
        return result if _is_text(result) else "", AnswerKind.TEXT
    if isinstance(result.get(DENDRITES), list):
        return subtasks_text(result), AnswerKind.SUBTASKS
    answer, value = result.get("answer"), result.get("result")
    if result.get("type") == "ai_response" and _is_text(answer):
        return answer, AnswerKind.AI
    if _is_text(value):
        return value, AnswerKind.PYTHON if result.get("success") else AnswerKind.TEXT
    return "", AnswerKind.NONE


def _is_text(value: Value) -> TypeGuard[str]:
    return type(value) is str


def _choose(
    goal: str,
    target: int | None,
    usable: Sequence[tuple[int, Value]],
    texts: Sequence[_AnswerCandidate],
    missing: str,
) -> tuple[str, AnswerSource]:
    answers = [
        candidate
        for candidate in texts
        if candidate.kind is not AnswerKind.AI
        or not candidate.text.lstrip().lower().startswith(EXPLANATIONS)
    ]
    # Sorting is stable: of one kind, the newest stays first.
    ranked = sorted(answers, key=lambda candidate: RANKS.index(candidate.kind))
    for candidate in ranked:
        if target and candidate.lines == target:
            return _formatted(candidate, f"matches target count {target}")
    if ranked:
        return _formatted(ranked[0], "most recent of its kind")
    return _counted(goal, usable) or _last_value(usable, texts, missing)


def _formatted(candidate: _AnswerCandidate, reason: str) -> tuple[str, AnswerSource]:
    logger.info(
        "📝 Using formatted answer from neuron %s (%s, %s)", candidate.index, candidate.kind, reason
    )
    return candidate.text.strip("\n"), AnswerSource(candidate.index, candidate.kind, reason)


def _counted(goal: str, usable: Sequence[tuple[int, Value]]) -> tuple[str, AnswerSource] | None:
    """Return ``28 activities`` for a goal that counts, from the newest whole number (rule D-71)."""
    noun = counted_noun(goal)
    if noun is None:
        return None
    for number, result in reversed(usable):
        count = count_of(result)
        if count is not None:
            return f"{count} {noun}", AnswerSource(
                number, AnswerKind.COUNT, "the goal counts, and this is a number"
            )
    return None


def _last_value(
    usable: Sequence[tuple[int, Value]], texts: Sequence[_AnswerCandidate], missing: str
) -> tuple[str, AnswerSource]:
    with_text = {candidate.index for candidate in texts}
    for number, result in reversed(usable):
        if number not in with_text and (text := _rendered(result, missing)):
            return text, AnswerSource(number, AnswerKind.VALUE, "last successful result")
    if texts:
        return _formatted(texts[0], "nothing but an explanation")
    return NO_ANSWER, AnswerSource(0, AnswerKind.NONE, "no usable result")


def _rendered(result: Value, missing: str) -> str:
    count, value = count_of(result), envelope_content(result)
    if count is not None and (not isinstance(value, Mapping | list) or value == {"count": count}):
        return f"{count} items, not complete: {missing}" if missing else f"Success: {count} items"
    text = "" if value is None or value in ([], {}) else value_lines(value)
    return text if text.strip() else ""


def _failures(results: Sequence[Value], descriptions: Sequence[str] | None) -> list[str]:
    """Return the warning that the answer may be incomplete (rule D-73) and one line for each failed step."""
    failures = [(number, result) for number, result in enumerate(results, 1) if is_failure(result)]
    if not failures:
        return []
    names = ", ".join(str(number) for number, _ in failures)
    warnings = [
        f"⚠️  Warning: Some processing steps failed (steps {names}). Results may be incomplete or inaccurate."
    ]
    for number, result in failures:
        described = descriptions[number - 1 : number] if descriptions else ()
        named = "".join(f" ({text})" for text in described)
        warnings.append(f"Step {number}{named} failed: {failure_text(result.get('error') or None)}")
    return warnings


def _has_blank_text(result: Value) -> bool:
    texts = (
        [result.get("answer"), result.get("result")] if isinstance(result, Mapping) else [result]
    )
    return any(isinstance(text, str) and not text.strip() for text in texts)


def _shortened(value: Value) -> Value:
    if isinstance(value, list) and _size(value) > LIST_LIMIT:
        return f"[{len(value)} items, truncated for brevity]"
    if type(value) is dict:
        return {key: _shortened(item) for key, item in value.items()}
    return value


def _size(value: Value) -> int:
    return len(json.dumps(value))
