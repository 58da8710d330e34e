"""The JSON Schema of an audit's file, as ``aggregate schema --audit`` prints it (rule A-1)."""

from collections.abc import Mapping
from typing import Any

from aggregate.base.values import FileOrder, Level, Section
from aggregate.prompt.audit_data import VERSION

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_LEVEL = {"enum": [level.value for level in Level]}


def audit_schema() -> dict[str, Any]:
    """Return the schema; it describes each key, and allows no other."""
    schema = _table(
        "What was decided about one prompt, and why.",
        {
            "version": _key("Of this format.", {"const": VERSION}),
            "task": _key("What the prompt is for; empty where nobody said so.", _TEXT),
            "seeds": _table("What the user points at beside the task.", _SEEDS),
            "budget": _optional("The most tokens; null for no limit.", _BUDGET),
            "tokens": _key("Of the whole prompt, by o200k.", _COUNT),
            "sections": {
                "description": "Tokens of each section that is there; they add up to tokens.",
                "type": "object",
                "propertyNames": {"enum": [section.value for section in Section]},
                "additionalProperties": _COUNT,
            },
            "generated": _key(
                "Tokens of the sections files and changed that belong to no row; with those of the rows and of the "
                "other sections they add up to tokens.",
                _COUNT,
            ),
            "bytes": _key("Of the prompt in UTF-8.", _COUNT),
            "missing": _list("Evidence that there was none of.", _MISSING),
            "cut": _list("What else than files was shortened or left out.", _CUT),
            "rows": _list("The candidates, in the order of the configuration.", _ROW),
            "source_map": _table("Where each line of the prompt comes from.", _MAP),
        },
        optional=("source_map",),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Audit of a prompt",
        **schema,
    }


def _key(description: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, **value}


def _list(description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "type": "array", "items": _object(properties)}


def _texts(description: str) -> dict[str, Any]:
    return {"description": description, "type": "array", "items": _TEXT}


def _table(
    description: str, properties: Mapping[str, Any], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {"description": description, **_object(properties, optional)}


def _optional(description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "anyOf": [{"type": "null"}, _object(properties)]}


def _nullable(description: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": description, "anyOf": [{"type": "null"}, value]}


def _object(properties: Mapping[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


_SEEDS = {
    "focus": _texts("Files and places that are shown whatever they cost."),
    "symbols": _texts("Names of definitions."),
    "since": _key("A git revision, empty for none.", _TEXT),
}
_BUDGET = {
    "tokens": _key("The most tokens of the prompt.", {"type": "integer", "minimum": 1}),
    "history": _key("The part of what pins leave that the discussion may take.", _SHARE),
    "results": _key("The part of what pins leave that results may take.", _SHARE),
    "order": _key("The order of the files.", {"enum": [order.value for order in FileOrder]}),
}
_MISSING = {
    "evidence": _key("Its kind.", _TEXT),
    "reason": _key("Why there was none.", _TEXT),
}
_CUT = {
    "section": _key("Which one.", _TEXT),
    "what": _key("Which turn, result or list.", _TEXT),
    "tokens": _key("How many that saved.", _COUNT),
    "reason": _key("Why.", _TEXT),
}
_EVIDENCE = {
    "kind": _key("What was observed.", _TEXT),
    "weight": _key("What it added to the score.", {"type": "number"}),
    "matched": _key("Terms, a symbol, another file.", _TEXT),
}
_ROW = {
    "path": _key("As the prompt shows it.", _TEXT),
    "entry": _key("The path or glob of the configuration.", _TEXT),
    "level": _key("How much of it is shown; name: it is listed, left out: it is counted.", _LEVEL),
    "most": _key("The most that its entry allows.", _LEVEL),
    "pinned": _key("Whether it is shown whatever it costs.", {"type": "boolean"}),
    "tokens": _key("Of its block, by o200k.", _COUNT),
    "score": _nullable("How likely the task touches it; null without a task.", _SHARE),
    "rank": _nullable(
        "Its place by score; null without a task.", {"type": "integer", "minimum": 1}
    ),
    "evidence": _list("Why, the strongest first.", _EVIDENCE),
    "definitions": _texts("Those that are shown in full."),
    "next": _nullable("The level that another tenth of the budget would buy.", _LEVEL),
    "content_hash": _key("SHA-256 of its bytes, empty where it was not read.", _TEXT),
    "size": _key("Tokens of the whole file, as far as they are known.", _COUNT),
}
_MAP = {
    "sources": _texts("Those that no row has; they follow on the paths of the rows."),
    "runs": _key(
        "Runs of lines, packed: columns of numbers, compressed by zlib, in base 85.", _TEXT
    ),
}
