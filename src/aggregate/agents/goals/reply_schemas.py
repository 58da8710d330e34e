"""The forms of answers as JSON schemas, in the part of the language that all providers know.

Every object names all its properties as required and allows no others; what may be left out is ``null``.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from aggregate.agents.goals.model import QuestionKind
from aggregate.agents.tools import Parameter, Tool

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
SCHEMAS: Final[Mapping[QuestionKind, Schema]] = {
    QuestionKind.DECOMPOSE: STEPS,
    QuestionKind.SPLIT: STEPS,
    QuestionKind.FIELDS_PRESENT: VERDICT,
    QuestionKind.CALLS_NEEDED: VERDICT,
    QuestionKind.VALIDATE: VERDICT,
    QuestionKind.COMPLETE: VERDICT,
    QuestionKind.MEMORY: _object(relevant_keys={"type": "array", "items": _TEXT}),
}
"""Of the questions whose answer always has the same form."""


def choice_schema(names: list[str]) -> Schema:
    """Return the form of a choice among names, or none of them."""
    return _object(tool={"type": "string", "enum": [*names, "NONE"]})


def arguments_schema(tool: Tool) -> Schema | None:
    """Return the form of a tool's arguments; ``None`` where it takes more than simple values."""
    if not tool.parameters or any(parameter.type not in _TYPES for parameter in tool.parameters):
        return None
    properties = {
        parameter.name: _or_null(_parameter_schema(parameter)) for parameter in tool.parameters
    }
    return _object(**properties)


def reflection_schema(tool: Tool) -> Schema | None:
    """Return the form of a reflection on a call; ``None`` where that of its arguments cannot be said."""
    suggested = arguments_schema(tool)
    if suggested is None:
        return None
    return _object(
        diagnosis=_TEXT, suggested_fix=_or_null(_TEXT), suggested_params=_or_null(suggested)
    )


def _parameter_schema(parameter: Parameter) -> Schema:
    schema = {"type": _TYPES[parameter.type]}
    return {**schema, "description": parameter.description} if parameter.description else schema
