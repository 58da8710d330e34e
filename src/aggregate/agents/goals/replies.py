"""Answers of models: the forms in which they are asked for, and how they are read, in a form or as prose.

What cannot be read is ``None`` or empty, never an error. The schemas are in the part of JSON Schema that all providers
know: every object names all its properties as required and allows no others; what may be left out is ``null``.
"""

import ast
import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, TypeAlias

from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.tools import Tool

_MARK: Final = re.compile(
    r"^[\s>#]*(?:\*\*|__)?\s*(?:step\s*\d{1,3}\s*[:.)–-]|\(\d{1,3}\)|\d{1,3}\s*[.):](?=[\s*_])|[-*+•‣◦–—](?=\s))"
    r"\s*(?:\*\*|__)?\s*(?P<text>\S.*)$",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
_YES_NO: Final = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)
_AGREES: Final = ("yes", "true")
# Braces from which a reading of JSON is tried: each may cost the length of the text
_OBJECTS: Final = 50
# Words of a plan: a single one, such as "OK", says nothing to do
LEAST_WORDS: Final = 2
# Characters of a line that is read as a step: patterns need time that grows faster than what they search
MOST_LINE: Final = 2000


def parse_steps(text: str) -> list[str]:
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
    """Return the steps of a list; prose stands for the goal as one step, and none is there where nothing is said."""
    if listed := parse_steps(text):
        return listed
    if json_value(text, dict) is not None or json_value(text, list) is not None:
        return []  # a form that holds no step
    return [goal] if len(re.findall(r"[^\W\d_]{2,}", text)) >= LEAST_WORDS else []


def _squeezed(line: str) -> str:
    return " ".join(line[:MOST_LINE].split())


def _unmarked(line: str) -> str:
    """Return a line without its marks, of which there may be several: ``- 1. Fetch``."""
    while match := _MARK.match(line):
        line = match.group("text")
    line = line.strip()
    for mark in ("**", "__"):
        if line.count(mark) % 2:  # the other one was part of the list's mark
            line = line.removeprefix(mark) if line.startswith(mark) else line.removesuffix(mark)
        if line.startswith(mark) and line.endswith(mark):
            line = line.removeprefix(mark).removesuffix(mark)
    return line.strip()


def yes_or_no(text: str | None) -> bool | None:
    """Return what an answer says, by whole words: one that opens it, else the only one in it (rule P6)."""
    verdicts = [word.lower() in _AGREES for word in _YES_NO.findall(text or "")]
    opening = re.match(r"\W*(yes|no|true|false)\b", text or "", re.IGNORECASE)
    return verdicts[0] if opening or len(set(verdicts)) == 1 else None


def json_value(text: str | None, kind: type) -> Any:  # noqa: ANN401 - a list or an object
    opening = "{" if kind is dict else "["
    decoder = json.JSONDecoder()
    for match in islice(re.finditer(re.escape(opening), text or ""), _OBJECTS):
        try:
            value, _ = decoder.raw_decode(text or "", match.start())
        except (ValueError, RecursionError):
            continue
        return value
    return None


def named_text(text: str, name: str) -> str:
    value = json_value(text, dict) if text.lstrip().startswith("{") else None
    named = value.get(name) if value is not None else None
    return named if isinstance(named, str) else text


def parse_code(text: str | None) -> str:
    """Return the Python in an answer: what is fenced, a ``python_code`` in JSON, else all of it."""
    if not text or not text.strip():
        return ""
    value = json_value(text, dict) if text.lstrip().startswith(("{", "```json")) else None
    if value is not None and isinstance(value.get("python_code"), str):
        return str(value["python_code"])
    fenced = [match.group(2) for match in _FENCE.finditer(text)]
    return "\n".join(fenced).strip("\n") if fenced else text.strip("\n")


def syntax_error(python: str) -> str:
    try:
        ast.parse(python)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{error!s:.200}" or "nested too deeply"
    return ""


def says_valid(text: str | None) -> bool:
    return re.fullmatch(r"\W*VALID\W*", text or "", re.IGNORECASE) is not None


def first_line(text: str | None) -> str:
    for line in (text or "").splitlines():
        plain = _unmarked(_squeezed(line)).strip("\"'` ")
        if re.search(r"\w", plain):
            return plain
    return ""


Schema: TypeAlias = Mapping[str, Any]
_TYPES: Final = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
_TEXT: Final = {"type": "string"}


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


STEPS: Final = _object(steps={"type": "array", "items": _TEXT})
VERDICT: Final = _object(answer={"type": "boolean"})
# Of the questions whose answer always has the same form
SCHEMAS: Final[Mapping[QuestionKind, Schema]] = {
    QuestionKind.DECOMPOSE: STEPS,
    QuestionKind.SPLIT: STEPS,
    QuestionKind.FIELDS_PRESENT: VERDICT,
    QuestionKind.CALLS_NEEDED: VERDICT,
    QuestionKind.VALIDATE: VERDICT,
    QuestionKind.COMPLETE: VERDICT,
    QuestionKind.MEMORY: _object(relevant_keys={"type": "array", "items": _TEXT}),
}


def choice_schema(names: list[str]) -> Schema:
    return _object(tool={"type": "string", "enum": [*names, "NONE"]})


def arguments_schema(tool: Tool) -> Schema | None:
    """Return the form of a tool's arguments; ``None`` where it takes more than simple values."""
    if not tool.parameters or any(parameter.type not in _TYPES for parameter in tool.parameters):
        return None
    properties = {}
    for parameter in tool.parameters:
        schema = {"type": _TYPES[parameter.type]}
        if parameter.description:
            schema["description"] = parameter.description
        properties[parameter.name] = _or_null(schema)
    return _object(**properties)


def reflection_schema(tool: Tool) -> Schema | None:
    suggested = arguments_schema(tool)
    if suggested is None:
        return None
    return _object(
        diagnosis=_TEXT, suggested_fix=_or_null(_TEXT), suggested_params=_or_null(suggested)
    )
