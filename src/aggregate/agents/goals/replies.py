"""Parse a model's answers (P1, P5, P6)."""

import json
import re
from itertools import islice
from typing import Any, Final

_MARK: Final = re.compile(
    r"^[\s>#]*(?:\*\*|__)?\s*(?:step\s*\d{1,3}\s*[:.)–-]|\(\d{1,3}\)|\d{1,3}\s*[.):](?=[\s*_])|[-*+•‣◦–—](?=\s))"
    r"\s*(?:\*\*|__)?\s*(?P<text>\S.*)$",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
_YES_NO: Final = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)
# Braces at which parsing is tried: each may cost the length of the text
_OBJECTS: Final = 50
# Words of a plan: a single one, such as "OK", is none
LEAST_WORDS: Final = 2
# Characters of a step: the time of patterns grows faster than their text
MOST_LINE: Final = 2000


def parse_steps(text: str) -> list[str]:
    """Parse a list of steps, JSON or lines with marks; drop repeated ones."""
    listed = (json_value(text, dict) or {}).get("steps")
    if not isinstance(listed, list):
        listed = json_value(text, list)
    if listed and all(isinstance(step, str) for step in listed):
        steps = [_squeezed(step) for step in listed]
    else:
        lines = map(_squeezed, text.splitlines())
        steps = [_unmarked(line) for line in lines if _MARK.match(line)]
    unique: dict[str, str] = {}
    for step in steps:
        if re.search(r"\w", step):
            unique.setdefault(step.lower().rstrip(". "), step)
    return list(unique.values())


def parse_plan(text: str, goal: str) -> list[str]:
    """Parse the steps from a numbered list; without a list, the goal is the only step."""
    if listed := parse_steps(text):
        return listed
    if json_value(text, dict) is not None or json_value(text, list) is not None:
        return []  # JSON without steps
    return [goal] if len(re.findall(r"[^\W\d_]{2,}", text)) >= LEAST_WORDS else []


def first_line(text: str | None) -> str:
    """Return the first line with a word, without marks and quotes."""
    lines = [_unmarked(_squeezed(line)).strip("\"'` ") for line in (text or "").splitlines()]
    return next((line for line in lines if re.search(r"\w", line)), "")


def _squeezed(line: str) -> str:
    return " ".join(line[:MOST_LINE].split())


def _unmarked(line: str) -> str:
    """Remove a list item's marks: ``- 1. **Fetch**`` becomes ``Fetch``."""
    while match := _MARK.match(line):
        line = match.group("text")
    line = line.strip()
    for mark in ("**", "__"):
        if line.count(mark) % 2:  # its partner was part of the list's mark
            line = line.removeprefix(mark) if line.startswith(mark) else line.removesuffix(mark)
        if line.startswith(mark) and line.endswith(mark):
            line = line.removeprefix(mark).removesuffix(mark)
    return line.strip()


def yes_or_no(text: str | None) -> bool | None:
    """Parse yes or no from an answer (P6).

    The first word decides, else the only one of the two words in the answer.
    """
    verdicts = [word.lower() in ("yes", "true") for word in _YES_NO.findall(text or "")]
    opening = re.match(rf"\W*{_YES_NO.pattern}", text or "", re.IGNORECASE)
    return verdicts[0] if opening or len(set(verdicts)) == 1 else None


def json_value(text: str | None, kind: type) -> Any:  # noqa: ANN401 - a list or an object
    """Return the first JSON object or list in a text, ``None`` without one."""
    opening = "{" if kind is dict else "["
    decoder = json.JSONDecoder()
    for match in islice(re.finditer(re.escape(opening), text or ""), _OBJECTS):
        try:
            return decoder.raw_decode(text or "", match.start())[0]
        except (ValueError, RecursionError):
            continue
    return None


def leading_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text begins with, empty without one."""
    is_object = text.lstrip().startswith(("{", "```json"))
    return (json_value(text, dict) if is_object else None) or {}


def parse_code(text: str | None) -> str:
    """Extract Python code from JSON, fenced blocks or plain text."""
    if not text or not text.strip():
        return ""
    code = leading_object(text).get("python_code")
    if isinstance(code, str):
        return code
    fenced = [match.group(2) for match in _FENCE.finditer(text)]
    return "\n".join(fenced).strip("\n") if fenced else text.strip("\n")
