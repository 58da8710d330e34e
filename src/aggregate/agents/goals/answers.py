"""What steps gave: as text for a model or a reader, and the answer among it, data rather than words about data.

A model is shown results short and in a fence that they cannot leave. None is asked for the answer, which is chosen in
this order (rules D-60 to D-74, X-3, X-5): a text with exactly as many lines as the goal asks for; else what sub-tasks
gave; else the newest text of Python, of a model, of anything else; else a number for a goal that counts; else the last
result that succeeded. Everything is looked at by its type, newest first.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Any, Final

from aggregate.base.json_forms import DEPTH, failure_text, json_text, jsonable
from aggregate.base.text import fence
from aggregate.base.values import Value, is_reference, isolated_copy
from aggregate.prompt.results import Answer, AnswerKind, AnswerSource, value_text

# Characters of one result, of all of them for arguments, and of all of them for an answer. With these a question has
# a few hundred tokens.
ONE_RESULT: Final = 160
ALL_RESULTS: Final = 600
FOR_ANSWER: Final = 2000
MEMORY_KEY: Final = "_memory"


def clip(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters in all)"


def fenced_data(value: Value, most: int = ONE_RESULT) -> str:
    return fence(clip(value_text(value, indent=None), most))


def known_results(
    context: Mapping[str, Value], *, each: int = ONE_RESULT, most: int = ALL_RESULTS
) -> str:
    lines: list[str] = []
    entries = [
        (key, value) for key, value in reversed(list(context.items())) if key != "_original_goal"
    ]
    for number, (key, value) in enumerate(entries):
        line = f"{key}: {clip(_summary(key, value), each)}"
        if lines and sum(map(len, lines)) + len(line) > most:
            lines.append(f"({len(entries) - number} older ones are not shown)")
            break
        lines.append(line)
    return fence("\n".join(lines) or "nothing yet")


def _summary(key: str, value: Value) -> str:
    if is_reference(value):
        return f'{str(value["summary"]).splitlines()[0]} (_ref_id "{value["_ref_id"]}")'
    if key == MEMORY_KEY and isinstance(value, Mapping):
        return memory_line(value)
    return " ".join(value_text(value, indent=None).split())


def memory_line(memory: Mapping[str, Value]) -> str:
    texts = (f"{key} ({clip(json_text(value), 60)})" for key, value in memory.items())
    return ", ".join(texts) or "nothing"


def field_names(names: Sequence[str], *, of: str = "") -> str:
    """Return names of fields, and of the list ``of`` whose items have them, in a fence: they came with the data."""
    line = ", ".join(" ".join(name.split()) for name in names)
    if of:
        line = f"{' '.join(of.split())}: {line}"
    return fence(clip(line or "none", ALL_RESULTS))


SHOWN_ITEMS: Final = 10
# Where an envelope keeps what it is about, the outermost first
WRAPPERS: Final = ("final", "summary", "answer", "result")
ENVELOPE: Final = ("success", "type", "goal", "depth", "neurons", "results", "_tool_metadata")
NAME_FIELDS: Final = ("name", "full_name", "title", "firstname", "username")
DENDRITES: Final = "dendrite_results"


def count_of(result: Value) -> int | None:
    """Return the whole number that a result is, or holds as ``result`` or ``count`` (rules D-71, X-8).

    A truth value or a measure is none (rule D-72).
    """
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


def value_lines(value: Value) -> str:
    """Return a value as lines: items of a list one by one, up to ``SHOWN_ITEMS``, fields of an object one by one."""
    if is_reference(value):
        return str(value["summary"])
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_inline(item)}" for key, item in value.items())
    if not isinstance(value, list | tuple):
        return value_text(value)
    lines = [_inline(item) for item in value[:SHOWN_ITEMS]]
    if left := len(value) - len(lines):
        lines.append(f"... and {left} more ({len(value)} in all)")
    return "\n".join(lines) or "0 items"


def _inline(value: Value) -> str:
    if isinstance(value, list | tuple) and len(value) > SHOWN_ITEMS:
        return f"{len(value)} items"
    return value_text(value, indent=None)


def subtasks_text(result: Mapping[str, Any]) -> str:
    """Return one line for each sub-task of a spawn: ``Activity 7: Ann, Bo (2 total)`` or ``Item 2: 3 kudos`` (D-73)."""
    lists = {k: v for k, v in result.items() if k != DENDRITES and isinstance(v, list)}
    key, items = next(iter(lists.items()), ("item", []))
    singular = f"{key[:-3]}y" if key.endswith("ies") else key.removesuffix("s")
    noun = str(result.get("item_noun") or singular).replace("_", " ").capitalize() or "Item"
    lines = []
    for number, subtask in enumerate(result[DENDRITES], 1):
        item = items[number - 1] if number <= len(items) else None
        name = item.get("id") if isinstance(item, Mapping) else None
        heading = f"{noun} {name}" if name is not None else f"Item {number}"
        lines.append(f"{heading}: {_subtask(subtask)}")
    return "\n".join(lines)


def _subtask(subtask: Value) -> str:
    if isinstance(subtask, Mapping) and (subtask.get("success") is False or subtask.get("error")):
        return f"failed: {value_text(subtask.get('error') or 'no reason given', indent=None)}"
    value = envelope_content(subtask)
    noun = "items"
    if isinstance(value, Mapping):
        lists = [(str(key), items) for key, items in value.items() if isinstance(items, list)]
        noun, value = lists[0] if lists else (noun, value)
    if not isinstance(value, list):
        return value_lines(value).replace("\n", "; ")
    names = []
    for item in value:
        fields = item if isinstance(item, Mapping) else {"name": item if type(item) is str else ""}
        names += [str(fields[field]) for field in NAME_FIELDS if fields.get(field)][:1]
    if value and len(names) == len(value):
        return f"{', '.join(names)} ({len(value)} total)"
    return f"{len(value)} {noun}"


logger: Final = logging.getLogger(__name__)

_NUMBER_WORDS: Final = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
_NUMBERS: Final = {word: number for number, word in enumerate(_NUMBER_WORDS.split(), 2)}
# Longer numbers are names, and no count of things
MOST_DIGITS: Final = 9
_NUMBER: Final = rf"\d{{1,3}}(?:[,_'\u00a0\u202f]\d{{3}})+|\d+|{'|'.join(_NUMBERS)}"
_QUANTITY: Final = re.compile(
    rf"\b(?:first|top|last)\s+(?P<number>{_NUMBER})\b"
    # "the 3 first rides", but not "ride 3 first"
    rf"|\b(?:the|my|our|your|their|these|those)\s+(?P<before>{_NUMBER})\s+(?:first|top|last)\b",
    re.IGNORECASE,
)
_UNIT: Final = (
    "second|sec|minute|min|hour|hr|day|night|weekday|week|weekend|month|quarter|year|decade"
)
_MONTH: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
# What follows a number that counts no items: a span of time, a date, a share, a measure, a description
_NO_COUNT: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:[\s-]+(?:full|whole|calendar|business|working|consecutive|past))?"
        rf"(?:[\s-]*(?:{_UNIT})s\b|-(?:{_UNIT})\b|\s+(?:{_UNIT})(?:\s+(?:period|window|span|range|of|ago)\b|\s*[.,;:!?]|\s*$))",
        rf"\s+(?:of\s+)?(?:{_MONTH})\b|\s*[/.,-]\d",
        r"\s*(?:%|percent(?:age|ile)?s?\b|per\s?cent\b|thirds?\b|quarters?\b|fifths?\b|tenths?\b)",
        # What is measured and not counted; lines, rows, pages and reads are items.
        r"\s+(?:[kmg]?bps?|[kmgt]i?b|base\s?pairs?|bases|bytes?|words|characters|letters|tokens|pixels"
        r"|[kcm]?m|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|feet|[km]?g|kilograms?|grams?|pounds?|dollars|euros|m?s)(?![\w-])",
        # "5-star" and "3-digit" describe what follows and do not count it.
        r"-[^\W\d]",
    )
)

_COUNTING: Final = re.compile(r"\b(?:how many|number of|count(?: of| up)?)\b\s*(.*)", re.DOTALL)
_SKIPPED: Final = frozenset(
    {"the", "all", "my", "our", "your", "their", "of", "every", "each", "total", "number"}
)
_STOP: Final = re.compile(
    r"\b(?:did|do|does|have|has|had|are|were|is|was|will|would|can|could|in|on|at|from|to|for|with|by|of|that|which|who"
    r"|there|this|these|those|last|since|between|during|per|and|or|i|we|you|they|he|she|it|got|get)\b|[^\w\s'-]"
)
_is_plural: Final = re.compile(
    r"(?:\w*[^siu]s|people|children|men|women|data|feet|mice|species|series)"
).fullmatch


def extract_quantity(goal: str) -> int | None:
    """Return the number beside ``first``, ``top`` or ``last``, or ``None`` (rules D-60, X-9).

    A number that counts time (``last 30 days``), measures (``first 100 bp``, ``top 10%``), describes (``top 5-star
    hotels``) or stands in a date (``first 15 January``) is passed over; the next one counts.
    """
    for match in _QUANTITY.finditer(goal):
        word = (match["number"] or match["before"]).lower()
        digits = re.sub(r"\D", "", word)
        rest = goal[match.end() :].lower()
        if len(digits) > MOST_DIGITS or any(pattern.match(rest) for pattern in _NO_COUNT):
            continue
        number = int(digits) if digits else _NUMBERS[word]
        if number > 1 or not re.match(rf"[\s-]+(?:{_UNIT})\b", rest):
            return number
    return None


def counted_noun(goal: str) -> str | None:
    """Return what a goal wants counted, ``None`` for nothing: ``how many long runs did I do`` gives ``runs``.

    The first plural that no other follows: ``how many reads mapped`` gives ``reads``.
    """
    match = _COUNTING.search(goal.lower())
    if match is None:
        return None
    rest = " ".join(dropwhile(_SKIPPED.__contains__, match.group(1).split()))
    phrase = _STOP.split(rest, maxsplit=1)[0].split()
    if not phrase:
        return "items"
    pairs = zip(phrase, [*phrase[1:], ""], strict=True)
    ends = (word for word, next_word in pairs if _is_plural(word) and not _is_plural(next_word))
    return next(ends, phrase[-1]).strip("'-") or "items"


# Bytes of JSON from which detailed results are shortened, and the length of a list that then goes (rule D-74)
DETAIL_LIMIT: Final = 10_000
LIST_LIMIT: Final = 500
# How answers begin that explain instead of answering (rule D-73)
EXPLANATIONS: Final = ("step 1:", "first,", "to filter", "we need to")
RANKS: Final = (AnswerKind.SUBTASKS, AnswerKind.PYTHON, AnswerKind.AI, AnswerKind.TEXT)


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
    if target is not None:
        logger.info("🎯 Target count from goal: %s", target)
    # Chosen among copies that are JSON: whatever a result's own methods would do.
    copies = [jsonable(result) for result in results]
    newest = [(n, copy) for n, copy in enumerate(copies, 1) if not is_failure(copy)][::-1]
    texts = [(n, *_text(copy)) for n, copy in newest if _text(copy)[0].strip()]
    answers = [
        (n, text, kind)
        for n, text, kind in texts
        if kind is not AnswerKind.AI or not text.lstrip().lower().startswith(EXPLANATIONS)
    ]
    # Sorting is stable: of one kind, the newest stays first.
    answers.sort(key=lambda answer: RANKS.index(answer[2]))
    exact = [answer for answer in answers if line_count(answer[1]) == target]
    chosen, reason = (exact or answers)[:1], "most recent of its kind"
    if exact:
        reason = f"matches target count {target}"
    other = None if chosen else _counted(goal, newest) or _last_value(newest, missing)
    if texts and not chosen and not other:
        chosen, reason = texts[:1], "nothing but an explanation"
    summary, source = other or ("No step gave a usable result.", _NO_SOURCE)
    warnings = _failures(copies, descriptions)
    # A blank text counts as nothing, not as an answer (rule D-72).
    for n, copy in newest[::-1]:
        is_object = isinstance(copy, Mapping)
        own = [copy.get("answer"), copy.get("result")] if is_object else [copy]
        if any(isinstance(text, str) and not text.strip() for text in own):
            warnings.append(f"Step {n} gave a blank text.")
    for n, text, kind in chosen:
        logger.info("📝 Using formatted answer from neuron %s (%s, %s)", n, kind, reason)
        summary, source = text.strip("\n"), AnswerSource(n, kind, reason)
        if target is not None and line_count(text) != target:
            warnings.append(f"The goal asks for {target}, the answer has {line_count(text)} lines.")
    is_large = len(json.dumps(copies)) > DETAIL_LIMIT
    return Answer(
        summary=summary,
        source=source,
        success=source.kind is not AnswerKind.NONE,
        warnings=tuple(warnings),
        detailed_results=tuple(
            map(_shortened, copies) if is_large else map(isolated_copy, results)
        ),
    )


_NO_SOURCE: Final = AnswerSource(0, AnswerKind.NONE, "no usable result")


def is_failure(result: Value) -> bool:
    if not isinstance(result, Mapping):
        return False
    return result.get("success", True) is False or bool(jsonable(result.get("error")))


def failure_message(failure: Mapping[str, Any]) -> str:
    return str(failure.get("error") or "no reason given")


def line_count(text: str) -> int:
    return len([line for line in text.strip().split("\n") if line.strip()])


def _text(result: Value) -> tuple[str, AnswerKind]:
    if type(result) is str:
        return result, AnswerKind.TEXT
    if not isinstance(result, Mapping):
        return "", AnswerKind.NONE
    if isinstance(result.get(DENDRITES), list):
        return subtasks_text(result), AnswerKind.SUBTASKS
    answer, value = result.get("answer"), result.get("result")
    if result.get("type") == "ai_response" and type(answer) is str:
        return answer, AnswerKind.AI
    if type(value) is str:
        return value, AnswerKind.PYTHON if result.get("success") else AnswerKind.TEXT
    return "", AnswerKind.NONE


def _counted(goal: str, newest: Sequence[tuple[int, Value]]) -> tuple[str, AnswerSource] | None:
    """Return ``28 activities`` for a goal that counts, from the newest whole number (rule D-71)."""
    noun = counted_noun(goal)
    for number, result in newest if noun else ():
        if (count := count_of(result)) is not None:
            reason = "the goal counts, and this is a number"
            return f"{count} {noun}", AnswerSource(number, AnswerKind.COUNT, reason)
    return None


def _last_value(
    newest: Sequence[tuple[int, Value]], missing: str
) -> tuple[str, AnswerSource] | None:
    """Return the last result that succeeded, rendered without a model (rules D-68, X-7, X-8)."""
    for number, result in newest:
        count, value = count_of(result), envelope_content(result)
        if count is not None and (
            not isinstance(value, Mapping | list) or value == {"count": count}
        ):
            text = f"Success: {count} items"
            if missing:
                text = f"{count} items, not complete: {missing}"
        else:
            text = "" if value is None or value in ([], {}) else value_lines(value)
        if text.strip() and not _text(result)[0].strip():
            return text, AnswerSource(number, AnswerKind.VALUE, "last successful result")
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
        named = "".join(f" ({text})" for text in (descriptions or ())[number - 1 : number])
        warnings.append(f"Step {number}{named} failed: {failure_text(result.get('error') or None)}")
    return warnings


def _shortened(value: Value) -> Value:
    if isinstance(value, list) and len(json.dumps(value)) > LIST_LIMIT:
        return f"[{len(value)} items, truncated for brevity]"
    if type(value) is dict:
        return {key: _shortened(item) for key, item in value.items()}
    return value
